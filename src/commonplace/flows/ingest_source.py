"""Ingest of the sources beyond the vault: what is there is compared with the index by its stamps, and taken in."""

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from commonplace.flows.document import VAULT, form_of
from commonplace.flows.shelf import Shelf
from commonplace.flows.take_in import Round, Synced
from commonplace.model import Stamp
from commonplace.sources.base import Source

_BATCH: Final = 16  # things that are encoded together
_ATTEMPTS: Final = 5  # looks at a thing that changes while it is taken in


def sync_source(
    source: Source,
    shelf: Shelf,
    *,
    progress: Callable[[int, int], None] = lambda done, total: None,
    stop: threading.Event | None = None,
) -> Synced:
    """Make the index say what this source says, and nothing else of its type; as far as it came, where it is stopped.

    Raises as `sync` does.
    """
    start = time.perf_counter()
    stamps = shelf.index.stamps(source.type)
    synced = _take_in(source, shelf, stamps, there=source.stamps(), progress=progress, stop=stop)
    shelf.index.settle()
    synced.seconds = time.perf_counter() - start
    return synced


def ingest_sourced(source: Source, ids: Iterable[str], shelf: Shelf) -> Synced:
    """Bring these things of a source up to date in the index, be they new, changed or gone. Raises as `sync` does."""
    start = time.perf_counter()
    wanted = [*dict.fromkeys(ids)]
    stamps = {each: stamp for each in wanted if (stamp := shelf.index.stamp(source.type, each))}
    synced = _take_in(source, shelf, stamps, there=source.stamps(wanted))
    shelf.index.settle()
    synced.seconds = time.perf_counter() - start
    return synced


def waiting_in(source: Source, shelf: Shelf) -> int:
    """How many things of the source are not in the index as they are now."""
    there, stamps = source.stamps(), shelf.index.stamps(source.type)
    gone = sum(1 for key, stamp in stamps.items() if key not in there and not stamp.deleted)
    return gone + sum(1 for key, stamp in there.items() if not _is_current(stamps.get(key), stamp, shelf))


def drop_other_sources(shelf: Shelf) -> int:
    """Remove what is of a source that is switched off; how much it was."""
    with shelf.index.reading() as reading:
        types = {*reading.counts().documents} - {VAULT, *(source.type for source in shelf.sources)}
    now = shelf.clock().timestamp()
    return sum(shelf.index.remove(each, key, now=now) for each in types for key in shelf.index.stamps(each))


def _take_in(
    source: Source,
    shelf: Shelf,
    stamps: Mapping[str, Stamp],
    *,
    there: Mapping[str, str],
    progress: Callable[[int, int], None] = lambda done, total: None,
    stop: threading.Event | None = None,
) -> Synced:
    """Take in what is there now and differs from these stamps, and remove what has a stamp and is not there."""
    gone = {key: stamp for key, stamp in stamps.items() if key not in there and not stamp.deleted}
    work = [key for key, stamp in there.items() if not _is_current(stamps.get(key), stamp, shelf)]
    synced = Synced(unchanged=len(there) - len(work), missing=shelf.encoders.missing)
    round_ = Round(shelf, stamps, gone, synced, source_type=source.type)
    for at in range(0, len(work), _BATCH):
        if stop and stop.is_set():
            return synced
        _take_in_some({key: there[key] for key in work[at : at + _BATCH]}, source, round_)
        progress(synced.unchanged + at + _BATCH, len(there))
    round_.remove_gone()
    return synced


def _take_in_some(there: Mapping[str, str], source: Source, round_: Round) -> None:
    """Take in these things with their stamps, until they stay as they are while they are taken in.

    One that is erased meanwhile leaves nothing behind.
    """
    wanted = [*there]
    for _ in range(_ATTEMPTS):
        round_.take_in_sourced([(thing, there[key]) for key in wanted if key in there and (thing := source.read(key))])
        now = source.stamps(there)
        for key in set(there) - set(now):
            round_.shelf.index.erase(source.type, key)
        wanted = [key for key, stamp in now.items() if there[key] != stamp]
        if not wanted:
            return
        there = {**now}


def _is_current(known: Stamp | None, stamp: str, shelf: Shelf) -> bool:
    if known is None or known.deleted or known.made_from != f"{form_of(shelf.cut, shelf.safety, shelf.rules)}-{stamp}":
        return False
    return shelf.cut.version in ("", known.version)
