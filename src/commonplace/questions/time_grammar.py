"""The parts of a time phrase: names of months and weekdays, spans of days, and the words before the phrase.

`qualifiers_before` reads those words, which say how a phrase is meant: "since March", "around May 5". `TimeRule` is one
kind of phrase; the rules themselves are in `time_rules`.
"""

import re
from calendar import monthrange
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Final

DAY: Final = timedelta(days=1)
WEEK: Final = timedelta(days=7)
YEAR: Final = 12
"""Months in a year."""

_MONTH_TOLERANCE: Final = 5.0
_YEAR_TOLERANCE: Final = 30.0
_SATURDAY: Final = 5

APPROXIMATE: Final = frozenset(
    {"about", "around", "roughly", "approximately", "nearly", "almost", "circa", "maybe", "perhaps"}
)
"""Words that make a time less exact."""

_PARTS: Final = frozenset(
    {"end", "start", "beginning", "middle", "half", "month", "part", "week", "weeks", "days", "rest"}
)
_STAGES: Final = frozenset({"early", "late"})
_WHICH: Final = frozenset({"last", "this", "past"})
_SKIPPED: Final = APPROXIMATE | _STAGES | _WHICH | {"the", "year", "exactly"}
_PREPOSITIONS: Final = frozenset({
    "in", "on", "at", "during", "since", "after", "before", "until", "till", "between", "from", "over", "for",
    "within", "throughout",
})  # fmt: skip
_WORD: Final = re.compile(r"[^ ]+")
_REACH: Final = 40  # characters before a phrase that are read
_OPENERS: Final = "([\"'“‘—–-"


@dataclass(frozen=True, slots=True)
class DateSpan:
    """A half-open span of local time. `yearless`: the phrase gave no year, so another year may be meant."""

    first: datetime
    past: datetime
    tolerance: float
    yearless: bool = False


@dataclass(frozen=True, slots=True)
class Qualifiers:
    """The words before a time phrase.

    `relation` is the nearest word that relates the phrase to the sentence, and `word_before` the one before that.
    `which` is "last", "this", "past" or empty. `start` is where the phrase begins, qualifiers included.
    `approximate`: about that time. `definite`: the phrase has "the". `partial`: a part of it is meant (early, the end
    of). `chained`: it continues another time (March and May).
    """

    relation: str
    word_before: str
    which: str
    start: int
    approximate: bool
    definite: bool
    partial: bool
    chained: bool


@dataclass(frozen=True, slots=True)
class TimeRule:
    """One kind of phrase: its name, its pattern, and what it means on a given day, or None if that is unclear."""

    name: str
    pattern: str
    resolve: Callable[[re.Match[str], Qualifiers, date], DateSpan | None]


def qualifiers_before(text: str, start: int, *, chained: bool) -> Qualifiers:
    """The qualifiers of the phrase that begins at `start` in a text with single spaces."""
    cut = max(0, start - _REACH)
    matches = list(_WORD.finditer(text, cut, start))[1 if cut else 0 :] if text[start - 1 : start] == " " else []
    words = [match.group().lower().lstrip(_OPENERS) for match in matches]
    position = _relation_position(words)
    skipped = words[position + 1 :]
    relation = words[position] if position >= 0 else ""
    which = next((word for word in reversed(skipped) if word in _WHICH), "")
    first = position if relation in _PREPOSITIONS else position + 1 + (skipped[:1] == ["the"])
    return Qualifiers(
        relation=relation,
        word_before=words[position - 1] if position > 0 else "",
        which=which,
        start=matches[first].start() if first < len(matches) else start,
        approximate=not APPROXIMATE.isdisjoint(skipped),
        definite="the" in skipped,
        partial=not _STAGES.isdisjoint(skipped) or "of" in skipped,
        chained=chained,
    )


def _relation_position(words: list[str]) -> int:
    """The position of the last word that relates the phrase to the sentence; -1 if there is none."""
    position = len(words) - 1
    while position >= 0:
        if words[position] in _SKIPPED:
            position -= 1
        elif words[position] == "of" and position > 0 and words[position - 1] in _PARTS:
            position -= 2
        else:
            break
    return position


def span_of_days(first: date, past: date, *, tolerance: float, yearless: bool = False) -> DateSpan:
    """From the beginning of one day up to the beginning of another."""
    return DateSpan(datetime.combine(first, time()), datetime.combine(past, time()), tolerance, yearless)


def day_span(day: date, *, tolerance: float, yearless: bool = False) -> DateSpan:
    """One whole day."""
    return span_of_days(day, day + DAY, tolerance=tolerance, yearless=yearless)


def week_span(day: date) -> DateSpan:
    """The week of this day, from Monday. The tolerance covers weeks that begin on Sunday."""
    monday = day - timedelta(days=day.weekday())
    return span_of_days(monday, monday + WEEK, tolerance=2.0)


def weekend_span(day: date) -> DateSpan:
    """Saturday and Sunday of this day's week."""
    saturday = day + timedelta(days=_SATURDAY - day.weekday())
    return span_of_days(saturday, saturday + 2 * DAY, tolerance=1.0)


def month_span(day: date, *, yearless: bool = False) -> DateSpan:
    """The calendar month of this day."""
    first = day.replace(day=1)
    return span_of_days(first, months_later(first, 1), tolerance=_MONTH_TOLERANCE, yearless=yearless)


def year_span(day: date) -> DateSpan:
    """The calendar year of this day."""
    first = day.replace(month=1, day=1)
    return span_of_days(first, months_later(first, YEAR), tolerance=_YEAR_TOLERANCE)


def weekday_before(day: date, weekday: int) -> date:
    """The last such weekday before this day; a week earlier if the day is one itself."""
    return day - timedelta(days=(day.weekday() - weekday - 1) % 7 + 1)


def months_later(day: date, months: int) -> date:
    """The same day of the month `months` later, or the last day of a shorter month. Raises ValueError or OverflowError
    outside the years 1 to 9999."""
    year, month = divmod(day.year * YEAR + day.month - 1 + months, YEAR)
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))
