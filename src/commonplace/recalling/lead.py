"""The words before a phrase of time, which say how it is meant: since March, around May 5."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from typing import Final

from commonplace.recalling.spans import Span

ROUGH: Final = frozenset(
    {"about", "around", "roughly", "approximately", "nearly", "almost", "circa", "maybe", "perhaps"}
)
"""Words that make a time less exact."""

_PARTS = frozenset({"end", "start", "beginning", "middle", "half", "month", "part", "week", "weeks", "days", "rest"})
_STAGES = frozenset({"early", "late"})
_WHICH = frozenset({"last", "this", "past"})
_PASSED = ROUGH | _STAGES | _WHICH | {"the", "year", "exactly"}
_SAID = frozenset(
    {
        "in",
        "on",
        "at",
        "during",
        "since",
        "after",
        "before",
        "until",
        "till",
        "between",
        "from",
        "over",
        "for",
        "within",
        "throughout",
    }
)
_WORD = re.compile(r"[^ ]+")
_REACH = 40
_OPENERS = "([\"'“‘—–-"


@dataclass(frozen=True, slots=True)
class Lead:
    """What stands before a phrase: the nearest word that relates it to the rest, and the one before that.

    `which` is "last", "this", "past" or nothing. `start` is where the phrase begins with its lead.
    `rough`: about then. `definite`: "the" is said. `partial`: a part of it is meant (early, the end of).
    `chained`: it goes on from another time (March and May).
    """

    word: str
    before: str
    which: str
    start: int
    rough: bool
    definite: bool
    partial: bool
    chained: bool


@dataclass(frozen=True, slots=True)
class Rule:
    """One kind of phrase: its name, how it is written, and what it means on a given day, if it is clear."""

    name: str
    pattern: str
    resolve: Callable[[re.Match[str], Lead, date], Span | None]


def lead_of(text: str, start: int, *, chained: bool) -> Lead:
    """The lead of the phrase that begins at `start` of a text with single spaces."""
    cut = max(0, start - _REACH)
    found = list(_WORD.finditer(text, cut, start))[1 if cut else 0 :] if text[start - 1 : start] == " " else []
    words = [each.group().lower().lstrip(_OPENERS) for each in found]
    place = _last_that_relates(words)
    passed = words[place + 1 :]
    word = words[place] if place >= 0 else ""
    which = next((each for each in reversed(passed) if each in _WHICH), "")
    first = place if word in _SAID else place + 1 + (passed[:1] == ["the"])
    return Lead(
        word=word,
        before=words[place - 1] if place > 0 else "",
        which=which,
        start=found[first].start() if first < len(found) else start,
        rough=not ROUGH.isdisjoint(passed),
        definite="the" in passed,
        partial=not _STAGES.isdisjoint(passed) or "of" in passed,
        chained=chained,
    )


def _last_that_relates(words: list[str]) -> int:
    """The place of the last word that says how the phrase belongs to the rest, -1 if there is none."""
    place = len(words) - 1
    while place >= 0:
        if words[place] in _PASSED:
            place -= 1
        elif words[place] == "of" and place > 0 and words[place - 1] in _PARTS:
            place -= 2
        else:
            break
    return place
