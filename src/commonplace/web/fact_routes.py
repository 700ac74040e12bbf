"""Facts: what is known of people and things, and when it held."""

from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import Field

from commonplace.memory import shapes
from commonplace.model import FactClass
from commonplace.web.asked import NO_QUERY, Amended, Asked, such_as
from commonplace.web.entry_routes import remembered
from commonplace.web.fact_answers import FactsAnswer, RememberedAnswer, TimelineAnswer
from commonplace.web.fields import Id, Line, Named, Prose, Word
from commonplace.web.gate import CallerHere, Reader, Writer

router = APIRouter(tags=["facts"])


class FactsQuery(Asked):
    """Which facts; all of the given must fit."""

    entity: Word = Field("", description="Someone or something, by any name of theirs.")
    topic: Word = ""
    predicate: Word = ""
    as_of: Word = Field("", description="What was true at the end of that day.")
    known: Word = Field("", description="As it was known on another day than that; or `now`.")
    every: bool = Field(default=False, description="Also what has ended, was replaced or was forgotten.")
    limit: int | None = Field(None, ge=1, le=10_000)


class FactBody(Amended):
    """A triple."""

    model_config = such_as(subject="Ada", predicate="works_at", object="Acme", valid_from="2026-03-01")

    subject: Word
    predicate: Word
    object: Line
    text: Prose = Field("", description="The sentence, where the one made of the three does not do.")
    fact: FactClass = Field("", description="How it ages.")


class InvalidateBody(Asked):
    """From when it holds no longer; now, where nothing is said."""

    model_config = such_as(at="2026-03-01")

    at: Word = ""


class TimelineQuery(Asked):
    """Of whom or what."""

    entity: Named


@router.get("/facts", operation_id="list_facts", summary="What is known", response_model=FactsAnswer)
def list_facts(asked: Annotated[FactsQuery, Query()], memory: Reader) -> Any:
    """What is known of an entity, by any of its names, or of a topic, or at all; the most important first."""
    found = memory.facts.about(**asked.model_dump())
    return {"ok": True, "count": len(found), "facts": [shapes.held_shape(each) for each in found]}


@router.post(
    "/facts",
    operation_id="add_fact",
    summary="Add a triple",
    response_model=RememberedAnswer,
    dependencies=[NO_QUERY],
)
def add_fact(asked: FactBody, caller: CallerHere, memory: Writer) -> Any:
    """A predicate with one value at a time ends the value before; what is known already is confirmed."""
    fields = asked.model_dump(exclude={"session_id"})
    return remembered(memory.facts.add(**fields, interface=caller.name, conversation=asked.session_id))


@router.post(
    "/facts/{id}/invalidate",
    operation_id="invalidate_fact",
    summary="End a fact",
    response_model=RememberedAnswer,
    dependencies=[NO_QUERY],
)
def invalidate_fact(id: Id, asked: InvalidateBody, memory: Writer) -> Any:
    """It was true, and is no longer; it stays known for the time in which it was."""
    return remembered(memory.facts.invalidate(id, at=asked.at))


@router.get("/timeline", operation_id="timeline", summary="What happened to facts", response_model=TimelineAnswer)
def timeline(asked: Annotated[TimelineQuery, Query()], memory: Reader) -> Any:
    """What began, was confirmed, replaced, ended or forgotten of all that is known of an entity, oldest first."""
    moments = memory.facts.timeline(asked.entity)
    return {"ok": True, "entity": asked.entity, "timeline": [shapes.moment_shape(each) for each in moments]}
