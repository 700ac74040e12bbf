"""Due jobs -> lease -> plan -> steps, one by one -> the log; what fails is tried again later, and then parked.

One job is run at a time in a vault, by whichever process takes its lease. A job that was due while nothing ran is run
once, however many of its times have passed. A failing job never stops another. After a run that was killed the index is
brought up to date first: what that run wrote last may not be in it.

    retry   a run that failed is tried again after 5 and 15 minutes; after the third failure in a row the job is parked
    parked  it waits until a person runs it (`commonplace jobs run NAME`); the person is told once
    model   while a model is away, jobs that need it wait; the person is told once, and once when it answers again
    caps    a run does at most as many steps as the job's cap, and changes at most a fifth of all entries
"""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta, tzinfo
from typing import Final

from commonplace.errors import CommonplaceError, ProviderFailed, Refused, VaultUnavailable
from commonplace.events import Level, emit
from commonplace.flows.ingest.memory_index_note import write_memory_index_note
from commonplace.flows.ingest.sync import sync
from commonplace.flows.stores import Session
from commonplace.index.base import FactQuery
from commonplace.model import Actor
from commonplace.model.layout import is_entry_path
from commonplace.model.moment import moment_text, parse_moment
from commonplace.model.upkeep import JobRecord, JobState, JobStatus, RunOutcome, Step, StepOutcome, StepResult
from commonplace.upkeep.job import Job, JobRun, Plan
from commonplace.upkeep.lease import HeldLease, hold_lease, is_held
from commonplace.upkeep.notices import tell, tell_about_models, tell_over
from commonplace.upkeep.options import JobOptions, SkillsOptions, UpkeepOptions, zone_of
from commonplace.upkeep.schedule import parse_schedule

FAILURES: Final = 3
"""Failed runs in a row after which a job is parked; also runs with failed steps after which its state moves on."""
FAILED_STEPS: Final = 5
"""Failed steps in a row that end a run: the next one would hardly fare better."""
FIRST_WAIT: Final = timedelta(minutes=5)
"""Until a failed run is tried again; three times as long after each further failure."""
MODEL_WAIT: Final = timedelta(minutes=30)
"""Until a job that waits for a model is tried again; a model that says when it can be asked is believed."""
VAULT_WAIT: Final = timedelta(minutes=10)
"""Until a job is tried again after the vault could not be used."""
MOST_SHARE: Final = 0.2
"""The share of all entries that one run may change: more at once is rather a fault than a finding."""
LEAST_STEPS: Final = 20
"""Steps that a run may do however few entries there are."""
_LONGEST_WAIT: Final = timedelta(hours=6)

Stops = Callable[[], bool]


@dataclass(frozen=True, slots=True)
class Upkeep:
    """Everything that runs jobs: the jobs, their settings, and the session of whoever runs them."""

    jobs: Sequence[Job]
    options: UpkeepOptions
    session: Session
    skills: SkillsOptions = field(default_factory=SkillsOptions)
    zone: tzinfo = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "zone", zone_of(self.options))

    def options_of(self, job: Job) -> JobOptions:
        """The settings block of the job: of a skill, that in `skills`."""
        return self.skills.of(job.name) or self.options.of(job.name)

    def is_enabled(self, job: Job) -> bool:
        """True if the job runs on its schedule."""
        return self.options.enabled and self.options_of(job).enabled and job.is_wanted(self.session)

    def schedule_of(self, job: Job) -> str:
        """When the job runs: by the settings, else by itself."""
        return self.options_of(job).schedule or job.schedule

    def due_at(self, job: Job, state: JobState | None, *, now: datetime) -> datetime | None:
        """When the job runs next, in the past if it is overdue; None if it is disabled or parked."""
        if not self.is_enabled(job) or (state and state.is_parked):
            return None
        if state and state.retry_at:
            return parse_moment(state.retry_at)
        since = min(parse_moment(state.since), now) if state and state.since else now  # the clock may have been ahead
        return parse_schedule(self.schedule_of(job)).next_after(since, self.zone)

    def statuses(self) -> tuple[JobStatus, ...]:
        """Every job, its next run and its last one: the one that runs next first, those without a next run last."""
        history, now = self.session.stores.history, self.session.clock()
        states = history.job_states()
        listed = [self._status(job, states.get(job.name), now=now) for job in self.jobs]
        return tuple(sorted(listed, key=lambda each: (not each.next, each.next)))

    def status(self, job: Job) -> JobStatus:
        """That job, its next run and its last one."""
        state = self.session.stores.history.job_states().get(job.name)
        return self._status(job, state, now=self.session.clock())

    def due(self) -> tuple[Job, ...]:
        """The jobs that are due; one that is seen for the first time is due at its next time."""
        history, now = self.session.stores.history, self.session.clock()
        states = history.job_states()
        due = []
        for job in self.jobs:
            state = states.get(job.name)
            if state is None and self.is_enabled(job):
                history.save_job_state(JobState(job=job.name, since=moment_text(now)))
            at = self.due_at(job, state, now=now)
            if at is not None and at <= now:
                due.append(job)
        return tuple(due)

    def run_due(self, *, stops: Stops = lambda: False) -> tuple[JobRecord, ...]:
        """Run every job that is due, one after another, until `stops`. One that another process runs is left out."""
        records = []
        for job in self.due():
            if stops():
                break
            try:
                record = self._run_if_due(job, stops=stops)
            except VaultUnavailable as error:  # another process runs it, or the history is locked
                emit("job_not_run", job=job.name, said=error.message)
                continue
            records += [record] if record else []
        tell_about_models(self.session, is_needed=any(each.outcome == "waiting" for each in records))
        return tuple(records)

    def plan(self, job: Job) -> JobRecord:
        """What a run would do now, as the record of a run that changed nothing. Raises what planning raises."""
        now = self.session.clock()
        state = self.session.stores.history.job_states().get(job.name, JobState(job=job.name))
        plan = self.within_caps(job, job.plan(self.job_run(job, state, now=now, stops=lambda: False, is_dry=True)))
        steps = tuple(StepResult(step=step, outcome="unchanged", reason="dry run") for step in plan.steps)
        planned = len(steps) + plan.left
        return JobRecord(
            job=job.name,
            began=moment_text(now),
            ended=moment_text(now),
            outcome="done",
            said=plan.said,
            planned=planned,
            left=plan.left,
            steps=steps,
        )

    def run(self, job: Job, *, stops: Stops = lambda: False) -> JobRecord:
        """Run a job now; returns the run as the log has it. Raises VaultUnavailable if another process runs it."""
        history, now = self.session.stores.history, self.session.clock()
        with hold_lease(job.name, history, seconds=job.seconds, now=now) as lease:
            return self._run_leased(job, lease, now=now, stops=stops)

    def _run_if_due(self, job: Job, *, stops: Stops) -> JobRecord | None:
        """Run a job unless another process has run it since it was due; None then. Raises VaultUnavailable."""
        history, now = self.session.stores.history, self.session.clock()
        with hold_lease(job.name, history, seconds=job.seconds, now=now) as lease:
            due_at = self.due_at(job, history.job_states().get(job.name), now=now)
            return self._run_leased(job, lease, now=now, stops=stops) if due_at and due_at <= now else None

    def _run_leased(self, job: Job, lease: HeldLease, *, now: datetime, stops: Stops) -> JobRecord:
        history = self.session.stores.history
        number = history.begin_run(job.name, now=now)
        state = history.job_states().get(job.name, JobState(job=job.name))
        record = _Run(self, job, number=number, state=state, now=now, lease=lease, ends=stops).perform()
        self._tell(record, was_parked=state.is_parked)
        return record

    def _tell(self, record: JobRecord, *, was_parked: bool) -> None:
        stores, key = self.session.stores, f"job:{record.job}"
        if stores.history.job_states()[record.job].is_parked:
            said = f"The job {record.job} failed {FAILURES} times in a row and is parked: {record.said}"
            tell(key, said, stores)
        elif was_parked:
            tell_over(key, f"The job {record.job} works again.", stores)

    def _status(self, job: Job, state: JobState | None, *, now: datetime) -> JobStatus:
        history = self.session.stores.history
        at = self.due_at(job, state, now=now)
        last = next(iter(history.job_runs(name=job.name, limit=1)), None)
        return JobStatus(
            name=job.name,
            about=job.about,
            schedule=self.schedule_of(job),
            is_enabled=self.is_enabled(job),
            is_due=at is not None and at <= now,
            is_running=is_held(job.name, history, now=now),
            is_parked=bool(state and state.is_parked),
            next=moment_text(at) if at else "",
            failures=state.failures if state else 0,
            reason=state.reason if state else "",
            last=replace(last, steps=()) if last else None,
        )

    def job_run(self, job: Job, state: JobState, *, now: datetime, stops: Stops, is_dry: bool) -> JobRun:
        """What the job is given: it acts as itself, at one moment."""
        session = self.session.as_actor(Actor("job", job.name)).at(now)
        return JobRun(session, state.values, self.zone, is_dry, stops, self.options, self.skills)

    def within_caps(self, job: Job, plan: Plan) -> Plan:
        """The plan with no more steps than the cap, and than the share of all entries that one run may change."""
        most = job.most_steps
        changed = [] if job.keeps_words else [step for step in plan.steps if _is_entry(step)]
        if len(changed) > LEAST_STEPS:
            most = min(most, max(LEAST_STEPS, math.ceil(MOST_SHARE * self._count_entries())))
        if len(plan.steps) <= most:
            return plan
        left = len(plan.steps) - most
        emit("job_capped", level="warning", job=job.name, planned=len(plan.steps), cap=most)
        said = f"{len(plan.steps)} steps were planned, more than one run may do ({most}); {left} are left for the next"
        return replace(plan, steps=plan.steps[:most], left=plan.left + left, state=None, said=_joined(plan.said, said))

    def _count_entries(self) -> int:
        with self.session.stores.index.reader() as reader:
            return len(reader.facts(FactQuery(origins=("entry",))))


class _Run:
    """One run of one job, under its lease."""

    def __init__(
        self, upkeep: Upkeep, job: Job, *, number: int, state: JobState, now: datetime, lease: HeldLease, ends: Stops
    ) -> None:
        self._upkeep, self._job, self._number, self._state, self._now = upkeep, job, number, state, now
        self._lease, self._ends = lease, ends
        self._history = upkeep.session.stores.history
        self._clock = upkeep.session.stores.clock
        self._start = time.monotonic()
        self._plan = Plan()
        self._tried = 0
        self._outcomes: list[StepOutcome] = []
        self._reasons: list[str] = []

    def perform(self) -> JobRecord:
        """Plan, do the steps, and store how it ended; whatever happens is an outcome."""
        emit("job_started", level="debug", job=self._job.name, number=self._number)
        outcome, said, wait = self._outcome()
        record = JobRecord(
            job=self._job.name,
            began=moment_text(self._now),
            ended=moment_text(self._clock()),
            outcome=outcome,
            said=_joined(self._plan.said, said),
            planned=len(self._plan.steps) + self._plan.left,
            left=self._plan.left + len(self._plan.steps) - self._tried,
            seconds=round(time.monotonic() - self._start, 3),
            number=self._number,
        )
        self._history.end_run(record, state=self._next_state(outcome, said, wait=wait), now=self._now)
        level: Level = "warning" if outcome in ("failed", "partial") else "info"
        emit("job_run", level=level, job=record.job, outcome=outcome, said=record.said, seconds=record.seconds)
        steps = self._history.job_runs(name=self._job.name, limit=1)[0].steps
        return replace(record, steps=steps)

    def _outcome(self) -> tuple[RunOutcome, str, timedelta]:
        """How the run ends, what is said of it, and how long to wait before it is tried again."""
        try:
            with self._upkeep.session.stores.vault.transaction():  # it is there, and mended after a crash
                pass
            if self._was_killed():  # what it wrote last may not be in the index
                sync(self._upkeep.session.stores)
                write_memory_index_note(self._upkeep.session.stores)
            run = self._upkeep.job_run(self._job, self._state, now=self._now, stops=self._stops, is_dry=False)
            self._plan = self._upkeep.within_caps(self._job, self._job.plan(run))
            return self._do_steps(run)
        except ProviderFailed as error:
            wait = min(_LONGEST_WAIT, max(MODEL_WAIT, timedelta(seconds=error.retry_after)))
            return "waiting", str(error), wait
        except VaultUnavailable as error:
            return "skipped", str(error), VAULT_WAIT
        except Exception as error:  # noqa: BLE001 (the job runner: whatever it is, the other jobs go on)
            emit("job_broke", level="warning", job=self._job.name, exc_info=error)
            return "failed", _said_of(error), self._retry_wait

    def _was_killed(self) -> bool:
        runs = self._history.job_runs(name=self._job.name, limit=2)
        return len(runs) > 1 and runs[1].outcome == "killed"

    def _do_steps(self, run: JobRun) -> tuple[RunOutcome, str, timedelta]:
        failed_in_a_row = 0
        for step in self._plan.steps:
            if self._ends():
                return "stopped", "it was asked to end", timedelta(0)
            if self._stops():
                return "stopped", f"the time limit of {self._job.seconds:g} seconds was over", timedelta(0)
            if not self._lease.renew(self._clock()):
                return "stopped", "another process took over", timedelta(0)
            result = self._do(step, run)
            self._tried += 1
            failed_in_a_row = failed_in_a_row + 1 if result.outcome == "failed" else 0
            if failed_in_a_row >= FAILED_STEPS and not self._job.retries_steps:
                return "failed", f"{FAILED_STEPS} steps in a row failed: {result.reason}", self._retry_wait
        return self._summary()

    def _do(self, step: Step, run: JobRun) -> StepResult:
        """Do one step and log it. What it raises is its outcome, except a vault or a model that is away."""
        try:
            result = self._job.apply(step, run)
        except (ProviderFailed, VaultUnavailable):
            raise  # the step is not to blame, and the next would fare no better
        except Refused as error:
            result = StepResult(step=step, outcome="refused", reason=error.message)
        except Exception as error:  # noqa: BLE001 (the job runner: whatever it is, the other steps go on)
            emit("step_failed", level="warning", job=self._job.name, action=step.action, exc_info=error)
            result = StepResult(step=step, outcome="failed", reason=_said_of(error))
        self._history.add_step(self._number, result)
        self._outcomes.append(result.outcome)
        if result.outcome == "failed":
            self._reasons.append(result.reason)
        return result

    def _summary(self) -> tuple[RunOutcome, str, timedelta]:
        counts = [f"{self._outcomes.count(each)} {each}" for each in dict.fromkeys(self._outcomes)]
        said = ", ".join(counts) or ("" if self._plan.said else "nothing to do")
        if not self._reasons:
            return "done", said, timedelta(0)
        said = f"{said}: {self._reasons[0]}"
        if len(self._reasons) == len(self._outcomes) and not self._job.retries_steps:
            return "failed", said, self._retry_wait
        return "partial", said, timedelta(0)

    @property
    def _retry_wait(self) -> timedelta:
        return min(_LONGEST_WAIT, FIRST_WAIT * int(3 ** min(self._state.failures, FAILURES)))

    def _next_state(self, outcome: RunOutcome, said: str, *, wait: timedelta) -> JobState:
        """What is kept for the next run: its own values if it got through, and when it is tried again."""
        state, now = self._state, self._clock()
        failures = state.failures + 1 if outcome in ("failed", "partial") else state.failures
        is_through = outcome == "done" or (outcome == "partial" and (failures >= FAILURES or self._job.retries_steps))
        is_parked = outcome == "failed" and failures >= FAILURES
        ended = self._ends() and outcome == "stopped"
        if is_through:
            failures = 0
        return JobState(
            job=state.job,
            values=self._plan.state if is_through and self._plan.state is not None else state.values,
            since=state.since if ended or outcome in ("waiting", "skipped") else moment_text(self._now),
            failures=failures,
            reason="" if outcome == "done" else said,
            retry_at=moment_text(now + wait) if wait and not is_parked else "",
            is_parked=is_parked,
        )

    def _stops(self) -> bool:
        return self._ends() or time.monotonic() - self._start >= self._job.seconds


def _is_entry(step: Step) -> bool:
    """True if the step is about an entry, by its id or its path."""
    return not step.subject.endswith(".md") or is_entry_path(step.subject)


def _said_of(error: Exception) -> str:
    return error.message if isinstance(error, CommonplaceError) else f"unexpected {type(error).__name__}"


def _joined(*said: str) -> str:
    return "; ".join(filter(None, said))
