"""The line that says how many memories wait for the person."""

import pytest

from commonplace.flows.memory.review import waiting_text


@pytest.mark.parametrize(
    ("count", "proposals", "text"),
    [
        (0, 0, ""),
        (1, 0, "1 memory waits for your review: `commonplace review`"),
        (2, 0, "2 memories wait for your review: `commonplace review`"),
        (1, 1, "1 proposal waits for your review: `commonplace review`"),
        (4, 3, "1 memory and 3 proposals wait for your review: `commonplace review`"),
    ],
)
def test_one_line_says_how_much_waits_of_each_kind_and_what_to_do(count: int, proposals: int, text: str) -> None:
    """Nothing is said of nothing."""
    assert waiting_text(count, proposals=proposals) == text
