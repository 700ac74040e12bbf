"""The mirror of calendars in SQL: the tables `calendar_events`, `calendar_states` and `calendar_resources`."""

import json
import zlib
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Final

from commonplace.history.base import stored_moment
from commonplace.history.mirror import checked_events, checked_state, checked_window, compare
from commonplace.history.sqlite.jobs import SqliteJobs
from commonplace.model.calendar import Attendee, CalendarResource, CalendarState, Event, EventChanges
from commonplace.model.moment import parse_moment

_COLUMNS: Final = (
    "calendar, id, uid, title, begins, ends, all_day, zone, status, attendees, organizer, location, description, "
    "updated, sequence, removed"
)
_SAVE_EVENT: Final = f"""
INSERT OR REPLACE INTO calendar_events ({_COLUMNS})
VALUES (:calendar, :id, :uid, :title, :begins, :ends, :all_day, :zone, :status, :attendees, :organizer, :location,
        :description, :updated, :sequence, :removed)
"""  # noqa: S608
_OF_CALENDAR: Final = f"SELECT {_COLUMNS} FROM calendar_events WHERE calendar = ?"  # noqa: S608
_EVENTS: Final = f"""
SELECT {_COLUMNS} FROM calendar_events
WHERE begins < :end AND (ends > :start OR (begins = :start AND ends = :start))
  AND (:calendar IS NULL OR calendar = :calendar) AND (:with_removed OR removed = '')
ORDER BY begins, id, calendar
"""  # noqa: S608
_ENDING: Final = f"""
SELECT {_COLUMNS} FROM calendar_events WHERE ends > ? AND ends <= ? AND removed = '' ORDER BY ends, id, calendar
"""  # noqa: S608
_EVENT: Final = f"""
SELECT {_COLUMNS} FROM calendar_events WHERE id = ? ORDER BY removed <> '', calendar LIMIT 1
"""  # noqa: S608
_STATES: Final = """
SELECT calendar, source, mark, tried, read, until, failures, reason FROM calendar_states ORDER BY calendar
"""
_SAVE_STATE: Final = """
INSERT OR REPLACE INTO calendar_states (calendar, source, mark, tried, read, until, failures, reason)
VALUES (?, ?, ?, ?, ?, ?, ?, ?)
"""
_RESOURCES: Final = "SELECT href, etag, packed FROM calendar_resources WHERE calendar = ? ORDER BY href"
_SAVE_RESOURCE: Final = "INSERT OR REPLACE INTO calendar_resources (calendar, href, etag, packed) VALUES (?, ?, ?, ?)"
_DROP_RESOURCE: Final = "DELETE FROM calendar_resources WHERE calendar = ? AND href = ?"
_FORGET_EVENTS: Final = "DELETE FROM calendar_events WHERE calendar = ?"
_FORGET_STATE: Final = "DELETE FROM calendar_states WHERE calendar = ?"
_FORGET_RESOURCES: Final = "DELETE FROM calendar_resources WHERE calendar = ?"


class SqliteCalendars(SqliteJobs):
    """Events, texts and states of calendars."""

    def save_events(
        self, calendar: str, events: Iterable[Event], *, window: tuple[datetime, datetime], now: datetime
    ) -> EventChanges:
        """Make the mirror of that calendar equal to `events` within the window; all or nothing."""
        incoming, window = checked_events(calendar, events), checked_window(*window)
        with self._database.write_transaction() as connection:
            rows: list[Any] = connection.execute(_OF_CALENDAR, (calendar,)).fetchall()
            mirrored = {event.id: event for event in (_event(*row) for row in rows)}
            stored, changes = compare(mirrored, incoming, window=window, now=now)
            connection.executemany(_SAVE_EVENT, map(_event_row, stored))
        return changes

    def events(
        self, start: datetime, end: datetime, *, calendar: str | None = None, with_removed: bool = False
    ) -> tuple[Event, ...]:
        """Events that overlap that time, cancelled ones too, ordered by start and id."""
        first, last = map(stored_moment, checked_window(start, end))
        values = {"start": first, "end": last, "calendar": calendar, "with_removed": int(with_removed)}
        with self._database.read_transaction() as connection:
            rows: list[Any] = connection.execute(_EVENTS, values).fetchall()
        return tuple(_event(*row) for row in rows)

    def events_ending(self, after: datetime, until: datetime) -> tuple[Event, ...]:
        """Events that end later than `after` and no later than `until`, ordered by end and id; no removed ones."""
        with self._database.read_transaction() as connection:
            rows: list[Any] = connection.execute(_ENDING, (stored_moment(after), stored_moment(until))).fetchall()
        return tuple(_event(*row) for row in rows)

    def event(self, id: str) -> Event | None:
        """The event with that id, removed or not; of two calendars that have it, one that has not removed it."""
        with self._database.read_transaction() as connection:
            row: Any = connection.execute(_EVENT, (id,)).fetchone()
        return _event(*row) if row else None

    def calendar_states(self) -> Mapping[str, CalendarState]:
        """How far each calendar was read, by name; those that were never tried are left out."""
        with self._database.read_transaction() as connection:
            rows: list[Any] = connection.execute(_STATES).fetchall()
        return {row[0]: _state(*row) for row in rows}

    def save_calendar_state(
        self, state: CalendarState, *, resources: Iterable[CalendarResource] = (), gone: Iterable[str] = ()
    ) -> None:
        """Store how far a calendar was read, with these resources, and without those of the names `gone`."""
        row = _state_row(checked_state(state))
        packed = [(state.calendar, each.href, each.etag, _packed(each.text)) for each in resources]
        with self._database.write_transaction() as connection:
            connection.execute(_SAVE_STATE, row)
            connection.executemany(_DROP_RESOURCE, [(state.calendar, href) for href in gone])
            connection.executemany(_SAVE_RESOURCE, packed)

    def calendar_resources(self, calendar: str) -> Mapping[str, CalendarResource]:
        """The texts that the calendar was read from, by name."""
        with self._database.read_transaction() as connection:
            rows: list[Any] = connection.execute(_RESOURCES, (calendar,)).fetchall()
        return {href: CalendarResource(href, etag, _unpacked(packed)) for href, etag, packed in rows}

    def forget_calendar(self, calendar: str) -> int:
        """Remove everything about that calendar for good; returns how many events."""
        with self._database.write_transaction() as connection:
            connection.execute(_FORGET_STATE, (calendar,))
            connection.execute(_FORGET_RESOURCES, (calendar,))
            connection.execute(_FORGET_EVENTS, (calendar,))
            return connection.changes()


def _event(*row: Any) -> Event:
    """The event in a row of `_EVENTS`."""
    (calendar, id, uid, title, begins, ends, all_day, zone, status, attendees, organizer, location, description,
     updated, sequence, removed) = row  # fmt: skip
    return Event(
        id=id,
        uid=uid,
        calendar=calendar,
        title=title,
        start=parse_moment(begins),
        end=parse_moment(ends),
        all_day=bool(all_day),
        zone=zone,
        status=status,
        attendees=tuple(Attendee(*each) for each in json.loads(attendees)),
        organizer=Attendee(*json.loads(organizer)) if organizer else None,
        location=location,
        description=description,
        updated=_moment(updated),
        sequence=sequence,
        removed=_moment(removed),
    )


def _event_row(event: Event) -> dict[str, Any]:
    names = ("calendar", "id", "uid", "title", "zone", "status", "location", "description", "sequence")
    people = [[each.name, each.email] for each in event.attendees]
    organizer = [event.organizer.name, event.organizer.email] if event.organizer else None
    return {
        **{name: getattr(event, name) for name in names},
        "begins": stored_moment(event.start),
        "ends": stored_moment(event.end),
        "all_day": int(event.all_day),
        "attendees": json.dumps(people, ensure_ascii=False),
        "organizer": json.dumps(organizer, ensure_ascii=False) if organizer else "",
        "updated": _text(event.updated),
        "removed": _text(event.removed),
    }


def _state(*row: Any) -> CalendarState:
    """The state in a row of `_STATES`."""
    calendar, source, mark, tried, read, until, failures, reason = row
    return CalendarState(
        calendar=calendar,
        source=source,
        mark=mark,
        tried=_moment(tried),
        read=_moment(read),
        window=_moment(until),
        failures=failures,
        reason=reason,
    )


def _state_row(state: CalendarState) -> tuple[Any, ...]:
    moments = map(_text, (state.tried, state.read, state.window))
    return (state.calendar, state.source, state.mark, *moments, state.failures, state.reason)


def _moment(text: str) -> datetime | None:
    return parse_moment(text) if text else None


def _text(at: datetime | None) -> str:
    return stored_moment(at) if at else ""


def _packed(text: str) -> bytes:
    return zlib.compress(text.encode(errors="replace"))


def _unpacked(packed: bytes) -> str:
    return zlib.decompress(packed).decode()
