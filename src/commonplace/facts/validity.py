"""What holds when, by two clocks: when a thing was true, and when it was known.

The first clock is the window of a fact, from `begins` to its effective end. The second is when things were written
down: `recorded`, `superseded_at`, `deleted_at`, `invalidated_at`, `confirmed`. `as_known` turns the second clock back,
everything else reads the first. A change of a text or of an importance keeps no moment: git alone knows of those.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from commonplace.model import End, Fact, Held, Known, State


class Claims(Protocol):
    """What must be known of claims to tell which fact ends which."""

    def entity(self, name: str) -> str:
        """The name of an entity as it compares: the same for all spellings of one name; empty for none."""

    def claim(self, fact: Fact) -> str:
        """What only one fact may say at a time, as a text that compares; empty where many may."""

    def ends(self, facts: Sequence[Fact]) -> Mapping[str, End]:
        """Of facts with the same claim, those that hold no longer because another begins, by id."""


def held(known: Known, *, at: str, importance: float, uses: int = 0, last_used: str = "") -> Held:
    """The fact as it stands at this moment; `importance` is the one it has aged to by then."""
    until, ended_by = until_of(known)
    return Held(known.fact, state_of(known, at=at), until, ended_by, importance, uses, last_used)


def holds(known: Known, at: str) -> bool:
    """Whether the fact holds at this moment."""
    return state_of(known, at=at) == "current"


def state_of(known: Known, *, at: str) -> State:
    """How the fact stands at this moment.

    What is superseded or expired by now was `current` while its window lasted. What is forgotten, archived by hand or
    waits for a person holds at no moment: nobody stands by it.
    """
    fact = known.fact
    if fact.place == "staging":
        return "staged"
    if fact.status in ("deleted", "archived"):
        return fact.status
    if fact.place == "archive" and fact.status == "active":
        return "archived"
    if fact.begins > at:
        return "future"
    until, _ = until_of(known)
    if fact.status != "active":
        return "current" if at < until else fact.status
    return "ended" if until and until <= at else "current"


def until_of(known: Known) -> tuple[str, str]:
    """When the fact ends, and the id of the one that ends it; each empty where there is none."""
    fact = known.fact
    ends = [each for each in (End(fact.valid_until, ""), known.end, _end_by_status(fact)) if each and each.at]
    if not ends:
        return "", ""
    # Of two ends at one moment, the one that names its cause says more.
    first = min(ends, key=lambda each: (each.at, not each.by))
    return first.at, first.by or fact.superseded_by


def _end_by_status(fact: Fact) -> End | None:
    """The end that the status alone tells of; where a person wrote no more than the status, the last change is it."""
    if fact.status == "expired":
        return End(fact.updated or fact.begins, "")
    if fact.status == "superseded":
        return End(fact.superseded_at or fact.updated or fact.begins, fact.superseded_by)
    return None


def as_known(knowns: Sequence[Known], *, known_at: str, rules: Claims) -> tuple[Known, ...]:
    """These facts as they were known at that moment, in the same order, without those recorded later.

    What was replaced, forgotten, ended or confirmed later is not yet so. A fact of a line has no moment at which it was
    recorded: it counts as known since ever. All facts of a claim should be among those given; the End by one that is
    not among them stays.
    """
    facts = [_fact_as_known(known.fact, known_at) for known in knowns if known.fact.recorded <= known_at]
    ends = ends_among(facts, rules)
    given = {known.fact.id for known in knowns}
    kept = {known.fact.id: known.end for known in knowns if known.end and known.end.by not in given}
    return tuple(Known(fact, _earlier(ends.get(fact.id), kept.get(fact.id))) for fact in facts)


def united(knowns: Sequence[Known], *, names: Collection[str], subject: str, rules: Claims) -> tuple[Known, ...]:
    """These facts in the same order, with the ends they have if all these names, as they compare, are that subject's.

    So a value told of one name ends the value told of another. An end that a fact has by itself stays, if it is the
    earlier one.
    """
    facts = [
        replace(known.fact, subject=subject) if rules.entity(known.fact.subject) in names else known.fact
        for known in knowns
    ]
    ends = ends_among(facts, rules)
    return tuple(Known(known.fact, _earlier(known.end, ends.get(known.fact.id))) for known in knowns)


def _fact_as_known(fact: Fact, known_at: str) -> Fact:
    """The fact without what was written down later than that moment."""
    if fact.deleted_at > known_at:
        # What lay in the archive when it was forgotten had been replaced before, and is so again.
        was_replaced = bool(fact.superseded_at) and fact.place == "archive"
        fact = replace(fact, status="superseded" if was_replaced else "active", deleted_at="", reason="")
    if fact.superseded_at > known_at:
        place = "" if fact.place == "archive" else fact.place
        fact = replace(fact, status="active", place=place, superseded_by="", superseded_at="")
    if fact.invalidated_at > known_at:
        fact = replace(fact, valid_until=fact.was_valid_until, invalidated_at="", was_valid_until="")
    confirmed = tuple(day for day in fact.confirmed if day <= known_at)
    return replace(fact, confirmed=confirmed, updated=min(fact.updated, known_at))


def ends_among(facts: Sequence[Fact], rules: Claims) -> dict[str, End]:
    """The ends that follow from these facts alone, by id."""
    claims = defaultdict[str, list[Fact]](list)
    for fact in facts:
        if claim := rules.claim(fact):
            claims[claim].append(fact)
    return {id: end for claimed in claims.values() for id, end in rules.ends(claimed).items()}


def _earlier(first: End | None, second: End | None) -> End | None:
    """The earlier of two ends, where there are two."""
    return min(first, second) if first and second else first or second
