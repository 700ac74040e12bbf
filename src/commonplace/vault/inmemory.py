"""The backend `in-memory`: a dictionary that keeps the contract, for tests and experiments."""

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
    OnCommit,
    Skip,
    TransactionResult,
    WatchEvent,
    version_of,
)
from commonplace.vault.batch import LOCK_WAIT_S, checked_derived_path
from commonplace.vault.changes import Change, Changes, Delete, Move, Write
from commonplace.vault.contract_errors import (
    already_exists,
    case_collision,
    file_not_found,
    folder_not_found,
    not_a_file,
    parent_is_a_file,
    path_of,
    require_version,
)
from commonplace.vault.paths import normal, normal_folder, skip_filter, spelling
from commonplace.vault.watch import WatchQueues


@dataclass(frozen=True, slots=True)
class File:
    """The dictionary's value for a path."""

    content: bytes
    mtime: float


Files = dict[str, File]


class InMemory:
    """Files in a dictionary. A transaction changes a copy that then replaces the dictionary: reads need no lock."""

    name = "in-memory"
    capabilities: frozenset[Capability] = frozenset({Capability.WATCHED})

    def __init__(self) -> None:
        self._files: Files = {}
        self._watchers = WatchQueues()
        self._mutex = threading.Lock()
        self._holder: int | None = None

    def resolve(self, path: str) -> Locator:
        """Where that file is or would be. Raises Refused."""
        return Locator(_look_up(self._files, normal(path)).path, self)

    def read(self, at: Locator) -> Blob:
        """The file's bytes. Raises NotFound, and Refused for a folder."""
        path, file = _find(self._files, path_of(at, self))
        return Blob(file.content, version_of(file.content), Stat(path, file.mtime, len(file.content)))

    def exists(self, at: Locator) -> bool:
        """True if the file exists. Raises Refused for a folder."""
        try:
            self.stat(at)
        except NotFound:
            return False
        return True

    def stat(self, at: Locator) -> Stat:
        """Size and modification time of the file. Raises NotFound, and Refused for a folder."""
        return self.read(at).stat

    def list(self, folder: str = "", *, recursive: bool = True, skip: Skip | None = None) -> Listing:
        """The files below a folder. Raises NotFound when there is no such folder."""
        files, path = self._files, normal_folder(folder)
        prefix = f"{_find_folder(files, path)}/" if path else ""
        is_skipped = skip_filter(skip, below=prefix)
        chosen = (
            Stat(path, file.mtime, len(file.content))
            for path, file in sorted(files.items())
            if path.startswith(prefix) and (recursive or "/" not in path.removeprefix(prefix)) and not is_skipped(path)
        )
        return Listing(tuple(chosen), ())

    @contextmanager
    def transaction(
        self, *, wait: float = 10.0, label: Label | None = None, then: OnCommit | None = None
    ) -> Iterator[Changes]:
        """Take the lock and collect changes. Raises VaultUnavailable(locked) after `wait` seconds."""
        with self._hold(wait):
            changes = Changes(self)
            try:
                yield changes
            finally:
                changes.close()
            before, self._files = self._files, _apply(self._files, changes.planned)
            self._watchers.send(_differences(before, self._files))
            if then and changes.planned:
                then(TransactionResult(None, changed=self._files != before))

    def derive(self, at: Locator, content: bytes) -> None:
        """Write a derived file. Raises Refused for a path that is not named `_index.md`."""
        path = checked_derived_path(path_of(at, self))
        with self._hold(LOCK_WAIT_S):
            before, self._files = self._files, _apply(self._files, [Write(path, content, None)])
            self._watchers.send(_differences(before, self._files))

    def watch(
        self, *, stop: threading.Event, skip: Skip | None = None, step: float = 0.5
    ) -> Iterator[tuple[WatchEvent, ...]]:
        """The events from this call on, until `stop` is set; () every `step` seconds while there are none."""
        return self._watchers.watch(stop=stop, skip=skip, step=step)

    @contextmanager
    def _hold(self, wait: float) -> Iterator[None]:
        if self._holder == threading.get_ident():
            raise UsageError("a transaction is already open in this thread", hint="End it before the next one begins.")
        if not self._mutex.acquire(timeout=max(wait, 0)):
            hint = "Wait until the other transaction has ended and try again."
            raise VaultUnavailable(f"the store stayed locked for {wait:g} s", reason="locked", hint=hint)
        self._holder = threading.get_ident()
        try:
            yield
        finally:
            self._holder = None
            self._mutex.release()


@dataclass(frozen=True, slots=True)
class _Lookup:
    """The result of looking up a path: its spelling, a twin in another case, a file above it, is it a folder."""

    path: str
    twin: str | None = None
    blocked_by: str | None = None
    is_folder: bool = False


def _apply(files: Files, changes: list[Change]) -> Files:
    """The files after the changes; every expected version is checked against the files before any change."""
    for change in changes:
        _check(files, change)
    after = dict(files)
    for change in changes:
        _apply_change(after, change)
    return after


def _differences(before: Files, after: Files) -> tuple[WatchEvent, ...]:
    gone = tuple(WatchEvent(path, "gone") for path in before if path not in after)
    return gone + tuple(WatchEvent(path, "saved") for path, file in after.items() if before.get(path) is not file)


def _check(files: Files, change: Change) -> None:
    if isinstance(change, Write):
        file = files.get(_path_to_write(files, change.path))
        found = version_of(file.content) if file else ABSENT
    else:
        found = version_of(_find(files, change.path)[1].content)
    require_version(change.path, expected=change.expected, found=found)
    if isinstance(change, Move) and _path_to_write(files, change.destination) in files:
        raise already_exists(change.destination)


def _apply_change(files: Files, change: Change) -> None:
    if isinstance(change, Write):
        path = _path_to_write(files, change.path)
        if path not in files or files[path].content != change.content:
            files[path] = File(change.content, time.time())
        return
    path, file = _find(files, change.path)
    if isinstance(change, Delete):
        del files[path]
        return
    files[_path_to_write(files, change.destination)] = file
    del files[path]


def _find(files: Mapping[str, File], path: str) -> tuple[str, File]:
    lookup = _look_up(files, path)
    if lookup.is_folder:
        raise not_a_file(lookup.path, kind="a folder")
    if lookup.path not in files:
        raise file_not_found(path, twin=lookup.twin)
    return lookup.path, files[lookup.path]


def _path_to_write(files: Mapping[str, File], path: str) -> str:
    lookup = _look_up(files, path)
    if lookup.is_folder:
        raise not_a_file(lookup.path, kind="a folder")
    if lookup.blocked_by:
        raise parent_is_a_file(path, by=lookup.blocked_by)
    if lookup.twin:
        raise case_collision(path, twin=lookup.twin)
    return lookup.path


def _find_folder(files: Mapping[str, File], path: str) -> str:
    lookup = _look_up(files, path)
    if not lookup.is_folder:
        raise folder_not_found(path, twin=lookup.twin)
    return lookup.path


def _look_up(files: Mapping[str, File], path: str) -> _Lookup:
    if path in files:
        return _Lookup(path)
    names, walked = path.split("/"), ""
    for depth, name in enumerate(names, start=1):
        entry = spelling(name, _names_in(files, walked))
        here, rest = walked + entry.name, names[depth:]
        whole = "/".join([here, *rest])
        if entry.twin:
            return _Lookup(whole, twin="/".join([walked + entry.twin, *rest]))
        if rest and here in files:
            return _Lookup(whole, blocked_by=here)
        walked = f"{here}/"
    return _Lookup(whole, is_folder=whole not in files and any(file.startswith(walked) for file in files))


def _names_in(files: Mapping[str, File], prefix: str) -> set[str]:
    return {path.removeprefix(prefix).partition("/")[0] for path in files if path.startswith(prefix)}
