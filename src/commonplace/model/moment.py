"""Time as text: `2026-03-01T09:12:44Z`, in UTC and to the second, so that text order is time order.

Also the English names of months and weekdays, for whoever reads or writes days as people say them.
"""

from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, date, datetime
from typing import Final
from uuid import UUID

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
"""The number of each weekday, from Monday. Short forms are left out because they are words themselves: sat, sun."""

_FORMAT: Final = "%Y-%m-%dT%H:%M:%SZ"
_MIDNIGHT: Final = "T00:00:00Z"
_TIMED_ID: Final = 7  # the UUID version that begins with a timestamp


def moment_text(at: datetime) -> str:
    """The moment as text. Raises OverflowError if it falls outside the calendar in UTC (years 1 and 9999)."""
    return at.astimezone(UTC).replace(microsecond=0, tzinfo=None).isoformat() + "Z"


def timestamp_text(seconds: float) -> str:
    """A Unix timestamp as moment text. Raises ValueError, OverflowError or OSError if no calendar has it."""
    return moment_text(datetime.fromtimestamp(seconds, UTC))


def parse_moment(text: str) -> datetime:
    """The moment that `moment_text` wrote. Raises ValueError for any other text."""
    return datetime.strptime(text, _FORMAT).replace(tzinfo=UTC)


def read_moment(value: object) -> str:
    """The moment in a note's property: an ISO 8601 time or day, as moment text; empty for any other value.

    A day is its midnight, and a time without a zone is in UTC.
    """
    with suppress(ValueError, OverflowError):  # a time in the year 1 or 9999 may have no year in UTC
        if isinstance(value, str):
            value = datetime.fromisoformat(value.strip())
        if isinstance(value, date) and not isinstance(value, datetime):
            value = datetime(value.year, value.month, value.day)
        if isinstance(value, datetime):
            return moment_text(value if value.tzinfo else value.replace(tzinfo=UTC))
    return ""


def id_moment(id: str) -> str:
    """The moment encoded in a version 7 UUID; empty for other versions. Raises ValueError if `id` is not a UUID."""
    uuid = UUID(id)
    if uuid.version != _TIMED_ID:
        return ""
    with suppress(ValueError, OverflowError, OSError):  # the digits may name a year outside the calendar
        return timestamp_text((uuid.int >> 80) // 1000)
    return ""


def short_moment(moment: str) -> str:
    """Moment text as people write it: only the day if it is midnight."""
    return moment.removesuffix(_MIDNIGHT)


def day_of(moment: str) -> str:
    """The day of moment text, in UTC."""
    return moment[:10]


def spoken_day(moment: str, *, now: str) -> str:
    """The day of moment text as people say it this year, `3 December`; with its year if that is another one."""
    day = long_day(moment)
    return day.removesuffix(f" {now[:4]}")


def long_day(moment: str) -> str:
    """The day of moment text as people say it: `3 December 2026`."""
    day = date.fromisoformat(moment[:10])
    return f"{day.day} {day:%B %Y}"
