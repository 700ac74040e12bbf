"""The verbs on the index: sync, rebuild, watch, readiness, stats, evaluate."""

import threading
from collections.abc import Callable, Sequence

from commonplace.flows.doctor import examine
from commonplace.flows.evaluate import EVALUATED, Plan, Telling, evaluate
from commonplace.flows.ingest import Progress, sync
from commonplace.flows.overview import write_overview
from commonplace.flows.rebuild import rebuild
from commonplace.flows.shelf import Shelf
from commonplace.flows.take_in import Synced
from commonplace.flows.watch import keep_watching
from commonplace.index.base import Counts
from commonplace.memory.search import mode_named
from commonplace.model import Evaluation, Finding, Mode, Problem


def _quietly(done: int, total: int) -> None:
    """No progress is wanted."""


def _silently(what: str, done: int, total: int) -> None:
    """Nor is it here."""


class IndexVerbs:
    """The index of one vault: derived from the notes, and made anew from them at any time."""

    def __init__(self, shelf: Callable[[], Shelf]) -> None:
        self._shelf = shelf

    def sync(self, *, progress: Progress = _quietly) -> Synced:
        """Make the index say what the vault says now. Raises VaultUnavailable, and IndexDamaged for a bad index."""
        synced = sync(self._shelf(), progress=progress)
        write_overview(self._shelf())
        return synced

    def rebuild(self, *, progress: Progress = _quietly) -> Synced:
        """Make the index anew from nothing, with the vectors that are known. Mends a damaged index."""
        synced = rebuild(self._shelf(), progress=progress)
        write_overview(self._shelf())
        return synced

    def watch(self, stop: threading.Event, *, heard: Callable[[Synced], None]) -> None:
        """Keep the index true to the vault until `stop` is set; `heard` is called with each change taken in."""
        keep_watching(self._shelf(), stop, heard=heard)

    def readiness(self) -> tuple[Mode, str]:
        """How a question would be searched now: "hybrid", or "words" and why. An encoder that is not loaded is, from
        here on, in the background.
        """
        encoders = self._shelf().encoders
        if encoders.current is None:
            return "words", encoders.missing
        if encoders.current.is_ready:
            return "hybrid", ""
        if encoders.warm():
            return "words", "the encoder is being loaded"
        failed = "the encoder cannot be loaded: `commonplace doctor` says why"
        return ("hybrid", "") if encoders.current.is_ready else ("words", failed)

    def stats(self) -> Counts:
        """What the index holds."""
        with self._shelf().index.reading() as reading:
            return reading.counts()

    def problems(self) -> tuple[Problem, ...]:
        """Every Problem of the notes that are indexed, with path and line."""
        with self._shelf().index.reading() as reading:
            return reading.problems()

    def examine(self) -> tuple[Finding, ...]:
        """Everything that could be wrong, looked at in turn."""
        return examine(self._shelf())

    def evaluate(
        self,
        *,
        questions: int = 100,
        modes: Sequence[str] = (),
        seed: int = 0,
        progress: Telling = _silently,
    ) -> Evaluation:
        """How well search finds notes by headings, aliases, link texts and definitions that it has not seen.

        The same vault and seed give the same questions. They are asked in these modes, else in hybrid, words, sense
        and rrf. Raises UsageError for a mode that there is not, and when too few questions can be made.
        """
        plan = Plan(questions, tuple(mode_named(mode) for mode in dict.fromkeys(modes or EVALUATED)), seed)
        return evaluate(self._shelf(), plan, progress=progress)
