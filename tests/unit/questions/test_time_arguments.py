"""Times given as arguments."""

from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

import pytest

from commonplace.errors import UsageError
from commonplace.questions.time_arguments import day_named, end_of, parse_time, start_of

NOW = datetime(2026, 3, 31, 22, 30, 15, 500_000, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("2026-03-01", "2026-03-01T00:00:00Z", "2026-03-02T00:00:00Z"),
        ("2026-12", "2026-12-01T00:00:00Z", "2027-01-01T00:00:00Z"),
        ("2026", "2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z"),
        ("2024-02-29", "2024-02-29T00:00:00Z", "2024-03-01T00:00:00Z"),
        ("2026-03-01T09:12:44Z", "2026-03-01T09:12:44Z", "2026-03-01T09:12:45Z"),
        ("2026-03-01 09:12", "2026-03-01T09:12:00Z", "2026-03-01T09:12:01Z"),
        ("2026-03-01T09:12:44.9+02:00", "2026-03-01T07:12:44Z", "2026-03-01T07:12:45Z"),
        ("Today", "2026-03-31T00:00:00Z", "2026-04-01T00:00:00Z"),
        (" yesterday ", "2026-03-30T00:00:00Z", "2026-03-31T00:00:00Z"),
        ("7d", "2026-03-24T22:30:15Z", "2026-03-24T22:30:16Z"),
        ("2 weeks ago", "2026-03-17T22:30:15Z", "2026-03-17T22:30:16Z"),
        ("3 hours", "2026-03-31T19:30:15Z", "2026-03-31T19:30:16Z"),
        ("1 month", "2026-02-28T22:30:15Z", "2026-02-28T22:30:16Z"),
        ("2y", "2024-03-31T22:30:15Z", "2024-03-31T22:30:16Z"),
        ("0999", "0999-01-01T00:00:00Z", "1000-01-01T00:00:00Z"),
    ],
)
def test_words_for_a_time_name_a_half_open_window(text: str, start: str, end: str) -> None:
    """From its first moment up to the first one past it, with `T` and `Z`, so that texts compare as times do."""
    assert parse_time(text, now=NOW, zone=UTC) == (start, end)


def test_days_begin_at_midnight_in_the_zone_of_the_reader() -> None:
    """Also on a day of 23 hours, and when it is tomorrow there already."""
    zone = ZoneInfo("Europe/Berlin")

    assert parse_time("2026-03-29", now=NOW, zone=zone) == ("2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z")
    assert parse_time("today", now=NOW, zone=zone) == ("2026-03-31T22:00:00Z", "2026-04-01T22:00:00Z")
    assert parse_time("2026-07-01T12:00", now=NOW, zone=zone)[0] == "2026-07-01T10:00:00Z"


@pytest.mark.parametrize(
    "text",
    ["", "soon", "2026-13", "2026-02-30", "2026-3-1", "20260301", "7 lightyears", "999999999y", "999999999d", "9999",
     "2026-03-01T25:00:00Z", "٢٠٢٦", "-1d"],
)  # fmt: skip
def test_other_words_are_refused_with_a_hint(text: str) -> None:
    """The hint shows what can be written."""
    with pytest.raises(UsageError, match="is not a time") as caught:
        parse_time(text, now=NOW, zone=UTC)

    assert "2026-03-01" in (caught.value.hint or "")


def test_a_time_as_text_begins_and_ends_and_a_moment_stays() -> None:
    """Text is read as a window; what is no text needs no reading."""
    zone = ZoneInfo("Europe/Berlin")

    assert start_of("2026-03-01", now=NOW, zone=zone) == datetime(2026, 2, 28, 23, tzinfo=UTC)
    assert end_of("2026-03-01", now=NOW, zone=zone) == datetime(2026, 3, 1, 23, tzinfo=UTC)
    assert start_of(NOW, now=NOW, zone=zone) is end_of(NOW, now=NOW, zone=zone) is NOW
    assert start_of(None, now=NOW, zone=zone) is None


def test_the_day_of_a_time_is_that_of_the_zone() -> None:
    """Midnight in Berlin is still the day before in UTC."""
    assert day_named("2026-03-01", now=NOW, zone=ZoneInfo("Europe/Berlin")) == date(2026, 3, 1)
