"""The routes of commitments, calendars and the state of projects."""

from typing import Annotated

from fastapi import APIRouter, Path, Query
from pydantic import Field

from commonplace.memory import shapes, upkeep_shapes
from commonplace.memory.calendars import SyncResult
from commonplace.memory.commitments import ClosedCommitment, Commitment
from commonplace.model.project_state import FeatureStatus
from commonplace.web.access import Owner, Reader, Writer
from commonplace.web.note_routes import ChangeResponse
from commonplace.web.schemas import (
    NO_QUERY,
    IdInPath,
    Line,
    NoteText,
    OkResponse,
    RequestModel,
    RequiredLine,
    Sound,
    Word,
    body_config,
    declared_only,
)

commitment_router = APIRouter(prefix="/commitments", tags=["commitments"])
calendar_router = APIRouter(prefix="/calendars", tags=["calendars"])
project_router = APIRouter(prefix="/projects", tags=["projects"])

ProjectInPath = Annotated[
    str, Sound, Path(min_length=1, max_length=200, description="The name of a project.", examples=["atlas"])
]


class CommitmentsQuery(RequestModel):
    """Whose commitments, in which states."""

    who: Word = Field("", description="A name or an alias; `me` for the person.")
    state: list[Word] = Field(default_factory=list, max_length=3, description="open, overdue, closed; none for all.")


class DryRunBody(RequestModel):
    """Whether to change anything."""

    model_config = body_config(dry_run=True)

    dry_run: bool = Field(default=False, description="Say what would change; change nothing.")


class CalendarEventsQuery(RequestModel):
    """Which events; by default those of the next week."""

    start: Word = Field("", description="From then on: `today`, 2026-03-01; by default now.")
    end: Word = Field("", description="Up to then; by default a week.")
    calendar: Word = Field("", description="Only this calendar.")


class SyncCalendarsBody(DryRunBody):
    """Which calendar."""

    model_config = body_config(calendar="work")

    calendar: Word = Field("", description="Only this one; by default all.")


class PlanBody(DryRunBody):
    """The plan of a project."""

    model_config = body_config(text="1. Read the exports.\n2. Write the importer.\n")

    text: NoteText
    expected: Word = Field("", description="The version that it replaces, as the state of the project gives it.")


class ProgressBody(DryRunBody):
    """One line of progress."""

    model_config = body_config(text="the parser reads frontmatter", phase="work")

    text: Line
    phase: Word = ""
    ends_phase: bool = False


class FeatureBody(DryRunBody):
    """A feature and its status."""

    model_config = body_config(name="Parser", status="doing")

    name: RequiredLine
    status: FeatureStatus
    remark: Line = Field("", description="Empty to keep the one it has.")


@declared_only
class CommitmentsResponse(OkResponse):
    """Commitments, the nearest deadline first."""

    count: int
    commitments: list[Commitment]


@declared_only
class ClosedCommitmentResponse(OkResponse):
    """What closing did."""

    closed: ClosedCommitment


@declared_only
class CalendarsResponse(OkResponse):
    """The calendars of the settings."""

    count: int
    calendars: list[upkeep_shapes.CalendarShape]


@declared_only
class CalendarEventsResponse(OkResponse):
    """Events, ordered by their start."""

    count: int
    events: list[upkeep_shapes.EventShape]


@declared_only
class CalendarsSyncedResponse(OkResponse):
    """What became of each calendar; one that could not be read says why."""

    dry_run: bool
    calendars: list[SyncResult]


@declared_only
class ProjectResponse(OkResponse):
    """Where the work of a project stands."""

    state: shapes.ProjectStateShape


@commitment_router.get("", operation_id="list_commitments", summary="List commitments")
def list_commitments(query: Annotated[CommitmentsQuery, Query()], memory: Reader) -> CommitmentsResponse:
    """Who has to do what by when, as notes and conversations say it."""
    commitments = memory.commitments.list(who=query.who, states=query.state)
    return {"ok": True, "count": len(commitments), "commitments": [*commitments]}


@commitment_router.post(
    "/{id}/close", operation_id="close_commitment", summary="Close a commitment", dependencies=[NO_QUERY]
)
def close_commitment(id: IdInPath, body: DryRunBody, memory: Writer) -> ClosedCommitmentResponse:
    """Tick its line in the note, or end its entry, as far as the caller may write there."""
    return {"ok": True, "closed": memory.commitments.close(id, dry_run=body.dry_run)}


@calendar_router.get("", operation_id="list_calendars", summary="List the calendars", dependencies=[NO_QUERY])
def list_calendars(memory: Reader) -> CalendarsResponse:
    """Where each is read, without its secret, and when it last was."""
    calendars = [upkeep_shapes.calendar_shape(each) for each in memory.calendars.list()]
    return {"ok": True, "count": len(calendars), "calendars": calendars}


@calendar_router.get("/events", operation_id="list_calendar_events", summary="List events of calendars")
def list_calendar_events(query: Annotated[CalendarEventsQuery, Query()], memory: Reader) -> CalendarEventsResponse:
    """The events as they were last read."""
    events = memory.calendars.events(start=query.start or None, end=query.end or None, calendar=query.calendar or None)
    return {"ok": True, "count": len(events), "events": [upkeep_shapes.event_shape(each) for each in events]}


@calendar_router.post("/sync", operation_id="sync_calendars", summary="Read the calendars", dependencies=[NO_QUERY])
def sync_calendars(body: SyncCalendarsBody, memory: Owner) -> CalendarsSyncedResponse:
    """Read them now; the daemon does it every 15 minutes."""
    results = memory.calendars.sync(body.calendar or None, dry_run=body.dry_run)
    return {"ok": True, "dry_run": body.dry_run, "calendars": [*results]}


@project_router.get("/{name}", operation_id="show_project", summary="The state of a project", dependencies=[NO_QUERY])
def show_project(name: ProjectInPath, memory: Reader) -> ProjectResponse:
    """Its plan, its features and its progress, the oldest first."""
    return {"ok": True, "state": shapes.project_state_shape(memory.projects.state(name))}


@project_router.put("/{name}/plan", operation_id="write_plan", summary="Write the plan", dependencies=[NO_QUERY])
def write_plan(name: ProjectInPath, body: PlanBody, memory: Writer) -> ChangeResponse:
    """Write the plan of a project; one that is there is replaced only if `expected` is its version."""
    change = memory.projects.write_plan(body.text, project=name, expected=body.expected or None, dry_run=body.dry_run)
    return {"ok": True, "change": shapes.change_shape(change)}


@project_router.post("/{name}/progress", operation_id="add_progress", summary="Add progress", dependencies=[NO_QUERY])
def add_progress(name: ProjectInPath, body: ProgressBody, memory: Writer) -> ChangeResponse:
    """Add one line of progress to a project."""
    change = memory.projects.add_progress(
        body.text, project=name, phase=body.phase, ends_phase=body.ends_phase, dry_run=body.dry_run
    )
    return {"ok": True, "change": shapes.change_shape(change)}


@project_router.post("/{name}/features", operation_id="set_feature", summary="Set a feature", dependencies=[NO_QUERY])
def set_feature(name: ProjectInPath, body: FeatureBody, memory: Writer) -> ChangeResponse:
    """Add a feature of a project, or set its status."""
    change = memory.projects.set_feature(body.name, body.status, remark=body.remark, project=name, dry_run=body.dry_run)
    return {"ok": True, "change": shapes.change_shape(change)}
