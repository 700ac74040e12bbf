"""A candidate beside the known facts that may count for it, sorted by how they stand at the moment it begins."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from commonplace.facts.claims import FactRules
from commonplace.facts.predicates import predicate_key
from commonplace.facts.validity import holds, until_of
from commonplace.model import Candidate, Fact, Near

_GONE: Final = frozenset({"archived", "deleted"})
"""Facts that nobody stands by any more, for any time."""


@dataclass(frozen=True, slots=True)
class Meeting:
    """The candidate, the moment at which it begins, and the known facts.

    `holding` are those that hold at that moment, `coming` those that begin later; among both are facts that were
    replaced since, for the time in which they held.
    """

    candidate: Candidate
    begins: str
    holding: tuple[Near, ...]
    coming: tuple[Near, ...]
    rules: FactRules

    @property
    def is_single(self) -> bool:
        """Whether only one fact may say at a time what the candidate says."""
        return self.rules.predicates.is_single(self.candidate.predicate)

    @property
    def may_come_again(self) -> bool:
        """Whether the same may happen twice: what is temporary, and events."""
        if self.is_single:
            return False
        return self.candidate.fact == "event" or self.rules.predicates.is_temporary(self.candidate.predicate)

    @property
    def until(self) -> str:
        """When another fact begins that takes the candidate's place; empty where none is known, or it ends before."""
        takes_place = self.is_rival if self.is_single else self.says_the_same
        following = [each.known.fact.begins for each in self.coming if takes_place(each)]
        ends = self.candidate.valid_until
        return "" if not following or (ends and ends <= following[0]) else following[0]

    def is_rival(self, near: Near) -> bool:
        """Whether the known fact has the subject and the predicate of the candidate."""
        candidate, fact = self.candidate, near.known.fact
        if predicate_key(candidate.predicate) != predicate_key(fact.predicate):
            return False
        return self.rules.entity(candidate.subject) == self.rules.entity(fact.subject)

    def says_the_same(self, near: Near) -> bool:
        """Whether the known fact has the same triple, or for statements the same words of the same subject."""
        fact, candidate = near.known.fact, self.candidate
        if predicate_key(fact.predicate) != predicate_key(candidate.predicate):
            return False
        return self._fingerprint(fact) == self._fingerprint(candidate) and not self.is_of_another(fact)

    def is_of_another(self, fact: Fact) -> bool:
        """Whether the two name their subjects, and not the same one."""
        subject, known = self.rules.entity(self.candidate.subject), self.rules.entity(fact.subject)
        return bool(subject and known) and subject != known

    def says_nothing_new(self, near: Near) -> bool:
        """Whether the candidate gives no end of its own, beside the words, that the known fact has not."""
        candidate = self.candidate
        if self.may_come_again and candidate.valid_from and candidate.valid_from != near.known.fact.begins:
            return False
        if not candidate.valid_until:
            return True
        usual = self.rules.predicates.default_until(candidate.predicate, self.begins)
        return (self.until or candidate.valid_until) in (usual, near.known.fact.valid_until)

    def _fingerprint(self, said: Fact | Candidate) -> str:
        return self.rules.fingerprint(
            subject=said.subject, predicate=said.predicate, object=said.object, text=said.text
        )


def meeting_of(candidate: Candidate, near: Sequence[Near], *, rules: FactRules, now: str) -> Meeting:
    """The candidate beside those known facts that count for it, in an order that does not depend on theirs."""
    begins = candidate.valid_from or now
    standing = sorted(filter(_stands, near), key=lambda each: (each.known.fact.begins, each.known.fact.id))
    return Meeting(
        candidate=candidate,
        begins=begins,
        holding=tuple(each for each in standing if holds(each.known, begins)),
        coming=tuple(each for each in standing if each.known.fact.begins > begins and _lasts(each)),
        rules=rules,
    )


def is_active(near: Near) -> bool:
    """Whether the fact still stands, and was not replaced since."""
    return near.known.fact.status == "active"


def is_replaceable(near: Near) -> bool:
    """Whether the fact can be replaced: a line of a note is its writer's, and ends only by what begins later."""
    return is_active(near) and near.known.fact.origin == "entry"


def _stands(near: Near) -> bool:
    fact = near.known.fact
    return fact.place != "staging" and fact.status not in _GONE and not (is_active(near) and fact.place == "archive")


def _lasts(near: Near) -> bool:
    until, _ = until_of(near.known)
    return not until or near.known.fact.begins < until
