"""The JSON of jobs, templates, calendars and commitments in the HTTP API and on the page.

Values whose own fields are the answer (`JobStatus`, `TemplateStatus`, `Commitment`, ...) are sent as they are.
"""

from typing_extensions import TypedDict  # pydantic rejects typing.TypedDict before Python 3.12

from commonplace.flows.calendars import CalendarStatus
from commonplace.memory.shapes import time_text
from commonplace.model.calendar import Attendee, Event, EventStatus
from commonplace.model.template import WriteResult
from commonplace.model.upkeep import JobRecord, RunOutcome, StepOutcome, StepResult


class StepShape(TypedDict):
    """One step of a job; `commit` can be undone, `review` is the id under which it waits."""

    action: str
    subject: str
    said: str
    outcome: StepOutcome
    reason: str
    commit: str
    review: str


class JobRunShape(TypedDict):
    """One run of a job: how it ended, and each of its steps so far."""

    job: str
    number: int
    began: str
    ended: str
    outcome: RunOutcome
    said: str
    planned: int
    left: int
    seconds: float
    steps: list[StepShape]


def job_run_shape(record: JobRecord) -> JobRunShape:
    """A run of a job."""
    return {
        "job": record.job,
        "number": record.number,
        "began": record.began,
        "ended": record.ended,
        "outcome": record.outcome,
        "said": record.said,
        "planned": record.planned,
        "left": record.left,
        "seconds": record.seconds,
        "steps": [_step_shape(each) for each in record.steps],
    }


def _step_shape(result: StepResult) -> StepShape:
    return {
        "action": result.step.action,
        "subject": result.step.subject,
        "said": result.step.said,
        "outcome": result.outcome,
        "reason": result.reason,
        "commit": result.commit,
        "review": result.review,
    }


class TemplateResultShape(TypedDict):
    """What a template wrote, or why it was skipped; `review` is where changes of edited sections wait."""

    path: str
    sha: str | None
    skipped: bool
    reason: str
    redirected_to_inbox: bool
    review: str
    text: str


def template_result_shape(result: WriteResult) -> TemplateResultShape:
    """The result of running a template."""
    return {
        "path": result.path,
        "sha": result.sha,
        "skipped": result.skipped,
        "reason": result.reason,
        "redirected_to_inbox": result.redirected_to_inbox,
        "review": result.review,
        "text": result.text,
    }


class CalendarShape(TypedDict):
    """A calendar of the settings, without its secret; `read` is when it was last read, empty for never."""

    name: str
    kind: str
    place: str
    read: str
    failures: int
    reason: str
    is_late: bool
    said: str


def calendar_shape(status: CalendarStatus) -> CalendarShape:
    """A calendar, and how far it was read."""
    return {
        "name": status.name,
        "kind": status.kind,
        "place": status.place,
        "read": time_text(status.read),
        "failures": status.failures,
        "reason": status.reason,
        "is_late": status.is_late,
        "said": status.said,
    }


class EventShape(TypedDict):
    """An event of a calendar; its words are those of whoever sent the invitation. Times are in UTC."""

    id: str
    uid: str
    calendar: str
    title: str
    start: str
    end: str
    all_day: bool
    zone: str
    status: EventStatus
    attendees: list[Attendee]
    organizer: Attendee | None
    location: str
    description: str


def event_shape(event: Event) -> EventShape:
    """An event of a calendar."""
    return {
        "id": event.id,
        "uid": event.uid,
        "calendar": event.calendar,
        "title": event.title,
        "start": time_text(event.start),
        "end": time_text(event.end),
        "all_day": event.all_day,
        "zone": event.zone,
        "status": event.status,
        "attendees": [*event.attendees],
        "organizer": event.organizer,
        "location": event.location,
        "description": event.description,
    }
