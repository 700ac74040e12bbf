"""Where the words of a text stand, and the forms under which each can be found.

- `node.js`, `foo_bar`, `2026-03-01`, `ada@example.org`: the whole, and its parts.
- `e-mail`, `camelCase`: the parts, and all of them joined (`email`, `camelcase`).
- `C++`, `C#`: with their signs alone; a longer word before such signs also without them.
- `.NET`: with and without its dot.
- `don't`: `dont`. `Ada's`: `ada`. `l'été`: `lete`, `ete`.
- a run of a script without spaces: its characters and its overlapping pairs of characters.
"""

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from unicodedata import normalize

from commonplace.recalling.scripts import PICTURES, UNSPACED, folded, letters_of, marks

LONGEST = 64
"""How many characters of a word count."""

_WORD = r"(?:(?<![\w.])\.(?=[A-Za-z]))?{w}++(?:[.'’@&\-‐‑]{w}++)*+(?:(?:\+\+|\#)(?!{w}))?"
_ASCII_WORD = re.compile(_WORD.format(w=r"\w"), re.ASCII)
_NAME_SIGNS = re.compile(r"[A-Za-z]+(?:\+\+|#)")
_JOINTS = re.compile(r"[.@&_\-‐‑]+")
_HYPHENS = re.compile(r"[\-‐‑]")
_HUMPS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_RUNS = re.compile(f"([{UNSPACED}\u3099\u309a]+)")
_ENDINGS = frozenset({"t", "re", "ve", "ll", "d", "m"})
_LONGEST_NAME = 2
_REMEMBERED = 1 << 17


def find_tokens(text: str) -> Iterator[re.Match[str]]:
    """Every stretch of the text that is one word or several joined by signs."""
    return (_ASCII_WORD if text.isascii() else _word()).finditer(text)


def token_texts(text: str) -> list[str]:
    """The same stretches as texts."""
    found: list[str] = (_ASCII_WORD if text.isascii() else _word()).findall(text)
    return found


def forms_of(token: str, *, pairs_only: bool = False) -> tuple[str, ...]:
    """The words that a token can be found by, folded and not stemmed; of an unspaced run perhaps the pairs alone."""
    return _remembered(token, pairs_only) if len(token) <= LONGEST else tuple(_forms(token, pairs_only))


@lru_cache(maxsize=_REMEMBERED)
def _remembered(token: str, pairs_only: bool) -> tuple[str, ...]:  # noqa: FBT001 - a key of the cache
    return tuple(_forms(token, pairs_only))


@cache
def _word() -> re.Pattern[str]:
    return re.compile(_WORD.format(w=rf"[\w{marks()}]") + f"|[{PICTURES}]")


def _forms(token: str, pairs_only: bool) -> Iterator[str]:  # noqa: FBT001 - handed on from the cache
    if token.isascii():
        yield from _spaced(token)
        return
    plain = normalize("NFKC", token)
    if plain != token and len(again := token_texts(plain)) > 1:
        for each in again:
            yield from _forms(each, pairs_only)
        return
    for place, part in enumerate(_RUNS.split(plain)):
        if place % 2:
            yield from _unspaced(part, pairs_only)
        elif part:
            yield from _spaced(part)


def _spaced(token: str) -> Iterator[str]:
    """The forms of a token of letters and digits."""
    if _NAME_SIGNS.fullmatch(token):
        yield _short(folded(token))
        if len(token.rstrip("+#")) <= _LONGEST_NAME:
            return
    token = token.rstrip("+#")
    dotted = token.startswith(".")
    parts = [part for part in _JOINTS.split(token) if part]
    words = [word for part in parts for word in _by_humps(part)]
    if dotted:
        yield _short(folded(token))
    if len(parts) > 1:
        yield _short("".join(_kept(part) for part in parts) if _is_hyphenated(token) else folded(token).strip("_.-"))
    for word in words:
        if short := _short(word):
            yield short


def _is_hyphenated(token: str) -> bool:
    """Whether only hyphens join it, and letters alone are joined: then it is also written as one word."""
    bare = _HYPHENS.sub("", token)
    return bare != token and bare.replace("'", "").replace("’", "").isalpha()


def _by_humps(part: str) -> Iterator[str]:
    """A part as one word, and the words that capitals in it or apostrophes show."""
    yield _kept(part)
    head, apostrophe, tail = part.replace("’", "'").partition("'")
    if apostrophe:
        if len(tail) > 1 and folded(tail) not in _ENDINGS:
            yield folded(tail.replace("'", ""))
        part = head
    humps = _HUMPS.split(part) if not part.islower() else []
    if len(humps) > 1:
        yield from map(folded, humps)


def _kept(part: str) -> str:
    """The part as one word: without a possessive ending, and without apostrophes."""
    word = folded(part.replace("’", "'"))
    return word.removesuffix("'s").replace("'", "")


def _short(word: str) -> str:
    return word[:LONGEST]


def _unspaced(run: str, pairs_only: bool) -> Iterator[str]:  # noqa: FBT001 - handed on from the cache
    letters = [folded(letter) for letter in letters_of(run)]
    alone = not pairs_only or len(letters) == 1
    for place, letter in enumerate(letters):
        if alone:
            yield letter
        if place + 1 < len(letters):
            yield letter + letters[place + 1]
