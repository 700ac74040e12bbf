"""The words of notes and questions: tokenized, case-folded, without accents, stemmed.

Tokens and the forms under which each can be found:

- `node.js`, `foo_bar`, `2026-03-01`, `ada@example.org`: the whole, and its parts.
- `e-mail`, `camelCase`: the parts, and all of them joined (`email`, `camelcase`).
- `C++`, `C#`: only with their signs; a longer word before such signs also without them.
- `.NET`: with and without its dot.
- `don't`: `dont`. `Ada's`: `ada`. `l'été`: `lete`, `ete`.
- a run of a script without spaces: its characters and its overlapping pairs of characters.

A question has no operators: every sign in it is part of a word or ignored.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import chain, groupby
from typing import Final
from unicodedata import category, normalize

from commonplace.model import FIELDS, WordCounts

MAX_WORDS: Final = 64
"""How many words of a question are searched."""

MAX_TOKEN: Final = 64
"""How many characters of a word count."""

_STOP_WORDS_TEXT: Final = """
a an the this that these those some any each every either neither both all none such same other another
i me my myself we us our ours ourselves you your yours yourself yourselves
he him his himself she her hers herself it its itself they them their theirs themselves
one who whom whose which what when where why how
am is are was were be been being do does did doing done have has had having
can could will would shall should might must ought
not no nor cannot dont doesnt didnt isnt arent wasnt werent hasnt havent hadnt wont wouldnt cant couldnt shouldnt
im ive youre youve youd youll hes shes theyre theyve weve thats whats lets
and or but if then else than because as until while although though since unless whether so
of at by for with about against between into through during before after above below to from up down in out on off
over under upon onto within without toward towards among per via
again further once here there now just only very too also more most much many few less least own ever even still yet
please tell
"""
STOP_WORDS: Final = frozenset(_STOP_WORDS_TEXT.split())
"""English words that say little by themselves: case-folded, without apostrophes, not stemmed. `may`, `mine`, `id` and
`ill` are not among them: they can say much."""

_CACHE_SIZE: Final = 1 << 13  # tokens of one cache: a larger one is no faster on 142 notes, and questions fill it
_BOOLEANS: Final = frozenset({"AND", "OR", "NOT"})
_ENDINGS: Final = frozenset({"t", "re", "ve", "ll", "d", "m"})
_LONGEST_NAME: Final = 2

_WORD: Final = r"(?:(?<![\w.])\.(?=[A-Za-z]))?{w}++(?:[.'’@&\-‐‑]{w}++)*+(?:(?:\+\+|\#)(?!{w}))?"
_ASCII_WORD: Final = re.compile(_WORD.format(w=r"\w"), re.ASCII)
_NAME_SIGNS: Final = re.compile(r"[A-Za-z]+(?:\+\+|#)")
_JOINING_SIGNS: Final = re.compile(r"[.@&_\-‐‑]+")
_HYPHENS: Final = re.compile(r"[\-‐‑]")
_HUMPS: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")

# Han, Kana, Bopomofo, Hangul, Thai, Lao, Khmer, Myanmar: written without spaces, or with endings joined on.
_UNSPACED: Final = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u312f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
_PICTURES: Final = "\u2600-\u27bf\U0001f300-\U0001faff"

# Signs above and below letters that people leave out when they search: accents of Latin, Greek and Cyrillic, points of
# Hebrew, vowel signs of Arabic, and signs that join or part letters without being one. Indic and Kana marks stay.
_DROPPED_RANGES: Final = (
    (0x00AD, 0x00AD),
    (0x0300, 0x036F),
    (0x0483, 0x0487),
    (0x0591, 0x05C7),
    (0x0640, 0x0640),
    (0x064B, 0x0655),
    (0x0670, 0x0670),
    (0x1AB0, 0x1AFF),
    (0x1DC0, 0x1DFF),
    (0x200B, 0x200D),
    (0x2060, 0x2060),
    (0x20D0, 0x20FF),
    (0xFE00, 0xFE0F),
    (0xFE20, 0xFE2F),
    (0xFEFF, 0xFEFF),
)
_LETTERS: Final = {
    "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i", "ħ": "h", "ŧ": "t",
}  # fmt: skip
_MARKS_UP_TO: Final = 0x1DFF
_LATER_MARKS: Final = (
    "\u200b-\u200d\u2060\u20d0-\u20ff\u3099\u309a\ua66f-\ua69f\ua6f0\ua6f1\ua800-\uabff\ufe20-\ufe2f\xad"
)


@dataclass(frozen=True, slots=True)
class QueryWords:
    """The words of a question to search for, each once and in order, and the words left out.

    `spelled` are the searched words as the question spells them, for people to read.
    """

    words: tuple[str, ...]
    left_out: tuple[str, ...]
    spelled: tuple[str, ...] = ()


def words_of(text: str) -> list[str]:
    """The words of a text in order, with repetitions."""
    return list(chain.from_iterable(map(stems_of, token_texts(text))))


def query_words(text: str) -> QueryWords:
    """The words of a question. Stop words count only if it has no others.

    Capitals such as IT or WHO are names in a question that is not all in capitals; AND, OR and NOT are not.
    If a text has too many words, the most repeated are taken, and of equals the earlier.
    """
    all_capitals = text.isupper()
    counts: Counter[str] = Counter()
    spelled: dict[str, str] = {}
    stops: dict[str, None] = {}
    for token in token_texts(text):
        is_name = len(token) > 1 and token.isupper() and not all_capitals and token not in _BOOLEANS
        for form in forms_of(token, pairs_only=True):
            if form in STOP_WORDS and not is_name:
                stops[form] = None
            else:
                counts[stem(form)] += 1
                spelled.setdefault(stem(form), form)
    if not counts:
        return QueryWords(tuple(dict.fromkeys(map(stem, stops)))[:MAX_WORDS], (), tuple(stops)[:MAX_WORDS])
    searched = {word for word, _ in counts.most_common(MAX_WORDS)}
    surplus = (word for word in counts if word not in searched)
    words = tuple(word for word in counts if word in searched)
    return QueryWords(words, (*stops, *surplus), tuple(spelled[word] for word in words))


def count_words(
    *, title: str, aliases: Iterable[str], headings: Iterable[str], tags: Iterable[str], body: str
) -> WordCounts:
    """For each word of a chunk, its count in each field."""
    texts = (title, "\n".join(aliases), "\n".join(headings), "\n".join(tags), body)
    fields = [Counter(words_of(text)) for text in texts]
    counts: dict[str, list[int]] = {}
    for position, field in enumerate(fields):
        for word, count in field.items():
            counts.setdefault(word, [0] * len(FIELDS))[position] = count
    return {word: (n[0], n[1], n[2], n[3], n[4]) for word, n in counts.items()}


def stems_of(token: str) -> tuple[str, ...]:
    """The stemmed words under which a token of a text can be found."""
    return _cached_stems(token) if len(token) <= MAX_TOKEN else tuple(map(stem, forms_of(token)))


@lru_cache(maxsize=_CACHE_SIZE)
def _cached_stems(token: str) -> tuple[str, ...]:
    return tuple(map(stem, forms_of(token)))


def stem(word: str) -> str:
    """A folded word without its English ending; a word with any other sign than an ASCII letter is unchanged."""
    return _stem_english(word) if word.isascii() and word.isalpha() else word


@lru_cache(maxsize=_CACHE_SIZE)
def _stem_english(word: str) -> str:
    return _stemmer()(word)


@cache
def _stemmer() -> Callable[[str], str]:
    """The stemmer, loaded with the first word. It runs under the interpreter's lock, so threads may share it."""
    import Stemmer  # type: ignore[import-not-found]

    # 0 turns off the library's cache: stems are cached above.
    stemmer: Callable[[str], str] = Stemmer.Stemmer("english", 0).stemWord
    return stemmer


def find_tokens(text: str) -> Iterator[re.Match[str]]:
    """Matches for every token: one word, or several joined by signs."""
    return (_ASCII_WORD if text.isascii() else _unicode_word()).finditer(text)


def token_texts(text: str) -> list[str]:
    """The tokens of a text as strings."""
    tokens: list[str] = (_ASCII_WORD if text.isascii() else _unicode_word()).findall(text)
    return tokens


@cache
def _unicode_word() -> re.Pattern[str]:
    return re.compile(_WORD.format(w=rf"[\w{_combining_marks()}]") + f"|[{_PICTURES}]")


def _combining_marks() -> str:
    """The signs that belong to the letter before them, as the inside of a character class."""
    ranges = []
    codes = (code for code in range(0x300, _MARKS_UP_TO + 1) if category(chr(code))[0] == "M")
    for _, run in groupby(enumerate(codes), key=lambda pair: pair[1] - pair[0]):
        members = [code for _, code in run]
        ranges.append(f"{chr(members[0])}-{chr(members[-1])}")
    return "".join(ranges) + _LATER_MARKS


def forms_of(token: str, *, pairs_only: bool = False) -> tuple[str, ...]:
    """The words under which a token can be found, folded and not stemmed.

    `pairs_only` leaves out the single characters of a run without spaces.
    """
    return _cached_forms(token, pairs_only) if len(token) <= MAX_TOKEN else tuple(_forms(token, pairs_only))


@lru_cache(maxsize=_CACHE_SIZE)
def _cached_forms(token: str, pairs_only: bool) -> tuple[str, ...]:  # noqa: FBT001 - a key of the cache
    return tuple(_forms(token, pairs_only))


def _forms(token: str, pairs_only: bool) -> Iterator[str]:  # noqa: FBT001 - passed on from the cache
    if token.isascii():
        yield from _spaced_forms(token)
        return
    plain = normalize("NFKC", token)
    if plain != token and len(tokens := token_texts(plain)) > 1:
        for each in tokens:
            yield from _forms(each, pairs_only)
        return
    for position, part in enumerate(_unspaced_runs().split(plain)):
        if position % 2:
            yield from _unspaced_forms(part, pairs_only)
        elif part:
            yield from _spaced_forms(part)


@cache
def _unspaced_runs() -> re.Pattern[str]:
    return re.compile(f"([{_UNSPACED}\u3099\u309a]+)")


def _spaced_forms(token: str) -> Iterator[str]:
    """The forms of a token of letters and digits."""
    if _NAME_SIGNS.fullmatch(token):
        yield _short(fold(token))
        if len(token.rstrip("+#")) <= _LONGEST_NAME:
            return
    token = token.rstrip("+#")
    dotted = token.startswith(".")
    parts = [part for part in _JOINING_SIGNS.split(token) if part]
    words = [word for part in parts for word in _split_humps(part)]
    if dotted:
        yield _short(fold(token))
    if len(parts) > 1:
        yield _short("".join(_joined(part) for part in parts) if _is_hyphenated(token) else fold(token).strip("_.-"))
    for word in words:
        if short := _short(word):
            yield short


def _is_hyphenated(token: str) -> bool:
    """True if the token is letters joined only by hyphens: people also write it as one word."""
    bare = _HYPHENS.sub("", token)
    return bare != token and bare.replace("'", "").replace("’", "").isalpha()


def _split_humps(part: str) -> Iterator[str]:
    """A part as one word, then the words within it that capitals or apostrophes show."""
    yield _joined(part)
    head, apostrophe, tail = part.replace("’", "'").partition("'")
    if apostrophe:
        if len(tail) > 1 and fold(tail) not in _ENDINGS:
            yield fold(tail.replace("'", ""))
        part = head
    humps = _HUMPS.split(part) if not part.islower() else []
    if len(humps) > 1:
        yield from map(fold, humps)


def _joined(part: str) -> str:
    """The part as one word: without a possessive ending, and without apostrophes."""
    word = fold(part.replace("’", "'"))
    return word.removesuffix("'s").replace("'", "")


def _short(word: str) -> str:
    return word[:MAX_TOKEN]


def _unspaced_forms(run: str, pairs_only: bool) -> Iterator[str]:  # noqa: FBT001 - passed on from the cache
    letters = [fold(letter) for letter in letters_of(run)]
    singles = not pairs_only or len(letters) == 1
    for position, letter in enumerate(letters):
        if singles:
            yield letter
        if position + 1 < len(letters):
            yield letter + letters[position + 1]


def letters_of(run: str) -> list[str]:
    """The characters of a run, each with the marks that belong to it."""
    letters: list[str] = []
    for sign in run:
        if letters and category(sign)[0] == "M":
            letters[-1] += sign
        else:
            letters.append(sign)
    return letters


def fold(word: str) -> str:
    """The word in the form in which case, width and accents make no difference."""
    if word.isascii():
        return word.lower()
    bare = normalize("NFKD", normalize("NFKC", word).casefold()).translate(_folding_table())
    return normalize("NFC", bare)


@cache
def _folding_table() -> dict[int, str]:
    dropped = {chr(code): "" for first, last in _DROPPED_RANGES for code in range(first, last + 1)}
    return str.maketrans(dropped | _LETTERS)
