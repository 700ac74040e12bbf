"""Scheduled jobs in SQL: the tables `job_leases`, `job_states`, `job_runs`, `job_steps` and `job_notices`."""

import json
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from commonplace.history.base import ERASED, RUN_DAYS, check_limit, stored_moment
from commonplace.history.normalize import valid_utf8
from commonplace.history.sql.learning import SqlLearning
from commonplace.history.sql.transaction import ALL_ROWS, SqlTransaction, first_row
from commonplace.model.upkeep import JobLease, JobNotice, JobRecord, JobState, Step, StepResult

_TAKE_LEASE: Final = """
INSERT INTO job_leases ({tenant} job, owner, boot, process, until)
VALUES ({:tenant} :job, :owner, :boot, :process, :until)
ON CONFLICT ({tenant} job) DO UPDATE SET owner = excluded.owner, boot = excluded.boot, process = excluded.process,
  until = excluded.until
WHERE job_leases.until <= :now OR job_leases.owner IN (:owner, :replaces)
"""
_LEASE: Final = "SELECT job, owner, boot, process, until FROM job_leases WHERE {mine} AND job = :job"
_END_LEASE: Final = "DELETE FROM job_leases WHERE {mine} AND job = :job AND owner = :owner"
_STATES: Final = """
SELECT job, state, since, failures, reason, retry_at, is_parked FROM job_states WHERE {mine} ORDER BY job
"""
_SAVE_STATE: Final = """
INSERT INTO job_states ({tenant} job, state, since, failures, reason, retry_at, is_parked)
VALUES ({:tenant} :job, :state, :since, :failures, :reason, :retry_at, :is_parked)
ON CONFLICT ({tenant} job) DO UPDATE SET state = excluded.state, since = excluded.since, failures = excluded.failures,
  reason = excluded.reason, retry_at = excluded.retry_at, is_parked = excluded.is_parked
"""
_BEGIN_RUN: Final = """
INSERT INTO job_runs ({tenant} job, began, outcome, ended, said, planned, left_over, seconds)
VALUES ({:tenant} :job, :began, 'running', '', '', 0, 0, 0.0) RETURNING number
"""
_KILLED: Final = (
    "UPDATE job_runs SET outcome = 'killed', ended = :now WHERE {mine} AND job = :job AND outcome = 'running'"
)
_END_RUN: Final = """
UPDATE job_runs SET outcome = :outcome, ended = :ended, said = :said, planned = :planned, left_over = :left,
  seconds = :seconds
WHERE {mine} AND number = :number AND outcome = 'running'
"""
_DROP_STEPS: Final = """
DELETE FROM job_steps WHERE {mine} AND run IN (SELECT number FROM job_runs WHERE {mine} AND began < :oldest)
"""
_DROP_RUNS: Final = "DELETE FROM job_runs WHERE {mine} AND began < :oldest"
_ADD_STEP: Final = """
INSERT INTO job_steps ({tenant} run, action, subject, said, outcome, in_commit, review, reason)
SELECT {:tenant} :run, :action, :subject, :said, :outcome, :commit, :review, :reason FROM job_runs
WHERE {mine} AND number = :run
"""
_RUNS: Final = """
SELECT number, job, began, outcome, ended, said, planned, left_over, seconds FROM job_runs
WHERE {mine} AND (CAST(:job AS text) IS NULL OR job = :job) AND (CAST(:since AS text) IS NULL OR began >= :since)
ORDER BY number DESC LIMIT :limit
"""
_STEPS: Final = """
SELECT run, action, subject, said, outcome, in_commit, review, reason FROM job_steps
WHERE {mine} AND run IN (SELECT CAST(value AS bigint) FROM json_each(:runs)) ORDER BY number
"""
_RAISE_NOTICE: Final = """
INSERT INTO job_notices ({tenant} key, said, at) VALUES ({:tenant} :key, :said, :at) ON CONFLICT DO NOTHING
"""
_CLEAR_NOTICE: Final = "DELETE FROM job_notices WHERE {mine} AND key = :key"
_NOTICES: Final = "SELECT key, said, at FROM job_notices WHERE {mine} ORDER BY at, key"
_STEPS_ABOUT: Final = """
DELETE FROM job_steps WHERE {mine} AND subject IN (SELECT value FROM json_each(:names))
"""
_REDACT_STEPS: Final = """
UPDATE job_steps SET said = :erased, reason = ''
WHERE {mine} AND EXISTS
  (SELECT 1 FROM json_each(:names) WHERE value <> '' AND (instr(said, value) > 0 OR instr(reason, value) > 0))
"""
_REDACT_RUNS: Final = """
UPDATE job_runs SET said = :erased
WHERE {mine} AND EXISTS (SELECT 1 FROM json_each(:names) WHERE value <> '' AND instr(said, value) > 0)
"""


class SqlJobs(SqlLearning):
    """Leases, states, runs and notices of scheduled jobs."""

    def take_lease(self, lease: JobLease, *, now: datetime, replaces: str = "") -> bool:
        """True if the lease is now ours: nobody held it, it was ours, had expired, or `replaces` held it."""
        values = {name: getattr(lease, name) for name in ("job", "owner", "boot", "process", "until")}
        with self._database.write_transaction() as transaction:
            taken = transaction.change(_TAKE_LEASE, {**values, "now": stored_moment(now), "replaces": replaces})
        return taken == 1

    def job_lease(self, job: str) -> JobLease | None:
        """The lease of that job, expired or not; None if nobody has it."""
        with self._database.read_transaction() as transaction:
            row = first_row(transaction, _LEASE, {"job": job})
        return _lease(*row) if row else None

    def end_lease(self, lease: JobLease) -> None:
        """Give the lease back; one that somebody else took over stays."""
        with self._database.write_transaction() as transaction:
            transaction.change(_END_LEASE, {"job": lease.job, "owner": lease.owner})

    def job_states(self) -> Mapping[str, JobState]:
        """The states of all jobs that have one, by name."""
        with self._database.read_transaction() as transaction:
            rows = transaction.rows(_STATES)
        return {row[0]: _state(*row) for row in rows}

    def save_job_state(self, state: JobState) -> None:
        """Store the state of a job, replacing the earlier one."""
        with self._database.write_transaction() as transaction:
            transaction.change(_SAVE_STATE, _state_row(state))

    def begin_run(self, job: str, *, now: datetime) -> int:
        """Add a run to the log, and mark those of that job that never ended as killed; returns its number."""
        at = stored_moment(now)
        with self._database.write_transaction() as transaction:
            transaction.change(_KILLED, {"job": job, "now": at})
            number: int = first_row(transaction, _BEGIN_RUN, {"job": job, "began": at})[0]
        return number

    def add_step(self, run: int, result: StepResult) -> None:
        """Add what became of a step to a run; nothing if the run is gone."""
        with self._database.write_transaction() as transaction:
            transaction.change(_ADD_STEP, {"run": run, **_step_row(result)})

    def end_run(self, record: JobRecord, *, state: JobState | None = None, now: datetime) -> None:
        """Store how a run ended, and the job's state with it; drops runs older than RUN_DAYS."""
        oldest = {"oldest": stored_moment(now - timedelta(days=RUN_DAYS))}
        with self._database.write_transaction() as transaction:
            transaction.change(_END_RUN, _run_row(record))
            if state:
                transaction.change(_SAVE_STATE, _state_row(state))
            transaction.change(_DROP_STEPS, oldest)
            transaction.change(_DROP_RUNS, oldest)

    def job_runs(
        self, *, name: str | None = None, since: datetime | None = None, limit: int | None = None
    ) -> tuple[JobRecord, ...]:
        """Runs of that job since that time with their steps; newest first, at most `limit`."""
        values = {
            "job": name,
            "since": stored_moment(since) if since else None,
            "limit": ALL_ROWS if check_limit(limit) is None else limit,
        }
        with self._database.read_transaction() as transaction:
            rows = transaction.rows(_RUNS, values)
            steps = _steps_of([row[0] for row in rows], transaction)
        return tuple(_record(*row, steps=tuple(steps.get(row[0], ()))) for row in rows)

    def raise_notice(self, notice: JobNotice) -> bool:
        """Store a notice; False if one with that key is there already, which stays as it is."""
        with self._database.write_transaction() as transaction:
            values = {"key": notice.key, "said": valid_utf8(notice.said), "at": notice.at}
            return transaction.change(_RAISE_NOTICE, values) == 1

    def clear_notice(self, key: str) -> bool:
        """Remove the notice with that key; False if there was none."""
        with self._database.write_transaction() as transaction:
            return transaction.change(_CLEAR_NOTICE, {"key": key}) == 1

    def job_notices(self) -> tuple[JobNotice, ...]:
        """The notices that stand, oldest first."""
        with self._database.read_transaction() as transaction:
            rows = transaction.rows(_NOTICES)
        return tuple(JobNotice(key=key, said=said, at=at) for key, said, at in rows)

    def forget_learned(self, facts: Iterable[str]) -> int:
        """Remove the items about these facts, and what jobs did with them; returns how many items."""
        names = [*facts]
        with self._database.write_transaction() as transaction:
            forget_steps(transaction, names)
        return super().forget_learned(names)

    def forget_learning(self, source: str) -> None:
        """Remove everything about that source, and what jobs did with it."""
        with self._database.write_transaction() as transaction:
            forget_steps(transaction, [source])
        super().forget_learning(source)

    def forget_conversation(self, id: str) -> bool:
        """Remove the conversation, and what jobs did with it; False if there was none."""
        with self._database.write_transaction() as transaction:
            forget_steps(transaction, [id])
        return super().forget_conversation(id)


def forget_steps(transaction: SqlTransaction, names: Iterable[str]) -> None:
    """Remove the steps about these paths and ids, and the words that name them elsewhere."""
    listed = [valid_utf8(name) for name in names]
    values = {"names": listed, "erased": ERASED}
    transaction.change(_STEPS_ABOUT, {"names": listed})
    transaction.change(_REDACT_STEPS, values)
    transaction.change(_REDACT_RUNS, values)
    for state in [_state(*row) for row in transaction.rows(_STATES)]:
        text = json.dumps(state.values, ensure_ascii=False)
        redacted = text
        for name in filter(None, listed):
            redacted = redacted.replace(json.dumps(name, ensure_ascii=False)[1:-1], ERASED)
        if redacted != text:
            transaction.change(_SAVE_STATE, _state_row(state) | {"state": redacted})


def _steps_of(runs: list[int], transaction: SqlTransaction) -> dict[int, list[StepResult]]:
    """The results of the steps of these runs, in order."""
    steps: dict[int, list[StepResult]] = {}
    for run, action, subject, said, outcome, commit, review, reason in transaction.rows(_STEPS, {"runs": runs}):
        step = Step(action=action, subject=subject, said=said)
        result = StepResult(step=step, outcome=outcome, commit=commit, review=review, reason=reason)
        steps.setdefault(run, []).append(result)
    return steps


def _lease(*row: Any) -> JobLease:
    job, owner, boot, process, until = row
    return JobLease(job=job, owner=owner, boot=boot, process=process, until=until)


def _state(*row: Any) -> JobState:
    """The state in a row of `_STATES`."""
    job, state, since, failures, reason, retry_at, is_parked = row
    return JobState(
        job=job,
        values=json.loads(state),
        since=since,
        failures=failures,
        reason=reason,
        retry_at=retry_at,
        is_parked=bool(is_parked),
    )


def _state_row(state: JobState) -> dict[str, Any]:
    return {
        "job": state.job,
        "state": valid_utf8(json.dumps(dict(state.values), ensure_ascii=False)),
        "since": state.since,
        "failures": state.failures,
        "reason": valid_utf8(state.reason),
        "retry_at": state.retry_at,
        "is_parked": int(state.is_parked),
    }


def _run_row(record: JobRecord) -> dict[str, Any]:
    return {
        "number": record.number,
        "outcome": record.outcome,
        "ended": record.ended,
        "said": valid_utf8(record.said),
        "planned": record.planned,
        "left": record.left,
        "seconds": record.seconds,
    }


def _record(*row: Any, steps: tuple[StepResult, ...]) -> JobRecord:
    """The run in a row of `_RUNS`."""
    number, job, began, outcome, ended, said, planned, left, seconds = row
    return JobRecord(
        number=number,
        job=job,
        began=began,
        outcome=outcome,
        ended=ended,
        said=said,
        planned=planned,
        left=left,
        seconds=seconds,
        steps=steps,
    )


def _step_row(result: StepResult) -> dict[str, Any]:
    step = result.step
    texts = {"action": step.action, "subject": step.subject, "said": step.said, "reason": result.reason}
    return {
        **{name: valid_utf8(text) for name, text in texts.items()},
        "outcome": result.outcome,
        "commit": result.commit,
        "review": result.review,
    }
