"""Rules of watching: changes in the store are reported soon after they happen, until the watcher is stopped."""

import threading
import time
from collections.abc import Callable, Iterator
from typing import Final, cast

from commonplace.testing.contract import ContractBroken, ContractCheck, Store, checks, filled, put, require
from commonplace.vault.base import Capability, Skip, StorageBackend, WatchedBackend, WatchEvent

_TIMEOUT_S: Final = 10.0
"""After this time a change that was not reported counts as missed."""

_STOP_TIMEOUT_S = 2.0
"""After this time a watcher that has not stopped counts as running on."""

_STEP: Final = 0.05
_FILES: Final = {"Folder/one.md": b"one", "Folder/two.md": b"two", "Folder/deep/three.md": b"three", "note.md": b"note"}


def check_a_save_is_seen(store: Store) -> None:
    """A new file is reported as saved, and so is one that is saved again."""
    backend = filled(store, _FILES)
    watching = _Watching(backend)
    put(backend, "new.md")
    watching.wait_for(lambda: watching.last_kind("new.md") == "saved", "a new file")
    put(backend, "new.md", b"more\n")
    watching.wait_for(lambda: watching.kinds("new.md").count("saved") > 1, "a file that was saved again")


def check_a_removal_is_seen(store: Store) -> None:
    """A removed file is reported as gone."""
    backend = filled(store, _FILES)
    watching = _Watching(backend)
    with backend.transaction() as changes:
        changes.delete(backend.resolve("note.md"))
    watching.wait_for(lambda: watching.last_kind("note.md") == "gone", "the removal of a file")


def check_a_move_is_seen(store: Store) -> None:
    """A moved file is reported as gone from its old path and as saved at the new one."""
    backend = filled(store, _FILES)
    watching = _Watching(backend)
    _move(backend, {"note.md": "moved.md"})
    watching.wait_for(lambda: watching.has_moved("note.md", "moved.md"), "the move of a file")


def check_a_replaced_file_ends_as_saved(store: Store) -> None:
    """Saving as editors do, by replacing the old file with another, ends with that path reported as saved."""
    backend = filled(store, _FILES)
    watching = _Watching(backend)
    put(backend, "note.md~", b"new text")
    with backend.transaction() as changes:
        changes.delete(backend.resolve("note.md"))
    _move(backend, {"note.md~": "note.md"})
    put(backend, "last.md")
    watching.wait_for(lambda: watching.last_kind("last.md") == "saved", "the save after a replacement")
    watching.wait_for(lambda: watching.is_quiet, "the end of what happened")
    last = watching.last_kind("note.md")
    require(last == "saved", f"the last event for a replaced file is {last}")


def check_a_renamed_folder_is_seen(store: Store) -> None:
    """When all files of a folder move to another, each is reported, or the folders are."""
    backend = filled(store, _FILES)
    watching = _Watching(backend)
    moves = {path: f"Renamed/{path}" for path in _FILES if path.startswith("Folder/")}
    _move(backend, moves)
    renaming = "the renaming of a folder"
    watching.wait_for(lambda: all(watching.has_moved(old, new) for old, new in moves.items()), renaming)


def check_skipped_paths_are_not_seen(store: Store) -> None:
    """Paths that a listing leaves out are not reported: neither a file that skip names, nor one in such a folder."""
    backend = filled(store, _FILES)
    watching = _Watching(backend, skip=lambda path: path in ("skipped.md", "Skipped/"))
    put(backend, "skipped.md")
    put(backend, "Skipped/deep/one.md")
    put(backend, "last.md")
    watching.wait_for(lambda: watching.last_kind("last.md") == "saved", "a file that is not skipped")
    reported = [event.path for event in watching.events if event.path.casefold().startswith("skipped")]
    require(not reported, f"skipped paths were reported: {reported}")


def check_stop_ends_the_watching(store: Store) -> None:
    """When `stop` is set, the iterator ends within two seconds."""
    watching = _Watching(filled(store, _FILES))
    watching.look()
    watching.stop.set()
    watching.wait_for(lambda: watching.has_ended, "that it should stop", within=_STOP_TIMEOUT_S)


class _Watching:
    """A watcher of a store, and all events it has received so far."""

    def __init__(self, backend: StorageBackend, *, skip: Skip | None = None) -> None:
        self.stop = threading.Event()
        self.events: list[WatchEvent] = []
        self.has_ended = False
        self.is_quiet = False
        self._batches: Iterator[tuple[WatchEvent, ...]] = cast(WatchedBackend, backend).watch(
            stop=self.stop, skip=skip, step=_STEP
        )

    def look(self) -> None:
        """Receive the next tuple of events."""
        events = next(self._batches, None)
        self.has_ended, self.is_quiet = events is None, events == ()
        self.events.extend(events or ())

    def wait_for(self, happened: Callable[[], bool], what: str, *, within: float = _TIMEOUT_S) -> None:
        """Receive events until the condition is true. Raises ContractBroken after a timeout."""
        deadline = time.monotonic() + within
        while not happened():
            if self.has_ended or time.monotonic() > deadline:
                self.stop.set()
                raise ContractBroken(f"the watcher does not report {what}; its events are {self.events}")
            self.look()

    def kinds(self, path: str) -> list[str]:
        """The kinds of all events for the path itself."""
        return [event.kind for event in self.events if event.path == path]

    def last_kind(self, path: str) -> str | None:
        """The kind of the last event for the path itself."""
        return next(iter(reversed(self.kinds(path))), None)

    def has_moved(self, old: str, new: str) -> bool:
        """True if events for the paths, or for folders above them, show the move."""
        covering = {event.path: event.kind for event in self.events}
        from_old = {covering[path] for path in _upwards(old) if path in covering}
        to_new = {covering[path] for path in _upwards(new) if path in covering}
        return bool(from_old & {"gone", "folder"}) and bool(to_new & {"saved", "folder"})


def _upwards(path: str) -> list[str]:
    """The path and all folders above it, including the root."""
    names = path.split("/")
    return ["/".join(names[:depth]) for depth in range(len(names), -1, -1)]


def _move(backend: StorageBackend, moves: dict[str, str]) -> None:
    with backend.transaction() as changes:
        for old, new in moves.items():
            changes.move(backend.resolve(old), backend.resolve(new))


WATCHING: tuple[ContractCheck, ...] = checks(
    check_a_save_is_seen,
    check_a_removal_is_seen,
    check_a_move_is_seen,
    check_a_replaced_file_ends_as_saved,
    check_a_renamed_folder_is_seen,
    check_skipped_paths_are_not_seen,
    check_stop_ends_the_watching,
    needs=Capability.WATCHED,
)
