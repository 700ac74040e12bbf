"""What a statement says in its bare words: whether two have the same, and whether they speak against one another."""

import hashlib
import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cache, lru_cache
from typing import Final
from unicodedata import category, normalize

from commonplace.facts.contrasts import (
    DAYS,
    HOLLOW,
    JOINING,
    MONTHS,
    NEGATIONS,
    NUMBERS,
    OPENING,
    OPPOSITES,
    RATHER,
)
from commonplace.facts.entities import unlinked

_BEFORE: Final = "([{<\"'`*_\u201c\u201e\u00ab"
_AFTER: Final = ".,;:!?)]}>\"'`*_\u201c\u201d\u00bb"
_APOSTROPHES: Final = str.maketrans("\u2018\u2019\u02bc\u00b4", "''''")
_NUMBER: Final = re.compile(r"\d+(?:[.,:/-]\d+)*")
_THE_USER: Final = (("the", "user"), ("user",), ("i",))
"""How a statement about the user begins; `Prefers tea.` says it with none of these."""


def fingerprint(text: str) -> str:
    """The same for the same words, whatever their case, emphasis, links, spacing or the punctuation around them."""
    return hashlib.sha256(" ".join(words_of(text) or text.split()).encode("utf-8", "surrogatepass")).hexdigest()


@lru_cache(maxsize=512)  # one candidate is compared with dozens of facts, several times each
def words_of(text: str) -> tuple[str, ...]:
    """The words in their order, folded; signs inside a word stay, dashes between words go."""
    plain = normalize("NFKC", normalize("NFKC", unlinked(text)).casefold()).translate(_APOSTROPHES)
    visible = "".join(sign for sign in plain if category(sign) != "Cf")
    bare = (word.lstrip(_BEFORE).rstrip(_AFTER) for word in visible.split())
    return tuple(word for word in bare if any(category(sign) != "Pd" for sign in word))


def jaccard(one: str, other: str) -> float:
    """How much two texts share of all their words: from 0 for nothing to 1 for the same words."""
    left, right = frozenset(words_of(one)), frozenset(words_of(other))
    return len(left & right) / len(left | right) if left or right else 1.0


@lru_cache(maxsize=512)
def claiming(text: str) -> tuple[str, ...]:
    """The stems of the words that carry the claim, in their order: no articles, no name of the user in front.

    Every word that negates becomes the same one.
    """
    words = without_user(words_of(text))
    return tuple("not" if _negates(word) else _stemmer()(word) for word in words if word not in HOLLOW)


def without_user(words: tuple[str, ...]) -> tuple[str, ...]:
    """The words without the name of the user in front."""
    opening = next((each for each in _THE_USER if words[: len(each)] == each), ())
    return words[len(opening) :]


def opposes(one: str, other: str) -> bool:
    """Whether the two cannot both be meant: they differ in a number, a date, a negation, or in what is preferred.

    Numbers and dates must differ on both sides: a statement that names one more says more.
    """
    left, right = words_of(one), words_of(other)
    return (
        _is_negated(left) != _is_negated(right)
        or _differ(_numbers(left), _numbers(right))
        or _differ(_named(left, DAYS), _named(right, DAYS))
        or _differ(_named(left, MONTHS), _named(right, MONTHS))
        or _are_opposite(frozenset(left), frozenset(right))
        or _prefer_otherwise(left, right)
    )


def changes_places(one: str, other: str) -> bool:
    """Whether the words that both share stand in another order, beyond one part that moved: who does what to whom."""
    if any(words_of(each)[:1] and words_of(each)[0] in OPENING for each in (one, other)):
        return False
    left, right = _apart_from_joining(claiming(one)), _apart_from_joining(claiming(other))
    left, right = [each for each in left if each in right], [each for each in right if each in left]
    return sorted(left) == sorted(right) and not _is_turned(left, right)


def _is_negated(words: Sequence[str]) -> bool:
    said = f" {' '.join(words)} "
    return " used to " in said or " no longer " in said or any(_negates(word) for word in words)


def _negates(word: str) -> bool:
    return word in NEGATIONS or word.endswith("n't")


def _differ(one: frozenset[Hashable], other: frozenset[Hashable]) -> bool:
    return bool(one - other and other - one)


def _numbers(words: Sequence[str]) -> frozenset[Hashable]:
    digits = frozenset(number.replace(",", "") for word in words for number in _NUMBER.findall(word))
    return digits | _named(words, NUMBERS)


def _named(words: Sequence[str], names: Mapping[str, Hashable]) -> frozenset[Hashable]:
    return frozenset(names[word] for word in words if word in names)


def _are_opposite(one: frozenset[str], other: frozenset[str]) -> bool:
    return any(
        (one & these and not one & those and other & those and not other & these)
        or (one & those and not one & these and other & these and not other & those)
        for these, those in OPPOSITES
    )


def _prefer_otherwise(one: Sequence[str], other: Sequence[str]) -> bool:
    preferred, passed_over = _sides(one)
    now_preferred, now_passed_over = _sides(other)
    return bool((preferred & now_passed_over) | (passed_over & now_preferred))


def _sides(words: Sequence[str]) -> tuple[frozenset[str], frozenset[str]]:
    """The words before and after the first that prefers the one to the other; nothing where none does."""
    place = next((place for place, word in enumerate(words) if word in RATHER), None)
    if place is None:
        return frozenset(), frozenset()
    before, after = frozenset(words[:place]) - HOLLOW, frozenset(words[place + 1 :]) - HOLLOW
    return before - after, after - before


def _apart_from_joining(words: Sequence[str]) -> list[str]:
    return [word for word in words if word not in JOINING]


def _is_turned(one: list[str], other: list[str]) -> bool:
    """Whether the one becomes the other when one part of it moves to another place."""
    while one and other and one[0] == other[0]:
        one, other = one[1:], other[1:]
    while one and other and one[-1] == other[-1]:
        one, other = one[:-1], other[:-1]
    return not one or any(one[place:] + one[:place] == other for place in range(1, len(one)))


@cache
def _stemmer() -> Callable[[str], str]:
    """The stemmer, loaded with the first statement; English, which takes little from words of other languages."""
    import Stemmer  # type: ignore[import-not-found]

    stemmer: Callable[[str], str] = Stemmer.Stemmer("english", 0).stemWord
    return stemmer
