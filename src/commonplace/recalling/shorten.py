"""Text cut to a length, where a reader would cut it."""

import re
from typing import Final
from unicodedata import combining

CUT: Final = " [... cut]"
"""Stands after a text that goes on."""

USEFUL: Final = 80
"""Characters below which the beginning of a text says too little to be shown."""

_ENDS = re.compile(r"\n|[.!?…](?=\s)|[。！？]")
_WORTH_IT = 0.6
_JOINING = frozenset("\u200c\u200d") | {chr(code) for code in range(0xFE00, 0xFE10)}


def shortened(text: str, length: int) -> str:
    """At most so many characters from the beginning of a longer text, without the marker; empty if that is too little.

    It ends with a sentence or a line where the last of them is not far back, else with a word, else with a character.
    """
    if length < USEFUL:
        return ""
    kept = text[: _sentence_end(text, length) or _word_end(text, length)].rstrip()
    return kept if len(kept) >= USEFUL else ""


def _sentence_end(text: str, length: int) -> int:
    """Where the last sentence or line that fits ends; 0 if so much would be lost that a word is a better end."""
    ends = [match.end() for match in _ENDS.finditer(text, 0, length + 1) if match.end() <= length]
    return ends[-1] if ends and ends[-1] >= max(USEFUL, length * _WORTH_IT) else 0


def _word_end(text: str, length: int) -> int:
    for end in range(length, int(length * _WORTH_IT), -1):
        if text[end : end + 1].isspace():
            return end
    end = length
    while end > 0 and (combining(text[end : end + 1] or " ") or {text[end : end + 1], text[end - 1]} & _JOINING):
        end -= 1
    return end
