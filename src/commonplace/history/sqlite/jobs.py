"""Scheduled jobs in SQL: the tables `job_leases`, `job_states`, `job_runs`, `job_steps` and `job_notices`."""

import json
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any, Final

import apsw

from commonplace.history.base import ERASED, RUN_DAYS, check_limit, stored_moment
from commonplace.history.normalize import valid_utf8
from commonplace.history.sqlite.learning import SqliteLearning
from commonplace.model.upkeep import JobLease, JobNotice, JobRecord, JobState, Step, StepResult

_TAKE_LEASE: Final = """
INSERT INTO job_leases (job, owner, boot, process, until) VALUES (:job, :owner, :boot, :process, :until)
ON CONFLICT (job) DO UPDATE SET owner = excluded.owner, boot = excluded.boot, process = excluded.process,
  until = excluded.until
WHERE job_leases.until <= :now OR job_leases.owner IN (:owner, :replaces)
"""
_LEASE: Final = "SELECT job, owner, boot, process, until FROM job_leases WHERE job = ?"
_END_LEASE: Final = "DELETE FROM job_leases WHERE job = ? AND owner = ?"
_STATES: Final = "SELECT job, state, since, failures, reason, retry_at, is_parked FROM job_states ORDER BY job"
_SAVE_STATE: Final = """
INSERT INTO job_states (job, state, since, failures, reason, retry_at, is_parked)
VALUES (:job, :state, :since, :failures, :reason, :retry_at, :is_parked)
ON CONFLICT (job) DO UPDATE SET state = excluded.state, since = excluded.since, failures = excluded.failures,
  reason = excluded.reason, retry_at = excluded.retry_at, is_parked = excluded.is_parked
"""
_BEGIN_RUN: Final = """
INSERT INTO job_runs (job, began, outcome, ended, said, planned, left_over, seconds)
VALUES (:job, :began, 'running', '', '', 0, 0, 0.0) RETURNING number
"""
_KILLED: Final = "UPDATE job_runs SET outcome = 'killed', ended = :now WHERE job = :job AND outcome = 'running'"
_END_RUN: Final = """
UPDATE job_runs SET outcome = :outcome, ended = :ended, said = :said, planned = :planned, left_over = :left,
  seconds = :seconds
WHERE number = :number AND outcome = 'running'
"""
_DROP_STEPS: Final = "DELETE FROM job_steps WHERE run IN (SELECT number FROM job_runs WHERE began < ?)"
_DROP_RUNS: Final = "DELETE FROM job_runs WHERE began < ?"
_ADD_STEP: Final = """
INSERT INTO job_steps (run, action, subject, said, outcome, in_commit, review, reason)
SELECT :run, :action, :subject, :said, :outcome, :commit, :review, :reason FROM job_runs WHERE number = :run
"""
_RUNS: Final = """
SELECT number, job, began, outcome, ended, said, planned, left_over, seconds FROM job_runs
WHERE (:job IS NULL OR job = :job) AND (:since IS NULL OR began >= :since) ORDER BY number DESC LIMIT :limit
"""
_STEPS: Final = """
SELECT run, action, subject, said, outcome, in_commit, review, reason FROM job_steps
WHERE run IN (SELECT value FROM json_each(?)) ORDER BY number
"""
_RAISE_NOTICE: Final = "INSERT INTO job_notices (key, said, at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING"
_CLEAR_NOTICE: Final = "DELETE FROM job_notices WHERE key = ?"
_NOTICES: Final = "SELECT key, said, at FROM job_notices ORDER BY at, key"
_STEPS_ABOUT: Final = """
DELETE FROM job_steps WHERE subject IN (SELECT value FROM json_each(:names))
"""
_REDACT_STEPS: Final = """
UPDATE job_steps SET said = :erased, reason = ''
WHERE EXISTS (SELECT 1 FROM json_each(:names) WHERE value <> '' AND instr(said || char(10) || reason, value))
"""
_REDACT_RUNS: Final = """
UPDATE job_runs SET said = :erased
WHERE EXISTS (SELECT 1 FROM json_each(:names) WHERE value <> '' AND instr(said, value))
"""


class SqliteJobs(SqliteLearning):
    """Leases, states, runs and notices of scheduled jobs."""

    def take_lease(self, lease: JobLease, *, now: datetime, replaces: str = "") -> bool:
        """True if the lease is now ours: nobody held it, it was ours, had expired, or `replaces` held it."""
        values = {name: getattr(lease, name) for name in ("job", "owner", "boot", "process", "until")}
        with self._database.write_transaction() as connection:
            connection.execute(_TAKE_LEASE, {**values, "now": stored_moment(now), "replaces": replaces})
            return connection.changes() == 1

    def job_lease(self, job: str) -> JobLease | None:
        """The lease of that job, expired or not; None if nobody has it."""
        with self._database.read_transaction() as connection:
            row: Any = connection.execute(_LEASE, (job,)).fetchone()
        return _lease(*row) if row else None

    def end_lease(self, lease: JobLease) -> None:
        """Give the lease back; one that somebody else took over stays."""
        with self._database.write_transaction() as connection:
            connection.execute(_END_LEASE, (lease.job, lease.owner))

    def job_states(self) -> Mapping[str, JobState]:
        """The states of all jobs that have one, by name."""
        with self._database.read_transaction() as connection:
            rows: list[Any] = connection.execute(_STATES).fetchall()
        return {row[0]: _state(*row) for row in rows}

    def save_job_state(self, state: JobState) -> None:
        """Store the state of a job, replacing the earlier one."""
        with self._database.write_transaction() as connection:
            connection.execute(_SAVE_STATE, _state_row(state))

    def begin_run(self, job: str, *, now: datetime) -> int:
        """Add a run to the log, and mark those of that job that never ended as killed; returns its number."""
        at = stored_moment(now)
        with self._database.write_transaction() as connection:
            connection.execute(_KILLED, {"job": job, "now": at})
            number: int = connection.execute(_BEGIN_RUN, {"job": job, "began": at}).get
        return number

    def add_step(self, run: int, result: StepResult) -> None:
        """Add what became of a step to a run; nothing if the run is gone."""
        with self._database.write_transaction() as connection:
            connection.execute(_ADD_STEP, {"run": run, **_step_row(result)})

    def end_run(self, record: JobRecord, *, state: JobState | None = None, now: datetime) -> None:
        """Store how a run ended, and the job's state with it; drops runs older than RUN_DAYS."""
        oldest = stored_moment(now - timedelta(days=RUN_DAYS))
        with self._database.write_transaction() as connection:
            connection.execute(_END_RUN, _run_row(record))
            if state:
                connection.execute(_SAVE_STATE, _state_row(state))
            connection.execute(_DROP_STEPS, (oldest,))
            connection.execute(_DROP_RUNS, (oldest,))

    def job_runs(
        self, *, name: str | None = None, since: datetime | None = None, limit: int | None = None
    ) -> tuple[JobRecord, ...]:
        """Runs of that job since that time with their steps; newest first, at most `limit`."""
        values = {
            "job": name,
            "since": stored_moment(since) if since else None,
            "limit": -1 if check_limit(limit) is None else limit,
        }
        with self._database.read_transaction() as connection:
            rows: list[Any] = connection.execute(_RUNS, values).fetchall()
            steps = _steps_of([row[0] for row in rows], connection)
        return tuple(_record(*row, steps=tuple(steps.get(row[0], ()))) for row in rows)

    def raise_notice(self, notice: JobNotice) -> bool:
        """Store a notice; False if one with that key is there already, which stays as it is."""
        with self._database.write_transaction() as connection:
            connection.execute(_RAISE_NOTICE, (notice.key, valid_utf8(notice.said), notice.at))
            return connection.changes() == 1

    def clear_notice(self, key: str) -> bool:
        """Remove the notice with that key; False if there was none."""
        with self._database.write_transaction() as connection:
            connection.execute(_CLEAR_NOTICE, (key,))
            return connection.changes() == 1

    def job_notices(self) -> tuple[JobNotice, ...]:
        """The notices that stand, oldest first."""
        with self._database.read_transaction() as connection:
            rows: list[Any] = connection.execute(_NOTICES).fetchall()
        return tuple(JobNotice(key=key, said=said, at=at) for key, said, at in rows)

    def forget_learned(self, facts: Iterable[str]) -> int:
        """Remove the items about these facts, and what jobs did with them; returns how many items."""
        names = [*facts]
        with self._database.write_transaction() as connection:
            forget_steps(connection, names)
        return super().forget_learned(names)

    def forget_learning(self, source: str) -> None:
        """Remove everything about that source, and what jobs did with it."""
        with self._database.write_transaction() as connection:
            forget_steps(connection, [source])
        super().forget_learning(source)

    def forget_conversation(self, id: str) -> bool:
        """Remove the conversation, and what jobs did with it; False if there was none."""
        with self._database.write_transaction() as connection:
            forget_steps(connection, [id])
        return super().forget_conversation(id)


def forget_steps(connection: apsw.Connection, names: Iterable[str]) -> None:
    """Remove the steps about these paths and ids, and the words that name them elsewhere."""
    listed = [valid_utf8(name) for name in names]
    values = {"names": json.dumps(listed), "erased": ERASED}
    connection.execute(_STEPS_ABOUT, {"names": values["names"]})
    connection.execute(_REDACT_STEPS, values)
    connection.execute(_REDACT_RUNS, values)
    for state in [_state(*row) for row in connection.execute(_STATES).fetchall()]:
        text = json.dumps(state.values, ensure_ascii=False)
        redacted = text
        for name in filter(None, listed):
            redacted = redacted.replace(json.dumps(name, ensure_ascii=False)[1:-1], ERASED)
        if redacted != text:
            connection.execute(_SAVE_STATE, _state_row(state) | {"state": redacted})


def _steps_of(runs: list[int], connection: apsw.Connection) -> dict[int, list[StepResult]]:
    """The results of the steps of these runs, in order."""
    steps: dict[int, list[StepResult]] = {}
    rows: list[Any] = connection.execute(_STEPS, (json.dumps(runs),)).fetchall()
    for run, action, subject, said, outcome, commit, review, reason in rows:
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
