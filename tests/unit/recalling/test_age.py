"""Weighing by age: what it adds, to what, and when it stays out of it."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest

from commonplace.recalling.age import Ageing
from commonplace.recalling.hybrid import AGE, Clues, Scored, score_chunks, score_documents
from commonplace.recalling.modes import HYBRID_SCALE, Candidate
from commonplace.recalling.options import RetrievalOptions
from commonplace.recalling.rank import Wanted, rank
from commonplace.recalling.when import Window

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
AGEING = Ageing(180, NOW)
CLUES = Clues(ageing=AGEING)
NEW, HALF_A_YEAR, YEAR = "2026-11-15T09:00:00Z", "2026-05-19T12:00:00Z", "2025-11-20T12:00:00Z"
WINDOW = Window("2026-03-01T00:00:00Z", "2026-04-01T00:00:00Z", tolerance=4.0, said="in March")
CHUNK = Candidate(1, "a", document="a", cosine=0.5, best=0.5, sentence=0.5)


def scored(candidate: Candidate, clues: Clues = CLUES) -> Scored:
    (one,) = score_chunks([candidate], clues)
    return one


def added(candidate: Candidate, clues: Clues = CLUES) -> float:
    """What age adds, in the units of the formula."""
    return sum(term.value * HYBRID_SCALE for term in scored(candidate, clues).terms if term.name == "age")


@pytest.mark.requirement("I-11")
def test_age_is_weighed_by_a_half_life_in_days_and_not_at_all_by_default() -> None:
    """`recency_half_life_days`, 0 being off. Settled otherwise than the row says: the default is off and not 180."""
    assert RetrievalOptions().recency_half_life_days == 0
    assert [added(replace(CHUNK, at=at)) for at in (NEW, HALF_A_YEAR, YEAR)] == [
        pytest.approx(AGE * share) for share in (1, 0.5, 0.25)
    ]
    assert scored(replace(CHUNK, at=NEW), Clues()).terms == ()


@pytest.mark.parametrize(
    ("at", "days"),
    [
        ("2026-11-15T11:59:59Z", 0),
        ("2026-11-14T12:00:01Z", 0),
        ("2026-11-14T12:00:00Z", 1),
        ("2027-01-01T00:00:00Z", 0),
    ],
)
def test_ages_are_in_whole_days_and_never_below_none(at: str, days: int) -> None:
    """So that a score holds for a day; what is planned is as new as what was told just now."""
    elsewhere = Ageing(180, NOW.astimezone(timezone(timedelta(hours=-7))))

    assert AGEING.days_since(at) == elsewhere.days_since(at) == days


def test_the_time_of_which_a_chunk_tells_counts_before_that_of_its_document() -> None:
    """What was told a year ago is a year old, though its note was touched today."""
    assert added(replace(CHUNK, at=YEAR, updated=NEW)) == added(replace(CHUNK, at=YEAR))
    assert added(replace(CHUNK, updated=HALF_A_YEAR)) == pytest.approx(AGE / 2)
    assert added(CHUNK) == 0


def test_a_question_that_names_a_time_does_not_weigh_age() -> None:
    """It may be about the past; also where the time itself is left out of the ranking."""
    asked = replace(CLUES, windows=(WINDOW,))

    assert added(replace(CHUNK, at=NEW), asked) == 0
    assert added(replace(CHUNK, at=NEW), replace(asked, without=frozenset({"time"}))) == 0
    assert added(replace(CHUNK, at=NEW), replace(CLUES, without=frozenset({"age"}))) == 0


def test_more_chunks_are_looked_at_where_age_may_lift_one() -> None:
    """Where it is not weighed, words and meaning alone say which are."""
    assert CLUES.need_standings
    assert not Clues().need_standings
    assert not replace(CLUES, without=frozenset({"age"})).need_standings


def test_what_is_old_is_never_hidden_however_old_it_is() -> None:
    """Age adds to what is new and takes nothing from what is old."""
    old = replace(CHUNK, at="1826-11-15T00:00:00Z")

    assert scored(old).score == pytest.approx(scored(old, Clues()).score)


def test_a_hit_tells_its_age() -> None:
    """The time that was looked at, and how many days ago it was."""
    (hit,) = rank(score_documents([scored(replace(CHUNK, at=HALF_A_YEAR))], CLUES), Wanted("chunk", 5, 0.0))

    assert hit.why["age"] == {"score": 0.5, "weight": AGE / 2, "at": HALF_A_YEAR, "days": 180}
