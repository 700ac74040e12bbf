"""The backend `in-memory`: a dictionary that keeps the contract; for tests, and for trying things out."""

import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from commonplace.errors import NotFound, UsageError, VaultUnavailable
from commonplace.model import Stat
from commonplace.vault.base import (
    ABSENT,
    Blob,
    Capability,
    Label,
    Listing,
    Locator,
    Made,
    Seen,
    Skip,
    Then,
    version_of,
)
from commonplace.vault.changes import Change, Changes, Delete, Move, Write
from commonplace.vault.derived import WAIT_S, refuse_other_names
from commonplace.vault.paths import normal, normal_folder, spelling
from commonplace.vault.rules import blocked, collision, compare, missing, no_folder, not_a_file, own, taken
from commonplace.vault.skipping import skipping
from commonplace.vault.watch_queues import Watchers


@dataclass(frozen=True, slots=True)
class File:
    """What the dictionary holds under a path."""

    content: bytes
    mtime: float


Files = dict[str, File]


class InMemory:
    """Files in a dictionary. A transaction works on a copy that takes the dictionary's place, so reads need no lock."""

    name = "in-memory"
    capabilities: frozenset[Capability] = frozenset({Capability.WATCHED})

    def __init__(self) -> None:
        self._files: Files = {}
        self._watchers = Watchers()
        self._turn = threading.Lock()
        self._holder: int | None = None

    def resolve(self, path: str) -> Locator:
        """Where that file is or would be. Raises Refused."""
        return Locator(_spot(self._files, normal(path)).path, self)

    def read(self, at: Locator) -> Blob:
        """The file's bytes. Raises NotFound, and Refused for a folder."""
        path, file = _find(self._files, own(at, self))
        return Blob(file.content, version_of(file.content), Stat(path, file.mtime, len(file.content)))

    def exists(self, at: Locator) -> bool:
        """Whether a file is there. Raises Refused for a folder."""
        try:
            self.stat(at)
        except NotFound:
            return False
        return True

    def stat(self, at: Locator) -> Stat:
        """Size and time of the file. Raises NotFound, and Refused for a folder."""
        return self.read(at).stat

    def list(self, folder: str = "", *, recursive: bool = True, skip: Skip | None = None) -> Listing:
        """The files below a folder. Raises NotFound when there is no such folder."""
        files, path = self._files, normal_folder(folder)
        prefix = f"{_folder(files, path)}/" if path else ""
        is_skipped = skipping(skip, below=prefix)
        chosen = (
            Stat(path, file.mtime, len(file.content))
            for path, file in sorted(files.items())
            if path.startswith(prefix) and (recursive or "/" not in path.removeprefix(prefix)) and not is_skipped(path)
        )
        return Listing(tuple(chosen), ())

    @contextmanager
    def transaction(
        self, *, wait: float = 10.0, label: Label | None = None, then: Then | None = None
    ) -> Iterator[Changes]:
        """Take the lock and collect changes. Raises VaultUnavailable(locked) after `wait` seconds."""
        with self._hold(wait):
            changes = Changes(self)
            try:
                yield changes
            finally:
                changes.close()
            before, self._files = self._files, _changed(self._files, changes.planned)
            self._watchers.tell(_differences(before, self._files))
            if then and changes.planned:
                then(Made(None, changed=self._files != before))

    def derive(self, at: Locator, content: bytes) -> None:
        """Let a derived file say this. Raises Refused for a path that is not named `_index.md`."""
        path = refuse_other_names(own(at, self))
        with self._hold(WAIT_S):
            before, self._files = self._files, _changed(self._files, [Write(path, content, None)])
            self._watchers.tell(_differences(before, self._files))

    def watch(
        self, *, stop: threading.Event, skip: Skip | None = None, step: float = 0.5
    ) -> Iterator[tuple[Seen, ...]]:
        """What is changed from this call on, until `stop` is set; () each `step` seconds while nothing is."""
        return self._watchers.watch(stop=stop, skip=skip, step=step)

    @contextmanager
    def _hold(self, wait: float) -> Iterator[None]:
        if self._holder == threading.get_ident():
            raise UsageError("a transaction is already open in this thread", hint="End it before the next one begins.")
        if not self._turn.acquire(timeout=max(wait, 0)):
            hint = "Wait until the other transaction has ended and try again."
            raise VaultUnavailable(f"the store stayed locked for {wait:g} s", reason="locked", hint=hint)
        self._holder = threading.get_ident()
        try:
            yield
        finally:
            self._holder = None
            self._turn.release()


@dataclass(frozen=True, slots=True)
class _Spot:
    """Where a path leads: its spelling, a twin in another case, the file in its way, whether it is a folder."""

    path: str
    twin: str | None = None
    blocked_by: str | None = None
    is_folder: bool = False


def _changed(files: Files, changes: list[Change]) -> Files:
    """The files after the changes; all expectations are held against the files before any of them."""
    for change in changes:
        _check(files, change)
    after = dict(files)
    for change in changes:
        _make(after, change)
    return after


def _differences(before: Files, after: Files) -> tuple[Seen, ...]:
    gone = tuple(Seen(path, "gone") for path in before if path not in after)
    return gone + tuple(Seen(path, "saved") for path, file in after.items() if before.get(path) is not file)


def _check(files: Files, change: Change) -> None:
    if isinstance(change, Write):
        file = files.get(_writable(files, change.path))
        found = version_of(file.content) if file else ABSENT
    else:
        found = version_of(_find(files, change.path)[1].content)
    compare(change.path, expected=change.expected, found=found)
    if isinstance(change, Move) and _writable(files, change.destination) in files:
        raise taken(change.destination)


def _make(files: Files, change: Change) -> None:
    if isinstance(change, Write):
        path = _writable(files, change.path)
        if path not in files or files[path].content != change.content:
            files[path] = File(change.content, time.time())
        return
    path, file = _find(files, change.path)
    if isinstance(change, Delete):
        del files[path]
        return
    files[_writable(files, change.destination)] = file
    del files[path]


def _find(files: Mapping[str, File], path: str) -> tuple[str, File]:
    spot = _spot(files, path)
    if spot.is_folder:
        raise not_a_file(spot.path, kind="a folder")
    if spot.path not in files:
        raise missing(path, twin=spot.twin)
    return spot.path, files[spot.path]


def _writable(files: Mapping[str, File], path: str) -> str:
    spot = _spot(files, path)
    if spot.is_folder:
        raise not_a_file(spot.path, kind="a folder")
    if spot.blocked_by:
        raise blocked(path, by=spot.blocked_by)
    if spot.twin:
        raise collision(path, twin=spot.twin)
    return spot.path


def _folder(files: Mapping[str, File], path: str) -> str:
    spot = _spot(files, path)
    if not spot.is_folder:
        raise no_folder(path, twin=spot.twin)
    return spot.path


def _spot(files: Mapping[str, File], path: str) -> _Spot:
    if path in files:
        return _Spot(path)
    names, walked = path.split("/"), ""
    for depth, name in enumerate(names, start=1):
        found = spelling(name, _names_in(files, walked))
        here, rest = walked + found.name, names[depth:]
        whole = "/".join([here, *rest])
        if found.twin:
            return _Spot(whole, twin="/".join([walked + found.twin, *rest]))
        if rest and here in files:
            return _Spot(whole, blocked_by=here)
        walked = f"{here}/"
    return _Spot(whole, is_folder=whole not in files and any(file.startswith(walked) for file in files))


def _names_in(files: Mapping[str, File], prefix: str) -> set[str]:
    return {path.removeprefix(prefix).partition("/")[0] for path in files if path.startswith(prefix)}
