"""Watching a store whose changes all go through this process: each is put into the queue of every watcher."""

import threading
from collections.abc import Iterator
from queue import Empty, SimpleQueue

from commonplace.vault.base import Seen, Skip
from commonplace.vault.skipping import skipping

_Queue = SimpleQueue[tuple[Seen, ...]]


class Watchers:
    """Everyone who watches one store."""

    def __init__(self) -> None:
        self._queues: tuple[_Queue, ...] = ()
        self._turn = threading.Lock()

    def tell(self, seen: tuple[Seen, ...]) -> None:
        """Let every watcher know."""
        for queue in self._queues if seen else ():
            queue.put(seen)

    def watch(self, *, stop: threading.Event, skip: Skip | None, step: float) -> Iterator[tuple[Seen, ...]]:
        """What is told from this call on, until `stop` is set; () each `step` seconds while nothing is."""
        queue: _Queue = SimpleQueue()
        with self._turn:
            self._queues = (*self._queues, queue)
        return self._taken(queue, stop=stop, skip=skip, step=step)

    def _taken(
        self, queue: _Queue, *, stop: threading.Event, skip: Skip | None, step: float
    ) -> Iterator[tuple[Seen, ...]]:
        is_skipped = skipping(skip)
        try:
            while not stop.is_set():
                try:
                    told = queue.get(timeout=step)
                except Empty:
                    told = ()
                yield tuple(each for each in told if not is_skipped(each.path))
        finally:
            with self._turn:
                self._queues = tuple(each for each in self._queues if each is not queue)
