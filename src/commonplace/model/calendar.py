"""Events of a person's calendars, and how far each calendar was read.

An event is one meeting at one time: each instance of a recurring one is an event of its own. Its words came from
whoever sent the invitation: they are untrusted.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

EventStatus = Literal["confirmed", "tentative", "cancelled"]


@dataclass(frozen=True, slots=True)
class Attendee:
    """A person who was invited: the name that the calendar has, else the part of the address before the @.

    `has_declined` says that they do not come, `is_owner` that they are the person whose calendar it is.
    """

    name: str
    email: str = ""
    has_declined: bool = False
    is_owner: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One event of a calendar.

    `id` is the `uid`, and for an instance of a recurring event `uid/RECURRENCE-ID`: it stays when the instance is
    moved. `start` and `end` are in UTC; `end` is the first moment after the event. An event that is `all_day` begins
    and ends at a midnight of `zone`, the IANA name of the zone in which its times were meant. `updated` is when the
    calendar last changed it, None if it does not say. `removed` is when the calendar no longer had it, None while it
    does.
    """

    id: str
    uid: str
    calendar: str
    title: str
    start: datetime
    end: datetime
    all_day: bool = False
    zone: str = "UTC"
    status: EventStatus = "confirmed"
    attendees: tuple[Attendee, ...] = ()
    organizer: Attendee | None = None
    location: str = ""
    description: str = ""
    updated: datetime | None = None
    sequence: int = 0
    removed: datetime | None = None

    @property
    def people(self) -> tuple[Attendee, ...]:
        """The attendees, and the organizer if the list leaves them out."""
        emails = {each.email.casefold() for each in self.attendees}
        is_left_out = self.organizer is not None and self.organizer.email.casefold() not in emails
        return (*self.attendees, self.organizer) if self.organizer and is_left_out else self.attendees

    @property
    def takes_place(self) -> bool:
        """True unless it was cancelled, removed from its calendar, or declined by the person whose calendar it is."""
        is_declined = any(each.is_owner and each.has_declined for each in self.attendees)
        return self.status != "cancelled" and self.removed is None and not is_declined


@dataclass(frozen=True, slots=True)
class EventChanges:
    """Ids of events that one reading of a calendar added, changed or removed, each in the order of their starts.

    A cancelled event is changed. One that was removed and is there again is changed.
    """

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CalendarResource:
    """The text of one file of a calendar as it was last read, with the version that its server gave it.

    `href` is its name at the source: empty for an address that is the whole calendar.
    """

    href: str
    etag: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CalendarState:
    """How far a calendar was read.

    `mark` is what its server calls the version that was read: an ETag, a time or a sync token. `source` stands for the
    address that it was read from, as a hash. `tried` is when it was last read or tried, `read` when it was last read in
    full, `window` until when its events are mirrored. `failures` is how many tries failed since, `reason` says why.
    """

    calendar: str
    source: str = ""
    mark: str = ""
    tried: datetime | None = None
    read: datetime | None = None
    window: datetime | None = None
    failures: int = 0
    reason: str = ""
