"""Argument types that several tools share, each with its short description and its bounds."""

from typing import Annotated, Final

from pydantic import Field

from commonplace.model import MODES

MAX_HITS: Final = 50
MAX_ROWS: Final = 500
MAX_NAMES: Final = 20
MAX_WORD: Final = 500
MAX_PATH: Final = 1000
MAX_PROMPT: Final = 20_000

Question = Annotated[str, Field(description="What to look for, in plain words.", min_length=1, max_length=4000)]
Hits = Annotated[int, Field(description="How many results at most.", ge=1, le=MAX_HITS)]
Rows = Annotated[int, Field(description="How many at most.", ge=1, le=MAX_ROWS)]
SessionId = Annotated[
    str, Field(description="Your own id for this conversation, the same in all its calls.", max_length=200)
]
Word = Annotated[str, Field(max_length=MAX_WORD)]
"""A name, a kind, a day, a reason: anything short."""
Since = Annotated[Word, Field(description="From this day on: 2026-03-01, 2026-03, yesterday, 7d.")]
Until = Annotated[Word, Field(description="Up to this day: 2026-03-01, 2026-03, yesterday.")]
AsOf = Annotated[Word, Field(description="As of the end of that day, such as 2026-03-01.")]
Names = Annotated[tuple[Word, ...], Field(max_length=MAX_NAMES)]
Topics = Annotated[Names, Field(description="What it is about, in a word or two each.")]
Entity = Annotated[Word, Field(description="A person or thing, by any of its names; `me` for the person.")]
Folder = Annotated[str, Field(max_length=MAX_PATH)]
NotePath = Annotated[Folder, Field(description="The note's path in the vault, such as People/Ada.md.", min_length=1)]
Statement = Annotated[str, Field(description="One thing, in one plain sentence.", max_length=20_000)]
EntryId = Annotated[
    Word, Field(description="The entry's id from an earlier answer; its last six digits are enough.", min_length=1)
]
Scope = Annotated[
    str, Field(description="Empty for only the person, or channel:<token> for a shared channel.", max_length=200)
]
Phase = Annotated[
    Word,
    Field(
        description="The phase of work: plan, work, review, debug, documenter, briefing; it decides what is recalled."
    ),
]
Mode = Annotated[Word, Field(description=f"How to search: {', '.join(MODES)}.")]
