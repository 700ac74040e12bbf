"""Routes for what waits for the person. They are the person's own: a token of an agent is refused."""

from fastapi import APIRouter
from pydantic import Field

from commonplace.memory import fact_shapes
from commonplace.model.review import ReviewResult
from commonplace.web.access import Owner
from commonplace.web.schemas import (
    NO_QUERY,
    IdInPath,
    Line,
    Names,
    OkResponse,
    Prose,
    RequestModel,
    body_config,
    declared_only,
)

review_router = APIRouter(prefix="/review", tags=["review"], dependencies=[NO_QUERY])


class ChoiceBody(RequestModel):
    """The waiting entries that are meant: some by their ids, or all of them."""

    ids: Names = Field(default_factory=list, description="Ids of waiting entries.")
    all: bool = Field(default=False, description="Everything that waits, instead of ids.")
    dry_run: bool = Field(default=False, description="Change nothing; respond with the difference it would make.")


class ApproveBody(ChoiceBody):
    """The entries to approve."""

    model_config = body_config(ids=["3f9a1c"])

    keep_old: bool = Field(default=False, description="Keep what they speak against as well.")


class RejectBody(ChoiceBody):
    """The entries to reject, and why."""

    model_config = body_config(ids=["3f9a1c"], reason="never true")

    reason: Line = ""


class EditBody(RequestModel):
    """The entry in the person's own words."""

    model_config = body_config(text="Prefers long pull requests, with a picture.")

    text: Prose = ""
    object: Line = Field("", description="The new value of a triple; the text is then its sentence.")
    keep_old: bool = Field(default=False, description="Keep what the entry speaks against, too.")
    dry_run: bool = Field(default=False, description="Change nothing; respond with the difference it would make.")


@declared_only
class QueueResponse(OkResponse, fact_shapes.QueueShape):
    """Everything that waits, oldest first."""


@declared_only
class WaitingResponse(OkResponse):
    """One waiting entry."""

    waiting: fact_shapes.WaitingShape


@declared_only
class ReviewedResponse(OkResponse):
    """What became of each entry."""

    count: int
    reviewed: list[fact_shapes.ReviewResultShape]


@review_router.get("", operation_id="list_waiting", summary="List what waits for the person")
def list_waiting(memory: Owner) -> QueueResponse:
    """What programs saved and the person has not approved yet: the reason, and what each entry speaks against."""
    return {"ok": True, **fact_shapes.queue_shape(memory.reviews.list())}


@review_router.get("/{id}", operation_id="show_waiting", summary="One waiting entry")
def show_waiting(id: IdInPath, memory: Owner) -> WaitingResponse:
    """One waiting entry, with the reason and what it speaks against."""
    return {"ok": True, "waiting": fact_shapes.waiting_shape(memory.reviews.show(id))}


@review_router.post("/approve", operation_id="approve_waiting", summary="Approve waiting entries")
def approve_waiting(body: ApproveBody, memory: Owner) -> ReviewedResponse:
    """Make entries the person's own word; what they speak against is archived. Undo takes each back."""
    return _response(*memory.reviews.approve(*body.ids, all=body.all, keep_old=body.keep_old, dry_run=body.dry_run))


@review_router.post("/reject", operation_id="reject_waiting", summary="Reject waiting entries")
def reject_waiting(body: RejectBody, memory: Owner) -> ReviewedResponse:
    """Archive entries, so that programs cannot save the same words again."""
    return _response(*memory.reviews.reject(*body.ids, all=body.all, reason=body.reason, dry_run=body.dry_run))


@review_router.post("/{id}/edit", operation_id="edit_waiting", summary="Approve an entry in other words")
def edit_waiting(id: IdInPath, body: EditBody, memory: Owner) -> ReviewedResponse:
    """Approve a waiting entry in the person's own words."""
    return _response(
        memory.reviews.edit(id, body.text, object=body.object, keep_old=body.keep_old, dry_run=body.dry_run)
    )


def _response(*results: ReviewResult) -> ReviewedResponse:
    return {"ok": True, "count": len(results), "reviewed": [fact_shapes.review_result_shape(each) for each in results]}
