"""Waiting for what happens in another thread or process, or for midnight: no test sleeps for a fixed time."""

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta


def wait_for(is_so: Callable[[], object], *, within: float = 60.0) -> None:
    """Wait until it is so; fail after that many seconds.

    Looking takes time from what it waits for, so it looks less and less often.
    """
    began = time.monotonic()
    while not is_so():
        waited = time.monotonic() - began
        assert waited < within, f"not within {within:g} seconds"
        time.sleep(min(max(0.005, waited / 20), 0.1))


def wait_for_one_day() -> None:
    """Wait in the last minute of a day (UTC) and in the first second of one: what follows happens on one day.

    A time of exactly midnight would stand for a whole day.
    """

    def is_far_from_midnight() -> bool:
        now = datetime.now(UTC)
        midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
        return timedelta(seconds=1) < now - midnight < timedelta(hours=23, minutes=59)

    wait_for(is_far_from_midnight, within=120)
