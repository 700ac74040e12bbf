"""The job `calendar`: read the calendars that the person set, so that their events are known.

A step for each calendar. One that cannot be read is left as it was and does not fail the job: a laptop is often without
network, and a parked job would not come back by itself. `commonplace doctor` says when a calendar was not read for
long.
"""

from dataclasses import replace

from commonplace.errors import NotFound
from commonplace.flows.calendars import SyncResult, sync_calendar
from commonplace.flows.stores import Session
from commonplace.model.text import counted
from commonplace.upkeep.job import Job, JobRun, Plan, Step, StepResult


def plan(run: JobRun) -> Plan:
    """Read each calendar of the settings."""
    names = [each.config.name for each in run.session.stores.calendars.sources]
    return Plan(steps=tuple(Step(action="read", subject=name, said=f"Read the calendar {name}.") for name in names))


def apply(step: Step, run: JobRun) -> StepResult:
    """Read one calendar."""
    try:
        result = sync_calendar(step.subject, run.session)
    except NotFound as error:  # it was removed meanwhile
        return StepResult(step=step, outcome="unchanged", reason=error.message)
    if result.outcome == "failed":
        return StepResult(step=step, outcome="unchanged", reason=result.reason)
    said = changes_text(result)
    outcome = StepResult(step=replace(step, said=f"The calendar {step.subject}: {said}."), outcome="done")
    return outcome if said != "unchanged" else replace(outcome, outcome="unchanged")


def changes_text(result: SyncResult) -> str:
    """How many events were added, changed and removed."""
    changes = result.changes
    counts = {"added": changes.added, "changed": changes.changed, "removed": changes.removed}
    parts = [f"{counted(len(ids), 'event')} {word}" for word, ids in counts.items() if ids]
    if result.problems:
        parts.append(f"{counted(len(result.problems), 'event')} could not be read")
    return ", ".join(parts) or "unchanged"


def _has_calendars(session: Session) -> bool:
    return bool(session.stores.calendars.sources)


JOB = Job(
    name="calendar",
    about="Reads your calendars",
    schedule="every 15m",
    plan=plan,
    apply=apply,
    most_steps=100,
    is_wanted=_has_calendars,
)
