"""Find junk: text not worth saving, because it has no words, no content, or only what a program printed.

Three detectors, in this order: gibberish (symbols, one letter repeated, random keys, lorem ipsum), empty phrases
(thanks and greetings, what assistants say by habit, how web pages and e-mails end) and program output (progress,
installs, listings, traces, logs, results of tools and tests).
"""

import re
from functools import cache
from itertools import pairwise
from typing import Final

from commonplace.model.text import LazyPattern
from commonplace.screening.junk_phrases import (
    ASSISTANT_HABITS,
    COURTESIES,
    PAGE_ENDS,
    PLACEHOLDER_TEXTS,
    POSSIBLE_OUTPUT,
    PROGRAM_OUTPUT,
)

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
_LETTERS: Final = LazyPattern(r"[^\W\d_]+")
_VOWELS: Final = frozenset("aeiouyäöüáàâãåæéèêëíìîïóòôõøúùûýœ")
_CONSONANTS: Final = LazyPattern(r"[bcdfghjklmnpqrstvwxz]{6,}")
_LOREM_WORDS: Final = """
    lorem ipsum dolor sit amet consectetur adipiscing elit sed eiusmod tempor incididunt ut labore et dolore magna
    aliqua enim ad minim veniam quis nostrud exercitation ullamco laboris nisi aliquip ex ea commodo consequat duis
    aute irure in reprehenderit voluptate velit esse cillum eu fugiat nulla pariatur excepteur sint occaecat
    cupidatat non proident sunt culpa qui officia deserunt mollit anim id est laborum
"""
_LOREM: Final = frozenset(_LOREM_WORDS.split())
_LOREM_MARKERS: Final = frozenset(
    ("lorem", "ipsum", "consectetur", "adipiscing", "eiusmod", "incididunt", "excepteur", "ullamco")
)
_LONGEST_GIBBERISH: Final = 4_000  # characters: longer text is judged by its beginning
_SHORT_MASHES: Final = frozenset(
    ("asdf", "qwer", "qwerty", "asd", "zxc", "hjkl", "dfgh", "jkl", "fdsa", "yxcv", "sdf", "wasd")
)

_LONGEST_COURTESY: Final = (
    3_000  # characters: longer than any text of courtesies alone, and than the first sentences of most licences
)
_SENTENCE: Final = LazyPattern(r"(?<=[.!?…])\s+|\n+|(?<=[。！？])|\s[|·•–—]\s|[¿¡]")
_EDGE: Final = LazyPattern(r"^[^\w©]+|[\W_]+$")
_WORD: Final = LazyPattern(r"[^\W_]+(?:['’-][^\W_]+)*")
_LAUGHTER: Final = LazyPattern(r"(?:ha|he|hi|ja|je|lo|k|х?а|哈|www|ㅋ){2,}h?|h+m+|o+h+|a+h+|yes+|no+|so+")

_LONGEST_LINE: Final = 300  # characters: enough to recognise program output
_MOST_LINES: Final = 120
_FEW_PATHS: Final = 2
_FEW_WORDS: Final = 4  # in colour: a status shown in a terminal
_ANSI: Final = LazyPattern(r"\x1b\[[0-9;?]{0,20}[ -/]?[@-~]|\x1b\][^\x07\n]{0,200}\x07|\r|\x08")
_TRACE: Final = LazyPattern(
    r"(?im)^(?:traceback \(most|exception in|\s+at \S|panic:|thread '|goroutine \d|diff --git|@@ -|\s+raise \w)"
)
_ERROR_ALONE: Final = LazyPattern(
    r"(?:[A-Za-z_]\w*\.)*[A-Z][a-z]\w*(?:Error|Exception)(?::.{0,100})?"
    r"|(?:[Ee]rror|ERROR|[Ff]atal|FATAL|warning|panic)(?:\[\w+\]| \d+ \(\w+\))?: .{0,140}"
)
_PATH: Final = LazyPattern(r"(?:[A-Za-z]:)?[\w.@~+-]*[/\\][\w.@~+/\\-]*|[\w@~+-]+(?:\.[\w-]+)*\.[a-z]\w{0,4}|[\w.-]+/")
_EXPLAINED: Final = LazyPattern(
    r"(?i)^\W*(?:fix(?:ed)?|solution|cause|because|reason|workaround|lesson|root cause|lösung|ursache"
    r"|grund|solución|causa|remède|conclusion|learned|merke|tip)\b"
    r"|\b(?:fix(?:ed)? (?:by|with)|use|upgrade|happens|because|means|caused by|comes from|run|instead|solved|weil)\b"
)
_SENTENCE_WORDS: Final = LazyPattern(r"(?:[^\W\d_]{2,}[,;:]?\s+){3}[^\W\d_]{2,}")
_RECORD_KEY: Final = LazyPattern(
    r"""["'](?:status|ok|success|results?|data|errors?|code|content|type|tool_use_id|tool_call_id|id|items|total|count|took|took_ms
    |exit_?code|stdout|stderr|output|response|request_id|timestamp|duration_ms|usage|role|choices|hits|rows|cursor|has_more|event
    |level|jsonrpc|method|params|finish_reason|is_?error|arguments|truncated|matches|files|message)["']\s?:""",
    re.VERBOSE | re.IGNORECASE,
)
_HOLLOW: Final = LazyPattern(r"[\[{\s\]},:\"]{2,}")
_PRINTED: Final = "it is only program output"


def junk_reason(text: str) -> str:
    """Why the text is not worth saving, as a sentence; empty if it is worth saving.

    Short text is not junk: one word may matter. One sentence with content is enough.
    """
    if not text.strip():
        return "There is no text."
    reason = gibberish_reason(text) or courtesy_reason(text) or noise_reason(text)
    return f"This is not worth keeping: {reason}." if reason else ""


def gibberish_reason(text: str) -> str:
    """Why the text has no meaningful words, as the end of a sentence; empty if it has some."""
    text = text[:_LONGEST_GIBBERISH].casefold()
    words = _LETTERS.findall(text)
    if not words:
        return "it has no words"
    if _is_repeated(text, words):
        return "it repeats one thing over and over"
    if _is_lorem(words):
        return "it is filler text"
    if _is_mashed(words):
        return "it is random keystrokes"
    return ""


def courtesy_reason(text: str) -> str:
    """Why no sentence of the text has content, as the end of a sentence; empty if one has."""
    text = text[:_LONGEST_COURTESY]
    if _any_of(PLACEHOLDER_TEXTS).fullmatch(_EDGE.sub("", text)):
        return "it is a placeholder"
    sentences = [part for each in _SENTENCE.split(text) if (part := _EDGE.sub("", each))]
    rest = [part for part in sentences if not _is_courtesy(part)]
    if not rest:
        return "it is a courtesy"
    if all(_is_habit(part) for part in rest):
        return "it is a stock phrase of assistants"
    if all(_any_of(PAGE_ENDS).search(part) for part in rest):
        return "it is boilerplate of web pages and e-mails"
    return ""


def noise_reason(text: str) -> str:
    """Why the text is only program output, as the end of a sentence; empty if someone says something in it."""
    clean = _ANSI.sub("", text)
    lines = [line.rstrip()[:_LONGEST_LINE] for line in clean.split("\n", _MOST_LINES * 2) if line.strip()][:_MOST_LINES]
    if not lines or (clean != text and "\x1b" in text and len(clean.split()) <= _FEW_WORDS):
        return _PRINTED
    if _is_record(clean.strip()):
        return "it is the result of a tool"
    if len(lines) >= _FEW_PATHS and all(_PATH.fullmatch(line.strip()) for line in lines):
        return "it is a listing"
    return _PRINTED if _is_printed(lines, in_trace=_TRACE.search(clean) is not None) else ""


def _is_repeated(text: str, words: list[str]) -> bool:
    """True if one letter, pair of letters, word or line makes up the whole text."""
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
    count = sum(word in _LOREM for word in words)
    return (
        count >= min(4, len(words))
        and count > 0.5 * len(words)
        and len(words) > 1
        and bool(_LOREM_MARKERS.intersection(words))
    )


def _is_mashed(words: list[str]) -> bool:
    """True if most letters are in words that only the layout of a keyboard explains."""
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


def _is_courtesy(sentence: str) -> bool:
    words = _WORD.findall(sentence.casefold().replace("’", "'"))
    return _leading_courtesies(words) == len(words)


def _leading_courtesies(words: list[str]) -> int:
    """The number of words at the beginning that are courtesies, taking the longest phrase at each step."""
    courtesies, longest = _courtesies()
    at = 0
    while at < len(words):
        sizes = (
            size for size in range(min(longest, len(words) - at), 0, -1) if tuple(words[at : at + size]) in courtesies
        )
        size = next(sizes, 1 if _LAUGHTER.fullmatch(words[at]) else 0)
        if not size:
            break
        at += size
    return at


def _is_habit(sentence: str) -> bool:
    """True if the sentence begins with a habit of assistants, at once or after a courtesy."""
    if _any_of(ASSISTANT_HABITS).match(sentence):
        return True
    places = [match.end() for match in _WORD.finditer(sentence)]
    words = _WORD.findall(sentence.casefold().replace("’", "'"))
    count = _leading_courtesies(words) if len(words) == len(places) else 0
    return count > 0 and _any_of(ASSISTANT_HABITS).match(re.sub(r"^\W+", "", sentence[places[count - 1] :])) is not None


def _is_printed(lines: list[str], *, in_trace: bool) -> bool:
    """True if the lines are program output, except for a few without content."""
    sure = [line for line in lines if _is_sure(line, in_trace=in_trace)]
    if not sure or len(lines) == 1:
        return bool(sure)
    rest = [line for line in lines if not _is_sure(line, in_trace=in_trace)]
    unclear = [line for line in rest if _EXPLAINED.search(line) or not _any_of(POSSIBLE_OUTPUT).fullmatch(line.strip())]
    few = len(sure) >= 2 and len(unclear) <= max(1, len(lines) // 3)
    return not unclear or (few and not any(_EXPLAINED.search(line) or _SENTENCE_WORDS.search(line) for line in unclear))


def _is_sure(line: str, *, in_trace: bool) -> bool:
    bare = line.strip()
    if _any_of(PROGRAM_OUTPUT).fullmatch(bare) or (in_trace and line[:1] in " \t+-"):
        return True
    return _ERROR_ALONE.fullmatch(bare) is not None and not _EXPLAINED.search(bare)


def _is_record(text: str) -> bool:
    """True if the whole text is JSON, as tools return it."""
    if len(text) < 2 or text[0] not in "{[" or text[-1] not in "}]" or text.startswith("[["):
        return False
    return _RECORD_KEY.search(text) is not None or _HOLLOW.fullmatch(text[:400]) is not None


@cache
def _any_of(lines: str) -> re.Pattern[str]:
    """One expression that matches any of the lines, compiled at first use."""
    return re.compile("|".join(f"(?:{line})" for line in lines.strip().splitlines()), re.IGNORECASE)


@cache
def _courtesies() -> tuple[frozenset[tuple[str, ...]], int]:
    """The courtesies as tuples of words, and the number of words in the longest."""
    phrases = COURTESIES.replace("\n", ",").split(",")
    courtesies = frozenset(tuple(_WORD.findall(phrase.casefold())) for phrase in phrases if phrase.strip())
    return courtesies, max(map(len, courtesies))
