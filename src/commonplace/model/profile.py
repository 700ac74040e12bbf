"""Values of profile notes (USER.md, CHANNEL.md): operations, their outcomes, what was done."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal, get_args

from commonplace.model.note import Problem

OperationName = Literal["append", "add_heading", "remove", "replace", "remove_heading"]
OPERATION_NAMES: tuple[OperationName, ...] = get_args(OperationName)

REASON_WORDS: Final[Mapping[str, str]] = {
    "no_such_heading": "there is no such heading",
    "ambiguous_heading": "several headings have this name",
    "ambiguous": "several statements match; give the whole statement, or name its section",
    "heading_exists": "the heading exists; append to it",
    "has_nested_lines": "the statement has others below it; remove those first",
    "is_title": "this heading is the title of the note",
    "missing_heading": "the heading is missing",
    "missing_match": "the statement to change is missing",
    "missing_line": "the statement is empty",
    "several_lines": "a statement has one line",
    "too_long": "it is too long",
    "secret": "it contains a secret",
    "junk": "it says nothing worth keeping",
    "note_full": "the note is full: every session loads it",
    "html_or_comment": "it contains HTML or a comment; write plain words",
    "heading_in_text": "it would be read as a heading",
    "unsafe_place": "the text would be read as something else there; edit the note by hand",
}
"""Why an operation was rejected, in words for people."""

OperationOutcome = Literal["applied", "noop_dup", "noop_no_match", "proposed", "rejected"]


@dataclass(frozen=True, slots=True)
class ProfileOperation:
    """One operation on a profile note.

    `heading` names a section and `subheading` a section below it. `line` is the statement to append or the new words of
    a replacement, `match` the statement to remove or replace, `lines` the statements below a new heading.
    """

    op: str
    heading: str = ""
    subheading: str = ""
    line: str = ""
    match: str = ""
    lines: tuple[str, ...] = ()

    def fields(self) -> dict[str, object]:
        """The fields that are set, as JSON."""
        named = ("op", "heading", "subheading", "match", "line")
        values: dict[str, object] = {name: value for name in named if (value := getattr(self, name))}
        return {**values, **({"lines": [*self.lines]} if self.lines else {})}


@dataclass(frozen=True, slots=True)
class OperationResult:
    """What became of one operation; `reason` says why it was rejected, in one word for programs.

    `review` is the id under which a proposed operation waits for the person.
    """

    operation: ProfileOperation
    outcome: OperationOutcome
    reason: str = ""
    review: str = ""

    @property
    def said(self) -> str:
        """The outcome in one word, such as `applied` or `rejected:too_long`."""
        return f"{self.outcome}:{self.reason}" if self.reason else self.outcome


@dataclass(frozen=True, slots=True)
class ProfileChange:
    """What a list of operations did to a profile note, in one commit at most.

    `summary` says it in one line; `remarks` are what the person should know besides, such as an edit in another program
    since the last operation. `difference` is a unified diff, for a dry run only.
    """

    path: str
    results: tuple[OperationResult, ...]
    summary: str
    changed: bool = False
    commit: str | None = None
    version: str | None = None
    difference: str | None = None
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ProfileText:
    """A profile note as it is now; its text is empty if there is none. `problems` are what lint finds in it."""

    path: str
    text: str
    version: str
    exists: bool
    problems: tuple[Problem, ...] = ()
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ProfileLogEntry:
    """One operation in the log of a profile note: who asked, for what, and what became of it."""

    at: datetime
    path: str
    actor: str
    origin: str
    operation: Mapping[str, object]
    outcome: str
    reason: str = ""
    review: str = ""
    commit: str | None = None
