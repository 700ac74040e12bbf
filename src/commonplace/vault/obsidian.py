"""The backend `obsidian-vault`: a folder of notes under git, where every transaction is a commit.

A transaction, all of it under the vault's lock: recover from a crash; refuse while a merge or the like is in progress;
run the block; `carry_out` compares, journals, commits a person's edits, publishes, commits with git's index, and looks
at disk and branch once more; call `then` with the result. Reads need neither git nor the lock.

Whenever the process dies, the journal and the files tell `recovery` how far it got; when a step fails, the files are
restored and the journal is removed. A snapshot is a commit of what a person wrote and git does not have yet, made
before we change it.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Final

from commonplace.errors import CommonplaceError, Conflict, NotFound, Refused
from commonplace.events import emit
from commonplace.model.layout import wordless_name
from commonplace.vault.base import (
    ABSENT,
    KIND,
    Capability,
    CommitChange,
    Label,
    Listing,
    Locator,
    LostVersion,
    Merge,
    OnCommit,
    Revision,
    Skip,
    TransactionResult,
    version_of,
)
from commonplace.vault.batch import (
    LOCK_WAIT_S,
    BatchStep,
    Effect,
    PublishedFiles,
    checked_derived_path,
    effects,
    make_all,
    plan_all,
    repeat,
    take_back,
    try_to_create,
    write_derived,
)
from commonplace.vault.changes import Change, Changes, Write, completed_label
from commonplace.vault.contract_errors import path_of
from commonplace.vault.files import read_file
from commonplace.vault.folder import Folder
from commonplace.vault.journal import Journal, JournalEntry, JournalFile
from commonplace.vault.paths import normal
from commonplace.vault.syscalls import defer_interrupts, translate_os_errors
from commonplace.vault.temporary_files import remove_workshops
from commonplace.vault.tree import FolderTree

if TYPE_CHECKING:  # reading does not load git
    from commonplace.vault.git.commit import Author, Draft, NewCommit
    from commonplace.vault.git.path_state import TrackedBlobs
    from commonplace.vault.git.repository import AllowedBlobs, Repository
    from commonplace.vault.recovery import RecoveryReport
    from commonplace.vault.repair import Repair

_SNAPSHOT_TRAILERS = ((KIND, "snapshot"),)
_ATTEMPTS: Final = 5  # of a commit, when git commands keep undoing it


@dataclass(frozen=True, slots=True)
class TrackedEffect:
    """An effect and what git has of its path; `blob` is git's id of the bytes on disk, None for no file."""

    effect: Effect
    tracked: "TrackedBlobs"
    blob: str | None

    @property
    def path(self) -> str:
        """The path of the effect."""
        return self.effect.path

    @property
    def only_staged(self) -> str | None:
        """The id of a version that only the index has: it is neither committed nor on disk."""
        return self.tracked.staged if self.tracked.staged not in (None, self.tracked.head, self.blob) else None

    @property
    def is_edited(self) -> bool:
        """True if the file on disk differs from HEAD, or will once the staged version is committed."""
        return self.blob is not None and self.blob != (self.only_staged or self.tracked.head)


def carry_out(
    tree: FolderTree, git: "Repository", file: JournalFile, *, changes: Sequence[Change], label: Label | None
) -> TransactionResult:
    """Make all of these changes and commit them. Raises when one is refused or fails, and then none is made."""
    from commonplace.vault.recovery import abandon

    steps = plan_all(tree, changes)
    if not steps:
        return TransactionResult(git.head(), changed=False)
    touched = [effect for step in steps for effect in effects(step)]
    git.refuse_unwritable([effect.path for effect in touched])
    tracked = read_git_state(git, touched)
    complete = completed_label(label, [step.change for step in steps])
    journal = _new_journal(tree.root, tracked, label=complete, vault=git.id)
    try:
        commit = _Mutation(tree, git, file, journal, steps, tracked, _allowed(git, tracked)).carry_out()
    except CommonplaceError:
        abandon(tree, git, file, journal=journal)
        raise
    try:
        if not file.is_on_disk_of(tree.root):
            git.flush()
        file.remove()
    except CommonplaceError as error:  # the commit stands, and recovery finds it
        emit("journal_left_behind", level="warning", mutation=journal.mutation, said=error.message)
    return TransactionResult(commit, changed=True)


def rehearse(tree: FolderTree, git: "Repository", file: JournalFile, *, path: str) -> None:
    """Do what creating this file does, up to the moment in which it appears, and take it back: nothing is left.

    A file next to the vault's topmost notes is tried, too. Raises what would stop a write; the caller holds the lock.
    """
    content = f"{os.urandom(16).hex()}\n".encode()  # git has no such object
    names = [path, PurePosixPath(path).name]
    steps = plan_all(tree, [Write(each, content, ABSENT) for each in names])
    git.refuse_unwritable([path])
    tracked = read_git_state(git, [effect for step in steps for effect in effects(step)])
    file.write(_new_journal(tree.root, tracked, label=Label("commonplace: rehearse"), vault=git.id))
    try:
        for each in names:
            try_to_create(tree, each, content)
        git.rehearse(path, content)
    finally:
        file.remove()


@dataclass(frozen=True, slots=True)
class _Mutation:
    """The changes of one transaction, on their way to the disk and into the branch."""

    tree: FolderTree
    git: "Repository"
    file: JournalFile
    journal: Journal
    steps: Sequence[BatchStep]
    tracked: Sequence[TrackedEffect]
    allowed: "AllowedBlobs"

    def carry_out(self) -> str:
        """Write the journal, commit a person's edits, publish the files, commit them, and return the commit.

        Objects are written while the journal and the files are. On failure the files are as before.
        """
        snapshots = snapshot_commits(self.git, self.tracked) if self.journal.label.keeps else ()
        if snapshots:
            self.file.write(self.journal)
            self.git.commit(snapshots, allowed=self.allowed)  # it stays, whatever becomes of the mutation
            return self._publish(None)
        files = {effect.path: effect.after for effect in self._touched}
        with self.git.draft([self._commit_of(files)], allowed=self.allowed) as draft:
            self.file.write(self.journal)
            return self._publish(draft)

    def _publish(self, draft: "Draft | None") -> str:
        make_all(self.tree, self.steps)
        try:
            return self._commit(draft)
        except CommonplaceError as error:
            commit = None if isinstance(error, Conflict) else self.git.find_mutation(self.journal.mutation)
            if commit:  # the branch was moved, and something failed after that
                return commit
            take_back(self.tree, self._touched)
            self.tree.remove_folders(self.journal.folders)
            raise

    def _commit(self, draft: "Draft | None") -> str:
        """Commit the published files, and return the commit when both disk and branch have it.

        A person's git command may run at any moment: `stash` or `checkout` takes files back that are not committed yet,
        `reset` takes the branch back. Then the files are published and committed again.
        """
        with translate_os_errors(self.journal.paths[0], doing="examine"):
            # a folder may have another spelling on disk since it was created
            files = {self.tree.path_on_disk(effect.path): effect.after for effect in self._touched}
        published, commit = PublishedFiles(self.tree, self._touched), None
        if files.keys() != set(self.journal.paths):
            draft = None
        for _ in range(_ATTEMPTS):
            repeat(self.tree, published.look())
            if commit is None or not self.git.contains(commit):
                commit = self._commit_once(files, draft, published)
                draft = None
            if commit and self._holds(commit, published):
                return commit
        raise _undone(self.journal.paths[0])

    def _commit_once(
        self, files: Mapping[str, bytes | None], draft: "Draft | None", published: PublishedFiles
    ) -> str | None:
        commits = [self._commit_of(files)]
        made = self.git.commit(commits, allowed=self.allowed, draft=draft, published=published.stand)
        return made[-1] if made else None

    def _holds(self, commit: str, published: PublishedFiles) -> bool:
        """True if the branch has the commit and the disk has the files, or the person is on another branch by now."""
        return published.stand() if self.git.contains(commit) else self.git.is_on_another_branch(commit)

    def _commit_of(self, files: Mapping[str, bytes | None]) -> "NewCommit":
        from commonplace.vault.recovery import commit_of

        modes = {effect.path: effect.mode for effect in self._touched if effect.mode is not None}
        return commit_of(self.journal, files, modes=modes)

    @property
    def _touched(self) -> list[Effect]:
        return [each.effect for each in self.tracked]


def _allowed(git: "Repository", tracked: Sequence[TrackedEffect]) -> "AllowedBlobs":
    """The blobs that the branch may have of each path: those it had, and those that we commit."""
    after = git.blob_ids({each.path: each.effect.after for each in tracked if each.effect.after is not None})
    return {
        each.path: frozenset({each.tracked.head, each.tracked.staged, each.blob, after.get(each.path)})
        for each in tracked
    }


def _undone(path: str) -> Conflict:
    return Conflict(
        f"git commands kept changing {path} or the branch while it was being written",
        path=path,
        hint="Let them finish, read the note again, and repeat the change if it is not there.",
    )


def read_git_state(git: "Repository", effects: Sequence[Effect]) -> tuple[TrackedEffect, ...]:
    """The effects, each with what git has of its path."""
    tracked = git.tracked_blobs([effect.path for effect in effects])
    on_disk = git.blob_ids({effect.path: effect.before.blob.content for effect in effects if effect.before})
    return tuple(TrackedEffect(effect, tracked[effect.path], on_disk.get(effect.path)) for effect in effects)


def snapshot_commits(git: "Repository", tracked: Sequence[TrackedEffect]) -> "tuple[NewCommit, ...]":
    """The commits of what is only staged, and after it of what is only on disk."""
    staged = {each.path: git.blob(each.only_staged, path=each.path) for each in tracked if each.only_staged}
    on_disk = {each.path: each.effect.before.blob.content for each in tracked if each.effect.before and each.is_edited}
    return tuple(_snapshot_commit(files) for files in (staged, on_disk) if files)


def _snapshot_commit(files: Mapping[str, bytes]) -> "NewCommit":
    from commonplace.vault.git.commit import NewCommit

    what = wordless_name(next(iter(files))) if len(files) == 1 else f"{len(files)} files"
    return NewCommit(f"commonplace: commit your edits of {what}", _SNAPSHOT_TRAILERS, files)


def _new_journal(root: Path, tracked: Sequence[TrackedEffect], *, label: Label, vault: str) -> Journal:
    return Journal(
        mutation=os.urandom(16).hex(),
        label=label,
        entries=tuple(_entry(each) for each in tracked),
        folders=_folders_to_make(root, [each.path for each in tracked if each.effect.after is not None]),
        pid=os.getpid(),
        started=datetime.now(UTC).isoformat(timespec="milliseconds"),
        vault=vault,
    )


def _entry(tracked: TrackedEffect) -> JournalEntry:
    before, after = tracked.effect.before, tracked.effect.after
    return JournalEntry(
        path=tracked.path,
        before=before.blob.version if before else ABSENT,
        after=ABSENT if after is None else version_of(after),
        mode=before.mode if before else None,
        blob=tracked.blob,
        head=tracked.tracked.head,
        staged=tracked.tracked.staged,
    )


def _folders_to_make(root: Path, paths: Sequence[str]) -> tuple[str, ...]:
    parents = {str(parent) for path in paths for parent in PurePosixPath(path).parents[:-1]}
    return tuple(sorted(parent for parent in parents if not os.path.isdir(root / parent)))


MAINTAIN_EVERY: Final = 500
"""The number of files in our commits after which git maintenance runs: many in one commit become a pack."""


class ObsidianVault(Folder):
    """A folder under git. Nothing a person wrote is changed before it is committed."""

    name = "obsidian-vault"
    capabilities = frozenset({Capability.PERSISTENT, Capability.SHARED, Capability.HISTORY, Capability.WATCHED})

    def __init__(
        self, root: Path, *, author: "Author", filters: bool = False, max_read_bytes: int | None = None
    ) -> None:
        """Open the store in that folder; its repository is opened when it is first needed.

        `filters` lets the person's filter programs run. Raises VaultUnavailable when the folder does not exist.
        """
        super().__init__(root, max_read_bytes=max_read_bytes)
        self._author = author
        self._filters = filters
        self._opened: Repository | None = None
        self._is_prepared = False  # for transactions, which happens before the first one

    @contextmanager
    def transaction(
        self, *, wait: float = 10.0, label: Label | None = None, then: OnCommit | None = None
    ) -> Iterator[Changes]:
        """Take the lock and collect changes. Raises VaultUnavailable: locked, repository_busy, or without git."""
        is_due = False
        with self._hold(wait=wait):
            self._recover()
            changes = Changes(self)
            try:
                yield changes
            finally:
                changes.close()
            with defer_interrupts():
                result = carry_out(self._tree, self._git, self._journal(), changes=changes.planned, label=label)
            is_due = result.changed and self._is_maintenance_due(len(changes.planned))
            if then and changes.planned:
                then(result)
        if is_due:
            self._try_to_maintain()

    def derive(self, at: Locator, content: bytes) -> None:
        """Write a derived file atomically and exclude it from git. This works during a merge, too.

        Raises Refused for a path that is not named `_index.md`, that git tracks, or where a person's file is.
        """
        path = checked_derived_path(path_of(at, self))
        with self._hold(wait=LOCK_WAIT_S):
            if must_write_derived(self._tree, self._git, path, content=content):
                self._git.paths.exclude_temporary_files()
                self._git.paths.exclude(path)
                write_derived(self._tree, path, content, unfinished=self._unfinished())

    def recover(self, *, wait: float = 10.0) -> "RecoveryReport | None":
        """Recover from a crash, and report what was done; None when there was nothing to do.

        What a git command took by accident, because one of our commits met it, is brought back too.
        """
        with self._hold(wait=wait):
            return self._recover()

    def lost_versions(self) -> tuple[LostVersion, ...]:
        """What git commands dropped by accident lately and `recover` does not bring back: the files changed since."""
        return self._repair().lost_versions()

    def revisions(
        self, at: Locator | None = None, *, ours: bool = False, limit: int | None = None
    ) -> tuple[Revision, ...]:
        """The commits that touched the file, or any file; newest first; `ours` leaves out those of other programs."""
        return self._git.revisions(None if at is None else path_of(at, self), ours=ours, limit=limit)

    def read_at(self, at: Locator, commit: str) -> bytes | None:
        """The file's bytes in that commit; None when it was not there."""
        return self._git.content_at(path_of(at, self), commit)

    def merge(self, *, base: bytes, ours: bytes, theirs: bytes) -> Merge:
        """The three-way merge of two changes of `base`."""
        return self._git.merge(base=base, ours=ours, theirs=theirs)

    def read_all_at(self, wanted: Sequence[tuple[Locator, str]]) -> list[bytes | None]:
        """The bytes of many files, each in the commit given with it; None where the file was not there."""
        return self._git.contents_at([(path_of(at, self), commit) for at, commit in wanted])

    def commit_at(self, when: datetime) -> str | None:
        """The newest first-parent commit that is not later than that time; None before history begins."""
        return self._git.commit_at(when)

    def history_begins(self) -> datetime | None:
        """The time of the first commit on the branch's first-parent line; None when there is none yet."""
        return self._git.history_begins()

    def head(self) -> str | None:
        """The newest commit of the branch; None when there is none yet."""
        return self._git.head()

    def line_of(self, commit: str, *, limit: int | None = None) -> tuple[str, ...]:
        """The commits of the first-parent line that ends in this one, newest first; at most `limit`."""
        return self._git.line_of(commit, limit=limit)

    def changes(self, *, after: str | None, until: str) -> tuple[CommitChange, ...]:
        """What each commit of the first-parent line after `after` changed, oldest first."""
        return self._git.changes(after=after, until=until)

    def changes_since(self, commit: str | None) -> tuple[CommitChange, ...] | None:
        """What each commit after this one changed, merged-in ones included; None if the branch does not contain it."""
        return self._git.changes_since(commit)

    def read_blobs(self, ids: Sequence[str], *, largest: int) -> Iterator[bytes | None]:
        """The stored bytes of files that `changes` names; None for one that is missing or larger than that."""
        return self._git.read_blobs(ids, largest=largest)

    def list_at(self, commit: str, *, skip: Skip | None = None) -> Listing:
        """The files in that commit. Raises VaultUnavailable when there is no such commit."""
        return self._git.list_at(commit, skip=skip)

    def read_listed_at(self, commit: str, paths: Sequence[str]) -> list[bytes | None]:
        """The bytes of files that `list_at` lists for that commit, whatever is at their paths today."""
        return self._git.contents_at([(normal(path), commit) for path in paths])

    def held_by(self, at: Locator, *more: Locator) -> tuple[int, tuple[str, ...]]:
        """How many commits changed one of the files, and the names of the remotes that may have them too."""
        return self._git.held_by(*(path_of(each, self) for each in (at, *more)))

    def path_in_history(self, at: Locator) -> str:
        """The file's path in the repository, of which the vault may be a part."""
        return self._git.inside(path_of(at, self))

    def refuse(self, files: Sequence[Locator]) -> None:
        """Raise what a transaction on these files would raise now."""
        self._git.refuse_if_busy()
        self._git.refuse_unwritable([path_of(each, self) for each in files])

    def rehearse(self, at: Locator, *, wait: float = 10.0) -> None:
        """Create this file without making or leaving anything. Raises what would stop a write now."""
        with self._hold(wait=wait):
            self._recover()
            with defer_interrupts():
                rehearse(self._tree, self._git, self._journal(), path=path_of(at, self))

    def maintain(self) -> None:
        """Run git's maintenance if git considers it due."""
        self._git.maintain()

    @property
    def _git(self) -> "Repository":
        from commonplace.vault.git.repository import Repository

        if self._opened is None:
            self._opened = Repository(self._tree.root, author=self._author, filters=self._filters)
        return self._opened

    def _recover(self) -> "RecoveryReport | None":
        from commonplace.vault.recovery import recover

        self._git.refuse_if_busy()
        if not self._is_prepared:
            self._git.claim(self._lock.state_folder())
            self._git.paths.exclude_temporary_files()
            self._git.release_packs()
            if (self._tree.root / ".git").exists():
                remove_workshops(self._tree.root)
            self._is_prepared = True
        report = recover(self._tree, self._git, self._journal())
        with defer_interrupts():
            self._repair().run()
        return report

    def _repair(self) -> "Repair":
        from commonplace.vault.repair import Repair, SettledCollisions

        settled = SettledCollisions(self._lock.beside("locks", ".collisions"))
        return Repair(self._tree, self._git, self._journal(), settled)

    def _journal(self) -> JournalFile:
        with translate_os_errors(str(self._tree.root), doing="find the journal of"):
            return JournalFile(self._lock.beside("journals", ".json"))

    def _is_maintenance_due(self, files: int) -> bool:
        """Count the files of a commit; True each time another MAINTAIN_EVERY are reached. A lost count restarts."""
        try:
            file = self._lock.beside("locks", ".commits")
            before = _number_in(file.read_bytes()) if file.exists() else 0
            file.write_text(f"{before + files}\n", encoding="ascii")
        except OSError as error:
            emit("commits_not_counted", level="warning", said=error.strerror)
            return False
        return (before + files) // MAINTAIN_EVERY > before // MAINTAIN_EVERY

    def _try_to_maintain(self) -> None:
        try:
            self.maintain()
        except CommonplaceError as error:
            emit("maintenance_failed", level="warning", said=error.message)


def _number_in(text: bytes) -> int:
    return int(text) if text.strip().isdigit() else 0


def must_write_derived(tree: FolderTree, git: "Repository", path: str, *, content: bytes) -> bool:
    """True unless the generated file has this content. Its line in `info/exclude` marks the file as generated by us.

    Raises Refused when git tracks the file, or when a person may have written it.
    """
    current, is_ours = _current_content(tree, path), git.paths.is_excluded(path)
    if is_ours and current == content:
        return False
    if not is_ours:
        git.paths.refuse_tracked(path)
        if current not in (None, content):
            raise _not_generated(path)
    return True


def _current_content(tree: FolderTree, path: str) -> bytes | None:
    try:
        with translate_os_errors(path, doing="read"), tree.locate(path) as location:
            return read_file(location).blob.content
    except NotFound:
        return None


def _not_generated(path: str) -> Refused:
    return Refused(
        f"a file that Commonplace did not generate is where a generated one belongs: {path}",
        path=path,
        hint="Rename it, or delete it if it is a copy of a generated one.",
    )
