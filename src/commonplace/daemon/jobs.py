"""Runs jobs one at a time, each at its interval, and keeps the last result of each for `status`."""

import gc
import os
import resource
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from commonplace.errors import CommonplaceError
from commonplace.events import emit
from commonplace.model.moment import moment_text

_TICK_SECONDS: Final = 0.5
_RETRY_SECONDS: Final = 60.0  # until a failed job is tried again, unless its interval is shorter
_GARBAGE: Final = (50_000, 20, 20)  # new values until the youngest are looked through, and then the older ones
_QUIET_SECONDS: Final = 60.0  # without a request until the daemon counts as idle


@dataclass(frozen=True, slots=True)
class Chore:
    """A job: its name, what it does and reports, and the seconds between two runs.

    `first` is how many seconds it waits after the start. A job with `waits_for_quiet` runs only while the daemon is
    idle.
    """

    name: str
    run: Callable[[], str]
    every: float
    first: float = 0.0
    waits_for_quiet: bool = False


@dataclass(frozen=True, slots=True)
class ChoreResult:
    """The result of a job's last run; `said` is its report or its error."""

    ok: bool
    said: str
    ran: str
    seconds: float


class ChoreRunner:
    """Runs the jobs in a thread of its own until `end`."""

    def __init__(self, jobs: Sequence[Chore], *, is_quiet: Callable[[], bool], tick: float = _TICK_SECONDS) -> None:
        start = time.monotonic()
        self._jobs, self._is_quiet, self._tick = tuple(jobs), is_quiet, tick
        self._due = {job.name: start + job.first for job in jobs}
        self._results: dict[str, ChoreResult] = {}
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run_all, name="jobs", daemon=True)

    def begin(self) -> None:
        """Start running jobs."""
        self._thread.start()

    def end(self, *, within: float) -> bool:
        """Start no other job; True if the running one has ended within that many seconds."""
        self._ending.set()
        if self._thread.ident:  # it was started
            self._thread.join(within)
        return not self._thread.is_alive()

    def status(self) -> list[dict[str, Any]]:
        """Each job's last result and next run, for `status`."""
        return [self._status_of(job) for job in self._jobs]

    def _run_all(self) -> None:
        while not self._ending.wait(self._tick):
            for job in self._jobs:
                if self._is_due(job) and not self._ending.is_set():
                    self._run(job)

    def _is_due(self, job: Chore) -> bool:
        return time.monotonic() >= self._due[job.name] and (not job.waits_for_quiet or self._is_quiet())

    def _run(self, job: Chore) -> None:
        start = time.monotonic()
        try:
            ok, report = True, job.run()
        except Exception as error:  # noqa: BLE001 (the job runner: whatever it is, the other jobs go on)
            ok, report = False, str(error) if isinstance(error, CommonplaceError) else type(error).__name__
            emit("chore_failed", level="warning", chore=job.name, said=report, exc_info=error)
        end = time.monotonic()
        self._due[job.name] = end + (job.every if ok else min(_RETRY_SECONDS, job.every))
        self._results[job.name] = ChoreResult(ok, report, _time_text(0.0), round(end - start, 3))

    def _status_of(self, job: Chore) -> dict[str, Any]:
        result, wait = self._results.get(job.name), self._due[job.name] - time.monotonic()
        status = {"chore": job.name, "next": _time_text(max(0.0, wait))}
        if result is None:
            return status
        return {**status, "ok": result.ok, "said": result.said, "ran": result.ran, "seconds": result.seconds}


class RequestCounter:
    """Counts requests, and knows when the last one came."""

    def __init__(self) -> None:
        self.requests = 0
        self._last = time.monotonic()

    def count(self) -> None:
        """Count a request. Called only by the thread of the event loop."""
        self.requests += 1
        self._last = time.monotonic()

    def is_quiet(self) -> bool:
        """True if no request has come for a minute."""
        return time.monotonic() - self._last > _QUIET_SECONDS


def settle_garbage() -> None:
    """From now on, look for garbage more rarely, and not in what was loaded so far.

    A recall makes 10,000 short-lived values. With Python's own thresholds about an eighth of its time went into
    looking through everything that is cached.
    """
    gc.freeze()
    gc.set_threshold(*_GARBAGE)
    gc.enable()


def memory_mb(pid: int | None = None) -> float:
    """The memory of this process, or of another one, in megabytes.

    If the system does not report the current amount: the peak of this process, and 0 for another.
    """
    try:
        with open(f"/proc/{pid or 'self'}/statm", encoding="ascii") as file:
            return round(int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6, 1)
    except OSError:
        if pid is not None:
            return 0.0
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return round(peak / 1e6 if sys.platform == "darwin" else peak / 1e3, 1)


def _time_text(seconds: float) -> str:
    """The time that many seconds from now."""
    return moment_text(datetime.now(UTC) + timedelta(seconds=seconds))
