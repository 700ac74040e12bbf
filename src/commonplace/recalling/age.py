"""How much less counts what was told long ago, where a person wants that."""

from dataclasses import dataclass
from datetime import datetime
from math import exp2


@dataclass(frozen=True, slots=True)
class Ageing:
    """What is told is worth half as much after `half_life` days, and half of that after as many again.

    Ages are counted from `now`, which has a zone.
    """

    half_life: int
    now: datetime

    def days_since(self, at: str) -> int:
        """The age in whole days of what tells of a moment in UTC; 0 for what is still to come."""
        return max(0, (self.now - datetime.fromisoformat(at)).days)

    def freshness(self, days: int) -> float:
        """What is left after so many days: 1 for what is new, and less and less down to 0."""
        return exp2(-days / self.half_life)
