"""Laws of calendars: a window shows a part of the whole, and an event that ended is given once."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commonplace.flows.calendars import ended_events
from commonplace.history.inmemory.history import InMemoryHistory
from commonplace.model.calendar import CalendarState, Event
from commonplace.sources.calendars.events import expand
from tests.calendar_servers import calendar_text

YEAR = (datetime(2026, 1, 1, tzinfo=UTC), datetime(2027, 1, 1, tzinfo=UTC))
ZONES = ("Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "Pacific/Apia", "UTC")
RULES = (
    "FREQ=DAILY",
    "FREQ=DAILY;INTERVAL=3;COUNT=40",
    "FREQ=WEEKLY;BYDAY=MO,WE,FR",
    "FREQ=WEEKLY;INTERVAL=2;UNTIL=20260901T000000Z",
    "FREQ=MONTHLY;BYDAY=-1FR",
    "FREQ=MONTHLY;BYMONTHDAY=31",
    "FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU",
)
NOW = datetime(2026, 3, 1, 9, tzinfo=UTC)


@st.composite
def series(draw: st.DrawFn) -> str:
    """A recurring event at any time in any zone, with an exclusion, an extra day and a moved instance."""
    zone, rule = draw(st.sampled_from(ZONES)), draw(st.sampled_from(RULES))
    start = datetime(2025, 12, 1) + timedelta(minutes=30 * draw(st.integers(0, 48 * 60)))
    place = draw(st.sampled_from([f";TZID={zone}:{{:%Y%m%dT%H%M%S}}", ":{:%Y%m%dT%H%M%S}", ";VALUE=DATE:{:%Y%m%d}"]))
    if "DATE:" in place or "TZID" not in place:
        rule = rule.replace("T000000Z", "" if "DATE:" in place else "T000000")
    length = "P1D" if "DATE:" in place else f"PT{draw(st.integers(0, 2000))}M"
    other = start + timedelta(days=draw(st.integers(0, 60)))
    return calendar_text(
        "\n".join(
            [
                "BEGIN:VEVENT",
                "UID:s",
                f"DTSTART{place.format(start)}",
                f"DURATION:{length}",
                f"RRULE:{rule}",
                f"EXDATE{place.format(other)}",
                f"RDATE{place.format(other + timedelta(days=5))}",
                "END:VEVENT",
            ]
        ),
        "\n".join(
            [
                "BEGIN:VEVENT",
                "UID:s",
                f"RECURRENCE-ID{place.format(start + timedelta(days=14))}",
                f"DTSTART{place.format(start + timedelta(days=draw(st.integers(-20, 200))))}",
                f"DURATION:{length}",
                "END:VEVENT",
            ]
        ),
    )


@settings(max_examples=60, deadline=None)
@given(series(), st.integers(0, 8000), st.integers(1, 2000), st.sampled_from(ZONES))
def test_a_window_shows_the_same_instances_as_the_whole_year(text: str, first: int, hours: int, zone: str) -> None:
    """Any window of any length, in any zone of the person: what overlaps it, and nothing else."""
    start = YEAR[0] + timedelta(hours=first)
    window = (start, min(start + timedelta(hours=hours), YEAR[1]))
    place = ZoneInfo(zone)
    whole = expand([text], calendar="c", window=YEAR, zone=place, most=10_000)
    part = expand([text], calendar="c", window=window, zone=place, most=10_000)

    assert part.problems == whole.problems == ()
    assert part.events == tuple(
        each
        for each in whole.events
        if each.start < window[1] and (each.end > window[0] or each.start == each.end == window[0])
    )


@pytest.mark.requirement("D-110")
@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 600), st.integers(0, 120)), max_size=12),
    st.lists(st.tuples(st.integers(1, 200), st.booleans(), st.booleans()), min_size=1, max_size=14),
    st.integers(0, 30),
)
def test_every_event_that_ends_is_given_exactly_once(
    ends: list[tuple[int, int]], wakes: list[tuple[int, bool, bool]], lookback: int
) -> None:
    """Whatever the order of sleep, readings that fail, and late news: none is missed, none is given twice.

    An event may be entered up to the look-back after its end.
    """
    history = InMemoryHistory()
    events = {}
    for number, (end, late) in enumerate(ends):
        at = NOW + timedelta(minutes=end)
        events[f"e{number}"] = (at, at + timedelta(minutes=min(late, lookback) if late % 2 else -late))
    given_ids: Counter[str] = Counter()
    cursor: dict[str, Any] = {}
    now, read = NOW, NOW
    _mirror(history, events, NOW)
    for minutes, is_read, asks in [(0, True, True), *wakes, (700, True, True)]:
        now += timedelta(minutes=minutes)
        if is_read:
            _mirror(history, events, now)
            read = now
        if asks:
            ended = ended_events(history, now=now, lookback=timedelta(minutes=lookback), cursor=cursor)
            given_ids.update(each.id for each in ended.events)
            cursor = dict(ended.cursor)
            assert [*ended.events] == sorted(ended.events, key=lambda each: (each.end, each.id))

    assert read == now
    expected = {id for id, (end, _) in events.items() if end > NOW or end > NOW - timedelta(minutes=lookback)}
    assert given_ids == Counter(expected)


def _mirror(history: InMemoryHistory, events: dict[str, tuple[datetime, datetime]], now: datetime) -> None:
    """The calendar as it is now: what was entered by then."""
    known = [
        Event(id=id, uid=id, calendar="work", title=id, start=end - timedelta(minutes=30), end=end)
        for id, (end, entered) in events.items()
        if entered <= now
    ]
    window = (NOW - timedelta(days=2), NOW + timedelta(days=9))
    history.save_events("work", known, window=window, now=now)
    history.save_calendar_state(CalendarState(calendar="work", read=now))
