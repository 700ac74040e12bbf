"""What the frontmatter of a note says of it: its times, its kind and status, its topics."""

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, date, datetime
from typing import Any, Final

from commonplace.model import Note
from commonplace.recalling.times import in_utc

UPDATED: Final = ("updated", "modified", "date")
CREATED: Final = ("created", "date")
_OF: Final = ("date", "created")
_DAY: Final = re.compile(r"(?<!\d)\d{4}-\d{2}-\d{2}(?!\d)", re.ASCII)
_LONGEST_METADATA: Final = 4000  # characters of frontmatter that a hit carries


def time_of(note: Note) -> str:
    """The time of which the note tells: its date, or the day in its file's name; empty when it has neither.

    The time of the file says only when something was written down.
    """
    named = (found.group() for found in _DAY.finditer(note.path.rpartition("/")[2]))
    return _moment(note.frontmatter, _OF) or next((at for day in named if (at := _as_text(_time(day)))), "")


def moment_of(note: Note, keys: Sequence[str]) -> str:
    """The first of the keys that holds a time, in UTC, where one without a zone is; else the time of the file."""
    return _moment(note.frontmatter, keys) or in_utc(_calendar_time(note.mtime))


def bound_of(note: Note, key: str) -> str:
    """The moment that the key holds, a day being its midnight in UTC; empty where it holds none."""
    return _moment(note.frontmatter, (key,))


def topics_of(note: Note) -> tuple[str, ...]:
    """What the note is about, by its own word: the key `topics` or `topic`, and the topics of its structured lines."""
    listed = note.frontmatter.get("topics", note.frontmatter.get("topic"))
    own = listed.split(",") if isinstance(listed, str) else listed if isinstance(listed, list | tuple) else []
    lines = [each.topics for each in note.observations] + [each.topics for each in note.relations]
    stated = [topic for topics in lines for topic in topics]
    names = (str(topic).strip().lstrip("#") for topic in (*own, *stated) if topic)
    return tuple(dict.fromkeys(name for name in names if name))


def word_of(value: object) -> str:
    """A value that is a word, without case; else nothing."""
    return value.strip().casefold() if isinstance(value, str) else ""


def kept_of(marks: Mapping[str, Any]) -> Mapping[str, Any]:
    """The frontmatter as JSON can say it, key by key while there is room."""
    kept: dict[str, Any] = {}
    room = _LONGEST_METADATA
    for key, value in marks.items():
        text = json.dumps(value, default=str, ensure_ascii=False)
        room -= len(text) + len(str(key))
        if room < 0:
            break
        kept[str(key)] = json.loads(text)
    return kept


def _calendar_time(mtime: float) -> datetime:
    """The moment of a file's time; a time that no calendar has is the first or the last moment that one has."""
    try:
        return datetime.fromtimestamp(mtime, UTC)
    except (ValueError, OverflowError, OSError):
        return (datetime.max if mtime > 0 else datetime.min).replace(tzinfo=UTC)


def _moment(marks: Mapping[str, Any], keys: Sequence[str]) -> str:
    return next((at for key in keys if (at := _as_text(_time(marks.get(key))))), "")


def _as_text(at: datetime | None) -> str:
    with suppress(OverflowError):  # a time of the year 1 or 9999 may have no year in UTC
        return in_utc(at) if at else ""
    return ""


def _time(value: object) -> datetime | None:
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value.strip())
        except ValueError:
            return None
    if isinstance(value, datetime):
        return value if value.tzinfo else value.replace(tzinfo=UTC)
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day, tzinfo=UTC)
    return None
