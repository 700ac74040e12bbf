"""Recovery: a journal that still exists belongs to a mutation that did not end; complete it or roll it back.

The versions on disk and the branch tell how far it got. What a person saved since is not touched, and a file with
neither of the versions in the journal is kept. Of temporary files and git's locks, only our own are removed.
"""

import os
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final, Literal

from commonplace.errors import CommonplaceError, Conflict, NotFound, Refused, VaultUnavailable
from commonplace.events import emit
from commonplace.model.layout import wordless_path
from commonplace.vault import atomic
from commonplace.vault.base import ABSENT, version_of
from commonplace.vault.files import FileSnapshot, read_file, version_at
from commonplace.vault.git.commit import NewCommit
from commonplace.vault.git.history import MUTATION, PATH
from commonplace.vault.git.location import find
from commonplace.vault.git.path_state import TrackedBlobs
from commonplace.vault.git.repository import Repository
from commonplace.vault.git.run import Git
from commonplace.vault.git.state import branch
from commonplace.vault.journal import Journal, JournalEntry, JournalFile
from commonplace.vault.paths import is_temporary, is_unfinished
from commonplace.vault.syscalls import translate_os_errors
from commonplace.vault.temporary_files import rename_to_conflict_copy
from commonplace.vault.tree import FileLocation, FolderTree

Outcome = Literal["completed", "rolled back"]

_MOST_PATH_TRAILERS: Final = 50
_QUIET_S: Final = 2.0  # a git that outlived its caller has ended by then: it writes an index of 100k notes in 0.2 s
_SOON_S: Final = 10.0  # twice the timeout of our own calls: a later lock of git's was not taken for us
_CLOCK_TICK_S: Final = 0.1  # a file's time may lag behind the clock by a tick
_PAUSE_S: Final = 0.02


@dataclass(frozen=True, slots=True)
class _EntryOnDisk:
    """An entry of the journal and what is on disk now; `version` is None for anything but a regular file."""

    entry: JournalEntry
    version: str | None
    file: FileSnapshot | None

    @property
    def is_made(self) -> bool:
        """True if the mutation has changed this path, and nobody has changed it since."""
        return self.version == self.entry.after


@dataclass(frozen=True, slots=True)
class RecoveryReport:
    """What became of a mutation that did not end.

    `conflict_copies` names the copies of what a person saved, `removed` the temporary files and git locks.
    """

    outcome: Outcome
    mutation: str | None
    paths: tuple[str, ...]
    conflict_copies: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


def recover(tree: FolderTree, git: Repository, file: JournalFile) -> RecoveryReport | None:
    """Complete or roll back the mutation in the journal, and report it; None when there is no journal.

    The caller holds the lock. Raises VaultUnavailable when recovery is not possible now; the next call tries again.
    """
    unfinished = file.read()
    if unfinished is None:
        return None
    if unfinished.journal is None:
        report = RecoveryReport("rolled back", None, ())
    else:
        locks = remove_git_locks(tree.root, pid=unfinished.journal.pid, since=unfinished.git_since)
        file.git_begins()
        report = _settle(tree, git, unfinished.journal, locks=locks)
    file.remove()
    emit(
        "vault_recovered",
        level="warning",
        outcome=report.outcome,
        mutation=report.mutation,
        paths=list(report.paths),
        leftovers=[*report.removed, *report.conflict_copies],
    )
    return report


def abandon(tree: FolderTree, git: Repository, file: JournalFile, *, journal: Journal) -> None:
    """Remove the journal of a failed mutation when none of its files is changed; otherwise leave it to recovery."""
    with suppress(CommonplaceError):  # the caller raises the original error, and the journal stays for recovery
        if not any(each.is_made for each in _read_entries(tree, journal)):
            repair_index(git, journal)
            file.remove()


def repair_index(git: Repository, journal: Journal) -> None:
    """Set the index entries that lag behind our commits to those of HEAD; what others staged stays."""
    git.stage(stale_index_entries(journal, git.tracked_blobs(journal.paths)))


def stale_index_entries(journal: Journal, tracked: Mapping[str, TrackedBlobs]) -> dict[str, str | None]:
    """The journal's paths whose index entries lag behind our commits, each with its blob in HEAD."""
    return {entry.path: tracked[entry.path].head for entry in journal.entries if _is_behind(entry, tracked[entry.path])}


def _is_behind(entry: JournalEntry, now: TrackedBlobs) -> bool:
    """True if HEAD has moved on and the index has not: it holds what it held before, or a snapshot."""
    untouched = (now.head, now.staged) == (entry.head, entry.staged)
    return not untouched and now.staged != now.head and now.staged in (entry.staged, entry.blob)


def commit_of(journal: Journal, files: Mapping[str, bytes | None]) -> NewCommit:
    """The commit of the mutation, with the id by which recovery finds it, and its paths unless there are very many.

    A path of an entry is named without its words.
    """
    paths = [(PATH, wordless_path(path)) for path in files] if len(files) <= _MOST_PATH_TRAILERS else []
    trailers = (*journal.label.trailers, *paths, (MUTATION, journal.mutation))
    return NewCommit(journal.label.message, trailers, files)


def _settle(tree: FolderTree, git: Repository, journal: Journal, *, locks: tuple[str, ...]) -> RecoveryReport:
    entries = _read_entries(tree, journal)
    if git.find_mutation(journal.mutation):
        outcome: Outcome = "completed"
    elif all(each.is_made for each in entries):
        outcome = "completed"
        _commit(git, journal, entries)
    else:
        outcome = "rolled back"
        for each in entries:
            if each.is_made:
                _restore(tree, git, each)
    removed, copies = remove_temporary_files(tree, journal)
    tree.remove_folders(journal.folders)
    repair_index(git, journal)
    return RecoveryReport(outcome, journal.mutation, journal.paths, copies, (*locks, *removed))


def _read_entries(tree: FolderTree, journal: Journal) -> list[_EntryOnDisk]:
    return [_read_entry(tree, entry) for entry in journal.entries]


def _read_entry(tree: FolderTree, entry: JournalEntry) -> _EntryOnDisk:
    try:
        with translate_os_errors(entry.path, doing="examine"), tree.locate(entry.path) as location:
            file = read_file(location)
    except NotFound:
        return _EntryOnDisk(entry, ABSENT, None)
    except Refused:
        return _EntryOnDisk(entry, None, None)
    return _EntryOnDisk(entry, file.blob.version, file)


def _commit(git: Repository, journal: Journal, entries: list[_EntryOnDisk]) -> None:
    """Commit the files that differ from HEAD: another program may have committed some already."""
    files = {
        each.file.blob.stat.path if each.file else each.entry.path: each.file.blob.content if each.file else None
        for each in entries
    }
    tracked = git.tracked_blobs(list(files))
    new = {path: content for path, content in files.items() if _blob_of(git, path, content) != tracked[path].head}
    if new:
        git.commit([commit_of(journal, new)])


def _blob_of(git: Repository, path: str, content: bytes | None) -> str | None:
    return None if content is None else git.blob_id(path, content)


def _restore(tree: FolderTree, git: Repository, each: _EntryOnDisk) -> None:
    """Bring the file back to its version before. A save at the same moment wins."""
    entry = each.entry
    with suppress(Conflict), translate_os_errors(entry.path, doing="restore"):
        if entry.blob is None:
            with tree.locate(entry.path) as location:
                atomic.remove(location, expected=entry.after)
        elif each.file is None:
            with tree.locate_for_writing(entry.path) as location:
                atomic.create(location, _content_before(git, entry), mode=entry.mode)
        else:
            with tree.locate(entry.path) as location:
                atomic.replace(location, _content_before(git, entry), expected=entry.after, mode=each.file.mode)


def _content_before(git: Repository, entry: JournalEntry) -> bytes:
    """The bytes before, from git; where git converts line endings, in the form that the file had."""
    content = git.blob(entry.blob or "", path=entry.path)
    unix = content.replace(b"\r\n", b"\n")
    forms = (content, unix, unix.replace(b"\n", b"\r\n"))
    return next((form for form in forms if version_of(form) == entry.before), content)


# What a killed process left behind


def remove_temporary_files(tree: FolderTree, journal: Journal) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Remove the mutation's temporary files; one that someone else saved becomes a conflict copy. Names of both."""
    ours = {version for entry in journal.entries for version in (entry.before, entry.after)}
    removed, copies = [], []
    for folder, note in _folders(journal).items():
        with (
            suppress(NotFound, Refused),
            translate_os_errors(folder, doing="clean up"),
            tree.open_folder(folder) as (opened, path),
        ):
            prefix = f"{path}/" if path else ""
            for name in filter(is_temporary, os.listdir(opened)):
                if is_unfinished(name) or version_at(opened, name, final=True) in ours:
                    os.unlink(name, dir_fd=opened)
                    removed.append(prefix + name)
                else:
                    location = FileLocation(opened, note, prefix + note, None, None)
                    copies.append(prefix + rename_to_conflict_copy(location, name))
    return tuple(removed), tuple(copies)


def _folders(journal: Journal) -> dict[str, str]:
    """Every folder of the mutation, and the name of a note in it."""
    paths = [PurePosixPath(path) for path in journal.paths]
    return {"" if path.parent == PurePosixPath() else str(path.parent): path.name for path in reversed(paths)}


def remove_git_locks(root: Path, *, pid: int, since: float | None) -> tuple[str, ...]:
    """Remove the lock files that our own git left when it was killed with its caller, and return their names.

    A lock is ours if the process of the journal is dead, and git took the lock soon after it was last started and has
    not touched it since. Any other is never removed: git itself waits for it. Raises VaultUnavailable(repository_busy)
    for one that may be ours while that process lives: the journal must stay, or nobody would know whose lock it is.
    """
    if since is None:
        return ()
    git = Git(root)
    location = find(git)
    locks = (
        location.git_dir / "index.lock",
        location.git_dir / "HEAD.lock",
        location.common_dir / f"{branch(git, location)}.lock",
    )
    with translate_os_errors(str(location.git_dir), doing="clean up"):
        return tuple(lock.name for lock in locks if _remove_if_ours(lock, pid, since))


def _remove_if_ours(lock: Path, pid: int, since: float) -> bool:
    while (touched := _modified(lock)) is not None:
        if not since - _CLOCK_TICK_S <= touched <= since + _SOON_S:
            return False
        if time.time() - touched > _QUIET_S:
            _refuse_while_alive(pid, lock)
            lock.unlink(missing_ok=True)
            return True
        time.sleep(_PAUSE_S)
    return False


def _refuse_while_alive(pid: int, lock: Path) -> None:
    if _is_alive(pid):
        raise VaultUnavailable(
            f"git left a lock file, and process {pid}, which may have made it, is still running: {lock}",
            path=str(lock),
            reason="repository_busy",
            hint="End that process and try again. Only if no git process runs, remove the lock file.",
        )


def _modified(file: Path) -> float | None:
    try:
        return file.lstat().st_mtime
    except FileNotFoundError:
        return None


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return not _is_zombie(pid)


def _is_zombie(pid: int) -> bool:
    """True if the process has ended and its parent has not noticed yet; False where the system does not tell."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] == "Z"
