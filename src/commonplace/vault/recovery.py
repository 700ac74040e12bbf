"""Recovery: a journal that is still there belongs to a mutation that did not end; it is completed or rolled back.

The versions on disk and the branch tell how far it came. What a person saved since is left alone, and whatever is
neither of the versions that the journal names is kept.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

from commonplace.errors import CommonplaceError, Conflict, NotFound, Refused
from commonplace.events import emit
from commonplace.vault import atomic
from commonplace.vault.base import ABSENT, version_of
from commonplace.vault.files import Present, read_file
from commonplace.vault.git import Kept, NewCommit, Repository
from commonplace.vault.git.history import MUTATION, PATH
from commonplace.vault.journal import Entry, Journal, JournalFile
from commonplace.vault.leftovers import remove_git_locks, sweep
from commonplace.vault.tree import Tree
from commonplace.vault.trouble import disk_trouble

_MOST_NAMED = 50
Outcome = Literal["completed", "rolled back"]


@dataclass(frozen=True, slots=True)
class _Seen:
    """An entry of the journal and what is on disk now: its version, None for what is no regular file."""

    entry: Entry
    version: str | None
    file: Present | None

    @property
    def is_made(self) -> bool:
        """Whether the mutation has come so far here, and nobody has changed it since."""
        return self.version == self.entry.after


@dataclass(frozen=True, slots=True)
class Recovered:
    """What became of a mutation that did not end.

    `kept` names the conflict copies that were made of what a person saved, `removed` the half-made files and locks.
    """

    outcome: Outcome
    mutation: str | None
    paths: tuple[str, ...]
    kept: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


def recover(tree: Tree, git: Repository, file: JournalFile) -> Recovered | None:
    """Complete or roll back what the journal tells of, and say what was done; None when there is no journal.

    The caller holds the lock. Raises VaultUnavailable when it cannot be done now; it will be tried again.
    """
    found = file.read()
    if found is None:
        return None
    if found.journal is None:
        recovered = Recovered("rolled back", None, ())
    else:
        locks = remove_git_locks(tree.root, pid=found.journal.pid, since=found.git_since)
        file.git_begins()
        recovered = _settle(tree, git, found.journal, locks=locks)
    file.remove()
    emit(
        "vault_recovered",
        level="warning",
        outcome=recovered.outcome,
        mutation=recovered.mutation,
        paths=list(recovered.paths),
        leftovers=[*recovered.removed, *recovered.kept],
    )
    return recovered


def abandon(tree: Tree, git: Repository, file: JournalFile, *, journal: Journal) -> None:
    """Forget a mutation that failed, when nothing of it is left in the files; else leave it to recovery."""
    with suppress(CommonplaceError):  # the caller raises what made it fail, and the journal stays for the next one
        if not any(seen.is_made for seen in _look(tree, journal)):
            mend_index(git, journal)
            file.remove()


def mend_index(git: Repository, journal: Journal) -> None:
    """Give our paths the entries that HEAD has, where our commits left them behind; what others staged stays."""
    kept = git.kept(journal.paths)
    behind = {entry.path: kept[entry.path].head for entry in journal.entries if _is_behind(entry, kept[entry.path])}
    if behind:
        git.stage(behind)


def _is_behind(entry: Entry, now: Kept) -> bool:
    """Whether the index has not followed HEAD: it holds what it held before, or a snapshot, and HEAD something else."""
    untouched = (now.head, now.staged) == (entry.head, entry.staged)
    return not untouched and now.staged != now.head and now.staged in (entry.staged, entry.blob)


def commit_of(journal: Journal, files: Mapping[str, bytes | None]) -> NewCommit:
    """The commit of the mutation, by whose id recovery knows it again. It names its files, if they are not many."""
    named = [(PATH, path) for path in files] if len(files) <= _MOST_NAMED else []
    trailers = (*journal.label.trailers, *named, (MUTATION, journal.mutation))
    return NewCommit(journal.label.message, trailers, files)


def _settle(tree: Tree, git: Repository, journal: Journal, *, locks: tuple[str, ...]) -> Recovered:
    found = _look(tree, journal)
    if git.find_mutation(journal.mutation):
        outcome: Outcome = "completed"
    elif all(seen.is_made for seen in found):
        outcome = "completed"
        _commit(git, journal, found)
    else:
        outcome = "rolled back"
        for seen in found:
            if seen.is_made:
                _put_back(tree, git, seen)
    removed, kept = sweep(tree, journal)
    tree.remove_folders(journal.folders)
    mend_index(git, journal)
    return Recovered(outcome, journal.mutation, journal.paths, kept, (*locks, *removed))


def _look(tree: Tree, journal: Journal) -> list[_Seen]:
    return [_see(tree, entry) for entry in journal.entries]


def _see(tree: Tree, entry: Entry) -> _Seen:
    try:
        with disk_trouble(entry.path, doing="look at"), tree.place(entry.path) as place:
            file = read_file(place)
    except NotFound:
        return _Seen(entry, ABSENT, None)
    except Refused:
        return _Seen(entry, None, None)
    return _Seen(entry, file.blob.version, file)


def _commit(git: Repository, journal: Journal, found: list[_Seen]) -> None:
    """Commit what is on disk, as far as HEAD has it not: another program may have been quicker."""
    files = {
        seen.file.blob.stat.path if seen.file else seen.entry.path: seen.file.blob.content if seen.file else None
        for seen in found
    }
    kept = git.kept(list(files))
    new = {path: content for path, content in files.items() if _blob_of(git, path, content) != kept[path].head}
    if new:
        git.commit([commit_of(journal, new)])


def _blob_of(git: Repository, path: str, content: bytes | None) -> str | None:
    return None if content is None else git.blob_id(path, content)


def _put_back(tree: Tree, git: Repository, seen: _Seen) -> None:
    """Bring the file to its version before. What someone saves at this very moment wins."""
    entry = seen.entry
    with suppress(Conflict), disk_trouble(entry.path, doing="put back"):
        if entry.blob is None:
            with tree.place(entry.path) as place:
                atomic.remove(place, expected=entry.after)
        elif seen.file is None:
            with tree.place_made(entry.path) as place:
                atomic.create(place, _before(git, entry), mode=entry.mode)
        else:
            with tree.place(entry.path) as place:
                atomic.replace(place, _before(git, entry), expected=entry.after, mode=seen.file.mode)


def _before(git: Repository, entry: Entry) -> bytes:
    """The bytes before, from git; where it converts line endings, in the form that the file had."""
    content = git.blob(entry.blob or "", path=entry.path)
    unix = content.replace(b"\r\n", b"\n")
    forms = (content, unix, unix.replace(b"\n", b"\r\n"))
    return next((form for form in forms if version_of(form) == entry.before), content)
