"""Sync and rebuild: compare the whole vault and the other sources with the index, both ways, and index what differs.

`sync` ends with an index that says what the files say now, exactly as a rebuild would. What takes long to encode is
indexed by words first: search answers from then on, while the vectors follow, newest notes first. `rebuild` fills a
new index and puts it in the place of the old one when it is complete. `FreshIndex` fills one from given documents, for
searches in the past and for evaluations.
"""

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final, cast

from commonplace.errors import ProviderFailed, VaultUnavailable
from commonplace.events import emit
from commonplace.flows.encode import Encoding, encode_parts
from commonplace.flows.ingest.documents import VAULT, calendar_time, form_of
from commonplace.flows.ingest.index_notes import (
    Backlog,
    Batch,
    PendingDocument,
    SyncReport,
    batches,
    changed_meanwhile,
    future_entries,
    ignore_count,
    index_until_stable,
    read_blobs,
)
from commonplace.flows.ingest.line_writers import read_new_commits
from commonplace.flows.ingest.past_lines import update_past
from commonplace.flows.read import NOTE_ENDING
from commonplace.flows.stores import Stores
from commonplace.index.base import EncodedDocument, Index
from commonplace.model import Document, Stamp, Stat
from commonplace.model.moment import moment_text
from commonplace.model.progress import Progress, ignore_progress
from commonplace.sources.base import Source
from commonplace.vault.base import Capability, HistoricBackend, Listing

KEPT_REMOVED: Final = timedelta(days=30)  # how long a removed note can return without being chunked again
KEPT_VECTORS: Final = timedelta(days=90)  # how long unused vectors are kept
AT_ONCE: Final = 200  # texts that a sync encodes before everything is indexed by words: two seconds of one core
FIRST_SEARCH_BYTES: Final = 4_000_000  # of notes that the first search indexes itself: 2.1 MB took 6 s of one core
_SAME_INSTANT: Final = 2.0  # seconds: some disks give a file that is saved twice within them the same mtime
_SOURCE_ATTEMPTS: Final = 5  # tries to index an item that keeps changing
_SEGMENT_EVERY: Final = 16  # batches of encoded documents after which search gets them in its fastest form
_BYTES_PER_TEXT: Final = 72  # of a note: 2.1 MB of a public vault have 29,097 texts
_POLL_S: Final = 1.0  # between two looks at what another process has encoded


@dataclass(frozen=True, slots=True)
class _Run:
    """How a sync tells what it does, when it must end, and whether it holds the encode lock."""

    progress: Progress = ignore_progress
    stop: threading.Event | None = None
    is_locked: bool = False

    @property
    def is_stopped(self) -> bool:
        return self.stop is not None and self.stop.is_set()

    def wait(self) -> None:
        """Wait a moment, or until it must end."""
        (self.stop or threading.Event()).wait(_POLL_S)


_ALONE: Final = _Run()


def sync(stores: Stores, *, progress: Progress = ignore_progress, stop: threading.Event | None = None) -> SyncReport:
    """Make the index say what the vault and the other sources say, and nothing else.

    Ends early, with what is done so far, when `stop` is set. Raises VaultUnavailable and IndexDamaged.
    """
    start, report, backlogs = time.perf_counter(), SyncReport(missing=stores.encoders.missing), dict[str, Backlog]()
    with stores.encode_lock() as is_locked:
        run = _Run(progress, stop, is_locked=is_locked)
        is_complete = _index_words(stores, report, backlogs, run) and _catch_up(stores, report, backlogs, run)
    if is_complete:
        _read_past(stores, run)
    report.seconds = time.perf_counter() - start
    if is_complete:
        counts, latency = report.counts(), round(report.seconds * 1000, 1)
        notes = sum(counts.values()) - report.removed
        emit("vault_backfill_done", notes=notes, encoded=report.encoded, **counts, latency_ms=latency)
    return report


def _read_past(stores: Stores, run: _Run) -> None:
    """Read the commits that the index does not know yet; what git cannot tell now is left to the next sync."""
    try:
        update_past(stores, progress=run.progress, stop=run.stop)
    except VaultUnavailable as error:
        emit("history_unread", level="warning", said=error.message)


def index_new_vault(stores: Stores, *, progress: Progress = ignore_progress) -> bool:
    """Index a vault that was never synced by words, if that takes seconds; True if it did. Raises as `sync` does.

    A few texts are encoded at once, as in every sync; the vectors of the others are left to the next one. Stores that
    wait for nothing are left alone: they are the daemon's, which syncs by itself.
    """
    if not stores.waits_for_encoder:
        return False
    with stores.index.reader() as reader:
        if reader.last_sync() is not None:
            return False
    if sum(stat.size for stat in _notes(stores.vault.list(skip=stores.unindexed)).values()) > FIRST_SEARCH_BYTES:
        return False
    with stores.encode_lock() as is_locked:
        return _index_words(stores, SyncReport(), {}, _Run(progress, is_locked=is_locked))


def catch_up(stores: Stores) -> None:
    """Bring the index up to date before something is made from it; a vault that is away is left to who reads it next.

    Stores that wait for nothing are left alone: they are the daemon's, which watches the vault.
    """
    if not stores.waits_for_encoder:
        return
    try:
        sync(stores)
    except VaultUnavailable as error:
        emit("catch_up_failed", level="warning", said=str(error))


def _recover_vault(stores: Stores) -> None:
    """Let a vault we have written to recover from a crash or a collision with git; whoever writes now has done so."""
    if Capability.HISTORY in stores.vault.capabilities and stores.history.newest_commit():
        try:
            cast(HistoricBackend, stores.vault).recover(wait=0.0)
        except VaultUnavailable as error:
            emit("recovery_delayed", level="warning", said=str(error))


def _index_words(stores: Stores, report: SyncReport, backlogs: dict[str, Backlog], run: _Run) -> bool:
    """Index everything that differs; False if it was stopped before.

    What is left to encode is put into `backlogs`, by type of source.
    """
    _recover_vault(stores)
    stamps = stores.index.stamps(VAULT)  # before the listing, so that a note added meanwhile is not taken for gone
    listing = stores.vault.list(skip=stores.unindexed)
    stats, differs, commits = _notes(listing), _difference(stores), read_new_commits(stores)
    rewritten = {*commits.notes, *future_entries(stores)}
    work = [
        path
        for path, stat in stats.items()
        if path in rewritten or differs(stat, stamps.get(path)) or _is_in_doubt(stamps.get(path))
    ]
    backlog = backlogs[VAULT] = Backlog(AT_ONCE, _without_vectors(work, stats, stamps, stores))
    waiting = {each.source_id for each in backlog.waiting}
    work = sorted((path for path in work if path not in waiting), key=lambda path: -stats[path].mtime)
    report.unchanged = len(stats) - len(work)
    gone = {path: stamp for path, stamp in stamps.items() if path not in stats and not stamp.deleted}
    batch = Batch(stores, stamps, gone, report, backlog=backlog, writers=commits.writers)
    if not _encode_ahead(work, batch, run):
        return False
    if not _index_all(work, batch, run, total=len(stats)):
        return False
    commits.record(stores)
    report.problems = (*listing.problems, *batch.unreadable)
    for source in stores.sources:
        if run.is_stopped:
            return False
        backlogs[source.type] = Backlog(backlog.at_once)
        report.add(sync_source(source, stores, run, backlog=backlogs[source.type]))
    report.removed += _drop_other_sources(stores)
    stores.index.purge(before=(stores.clock() - KEPT_REMOVED).timestamp())
    stores.index.optimize(check=True)
    stores.index.record_sync(moment_text(stores.clock()))
    return True


def _without_vectors(
    paths: Sequence[str], stats: Mapping[str, Stat], stamps: Mapping[str, Stamp], stores: Stores
) -> list[PendingDocument]:
    """Those of the notes that an earlier sync has indexed by words and not encoded yet: there is no need to read them.

    How many texts they have is estimated by their size.
    """
    if not stores.chunking.version:
        return []
    is_other = _difference(stores, version="")

    def pending(stat: Stat) -> PendingDocument:
        texts, saved = max(1, stat.size // _BYTES_PER_TEXT), moment_text(calendar_time(stat.mtime))
        return PendingDocument(stat.path, texts, saved, had_vectors=False)

    return [
        pending(stats[path])
        for path in paths
        if (stamp := stamps.get(path)) and not (stamp.version or is_other(stats[path], stamp) or _is_in_doubt(stamp))
    ]


def _encode_ahead(paths: Sequence[str], batch: Batch, run: _Run) -> bool:
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
    if not work:
        return True
    with _encoding(stores, run, show=lambda: None) as is_ours:
        if not is_ours:
            return False
        total = 0
        for some in batches(work):
            if run.is_stopped:
                return False
            total += batch.count_texts(some)
        batch.on_encoded = _TextCounter(total, run.progress)
        for some in batches(work):
            if run.is_stopped:
                return False
            batch.encode_ahead(some)
        batch.on_encoded = ignore_count
    return True


class _TextCounter:
    """Counts encoded texts and tells the progress; `total` is how many there are, as far as it was known before."""

    def __init__(self, total: int, progress: Progress) -> None:
        self.done, self.total, self._progress = 0, total, progress

    def __call__(self, count: int) -> None:
        self.show(min(self.done + count, self.total))

    def show(self, done: int) -> None:
        """Tell that so many are done."""
        self.done = done
        if self.total:
            self._progress("texts", self.done, self.total)


def _index_all(paths: Sequence[str], batch: Batch, run: _Run, *, total: int) -> bool:
    """Index these notes and remove the gone ones; False if it was stopped before."""
    done, changed = batch.report.unchanged, list[str]()
    for some in batches(paths):
        if run.is_stopped:
            return False
        changed += _index_some(some, batch)
        done += len(some)
        run.progress("notes", done, total)
    index_until_stable([*changed, *batch.remove_gone()], batch.stores, batch.report)
    batch.mark_versions()
    return True


def _index_some(paths: Sequence[str], batch: Batch) -> list[str]:
    """Index these notes; returns the paths whose notes changed meanwhile."""
    blobs = list(read_blobs(batch.stores, paths, batch.unreadable))
    batch.add_notes(blobs)
    return changed_meanwhile(paths, blobs, batch.unreadable, batch.stores)


# ---------------------------------------------------------------- the vectors of what is indexed by words


def _catch_up(stores: Stores, report: SyncReport, backlogs: Mapping[str, Backlog], run: _Run) -> bool:
    """Encode the documents in the backlogs, the newest first; False if it was stopped before.

    Each batch is found by meaning as soon as it is encoded. If another process is encoding, it is left to it: this one
    waits, and does what is left.
    """
    waiting = {type_: backlog.take_all() for type_, backlog in backlogs.items() if backlog.waiting}
    if not waiting:
        return True
    counter = _TextCounter(sum(each.texts for some in waiting.values() for each in some), run.progress)
    counter.show(0)

    def show() -> None:
        counter.show(counter.total - sum(each.texts for some in _left(waiting, stores).values() for each in some))

    with _encoding(stores, run, show=show) as is_ours:
        left = _left(waiting, stores)
        is_complete = is_ours and _encode_waiting(left, stores, report, run, counter)
    report.waiting += sum(map(len, _left(waiting, stores).values()))
    stores.index.optimize()
    return is_complete


@contextmanager
def _encoding(stores: Stores, run: _Run, *, show: Callable[[], None]) -> Iterator[bool]:
    """True while no other process encodes many notes; waits for one that does, False if it was stopped meanwhile."""
    if run.is_locked:
        yield True
        return
    while not run.is_stopped:
        with stores.encode_lock() as is_ours:
            if is_ours:
                yield True
                return
        show()
        run.wait()
    yield False


def _left(waiting: Mapping[str, Sequence[PendingDocument]], stores: Stores) -> dict[str, list[PendingDocument]]:
    """What of it is still indexed by words alone."""
    left = {}
    for type_, documents in waiting.items():
        stamps = stores.index.stamps(type_)
        left[type_] = [
            each for each in documents if (stamp := stamps.get(each.source_id)) and not (stamp.version or stamp.deleted)
        ]
    return left


def _encode_waiting(
    waiting: Mapping[str, Sequence[PendingDocument]],
    stores: Stores,
    report: SyncReport,
    run: _Run,
    counter: _TextCounter,
) -> bool:
    """Encode and index these documents; False if it was stopped before. An encoder that fails is not asked again."""
    caught_up, number = SyncReport(), 0
    sources = {source.type: source for source in stores.sources}
    counter.show(counter.total - sum(each.texts for some in waiting.values() for each in some))
    for type_, documents in waiting.items():
        stamps = stores.index.stamps(type_)
        batch = Batch(stores, stamps, {}, caught_up, source_type=type_, on_encoded=counter)
        for some in batches(documents):
            if run.is_stopped or not batch.chunking.version:
                break
            ids, done = [each.source_id for each in some], counter.done + sum(each.texts for each in some)
            if type_ == VAULT:
                index_until_stable(_index_some(ids, batch), stores, caught_up)
            else:
                _index_items_until_stable(sources[type_].stamps(ids), sources[type_], batch)
            counter.show(min(done, counter.total))
            number += 1
            if number % _SEGMENT_EVERY == 0:
                stores.index.optimize()
    report.encoded += caught_up.encoded
    report.reused += caught_up.reused
    report.missing = report.missing or caught_up.missing
    report.seconds_encoding += caught_up.seconds_encoding
    return not run.is_stopped


def rebuild(stores: Stores, *, progress: Progress = ignore_progress) -> SyncReport:
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
    present = {stat.path for stat in stores.vault.list(skip=stores.unindexed).files}
    gone = sum(1 for path, stamp in stores.index.stamps(VAULT).items() if path not in present and not stamp.deleted)
    items = sum(_count_stale_items(source, stores) for source in stores.sources)
    return gone + items + len(stale_notes(stores))


def stale_notes(stores: Stores) -> tuple[Stat, ...]:
    """The notes of the vault whose current state is not in the index."""
    stats, stamps = _notes(stores.vault.list(skip=stores.unindexed)), stores.index.stamps(VAULT)
    differs = _difference(stores)
    return tuple(stat for path, stat in stats.items() if differs(stat, stamps.get(path)))


def _notes(listing: Listing) -> dict[str, Stat]:
    return {stat.path: stat for stat in listing.files if stat.path.lower().endswith(NOTE_ENDING)}


def _difference(stores: Stores, *, version: str | None = None) -> Callable[[Stat, Stamp | None], bool]:
    """A test for notes that are new, have another mtime or size, or were indexed by other settings or encoders.

    `version` is the encoder's, by default the current one's; with an empty one, encoders make no difference.
    """
    form = form_of(stores.chunking, stores.safety, stores.rules)
    version = stores.chunking.version if version is None else version

    def differs(stat: Stat, stamp: Stamp | None) -> bool:
        if stamp is None or stamp.deleted or (stat.mtime, stat.size) != (stamp.mtime, stamp.size):
            return True
        return not stamp.made_from.startswith(form) or version not in ("", stamp.version)

    return differs


def _is_in_doubt(stamp: Stamp | None) -> bool:
    """True if the note may have been saved again in the instant in which it was read."""
    return stamp is not None and stamp.mtime > stamp.seen - _SAME_INSTANT


def sync_source(source: Source, stores: Stores, run: _Run = _ALONE, *, backlog: Backlog | None = None) -> SyncReport:
    """Make the index say what this source says, and nothing else of its type. Raises as `sync` does."""
    stamps = stores.index.stamps(source.type)
    return _index_items(source, stores, stamps, current=source.stamps(), run=run, backlog=backlog)


def index_source_items(
    source: Source, ids: Iterable[str], stores: Stores, *, progress: Progress = ignore_progress
) -> SyncReport:
    """Bring these items of a source up to date in the index, whether new, changed or gone. Raises as `sync` does."""
    start, backlog = time.perf_counter(), Backlog(AT_ONCE)
    keys = [*dict.fromkeys(ids)]
    stamps = {key: stamp for key in keys if (stamp := stores.index.stamp(source.type, key))}
    run = _Run(progress, is_locked=True)  # they are few: no need to wait for another process that encodes many notes
    report = _index_items(source, stores, stamps, current=source.stamps(keys), run=run, backlog=backlog)
    _catch_up(stores, report, {source.type: backlog}, run)
    stores.index.optimize()
    report.seconds = time.perf_counter() - start
    return report


def index_source_words(source: Source, stores: Stores, *, progress: Progress = ignore_progress) -> int:
    """Index what the index does not have of this source, by words; returns how many texts the next sync encodes.

    A few texts are encoded at once, as in every sync. What is indexed by words already is left as it is, and so is what
    is gone. Raises as `sync` does.
    """
    backlog, form = Backlog(AT_ONCE), form_of(stores.chunking, stores.safety, stores.rules)
    stamps, current = stores.index.stamps(source.type), source.stamps()

    def is_indexed(key: str) -> bool:
        stamp = stamps.get(key)
        return stamp is not None and not stamp.deleted and stamp.made_from == f"{form}-{current[key]}"

    missing = {key: stamp for key, stamp in current.items() if not is_indexed(key)}
    known = {key: stamps[key] for key in missing if key in stamps}
    if missing:
        run = _Run(progress, is_locked=True)
        _index_items(source, stores, known, current=missing, run=run, backlog=backlog)
        stores.index.optimize()
    return sum(each.texts for each in backlog.waiting)


def unencoded_notes(stores: Stores) -> int:
    """How many texts of notes, estimated by their size, are indexed by words and wait for the next sync."""
    if not stores.chunking.version:
        return 0
    stamps = stores.index.stamps(VAULT).values()
    return sum(max(1, each.size // _BYTES_PER_TEXT) for each in stamps if not each.version and not each.deleted)


def _index_items(
    source: Source,
    stores: Stores,
    stamps: Mapping[str, Stamp],
    *,
    current: Mapping[str, str],
    run: _Run,
    backlog: Backlog | None = None,
) -> SyncReport:
    """Index the current items that differ from these stamps, and remove those that have a stamp and were removed.

    An item that is gone although nobody removed it stays in the index, which has the last copy of it.
    """
    is_current = _item_test(stores)
    gone = {key: stamp for key, stamp in stamps.items() if key not in current and not stamp.deleted}
    if lost := source.lost(gone):
        emit("source_items_lost", level="warning", source=source.type, items=len(lost))
        gone = {key: stamp for key, stamp in gone.items() if key not in lost}
    work = [key for key, stamp in current.items() if not is_current(stamps.get(key), stamp)]
    report = SyncReport(unchanged=len(current) - len(work), missing=stores.encoders.missing)
    batch = Batch(stores, stamps, gone, report, source_type=source.type, backlog=backlog)
    done = report.unchanged
    for some in batches(work):
        if run.is_stopped:
            return report
        _index_items_until_stable({key: current[key] for key in some}, source, batch)
        done += len(some)
        run.progress("conversations", done, len(current))
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
    gone = [key for key, stamp in stamps.items() if key not in current and not stamp.deleted]
    changed = sum(1 for key, stamp in current.items() if not is_current(stamps.get(key), stamp))
    return len(gone) - len(source.lost(gone)) + changed


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
        if encoding:
            encoded: list[EncodedDocument] = [(document, encoding.of(document)) for document in documents]
        else:
            encoded = [(replace(document, version=""), ()) for document in documents]
        self.index.put_all(encoded, now=self.now.timestamp())
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
