"""A note as every room sees it: its text, what the text says with line numbers, and the Problems in it.

Lines count from 1 in the whole file, frontmatter included, and only a line feed ends a line.
Offsets (`start`, `end`) count characters of `Note.text`, so that a link can be changed without parsing again.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """Something wrong in a note: collected and shown, never raised. `code` is for programs, `message` for people."""

    path: str
    line: int
    message: str
    code: str


@dataclass(frozen=True, slots=True)
class Heading:
    """One heading, `level` 1 to 6."""

    text: str
    level: int
    line: int


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and the text below it, up to the next heading of the same or a higher level.

    `path` lists the headings from the top down to this one; `end_line` is the first line after the section.
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
    `relation` is how the two notes relate, by the words before the link, such as `works_at`; empty if unknown.
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
class ActionLine:
    """A line of a list that may say what someone has to do: one with a box, `- [ ] text`, or one below `Action items`.

    `box` is the character in the box, empty for a line without one. `is_listed` says that the heading above it is one
    for action items; `is_assigned` that it is one below which people write who does what, such as `Action items`, and
    not `To-do`. `text` is the line as written, after the box.
    """

    box: str
    text: str
    is_listed: bool
    line: int
    is_assigned: bool = False

    @property
    def is_closed(self) -> bool:
        """True for `[x]` and for `[-]`, which means cancelled."""
        return self.box in ("x", "X", "-")


@dataclass(frozen=True, slots=True)
class Stat:
    """What the store knows about a file without reading it."""

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
    actions: tuple[ActionLine, ...] = ()


@dataclass(frozen=True, slots=True)
class ResolvedLink:
    """A link in the note at `source`, and the path it leads to; None if there is no such file.

    `by` says how it was resolved: as a path, by a note's name, or by an alias in its frontmatter.
    `also` lists a few other files that the link could mean.
    """

    source: str
    link: Link
    path: str | None
    by: str
    also: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class VaultCheck:
    """The result of reading a whole vault: the number of notes, every link, every Problem."""

    notes: int
    links: tuple[ResolvedLink, ...]
    problems: tuple[Problem, ...]
