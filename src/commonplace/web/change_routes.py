"""What was changed, by whom and why, and how it is taken back."""

from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import Field

from commonplace.model import Terms
from commonplace.web.asked import NO_QUERY, Asked, such_as
from commonplace.web.fields import WHOLE, Line
from commonplace.web.gate import Reader, Writer
from commonplace.web.note_answers import LogAnswer, UndoneAnswer

router = APIRouter(tags=["changes"])


class UndoBody(Asked):
    """How many of our newest changes, or which one."""

    model_config = such_as(count=1)

    count: Annotated[int, Field(ge=1, le=100), WHOLE] = 1
    commit: Annotated[str, Field(pattern=r"^[0-9a-fA-F]{4,64}$")] | None = None
    dry_run: bool = False


class LogQuery(Asked):
    """Which changes, newest first."""

    path: Line | None = None
    limit: int = Field(20, ge=1, le=1_000)


@router.post(
    "/undo",
    operation_id="undo",
    summary="Take changes back",
    response_model=UndoneAnswer,
    dependencies=[NO_QUERY],
)
def undo(asked: UndoBody, memory: Writer) -> Any:
    """Take back our newest changes, or the one named; what people wrote since stays."""
    undone = memory.notes.undo(asked.count, commit=asked.commit, terms=Terms(dry_run=asked.dry_run))
    return {"ok": True, "undone": undone}


@router.get("/log", operation_id="log", summary="What was written", response_model=LogAnswer)
def log(asked: Annotated[LogQuery, Query()], memory: Reader) -> Any:
    """What was written through Commonplace, by whom and why; newest first."""
    return {"ok": True, "entries": memory.notes.log(path=asked.path, limit=asked.limit)}
