"""A triple meets the known facts of its subject and predicate."""

from commonplace.facts.likeness import OVERLAP, likeness
from commonplace.facts.meeting import Meeting, is_active, is_replaceable
from commonplace.facts.predicates import predicate_key
from commonplace.facts.wording import jaccard
from commonplace.model import Near, Verdict


def integrate_triple(meeting: Meeting) -> Verdict:
    """What the rule of its predicate says of a triple that is not known yet."""
    return _integrate_single(meeting) if meeting.is_single else _integrate_many(meeting)


def _integrate_single(meeting: Meeting) -> Verdict:
    """One value at a time: the new one ends the one that holds when it begins."""
    one = f"There is one {predicate_key(meeting.candidate.predicate)} at a time"
    held = [near for near in meeting.holding if meeting.is_rival(near)]
    for near in reversed(held):
        if is_replaceable(near):
            return Verdict("supersede", near.known.fact.id, f"{one}, and this one begins later.")
        if not is_active(near):
            return Verdict("insert", near.known.fact.id, f"{one}, and this one falls between two of them.")
    if held:
        return Verdict("insert", held[-1].known.fact.id, f"{one}, and this one ends what a note says.")
    if meeting.until:
        return Verdict("insert", "", f"{one}, and a later one is known.")
    return Verdict("insert", "", "Nothing like it is known for that time.")


def _integrate_many(meeting: Meeting) -> Verdict:
    """Many values beside each other: only an object in nearly the same words is the same value."""
    alike = [near for near in meeting.holding if is_active(near) and meeting.is_rival(near)]
    for near in sorted(alike, key=lambda near: -_overlap(meeting, near)):
        if _overlap(meeting, near) < OVERLAP or not meeting.says_nothing_new(near):
            continue
        found = likeness(meeting.candidate.object, near.known.fact.object, cosine=None)
        if found == "same":
            return Verdict("confirm", near.known.fact.id, "This is known already in other words.")
        if found == "more" and is_replaceable(near):
            return Verdict("supersede", near.known.fact.id, "It says the same more precisely.")
    if alike:
        return Verdict("insert", "", "It may hold beside what is known.")
    return Verdict("insert", "", "Nothing like it is known.")


def _overlap(meeting: Meeting, near: Near) -> float:
    return jaccard(meeting.candidate.object, near.known.fact.object)
