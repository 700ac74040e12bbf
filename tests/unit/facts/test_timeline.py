"""What happened to facts, in order."""

from dataclasses import replace

from commonplace.facts.validity import TimelineEvent, timeline_of
from commonplace.model import Fact, FactEnd, FactRecord


def moment(day: str) -> str:
    return f"{day}T00:00:00Z"


ACME = Fact(
    id="a",
    path="a.md",
    line=0,
    origin="entry",
    text="Ada works at Acme.",
    valid_from=moment("2024-01-01"),
    recorded=moment("2026-03-01"),
)
BETA = replace(ACME, id="b", text="Ada works at Beta.", valid_from=moment("2026-02-01"))


def told(*knowns: FactRecord) -> list[tuple[str, str, str, str]]:
    return [(each.at[:10], each.what, each.fact.id, each.other) for each in timeline_of(knowns)]


def test_a_timeline_tells_what_began_and_what_replaced_it_in_order() -> None:
    """By when it was so, not by when it was recorded; the old goes before the new comes."""
    old = replace(
        ACME,
        status="superseded",
        place="archive",
        superseded_by="b",
        superseded_at=BETA.recorded,
        invalidated_at=BETA.recorded,
        valid_until=BETA.valid_from,
    )

    assert told(FactRecord(BETA, None), FactRecord(old, None)) == [
        ("2024-01-01", "began", "a", ""),
        ("2026-02-01", "replaced", "a", "b"),
        ("2026-02-01", "began", "b", ""),
    ]


def test_a_fact_that_ends_by_itself_ends_and_one_that_another_ends_is_replaced() -> None:
    """Both by the effective end."""
    until = replace(ACME, valid_until=moment("2025-01-01"))

    assert told(FactRecord(until, None))[1:] == [("2025-01-01", "ended", "a", "")]
    assert told(FactRecord(ACME, FactEnd(moment("2025-06-01"), "b")))[1:] == [("2025-06-01", "replaced", "a", "b")]


def test_confirmations_are_told_but_not_that_of_the_day_of_recording() -> None:
    """To be written down is no second word for it."""
    fact = replace(ACME, confirmed=("2026-03-01", "2026-07-19"))

    assert told(FactRecord(fact, None)) == [("2024-01-01", "began", "a", ""), ("2026-07-19", "confirmed", "a", "")]


def test_a_forgotten_fact_is_told_with_its_end_only_where_that_came_before() -> None:
    """What nobody stands by any more does not end later."""
    gone = replace(ACME, status="deleted", deleted_at=moment("2026-05-01"))
    before, after = (replace(gone, valid_until=moment(day)) for day in ("2025-01-01", "2027-01-01"))

    assert told(FactRecord(before, None)) == [
        ("2024-01-01", "began", "a", ""),
        ("2025-01-01", "ended", "a", ""),
        ("2026-05-01", "forgotten", "a", ""),
    ]
    assert told(FactRecord(after, None)) == [("2024-01-01", "began", "a", ""), ("2026-05-01", "forgotten", "a", "")]


def test_a_fact_that_never_held_is_told_once() -> None:
    """Of two values that began at once, the loser did not begin."""
    assert told(FactRecord(ACME, FactEnd(ACME.valid_from, "b"))) == [("2024-01-01", "replaced", "a", "b")]


def test_an_undated_line_comes_first_and_staged_facts_not_at_all() -> None:
    """Nobody knows when it began; and nobody has agreed to what is staged."""
    line = replace(ACME, id="l", origin="line", valid_from="", recorded="")
    staged = replace(ACME, id="s", place="staging")
    found = timeline_of([FactRecord(ACME, None), FactRecord(line, None), FactRecord(staged, None)])

    assert found == (TimelineEvent("", "began", line), TimelineEvent(ACME.valid_from, "began", ACME))
