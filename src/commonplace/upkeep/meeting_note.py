"""The skill `meeting_note`: a note about each meeting that ended, and again when its event is moved or changed.

Its contract is in docs/guide/templates.md. Events are dealt with one after the other; what goes wrong with one is an
event (`meeting_end_dispatch_failed`) and a failed step, and the others go on. Cancelled, removed and all-day events get
no note, and neither do those without attendees.
"""

from collections.abc import Iterator, Sequence
from datetime import date, datetime, time, timedelta
from functools import partial
from typing import Final

from commonplace.errors import CommonplaceError, NotFound
from commonplace.events import emit
from commonplace.flows.calendars import ended_events
from commonplace.flows.templates.library import TemplateLibrary
from commonplace.flows.templates.meetings import (
    DRAFT,
    NAME,
    MeetingLimits,
    attendees_of,
    event_version,
    gather_meeting,
    meeting_path,
    written_notes,
)
from commonplace.flows.templates.write import is_due, write_from_template
from commonplace.model.calendar import Event
from commonplace.model.template import TemplateRequest
from commonplace.upkeep.job import Job, JobRun, Plan, Step, StepResult
from commonplace.upkeep.options import MeetingOptions
from commonplace.upkeep.skill import Skill, SkillRun, SkillTask, completed

_REFRESHED_DAYS: Final = 14  # days back in which a changed event renders its note again


def plan(run: JobRun) -> Plan:
    """A step for each event that ended since the last run, and for each whose note shows an older version of it."""
    skill_run = SkillRun(run.session, run.zone, run.skills.meeting_note)
    lookback = timedelta(minutes=_options(skill_run).lookback_minutes)
    history, now = run.session.stores.history, run.session.clock()
    ended = ended_events(history, now=now, lookback=lookback, cursor=run.state.get("cursor"))
    since = (now.astimezone(run.zone).date() - timedelta(days=_REFRESHED_DAYS)).isoformat()
    written = written_notes(run.session, since=since)
    moved = (event for id in sorted(written) if (event := history.event(id)) and event.end <= now)
    events = {event.id: event for event in (*ended.events, *moved)}
    steps = [step for event in events.values() for step in _steps(event, skill_run, path=written.get(event.id, ""))]
    return Plan(steps=tuple(steps), state={"cursor": dict(ended.cursor)})


def _steps(event: Event, run: SkillRun, *, path: str) -> Iterator[Step]:
    """The step for an event, if its note is due; what cannot be planned is reported and left out."""
    if not (event.takes_place and _has_people(event, run)):
        return
    try:
        task = _task(event, run, path=path)
        request = completed(task.request, run.options)
        if not is_due(request, run.session):
            return
    except CommonplaceError as error:
        emit("meeting_end_dispatch_failed", level="warning", event_id=event.id, reason=error.message)
        return
    yield Step(action="write", subject=request.target_path, said=task.said, values={"event": event.id, "path": path})


def apply(step: Step, run: JobRun) -> StepResult:
    """Write one note; what goes wrong is reported and raised, so that the runner tries again and goes on."""
    event = run.session.stores.history.event(str(step.values["event"]))
    if event is None or not event.takes_place:
        return StepResult(step=step, outcome="unchanged", reason="the event was cancelled or removed")
    skill_run = SkillRun(run.session, run.zone, run.skills.meeting_note)
    task = _task(event, skill_run, path=str(step.values["path"]))
    library = TemplateLibrary(run.session.stores, run.skills.templates_dir)
    result = write_from_template(completed(task.request, skill_run.options), task.gather, run.session, library=library)
    if result.error:
        emit("meeting_end_dispatch_failed", level="warning", event_id=event.id, reason=result.reason)
        raise result.error
    if result.skipped:
        return StepResult(step=step, outcome="unchanged", reason=result.reason)
    return StepResult(step=step, outcome="done", commit=result.sha or "", review=result.review)


def tasks(run: SkillRun) -> Sequence[SkillTask]:
    """The meetings of today that are over; the job itself takes those that ended since its last run."""
    return [_task(event, run) for event in _events_of(run.today, run) if event.end <= run.now]


def on_demand(run: SkillRun, day: date) -> SkillTask:
    """The note about the meeting of that day that ended last, else about its first. Raises NotFound if it has none."""
    events = _events_of(day, run)
    over = [event for event in events if event.end <= run.now]
    if not events:
        hint = "`commonplace calendar list` shows the events that are known."
        raise NotFound(f"no meeting with attendees on {day.isoformat()}", hint=hint)
    return _task(over[-1] if over else events[0], run)


def _events_of(day: date, run: SkillRun) -> list[Event]:
    start = datetime.combine(day, time(), tzinfo=run.zone)
    end = datetime.combine(day + timedelta(days=1), time(), tzinfo=run.zone)
    events = run.session.stores.history.events(start, end)
    return [each for each in events if each.takes_place and not each.all_day and _has_people(each, run)]


def _task(event: Event, run: SkillRun, *, path: str = "") -> SkillTask:
    options = _options(run)
    request = TemplateRequest(
        template=NAME,
        target_path=path or meeting_path(event, run.zone),
        idempotency_key=event.id,
        source_version=event_version(event),
        draft=DRAFT,
        people=tuple(each.name for each in attendees_of(event)) if options.person_stubs else (),
    )
    limits = MeetingLimits(options.vault_limit, options.chat_limit, options.task_limit)
    gather = partial(gather_meeting, event, run.session, zone=run.zone, limits=limits)
    return SkillTask(request, gather, f"Write a note about {request.target_path.rpartition('/')[2]}.")


def _options(run: SkillRun) -> MeetingOptions:
    return run.options if isinstance(run.options, MeetingOptions) else MeetingOptions()


def _has_people(event: Event, run: SkillRun) -> bool:
    return len(event.attendees) >= _options(run).least_attendees


JOB = Job(
    name=NAME,
    about="Writes a note about each meeting that ended: who, what is owed, earlier meetings, what was left open",
    schedule="every 1m",
    plan=plan,
    apply=apply,
    most_steps=50,
    seconds=300,
    is_wanted=lambda session: bool(session.stores.history.calendar_states()),
)
SKILL = Skill(name=NAME, about=JOB.about, schedule=JOB.schedule, tasks=tasks, on_demand=on_demand, job=JOB)
