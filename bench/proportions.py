"""How far a share of a few cases can be trusted."""

from math import sqrt
from typing import Final

_Z: Final = 1.959964  # of the normal distribution, for 95 %


def wilson(hits: int, of: int) -> tuple[float, float]:
    """The 95 % interval of a share by Wilson's score; from 0 to 1 where there are no cases."""
    if not of:
        return 0.0, 1.0
    share, square = hits / of, _Z**2
    middle = (share + square / (2 * of)) / (1 + square / of)
    half = _Z / (1 + square / of) * sqrt(share * (1 - share) / of + square / (4 * of**2))
    return max(0.0, middle - half), min(1.0, middle + half)
