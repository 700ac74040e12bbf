"""Time as text: one format, strict and lenient parsing."""

from datetime import UTC, date, datetime, timedelta, timezone

import pytest

from commonplace.model.moment import id_moment, moment_text, parse_moment, read_moment, short_moment, timestamp_text

MOMENT = "2026-03-01T09:12:44Z"


def test_a_moment_is_written_in_utc_to_the_second() -> None:
    """Years have four digits, so that text order is time order; what is written can be parsed."""
    east = timezone(timedelta(hours=2))

    assert moment_text(datetime(2026, 3, 1, 11, 12, 44, 999_999, tzinfo=east)) == MOMENT
    assert moment_text(datetime(999, 3, 1, tzinfo=UTC)) == "0999-03-01T00:00:00Z"
    assert timestamp_text(0.5) == "1970-01-01T00:00:00Z"
    assert moment_text(parse_moment(MOMENT)) == MOMENT


@pytest.mark.parametrize("text", ["", "2026-03-01", "2026-03-01T09:12:44", "2026-03-01T09:12:44+00:00", "now"])
def test_only_what_was_written_so_is_parsed(text: str) -> None:
    """Other forms are for `read_moment`."""
    with pytest.raises(ValueError, match="does not match format"):
        parse_moment(text)


@pytest.mark.parametrize(
    ("value", "moment"),
    [
        (MOMENT, MOMENT),
        (" 2026-03-01T11:12:44+02:00 ", MOMENT),
        ("2026-03-01 09:12:44", MOMENT),
        ("2026-03-01", "2026-03-01T00:00:00Z"),
        (date(2026, 3, 1), "2026-03-01T00:00:00Z"),
        (datetime(2026, 3, 1, 9, 12, 44), MOMENT),
        ("0001-01-01T00:00:00+02:00", ""),
        ("soon", ""),
        (20260301, ""),
        (None, ""),
    ],
)
def test_a_property_is_read_as_a_moment(value: object, moment: str) -> None:
    """A day is its midnight, a time without a zone is in UTC, and anything else is no moment."""
    assert read_moment(value) == moment


def test_an_id_of_version_seven_begins_with_its_moment() -> None:
    """Others have none, and so do digits that no calendar has."""
    assert id_moment("019ca8b0-ffe0-7000-8000-000000000000") == timestamp_text(0x019CA8B0FFE0 // 1000)
    assert id_moment("3d0c53d6-9f0f-5b6a-8a86-2f4d3f8a9c07") == ""
    assert id_moment("ffffffff-ffff-7000-8000-000000000000") == ""


def test_a_midnight_is_written_as_its_day() -> None:
    """As people write it."""
    assert (short_moment("2026-03-01T00:00:00Z"), short_moment(MOMENT)) == ("2026-03-01", MOMENT)
