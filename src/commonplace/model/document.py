"""What the index stores: a document from some source, split into chunks that search finds by words and by meaning.

Times are text such as 2026-03-01T09:12:44Z, so that text order is time order.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

from commonplace.model.note import Link, Problem

if TYPE_CHECKING:
    from commonplace.model.fact import Fact

FIELDS: Final = ("title", "aliases", "headings", "tags", "body")
"""The fields of a chunk in which words are counted, in this order."""

WordCounts = Mapping[str, tuple[int, int, int, int, int]]
"""A stemmed word -> its count in each of the FIELDS."""

Place = Literal["", "inbox", "archive", "staging"]

Voice = Literal["", "user", "assistant"]
"""Who speaks in a passage: empty for a note, else a person or an assistant."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """One passage of a document: what a hit shows, and what search matches.

    `line` is where it begins: in a note the line of the file, in a conversation the number of the turn.
    `parts` are the texts whose vectors are searched: the passage under its headings, then others that stand for it,
    such as the document's title. `sentences` are the texts whose vectors rank a chunk once it is found.
    `speaker` is the speaker's name, `at` the time that the passage is about; each empty if unknown.
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

    `source_id` identifies it within its source: a note by its path. `content_hash` is the sha256 of its body.
    `made_from` is a hash of everything that its chunks are made from: as long as it is the same, so are they.
    `version` is that of the encoder whose vectors the chunks have; empty if they have none.
    `facts` are the facts in it. `valid_from` and `valid_until` bound its time; search shows it until it ends.
    `is_dated` is False if `updated` is only the time of a file: another copy of the same vault has other times, so that
    no order depends on it.
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
    is_dated: bool = True


@dataclass(frozen=True, slots=True)
class Stamp:
    """What the index remembers about a document, enough to see whether its source has changed since.

    `seen` is the Unix time at which the source was read: a file saved in the same instant may have changed without a
    trace in its times.
    """

    id: str
    content_hash: str
    made_from: str
    version: str
    mtime: float
    size: int
    seen: float
    deleted: bool
