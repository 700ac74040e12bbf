"""A question to the index, and what comes back."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

Mode = Literal["hybrid", "words", "sense", "vector", "rrf", "merge"]
MODES: tuple[Mode, ...] = get_args(Mode)

By = Literal["chunk", "document"]
BYS: tuple[By, ...] = get_args(By)
"""What a search ranks: passages, or notes and conversations as wholes."""


@dataclass(frozen=True, slots=True)
class Filters:
    """Which documents count; an empty field leaves all of them in.

    Of the several values of one field any may fit; all fields must. `path` is a folder or a prefix of paths,
    `entity` the title, alias or path of a note: the note itself, those that link to it, and those with a fact about
    it fit.
    `since` and `until` are half open bounds of a document's `updated`, as text in UTC.
    `sensitive` leaves sensitive documents `out`, or lets them count `only`.
    `at` is the moment at which a document must be valid, unless `archived` ones count too; empty leaves all in.
    """

    sources: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    path: str = ""
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
    """One chunk that was found. `why` tells, part by part, what its score is made of.

    `snippet` is the part of the text that shows best why, and `marks` where in it the question's words stand.
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


@dataclass(frozen=True, slots=True)
class Answer:
    """The hits, best first, and how they were found.

    `mode` is the one that was used, which is `words` where no vectors can be had; `degraded` says what is missing.
    `empty` says why there are no hits. `as_of` and `history_begins` are moments, for a search of the past.
    `confidence` is how likely it is, from 0 to 1, that the answer is among the hits; None where it is not known.
    `understood` is what the question was taken to say beside its words.
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

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)
