"""The storage seam: all access to note files goes through a `StorageBackend`, and nothing above knows where they are.

Terms:
- store        what one backend object reads and writes: a folder, a folder under git, a dictionary.
- locator      where one file of a store is. Only `resolve` makes one, after checking the path. It is opaque, and
               another store refuses it.
- version      the sha256 of a file's bytes. Every change carries the version it was based on.
- transaction  changes that are checked together, under the store's lock, and made together or not at all.
               It may name each file once. A folder is created with its first file.
- derived file a file generated from others, which can be generated again, named `_index.md`. It is in no history.

The seam moves bytes: it knows nothing of Markdown, YAML or policy.
"""

import hashlib
import shlex
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final, Literal, NamedTuple, Protocol

from commonplace.model import Problem, Stat

ABSENT: Final = "absent"
"""The expected version of a file that must not exist yet."""


class Capability(StrEnum):
    """What a backend guarantees beyond the contract that all of them keep."""

    PERSISTENT = "persistent"  # acknowledged changes survive a crash, and are there when the store is opened again
    SHARED = "shared"  # several processes may change the store: its lock makes them take turns
    HISTORY = "history"  # every transaction is a commit: the store is a `HistoricBackend`
    WATCHED = "watched"  # reports changes as they happen, whoever makes them: the store is a `WatchedBackend`
    ERASABLE = "erasable"  # a file can be erased from the history, too: the store is an `ErasableBackend`


@dataclass(frozen=True, slots=True)
class Locator:
    """Where one file is. `path` is for display: relative, with forward slashes."""

    path: str
    _store: object = field(repr=False)

    def belongs_to(self, store: object) -> bool:
        """True if this store made the locator."""
        return self._store is store


@dataclass(frozen=True, slots=True)
class Blob:
    """One file's bytes and their version."""

    content: bytes
    version: str
    stat: Stat


@dataclass(frozen=True, slots=True)
class Listing:
    """The files of a store sorted by path, and a Problem for everything that could not be listed."""

    files: tuple[Stat, ...]
    problems: tuple[Problem, ...]


Skip = Callable[[str], bool]
"""Returns whether to leave a path out of a listing; a folder's path ends in a slash."""


@dataclass(frozen=True, slots=True)
class Label:
    """Why a transaction is made: the commit message, and trailers such as ("Commonplace-Actor", "agent")."""

    message: str
    trailers: tuple[tuple[str, str], ...] = ()
    keeps: bool = True  # uncommitted edits are committed before they are replaced; an erasure must not do that


@dataclass(frozen=True, slots=True)
class TransactionResult:
    """The result of a transaction. `commit` is None in a store without history.

    `changed` is False when every file already had its new content; `commit` is then the one that holds it.
    """

    commit: str | None
    changed: bool


OnCommit = Callable[[TransactionResult], None]
"""Called after a transaction's changes are made, while its lock is still held; not called when it fails."""


class Transaction(Protocol):
    """Changes to be made together when the `with` block ends; after an exception in the block, none is made."""

    def read(self, at: Locator) -> Blob:
        """The file as it is now, under the lock. Raises NotFound."""

    def write(self, at: Locator, content: bytes, *, expected: str | None = None) -> None:
        """Create or replace the file; `expected` is a version, ABSENT, or None for no check."""

    def delete(self, at: Locator, *, expected: str | None = None) -> None:
        """Remove the file. Raises NotFound at the end of the block when there is no such file."""

    def move(self, source: Locator, destination: Locator, *, expected: str | None = None) -> None:
        """Move the file to another path. Raises Conflict at the end of the block when the destination exists."""


class StorageBackend(Protocol):
    """One store. `commonplace.testing` has the contract that every backend keeps, as runnable checks."""

    @property
    def name(self) -> str:
        """The name that selects this backend in the settings."""

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What this backend guarantees beyond the contract."""

    def resolve(self, path: str) -> Locator:
        """Where that file is or would be. Raises Refused(path_escape) for a path outside the store."""

    def read(self, at: Locator) -> Blob:
        """The file's bytes. Raises NotFound."""

    def exists(self, at: Locator) -> bool:
        """True if the file exists."""

    def stat(self, at: Locator) -> Stat:
        """Size and modification time of the file, without reading it. Raises NotFound."""

    def stats(self, paths: Iterable[str]) -> Mapping[str, Stat]:
        """The same of several files at once, by the paths given; those that cannot be examined are left out."""

    def list(self, folder: str = "", *, recursive: bool = True, skip: Skip | None = None) -> Listing:
        """The files below a folder. Raises NotFound when there is no such folder."""

    def transaction(
        self, *, wait: float = 10.0, label: Label | None = None, then: OnCommit | None = None
    ) -> AbstractContextManager[Transaction]:
        """Take the lock and collect changes. Raises VaultUnavailable(locked) after `wait` seconds."""

    def derive(self, at: Locator, content: bytes) -> None:
        """Write a derived file atomically, without a transaction; a file with this content already is not touched.

        Raises Refused for a path that is not named `_index.md`, and for a file that is in the history or was made by a
        person: that file stays as it is. Raises VaultUnavailable(locked) when the lock is not free within ten seconds,
        and UsageError inside a transaction of the same thread.
        """


@dataclass(frozen=True, slots=True)
class WatchEvent:
    """The state of one path of a watched store after something happened to it.

    "saved": a file is there, new, changed or only touched. "gone": no readable file is there; if it was a folder,
    everything below it is gone too. "folder": a folder was created or renamed, so list everything below it again;
    the path "" is the whole store.
    """

    path: str
    kind: Literal["saved", "gone", "folder"]


class WatchedBackend(StorageBackend, Protocol):
    """A store that reports changes, whoever makes them."""

    def watch(
        self, *, stop: threading.Event, skip: Skip | None = None, step: float = 0.5
    ) -> Iterator[tuple[WatchEvent, ...]]:
        """The events from this call on, until `stop` is set; () every `step` seconds while there are none.

        A tuple names a path once; paths that `skip` leaves out of a listing are not reported.
        Raises VaultUnavailable, at once or later, when the store cannot be watched: use `poll` then.
        """


@dataclass(frozen=True, slots=True)
class Revision:
    """One commit of a store's history that touched the store.

    `paths` maps each path it changed to "added", "changed" or "removed".
    `trailers` are those of its message, the values of a repeated name joined by line breaks. A commit of ours has a
    `Commonplace-Kind`, and a `Commonplace-Path` for each of its files unless there are very many; the path of an entry
    without the words in its name (`model.layout.wordless_path`).
    """

    commit: str
    when: datetime
    author: str
    message: str
    trailers: Mapping[str, str]
    paths: Mapping[str, str]


class Rename(NamedTuple):
    """A file that a commit added and that resembles one it removed; `likeness` is how much of it, in percent."""

    source: str
    target: str
    likeness: int


@dataclass(frozen=True, slots=True)
class CommitChange:
    """What a commit changed compared with its first parent; `blobs` has the id of each file that it added or changed.

    `before` has the ids that the files which it changed or removed had before. A renamed file is among the removed
    paths of the revision, and among the added.
    """

    revision: Revision
    blobs: Mapping[str, str]
    renames: tuple[Rename, ...]
    before: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LostVersion:
    """A version of a file that a git command took off the disk, and that only this commit has."""

    path: str
    commit: str

    @property
    def command(self) -> str:
        """What prints it, in the vault's folder."""
        return f"git show {shlex.quote(f'{self.commit}:./{self.path}')}"


@dataclass(frozen=True, slots=True)
class Merge:
    """A three-way merge. `conflict` is the first hunk in which both sides changed the same lines, with its markers."""

    content: bytes
    conflict: str | None


class HistoricBackend(StorageBackend, Protocol):
    """A store whose every transaction is a commit."""

    def revisions(
        self, at: Locator | None = None, *, ours: bool = False, limit: int | None = None
    ) -> tuple[Revision, ...]:
        """The commits that touched the file, or any file; newest first; `ours` leaves out those of other programs."""

    def read_at(self, at: Locator, commit: str) -> bytes | None:
        """The file's bytes in that commit; None when it was not there."""

    def read_all_at(self, wanted: Sequence[tuple[Locator, str]]) -> Sequence[bytes | None]:
        """The bytes of many files, each in the commit given with it; None where the file was not there."""

    def commit_at(self, when: datetime) -> str | None:
        """The newest commit that is not later than that time; None before history begins.

        Only the branch's first-parent line counts: a merged-in commit counts from its merge on.
        Raises UsageError for a time without a time zone.
        """

    def history_begins(self) -> datetime | None:
        """The time of the first commit on the branch's first-parent line; None when there is none yet."""

    def head(self) -> str | None:
        """The newest commit of the branch; None when there is none yet."""

    def line_of(self, commit: str, *, limit: int | None = None) -> tuple[str, ...]:
        """The commits of the first-parent line that ends in this one, newest first; at most `limit`."""

    def changes(self, *, after: str | None, until: str) -> tuple[CommitChange, ...]:
        """What each commit of the first-parent line changed, oldest first: those after `after`, up to `until`.

        Raises VaultUnavailable if there is no such commit.
        """

    def changes_since(self, commit: str | None) -> tuple[CommitChange, ...] | None:
        """What each commit that came after this one changed, oldest first, those of merged branches included.

        All commits if none is given. None if the branch does not contain the commit: it was rewritten.
        """

    def read_blobs(self, ids: Sequence[str], *, largest: int) -> Iterator[bytes | None]:
        """The stored bytes of files that `changes` names; None for one that is missing or larger than that."""

    def list_at(self, commit: str, *, skip: Skip | None = None) -> Listing:
        """The files in that commit, each with the time of the commit and its stored size."""

    def read_listed_at(self, commit: str, paths: Sequence[str]) -> Sequence[bytes | None]:
        """The bytes of files that `list_at` lists for that commit, whatever is at their paths today."""

    def refuse(self, files: Sequence[Locator]) -> None:
        """Raise what a transaction on these files would raise now: repository_busy, ignored, refused."""

    def rehearse(self, at: Locator, *, wait: float = 10.0) -> None:
        """Do all that creating this file would do, without making or leaving it. Raises what would stop a write."""

    def recover(self, *, wait: float = 10.0) -> object:
        """Complete or take back what a crash cut short, and bring back what a git command took by accident.

        Raises VaultUnavailable: locked, or repository_busy during a merge or the like.
        """

    def lost_versions(self) -> tuple[LostVersion, ...]:
        """What git commands took by accident lately and `recover` does not bring back: the files changed since."""

    def held_by(self, at: Locator, *more: Locator) -> tuple[int, tuple[str, ...]]:
        """How many commits changed one of the files, and the names of the remotes that may have them too."""

    def path_in_history(self, at: Locator) -> str:
        """The file's path in the repository, of which the store may be only a part."""

    def merge(self, *, base: bytes, ours: bytes, theirs: bytes) -> Merge:
        """The three-way merge of two changes of `base`."""

    def maintain(self) -> None:
        """Run maintenance on the stored history if it is due; its content does not change."""


class ErasableBackend(HistoricBackend, Protocol):
    """A store that can remove a file from its history."""

    def erase_history(self, files: Sequence[Locator], *, wait: float = 10.0) -> None:
        """Remove every version of these files from all commits, and their names from the messages.

        Other files of the same commits stay as they are. A commit of the kind `erase` keeps the removal of a file at
        `ERASED_PATH`, or at the path of an entry without its words. Raises Conflict if one of the files exists.
        """


def version_of(content: bytes) -> str:
    """The version of a file with these bytes."""
    return hashlib.sha256(content).hexdigest()


ERASED_PATH: Final = "[erased]"
"""The path in a commit of a file that was erased from the history."""

KIND: Final = "Commonplace-Kind"
