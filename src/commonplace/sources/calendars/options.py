"""The settings block `calendar`. None of it may be set from inside a vault."""

from dataclasses import dataclass

from commonplace.model import option
from commonplace.sources.calendars.config import parse_calendars


@dataclass(frozen=True, slots=True)
class CalendarOptions:
    """The block `calendar`."""

    calendars: tuple[str, ...] = option(
        (),
        "The calendars that are read, each a line such as `work path=/home/me/work.ics`; `commonplace calendar add` "
        "writes them. Addresses and passwords are in files of their own or in variables, never here.",
    )
    own_addresses: tuple[str, ...] = option(
        (),
        "Your addresses in invitations: you are not listed in notes about your meetings, and one that you declined "
        "gets no note. The user of a CalDAV server and a calendar that is named by an address count too.",
    )
    past_days: int = option(30, "Days back for which events are mirrored.", at_least=1, at_most=3650)
    future_days: int = option(120, "Days ahead for which events are mirrored.", at_least=1, at_most=3650)
    most_events: int = option(
        10_000, "Most events of one calendar in that time; a calendar with more is not read.", at_least=1
    )
    max_mb: float = option(20.0, "Most megabytes of one calendar.", at_least=0.1)
    timeout_seconds: float = option(60.0, "Most seconds for reading one calendar.", at_least=1)
    late_hours: float = option(
        24.0, "Hours without a successful reading after which `commonplace doctor` says so.", at_least=1
    )

    def __post_init__(self) -> None:
        parse_calendars(self.calendars)
