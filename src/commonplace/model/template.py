"""Notes that templates write: what is asked for, what a model may add, and what became of it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

Autonomy = Literal["low", "medium", "high"]
"""How freely a program writes: `low` only to the Inbox."""

KEY: Final = "idempotency_key"
"""The frontmatter key that says for what a note was written: the same key is never written twice."""
WRITTEN_BY: Final = "autowritten_by"
"""The frontmatter key that says that a program wrote the note; a person who takes it over removes it."""
WRITTEN_AT: Final = "autowritten_at"
SECTIONS: Final = "autowritten_sections"
"""The frontmatter key with a mark of each section as it was written."""
SOURCE_VERSION: Final = "source_version"
"""The frontmatter key with the version of what the note was made from; with another one it is rendered again."""
TEMPLATE: Final = "template"
AUTHOR: Final = "commonplace"
OWN_KEYS: Final = (TEMPLATE, KEY, SOURCE_VERSION, WRITTEN_BY, WRITTEN_AT, SECTIONS)
"""The keys that the writer sets, whatever the template says."""
_FRONTMATTER: Final = re.compile(r"\A\ufeff?---[ \t]*\r?\n(?:.*?\n)??---[ \t]*(?:\r?\n|\Z)", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteDraft:
    """What a model adds to a note: `task` is a template for the instructions, `schema` the JSON that it answers.

    `most_tokens` is the most that the call may cost, read and written; a call that could cost more is not made.
    """

    task: str
    schema: Mapping[str, Any]
    most_tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateRequest:
    """A note to be written by a template.

    `idempotency_key` says for what: an event, a day. `values` are known before anything is gathered. `autonomy` is the
    template's own; None is that of the settings. `source_version` changes when the source does. `people` are those whom
    the note names and who get a note of their own if they have none. `is_asked` says that the person asks for this note
    now: one that they removed is written again. With `resets_boxes` a box that the person ticked does not make a
    section theirs: the skill has acted on it.
    """

    template: str
    target_path: str
    idempotency_key: str
    values: Mapping[str, Any] = field(default_factory=dict)
    autonomy: Autonomy | None = None
    source_version: str = ""
    draft: NoteDraft | None = None
    people: tuple[str, ...] = ()
    is_asked: bool = False
    resets_boxes: bool = False
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class WriteResult:
    """What became of it: the note's path, the commit, and if it was skipped the reason.

    `reason` is `idempotent`, `unchanged`, `taken_over`, `removed`, `nothing`, or what went wrong. `text` is the note as
    it is now, or as a dry run would write it. `review` is the id of the proposal in which changes of sections wait that
    the person edited.
    """

    path: str
    sha: str | None = None
    skipped: bool = False
    reason: str = ""
    redirected_to_inbox: bool = False
    text: str = ""
    review: str = ""
    error: Exception | None = field(default=None, compare=False, repr=False)

    @property
    def body(self) -> str:
        """The text of the note below its frontmatter."""
        return _FRONTMATTER.sub("", self.text, count=1)


@dataclass(frozen=True, slots=True)
class TemplateText:
    """A template: its name, its text, and where it comes from; `path` is its note in the vault, or its file's name."""

    name: str
    text: str
    origin: Literal["packaged", "vault"]
    path: str


@dataclass(frozen=True, slots=True)
class TemplateNote:
    """A note that a template wrote or brought up to date: its path, when, and the commit, if there is one."""

    path: str
    at: str
    commit: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateStatus:
    """A template: where it comes from, what is wrong with it, and the skill that uses it, if there is one.

    `written`, `skipped` and `failed` count its notes in the last 30 days: those that were written, those for which the
    skill ran and had nothing to write, and attempts that failed. `latest` are the last notes of these days, newest
    first.
    """

    name: str
    origin: Literal["packaged", "vault"]
    path: str
    about: str = ""
    schedule: str = ""
    is_enabled: bool = False
    problem: str = ""
    written: int = 0
    skipped: int = 0
    failed: int = 0
    latest: tuple[TemplateNote, ...] = ()
