"""The place for jobs: chores that run one at a time, each every so often, with what came of it kept for `status`."""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from commonplace.errors import CommonplaceError
from commonplace.events import emit
from commonplace.model.moment import moment_text

_TICK: Final = 0.5
_RETRY: Final = 60.0
"""Seconds after which a chore that failed is tried again, if it would not come sooner anyway."""


@dataclass(frozen=True, slots=True)
class Chore:
    """A job: what it is called, what it does and says, and how many seconds lie between two runs.

    `first` is how long it waits after the start. One that `waits_for_quiet` runs only while nobody asks for anything.
    """

    name: str
    do: Callable[[], str]
    every: float
    first: float = 0.0
    waits_for_quiet: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of the last run of a chore, in the words of `status`."""

    ok: bool
    said: str
    ran: str
    seconds: float


class Chores:
    """Runs the chores in a thread of its own until it is told to end."""

    def __init__(self, chores: Sequence[Chore], *, is_quiet: Callable[[], bool], tick: float = _TICK) -> None:
        begun = time.monotonic()
        self._chores, self._is_quiet, self._tick = tuple(chores), is_quiet, tick
        self._due = {chore.name: begun + chore.first for chore in chores}
        self._outcomes: dict[str, Outcome] = {}
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._run, name="chores", daemon=True)

    def begin(self) -> None:
        """Run them from now on."""
        self._thread.start()

    def end(self, *, within: float) -> bool:
        """Begin no other chore; whether the one at work has ended in time."""
        self._ends.set()
        if self._thread.ident:  # it has begun
            self._thread.join(within)
        return not self._thread.is_alive()

    def told(self) -> list[dict[str, Any]]:
        """What `status` says of each chore."""
        return [self._told_of(chore) for chore in self._chores]

    def _run(self) -> None:
        while not self._ends.wait(self._tick):
            for chore in self._chores:
                if self._is_due(chore) and not self._ends.is_set():
                    self._do(chore)

    def _is_due(self, chore: Chore) -> bool:
        return time.monotonic() >= self._due[chore.name] and (not chore.waits_for_quiet or self._is_quiet())

    def _do(self, chore: Chore) -> None:
        start = time.monotonic()
        try:
            ok, said = True, chore.do()
        except Exception as error:  # noqa: BLE001 (the job runner: whatever it is, the other chores go on)
            ok, said = False, str(error) if isinstance(error, CommonplaceError) else type(error).__name__
            emit("chore_failed", level="warning", chore=chore.name, said=said, exc_info=error)
        end = time.monotonic()
        self._due[chore.name] = end + (chore.every if ok else min(_RETRY, chore.every))
        self._outcomes[chore.name] = Outcome(ok, said, _at(0.0), round(end - start, 3))

    def _told_of(self, chore: Chore) -> dict[str, Any]:
        outcome, wait = self._outcomes.get(chore.name), self._due[chore.name] - time.monotonic()
        told = {"chore": chore.name, "next": _at(max(0.0, wait))}
        if outcome is None:
            return told
        return {**told, "ok": outcome.ok, "said": outcome.said, "ran": outcome.ran, "seconds": outcome.seconds}


def _at(seconds: float) -> str:
    """The moment that many seconds from now."""
    return moment_text(datetime.now(UTC) + timedelta(seconds=seconds))
