"""The sorts of values that a call may carry. No text may hold a NUL or half of a Unicode character."""

from typing import Annotated

from fastapi import Path
from pydantic import AfterValidator, BeforeValidator, StringConstraints
from pydantic_core import PydanticCustomError


def _sound(text: str) -> str:
    """The text, if files, databases and git can all hold it."""
    if "\0" in text:
        raise PydanticCustomError("unsound_text", "the text holds a NUL")
    return text


def _whole(number: object) -> object:
    """The number, as JSON Schema counts it: 5.0 is a whole number too."""
    return int(number) if isinstance(number, float) and number.is_integer() else number


WHOLE = BeforeValidator(_whole)
"""Stands last beside a whole number of a body, so that OpenAPI shows its bounds."""

Sound = AfterValidator(_sound)  # pydantic itself refuses the half of a character, because it counts them

Word = Annotated[str, StringConstraints(max_length=200), Sound]
"""A name: of a topic, a kind, an entity, a program, a day."""

Line = Annotated[str, StringConstraints(max_length=2_000), Sound]
"""A reason, a title, a path."""

Named = Annotated[str, StringConstraints(min_length=1, max_length=2_000), Sound]
"""An entity or a path that must be named."""

Channel = Annotated[str, StringConstraints(max_length=200, pattern=r"^(channel:.+)?$"), Sound]
"""The channel in which a conversation is held; empty for none."""

Prose = Annotated[str, StringConstraints(max_length=100_000), Sound]
"""A prompt, a statement, a message."""

NoteText = Annotated[str, StringConstraints(max_length=2_000_000), Sound]
"""A whole note; the setting `safety.max_note_bytes` draws the line, and says so."""

Id = Annotated[
    str,
    Sound,
    Path(max_length=200, description="An id, its beginning or its last six characters.", examples=["3f9a1c"]),
]
NotePath = Annotated[
    str, Sound, Path(max_length=1_000, description="The note's path in the vault.", examples=["Inbox/Idea.md"])
]
