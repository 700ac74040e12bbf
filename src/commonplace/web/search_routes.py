"""Search, the context of a prompt, and the index behind both: topics, counts, sync."""

from typing import Annotated

from fastapi import APIRouter, Query, Request
from pydantic import Field

from commonplace.memory import Memory, shapes
from commonplace.memory.context import MIN_BUDGET
from commonplace.memory.index import Counts
from commonplace.model import Context, Mode, Problem, SearchUnit, Topic
from commonplace.web.access import Reader, Writer
from commonplace.web.schemas import (
    INTEGER,
    NO_QUERY,
    Channel,
    Line,
    Names,
    OkResponse,
    Prose,
    RequestModel,
    Share,
    Word,
    body_config,
    declared_only,
)

search_router = APIRouter(tags=["search"])
context_router = APIRouter(tags=["context"], dependencies=[NO_QUERY])
index_router = APIRouter(tags=["index"], dependencies=[NO_QUERY])


class SearchOptions(RequestModel):
    """How to search, and filters. Days are 2026-03-01, 2026-03, yesterday or 7d, in UTC."""

    k: Annotated[int, Field(ge=1, le=1_000), INTEGER] | None = Field(None, description="How many hits, at most.")
    mode: Mode = "hybrid"
    by: SearchUnit = Field("chunk", description="What is ranked: passages, or whole notes and conversations.")
    sources: Names = Field(default_factory=list, description="Only these: vault, chat, task, correction.")
    kinds: Names = Field(default_factory=list)
    path: Line = Field("", description="Only notes in this folder, or this note.")
    tags: Names = Field(default_factory=list)
    topics: Names = Field(default_factory=list)
    entities: Names = Field(default_factory=list, description="Only the note of this name and those that link to it.")
    since: Word | None = None
    until: Word | None = None
    as_of: Word | None = Field(None, description="The vault as it stood at the end of that day.")
    min_score: Share | None = Field(None, description="The lowest cosine of a hit that shares no word with the query.")
    per_note: Annotated[int, Field(ge=0, le=1_000), INTEGER] | None = Field(
        None, description="How many passages of one note, at most; 0 for all."
    )
    include_archive: bool = False
    scope: Channel = Field("", description="channel:NAME, or empty.")
    explain: bool = Field(default=False, description="Also say how the question was understood.")


class SearchBody(SearchOptions):
    """A question, and how to answer it."""

    model_config = body_config(query="how do we water the beds in summer?", k=5, tags=["garden"])

    query: Prose


class SearchParameters(SearchOptions):
    """A question, and how to answer it, as query parameters."""

    q: Line


@declared_only
class SearchResponse(OkResponse, shapes.ExplainedSearchShape):
    """The hits, best first, and how they were found; `degraded` lists what the search had to do without."""


@search_router.post("/search", operation_id="search", summary="Search by words and by meaning", dependencies=[NO_QUERY])
def search(body: SearchBody, memory: Reader) -> SearchResponse:
    """Search the vault and the conversations; best hits first."""
    return _search(body.query, body, memory)


@search_router.get("/search", operation_id="search_by_address", summary="Search, with the question in the address")
def search_by_address(query: Annotated[SearchParameters, Query()], memory: Reader) -> SearchResponse:
    """Search the vault and the conversations for `q`; best hits first."""
    return _search(query.q, query, memory)


def _search(question: str, options: SearchOptions, memory: Memory) -> SearchResponse:
    answer = memory.search(question, **options.model_dump(exclude={"query", "q", "explain"}))
    return {"ok": True, **shapes.search_shape(answer, explain=options.explain)}


class ContextFields(RequestModel):
    """The session, the phase and the channel, and how much room there is."""

    session_id: Word = Field("", description="The conversation: nothing that it was given comes again.")
    phase: Word = Field("", description="A phase of work: plan, work, review, debug, documenter, briefing or your own.")
    scope: Channel = Field("", description="channel:NAME, or empty.")
    budget: Annotated[int, Field(ge=MIN_BUDGET, le=1_000_000), INTEGER] | None = Field(
        None, description="Characters, at most."
    )
    tokens: Annotated[int, Field(ge=0, le=1_000_000), INTEGER] | None = Field(
        None, description="Tokens, at most; 0 sets no limit."
    )
    peek: bool = Field(default=False, description="Only look: do not count this as use.")


class ContextBody(ContextFields):
    """A prompt that needs context."""

    model_config = body_config(prompt="review my pull request", phase="review", session_id="7f3a", budget=4000)

    prompt: Prose
    kinds: Names = Field(
        default_factory=list, description="Kinds of entries to recall; `note` for everything that is not an entry."
    )
    notes: Word = Field("", description="When passages of notes are recalled: `auto`, `always`, `asked` or `off`.")
    profile: bool = Field(default=True, description="Whether the profile is given, if the session has not got it yet.")


class SessionStartBody(ContextFields):
    """A session that begins."""

    model_config = body_config(phase="work", scope="channel:team", session_id="7f3a")


@declared_only
class ContextResponse(OkResponse, shapes.ContextShape):
    """The text to put before the model, fenced and with sources; `late` lists the parts that missed the deadline."""


@context_router.post("/context", operation_id="context", summary="The context of a prompt")
def context(body: ContextBody, memory: Reader) -> ContextResponse:
    """The memory that is relevant to this prompt, within the budget; and what was left out and why."""
    fields = body.model_dump(exclude={"prompt", "session_id"})
    return _context(memory.context(body.prompt, conversation=body.session_id, **fields), memory)


@context_router.post("/context/start", operation_id="start_context", summary="The context of a session")
def start_context(body: SessionStartBody, memory: Reader) -> ContextResponse:
    """The profile and the notes that are always loaded; empty if the session has been given them already."""
    fields = body.model_dump(exclude={"session_id"})
    return _context(memory.context.start(conversation=body.session_id, **fields), memory)


def _context(context: Context, memory: Memory) -> ContextResponse:
    return {"ok": True, **shapes.context_shape(context, memory.notes.link)}


@declared_only
class TopicsResponse(OkResponse):
    """The topics, those with the most notes first."""

    count: int
    topics: list[Topic]


@declared_only
class StatsResponse(OkResponse):
    """The contents of the index in numbers, and the problems in the notes."""

    index: Counts
    problems: list[Problem]


@declared_only
class SyncResponse(OkResponse):
    """What a sync changed; `missing` says why texts were not encoded."""

    added: int
    changed: int
    renamed: int
    removed: int
    unchanged: int
    encoded: int
    reused: int
    waiting: int
    missing: str
    problems: list[Problem]
    took_ms: float


@index_router.get("/topics", operation_id="list_topics", summary="List the topics")
def list_topics(memory: Reader) -> TopicsResponse:
    """Every topic, those with the most notes first."""
    topics = memory.topics.list()
    return {"ok": True, "count": len(topics), "topics": [*topics]}


@index_router.get("/stats", operation_id="stats", summary="Index statistics")
def stats(memory: Reader) -> StatsResponse:
    """The contents of the index in numbers, and every problem in the indexed notes."""
    return {"ok": True, "index": memory.index.stats(), "problems": [*memory.index.problems()]}


@index_router.post("/sync", operation_id="sync", summary="Update the index")
def sync(request: Request, memory: Writer) -> SyncResponse:
    """Bring the index up to date with the vault: new, changed, moved and deleted notes.

    How far it is comes as live events.
    """
    synced = memory.index.sync(progress=request.app.state.live.progress(memory.conversations.vault_folder, "sync"))
    return {
        "ok": True,
        "added": synced.added,
        "changed": synced.changed,
        "renamed": synced.renamed,
        "removed": synced.removed,
        "unchanged": synced.unchanged,
        "encoded": synced.encoded,
        "reused": synced.reused,
        "waiting": synced.waiting,
        "missing": synced.missing,
        "problems": [*synced.problems],
        "took_ms": round(synced.seconds * 1000, 1),
    }
