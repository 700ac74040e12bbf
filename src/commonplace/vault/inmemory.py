"""The backend `in-memory`: a dictionary that keeps the contract, for tests and experiments."""

import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from commonplace.errors import NotFound, Refused, UsageError, VaultUnavailable
from commonplace.model import Stat
from commonplace.vault.base import (
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
from commonplace.vault.changes import Change, Changes, Write
from commonplace.vault.contract_errors import path_of
from commonplace.vault.file_table import apply_changes, find_file, find_folder, look_up
from commonplace.vault.paths import normal, normal_folder, skip_filter
from commonplace.vault.watch import WatchQueues


@dataclass(frozen=True, slots=True)
class File:
    """The dictionary's value for a path."""

    content: bytes
    mtime: float

    @property
    def version(self) -> str:
        """The version of the content."""
        return version_of(self.content)


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
        return Locator(look_up(self._files, normal(path)).path, self)

    def read(self, at: Locator) -> Blob:
        """The file's bytes. Raises NotFound, and Refused for a folder."""
        path, file = find_file(self._files, path_of(at, self))
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

    def stats(self, paths: Iterable[str]) -> Mapping[str, Stat]:
        """The same of several files at once, by the paths given; those that are no files are left out."""
        found: dict[str, Stat] = {}
        for path in paths:
            with suppress(NotFound, Refused):
                found[path] = self.stat(self.resolve(path))
        return found

    def list(self, folder: str = "", *, recursive: bool = True, skip: Skip | None = None) -> Listing:
        """The files below a folder. Raises NotFound when there is no such folder."""
        files, path = self._files, normal_folder(folder)
        prefix = f"{find_folder(files, path)}/" if path else ""
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


def _apply(files: Files, changes: list[Change]) -> Files:
    """The files after the changes; raises as `apply_changes` does."""
    return apply_changes(files, changes, create=lambda content: File(content, time.time()))


def _differences(before: Files, after: Files) -> tuple[WatchEvent, ...]:
    gone = tuple(WatchEvent(path, "gone") for path in before if path not in after)
    return gone + tuple(WatchEvent(path, "saved") for path, file in after.items() if before.get(path) is not file)
