"""Secrets announced by the words before them: `password=...`, "the API key is ...", "das Passwort lautet ...".

Includes the words that announce a secret, in the languages people write their notes in, and those that do not.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final, Literal

from commonplace.model.text import LazyPattern
from commonplace.screening.secret_formats import (
    SecretMatch,
    classes,
    entropy,
    is_placeholder,
    is_public,
    letter_digit_turns,
)

_PASSWORDS: Final = r"""pass[-_ ]?word | pass[-_ ]?wort | pass[-_ ]?phrase | passwd | kennwort
    | mot[ ]de[ ]passe | contrase[ñn]a | palavra-passe | parola[ ]d'ordine
    | (?: hesl[aoue] | jelsz[óa] | salasana | adgangskode | lösenord | passord | lozink | gesl[aou] | parol[ae] | şifre
        | hasł[aoe] | парол | wachtwoord | parolă )\w{0,5} | mật[ ]khẩu | kata[ ]sandi
    | 密码 | 密碼 | 口令 | パスワード | 비밀번호
    | (?: wi-?fi | wlan | router )[- ]?(?: key | code | schlüssel )
    | (?: network | wireless | hotspot | mesh | netzwerk )[- ]?(?: key | schlüssel )
        (?=\s(?: is | was | reads | for | of | at | in | on )\b | \s?[:=,])
    | (?<![a-z])(?: pass | pwd | pw | mdp | senha | clave | psk | zugangswort | losung )"""
_KEYS: Final = r"""(?<![a-z])(?: (?: api | access | auth | secret | private | account | service | signing | encryption
        | master | licen[cs]e | product | shared | pre-shared | deploy | storage | admin
        | secret[-_ ]access | app | application )[-_ ]?key
    | (?P<bare>(?<![_?&])(?:key|pat)(?=\s?[:=]|\s(?:for|to|of|is)\s) | auth(?=\s?:)
        | (?: session | csrf | xsrf )[- ]?(?: id | cookie | key )(?=\s?:|\s(?:for|to|of|is)\s))
    | (?: client | shared | webhook | app | consumer | signing | jwt | totp | otp )[-_ ]?secret | bearer
    | token | secret
    | credential | (?: api | lizenz | geheim | zugriffs )?-?schlüssel | clé[ ](?: d['’]api | api | secrète
    | privée ) | jeton
    | clave[ ](?: de[ ]api | api | secreta | privada ) | ключ | 密钥 | 令牌 | apikey | トークン )
    | (?<=_)(?: key | token | secret )(?![a-z])"""
CUE: Final = LazyPattern(
    rf"(?:(?P<key>{_KEYS}) | (?P<password>{_PASSWORDS}))(?P<suffix>s|[_-][\w-]{{1,20}}+)?+(?![^\W\d_ぁ-ヿ一-鿿])",
    re.VERBOSE,
)
"""A word that may announce a secret, in a lower-case line: group `key` for generated values, else `password`."""

LINK: Final = LazyPattern(
    r"""[?;,]\sit(?:['’]?s|\sis)\s
    | \s{0,3}(?P<sign> :=|=>|={1,3}|:(?!:|//)|：|→|->|\||(?<=\s)[-–—](?=\s))[\s*]{0,4}
    | (?:^|(?<=[\s\w\"')\]])) \s{0,2} (?<![a-zà-ÿ])(?P<word> is | was | are | to | reads | ist | war | lautet
    | lauten | heißt | auf | est | es | era
        | é | è | это | jest | je | este | är | er | on | olan )
        (?: \s(?: now | still | currently | again | jetzt | nun | weiterhin | désormais
        | ahora | set[ ]to ))?
        \s{0,2}[:：]?\s{1,3}
    | (?P<glued> 是 | 为 | は ) [:：]? \s{0,2}""",
    re.VERBOSE | re.IGNORECASE,
)
"""What joins a cue to its value."""

VALUE: Final = LazyPattern(
    r"(?:[\"“„«'‘`「](?P<quoted>[^\"“”«»'’`」\n]{1,120})[\"“”»'’`」]|(?P<plain>[^\s\"`“”„«»，。ぁ-ヿ一-鿿가-힣]{1,200}))(?P<after>.{0,24})",
    re.DOTALL,
)

OTHER_MATTER: Final = LazyPattern(
    r"""\b(?: polic(?:y|ies) | encryption | fields? | reset(?!\s+to\b) | fingerprint | rotation
    | length | hash(?:es|ing)?
    | manager | page | form | column
    | variables?
    | minimum | expiry | expiration | link | prompt | file | filename | hint | generator | rules? | count
    | limits? | types? | format
    | bucket | budget | usage | window | lifetime | ttl | endpoint | url | scope | storage | store | strength
    | change | must | should
    | may | never | cannot | can't | don't | richtlinie | länge | feld | muss | müssen | darf | dürfen | soll
    | sollen | doit | doivent
    | debe | deben | longueur | gestionnaire | gestor | ends? | starts? | begins? | prefix | suffix
    | contains? | names? | id | dialog )\b
    | [.!]\s | [?;]\s(?!it['’]?s\b|it\sis\b) | ^@""",
    re.VERBOSE | re.IGNORECASE,
)
"""Between a cue and its value: the sentence is about something else."""

PLAIN_KEY: Final = LazyPattern(
    r"(?:public|publishable|cache|primary|foreign|sort|partition|idempotency|object|row|cursor|page|next|max|num|host|redis|s3"
    r"|lookup|translation|message|dictionary|map|registry|issue|project|config|answer|design)[-_ ]?$",
    re.IGNORECASE,
)
"""Before a cue: a key or token that is not secret."""

UNITS: Final = LazyPattern(
    r"""\W{0,3}(?:(?:or|to|bis|à|a|und|and|-)\W?(?:\d+|more|mehr)\s)?
    (?: characters? | chars? | digits? | words? | letters? | days? | weeks?
    | months? | bits? | bytes? | zeichen | stellen | stellig\w* | ziffern | tagen? | monaten? | caractères
    | chiffres | jours | mois | caracteres
    | d[ií]gitos | d[ií]as | meses | years? | times | hours? | minutes? | stunden? | minuten? | tokens?
    | attempts? )\b""",
    re.VERBOSE | re.IGNORECASE,
)
"""After a number: it is a quantity."""

_LISTED_STATES: Final = """
    wrong correct secret secure weak strong missing invalid valid unknown incorrect public safe confidential gone
    lost unique random long short same here there below above needed mandatory different fine identical kept broken
    forgotten taken written given known shown chosen always never still only often usually empty blank private
    sensitive either falsch richtig geheim sicher unsicher schwach stark gleich notwendig bekannt unbekannt privat
    vertraulich pflicht korrekt ungültig gültig abgelaufen leer requis obligatoire invalide valide court nouveau
    identique différent incorrecta correcta vacía larga corta nueva vieja segura débil fuerte obligatoria distinta
    igual secreto secreta under inside within ours mine yours theirs another nothing something anything everything
    absent obsolete
"""
STATES: Final = frozenset(_LISTED_STATES.split())
STATE_ENDING: Final = LazyPattern(
    r"(?:ed|ing|able|ible|ive|ory|ful|ous|less|ly|é|ée|és|ado|ada|ido|ida|lich|bar|los|ig|iert|ert|ten|end)$|^ge\w+t$|^(?:ver|ent|be|er)\w+t$",
    re.IGNORECASE,
)
"""Words that describe a password and are not one."""

PRODUCT: Final = LazyPattern(
    r"""(?:1password|bitwarden|keepass\w*|lastpass|github|gitlab|sha-?\d+\w*|md5\w*|bcrypt\w*|scrypt\w*|argon2\w*|aes-?\d+\S*|pbkdf2\S*
    |oauth2?|base64\S*|wpa[23]?\S*|[rhe]s(?:256|384|512)|utf-?8|v?\d+(?:\.\d+)+|https?:\S*|\S+@\S+\.\w+|\d{4}-\d\d(?:-\d\d\S*)?|\d+[-–]\d+
    |oidc|saml2?|totp|jwt|scram\S*|x509|pkcs\S*|fido2|windows\d*|ipv[46]|[\w-]+\.(?:md|txt|env|ya?ml|json|toml|py|kdbx|gpg)|\.env\S*|[§#]\d+)""",
    re.VERBOSE | re.IGNORECASE,
)
"""Names with digits in them that are not secret."""


_SPLIT: Final = LazyPattern(r"[_-]")
_FAR: Final = 100  # characters from the cue to the value
_NAME_PART: Final = 3  # letters: a longer part between dashes is a word, as in "Kickoff-2025-Q3"
_SHORT_CUE: Final = 4  # letters: a "pass" may be one in the mountains
_LINKS: Final = 4  # checked after one cue: "the password to the vault is: ..."
_WORDS_BETWEEN: Final = 9
_CUES: Final = 40  # in one window: text that says "password" more often does not reveal one
_SIGNS: Final = frozenset("!@#$%^&*?+=~€£§")
_CLOSING: Final = ".,;:!?)]}>。、\"'”’*"
_LITTLE: Final = LazyPattern(
    r"(?i)\b(?:the|and|for|from|with|must|not|are|was|has|have|can|should|our|your|you|this|that|see|use|ask|enter|is|to|of|in|than|before|after"
    r"|until|when|only|once|per|via|by|but|new|same|also|still|very|too|more|all|any|each|every|der|die|das|le|la|el)\b"
)
_FEWEST_TURNS: Final = 3  # changes between letters and digits: "colour-surface-1" has one
_BARE: Final = LazyPattern(r"\s{1,2}(?:(?:of|with|mit|is|are)\s)?[\"'`(]?([^\s\"'`]{6,80})")
_PAIR: Final = LazyPattern(
    r"""(?i)\b(?:log-?in|creds?|credentials|account|anmeldung|zugang|zugangsdaten|identifiants|credenciales|ssh|admin)\b
    [^\n/]{0,30}?[\s:=(]([a-z][\w.@+-]{1,40})\s?[/:|]\s?(?=[^\s/:|,]{0,40}?[\d!#$%^&*?+=~])([^\s/:|,]{5,40})""",
    re.VERBOSE,
)
_MAIL_PAIR: Final = LazyPattern(r"[\w.+-]{1,40}@[\w-]{1,40}\.\w[\w.]{1,20}\s?[/|:,]\s{0,2}([^\s/|,]{6,40})")
_APPOSED: Final = LazyPattern(
    r"(?P<between>[^\n.;:,(]{0,60}?)\s?(?:[,(–—]|\s-)\s?(?P<called>(?:namely|called|i\.e\.)\s)?"
    r"[\"'“‘`]?(?P<value>[^\s\"'”’`,;()]{6,60})[\"'”’`]?(?P<end>[,;)]|\s*$|(?<=\.)\s|\s[–—-]\s)?"
)
"""What stands beside "password" between commas, brackets or dashes: "one password for everything, ..., since 2015"."""
_CHANGED: Final = LazyPattern(
    r"(?i)\b(?:from|von|de)\s[\"'“‘`]?(?P<old>[^\s\"”'’`]{5,60})[\"”'’`]?\s(?:to|into|auf|zu|à|a)\s"
    r"[\"'“‘`]?(?P<new>[^\s\"”'’`]{5,60})"
)
"""An old and a new value, in a line about a password."""
_SAID_FIRST: Final = LazyPattern(
    r"(?i)(?<!\S)[\"'“‘`]?(?P<value>[^\s\"“”'‘’`,;()|]{6,60})[\"'”’`]?,?\s(?:is|was|as|ist|est|es)\s"
    r"(?:(?:the|my|his|her|our|their|your|a|das|mein|unser|le|mon|la|mi)\s)?(?:[\w-]{1,20}\s){0,2}?"
    r"(?:pass(?:word|wort|phrase|code)|kennwort|mot de passe|contraseña|pw\b|pwd\b)"
)
"""A value before the word: "Krokus!Beet5 is the password of the mailbox"."""
WORDS_AND_NUMBER: Final = LazyPattern(r"(?i)[^\W\d_]{3,14}(?:[-_.][^\W\d_]{3,14}){1,3}[-_.]\d{2,5}")
"""Words and a number with dashes between them, as programs propose passwords: "juniper-heron-969"."""
_PLAINLY_KEYS: Final = LazyPattern(
    r"(?i)\bWIFI:[^\n]{0,80}?;P:([^;\n]{4,64});|\b(?:wpa[23]?|wep|psk)[- ]?key(?:\sis|:|\s=)?\s([^\s\"'`,;]{8,64})"
    r"|key[\"']?\s?[:=]\s?(\[(?:\d{1,3},\s?){15,31}\d{1,3}\])"
    r"|\b(?:key|token|secret)\s([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?!\w)"
)
"""Keys of networks and devices, and a UUID that is called a key."""
_LAST: Final = LazyPattern(r"(?P<between>(?:\s[^\s\d.;:,!?=]{1,20}){1,6})\s(?P<value>[^\s\"'`]{6,60})(?=\s*$|[,;]\s)")
_DEVICE: Final = LazyPattern(
    r"(?i)\b(?:router|server|nas|laptop|phone|printer|machine|box|host|camera|computer|device|tablet|switch|hub|app)\W*$"
)
_COOKIE_HEADER: Final = LazyPattern(r"(?i)(?<![\w-])(?:set-)?cookies?:[ \t]")
_COOKIE_PAIR: Final = LazyPattern(r"(?<==)[^\s;,=\"']{16,}")
_SESSION_PAIR: Final = LazyPattern(
    r"""(?ix)(?:sess(?:ion)?(?:[_-]?(?:id|token|key))? | sid | [cx]srf[\w-]{0,20} | clearance | remember[\w-]{0,12}
    | auth(?:[_-]?(?:session|token|key|cookie))?)["']?\s?[=:]\s?["']?(?P<value>[^\s"';,&<>]{12,200})"""
)
_IN_ADDRESS: Final = LazyPattern(r"[?&/][\w.-]{0,40}$")
_UUID_OR_DATE: Final = LazyPattern(r"(?i)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-|\d{4}-\d\d")
_APP_PASSWORD: Final = LazyPattern(
    r"(?i)\bapp(?:[- ]specific)?[- ]password(?:\sfor\s[\w ]{1,30}?)?\W{1,4}(?:is\W{1,3})?"
    r"((?:[a-z]{4}[ -]){3}[a-z]{4})\b"
)
_PASSPHRASE: Final = LazyPattern(
    r"\b(?i:pass(?:phrase|word))\b[^\n:]{0,40}(?::|\bis\b)\s((?:[a-z]{3,12}[ -]){3,8}[a-z]{3,12})\W{0,2}$"
)
_RANDOM: Final = LazyPattern(r"(?<=[\"'=])[A-Za-z0-9+/=_-]{24,200}+(?=[\"'\s]|$)")
_NAME: Final = LazyPattern(r"([\w.-]{1,40})[\"']?\s?[=:]\s?[\"']?$")
_HARMLESS_NAME: Final = LazyPattern(
    r"(?i)sha|digest|checksum|integrity|hash|commit|etag|fingerprint|id$|uuid|public|cert|path|url|file|name|version|image"
)
_SLASHES: Final = 2  # more of them make a path
_ENOUGH_BITS: Final = 4.2  # a character: 24 random letters and digits have about 4.3, words run together 3.5

Kind = Literal["password", "key or token"]


def match_words(line: str) -> Iterator[SecretMatch]:
    """Every secret in a line that the words or symbols around it announce."""
    cues = list(islice(CUE.finditer(lowered(line)), _CUES))
    for cue in cues:
        kind: Kind = "password" if cue["password"] else "key or token"
        if OTHER_MATTER.search(_SPLIT.sub(" ", cue["suffix"] or "")):
            continue
        if kind == "key or token" and PLAIN_KEY.search(line, max(0, cue.start() - 16), cue.start()):
            continue
        value = _value_after(line[cue.end() : cue.end() + _FAR * 3], kind=kind, in_table=line.lstrip().startswith("|"))
        if not value and kind == "password" and len(cue["password"]) > _SHORT_CUE:
            value = _apposed(line[cue.end() : cue.end() + _FAR * 2]) or _at_the_end(line[cue.end() : cue.end() + _FAR])
        if value and not (cue["bare"] and _is_plain(value.rstrip(_CLOSING))):
            yield SecretMatch(kind, value)
    yield from (SecretMatch("password", value) for value in _values_before(line, cues))
    yield from (
        SecretMatch("key or token", next(filter(None, match.groups())))
        for match in _PLAINLY_KEYS.finditer(line)
        if not PLAIN_KEY.search(line, max(0, match.start() - 16), match.start())
    )
    yield from (SecretMatch("cookie", value) for value in _cookies(line))
    yield from (SecretMatch("password", match[1]) for match in _APP_PASSWORD.finditer(line))
    yield from (
        SecretMatch("passphrase", match[1])
        for match in _PASSPHRASE.finditer(line)
        if not _LITTLE.search(match[1]) and not any(map(_is_state, re.split("[ -]", match[1])))
    )
    yield from (
        SecretMatch("login", match[1])
        for match in _MAIL_PAIR.finditer(line)
        if _is_mixed_word(match[1].rstrip(_CLOSING))
    )
    for match in _PAIR.finditer(line):
        is_port = match[2].rstrip(_CLOSING).isdigit() and ":" in match[0][-len(match[2]) - 2 :]
        if is_port or is_placeholder(match[2]) or "//" in match[0]:
            continue
        if _is_chosen(match[2].rstrip(_CLOSING), after=""):
            yield SecretMatch("login", match[2])
    yield from _random_values(line)


def _values_before(line: str, cues: Sequence[re.Match[str]]) -> Iterator[str]:
    """Passwords that stand before the word, or that one was changed from and to."""
    first = next((cue.start() for cue in cues if cue["password"]), None)
    if first is None:
        return
    values = [match["value"] for match in _SAID_FIRST.finditer(line)]
    values += [value for match in _CHANGED.finditer(line, first) for value in match.groups()]
    yield from (each for each in (value.rstrip(".,;:)") for value in values) if _is_made_up(each))


def _is_made_up(value: str) -> bool:
    """True if a word can only be a chosen password: with digits, or signs inside, among its letters."""
    return _is_mixed_word(value) or (_is_chosen(value, after="") and bool(_SIGNS.intersection(value[1:-1])))


def _is_plain(value: str) -> bool:
    """True if the value of something that is only called a key is public, or may be a word."""
    return is_public(value) or not _is_random(value, least=12) or letter_digit_turns(value) < _FEWEST_TURNS


def lowered(line: str) -> str:
    """The line in lower case with every letter in its place; a letter that would become two stays as it is."""
    lowered = line.lower()
    if len(lowered) == len(line):
        return lowered
    return "".join(small if len(small := char.lower()) == 1 else char for char in line)


def _value_after(rest: str, *, kind: Kind, in_table: bool) -> str:
    """The secret that follows a cue; empty if none does."""
    bare = _BARE.match(rest)
    if bare and _follows_at_once(bare[1].rstrip(_CLOSING), kind=kind):
        return bare[1]
    for number, link in enumerate(LINK.finditer(rest, 0, _FAR)):
        words = len(rest[: link.start()].split())
        if number == _LINKS or OTHER_MATTER.search(rest, 0, link.end()) or words > _WORDS_BETWEEN:
            return ""
        value = VALUE.match(rest, link.end()) if link["sign"] != "|" or in_table else None
        if value and _is_secret_value(value, sign=link["sign"] or "", kind=kind):
            return value["quoted"] or value["plain"]
    return ""


def _apposed(rest: str) -> str:
    """The password that stands beside the word, in apposition; empty if none does."""
    match = _APPOSED.match(rest)
    if not match or not (match["called"] or match["end"] is not None) or OTHER_MATTER.search(match["between"]):
        return ""
    value = match["value"].rstrip(_CLOSING)
    is_word = _is_mixed_word(value) and not value.isupper()  # "MATH101" is a course
    return value if is_word and not _DEVICE.search(match["between"]) else ""


def _at_the_end(rest: str) -> str:
    """The password at the end of a clause, without a word that joins them: "пароль от роутера H4rb0r_847"."""
    match = _LAST.match(rest)
    if not match or OTHER_MATTER.search(match["between"]):
        return ""
    value = match["value"].rstrip(_CLOSING)
    if WORDS_AND_NUMBER.fullmatch(value):
        return value
    is_mixed = bool(_SIGNS.intersection(value[1:-1])) or re.search(r"[A-Za-z]\d+[A-Za-z]", value) is not None
    return value if is_mixed and len(classes(value)) > 2 and _is_mixed_word(value) else ""


def _cookies(line: str) -> Iterator[str]:
    """The values of cookies, any of which may be a login: in a header, or beside the name of a session."""
    head = _COOKIE_HEADER.search(line)
    if head:
        yield from (match[0] for match in _COOKIE_PAIR.finditer(line, head.end()) if not is_placeholder(match[0]))
    for match in _SESSION_PAIR.finditer(line):
        value = match["value"].rstrip(_CLOSING)
        if _IN_ADDRESS.search(line[max(0, match.start() - 41) : match.start()]) or _UUID_OR_DATE.match(value):
            continue
        is_named = any(part.isalpha() and len(part) > _NAME_PART for part in re.split(r"[-_.]", value))
        is_mixed = _is_random(value, least=12) and letter_digit_turns(value) >= _FEWEST_TURNS
        if is_mixed and not is_named and not is_placeholder(value):
            yield value


def _follows_at_once(value: str, *, kind: Kind) -> bool:
    """True if a word right after the cue can only be the secret."""
    if kind == "password":
        return _is_mixed_word(value)
    least = 16 if classes(value) >= {"lower", "upper", "digit"} and letter_digit_turns(value) >= _FEWEST_TURNS else 20
    return _is_random(value, least=least) and not is_placeholder(value) and not PRODUCT.fullmatch(value)


def _is_secret_value(match: re.Match[str], *, sign: str, kind: Kind) -> bool:
    """True if the text after the link is a secret itself, not a word about one."""
    quoted, after = match["quoted"], match["after"]
    value = (quoted or match["plain"] or "").strip().rstrip(_CLOSING if not quoted else "")
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
    """True if a sentence ends in a word that does not describe the password: "my password is swordfish."."""
    if not value.isalpha() or len(value) < 5 or _is_state(value):
        return False
    ends = not after.strip(_CLOSING + " ") or re.match(r"[.!]\s+[A-Z(]|[,;]", after) is not None
    return ends and (not sign or value.islower())


def _is_state(word: str) -> bool:
    return word.casefold() in STATES or STATE_ENDING.search(word) is not None


def _is_chosen(value: str, *, after: str) -> bool:
    """True if it looks like a chosen password: digits, symbols or inner capitals, or words with dashes."""
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


def _is_mixed_word(value: str) -> bool:
    """True if a word right after "password" can only be one: letters and digits in one word."""
    kinds = classes(value)
    return (
        "digit" in kinds
        and bool(kinds & {"lower", "upper"})
        and len(value) >= 6
        and _is_chosen(value, after="")
        and not is_placeholder(value)
    )


def _is_random(value: str, *, least: int) -> bool:
    """True if it looks generated: long, with many different letters and digits, not words with a number."""
    kinds = classes(value)
    return (
        len(value) >= least
        and "digit" in kinds
        and bool(kinds & {"lower", "upper"})
        and entropy(value) >= 3.0
        and "://" not in value
        and (kinds >= {"lower", "upper"} or letter_digit_turns(value) >= _FEWEST_TURNS)
    )


def _random_values(line: str) -> Iterator[SecretMatch]:
    """Quoted or assigned values that can only be generated; not digests, and not values with a harmless name."""
    for match in _RANDOM.finditer(line):
        value = match[0]
        if is_public(value) or is_placeholder(value) or value.count("/") > _SLASHES:
            continue
        before = line[max(0, match.start() - 200) : match.start()]
        name = _NAME.search(before[-48:])
        if (name and _HARMLESS_NAME.search(name[1])) or "://" in before.rpartition(" ")[2]:
            continue
        if classes(value) >= {"lower", "upper", "digit"} and entropy(value) >= _ENOUGH_BITS:
            yield SecretMatch("random value", value)
