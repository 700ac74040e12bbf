"""What stands where a secret would stand and is none: placeholders, names of variables, ways to fetch it."""

import math
import re
from collections import Counter
from typing import Final

_MASKED: Final = re.compile(r"\.{3}|…|\*{3}|•{2}|[xX]{4}|#{3}|_{4}|\?{3}")
_BRACKETED: Final = re.compile(
    r"^(?:<.*|.*>|\[.*|\{.*|\$[A-Za-z_{(].*|%\w+%?|:[a-z_]+|@[a-z_]+|!\w.*|&\w+)$", re.DOTALL
)
_SPOKEN: Final = re.compile(
    r"""your|placeholder|redacted|change[-_ ]?me|changeit|(?-i:[Ee]xample)|dummy|insert|replace|todo|sample
    |(?:^|[-_])here(?:$|[-_])|(?:^|[-_])(?:my|dein|ihr|votre|tu|fake)[-_](?:token|key|password|secret|passwort|api)
    |foobar|not[-_]?a[-_]?real|^some[-_]|^test[-_]?(?:token|key|secret)$""",
    re.VERBOSE | re.IGNORECASE,
)
_FETCHED: Final = re.compile(
    r"""^(?:os|process|env|config|settings|self|this|secrets|var|vars|local|data|args|ctx|request|req|user|props|params
    |import\.meta|app|module|state|cfg|opts|options|body|form|credentials|context)(?:\?)?\.[A-Za-z_]
    |^(?:op|vault|ssm|aws|gcp|azure|file|keyring|keychain|sops|env|ref\+\w+|arn|pass|bw|secret|https?)[:/]
    |^(?:/|~/|\./|\.\./|[A-Za-z]:\\)|[\w.](?:\(|\[["'])|^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$|^function$""",
    re.VERBOSE,
)
_LISTED: Final = """
    password passwd passphrase pass pwd pw secret token key apikey api_key string str text int bool bytes null none
    nil undefined true false yes no required optional hidden empty blank unset unknown default value credentials
    login user passwort kennwort contraseña motdepasse n/a na tbd abc foo bar baz secretstr any object auto
    generated prompt ask see stored env environment secretkeyref valuefrom
"""
_WORDS: Final = frozenset(_LISTED.split())
_DIGEST: Final = re.compile(
    r"^(?:sha\d{1,3}|md5|blake\w*)?[:\-]?(?:[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{56,128})$", re.IGNORECASE
)
_INTEGRITY: Final = re.compile(r"^sha\d{3}[-:]")
_UUID: Final = re.compile(r"^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$", re.IGNORECASE)


def is_placeholder(value: str) -> bool:
    """Whether the value only holds the place of a secret, or says where it is kept."""
    value = value.strip().strip("\"'`")
    if not value or value.casefold() in _WORDS or len(set(value)) <= 2:
        return True
    return any(shape.search(value) for shape in (_MASKED, _BRACKETED, _SPOKEN, _FETCHED))


def is_filler(token: str) -> bool:
    """Whether the token has a real one's form but nothing in it: all x, all zeros, masked."""
    body = max(re.split(r"[_-]", token), key=len)  # not the last part: a real one may end in -x
    return len(set(body)) <= 3 or _MASKED.search(token) is not None or "your" in token.casefold()


def is_public(value: str) -> bool:
    """Whether the value is of a form that people may see: a digest, a UUID, a public key."""
    return bool(
        _DIGEST.match(value)
        or _INTEGRITY.match(value)
        or _UUID.match(value)
        or value.startswith(("AAAA", "ssh-", "data:"))
    )


def entropy(value: str) -> float:
    """Bits per character, by how often each occurs in the value."""
    return (
        -sum(count / len(value) * math.log2(count / len(value)) for count in Counter(value).values()) if value else 0.0
    )


def classes(value: str) -> frozenset[str]:
    """Which of these the value has: lower, upper, digit, sign."""
    return frozenset(
        "digit" if char.isdigit() else "upper" if char.isupper() else "lower" if char.isalpha() else "sign"
        for char in value
    )
