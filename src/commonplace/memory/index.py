"""The verbs on the index: sync, rebuild, watch, readiness, is_loading, stats, problems, examine, evaluate."""

import threading
from collections.abc import Callable, Sequence

from commonplace.flows.doctor import examine
from commonplace.flows.evaluate import EVALUATED, EvaluationPlan, evaluate
from commonplace.flows.ingest.index_notes import SyncReport
from commonplace.flows.ingest.memory_index_note import write_memory_index_note
from commonplace.flows.ingest.sync import rebuild, sync
from commonplace.flows.ingest.watch import watch_vault
from commonplace.flows.stores import Session
from commonplace.index.base import Counts
from commonplace.memory.search import mode_named
from commonplace.model import Evaluation, Finding, Mode, Problem
from commonplace.model.layout import entry_digits
from commonplace.model.progress import Progress, ignore_progress


class IndexVerbs:
    """The index of one vault: derived from the notes, and rebuilt from them at any time."""

    def __init__(self, session: Session) -> None:
        self._session, self._stores = session, session.stores

    def sync(self, *, progress: Progress = ignore_progress) -> SyncReport:
        """Bring the index up to date with the vault. Raises VaultUnavailable, and IndexDamaged for a damaged index.

        Everything is found by words first; then the vectors follow, newest notes first. `progress` is called with what
        is counted ("notes", "conversations" or "texts"), how many are done, and how many there are.
        """
        report = sync(self._stores, progress=progress)
        write_memory_index_note(self._stores)
        return report

    def rebuild(self, *, progress: Progress = ignore_progress) -> SyncReport:
        """Build the index again from the notes, with the cached vectors. Repairs a damaged index.

        `progress` is called as by `sync`.
        """
        report = rebuild(self._stores, progress=progress)
        write_memory_index_note(self._stores)
        return report

    def watch(
        self, stop: threading.Event, *, heard: Callable[[SyncReport], None], progress: Progress = ignore_progress
    ) -> None:
        """Keep the index up to date until `stop` is set; `heard` is called after each indexed change.

        `progress` is called as by `sync`.
        """
        watch_vault(self._stores, stop, on_change=heard, progress=progress)

    def readiness(self) -> tuple[Mode, str]:
        """How a search would work now: "hybrid", or "words" and why. Starts loading the encoder in the background."""
        encoders = self._stores.encoders
        if encoders.current is None:
            return "words", encoders.missing
        if encoders.current.is_ready:
            return "hybrid", ""
        if encoders.warm():
            return "words", "the encoder is being loaded"
        failed = "the encoder cannot be loaded: `commonplace doctor` says why"
        return ("hybrid", "") if encoders.current.is_ready else ("words", failed)

    def is_loading(self) -> bool:
        """True while the encoder is being loaded; starts loading it in the background."""
        encoders = self._stores.encoders
        return encoders.current is not None and not encoders.current.is_ready and encoders.warm()

    def stats(self) -> Counts:
        """What the index holds."""
        with self._stores.index.reader() as reader:
            return reader.counts()

    def sizes(self) -> dict[str, int]:
        """The bytes on disk of everything that belongs to the vault outside of it: index, vectors and history."""
        return {
            "index": self.stats().size,
            "vectors": self._stores.cache.size(),
            "history": self._stores.history.size(),
        }

    def problems(self) -> tuple[Problem, ...]:
        """Every Problem of the indexed notes, with path and line; for a program, without those of sensitive entries."""
        hidden = self._session.hidden_entries()
        with self._stores.index.reader() as reader:
            return tuple(each for each in reader.problems() if entry_digits(each.path) not in hidden)

    def examine(self) -> tuple[Finding, ...]:
        """Everything that `commonplace doctor` checks."""
        return examine(self._stores)

    def evaluate(
        self,
        *,
        questions: int = 100,
        modes: Sequence[str] = (),
        seed: int = 0,
        progress: Progress = ignore_progress,
    ) -> Evaluation:
        """How well search finds notes by headings, aliases, link texts and definitions hidden from it.

        The same vault and seed give the same questions. They are asked in `modes`, by default hybrid, words, sense and
        rrf. `progress` counts "notes" and then "questions". Raises UsageError for an unknown mode, and if too few
        questions can be made.
        """
        plan = EvaluationPlan(questions, tuple(mode_named(mode) for mode in dict.fromkeys(modes or EVALUATED)), seed)
        return evaluate(self._stores, plan, progress=progress)


__all__ = ["Counts", "IndexVerbs", "SyncReport"]
