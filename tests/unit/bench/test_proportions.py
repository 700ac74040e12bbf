"""Wilson's interval, beside values worked out elsewhere."""

import pytest
from bench.proportions import wilson


@pytest.mark.parametrize(
    ("hits", "of", "low", "high"),
    [(0, 10, 0.0, 0.2775), (5, 10, 0.2366, 0.7634), (10, 10, 0.7225, 1.0), (11, 22, 0.3072, 0.6928), (0, 0, 0.0, 1.0)],
)
def test_the_interval_lies_within_nought_and_one(hits: int, of: int, low: float, high: float) -> None:
    """It is not symmetric near the ends, and says nothing where there are no cases."""
    assert wilson(hits, of) == pytest.approx((low, high), abs=1e-4)
