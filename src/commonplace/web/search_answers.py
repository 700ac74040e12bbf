"""What a search and the context of a prompt answer with."""

from typing import Any

from pydantic import Field

from commonplace.model import ContextSection, Mode, Why
from commonplace.web.answers import Done, Shape


class HitShape(Shape):
    """One passage that was found; `why` tells, part by part, what its score is made of."""

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
    why: dict[str, dict[str, Any]]


class SearchAnswer(Done):
    """The hits, best first, and how they were found; `degraded` says what was done without."""

    query: str
    mode: Mode
    searched: bool
    count: int
    took_ms: float
    degraded: list[str]
    confidence: float | None
    results: list[HitShape]
    empty: str = ""
    as_of: str = ""
    history_begins: str = ""
    understood: dict[str, Any] = Field(default_factory=dict)
    times: dict[str, float] = Field(default_factory=dict)


class IncludedShape(Shape):
    """A piece that stands before the prompt, and why."""

    section: ContextSection
    key: str
    source: str
    title: str
    kind: str
    score: float
    why: str
    doubt: str
    chars: int
    is_cut: bool


class LeftOutShape(Shape):
    """What does not, and why; `said` is the reason for people."""

    section: ContextSection
    source: str
    why: Why
    said: str


class ContextAnswer(Done):
    """What to put before the model, fenced and with its sources; `late` names what was not ready in time."""

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
    included: list[IncludedShape]
    left_out: list[LeftOutShape]
    late: list[str]
    degraded: list[str]
    took_ms: float
