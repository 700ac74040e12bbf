"""A person's words as a statement about the person: "I prefer tea" becomes "Prefers tea."

The person is the subject that goes without saying, as in every entry: verbs after `I` and `we` get the form of the
third person, `my` at the beginning becomes `the`, and other words for the speaker become `their` and `them`.
"""

import re
from typing import Final

from commonplace.model.text import LazyPattern

ADVERBS: Final = (
    "also|really|actually|always|usually|generally|normally|typically|mostly|just|still|personally|absolutely|totally"
    "|now|simply|definitely|already|only|never|often|sometimes|strongly|much|rarely|currently"
    "|recently|finally|both|all"
    "|ever|even|no longer|mainly|primarily|regularly|hardly|honestly|officially|basically|then"
)
"""Words that may stand between a subject and its verb."""

_LEADING_ADVERBS: Final = LazyPattern(rf"(?i)(?:(?:{ADVERBS})\s+)*")
_SUBJECT: Final = LazyPattern(r"(?i)(?:i|we)(?:(?P<short>'(?:m|re|ve|ll|d))(?=\s)|(?=\s))\s+|(?P<im>im)\s+")
_SHORT: Final = {"'m": "is", "'re": "is", "'ve": "has", "'ll": "will", "'d": "would", "im": "is"}
_UNCHANGED_WORDS: Final = """
    can can't cannot could couldn't will won't would wouldn't may might must mustn't shall should shouldn't
    was had did didn't hadn't got went took left sold quit came became began bought built chose cut did drew
    drove ate fell felt found flew forgot gave grew had held hit kept knew led lent let lost made meant met
    paid put ran read said saw sent set shut slept spent spoke stood swam taught threw told thought understood
    woke won wore wrote grew broke hurt is has does not to
"""
_UNCHANGED: Final = frozenset(_UNCHANGED_WORDS.split())
_IRREGULAR: Final = {
    "am": "is", "are": "is", "were": "was", "have": "has", "do": "does", "go": "goes", "don't": "doesn't",
    "haven't": "hasn't", "aren't": "isn't", "weren't": "wasn't", "am not": "is not", "'m": "is",
}  # fmt: skip
_COORDINATE: Final = LazyPattern(
    r"(?i)\b(and|but|or)\s+(prefer|hate|love|like|dislike|enjoy|live|work|own|rent|drive|play|speak"
    r"|teach|study|take|use|"
    r"have|go|cook|eat|drink|run|swim|cycle|read|write|need|avoid|don't|can't|never)\b(?=\s)"
)
_SPEAKER: Final = (
    (LazyPattern(r"\b(?:I|i|[Ww]e)(?:'m|'re| am| are)\b"), "they are", "the user is"),
    (LazyPattern(r"\b(?:I|i|[Ww]e) (?:was|were)\b"), "they were", "the user was"),
    (LazyPattern(r"\b(?:I|i|[Ww]e)(?='|\b)(?![.\-/])"), "they", "they"),
    (LazyPattern(r"(?i)(?<![\w./-])(?:my|our)\b(?![./-])"), "their", "the user's"),
    (LazyPattern(r"(?<![\w./-])(?:me|Me|us)\b(?![./-])"), "them", "the user"),
    (LazyPattern(r"(?i)\b(?:mine|ours)\b"), "theirs", "the user's"),
    (LazyPattern(r"(?i)\b(?:myself|ourselves)\b"), "themselves", "the user"),
)
_WEEKDAY: Final = LazyPattern(r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b")
_MONTH: Final = LazyPattern(
    r"\b(?:january|february|april|june|july|august|september|october|november|december"
    r"|(?<=in )(?:march|may)|(?<=since )(?:march|may)|(?<=\d )(?:march|may))\b"
)
_BREAK: Final = " ,;:–—-("


def about_person(clause: str) -> str:
    """The clause as a sentence about the person, who is not named. Other subjects than `I` and `we` are kept."""
    words = clause.strip()
    if match := _SUBJECT.match(words):
        return _sentence(_verb_phrase(match, words[match.end() :]), form=1)
    if match := re.match(r"(?i)(?:my|our)\s+", words):
        words = f"the {words[match.end() :]}"
    return as_sentence(words)


def as_sentence(words: str) -> str:
    """The words as one sentence: the speaker as `the user`, a capital at the beginning, a full stop at the end."""
    return _sentence(words, form=2)


def _sentence(words: str, *, form: int) -> str:
    parts = words.split('"')
    for row in _SPEAKER:
        parts[::2] = [row[0].sub(str(row[form]), part) for part in parts[::2]]  # not inside quotation marks
    words = '"'.join(parts)
    words = _WEEKDAY.sub(_capital, words)
    words = _MONTH.sub(_capital, words).strip(_BREAK)
    if not words:
        return ""
    words = words[:1].upper() + words[1:]
    return words if words.endswith((".", "!", "?")) else f"{words}."


def conjugated(verb: str) -> str:
    """A verb in the form of the third person: `prefers` for "prefer"; forms of the past stay as they are."""
    lower = verb.lower()
    if lower in _IRREGULAR:
        return _IRREGULAR[lower]
    if lower in _UNCHANGED or (lower.endswith("ed") and lower not in {"need", "feed", "speed", "embed"}):
        return verb
    if lower.endswith(("s", "x", "z", "ch", "sh")):
        return f"{verb}es"
    if lower.endswith("y") and lower[-2:-1] not in tuple("aeiou"):
        return f"{verb[:-1]}ies"
    return f"{verb}s"


def _verb_phrase(subject: re.Match[str], rest: str) -> str:
    """What follows `I` or `we`, in the third person."""
    short = (subject["short"] or subject["im"] or "").lower()
    rest = _COORDINATE.sub(lambda match: f"{match[1]} {conjugated(match[2])}", rest)
    if short:
        return f"{_SHORT[short]} {rest}"
    adverbs = _LEADING_ADVERBS.match(rest)
    cut = adverbs.end() if adverbs else 0
    verb, space, tail = rest[cut:].partition(" ")
    bare = verb.rstrip(",.;:")
    return f"{rest[:cut]}{conjugated(bare)}{verb[len(bare) :]}{space}{tail}"


def _capital(match: re.Match[str]) -> str:
    return match.group().capitalize()
