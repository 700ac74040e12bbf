"""Times as people write them in arguments such as `--since`, resolved to half-open windows of UTC time.

`time_rules` reads times too, in running text. The two give different answers to the same words: an argument is exact
("2 weeks ago" is one second) and must be valid; a phrase in a question is approximate (that day, with a tolerance) and
is ignored if it is unclear.
"""

import re
from collections.abc import Mapping
from datetime import date, datetime, timedelta, tzinfo
from typing import Final

from commonplace.errors import UsageError
from commonplace.model.moment import moment_text
from commonplace.model.request import When
from commonplace.questions.time_grammar import YEAR, months_later

_DATE: Final = r"(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?"
_TIME: Final = r"\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?(?:[Zz]|[+-]\d{2}:?\d{2})?"
_AGO: Final = r"(\d{1,9})\s*([a-z]+)(?:\s+ago)?"
_DAYS_BACK: Final[Mapping[str, int]] = {"today": 0, "yesterday": 1}
_HOURS: Final[Mapping[str, int]] = {
    **dict.fromkeys(("h", "hour", "hours"), 1),
    **dict.fromkeys(("d", "day", "days"), 24),
    **dict.fromkeys(("w", "week", "weeks"), 7 * 24),
}
_MONTHS: Final[Mapping[str, int]] = {
    **dict.fromkeys(("mo", "month", "months"), 1),
    **dict.fromkeys(("y", "year", "years"), YEAR),
}
_HINT: Final = "Write 2026-03-01, 2026-03, 2026, 2026-03-01T09:12:44Z, today, yesterday, 7d or 2 weeks."


def parse_time(text: str, *, now: datetime, zone: tzinfo) -> tuple[str, str]:
    """The window that the text names, as moment text in UTC: its first second, and the first second after it.

    `--since` takes the start of the window and `--until` its end, so that a named day, month or year is included.
    Days begin at midnight in `zone`, and a time without a zone is in `zone`. `7d` is the second seven days before now.
    Raises UsageError for any other text.
    """
    words = " ".join(text.split()).lower()
    try:
        start, end = _window(words, now=now, zone=zone)
        return moment_text(start), moment_text(end)
    except (ValueError, OverflowError) as error:
        raise UsageError(f"{text[:80]!r} is not a time", hint=_HINT) from error


def start_of(when: When, *, now: datetime, zone: tzinfo) -> datetime | None:
    """The moment at which a time begins that is given as text; a moment or None stays. Raises UsageError."""
    return datetime.fromisoformat(parse_time(when, now=now, zone=zone)[0]) if isinstance(when, str) else when


def end_of(when: When, *, now: datetime, zone: tzinfo) -> datetime | None:
    """The moment at which a time is over that is given as text; a moment or None stays. Raises UsageError."""
    return datetime.fromisoformat(parse_time(when, now=now, zone=zone)[1]) if isinstance(when, str) else when


def day_named(text: str, *, now: datetime, zone: tzinfo) -> date:
    """The day in `zone` on which the time begins that the text names. Raises UsageError."""
    return datetime.fromisoformat(parse_time(text, now=now, zone=zone)[0]).astimezone(zone).date()


def _window(words: str, *, now: datetime, zone: tzinfo) -> tuple[datetime, datetime]:
    if words in _DAYS_BACK:
        day = now.astimezone(zone).date() - timedelta(days=_DAYS_BACK[words])
        return _days(day, day + timedelta(days=1), zone=zone)
    if written := re.fullmatch(_DATE, words, re.ASCII):
        return _days(*_first_and_next(*written.groups()), zone=zone)
    if re.fullmatch(_TIME, words, re.ASCII):
        return _second(_in_zone(datetime.fromisoformat(words.upper()), zone))
    if ago := re.fullmatch(_AGO, words, re.ASCII):
        return _second(_back(now, int(ago.group(1)), ago.group(2), zone=zone))
    raise ValueError(words)


def _first_and_next(year: str, month: str | None, day: str | None) -> tuple[date, date]:
    """The first day of the named day, month or year, and the first day after it."""
    first = date(int(year), int(month or 1), int(day or 1))
    if day:
        return first, first + timedelta(days=1)
    return first, months_later(first, 1 if month else YEAR)


def _back(now: datetime, count: int, unit: str, *, zone: tzinfo) -> datetime:
    if unit in _HOURS:
        return now - timedelta(hours=count * _HOURS[unit])
    if unit not in _MONTHS:
        raise ValueError(unit)
    local = now.astimezone(zone)
    day = months_later(local.date(), -count * _MONTHS[unit])
    return local.replace(year=day.year, month=day.month, day=day.day)


def _days(first: date, past: date, *, zone: tzinfo) -> tuple[datetime, datetime]:
    return _midnight(first, zone), _midnight(past, zone)


def _midnight(day: date, zone: tzinfo) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=zone)


def _in_zone(at: datetime, zone: tzinfo) -> datetime:
    return at if at.tzinfo else at.replace(tzinfo=zone)


def _second(at: datetime) -> tuple[datetime, datetime]:
    whole = at.replace(microsecond=0)
    return whole, whole + timedelta(seconds=1)
