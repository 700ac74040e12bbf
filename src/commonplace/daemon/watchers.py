"""A watcher for each vault: a thread that keeps its index true to its notes for as long as the daemon runs."""

import threading
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from commonplace.errors import CommonplaceError
from commonplace.events import emit
from commonplace.memory import Memory, Synced
from commonplace.model.moment import moment_text

_PAUSE: Final = 0.5  # seconds, so that whoever opened the vault has an answer first
_AGAIN: Final = 30.0  # seconds until a watcher that failed is tried again


class Watcher:
    """Watches one vault until it is told to end. What goes wrong is told, and tried again."""

    def __init__(self, root: Path, memory: Memory) -> None:
        self._root, self._memory = root, memory
        self._ends = threading.Event()
        self._heard = ""
        self._said = ""
        self._thread = threading.Thread(target=self._watch, name=f"watch {root.name}", daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Let it end; `gone` waits for that."""
        self._ends.set()

    def gone(self, *, within: float) -> bool:
        """Whether it has ended after at most that many seconds."""
        self._thread.join(within)
        return not self._thread.is_alive()

    def told(self) -> dict[str, Any]:
        """What `status` says of it."""
        return {"watching": self._thread.is_alive() and not self._said, "heard": self._heard, "said": self._said}

    def _watch(self) -> None:
        self._ends.wait(_PAUSE)
        while not self._ends.is_set():
            try:
                self._memory.index.readiness()  # begins to load the encoder
                self._memory.index.watch(self._ends, heard=self._take)
            except Exception as error:  # noqa: BLE001 (a job: whatever it is, the other vaults go on)
                self._said = str(error) if isinstance(error, CommonplaceError) else type(error).__name__
                emit("watcher_failed", level="error", vault=str(self._root), exc_info=error)
                self._ends.wait(_AGAIN)

    def _take(self, synced: Synced) -> None:
        self._heard, self._said = moment_text(datetime.now(UTC)), ""
        emit("vault_synced", vault=str(self._root), **synced.counts(), seconds=round(synced.seconds, 3))


def end_all(watchers: list[Watcher], *, within: Callable[[], float]) -> bool:
    """End them all at once; whether all of them have ended in time."""
    for watcher in watchers:
        watcher.end()
    ended = [watcher.gone(within=max(0.0, within())) for watcher in watchers]
    return all(ended)
