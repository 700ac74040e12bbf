"""Secrets recognised by their format: tokens of known vendors, addresses with a password, cards, codes, seed phrases.

Also the numbers of identity papers, and what only looks like a secret: placeholders, names of variables, digests.

An IBAN is not a secret: it is printed on every invoice, and nobody can take money with it alone. An identity number is:
it is all that many offices ask for on the phone.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import Final, NamedTuple

from commonplace.model.text import LazyPattern

_TOKENS: Final = {
    "Commonplace token": r"cpl_[\w-]{20,}",
    "Anthropic key": r"sk-ant-[\w-]{12,}",
    "OpenAI key": r"sk-(?:proj-|svcacct-|admin-|or-v1-)?(?=[\w-]{0,60}?\d)[A-Za-z0-9_]{16,}[\w-]*",
    "GitHub token": r"gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}",
    "GitLab token": r"gl(?:pat|dt|ft|soat|rt|cbt|ptt|agent|oas)-[\w-]{16,}",
    "Hugging Face token": r"hf_[A-Za-z0-9]{20,}",
    "npm token": r"npm_[A-Za-z0-9]{20,}",
    "PyPI token": r"pypi-[\w-]{24,}",
    "Google key": r"AIza[\w-]{28,}|ya29\.[\w-]{20,}|GOCSPX-[\w-]{16,}",
    "AWS access key": r"(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}(?![0-9A-Za-z])|ABSK[A-Za-z0-9+/]{40,}",
    "Stripe key": r"(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{12,}|whsec_[A-Za-z0-9+/]{16,}",
    "Slack token": r"xox[abeoprs]-(?=[\w-]*\d)[\w-]{10,}|xapp-\d-[\w-]{16,}",
    "SendGrid key": r"SG\.[\w-]{16,}\.[\w-]{16,}",
    "Twilio key": r"SK[0-9a-f]{32}(?![0-9a-f])",
    "Mailgun key": r"key-(?=[a-z]*\d[a-z]*\d)[0-9a-z]{24,}",
    "DigitalOcean token": r"do[opr]_v1_[a-f0-9]{32,}",
    "Shopify token": r"shp(?:at|ss|pa|ca)_[A-Fa-f0-9]{24,}",
    "Linear key": r"lin_(?:api|oauth)_[A-Za-z0-9]{24,}",
    "Notion token": r"(?:ntn|secret)_[A-Za-z0-9]{36,}",
    "Airtable token": r"pat[A-Za-z0-9]{14}\.[a-f0-9]{40,}",
    "Databricks token": r"dapi[a-f0-9]{32}",
    "Supabase token": r"sb[ps]_[a-f0-9]{32,}|sb_secret_[\w-]{20,}",
    "Grafana token": r"gls?[ac]_[A-Za-z0-9]{24,}",
    "Vault token": r"hv[sbr]\.[\w-]{20,}",
    "Atlassian token": r"AT(?:ATT3|CTT3|BB)[\w=-]{20,}",
    "model provider key": r"(?:gsk|r8|nvapi|csk)[_-][A-Za-z0-9_-]{24,}|(?:xai|pplx|fw)-[A-Za-z0-9]{24,}",
    "Tailscale key": r"tskey-[a-z]+-[\w-]{12,}",
    "Docker token": r"dckr_(?:pat|oat)_[\w-]{20,}",
    "Figma token": r"fig[dou]_[\w-]{24,}",
    "RubyGems key": r"rubygems_[a-f0-9]{40,}",
    "Sentry token": r"sntry[su]_[\w+/=-]{24,}",
    "Telegram bot token": r"\d{8,10}:AA[\w-]{30,}",
    "Brevo key": r"xkeysib-[a-f0-9]{32,}[\w-]*",
    "Resend key": r"re_[A-Za-z0-9]{6,10}_[A-Za-z0-9]{20,}",
    "Netlify token": r"nfp_[A-Za-z0-9]{24,}",
    "Fly token": r"(?:fm[12]|fo1)_[\w+/=-]{32,}",
    "Render key": r"rnd_[A-Za-z0-9]{20,}",
    "Contentful token": r"CFPAT-[\w-]{32,}",
    "Postman key": r"PMAK-[a-f0-9]{20,}[\w-]*",
    "New Relic key": r"NRAK-[A-Z0-9]{24,}",
    "Pulumi token": r"pul-[a-f0-9]{36,}",
    "LangSmith key": r"lsv2_(?:pt|sk)_[a-f0-9]{24,}\w*",
    "Pinecone key": r"pcsk_\w{24,}",
    "Tavily key": r"tvly-(?:[a-z]+-)?[A-Za-z0-9]{20,}",
    "PostHog key": r"phx_[A-Za-z0-9]{30,}",
    "1Password key": r"A3-[A-Z0-9]{6}-[A-Z0-9]{6}(?:-[A-Z0-9]{5}){4}|ops_eyJ[\w-]{40,}",
    "recovery key": r"\d{6}(?:-\d{6}){7}",
    "Doppler token": r"dp\.[a-z]{2,4}\.[A-Za-z0-9]{30,}",
    "JSON web token": r"eyJ[\w-]{8,}+\.eyJ[\w-]{6,}+\.[\w-]{6,}",
    "age key": r"AGE-SECRET-KEY-1[0-9A-Z]{20,}",
    "wallet key": r"[xyz]prv[1-9A-HJ-NP-Za-km-z]{80,}|[5KL][1-9A-HJ-NP-Za-km-z]{50,51}(?![\w])",
    "password hash": r"\$(?:2[abxy]\$\d\d|[156y]|argon2(?:id?|d)\$v=\d+\$[\w=,]+)\$[\w./$+=]{20,}",
}
"""Tokens at the beginning of a word, by kind."""

_EMBEDDED_TOKENS: Final = {
    "Artifactory key": r'(?:^|[\s=:"])A(?:KC[A-Za-z0-9]{10,}|P[0-9A-F][A-Za-z0-9]{8,})(?:[\s"]|$)',
    "AWS access key": r"A(?:3T[0-9A-Z]|KIA|SIA|BIA|CCA)[0-9A-Z]{16}",
    "AWS secret key": r"(?i)aws.{0,20}?(?:key|token|pw|pwd|pass|password).{0,20}?[\"']([a-z0-9/+]{40})[\"']",
    "Azure storage key": r"AccountKey=[A-Za-z0-9+/=]{88}",
    "Discord bot token": r"[MNO][A-Za-z0-9_-]{23,25}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27}",
    "GitLab token": r"(?:GR1348941[A-Za-z0-9_-]{20,50}|glimt-[A-Za-z0-9_-]{25}|glptt-[A-Za-z0-9_-]{40}"
    r"|glagent-[A-Za-z0-9_-]{50,1024}|gloas-[A-Za-z0-9_-]{64})(?!\w)",
    "Mailchimp key": r"[0-9a-z]{32}-us[0-9]{1,2}",
    "PyPI token": r"pypi-AgE(?:IcHlwaS5vcmc|NdGVzdC5weXBpLm9yZw)[A-Za-z0-9_-]{70,}",
    "SendGrid key": r"SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}",
    "Slack token": r"(?i)xox[abposr]-(?:\d+-)+[a-z0-9]+"
    r"|https://hooks\.slack\.com/services/T[a-z0-9_]+/B[a-z0-9_]+/[a-z0-9_]+",
    "Square key": r"sq0csp-[0-9A-Za-z\\_-]{43}",
    "Stripe key": r"[rs]k_live_[0-9A-Za-z]{24}",
    "Telegram bot token": r"\d{8,10}:[0-9A-Za-z_-]{35}",
}
"""Tokens so distinctive that they count inside a longer word too, by kind."""

_LONG: Final = 20  # characters: no embedded token is shorter
_RUN: Final = LazyPattern(r"[\w$.:/+=,~-]{14,}+")

_ADDRESS: Final = LazyPattern(
    r"\b[a-zA-Z][a-zA-Z0-9+.-]{1,20}://([^\s/:@?#\"'<>`]{0,80}):([^\s/\"'`]{1,120}?)@(?=([\w.\[<$-]))"
)
_HOOK: Final = LazyPattern(
    r"discord(?:app)?\.com/api/webhooks/\d+/[\w-]{30,}|hooks\.slack\.com/services/T\w+/B\w+/\w{8,}|[?&]sig=[\w%+/-]{30,}"
)
_HEADER: Final = LazyPattern(
    r"(?i:\bauthorization\b\W{1,4}(?:basic|token|bearer|apikey)?|\bbearer)\s{1,3}[\"'`]?([\w.~+/=-]{12,300})"
)
_BASIC: Final = LazyPattern(
    r"\bBasic\s(?=[A-Za-z0-9+/]{0,60}?[a-z])(?=[A-Za-z0-9+/]{0,60}?[A-Z])([A-Za-z0-9+/]{10,200}={0,2})"
)
_USER_TOKEN: Final = LazyPattern(r"://([A-Za-z0-9_-]{20,100})@[\w.]")
_LOCAL: Final = LazyPattern(r"@(?:localhost|127\.0\.0\.1|\[::1\]|db|postgres|example\.\w+)\b")

_CARD: Final = LazyPattern(
    r"(?<![\w.-])(?:3[47]\d{2}[ -]?\d{6}[ -]?\d{5}|(?:4\d|5[1-5]|2[2-7]|6[05]|35)\d{2}(?:[ -]?\d{4}){3})(?![\w-]|\.\d)"
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
    r"(?<![\w-])(?:\d{1,2}[.):]?\s{1,2})?[a-z]{3,8}(?:[ ,]{1,2}(?:\d{1,2}[.):]?\s{1,2})?[a-z]{3,8}){11,23}(?![\w-])"
)
_SEED_CUE: Final = LazyPattern(
    r"(?i)seed|recovery|mnemonic|wallet|backup phrase|wiederherstellung|récupération|semilla|recuperación"
    r"|metamask|ledger|trezor|bip-?39"
)
_SEED_LENGTHS: Final = frozenset((12, 15, 18, 21, 24))
_SENTENCE_WORDS: Final = """
    the and for are was has not but his her our its who had did from were been than into also them their which these
    those would could should und der die das ein eine ist mit von auf für den dem nicht les des une est pas pour que
    dans avec los las con por para del
"""
_NOT_IN_SEEDS: Final = frozenset(_SENTENCE_WORDS.split())

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
    |^(?:/|~/|\./|\.\./|[A-Za-z]:\\)|^[\w.]{1,60}(?:\(|\[["'])|^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$|^function$""",
    re.VERBOSE,
)
_NEVER_SECRETS: Final = """
    password passwd passphrase pass pwd pw secret token key apikey api_key string str text int bool bytes null none
    nil undefined true false yes no required optional hidden empty blank unset unknown default value credentials
    login user passwort kennwort contraseña motdepasse n/a na tbd abc foo bar baz secretstr any object auto
    generated prompt ask see stored env environment secretkeyref valuefrom
"""
_NEVER_SECRET: Final = frozenset(_NEVER_SECRETS.split())
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
    """Every secret in a line that has a known format; only long words with a digit in them can hold a token."""
    if "://" in line:
        yield from _addresses(line)
    runs = [run for run in _RUN.findall(line) if not run.isalpha() and any(map(str.isdigit, run))]
    if not runs:
        return
    yield from _tokens(line, runs)
    yield from (SecretMatch("webhook address", match[0]) for match in _HOOK.finditer(line) if not is_filler(match[0]))
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
    phrases = [match[0] for match in _SEED.finditer(line) if _may_be_seed(re.findall(r"[a-z]+", match[0]))]
    if phrases and (line.strip(" .") in phrases or _SEED_CUE.search(line)):
        yield from (SecretMatch("seed phrase", phrase) for phrase in phrases)


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


def classes(value: str) -> frozenset[str]:
    """The character classes in the value: lower, upper, digit, sign."""
    return frozenset(
        "digit" if char.isdigit() else "upper" if char.isupper() else "lower" if char.isalpha() else "sign"
        for char in value
    )


def _tokens(line: str, runs: list[str]) -> Iterator[SecretMatch]:
    words = " ".join(runs)
    values = [(kind, match[0]) for kind, form in _token_patterns() for match in form.finditer(words)]
    if max(map(len, runs)) >= _LONG:
        values += [(kind, match[match.lastindex or 0]) for kind, form in _embedded() for match in form.finditer(line)]
    yield from (SecretMatch(kind, value) for kind, value in values if not _is_harmless(value, line))


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


def _is_harmless(token: str, line: str) -> bool:
    """True for filler, and for a key from a handbook that the line calls an example."""
    if is_filler(token):
        return True
    return (
        "EXAMPLE" in token
        and re.search(r"\b(?:example|sample|docs|documentation|placeholder|dummy)\b", line) is not None
    )


def _passes_luhn(digits: str) -> bool:
    """True if the last digit is the Luhn checksum of the others."""
    doubled = (2 * int(digit) if place % 2 else int(digit) for place, digit in enumerate(reversed(digits)))
    return sum(number - 9 if number > 9 else number for number in doubled) % 10 == 0 and len(set(digits)) > 2


def _is_code(value: str) -> bool:
    """True if the value may be a code: not a year, and not one digit repeated."""
    digits = re.sub(r"\D", "", value)
    return (
        len(digits) >= 3
        and len(set(value)) > 1
        and not (re.fullmatch(r"(?:19|20)\d\d-?(?:\d\d-?\d\d)?", value) and "-" in value)
    )


def _may_be_seed(words: list[str]) -> bool:
    """True if the words may be a seed phrase: the right number, not a sentence, not one word repeated."""
    return len(words) in _SEED_LENGTHS and len(set(words)) > len(words) // 2 and not _NOT_IN_SEEDS.intersection(words)


@cache
def _token_patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((kind, re.compile(rf"(?<![A-Za-z0-9])(?:{form})")) for kind, form in _TOKENS.items())


@cache
def _embedded() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((kind, re.compile(form)) for kind, form in _EMBEDDED_TOKENS.items())


_PAPERS: Final = LazyPattern(
    r"""(?: (?i:\bssn\b | \bsocial[ ]security\b | \bsozialversicherungsnummer\b | \bpersonnummer\b | \bfødselsnummer\b
    | \bcpr-?nummer\b | \bburgerservicenummer\b | \bnational[ ]insurance\b | \bni[ ]number\b | \bsteuer-?id\w*
    | \baadhaa?r\b | \bcodice[ ]fiscale\b | \bpesel\b | \bpassport[ ](?:number|no\b|nr\b|\#)
    | \b(?:reise)?pass-?(?:nummer|nr)\b | \b(?:id|identity)[ -]card[ ](?:number|no\b) | \bpersonalausweis-?(?:nummer|nr)
    | \bdriv(?:er['’]?s|ing|er)[ ]licen[cs]e[ ](?:number|no\b) | \bnational[ ]id\b )
    | \b(?:CPR|BSN|NIR|NINO|ITIN|DNI|NIE|NIF|CPF)\b )
    [^\n\d]{0,40}?(?<![A-Za-z\d])
    ( [A-Z]{6}\d\d[A-Z]\d\d[A-Z]\d{3}[A-Z] | [A-Z]{2}[ ]?(?:\d\d[ ]?){3}[A-D]
    | [A-Z]{0,3}[ -]?\d(?:[ ./-]?\d){5,17}(?:-?[A-Z])?(?!\w)
    | [A-Z](?=[A-Z]*\d[A-Z]*\d[A-Z]*\d)[A-Z\d]{6,9}(?!\w) )""",
    re.VERBOSE,
)
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
    yield from (SecretMatch("card number", match[1]) for match in _NAMED_CARD.finditer(line))
