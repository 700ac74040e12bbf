"""Phases of work: what each of them recalls, and how much."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

NOTE: Final = "note"
"""Stands among the kinds of a phase for everything that is no entry."""

BRIEFING: Final = "briefing"
"""The phase that is told the news: it goes without user memory, facts and dated memories."""

PHASES: Final = (
    "plan 4000 decision idea insight crystallized domain-reference preference note",
    "work 4000 workflow fix preference feedback domain-reference skill-pointer procedural note",
    "review 3000 preference feedback decision workflow insight note",
    "debug 4000 fix domain-reference insight workflow note",
)
"""The phases there are unless a person says otherwise."""


@dataclass(frozen=True, slots=True)
class Phase:
    """A phase: its name, the most characters of recalled text, and the kinds it recalls."""

    name: str
    chars: int
    kinds: tuple[str, ...]


def phase_of(line: str) -> Phase:
    """The phase in a line such as `plan 4000 decision note`. Raises ValueError for a line that is none."""
    words = line.casefold().split()
    if len(words) <= 2 or not words[1].isdecimal():
        raise ValueError(f"{line!r} is no phase: write its name, a number of characters, and kinds")
    name, chars, *kinds = words
    return Phase(name, int(chars), tuple(kinds))


def phase_named(name: str, lines: Iterable[str]) -> Phase | None:
    """The phase of that name; None when there is none."""
    return next((phase for phase in map(phase_of, lines) if phase.name == name.casefold()), None)
