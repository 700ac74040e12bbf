"""Decide what becomes of a candidate fact, given the facts already known: a pure decision with a reason in words.

Nothing is ended on a guess. A candidate confirms a known fact if it has its words or its triple. It ends a known fact
if its caller says so, or if it is a triple whose predicate has one value at a time; nothing else ends a fact, and
likeness never does. What was said earlier never ends what was said or recorded later, unless its beginning is stated;
what is said later and states its beginning ends what states none, however early it begins.
Reasons never quote a fact, because they outlive it when it is erased.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from commonplace.facts.claims import FactRules, is_rivalling, rivals_nothing
from commonplace.facts.triples import predicate_key
from commonplace.facts.validity import holds, until_of
from commonplace.facts.words import jaccard
from commonplace.model import Action, Bond, Candidate, Fact, FactRecord, Verdict

OVERLAP: Final = 0.6
"""The share of common words from which the objects of two triples may be the same value."""

_GONE: Final = frozenset({"archived", "deleted"})
"""Statuses of facts that no longer count, for any time."""

_DAY: Final = "T00:00:00Z"  # how a moment ends that is a day

_ACTIONS: Final[dict[Bond, tuple[Action, str]]] = {
    "update": ("supersede", "It is said to replace this entry."),
    "extend": ("extend", "It is said to add to this entry."),
    "derive": ("derive", "It is said to follow from this entry."),
    "contradict": ("contradict", "It is said to contradict this entry."),
}


@dataclass(frozen=True, slots=True)
class Comparison:
    """A candidate, the moments at which it begins and is saved, and the known facts it is compared with.

    `current` are the facts that hold as it begins, `later` those that begin after it. Both include facts that were
    replaced since, for the time in which they held. `other_days` are the ids of facts whose words meant another day
    when they were said, such as "tomorrow".
    """

    candidate: Candidate
    begins: str
    now: str
    current: tuple[FactRecord, ...]
    later: tuple[FactRecord, ...]
    rules: FactRules
    other_days: frozenset[str] = frozenset()

    @property
    def is_single(self) -> bool:
        """True if the candidate's predicate has one value at a time, and the candidate is one of its values."""
        return self.rules.predicates.is_single(self.candidate.predicate) and is_rivalling(self.candidate)

    @property
    def may_recur(self) -> bool:
        """True if the same thing may happen twice: temporary predicates and events."""
        return self.candidate.fact == "event" or self.rules.predicates.is_temporary(self.candidate.predicate)

    @property
    def until(self) -> str:
        """When a known later fact replaces the candidate; empty if none does, or if the candidate ends before."""
        replaces = self._follows if self.is_single else self.says_the_same
        following = [each.fact.begins for each in self.later if replaces(each) and not self._is_beside(each)]
        ends = self.candidate.valid_until
        return "" if not following or (ends and ends <= following[0]) else following[0]

    @property
    def rivals(self) -> tuple[FactRecord, ...]:
        """The other values that hold as the candidate begins, and those after it that it outranks until its end."""
        until = self.until
        outranked = (each for each in self.later if self.outranks(each) and (not until or each.fact.begins < until))
        return tuple(each for each in (*self.current, *outranked) if self.is_rival(each))

    def outranks(self, similar: FactRecord) -> bool:
        """True if the candidate states when it began, and the known fact was said before it and states no beginning.

        When that was recorded says nothing about the time before. The same value that still holds is no other one.
        """
        fact, said = similar.fact, self.candidate.said or self.now
        if not self.candidate.valid_from or states_beginning(fact) or said < said_at(fact):
            return False
        return not (self.says_the_same(similar) and holds(similar, self.now))

    def is_rival(self, similar: FactRecord) -> bool:
        """True if the known fact is another value of the candidate's subject and predicate.

        So is one that is said to end another, which only the person may allow, and one that holds with a third one.
        """
        candidate, fact = self.candidate, similar.fact
        if predicate_key(candidate.predicate) != predicate_key(fact.predicate) or rivals_nothing(fact):
            return False
        is_beside = ("both", fact.id) in candidate.bonds
        return not is_beside and self.rules.entity(candidate.subject) == self.rules.entity(fact.subject)

    def _is_beside(self, similar: FactRecord) -> bool:
        return _is_asked_for(similar) or similar.fact.id in self.other_days

    def _follows(self, similar: FactRecord) -> bool:
        return self.is_rival(similar) and not self.outranks(similar)

    def says_the_same(self, similar: FactRecord) -> bool:
        """True if the known fact has the same triple or, for statements, the same words about the same subject."""
        fact, candidate = similar.fact, self.candidate
        if predicate_key(fact.predicate) != predicate_key(candidate.predicate):
            return False
        is_equal = self.rules.fingerprint(fact) == self.rules.fingerprint(candidate)
        return is_equal and not self._has_other_subject(fact)

    def is_nearly_the_same(self, similar: FactRecord) -> bool:
        """True for the same predicate of the same subject with an object in nearly the same words."""
        is_triple = bool(predicate_key(self.candidate.predicate)) and self.is_rival(similar)
        return is_triple and jaccard(self.candidate.object, similar.fact.object) >= OVERLAP

    def adds_no_dates(self, similar: FactRecord) -> bool:
        """True if the candidate states no start or end that the known fact lacks."""
        candidate, fact = self.candidate, similar.fact
        is_of_a_day = candidate.fact == "event" or (self.may_recur and bool(candidate.valid_from))
        if fact.id in self.other_days or (is_of_a_day and self.begins[:10] != fact.begins[:10]):
            return False
        if not candidate.valid_until:
            return True
        default = self.rules.predicates.default_until(candidate.predicate, self.begins)
        return (self.until or candidate.valid_until) in (default, fact.valid_until)

    def was_said_before(self, similar: FactRecord) -> bool:
        """True if the candidate was said before the known fact was, and does not say when it began."""
        return was_said_before(self.candidate, similar.fact)

    def _has_other_subject(self, fact: Fact) -> bool:
        subject, other = self.rules.entity(self.candidate.subject), self.rules.entity(fact.subject)
        return bool(subject and other) and subject != other


def was_said_before(candidate: Candidate, fact: Fact) -> bool:
    """True if the candidate was said before the fact was, and does not say when it began: it cannot end the fact."""
    return bool(candidate.said) and not candidate.valid_from and candidate.said < said_at(fact)


def said_at(fact: Fact) -> str:
    """When it was said: what was learned begins then, unless it states a day; else when it was recorded."""
    return fact.recorded if not fact.valid_from or states_beginning(fact) else fact.valid_from


def states_beginning(fact: Fact) -> bool:
    """True if the fact says when it began; what was learned begins as it was said, if it names no day."""
    is_learned = fact.origins.trust in ("mined", "imported")
    return bool(fact.valid_from) and not (is_learned and not fact.valid_from.endswith(_DAY))


def integrate(
    candidate: Candidate,
    similar: Sequence[FactRecord],
    *,
    rules: FactRules,
    now: str,
    other_days: frozenset[str] = frozenset(),
) -> Verdict:
    """What to do with the candidate.

    `similar` are the known facts that say the same or have its subject and predicate, and those that it is said to
    replace; of any status and in any order. The target of an `insert` keeps its status and ends when the candidate
    begins: it was replaced already, or holds until a moment in the future.
    """
    comparison = compare(candidate, similar, rules=rules, now=now, other_days=other_days)
    verdict = _verdict(comparison)
    if verdict.action == "confirm":
        return verdict
    if verdict.action == "supersede" and comparison.begins > now:
        verdict = replace(verdict, action="insert")
    return verdict if verdict.until else replace(verdict, until=comparison.until)


def compare(
    candidate: Candidate,
    similar: Sequence[FactRecord],
    *,
    rules: FactRules,
    now: str,
    other_days: frozenset[str] = frozenset(),
) -> Comparison:
    """The candidate with the known facts that count for it, in an order that does not depend on the order given."""
    begins = candidate.valid_from or candidate.said or now
    valid = sorted(filter(_counts, similar), key=lambda each: (each.fact.begins, each.fact.id))
    return Comparison(
        candidate=candidate,
        begins=begins,
        now=now,
        current=tuple(each for each in valid if holds(each, begins)),
        later=tuple(each for each in valid if each.fact.begins > begins and _lasts(each)),
        rules=rules,
        other_days=other_days,
    )


def _verdict(comparison: Comparison) -> Verdict:
    for similar in reversed(comparison.current):
        if comparison.says_the_same(similar):
            return _integrate_repeat(comparison, similar)
    for similar in comparison.later:  # the same words, said again since
        is_dated = comparison.candidate.valid_from or not comparison.candidate.said
        if not is_dated and comparison.says_the_same(similar) and comparison.adds_no_dates(similar):
            return Verdict("confirm", similar.fact.id, "This is already known.")
    verdict = _integrate_single(comparison) if comparison.is_single else _integrate_other(comparison)
    return _apply_stated_bond(comparison, verdict)


def _integrate_repeat(comparison: Comparison, similar: FactRecord) -> Verdict:
    """The verdict on a candidate whose triple or words are known and hold when it begins."""
    target = similar.fact.id
    if comparison.adds_no_dates(similar):
        return Verdict("confirm", target, "This is already known.")
    if comparison.may_recur or target in comparison.other_days:
        return Verdict("insert", "", "It was said of another day.")
    if comparison.was_said_before(similar):
        return Verdict("insert", "", "It was said before what is known.")
    if _is_replaceable(similar):
        return Verdict("supersede", target, "It adds the end of what is known.")
    return Verdict("insert", "", "It states an end, which a line of a note does not have.")


def _apply_stated_bond(comparison: Comparison, verdict: Verdict) -> Verdict:
    """The verdict, or the bond that the caller stated: first of all that it replaces something.

    What the candidate ends as another value of a triple ends beside what it is said to replace. Any other bond changes
    no ending: it is kept with the entry.
    """
    stated = [each for each in comparison.candidate.bonds if each[0] in _ACTIONS]
    if not stated:
        return verdict
    bond, target = next((each for each in stated if each[0] == "update"), stated[0])
    if bond != "update" and verdict.target:
        return verdict
    action, reason = _ACTIONS[bond]
    also = tuple(each for each in verdict.also if each != target)
    return replace(verdict, action=action, target=target, reason=reason, also=also)


def _integrate_single(comparison: Comparison) -> Verdict:
    """One value at a time: the new value ends those that hold when it begins, and all that was said to end them."""
    one = f"`{predicate_key(comparison.candidate.predicate)}` has one value at a time"
    rivals = sorted(comparison.rivals, key=_is_asked_for, reverse=True)
    also = tuple(similar.fact.id for similar in rivals)
    if any(map(comparison.was_said_before, rivals)):
        until = comparison.begins  # a window of no length: it is part of the past, and ends nothing
        return Verdict("insert", "", f"{one}, and what is known was recorded later.", until)
    for similar in filter(_is_replaceable, reversed(rivals)):
        how = "was said later" if similar.fact.begins > comparison.begins else "begins later"
        return Verdict("supersede", similar.fact.id, f"{one}, and this one {how}.", also=also)
    if replaced := [similar for similar in rivals if not _is_active(similar)]:
        return Verdict("insert", replaced[-1].fact.id, f"{one}, and this one falls between two of them.", also=also)
    if rivals:
        return Verdict("insert", rivals[-1].fact.id, f"{one}, and this one ends what a note says.", also=also)
    if comparison.until:
        return Verdict("insert", "", f"{one}, and a later one is known.")
    return Verdict("insert", "", "Nothing similar is known for that time.")


def _integrate_other(comparison: Comparison) -> Verdict:
    """What stands beside everything else: statements, and predicates of which several values hold."""
    if any(_is_active(each) and comparison.is_nearly_the_same(each) for each in comparison.current):
        return Verdict("insert", "", "Nearly the same is known.")
    if any(comparison.is_rival(each) for each in comparison.current) and predicate_key(comparison.candidate.predicate):
        return Verdict("insert", "", "It can be true alongside what is known.")
    return Verdict("insert", "", "It is not known yet.")


def _is_asked_for(similar: FactRecord) -> bool:
    """True for what is said to end another, and waits for the person: it ends nothing before."""
    return any(bond == "end" for bond, _ in similar.fact.bonds)


def _is_active(similar: FactRecord) -> bool:
    return similar.fact.status == "active"


def _is_replaceable(similar: FactRecord) -> bool:
    """True for an active entry. A line belongs to the writer of its note and ends only by a fact that begins later."""
    return _is_active(similar) and similar.fact.origin == "entry"


def _counts(similar: FactRecord) -> bool:
    fact = similar.fact
    is_put_away = _is_active(similar) and fact.place == "archive"
    return fact.place != "staging" and fact.status not in _GONE and not is_put_away


def _lasts(similar: FactRecord) -> bool:
    until, _ = until_of(similar)
    return not until or similar.fact.begins < until
