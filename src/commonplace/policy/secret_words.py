"""Secrets that the words before them give away: `password=...`, "the API key is ...", "das Passwort lautet ..."."""

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final, Literal

from commonplace.policy.placeholders import classes, entropy, is_placeholder, is_public
from commonplace.policy.secret_cues import (
    CUE,
    LINK,
    OTHER_MATTER,
    PLAIN_KEY,
    PRODUCT,
    STATE_ENDING,
    STATES,
    UNITS,
    VALUE,
)
from commonplace.policy.secret_patterns import Form

_SPLIT: Final = re.compile(r"[_-]")
_FAR: Final = 100  # characters from the cue to the value
_LINKS: Final = 4  # of them looked at after one cue: "the password to the vault is: ..."
_WORDS_BETWEEN: Final = 9
_CUES: Final = 40  # of one window: a text that says "password" more often does not tell one
_SIGNS: Final = frozenset("!@#$%^&*?+=~€£§")
_CLOSING: Final = ".,;:!?)]}>。、\"'”’*"
_LITTLE: Final = re.compile(
    r"(?i)\b(?:the|and|for|from|with|must|not|are|was|has|have|can|should|our|your|you|this|that|see|use|ask|enter|is|to|of|in|der|die|das|le|la|el)\b"
)
_BARE: Final = re.compile(r"\s{1,2}(?:(?:of|with|mit|is|are)\s)?[\"'`(]?([^\s\"'`]{6,80})")
_PAIR: Final = re.compile(
    r"""(?i)\b(?:log-?in|creds?|credentials|account|anmeldung|zugang|zugangsdaten|identifiants|credenciales|ssh|admin)\b
    [^\n/]{0,30}?[\s:=(]([a-z][\w.@+-]{1,40})\s?[/:|]\s?(?=[^\s/:|,]{0,40}?[\d!#$%^&*?+=~])([^\s/:|,]{5,40})""",
    re.VERBOSE,
)
_MAIL_PAIR: Final = re.compile(r"[\w.+-]{1,40}@[\w-]{1,40}\.\w[\w.]{1,20}\s?[/|:,]\s{0,2}([^\s/|,]{6,40})")
_APP_PASSWORD: Final = re.compile(
    r"(?i)\bapp(?:[- ]specific)?[- ]password\W{1,4}(?:is\W{1,3})?((?:[a-z]{4}[ -]){3}[a-z]{4})\b"
)
_PASSPHRASE: Final = re.compile(
    r"(?i)\bpassphrase\b[^\n:]{0,40}(?::|\bis\b)\s((?:[a-z]{3,12}[ -]){3,8}[a-z]{3,12})\W{0,2}$"
)
_FLAG: Final = re.compile(
    r"""(?:\s--?(?:password|passwd|pass|token|api-key|secret)[=\s] | \bsshpass\s-p\s? | \bredis-cli\b[^\n]{0,60}?\s-a\s
    | \bmysql(?:dump)?\b[^\n]{0,60}?\s-p(?=\S)
    | \bcurl\b[^\n]{0,80}?\s(?:-u|--user)[\s=]["']?[\w.@-]{1,40}:
    | \blogin\s\S{1,40}\spassword\s)["']?([^\s"']{4,100})""",
    re.VERBOSE,
)
_RANDOM: Final = re.compile(r"(?<=[\"'=])[A-Za-z0-9+/=_-]{24,200}+(?=[\"'\s]|$)")
_NAME: Final = re.compile(r"([\w.-]{1,40})[\"']?\s?[=:]\s?[\"']?$")
_HARMLESS_NAME: Final = re.compile(
    r"(?i)sha|digest|checksum|integrity|hash|commit|etag|fingerprint|id$|uuid|public|cert|path|url|file|name|version|image"
)
_SLASHES: Final = 2  # more are a path
_ENOUGH_BITS: Final = 4.2  # a character: 24 random letters and digits have about 4.3, words run together 3.5

Kind = Literal["password", "key or token"]


def told_in(line: str) -> Iterator[Form]:
    """Every secret in a line that the words or signs around it announce."""
    for cue in islice(CUE.finditer(_lowered(line)), _CUES):
        kind: Kind = "password" if cue["password"] else "key or token"
        if OTHER_MATTER.search(_SPLIT.sub(" ", cue["suffix"] or "")):
            continue
        if kind == "key or token" and PLAIN_KEY.search(line, max(0, cue.start() - 16), cue.start()):
            continue
        value = _value_after(line[cue.end() : cue.end() + _FAR * 3], kind=kind)
        if value:
            yield Form(kind, value)
    yield from (Form("password", found[1]) for found in _APP_PASSWORD.finditer(line))
    yield from (Form("passphrase", found[1]) for found in _PASSPHRASE.finditer(line) if not _LITTLE.search(found[1]))
    yield from (
        Form("login", found[1]) for found in _MAIL_PAIR.finditer(line) if _is_made_up(found[1].rstrip(_CLOSING))
    )
    for found in _PAIR.finditer(line):
        if _is_chosen(found[2].rstrip(_CLOSING), after="") and not is_placeholder(found[2]) and "//" not in found[0]:
            yield Form("login", found[2])
    yield from (Form("password", found[1]) for found in _FLAG.finditer(line) if not is_placeholder(found[1]))
    yield from _random_values(line)


def _lowered(line: str) -> str:
    """The line in small letters, every letter at its place; a few letters would become two."""
    lowered = line.lower()
    return lowered if len(lowered) == len(line) else line


def _value_after(rest: str, *, kind: Kind) -> str:
    """The secret that follows a cue, or nothing."""
    bare = _BARE.match(rest)
    if bare and _follows_at_once(bare[1].rstrip(_CLOSING), kind=kind):
        return bare[1]
    for number, link in enumerate(LINK.finditer(rest, 0, _FAR)):
        between = rest[: link.start()]
        if number == _LINKS or OTHER_MATTER.search(between) or len(between.split()) > _WORDS_BETWEEN:
            return ""
        value = VALUE.match(rest, link.end())
        if value and _is_given(value, sign=link["sign"] or "", kind=kind):
            return value["quoted"] or value["plain"]
    return ""


def _follows_at_once(value: str, *, kind: Kind) -> bool:
    """Whether a word right after the cue can be nothing but what it announces."""
    if kind == "password":
        return _is_made_up(value)
    return _is_random(value, least=20) and not is_placeholder(value) and not PRODUCT.fullmatch(value)


def _is_given(found: re.Match[str], *, sign: str, kind: Kind) -> bool:
    """Whether what follows the link is a secret itself, and no word about one."""
    quoted, after = found["quoted"], found["after"]
    value = (quoted or found["plain"] or "").strip().rstrip(_CLOSING if not quoted else "")
    if is_placeholder(value) or PRODUCT.fullmatch(value):
        return False
    if kind == "key or token":
        return _is_random(value, least=12) or bool(
            (quoted or sign in ("=", ":=")) and len(value) >= 8 and _is_chosen(value, after=after)
        )
    if quoted and " " in value:
        return len(value.split()) >= 3 and not _LITTLE.search(value)
    if _is_chosen(value, after=after) or (quoted and len(value) >= 3):
        return True
    if sign in ("=", ":="):
        return len(value) >= 4 and not re.match(r"\s+\w+\s+\w", after)
    return _is_plain_word_at_the_end(value, after=after, sign=sign)


def _is_plain_word_at_the_end(value: str, *, after: str, sign: str) -> bool:
    """Whether a sentence ends in a word that does not say how the password is: "my password is swordfish."."""
    if not value.isalpha() or len(value) < 5 or value.casefold() in STATES or STATE_ENDING.search(value):
        return False
    ends = not after.strip(_CLOSING + " ") or re.match(r"[.!]\s+[A-Z(]|[,;]", after) is not None
    return ends and (not sign or value.islower())


def _is_chosen(value: str, *, after: str) -> bool:
    """Whether a person would choose it as a password: digits, signs or capitals inside, or words with dashes."""
    if len(value) < 4 or PRODUCT.fullmatch(value) or value.startswith(("/", "~", "#", "[[")) or "://" in value:
        return False
    kinds = classes(value)
    if "digit" in kinds:
        return (
            (value.isdigit() or len(kinds) > 1)
            and not UNITS.match(after)
            and not UNITS.match(value.lstrip("0123456789"))
        )
    if _SIGNS.intersection(value[1:]) and kinds & {"lower", "upper"}:
        return True
    return value.count("-") >= 3 or (re.search(r"[a-z][A-Z]", value) is not None and len(value) >= 8)


def _is_made_up(value: str) -> bool:
    """Whether a word right after "password" can be nothing else: letters and digits in one word."""
    kinds = classes(value)
    return (
        "digit" in kinds
        and bool(kinds & {"lower", "upper"})
        and len(value) >= 6
        and _is_chosen(value, after="")
        and not is_placeholder(value)
    )


def _is_random(value: str, *, least: int) -> bool:
    """Whether it looks made by a machine: long, letters and digits, many different ones."""
    kinds = classes(value)
    return (
        len(value) >= least
        and "digit" in kinds
        and bool(kinds & {"lower", "upper"})
        and entropy(value) >= 3.0
        and "://" not in value
    )


def _random_values(line: str) -> Iterator[Form]:
    """Quoted or assigned values that can only be made by a machine; digests and what has an open name are left out."""
    for found in _RANDOM.finditer(line):
        value = found[0]
        if is_public(value) or is_placeholder(value) or value.count("/") > _SLASHES:
            continue
        before = line[max(0, found.start() - 200) : found.start()]
        name = _NAME.search(before[-48:])
        if (name and _HARMLESS_NAME.search(name[1])) or "://" in before.rpartition(" ")[2]:
            continue
        if classes(value) >= {"lower", "upper", "digit"} and entropy(value) >= _ENOUGH_BITS:
            yield Form("random value", value)
