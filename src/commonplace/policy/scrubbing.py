"""Texts without their secrets: a mark stands where one was.

A conversation is kept as it was said, so a secret in it does not turn the whole of it away: it alone goes.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from commonplace.policy.secret_patterns import Form
from commonplace.policy.secrets import key_blocks, secrets_in, seen

MARK: Final = "[redacted]"
"""Stands for a secret. It has none of the words that announce one."""

_ROUNDS: Final = 6  # one secret may hide another
_MOST: Final = 100  # different ones in a line; a line with more of them goes as a whole
_TELLING: Final = 6  # characters from which on a value is looked for in the other texts too
_LARGEST_BLOCK: Final = 20_000  # characters of a private key; the largest in use have about 13 000
_CLOSING: Final = ".,;:)]}>\"'`”’"
_BLOCK_END: Final = re.compile(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|Private-MAC: ?\w*")
_BLOCK_LINES: Final = re.compile(
    r"[^\n]*(?:\n[ \t>]*(?:[A-Za-z0-9+/=\\]{16,}|[A-Za-z-]{2,24}: [^\n]*|[A-Za-z0-9+/]{0,15}={0,2})[ \t\r]*(?=\n|\Z))*"
)
_WORD: Final = re.compile(r"\S*")
_UP_TO_THE_HOST: Final = re.compile(r"(?:[^\s/\"'`<>]*(?=@))?")
_CODES: Final = re.compile(
    r"[^\s,;/|]*(?:(?:\s?[,;/|]|\s(?:and|or|then|und|oder|dann|et|ou|puis|y|o)\b)?\s?#?(?=[\w-]*\d)[\w-]{4,40}(?![\w-]))*"
)
_ENDS: Final = {
    "password in an address": _UP_TO_THE_HOST,  # it may have an @ in it
    "token in an address": _UP_TO_THE_HOST,
    "PIN or code": _CODES,  # codes come in lists
}
"""How far a secret goes on behind what was recognised, by its kind; else to the end of the word."""
_COOKIES: Final = re.compile(r"(?i)(?<![\w-])(?:set-)?cookie:[ \t]")
_COOKIE: Final = re.compile(r"(?<==)[^\s;,=\"']{16,}")


def scrub(texts: Sequence[str]) -> tuple[str, ...]:
    """The texts in order, with a mark for each secret. One that is told in one of them goes from all of them."""
    values: set[str] = set()
    scrubbed = [_scrubbed(text, values) for text in texts]
    elsewhere = _any_of(value for value in values if len(value) >= _TELLING and not value.isalpha())
    if elsewhere is None:
        return tuple(scrubbed)
    return tuple(elsewhere.sub(MARK, text) for text in scrubbed)


def _scrubbed(text: str, values: set[str]) -> str:
    """The text without its secrets, which are added to the values."""
    return "\n".join(_clean_line(line, values) for line in _without_blocks(text).split("\n"))


def _without_blocks(text: str) -> str:
    """The text without private keys: from the first line of each to its last, or as far as it looks like a key."""
    kept, at = list[str](), 0
    for begin in key_blocks(text):
        if begin >= at:
            end = _BLOCK_END.search(text, begin, begin + _LARGEST_BLOCK) or _BLOCK_LINES.match(text, begin)
            kept += [text[at:begin], MARK]
            at = end.end() if end else len(text)
    return "".join([*kept, text[at:]])


def _clean_line(line: str, values: set[str]) -> str:
    """The line without its secrets; the mark alone where they cannot be told from the rest."""
    clean = _without_cookies(seen(line))
    for number in range(_ROUNDS):
        forms = set(secrets_in(clean))
        if not forms:
            return clean if number or MARK in clean else line
        if len(forms) > _MOST:
            break
        values.update(form.value.strip().rstrip(_CLOSING) for form in forms)
        clean = _without(clean, forms)
    return MARK


def _without(line: str, forms: Iterable[Form]) -> str:
    spans = [span for form in forms for span in _spans(line, form)]
    kept, at = list[str](), 0
    for begin, end in sorted(spans):
        if end > at:
            kept += [line[at : max(at, begin)], MARK if begin >= at else ""]
            at = end
    return "".join([*kept, line[at:]])


def _spans(line: str, form: Form) -> Iterator[tuple[int, int]]:
    """Where the secret stands, each time as far as it goes; the whole line where it is not found."""
    value = form.value.strip()
    found = list(re.finditer(re.escape(value), line)) or list(re.finditer(r"[ -]?".join(map(re.escape, value)), line))
    if not found:
        yield 0, len(line)
    for each in found:
        rest = _ENDS.get(form.kind, _WORD).match(line, each.end())
        end = rest.end() if rest else each.end()
        yield each.start(), each.start() + max(1, len(line[each.start() : end].rstrip(_CLOSING)))


def _without_cookies(line: str) -> str:
    """The line without the values of a browser's cookies, any of which may be somebody's way in."""
    head = _COOKIES.search(line)
    return line[: head.end()] + _COOKIE.sub(MARK, line[head.end() :]) if head else line


def _any_of(values: Iterable[str]) -> re.Pattern[str] | None:
    ordered = sorted(set(values), key=lambda value: (-len(value), value))
    if not ordered:
        return None
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, ordered))})(?!\w)")
