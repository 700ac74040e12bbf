"""Moments as notes write them: 2026-03-01T09:12:44Z, or a day, which is its midnight in UTC."""

from contextlib import suppress
from datetime import UTC, datetime
from typing import Final
from uuid import UUID

_MIDNIGHT: Final = "T00:00:00Z"
_TIMED: Final = 7  # the version of ids that begin with their time


def moment_of(value: object) -> str:
    """The moment that a note's value says; a time without a zone is in UTC. Empty when it says none."""
    if not isinstance(value, str):
        return ""
    with suppress(ValueError, OverflowError):  # a time of the year 1 or 9999 may have no year in UTC
        at = datetime.fromisoformat(value.strip())
        return _in_utc(at if at.tzinfo else at.replace(tzinfo=UTC))
    return ""


def id_moment(id: str) -> str:
    """The moment with which an id of version 7 begins; empty for other ids."""
    known = UUID(id)
    if known.version != _TIMED:
        return ""
    with suppress(ValueError, OverflowError, OSError):  # the digits may be any, and no calendar has all of them
        return _in_utc(datetime.fromtimestamp((known.int >> 80) // 1000, UTC))
    return ""


def shortest(moment: str) -> str:
    """The moment as people would write it: only the day where it is a midnight."""
    return moment.removesuffix(_MIDNIGHT)


def day_of(moment: str) -> str:
    """The day of a moment, in UTC."""
    return moment[:10]


def _in_utc(at: datetime) -> str:
    return at.astimezone(UTC).replace(microsecond=0, tzinfo=None).isoformat() + "Z"
