"""Numbers, dates, times and units in one spelling: "sixty days" is "60 days", "4 pm" is "16:00", "5 kilos" is "5 kg".

Only what means the same in every sentence is folded. "Every Friday" and "on Friday" stay apart, and so do a dollar and
a Canadian dollar, a pound of weight and one of money, and hours of which nobody says whether they are before noon.
"""

import re
from collections.abc import Callable, Iterable
from typing import Final

_ONES_IN_WORDS: Final = (
    "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen "
    "nineteen"
)
_TENS_IN_WORDS: Final = "twenty thirty forty fifty sixty seventy eighty ninety"
_ONES: Final = {name: number for number, name in enumerate(_ONES_IN_WORDS.split(), start=2)}
_TENS: Final = {name: 10 * number for number, name in enumerate(_TENS_IN_WORDS.split(), start=2)}
_UNITS: Final = {
    spelling: unit
    for unit, spellings in {
        "kg": "kgs kilo kilos kilogram kilograms kilogramme kilogrammes",
        "mg": "milligram milligrams milligramme milligrammes",
        "\u00b5g": "\u03bcg mcg microgram micrograms",
        "km": "kms kilometre kilometres kilometer kilometers",
        "cm": "centimetre centimetres centimeter centimeters",
        "minutes": "min mins minute",
        "hours": "hr hrs hour",
        "%": "percent",
        "mb": "megabyte megabytes",
        "gb": "gigabyte gigabytes",
        "tb": "terabyte terabytes",
        "\u20ac": "eur euro euros",
        "\u00a3": "gbp",
    }.items()
    for spelling in (unit, *spellings.split())
}
_MONTHS_IN_WORDS: Final = "january february march april may june july august september october november december"
_MONTHS: Final = _MONTHS_IN_WORDS.split()
_MONTH_OF: Final = {name[:length]: name for name in _MONTHS for length in (3, len(name))} | {"sept": "september"}


def _any(words: Iterable[str]) -> str:
    return "|".join(map(re.escape, sorted(words, key=len, reverse=True)))


_MONTH: Final = f"(?:(?i:{_any(_MONTH_OF.keys() - {'may', 'mar', 'march'})})|May|March|Mar)"
_CLOCK: Final = r"0?(\d{1,2})(?:[:.]([0-5]\d))?"
_BELOW_TEN: Final = _any(name for name, number in _ONES.items() if number < 10)
_NUMBER: Final = r"\d{1,15}(?:[.,]\d{1,15})?"


def _in_digits(found: re.Match[str]) -> str:
    tens, _, ones = found[0].casefold().replace("-", " ").partition(" ")
    return str(_TENS.get(tens, 0) + (_ONES.get(ones, 1 if ones == "one" else 0) if tens in _TENS else _ONES[tens]))


def _ungrouped(found: re.Match[str]) -> str:
    return "".join(found.groups(""))


def _of_day(found: re.Match[str]) -> str:
    """`4 pm`, `4:30 p.m.`: the hour of a day of 24."""
    hour, is_late = int(found[1]), found[3] in "pP"
    return found[0] if not 1 <= hour <= 12 else f"{hour % 12 + 12 * is_late}:{found[2] or '00'}"


def _of_clock(found: re.Match[str]) -> str:
    return f"{int(found[1])}:{found[2] or '00'}"


def _date(found: re.Match[str]) -> str:
    year = f" {found['year']}" if found["year"] else ""
    return f"{int(found['day'])} {_MONTH_OF[found['month'].rstrip('.').casefold()]}{year}"


def _iso_date(found: re.Match[str]) -> str:
    return f"{int(found[3])} {_MONTHS[int(found[2]) - 1]} {found[1]}"


def _with_unit(found: re.Match[str]) -> str:
    return f"{found[1]} {_UNITS[found[2].casefold()]}"


_DAY: Final = r"(?P<day>0?[1-9]|[12]\d|3[01])(?:st|nd|rd|th|\.)?"
_YEAR: Final = r"(?:,? (?P<year>\d{4}))?\b"
_RULES: Final[tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str] | str], ...]] = (
    (
        re.compile(rf"(?i)\b(?:(?:{_any(_TENS)})(?:[- ](?:one|{_any(list(_ONES)[:8])}))?|{_any(_ONES)})\b(?![-'])"),
        _in_digits,
    ),
    (
        re.compile(r"(?<![\d.,])(\d{1,3})(?:,(\d{3}))(?:,(\d{3}))?(?![\d.,]*\d)"),
        lambda found: "".join(found.groups("")),
    ),
    (re.compile(rf"(?i)(?<![\w.,:])([\u20ac\u00a3]) ?({_NUMBER})"), r"\2 \1"),
    (re.compile(rf"(?i)(?<![\w.,:])({_NUMBER}) ?({_any(_UNITS)})(?![\w/])"), _with_unit),
    (re.compile(r"(?i)\b(?:noon|midday)\b"), "12:00"),
    (re.compile(rf"(?<![\w.:,]){_CLOCK} ?([apAP])\.?[mM]\b\.?"), _of_day),
    (re.compile(rf"(?i)(?<![\w.:,]){_CLOCK} o['\u2019]clock\b"), _of_clock),
    (re.compile(r"(?<![\w.:,])0?(\d{1,2}):([0-5]\d)(?![\w:.]*\d)"), _of_clock),
    (re.compile(r"(?<![\w-])(\d{4})-(0[1-9]|1[0-2])-([0-2]\d|3[01])(?![\w-])"), _iso_date),
    (re.compile(rf"\b(?P<month>{_MONTH})\.? (?:the )?{_DAY}(?![\w:/%]){_YEAR}"), _date),
    (re.compile(rf"(?<![\w.:,]){_DAY} (?:of )?(?P<month>{_MONTH})\.?{_YEAR}"), _date),
)
_HAS_VALUE: Final = re.compile(rf"(?i)\d|\b(?:noon|midday|{_any(_ONES)}|{_any(_TENS)})\b")


def plain_values(text: str) -> str:
    """The text with every number, amount, date and time in its one spelling; all else as it is."""
    if _HAS_VALUE.search(text):
        for pattern, spelling in _RULES:
            text = pattern.sub(spelling, text)
    return text
