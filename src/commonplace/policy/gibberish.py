"""Text without a word in it: signs alone, one letter over and over, keys struck at random, lorem ipsum."""

import re
from itertools import pairwise
from typing import Final

_ROWS: Final = (
    "1234567890",
    "qwertyuiop",
    "asdfghjkl",
    "zxcvbnm",
    "qwertzuiop",
    "yxcvbnm",
    "azertyuiop",
    "qsdfghjklm",
    "wxcvbn",
)
_NEIGHBOURS: Final = frozenset(pair for row in _ROWS for one, two in pairwise(row) for pair in ((one, two), (two, one)))
_WORD: Final = re.compile(r"[^\W\d_]+")
_VOWELS: Final = frozenset("aeiouyäöüáàâãåæéèêëíìîïóòôõøúùûýœ")
_CONSONANTS: Final = re.compile(r"[bcdfghjklmnpqrstvwxz]{6,}")
_LOREM_WORDS: Final = """
    lorem ipsum dolor sit amet consectetur adipiscing elit sed eiusmod tempor incididunt ut labore et dolore magna
    aliqua enim ad minim veniam quis nostrud exercitation ullamco laboris nisi aliquip ex ea commodo consequat duis
    aute irure in reprehenderit voluptate velit esse cillum eu fugiat nulla pariatur excepteur sint occaecat
    cupidatat non proident sunt culpa qui officia deserunt mollit anim id est laborum
"""
_LOREM: Final = frozenset(_LOREM_WORDS.split())
_TELLING: Final = frozenset(
    ("lorem", "ipsum", "consectetur", "adipiscing", "eiusmod", "incididunt", "excepteur", "ullamco")
)
_LONGEST_LOOKED_AT: Final = 4_000  # characters: what begins as noise and is longer is judged by its beginning
_SHORT_MASHES: Final = frozenset(
    ("asdf", "qwer", "qwerty", "asd", "zxc", "hjkl", "dfgh", "jkl", "fdsa", "yxcv", "sdf", "wasd")
)


def gibberish_reason(text: str) -> str:
    """Why the text has no words that mean something, as the end of a sentence; empty when it has."""
    text = text[:_LONGEST_LOOKED_AT].casefold()
    words = _WORD.findall(text)
    if not words:
        return "it has no words"
    if _is_repeated(text, words):
        return "it says one thing over and over"
    if _is_lorem(words):
        return "it is filler text"
    if _is_mashed(words):
        return "it is keys struck at random"
    return ""


def _is_repeated(text: str, words: list[str]) -> bool:
    """One letter, one pair of letters, one word or one line that fills everything."""
    letters = "".join(words)
    if len(letters) >= 5 and len(set(letters)) <= (2 if len(letters) >= 6 else 1):
        return True
    if len(letters) >= 5 and all(len(set(word)) == 1 for word in words):
        return True
    if len(letters) >= 8 and max(map(letters.count, set(letters))) > 0.7 * len(letters):
        return True
    if len(words) >= 4 and len(set(words)) <= max(1, len(words) // 6):
        return True
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return len(lines) >= 5 and len(set(lines)) <= len(lines) // 5


def _is_lorem(words: list[str]) -> bool:
    known = sum(word in _LOREM for word in words)
    return (
        known >= min(4, len(words))
        and known > 0.5 * len(words)
        and len(words) > 1
        and bool(_TELLING.intersection(words))
    )


def _is_mashed(words: list[str]) -> bool:
    """Whether most of the letters are in words that only a keyboard's order explains."""
    mashed = sum(len(word) for word in words if _is_mash(word))
    return mashed > 0.75 * sum(map(len, words))


def _is_mash(word: str) -> bool:
    if word in _SHORT_MASHES:
        return True
    if len(word) < 5 or not word.isascii():
        return False
    walked = sum(pair in _NEIGHBOURS for pair in pairwise(word))
    if walked >= 0.7 * (len(word) - 1) or _CONSONANTS.search(word):
        return True
    return len(word) >= 6 and not _VOWELS.intersection(word)
