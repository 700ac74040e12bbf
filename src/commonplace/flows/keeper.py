"""Whoever keeps memory: a desk to write at, a shelf to look things up on, the rules of facts, one turn at a time."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Final

from commonplace.errors import NotFound, UsageError
from commonplace.facts.claims import FactRules
from commonplace.facts.options import FactsOptions
from commonplace.flows.shelf import Shelf
from commonplace.flows.write import Desk
from commonplace.index.base import TAIL, FactQuery, Reading
from commonplace.model import Action, Candidate, Fact, Known
from commonplace.recalling.times import in_utc

Judge = Callable[[Candidate, Fact], Action]
"""A model that says how a candidate stands to a known fact, where rules alone cannot tell. It may take its time."""

_SHORTEST: Final = 4  # characters at the beginning of an id with which an entry may be named
_SOME: Final = 20  # facts that are looked at where one is meant


@dataclass(frozen=True, slots=True)
class Keeper:
    """One memory and who works on it.

    `turn` is held from the look at what is known to the moment at which the index has what was written: two that save
    the same thing at once take turns, in all processes of this machine.
    """

    desk: Desk
    shelf: Callable[[], Shelf]
    rules: FactRules
    options: FactsOptions
    turn: Callable[[], AbstractContextManager[object]]
    judge: Judge | None = None

    @property
    def now(self) -> str:
        """This moment."""
        return in_utc(self.desk.clock())

    def at_this_moment(self) -> "Keeper":
        """The same keeper with a clock that stands still: one verb has one moment."""
        now = self.desk.clock()
        return replace(self, desk=replace(self.desk, clock=lambda: now))

    @property
    def tells_all(self) -> bool:
        """Whether sensitive facts may be shown to who works here."""
        return self.desk.actor.kind == "person"


def named_fact(name: str, reading: Reading, *, tells_all: bool) -> Known:
    """The fact with that id, the one whose id begins so or ends in these six characters, or the entry at that path.

    Who is not told all learns neither of sensitive facts nor of what waits for a person. Raises NotFound, and
    UsageError when several are meant.
    """
    asked = name.strip()
    found = _with_name(asked, reading, FactQuery(sensitive=tells_all, staged=tells_all, limit=_SOME))
    if not found:
        raise NotFound(
            f"no fact is called {asked!r}",
            hint="Give its id, its last six characters or more of its beginning, or its path; "
            "`commonplace facts` lists what is known.",
        )
    if len(found) > 1:
        some = ", ".join(each.fact.id for each in found[:5])
        raise UsageError(f"{len(found)} facts are called {asked!r}: {some}", hint="Give more of the id.")
    return found[0]


def _with_name(name: str, reading: Reading, asked: FactQuery) -> tuple[Known, ...]:
    if name.lower().endswith(".md"):
        found = reading.facts(replace(asked, paths=(name,)))
        return tuple(each for each in found if each.fact.origin == "entry")
    if len(name) < _SHORTEST:
        return ()
    exact = reading.facts(replace(asked, ids=(name.lower(),)))
    if exact:
        return exact
    begins = reading.facts(replace(asked, prefix=name.lower()))
    ends = reading.facts(replace(asked, suffix=name.lower())) if len(name) >= TAIL else ()
    return tuple({known.fact.id: known for known in (*begins, *ends)}.values())
