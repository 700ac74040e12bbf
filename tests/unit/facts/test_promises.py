"""Promises: what someone undertakes to do by a day, in a plain clause that can be understood alone."""

import pytest

from commonplace.facts.spoken_commitments import Promise, promise_of

DAY = "2026-11-18"  # a Wednesday


@pytest.mark.parametrize(
    ("clause", "promise"),
    [
        ("I'll send Ada the drawings by Friday", Promise("me", "send Ada the drawings", "2026-11-20")),
        ("I have to renew my passport by 12 December", Promise("me", "renew the passport", "2026-12-12")),
        ("I promised Ben to review the tender by tomorrow", Promise("me", "review the tender", "2026-11-19")),
        ("I need to finish a report that's due by Friday", Promise("me", "finish a report", "2026-11-20")),
        ("remind me to call the dentist by Thursday", Promise("me", "call the dentist", "2026-11-19")),
        ("we must ship Heron 2 before the end of the month", Promise("me", "ship Heron 2", "2026-11-30")),
        ("Ben Okri promised me to lay the slates by 2026-12-03", Promise("Ben Okri", "lay the slates", "2026-12-03")),
    ],
)
def test_a_deed_with_a_day_is_a_promise(clause: str, promise: Promise) -> None:
    """Who, what and by when, seen from the day on which it was said."""
    assert promise_of(clause, day=DAY) == promise


@pytest.mark.parametrize(
    "clause",
    [
        "I'll send it by Friday",
        "I'll send you the logs by Friday",
        "I'll be in Rome by Friday",
        "I will call the bank",
        "I'll fix the bug by adding a lock",
        "I have to travel to Rome by train",
        "I won't finish the slides by Friday",
        "I'll not pay the bill by Friday",
        "I had to renew my passport by 1 November 2026",
        "I have to renew my passport by 2026-11-01",
        "Ben will deliver the slates by 3 December",
        "the roof has to hold by Friday",
    ],
)
def test_what_is_vague_undated_denied_over_or_a_guess_is_no_promise(clause: str) -> None:
    """Precision first: an open commitment that nobody made is told again and again."""
    assert promise_of(clause, day=DAY) is None
