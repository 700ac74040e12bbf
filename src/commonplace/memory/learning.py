"""The verbs on learning: run, learn, status, spending, log, retry, extractions; mark and unmark notes as sources."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, tzinfo
from typing import TYPE_CHECKING

from commonplace.errors import UsageError
from commonplace.flows.conversations import find_thread
from commonplace.flows.learn.learn import learn_conversation
from commonplace.flows.learn.marked_notes import learn_note, mark_note
from commonplace.flows.learn.model_calls import SpendingReport, spending_report
from commonplace.flows.learn.queue import learning_status, retry_learning, run_daily, run_learning
from commonplace.flows.stores import Session
from commonplace.history.base import TaskSpending
from commonplace.model import Changed
from commonplace.model.learning import (
    LEARN_OUTCOMES,
    HostQuestion,
    LearnedBatch,
    LearnedItem,
    LearningRun,
    LearningStatus,
    LearnResult,
)
from commonplace.model.progress import Progress, ignore_progress
from commonplace.model.request import When
from commonplace.questions.time_arguments import start_of

if TYPE_CHECKING:
    from commonplace.llm.base import LanguageModel

__all__ = ["Learning", "SpendingReport", "TaskSpending"]


class Learning:
    """Learning from the conversations and the marked notes of one vault, for one actor."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def run(
        self,
        *,
        limit: int | None = None,
        waits: bool = True,
        dry_run: bool = False,
        progress: Progress = ignore_progress,
    ) -> LearningRun:
        """Learn from every conversation and marked note that is due, the oldest first, at most `limit` of them.

        Due is a conversation with new messages that was closed, or silent for `learn.silent_minutes`; without `waits`,
        any with new messages. Facts are saved as every entry is: what is doubtful waits for review. With `dry_run`
        nothing is written. Raises UsageError, VaultUnavailable and IndexDamaged.
        """
        if limit is not None and limit < 1:
            raise UsageError(f"limit must be at least 1, not {limit}", hint="Leave it out to read everything.")
        return run_learning(self._session, limit=limit, waits=waits, dry_run=dry_run, progress=progress)

    def run_daily(self, *, stops: Callable[[], bool] = lambda: False) -> LearningRun:
        """Learn as the daemon does: within the limits of the settings for one run and for one day, until `stops`."""
        return run_daily(self._session, stops=stops)

    def learn(self, source: str, *, model: "LanguageModel | None" = None, dry_run: bool = False) -> LearnResult:
        """Learn from one conversation or marked note now: from its new messages, or its new paragraphs.

        `source` is the id of a conversation, its beginning, or the path of a note. Another `model` replaces the one of
        the settings. With `dry_run` nothing is written. Raises NotFound, Refused if memory may not learn from it, and
        ProviderFailed.
        """
        if source.endswith(".md"):
            return learn_note(source, self._session, model=model, dry_run=dry_run)
        return learn_conversation(source, self._session, model=model, dry_run=dry_run)

    def learn_by_host(self, source: str, *, host: str, answers: Mapping[str, str]) -> LearnResult | HostQuestion:
        """Learn from one conversation by the model of the agent's host, which the host asks for us: first its question.

        Call it again with the answer by the question's key. Settings that name a model come first, and a conversation
        that we read ourselves is not left to the host: then it is learned as by `learn`, which raises the same errors.
        """
        from commonplace.llm.host_model import HostAnswerNeeded, HostModel

        thread = find_thread(source, self._session)
        if self._session.stores.models.route("extract") or not thread.is_claim:
            return learn_conversation(thread.id, self._session)
        try:
            return learn_conversation(thread.id, self._session, model=HostModel(host, answers=answers))
        except HostAnswerNeeded as needed:
            return needed.question

    def status(self) -> LearningStatus:
        """What is due, what failed or is parked and why, and what was learned today. Raises IndexDamaged."""
        return learning_status(self._session)

    def spending(self, *, days: int = 30) -> SpendingReport:
        """What language models cost in the last `days` UTC days, by day and task, and what is left of today's budget.

        Raises UsageError for fewer than one day.
        """
        if days < 1:
            raise UsageError(f"days must be at least 1, not {days}", hint="1 is today alone.")
        return spending_report(self._session, days=days)

    def log(
        self,
        *,
        source: str | None = None,
        outcomes: Sequence[str] = (),
        since: When = None,
        limit: int | None = None,
        zone: tzinfo = UTC,
    ) -> tuple[LearnedItem, ...]:
        """What became of every item that was extracted, newest first: stored, staged, confirmed, rejected and why.

        `source` is a conversation's id or a note's path. Raises UsageError for an unknown outcome.
        """
        if unknown := {*outcomes} - {*LEARN_OUTCOMES}:
            raise UsageError(f"no such outcome: {min(unknown)}", hint=f"Outcomes: {', '.join(LEARN_OUTCOMES)}.")
        since = start_of(since, now=self._session.clock(), zone=zone)
        history = self._session.stores.history
        every = history.learned_items(source=source, since=since, limit=None if outcomes else limit)
        return tuple(each for each in every if not outcomes or each.outcome in outcomes)[:limit]

    def extractions(self, source: str) -> tuple[LearnedBatch, ...]:
        """What else was extracted from a conversation: summaries, mentions, open questions, commitments."""
        return self._session.stores.history.learned_batches(source)

    def retry(self) -> int:
        """Try again at the next run what failed or was parked; returns how many sources that are."""
        return retry_learning(self._session)

    def mark(self, path: str, *, dry_run: bool = False) -> Changed:
        """Mark a note as a source of memory (`memory: source`). Only a person may. Raises Refused and NotFound."""
        return mark_note(path, self._session, is_source=True, dry_run=dry_run)

    def unmark(self, path: str, *, dry_run: bool = False) -> Changed:
        """Take the mark away; what was learned stays. Only a person may. Raises Refused and NotFound."""
        return mark_note(path, self._session, is_source=False, dry_run=dry_run)
