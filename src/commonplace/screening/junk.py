"""Find junk: text not worth saving, because it has no words, no content, or only what a program printed.

Three detectors, in this order: gibberish (symbols, one letter repeated, random keys, lorem ipsum), sentences without
content (thanks and greetings, what assistants say by habit, how web pages and e-mails end, what happened in a session)
and program output.
"""

import re
from functools import cache
from itertools import pairwise
from typing import Final

from commonplace.model.text import LazyPattern
from commonplace.screening.junk_phrases import (
    ANSWER_STARTS,
    ANSWER_WORDS,
    ASSISTANT_HABITS,
    COURTESIES,
    PAGE_ENDS,
    PLACEHOLDER_TEXTS,
    STAND_INS,
    any_of,
)
from commonplace.screening.program_output import noise_reason
from commonplace.screening.session_talk import session_reason

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
_COURTESY: Final = "it is a courtesy"
_HABIT: Final = "it is a stock phrase of assistants"
_BRACKETED: Final = LazyPattern(
    r"\s*(?:\[[^\[\]\n]{1,80}\]|<[^<>\n]{1,80}>|\([^()\n]{1,80}\)|\{{1,2}[^{}\n]{1,80}\}{1,2})\W*"
)
_FILE_NAME: Final = LazyPattern(
    r"[\w-]{1,40}\.(?:pdf|png|jpe?g|gif|heic|mp[34]|m4a|wav|docx?|xlsx?|csv|txt|zip|webp|mov)\b"
)
_ANNOUNCEMENT: Final = LazyPattern(r"[^\n:]{1,200}:")
_RULE: Final = LazyPattern(r"(?i)\b(?:should|must|have to) (?:always|never|only)\b")
_SPECIFIC: Final = LazyPattern(r"\d|(?<=\w )(?!I\b)[A-Z]")
_LAUGHTER: Final = LazyPattern(r"(?:ha|he|hi|ja|je|lo|k|х?а|哈|www|ㅋ){2,}h?|h+m+|o+h+|a+h+|yes+|no+|so+")


def junk_reason(text: str) -> str:
    """Why the text is not worth saving, as a sentence; empty if it is worth saving.

    Short text is not junk: one word may matter. One sentence with content is enough.
    """
    if not text.strip():
        return "There is no text."
    reason = gibberish_reason(text) or _without_content(text, about_session=True) or noise_reason(text)
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
    return _without_content(text, about_session=False)


def _without_content(text: str, *, about_session: bool) -> str:
    text = text[:_LONGEST_COURTESY]
    if any_of(PLACEHOLDER_TEXTS).fullmatch(_EDGE.sub("", text)) or _is_stand_in(text):
        return "it is a placeholder"
    if about_session and _ANNOUNCEMENT.fullmatch(text.strip()):
        return "it announces something and ends"
    sentences = [part for each in _SENTENCE.split(text) if (part := _EDGE.sub("", each))]
    reasons: list[str] = []
    for sentence in sentences:
        reason = _sentence_reason(sentence, about_session=about_session)
        if not reason and not (about_session and reasons[:1] in ([_COURTESY], [_HABIT]) and _goes_on(sentence)):
            return ""
        reason = reason or _HABIT
        reasons.append(reason)
    return next((reason for reason in reasons if reason != _COURTESY), _COURTESY)


def _sentence_reason(sentence: str, *, about_session: bool) -> str:
    """Why a sentence has no content; empty if it has."""
    if _is_courtesy(sentence):
        return _COURTESY
    if _is_habit(sentence):
        return _HABIT
    if any_of(PAGE_ENDS).search(sentence):
        return "it is boilerplate of web pages and e-mails"
    return session_reason(sentence) if about_session else ""


def _is_stand_in(text: str) -> bool:
    """True if a program put the whole text, in brackets, in place of something it left out: "[image omitted]"."""
    if not _BRACKETED.fullmatch(text):
        return False
    words = _WORD.findall(_FILE_NAME.sub(" ", text.casefold()))
    return STAND_INS.issuperset(word for word in words if not word.isdigit())


def _goes_on(sentence: str) -> bool:
    """True if a sentence after an assistant's first words only goes on with the answer; names and numbers say more."""
    if _RULE.search(sentence) or _SPECIFIC.search(sentence):
        return False
    return any_of(_answer_starts()).fullmatch(sentence) is not None


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
    """True if the sentence begins with a habit of assistants, at once or after a courtesy, and gives no rule."""
    if _RULE.search(sentence):
        return False
    if any_of(ASSISTANT_HABITS).match(sentence):
        return True
    places = [match.end() for match in _WORD.finditer(sentence)]
    words = _WORD.findall(sentence.casefold().replace("’", "'"))
    count = _leading_courtesies(words) if len(words) == len(places) else 0
    rest = re.sub(r"^\W+", "", sentence[places[count - 1] :])
    return count > 0 and (any_of(ASSISTANT_HABITS).match(rest) is not None or _goes_on(rest))


@cache
def _answer_starts() -> str:
    lines = ANSWER_STARTS
    for name, words in ANSWER_WORDS.items():
        lines = lines.replace(name, words)
    return lines


@cache
def _courtesies() -> tuple[frozenset[tuple[str, ...]], int]:
    """The courtesies as tuples of words, and the number of words in the longest."""
    phrases = COURTESIES.replace("\n", ",").split(",")
    courtesies = frozenset(tuple(_WORD.findall(phrase.casefold())) for phrase in phrases if phrase.strip())
    return courtesies, max(map(len, courtesies))
