"""Ingest: list or be told -> read -> parse -> unchanged? touch only -> chunk -> encode what was never encoded ->
one transaction for each document.

`sync` compares the whole vault with the index, both ways. `ingest_paths` looks at a few notes: those that a writer
wrote or a watcher saw. Both end with an index that says what the files say now, as a rebuild would.
"""

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import timedelta
from typing import Final, TypeVar

from commonplace.errors import NotFound, Refused, VaultUnavailable
from commonplace.events import emit
from commonplace.flows.document import VAULT, form_of
from commonplace.flows.ingest_source import drop_other_sources, sync_source, waiting_in
from commonplace.flows.read import NOTE_ENDING, locate, standing
from commonplace.flows.shelf import Shelf
from commonplace.flows.take_in import Round, Synced
from commonplace.model import Problem, Stamp, Stat
from commonplace.recalling.times import in_utc
from commonplace.vault.base import Blob, Listing
from commonplace.vault.skipping import skipping

KEPT_REMOVED: Final = timedelta(days=30)  # how long a note that is gone may come back without being cut anew
BATCH: Final = 16  # documents that are encoded together
_SAME_INSTANT: Final = 2.0  # seconds: on some disks a file saved twice within them has the same time
_ATTEMPTS: Final = 5  # looks at a note that changes while it is taken in

T = TypeVar("T")
Progress = Callable[[int, int], None]
"""Called with how many notes are done and how many there are."""


def sync(shelf: Shelf, *, progress: Progress = lambda done, total: None, stop: threading.Event | None = None) -> Synced:
    """Make the index say what the vault and the other sources say, and nothing else.

    Ends early, with what is done so far, when `stop` is set. Raises VaultUnavailable and IndexDamaged.
    """
    start = time.perf_counter()
    stamps = shelf.index.stamps(VAULT)  # before the listing: a note that a writer adds meanwhile is not taken for gone
    listing = shelf.vault.list(skip=shelf.ignored)
    stats = _notes(listing)
    gone = {path: stamp for path, stamp in stamps.items() if path not in stats and not stamp.deleted}
    differs = _difference(shelf)
    work = [path for path, stat in stats.items() if differs(stat, stamps.get(path)) or _is_in_doubt(stamps.get(path))]
    synced = Synced(unchanged=len(stats) - len(work), missing=shelf.encoders.missing)
    round_ = Round(shelf, stamps, gone, synced)
    done = synced.unchanged
    overtaken: list[str] = []
    for some in _batches(work):
        if stop and stop.is_set():
            return synced
        blobs = list(_blobs(shelf, some, round_.unreadable))
        round_.take_in(blobs)
        overtaken += _overtaken(some, blobs, round_.unreadable, shelf)
        done += len(some)
        progress(done, len(stats))
    _look_again([*overtaken, *round_.remove_gone()], shelf, synced)
    synced.problems = (*listing.passed_over, *round_.unreadable)
    for source in shelf.sources:
        if stop and stop.is_set():
            return synced
        synced.add(sync_source(source, shelf, progress=progress, stop=stop))
    synced.removed += drop_other_sources(shelf)
    shelf.index.purge(before=(shelf.clock() - KEPT_REMOVED).timestamp())
    shelf.index.settle()
    shelf.index.mark_synced(in_utc(shelf.clock()))
    synced.seconds = time.perf_counter() - start
    emit(
        "vault_backfill_done",
        notes=len(stats),
        encoded=synced.encoded,
        **synced.counts(),
        latency_ms=round(synced.seconds * 1000, 1),
    )
    return synced


def waiting_for_sync(shelf: Shelf) -> int:
    """How many notes, and things of other sources, are not in the index as they are now."""
    stats, stamps = _notes(shelf.vault.list(skip=shelf.ignored)), shelf.index.stamps(VAULT)
    gone = sum(1 for path, stamp in stamps.items() if path not in stats and not stamp.deleted)
    differs = _difference(shelf)
    other = sum(waiting_in(source, shelf) for source in shelf.sources)
    return gone + other + sum(1 for path, stat in stats.items() if differs(stat, stamps.get(path)))


def ingest_paths(paths: Iterable[str], shelf: Shelf) -> Synced:
    """Bring these notes up to date in the index, be they new, changed or gone. Raises as `sync` does."""
    start = time.perf_counter()
    synced = Synced(missing=shelf.encoders.missing)
    wanted = dict.fromkeys(paths)
    _look_again([path for path in wanted if path.lower().endswith(NOTE_ENDING)], shelf, synced)
    shelf.index.settle()
    synced.seconds = time.perf_counter() - start
    return synced


def _look_again(paths: list[str], shelf: Shelf, synced: Synced) -> None:
    """Look at these notes until what was taken in is what is there; a later look has them, if they never rest."""
    for _ in range(_ATTEMPTS):
        if not paths:
            return
        paths = _look_at(paths, shelf, synced)


def _look_at(paths: Sequence[str], shelf: Shelf, synced: Synced) -> list[str]:
    """Take in these notes as they are now; those that changed meanwhile come back, to be looked at again."""
    is_ignored = skipping(shelf.ignored)
    stamps = {path: stamp for path in paths if (stamp := shelf.index.stamp(VAULT, path))}
    there = [path for path in paths if not is_ignored(path) and standing(path, shelf.vault)]
    gone = {path: stamp for path, stamp in stamps.items() if path not in there and not stamp.deleted}
    round_ = Round(shelf, stamps, gone, synced)
    blobs = list(_blobs(shelf, there, round_.unreadable))
    for some in _batches(blobs):
        round_.take_in(some)
    back = round_.remove_gone()
    synced.problems = tuple(round_.unreadable)
    return [*_overtaken(there, blobs, round_.unreadable, shelf), *back]


def _notes(listing: Listing) -> dict[str, Stat]:
    return {stat.path: stat for stat in listing.files if stat.path.lower().endswith(NOTE_ENDING)}


def _difference(shelf: Shelf) -> Callable[[Stat, Stamp | None], bool]:
    """Tells whether a note is new, its time or size is another, or other settings or another encoder made it."""
    form, version = form_of(shelf.cut, shelf.safety, shelf.rules), shelf.cut.version

    def differs(stat: Stat, stamp: Stamp | None) -> bool:
        if stamp is None or stamp.deleted or (stat.mtime, stat.size) != (stamp.mtime, stamp.size):
            return True
        return not stamp.made_from.startswith(form) or version not in ("", stamp.version)

    return differs


def _is_in_doubt(stamp: Stamp | None) -> bool:
    """Whether the note may have been saved again in the very instant in which it was read."""
    return stamp is not None and stamp.mtime > stamp.seen - _SAME_INSTANT


def _blobs(shelf: Shelf, paths: Iterable[str], unreadable: list[Problem]) -> Iterator[Blob]:
    """The notes' bytes; one that vanished is nothing, one that cannot be read is a Problem."""
    for path in paths:
        try:
            yield shelf.vault.read(locate(path, shelf.vault))
        except NotFound:
            continue
        except (Refused, VaultUnavailable) as error:
            unreadable.append(Problem(path, 0, error.message, "unreadable-file"))


def _overtaken(paths: Sequence[str], blobs: Sequence[Blob], unreadable: Sequence[Problem], shelf: Shelf) -> list[str]:
    """Those of the paths at which something happened since they were read, or while they were to be."""
    read = {blob.stat.path for blob in blobs} | {each.path for each in unreadable}
    vanished = [path for path in paths if path not in read]
    return vanished + [blob.stat.path for blob in blobs if _changed_since(blob, shelf)]


def _changed_since(blob: Blob, shelf: Shelf) -> bool:
    """Whether the note was saved or removed since it was read."""
    stat = standing(blob.stat.path, shelf.vault)
    return stat is None or (stat.mtime, stat.size) != (blob.stat.mtime, blob.stat.size)


def _batches(items: Sequence[T]) -> Iterator[Sequence[T]]:
    return (items[at : at + BATCH] for at in range(0, len(items), BATCH))
