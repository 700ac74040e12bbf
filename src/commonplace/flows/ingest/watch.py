"""Watch the vault: what people save, rename and remove reaches the index within moments.

A removal waits a little, because it may be half of a rename, or of the way an editor saves. A sync now and then makes
up for events that the watcher missed.
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Final, cast

from commonplace.errors import CommonplaceError, NotFound, Refused, UsageError, VaultUnavailable
from commonplace.events import emit
from commonplace.flows.ingest.documents import VAULT, body_hash
from commonplace.flows.ingest.index_notes import SyncReport, index_notes
from commonplace.flows.ingest.sync import sync
from commonplace.flows.read import NOTE_ENDING, locate
from commonplace.flows.stores import Stores
from commonplace.model.progress import Progress, ignore_progress
from commonplace.notes import parse
from commonplace.sources.renames import Decision, NoteRenamed, NoteSaved, RenameDetector
from commonplace.vault.base import Capability, WatchedBackend, WatchEvent
from commonplace.vault.watch import poll

RECONCILE_SECONDS: Final = 300.0
_DELAY: Final = 5.0

OnChange = Callable[[SyncReport], None]


def watch_vault(
    stores: Stores,
    stop: threading.Event,
    *,
    on_change: OnChange,
    progress: Progress = ignore_progress,
    every: float = RECONCILE_SECONDS,
) -> None:
    """Keep the index up to date until `stop` is set; calls `on_change` with each report that has a change.

    `progress` tells how far a sync has come.

    An error on the way (the index is locked, the disk is away) is an event, and everything is synced again later.
    """
    watch = _Watch(stores, stop, on_change, progress, every)
    while not stop.is_set():
        try:
            for events in _events(stores, stop):
                watch.handle(events)
        except UsageError:  # waiting does not help
            raise
        except CommonplaceError as error:
            emit("watching_delayed", level="warning", said=str(error))
            stop.wait(_DELAY)
    watch.finish()


class _Watch:
    """The pending removals, and the sync, which may be slow and has a thread of its own."""

    def __init__(
        self, stores: Stores, stop: threading.Event, on_change: OnChange, progress: Progress, every: float
    ) -> None:
        self._stores, self._stop, self._on_change, self._every = stores, stop, on_change, every
        self._progress = progress
        self._pending = RenameDetector(window=stores.rename_window)
        self._sync: threading.Thread | None = None
        self._next_sync = 0.0
        self._has_synced = False
        self._reporting = threading.Lock()

    def handle(self, events: tuple[WatchEvent, ...]) -> None:
        """Index what the events and the due removals concern; start a sync when it is time."""
        now = self._stores.clock().timestamp()
        decisions = [*_decide(events, self._pending, self._stores, now=now), *self._pending.due(now=now)]
        if decisions:
            self._report(index_notes(_paths(decisions), self._stores))
        if any(each.kind == "folder" for each in events):
            self._next_sync = now
        if now >= self._next_sync and not (self._sync and self._sync.is_alive()):
            self._next_sync = now + self._every
            self._sync = threading.Thread(target=self._run_sync, name="sync")
            self._sync.start()

    def finish(self) -> None:
        """Wait for the sync, and carry out the removals that are still pending."""
        if self._sync:
            self._sync.join()
        try:
            due = self._pending.due(now=float("inf"))
            self._report(index_notes(_paths(due), self._stores))
        except CommonplaceError as error:
            emit("watching_delayed", level="warning", said=str(error))

    def _run_sync(self) -> None:
        """Sync; the first report is passed on even without a change, because from then on the index is up to date."""
        try:
            self._report(sync(self._stores, progress=self._progress, stop=self._stop), always=not self._has_synced)
            self._has_synced = True
        except CommonplaceError as error:
            emit("watching_delayed", level="warning", said=str(error))
            self._next_sync = self._stores.clock().timestamp() + _DELAY
        finally:
            self._progress("notes", 0, 0)  # nothing is under way, however it ended

    def _report(self, report: SyncReport, *, always: bool = False) -> None:
        if always or report.added or report.changed or report.renamed or report.removed:
            with self._reporting:
                self._on_change(report)


def _events(stores: Stores, stop: threading.Event) -> Iterator[tuple[WatchEvent, ...]]:
    """Events of the vault from now on; by polling if it cannot be watched."""
    everything = (WatchEvent("", "folder"),)
    if Capability.WATCHED in stores.vault.capabilities:
        try:
            events = cast(WatchedBackend, stores.vault).watch(stop=stop, skip=stores.unindexed)
            yield everything
            yield from events
        except VaultUnavailable as error:
            emit("watching_failed", level="warning", said=str(error))
    if not stop.is_set():
        changes = poll(stores.vault, stop=stop, skip=stores.unindexed)
        yield everything
        yield from changes


def _decide(
    events: tuple[WatchEvent, ...], pending: RenameDetector, stores: Stores, *, now: float
) -> Iterator[Decision]:
    gone = [each.path for each in events if each.kind == "gone"]
    for each in events:
        emit("vault_watch_event", path=each.path, what=each.kind, vault=stores.vault_folder)
        if each.kind == "saved" and each.path.lower().endswith(NOTE_ENDING):
            yield from _saved(each.path, pending, stores, now=now)
    for path, content_hash in _indexed_at(gone, stores):
        yield from pending.remove(path, content_hash, at=now)


def _saved(path: str, pending: RenameDetector, stores: Stores, *, now: float) -> tuple[Decision, ...]:
    try:
        blob = stores.vault.read(locate(path, stores.vault))
    except NotFound:
        return ()  # gone again: another event says so
    except (Refused, VaultUnavailable):
        return (NoteSaved(path),)  # indexing it reports the problem
    return pending.save(path, body_hash(parse(blob.content, path=path, mtime=blob.stat.mtime)), at=now)


def _indexed_at(paths: Sequence[str], stores: Stores) -> Iterator[tuple[str, str]]:
    """The indexed notes at these paths, or below them if they were folders, each with its content hash."""
    notes = {path: stores.index.stamp(VAULT, path) for path in paths if path.lower().endswith(NOTE_ENDING)}
    folders = tuple(f"{path}/" for path in paths if path not in notes)
    indexed = {path: stamp for path, stamp in notes.items() if stamp}
    if folders:
        indexed |= {path: stamp for path, stamp in stores.index.stamps(VAULT).items() if path.startswith(folders)}
    return ((path, stamp.content_hash) for path, stamp in indexed.items() if not stamp.deleted)


def _paths(decisions: Sequence[Decision]) -> list[str]:
    return [
        path for each in decisions for path in ((each.old, each.new) if isinstance(each, NoteRenamed) else (each.path,))
    ]
