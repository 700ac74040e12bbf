"""Argument types that several tools share, each with its short description and its bounds."""

from typing import Annotated, Final, Literal

from pydantic import BeforeValidator, Field

from commonplace.model import KINDS
from commonplace.model.request import LONGEST_CUE

MAX_HITS: Final = 50
MAX_ROWS: Final = 500
MAX_NAMES: Final = 20
MAX_WORD: Final = 500
MAX_PATH: Final = 1000
MAX_PROMPT: Final = 20_000

_PHASES: Final = ("plan", "work", "review", "debug", "documenter", "briefing")
"""The phases that a tool lists. Others are accepted too: a person may have phases of their own."""


def _as_list(value: object) -> object:
    """Text as the list of its words between commas: models often give one topic as text."""
    return [word for each in value.split(",") if (word := each.strip())] if isinstance(value, str) else value


def _as_word(value: object) -> object:
    """The one word of a list: an argument beside it takes a list, and models give both alike."""
    return value[0] if isinstance(value, list) and len(value) == 1 else value


Question = Annotated[str, Field(description="What to look for, in plain words.", min_length=1, max_length=4000)]
Hits = Annotated[int, Field(ge=1, le=MAX_HITS)]
Rows = Annotated[int, Field(ge=1, le=MAX_ROWS)]
SessionId = Annotated[str, Field(description="Your id for this conversation.", max_length=200)]
Word = Annotated[str, Field(max_length=MAX_WORD)]
"""A name, a kind, a day, a reason: anything short."""
About = Annotated[
    str, Field(description='The question it answers in 2-6 words: "how she commutes".', max_length=LONGEST_CUE)
]
Situations = Annotated[
    str,
    Field(
        description='Situations where it matters, in words `text` lacks: "menus, prawns, dinner".',
        max_length=LONGEST_CUE,
    ),
]
Since = Annotated[Word, Field(description="From this day: 2026-03-01, yesterday, 7d.")]
Until = Annotated[Word, Field(description="Up to that day.")]
StoodOn = Annotated[Word, Field(description="The notes as they stood on that day.")]
AsOf = Annotated[Word, Field(description="True on that day, as known now.")]
Known = Annotated[Word, Field(description="Known on that day.")]
OneWord = Annotated[Word, BeforeValidator(_as_word)]
Names = Annotated[tuple[Word, ...], Field(max_length=MAX_NAMES), BeforeValidator(_as_list)]
Topics = Annotated[Names, Field(description="A word each.")]
Entity = Annotated[Word, Field(description="A person or thing; `me` for the person.")]
Folder = Annotated[str, Field(max_length=MAX_PATH)]
NotePath = Annotated[Folder, Field(description="Such as People/Ada.md.", min_length=1)]
Statement = Annotated[str, Field(description="One plain sentence that stands alone.", max_length=20_000)]
EntryId = Annotated[Word, Field(description="The memory's id, or its last six digits.", min_length=1)]
Scope = Annotated[
    str, Field(description="channel:<token> in a shared channel.", max_length=200, pattern=r"^(channel:.+)?$")
]
Kind = Annotated[Word, Field(description="Leave out for a rough thought.", json_schema_extra={"enum": [*KINDS]})]
Phase = Annotated[Word, Field(json_schema_extra={"enum": [*_PHASES]})]
Source = Annotated[
    Literal["all", "notes", "memories", "conversations", "tasks", "corrections", "archive"],
    Field(description="notes include memories, archive old notes too."),
]
