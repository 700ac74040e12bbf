"""The mirror of calendars in dictionaries, lost with the process."""

from collections.abc import Iterable, Mapping
from datetime import datetime

from commonplace.history.base import utc_second
from commonplace.history.inmemory.jobs import InMemoryJobs
from commonplace.history.mirror import checked_events, checked_state, checked_window, compare, overlaps
from commonplace.model.calendar import CalendarResource, CalendarState, Event, EventChanges


class InMemoryCalendars(InMemoryJobs):
    """Events, texts and states of calendars."""

    def __init__(self) -> None:
        super().__init__()
        self._events: dict[str, dict[str, Event]] = {}  # by calendar and id
        self._calendar_states: dict[str, CalendarState] = {}
        self._resources: dict[str, dict[str, CalendarResource]] = {}  # by calendar and name

    def save_events(
        self, calendar: str, events: Iterable[Event], *, window: tuple[datetime, datetime], now: datetime
    ) -> EventChanges:
        """Make the mirror of that calendar equal to `events` within the window; all or nothing."""
        incoming, window = checked_events(calendar, events), checked_window(*window)
        with self._lock:
            mirrored = self._events.setdefault(calendar, {})
            stored, changes = compare(mirrored, incoming, window=window, now=now)
            mirrored.update({event.id: event for event in stored})
        return changes

    def events(
        self, start: datetime, end: datetime, *, calendar: str | None = None, with_removed: bool = False
    ) -> tuple[Event, ...]:
        """Events that overlap that time, cancelled ones too, ordered by start and id."""
        window = checked_window(start, end)
        found = (
            event
            for event in self._all_events()
            if calendar in (None, event.calendar)
            and (with_removed or event.removed is None)
            and overlaps(event, *window)
        )
        return tuple(sorted(found, key=lambda each: (each.start, each.id, each.calendar)))

    def events_ending(self, after: datetime, until: datetime) -> tuple[Event, ...]:
        """Events that end later than `after` and no later than `until`, ordered by end and id; no removed ones."""
        first, last = utc_second(after), utc_second(until)
        found = (event for event in self._all_events() if event.removed is None and first < event.end <= last)
        return tuple(sorted(found, key=lambda each: (each.end, each.id, each.calendar)))

    def event(self, id: str) -> Event | None:
        """The event with that id, removed or not; of two calendars that have it, one that has not removed it."""
        found = [event for event in self._all_events() if event.id == id]
        return min(found, key=lambda each: (each.removed is not None, each.calendar), default=None)

    def calendar_states(self) -> Mapping[str, CalendarState]:
        """How far each calendar was read, by name; those that were never tried are left out."""
        with self._lock:
            return {name: self._calendar_states[name] for name in sorted(self._calendar_states)}

    def save_calendar_state(
        self, state: CalendarState, *, resources: Iterable[CalendarResource] = (), gone: Iterable[str] = ()
    ) -> None:
        """Store how far a calendar was read, with these resources, and without those of the names `gone`."""
        checked = checked_state(state)
        with self._lock:
            self._calendar_states[state.calendar] = checked
            kept = self._resources.setdefault(state.calendar, {})
            for href in gone:
                kept.pop(href, None)
            kept.update({each.href: each for each in resources})

    def calendar_resources(self, calendar: str) -> Mapping[str, CalendarResource]:
        """The texts that the calendar was read from, by name."""
        with self._lock:
            kept = self._resources.get(calendar, {})
            return {href: kept[href] for href in sorted(kept)}

    def forget_calendar(self, calendar: str) -> int:
        """Remove everything about that calendar for good; returns how many events."""
        with self._lock:
            self._calendar_states.pop(calendar, None)
            self._resources.pop(calendar, None)
            return len(self._events.pop(calendar, {}))

    def _all_events(self) -> list[Event]:
        with self._lock:
            return [event for events in self._events.values() for event in events.values()]
