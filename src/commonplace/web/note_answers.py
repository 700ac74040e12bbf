"""What is answered about notes and their changes."""

from datetime import datetime
from typing import Any, Literal

from commonplace.model import Verb
from commonplace.web.answers import Done, ProblemShape, Shape


class HeadingShape(Shape):
    """One heading, and its line."""

    text: str
    level: int
    line: int


class ObservationShape(Shape):
    """A structured line `- [kind] text #topic`."""

    kind: str
    text: str
    topics: list[str]
    line: int


class RelationShape(Shape):
    """A structured line `- predicate [[Object]]`."""

    predicate: str
    object: str
    topics: list[str]
    line: int


class NoteAnswer(Done):
    """A note, taken apart; `version` is what `If-Match` takes."""

    path: str
    title: str
    frontmatter: dict[str, Any]
    content: str
    mtime: float
    size: int
    version: str
    sensitive: bool
    aliases: list[str]
    tags: list[str]
    headings: list[HeadingShape]
    links: list[str]
    observations: list[ObservationShape]
    relations: list[RelationShape]
    problems: list[ProblemShape]


class StatShape(Shape):
    """A note in a list."""

    path: str
    mtime: float
    size: int


class NotesAnswer(Done):
    """Notes, by path."""

    count: int
    notes: list[StatShape]


class LinkShape(Shape):
    """A link, and the path it leads to; null when there is no such file."""

    source: str
    line: int
    target: str
    heading: str | None
    block: str | None
    alias: str | None
    form: Literal["wikilink", "embed", "markdown"]
    where: Literal["body", "property"]
    path: str | None
    by: str
    also: list[str]


class LinksAnswer(Done):
    """Every link of a note."""

    path: str
    count: int
    links: list[LinkShape]


class ChangeShape(Shape):
    """What came of one change; policy may have chosen another `path` than was `asked`."""

    verb: Verb
    path: str
    asked: str
    commit: str | None
    version: str | None
    changed: bool
    difference: str | None
    repointed: list[str]
    left: list[str]


class ChangeAnswer(Done):
    """What came of a change of a note."""

    change: ChangeShape


class UndoneAnswer(Done):
    """The changes that were taken back."""

    undone: list[ChangeShape]


class LogEntryShape(Shape):
    """What one change did to one note, by whom and why; `before` and `after` are versions."""

    mutation: str
    when: datetime
    verb: str
    path: str
    actor: str
    origin: str
    reason: str
    destination: str | None
    before: str | None
    after: str | None
    commit: str | None
    in_digest: bool


class LogAnswer(Done):
    """What was written through Commonplace, newest first."""

    entries: list[LogEntryShape]
