"""Secrets that another line announces: below a heading, on the next line, in the column of a table, in a list."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from commonplace.model.text import LazyPattern
from commonplace.screening.secret_formats import SecretMatch, is_seed_phrase, match_numbers
from commonplace.screening.secret_tokens import AWS_SECRET, is_aws_secret, match_tokens
from commonplace.screening.secret_words import CUE, OTHER_MATTER, lowered, match_words

_LONGEST: Final = 90  # characters of a line that announces a secret; a longer one is a sentence
_BELOW: Final = 12  # lines that one announcement covers
_DECORATION: Final = LazyPattern(r"^[\s>#*_`|+-]*(?:\d{1,2}[.)]\s)?(?:\[[ xX]\]\s)?[*_`\"']*")
_ENDING: Final = LazyPattern(r"[\s*_`|#]*(?:[:：=]|\b(?:is|are|ist|lautet|sind|est|es))?[\s*_`]*(?:[>|][+-]?)?\s*$")
_HAS_VALUE: Final = LazyPattern(r"[={}$<>]|:\s\S")
_FOR_WHAT: Final = LazyPattern(
    r"(?:\s(?:for|of|to|at|on|in|für|von|vom|zum|pour|de|du|para|del)\b[^.!?:]{0,50}|\s?[,(–—-][^.!?:]{0,50})?\W*"
)
_FOR_ANYTHING: Final = LazyPattern(r"[^.!?:;]{0,50}")
_BACKUP_CODE: Final = "backup code"
_LISTED_CODE: Final = LazyPattern(r"(?i)^(?=.{0,40}\d)[a-z0-9]{4,10}(?:[- ][a-z0-9]{3,10}){0,4}$")
_CODES: Final = LazyPattern(
    r"(?i)\b(?:backup|recovery|one-time|2fa|mfa|scratch|wiederherstellungs|emergency)[- ]?codes?\b[^.!?]{0,50}$"
)
_LOGINS: Final = LazyPattern(r"(?i)^(?:credentials|log-?ins?|zugangsdaten|identifiants|credenciales|accesses)\b\W*$")
_ITEM: Final = LazyPattern(r"^(?P<name>[^\n]{1,60})(?:[:=|/]|\s[-–—])\s?(?P<value>[^\s|/]{4,80})\s?\|?$")
_WORD: Final = LazyPattern(r"^[^\s|]{4,80}$")
_RULE: Final = LazyPattern(r"^\s*\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)*\|?\s*$")
_ACCESS_KEY: Final = LazyPattern(r"A(?:KIA|SIA|BIA|CCA|3T)[0-9A-Z]{12}")
_SEED_LINE: Final = LazyPattern(
    r"(?i)^(?:[\w' ]{1,40}:\s)?(?P<words>[a-z]{3,8}(?:[ ,]{1,2}(?:\d{1,2}[.)]\s)?[a-z]{3,8}){0,11})$"
)


def match_across_lines(lines: Sequence[str]) -> Iterator[tuple[int, SecretMatch]]:
    """Every secret in a line that only other lines make one, with the number of its line, counted from 0."""
    if len(lines) > 1:
        yield from _below_announcements(lines)
        yield from _in_tables(lines)
        yield from _beside_access_keys(lines)
        yield from _seed_lists(lines)


def _below_announcements(lines: Sequence[str]) -> Iterator[tuple[int, SecretMatch]]:
    """The secrets below lines that announce them; each line is read after the nearest of those alone."""
    cues = [_announced(line) for line in lines]
    for number, (line, cue) in enumerate(zip(lines, cues, strict=True)):
        if cue:
            is_open = line.rstrip(" \t\r*_").endswith((":", " is", "="))  # what comes next may be any word
            for place, below in enumerate(_lines_below(lines, number, cues)):
                yield from _matches(lines, below, cue, may_be_word=is_open and not place)


def _announced(line: str) -> str:
    """The kind of secret that a line says comes next: "password", "API key", "backup code"; empty if it says none."""
    if len(line) > _LONGEST or not line.strip() or line.rstrip().endswith((".", "!", "?", ",", ";")):
        return ""
    text = _plain(_ENDING.sub("", line))
    if _HAS_VALUE.search(text) or OTHER_MATTER.search(text):
        return ""
    if _CODES.search(text):
        return _BACKUP_CODE
    if _LOGINS.match(text):
        return "password"
    follows = _FOR_ANYTHING if line.rstrip(" \t\r*_").endswith((":", "：")) else _FOR_WHAT
    cues = [cue for cue in CUE.finditer(lowered(text)) if follows.fullmatch(text, cue.end())]
    return "" if not cues else "password" if cues[-1]["password"] else "API key"


def _plain(line: str) -> str:
    """The line without the marks of headings, lists, quotes and emphasis around its text."""
    return _DECORATION.sub("", line).rstrip("*_`\"' \t\r")


def _lines_below(lines: Sequence[str], number: int, cues: Sequence[str]) -> Iterator[int]:
    """The numbers of the lines that an announcement covers: up to a blank line, a heading or another announcement."""
    has_begun = False
    for below in range(number + 1, min(number + 1 + _BELOW, len(lines))):
        text = lines[below].strip()
        if text.startswith("#") or cues[below] or (not text and has_begun):
            return
        if text and not text.startswith(("```", "~~~")):
            has_begun = True
            yield below


def _matches(lines: Sequence[str], number: int, cue: str, *, may_be_word: bool) -> Iterator[tuple[int, SecretMatch]]:
    """The secret in a line that is one word, or a name and a word, after what announced it."""
    text = _plain(lines[number])
    if cue == _BACKUP_CODE:
        yield from ((number, SecretMatch("PIN or code", match[0])) for match in _LISTED_CODE.finditer(text))
        return
    item = _ITEM.match(text)
    if item and "//" not in text and not item["value"].isalpha():
        yield from _read_after(cue, item["value"], number)
    elif _WORD.match(text) and (may_be_word or not text.isalpha()):
        yield from _read_after(cue, text, number)


def _read_after(cue: str, value: str, number: int) -> Iterator[tuple[int, SecretMatch]]:
    """The secret in a value, read as if it stood in one line with what announced it."""
    view = f"{cue}: {value}"
    for match in (*match_words(view), *match_numbers(view)):
        if match.value.strip() in value:
            yield number, match


def _in_tables(lines: Sequence[str]) -> Iterator[tuple[int, SecretMatch]]:
    """The cells below a head that announces secrets."""
    for number, line in enumerate(lines):
        if number == 0 or "-" not in line or not _RULE.match(line) or "|" not in lines[number - 1]:
            continue
        heads = [_announced(cell) for cell in _cells(lines[number - 1])]
        if any(heads):
            yield from _in_rows(lines, number + 1, heads)


def _in_rows(lines: Sequence[str], first: int, heads: Sequence[str]) -> Iterator[tuple[int, SecretMatch]]:
    for number in range(first, len(lines)):
        if "|" not in lines[number] or _RULE.match(lines[number]):
            return
        for cue, cell in zip(heads, _cells(lines[number]), strict=False):
            value = _plain(cell)
            if cue and _WORD.match(value) and not value.isalpha():
                yield from _read_after(cue, value, number)


def _cells(row: str) -> list[str]:
    return [cell.strip() for cell in row.strip().strip("|").split("|")]


def _beside_access_keys(lines: Sequence[str]) -> Iterator[tuple[int, SecretMatch]]:
    """The secret half of an AWS key, up to three lines below the half with a name."""
    for number, line in enumerate(lines):
        if not _ACCESS_KEY.search(line) or not any(match.kind == "AWS access key" for match in match_tokens(line)):
            continue
        for below in range(number + 1, min(number + 4, len(lines))):
            for match in AWS_SECRET.finditer(lines[below]):
                if is_aws_secret(match[0]):
                    yield below, SecretMatch("AWS secret key", match[0])


def _seed_lists(lines: Sequence[str]) -> Iterator[tuple[int, SecretMatch]]:
    """Seed phrases in lines of a few words each."""
    run: list[tuple[int, str]] = []
    for number, line in enumerate((*lines, "0.")):
        text = _plain(line)
        words_of = _SEED_LINE.match(text)
        if words_of:
            run.append((number, words_of["words"]))
        elif text or not run:
            words = [word for _, each in run for word in re.findall("[a-z]+", each.lower())]
            if len(run) > 1 and is_seed_phrase(words):
                yield from ((at, SecretMatch("seed phrase", each)) for at, each in run)
            run = []
