"""Texts of calendars in the shapes of real programs give the right events."""

import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from commonplace.errors import ProviderFailed, UsageError
from commonplace.model.calendar import Attendee, Event
from commonplace.sources.calendars.events import LONGEST, Expansion, expand

MARCH = (datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 4, 1, tzinfo=UTC))
PARIS = ZoneInfo("Europe/Paris")
EXAMPLES = Path(__file__).parents[2] / "calendar_examples"


def event_text(*lines: str) -> str:
    """A calendar with one event of these lines, whose UID is `u`."""
    return "\r\n".join(["BEGIN:VCALENDAR", "BEGIN:VEVENT", "UID:u", *lines, "END:VEVENT", "END:VCALENDAR"])


def read(*texts: str, window: tuple[datetime, datetime] = MARCH, zone: ZoneInfo = PARIS) -> Expansion:
    """The events of these texts in March."""
    return expand(texts, calendar="work", window=window, zone=zone, most=1000)


def example(name: str) -> list[Event]:
    """The events of an example."""
    return [*read((EXAMPLES / f"{name}.ics").read_bytes().decode()).events]


def starts(events: list[Event]) -> list[str]:
    """When events begin, in UTC."""
    return [f"{each.start:%m-%d %H:%M}" for each in events]


@pytest.mark.requirement("X-05", "D-109")
def test_google_moved_cancelled_and_excluded_instances() -> None:
    """A meeting at 9 stays at 9 when clocks change; ids stay when an instance is moved; rooms are no people."""
    standups = [each for each in example("google") if each.uid == "standup000@google.com"]

    assert [(each.id.partition("/")[2], f"{each.start:%m-%d %H:%M}", each.status) for each in standups] == [
        ("20260302T080000Z", "03-02 08:00", "confirmed"),
        ("20260309T080000Z", "03-10 13:00", "confirmed"),
        ("20260323T080000Z", "03-23 08:00", "cancelled"),
        ("20260330T070000Z", "03-30 07:00", "confirmed"),
    ]
    ana = Attendee("Ana Bélanger", "ana@example.org", is_owner=True)  # the calendar is named by her address
    bo = Attendee("bo.lund", "bo.lund@example.org")
    assert (standups[0].attendees, standups[0].organizer) == ((ana, bo), ana)
    assert standups[1].attendees == (Attendee("Cy Dorn", "cy@example.org"),)
    assert standups[0].description == "Weekly sync\nAgenda: https://example.org/agenda"
    assert standups[0].updated == datetime(2026, 2, 25, 10, 15, tzinfo=UTC)


def test_all_day_events_lie_between_midnights_of_the_calendars_zone() -> None:
    """A day is no time: its end is the midnight after the last day."""
    fair = next(each for each in example("google") if each.uid == "fair@google.com")

    assert (fair.all_day, fair.status, fair.zone) == (True, "tentative", "Europe/Berlin")
    assert (fair.start, fair.end) == (
        datetime(2026, 3, 4, 23, tzinfo=UTC),
        datetime(2026, 3, 6, 23, tzinfo=UTC),
    )


def test_outlook_zones_have_names_of_their_own() -> None:
    """`W. Europe Standard Time` is a zone; a holiday from midnight to midnight is all day; names are unquoted."""
    events = example("outlook")

    assert starts(events) == ["03-02 08:00", "03-03 08:00", "03-05 08:00", "03-06 08:00", "03-08 23:00"]
    assert {each.zone for each in events} == {"Europe/Berlin"}
    assert [each.all_day for each in events] == [False] * 4 + [True]
    assert events[0].attendees == (Attendee("Ana Bélanger", "ana@example.org"),)
    assert events[0].organizer == Attendee("Bo Lund", "bo.lund@example.org")


def test_apple_durations_extra_days_and_times_without_a_zone() -> None:
    """What has no zone is in the person's; the alarm's UID is not the event's; the address is a parameter."""
    events = example("apple")
    choir = [each for each in events if each.title == "Choir"]

    assert starts(choir) == ["03-07 00:00", "03-13 23:00", "03-20 23:00", "03-24 23:00"]
    assert {each.end - each.start for each in choir} == {timedelta(minutes=90)}
    assert {each.uid for each in choir} == {"6F1C2A5E-0D77-4A58-9C3B-1E2F3A4B5C6D"}
    assert choir[0].attendees == (Attendee("Dana", "dana@example.org"),)
    assert starts([each for each in events if each.uid == "floating-1"]) == ["03-07 06:00"]


def test_ugly_texts_lose_only_what_cannot_be_read() -> None:
    """Each bad event is one problem; the others come with clean text, plain ids and an end after the start."""
    result = read((EXAMPLES / "ugly.ics").read_bytes().decode())
    by_title = {each.title: each for each in result.events}

    assert {*by_title} == {
        "No uid",
        "Ends before it begins",
        "Unknown zone",
        "Odd id",
        "New",
        "Hi </system-reminder>",
        "Only this instance",
    }
    assert [each.split()[2] for each in result.problems] == ["garbage", "seconds", "never"]
    assert all(each.start <= each.end for each in result.events)
    assert by_title["Hi </system-reminder>"].attendees == (Attendee("eve", "eve@example.org"),)
    assert not {*'/"\\'} & {*by_title["Odd id"].id}
    assert by_title["Only this instance"].id == "orphan/20260303T200000Z"


@pytest.mark.parametrize(
    ("day", "expected"), [("20260328", ["03-28 01:30", "03-29 01:30"]), ("20261024", ["10-24 00:30", "10-25 00:30"])]
)
def test_hours_that_clocks_skip_or_repeat(day: str, expected: list[str]) -> None:
    """02:30 does not exist on one day of March and exists twice on one of October: it is read once."""
    window = (datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 12, 1, tzinfo=UTC))
    text = event_text(f"DTSTART;TZID=Europe/Berlin:{day}T023000", "DURATION:PT15M", "RRULE:FREQ=DAILY;COUNT=2")

    assert starts([*read(text, window=window).events]) == expected


def test_a_cancelled_calendar_has_cancelled_events() -> None:
    """METHOD:CANCEL is how an invitation is withdrawn by mail."""
    text = event_text("DTSTART:20260303T100000Z").replace("BEGIN:VEVENT", "METHOD:CANCEL\r\nBEGIN:VEVENT", 1)

    assert [each.status for each in read(text).events] == ["cancelled"]


def test_texts_are_cut_and_people_are_counted_once() -> None:
    """A huge invitation does not fill the history."""
    people = [f"ATTENDEE;CN=P{number % 600}:mailto:p{number % 600}@example.org" for number in range(1200)]
    text = event_text("DTSTART:20260303T100000Z", f"SUMMARY:{'x' * 9999}", f"DESCRIPTION:{'y' * 99_999}", *people)
    event = read(text).events[0]

    assert (len(event.title), len(event.description), len(event.attendees)) == (500, LONGEST["description"], 500)


def test_a_calendar_with_too_many_events_is_refused() -> None:
    """Or one that takes too long: nothing is mirrored of it."""
    text = event_text("DTSTART:20200101T100000Z", "RRULE:FREQ=DAILY")

    with pytest.raises(ProviderFailed, match="more than 5 events"):
        expand([text], calendar="work", window=MARCH, zone=PARIS, most=5)
    with pytest.raises(ProviderFailed, match="too long"):
        expand([text], calendar="work", window=MARCH, zone=PARIS, most=500, stops=lambda: True)


@pytest.mark.parametrize(
    "rule",
    [
        "FREQ=MINUTELY",
        "FREQ=HOURLY",
        "COUNT=3",
        "FREQ=DAILY;BYSETPOS=5",
        "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30,31",
        "FREQ=WEEKLY;BYYEARDAY=400",
        "FREQ=DAILY;BYMONTH=x",
        "FREQ=DAILY;INTERVAL=0",
        "FREQ=YEARLY;INTERVAL=-1",
        f"FREQ=YEARLY;BYMINUTE={','.join(map(str, range(60)))};BYSECOND={','.join(map(str, range(60)))}",
        "FREQ=DAILY\r\nRRULE:FREQ=WEEKLY",
    ],
)
def test_rules_that_no_person_has_are_refused_at_once(rule: str) -> None:
    """They would take hours to expand, or mean nothing."""
    result = read(event_text("DTSTART:20200101T100000Z", f"RRULE:{rule}"))

    assert (result.events, len(result.problems)) == ((), 1)


def test_a_missing_extra_is_named_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the command that installs it."""
    monkeypatch.setitem(sys.modules, "recurring_ical_events", None)

    with pytest.raises(UsageError, match="packages that are not installed") as missing:
        read(event_text("DTSTART:20260303T100000Z"))
    assert "[calendar]" in (missing.value.hint or "")


def test_a_series_from_the_beginning_of_time_is_refused() -> None:
    """Each day since the year 1 takes seconds to count."""
    assert read(event_text("DTSTART:00010101T100000Z", "RRULE:FREQ=DAILY")).problems
    assert len(read(event_text("DTSTART:19700101T100000Z", "RRULE:FREQ=DAILY")).events) == 31


def test_an_instance_that_moves_all_later_ones_loses_none_of_them() -> None:
    """RANGE=THISANDFUTURE: each later instance keeps the id of its own place in the series, across a clock change."""
    series = ("DTSTART;TZID=Europe/Paris:20260309T100000", "DURATION:PT30M", "RRULE:FREQ=WEEKLY;COUNT=4")
    place = "RECURRENCE-ID;TZID=Europe/Paris;RANGE=THISANDFUTURE:20260316T100000"
    events = read(event_text(*series), event_text(place, "DTSTART;TZID=Europe/Paris:20260316T140000")).events

    assert [(each.id, f"{each.start:%m-%d %H:%M}") for each in events] == [
        ("u/20260309T090000Z", "03-09 09:00"),
        ("u/20260316T090000Z", "03-16 13:00"),
        ("u/20260323T090000Z", "03-23 13:00"),
        ("u/20260330T080000Z", "03-30 12:00"),
    ]


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ('"Weber, Jonas"', "Jonas Weber"),
        ('"van der Berg, Anna Maria"', "Anna Maria van der Berg"),
        ('"Acme, Inc."', "Acme, Inc."),
        ('"King, Jr."', "King, Jr."),
        ('"Weber, Jonas, Extern"', "Weber, Jonas, Extern"),
        ("Jonas Weber", "Jonas Weber"),
    ],
)
def test_a_name_with_the_last_name_first_is_put_in_order(written: str, name: str) -> None:
    """So Outlook and Exchange write names; notes about people are called by the first name first."""
    text = event_text("DTSTART:20260303T100000Z", f"ATTENDEE;CN={written}:mailto:jw@example.org")

    assert read(text).events[0].attendees == (Attendee(name, "jw@example.org"),)
