"""Numbers, dates, times and units in one spelling: "sixty days" is "60 days", "4 pm" is "16:00", "5 kilos" is "5 kg".

Only what means the same in every sentence is folded. "Every Friday" and "on Friday" stay apart, and so do a dollar and
a Canadian dollar, a pound of weight and one of money, an hour before noon and one of which nobody says whether it is,
and 1,500 and 1500: in many languages a comma begins the decimals.
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
        "minutes": "mins minute",
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


_MONTH: Final = f"(?:{_any(_MONTH_OF)})"
_CLOCK: Final = r"0?(\d{1,2})(?:[:.]([0-5]\d))?"
_BELOW_TEN: Final = _any(name for name, number in _ONES.items() if number < 10)
_NUMBER: Final = r"\d{1,15}(?:[.,]\d{1,15})?(?![.,]?\d)"


def _in_digits(found: re.Match[str]) -> str:
    tens, _, ones = found[0].replace("-", " ").partition(" ")
    return str(_TENS.get(tens, 0) + (_ONES.get(ones, 1 if ones == "one" else 0) if tens in _TENS else _ONES[tens]))


def _of_day(found: re.Match[str]) -> str:
    """`4 pm`, `4:30 p.m.`: the hour of a day of 24; before noon it keeps its `am`, as `4:30` may be either."""
    hour, minutes = int(found[1]), found[2] or "00"
    if not 1 <= hour <= 12:
        return found[0]
    if found[3] == "p":
        return f"{hour % 12 + 12}:{minutes}"
    return f"0:{minutes}" if hour == 12 else f"{hour}:{minutes} am"


def _of_clock(found: re.Match[str]) -> str:
    return f"{int(found[1])}:{found[2] or '00'}"


def _date(found: re.Match[str]) -> str:
    day, month, year = filter(None, (found[1] or found[5], found[2] or found[4], found[3] or found[6] or " "))
    return f"{int(day)} {_MONTH_OF[month]} {year}".rstrip()


def _iso_date(found: re.Match[str]) -> str:
    return f"{int(found[3])} {_MONTHS[int(found[2]) - 1]} {found[1]}"


def _with_unit(found: re.Match[str]) -> str:
    return f"{found[1]} {_UNITS[found[2]]}"


_DAY: Final = r"(0?[1-9]|[12]\d|3[01])(?:st|nd|rd|th|\.)?"
_YEAR: Final = r"(?:,? (\d{4}))?\b"
_RULES: Final[tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str] | str], ...]] = (
    (re.compile(rf"\b(?:(?:{_any(_TENS)})(?:[- ](?:one|{_BELOW_TEN}))?|{_any(_ONES)})\b(?![-'])"), _in_digits),
    (re.compile(r"(?<![\d.,])(\d{1,3}),(\d{3}),(\d{3})(?![\d.,]*\d)"), r"\1\2\3"),
    (re.compile(rf"(?<![\w.,:])([\u20ac\u00a3]) ?({_NUMBER})(?!\w)"), r"\2 \1"),
    (re.compile(rf"(?<![\w.,:])({_NUMBER}) ?({_any(_UNITS)})(?![\w/])"), _with_unit),
    (re.compile(rf"(?<![\w.,:])({_NUMBER}) ?min(?!\.?\s*\w|/)"), r"\1 minutes"),  # "5 min temperature" is no time
    (re.compile(r"\b(?:noon|midday)\b"), "12:00"),
    (re.compile(rf"(?<![\w.:,]){_CLOCK} ?([ap])\.?m\b\.?"), _of_day),
    (re.compile(rf"(?<![\w.:,]){_CLOCK} o['\u2019]clock\b"), _of_clock),
    (re.compile(r"(?<![\w.:,])0?(\d{1,2}):([0-5]\d)(?![\w:.]*\d)"), _of_clock),
    (re.compile(r"(?<![\w-])(\d{4})-(0[1-9]|1[0-2])-([0-2]\d|3[01])(?![\w-])"), _iso_date),
    (
        re.compile(
            rf"(?<![\w.:,]){_DAY} (?:of )?({_MONTH})\.?{_YEAR}|\b({_MONTH})\.? (?:the )?{_DAY}(?![\w:/%]|[.,]\d){_YEAR}"
        ),
        _date,
    ),
)
_HAS_VALUE: Final = re.compile(rf"\d|\b(?:noon|midday|{_any(_ONES)}|{_any(_TENS)})\b")


def plain_values(text: str) -> str:
    """The text with every number, amount, date and time that is in lower case in its one spelling."""
    if _HAS_VALUE.search(text):
        for pattern, spelling in _RULES:
            text = pattern.sub(spelling, text)
    return text
