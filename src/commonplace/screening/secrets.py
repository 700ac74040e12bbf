"""Find and redact secrets in a text: keys, tokens, passwords, private keys, card numbers.

A secret is recognised by its own line, or announced by another: below a heading, on the next line, in the column of a
table, in a list. Secret values never leave this room. Conversations are stored as they were said, so a secret does not
reject the whole text: only the secret is replaced by a mark.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final

from commonplace.model.text import LazyPattern
from commonplace.screening.secret_formats import SecretMatch, match_formats, match_numbers
from commonplace.screening.secret_tokens import AWS_SECRET, is_aws_secret, match_tokens
from commonplace.screening.secret_uses import match_commands, match_uses
from commonplace.screening.secret_words import CUE, OTHER_MATTER, lowered, match_words
from commonplace.screening.seed_phrases import is_seed_phrase

_WINDOW: Final = 2_000  # characters searched at once: bounds the time of every expression on an endless line
_OVERLAP: Final = 400  # longer than any secret that is recognised by its beginning
_SHORTEST: Final = 4  # characters: a shorter line holds no secret
_INVISIBLE: Final = dict.fromkeys(
    (*map(ord, "\u00ad\u061c\ufeff"), *range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2070))
)
_ESCAPES: Final = LazyPattern(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\))")  # terminal escape sequences
_BLOCK: Final = LazyPattern(
    r"-----BEGIN (?:[A-Z0-9]{2,10} ){0,3}PRIVATE KEY(?: BLOCK)?-----(?P<rest>.{0,400})|PuTTY-User-Key-File-\d: \S",
    re.DOTALL,
)
_BLOCK_BODY: Final = LazyPattern(r"(?=[A-Za-z+/]{0,40}?[A-Z0-9+/])(?=[A-Z0-9+/]{0,40}?[a-z])[A-Za-z0-9+/]{12,}")


@dataclass(frozen=True, slots=True)
class Secret:
    """A secret of this kind in this line, counted from 1; it does not contain the value."""

    kind: str
    line: int

    def __str__(self) -> str:
        return f"{self.kind} in line {self.line}"


def find_secrets(text: str) -> tuple[Secret, ...]:
    """The secrets in the text in order, each kind once per line; empty if there are none."""
    secrets = {Secret("private key", text.count("\n", 0, begin) + 1): None for begin in private_key_starts(text)}
    lines = [strip_invisible(line) for line in text.split("\n")]
    for number, line in enumerate(lines, start=1):
        secrets |= {Secret(match.kind, number): None for match in match_secrets(line)}
    secrets |= {Secret(match.kind, number + 1): None for number, match in match_across_lines(lines)}
    return tuple(sorted(secrets, key=lambda secret: secret.line))


_SECRET_FILES: Final = (
    "id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*", "*.pem", "*.p12", "*.pfx", "*.ppk", "*.jks", "*.keystore",
    "*.kdb", "*.kdbx", "*.agilekeychain", "*.1pux", "*.ovpn", "*.tfstate", "*.env", ".env*", "wallet.dat",
    "credentials", "credentials.*", "client_secret*.json", "service-account*.json", "secrets.*", "passwords.*",
    "*.token", "htpasswd", ".htpasswd", ".netrc", "_netrc", ".pgpass", ".npmrc", ".pypirc", ".git-credentials",
)  # fmt: skip
_SECRET_STEMS: Final = frozenset(
    {"token", "tokens", "creds", "secret", "password", "passwd", "apikey", "apikeys", "api_key", "api_keys", "api-key"}
)
_SECRET_FOLDERS: Final = frozenset({"secrets", "credentials", "creds", "private-keys", "private_keys"})
_DATA_ENDINGS: Final = frozenset(
    {"", "txt", "json", "yaml", "yml", "toml", "ini", "cfg", "conf", "csv", "xml", "properties", "key", "bak", "old"}
)
"""Endings of files with settings and lists: `token.json` holds a token, `token.png` shows one."""


def is_secret_file(path: str, content: bytes) -> bool:
    """True if a file holds secrets: by its path, or because its text has a private key or a token of a known format.

    Without a path, only the text counts.
    """
    if _is_secret_path(path.lower()):
        return True
    if b"\0" in content:  # not text
        return False
    text = content.decode("utf-8", "replace")
    if next(private_key_starts(text), None) is not None:
        return True
    parts = (part for line in text.split("\n") for part in _windows(strip_invisible(line)))
    return any(True for part in parts for match in (match_tokens, match_formats) for _ in match(part))


def _is_secret_path(path: str) -> bool:
    *folders, name = path.split("/")
    stem, _, ending = name.partition(".")
    if any(fnmatchcase(name, pattern) for pattern in _SECRET_FILES):
        return not name.endswith(".pub")
    return ending in _DATA_ENDINGS and bool(name) and (stem in _SECRET_STEMS or not _SECRET_FOLDERS.isdisjoint(folders))


def _windows(line: str) -> Iterator[str]:
    """The line in overlapping pieces that are short enough for every expression."""
    for begin in range(0, max(1, len(line) - _OVERLAP), _WINDOW - _OVERLAP):
        yield line[begin : begin + _WINDOW]


def strip_invisible(line: str) -> str:
    """The line without invisible characters, which could hide a secret."""
    return (_ESCAPES.sub("", line) if "\x1b" in line else line).translate(_INVISIBLE)


def match_secrets(line: str) -> Iterator[SecretMatch]:
    """Every secret in a line with its value, for this room only; duplicates are possible."""
    if len(line) < _SHORTEST:
        return
    for window in _windows(line):
        announced = [
            *match_tokens(window),
            *match_formats(window),
            *match_words(window),
            *match_commands(window),
            *match_numbers(window),
        ]
        yield from announced
        values = {match.value.strip().rstrip(_CLOSING) for match in announced}
        yield from (match for match in match_uses(window) if match.value.rstrip(_CLOSING) not in values)


def private_key_starts(text: str) -> Iterator[int]:
    """The offsets at which private keys begin; a header that is only mentioned does not count."""
    for match in _BLOCK.finditer(text):
        rest = match["rest"]
        if rest is None or not rest.strip() or _BLOCK_BODY.search(rest.split("-----")[0]):
            yield match.start()


MARK: Final = "[redacted]"
"""Replaces a secret. It contains none of the words that announce one."""

_ROUNDS: Final = 6  # one secret may hide another
_MOST: Final = 100  # different secrets in a line; a line with more is redacted as a whole
_DISTINCTIVE: Final = 6  # characters: a value this long is redacted in the other texts too
_LARGEST_BLOCK: Final = 20_000  # characters of a private key; the largest in use have about 13 000
_CLOSING: Final = ".,;:)]}>\"'`”’"
_BLOCK_END: Final = LazyPattern(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|Private-MAC: ?\w*")
_BLOCK_LINES: Final = LazyPattern(
    r"[^\n]*(?:\n[ \t>]*(?:[A-Za-z0-9+/=\\]{16,}|[A-Za-z-]{2,24}: [^\n]*|[A-Za-z0-9+/]{0,15}={0,2})[ \t\r]*(?=\n|\Z))*"
)
_WORD: Final = LazyPattern(r"\S*")
_UP_TO_THE_HOST: Final = LazyPattern(r"(?:[^\s/\"'`<>]*(?=@))?")
_CODES: Final = LazyPattern(
    r"[^\s,;/|]*(?:(?:\s?[,;/|]|\s(?:and|or|then|und|oder|dann|et|ou|puis|y|o)\b)?\s?#?(?=[\w-]*\d)[\w-]{4,40}(?![\w-]))*"
)
_ENDS: Final = {
    "password in an address": _UP_TO_THE_HOST,  # the password may contain an @
    "token in an address": _UP_TO_THE_HOST,
    "PIN or code": _CODES,  # codes come in lists
}
"""How far a secret extends beyond the recognised part, by kind; by default to the end of the word."""


def redact(texts: Sequence[str]) -> tuple[str, ...]:
    """The texts in order, with a mark for each secret. A secret found in one text is redacted in all."""
    values: set[str] = set()
    redacted = [_redacted(text, values) for text in texts]
    elsewhere = _any_of(value for value in values if len(value) >= _DISTINCTIVE and not value.isalpha())
    if elsewhere is None:
        return tuple(redacted)
    return tuple(elsewhere.sub(MARK, text) for text in redacted)


def _redacted(text: str, values: set[str]) -> str:
    """The text without its secrets, which are added to `values`."""
    lines = _without_blocks(text).split("\n")
    announced: dict[int, set[SecretMatch]] = {}
    for number, match in match_across_lines([strip_invisible(line) for line in lines]):
        announced.setdefault(number, set()).add(match)
    return "\n".join(_clean_line(line, values, announced.get(number, set())) for number, line in enumerate(lines))


def _without_blocks(text: str) -> str:
    """The text without private keys: each from its first to its last line, or as far as it looks like a key."""
    kept, at = list[str](), 0
    for begin in private_key_starts(text):
        if begin >= at:
            end = _BLOCK_END.search(text, begin, begin + _LARGEST_BLOCK) or _BLOCK_LINES.match(text, begin)
            kept += [text[at:begin], MARK]
            at = end.end() if end else len(text)
    return "".join([*kept, text[at:]])


def _clean_line(line: str, values: set[str], announced: set[SecretMatch]) -> str:
    """The line without its secrets, those that other lines announced too; only the mark if it cannot be kept apart."""
    clean = strip_invisible(line)
    for number in range(_ROUNDS):
        matches = set(match_secrets(clean)) | (announced if not number else set())
        if not matches:
            return clean if number or MARK in clean else line
        if len(matches) > _MOST:
            break
        values.update(match.value.strip().rstrip(_CLOSING) for match in matches)
        clean = _without(clean, matches)
    return MARK


def _without(line: str, matches: Iterable[SecretMatch]) -> str:
    spans = [span for match in matches for span in _spans(line, match)]
    kept, at = list[str](), 0
    for begin, end in sorted(spans):
        if end > at:
            kept += [line[at : max(at, begin)], MARK if begin >= at else ""]
            at = end
    return "".join([*kept, line[at:]])


def _spans(line: str, match: SecretMatch) -> Iterator[tuple[int, int]]:
    """The spans of the secret in the line, extended to its end; the whole line if it is not found."""
    value = match.value.strip()
    matches = list(re.finditer(re.escape(value), line)) or list(re.finditer(r"[ -]?".join(map(re.escape, value)), line))
    if not matches:
        yield 0, len(line)
    for each in matches:
        rest = _ENDS.get(match.kind, _WORD).match(line, each.end())
        end = rest.end() if rest else each.end()
        yield each.start(), each.start() + max(1, len(line[each.start() : end].rstrip(_CLOSING)))


def _any_of(values: Iterable[str]) -> re.Pattern[str] | None:
    ordered = sorted(set(values), key=lambda value: (-len(value), value))
    if not ordered:
        return None
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, ordered))})(?!\w)")


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
_CODES_HEADING: Final = LazyPattern(
    r"(?i)\b(?:backup|recovery|one-time|2fa|mfa|scratch|wiederherstellungs|emergency)[- ]?codes?\b[^.!?]{0,50}$"
)
_LOGINS: Final = LazyPattern(r"(?i)^(?:credentials|log-?ins?|zugangsdaten|identifiants|credenciales|accesses)\b\W*$")
_ITEM: Final = LazyPattern(r"^(?P<name>[^\n]{1,60})(?:[:=|/]|\s[-–—])\s?(?P<value>[^\s|/]{4,80})\s?\|?$")
_LONE_WORD: Final = LazyPattern(r"^[^\s|]{4,80}$")
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
    if _CODES_HEADING.search(text):
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
    elif _LONE_WORD.match(text) and (may_be_word or not text.isalpha()):
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
            if cue and _LONE_WORD.match(value) and not value.isalpha():
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
