"""What the daemon counts of itself while it serves."""

import os
import resource
import sys
import time
from typing import Final

_QUIET: Final = 60.0  # seconds without a request after which nobody is there


class Tally:
    """How many requests came, and when the last one did."""

    def __init__(self) -> None:
        self.requests = 0
        self._last = time.monotonic()

    def count(self) -> None:
        """A request has come. Called by one thread only, that of the event loop."""
        self.requests += 1
        self._last = time.monotonic()

    def is_quiet(self) -> bool:
        """Whether nobody has asked for anything for a while."""
        return time.monotonic() - self._last > _QUIET


def memory_mb() -> float:
    """The memory that this process holds; at its most, where the system does not say how much it is now."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return round(int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6, 1)
    except OSError:
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return round(most / 1e6 if sys.platform == "darwin" else most / 1e3, 1)
