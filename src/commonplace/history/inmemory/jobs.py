"""Scheduled jobs in dictionaries, lost with the process."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from commonplace.history.base import ERASED, RUN_DAYS, check_limit, stored_moment
from commonplace.history.inmemory.learning import InMemoryLearning
from commonplace.history.normalize import valid_utf8
from commonplace.model.upkeep import JobLease, JobNotice, JobRecord, JobState, StepResult


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
