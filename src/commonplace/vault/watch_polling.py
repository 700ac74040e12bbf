"""Watching by looking again and again: for any store, and for a folder that the system does not watch for us."""

import threading
import time
from collections.abc import Iterator, Mapping
from typing import Final

from commonplace.model import Stat
from commonplace.vault.base import Seen, Skip, StorageBackend

EVERY_S: Final = 3.0
"""Seconds between two looks: listing 10,000 files takes about a tenth of a second."""


def poll(
    backend: StorageBackend,
    *,
    stop: threading.Event,
    skip: Skip | None = None,
    step: float = 0.5,
    every: float = EVERY_S,
) -> Iterator[tuple[Seen, ...]]:
    """What `watch` would tell, found by comparing listings: later, and without what came and went in between.

    Raises VaultUnavailable when the store cannot be listed.
    """
    return _compared(backend, _listed(backend, skip), stop=stop, skip=skip, pace=(step, every))


def _compared(
    backend: StorageBackend,
    before: Mapping[str, Stat],
    *,
    stop: threading.Event,
    skip: Skip | None,
    pace: tuple[float, float],
) -> Iterator[tuple[Seen, ...]]:
    step, every = pace
    looked = time.monotonic()
    while not stop.wait(min(step, every)):
        if time.monotonic() - looked < every:
            yield ()
            continue
        after = _listed(backend, skip)
        looked = time.monotonic()
        yield differences(before, after)
        before = after


def differences(before: Mapping[str, Stat], after: Mapping[str, Stat]) -> tuple[Seen, ...]:
    """What happened between two listings."""
    gone = tuple(Seen(path, "gone") for path in before if path not in after)
    return gone + tuple(Seen(path, "saved") for path, stat in after.items() if before.get(path) != stat)


def _listed(backend: StorageBackend, skip: Skip | None) -> Mapping[str, Stat]:
    return {stat.path: stat for stat in backend.list(skip=skip).files}
