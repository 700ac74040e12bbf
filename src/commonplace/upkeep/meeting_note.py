"""The skill `meeting_note`: a note about each meeting that ended, and again when its event is moved or changed.

Its contract is in docs/guide/templates.md. Events are dealt with one after the other; what goes wrong with one is an
event (`meeting_end_dispatch_failed`) and a failed step, and the others go on. It is tried again, less and less often:
the state has the events of the last run, and those that are not written yet are planned again. Cancelled, removed,
declined and all-day events get no note, and neither do those without attendees.
"""

from collections.abc import Sequence
from datetime import date, datetime, time, timedelta
from functools import partial
from typing import Final, NamedTuple

from commonplace.errors import CommonplaceError, NotFound
from commonplace.events import emit
from commonplace.flows.calendars import ended_events
from commonplace.flows.templates.library import TemplateLibrary
from commonplace.flows.templates.meetings import (
    DRAFT,
    NAME,
    MeetingLimits,
    attendees_of,
    changed_events,
    event_version,
    gather_meeting,
    meeting_path,
)
from commonplace.flows.templates.write import is_due, write_from_template
from commonplace.model.calendar import Event
from commonplace.model.moment import moment_text
from commonplace.model.note_words import plain_words
from commonplace.model.template import TemplateRequest
from commonplace.model.text import fold_phrase
from commonplace.upkeep.job import Job, JobRun, Plan, Step, StepOutcome, StepResult
from commonplace.upkeep.notices import tell, tell_over
from commonplace.upkeep.options import MeetingOptions
from commonplace.upkeep.skill import Skill, SkillRun, SkillTask, completed

_REFRESHED_DAYS: Final = 14  # days back in which a changed event renders its note again, and a failed one is tried
_FIRST_WAIT: Final = timedelta(minutes=1)  # until a failed note is tried again; twice as long after each failure
_LONGEST_WAIT: Final = timedelta(hours=6)
_TOLD_AFTER: Final = 3  # failures after which the person is told


def plan(run: JobRun) -> Plan:
    """A step for each event that ended since the last run, that changed since its note was written, or that failed."""
    skill_run = SkillRun(run.session, run.zone, run.skills.meeting_note)
    lookback = timedelta(minutes=_options(skill_run).lookback_minutes)
    now, oldest = run.session.clock(), run.session.clock() - timedelta(days=_REFRESHED_DAYS)
    ended = ended_events(run.session.stores.history, now=now, lookback=lookback, cursor=run.state.get("cursor"))
    tries = {id: _Tries(*each) for id, each in run.state.get("tries", {}).items()}
    again = (event for id in tries if (event := run.session.stores.history.event(id)) and event.end > oldest)
    changed = changed_events(run.session, since=oldest, until=now)
    events = {event.id: event for event in (*ended.events, *changed, *again)}
    waiting = {id for id in events if id in tries and tries[id].next > moment_text(now)}
    planned = {
        id: step
        for id, event in events.items()
        if id not in waiting and (step := _step(event, skill_run, tried=tries.get(id, _Tries()).times))
    }
    next_tries = {id: tries.get(id, _Tries()).after(now) for id in planned} | {id: tries[id] for id in waiting}
    state = {"cursor": dict(ended.cursor), "tries": {id: list(each) for id, each in next_tries.items()}}
    return Plan(steps=tuple(planned.values()), state=state)


class _Tries(NamedTuple):
    """How often the note of an event was tried, and when it is tried next if it is not written then."""

    times: int = 0
    next: str = ""

    def after(self, now: datetime) -> "_Tries":
        wait = min(_LONGEST_WAIT, _FIRST_WAIT * 2 ** min(self.times, 20))
        return _Tries(self.times + 1, moment_text(now + wait))


def _step(event: Event, run: SkillRun, *, tried: int) -> Step | None:
    """The step for an event, if its note is due. One that cannot be looked up is: the step says what is wrong."""
    if event.all_day or not (event.takes_place and _has_people(event, run)):
        return None
    task = _task(event, run)
    try:
        if not is_due(completed(task.request, run.options), run.session):
            return None
    except CommonplaceError as error:
        emit("meeting_end_dispatch_failed", level="warning", event_id=event.id, reason=error.message)
    values = {"event": event.id, "tried": tried}
    return Step(action="write", subject=task.request.target_path, said=task.said, values=values)


def apply(step: Step, run: JobRun) -> StepResult:
    """Write one note. What goes wrong is reported, and the person is told of what goes wrong again and again."""
    event = run.session.stores.history.event(str(step.values["event"]))
    if event is None or not event.takes_place:
        return StepResult(step=step, outcome="unchanged", reason="the event was cancelled or removed")
    skill_run = SkillRun(run.session, run.zone, run.skills.meeting_note)
    task = _task(event, skill_run)
    key, stores = f"{NAME}:{event.id}", run.session.stores
    try:
        library = TemplateLibrary(stores, run.skills.templates_dir)
        request = completed(task.request, skill_run.options)
        result = write_from_template(request, task.gather, run.session, library=library)
        if result.error:
            raise result.error
    except CommonplaceError as error:  # also a model that is away: after three failures it is not asked any more
        emit("meeting_end_dispatch_failed", level="warning", event_id=event.id, reason=error.message)
        if step.values["tried"] >= _TOLD_AFTER:
            tell(key, f"The note {step.subject} cannot be written: {error.message}", stores)
        return StepResult(step=step, outcome="failed", reason=error.message)
    tell_over(key, f"The note {result.path} is written.", stores)
    if result.skipped:
        return StepResult(step=step, outcome="unchanged", reason=result.reason)
    outcome: StepOutcome = "proposed" if result.review and not result.sha else "done"
    return StepResult(step=step, outcome=outcome, commit=result.sha or "", review=result.review)


def tasks(run: SkillRun) -> Sequence[SkillTask]:
    """The meetings of today that are over; the job itself takes those that ended since its last run."""
    return [_task(event, run) for event in _events_of(run.today, run) if event.end <= run.now]


def on_demand(run: SkillRun, day: date) -> SkillTask:
    """The note about the meeting of that day that ended last, else about its first; of those with the words asked for.

    Raises NotFound if there is none.
    """
    events = _events_of(day, run)
    if not events:
        hint = "`commonplace calendar list` shows the events that are known."
        raise NotFound(f"no meeting with attendees on {day.isoformat()}", hint=hint)
    words = fold_phrase(run.about)
    meant = [event for event in events if words in fold_phrase(event.title)]
    if not meant:
        titles = ", ".join(plain_words(event.title) for event in events)
        raise NotFound(f"no meeting on {day.isoformat()} is called {run.about!r}", hint=f"Meetings: {titles}.")
    over = sorted((event for event in meant if event.end <= run.now), key=lambda event: event.end)
    return _task(over[-1] if over else meant[0], run)


def _events_of(day: date, run: SkillRun) -> list[Event]:
    start = datetime.combine(day, time(), tzinfo=run.zone)
    end = datetime.combine(day + timedelta(days=1), time(), tzinfo=run.zone)
    events = run.session.stores.history.events(start, end)
    return [each for each in events if each.takes_place and not each.all_day and _has_people(each, run)]


def _task(event: Event, run: SkillRun) -> SkillTask:
    options = _options(run)
    request = TemplateRequest(
        template=NAME,
        target_path=meeting_path(event, run.zone),
        idempotency_key=event.id,
        source_version=event_version(event),
        draft=DRAFT,
        people=_named_people(event) if options.person_stubs else (),
    )
    limits = MeetingLimits(options.vault_limit, options.chat_limit, options.task_limit)
    gather = partial(gather_meeting, event, run.session, zone=run.zone, limits=limits)
    return SkillTask(request, gather, f"Write a note about {request.target_path.rpartition('/')[2]}.")


def _named_people(event: Event) -> tuple[str, ...]:
    """The attendees of whom the calendar has a name, and not only an address."""
    return tuple(each.name for each in attendees_of(event) if each.name != each.email.partition("@")[0])


def _options(run: SkillRun) -> MeetingOptions:
    return run.options if isinstance(run.options, MeetingOptions) else MeetingOptions()


def _has_people(event: Event, run: SkillRun) -> bool:
    return len(attendees_of(event)) >= _options(run).least_attendees


JOB = Job(
    name=NAME,
    about="Writes a note about each meeting that ended: who, what is owed, earlier meetings, what was left open",
    schedule="every 1m",
    plan=plan,
    apply=apply,
    most_steps=50,
    seconds=300,
    retries_steps=True,
    is_wanted=lambda session: bool(session.stores.history.calendar_states()),
)
SKILL = Skill(
    name=NAME,
    about=JOB.about,
    schedule=JOB.schedule,
    tasks=tasks,
    on_demand=on_demand,
    job=JOB,
    takes_about=True,
)
