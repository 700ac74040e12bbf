"""The words of a statement: which are equal, and its fingerprint.

Two statements have equal words if they differ in nothing but case, blanks, the full stop at the end, commas, quotation
marks, dashes between words, and the spelling of a number, date, time or unit (`value_spelling`). Every other sign
counts: `<` is not `>`, `C` is not `C++`, "every Friday" is not "on Friday".
"""

import hashlib
import re
from collections.abc import Callable
from functools import cache, lru_cache
from typing import Final
from unicodedata import normalize

from commonplace.facts.value_spelling import plain_values

_FUNCTION_WORDS: Final = """
a an the is are was were be been being am has have had do does did will would shall so also very really just
that which who where this it its of in on at for by
der die das den dem des ein eine einen einem einer eines ist sind war waren sein wird werden hat haben hatte
auch sehr so dass im in am an auf bei für von zum zur es
"""
FUNCTION_WORDS: Final = frozenset(_FUNCTION_WORDS.split())
"""Words that carry no claim."""

_DENYING: Final = """
not no never none neither nor nobody nothing nowhere without cannot cant dont doesnt isnt wont stopped quit former
formerly anymore ceased refuses avoids lacks fails
"""
_DENIALS: Final = frozenset(_DENYING.split())

_UNSEEN: Final = dict.fromkeys(map(ord, "\u00ad\u200b\ufeff"))  # soft hyphen, zero-width space, byte order mark
_ONE_SIGN: Final = str.maketrans(
    "\u2018\u2019\u201a\u02bc\u00b4\u201c\u201d\u201e\u00ab\u00bb\u2010\u2011\u2012\u2013\u2014\u2015",
    "'''''\"\"\"\"\"------",
)
_LINK: Final = re.compile(r"\[\[([^\[\]|#/]+)\]\]")
_BARE_WORD: Final = re.compile(r"[^\W_]+(?:['-][^\W_]+)*")
_DASHES: Final = re.compile(r"-+")
_LAST_QUOTES: Final = re.compile(r"(?<![\d\"'])[\"']+$")  # 5' and 5" are a length
_QUOTED: Final = re.compile(r"(?<![\w\"'])(?:\"(?=\S)([^\"]*)\"|'([^\s']*)')(?!\w)")  # "5" is quoted, and no length
_EDGE_QUOTES: Final = re.compile(rf"^[\"']+|{_LAST_QUOTES.pattern}")
_PUNCTUATION: Final = ".,;:!?\u2026\"'()[]{}*"
_END: Final = re.compile(r"(?<!\d)[.\u3002]+$|(?<=\d)\.$")


def fingerprint(text: str) -> str:
    """A hash that is equal for equal words."""
    words = folded_words(text)
    return hashlib.sha256(" ".join(words or text.split()).encode("utf-8", "surrogatepass")).hexdigest()


@lru_cache(maxsize=512)  # one candidate is compared with dozens of facts
def folded_words(text: str) -> tuple[str, ...]:
    """The words in order, each in the one form of all that are equal to it; a link to a note is the note's name."""
    plain = _QUOTED.sub(r"\1\2", plain_signs(_LINK.sub(r"\1", text))).strip()
    while (shorter := _END.sub("", _LAST_QUOTES.sub("", plain.rstrip()))) != plain and shorter:
        plain = shorter
    words = plain_values(" ".join(plain.lower().split())).split()  # `casefold` makes "Maßen" "Massen"
    bare = [_EDGE_QUOTES.sub("", word.rstrip(",")).rstrip(",") for word in words]
    dashes = (place for place, word in enumerate(bare) if _DASHES.fullmatch(word))
    left_out = {place for place in dashes if not "".join(bare[place + 1 : place + 2])[:1].isdigit()}  # `5 - 3` stays
    return tuple(normalize("NFC", word) for place, word in enumerate(bare) if word and place not in left_out)


def said_words(text: str) -> tuple[str, ...]:
    """The words as they were said, in lower case and without the punctuation around them: for finding a quotation."""
    words = (without_punctuation(word) for word in plain_signs(text).casefold().split())
    return tuple(word for word in words if word and not _DASHES.fullmatch(word))


def without_punctuation(word: str) -> str:
    """The word without the punctuation before and after it; signs such as `<`, `%` and `#` stay."""
    return word.strip(_PUNCTUATION)


def plain_signs(text: str) -> str:
    """The text with one sign for each kind of quotation mark and dash, and without signs that nobody sees."""
    return normalize("NFC", text).translate(_UNSEEN).translate(_ONE_SIGN)


def bare_words(text: str) -> tuple[str, ...]:
    """The words without any sign around them, for what may be near and need not be equal."""
    return tuple(_BARE_WORD.findall(normalize("NFC", text).translate(_ONE_SIGN).casefold()))


def opening_names(text: str) -> tuple[tuple[str, ...], str]:
    """The capitalised words that a text begins with, in lower case and without 's, and the word after them.

    Of "Ada Berg plays chess" that is `ada`, `berg` and `plays`; either is empty if there is none.
    """
    names: list[str] = []
    for word in _BARE_WORD.findall(plain_signs(text)):
        if word == word.lower():
            return tuple(names), word
        names.append(without_possessive(word.lower()))
    return tuple(names), ""


def lower_case_words(text: str) -> frozenset[str]:
    """The words without a capital letter, and without an ending 's."""
    return frozenset(without_possessive(word) for word in _BARE_WORD.findall(plain_signs(text)) if word == word.lower())


def without_possessive(word: str) -> str:
    """The word without an ending 's."""
    return word.removesuffix("'s")


def denials(text: str) -> frozenset[str]:
    """The words that deny something or say that it is over, with every word that ends in n't."""
    return frozenset(word for word in bare_words(text) if word in _DENIALS or word.endswith("n't"))


def jaccard(one: str, other: str) -> float:
    """The share of words that two texts have in common: from 0 for none to 1 for all."""
    left, right = frozenset(folded_words(one)), frozenset(folded_words(other))
    return len(left & right) / len(left | right) if left or right else 1.0


def claim_stems(text: str) -> frozenset[str]:
    """The stems of the words that carry the claim."""
    return frozenset(stem_of(word) for word in bare_words(text) if word not in FUNCTION_WORDS)


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
