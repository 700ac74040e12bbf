"""The routes of profile notes, USER.md and CHANNEL.md, and of proposed changes."""

from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import Field

from commonplace.memory import fact_shapes, profile_shapes
from commonplace.model.profile import OperationName
from commonplace.web.access import Reader, Writer
from commonplace.web.schemas import (
    NO_QUERY,
    Channel,
    Line,
    OkResponse,
    Prose,
    RequestModel,
    RequiredLine,
    Word,
    body_config,
    declared_only,
)

profile_router = APIRouter(prefix="/profile", tags=["profile"])


class ProfileQuery(RequestModel):
    """Which profile note."""

    scope: Channel = Field("", description="`channel:TOKEN` for a channel's CHANNEL.md instead of USER.md.")


class ProfileLogQuery(ProfileQuery):
    """Which profile note, and how many rows."""

    limit: int = Field(50, ge=1, le=1000)


class OperationBody(RequestModel):
    """One operation; `match` is the statement to remove or replace, with `...` where words are left out."""

    model_config = body_config(op="append", heading="Food", line="Prefers green tea.")

    op: OperationName
    heading: Word = ""
    subheading: Word = ""
    line: Line = ""
    match: Line = ""
    lines: list[Line] = Field(default_factory=list, max_length=20)


class ProfileBody(ProfileQuery):
    """Operations, applied one after another in one commit."""

    model_config = body_config(ops=[{"op": "append", "heading": "Food", "line": "Prefers green tea."}])

    ops: list[OperationBody] = Field(min_length=1, max_length=50)
    expected: Word = Field("", description="The version that they are based on.")
    reason: Line = ""
    dry_run: bool = False


class ProposeBody(RequestModel):
    """Another text of a note."""

    model_config = body_config(path="Agent/styles/plain.md", text="# Plain\n\nShort words.\n", reason="As you asked.")

    path: RequiredLine
    text: Prose
    reason: Line = ""
    expected: Word = ""
    dry_run: bool = False


@declared_only
class ProfileResponse(OkResponse):
    """A profile note."""

    profile: profile_shapes.ProfileShape


@declared_only
class ProfileChangeResponse(OkResponse, profile_shapes.ProfileChangeShape):
    """What became of each operation."""


@declared_only
class ProfileLogResponse(OkResponse):
    """Operations on a profile note, newest first."""

    count: int
    operations: list[profile_shapes.ProfileLogShape]


@declared_only
class ProposedResponse(OkResponse):
    """A change that waits for the person."""

    proposal: fact_shapes.ProposalShape


@profile_router.get("", operation_id="show_profile", summary="The profile note")
def show_profile(query: Annotated[ProfileQuery, Query()], memory: Reader) -> ProfileResponse:
    """USER.md, or a channel's CHANNEL.md, and what could be better in it."""
    profile = memory.profiles.show(channel=query.scope)
    return {"ok": True, "profile": profile_shapes.profile_shape(profile, memory.notes.link)}


@profile_router.post("", operation_id="edit_profile", summary="Edit the profile note", dependencies=[NO_QUERY])
def edit_profile(body: ProfileBody, memory: Writer) -> ProfileChangeResponse:
    """Append, replace or remove statements and headings; what may not be done at once waits for the person's review."""
    operations: list[Any] = [each.model_dump() for each in body.ops]
    change = memory.profiles.edit(
        operations, channel=body.scope, expected=body.expected, why=body.reason, dry_run=body.dry_run
    )
    return {"ok": True, **profile_shapes.change_shape(change)}


@profile_router.get("/log", operation_id="profile_log", summary="Operations on the profile note")
def profile_log(query: Annotated[ProfileLogQuery, Query()], memory: Reader) -> ProfileLogResponse:
    """Every operation with its outcome and who asked for it, newest first."""
    entries = memory.profiles.log(channel=query.scope, limit=query.limit)
    return {"ok": True, "count": len(entries), "operations": [profile_shapes.log_shape(each) for each in entries]}


@profile_router.post("/propose", operation_id="propose_change", summary="Propose a note", dependencies=[NO_QUERY])
def propose_change(body: ProposeBody, memory: Writer) -> ProposedResponse:
    """Propose another text of a directive, a style or any other note; it waits for the person's review."""
    result = memory.reviews.propose(body.path, body.text, why=body.reason, expected=body.expected, dry_run=body.dry_run)
    return {"ok": True, "proposal": fact_shapes.proposal_shape(result.proposal, memory.notes.link)}
