"""What was learned, and scheduled jobs, in dictionaries, lost with the process."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from commonplace.history.base import ERASED, RUN_DAYS, check_limit, stored_moment, utc_second
from commonplace.history.inmemory.conversations import InMemoryUsage
from commonplace.history.normalize import valid_utf8
from commonplace.model import Thread
from commonplace.model.learning import ExtractedFact, Extraction, LearnedBatch, LearnedItem, LearningState
from commonplace.model.upkeep import JobLease, JobNotice, JobRecord, JobState, StepResult


@dataclass(slots=True)
class _StoredItem:
    item: LearnedItem
    candidate: ExtractedFact | None = None


class InMemoryLearning(InMemoryUsage):
    """What was learned, beside the conversations it was learned from."""

    def __init__(self) -> None:
        super().__init__()
        self._learning: dict[str, LearningState] = {}
        self._batches: list[tuple[str, LearnedBatch]] = []  # with their times
        self._items: dict[int, _StoredItem] = {}
        self._last_item = 0

    def due_conversations(self, *, now: datetime, silent_since: datetime) -> tuple[str, ...]:
        """Ids of conversations with messages that were not read, closed or silent since then; oldest first."""
        at, silent = stored_moment(now), utc_second(silent_since)
        with self._lock:
            threads = sorted((each.thread for each in self._threads.values()), key=lambda each: each.updated)
            return tuple(
                each.id
                for each in threads
                if _may_be_read(each)
                and (each.closed is not None or each.updated <= silent)
                and self._has_more(each, now=at)
            )

    def learning_states(self, sources: Iterable[str] | None = None) -> Mapping[str, LearningState]:
        """How far these sources were learned, or all that were tried."""
        with self._lock:
            names = sorted(self._learning if sources is None else {*map(valid_utf8, sources)})
            return {name: self._learning[name] for name in names if name in self._learning}

    def save_learning_state(self, state: LearningState) -> None:
        """Store the state of a source, replacing the earlier one."""
        source = valid_utf8(state.source)
        with self._lock:
            self._learning[source] = replace(state, source=source, reason=valid_utf8(state.reason))

    def begin_learning(self, batch: LearnedBatch, *, now: datetime) -> bool:
        """Store what was extracted and how far the source was read; False if that is no longer as the batch says."""
        source, at = valid_utf8(batch.source), stored_moment(now)
        state = LearningState(source=source, turns=batch.until, stamp=batch.stamp, paragraphs=batch.paragraphs)
        with self._lock:
            stored, known = self._threads.get(source), self._learning.get(source)
            has_turns = stored is not None and stored.thread.count >= batch.until
            if not state.is_note and not (has_turns and (known.turns if known else 0) == batch.after):
                return False
            self._learning[source] = state
            self._batches.append((at, replace(batch, source=source, extraction=_without_items(batch.extraction))))
            for fact in batch.extraction.facts:
                item = LearnedItem(source=source, text=fact.text, outcome="pending", quote=fact.quote, turn=fact.turn)
                self._add_item(item, fact, extractor=batch.extractor, at=at)
            for each in batch.extraction.rejections:
                item = LearnedItem(
                    source=source, text=each.text, outcome="rejected", reason=each.reason, turn=each.turn
                )
                self._add_item(item, None, extractor=batch.extractor, at=at)
        return True

    def pending_items(self) -> tuple[tuple[LearnedItem, ExtractedFact], ...]:
        """The items that were extracted and not settled, oldest first."""
        with self._lock:
            stored = [*self._items.values()]
        return tuple((each.item, each.candidate) for each in stored if each.candidate)

    def settle_item(self, item: LearnedItem, *, now: datetime) -> None:
        """Store the outcome of the item with that number; its candidate is no longer needed."""
        with self._lock:
            if stored := self._items.get(item.number):
                stored.item = replace(
                    stored.item,
                    outcome=item.outcome,
                    reason=valid_utf8(item.reason),
                    fact=item.fact,
                    old=item.old,
                    at=stored_moment(now),
                )
                stored.candidate = None

    def add_learned_item(self, item: LearnedItem, *, now: datetime) -> None:
        """Store an item that was settled at once, as a part of the source's last batch."""
        source = valid_utf8(item.source)
        with self._lock:
            last = next((batch for _, batch in reversed(self._batches) if batch.source == source), None)
            if last:
                named = replace(item, source=source)
                self._add_item(named, None, extractor=last.extractor, at=stored_moment(now))

    def learned_items(
        self, *, source: str | None = None, since: datetime | None = None, limit: int | None = None
    ) -> tuple[LearnedItem, ...]:
        """Items of that source since that time; newest first, at most `limit`."""
        check_limit(limit)
        start, name = stored_moment(since) if since else "", None if source is None else valid_utf8(source)
        with self._lock:
            items = [each.item for each in reversed(self._items.values())]
        matching = (each for each in items if each.at >= start and name in (None, each.source))
        return tuple(matching)[:limit]

    def learned_batches(self, source: str | None = None, *, since: datetime | None = None) -> tuple[LearnedBatch, ...]:
        """What was extracted from that source, or from all, since that time; oldest first."""
        start, name = stored_moment(since) if since else "", None if source is None else valid_utf8(source)
        with self._lock:
            batches = [*self._batches]
        return tuple(
            replace(batch, stamp="", paragraphs=())
            for at, batch in batches
            if at >= start and name in (None, batch.source)
        )

    def forget_learned(self, facts: Iterable[str]) -> int:
        """Remove the items about these facts; returns how many."""
        forgotten = {*facts}
        with self._lock:
            numbers = [
                number for number, each in self._items.items() if forgotten & ({each.item.fact, each.item.old} - {""})
            ]
            for number in numbers:
                del self._items[number]
        return len(numbers)

    def forget_learning(self, source: str) -> None:
        """Remove everything about that source."""
        self._forget_sources((source,))

    def forget_conversation(self, id: str) -> bool:
        """Remove the conversation and what was learned from it; False if there was none."""
        self._forget_sources((id,))
        return super().forget_conversation(id)

    def _forget_sources(self, sources: Iterable[str]) -> None:
        names = {*map(valid_utf8, sources)}
        with self._lock:
            self._learning = {name: state for name, state in self._learning.items() if name not in names}
            self._batches = [(at, batch) for at, batch in self._batches if batch.source not in names]
            self._items = {number: each for number, each in self._items.items() if each.item.source not in names}

    def _has_more(self, thread: Thread, *, now: str) -> bool:
        """True if the conversation has messages that were not read, and nothing hinders reading them."""
        state = self._learning.get(thread.id, LearningState(source=thread.id))
        return thread.count > state.turns and not state.is_parked and state.retry_at <= now

    def _add_item(self, item: LearnedItem, candidate: ExtractedFact | None, *, extractor: str, at: str) -> None:
        self._last_item += 1
        stored = replace(
            item,
            text=valid_utf8(item.text),
            quote=valid_utf8(item.quote),
            reason=valid_utf8(item.reason),
            extractor=valid_utf8(extractor),
            at=at,
            number=self._last_item,
        )
        self._items[self._last_item] = _StoredItem(stored, candidate)


def _may_be_read(thread: Thread) -> bool:
    """True for a conversation of which memory may learn, and for a correction that no conversation has."""
    is_read = thread.kind == "chat" or (thread.kind == "correction" and not thread.parent)
    return thread.is_eligible and is_read


def _without_items(extraction: Extraction) -> Extraction:
    return replace(extraction, facts=(), rejections=())


class InMemoryJobs(InMemoryLearning):
    """Leases, states, runs and notices of scheduled jobs."""

    def __init__(self) -> None:
        super().__init__()
        self._leases: dict[str, JobLease] = {}
        self._job_states: dict[str, JobState] = {}
        self._runs: dict[int, JobRecord] = {}
        self._last_run = 0
        self._notices: dict[str, JobNotice] = {}

    def take_lease(self, lease: JobLease, *, now: datetime, replaces: str = "") -> bool:
        """True if the lease is now ours: nobody held it, it was ours, had expired, or `replaces` held it."""
        with self._lock:
            present = self._leases.get(lease.job)
            may_take = not present or present.until <= stored_moment(now) or present.owner in (lease.owner, replaces)
            if may_take:
                self._leases[lease.job] = lease
            return may_take

    def job_lease(self, job: str) -> JobLease | None:
        """The lease of that job, expired or not; None if nobody has it."""
        with self._lock:
            return self._leases.get(job)

    def end_lease(self, lease: JobLease) -> None:
        """Give the lease back; one that somebody else took over stays."""
        with self._lock:
            present = self._leases.get(lease.job)
            if present and present.owner == lease.owner:
                del self._leases[lease.job]

    def job_states(self) -> Mapping[str, JobState]:
        """The states of all jobs that have one, by name."""
        with self._lock:
            return {name: self._job_states[name] for name in sorted(self._job_states)}

    def save_job_state(self, state: JobState) -> None:
        """Store the state of a job, replacing the earlier one."""
        values: dict[str, Any] = json.loads(valid_utf8(json.dumps(dict(state.values), ensure_ascii=False)))
        with self._lock:
            self._job_states[state.job] = replace(state, values=values, reason=valid_utf8(state.reason))

    def begin_run(self, job: str, *, now: datetime) -> int:
        """Add a run to the log, and mark those of that job that never ended as killed; returns its number."""
        at = stored_moment(now)
        with self._lock:
            for number, record in self._runs.items():
                if record.job == job and record.outcome == "running":
                    self._runs[number] = replace(record, outcome="killed", ended=at)
            self._last_run += 1
            self._runs[self._last_run] = JobRecord(job=job, began=at, number=self._last_run)
            return self._last_run

    def add_step(self, run: int, result: StepResult) -> None:
        """Add what became of a step to a run; nothing if the run is gone."""
        step = replace(
            result.step,
            action=valid_utf8(result.step.action),
            subject=valid_utf8(result.step.subject),
            said=valid_utf8(result.step.said),
            values={},
        )
        with self._lock:
            if record := self._runs.get(run):
                stored = replace(result, step=step, reason=valid_utf8(result.reason))
                self._runs[run] = replace(record, steps=(*record.steps, stored))

    def end_run(self, record: JobRecord, *, state: JobState | None = None, now: datetime) -> None:
        """Store how a run ended, and the job's state with it; drops runs older than RUN_DAYS."""
        oldest = stored_moment(now - timedelta(days=RUN_DAYS))
        if state:
            self.save_job_state(state)
        with self._lock:
            present = self._runs.get(record.number)
            if present and present.outcome == "running":
                self._runs[record.number] = replace(
                    record, job=present.job, began=present.began, steps=present.steps, said=valid_utf8(record.said)
                )
            self._runs = {number: each for number, each in self._runs.items() if each.began >= oldest}

    def job_runs(
        self, *, name: str | None = None, since: datetime | None = None, limit: int | None = None
    ) -> tuple[JobRecord, ...]:
        """Runs of that job since that time with their steps; newest first, at most `limit`."""
        check_limit(limit)
        start = stored_moment(since) if since else ""
        with self._lock:
            newest_first = [*reversed(self._runs.values())]
        return tuple(each for each in newest_first if name in (None, each.job) and each.began >= start)[:limit]

    def raise_notice(self, notice: JobNotice) -> bool:
        """Store a notice; False if one with that key is there already, which stays as it is."""
        with self._lock:
            stored = replace(notice, said=valid_utf8(notice.said))
            return self._notices.setdefault(notice.key, stored) is stored

    def clear_notice(self, key: str) -> bool:
        """Remove the notice with that key; False if there was none."""
        with self._lock:
            return self._notices.pop(key, None) is not None

    def job_notices(self) -> tuple[JobNotice, ...]:
        """The notices that stand, oldest first."""
        with self._lock:
            return tuple(sorted(self._notices.values(), key=lambda each: (each.at, each.key)))

    def forget_learned(self, facts: Iterable[str]) -> int:
        """Remove the items about these facts, and what jobs did with them; returns how many items."""
        names = [*facts]
        self._forget_steps(names)
        return super().forget_learned(names)

    def _forget_sources(self, sources: Iterable[str]) -> None:
        names = [*sources]
        self._forget_steps(names)
        super()._forget_sources(names)

    def _forget_steps(self, names: Iterable[str]) -> None:
        """Remove the steps about these paths and ids, and the words that name them elsewhere."""
        listed = [valid_utf8(name) for name in names if name]
        with self._lock:
            self._runs = {number: _without(record, listed) for number, record in self._runs.items()}
            for job, state in self._job_states.items():
                text = json.dumps(dict(state.values), ensure_ascii=False)
                for name in listed:
                    text = text.replace(json.dumps(name, ensure_ascii=False)[1:-1], ERASED)
                self._job_states[job] = replace(state, values=json.loads(text))


def _without(record: JobRecord, names: list[str]) -> JobRecord:
    """The run without the steps about these names, and without the words that name them."""
    steps = tuple(
        replace(each, step=replace(each.step, said=ERASED), reason="")
        if any(name in f"{each.step.said}\n{each.reason}" for name in names)
        else each
        for each in record.steps
        if each.step.subject not in names
    )
    said = ERASED if any(name in record.said for name in names) else record.said
    return replace(record, steps=steps, said=said)
