"""Moments as people write them, made into half open windows of UTC time."""

import re
from calendar import monthrange
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import Final

from commonplace.errors import UsageError

_DATE = re.compile(r"(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?", re.ASCII)
_TIME = re.compile(r"\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?(?:[Zz]|[+-]\d{2}:?\d{2})?", re.ASCII)
_AGO = re.compile(r"(\d{1,9})\s*([a-z]+)(?:\s+ago)?", re.ASCII)
_DAYS_BACK: Final[Mapping[str, int]] = {"today": 0, "yesterday": 1}
_HOURS: Final[Mapping[str, int]] = {
    **dict.fromkeys(("h", "hour", "hours"), 1),
    **dict.fromkeys(("d", "day", "days"), 24),
    **dict.fromkeys(("w", "week", "weeks"), 7 * 24),
}
_MONTHS: Final[Mapping[str, int]] = {
    **dict.fromkeys(("mo", "month", "months"), 1),
    **dict.fromkeys(("y", "year", "years"), 12),
}
_YEAR = 12
_HINT = "Write 2026-03-01, 2026-03, 2026, 2026-03-01T09:12:44Z, today, yesterday, 7d or 2 weeks."


def moment(text: str, *, now: datetime, zone: tzinfo) -> tuple[str, str]:
    """The window that these words name, from its first moment up to the first one past it, as text in UTC.

    `--since` takes the beginning of a window and `--until` its end, so that a day, month or year named is within.
    Days begin at midnight in `zone`; a time without a zone is of that zone. `7d` is the second seven days before now.
    Raises UsageError for other words.
    """
    words = " ".join(text.split()).lower()
    try:
        start, end = _window(words, now=now, zone=zone)
        return in_utc(start), in_utc(end)
    except (ValueError, OverflowError) as error:
        raise UsageError(f"{text[:80]!r} is not a time", hint=_HINT) from error


def in_utc(at: datetime) -> str:
    """The moment as every room writes it, such as 2026-03-01T09:12:44Z."""
    return at.astimezone(UTC).replace(microsecond=0, tzinfo=None).isoformat() + "Z"


def months_later(day: date, months: int) -> date:
    """The same day so many months later, or the last one of a month that is shorter."""
    year, month = divmod(day.year * _YEAR + day.month - 1 + months, _YEAR)
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


def midnight(day: date, zone: tzinfo) -> datetime:
    """The first moment of a day in a zone."""
    return datetime(day.year, day.month, day.day, tzinfo=zone)


def _window(words: str, *, now: datetime, zone: tzinfo) -> tuple[datetime, datetime]:
    if words in _DAYS_BACK:
        day = now.astimezone(zone).date() - timedelta(days=_DAYS_BACK[words])
        return _days(day, day + timedelta(days=1), zone=zone)
    if written := _DATE.fullmatch(words):
        return _days(*_first_and_next(*written.groups()), zone=zone)
    if _TIME.fullmatch(words):
        return _second(_in_zone(datetime.fromisoformat(words.upper()), zone))
    if ago := _AGO.fullmatch(words):
        return _second(_back(now, int(ago.group(1)), ago.group(2), zone=zone))
    raise ValueError(words)


def _first_and_next(year: str, month: str | None, day: str | None) -> tuple[date, date]:
    """The first day that is meant, and the first one past it."""
    first = date(int(year), int(month or 1), int(day or 1))
    if day:
        return first, first + timedelta(days=1)
    return first, months_later(first, 1 if month else _YEAR)


def _back(now: datetime, count: int, unit: str, *, zone: tzinfo) -> datetime:
    if unit in _HOURS:
        return now - timedelta(hours=count * _HOURS[unit])
    if unit not in _MONTHS:
        raise ValueError(unit)
    local = now.astimezone(zone)
    day = months_later(local.date(), -count * _MONTHS[unit])
    return local.replace(year=day.year, month=day.month, day=day.day)


def _days(first: date, past: date, *, zone: tzinfo) -> tuple[datetime, datetime]:
    return midnight(first, zone), midnight(past, zone)


def _in_zone(at: datetime, zone: tzinfo) -> datetime:
    return at if at.tzinfo else at.replace(tzinfo=zone)


def _second(at: datetime) -> tuple[datetime, datetime]:
    whole = at.replace(microsecond=0)
    return whole, whole + timedelta(seconds=1)
