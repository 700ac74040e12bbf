"""When a job runs: a cron expression in the person's zone, or an interval.

Cron has five fields: minute, hour, day of the month, month, day of the week. As in Debian's cron, a job at a time that
the clock skips in spring runs right after the change, and one at a time that comes twice in autumn runs once.
"""

import os
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from typing import Final
from zoneinfo import ZoneInfo

_UNITS: Final = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_INTERVAL: Final = re.compile(r"every\s+(\d{1,4})\s*([mhdw])", re.IGNORECASE)
_NAMED: Final = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
}
_FIELDS: Final = 5
_DAYS: Final = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
_WEEKDAYS: Final = {
    "*": "day",
    **{name[:3].upper(): name for name in _DAYS},
    **{str(number): name for number, name in enumerate((*_DAYS, _DAYS[0]))},
}
_HINT: Final = "Write it as `30 3 * * *` (each day at 3:30), `0 9 * * MON` or `every 6h`."
_ZONE_HINT: Final = "Write it as Europe/Berlin, America/New_York or UTC."
_ANY_DAY: Final = datetime(2024, 1, 1, tzinfo=UTC)  # within the four years after it, every date that exists comes
_LOCAL_ZONE: Final = Path("/etc/localtime")


@dataclass(frozen=True, slots=True)
class Schedule:
    """A cron expression, or the time between two runs."""

    cron: str = ""
    every: timedelta = timedelta(0)

    def next_after(self, moment: datetime, zone: tzinfo) -> datetime:
        """The first time after that moment at which it is due, in UTC."""
        if not self.cron:
            return moment.astimezone(UTC) + self.every
        from cronsim import CronSim  # reading a note needs no schedule

        return next(CronSim(self.cron, moment.astimezone(zone))).astimezone(UTC)


def parse_schedule(text: str) -> Schedule:
    """The schedule that a text says. Raises ValueError with what is wrong and what would be valid."""
    plain = " ".join(text.split())
    if interval := _INTERVAL.fullmatch(plain):
        every = timedelta(**{_UNITS[interval[2].lower()]: int(interval[1])})
        if every < timedelta(minutes=1):
            raise ValueError(f"{text!r}: an interval must be at least 1m", _HINT)
        return Schedule(every=every)
    cron = _NAMED.get(plain.lower(), plain)
    if len(cron.split(" ")) != _FIELDS:
        raise ValueError(f"{text!r} is not a schedule", _HINT)
    _check_cron(cron, text)
    return Schedule(cron=cron)


def schedule_words(text: str) -> str:
    """The schedule for people, such as `every day at 03:15`; a cron expression without simple words as it is."""
    plain = " ".join(text.split())
    if interval := _INTERVAL.fullmatch(plain):
        unit = _UNITS[interval[2].lower()].removesuffix("s")
        return f"every {unit}" if int(interval[1]) == 1 else f"every {int(interval[1])} {unit}s"
    fields = _NAMED.get(plain.lower(), plain).split(" ")
    if len(fields) != _FIELDS or not fields[0].isdigit() or fields[3] != "*":
        return plain
    minute, hour, day, _, weekday = fields
    if (hour, day, weekday) == ("*", "*", "*"):
        return f"every hour at minute {int(minute)}"
    days = _WEEKDAYS.get(weekday.upper(), "")
    if not hour.isdigit() or not days or (day != "*" and (not day.isdigit() or weekday != "*")):
        return plain
    clock = f"{int(hour):02}:{int(minute):02}"
    return f"every {days} at {clock}" if day == "*" else f"on day {int(day)} of every month at {clock}"


def _check_cron(cron: str, text: str) -> None:
    """Raises ValueError unless the expression is valid, and some day fits it."""
    from cronsim import CronSim, CronSimError

    try:
        next(CronSim(cron, _ANY_DAY))
    except CronSimError as error:
        raise ValueError(f"{text!r} is not a schedule: {str(error).lower()}", _HINT) from error
    except StopIteration as error:
        raise ValueError(f"{text!r} never comes", _HINT) from error


def named_zone(name: str) -> ZoneInfo:
    """The zone of that IANA name. Raises ValueError if this machine knows none."""
    try:
        return ZoneInfo(name)
    except (LookupError, ValueError, OSError) as error:  # unknown, not a relative path, a folder such as `Europe`
        raise ValueError(f"{name!r} is not a time zone", _ZONE_HINT) from error


def machine_zone() -> tzinfo:
    """The zone of this machine, with its changes in spring and autumn; its offset of today if it has no name."""
    try:
        if name := os.environ.get("TZ", "").lstrip(":"):
            return ZoneInfo(name)
        with _LOCAL_ZONE.open("rb") as file:
            return ZoneInfo.from_file(file, key=_zone_name())
    except (LookupError, ValueError, OSError):
        return datetime.now().astimezone().tzinfo or UTC


def _zone_name() -> str | None:
    """The name of the machine's zone, for people; None if its file has no name."""
    _, found, name = str(_LOCAL_ZONE.resolve()).partition("/zoneinfo/")
    return name if found else None
