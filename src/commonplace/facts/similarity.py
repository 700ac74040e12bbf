"""How a new statement relates to a known one: by words of change, by its parts, and by the cosine of their vectors."""

import re
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import pairwise
from typing import Final, Literal, NamedTuple

from commonplace.facts.change_words import GENERIC, LIGHT_VERBS, MULTIPLE_VERBS, VERBS
from commonplace.facts.statement_differences import (
    CLOSE,
    LIKELY,
    ONE_OF_A_PERSON,
    Exchanged,
    complement_roots,
    denies,
    denying_roots,
    exchanged_value,
    has_new_amount,
    has_new_holder,
    has_new_state,
    has_opposite_subject,
    has_other_subject,
    is_kin,
    is_reworded_negation,
    measured_thing,
)
from commonplace.facts.statement_parts import (
    PLACING,
    RESTRICTING,
    Clause,
    Statement,
    is_content,
    numbers_of,
    parts_of,
    root_of,
)
from commonplace.facts.statement_words import (
    DAYS,
    MONTHS,
    opposes,
    reorders,
    stem_of,
    strip_user,
    word_set,
    words_of,
)

Similarity = Literal["same", "more", "changed", "near", "apart"]
"""Says the same; says the same and more; says that it is otherwise now; is about the same thing; is unrelated."""

# Calibrated with `bench/changes.py`, which prints the curves.
ABOUT: Final = 0.35
"""The cosine from which a statement with a word of change, and a word in common, is about the known one."""
PAST: Final = 0.25
"""The same where the statement names what is over, and the known one has that word."""
MANY_SHARED: Final = 0.75
"""The share of common words from which statements below CLOSE, but not below LIKELY, may say the same."""
COVERED: Final = 0.55
"""The cosine from which two statements without a word of their own that matters say the same."""
SAME: Final = 0.92
"""The cosine from which two statements with different verbs, or in an unknown language, may say the same."""
FOR_EACH_WORD: Final = 0.4
"""How far one exchanged word may move two statements that say the same, times the number of words.

The longer the text, the less one word moves it: rewordings measured 0.08-0.36, changed values 0.42 and more.
"""
COMPARED_WORDS: Final = 80
"""The words of a statement that are compared; the longest in the labelled sets of gate.jsonl and our pairs has 28."""
HALF: Final = 0.5
"""The share of common words from which a contradiction is about the same thing."""

_LIMITING: Final = word_set(
    "rarely seldom sometimes occasionally hardly mostly almost except unless partly selten manchmal gelegentlich kaum "
    "meistens fast außer teilweise"
)
_ONE: Final = re.compile(r"(?i)\bone\b")
_CALLING: Final = frozenset({"be", "be call"})
_CONVERSE: Final = ({"buy", "sell"}, {"lend", "borrow"}, {"import", "export"})
_OVER: Final = frozenset({("no", "longer"), ("any", "longer"), ("any", "more")})
_ALWAYS_SOME: Final = frozenset({"diet", "partner"})


class WordOverlap(NamedTuple):
    """The roots that both statements have, that only the new one has, and that only the old one has."""

    shared: frozenset[str]
    novel: frozenset[str]
    missing: frozenset[str]

    @property
    def share(self) -> float:
        """The share of common roots: from 0 for none to 1 for all."""
        total = 2 * len(self.shared) + len(self.novel) + len(self.missing)
        return 2 * len(self.shared) / total if total else 0.0


def similarity(new: str, old: str, *, cosine: float | None) -> Similarity:
    """How the new statement relates to the old one; without a cosine, the share of common words stands for it.

    Of a text that is longer than a statement only the beginning is compared: it says neither the same nor more where
    the rest of it is not the same.
    """
    (new, rest), (old, known) = _beginning(new), _beginning(old)
    one, other = parts_of(new), parts_of(old)
    if not one.words or not other.words:
        return "apart"
    one, other = _counting_one(one, other), _counting_one(other, one)
    found = _similarity(one, other, cosine=cosine)
    return "near" if found in ("same", "more") and words_of(rest) != words_of(known) else found


def word_share(new: str, old: str) -> float:
    """The share of words that two statements have in common, from 0 to 1."""
    return overlap_of(parts_of(new), parts_of(old)).share


def _counting_one(statement: Statement, other: Statement) -> Statement:
    """The statement with its `one` as a number, if the other one counts the same thing: one cat, two cats."""
    counted = {root_of(thing) for number, thing in pairwise(other.words) if number.isdecimal()}
    if any(word == "one" and root_of(thing) in counted for word, thing in pairwise(statement.words)):
        return parts_of(_ONE.sub("1", statement.text, count=1))
    return statement


def _beginning(text: str) -> tuple[str, str]:
    """The text up to the longest part that is compared, and the rest of it."""
    words = text.split(None, COMPARED_WORDS)
    return (" ".join(words[:COMPARED_WORDS]), words[-1]) if len(words) > COMPARED_WORDS else (text, "")


def _similarity(one: Statement, other: Statement, *, cosine: float | None) -> Similarity:
    new, old = one.text, other.text
    overlap = overlap_of(one, other)
    near = overlap.share if cosine is None else cosine
    is_swapped = _is_reversed(one, other)
    if sorted(strip_user(one.words)) == sorted(strip_user(other.words)) and not (
        is_swapped or opposes(new, old) or denies(one, other)
    ):
        return "same"
    if has_other_subject(one, other):
        return "changed" if has_new_holder(one, other) or _has_ended(one, other, near=near) else "apart"
    exchanged = exchanged_value(one, other, near=near)
    if says_it_changed(one, other, overlap, near=near, exchanged=exchanged):
        return "changed"
    if has_new_state(one, other) or has_new_amount(one, other):
        return "changed"
    if near >= COVERED and not is_swapped and _is_covered(one, other, overlap):
        return "changed" if _is_over(other) and not _is_over(one) else "same"
    if exchanged:
        return "changed" if exchanged == "changed" else "near"
    is_alike = overlap.share >= MANY_SHARED and one.numbers == other.numbers and not _have_other_names(one, other)
    if near < (LIKELY if is_alike else CLOSE):
        return "apart"
    if _contradicts(one, other, overlap):
        subject = measured_thing(one.main)
        is_narrower = one.main.verb == other.main.verb and subject > measured_thing(other.main) > set()
        has_other_details = bool(_details(overlap.novel) and _details(overlap.missing))
        return "near" if is_narrower or has_other_details else "changed"
    if is_swapped:
        return "near"
    return _reworded_similarity(one, other, overlap, near=near)


def _is_over(statement: Statement) -> bool:
    """True if it says of something that it no longer holds."""
    return not _OVER.isdisjoint(zip(statement.words, statement.words[1:], strict=False))


def _contradicts(one: Statement, other: Statement, overlap: WordOverlap) -> bool:
    """True if the statements share half of their words and cannot both hold."""
    if overlap.share < HALF:
        return False
    return denies(one, other) or (opposes(one.text, other.text) and not is_reworded_negation(one, other))


def _is_reversed(one: Statement, other: Statement) -> bool:
    """True if the same is done the other way round: Anna reports to Pavel, Pavel reports to Anna."""
    is_alike = one.main.verb == other.main.verb and ("by" in one.words) == ("by" in other.words)
    return is_alike and reorders(one.text, other.text)


def _is_covered(one: Statement, other: Statement, overlap: WordOverlap) -> bool:
    """True if all that they say is common to both but verbs that say little, and at most one word of one of them."""
    if one.numbers != other.numbers or _contradicts(one, other, overlap) or _limits(one, other):
        return False
    verbs = _verbs(one, other) | _verbs(other, one)
    denials = denying_roots() | complement_roots() if is_reworded_negation(one, other) else frozenset()
    uncovered = [roots - _light_roots() - denials for roots in (overlap.novel, overlap.missing)]
    own, lost = (roots - verbs for roots in uncovered)
    is_other = _undergo_different_things(one.main, other.main)
    if is_other or len(own) + len(lost) > 1 or not own.isdisjoint(_narrowing_roots(one)):
        return False
    fewest = 1 if denials else 2 + len(own) + len(lost)
    return not all(roots & verbs for roots in uncovered) and len(overlap.shared - verbs) + len(one.numbers) >= fewest


def _narrowing_roots(statement: Statement) -> frozenset[str]:
    """The roots that say of whom or what, where and for what a statement holds."""
    names = (root_of(name) for name in statement.names)
    return frozenset((*statement.main.subject, *names, *(root for _, root in statement.places)))


def _verbs(one: Statement, other: Statement) -> frozenset[str]:
    """The roots of the verbs of its clauses; a participle is none if the other only `is` something: closed, quiet."""
    is_state = other.main.verb == "be"
    verbs = (clause.verb for clause in one.clauses if not (is_state and clause.verb.startswith("be ")))
    return frozenset(root_of(verb.removeprefix("be ")) for verb in verbs)


def _undergo_different_things(one: Clause, other: Clause) -> bool:
    """True if something else is done to the same thing: wiped, backed up."""
    done = [clause.verb.removeprefix("be ") for clause in (one, other) if clause.verb.startswith("be ")]
    return len({*done} - LIGHT_VERBS) > 1 and root_of(done[0]) != root_of(done[1])


def _limits(new: Statement, old: Statement) -> bool:
    """True if the new statement says that it holds only now and then, and the old one does not."""
    return not _LIMITING.isdisjoint(new.words) and _LIMITING.isdisjoint(old.words)


def overlap_of(one: Statement, other: Statement) -> WordOverlap:
    """The words that two statements have in common, by word families and common words for the same thing."""
    shared = frozenset(root for root in one.roots if _is_among(root, other.roots))
    missing = frozenset(root for root in other.roots if not _is_among(root, one.roots))
    return WordOverlap(shared, one.roots - shared, missing)


def says_it_changed(
    new: Statement, old: Statement, overlap: WordOverlap, *, near: float, exchanged: Exchanged | None
) -> bool:
    """True if the new statement has a word of change and is about what the old one says."""
    if not (new.ends or new.turns or new.hints) or (new.adds and not new.ends):
        return False
    if not overlap.novel and not overlap.missing and (new.ends, new.turns) == (old.ends, old.turns):
        return False
    if _holds_elsewhere(new, old):
        return False
    if near >= PAST and any(_is_among(root, old.roots) for root in new.past - _measure_roots()):
        return True
    if new.main.is_denied and old.main.is_denied:
        return False
    if new.ends and not old.ends and (near >= CLOSE or _is_about(new, old, overlap, near=near)):
        return True
    if (new.turns or new.ends) and new.facets & old.facets and overlap.novel and _may_have_same_subject(new, old):
        return True
    if new.turns and not old.turns and (overlap.novel or _differ(new.numbers, old.numbers)):
        is_one_more = exchanged == "beside" and new.main.verb in MULTIPLE_VERBS and not overlap.shared
        nearest = CLOSE if is_one_more else LIKELY
        return near >= nearest if exchanged else _is_about(new, old, overlap, near=near)
    return new.hints and _hints_at_change(new, old, overlap, near=near, exchanged=exchanged)


def _holds_elsewhere(new: Statement, old: Statement) -> bool:
    """True if the same is done at another place or for something else: what is over on one machine is not on another.

    A new value at another place is one more as well: an editor for this, another one for that.
    """
    one, other = new.main, old.main
    if one.verb != other.verb or one.subject != other.subject:
        return False
    place, known = (_place_after_object(clause) for clause in (one, other))
    has_other_place = place[:1] == known[:1] != () and not is_kin(place[1], known[1])
    has_same_object = root_of(one.rest[0]) == root_of(other.rest[0]) if has_other_place else False
    return has_other_place and (has_same_object == new.ends)


def _place_after_object(clause: Clause) -> tuple[str, ...]:
    """The preposition after one or two words that follow the verb, and the root of what comes after it, if no time."""
    for place, word in enumerate(clause.rest[:-1]):
        if word in PLACING:
            root = root_of(clause.rest[place + 1])
            is_time = root in _measure_roots() or numbers_of((clause.rest[place + 1],))
            return (word, root) if place and not is_time else ()
    return ()


def _has_ended(new: Statement, old: Statement, *, near: float) -> bool:
    """True if someone gave up, by name, what the old statement names: "The firm dropped Slack"."""
    past = new.past & {root_of(name) for name in new.names}
    if has_opposite_subject(new, old):
        return False
    return new.ends and near >= LIKELY and not new.main.owner and not past.isdisjoint(old.roots)


def _is_about(new: Statement, old: Statement, overlap: WordOverlap, *, near: float) -> bool:
    """True if they share more than the one of whom they speak, or mean something alike; a new home is a new home only.

    What else is known of the place to which someone moves, or of the firm that someone joins, is not changed by that.
    """
    if not new.main.subject and new.facets & ONE_OF_A_PERSON and not new.ends:
        return False
    subject = {*new.main.subject}
    is_plain = bool(overlap.shared - subject or subject & {*old.main.subject}) or new.main.verb.startswith("be")
    is_sure = is_plain and not _shares_by_chance(new, old, overlap)
    return near >= (ABOUT if is_sure else LIKELY) and bool(overlap.shared - _measure_roots())


def _shares_by_chance(new: Statement, old: Statement, overlap: WordOverlap) -> bool:
    """True if the one word that they share only describes the known thing, or is where someone lives or works.

    A new desk is no new desk lamp, and who gives up the train to work does not give up work.
    """
    describing = {root for thing, root in _modifiers(old) if old.deeds.isdisjoint((thing, root))}
    is_of_life = not new.main.subject and bool((old.facets - new.facets) & ONE_OF_A_PERSON)
    return len(overlap.shared) == 1 and (is_of_life or overlap.shared <= describing)


def _may_have_same_subject(new: Statement, old: Statement) -> bool:
    """True if both are about the user, or the old one has a word of the new one's subject."""
    subject = new.main.subject
    return any(_is_among(root, old.roots) for root in subject) if subject else not old.main.subject


def _hints_at_change(
    new: Statement, old: Statement, overlap: WordOverlap, *, near: float, exchanged: Exchanged | None
) -> bool:
    """True if a word that only may mean a change stands with something that is new, and the rest is known."""
    is_news = bool(overlap.novel - new.deeds) or _differ(new.numbers, old.numbers)
    if not is_news or near < LIKELY:
        return False
    if new.facets & old.facets & _ALWAYS_SOME:
        return True
    if opposes(new.text, old.text) and not (new.main.is_denied or old.main.is_denied or old.hints):
        return bool(overlap.shared)
    return not old.hints and exchanged is None and len(overlap.shared) > 1 and overlap.share < 0.7


def _reworded_similarity(new: Statement, old: Statement, overlap: WordOverlap, *, near: float) -> Similarity:
    """Compare two statements about the same thing that do not contradict each other."""
    if _differ(new.numbers, old.numbers) or _have_other_names(new, old):
        return "near"
    if not any(clause.verb for clause in (*new.clauses, *old.clauses)) and overlap.novel:
        return _unparsed_similarity(new, old, overlap, near=near)
    if "only" in new.words and "only" not in old.words and old.names - new.names:
        return "near"
    novel, missing = overlap.novel - new.deeds, overlap.missing - old.deeds
    if is_reworded_negation(new, old):
        novel -= denying_roots()
    is_narrower = new.main.verb == old.main.verb and {*new.main.subject} > {*old.main.subject} > set()
    if is_narrower and not missing and not _limits(new, old):
        return "near"  # of one of them: the tests of the parser
    new_names = novel & {root_of(name) for name in new.names - old.names}
    if len(novel) > len(missing) + 1 or new_names or new.numbers - old.numbers:
        return "near" if missing else "more"
    if any(preposition in RESTRICTING and root in novel for preposition, root in new.places - old.places):
        return "near"
    if _limits(new, old) or (novel and not overlap.missing and len(novel) * 3 >= len(new.roots)):
        return "near" if overlap.missing else "more"
    if (
        (near < SAME and _is_another_state(new.main, old.main, overlap))
        or _says_nothing_alike(new, old, overlap)
        or _has_other_place(new, old, novel, missing)
    ):
        return "near"
    is_converse = {new.main.verb, old.main.verb} in _CONVERSE
    is_same_deed = not is_converse and (near >= SAME or not _do_different_things(new.main, old.main))
    return "same" if overlap.shared and is_same_deed else "near"


def _is_another_state(one: Clause, other: Clause, overlap: WordOverlap) -> bool:
    """True if the same thing is something else: closed, quiet."""
    states = [_state(clause) for clause in (one, other)]
    return one.subject == other.subject and states[0] in overlap.novel and states[1] in overlap.missing


def _state(clause: Clause) -> str:
    """The root of what the subject is: the participle, or what comes first after the verb; empty for other verbs."""
    verb, _, participle = clause.verb.partition(" ")
    found = participle or next((word for word in clause.rest if is_content(word)), "")
    return root_of(found) if verb == "be" else ""


def _says_nothing_alike(new: Statement, old: Statement, overlap: WordOverlap) -> bool:
    """True if they have only what they are about in common, and nothing of what they say of it."""
    has_other_words = bool(overlap.novel or overlap.missing) and not new.numbers & old.numbers
    return has_other_words and overlap.shared <= {*new.main.subject} & {*old.main.subject}


def _has_other_place(new: Statement, old: Statement, novel: frozenset[str], missing: frozenset[str]) -> bool:
    """True if another word stands beside the same one: in the terminal, in every editor; window seats, aisle seats."""
    places = {beside for beside, root in (*new.places, *_modifiers(new)) if root in novel}
    return bool(missing) and any(
        beside in places and root in missing for beside, root in (*old.places, *_modifiers(old))
    )


def _modifiers(statement: Statement) -> Iterator[tuple[str, str]]:
    """The roots of neighbouring words that say what the statement is about, each with the one before it."""
    for word, following in pairwise(statement.words):
        if is_content(word) and is_content(following):
            yield root_of(following), root_of(word)


def _do_different_things(one: Clause, other: Clause) -> bool:
    """True if both have a verb that says something by itself, and not the same: drinking wine, cooking with wine."""
    are_deeds = all(
        (clause.verb in VERBS or clause.verb.startswith("be ")) and clause.verb not in GENERIC | _CALLING
        for clause in (one, other)
    )
    verbs = [root_of(clause.verb.removeprefix("be ")) for clause in (one, other)]
    return are_deeds and verbs[0] != verbs[1]


def _unparsed_similarity(new: Statement, old: Statement, overlap: WordOverlap, *, near: float) -> Similarity:
    """Compare statements without a verb that is known, in whatever language: new words count as news."""
    if not overlap.missing:
        return "more"
    exchanged = len(overlap.novel) / max(len(new.words), len(old.words))
    return "same" if near >= max(SAME, 1 - FOR_EACH_WORD * exchanged) else "near"


def _is_among(root: str, roots: Iterable[str]) -> bool:
    return any(is_kin(root, each) for each in roots)


def _differ(one: frozenset[str], other: frozenset[str]) -> bool:
    """True if each has something that the other lacks."""
    own = [each for each in one if not _is_among(each, other)]
    return bool(own) and any(not _is_among(each, one) for each in other)


def _have_other_names(one: Statement, other: Statement) -> bool:
    """True if each has a name that the other lacks; Berg is not Bergen."""
    names, known = (frozenset(map(root_of, each.names)) for each in (one, other))
    return bool(names - other.roots and known - one.roots)


@cache
def _verb_roots() -> frozenset[str]:
    return frozenset(map(stem_of, VERBS))


@cache
def _light_roots() -> frozenset[str]:
    return frozenset(map(root_of, LIGHT_VERBS | GENERIC))  # with `week`, so also that of `weekly`


@cache
def _measure_roots() -> frozenset[str]:
    return frozenset(map(root_of, (*DAYS, *MONTHS)))


def _details(roots: frozenset[str]) -> frozenset[str]:
    """The roots that are neither verbs nor numbers, days and months."""
    return frozenset(root for root in roots - _verb_roots() - _measure_roots() if not numbers_of((root,)))
