"""The backend `obsidian-vault`: a folder of notes under git, where every transaction is a commit.

A transaction, all of it under the vault's lock: what a crash left is recovered; while a merge or the like goes on it is
refused; the block runs; `mutation` compares, keeps a person's edits, publishes and commits; the caller is told.
Reads need neither git nor the lock.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from commonplace.errors import CommonplaceError
from commonplace.events import emit
from commonplace.vault.base import Capability, Label, Listing, Locator, Merge, Revision, Skip, Then
from commonplace.vault.changes import Changes
from commonplace.vault.derived import WAIT_S, refuse_other_names
from commonplace.vault.folder import Folder
from commonplace.vault.journal import JournalFile
from commonplace.vault.paths import normal
from commonplace.vault.rules import own
from commonplace.vault.trouble import disk_trouble
from commonplace.vault.undisturbed import undisturbed

if TYPE_CHECKING:  # what a reader need not load
    from commonplace.vault.git import Author, Repository
    from commonplace.vault.recovery import Recovered

MAINTAIN_EVERY: Final = 500
"""Commits of ours after which git may tidy up."""


class ObsidianVault(Folder):
    """A folder under git. Nothing a person wrote is changed before git has it."""

    name = "obsidian-vault"
    capabilities = frozenset({Capability.PERSISTENT, Capability.SHARED, Capability.HISTORY, Capability.WATCHED})

    def __init__(self, root: Path, *, author: "Author", filters: bool = False) -> None:
        """Open the store in that folder; its repository is looked for when it is needed.

        `filters` lets the person's filter programs run. Raises VaultUnavailable when the folder is not there.
        """
        super().__init__(root)
        self._author = author
        self._filters = filters
        self._opened: Repository | None = None

    @contextmanager
    def transaction(
        self, *, wait: float = 10.0, label: Label | None = None, then: Then | None = None
    ) -> Iterator[Changes]:
        """Take the lock and collect changes. Raises VaultUnavailable: locked, repository_busy, or without git."""
        from commonplace.vault.mutation import carry_out

        is_due = False
        with self._lock.hold(wait=wait):
            self._recover()
            changes = Changes(self)
            try:
                yield changes
            finally:
                changes.close()
            with undisturbed():
                made = carry_out(self._tree, self._git, self._journal(), changes=changes.planned, label=label)
            is_due = made.changed and self._count_commit() % MAINTAIN_EVERY == 0
            if then and changes.planned:
                then(made)
        if is_due:
            self._maintain_quietly()

    def derive(self, at: Locator, content: bytes) -> None:
        """Let a derived file say this, in one step, and let git never take it. A merge that is under way is no matter.

        Raises Refused for a path that is not named `_index.md`, that git holds, or where a person's file stands.
        """
        from commonplace.vault.deriving import put_beside_git

        path = refuse_other_names(own(at, self))
        with self._lock.hold(wait=WAIT_S):
            put_beside_git(self._tree, self._git, path, content=content)

    def recover(self, *, wait: float = 10.0) -> "Recovered | None":
        """Make good what a crash left, and say what was done; None when there was nothing to do."""
        with self._lock.hold(wait=wait):
            return self._recover()

    def revisions(
        self, at: Locator | None = None, *, ours: bool = False, limit: int | None = None
    ) -> tuple[Revision, ...]:
        """The commits that touched the file, or any file; newest first; `ours` leaves out those of other programs."""
        return self._git.revisions(None if at is None else own(at, self), ours=ours, limit=limit)

    def read_at(self, at: Locator, commit: str) -> bytes | None:
        """The file as it was in that commit; None when it was not there."""
        return self._git.content_at(own(at, self), commit)

    def merge(self, *, base: bytes, ours: bytes, theirs: bytes) -> Merge:
        """What comes of both changes of the base."""
        return self._git.merge(base=base, ours=ours, theirs=theirs)

    def read_all_at(self, wanted: Sequence[tuple[Locator, str]]) -> list[bytes | None]:
        """Each file as it was in the commit beside it; None where it was not there."""
        return self._git.contents_at([(own(at, self), commit) for at, commit in wanted])

    def commit_at(self, when: datetime) -> str | None:
        """The newest commit of the branch's own line that is not later than that moment; None before it begins."""
        return self._git.commit_at(when)

    def history_begins(self) -> datetime | None:
        """When the first commit of the branch's own line was made; None when there is none yet."""
        return self._git.begins()

    def list_at(self, commit: str, *, skip: Skip | None = None) -> Listing:
        """The files as they were in that commit. Raises VaultUnavailable when there is no such commit."""
        return self._git.list_at(commit, skip=skip)

    def read_listed_at(self, commit: str, paths: Sequence[str]) -> list[bytes | None]:
        """The bytes of files that `list_at` tells of that commit, whatever stands at their paths today."""
        return self._git.contents_at([(normal(path), commit) for path in paths])

    def held_by(self, at: Locator, *more: Locator) -> tuple[int, tuple[str, ...]]:
        """How many commits hold one of the files, and the names of the remotes that may hold them too."""
        return self._git.held_by(*(own(each, self) for each in (at, *more)))

    def path_in_history(self, at: Locator) -> str:
        """The file's path in the repository, of which the vault may be a part."""
        return self._git.inside(own(at, self))

    def refuse(self, files: Sequence[Locator]) -> None:
        """Raise what a transaction on these files would raise now."""
        self._git.refuse_if_busy()
        self._git.refuse_unwritable([own(each, self) for each in files])

    def maintain(self) -> None:
        """Let git tidy up, if it finds that due."""
        self._git.maintain()

    @property
    def _git(self) -> "Repository":
        from commonplace.vault.git import Repository

        if self._opened is None:
            self._opened = Repository(self._tree.root, author=self._author, filters=self._filters)
        return self._opened

    def _recover(self) -> "Recovered | None":
        from commonplace.vault.recovery import recover

        self._git.refuse_if_busy()
        return recover(self._tree, self._git, self._journal())

    def _journal(self) -> JournalFile:
        with disk_trouble(str(self._tree.root), doing="find the journal of"):
            return JournalFile(self._lock.beside("journals", ".json"))

    def _count_commit(self) -> int:
        """How many commits were made here, this one included. A count that is lost begins again."""
        try:
            file = self._lock.beside("locks", ".commits")
            count = 1 + (_number_in(file.read_bytes()) if file.exists() else 0)
            file.write_text(f"{count}\n", encoding="ascii")
        except OSError as error:
            emit("commits_not_counted", level="warning", said=error.strerror)
            return 1
        return count

    def _maintain_quietly(self) -> None:
        try:
            self.maintain()
        except CommonplaceError as error:
            emit("maintenance_failed", level="warning", said=error.message)


def _number_in(text: bytes) -> int:
    return int(text) if text.strip().isdigit() else 0
