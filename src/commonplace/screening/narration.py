"""Take a statement out of the bullet or label before it: "- Note: the dog is Rex." becomes "The dog is Rex.".

Only a single line is changed, and no word of what it says: "as far as I know" and "the user said" are part of it.
"""

from typing import Final

from commonplace.model.text import LazyPattern

_LAYERS: Final = 4  # "- Note: In this conversation, the user said that ..."
_BULLET: Final = LazyPattern(r"(?:[-–—]\s+(?!\d)|[*•▪‣·]\s+)(?!\[)(?=\S)")  # "- 18 °C" begins with a minus
_LABEL: Final = LazyPattern(
    r"(?i)\*{0,2}(?:(?:please |side ?|quick )?note(?: to self)?|n\.?b\.?|fyi|for (?:the record|future reference)"
    r"|noted|remember(?:ed)?|heads[- ]up|reminder"
    r"|(?:new |key |fun |user )?fact|(?:new|user) (?:info(?:rmation)?|memory)|til|about the user|notiz|merke|nota"
    r"|remarque|summary of (?:the |this )?(?:session|conversation|chat))\s?(?::\*{0,2}|\s[–—-])\s+(?=\S)"
    r"|(?:fyi|for the record|for future reference),?\s+"
)
"""What stands before a statement and says nothing about it; `Preference:` and `Update:` say something."""

_PLAIN_WORD: Final = LazyPattern(
    r"(?:an?|he|she|it|if|in|on|at|no|we|my|the|all|his|her|its|our|for|(?=\w*[aeiou])[a-z]{4,})\b(?![.'_-])"
)
"""A first word that may be written with a capital letter; `pnpm`, `uv` and `app.py` may not."""


def statement_of(text: str) -> str:
    """The statement without bullet and label; the text unchanged if it has none of them, or several lines.

    A dash before a number may be a minus, and stays.
    """
    if "\n" in text:
        return text
    for _ in range(_LAYERS):
        match = _BULLET.match(text) or _LABEL.match(text)
        if match is None:
            break
        text = _begun(text[match.end() :])
    return text


def _begun(statement: str) -> str:
    """The statement with a capital first letter, unless its first word may be a name that has none."""
    return statement[:1].upper() + statement[1:] if _PLAIN_WORD.match(statement) else statement
