"""How far a long step has come: what it counts, how fast it goes, and how much time is left.

`Progress` is what a verb that may take long calls; a `ProgressMeter` turns the calls into one line of text, for a
terminal and for `commonplace status`.
"""

from collections import deque
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

Progress = Callable[[str, int, int], None]
"""Called with what is counted (a key of `PROGRESS_VERBS`), how many are done, and how many there are in all."""

PROGRESS_VERBS: Final[Mapping[str, str]] = {
    "notes": "indexed",
    "conversations": "indexed",
    "texts": "encoded",
    "questions": "asked",
    "sources": "read",
    "commits": "read",
    "bytes": "fetched",
    "rows": "copied",
}
"""What can be counted, and what happens to it. Texts are what the encoder reads: the sentences and parts of notes."""

_WINDOW: Final = 20.0  # seconds over which the rate is measured: texts differ in length, cached ones take no time
_LEAST: Final = 1.0  # seconds before a rate is told: the first moments say little
_MEGABYTE: Final = 1_000_000


def ignore_progress(what: str, done: int, total: int) -> None:
    """Show nothing."""


class _Sample(NamedTuple):
    at: float
    done: int


class ProgressMeter:
    """The state of one long step. A step that begins to count something else begins anew.

    `clock` gives seconds that never go back.
    """

    def __init__(self, clock: Callable[[], float], verbs: Mapping[str, str] = PROGRESS_VERBS) -> None:
        self._verbs, self._clock = verbs, clock
        self.what, self.done, self.total = "", 0, 0
        self._samples: deque[_Sample] = deque()

    def __call__(self, what: str, done: int, total: int) -> None:
        """Note how far the step has come."""
        if what != self.what or done < self.done:
            self._samples.clear()
        self.what, self.done, self.total = what, done, total
        now = self._clock()
        self._samples.append(_Sample(now, done))
        while len(self._samples) > 2 and self._samples[1].at <= now - _WINDOW:
            self._samples.popleft()

    @property
    def is_running(self) -> bool:
        """True while something is left to do."""
        return self.done < self.total

    @property
    def rate(self) -> float:
        """How many are done in a second, lately; 0 as long as that cannot be told."""
        if not self._samples:
            return 0.0
        first, last = self._samples[0], self._samples[-1]
        took = last.at - first.at
        return (last.done - first.done) / took if took >= _LEAST else 0.0

    @property
    def seconds_left(self) -> float | None:
        """How long the rest takes at this rate; None as long as that cannot be told."""
        return (self.total - self.done) / self.rate if self.rate > 0 else None

    @property
    def text(self) -> str:
        """Such as `encoded 1,200 of 29,097 texts, 106/s, 4 min left`."""
        verb = self._verbs.get(self.what, PROGRESS_VERBS.get(self.what, "done"))
        if self.what == "bytes":
            speed = f"{self.rate / _MEGABYTE:.1f} MB/s"
            parts = [f"{verb} {self.done / _MEGABYTE:.1f} of {self.total / _MEGABYTE:.1f} MB"]
        else:
            speed = f"{self.rate:,.0f}/s" if self.rate >= 1 else f"{self.rate * 60:,.0f}/min"
            parts = [f"{verb} {self.done:,} of {self.total:,} {self.what}"]
        if (left := self.seconds_left) is not None:
            parts += [speed, f"{duration_text(left)} left"]
        return ", ".join(parts)


def duration_text(seconds: float) -> str:
    """A duration for people: `40 s`, `4 min`, `2 h 10 min`."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h {minutes % 60} min"
