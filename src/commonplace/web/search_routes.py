"""Search: the right passage of the right note or conversation, with the reason."""

from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import Field

from commonplace.memory import Memory, shapes
from commonplace.model import By, Mode
from commonplace.web.asked import NO_QUERY, Asked, Names, Share, such_as
from commonplace.web.fields import WHOLE, Channel, Line, Prose, Word
from commonplace.web.gate import Reader
from commonplace.web.search_answers import SearchAnswer

router = APIRouter(tags=["search"])


class Narrowed(Asked):
    """How to search, and among what. Days are 2026-03-01, 2026-03, yesterday or 7d, in UTC."""

    k: Annotated[int, Field(ge=1, le=1_000), WHOLE] | None = Field(None, description="How many hits, at most.")
    mode: Mode = "hybrid"
    by: By = Field("chunk", description="What is ranked: passages, or notes and conversations as wholes.")
    sources: Names = Field(default_factory=list, description="Only these: vault, chat.")
    kinds: Names = Field(default_factory=list)
    path: Line = Field("", description="Only notes in this folder, or this note.")
    tags: Names = Field(default_factory=list)
    topics: Names = Field(default_factory=list)
    entities: Names = Field(default_factory=list, description="Only the note of this name and those that link to it.")
    since: Word | None = None
    until: Word | None = None
    as_of: Word | None = Field(None, description="The vault as it stood at the end of that day.")
    min_score: Share | None = Field(None, description="The least cosine of a hit that shares no word.")
    include_archive: bool = False
    scope: Channel = Field("", description="channel:NAME, or nothing.")
    explain: bool = Field(default=False, description="Also say how the question was understood.")


class SearchBody(Narrowed):
    """A question, and how to answer it."""

    model_config = such_as(query="how do we water the beds in summer?", k=5, tags=["garden"])

    query: Prose


class SearchQuery(Narrowed):
    """The same, in an address."""

    q: Line


@router.post(
    "/search",
    operation_id="search",
    summary="Search by words and by meaning",
    response_model=SearchAnswer,
    response_model_exclude_unset=True,
    dependencies=[NO_QUERY],
)
def search(asked: SearchBody, memory: Reader) -> Any:
    """What the vault and the conversations say about the question, best first."""
    return _found(asked.query, asked, memory)


@router.get(
    "/search",
    operation_id="search_by_address",
    summary="The same, asked in an address",
    response_model=SearchAnswer,
    response_model_exclude_unset=True,
)
def search_by_address(asked: Annotated[SearchQuery, Query()], memory: Reader) -> Any:
    """What the vault and the conversations say about `q`, best first."""
    return _found(asked.q, asked, memory)


def _found(question: str, asked: Narrowed, memory: Memory) -> dict[str, Any]:
    answer = memory.search(
        question,
        k=asked.k,
        mode=asked.mode,
        by=asked.by,
        sources=asked.sources,
        kinds=asked.kinds,
        path=asked.path,
        tags=asked.tags,
        topics=asked.topics,
        entities=asked.entities,
        since=asked.since,
        until=asked.until,
        as_of=asked.as_of,
        min_score=asked.min_score,
        include_archive=asked.include_archive,
        scope=asked.scope,
    )
    return {"ok": True, **shapes.answer_shape(answer, explain=asked.explain)}
