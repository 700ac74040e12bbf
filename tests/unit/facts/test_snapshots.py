"""Snapshots of facts are kept until something that they depend on is different."""

from dataclasses import replace

import pytest

from commonplace.facts.snapshots import FactSnapshots, FactUse
from commonplace.model import Fact, FactEnd, FactRecord

NOON, EVENING, NEXT_DAY = "2026-03-01T12:00:00Z", "2026-03-01T20:00:00Z", "2026-03-02T12:00:00Z"
TEA = Fact(
    id="f-1",
    path="Agent/Memory/fact/tea.md",
    line=1,
    origin="entry",
    text="Likes tea.",
    recorded="2026-01-01T08:00:00Z",
)


def test_the_same_fact_at_the_same_time_of_use_is_worked_out_once() -> None:
    """Whoever compares snapshots by identity finds the same one all day."""
    kept = FactSnapshots()

    assert kept.at(FactRecord(TEA, None), NOON) is kept.at(FactRecord(TEA, None), EVENING)


@pytest.mark.parametrize(
    ("record", "at", "use"),
    [
        (FactRecord(replace(TEA, text="Likes green tea."), None), NOON, FactUse()),
        (FactRecord(TEA, FactEnd("2026-02-01T00:00:00Z", "f-2")), NOON, FactUse()),
        (FactRecord(TEA, None), NEXT_DAY, FactUse()),
        (FactRecord(TEA, None), "2025-12-01T00:00:00Z", FactUse()),
        (FactRecord(TEA, None), NOON, FactUse(1, "2026-03-01", 1)),
        (FactRecord(TEA, None), NOON, FactUse(3, "2026-03-01", 2)),
    ],
)
def test_a_kept_snapshot_is_the_same_as_a_new_one(record: FactRecord, at: str, use: FactUse) -> None:
    """After another text, an end, another day, a day before, and more use."""
    kept = FactSnapshots()
    kept.at(FactRecord(TEA, None), NOON, FactUse(1, "2026-02-28", 1))
    kept.at(FactRecord(TEA, None), NOON)

    assert kept.at(record, at, use) == FactSnapshots().at(record, at, use)


@pytest.mark.parametrize(
    "fact",
    [
        replace(TEA, valid_from="2026-03-01T18:00:00Z"),
        replace(TEA, valid_until="2026-03-01T18:00:00Z"),
        replace(TEA, status="archived", archived_at="2026-03-01T18:00:00Z"),
        replace(TEA, confirmed=("2026-02-27", "2026-03-01T18:00:00Z")),
        replace(TEA, status="superseded", valid_until="2026-03-01T18:00:00Z"),
    ],
)
def test_what_begins_or_ends_within_the_day_does_so_at_its_moment(fact: Fact) -> None:
    """A fact that ends at six holds at noon and is over in the evening, however often it was asked for between."""
    kept, record = FactSnapshots(), FactRecord(fact, None)
    moments = (NOON, "2026-03-01T17:59:59Z", "2026-03-01T18:00:00Z", EVENING, NOON)

    assert [kept.at(record, at) for at in moments] == [FactSnapshots().at(record, at) for at in moments]


def test_nothing_is_left_after_clearing() -> None:
    """An erased fact must not stay in memory."""
    kept = FactSnapshots()
    first = kept.at(FactRecord(TEA, None), NOON)
    kept.clear()

    assert kept.at(FactRecord(TEA, None), NOON) is not first
