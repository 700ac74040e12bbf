"""Secrets made of digits or of plain words: card numbers, PINs and door codes, the seed phrase of a wallet."""

import re
from collections.abc import Iterator
from typing import Final

from commonplace.policy.secret_patterns import Form

_CARD: Final = re.compile(
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
_CODE: Final = re.compile(
    r"""(?<![\w-])(?: pin(?:[- ]?(?:code|nummer|number))?s? | code[ ]pin | geheimzahl
    | passcode | entsperrcode | cv[vc]2?
    | (?: door | gate | alarm | safe | lock | locker | lockbox | entry | garage | security | keypad | access
        | unlock | vault
        | tür | tor | haustür | tresor | sim | card | phone )[- ]?(?: code | combination | combo | pin | kombination )
    | combination[ ](?:to|of|for)[ ](?:the|my|our)[ ](?: safe | lock | locker )
    | (?: verification | 2fa | mfa | otp | one-time | authenticator | sms | backup | recovery | bestätigungs
        | wiederherstellungs )[- ]?(?:code|key|schlüssel)s?
    | code[ ](?:for|to|of)[ ](?:the|my|our)[ ](?:\w+[ ])?
        (?: building | door | gate | house | garage | alarm | office | safe | flat | lock )
    | digicode | code[ ](?: de[ ]la[ ]porte | d['’]entrée | de[ ]l['’]alarme | secret | d['’]accès )
    | código[ ](?: de[ ]\w+(?:[ ]\w+)? | pin | secreto ) | 暗証番号 )
    (?: (?: \s(?!must|has|have|should|muss|hat|need)[^\s\d;!?]{1,20} ){0,6}?
        (?: \s(?: is | are | ist | lautet | lauten | est | sont | es | son )\b | \s?[:：=—–] | は ) )?
    [\s:#*("'`-]{0,4}
    (?P<value> \d(?:[ -]?\d){2,9}(?!-?\d) | \d{1,4}[a-f]\d{1,4} | [a-z0-9]{4,8}(?:-[a-z0-9]{4,8}){1,9} )
    (?![\w%]|[.,]\d)
    (?! [- ]{0,2}(?: digit | character | char | stell | ziffer | zeichen | chiffre | caract | d[ií]gito | day | time
        | minute | attempt | uhr | am\b | pm\b ))""",
    re.VERBOSE | re.IGNORECASE,
)
_SEED: Final = re.compile(
    r"(?<![\w-])(?:\d{1,2}[.):]?\s{1,2})?[a-z]{3,8}(?:[ ,]{1,2}(?:\d{1,2}[.):]?\s{1,2})?[a-z]{3,8}){11,23}(?![\w-])"
)
_SEED_CUE: Final = re.compile(
    r"(?i)seed|recovery|mnemonic|wallet|backup phrase|wiederherstellung|récupération|semilla|recuperación"
    r"|metamask|ledger|trezor|bip-?39"
)
_SEED_LENGTHS: Final = frozenset((12, 15, 18, 21, 24))
_LITTLE_WORDS: Final = """
    the and for are was has not but his her our its who had did from were been than into also them their which these
    those would could should und der die das ein eine ist mit von auf für den dem nicht les des une est pas pour que
    dans avec los las con por para del
"""
_NOT_IN_SEEDS: Final = frozenset(_LITTLE_WORDS.split())


def numbers_in(line: str) -> Iterator[Form]:
    """Card numbers, codes and seed phrases in a line."""
    for found in _CARD.finditer(line):
        digits = re.sub(r"\D", "", found[0])
        if _passes_luhn(digits) and not (digits in _TEST_CARDS and re.search(r"(?i)\btest", line)):
            yield Form("card number", digits)
    for found in _CODE.finditer(line):
        if _is_code(found["value"]):
            yield Form("PIN or code", found["value"])
    phrases = [found[0] for found in _SEED.finditer(line) if _may_be_a_seed(re.findall(r"[a-z]+", found[0]))]
    if phrases and (line.strip(" .") in phrases or _SEED_CUE.search(line)):
        yield from (Form("seed phrase", phrase) for phrase in phrases)


def _passes_luhn(digits: str) -> bool:
    """Whether the last digit checks the others, as on every card."""
    doubled = (2 * int(digit) if place % 2 else int(digit) for place, digit in enumerate(reversed(digits)))
    return sum(number - 9 if number > 9 else number for number in doubled) % 10 == 0 and len(set(digits)) > 2


def _is_code(value: str) -> bool:
    """Whether it may open something: no year, not all one digit."""
    digits = re.sub(r"\D", "", value)
    return (
        len(digits) >= 3
        and len(set(value)) > 1
        and not (re.fullmatch(r"(?:19|20)\d\d-?(?:\d\d-?\d\d)?", value) and "-" in value)
    )


def _may_be_a_seed(words: list[str]) -> bool:
    """Whether the words may be a seed phrase: as many as one has, no sentence, not one word over and over."""
    return len(words) in _SEED_LENGTHS and len(set(words)) > len(words) // 2 and not _NOT_IN_SEEDS.intersection(words)
