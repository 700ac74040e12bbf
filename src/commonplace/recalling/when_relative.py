"""Times that are said from today: yesterday, two weeks ago, last month, on Saturday."""

import re
from collections.abc import Mapping
from datetime import date, datetime, time, timedelta
from typing import Final

from commonplace.recalling.lead import Lead, Rule
from commonplace.recalling.spans import (
    DAY,
    WEEK,
    WEEKDAYS,
    YEAR,
    Span,
    a_day,
    a_month,
    a_week,
    a_weekend,
    a_year,
    days,
    weekday_before,
)
from commonplace.recalling.times import months_later

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
_ENDS = r"(?! (?:of|before)\b)"

_TOLERANCES: Final[Mapping[str, float]] = {"day": 0, "night": 0, "week": 7, "month": 30, "year": 365}
_INSIDE = frozenset({"in", "over", "during", "within", "for", "from", "of", "since", "throughout"})
_UNSURE = frozenset({"over", "under", "than", "least", "most", "or", "to", "and"})
_HABIT = re.compile(r"\b(?:every|each|usually|always|normally|typically|weekly)\b", re.IGNORECASE)
_HOURS: Final[Mapping[str, tuple[int, int]]] = {
    "this morning": (0, 12),
    "this afternoon": (12, 18),
    "this evening": (18, 24),
    "tonight": (18, 30),
    "last night": (-6, 6),
}
_NEAR = 0.5


def _day_word(found: re.Match[str], _lead: Lead, today: date) -> Span:
    word = found["day_word"].lower()
    if word in _HOURS:
        midnight = datetime.combine(today, time())
        begins, ends = (midnight + timedelta(hours=hour) for hour in _HOURS[word])
        return Span(begins, ends, _NEAR)
    back = 0 if word == "today" else 1 if word == "yesterday" else 2
    return a_day(today - back * DAY, tolerance=_NEAR)


def _before_last(found: re.Match[str], _lead: Lead, today: date) -> Span | None:
    return _shifted(found["skipped"].lower(), today, by=-2)


def _ago(found: re.Match[str], lead: Lead, today: date) -> Span | None:
    """A day with the more tolerance the longer ago; nothing for "over a year ago" and "two or three weeks ago"."""
    if lead.word in _UNSURE and not lead.chained:
        return None
    count, unit = _number(found["ago_count"]), found["ago_unit"].lower()
    name = unit.removesuffix("s")
    if name in WEEKDAYS:
        return a_day(weekday_before(today, WEEKDAYS[name]) - (count - 1) * WEEK, tolerance=_NEAR)
    length = _TOLERANCES[name]
    tolerance = max(1.0, 0.12 * count * (length or 1) + 0.2 * length)
    return a_day(_back(today, count, name), tolerance=tolerance)


def _rolling(found: re.Match[str], lead: Lead, today: date) -> Span | None:
    """The days up to today. "Did it last two weeks" is no such time: "last" needs a word before it that says so."""
    if found["by"].lower() == "last" and not lead.definite and lead.word not in _INSIDE | {"these", "my", "our"}:
        return None
    return _up_to(today, _number(found["count"]), found["unit"].lower().removesuffix("s"))


def _weekday_of(found: re.Match[str], _lead: Lead, today: date) -> Span:
    which = (found["week_in"] or found["week_on"]).lower()
    weekday = WEEKDAYS[(found["day_in"] or found["day_on"]).lower()]
    monday = today - timedelta(days=today.weekday()) + {"last": -1, "this": 0, "next": 1}[which] * WEEK
    return a_day(monday + timedelta(days=weekday), tolerance=_NEAR)


def _calendar(found: re.Match[str], lead: Lead, today: date) -> Span | None:
    """A whole week, month or year; "in the last week" and "the past week" are the days up to today."""
    which, what = found["which"].lower(), found["what"].lower()
    if what == "weekend":
        return _shifted(what, today, by={"this": 0, "current": 0, "next": 1}.get(which, -1))
    if which in {"past", "this past"}:
        return _up_to(today, 1, what)
    if lead.definite and which != "current":
        return _up_to(today, 1, what) if which == "last" and lead.word in _INSIDE else None
    return _shifted(what, today, by={"last": -1, "previous": -1, "next": 1}.get(which, 0))


def _weekday(found: re.Match[str], lead: Lead, today: date) -> Span | None:
    """The last such day; nothing for a habit (every week on Monday) or where no word shows that one day is meant."""
    weekday = WEEKDAYS[found["weekday"].lower()]
    if lead.definite or (lead.word == "on" and _HABIT.search(found.string)):
        return None
    if lead.which == "this":
        return a_day(today + timedelta(days=weekday - today.weekday()), tolerance=_NEAR)
    if lead.which or lead.word in {"on", "since", "before", "after", "until"}:
        return a_day(weekday_before(today, weekday), tolerance=_NEAR)
    return None


def _number(words: str) -> int:
    """A count in digits or words, such as "twenty-one" or "a couple of"."""
    if words.isdigit():
        return int(words)
    parts = words.lower().replace("-", " ").split()
    return 2 if "couple" in parts else sum(_NUMBERS[part] for part in parts)


def _back(today: date, count: int, unit: str) -> date:
    if unit in {"month", "year"}:
        return months_later(today, -count * (YEAR if unit == "year" else 1))
    return today - timedelta(days=count * (7 if unit == "week" else 1))


def _up_to(today: date, count: int, unit: str) -> Span:
    """So many units up to the end of today. A tenth of the time may be wrong, a day at least."""
    first = _back(today, count, unit)
    return days(first, today + DAY, tolerance=max(1.0, 0.1 * (today - first).days))


def _shifted(what: str, today: date, *, by: int) -> Span:
    """The calendar week, weekend, month or year so many after this one."""
    if what == "week":
        return a_week(today + by * WEEK)
    if what == "weekend":
        return a_weekend(today + by * WEEK)
    first = today.replace(day=1)
    return a_month(months_later(first, by)) if what == "month" else a_year(months_later(first, by * YEAR))


RELATIVE: Final = (
    Rule(
        "day_word",
        r"(?:the )?day before yesterday|yesterday|today|tonight|last night|this (?:morning|afternoon|evening)",
        _day_word,
    ),
    Rule("before_last", r"(?:the )?(?P<skipped>weekend|week|month|year) before last", _before_last),
    Rule("ago", rf"(?P<ago_count>{_COUNT}) (?P<ago_unit>{_UNIT}|(?:{_WEEKDAY})s?) ago", _ago),
    Rule("rolling", rf"(?P<by>last|past|previous) (?P<count>{_COUNT}) (?P<unit>{_UNIT}){_ENDS}", _rolling),
    Rule(
        "weekday_of",
        rf"(?P<day_in>{_WEEKDAY})(?: of)? (?P<week_in>last|this|next) week"
        rf"|(?P<week_on>last|this|next) week (?:on )?(?P<day_on>{_WEEKDAY})",
        _weekday_of,
    ),
    Rule(
        "calendar",
        rf"(?P<which>last|this past|this|next|past|previous|current) (?P<what>weekend|week|month|year){_ENDS}",
        _calendar,
    ),
    Rule("weekday", _WEEKDAY, _weekday),
)
"""The kinds of such phrases, the longer before the shorter."""
