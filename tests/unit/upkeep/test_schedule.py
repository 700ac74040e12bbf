"""Schedules: cron in a zone, intervals, and what is refused."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from commonplace.upkeep.options import JobOptions, UpkeepOptions
from commonplace.upkeep.schedule import named_zone, parse_schedule, schedule_words

BERLIN = ZoneInfo("Europe/Berlin")


def times(schedule: str, start: str, *, zone: ZoneInfo = BERLIN, count: int = 3) -> list[str]:
    """The next times after `start`, in that zone."""
    moment, found = datetime.fromisoformat(start).replace(tzinfo=zone).astimezone(UTC), []
    for _ in range(count):
        moment = parse_schedule(schedule).next_after(moment, zone)
        found.append(f"{moment.astimezone(zone):%Y-%m-%d %H:%M %z}")
    return found


@pytest.mark.requirement("D-120")
@pytest.mark.parametrize(
    ("schedule", "expected"),
    [
        ("30 3 * * *", "2026-03-04 03:30 +0100"),
        ("5 * * * *", "2026-03-03 10:05 +0100"),
        ("0 9 * * MON", "2026-03-09 09:00 +0100"),
        ("0 9 * * 1-5", "2026-03-04 09:00 +0100"),
        ("*/20 * * * *", "2026-03-03 09:40 +0100"),
        ("0 0 29 2 *", "2028-02-29 00:00 +0100"),
        ("@daily", "2026-03-04 00:00 +0100"),
    ],
)
def test_a_cron_expression_is_the_persons_time(schedule: str, expected: str) -> None:
    """Minute, hour, day, month and day of the week, in the person's zone."""
    assert times(schedule, "2026-03-03 09:20", count=1) == [expected]


def test_a_time_that_the_clock_skips_in_spring_comes_right_after_the_change() -> None:
    """On 2026-03-29 the clock in Berlin goes from 2:00 to 3:00."""
    assert times("30 2 * * *", "2026-03-28 03:00", count=2) == ["2026-03-29 03:00 +0200", "2026-03-30 02:30 +0200"]


def test_a_time_that_comes_twice_in_autumn_comes_once() -> None:
    """On 2026-10-25 the clock in Berlin goes from 3:00 to 2:00."""
    assert times("30 2 * * *", "2026-10-24 03:00", count=2) == ["2026-10-25 02:30 +0200", "2026-10-26 02:30 +0100"]


def test_an_hourly_job_has_no_gap_when_the_clock_changes() -> None:
    """One run for each hour that passes."""
    moments = times("0 * * * *", "2026-10-25 01:30", count=3)

    assert moments == ["2026-10-25 02:00 +0200", "2026-10-25 02:00 +0100", "2026-10-25 03:00 +0100"]


@pytest.mark.parametrize(
    ("schedule", "wait"),
    [
        ("every 6h", timedelta(hours=6)),
        ("every 30m", timedelta(minutes=30)),
        ("Every 2 d", timedelta(days=2)),
        ("every 1w", timedelta(weeks=1)),
    ],
)
def test_an_interval_counts_from_the_last_run(schedule: str, wait: timedelta) -> None:
    """Whatever the clock does meanwhile."""
    start = datetime(2026, 3, 28, 12, 0, tzinfo=UTC)

    assert parse_schedule(schedule).next_after(start, BERLIN) == start + wait


@pytest.mark.parametrize(
    "text",
    ["", "daily", "61 * * * *", "* * * *", "0 0 0 * * *", "0 0 30 2 *", "every 0m", "every 5s", "every", "a b c d e"],
)
def test_a_bad_schedule_is_refused_when_the_settings_are_made(text: str) -> None:
    """With what would be valid."""
    with pytest.raises(ValueError, match=r"schedule|interval|never") as caught:
        JobOptions(schedule=text)

    assert "every 6h" in caught.value.args[1]


@pytest.mark.parametrize("name", ["Mars/Base", "Europe", "../etc/passwd", "", "Europe/Berlin "])
def test_a_bad_zone_is_refused_when_the_settings_are_made(name: str) -> None:
    """With names that would be valid."""
    with pytest.raises(ValueError, match="is not a time zone") as caught:
        UpkeepOptions(zone=name)

    assert "Europe/Berlin" in caught.value.args[1]
    assert named_zone("Europe/Berlin").key == "Europe/Berlin"


@pytest.mark.parametrize(
    ("schedule", "words"),
    [
        ("every 10m", "every 10 minutes"),
        ("every 1h", "every hour"),
        ("20 0 * * *", "every day at 00:20"),
        ("0 7 * * MON", "every Monday at 07:00"),
        ("30 9 * * 7", "every Sunday at 09:30"),
        ("0 5 1 * *", "on day 1 of every month at 05:00"),
        ("@hourly", "every hour at minute 0"),
        ("@daily", "every day at 00:00"),
        ("*/5 8-18 * * MON-FRI", "*/5 8-18 * * MON-FRI"),
        ("0 5 1 * MON", "0 5 1 * MON"),
    ],
)
def test_a_simple_schedule_is_said_in_words(schedule: str, words: str) -> None:
    """One that has no simple words stays a cron expression."""
    assert schedule_words(schedule) == words
