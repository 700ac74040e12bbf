"""Sync and rebuild: compare the whole vault and the other sources with the index, both ways, and index what differs.

`sync` ends with an index that says what the files say now, exactly as a rebuild would. `rebuild` fills a new index and
puts it in the place of the old one when it is complete. `FreshIndex` fills one from given documents, for searches in
the past and for evaluations.
"""

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Final

from commonplace.errors import ProviderFailed
from commonplace.events import emit
from commonplace.flows.encode import Encoding, encode_parts
from commonplace.flows.ingest.documents import VAULT, form_of
from commonplace.flows.ingest.index_notes import (
    Batch,
    SyncReport,
    batches,
    changed_meanwhile,
    index_until_stable,
    read_blobs,
)
from commonplace.flows.read import NOTE_ENDING
from commonplace.flows.stores import Stores
from commonplace.index.base import Index
from commonplace.model import Document, Stamp, Stat
from commonplace.model.moment import moment_text
from commonplace.sources.base import Source
from commonplace.vault.base import Listing

KEPT_REMOVED: Final = timedelta(days=30)  # how long a removed note can return without being chunked again
KEPT_VECTORS: Final = timedelta(days=90)  # how long unused vectors are kept
_SAME_INSTANT: Final = 2.0  # seconds: some disks give a file that is saved twice within them the same mtime
_SOURCE_ATTEMPTS: Final = 5  # tries to index an item that keeps changing

Progress = Callable[[int, int], None]
"""Called with the number of documents done and the number of all."""


def _ignore_progress(done: int, total: int) -> None:
    pass


def sync(stores: Stores, *, progress: Progress = _ignore_progress, stop: threading.Event | None = None) -> SyncReport:
    """Make the index say what the vault and the other sources say, and nothing else.

    Ends early, with what is done so far, when `stop` is set. Raises VaultUnavailable and IndexDamaged.
    """
    start = time.perf_counter()
    stamps = stores.index.stamps(VAULT)  # before the listing, so that a note added meanwhile is not taken for gone
    listing = stores.vault.list(skip=stores.unindexed)
    stats = _notes(listing)
    differs = _difference(stores)
    work = [path for path, stat in stats.items() if differs(stat, stamps.get(path)) or _is_in_doubt(stamps.get(path))]
    report = SyncReport(unchanged=len(stats) - len(work), missing=stores.encoders.missing)
    gone = {path: stamp for path, stamp in stamps.items() if path not in stats and not stamp.deleted}
    batch = Batch(stores, stamps, gone, report)
    if not _encode_ahead(work, batch, progress=progress, stop=stop):
        return report
    if not _index_all(work, batch, total=len(stats), progress=progress, stop=stop):
        return report
    report.problems = (*listing.problems, *batch.unreadable)
    for source in stores.sources:
        if _is_stopped(stop):
            return report
        report.add(sync_source(source, stores, progress=progress, stop=stop))
    report.removed += _drop_other_sources(stores)
    stores.index.purge(before=(stores.clock() - KEPT_REMOVED).timestamp())
    stores.index.optimize()
    stores.index.record_sync(moment_text(stores.clock()))
    report.seconds = time.perf_counter() - start
    latency = round(report.seconds * 1000, 1)
    emit("vault_backfill_done", notes=len(stats), encoded=report.encoded, **report.counts(), latency_ms=latency)
    return report


def _encode_ahead(paths: Sequence[str], batch: Batch, *, progress: Progress, stop: threading.Event | None) -> bool:
    """Encode what has vectors of another encoder, into the cache alone; False if it was stopped before.

    Until all of it is encoded, search goes on with the other encoder's vectors. Then the documents are indexed, which
    is quick: there is hardly a moment in which a search has to rank the vectors of two encoders together.
    """
    stores, version = batch.stores, batch.chunking.version

    def is_outdated(stamp: Stamp | None) -> bool:
        return bool(version and stamp and not stamp.deleted and stamp.version not in ("", version))

    work: list[str | tuple[Source, str]] = [path for path in paths if is_outdated(batch.stamps.get(path))]
    for source in stores.sources:
        work += [(source, key) for key, stamp in stores.index.stamps(source.type).items() if is_outdated(stamp)]
    done = 0
    for some in batches(work):
        if _is_stopped(stop):
            return False
        batch.encode_ahead(some)
        done += len(some)
        progress(done, len(work))
    return True


def _index_all(
    paths: Sequence[str], batch: Batch, *, total: int, progress: Progress, stop: threading.Event | None
) -> bool:
    """Index these notes and remove the gone ones; False if it was stopped before."""
    done, changed = batch.report.unchanged, list[str]()
    for some in batches(paths):
        if _is_stopped(stop):
            return False
        blobs = list(read_blobs(batch.stores, some, batch.unreadable))
        batch.add_notes(blobs)
        changed += changed_meanwhile(some, blobs, batch.unreadable, batch.stores)
        done += len(some)
        progress(done, total)
    index_until_stable([*changed, *batch.remove_gone()], batch.stores, batch.report)
    return True


def _is_stopped(stop: threading.Event | None) -> bool:
    return stop is not None and stop.is_set()


def rebuild(stores: Stores, *, progress: Progress) -> SyncReport:
    """Build a new index, replace the old one, then index what was written meanwhile. Raises VaultUnavailable.

    Every vector still in use was just asked for, so that those not asked for in a long time can be dropped.
    """
    if stores.cache.repair():
        emit("vectors_lost", level="warning", said="the cached vectors cannot be read; every text is encoded again")
    with stores.index.replacement() as fresh:
        report = sync(stores.using(index=fresh), progress=progress)
    sync(stores)
    stores.cache.drop_unused(before=(stores.clock() - KEPT_VECTORS).date())
    return report


def count_stale(stores: Stores) -> int:
    """The number of notes and source items whose current state is not in the index."""
    stats, stamps = _notes(stores.vault.list(skip=stores.unindexed)), stores.index.stamps(VAULT)
    gone = sum(1 for path, stamp in stamps.items() if path not in stats and not stamp.deleted)
    differs = _difference(stores)
    items = sum(_count_stale_items(source, stores) for source in stores.sources)
    return gone + items + sum(1 for path, stat in stats.items() if differs(stat, stamps.get(path)))


def _notes(listing: Listing) -> dict[str, Stat]:
    return {stat.path: stat for stat in listing.files if stat.path.lower().endswith(NOTE_ENDING)}


def _difference(stores: Stores) -> Callable[[Stat, Stamp | None], bool]:
    """A test for notes that are new, have another mtime or size, or were indexed by other settings or encoders."""
    form, version = form_of(stores.chunking, stores.safety, stores.rules), stores.chunking.version

    def differs(stat: Stat, stamp: Stamp | None) -> bool:
        if stamp is None or stamp.deleted or (stat.mtime, stat.size) != (stamp.mtime, stamp.size):
            return True
        return not stamp.made_from.startswith(form) or version not in ("", stamp.version)

    return differs


def _is_in_doubt(stamp: Stamp | None) -> bool:
    """True if the note may have been saved again in the instant in which it was read."""
    return stamp is not None and stamp.mtime > stamp.seen - _SAME_INSTANT


def sync_source(
    source: Source, stores: Stores, *, progress: Progress = _ignore_progress, stop: threading.Event | None = None
) -> SyncReport:
    """Make the index say what this source says, and nothing else of its type. Ends early when `stop` is set.

    Raises as `sync` does.
    """
    start = time.perf_counter()
    stamps = stores.index.stamps(source.type)
    report = _index_items(source, stores, stamps, current=source.stamps(), progress=progress, stop=stop)
    stores.index.optimize()
    report.seconds = time.perf_counter() - start
    return report


def index_source_items(source: Source, ids: Iterable[str], stores: Stores) -> SyncReport:
    """Bring these items of a source up to date in the index, whether new, changed or gone. Raises as `sync` does."""
    start = time.perf_counter()
    keys = [*dict.fromkeys(ids)]
    stamps = {key: stamp for key in keys if (stamp := stores.index.stamp(source.type, key))}
    report = _index_items(source, stores, stamps, current=source.stamps(keys))
    stores.index.optimize()
    report.seconds = time.perf_counter() - start
    return report


def _index_items(
    source: Source,
    stores: Stores,
    stamps: Mapping[str, Stamp],
    *,
    current: Mapping[str, str],
    progress: Progress = _ignore_progress,
    stop: threading.Event | None = None,
) -> SyncReport:
    """Index the current items that differ from these stamps, and remove those that have a stamp and are gone."""
    is_current = _item_test(stores)
    gone = {key: stamp for key, stamp in stamps.items() if key not in current and not stamp.deleted}
    work = [key for key, stamp in current.items() if not is_current(stamps.get(key), stamp)]
    report = SyncReport(unchanged=len(current) - len(work), missing=stores.encoders.missing)
    batch = Batch(stores, stamps, gone, report, source_type=source.type)
    done = report.unchanged
    for some in batches(work):
        if _is_stopped(stop):
            return report
        _index_items_until_stable({key: current[key] for key in some}, source, batch)
        done += len(some)
        progress(done, len(current))
    batch.remove_gone()
    return report


def _index_items_until_stable(stamps: Mapping[str, str], source: Source, batch: Batch) -> None:
    """Index these items until none changes while it is indexed. One that is erased meanwhile leaves nothing behind."""
    keys = [*stamps]
    for _ in range(_SOURCE_ATTEMPTS):
        batch.add_source_items([(item, stamps[key]) for key in keys if key in stamps and (item := source.read(key))])
        now = source.stamps(stamps)
        for key in set(stamps) - set(now):
            batch.stores.index.erase(source.type, key)
        keys = [key for key, stamp in now.items() if stamps[key] != stamp]
        if not keys:
            return
        stamps = {**now}


def _item_test(stores: Stores) -> Callable[[Stamp | None, str], bool]:
    """A test for items whose stamp in the index is their current one, by the current settings and encoder."""
    form, version = form_of(stores.chunking, stores.safety, stores.rules), stores.chunking.version

    def is_current(indexed: Stamp | None, stamp: str) -> bool:
        if indexed is None or indexed.deleted or indexed.made_from != f"{form}-{stamp}":
            return False
        return version in ("", indexed.version)

    return is_current


def _count_stale_items(source: Source, stores: Stores) -> int:
    current, stamps, is_current = source.stamps(), stores.index.stamps(source.type), _item_test(stores)
    gone = sum(1 for key, stamp in stamps.items() if key not in current and not stamp.deleted)
    return gone + sum(1 for key, stamp in current.items() if not is_current(stamps.get(key), stamp))


def _drop_other_sources(stores: Stores) -> int:
    """Remove the documents of sources that are switched off; returns their number."""
    with stores.index.reader() as reader:
        types = {*reader.counts().documents} - {VAULT, *(source.type for source in stores.sources)}
    now = stores.clock().timestamp()
    return sum(stores.index.remove(each, key, now=now) for each in types for key in stores.index.stamps(each))


class FilesGone(Exception):
    """Another process removed the files of the index while they were written."""


class FreshIndex:
    """A new index, and what was put into it so far.

    `missing` says why there are no vectors: there is no encoder, or it failed once and is not asked again.
    """

    def __init__(self, index: Index, stores: Stores) -> None:
        self.index, self.stores, self.now = index, stores, stores.clock()
        self.documents = 0
        self.encoded = 0
        self.missing = "" if stores.chunking.version else stores.encoders.missing
        self.has_failed = False

    def put(self, documents: Sequence[Document]) -> None:
        """Add these documents, without vectors if there are none."""
        encoding = self._encode(documents)
        for document in documents:
            if encoding:
                self.index.put(document, encoding.of(document), now=self.now.timestamp())
            else:
                self.index.put(replace(document, version=""), (), now=self.now.timestamp())
        self.documents += len(documents)

    def finish(self) -> None:
        """Mark the index as complete, unless the encoder failed.

        Raises FilesGone if documents are missing: removed files were created again by a later write.
        """
        if not self.has_failed:
            self.index.record_sync(moment_text(self.now))
        with self.index.reader() as reader:
            if reader.counts().documents.get(VAULT, 0) != self.documents:
                raise FilesGone

    def _encode(self, documents: Sequence[Document]) -> Encoding | None:
        if not self.stores.chunking.version or self.has_failed:
            return None
        try:
            encoding = encode_parts(documents, self.stores)
        except ProviderFailed as failure:
            emit("encoder_failed", level="warning", said=str(failure))
            self.missing, self.has_failed = str(failure), True
            return None
        self.encoded += encoding.encoded
        return encoding
