"""A few words of a text as they can stand in the name of a file."""

import re
import unicodedata
from typing import Final

LONGEST: Final = 48
_NAMELESS: Final = "entry"
_WORD: Final = re.compile(r"[a-z0-9]+")
_APOSTROPHES: Final = dict.fromkeys(map(ord, "'\u2019\u02bc`"))
_SPELLED: Final = str.maketrans(  # letters that Unicode does not take apart into a letter and an accent
    {"æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i", "ħ": "h", "ŧ": "t"}
)


def slug_of(text: str) -> str:
    """The first words of the first line that has any, in ASCII with dashes; `entry` where there are none.

    It ends at the end of a word, unless the first word alone is too long. A slug is the slug of itself.
    """
    for line in text.splitlines():
        words = _WORD.findall(_folded(line))
        if words:
            return _joined(words)
    return _NAMELESS


def _folded(text: str) -> str:
    """The text in small letters, without accents and apostrophes."""
    taken_apart = unicodedata.normalize("NFKD", text.translate(_APOSTROPHES).casefold().translate(_SPELLED))
    return "".join(char for char in taken_apart if not unicodedata.combining(char)).casefold()


def _joined(words: list[str]) -> str:
    slug = words[0][:LONGEST]
    for word in words[1:]:
        if len(slug) + 1 + len(word) > LONGEST:
            break
        slug = f"{slug}-{word}"
    return slug
