"""Run one job's functions on a memory, without the runner: its plan, and each of its steps."""

from collections.abc import Mapping
from datetime import UTC, timedelta
from typing import Any

from commonplace.memory import Memory
from commonplace.model import Actor, FactSnapshot
from commonplace.upkeep.job import Job, JobRun, Plan, StepResult
from commonplace.upkeep.options import UpkeepOptions
from tests.memories import Calendar


def job_run(
    job: Job, memory: Memory, *, options: UpkeepOptions | None = None, state: Mapping[str, Any] | None = None
) -> JobRun:
    """What the job is given now."""
    session = memory._session.as_actor(Actor("job", job.name))
    return JobRun(
        session=session.at(session.clock()),
        state=state or {},
        zone=UTC,
        is_dry=False,
        stops=lambda: False,
        options=options or UpkeepOptions(),
    )


def plan_job(job: Job, memory: Memory, *, options: UpkeepOptions | None = None) -> Plan:
    """What the job would do now."""
    return job.plan(job_run(job, memory, options=options))


def run_job(job: Job, memory: Memory, *, options: UpkeepOptions | None = None) -> list[StepResult]:
    """Plan, and do each step; the results in order."""
    run = job_run(job, memory, options=options)
    return [job.apply(step, run) for step in job.plan(run).steps]


def use_daily(id: str, memory: Memory, calendar: Calendar, *, days: int) -> None:
    """Use an entry on so many days in a row, the last one today."""
    history = memory._session.stores.history
    for number in reversed(range(days)):
        history.record_use([id], now=calendar.at - timedelta(days=number))


def held(memory: Memory) -> dict[str, FactSnapshot]:
    """Every entry that holds now, by its text."""
    return {each.fact.text: each for each in memory.facts.about() if each.fact.origin == "entry"}
