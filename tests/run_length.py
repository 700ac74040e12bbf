"""How long the tests run: short in CI, long with FAULTS=long (`make faults`)."""

import os

from hypothesis import HealthCheck, settings

LONG = os.environ.get("FAULTS") == "long"

# The short run is repeatable, so that it fails for a change and not by chance; the long one explores.
# How long an example takes says more about the machine, which other tests keep busy, than about us.
_SLOW = [HealthCheck.too_slow]
settings.register_profile(
    "short", max_examples=50, derandomize=True, deadline=None, database=None, suppress_health_check=_SLOW
)
settings.register_profile("long", max_examples=1000, deadline=None, suppress_health_check=_SLOW)
settings.load_profile("long" if LONG else "short")


def rounds(short: int, *, long: int) -> int:
    """How often to repeat something in this run."""
    return long if LONG else short
