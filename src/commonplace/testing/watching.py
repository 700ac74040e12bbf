"""Rules of watching: what happens in the store is told soon, once it has happened, until the watcher is stopped."""

import threading
import time
from collections.abc import Callable, Iterator
from typing import Final, cast

from commonplace.testing.contract import Check, ContractBroken, Store, checks, filled, put, require
from commonplace.vault.base import Capability, Seen, Skip, StorageBackend, WatchedBackend

_PATIENCE: Final = 10.0
"""Seconds after which what happened is taken to go unseen."""

_MOMENT: Final = 2.0
"""Seconds after which a watcher that was told to stop is taken to go on."""

_STEP: Final = 0.05
_FILES: Final = {"Folder/one.md": b"one", "Folder/two.md": b"two", "Folder/deep/three.md": b"three", "note.md": b"note"}


def check_a_save_is_seen(store: Store) -> None:
    """A new file is told as saved, and so is one that is saved again."""
    backend = filled(store, _FILES)
    watching = _Watching(backend)
    put(backend, "new.md")
    watching.wait_for(lambda: watching.last_word("new.md") == "saved", "a new file")
    put(backend, "new.md", b"more\n")
    watching.wait_for(lambda: watching.words("new.md").count("saved") > 1, "a file that was saved again")


def check_a_removal_is_seen(store: Store) -> None:
    """A file that is removed is told as gone."""
    backend = filled(store, _FILES)
    watching = _Watching(backend)
    with backend.transaction() as changes:
        changes.delete(backend.resolve("note.md"))
    watching.wait_for(lambda: watching.last_word("note.md") == "gone", "the removal of a file")


def check_a_move_is_seen(store: Store) -> None:
    """A file that is moved is told as gone from its old path and saved at the new one."""
    backend = filled(store, _FILES)
    watching = _Watching(backend)
    _move(backend, {"note.md": "moved.md"})
    watching.wait_for(lambda: watching.has_moved("note.md", "moved.md"), "the move of a file")


def check_a_replaced_file_ends_as_saved(store: Store) -> None:
    """An editor's way to save, another file put in the place of the old one, ends with that path being saved."""
    backend = filled(store, _FILES)
    watching = _Watching(backend)
    put(backend, "note.md~", b"new text")
    with backend.transaction() as changes:
        changes.delete(backend.resolve("note.md"))
    _move(backend, {"note.md~": "note.md"})
    put(backend, "last.md")
    watching.wait_for(lambda: watching.last_word("last.md") == "saved", "the save after a replacement")
    watching.wait_for(lambda: watching.is_quiet, "the end of what happened")
    found = watching.last_word("note.md")
    require(found == "saved", f"the last word on a file that was replaced is {found}")


def check_a_renamed_folder_is_seen(store: Store) -> None:
    """When all files of a folder go to another, each is told, or the folders are."""
    backend = filled(store, _FILES)
    watching = _Watching(backend)
    moves = {path: f"Renamed/{path}" for path in _FILES if path.startswith("Folder/")}
    _move(backend, moves)
    seen = "the renaming of a folder"
    watching.wait_for(lambda: all(watching.has_moved(old, new) for old, new in moves.items()), seen)


def check_skipped_paths_are_not_seen(store: Store) -> None:
    """What a listing would leave out is not told: neither a file that skip names, nor one in a folder it names."""
    backend = filled(store, _FILES)
    watching = _Watching(backend, skip=lambda path: path in ("skipped.md", "Skipped/"))
    put(backend, "skipped.md")
    put(backend, "Skipped/deep/one.md")
    put(backend, "last.md")
    watching.wait_for(lambda: watching.last_word("last.md") == "saved", "a file that is not skipped")
    told = [seen.path for seen in watching.seen if seen.path.casefold().startswith("skipped")]
    require(not told, f"skipped paths were told: {told}")


def check_stop_ends_the_watching(store: Store) -> None:
    """When `stop` is set, the iterator ends within a moment."""
    watching = _Watching(filled(store, _FILES))
    watching.look()
    watching.stop.set()
    watching.wait_for(lambda: watching.has_ended, "the wish to stop", within=_MOMENT)


class _Watching:
    """A watcher of a store, and all that it was told so far."""

    def __init__(self, backend: StorageBackend, *, skip: Skip | None = None) -> None:
        self.stop = threading.Event()
        self.seen: list[Seen] = []
        self.has_ended = False
        self.is_quiet = False
        self._told: Iterator[tuple[Seen, ...]] = cast(WatchedBackend, backend).watch(
            stop=self.stop, skip=skip, step=_STEP
        )

    def look(self) -> None:
        """Take in what is told next."""
        told = next(self._told, None)
        self.has_ended, self.is_quiet = told is None, told == ()
        self.seen.extend(told or ())

    def wait_for(self, happened: Callable[[], bool], what: str, *, within: float = _PATIENCE) -> None:
        """Look until it has happened. Raises ContractBroken when it does not."""
        deadline = time.monotonic() + within
        while not happened():
            if self.has_ended or time.monotonic() > deadline:
                self.stop.set()
                raise ContractBroken(f"the watcher does not see {what}; it told {self.seen}")
            self.look()

    def words(self, path: str) -> list[str]:
        """All that was told of the path itself."""
        return [seen.what for seen in self.seen if seen.path == path]

    def last_word(self, path: str) -> str | None:
        """The last of that."""
        return next(iter(reversed(self.words(path))), None)

    def has_moved(self, old: str, new: str) -> bool:
        """Whether the files or folders above them were told as gone and as come."""
        covering = {seen.path: seen.what for seen in self.seen}
        from_old = {covering[path] for path in _upwards(old) if path in covering}
        to_new = {covering[path] for path in _upwards(new) if path in covering}
        return bool(from_old & {"gone", "folder"}) and bool(to_new & {"saved", "folder"})


def _upwards(path: str) -> list[str]:
    """The path and all folders above it, the root included."""
    names = path.split("/")
    return ["/".join(names[:depth]) for depth in range(len(names), -1, -1)]


def _move(backend: StorageBackend, moves: dict[str, str]) -> None:
    with backend.transaction() as changes:
        for old, new in moves.items():
            changes.move(backend.resolve(old), backend.resolve(new))


WATCHING: tuple[Check, ...] = checks(
    check_a_save_is_seen,
    check_a_removal_is_seen,
    check_a_move_is_seen,
    check_a_replaced_file_ends_as_saved,
    check_a_renamed_folder_is_seen,
    check_skipped_paths_are_not_seen,
    check_stop_ends_the_watching,
    needs=Capability.WATCHED,
)
