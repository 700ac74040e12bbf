"""The arguments that several tools take, each with its short description and its bounds."""

from typing import Annotated, Final

from pydantic import Field

from commonplace.model import MODES

MOST_HITS: Final = 50
MOST_ROWS: Final = 500
MOST_NAMES: Final = 20
LONGEST_WORD: Final = 500
LONGEST_PATH: Final = 1000
LONGEST_PROMPT: Final = 20_000

Question = Annotated[str, Field(description="What to look for, in plain words.", min_length=1, max_length=4000)]
Hits = Annotated[int, Field(description="How many results at most.", ge=1, le=MOST_HITS)]
Rows = Annotated[int, Field(description="How many at most.", ge=1, le=MOST_ROWS)]
SessionId = Annotated[
    str, Field(description="Your own id of this conversation, the same in all its calls.", max_length=200)
]
Word = Annotated[str, Field(max_length=LONGEST_WORD)]
"""A name, a kind, a day, a reason: nothing that is long."""
Since = Annotated[Word, Field(description="From this day on: 2026-03-01, 2026-03, yesterday, 7d.")]
Until = Annotated[Word, Field(description="Up to this day: 2026-03-01, 2026-03, yesterday.")]
AsOf = Annotated[Word, Field(description="As it was at the end of that day, such as 2026-03-01.")]
Names = Annotated[tuple[Word, ...], Field(max_length=MOST_NAMES)]
Topics = Annotated[Names, Field(description="What it is about, in a word or two each.")]
Folder = Annotated[str, Field(max_length=LONGEST_PATH)]
NotePath = Annotated[Folder, Field(description="The note's path in the vault, such as People/Ada.md.", min_length=1)]
Text = Annotated[str, Field(description="One thing, in one plain sentence.", max_length=20_000)]
EntryId = Annotated[
    Word, Field(description="The entry's id, as an answer gave it; its last six digits do.", min_length=1)
]
Scope = Annotated[
    str, Field(description="Empty for the person alone, or channel:<token> for a shared channel.", max_length=200)
]
Phase = Annotated[
    Word, Field(description="What is done now: plan, work, review, debug, briefing; it chooses what is recalled.")
]

Mode = Annotated[Word, Field(description=f"How to look: {', '.join(MODES)}.")]
