"""The storage seam: everything reaches note files through a `StorageBackend`, and nothing above knows where they are.

Terms:
- store        what one backend holds: a folder, a folder under git, a dictionary.
- locator      where one file of a store is. Only `resolve` makes one, after checking the path; the holder cannot look
               inside, and another store refuses it.
- version      the sha256 of a file's bytes. Every change carries the version it was based on.
- transaction  changes that are checked together, under the store's lock, and made together or not at all.
               Each file may be named once in it. Folders come into being with their first file.
- derived file a file that is made from others and can be made again, named `_index.md`. No history ever holds it.

The seam moves bytes: it knows no Markdown, no YAML and no policy.
"""

import hashlib
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final, Literal, Protocol

from commonplace.model import Problem, Stat

ABSENT: Final = "absent"
"""The expected version of a file that must not be there yet."""


class Capability(StrEnum):
    """What a backend promises beyond the contract that all of them keep."""

    PERSISTENT = "persistent"  # what was acknowledged is there after a crash, when the store is opened again
    SHARED = "shared"  # many processes may change the store at once: they take turns
    HISTORY = "history"  # every transaction is a commit: the store is a `HistoricBackend`
    WATCHED = "watched"  # changes are told as they happen, whoever makes them: the store is a `WatchedBackend`


@dataclass(frozen=True, slots=True)
class Locator:
    """Where one file is. `path` is its name for people: relative, with forward slashes."""

    path: str
    _store: object = field(repr=False)

    def belongs_to(self, store: object) -> bool:
        """Whether this store made the locator."""
        return self._store is store


@dataclass(frozen=True, slots=True)
class Blob:
    """One file's bytes and the version they have."""

    content: bytes
    version: str
    stat: Stat


@dataclass(frozen=True, slots=True)
class Listing:
    """The files of a store in order of their paths, and what was passed over, each with the reason."""

    files: tuple[Stat, ...]
    passed_over: tuple[Problem, ...]


Skip = Callable[[str], bool]
"""Says whether a path is to be left out of a listing; a folder's path ends in a slash."""


@dataclass(frozen=True, slots=True)
class Label:
    """Why a transaction is made: the message of its commit, and trailers such as ("Commonplace-Actor", "agent")."""

    message: str
    trailers: tuple[tuple[str, str], ...] = ()
    keeps: bool = True  # what the changes replace is in the history first; an erasure must not put it there


@dataclass(frozen=True, slots=True)
class Made:
    """What a transaction came to. `commit` is None where the store keeps no history.

    `changed` is False when everything was so already; `commit` is then the one that holds it.
    """

    commit: str | None
    changed: bool


Then = Callable[[Made], None]
"""Called when a transaction's changes are made, while its lock is still held; not called when nothing was made."""


class Transaction(Protocol):
    """Changes to be made together when the `with` block ends; an exception in the block makes none of them."""

    def read(self, at: Locator) -> Blob:
        """The file as it is now, under the lock. Raises NotFound."""

    def write(self, at: Locator, content: bytes, *, expected: str | None = None) -> None:
        """Create or replace the file; `expected` is a version, ABSENT, or None for whatever is there."""

    def delete(self, at: Locator, *, expected: str | None = None) -> None:
        """Remove the file. Raises NotFound when the block ends and it is not there."""

    def move(self, source: Locator, destination: Locator, *, expected: str | None = None) -> None:
        """Give the file another path. Raises Conflict when the block ends and the destination is taken."""


class StorageBackend(Protocol):
    """One store. `commonplace.testing` holds the contract that every backend keeps."""

    @property
    def name(self) -> str:
        """The name by which settings choose this backend."""

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What this backend promises beyond the contract."""

    def resolve(self, path: str) -> Locator:
        """Where that file is or would be. Raises Refused(path_escape) for a path that leads out of the store."""

    def read(self, at: Locator) -> Blob:
        """The file's bytes. Raises NotFound."""

    def exists(self, at: Locator) -> bool:
        """Whether a file is there."""

    def stat(self, at: Locator) -> Stat:
        """Size and time of the file, without reading it. Raises NotFound."""

    def list(self, folder: str = "", *, recursive: bool = True, skip: Skip | None = None) -> Listing:
        """The files below a folder. Raises NotFound when there is no such folder."""

    def transaction(
        self, *, wait: float = 10.0, label: Label | None = None, then: Then | None = None
    ) -> AbstractContextManager[Transaction]:
        """Take the lock and collect changes. Raises VaultUnavailable(locked) after `wait` seconds."""

    def derive(self, at: Locator, content: bytes) -> None:
        """Let a derived file say this, in one step, without a transaction; one that says it already is left alone.

        Raises Refused for a path that is not named `_index.md`, and for one that history holds or that a person made:
        that file is left as it is. Raises VaultUnavailable(locked) when the lock is not free within ten seconds, and
        UsageError inside a transaction of the same thread.
        """


@dataclass(frozen=True, slots=True)
class Seen:
    """What was seen of one path of a store that is watched, as it stood when it was looked at.

    "saved": a file is there, new or changed, or touched alone. "gone": nothing is there that could be read; if it was
    a folder, all below it is gone too. "folder": a folder came or was renamed, so look at everything below it again;
    with the path "" that is the whole store.
    """

    path: str
    what: Literal["saved", "gone", "folder"]


class WatchedBackend(StorageBackend, Protocol):
    """A store that tells what happens in it, whoever does it."""

    def watch(
        self, *, stop: threading.Event, skip: Skip | None = None, step: float = 0.5
    ) -> Iterator[tuple[Seen, ...]]:
        """What happens from this call on, until `stop` is set; () each `step` seconds while nothing does.

        A path is named once in a tuple; what `skip` leaves out of a listing is not told.
        Raises VaultUnavailable, at once or later, when the store cannot be watched: then `poll` is the way.
        """


@dataclass(frozen=True, slots=True)
class Revision:
    """One commit of a store's history, as far as it touched the store.

    `paths` names what it changed: path to "added", "changed" or "removed".
    `trailers` are those of its message, the values of a repeated name joined by line breaks. A commit of ours has a
    `Commonplace-Kind`, and a `Commonplace-Path` for each of its files if they are not many.
    """

    commit: str
    when: datetime
    author: str
    message: str
    trailers: Mapping[str, str]
    paths: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Merge:
    """A three-way merge. `conflict` is the first place where both sides changed the same lines, with its markers."""

    content: bytes
    conflict: str | None


class HistoricBackend(StorageBackend, Protocol):
    """A store whose every transaction is a commit."""

    def revisions(
        self, at: Locator | None = None, *, ours: bool = False, limit: int | None = None
    ) -> tuple[Revision, ...]:
        """The commits that touched the file, or any file; newest first; `ours` leaves out those of other programs."""

    def read_at(self, at: Locator, commit: str) -> bytes | None:
        """The file as it was in that commit; None when it was not there."""

    def read_all_at(self, wanted: Sequence[tuple[Locator, str]]) -> Sequence[bytes | None]:
        """The same for many files at once, each as it was in the commit beside it."""

    def commit_at(self, when: datetime) -> str | None:
        """The newest commit that is not later than that moment; None before history begins.

        Only the branch's own line counts: a commit that was merged in counts from its merge on.
        Raises UsageError for a time without a zone.
        """

    def history_begins(self) -> datetime | None:
        """When the first commit of the branch's own line was made; None when there is none yet."""

    def list_at(self, commit: str, *, skip: Skip | None = None) -> Listing:
        """The files as they were in that commit, each with the time of the commit, and its size as it is kept there."""

    def read_listed_at(self, commit: str, paths: Sequence[str]) -> Sequence[bytes | None]:
        """The bytes of files that `list_at` tells of that commit, whatever stands at their paths today."""

    def refuse(self, files: Sequence[Locator]) -> None:
        """Raise what a transaction on these files would raise now: repository_busy, ignored, refused."""

    def held_by(self, at: Locator, *more: Locator) -> tuple[int, tuple[str, ...]]:
        """How many commits hold one of the files, and the names of the remotes that may hold them too."""

    def path_in_history(self, at: Locator) -> str:
        """The file's path as the history names it: a store may be a part of what is kept there."""

    def merge(self, *, base: bytes, ours: bytes, theirs: bytes) -> Merge:
        """What comes of both changes of the base."""

    def maintain(self) -> None:
        """Put in order how the history is kept, if that is due; nothing it says changes."""


def version_of(content: bytes) -> str:
    """The version that a file with these bytes has."""
    return hashlib.sha256(content).hexdigest()
