"""The line that says how many memories wait for the person."""

import pytest

from commonplace.flows.memory.review import waiting_text


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, ""),
        (1, "1 memory waits for your review: `commonplace review`"),
        (2, "2 memories wait for your review: `commonplace review`"),
    ],
)
def test_one_line_says_how_many_wait_and_what_to_do(count: int, text: str) -> None:
    """Nothing is said of nothing."""
    assert waiting_text(count) == text
