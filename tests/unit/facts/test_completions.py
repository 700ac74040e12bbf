"""What the person says was done, and the one commitment that it closes."""

import pytest

from commonplace.facts.commitments import Commitment
from commonplace.facts.spoken_commitments import completed_commitment

OPEN = [
    Commitment(str(number), who, what, "", "open", "a.md", number)
    for number, (who, what) in enumerate(
        (
            ("me", "send the report to [[Ada]]"),
            ("me", "call the bank"),
            ("me", "plan the trip to Rome"),
            ("me", "plan the trip to Oslo"),
            ("Ada Lindqvist", "drawing of the foundation"),
        )
    )
]


@pytest.mark.parametrize(
    ("clause", "what"),
    [
        ("I sent Ada the report", "send the report to [[Ada]]"),
        ("I've just called the bank", "call the bank"),
        ("we planned our trip to Oslo", "plan the trip to Oslo"),
        ("Ada sent the drawing of the foundation", "drawing of the foundation"),
        ("I finished the report for Ada, send included", "send the report to [[Ada]]"),
        ("I sent Ada the bill", None),
        ("I almost called the bank", None),
        ("I didn't call the bank", None),
        ("I should have called the bank", None),
        ("I will call the bank", None),
        ("I planned the trip to Rome and the trip to Oslo", None),
        ("Bob called the bank", None),
        ("the bank called", None),
    ],
)
def test_a_plain_clause_in_the_past_closes_one_commitment(clause: str, what: str | None) -> None:
    """The same deed and every word that matters; if several fit, none is closed."""
    done = completed_commitment(clause, OPEN)

    assert (done.what if done else None) == what
