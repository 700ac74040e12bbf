"""Claims: what only one fact may say at a time, and which of several facts with the same claim holds when."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Final

from commonplace.facts.options import FactsOptions
from commonplace.facts.triples import ME, Predicates, entity_key, predicate_key, predicates_of
from commonplace.facts.words import fingerprint
from commonplace.model import Candidate, Fact, FactEnd, Trust

_WITHOUT_CLAIM: Final = frozenset({"archive", "staging"})
"""Places whose facts claim nothing: they are over, or wait for review."""
_DAWN: Final = "0001-01-01T00:00:00Z"
"""The end of a fact that never held and whose start is unknown: an empty end would mean an open one."""


@dataclass(frozen=True, slots=True)
class FactRules:
    """The rules by which facts compare and end each other, for one user and their predicates."""

    predicates: Predicates = field(default_factory=Predicates)
    user: str = ME

    def entity(self, name: str) -> str:
        """The entity's normalized name: the same for every spelling; empty for no name."""
        return entity_key(name, user=self.user)

    def fingerprint(self, statement: Fact | Candidate) -> str:
        """A hash that is equal for equal triples, whatever the text; without a predicate, for equal words."""
        predicate = predicate_key(statement.predicate)
        if not predicate:
            return fingerprint(statement.text)
        return fingerprint("|".join((self.entity(statement.subject), predicate, self.entity(statement.object))))

    def claim(self, fact: Fact) -> str:
        """A key for what only this fact may say at a time; empty if the fact claims nothing.

        A plain statement speaks of its own project only, a triple of its subject, wherever it was saved. What holds
        until a stated day stands beside every other one, an event and what is true for a while beside those of other
        days, what is said to hold with others beside these (of a predicate with one value at a time, see `ends`).
        """
        if not _has_claim(fact):
            return ""
        subject, predicate = self.entity(fact.subject), predicate_key(fact.predicate)
        beside = sorted(target for bond, target in fact.bonds if bond == "both")
        if beside or fact.fact == "event" or self.predicates.is_temporary(predicate):
            beside = [fact.begins[:10], *beside]
        if not predicate:
            said = (subject, fingerprint(fact.text), fact.project.casefold(), *beside)
            return "=" + "|".join(filter(None, said))
        if self.predicates.is_single(predicate) and is_rivalling(fact):
            return f"{subject}|{predicate}"
        return "|".join((subject, predicate, self.entity(fact.object), *beside))

    def ends(self, facts: Sequence[Fact]) -> Mapping[str, FactEnd]:
        """Among facts with the same claim, the end of each that another one replaces, by id.

        Each ends when the next begins that is not said to hold with it. Of several that begin at once the one with the
        highest id holds and the others never do. A fact whose own window is over by then ends by itself. A less trusted
        fact never ends a more trusted one: it holds only while no better one does.
        """
        ends: dict[str, FactEnd] = {}
        better: list[Fact] = []
        for _, group in groupby(sorted(filter(_lasts, facts), key=_trust_rank), key=_trust_rank):
            equals = sorted(group, key=lambda each: (each.begins, each.id))
            ends |= _successive_ends(equals)
            for each in equals:
                if end := _end_by_better(better, each, ends):
                    ends[each.id] = end
            better += equals
        return ends


def is_rivalling(statement: Fact | Candidate) -> bool:
    """False for what holds beside other values: what rivals nothing, and what waits to end another."""
    return not (rivals_nothing(statement) or any(bond == "end" for bond, _ in statement.bonds))


def rivals_nothing(statement: Fact | Candidate) -> bool:
    """True for an event, and for what has a stated end.

    An end that another entry caused is no stated one (`with_end`), nor one that the history of a line implies.
    """
    stated = statement.valid_until
    if isinstance(statement, Fact) and (statement.origin == "line" or statement.invalidated_at):
        stated = statement.was_valid_until
    return bool(stated) or statement.fact == "event"


def is_beside(one: Fact, other: Fact) -> bool:
    """True if one of the two is said to hold with the other."""
    return ("both", other.id) in one.bonds or ("both", one.id) in other.bonds


def with_end(fact: Fact, until: str, *, now: str) -> Fact:
    """The fact with an end that it did not state itself; the one that it stated is kept for `rivals_nothing`."""
    stated = fact.was_valid_until if fact.invalidated_at else fact.valid_until
    return replace(fact, valid_until=until, invalidated_at=now, was_valid_until=stated, updated=now)


def is_own_line(fact: Fact) -> bool:
    """True for a line of a note that the person wrote, and not a program."""
    return fact.origin == "line" and is_own_word(fact)


def is_own_word(fact: Fact) -> bool:
    """True for what the person said: an entry that they told or wrote by hand, or their line of a note."""
    return fact.origins.trust in ("told", "read")


def speaker_of(fact: Fact) -> str:
    """Who said it, in a word or two: the person, a note, or the program that told or learned it."""
    origins = fact.origins
    if origins.trust == "told":
        return origins.author or "the person"
    if origins.trust == "read":
        return "a note"
    program = origins.interface or "a program"
    return {"mined": f"learned from {program}", "imported": f"imported from {program}"}.get(origins.trust, program)


def kind_of_speaker(fact: Fact) -> str:
    """Who said it, for a model: the person, by id if several share the vault, a note, or what kind of program.

    A program names itself, so its name is not among them.
    """
    if fact.origins.trust == "told" and fact.origins.author:
        return fact.origins.author
    kinds: dict[Trust, str] = {"told": "the person", "read": "a note", "said": "an agent", "imported": "an import"}
    return kinds.get(fact.origins.trust, "a program")


def rules_of(options: FactsOptions, user: str) -> FactRules:
    """The rules for this user, with the predicates that the options add."""
    return FactRules(predicates=predicates_of(options), user=user)


def _trust_rank(fact: Fact) -> int:
    """0 for what the person told, 1 for their line of a note, 2 for what a program said or mined, 3 for the rest."""
    if is_own_line(fact):
        return 1
    return {"told": 0, "said": 2, "mined": 2}.get(fact.origins.trust, 3)


def _successive_ends(facts: Sequence[Fact]) -> dict[str, FactEnd]:
    """The ends of equally trusted facts, given in order: each ends when the next begins that is not beside it."""
    ends: dict[str, FactEnd] = {}
    following: list[Fact] = []  # those that hold at some time, the first one last
    for each in reversed(facts):
        rival = next((other for other in reversed(following) if not is_beside(each, other)), None)
        if rival and not (each.valid_until and each.valid_until <= rival.begins):
            ends[each.id] = FactEnd(at=rival.begins or _DAWN, by=rival.id)
        if not (rival and rival.begins == each.begins):
            following.append(each)
    return ends


def _end_by_better(better: Sequence[Fact], fact: Fact, ends: Mapping[str, FactEnd]) -> FactEnd | None:
    """The fact's earliest end, counting more trusted facts: at once if one holds already, else when it begins."""
    earliest = ends.get(fact.id)
    for each in sorted(better, key=lambda each: (each.begins, each.id)):
        if is_beside(fact, each):
            continue
        own = ends.get(each.id)
        until = min((at for at in (each.valid_until, own.at if own else "") if at), default="")
        starts = max(each.begins, fact.begins)
        if (until and until <= starts) or (fact.valid_until and fact.valid_until <= starts):
            continue
        if earliest is None or starts < earliest.at:
            earliest = FactEnd(at=starts or _DAWN, by=each.id)
    return earliest


def _has_claim(fact: Fact) -> bool:
    """True if the fact is active, or was until it was replaced and still claims that time."""
    if fact.status == "superseded":
        return bool(fact.valid_until) and fact.place != "staging"
    return fact.status == "active" and fact.place not in _WITHOUT_CLAIM


def _lasts(fact: Fact) -> bool:
    return not fact.valid_until or fact.begins < fact.valid_until
