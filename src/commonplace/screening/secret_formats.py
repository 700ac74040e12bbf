"""Secrets recognised by their format: addresses with a password, bank accounts, cards, codes, seed phrases.

Also the numbers of identity papers, and what only looks like a secret: placeholders, names of variables, digests.
Tokens are in `secret_tokens`.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator
from typing import Final, NamedTuple

from commonplace.model.text import LazyPattern
from commonplace.screening.seed_phrases import is_seed_phrase

_ADDRESS: Final = LazyPattern(
    r"\b[a-zA-Z][a-zA-Z0-9+.-]{1,20}://([^\s/:@?#\"'<>`]{0,80}):([^\s/\"'`]{1,120}?)@(?=([\w.\[<$-]))"
)
_IBAN: Final = LazyPattern(r"(?<![A-Za-z0-9])[A-Z]{2}\d\d(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,4})?(?![A-Za-z0-9])")
_ABOUT_FORMAT: Final = LazyPattern(
    r"(?i)\b(?:example|e\.g\.|format|field|accepts?|valid|validat\w+|regex|parser?|spaces|test|like|such as|checksum)\b"
)
"""In a line that explains how such numbers are written, a number is an example."""
_HOOK: Final = LazyPattern(
    r"discord(?:app)?\.com/api/webhooks/\d+/[\w-]{30,}|hooks\.slack\.com/services/T\w+/B\w+/\w{8,}|[?&](?:sig|X-Amz-Signature|X-Goog-Signature|X-Amz-Security-Token)=[\w%+/-]{30,}"
)
_HEADER: Final = LazyPattern(
    r"(?i:\bauthorization\b\W{1,4}(?:basic|token|bearer|apikey)?|\bbearer)\s{1,3}[\"'`]?([\w.~+/=-]{12,300})"
)
_BASIC: Final = LazyPattern(
    r"\bBasic\s(?=[A-Za-z0-9+/]{0,60}?[a-z])(?=[A-Za-z0-9+/]{0,60}?[A-Z])([A-Za-z0-9+/]{10,200}={0,2})"
)
_USER_TOKEN: Final = LazyPattern(r"://([A-Za-z0-9_-]{20,100})@[\w.]")
_LOCAL: Final = LazyPattern(r"@(?:localhost|127\.0\.0\.1|\[::1\]|db|postgres|example\.\w+)\b")

_SETUP_KEY: Final = LazyPattern(
    r"(?i)\b(?:2fa|totp|otp|mfa|authenticator|two-factor|set-?up)\b[^\n]{0,60}?\b(?:key|secret|seed|code)\b[^\n]{0,40}?"
    r"(?<![\w-])(?P<value>(?=[a-z ]{0,30}[2-7])[a-z2-7]{4}(?:[ -]?[a-z2-7]{4}){3,12})(?![\w-])"
)
"""What an app for codes is set up with: base 32, often in groups of four."""
_CARD: Final = LazyPattern(
    r"(?<![\w.-])(?:3[47]\d{2}[ .-]?\d{6}[ .-]?\d{5}"
    r"|(?:4\d|5[1-5]|2[2-7]|6[05]|35)\d{2}(?:[ .-]?\d{4}){3})(?![\w-]|\.\d)"
)
_TEST_CARDS: Final = frozenset(
    (
        "4242424242424242",
        "4111111111111111",
        "5555555555554444",
        "378282246310005",
        "4000056655665556",
        "5105105105105100",
        "4000000000000002",
    )
)
_CODE: Final = LazyPattern(
    r"""(?<![\w-])(?: pin(?:[- ]?(?:code|nummer|number))?s? | code[ ]pin | geheimzahl
    | passcode | entsperrcode | cv[vc]2?
    | (?: door | gate | alarm | safe | lock | locker | lockbox | entry | garage | security | keypad | access
        | unlock | vault
        | tür | tor | haustür | tresor | sim | card | phone )[- ]?(?: code | combination | combo | pin | kombination )
    | (?: activation | pairing | login | zugangs | freischalt | aktivierungs )[- ]?code
    | combination[ ](?:to|of|for)[ ](?:the|my|our)[ ](?: safe | lock | locker )
    | (?: verification | 2fa | mfa | otp | one-time | authenticator | sms | backup | recovery | bestätigungs
        | wiederherstellungs )[- ]?(?:code|key|schlüssel)s?
    | (?<!area[ ])(?<!post[ ])(?<!zip[ ])code[ ](?:for|to|of)[ ](?:the|my|our)[ ](?:\w+[ ])?
        (?: building | door | gate | house | garage | alarm | office | safe | flat | lock )
    | digicode | code[ ](?: de[ ]la[ ]porte | d['’]entrée | de[ ]l['’]alarme | secret | d['’]accès )
    | código[ ](?: de[ ]\w+(?:[ ]\w+)? | pin | secreto ) | 暗証番号 )
    ,?(?: (?: \s(?!must|has|have|should|muss|hat|need)[^\s\d;!?]{1,20} ){0,6}?
        (?: \s(?: is | are | ist | lautet | lauten | est | sont | es | son )\b | \s?[:：=—–] | は ) )?
    [\s:#*("'`-]{0,4}
    (?P<value> \d(?:[ -]?\d){2,9}(?!-?\d) | \d{1,4}[a-f]\d{1,4} | [a-z0-9]{4,8}(?:-[a-z0-9]{4,8}){1,9} )
    (?![\w%]|[.,]\d)
    (?! [- ]{0,2}(?: digit | character | char | stell | ziffer | zeichen | chiffre | caract | d[ií]gito | day | time
        | minute | attempt | uhr | am\b | pm\b ))""",
    re.VERBOSE | re.IGNORECASE,
)
_SEED: Final = LazyPattern(
    r"(?i)(?<![\w-])(?:\d{1,2}[.):]?\s{1,2})?[a-z]{3,8}(?:[ ,]{1,2}(?:\d{1,2}[.):]?\s{1,2})?[a-z]{3,8}){11,23}(?![\w-])"
)
_SEED_CUE: Final = LazyPattern(r"(?i)seed|recovery|mnemonic|wallet|phrase|metamask|ledger|trezor|bip-?39")

_MASKED: Final = LazyPattern(r"\.{3}|…|\*{3}|•{2}|[xX]{4}|#{3}|_{4}|\?{3}")
_BRACKETED: Final = LazyPattern(
    r"^(?:<.*|.*>|\[.*|\{.*|\$[A-Za-z_{(].*|%\w+%?|:[a-z_]+|@[a-z_]+|!\w.*|&\w+)$", re.DOTALL
)
_PLACEHOLDER_WORDS: Final = LazyPattern(
    r"""your|placeholder|redacted|^change[-_ ]?(?:me|it)\W*\d*$|(?-i:[Ee]xample)|dummy|insert|replace|todo|sample
    |(?:^|[-_])here(?:$|[-_])|(?:^|[-_])(?:my|dein|ihr|votre|tu|fake)[-_](?:token|key|password|secret|passwort|api)
    |foobar|not[-_]?a[-_]?real|^some[-_]|^test[-_]?(?:token|key|secret)$""",
    re.VERBOSE | re.IGNORECASE,
)
_FETCHED: Final = LazyPattern(
    r"""^(?:os|process|env|config|settings|self|this|secrets|var|vars|local|data|args|ctx|request|req|user|props|params
    |import\.meta|app|module|state|cfg|opts|options|body|form|credentials|context)(?:\?)?\.[A-Za-z_]
    |^(?:op|vault|ssm|aws|gcp|azure|file|keyring|keychain|sops|env|ref\+\w+|arn|pass|bw|secret|https?)[:/]
    |^[a-z_]+(?:\.[A-Za-z_]+)+\)*$|^(?:/|~/|\./|\.\./|[A-Za-z]:\\)|^[\w.]{1,60}(?:\(|\[["'])|^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$|^function$""",
    re.VERBOSE,
)
_NEVER_SECRETS: Final = """
    password passwd passphrase pass pwd pw secret token key apikey api_key string str text int bool bytes null none
    nil undefined true false yes no required optional hidden empty blank unset unknown default value credentials
    login user passwort kennwort contraseña motdepasse n/a na tbd abc foo bar baz secretstr any object auto
    generated prompt ask see stored env environment secretkeyref valuefrom
"""
_NEVER_SECRET: Final = frozenset(_NEVER_SECRETS.split())
_TURNS: Final = LazyPattern(r"(?<=[A-Za-z])[-_]?(?=\d)|(?<=\d)[-_]?(?=[A-Za-z])")
_DIGEST: Final = LazyPattern(
    r"^(?:sha\d{1,3}|md5|blake\w*)?[:\-]?(?:[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{56,128})$", re.IGNORECASE
)
_INTEGRITY: Final = LazyPattern(r"^sha\d{3}[-:]", re.IGNORECASE)
_UUID: Final = LazyPattern(r"^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$", re.IGNORECASE)


class SecretMatch(NamedTuple):
    """A secret in a line: its kind, and its value, which must not leave this room."""

    kind: str
    value: str


def match_formats(line: str) -> Iterator[SecretMatch]:
    """Every secret in a line that an address, a header or a signature holds, and the numbers of bank accounts."""
    if "://" in line:
        yield from _addresses(line)
    if not any(map(str.isdigit, line)):
        return
    yield from (SecretMatch("webhook address", match[0]) for match in _HOOK.finditer(line) if not is_filler(match[0]))
    for match in _IBAN.finditer(line):
        if _passes_mod_97(match[0].replace(" ", "")) and not _ABOUT_FORMAT.search(line):
            yield SecretMatch("bank account number", match[0])
    for match in (*_HEADER.finditer(line), *_BASIC.finditer(line)):
        if not is_placeholder(match[1]) and any(map(str.isdigit, match[1])):
            yield SecretMatch("authorization header", match[1])


def match_numbers(line: str) -> Iterator[SecretMatch]:
    """Card numbers, codes and seed phrases in a line."""
    for match in _CARD.finditer(line):
        digits = re.sub(r"\D", "", match[0])
        if _passes_luhn(digits) and not (digits in _TEST_CARDS and re.search(r"(?i)\btest", line)):
            yield SecretMatch("card number", digits)
    for match in _CODE.finditer(line):
        if _is_code(match["value"]):
            yield SecretMatch("PIN or code", match["value"])
    yield from (SecretMatch("setup key", match["value"]) for match in _SETUP_KEY.finditer(line))
    for match in _SEED.finditer(line):
        is_list = "," in match[0] and not _SEED_CUE.search(line)  # words to learn, things to buy
        if not is_list and is_seed_phrase(re.findall(r"[a-z]+", match[0].lower())):
            yield SecretMatch("seed phrase", match[0])


def is_placeholder(value: str) -> bool:
    """True if the value is a placeholder for a secret, or says where it is stored."""
    value = value.strip().strip("\"'`")
    if not value or value.casefold() in _NEVER_SECRET or len(set(value)) <= 2:
        return True
    return any(shape.search(value) for shape in (_MASKED, _BRACKETED, _PLACEHOLDER_WORDS, _FETCHED))


def is_filler(token: str) -> bool:
    """True if the token has the format but no content: all x, all zeros, masked."""
    body = max(re.split(r"[_-]", token), key=len)  # not the last part: a real token may end in -x
    return len(set(body)) <= 3 or _MASKED.search(token) is not None or "your" in token.casefold()


def is_public(value: str) -> bool:
    """True if the value is public: a digest, a UUID, a public key."""
    return bool(
        _DIGEST.match(value)
        or _INTEGRITY.match(value)
        or _UUID.match(value)
        or value.startswith(("AAAA", "ssh-", "data:"))
    )


def entropy(value: str) -> float:
    """Shannon entropy of the value, in bits per character."""
    return (
        -sum(count / len(value) * math.log2(count / len(value)) for count in Counter(value).values()) if value else 0.0
    )


def letter_digit_turns(value: str) -> int:
    """How often letters and digits take turns: "colour-surface-1" has one such change."""
    return len(_TURNS.findall(value))


def classes(value: str) -> frozenset[str]:
    """The character classes in the value: lower, upper, digit, sign."""
    return frozenset(
        "digit" if char.isdigit() else "upper" if char.isupper() else "lower" if char.isalpha() else "sign"
        for char in value
    )


def _addresses(line: str) -> Iterator[SecretMatch]:
    yield from (
        SecretMatch("token in an address", match[1])
        for match in _USER_TOKEN.finditer(line)
        if classes(match[1]) >= {"digit", "lower"}
    )
    for match in _ADDRESS.finditer(line):
        user, password = match[1], match[2]
        at_home = password in (user, "pass", "postgres", "root", "admin") and _LOCAL.match(line, match.end() - 1)
        if not at_home and not is_placeholder(password) and password.casefold() not in ("pass", "pwd", "passwort"):
            yield SecretMatch("password in an address", password)


def _passes_luhn(digits: str) -> bool:
    """True if the last digit is the Luhn checksum of the others."""
    doubled = (2 * int(digit) if place % 2 else int(digit) for place, digit in enumerate(reversed(digits)))
    return sum(number - 9 if number > 9 else number for number in doubled) % 10 == 0 and len(set(digits)) > 2


def _passes_mod_97(number: str) -> bool:
    """True if the two digits after the country are the checksum of the others, as ISO 13616 wants it."""
    digits = "".join(str(int(char, 36)) for char in number[4:] + number[:4])
    return int(digits) % 97 == 1


def _is_code(value: str) -> bool:
    """True if the value may be a code: not a year, and not one digit repeated."""
    digits = re.sub(r"\D", "", value)
    return (
        len(digits) >= 3
        and len(set(value)) > 1
        and not (re.fullmatch(r"(?:19|20)\d\d-?(?:\d\d-?\d\d)?", value) and "-" in value)
    )


_PAPERS: Final = LazyPattern(
    r"""(?: (?i:\bssn\b | \bsocial[ ]security\b | \bsozialversicherungsnummer\b | \bpersonnummer\b | \bfødselsnummer\b
    | \bcpr-?nummer\b | \bburgerservicenummer\b | \bnational[ ]insurance\b | \bni[ ]number\b | \bsteuer-?id\w*
    | \baadhaa?r\b | \bcodice[ ]fiscale\b | \bpesel\b | \bpassport[ ](?:number|no\b|nr\b|\#)
    | \b(?:reise)?pass-?(?:nummer|nr)\b | \b(?:id|identity)[ -]card[ ](?:number|no\b) | \bpersonalausweis-?(?:nummer|nr)
    | \b(?:numéro[ ]de[ ](?:registre[ ]national|sécurité[ ]sociale) | rijksregisternummer
    | número[ ]de[ ]seguridad[ ]social | ahv-?nummer | henkilötunnus | rodné[ ]číslo | curp
    | tax[ ]id | sozialversicherungs-?nr)\b
    | \bdriv(?:er['’]?s|ing|er)[ ]licen[cs]e[ ](?:number|no\b) | \bnational[ ]id\b )
    | \b(?:CPR|BSN|NIR|NINO|ITIN|DNI|NIE|NIF|CPF)\b )
    [^\n\d]{0,40}?(?<![A-Za-z\d])
    ( [A-Z]{6}\d\d[A-Z]\d\d[A-Z]\d{3}[A-Z] | [A-Z]{2}[ ]?(?:\d\d[ ]?){3}[A-D]
    | [A-Z]{0,3}[ -]?\d(?:[ ./-]?\d){5,17}(?:-?[A-Z])?(?!\w)
    | [A-Z](?=[A-Z]*\d[A-Z]*\d[A-Z]*\d)[A-Z\d]{6,9}(?!\w) )""",
    re.VERBOSE,
)
_SSN: Final = LazyPattern(r"(?i)\b(?:ssn|social security)\b[^\n]{0,60}?(?<![\w-])(\d{3}-\d\d-\d{4})(?![\w-])")
_DATE: Final = LazyPattern(r"(?:19|20)\d\d[-./]\d\d[-./]\d\d|\d\d?[-./]\d\d?[-./](?:19|20)\d\d")
_NAMED_CARD: Final = LazyPattern(
    r"(?i)\b(?:(?:credit|debit|bank|ec)[ -]?card|kreditkarte|visa|mastercard|amex|american express)\b[^\n\d]{0,30}?"
    r"(\d{4}(?:[ -]?\d{4}){3}|\d{4}[ -]?\d{6}[ -]?\d{5})(?![\w-])"
)
_LONG_NUMBER: Final = LazyPattern(r"\d(?:[ ./-]?[\dA-Z]){4}")


def match_papers(line: str) -> Iterator[SecretMatch]:
    """The numbers of identity papers, and card numbers that the line calls so."""
    if not _LONG_NUMBER.search(line):
        return
    for match in _PAPERS.finditer(line):
        if not _DATE.fullmatch(match[1].strip()):
            yield SecretMatch("identity number", match[1].strip())
    yield from (SecretMatch("identity number", match[1]) for match in _SSN.finditer(line))
    yield from (SecretMatch("card number", match[1]) for match in _NAMED_CARD.finditer(line))
