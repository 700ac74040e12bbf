"""The words of a statement: its fingerprint, the stems that carry its claim, and whether two statements conflict.

Includes the word lists for that, in English and German: negations, opposites, days, months and numbers.
"""

import hashlib
import re
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import cache, lru_cache
from typing import Final
from unicodedata import category, normalize

from commonplace.facts.triples import strip_links


def word_set(text: str) -> frozenset[str]:
    """The words of a list that is written as one text."""
    return frozenset(text.split())


NEGATIONS: Final = word_set(
    "not no never none neither nor nobody nothing nowhere without cannot cant dont doesnt isnt wont stopped quit "
    "former formerly anymore ceased refuses avoids lacks fails "
    "nicht kein keine keinen keinem keiner keines nie niemals niemand nichts nirgends ohne weder ehemals ehemalig "
    "ehemaliger ehemalige früher aufgehört verweigert vermeidet meidet"
)
"""Words that deny something or say that it is over; so does every word that ends in n't, and `used to`."""

COMPLEMENTS: Final = tuple(
    (word_set(one), word_set(other))
    for one, other in (
        ("like likes liked love loves loved enjoy enjoys", "dislike dislikes disliked hate hates hated loathes"),
        ("enabled enable enables on", "disabled disable disables off"),
        ("allow allows allowed permitted", "forbid forbids forbidden deny denies denied banned prohibited"),
        ("open opened opens", "closed close closes"),
        ("accepted accepts accept", "rejected rejects reject declined declines"),
        ("public", "private"),
        ("within inside", "outside beyond"),
    )
)
"""Pairs of groups of which one is what the other denies: not public is private."""

OPPOSITES: Final = COMPLEMENTS + tuple(
    (word_set(one), word_set(other))
    for one, other in (
        ("before", "after"),
        ("more increased increase rises rose", "less fewer decreased decrease falls fell"),
        ("start started starts begins began", "ended ends finished finishes"),
        ("married", "divorced single unmarried"),
        ("left", "right"),
        ("short shorter brief concise terse", "long longer detailed lengthy thorough verbose"),
        ("small smaller", "large larger big bigger"),
        ("early earlier", "late later"),
        ("light", "dark"),
        ("old older", "new newer"),
        ("high higher", "low lower"),
        ("hour hours hourly", "day days daily week weeks weekly month months monthly year years yearly"),
        ("day days daily", "week weeks weekly month months monthly year years yearly"),
        ("week weeks weekly", "month months monthly year years yearly"),
        ("morning mornings", "evening evenings afternoon afternoons night nights"),
        ("mag liebt liebe", "hasst hasse verabscheut"),
        ("erlaubt", "verboten"),
        ("vor", "nach"),
        ("mehr", "weniger"),
        ("verheiratet", "geschieden ledig"),
        ("an aktiviert eingeschaltet", "aus deaktiviert ausgeschaltet"),
        ("morgens vormittags", "abends nachmittags nachts"),
    )
)
"""Pairs of groups: a statement with a word of one contradicts a statement with a word of the other."""

DAYS: Final = {
    name: number
    for number, names in enumerate(
        (
            "monday mondays montag montags",
            "tuesday tuesdays dienstag dienstags",
            "wednesday wednesdays mittwoch mittwochs",
            "thursday thursdays donnerstag donnerstags",
            "friday fridays freitag freitags",
            "saturday saturdays samstag samstags sonnabend",
            "sunday sundays sonntag sonntags",
        )
    )
    for name in names.split()
}

MONTHS: Final = {
    name: number
    for number, names in enumerate(
        (
            "january jan januar",
            "february feb februar",
            "march mar märz",
            "april apr",
            "may mai",
            "june jun juni",
            "july jul juli",
            "august aug",
            "september sep sept",
            "october oct oktober okt",
            "november nov",
            "december dec dezember dez",
        ),
        start=1,
    )
    for name in names.split()
}

NUMBERS: Final = {
    name: str(number)
    for number, names in enumerate(
        (
            "zero",
            "",
            "two zwei",
            "three drei",
            "four vier",
            "five fünf",
            "six sechs",
            "seven sieben",
            "eight acht",
            "nine neun",
            "ten zehn",
            "eleven elf",
            "twelve zwölf",
            "thirteen dreizehn",
            "fourteen vierzehn",
            "fifteen fünfzehn",
            "sixteen sechzehn",
            "seventeen siebzehn",
            "eighteen achtzehn",
            "nineteen neunzehn",
            "twenty zwanzig",
        )
    )
    for name in names.split()
}
"""Numbers as words; not `one` and `ein`, which are rarely numbers."""

PREFERENCE_WORDS: Final = frozenset({"over", "than", "instead", "statt", "anstatt", "anstelle"})
"""The words before one of these are preferred to the words after it."""

CONJUNCTIONS: Final = frozenset({"and", "or", "&", "und", "oder"})
"""Words whose two sides may be swapped."""

FUNCTION_WORDS: Final = word_set(
    "a an the is are was were be been being am has have had do does did will would shall so also very really just "
    "that which who where this it its of in on at for by "
    "der die das den dem des ein eine einen einem einer eines ist sind war waren sein wird werden hat haben hatte "
    "auch sehr so dass im in am an auf bei für von zum zur es"
)
"""Words that carry no claim."""

OPENING_WORDS: Final = word_set(
    "in on at for since during until from with by under as every after before "
    "im in am an auf bei für seit während bis von mit unter nach vor zum zur jeden"
)
"""A statement that opens with one of these has only moved a part of it to the front."""

POSSESSIVES: Final = word_set("my our your his her their mein meine unser unsere dein deine sein seine ihr ihre")
"""Words in front of the subject of a statement."""

PERSON_WORDS: Final = word_set(
    "i me my mine you your yours he him his she her hers we us our ours they them their theirs "
    "mother father mom dad sister brother son daughter wife husband aunt uncle boy girl man woman "
    "ich mir mich mein meine du dir dein deine er ihm sie ihr wir uns unser mutter vater schwester bruder sohn tochter "
    "frau mann tante onkel"
)
"""Words for people that are not names: a different one means a different person."""


_REVERSING: Final = ("un", "in", "im", "dis", "non", "non-")
_SHORTEST_REVERSED: Final = 4  # letters
_BEFORE: Final = "([{<\"'`*_\u201c\u201e\u00ab"
_AFTER: Final = ".,;:!?)]}>\"'`*_\u201c\u201d\u00bb"
_APOSTROPHES: Final = str.maketrans("\u2018\u2019\u02bc\u00b4", "''''")
_NUMBER: Final = re.compile(r"\d+(?:[.,:/-]\d+)*")
_THE_USER: Final = (("the", "user"), ("user",), ("i",))
"""How a statement about the user begins; `Prefers tea.` has none of these."""


def fingerprint(text: str) -> str:
    """A hash that is equal for equal words, whatever their case, emphasis, links, spacing or outer punctuation."""
    return hashlib.sha256(" ".join(words_of(text) or text.split()).encode("utf-8", "surrogatepass")).hexdigest()


@lru_cache(maxsize=512)  # one candidate is compared with dozens of facts, several times each
def words_of(text: str) -> tuple[str, ...]:
    """The words in order, folded; punctuation inside a word stays, dashes between words go."""
    plain = strip_links(text).casefold()
    if not plain.isascii():
        plain = normalize("NFKC", normalize("NFKC", strip_links(text)).casefold()).translate(_APOSTROPHES)
        plain = "".join(sign for sign in plain if category(sign) != "Cf")
    bare = (word.lstrip(_BEFORE).rstrip(_AFTER) for word in plain.split())
    return tuple(word for word in bare if any(category(sign) != "Pd" for sign in word))


def jaccard(one: str, other: str) -> float:
    """The share of words that two texts have in common: from 0 for none to 1 for all."""
    left, right = frozenset(words_of(one)), frozenset(words_of(other))
    return len(left & right) / len(left | right) if left or right else 1.0


@lru_cache(maxsize=512)
def claim_stems(text: str) -> tuple[str, ...]:
    """The stems of the words that carry the claim, in order: no articles, no name of the user in front.

    Every negating word becomes `not`.
    """
    words = strip_user(words_of(text))
    return tuple("not" if _negates(word) else stem_of(word) for word in words if word not in FUNCTION_WORDS)


def strip_user(words: tuple[str, ...]) -> tuple[str, ...]:
    """The words without the name of the user in front."""
    opening = next((each for each in _THE_USER if words[: len(each)] == each), ())
    return words[len(opening) :]


def opposes(one: str, other: str) -> bool:
    """True if the two cannot both hold: they differ in a number, a date, a negation, or in what is preferred.

    Numbers and dates must differ on both sides: a statement with one more number says more.
    """
    left, right = words_of(one), words_of(other)
    return (
        _is_negated(left) != _is_negated(right)
        or _differ(_numbers(left), _numbers(right))
        or _differ(_named(left, DAYS), _named(right, DAYS))
        or _differ(_named(left, MONTHS), _named(right, MONTHS))
        or _are_opposite(frozenset(left), frozenset(right), OPPOSITES)
        or have_reversed(frozenset(left) - frozenset(right), frozenset(right) - frozenset(left))
        or _prefer_opposites(left, right)
        or _go_opposite_ways(left, right)
    )


def are_complements(one: Iterable[str], other: Iterable[str]) -> bool:
    """True if a word of one is what a word of the other denies: open and closed, able and unable."""
    left, right = frozenset(one), frozenset(other)
    return have_reversed(left - right, right - left) or _are_opposite(left, right, COMPLEMENTS)


def have_reversed(one: Iterable[str], other: Iterable[str]) -> bool:
    """True if a word of one is a word of the other with a prefix that reverses it: paid and unpaid."""
    left, right = frozenset(one), frozenset(other)
    return any(
        prefix + word in these
        for these, those in ((left, right), (right, left))
        for word in those
        for prefix in _REVERSING
        if len(word) >= _SHORTEST_REVERSED
    )


def reorders(one: str, other: str) -> bool:
    """True if the words that both share are in another order, beyond one part that moved: who does what to whom."""
    if any(words_of(each)[:1] and words_of(each)[0] in OPENING_WORDS for each in (one, other)):
        return False
    left, right = _without_conjunctions(claim_stems(one)), _without_conjunctions(claim_stems(other))
    left, right = [each for each in left if each in right], [each for each in right if each in left]
    return sorted(left) == sorted(right) and not _is_rotation(left, right)


def _is_negated(words: Sequence[str]) -> bool:
    text = f" {' '.join(words)} "
    return " used to " in text or " no longer " in text or any(_negates(word) for word in words)


def _negates(word: str) -> bool:
    return word in NEGATIONS or word.endswith("n't")


def _differ(one: frozenset[Hashable], other: frozenset[Hashable]) -> bool:
    return bool(one - other and other - one)


def _numbers(words: Sequence[str]) -> frozenset[Hashable]:
    found = (number.replace(",", "") for word in words for number in _NUMBER.findall(word))
    digits = frozenset(number.removesuffix(":00").removeprefix("0") or number for number in found)
    return digits | _named(words, NUMBERS)


def _named(words: Sequence[str], names: Mapping[str, Hashable]) -> frozenset[Hashable]:
    return frozenset(names[word] for word in words if word in names)


def _are_opposite(
    one: frozenset[str], other: frozenset[str], pairs: Sequence[tuple[frozenset[str], frozenset[str]]]
) -> bool:
    return any(
        (one & these and not one & those and other & those and not other & these)
        or (one & those and not one & these and other & these and not other & those)
        for these, those in pairs
    )


def _go_opposite_ways(one: Sequence[str], other: Sequence[str]) -> bool:
    """True if they differ only in `from` and `to`."""
    left, right = frozenset(one), frozenset(other)
    return left ^ right == {"from", "to"}


def _prefer_opposites(one: Sequence[str], other: Sequence[str]) -> bool:
    preferred, rejected = _sides(one)
    other_preferred, other_rejected = _sides(other)
    return bool((preferred & other_rejected) | (rejected & other_preferred))


def _sides(words: Sequence[str]) -> tuple[frozenset[str], frozenset[str]]:
    """The words before and after the first preference word; both empty if there is none."""
    marks = PREFERENCE_WORDS | {"to"} if any(word.startswith("prefer") for word in words[:3]) else PREFERENCE_WORDS
    place = next((place for place, word in enumerate(words) if word in marks), None)
    if place is None:
        return frozenset(), frozenset()
    before, after = frozenset(words[:place]) - FUNCTION_WORDS, frozenset(words[place + 1 :]) - FUNCTION_WORDS
    return before - after, after - before


def _without_conjunctions(words: Sequence[str]) -> list[str]:
    return [word for word in words if word not in CONJUNCTIONS]


def _is_rotation(one: list[str], other: list[str]) -> bool:
    """True if one becomes the other when one part of it moves."""
    while one and other and one[0] == other[0]:
        one, other = one[1:], other[1:]
    while one and other and one[-1] == other[-1]:
        one, other = one[:-1], other[:-1]
    return not one or any(one[place:] + one[:place] == other for place in range(1, len(one)))


@lru_cache(maxsize=4096)
def stem_of(word: str) -> str:
    """The word's stem."""
    return _stemmer()(word)


@cache
def _stemmer() -> Callable[[str], str]:
    """The English stemmer, loaded with the first statement; it changes little in words of other languages."""
    import Stemmer  # type: ignore[import-not-found]

    stemmer: Callable[[str], str] = Stemmer.Stemmer("english", 0).stemWord
    return stemmer
