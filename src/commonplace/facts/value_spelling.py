"""Values in one spelling: "sixty days" and "60 days", "half past four" and "4:30" become equal.

Numbers become digits, money a number and a currency, times of day the hours of a day of 24, dates a day and a month,
and how often something happens a number of times in a period. The words around them stay as they are. All of it is
English; the numbers up to twenty are German as well.
"""

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Final, NamedTuple

from commonplace.facts.statement_words import MONTHS, NUMBERS

_SMALL: Final = {"one": 1} | {name: int(number) for name, number in NUMBERS.items()}
_BELOW_TEN: Final = [name for name, number in _SMALL.items() if 0 < number < 10]
_TENS: Final = {
    "twenty": 20,
    "thirty": 30,
    "forty": 40,
    "fifty": 50,
    "sixty": 60,
    "seventy": 70,
    "eighty": 80,
    "ninety": 90,
}
_SCALES: Final = {"hundred": 100, "thousand": 1000, "k": 1000, "million": 1_000_000}
_ORDINALS: Final = {
    "first": 1,
    "second": 2,
    "third": 3,
    "fourth": 4,
    "fifth": 5,
    "sixth": 6,
    "seventh": 7,
    "eighth": 8,
    "ninth": 9,
    "tenth": 10,
    "eleventh": 11,
    "twelfth": 12,
}
_MONTH_NAMES: Final = {number: name.capitalize() for name, number in reversed(MONTHS.items())}
_CURRENCIES: Final = {
    short: name
    for name, shorts in {
        "euros": "\u20ac eur euro",
        "dollars": "$ usd dollar",
        "pounds": "\u00a3 gbp",
        "francs": "chf franc",
        "yen": "\u00a5 jpy",
    }.items()
    for short in shorts.split()
}
_UNITS: Final = {
    short: unit
    for unit, shorts in {
        "seconds": "sec secs",
        "minutes": "min mins",
        "hours": "hr hrs",
        "percent": "%",
        "kilos": "kg kgs kilogram kilograms kilo",
        "kilometres": "km kilometers",
        "centimetres": "cm centimeters",
        "milligrams": "mg milligram",
        "micrograms": "mcg \u03bcg \u00b5g microgram",
        "megabytes": "mb",
        "gigabytes": "gb",
        "terabytes": "tb",
    }.items()
    for short in shorts.split()
}
_PERIODS: Final = {"hour": "hourly", "day": "daily", "week": "weekly", "month": "monthly", "year": "yearly"}
_NOON: Final = 12  # hours
_NIGHT: Final = 6  # "at night" before this hour is after midnight
_NEAR: Final = 4  # words before `a week` in which a number makes it a frequency


def _any(words: Iterable[str]) -> str:
    """A pattern for any of the words, the longer ones first."""
    return "|".join(map(re.escape, sorted(words, key=len, reverse=True)))


_WORD: Final = re.compile(r"[^\W\d_]+")
_DIGIT: Final = re.compile(r"\d")
_NUMBER: Final = r"\d{1,15}(?:\.\d{1,15})?(?!\.?\d)"  # longer ones are no amounts, and slow to look for
_CLOCK: Final = r"0?(\d{1,2})(?:[:.]([0-5]\d))?"
_TO: Final = r" ?(?:-|\u2013| to | until ) ?"
_PERIOD: Final = _any(_PERIODS)
_BELOW_HUNDRED: Final = rf"(?:(?:{_any(_TENS)})(?:[- ](?:{_any(_BELOW_TEN)}))?|{_any(_SMALL)})"
_BELOW_THOUSAND: Final = rf"(?:(?:a|{_any(_SMALL)}) hundred(?:(?: and)? {_BELOW_HUNDRED})?|{_BELOW_HUNDRED})"
_IN_WORDS: Final = (
    rf"\b(?:(?:a|{_BELOW_THOUSAND}) (?:thousand|million)(?:(?: and)? {_BELOW_THOUSAND})?|{_BELOW_THOUSAND})\b(?!')"
)
_ONE_OF: Final = re.compile(
    rf"(?i) (?:second|minute|{_PERIOD}|percent|o['\u2019]clock|in the (?:morning|afternoon)|at night|and a half)\b"
)
_MONTH: Final = f"(?:{_any(MONTHS.keys() - {'may', 'mar', 'march'})}|(?-i:May|March|Mar))"
_DAY: Final = "(?:mon|tues|wednes|thurs|fri|satur|sun)day"


def _digits(found: re.Match[str]) -> str:
    """The number in digits; `one` alone is rarely a number, except before a unit of time."""
    words = found[0].casefold().replace("-", " ").replace(" and ", " ").split()
    if words == ["one"] and not _ONE_OF.match(found.string, found.end()):
        return found[0]
    total = group = 0
    for word in words:
        if word in ("thousand", "million"):
            total, group = total + (group or 1) * _SCALES[word], 0
        elif word == "hundred":
            group = (group or 1) * _SCALES[word]
        elif word != "a":
            group += _TENS.get(word) or _SMALL[word]
    return str(total + group)


def _scaled(found: re.Match[str]) -> str:
    return f"{float(found[1]) * _SCALES[found[2].casefold()]:.0f}"


def _money(found: re.Match[str]) -> str:
    sign, number = (found[1], found[2]) if found[1] else (found[4], found[3])
    return f"{number} {_CURRENCIES[sign.casefold()]}"


def _unit(found: re.Match[str]) -> str:
    return f"{found[1]} {_UNITS[found[2].casefold()]}"


def _hours_and_a_half(found: re.Match[str]) -> str:
    return f"{int(found[1]) * 60 + 30} minutes"


def _ordinal(found: re.Match[str]) -> str:
    """The ordinal in digits; all have the same ending, because it says nothing."""
    return f"{_TENS.get((found['tens'] or '').casefold(), 0) + _ORDINALS[found['ordinal'].casefold()]}th"


def _clock(hour: int, minute: str | None, *, is_late: bool = False) -> str:
    """The time in the hours of a day of 24; a full hour is the hour alone."""
    hour += _NOON if is_late and hour < _NOON else 0
    return f"{hour}:{minute}" if minute and minute != "00" else str(hour)


def _plain_clock(found: re.Match[str]) -> str:
    return _clock(int(found[1]), found[2])


def _half_of_day(found: re.Match[str]) -> str:
    """`2 pm`, and `2-4 pm`, of which both are after noon; in `9-2 pm` the first is before."""
    hour, is_late = int(found[3]) % _NOON, found[5] in "pP"
    end = _clock(hour, found[4], is_late=is_late)
    if not found[1]:
        return end
    first = int(found[1]) % _NOON
    return f"{_clock(first, found[2], is_late=is_late and first <= hour)} to {end}"


def _part_of_day(found: re.Match[str]) -> str:
    """`7 in the morning`, `8 in the evening`, `1 at night`."""
    hour, part = int(found[1]), found[3].casefold()
    if hour > _NOON:
        return found[0]
    is_late = part in ("afternoon", "evening") or (part == "night" and _NIGHT <= hour < _NOON)
    return _clock(hour if part == "afternoon" else hour % _NOON, found[2], is_late=is_late)


def _spoken_clock(found: re.Match[str]) -> str:
    """`half past 4`, `quarter to 9`."""
    minutes, hour = 30 if found[1].casefold() == "half" else 15, int(found[3])
    return f"{hour}:{minutes}" if found[2].casefold() == "past" else f"{hour - 1}:{60 - minutes}"


def _date(found: re.Match[str]) -> str:
    day = found["day"]
    return f"{1 if day.casefold() == 'first' else int(day)} {_MONTH_NAMES[MONTHS[found['month'].casefold()]]}"


def _iso_date(found: re.Match[str]) -> str:
    return f"{int(found[3])} {_MONTH_NAMES[int(found[2])]} {found[1]}"


def _period(found: re.Match[str]) -> str:
    return _PERIODS[found[1].casefold()]


def _period_of_amount(found: re.Match[str]) -> str:
    """`a week` after a number of something, or after `a pack`; "a day in June" is a day."""
    before = found.string[: found.start()].split()[-_NEAR:]
    is_amount = before[-2:-1] in (["a"], ["an"]) or any(word[0].isdigit() for word in before)
    return _period(found) if is_amount else found[0]


_Rewrite = Callable[[re.Match[str]], str] | str


class _Stage(NamedTuple):
    """Patterns with what replaces them, tried only on a text that has one of the words or, if so told, a digit."""

    words: frozenset[str]
    needs_digit: bool
    rewrites: tuple[tuple[re.Pattern[str], _Rewrite], ...]


def _stage(words: Iterable[str], *rewrites: tuple[str, _Rewrite], needs_digit: bool = False) -> _Stage:
    compiled = tuple((re.compile(f"(?i){pattern}"), rewrite) for pattern, rewrite in rewrites)
    return _Stage(frozenset(words), needs_digit, compiled)


_STAGES: Final = (
    _stage(
        ("half", "dozen", "twice", "quarter"),
        (r"\bhalf a dozen\b", "6"),
        (r"\ba dozen\b", "12"),
        (r"\bhalf an hour\b", "30 minutes"),
        (r"\bquarter of an hour\b", "15 minutes"),
        (r"\ban hour and a half\b", "90 minutes"),
        (r"\btwice\b", "2 times"),
    ),
    _stage((*_SMALL, *_TENS, *_SCALES), (_IN_WORDS, _digits)),
    _stage(
        (),
        (r"(?<=\d)[,'\u2019](?=\d{3}(?!\d))", ""),
        (rf"(?<![\w.])({_NUMBER}) ?(k|thousand|million)\b", _scaled),
        (r"\b(\d{1,15})(?: and a half|\.5) hours\b", _hours_and_a_half),
        (r"\b(\d+) and a half\b", r"\1.5"),
        (rf"([\u20ac$\u00a3\u00a5]) ?({_NUMBER})|(?<![\w.])({_NUMBER}) ?({_any(_CURRENCIES)})(?!\w)", _money),
        (rf"(?<![\w.])({_NUMBER})[ -]?({_any(_UNITS)})(?!\w)", _unit),
        (r"\b(\d+)-(?=[a-z]{3})", r"\1 "),
        (r"\byears of age\b", "years old"),
        needs_digit=True,
    ),
    _stage(("noon", "midday"), (r"\b(?:noon|midday)\b", "12:00")),
    _stage(
        (),
        (r"\b(half|(?:a )?quarter) (past|to) (\d{1,2})\b", _spoken_clock),
        (rf"\b{_CLOCK} o['\u2019]clock\b", _plain_clock),
        (rf"\b(?:{_CLOCK}{_TO})?{_CLOCK} ?([ap])\.?m\b\.?", _half_of_day),
        (rf"\b{_CLOCK} (?:in the|at) (morning|afternoon|evening|night)\b", _part_of_day),
        (r"\b0?(\d{1,2}):([0-5]\d)\b(?![:.]?\d)", _plain_clock),
        (r"\b(\d{4})-(0[1-9]|1[0-2])-(\d\d)\b", _iso_date),
        needs_digit=True,
    ),
    _stage(
        _ORDINALS,
        (rf"\b(?P<tens>{_any(_TENS)})-(?P<ordinal>{_any(_ORDINALS)})\b", _ordinal),
        (rf"(?<!\ba )(?<!\d )(?P<tens>)\b(?P<ordinal>{_any(_ORDINALS.keys() - {'first'})})\b", _ordinal),
    ),
    _stage(("may",), (r"(?<!\bin )(?<!\bof )(?<!\bby )(?<!\d )(?-i:\bmay\b|^May\b(?! \d))", "might")),
    _stage(
        MONTHS,
        (rf"\b(?P<month>{_MONTH})\.? (?:the )?(?P<day>\d{{1,2}}|first)(?:st|nd|rd|th)?\b(?![:.]?\d)", _date),
        (rf"\b(?P<day>\d{{1,2}}|first)(?:st|nd|rd|th|\.)?(?: of)? (?P<month>{_MONTH})\b\.?", _date),
        (rf"(?<=\d )({_MONTH}), (?=\d{{4}}\b)", r"\1 "),
    ),
    _stage(
        (),
        (r"(?<!\d)1st\b", "first"),
        (r"\b(\d+)(?:st|nd|rd)\b", r"\1th"),
        needs_digit=True,
    ),
    _stage(
        ("every", "biweekly", "bi", "fortnightly", "quarterly", "quarter", "half", "annual", "annually", "annum"),
        (r"\b(?:every (?:other|2) weeks?|bi-?weekly|fortnightly|every fortnight)\b", "every 2 weeks"),
        (r"\bevery other (?=\w)", "every 2th "),
        (
            r"\b(?:once )?(?:quarterly|(?:a|per|each|every) quarter(?! (?:past|to|of))|every 3 months)\b",
            "4 times yearly",
        ),
        (r"\b(?:half-yearly|every 6 months)\b", "2 times yearly"),
        (r"\b(?:annual(?:ly)?|per annum)\b", "yearly"),
    ),
    _stage(
        _PERIODS,
        (rf"\b(within|for|in|under|after|takes|lasts) an? (?=(?:{_PERIOD})\b(?! off\b))", r"\1 1 "),
        (rf" ?/ ?({_PERIOD})\b", r" a \1"),
        (rf"\b(?:once an?|(?:once )?(?:per|each|every)) ({_PERIOD})\b", _period),
        (rf"\ban? ({_PERIOD})\b(?! (?:of|off|ago|later|before|after))", _period_of_amount),
        (rf"\b(\d+) ?x (?={_any(_PERIODS.values())})", r"\1 times "),
    ),
    _stage(("every", "each"), (rf"\b(?:on )?(?:every|each) (?={_DAY}\b)", "on ")),
    _stage(
        (),
        (r"\b(?:from|between) (\d[\d:.]*) (?:to|and|until) (?=\d)", r"\1 to "),
        (r"(?<![\w.:-])(\d{1,2}(?::\d\d)?) ?[-\u2013] ?(?=\d{1,2}(?::\d\d)?(?![\w.:-]*\d))", r"\1 to "),
        needs_digit=True,
    ),
)


@lru_cache(maxsize=1024)  # one candidate is compared with dozens of facts
def with_plain_values(text: str) -> str:
    """The text with every number, amount, time, date and frequency in its one spelling."""
    words = frozenset(_WORD.findall(text.casefold()))
    for stage in _STAGES:
        if _DIGIT.search(text) if stage.needs_digit else not stage.words.isdisjoint(words):
            for pattern, rewrite in stage.rewrites:
                text = pattern.sub(rewrite, text)
    return text
