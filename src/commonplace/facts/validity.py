"""What holds when, on two clocks, and the timeline of facts.

Valid time is the window of a fact, from `begins` to its effective end. Transaction time is when things were written
down: `recorded`, `superseded_at`, `deleted_at`, `invalidated_at`, `confirmed`. `as_known` turns back transaction time;
everything else reads valid time. A changed text or importance has no moment of its own: only git knows it.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, Protocol

from commonplace.model import Fact, FactEnd, FactRecord, FactState

TimelineEventKind = Literal["began", "ended", "replaced", "confirmed", "forgotten"]

_ORDER: Final[tuple[TimelineEventKind, ...]] = ("ended", "replaced", "began", "confirmed", "forgotten")
"""At one moment, the end of the old fact comes before the start of the new one."""


class ClaimRules(Protocol):
    """The rules of claims that decide which fact ends which."""

    def entity(self, name: str) -> str:
        """The entity's normalized name: the same for every spelling; empty for no name."""

    def claim(self, fact: Fact) -> str:
        """A key for what only one fact may say at a time; empty if the fact claims nothing."""

    def ends(self, facts: Sequence[Fact]) -> Mapping[str, FactEnd]:
        """Among facts with the same claim, the end of each that another one replaces, by id."""


@dataclass(frozen=True, slots=True)
class LineSpan:
    """A fact in a line of a note, when the history first has the line, and when it has it no longer, or empty."""

    fact: Fact
    since: str
    until: str


@dataclass(frozen=True, slots=True)
class TimelineEvent:
    """One thing that happened to a fact, and when; `at` is empty if it is not known when the fact began.

    `other` is the id of the fact that replaced it.
    """

    at: str
    what: TimelineEventKind
    fact: Fact
    other: str = ""


def holds(record: FactRecord, at: str) -> bool:
    """True if the fact holds at this moment."""
    return state_of(record, at=at) == "current"


def state_of(record: FactRecord, *, at: str) -> FactState:
    """The state of the fact at this moment.

    A superseded or expired fact was `current` during its window, and one that upkeep put away until it did. A fact that
    is forgotten, archived by hand or staged for review holds at no moment.
    """
    return state_until(record.fact, until_of(record)[0], at=at)


def state_until(fact: Fact, until: str, *, at: str) -> FactState:
    """The state at this moment of a fact that ends at `until`, as `until_of` gives it."""
    if fact.place == "staging":
        return "staged"
    if fact.status == "archived" and at < fact.archived_at:
        fact = _before_archive(fact)
    if fact.status in ("deleted", "archived"):
        return fact.status
    if fact.place == "archive" and fact.status == "active":
        return "archived"
    if fact.begins > at:
        return "future"
    if fact.status != "active":
        return "current" if at < until else fact.status
    return "ended" if until and until <= at else "current"


def until_of(record: FactRecord) -> tuple[str, str]:
    """When the fact ends and the id of the fact that ends it; each is empty if there is none."""
    fact = record.fact
    if fact.status == "active" and record.end is None:
        return fact.valid_until, fact.superseded_by if fact.valid_until else ""
    ends = [each for each in (FactEnd(fact.valid_until, ""), record.end, _end_by_status(fact)) if each and each.at]
    if not ends:
        return "", ""
    # Of two ends at one moment, prefer the one that names its cause.
    first = min(ends, key=lambda each: (each.at, not each.by))
    return first.at, first.by or fact.superseded_by


def as_known(records: Sequence[FactRecord], *, known_at: str, rules: ClaimRules) -> tuple[FactRecord, ...]:
    """These facts as they were known at that moment, in the same order, without those recorded later.

    Later replacements, deletions, ends and confirmations are undone. A fact from a structured line has no recorded
    moment: it counts as always known. Pass all facts of a claim; an end caused by a fact that is not passed stays.
    """
    facts = facts_known(records, known_at)
    ends = ends_among(facts, rules)
    ids = {each.fact.id for each in records}
    outside = {each.fact.id: each.end for each in records if each.end and each.end.by not in ids}
    return tuple(FactRecord(fact, _earlier(ends.get(fact.id), outside.get(fact.id))) for fact in facts)


def facts_known(records: Iterable[FactRecord], known_at: str) -> list[Fact]:
    """The facts of `as_known`, without their ends."""
    return [_fact_as_known(each.fact, known_at) for each in records if each.fact.recorded <= known_at]


def lines_in_time(spans: Iterable[LineSpan], *, known_at: str, rules: ClaimRules) -> tuple[Fact, ...]:
    """The facts of these lines with the windows that the history implies, as known at that moment, or now if empty.

    A line does not say when it became true. One that was removed held until then. Of several lines with one claim, the
    first held from an unknown moment on, and each other from the moment at which it was written. Pass all of a claim.
    """
    known = [(each, rules.claim(each.fact)) for each in spans if not known_at or each.since <= known_at]
    first: dict[str, str] = {}
    for each, claim in known:
        first[claim] = min(each.since, first.get(claim, each.since))
    facts = []
    for each, claim in known:
        begins = each.since if claim and each.since > first[claim] else ""
        ends = "" if known_at and each.until > known_at else each.until
        facts.append(replace(each.fact, valid_from=begins, valid_until=ends))
    return tuple(facts)


def merge_names(
    records: Sequence[FactRecord], *, names: Collection[str], subject: str, rules: ClaimRules
) -> tuple[FactRecord, ...]:
    """These facts in the same order, with the ends they have if all these normalized names mean `subject`.

    A value stated under one name then ends the value stated under another. The earlier end wins.
    """
    facts = [
        replace(each.fact, subject=subject) if rules.entity(each.fact.subject) in names else each.fact
        for each in records
    ]
    ends = ends_among(facts, rules)
    return tuple(FactRecord(each.fact, _earlier(each.end, ends.get(each.fact.id))) for each in records)


def ends_among(facts: Sequence[Fact], rules: ClaimRules) -> dict[str, FactEnd]:
    """The ends that these facts alone cause among each other, by id."""
    by_claim = defaultdict[str, list[Fact]](list)
    for fact in facts:
        if claim := rules.claim(fact):
            by_claim[claim].append(fact)
    several = (claimants for claimants in by_claim.values() if len(claimants) > 1)  # a fact alone ends nothing
    return {id: end for claimants in several for id, end in rules.ends(claimants).items()}


def timeline_of(records: Iterable[FactRecord]) -> tuple[TimelineEvent, ...]:
    """Past and future events of these facts, oldest first; facts staged for review are left out."""
    events = [event for each in records if each.fact.place != "staging" for event in _events(each)]
    return tuple(sorted(events, key=lambda each: (each.at, _ORDER.index(each.what), each.fact.id)))


def _events(record: FactRecord) -> Iterator[TimelineEvent]:
    fact = record.fact
    until, ended_by = until_of(record)
    forgotten = fact.deleted_at if fact.status == "deleted" else ""
    if not until or until > fact.begins:
        yield TimelineEvent(fact.begins, "began", fact)
    for day in fact.confirmed:
        # The day of recording is not a confirmation.
        if day > fact.recorded[:10]:
            yield TimelineEvent(f"{day}T00:00:00Z", "confirmed", fact)
    if until and not (forgotten and forgotten <= until):
        yield TimelineEvent(until, "replaced" if ended_by else "ended", fact, ended_by)
    if forgotten:
        yield TimelineEvent(forgotten, "forgotten", fact)


def _end_by_status(fact: Fact) -> FactEnd | None:
    """The end implied by the status; the last change if a person wrote only the status."""
    if fact.status == "expired":
        return FactEnd(fact.updated or fact.begins, "")
    if fact.status == "superseded":
        return FactEnd(fact.superseded_at or fact.updated or fact.begins, fact.superseded_by)
    return None


def _fact_as_known(fact: Fact, known_at: str) -> Fact:
    """The fact without what was written down after that moment."""
    if fact.deleted_at > known_at:
        # An entry that was in the archive when it was forgotten had been replaced before, and is so again.
        was_replaced = bool(fact.superseded_at) and fact.place == "archive"
        fact = replace(fact, status="superseded" if was_replaced else "active", deleted_at="", reason="")
    if fact.superseded_at > known_at:
        place = "" if fact.place == "archive" else fact.place
        fact = replace(fact, status="active", place=place, superseded_by="", superseded_at="")
    if fact.archived_at > known_at:
        fact = _before_archive(fact)
    if fact.invalidated_at > known_at:
        fact = replace(fact, valid_until=fact.was_valid_until, invalidated_at="", was_valid_until="")
    if fact.updated <= known_at and (not fact.confirmed or max(fact.confirmed) <= known_at):
        return fact
    confirmed = tuple(day for day in fact.confirmed if day <= known_at)
    return replace(fact, confirmed=confirmed, updated=min(fact.updated, known_at))


def _before_archive(fact: Fact) -> Fact:
    """The fact as it was before upkeep put it away."""
    is_put_away = fact.status in ("archived", "expired") and fact.place == "archive"
    return replace(fact, status="active", place="", archived_at="") if is_put_away else fact


def _earlier(first: FactEnd | None, second: FactEnd | None) -> FactEnd | None:
    return min(first, second) if first and second else first or second
