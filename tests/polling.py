"""Waiting for what happens in another thread or process: no test sleeps for a fixed time."""

import time
from collections.abc import Callable


def wait_for(is_so: Callable[[], object], *, within: float = 60.0) -> None:
    """Wait until it is so; fail after that many seconds."""
    deadline = time.monotonic() + within
    while not is_so():
        assert time.monotonic() < deadline, f"not within {within:g} seconds"
        time.sleep(0.005)
