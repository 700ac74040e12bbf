"""The progress of a long step: rate and time left, in words for people."""

import pytest

from commonplace.model.progress import ProgressMeter, duration_text


class Clock:
    """A clock that the test sets."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_the_line_has_the_number_the_rate_and_the_time_left() -> None:
    """As soon as a rate can be told; before that, only how far it has come."""
    clock = Clock()
    meter = ProgressMeter(clock)
    meter("texts", 0, 29_097)
    first = meter.text
    clock.now += 10
    meter("texts", 1060, 29_097)

    assert first == "encoded 0 of 29,097 texts"
    assert meter.text == "encoded 1,060 of 29,097 texts, 106/s, 4 min left"
    assert meter.seconds_left == pytest.approx((29_097 - 1060) / 106)


def test_the_rate_is_that_of_the_last_seconds() -> None:
    """Cached texts at the beginning take no time, and say nothing about the rest."""
    clock = Clock()
    meter = ProgressMeter(clock)
    meter("texts", 0, 20_000)
    clock.now += 1
    meter("texts", 10_000, 20_000)
    for _ in range(60):
        clock.now += 1
        meter("texts", meter.done + 10, 20_000)

    assert meter.rate == pytest.approx(10)


def test_a_step_that_counts_something_else_begins_anew() -> None:
    """Notes are indexed faster than texts are encoded."""
    clock = Clock()
    meter = ProgressMeter(clock)
    meter("notes", 0, 748)
    clock.now += 5
    meter("notes", 748, 748)
    is_running = meter.is_running
    meter("texts", 0, 100)

    assert not is_running
    assert (meter.is_running, meter.rate, meter.seconds_left) == (True, 0.0, None)


def test_a_download_is_told_in_megabytes_and_slow_steps_by_the_minute() -> None:
    """Numbers that a person can read."""
    clock = Clock()
    download, slow = ProgressMeter(clock), ProgressMeter(clock, {"notes": "read"})
    for meter, what in ((download, "bytes"), (slow, "notes")):
        meter(what, 0, 90_000_000)
    clock.now += 4
    download("bytes", 12_000_000, 90_000_000)
    slow("notes", 2, 5)

    assert download.text == "fetched 12.0 of 90.0 MB, 3.0 MB/s, 26 s left"
    assert slow.text == "read 2 of 5 notes, 30/min, 6 s left"


@pytest.mark.parametrize(("seconds", "text"), [(0.2, "1 s"), (89, "89 s"), (240, "4 min"), (7800, "2 h 10 min")])
def test_a_duration_has_the_unit_that_fits(seconds: float, text: str) -> None:
    """Seconds up to a minute and a half, then minutes, then hours."""
    assert duration_text(seconds) == text
