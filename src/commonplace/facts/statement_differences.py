"""How two similar statements differ: another value of the same thing, another subject, or one that denies the other.

Another value is the same subject and verb, and something else after it. What has one value at a time is decided by the
verb and by who or what the subject is: things have one value by default, people have several.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import cache
from itertools import pairwise
from typing import Final, Literal

from commonplace.facts.change_words import (
    LEADING_VERBS,
    MANY_OBJECTS,
    MULTIPLE_VERBS,
    SCOPED_VERBS,
    SINGLE_VERBS,
    STATES,
)
from commonplace.facts.statement_parts import (
    RELATIVES,
    Clause,
    Statement,
    bare,
    is_content,
    numbers_of,
    root_of,
    verb_of,
)
from commonplace.facts.statement_words import (
    COMPLEMENTS,
    OPPOSITES,
    are_complements,
    have_reversed,
    stem_of,
    word_set,
    words_of,
)

Exchanged = Literal["changed", "beside"]
"""The same thing has another value; both may be true."""

# Calibrated with `bench/changes.py`, which prints the curves.
LIKELY: Final = 0.50
"""The cosine from which a verb that may have several values has another value of the same thing."""
CLOSE: Final = 0.70
"""The cosine from which two statements are about the same thing: above every pair that only shares a theme."""

_PREPOSITIONS: Final = word_set("in on at for by with to from until of as about under over after before near")
_PLACES: Final = word_set("in on at near with under")
_UNITS: Final = word_set(
    "second seconds minute minutes hour hours day days week weeks month months year years hourly daily weekly "
    "monthly yearly grams kilos"
)
_MEASURING: Final = word_set("price fee cost deadline date length size rate")
_HOURS: Final = 24  # of a day
_COMPARED_CLAUSES: Final = 3  # of each statement


@dataclass(slots=True)
class _Difference:
    """The words after two equal verbs: exchanged pairs, those that both have, and those that one alone has.

    `begins_alike` says that both have the same preposition, or none, right after the verb.
    """

    begins_alike: bool
    pairs: list[tuple[list[str], list[str]]] = field(default_factory=list)
    shared: list[str] = field(default_factory=list)
    added: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)

    @property
    def is_of_another_scope(self) -> bool:
        """True if each has words that the other lacks, beside those that are exchanged."""
        return bool(self.added and self.missing)


def exchanged_value(new: Statement, old: Statement, *, near: float) -> Exchanged | None:
    """Whether a value of the old statement is exchanged in the new one; None if they do not have the same frame."""
    results = [
        _exchange(one, other, new, old, near=near)
        for one in new.clauses[:_COMPARED_CLAUSES]
        for other in old.clauses[:_COMPARED_CLAUSES]
    ]
    found = [result for result in results if result]
    return "changed" if "changed" in found else next(iter(found), None)


def has_new_amount(new: Statement, old: Statement) -> bool:
    """True if both give another number of the same thing for the same subject, whatever the verbs."""
    one, other = new.main, old.main
    if not one.subject or measured_thing(one) != measured_thing(other) or _have_other_scope(one, other):
        return False
    amounts, known = _amounts(one.rest), _amounts(other.rest)
    return any(unit in known and not known[unit] & numbers for unit, numbers in amounts.items())


def measured_thing(clause: Clause) -> frozenset[str]:
    """The subject without the word for what is measured: the price of a ticket is what a ticket costs."""
    return frozenset(clause.subject) - _measuring_roots() or frozenset(clause.subject)


@cache
def _measuring_roots() -> frozenset[str]:
    return frozenset(map(root_of, _MEASURING))


def has_new_holder(new: Statement, old: Statement) -> bool:
    """True if someone else has a role that one person has: "Olga is the treasurer", "The treasurer is Imre"."""
    one, other = new.main, old.main
    is_led = one.verb == other.verb and one.verb in LEADING_VERBS and one.is_person and other.is_person
    if is_led and {*map(root_of, one.rest)} == {*map(root_of, other.rest)}:
        return True
    return any(
        one.verb == other.verb == "be"
        and not (one.is_person or other.is_person)
        and bool(one.subject)
        and {*one.subject} <= {*other.subject}
        and {*map(root_of, one.rest)}.isdisjoint(map(root_of, other.rest))
        for one in new.clauses
        for other in old.clauses
    )


def has_new_state(new: Statement, old: Statement) -> bool:
    """True if both tell a state of which one is true at a time, such as married and single, and not the same one."""
    verbs = {new.main.verb, old.main.verb}
    if new.main.subject != old.main.subject or verbs & (SCOPED_VERBS | MULTIPLE_VERBS):
        return False
    states = [(states & {*new.words}, states & {*old.words}) for states in STATES]
    return any(one and other and not one & other for one, other in states)


def _exchange(one: Clause, other: Clause, new: Statement, old: Statement, *, near: float) -> Exchanged | None:
    if not one.verb or one.verb != other.verb or not _have_same_subject(one, other):
        return None
    names = new.names | old.names
    words, known = _without_since([*map(bare, one.rest)]), [*map(bare, other.rest)]
    difference = _difference(words, known, names)
    if not difference.pairs:
        return None
    is_cued = new.ends or new.turns or new.hints
    is_narrower = bool(one.scope) and not other.scope and one.scope.isdisjoint(old.words) and not is_cued
    if is_narrower or _have_other_scope(one, other) or one.is_denied or other.is_denied:
        return "beside"  # what someone does not do may be several things
    measured = [pair for pair in difference.pairs if _is_measured(*pair)]
    if measured:
        if one.verb == "be" and not one.subject and not difference.shared and near < LIKELY:
            return "beside"
        return _measure_exchange(one, difference, measured, is_cued=is_cued)
    if len(difference.pairs) == 1 and _is_opposite(*difference.pairs[0]) and near >= LIKELY:
        is_known = bool(difference.shared or one.subject)
        return "changed" if is_known and not difference.is_of_another_scope else "beside"
    return "changed" if _has_one_value(one, difference, near=near) else "beside"


def _have_same_subject(one: Clause, other: Clause) -> bool:
    if not one.subject or not other.subject:
        return one.subject == other.subject
    return all(any(is_kin(root, each) for each in other.subject) for root in one.subject)


def _have_other_scope(one: Clause, other: Clause) -> bool:
    """True if each says where, when or for what it holds, and not the same: In 2023, In 2024."""
    return bool(one.scope - other.scope and other.scope - one.scope)


def _difference(new: Sequence[str], old: Sequence[str], names: frozenset[str]) -> _Difference:
    found = _Difference(begins_alike=_preposition(new) == _preposition(old))
    matcher = SequenceMatcher(None, [root_of(word) for word in new], [root_of(word) for word in old], autojunk=False)
    for tag, start, end, old_start, old_end in matcher.get_opcodes():
        one, other = _values(new[start:end], names), _values(old[old_start:old_end], names)
        if tag == "equal":
            found.shared += one
        elif one and other:
            found.pairs.append(([*new[start:end]], [*old[old_start:old_end]]))
        else:
            found.added += one
            found.missing += other
    return found


def _measure_exchange(
    clause: Clause, difference: _Difference, measured: Sequence[tuple[list[str], list[str]]], *, is_cued: bool
) -> Exchanged:
    """A number, a day or a time is exchanged: another value, unless something else is as well."""
    if len(measured) < len(difference.pairs) or not all(_is_same_measure(*pair) for pair in measured):
        return "beside"
    if difference.is_of_another_scope and not is_cued:
        return "beside"
    may_recur = clause.is_person and clause.verb not in SINGLE_VERBS
    is_schedule = any(number.startswith("day ") for one, _ in measured for number in numbers_of(one))
    has_company = bool(difference.missing or (is_schedule and difference.added))
    is_beside = may_recur and has_company and (is_schedule or not difference.shared)
    return "beside" if is_beside else "changed"


def _has_one_value(clause: Clause, difference: _Difference, *, near: float) -> bool:
    """True if the verb has one value at a time for this subject, or for what the statements say of it."""
    verb = clause.verb
    if verb == "live":
        return True
    if (
        verb in MULTIPLE_VERBS
        or not MANY_OBJECTS.isdisjoint(difference.shared)
        or (len(difference.pairs) > 1 and verb != "work")
    ):
        return False
    is_loose = verb in SINGLE_VERBS
    if verb == "work" and not difference.begins_alike:
        return False
    if not all(_have_same_aspect(*pair, is_loose=is_loose) for pair in difference.pairs):
        return False
    if verb not in SINGLE_VERBS and any(
        _begins_with_number(one) != _begins_with_number(other) for one, other in difference.pairs
    ):
        return False
    if verb in SINGLE_VERBS or (verb not in SCOPED_VERBS and not clause.is_person):
        return True
    if verb == "be":
        return near >= CLOSE
    if verb not in SCOPED_VERBS and clause.is_person and near < CLOSE:
        return False
    has_scope = any(_PREPOSITIONS & {*one, *other} for one, other in difference.pairs)
    return near >= LIKELY and (bool(difference.shared) or not has_scope)


def _have_same_aspect(new: Sequence[str], old: Sequence[str], *, is_loose: bool) -> bool:
    """True if both begin alike: with the same preposition, with two of place, or with none; `is_loose` if one may."""
    pair = {_preposition(new), _preposition(old)}
    return len(pair) == 1 or pair <= _PLACES or pair <= {"", "by"} or (is_loose and "" in pair)


def _begins_with_number(words: Sequence[str]) -> bool:
    return bool(words) and words[0][0].isdigit()


def _preposition(words: Sequence[str]) -> str:
    """The first word, if it is a preposition."""
    return words[0] if words and words[0] in _PREPOSITIONS else ""


def is_kin(one: str, other: str) -> bool:
    """True if two roots are of one word family: equal, or one begins with the other and is little longer."""
    short, long = sorted((one, other), key=len)
    return one == other or (
        len(short) >= 4 and long.startswith(short) and (len(short) >= 5 or len(long) - len(short) <= 3)
    )


def _values(words: Sequence[str], names: frozenset[str]) -> list[str]:
    return [word for word in words if is_content(word) or word in names or numbers_of((word,))]


def _is_measured(new: Sequence[str], old: Sequence[str]) -> bool:
    """True if both are a number, a day or a time, and not of two different things."""
    things = [[word for word in words if is_content(word) and not _is_measure((word,))] for words in (new, old)]
    return _is_measure(new) and _is_measure(old) and not all(things)


def _is_measure(words: Sequence[str]) -> bool:
    return bool(numbers_of(words)) or not _UNITS.isdisjoint(words)


def _is_same_measure(new: Sequence[str], old: Sequence[str]) -> bool:
    """True if both measure the same: a day, a month, a time of day or an amount."""
    one, other = ({each for number in numbers_of(words) for each in _measures(number)} for words in (new, old))
    return bool(one & other) or not one or not other


def _measures(number: str) -> tuple[str, ...]:
    """What the number may measure: a full hour is written as an amount."""
    if " " in number:
        return (number.split()[0],)
    if ":" in number:
        return ("clock",)
    is_hour = number.isdecimal() and len(number) <= len(str(_HOURS)) and int(number) <= _HOURS
    return ("amount", "clock") if is_hour else ("amount",)


def _is_opposite(new: Sequence[str], old: Sequence[str]) -> bool:
    words, known = {*new}, {*old}
    return have_reversed(words, known) or any(
        (words & one and known & other) or (words & other and known & one) for one, other in OPPOSITES
    )


def _amounts(words: Sequence[str]) -> Mapping[str, frozenset[str]]:
    """The numbers by the root of the word after them."""
    found: dict[str, frozenset[str]] = {}
    for number, unit in pairwise(words):
        if numbers_of((number,)) and not numbers_of((unit,)) and unit not in _PREPOSITIONS:
            found[root_of(unit)] = found.get(root_of(unit), frozenset()) | numbers_of((number,))
    return found


def _without_since(words: list[str]) -> list[str]:
    """The words before `since`, `after` or `as of`, which say when a value began."""
    for place, word in enumerate(words):
        if place and (word in ("since", "after") or words[place : place + 2] == ["as", "of"]):
            return words[:place]
    return words


ONE_OF_A_PERSON: Final = frozenset({"home", "job"})
"""What someone has one of at a time, so that another one's is not theirs; see `FACETS`."""

_BOTH_WAYS: Final = (*OPPOSITES, *((right, left) for left, right in OPPOSITES))
_CAPITAL: Final = re.compile(r"\b[A-Z][\w'\u2019]+")


def has_other_subject(one: Statement, other: Statement) -> bool:
    """True if the statements are about two people or two things, however similar the rest is."""
    left, right = one.main, other.main
    if _is_someone_of(left, right) or _is_someone_of(right, left):
        return True
    if _have_like_names(one, other) or has_opposite_subject(one, other):
        return True
    if root_of(left.owner) != root_of(right.owner) and (
        (left.owner and right.owner) or _is_of_someone(one) or _is_of_someone(other)
    ):
        return True
    if not left.subject or not right.subject:
        return _is_user_and_another(one, other)
    own = [root for root in left.subject if not _mentions(other, root)]
    return bool(own) and any(not _mentions(one, root) for root in right.subject)


def has_opposite_subject(one: Statement, other: Statement) -> bool:
    """True if the one has a word before its subject of which the other has the opposite: the old and the new kiln."""
    described, known = ({*_described(each)} for each in (one, other))
    return any(
        noun == each and any({word} <= left and {opposite} <= right for left, right in _BOTH_WAYS)
        for word, noun in described
        for opposite, each in known
    )


def _described(statement: Statement) -> Iterator[tuple[str, str]]:
    """The words right before those of the subject, each with the root of that one."""
    for word, following in pairwise(statement.words):
        if root_of(following) in statement.main.subject:
            yield word, root_of(following)


def _have_like_names(one: Statement, other: Statement) -> bool:
    """True if a name of each has the same root as one of the other, and another last letter: Simon and Simone."""
    names, known = (
        {bare(word) for word in words_of(" ".join(_CAPITAL.findall(each.text))) if not verb_of(bare(word))}
        for each in (one, other)
    )
    return any(
        root_of(name) == root_of(each) and abs(len(name) - len(each)) <= 1 and {name[-1], each[-1]}.isdisjoint("s'")
        for name in names - known
        for each in known - names
    )


def _is_someone_of(one: Clause, other: Clause) -> bool:
    """True if one is about someone or something of whom the other is: Sam's brother and Sam."""
    owner = root_of(one.owner) if one.owner else ""
    return bool(owner) and not other.owner and owner in other.subject and not {*one.subject} <= {*other.subject}


def _is_user_and_another(one: Statement, other: Statement) -> bool:
    """True if one is about the user and the other about someone else, and both say the same kind of thing."""
    if one.main.subject == other.main.subject:
        return False
    another, user = (one, other) if one.main.subject else (other, one)
    verbs = {one.main.verb or "be", other.main.verb or "be"}
    has_same_verb = len(verbs) == 1 and verbs != {"be call"}
    if not another.main.is_person or not (has_same_verb or one.facets & other.facets & ONE_OF_A_PERSON):
        return False
    return not any(_mentions(user, root) for root in another.main.subject)


def _is_of_someone(statement: Statement) -> bool:
    """True if the subject belongs to someone else than the user: to Sam, to a brother; not to a thing."""
    owner = statement.main.owner
    return owner in RELATIVES or owner in statement.names or bare(statement.words[0]) == owner


def _mentions(statement: Statement, root: str) -> bool:
    """True if the statement has the word, or a longer or shorter one of its family; Sara does not mention Sarah."""
    return any(
        root in (stem_of(bare(word)), root_of(word)) or _is_derived(root, root_of(word)) for word in statement.words
    )


def _is_derived(one: str, other: str) -> bool:
    return len(one) > 4 and is_kin(one, other) and abs(len(one) - len(other)) > 1


_NEGATIONS: Final = word_set("not no never without none cannot neither nor")
_DENYING: Final = word_set(
    "forbidden banned prohibited intolerant allergic avoid avoids refuse refuses unable lacks "
    "hate hates hated dislike dislikes loathes"
)


def denies(one: Statement, other: Statement) -> bool:
    """True if each denies something, and one of them a word that the other has: "tea, not coffee", "coffee, no tea"."""
    denied, other_denied = _denied(one, within=2) - one.deeds, _denied(other, within=2) - other.deeds
    asserted = denied & (other.roots - other_denied) or other_denied & (one.roots - denied)
    return bool(denied and other_denied and asserted)


def is_reworded_negation(one: Statement, other: Statement) -> bool:
    """True if only one denies something, and not a word that the other has: "can't eat nuts", "is allergic to nuts"."""
    denied, other_denied = (_denied(each) - denying_roots() for each in (one, other))
    if (denied and _DENYING & {*other.words}) or (other_denied and _DENYING & {*one.words}):
        return True
    if bool(denied) != bool(other_denied) and are_complements(one.words, other.words):
        return True
    if not denied and not other_denied:
        return False
    return not denied & (other.roots - other_denied) and not other_denied & (one.roots - denied)


def _denied(statement: Statement, *, within: int = 5) -> frozenset[str]:
    """The first root after each negation, if it follows within so many words."""
    words = statement.words
    places = [place for place, word in enumerate(words) if word in _NEGATIONS or word.endswith("n't")]
    following = [
        [root_of(word) for word in words[place + 1 : place + 1 + within] if is_content(word)] for place in places
    ]
    return frozenset(roots[0] for roots in following if roots)


@cache
def denying_roots() -> frozenset[str]:
    """The roots of the words that deny without a negation: forbidden, allergic, hates."""
    return frozenset(map(root_of, _DENYING))


@cache
def complement_roots() -> frozenset[str]:
    """The roots of the words of which one is what the other denies."""
    return frozenset(root_of(word) for pair in COMPLEMENTS for words in pair for word in words)
