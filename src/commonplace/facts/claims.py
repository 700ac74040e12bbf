"""What only one fact may say at a time, and which of several that say it holds when."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Final

from commonplace.facts.entities import ME, entity_key
from commonplace.facts.options import FactsOptions
from commonplace.facts.predicates import Predicates, predicate_key, predicates_of
from commonplace.facts.wording import fingerprint
from commonplace.model import End, Fact

_SILENT: Final = frozenset({"archive", "staging"})
"""Places whose facts claim nothing: they are over, or wait for a person."""
_DAWN: Final = "0001-01-01T00:00:00Z"
"""The end of a fact that never held, where nobody knows when it would have begun: an empty one would be open."""


@dataclass(frozen=True, slots=True)
class FactRules:
    """The rules by which facts compare and end each other, for one user and their predicates."""

    predicates: Predicates = field(default_factory=Predicates)
    user: str = ME

    def entity(self, name: str) -> str:
        """The name as it compares: the same for all spellings of one name; empty for none."""
        return entity_key(name, user=self.user)

    def fingerprint(self, *, subject: str = "", predicate: str = "", object: str = "", text: str = "") -> str:
        """The same for the same triple, whatever its text; without a predicate, for the same words."""
        if not predicate_key(predicate):
            return fingerprint(text)
        return fingerprint("|".join((self.entity(subject), predicate_key(predicate), self.entity(object))))

    def claim(self, fact: Fact) -> str:
        """What only this fact may say at a time, as a text that compares; empty where it claims nothing."""
        if not _speaks(fact):
            return ""
        subject, predicate = self.entity(fact.subject), predicate_key(fact.predicate)
        if not predicate:
            return f"={subject}|{fingerprint(fact.text)}" if subject else f"={fingerprint(fact.text)}"
        if self.predicates.is_single(predicate):
            return f"{subject}|{predicate}"
        return f"{subject}|{predicate}|{self.entity(fact.object)}"

    def ends(self, facts: Sequence[Fact]) -> Mapping[str, End]:
        """Of facts with the same claim, those that hold no longer because another begins, by id.

        Each ends when the next begins. Of several that begin at once the one with the highest id holds; the others
        never do. A fact whose own window is over by then ends by itself. What is worth less ends nothing that is worth
        more: it holds only while nothing better does.
        """
        ends: dict[str, End] = {}
        better: list[Fact] = []
        for _, worth_the_same in groupby(sorted(filter(_lasts, facts), key=_worth), key=_worth):
            equals = sorted(worth_the_same, key=lambda each: (each.begins, each.id))
            ends |= _ends_in_turn(equals)
            for each in equals:
                if end := _end_by(better, each, ends):
                    ends[each.id] = end
            better += equals
        return ends


def rules_of(options: FactsOptions, user: str) -> FactRules:
    """The rules for this user, with the predicates that the options add."""
    return FactRules(predicates=predicates_of(options), user=user)


def _worth(fact: Fact) -> int:
    """How much the fact is worth against others: what the person told, what stands in a note, what a program says."""
    if fact.origin == "line":
        return 1
    return {"told": 0, "said": 2, "mined": 2}.get(fact.origins.trust, 3)


def _ends_in_turn(facts: Sequence[Fact]) -> dict[str, End]:
    """The ends of facts that are worth the same, in order: each ends when the next begins."""
    rounds = [list(group) for _, group in groupby(facts, key=lambda each: each.begins)]
    ends = {}
    for place, starting in enumerate(rounds):
        *losers, winner = starting
        for each in losers:
            ends[each.id] = End(at=each.begins or _DAWN, by=winner.id)
        following = rounds[place + 1][-1] if place + 1 < len(rounds) else None
        if following and not (winner.valid_until and winner.valid_until <= following.begins):
            ends[winner.id] = End(at=following.begins, by=following.id)
    return ends


def _end_by(better: Sequence[Fact], fact: Fact, ends: Mapping[str, End]) -> End | None:
    """The end that something better puts to the fact: at once where that holds already, else when it begins."""
    found = ends.get(fact.id)
    for each in sorted(better, key=lambda each: (each.begins, each.id)):
        own = ends.get(each.id)
        until = min((at for at in (each.valid_until, own.at if own else "") if at), default="")
        starts = max(each.begins, fact.begins)
        if (until and until <= starts) or (fact.valid_until and fact.valid_until <= starts):
            continue
        if found is None or starts < found.at:
            found = End(at=starts or _DAWN, by=each.id)
    return found


def _speaks(fact: Fact) -> bool:
    """Whether the fact claims anything: it stands, or it did until it was replaced, and still claims that time."""
    if fact.status == "superseded":
        return bool(fact.valid_until) and fact.place != "staging"
    return fact.status == "active" and fact.place not in _SILENT


def _lasts(fact: Fact) -> bool:
    return not fact.valid_until or fact.begins < fact.valid_until
