"""Watching: what people save, rename and remove reaches the index within moments.

A removal waits a little, because it may be half of a rename or of an editor's way to save. A look at everything, now
and then, makes up for what a watcher may miss.
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Final, cast

from commonplace.errors import CommonplaceError, NotFound, Refused, VaultUnavailable
from commonplace.events import emit
from commonplace.flows.document import VAULT, body_hash
from commonplace.flows.ingest import ingest_paths, sync
from commonplace.flows.read import NOTE_ENDING, locate
from commonplace.flows.shelf import Shelf
from commonplace.flows.take_in import Synced
from commonplace.notes import parse
from commonplace.sources.renames import Decision, Pending, Renamed, Saved
from commonplace.vault.base import Capability, Seen, WatchedBackend
from commonplace.vault.watch_polling import poll

RECONCILE_SECONDS: Final = 300.0
_DELAY: Final = 5.0

Heard = Callable[[Synced], None]


def keep_watching(shelf: Shelf, stop: threading.Event, *, heard: Heard, every: float = RECONCILE_SECONDS) -> None:
    """Keep the index true to the vault until `stop` is set; `heard` is told of every round that changed something.

    What goes wrong on the way (the index is locked, the disk is away) is told, and all is looked at again later.
    """
    watch = _Watch(shelf, stop, heard, every)
    while not stop.is_set():
        try:
            for seen in _seen(shelf, stop):
                watch.take(seen)
        except CommonplaceError as error:
            emit("watching_delayed", level="warning", said=str(error))
            stop.wait(_DELAY)
    watch.finish()


class _Watch:
    """What waits to be taken in, and the look at everything, which may take long and has a thread of its own."""

    def __init__(self, shelf: Shelf, stop: threading.Event, heard: Heard, every: float) -> None:
        self._shelf, self._stop, self._heard, self._every = shelf, stop, heard, every
        self._pending = Pending(window=shelf.rename_window)
        self._look: threading.Thread | None = None
        self._next_look = 0.0
        self._has_looked = False
        self._telling = threading.Lock()

    def take(self, seen: tuple[Seen, ...]) -> None:
        """Take in what was seen and what has waited long enough; begin a look at everything when it is time."""
        now = self._shelf.clock().timestamp()
        decisions = [*_decided(seen, self._pending, self._shelf, now=now), *self._pending.due(now=now)]
        if decisions:
            self._tell(ingest_paths(_paths(decisions), self._shelf))
        if any(each.what == "folder" for each in seen):
            self._next_look = now
        if now >= self._next_look and not (self._look and self._look.is_alive()):
            self._next_look = now + self._every
            self._look = threading.Thread(target=self._look_at_everything, name="look-at-everything")
            self._look.start()

    def finish(self) -> None:
        """End the look, and carry out the removals that were still waiting."""
        if self._look:
            self._look.join()
        try:
            left = self._pending.due(now=float("inf"))
            self._tell(ingest_paths(_paths(left), self._shelf))
        except CommonplaceError as error:
            emit("watching_delayed", level="warning", said=str(error))

    def _look_at_everything(self) -> None:
        """Tells of the first look whatever came of it: from then on the index is true."""
        try:
            self._tell(sync(self._shelf, stop=self._stop), unasked=not self._has_looked)
            self._has_looked = True
        except CommonplaceError as error:
            emit("watching_delayed", level="warning", said=str(error))
            self._next_look = self._shelf.clock().timestamp() + _DELAY

    def _tell(self, synced: Synced, *, unasked: bool = False) -> None:
        if unasked or synced.added or synced.changed or synced.renamed or synced.removed:
            with self._telling:
                self._heard(synced)


def _seen(shelf: Shelf, stop: threading.Event) -> Iterator[tuple[Seen, ...]]:
    """What happens in the vault, once watching has begun; looked for now and then where it cannot be watched."""
    everything = (Seen("", "folder"),)
    if Capability.WATCHED in shelf.vault.capabilities:
        try:
            events = cast(WatchedBackend, shelf.vault).watch(stop=stop, skip=shelf.ignored)
            yield everything
            yield from events
        except VaultUnavailable as error:
            emit("watching_failed", level="warning", said=str(error))
    if not stop.is_set():
        looks = poll(shelf.vault, stop=stop, skip=shelf.ignored)
        yield everything
        yield from looks


def _decided(seen: tuple[Seen, ...], pending: Pending, shelf: Shelf, *, now: float) -> Iterator[Decision]:
    gone = [each.path for each in seen if each.what == "gone"]
    for each in seen:
        emit("vault_watch_event", path=each.path, what=each.what)
        if each.what == "saved" and each.path.lower().endswith(NOTE_ENDING):
            yield from _saved(each.path, pending, shelf, now=now)
    for path, content_hash in _known_at(gone, shelf):
        yield from pending.gone(path, content_hash, at=now)


def _saved(path: str, pending: Pending, shelf: Shelf, *, now: float) -> tuple[Decision, ...]:
    try:
        blob = shelf.vault.read(locate(path, shelf.vault))
    except NotFound:
        return ()  # gone again: the watcher tells of that, too
    except (Refused, VaultUnavailable):
        return (Saved(path),)  # whoever takes it in says what is wrong with it
    return pending.saved(path, body_hash(parse(blob.content, path=path, mtime=blob.stat.mtime)), at=now)


def _known_at(paths: Sequence[str], shelf: Shelf) -> Iterator[tuple[str, str]]:
    """What the index has at these paths, or below them if they were folders, with the hash of its content."""
    notes = {path: shelf.index.stamp(VAULT, path) for path in paths if path.lower().endswith(NOTE_ENDING)}
    folders = tuple(f"{path}/" for path in paths if path not in notes)
    known = {path: stamp for path, stamp in notes.items() if stamp}
    if folders:
        known |= {path: stamp for path, stamp in shelf.index.stamps(VAULT).items() if path.startswith(folders)}
    return ((path, stamp.content_hash) for path, stamp in known.items() if not stamp.deleted)


def _paths(decisions: Sequence[Decision]) -> list[str]:
    return [
        path for each in decisions for path in ((each.old, each.new) if isinstance(each, Renamed) else (each.path,))
    ]
