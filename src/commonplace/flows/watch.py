"""Watching: what people save, rename and remove reaches the index within moments.

A removal waits a little, because it may be half of a rename or of an editor's way to save. A look at everything, now
and then, makes up for what a watcher may miss.
"""

import threading
from collections.abc import Callable, Iterator
from typing import Final, cast

from commonplace.errors import NotFound, Refused, VaultUnavailable
from commonplace.events import emit
from commonplace.flows.document import VAULT, body_hash
from commonplace.flows.ingest import ingest_paths, sync
from commonplace.flows.read import NOTE_ENDING, read_note
from commonplace.flows.shelf import Shelf
from commonplace.flows.take_in import Synced
from commonplace.sources.renames import Decision, Pending, Renamed, Saved
from commonplace.vault.base import Capability, Seen, WatchedBackend
from commonplace.vault.watch_polling import poll

RECONCILE_SECONDS: Final = 300.0
_DELAY: Final = 5.0

Heard = Callable[[Synced], None]


def keep_watching(shelf: Shelf, stop: threading.Event, *, heard: Heard, every: float = RECONCILE_SECONDS) -> None:
    """Keep the index true to the vault until `stop` is set; `heard` is told of every round that changed something."""
    events = _seen(shelf, stop)
    next(events, None)  # watching has begun: what happens during the first look is not missed
    heard(sync(shelf))
    pending = Pending(window=shelf.rename_window)
    next_look = shelf.clock().timestamp() + every
    for seen in events:
        now = shelf.clock().timestamp()
        try:
            decisions = [*_decided(seen, pending, shelf, now=now), *pending.due(now=now)]
            if decisions:
                _tell(ingest_paths(_paths(decisions), shelf), heard)
            if now >= next_look or any(each.what == "folder" for each in seen):
                _tell(sync(shelf), heard)
                next_look = now + every
        except VaultUnavailable as error:  # another process may be at the index for long: all is looked at later
            emit("watching_delayed", level="warning", said=str(error))
            next_look = now + _DELAY


def _seen(shelf: Shelf, stop: threading.Event) -> Iterator[tuple[Seen, ...]]:
    """What happens in the vault; looked for now and then where it cannot be watched."""
    if Capability.WATCHED in shelf.vault.capabilities:
        try:
            yield from cast(WatchedBackend, shelf.vault).watch(stop=stop, skip=shelf.ignored)
        except VaultUnavailable as error:
            emit("watching_failed", level="warning", said=str(error))
    if not stop.is_set():
        yield from poll(shelf.vault, stop=stop, skip=shelf.ignored)


def _decided(seen: tuple[Seen, ...], pending: Pending, shelf: Shelf, *, now: float) -> Iterator[Decision]:
    for each in seen:
        emit("vault_watch_event", path=each.path, what=each.what)
        if each.what == "saved" and each.path.lower().endswith(NOTE_ENDING):
            yield from _saved(each.path, pending, shelf, now=now)
        elif each.what == "gone":
            for path, content_hash in _known_at(each.path, shelf):
                yield from pending.gone(path, content_hash, at=now)


def _saved(path: str, pending: Pending, shelf: Shelf, *, now: float) -> tuple[Decision, ...]:
    try:
        note = read_note(path, shelf.vault, skip=shelf.ignored)
    except NotFound:
        return ()  # gone again: the watcher tells of that, too
    except (Refused, VaultUnavailable):
        return (Saved(path),)  # whoever takes it in says what is wrong with it
    return pending.saved(path, body_hash(note), at=now)


def _known_at(path: str, shelf: Shelf) -> Iterator[tuple[str, str]]:
    """What the index has at that path, or below it if it was a folder, with the hash of its content."""
    if path.lower().endswith(NOTE_ENDING):
        stamp = shelf.index.stamp(VAULT, path)
        known = {path: stamp} if stamp else {}
    else:
        known = {at: stamp for at, stamp in shelf.index.stamps(VAULT).items() if at.startswith(f"{path}/")}
    return ((at, stamp.content_hash) for at, stamp in known.items() if not stamp.deleted)


def _paths(decisions: list[Decision]) -> list[str]:
    return [
        path for each in decisions for path in ((each.old, each.new) if isinstance(each, Renamed) else (each.path,))
    ]


def _tell(synced: Synced, heard: Heard) -> None:
    if synced.added or synced.changed or synced.renamed or synced.removed:
        heard(synced)
