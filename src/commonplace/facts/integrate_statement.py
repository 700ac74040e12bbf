"""A statement meets the known facts that are near in meaning."""

from typing import Final, NamedTuple

from commonplace.facts.likeness import Likeness, likeness
from commonplace.facts.meeting import Meeting, is_active, is_replaceable
from commonplace.model import Fact, Near, Verdict

_FAMILIES: Final = (
    frozenset({"fact", "domain-reference", "insight", "crystallized", "identity", "decision", "event"}),
    frozenset({"preference", "feedback", "workflow", "procedural", "fix"}),
)
"""Kinds whose entries may say the same thing; every other kind is a family of its own."""

_FIRST: Final[tuple[Likeness, ...]] = ("same", "more", "against", "near")
"""Of several known facts, the one that stands to the candidate in the first of these ways counts."""


class _Match(NamedTuple):
    near: Near
    likeness: Likeness


def integrate_statement(meeting: Meeting) -> Verdict:
    """What the known fact nearest in words and meaning makes of a statement whose words are not known yet."""
    matches = [_Match(near, _likeness(meeting, near)) for near in meeting.holding if _is_comparable(meeting, near)]
    matches = [match for match in matches if match.likeness != "apart"]
    if not matches:
        return Verdict("insert", "", "Nothing like it is known.")
    return _verdict_on(meeting, max(matches, key=_weight))


def _verdict_on(meeting: Meeting, match: _Match) -> Verdict:
    fact = match.near.known.fact
    if match.likeness == "same" and meeting.says_nothing_new(match.near):
        return Verdict("confirm", fact.id, "This is known already in other words.")
    if match.likeness in ("same", "more") and is_replaceable(match.near) and not fact.predicate:
        return Verdict("supersede", fact.id, "It says the same more precisely.")
    if match.likeness == "against":
        return Verdict("contradict", fact.id, "It speaks against what is known.", is_grey=True)
    return Verdict("extend", fact.id, "It adds to what is known.", is_grey=True)


def _weight(match: _Match) -> tuple[int, float, str, str]:
    """The better of two matches weighs more; the later and then the higher id where all else is equal."""
    fact = match.near.known.fact
    return -_FIRST.index(match.likeness), match.near.cosine or 0.0, fact.begins, fact.id


def _likeness(meeting: Meeting, near: Near) -> Likeness:
    return likeness(meeting.candidate.text, near.known.fact.text, cosine=near.cosine)


def _is_comparable(meeting: Meeting, near: Near) -> bool:
    """Whether similarity may count: the fact is active, of the same family, and of the same subject or topic."""
    fact, candidate = near.known.fact, meeting.candidate
    if not is_active(near) or meeting.is_of_another(fact) or not _is_family(candidate.kind, fact.kind):
        return False
    return _has_same_subject(meeting, fact) or _share_topics(candidate.topics, fact.topics)


def _has_same_subject(meeting: Meeting, fact: Fact) -> bool:
    subject = meeting.rules.entity(meeting.candidate.subject)
    return bool(subject) and subject == meeting.rules.entity(fact.subject)


def _share_topics(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether a topic is common; a statement without topics says nothing of them, and may be about any."""
    topics = {topic.casefold() for topic in one}
    return not one or not other or not topics.isdisjoint(topic.casefold() for topic in other)


def _is_family(one: str, other: str) -> bool:
    return one == other or not one or not other or any({one, other} <= family for family in _FAMILIES)
