"""The index: what it holds, what it is about, and how it is made to say what the vault says now."""

from typing import Any

from fastapi import APIRouter

from commonplace.web.answers import Done, ProblemShape, Shape
from commonplace.web.asked import NO_QUERY
from commonplace.web.gate import Reader, Writer

router = APIRouter(tags=["index"], dependencies=[NO_QUERY])


class TopicShape(Shape):
    """A topic, and how many notes and conversations are about it."""

    name: str
    documents: int


class TopicsAnswer(Done):
    """The topics, those with most notes first."""

    count: int
    topics: list[TopicShape]


class CountsShape(Shape):
    """What the index holds: documents by source, vectors by encoder, `size` in bytes."""

    documents: dict[str, int]
    chunks: int
    removed: int
    vectors: dict[str, int]
    waiting: int
    links: int
    unresolved: int
    sensitive: int
    problems: int
    size: int
    synced: str | None


class StatsAnswer(Done):
    """What the index holds, and what is wrong in notes."""

    index: CountsShape
    problems: list[ProblemShape]


class SyncedAnswer(Done):
    """What a round over the vault found and did; `missing` says why texts were not encoded."""

    added: int
    changed: int
    renamed: int
    removed: int
    unchanged: int
    encoded: int
    reused: int
    waiting: int
    missing: str
    problems: list[ProblemShape]
    took_ms: float


@router.get("/topics", operation_id="list_topics", summary="List the topics", response_model=TopicsAnswer)
def list_topics(memory: Reader) -> Any:
    """Every topic, those with most notes first."""
    found = memory.topics.list()
    return {"ok": True, "count": len(found), "topics": found}


@router.get("/stats", operation_id="stats", summary="What the index holds", response_model=StatsAnswer)
def stats(memory: Reader) -> Any:
    """Counts of what the index holds, and every Problem of the notes in it."""
    return {"ok": True, "index": memory.index.stats(), "problems": memory.index.problems()}


@router.post("/sync", operation_id="sync", summary="Take in what has changed", response_model=SyncedAnswer)
def sync(memory: Writer) -> Any:
    """Make the index say what the vault says now: what is new, changed, moved and gone."""
    synced = memory.index.sync()
    return {
        "ok": True,
        **synced.counts(),
        "encoded": synced.encoded,
        "reused": synced.reused,
        "waiting": synced.waiting,
        "missing": synced.missing,
        "problems": synced.problems,
        "took_ms": round(synced.seconds * 1000, 1),
    }
