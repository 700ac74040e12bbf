"""Recovery: a journal that still exists belongs to a mutation that did not end; complete it or roll it back.

The versions on disk and the branch tell how far it got. What a person saved since is not touched, and a file with
neither of the versions in the journal is kept. Of temporary files and git's locks, only our own are removed.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, Literal

from commonplace.errors import CommonplaceError, NotFound, Refused, VaultUnavailable
from commonplace.events import emit
from commonplace.vault.base import ABSENT, version_of
from commonplace.vault.batch import put_version
from commonplace.vault.files import FileSnapshot, read_file
from commonplace.vault.git.commit import NewCommit
from commonplace.vault.git.history import MUTATION, path_trailers
from commonplace.vault.git.path_state import TrackedBlobs
from commonplace.vault.git.repository import Repository
from commonplace.vault.journal import Journal, JournalEntry, JournalFile, UnfinishedJournal
from commonplace.vault.syscalls import translate_os_errors
from commonplace.vault.temporary_files import remove_temporary_files
from commonplace.vault.tree import FolderTree

Outcome = Literal["completed", "rolled back"]

PASSING: Final = ("locked", "repository_busy")
"""The reasons of errors that pass when another program has finished."""


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
    locks = git.remove_own_locks()
    unfinished = file.read()
    if unfinished is None or _is_of_another_vault(unfinished, git, file):
        return None
    if unfinished.journal is None:
        report = RecoveryReport("rolled back", None, ())
    else:
        report = _settle_or_explain(tree, git, unfinished.journal, file=file, locks=locks)
        if not file.is_on_disk_of(tree.root):
            git.flush()
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


def _is_of_another_vault(unfinished: UnfinishedJournal, git: Repository, file: JournalFile) -> bool:
    """True if the journal is of a vault that was in a folder with the same inode; it is set aside then."""
    journal = unfinished.journal
    if journal is None or journal.vault in ("", git.id):
        return False
    kept = file.set_aside()
    emit("journal_of_another_vault", level="warning", kept=str(kept), paths=list(journal.paths))
    return True


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


def commit_of(
    journal: Journal, files: Mapping[str, bytes | None], *, modes: Mapping[str, int] | None = None
) -> NewCommit:
    """The commit of the mutation, with the id by which recovery finds it, and its paths unless there are very many.

    A path of an entry is named without its words.
    """
    trailers = (*journal.label.trailers, *path_trailers(files), (MUTATION, journal.mutation))
    return NewCommit(journal.label.message, trailers, files, modes or {})


def _settle_or_explain(
    tree: FolderTree, git: Repository, journal: Journal, *, file: JournalFile, locks: tuple[str, ...]
) -> RecoveryReport:
    """Settle the mutation. An error that will not pass by itself names the journal: it stops every write."""
    try:
        return _settle(tree, git, journal, locks=locks)
    except CommonplaceError as error:
        if error.reason in PASSING:
            raise
        raise VaultUnavailable(
            f"a change that was cut short can be neither completed nor taken back: {error.message}",
            path=file.path,
            hint=f"{error.hint or ''} If that cannot be mended, remove this file: the notes then stay as they are on "
            "the disk.".strip(),
        ) from error


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
    ours = {version for entry in journal.entries for version in (entry.before, entry.after)}
    removed, copies = remove_temporary_files(tree, journal.paths, ours=ours)
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
        git.commit([commit_of(journal, new)], stages=False)  # someone may have staged another version since


def _blob_of(git: Repository, path: str, content: bytes | None) -> str | None:
    return None if content is None else git.blob_id(path, content)


def _restore(tree: FolderTree, git: Repository, each: _EntryOnDisk) -> None:
    """Bring the file back to its version before. A save at the same moment wins."""
    entry = each.entry
    content = None if entry.blob is None else _content_before(git, entry)
    put_version(tree, entry.path, content, expected=entry.after, mode=entry.mode)


def _content_before(git: Repository, entry: JournalEntry) -> bytes:
    """The bytes before, from git; where git converts line endings, in the form that the file had."""
    content = git.blob(entry.blob or "", path=entry.path)
    unix = content.replace(b"\r\n", b"\n")
    forms = (content, unix, unix.replace(b"\n", b"\r\n"))
    return next((form for form in forms if version_of(form) == entry.before), content)
