"""How important a fact still is: worked out whenever it is read, always from what its note says, never from a result.

Nothing ages to nothing: a fact that nobody uses sinks and stays reachable.
"""

from collections.abc import Mapping
from datetime import date
from typing import Final

from commonplace.model import Fact, FactClass

HALF_LIVES: Final[Mapping[FactClass, int]] = {"identity": 180, "fact": 90, "preference": 90, "event": 14, "": 90}
"""After how many days half of the importance is left, by class."""

CONFIRMATIONS: Final = 3
"""From this many days of confirmation on, the half-life is twice as long."""

USE_WINDOW: Final = 30
"""How many days back use counts."""

USE_DAYS: Final = 10
"""From this many days of use within the window on, more use adds nothing."""

USE_BOOST: Final = 0.1
"""The share of what is missing to 1 that use may win back at most: 1 itself is never reached by use."""


def aged(fact: Fact, *, at: str, use_days: int = 0) -> float:
    """The importance of the fact at this moment, from 0 to 1; `use_days` are those within the USE_WINDOW before it."""
    confirmed = [day for day in fact.confirmed if day <= at]
    half_life = HALF_LIVES[fact.fact] * (2 if len(confirmed) >= CONFIRMATIONS else 1)
    fresh = max(fact.recorded or fact.updated, *confirmed, "")
    base = min(max(fact.importance, 0.0), 1.0)
    left: float = base * 0.5 ** (_days_between(fresh, at) / half_life)
    return left + (1 - left) * USE_BOOST * min(max(use_days, 0), USE_DAYS) / USE_DAYS


def _days_between(start: str, end: str) -> int:
    """The whole days from one moment to another; 0 where the first is unknown or the later."""
    if not start:
        return 0
    return max((date.fromisoformat(end[:10]) - date.fromisoformat(start[:10])).days, 0)
