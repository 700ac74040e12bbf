"""Ways to speak, each a note under `Agent/styles`, and which of them fits a message.

The frontmatter may name `contexts` and `topics` in which the style is meant, and one style may be the `default`.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from commonplace.model import Note, Style

FOLDER: Final = "Agent/styles/"

# Of 12 requests that fit one of four styles, by all-MiniLM-L6-v2, 5 were as near as this to the right one and none to a
# wrong one; of 73 messages that fit none, one was.
NEAR: Final = 0.3
"""The cosine from which on a style is near enough to a message to be chosen for its description alone."""


def style_of(note: Note) -> Style | None:
    """The style that this note describes; None for a note that is none."""
    if not note.path.startswith(FOLDER) or note.path.endswith("/_index.md"):
        return None
    contexts = (*_names(note.frontmatter.get("contexts")), *_names(note.frontmatter.get("topics")))
    return Style(
        name=note.title,
        path=note.path,
        contexts=tuple(dict.fromkeys(contexts)),
        is_default=note.frontmatter.get("default") is True,
        text=note.body.strip(),
    )


def choose(
    styles: Sequence[Style], *, message: str = "", topics: Sequence[str] = (), near: Mapping[str, float] | None = None
) -> Style | None:
    """The style for a message: by its contexts, else the nearest in meaning, else the default; None where none fits.

    A context fits when it is one of `topics` or stands in the message. `near` holds, by the name of a style, how near
    its text is to the message.
    """
    cosines = near or {}
    in_order = sorted(styles, key=lambda style: (-cosines.get(style.name, 0.0), style.path))
    fitting = [(_fitting(style, message=message, topics=topics), style) for style in in_order]
    if most := max((count for count, _ in fitting), default=0):
        return next(style for count, style in fitting if count == most)
    if in_order and cosines.get(in_order[0].name, 0.0) >= NEAR:
        return in_order[0]
    return next((style for style in in_order if style.is_default), None)


def _fitting(style: Style, *, message: str, topics: Sequence[str]) -> int:
    """How many contexts of the style fit."""
    about = {topic.casefold() for topic in topics}
    words = _words(message)
    return sum(context.casefold() in about or _words(context) in words for context in style.contexts)


def _words(text: str) -> str:
    """The words of a text between blanks, so that one text in another means whole words."""
    words = " ".join(re.findall(r"\w+", text.casefold()))
    return f" {words} "


def _names(value: object) -> tuple[str, ...]:
    """The names in a property: a list of them, or a text with commas between them; nothing else is a name."""
    names = value.split(",") if isinstance(value, str) else value if isinstance(value, list) else []
    return tuple(name for each in names if isinstance(each, str) and (name := each.strip().lstrip("#")))
