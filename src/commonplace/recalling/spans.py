"""Stretches of days on one calendar, and the names of its months and weekdays."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Final

from commonplace.recalling.times import months_later

MONTHS: Final[Mapping[str, int]] = {
    name: number
    for number, names in enumerate(
        ("jan january", "feb february", "mar march", "apr april", "may", "jun june", "jul july", "aug august",
         "sep sept september", "oct october", "nov november", "dec december"),
        start=1,
    )
    for name in names.split()
}  # fmt: skip
"""The number of each month, by its name and its short forms."""

WEEKDAYS: Final[Mapping[str, int]] = {
    name: number
    for number, name in enumerate(("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"))
}
"""The number of each weekday, Monday first. Their short forms are words of their own: sat, sun, wed."""

DAY: Final = timedelta(days=1)
WEEK: Final = timedelta(days=7)
YEAR: Final = 12
MONTH_TOLERANCE: Final = 5.0
YEAR_TOLERANCE: Final = 30.0
_SATURDAY = 5


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of local time, half open. `yearless`: the year was not said, so that another may be meant."""

    first: datetime
    past: datetime
    tolerance: float
    yearless: bool = False


def days(first: date, past: date, *, tolerance: float, yearless: bool = False) -> Span:
    """From the beginning of one day up to the beginning of another."""
    return Span(datetime.combine(first, time()), datetime.combine(past, time()), tolerance, yearless)


def a_day(day: date, *, tolerance: float, yearless: bool = False) -> Span:
    """One whole day."""
    return days(day, day + DAY, tolerance=tolerance, yearless=yearless)


def a_week(day: date) -> Span:
    """The week of this day, Monday first. Others begin theirs on Sunday, which the tolerance makes good."""
    monday = day - timedelta(days=day.weekday())
    return days(monday, monday + WEEK, tolerance=2.0)


def a_weekend(day: date) -> Span:
    """Saturday and Sunday of this day's week."""
    saturday = day + timedelta(days=_SATURDAY - day.weekday())
    return days(saturday, saturday + 2 * DAY, tolerance=1.0)


def a_month(day: date, *, yearless: bool = False) -> Span:
    """The calendar month of this day."""
    first = day.replace(day=1)
    return days(first, months_later(first, 1), tolerance=MONTH_TOLERANCE, yearless=yearless)


def a_year(day: date) -> Span:
    """The calendar year of this day."""
    first = day.replace(month=1, day=1)
    return days(first, months_later(first, YEAR), tolerance=YEAR_TOLERANCE)


def weekday_before(day: date, weekday: int) -> date:
    """The last such weekday before this day: a week before it, if it is one itself."""
    return day - timedelta(days=(day.weekday() - weekday - 1) % 7 + 1)
