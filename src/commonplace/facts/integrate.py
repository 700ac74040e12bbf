"""What becomes of a candidate that meets what is known: a pure decision, with its reason in words.

A predicate decides before similarity does. Nothing is decided that would change a text in place: a candidate either
confirms what is known, or becomes a new version. Reasons never quote what a fact says: they outlive it when it is
erased.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from commonplace.facts.claims import FactRules
from commonplace.facts.integrate_statement import integrate_statement
from commonplace.facts.integrate_triple import integrate_triple
from commonplace.facts.meeting import Meeting, is_replaceable, meeting_of
from commonplace.facts.predicates import predicate_key
from commonplace.model import Action, Bond, Candidate, Near, Verdict

_ACTIONS: Final[dict[Bond, tuple[Action, str]]] = {
    "update": ("supersede", "It was said to replace that one."),
    "extend": ("extend", "It was said to add to that one."),
    "derive": ("derive", "It was said to follow from that one."),
    "contradict": ("contradict", "It was said to speak against that one."),
}


def integrate(candidate: Candidate, near: Sequence[Near], *, rules: FactRules, now: str) -> Verdict:
    """What is to become of the candidate.

    `near` are the known facts that say the same, that have its subject and predicate, or that are near in meaning; of
    any status and in any order. The target of an `insert` keeps its status and ends when the candidate begins: it was
    replaced already, or holds until a moment that is still to come.
    """
    meeting = meeting_of(candidate, near, rules=rules, now=now)
    verdict = _integrate(meeting)
    if verdict.action == "confirm":
        return verdict
    if verdict.action == "supersede" and meeting.begins > now:
        verdict = replace(verdict, action="insert", reason="What is known holds until this begins.")
    return replace(verdict, until=meeting.until)


def _integrate(meeting: Meeting) -> Verdict:
    for known in reversed(meeting.holding):
        if meeting.says_the_same(known):
            return _integrate_repeat(meeting, known)
    is_triple = bool(predicate_key(meeting.candidate.predicate))
    verdict = integrate_triple(meeting) if is_triple else integrate_statement(meeting)
    return _with_bonds(meeting, verdict)


def _integrate_repeat(meeting: Meeting, near: Near) -> Verdict:
    """What becomes of a candidate whose triple or words are known, and hold when it begins."""
    known = near.known.fact.id
    if meeting.says_nothing_new(near):
        return Verdict("confirm", known, "This is known already.")
    if meeting.may_come_again:
        return Verdict("insert", "", "The same has come again.")
    if is_replaceable(near):
        return Verdict("supersede", known, "It says until when that holds.")
    return Verdict("confirm", known, "This is known already, if not for how long.")


def _with_bonds(meeting: Meeting, verdict: Verdict) -> Verdict:
    """The verdict, or what the caller says of the candidate; a value that only one fact may have still ends the old."""
    stated = meeting.candidate.bonds
    if not stated or (meeting.is_single and verdict.target):
        return verdict
    bond, target = stated[0]
    action, reason = _ACTIONS[bond]
    return replace(verdict, action=action, target=target, reason=reason, is_grey=False)
