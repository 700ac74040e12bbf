"""The verbs on calendars: list, events, sync, forget. Which calendars there are, the settings say."""

from datetime import UTC, timedelta, tzinfo

from commonplace.errors import Refused
from commonplace.flows.calendars import (
    CalendarStatus,
    SyncResult,
    calendar_statuses,
    events_between,
    find_source,
    sync_calendar,
)
from commonplace.flows.stores import Session
from commonplace.model.calendar import Event
from commonplace.model.request import When
from commonplace.questions.time_arguments import end_of, start_of

__all__ = ["CalendarStatus", "Calendars", "SyncResult"]


class Calendars:
    """The calendars of one vault, mirrored. A person and jobs read them; an agent may only look."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def list(self) -> tuple[CalendarStatus, ...]:
        """Every calendar of the settings: where it is read, without any secret, and when it last was."""
        return calendar_statuses(self._session.stores)

    def events(
        self,
        *,
        start: When = None,
        end: When = None,
        calendar: str | None = None,
        with_removed: bool = False,
        zone: tzinfo = UTC,
    ) -> tuple[Event, ...]:
        """The mirrored events of that time, by default those of the next week, ordered by start.

        Times are moments, days such as 2026-03-01 or words such as `today`, read in `zone`; a day given as the end is
        part of the time.
        Raises UsageError for a time that cannot be read, NotFound for an unknown calendar.
        """
        if calendar is not None:
            find_source(calendar, self._session.stores)
        now = self._session.clock()
        first = start_of(start, now=now, zone=zone) or now
        last = end_of(end, now=now, zone=zone) or first + timedelta(days=7)
        return events_between(first, last, self._session, calendar=calendar, with_removed=with_removed)

    def sync(self, name: str | None = None, *, dry_run: bool = False) -> tuple[SyncResult, ...]:
        """Read that calendar, or all; with `dry_run` the mirror stays as it is. One that fails says so in its result.

        Raises NotFound for an unknown calendar and Refused for an agent.
        """
        self._refuse_agents("read calendars")
        names = [each.config.name for each in self._session.stores.calendars.sources] if name is None else [name]
        return tuple(sync_calendar(each, self._session, is_dry=dry_run) for each in names)

    def forget(self, name: str) -> int:
        """Remove the mirror of that calendar for good; returns how many events. Notes about them stay.

        Raises Refused for an agent.
        """
        self._refuse_agents("remove calendars")
        return self._session.stores.history.forget_calendar(name)

    def _refuse_agents(self, verb: str) -> None:
        if self._session.actor.kind == "agent":
            raise Refused(f"an agent may not {verb}", hint="Ask the person: `commonplace calendar`.")
