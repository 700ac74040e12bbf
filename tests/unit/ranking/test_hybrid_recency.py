"""Recency in hybrid ranking: what it adds, and when it does not apply."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest

from commonplace.model import TimeWindow
from commonplace.ranking.candidates import HYBRID_SCALE, ChunkCandidate
from commonplace.ranking.hybrid import (
    AGE,
    Clues,
    RankRequest,
    RecencyDecay,
    ScoredChunk,
    rank,
    score_chunks,
    score_documents,
)
from commonplace.ranking.options import RetrievalOptions

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
AGEING = RecencyDecay(180, NOW)
CLUES = Clues(recency=AGEING)
NEW, HALF_A_YEAR, YEAR = "2026-11-15T09:00:00Z", "2026-05-19T12:00:00Z", "2025-11-20T12:00:00Z"
WINDOW = TimeWindow("2026-03-01T00:00:00Z", "2026-04-01T00:00:00Z", tolerance=4.0, said="in March")
CHUNK = ChunkCandidate(1, "a", document="a", cosine=0.5, best=0.5, sentence=0.5)


def scored(candidate: ChunkCandidate, clues: Clues = CLUES) -> ScoredChunk:
    (one,) = score_chunks([candidate], clues)
    return one


def added(candidate: ChunkCandidate, clues: Clues = CLUES) -> float:
    """What age adds, in the units of the formula."""
    return sum(term.value * HYBRID_SCALE for term in scored(candidate, clues).terms if term.name == "age")


@pytest.mark.requirement("I-11")
def test_age_is_weighed_by_a_half_life_in_days_and_not_at_all_by_default() -> None:
    """`recency_half_life_days`; 0 turns it off. Different from the requirement: the default is off, not 180."""
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
    """Scores stay the same for a day, and the future counts as new."""
    elsewhere = RecencyDecay(180, NOW.astimezone(timezone(timedelta(hours=-7))))

    assert AGEING.days_since(at) == elsewhere.days_since(at) == days


def test_the_time_of_which_a_chunk_tells_counts_before_that_of_its_document() -> None:
    """Something said a year ago is a year old even if its note changed today."""
    assert added(replace(CHUNK, at=YEAR, updated=NEW)) == added(replace(CHUNK, at=YEAR))
    assert added(replace(CHUNK, updated=HALF_A_YEAR)) == pytest.approx(AGE / 2)
    assert added(CHUNK) == 0


def test_a_question_that_names_a_time_does_not_weigh_age() -> None:
    """It may be about the past. This holds even if the part `time` is left out."""
    asked = replace(CLUES, windows=(WINDOW,))

    assert added(replace(CHUNK, at=NEW), asked) == 0
    assert added(replace(CHUNK, at=NEW), replace(asked, without=frozenset({"time"}))) == 0
    assert added(replace(CHUNK, at=NEW), replace(CLUES, without=frozenset({"age"}))) == 0


def test_more_chunks_are_looked_at_where_age_may_lift_one() -> None:
    """Without recency, words and sense alone select the chunks."""
    assert CLUES.need_attributes
    assert not Clues().need_attributes
    assert not replace(CLUES, without=frozenset({"age"})).need_attributes


def test_what_is_old_is_never_hidden_however_old_it_is() -> None:
    """Recency adds to new hits and takes nothing from old ones."""
    old = replace(CHUNK, at="1826-11-15T00:00:00Z")

    assert scored(old).score == pytest.approx(scored(old, Clues()).score)


def test_a_hit_tells_its_age() -> None:
    """The time that was looked at, and how many days ago it was."""
    (hit,) = rank(score_documents([scored(replace(CHUNK, at=HALF_A_YEAR))], CLUES), RankRequest("chunk", 5, 0.0))

    assert hit.why["age"] == {"score": 0.5, "weight": AGE / 2, "at": HALF_A_YEAR, "days": 180}
