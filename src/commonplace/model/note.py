"""A note as every room sees it: its text, and what its text says, each with its line.

Lines count from 1 in the whole file, frontmatter included, and only a line feed ends a line.
Offsets (`start`, `end`) count characters of `Note.text`, so a link can be pointed elsewhere without a second parse.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from commonplace.model.problem import Problem


@dataclass(frozen=True, slots=True)
class Heading:
    """One heading, `level` 1 to 6."""

    text: str
    level: int
    line: int


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and all that stands below it, up to the next heading of the same or a higher level.

    `path` names the headings from the top down to this one; `end_line` is the first line that is no longer part of it.
    """

    path: tuple[str, ...]
    level: int
    line: int
    end_line: int
    text: str


@dataclass(frozen=True, slots=True)
class Link:
    """One link to another note or file, as written.

    `target` is the bare name or path, empty for a link within the note.
    `form` is `wikilink`, `embed` or `markdown`; `where` tells a link in the body from one in a property.
    `relation` is what the words before it say of the two notes, such as `works_at`; empty where they say nothing.
    """

    target: str
    heading: str | None
    block: str | None
    alias: str | None
    form: Literal["wikilink", "embed", "markdown"]
    where: Literal["body", "property"]
    line: int
    start: int
    end: int
    relation: str = ""


@dataclass(frozen=True, slots=True)
class Observation:
    """A structured line `- [kind] text #topic`."""

    kind: str
    text: str
    topics: tuple[str, ...]
    line: int


@dataclass(frozen=True, slots=True)
class Relation:
    """A structured line `- predicate [[Object]]`."""

    predicate: str
    object: str
    topics: tuple[str, ...]
    line: int


@dataclass(frozen=True, slots=True)
class Stat:
    """What the store knows of a file without reading it."""

    path: str
    mtime: float
    size: int


@dataclass(frozen=True, slots=True)
class Note:
    """One note, read. `version` is the sha256 of its bytes; `body` is `text` without the frontmatter."""

    path: str
    title: str
    text: str
    body: str
    body_line: int
    frontmatter: Mapping[str, Any]
    aliases: tuple[str, ...]
    tags: tuple[str, ...]
    headings: tuple[Heading, ...]
    links: tuple[Link, ...]
    observations: tuple[Observation, ...]
    relations: tuple[Relation, ...]
    problems: tuple[Problem, ...]
    version: str
    size: int
    mtime: float
