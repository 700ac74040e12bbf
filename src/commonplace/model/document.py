"""What the index keeps: a document of some source, cut into chunks that can be found by words and by meaning.

Times are text such as 2026-03-01T09:12:44Z, so that their order as text is their order in time.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

from commonplace.model.note import Link
from commonplace.model.problem import Problem

if TYPE_CHECKING:
    from commonplace.model.fact import Fact

FIELDS: Final = ("title", "aliases", "headings", "tags", "body")
"""Where in a chunk a word may stand; counts of words are given in this order."""

WordCounts = Mapping[str, tuple[int, int, int, int, int]]
"""A stemmed word -> how often it stands in each of the FIELDS."""

Place = Literal["", "inbox", "archive", "staging"]

Voice = Literal["", "user", "assistant"]
"""Who speaks in a passage: nobody, as in a note; a person; or a program that answers."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """One passage of a document: what a hit shows, and what it can be found by.

    `line` is where it begins: in a note the line of the file, in a conversation the number of the turn.
    `parts` are the texts by whose vectors it is found: the passage itself under its headings, then others that stand
    for it, such as the document's title. `sentences` are those by whose vectors it is compared once it is found.
    `speaker` is the name of who speaks, where it is known; `at` the time of which it tells, empty when unknown.
    """

    id: str
    ordinal: int
    text: str
    hash: str
    heading_path: tuple[str, ...]
    line: int
    tokens: int
    words: WordCounts
    parts: tuple[str, ...]
    sentences: tuple[str, ...] = ()
    voice: Voice = ""
    speaker: str = ""
    at: str = ""


@dataclass(frozen=True, slots=True)
class Document:
    """One note, conversation, task or correction, ready for the index.

    `source_id` names it within its source: a note by its path. `content_hash` is the sha256 of its body.
    `made_from` is a hash of all that its chunks were made from: while it stays the same, so do they.
    `version` is that of the encoder whose vectors the chunks have; empty when they have none.
    `facts` are those that stand in it. `valid_from` and `valid_until` bound the time in which it is worth finding.
    """

    id: str
    user: str
    source_type: str
    source_id: str
    title: str
    uri: str
    content_hash: str
    made_from: str
    version: str
    created: str
    updated: str
    mtime: float
    size: int
    sensitive: bool
    kind: str
    status: str
    place: Place
    aliases: tuple[str, ...]
    tags: tuple[str, ...]
    topics: tuple[str, ...]
    links: tuple[Link, ...]
    problems: tuple[Problem, ...]
    metadata: Mapping[str, Any]
    chunks: tuple[Chunk, ...]
    facts: "tuple[Fact, ...]" = ()
    valid_from: str = ""
    valid_until: str = ""


@dataclass(frozen=True, slots=True)
class Stamp:
    """What the index remembers of a document, enough to see whether its source has changed since.

    `seen` is the moment (seconds since 1970) at which the source was read: a file saved in the same instant may
    have changed without a trace in its times.
    """

    id: str
    content_hash: str
    made_from: str
    version: str
    mtime: float
    size: int
    seen: float
    deleted: bool
