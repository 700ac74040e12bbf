"""Sentences that carry nothing: thanks and greetings, what assistants say by habit, what web pages and mails end in."""

import re
from typing import Final

from commonplace.policy.courtesy_words import COURTESIES
from commonplace.policy.empty_phrases import HABITS, NOTHINGS, PAGE_ENDS

_LONGEST: Final = 3_000  # characters: longer than any text that is only courtesy, and most licences' first sentences
_SENTENCE: Final = re.compile(r"(?<=[.!?…])\s+|\n+|(?<=[。！？])|\s[|·•–—]\s|[¿¡]")
_EDGE: Final = re.compile(r"^[^\w©]+|[\W_]+$")
_WORD: Final = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_PHRASES: Final = frozenset(
    tuple(_WORD.findall(phrase.casefold())) for phrase in COURTESIES.replace("\n", ",").split(",") if phrase.strip()
)
_LONGEST_PHRASE: Final = max(map(len, _PHRASES))
_LAUGHTER: Final = re.compile(r"(?:ha|he|hi|ja|je|lo|k|х?а|哈|www|ㅋ){2,}h?|h+m+|o+h+|a+h+|yes+|no+|so+")


def _any_of(lines: str) -> re.Pattern[str]:
    """One expression for all lines."""
    return re.compile("|".join(f"(?:{line})" for line in lines.strip().splitlines()), re.IGNORECASE)


_HABIT: Final = _any_of(HABITS)
_PAGE_END: Final = _any_of(PAGE_ENDS)
_NOTHING: Final = _any_of(NOTHINGS)


def courtesy_reason(text: str) -> str:
    """Why no sentence of the text carries anything, as the end of a sentence; empty when one does."""
    text = text[:_LONGEST]
    if _NOTHING.fullmatch(_EDGE.sub("", text)):
        return "it is a placeholder"
    sentences = [part for each in _SENTENCE.split(text) if (part := _EDGE.sub("", each))]
    told = [part for part in sentences if not _is_courtesy(part)]
    if not told:
        return "it is a courtesy"
    if all(_is_habit(part) for part in told):
        return "it is what assistants say by habit"
    if all(_PAGE_END.search(part) for part in told):
        return "it is what web pages and mails end in"
    return ""


def _is_courtesy(sentence: str) -> bool:
    words = _WORD.findall(sentence.casefold().replace("’", "'"))
    return _courteous(words) == len(words)


def _courteous(words: list[str]) -> int:
    """How many words at the beginning are courtesies, the longest phrase taken at each step."""
    at = 0
    while at < len(words):
        longest = (
            size
            for size in range(min(_LONGEST_PHRASE, len(words) - at), 0, -1)
            if tuple(words[at : at + size]) in _PHRASES
        )
        size = next(longest, 1 if _LAUGHTER.fullmatch(words[at]) else 0)
        if not size:
            break
        at += size
    return at


def _is_habit(sentence: str) -> bool:
    """Whether the sentence begins as assistants begin, after a courtesy or at once."""
    if _HABIT.match(sentence):
        return True
    places = [found.end() for found in _WORD.finditer(sentence)]
    words = _WORD.findall(sentence.casefold().replace("’", "'"))
    count = _courteous(words) if len(words) == len(places) else 0
    return count > 0 and _HABIT.match(re.sub(r"^\W+", "", sentence[places[count - 1] :])) is not None
