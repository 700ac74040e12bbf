"""The mirror of calendars in SQL: the tables `calendar_events`, `calendar_states` and `calendar_resources`."""

import json
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import astuple
from datetime import datetime
from typing import Any, Final

from commonplace.history.base import stored_moment
from commonplace.history.mirror import checked_events, checked_state, checked_window, compare
from commonplace.history.sql.jobs import SqlJobs
from commonplace.history.sql.transaction import first_row
from commonplace.model.calendar import Attendee, CalendarResource, CalendarState, Event, EventChanges
from commonplace.model.moment import parse_moment

_COLUMNS: Final = (
    "calendar, id, uid, title, begins, ends, all_day, zone, status, attendees, organizer, location, description, "
    "updated, sequence, removed"
)
_SAVE_EVENT: Final = f"""
INSERT INTO calendar_events ({{tenant}} {_COLUMNS})
VALUES ({{:tenant}} :calendar, :id, :uid, :title, :begins, :ends, :all_day, :zone, :status, :attendees, :organizer,
        :location, :description, :updated, :sequence, :removed)
ON CONFLICT ({{tenant}} calendar, id) DO UPDATE SET
  {", ".join(f"{name} = excluded.{name}" for name in _COLUMNS.split(", ")[2:])}
"""  # noqa: S608
_OF_CALENDAR: Final = f"SELECT {_COLUMNS} FROM calendar_events WHERE {{mine}} AND calendar = :calendar"  # noqa: S608
_EVENTS: Final = f"""
SELECT {_COLUMNS} FROM calendar_events
WHERE {{mine}} AND begins < :end AND (ends > :start OR (begins = :start AND ends = :start))
  AND (CAST(:calendar AS text) IS NULL OR calendar = :calendar) AND (:with_removed = 1 OR removed = '')
ORDER BY begins, id, calendar
"""  # noqa: S608
_ENDING: Final = f"""
SELECT {_COLUMNS} FROM calendar_events WHERE {{mine}} AND ends > :after AND ends <= :until AND removed = ''
ORDER BY ends, id, calendar
"""  # noqa: S608
_EVENT: Final = f"""
SELECT {_COLUMNS} FROM calendar_events WHERE {{mine}} AND id = :id ORDER BY removed <> '', calendar LIMIT 1
"""  # noqa: S608
_STATES: Final = """
SELECT calendar, source, mark, tried, read, until, failures, reason FROM calendar_states
WHERE {mine} ORDER BY calendar
"""
_SAVE_STATE: Final = """
INSERT INTO calendar_states ({tenant} calendar, source, mark, tried, read, until, failures, reason)
VALUES ({:tenant} :calendar, :source, :mark, :tried, :read, :until, :failures, :reason)
ON CONFLICT ({tenant} calendar) DO UPDATE SET source = excluded.source, mark = excluded.mark, tried = excluded.tried,
  read = excluded.read, until = excluded.until, failures = excluded.failures, reason = excluded.reason
"""
_RESOURCES: Final = """
SELECT href, etag, packed FROM calendar_resources WHERE {mine} AND calendar = :calendar ORDER BY href
"""
_SAVE_RESOURCE: Final = """
INSERT INTO calendar_resources ({tenant} calendar, href, etag, packed)
VALUES ({:tenant} :calendar, :href, :etag, :packed)
ON CONFLICT ({tenant} calendar, href) DO UPDATE SET etag = excluded.etag, packed = excluded.packed
"""
_DROP_RESOURCE: Final = "DELETE FROM calendar_resources WHERE {mine} AND calendar = :calendar AND href = :href"
_FORGET_EVENTS: Final = "DELETE FROM calendar_events WHERE {mine} AND calendar = :calendar"
_FORGET_STATE: Final = "DELETE FROM calendar_states WHERE {mine} AND calendar = :calendar"
_FORGET_RESOURCES: Final = "DELETE FROM calendar_resources WHERE {mine} AND calendar = :calendar"


class SqlCalendars(SqlJobs):
    """Events, texts and states of calendars."""

    def save_events(
        self, calendar: str, events: Iterable[Event], *, window: tuple[datetime, datetime], now: datetime
    ) -> EventChanges:
        """Make the mirror of that calendar equal to `events` within the window; all or nothing."""
        incoming, window = checked_events(calendar, events), checked_window(*window)
        with self._database.write_transaction() as transaction:
            rows = transaction.rows(_OF_CALENDAR, {"calendar": calendar})
            mirrored = {event.id: event for event in (_event(*row) for row in rows)}
            stored, changes = compare(mirrored, incoming, window=window, now=now)
            transaction.change_many(_SAVE_EVENT, map(_event_row, stored))
        return changes

    def events(
        self, start: datetime, end: datetime, *, calendar: str | None = None, with_removed: bool = False
    ) -> tuple[Event, ...]:
        """Events that overlap that time, cancelled ones too, ordered by start and id."""
        first, last = map(stored_moment, checked_window(start, end))
        values = {"start": first, "end": last, "calendar": calendar, "with_removed": int(with_removed)}
        with self._database.read_transaction() as transaction:
            rows = transaction.rows(_EVENTS, values)
        return tuple(_event(*row) for row in rows)

    def events_ending(self, after: datetime, until: datetime) -> tuple[Event, ...]:
        """Events that end later than `after` and no later than `until`, ordered by end and id; no removed ones."""
        values = {"after": stored_moment(after), "until": stored_moment(until)}
        with self._database.read_transaction() as transaction:
            rows = transaction.rows(_ENDING, values)
        return tuple(_event(*row) for row in rows)

    def event(self, id: str) -> Event | None:
        """The event with that id, removed or not; of two calendars that have it, one that has not removed it."""
        with self._database.read_transaction() as transaction:
            row = first_row(transaction, _EVENT, {"id": id})
        return _event(*row) if row else None

    def calendar_states(self) -> Mapping[str, CalendarState]:
        """How far each calendar was read, by name; those that were never tried are left out."""
        with self._database.read_transaction() as transaction:
            rows = transaction.rows(_STATES)
        return {row[0]: _state(*row) for row in rows}

    def save_calendar_state(
        self, state: CalendarState, *, resources: Iterable[CalendarResource] = (), gone: Iterable[str] = ()
    ) -> None:
        """Store how far a calendar was read, with these resources, and without those of the names `gone`."""
        row = _state_row(checked_state(state))
        named = {"calendar": state.calendar}
        packed = [named | {"href": each.href, "etag": each.etag, "packed": _packed(each.text)} for each in resources]
        with self._database.write_transaction() as transaction:
            transaction.change(_SAVE_STATE, row)
            transaction.change_many(_DROP_RESOURCE, [named | {"href": href} for href in gone])
            transaction.change_many(_SAVE_RESOURCE, packed)

    def calendar_resources(self, calendar: str) -> Mapping[str, CalendarResource]:
        """The texts that the calendar was read from, by name."""
        with self._database.read_transaction() as transaction:
            rows = transaction.rows(_RESOURCES, {"calendar": calendar})
        return {href: CalendarResource(href, etag, _unpacked(packed)) for href, etag, packed in rows}

    def forget_calendar(self, calendar: str) -> int:
        """Remove everything about that calendar for good; returns how many events."""
        with self._database.write_transaction() as transaction:
            transaction.change(_FORGET_STATE, {"calendar": calendar})
            transaction.change(_FORGET_RESOURCES, {"calendar": calendar})
            return transaction.change(_FORGET_EVENTS, {"calendar": calendar})


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
    people = [astuple(each) for each in event.attendees]
    organizer = astuple(event.organizer) if event.organizer else None
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


def _state_row(state: CalendarState) -> dict[str, Any]:
    return {
        **{name: getattr(state, name) for name in ("calendar", "source", "mark", "failures", "reason")},
        "tried": _text(state.tried),
        "read": _text(state.read),
        "until": _text(state.window),
    }


def _moment(text: str) -> datetime | None:
    return parse_moment(text) if text else None


def _text(at: datetime | None) -> str:
    return stored_moment(at) if at else ""


def _packed(text: str) -> bytes:
    return zlib.compress(text.encode(errors="replace"))


def _unpacked(packed: bytes) -> str:
    return zlib.decompress(packed).decode()
