"""The seam of calendars: a reader fetches texts, and knows nothing of events.

Terms:
- resource  one text of a calendar: the whole calendar, one of its files, or one event on a CalDAV server.
- mark      what the source calls the version that was read; given back to it, so that an unchanged calendar costs one
            short request. Only the reader knows what is in it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, tzinfo
from typing import Protocol

from commonplace.errors import ProviderFailed
from commonplace.model.calendar import CalendarResource
from commonplace.sources.calendars.config import CalendarConfig
from commonplace.sources.calendars.options import CalendarOptions


@dataclass(frozen=True, slots=True)
class Reading:
    """What is new in a calendar: resources that are new or changed, names of those that are gone, and the mark.

    Without either, the calendar is unchanged.
    """

    mark: str
    changed: tuple[CalendarResource, ...] = ()
    gone: tuple[str, ...] = ()

    @property
    def is_unchanged(self) -> bool:
        """True if the texts are the known ones."""
        return not (self.changed or self.gone)


class CalendarReader(Protocol):
    """Reads one calendar."""

    def read(self, mark: str, known: Mapping[str, CalendarResource]) -> Reading:
        """What changed since the reading with that mark, whose resources are `known`; all of it for an empty mark.

        Raises ProviderFailed if the source does not answer or its answer cannot be used, UsageError and Refused if the
        settings name something that cannot or may not be read. No message has the address or the password.
        """


@dataclass(frozen=True, slots=True)
class CalendarSource:
    """A calendar of the settings. `open` gives its reader. Raises UsageError if its secret cannot be read."""

    config: CalendarConfig
    open: Callable[[], CalendarReader]


@dataclass(frozen=True, slots=True)
class CalendarSources:
    """The calendars of a vault, their limits, and the person's zone."""

    sources: tuple[CalendarSource, ...] = ()
    options: CalendarOptions = field(default_factory=CalendarOptions)
    zone: tzinfo = UTC


def check_text(text: str, label: str) -> None:
    """Raises ProviderFailed if the text is not a whole calendar: a sign-in page must not look like an empty one."""
    hint = "Check the path or the address: it must lead to the .ics file itself, not to a page about it."
    if "BEGIN:VCALENDAR" not in text[:4096].upper() or "END:VCALENDAR" not in text[-4096:].upper():
        raise ProviderFailed(f"{label} is not a whole calendar in the iCalendar format", reason="malformed", hint=hint)
