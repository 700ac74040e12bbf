"""What happened to some facts, in order: when each began, was confirmed, was replaced, ended or was forgotten."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Literal

from commonplace.facts.validity import until_of
from commonplace.model import Fact, Known

What = Literal["began", "ended", "replaced", "confirmed", "forgotten"]

_ORDER: Final[tuple[What, ...]] = ("ended", "replaced", "began", "confirmed", "forgotten")
"""Within one moment the old goes before the new comes."""


@dataclass(frozen=True, slots=True)
class Moment:
    """One thing that happened to a fact, and when; `at` is empty for what began nobody knows when.

    `other` is the id of the fact that replaced it.
    """

    at: str
    what: What
    fact: Fact
    other: str = ""


def timeline_of(knowns: Iterable[Known]) -> tuple[Moment, ...]:
    """What happened to these facts, and what will, oldest first; facts that wait for a person are left out."""
    happened = [moment for known in knowns if known.fact.place != "staging" for moment in _moments(known)]
    return tuple(sorted(happened, key=lambda each: (each.at, _ORDER.index(each.what), each.fact.id)))


def _moments(known: Known) -> Iterator[Moment]:
    """All that the fact tells of, whenever it is."""
    fact = known.fact
    until, ended_by = until_of(known)
    forgotten = fact.deleted_at if fact.status == "deleted" else ""
    if not until or until > fact.begins:
        yield Moment(fact.begins, "began", fact)
    for day in fact.confirmed:
        # The day on which it was written down confirms nothing beyond that.
        if day > fact.recorded[:10]:
            yield Moment(f"{day}T00:00:00Z", "confirmed", fact)
    if until and not (forgotten and forgotten <= until):
        yield Moment(until, "replaced" if ended_by else "ended", fact, ended_by)
    if forgotten:
        yield Moment(forgotten, "forgotten", fact)
