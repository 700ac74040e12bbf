"""What both histories do alike with the events of a calendar: check them, and compare them with the mirrored ones."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from commonplace.errors import UsageError
from commonplace.history.base import utc_second
from commonplace.history.normalize import valid_utf8
from commonplace.model.calendar import Attendee, CalendarState, Event, EventChanges

_TEXTS = ("id", "uid", "title", "zone", "location", "description")


def checked_events(calendar: str, events: Iterable[Event]) -> dict[str, Event]:
    """The events by id, with times in UTC to the second. Raises UsageError as `save_events` does."""
    checked: dict[str, Event] = {}
    for event in map(_checked, events):
        if event.calendar != calendar:
            raise UsageError(f"the event {event.id} is of the calendar {event.calendar}, not {calendar}")
        if event.id in checked:
            raise UsageError(f"the event {event.id} is there twice")
        checked[event.id] = event
    return checked


def checked_window(start: datetime, end: datetime) -> tuple[datetime, datetime]:
    """Both moments in UTC. Raises UsageError if one has no zone or the end is before the start."""
    window = utc_second(start), utc_second(end)
    if window[1] < window[0]:
        raise UsageError(f"the end {end.isoformat()} is before the start {start.isoformat()}")
    return window


def overlaps(event: Event, start: datetime, end: datetime) -> bool:
    """True if a part of the event is within that time; one without a length counts at its start."""
    return event.start < end and (event.end > start or event.start == event.end == start)


def compare(
    mirrored: Mapping[str, Event], incoming: Mapping[str, Event], *, window: tuple[datetime, datetime], now: datetime
) -> tuple[tuple[Event, ...], EventChanges]:
    """The events to store, and what changed."""
    added = [event for id, event in incoming.items() if id not in mirrored]
    stored = [event for id, event in incoming.items() if id in mirrored and mirrored[id] != event]
    changed = [event for event in stored if replace(event, updated=mirrored[event.id].updated) != mirrored[event.id]]
    gone = [
        replace(event, removed=utc_second(now))
        for id, event in mirrored.items()
        if id not in incoming and event.removed is None and overlaps(event, *window)
    ]
    return (*added, *stored, *gone), EventChanges(_ids(added), _ids(changed), _ids(gone))


def checked_state(state: CalendarState) -> CalendarState:
    """The state with times in UTC to the second. Raises UsageError for one without a zone."""
    moments = {name: getattr(state, name) for name in ("tried", "read", "window")}
    times: dict[str, Any] = {name: utc_second(at) if at else None for name, at in moments.items()}
    return replace(state, **times, mark=valid_utf8(state.mark), reason=valid_utf8(state.reason))


def _checked(event: Event) -> Event:
    start, end = utc_second(event.start), utc_second(event.end)
    if end < start:
        raise UsageError(f"the event {event.id} ends before it begins")
    values: dict[str, Any] = {name: valid_utf8(getattr(event, name)) for name in _TEXTS}
    values["updated"] = utc_second(event.updated) if event.updated else None
    values["attendees"] = tuple(_attendee(each) for each in event.attendees)
    values["organizer"] = _attendee(event.organizer) if event.organizer else None
    return replace(event, start=start, end=end, removed=None, **values)


def _attendee(attendee: Attendee) -> Attendee:
    return replace(attendee, name=valid_utf8(attendee.name), email=valid_utf8(attendee.email))


def _ids(events: Iterable[Event]) -> tuple[str, ...]:
    return tuple(event.id for event in sorted(events, key=lambda each: (each.start, each.id)))
