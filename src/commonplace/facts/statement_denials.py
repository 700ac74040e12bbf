"""What a statement denies, and whether two statements deny the same in other words."""

from functools import cache
from typing import Final

from commonplace.facts.statement_parts import Statement, is_content, root_of
from commonplace.facts.statement_words import COMPLEMENTS, are_complements, word_set

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
