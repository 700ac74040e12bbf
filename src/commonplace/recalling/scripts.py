"""What the scripts of the world ask of a search: which signs make a word, and which accents may be dropped."""

from functools import cache
from itertools import groupby
from unicodedata import category, normalize

# Han, Kana, Bopomofo, Hangul, Thai, Lao, Khmer, Myanmar: written without spaces, or with endings joined on.
UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u312f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
PICTURES = "\u2600-\u27bf\U0001f300-\U0001faff"

# Signs above and below letters that a searcher leaves out: accents of Latin, Greek and Cyrillic, points of Hebrew,
# vowel signs of Arabic, and signs that join or part letters without being one. Indic and Kana marks are not among them.
_DROPPED_RANGES = (
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
_LETTERS = {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i", "ħ": "h", "ŧ": "t"}
_FOLDING = str.maketrans(
    {chr(code): "" for first, last in _DROPPED_RANGES for code in range(first, last + 1)} | _LETTERS
)
_MARKS_UP_TO = 0x1DFF
_LATER_MARKS = "\u200b-\u200d\u2060\u20d0-\u20ff\u3099\u309a\ua66f-\ua69f\ua6f0\ua6f1\ua800-\uabff\ufe20-\ufe2f\xad"


def folded(word: str) -> str:
    """The word whatever its case, width and accents."""
    if word.isascii():
        return word.lower()
    bare = normalize("NFKD", normalize("NFKC", word).casefold()).translate(_FOLDING)
    return normalize("NFC", bare)


@cache
def marks() -> str:
    """The signs that belong to the letter before them, as the inside of a character class."""
    found = []
    codes = (code for code in range(0x300, _MARKS_UP_TO + 1) if category(chr(code))[0] == "M")
    for _, run in groupby(enumerate(codes), key=lambda pair: pair[1] - pair[0]):
        members = [code for _, code in run]
        found.append(f"{chr(members[0])}-{chr(members[-1])}")
    return "".join(found) + _LATER_MARKS


def letters_of(run: str) -> list[str]:
    """The characters of a run, each with the marks that belong to it."""
    found: list[str] = []
    for sign in run:
        if found and category(sign)[0] == "M":
            found[-1] += sign
        else:
            found.append(sign)
    return found
