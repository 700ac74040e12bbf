"""Groups: entries that hold, are near to each other, and of which nobody has said how they relate.

A group orders its entries and says that they belong before a reader together; it decides nothing. What was said weekly
in other words for a year is one group of 52. Each entry is in one group at most. It joins one if it is near to the
newest entry or to more than half of the entries, so that a group does not grow along a chain.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log10
from typing import Final

from commonplace.facts.claims import FactRules, is_own_word, rivals_nothing
from commonplace.facts.entry_paths import PLAYBOOK_KINDS
from commonplace.facts.integrate import OVERLAP
from commonplace.facts.profile import is_constraint
from commonplace.facts.triples import predicate_key
from commonplace.facts.words import (
    FUNCTION_WORDS,
    bare_words,
    claim_stems,
    jaccard,
    lower_case_words,
    opening_names,
    without_possessive,
)
from commonplace.model import Bond, Fact

# Chosen by `bench/groups.py`, which prints the curves: of 14 to 1,300 independent statements a group changes at most
# 5 % of the contexts. Of more entries, more are near by chance.
_NEAR: Final = 0.47  # the cosine from which two of 35 entries may be of one group
_NEAR_FOR_TEN_TIMES: Final = 0.17
_SHARED: Final = 0.22  # the share of common claim words, where there is no encoder
_SHARED_FOR_TEN_TIMES: Final = 0.16
_CALIBRATED_FOR: Final = 35  # entries
_FEWEST: Final = 14

_SUBJECTS: Final = 2  # words that follow both of two openings, from which these are subjects: Ada plays, Ben plays

DISPUTES: Final[frozenset[Bond]] = frozenset({"end", "contradict"})
"""Bonds that say that two entries do not go together; every other bond says how they do."""


@dataclass(frozen=True, slots=True)
class Group:
    """Entries that are undecided among each other, at least two, the newest first."""

    entries: tuple[Fact, ...]

    @property
    def newest(self) -> Fact:
        """The entry that was said or confirmed last."""
        return self.entries[0]


def groups_of(
    facts: Iterable[Fact],
    near: Iterable[tuple[str, str]],
    *,
    rules: FactRules,
    disputes: frozenset[Bond] = DISPUTES,
    names: frozenset[str] = frozenset(),
) -> tuple[Group, ...]:
    """The groups among these entries, all of which hold, the group with the newest entry first.

    `near` are pairs of ids of entries that are near to each other. Two entries of which one has a bond of `disputes` to
    the other are near; those with any other bond are not of one group. `names` are the words of names, in lower case,
    that tell what somebody asks about: an entry that begins with one is about something else than one that lacks it.
    """
    by_id = {fact.id: fact for fact in facts if not rivals_nothing(fact)}
    subjects = _Subjects(by_id.values(), names)
    linked = defaultdict[str, set[str]](set)
    for one, other in (*near, *_bonded(by_id, disputes)):
        if one in by_id and other in by_id and _is_undecided(by_id[one], by_id[other], rules, disputes, subjects):
            linked[one].add(other)
            linked[other].add(one)
    groups: list[list[Fact]] = []
    for fact in newest_first(by_id[id] for id in linked):
        group = next((each for each in groups if _joins(linked[fact.id], each)), None)
        if group is None:
            groups.append(group := [])
        group.append(fact)
    return tuple(Group(tuple(each)) for each in groups if len(each) > 1)


class _Subjects:
    """What entries are about, as far as their first words tell: "Ada plays chess", "Ben plays the oboe".

    Two openings are subjects if several words follow both of them, as where "Ada lives" and "Ben lives" are known, too.
    A word that is also written in lower case begins no subject: "Prefers", where somebody "prefers" something.
    """

    def __init__(self, facts: Iterable[Fact], names: frozenset[str]) -> None:
        self._names = names
        self._words: dict[str, frozenset[str]] = {}
        self._openings: dict[str, frozenset[str]] = {}
        self._following = defaultdict[frozenset[str], set[str]](set)
        self._ordinary = {*FUNCTION_WORDS}
        for fact in facts:
            opening, following = opening_names(fact.text)
            self._words[fact.id] = frozenset(map(without_possessive, bare_words(fact.text)))
            self._openings[fact.id] = frozenset(opening)
            self._following[frozenset(opening)] |= {following} - FUNCTION_WORDS - {""}
            self._ordinary |= lower_case_words(fact.text)

    def differ(self, one: str, other: str) -> bool:
        """True if two entries begin with subjects of their own, or one with a name that was asked for."""
        ours, theirs = self._openings[one], self._openings[other]
        is_own, is_other = ours.isdisjoint(self._words[other]), theirs.isdisjoint(self._words[one])
        if self._is_asked(ours, other) or self._is_asked(theirs, one):
            return True
        is_name = is_own and is_other and self._ordinary.isdisjoint(ours | theirs)
        return is_name and len(self._following[ours] & self._following[theirs]) >= _SUBJECTS

    def apart(self) -> frozenset[str]:
        """The ids of the entries that begin with another name than those asked for, if one begins with such a name.

        What shares a name with an entry that has one of these belongs to it: "Ben took it over from Ada".
        """
        asked = [id for id, words in self._words.items() if not self._names.isdisjoint(words)]
        if not any(self._openings[id] & self._names for id in asked):
            return frozenset()
        linked = self._names.union(*(self._named(id) for id in asked))
        return frozenset(
            id
            for id, opening in self._openings.items()
            if self._has_name(opening)
            and self._names.isdisjoint(self._words[id])
            and linked.isdisjoint(self._named(id))
        )

    def _has_name(self, opening: frozenset[str]) -> bool:
        """False for what no name begins with: an ordinary word, or one that is short for two, as "we're"."""
        return any("'" not in word[2:] for word in opening - self._ordinary)

    def _named(self, id: str) -> frozenset[str]:
        """The words of the entry that are written as names wherever they stand."""
        return frozenset(word for word in self._words[id] - self._ordinary if word.isalpha())

    def _is_asked(self, opening: frozenset[str], other: str) -> bool:
        """True if names in the opening were asked for, and the other entry has none of them."""
        asked = opening & self._names
        return bool(asked) and asked.isdisjoint(self._words[other])


def about_others(facts: Iterable[Fact], names: frozenset[str]) -> frozenset[str]:
    """The ids of the entries that begin with another name than those asked for, where one begins with such a name."""
    return _Subjects(facts, names).apart()


def kept_together(ids: Iterable[str], groups: Iterable[Group]) -> list[str]:
    """These ids in their order, those of a group together, the newest first, where the first of them stands."""
    members = {fact.id: [each.id for each in group.entries] for group in groups for fact in group.entries}
    return [*dict.fromkeys(other for id in ids for other in members.get(id, [id]))]


def giving_way(groups: Iterable[Group], *, prompt: str = "") -> frozenset[str]:
    """The ids of the older entries that give way to others where room is short.

    What harms if it is missed does not, nor does the person's word where only a program says otherwise since, nor what
    has a claim word of the prompt that the newest entry lacks.
    """
    asked = claim_stems(prompt)
    pairs = ((older, group.newest) for group in groups for older in group.entries[1:])
    return frozenset(
        older.id
        for older, newest in pairs
        if not is_constraint(older)
        and (is_own_word(newest) or not is_own_word(older))
        and claim_stems(newest.text) >= asked & claim_stems(older.text)
    )


def near_from(count: int) -> float:
    """The cosine from which two of so many entries may be of one group."""
    return _NEAR + _NEAR_FOR_TEN_TIMES * _decades(count)


def near_words_from(count: int) -> float:
    """The share of common claim words from which two of so many entries may be of one group."""
    return _SHARED + _SHARED_FOR_TEN_TIMES * _decades(count)


def _decades(count: int) -> float:
    return log10(max(count, _FEWEST) / _CALIBRATED_FOR)


def newest_of(groups: Iterable[Group]) -> dict[str, str]:
    """For each older entry of a group, by id, the newest one."""
    return {older.id: group.newest.id for group in groups for older in group.entries[1:]}


def _is_undecided(one: Fact, other: Fact, rules: FactRules, disputes: frozenset[Bond], subjects: _Subjects) -> bool:
    """True if nobody has said how two near entries relate, and they are not about different things.

    A playbook is no other value of a statement. Of two triples only those with one subject and one relation can be the
    same, if their objects share most words.
    """
    bonds = {bond for bond, _ in (*_bonds(one, other), *_bonds(other, one))}
    if one.id == other.id or bonds - disputes or _is_version(one, other) or _is_version(other, one):
        return False
    if bonds:
        return True
    subject, about = rules.entity(one.subject), rules.entity(other.subject)
    if (subject and about and subject != about) or subjects.differ(one.id, other.id):
        return False
    if (one.kind in PLAYBOOK_KINDS) != (other.kind in PLAYBOOK_KINDS):
        return False
    first, second = predicate_key(one.predicate), predicate_key(other.predicate)
    return not (first and second) or (first == second and jaccard(one.object, other.object) >= OVERLAP)


def newest_first(facts: Iterable[Fact]) -> list[Fact]:
    """These entries in the order in which they were said or confirmed, the last one first."""
    return sorted(facts, key=lambda fact: (said_last(fact), fact.recorded, fact.id), reverse=True)


def said_last(fact: Fact) -> str:
    """The moment at which the entry was said or confirmed last; of some confirmations only the day is known."""
    day = fact.confirmed[-1] if fact.confirmed else ""
    return max(fact.begins, fact.updated if day == fact.updated[:10] else day)


def _joins(linked: set[str], group: Sequence[Fact]) -> bool:
    """True for an entry with these near ones if the newest of the group is one of them, or more than half of it."""
    return group[0].id in linked or 2 * sum(each.id in linked for each in group) > len(group)


def _bonds(one: Fact, other: Fact) -> Iterator[tuple[Bond, str]]:
    return (each for each in one.bonds if each[1] == other.id)


def _is_version(one: Fact, other: Fact) -> bool:
    return other.id in (one.supersedes, one.superseded_by)


def _bonded(by_id: Mapping[str, Fact], bonds: frozenset[Bond]) -> Iterator[tuple[str, str]]:
    return ((id, target) for id, fact in by_id.items() for bond, target in fact.bonds if bond in bonds)
