"""The kinds of time phrases that questions use.

- Calendar: 2023-05-08, May 5th, in March, in 2022, at Christmas.
- Relative to today: yesterday, two weeks ago, last month, on Saturday.

Each `_function` gives the meaning of one kind, or None if the words may mean something else.
"""

import re
from collections.abc import Mapping
from datetime import date, datetime, time, timedelta
from typing import Final

from commonplace.model.moment import MONTHS, WEEKDAYS
from commonplace.questions.time_grammar import (
    DAY,
    WEEK,
    YEAR,
    DateSpan,
    Qualifiers,
    TimeRule,
    day_span,
    month_span,
    months_later,
    span_of_days,
    week_span,
    weekday_before,
    weekend_span,
    year_span,
)

_MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))
_WEEKDAY_PREFIX = rf"(?:(?:on )?(?:{'|'.join(WEEKDAYS)}),? )?"
_DAY_NUMBER = r"[0-3]?[0-9]"
_ORDINAL = r"(?:st|nd|rd|th)"
_NUMBER_ENDS = r"(?![0-9:%/]|[.,][0-9])"
_A_YEAR = r"[12][0-9]{3}(?![0-9])|(?:last|this) year"


def _in_year(name: str) -> str:
    return rf"(?:,? (?:of |in )?(?P<{name}>{_A_YEAR}))?"


_HOLIDAYS: Final[Mapping[str, tuple[int, int]]] = {
    "christmas": (12, 25),
    "christmas day": (12, 25),
    "christmas eve": (12, 24),
    "halloween": (10, 31),
    "new years day": (1, 1),
    "new years eve": (12, 31),
    "valentines day": (2, 14),
    "fourth of july": (7, 4),
    "4th of july": (7, 4),
    "july 4th": (7, 4),
    "july fourth": (7, 4),
}
_ONLY_MONTHS = frozenset({"january", "february", "july", "september", "october", "november", "december"})
_ALSO_VERBS = frozenset({"may", "march", "mar"})
_INSIDE = frozenset({"in", "during", "since", "until", "till", "throughout"})
_BORDERING = frozenset({"before", "after", "between", "from", "for", "of", "through"})
_BEFORE_HOLIDAY = _INSIDE | _BORDERING | {"on", "at", "over"}
_CLAUSE_ENDS = re.compile(r"(?:$|[,.;:?!)–—]| (?:and|or|to|until|till|through|thru|on|onwards?)\b)")
_COUNTED_THINGS = (
    "words|people|steps|miles|km|dollars|euros|pounds|calories|characters|tokens|hours|days|times|feet|pages"
)
_FIRST_YEAR, _LAST_YEAR = 1900, 2100
_LEAP_CYCLE = 8


def _iso(match: re.Match[str], _qualifiers: Qualifiers, _today: date) -> DateSpan | None:
    year, month, day = match["iso_year"], match["iso_month"], match["iso_day"]
    first = _date(int(year), int(month), int(day or 1))
    if first is None:
        return None
    return day_span(first, tolerance=1.0) if day else month_span(first)


def _slashed(match: re.Match[str], _qualifiers: Qualifiers, _today: date) -> DateSpan | None:
    """None if either number could be the month."""
    one, two, year = int(match["one"]), int(match["two"]), int(match["slashed_year"])
    if one != two and max(one, two) <= YEAR:
        return None
    day = _date(year, min(one, two), max(one, two))
    return day_span(day, tolerance=1.0) if day else None


def _day_month(match: re.Match[str], qualifiers: Qualifiers, today: date) -> DateSpan | None:
    sure = bool(match["dm_ordinal"] or match["dm_year"] or qualifiers.relation in {"on", "since", "until"})
    if not sure and match["dm_month"] in _ALSO_VERBS:
        return None
    return _named_day(
        MONTHS[match["dm_month"].lower()], int(match["dm_day"]), match["dm_year"], qualifiers=qualifiers, today=today
    )


def _month_day(match: re.Match[str], qualifiers: Qualifiers, today: date) -> DateSpan | None:
    """None for "may 5 people come" and "May 5 people come"."""
    name = match["md_month"]
    opens = match.start() == 0 and not _CLAUSE_ENDS.match(match.string, match.end())
    sure = bool(match["md_ordinal"] or match["md_year"] or qualifiers.relation in {"on", "since", "until"})
    if not sure and name.lower() in _ALSO_VERBS and (name.islower() or opens):
        return None
    return _named_day(MONTHS[name.lower()], int(match["md_day"]), match["md_year"], qualifiers=qualifiers, today=today)


def _month_year(match: re.Match[str], qualifiers: Qualifiers, today: date) -> DateSpan | None:
    name, year = match["my_month"], match["my_year"]
    if name in _ALSO_VERBS and not year.isdigit() and qualifiers.relation not in _INSIDE:
        return None
    return month_span(date(_year(year, today), MONTHS[name.lower()], 1))


def _month(match: re.Match[str], qualifiers: Qualifiers, today: date) -> DateSpan | None:
    """The latest such month that has begun; None if the word may be a name or a verb."""
    name = match["month_name"]
    middle = match.start("month_name") > match.start()
    if not middle and not _is_month(name, qualifiers, rest=match.string[match.end() :][:16]):
        return None
    number = MONTHS[name.lower()]
    if qualifiers.which == "this":
        return month_span(date(today.year, number, 1))
    latest = today.replace(day=1) - DAY if qualifiers.which == "last" else today
    return month_span(date(latest.year - (number > latest.month), number, 1), yearless=True)


def _year_alone(match: re.Match[str], qualifiers: Qualifiers, _today: date) -> DateSpan | None:
    year = int(match["year"])
    meant = qualifiers.chained or qualifiers.partial or qualifiers.relation in _INSIDE | _BORDERING - {"of", "for"}
    return year_span(date(year, 1, 1)) if meant and _FIRST_YEAR <= year <= _LAST_YEAR else None


def _holiday(match: re.Match[str], qualifiers: Qualifiers, today: date) -> DateSpan | None:
    """The last such day; None for a Christmas tree."""
    name = match["holiday_name"].lower().replace("'", "")
    meant = (
        qualifiers.chained
        or qualifiers.approximate
        or qualifiers.which
        or qualifiers.relation in _BEFORE_HOLIDAY
        or match["holiday_year"]
        or "july" in name
    )
    month, day = _HOLIDAYS[name]
    return (
        _named_day(month, day, match["holiday_year"], qualifiers=qualifiers, today=today, tolerance=2.0)
        if meant
        else None
    )


def _is_month(name: str, qualifiers: Qualifiers, *, rest: str) -> bool:
    """True if the word means a month: April and June are also people, may and march also verbs."""
    if qualifiers.chained or qualifiers.partial:
        return True
    if name.lower() in _ONLY_MONTHS and (name[0].isupper() or qualifiers.relation in _INSIDE | _BORDERING):
        return True
    if rest.startswith("'"):
        return False
    if qualifiers.relation in _INSIDE or (qualifiers.which and name not in _ALSO_VERBS):
        return True
    return qualifiers.relation in _BORDERING and name not in _ALSO_VERBS and bool(_CLAUSE_ENDS.match(rest))


def _named_day(
    month: int, day: int, year: str | None, *, qualifiers: Qualifiers, today: date, tolerance: float = 1.0
) -> DateSpan | None:
    """The day in that year, or else its latest occurrence."""
    if year or qualifiers.which == "this":
        said = _date(_year(year or "this year", today), month, day)
        return day_span(said, tolerance=tolerance) if said else None
    latest = today - DAY if qualifiers.which == "last" else today
    tried = (_date(latest.year - back, month, day) for back in range(_LEAP_CYCLE + 1))
    last = next((each for each in tried if each and each <= latest), None)
    return day_span(last, tolerance=tolerance, yearless=True) if last else None


def _year(said: str, today: date) -> int:
    return int(said) if said.isdigit() else today.year - (said.lower() == "last year")


def _date(year: int, month: int, day: int) -> date | None:
    """The date, or None if the calendar has no such day."""
    if day < 1 or not 1 <= month <= YEAR:
        return None
    first = date(year, month, 1)
    return first.replace(day=day) if day <= (months_later(first, 1) - DAY).day else None


CALENDAR_RULES: Final = (
    TimeRule(
        "iso",
        r"(?P<iso_year>[12][0-9]{3})[-/](?P<iso_month>[0-9]{1,2})(?:[-/](?P<iso_day>[0-9]{1,2}))?"
        r"(?:T[0-9:.]{1,15}Z?)?(?![0-9/-])",
        _iso,
    ),
    TimeRule(
        "slashed",
        rf"(?P<one>{_DAY_NUMBER})[/.-](?P<two>{_DAY_NUMBER})[/.-](?P<slashed_year>[12][0-9]{{3}})(?![0-9/-])",
        _slashed,
    ),
    TimeRule(
        "holiday",
        r"(?P<holiday_name>christmas(?: eve| day)?|new year'?s (?:eve|day)|valentine'?s day|halloween"
        rf"|(?:fourth|4th) of july|july (?:fourth|4th))(?![\w-]){_in_year('holiday_year')}",
        _holiday,
    ),
    TimeRule(
        "day_month",
        rf"{_WEEKDAY_PREFIX}(?:the )?(?P<dm_day>{_DAY_NUMBER})(?P<dm_ordinal>{_ORDINAL}?(?: day)?(?: of)?)"
        rf" (?P<dm_month>{_MONTH})(?![\w-])\.?{_in_year('dm_year')}",
        _day_month,
    ),
    TimeRule(
        "month_day",
        rf"{_WEEKDAY_PREFIX}(?P<md_month>{_MONTH})\.? (?:the )?(?P<md_day>{_DAY_NUMBER})(?P<md_ordinal>{_ORDINAL})?"
        rf"(?![a-z-]){_NUMBER_ENDS}{_in_year('md_year')}",
        _month_day,
    ),
    TimeRule("month_year", rf"(?:mid-)?(?P<my_month>{_MONTH})\.?,? (?:of |in )?(?P<my_year>{_A_YEAR})", _month_year),
    TimeRule("month", rf"(?:mid-)?(?P<month_name>{_MONTH})(?![\w-])", _month),
    TimeRule("year", rf"[12][0-9]{{3}}(?![\w-]){_NUMBER_ENDS}(?! (?:{_COUNTED_THINGS})\b)", _year_alone),
)
"""Phrases that name a calendar date, longer patterns before shorter ones."""


_ONES = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_TEENS = ("ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen")
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_NUMBERS: Final[Mapping[str, int]] = {
    **{word: number for number, word in enumerate((*_ONES, *_TEENS), start=1)},
    **dict(zip(_TENS, range(20, 100, 10), strict=True)),
    **dict.fromkeys(("a", "an"), 1),
}
_COUNT = (
    rf"(?:[0-9]{{1,4}}|(?:a )?couple(?: of)?|(?:{'|'.join(_TENS)})(?:[ -](?:{'|'.join(_ONES)}))?"
    rf"|{'|'.join((*_TEENS, *_ONES))}|an?)"
)
_UNIT = r"(?:day|night|week|month|year)s?"
_WEEKDAY = "|".join(WEEKDAYS)
_NOT_CONTINUED = r"(?! (?:of|before)\b)"

_TOLERANCES: Final[Mapping[str, float]] = {"day": 0, "night": 0, "week": 7, "month": 30, "year": 365}
_WITHIN_PERIOD = frozenset({"in", "over", "during", "within", "for", "from", "of", "since", "throughout"})
_VAGUE_COUNT = frozenset({"over", "under", "than", "least", "most", "or", "to", "and"})
_HABIT = re.compile(r"\b(?:every|each|usually|always|normally|typically|weekly)\b", re.IGNORECASE)
_DAY_PARTS: Final[Mapping[str, tuple[int, int]]] = {
    "this morning": (0, 12),
    "this afternoon": (12, 18),
    "this evening": (18, 24),
    "tonight": (18, 30),
    "last night": (-6, 6),
}
_DAY_TOLERANCE = 0.5


def _day_word(match: re.Match[str], _qualifiers: Qualifiers, today: date) -> DateSpan:
    word = match["day_word"].lower()
    if word in _DAY_PARTS:
        midnight = datetime.combine(today, time())
        begins, ends = (midnight + timedelta(hours=hour) for hour in _DAY_PARTS[word])
        return DateSpan(begins, ends, _DAY_TOLERANCE)
    back = 0 if word == "today" else 1 if word == "yesterday" else 2
    return day_span(today - back * DAY, tolerance=_DAY_TOLERANCE)


def _before_last(match: re.Match[str], _qualifiers: Qualifiers, today: date) -> DateSpan | None:
    return _period_from_today(match["skipped"].lower(), today, by=-2)


def _ago(match: re.Match[str], qualifiers: Qualifiers, today: date) -> DateSpan | None:
    """A day, with more tolerance the longer ago; None for "over a year ago" and "two or three weeks ago"."""
    if qualifiers.relation in _VAGUE_COUNT and not qualifiers.chained:
        return None
    count, unit = _parse_count(match["ago_count"]), match["ago_unit"].lower()
    name = unit.removesuffix("s")
    if name in WEEKDAYS:
        return day_span(weekday_before(today, WEEKDAYS[name]) - (count - 1) * WEEK, tolerance=_DAY_TOLERANCE)
    length = _TOLERANCES[name]
    tolerance = max(1.0, 0.12 * count * (length or 1) + 0.2 * length)
    return day_span(_date_before(today, count, name), tolerance=tolerance)


def _rolling(match: re.Match[str], qualifiers: Qualifiers, today: date) -> DateSpan | None:
    """The days up to today. "Did it last two weeks" is not a time: "last" needs a word before it that makes it one."""
    if (
        match["by"].lower() == "last"
        and not qualifiers.definite
        and qualifiers.relation not in _WITHIN_PERIOD | {"these", "my", "our"}
    ):
        return None
    return _period_until_today(today, _parse_count(match["count"]), match["unit"].lower().removesuffix("s"))


def _weekday_of(match: re.Match[str], _qualifiers: Qualifiers, today: date) -> DateSpan:
    which = (match["week_in"] or match["week_on"]).lower()
    weekday = WEEKDAYS[(match["day_in"] or match["day_on"]).lower()]
    monday = today - timedelta(days=today.weekday()) + {"last": -1, "this": 0, "next": 1}[which] * WEEK
    return day_span(monday + timedelta(days=weekday), tolerance=_DAY_TOLERANCE)


def _calendar(match: re.Match[str], qualifiers: Qualifiers, today: date) -> DateSpan | None:
    """A whole week, month or year; "in the last week" and "the past week" mean the days up to today."""
    which, what = match["which"].lower(), match["what"].lower()
    if what == "weekend":
        return _period_from_today(what, today, by={"this": 0, "current": 0, "next": 1}.get(which, -1))
    if which in {"past", "this past"}:
        return _period_until_today(today, 1, what)
    if qualifiers.definite and which != "current":
        return (
            _period_until_today(today, 1, what) if which == "last" and qualifiers.relation in _WITHIN_PERIOD else None
        )
    return _period_from_today(what, today, by={"last": -1, "previous": -1, "next": 1}.get(which, 0))


def _weekday(match: re.Match[str], qualifiers: Qualifiers, today: date) -> DateSpan | None:
    """The last such day; None for a habit (every week on Monday) or if no word shows that one day is meant."""
    weekday = WEEKDAYS[match["weekday"].lower()]
    if qualifiers.definite or (qualifiers.relation == "on" and _HABIT.search(match.string)):
        return None
    if qualifiers.which == "this":
        return day_span(today + timedelta(days=weekday - today.weekday()), tolerance=_DAY_TOLERANCE)
    if qualifiers.which or qualifiers.relation in {"on", "since", "before", "after", "until"}:
        return day_span(weekday_before(today, weekday), tolerance=_DAY_TOLERANCE)
    return None


def _parse_count(words: str) -> int:
    """A count in digits or words, such as "twenty-one" or "a couple of"."""
    if words.isdigit():
        return int(words)
    parts = words.lower().replace("-", " ").split()
    return 2 if "couple" in parts else sum(_NUMBERS[part] for part in parts)


def _date_before(today: date, count: int, unit: str) -> date:
    if unit in {"month", "year"}:
        return months_later(today, -count * (YEAR if unit == "year" else 1))
    return today - timedelta(days=count * (7 if unit == "week" else 1))


def _period_until_today(today: date, count: int, unit: str) -> DateSpan:
    """`count` units up to the end of today, with a tolerance of a tenth of that time, at least a day."""
    first = _date_before(today, count, unit)
    return span_of_days(first, today + DAY, tolerance=max(1.0, 0.1 * (today - first).days))


def _period_from_today(what: str, today: date, *, by: int) -> DateSpan:
    """The calendar week, weekend, month or year `by` after this one."""
    if what == "week":
        return week_span(today + by * WEEK)
    if what == "weekend":
        return weekend_span(today + by * WEEK)
    first = today.replace(day=1)
    return month_span(months_later(first, by)) if what == "month" else year_span(months_later(first, by * YEAR))


RELATIVE_RULES: Final = (
    TimeRule(
        "day_word",
        r"(?:the )?day before yesterday|yesterday|today|tonight|last night|this (?:morning|afternoon|evening)",
        _day_word,
    ),
    TimeRule("before_last", r"(?:the )?(?P<skipped>weekend|week|month|year) before last", _before_last),
    TimeRule("ago", rf"(?P<ago_count>{_COUNT}) (?P<ago_unit>{_UNIT}|(?:{_WEEKDAY})s?) ago", _ago),
    TimeRule("rolling", rf"(?P<by>last|past|previous) (?P<count>{_COUNT}) (?P<unit>{_UNIT}){_NOT_CONTINUED}", _rolling),
    TimeRule(
        "weekday_of",
        rf"(?P<day_in>{_WEEKDAY})(?: of)? (?P<week_in>last|this|next) week"
        rf"|(?P<week_on>last|this|next) week (?:on )?(?P<day_on>{_WEEKDAY})",
        _weekday_of,
    ),
    TimeRule(
        "calendar",
        rf"(?P<which>last|this past|this|next|past|previous|current) (?P<what>weekend|week|month|year){_NOT_CONTINUED}",
        _calendar,
    ),
    TimeRule("weekday", _WEEKDAY, _weekday),
)
"""Phrases that count from today, longer patterns before shorter ones."""
