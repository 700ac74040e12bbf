"""The context of a prompt: what memory puts before the model, and why."""

from typing import Annotated, Any

from fastapi import APIRouter
from pydantic import Field

from commonplace.memory import shapes
from commonplace.memory.context import LEAST_BUDGET
from commonplace.web.asked import NO_QUERY, Asked, Names, such_as
from commonplace.web.fields import WHOLE, Channel, Prose, Word
from commonplace.web.gate import Reader
from commonplace.web.search_answers import ContextAnswer

router = APIRouter(tags=["context"], dependencies=[NO_QUERY])


class Conversing(Asked):
    """In which phase and channel, and how much room there is."""

    phase: Word = Field("", description="A phase of work, such as plan, work, review or debug.")
    scope: Channel = Field("", description="channel:NAME, or nothing.")
    budget: Annotated[int, Field(ge=LEAST_BUDGET, le=1_000_000), WHOLE] | None = Field(
        None, description="Characters, at most."
    )
    tokens: Annotated[int, Field(ge=0, le=1_000_000), WHOLE] | None = Field(
        None, description="Tokens, at most; 0 counts none."
    )
    peek: bool = Field(default=False, description="Only look: it is not counted as use.")


class ContextBody(Conversing):
    """A prompt for which memory is wanted."""

    model_config = such_as(prompt="review my pull request", phase="review", session_id="7f3a", budget=4000)

    prompt: Prose
    session_id: Word = Field("", description="The conversation, whose topics are kept.")
    kinds: Names = Field(
        default_factory=list, description="Kinds of entries to recall; `note` for all that is no entry."
    )


class StartBody(Conversing):
    """A session that begins."""

    model_config = such_as(phase="work", scope="channel:team")


@router.post("/context", operation_id="context", summary="What to put before a prompt", response_model=ContextAnswer)
def context(asked: ContextBody, memory: Reader) -> Any:
    """What memory knows that belongs before this prompt, within the budget, and what was left out and why."""
    composed = memory.context(
        asked.prompt,
        phase=asked.phase,
        conversation=asked.session_id,
        scope=asked.scope,
        kinds=asked.kinds,
        budget=asked.budget,
        tokens=asked.tokens,
        peek=asked.peek,
    )
    return {"ok": True, **shapes.context_shape(composed)}


@router.post(
    "/context/start",
    operation_id="start_context",
    summary="What to put before a session",
    response_model=ContextAnswer,
)
def start_context(asked: StartBody, memory: Reader) -> Any:
    """What is always before the model, from the start of a session on; nothing is recalled."""
    composed = memory.context.start(
        phase=asked.phase, scope=asked.scope, budget=asked.budget, tokens=asked.tokens, peek=asked.peek
    )
    return {"ok": True, **shapes.context_shape(composed)}
