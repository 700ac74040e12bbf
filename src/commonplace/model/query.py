"""A search: its mode, its filters, and its result."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, get_args

Mode = Literal["hybrid", "words", "sense", "vector", "rrf", "merge"]
MODES: tuple[Mode, ...] = get_args(Mode)

SearchUnit = Literal["chunk", "document"]
SEARCH_UNITS: tuple[SearchUnit, ...] = get_args(SearchUnit)
"""What a search ranks: passages, or whole notes and conversations."""


@dataclass(frozen=True, slots=True)
class Filters:
    """Which documents a search covers; an empty field does not filter.

    A document must match every field, and in each field any of its values. `path` is a folder or a prefix of paths,
    `outside` are folders whose documents are left out.
    `entities` are titles, aliases or paths of notes: the note itself matches, as do documents that link to it or have a
    fact about it.
    `since` and `until` are half open bounds of a document's `updated`, as text in UTC.
    `sensitive` leaves sensitive documents `out`, or finds them `only`.
    `at` is the moment at which a document must not have ended, unless `archived` ones are included.
    """

    sources: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    path: str = ""
    outside: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    since: str = ""
    until: str = ""
    archived: bool = False
    sensitive: Literal["", "out", "only"] = ""
    at: str = ""


@dataclass(frozen=True, slots=True)
class Hit:
    """One chunk in a search result. `why` explains its score, part by part.

    `snippet` is the part of the text that matches best, and `marks` are the spans of the query's words in it.
    `link` opens the note in Obsidian at its heading; empty for a conversation. `more_in_note`, on the last hit of a
    note, is how many of its passages rank before the last hit of all and are not shown.
    """

    chunk_id: str
    document_id: str
    source_type: str
    path: str
    title: str
    heading_path: tuple[str, ...]
    line: int
    text: str
    score: float
    cosine: float | None
    sensitive: bool
    updated: str
    metadata: Mapping[str, Any]
    why: Mapping[str, Mapping[str, Any]]
    snippet: str = ""
    marks: tuple[tuple[int, int], ...] = ()
    link: str = ""
    more_in_note: int = 0


SEE_NEAREST: Final = "A min_score of 0 shows the nearest passages."
"""What to do if nothing was near enough: the end of an answer's `empty`, as programs are told it."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The result of a search: the hits, best first, and how they were found.

    `mode` is the mode that was used: `words` if there are no vectors; `degraded` says what was missing.
    `empty` says why there are no hits. `as_of` and `history_begins` are moments, for a search of the past.
    `confidence` is the likelihood, from 0 to 1, that the answer is among the hits; None if unknown.
    `understood` is what was read from the question besides its words. `rejected` has the score and the nearness of the
    best passage, and the nearness it needed, if none of the question's words occurs and nothing is near enough.
    """

    query: str
    mode: Mode
    searched: bool
    hits: tuple[Hit, ...]
    took_ms: float
    degraded: tuple[str, ...] = ()
    empty: str | None = None
    as_of: str | None = None
    history_begins: str | None = None
    times: Mapping[str, float] = field(default_factory=dict)
    confidence: float | None = None
    understood: Mapping[str, Any] = field(default_factory=dict)
    rejected: Mapping[str, float] = field(default_factory=dict)

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)


@dataclass(frozen=True, slots=True)
class TimeWindow:
    """A stretch of time that a question speaks of.

    `start` and `end` are text in UTC, half open, as the times of documents are; `tolerance` says how many days beside
    it something may lie and still be meant; `said` is the phrase.
    """

    start: str
    end: str
    tolerance: float
    said: str
