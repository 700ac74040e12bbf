"""The shapes of the answers, from which the output schemas of the tools are made.

Every answer has `ok`. One that is true has what its shape names; one that is false has `error` instead, so that an
error fits the schema too: clients refuse an answer that does not.
"""

from typing import Any, Required

from fastmcp.utilities.json_schema import compress_schema
from pydantic import TypeAdapter
from typing_extensions import TypedDict  # pydantic reads that of typing from Python 3.12 on


class ErrorShape(TypedDict, total=False):
    """What went wrong, and what to do."""

    type: Required[str]
    reason: Required[str]
    message: Required[str]
    hint: str
    path: str
    expected: str
    found: str


class Answer(TypedDict, total=False):
    """What every answer has."""

    ok: Required[bool]
    error: ErrorShape


class HitShape(TypedDict, total=False):
    """One passage that was found."""

    chunk_id: str
    document_id: str
    source_type: str
    source_path: str
    title: str
    heading_path: list[str]
    line: int
    content: str
    score: float
    cosine: float | None
    sensitive: bool
    updated: str
    metadata: dict[str, Any]
    why: dict[str, Any]


class SearchAnswer(Answer, total=False):
    """What a search found, best first."""

    query: str
    mode: str
    searched: bool
    count: int
    took_ms: float
    degraded: list[str]
    confidence: float | None
    results: list[HitShape]
    empty: str
    as_of: str
    history_begins: str


class RecallAnswer(Answer, total=False):
    """What belongs before a prompt, and why each piece is in or out."""

    text: str
    chars: int
    tokens: int
    budget: int
    token_budget: int
    is_over: bool
    phase: str
    topics: list[str]
    drifted: bool
    style: str
    included: list[dict[str, Any]]
    left_out: list[dict[str, Any]]
    late: list[str]
    degraded: list[str]
    took_ms: float


class SavedAnswer(Answer, total=False):
    """What came of saving or forgetting."""

    action: str
    id: str
    path: str
    staged: bool
    changed: bool
    reason: str
    old: str
    commit: str | None
    difference: str | None
    fact: dict[str, Any]


class FactsAnswer(Answer, total=False):
    """What is known, the most important first."""

    count: int
    more: bool
    facts: list[dict[str, Any]]


class TimelineAnswer(Answer, total=False):
    """What happened, oldest first."""

    entity: str
    count: int
    more: bool
    timeline: list[dict[str, Any]]


class NoteAnswer(Answer, total=False):
    """A note, or a part of it."""

    path: str
    title: str
    section: str
    content: str
    first_line: int
    is_cut: bool
    next_line: int | None
    headings: list[str]
    frontmatter: dict[str, Any]
    tags: list[str]
    version: str
    size: int
    mtime: float


class ChangedAnswer(Answer, total=False):
    """What came of changing a note."""

    verb: str
    path: str
    asked: str
    commit: str | None
    version: str | None
    changed: bool
    difference: str | None
    repointed: list[str]
    left: list[str]


class NotesAnswer(Answer, total=False):
    """Notes by path."""

    folder: str
    count: int
    total: int
    more: bool
    notes: list[dict[str, Any]]


class LinksAnswer(Answer, total=False):
    """Where the links of a note lead."""

    path: str
    count: int
    links: list[dict[str, Any]]


class RecordedAnswer(Answer, total=False):
    """What came of recording a conversation."""

    id: str
    added: int
    known: int
    interface: str


class ClosedAnswer(Answer, total=False):
    """A conversation that is finished."""

    id: str
    interface: str
    source_id: str
    title: str
    turns: int
    closed: str


def schema_of(answer: type[Answer]) -> dict[str, Any]:
    """The JSON schema of an answer, for the output schema of a tool."""
    return compress_schema(TypeAdapter(answer).json_schema(), prune_titles=True, dereference=True)
