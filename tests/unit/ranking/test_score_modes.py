"""The modes that fuse scores by words and by sense."""

import math

import pytest

from commonplace.errors import UsageError
from commonplace.model import Mode
from commonplace.ranking.candidates import ChunkCandidate, effective_k
from commonplace.ranking.options import RetrievalOptions
from commonplace.ranking.score_modes import RankedChunk, best_per_document, fuse

BOTH = ChunkCandidate(1, "b", words=0.5, by={"river": 0.3, "stone": 0.2}, cosine=0.4, best=0.6, sentence=0.6, part=1)
WORDS = ChunkCandidate(2, "w", words=0.8, by={"river": 0.8})
SENSE = ChunkCandidate(3, "s", cosine=0.7, best=0.7, sentence=0.7)
FAR = ChunkCandidate(4, "f", cosine=0.1, best=0.2, sentence=0.2)
NEAR_IN_WORDS = ChunkCandidate(5, "n", words=0.1, by={"stone": 0.1}, cosine=0.1, best=0.1, sentence=0.1)
ALL = (BOTH, WORDS, SENSE, FAR, NEAR_IN_WORDS)


FUSED: tuple[Mode, ...] = ("words", "sense", "vector", "rrf", "merge")
"""The modes that mix two streams and nothing else."""


def ranked(mode: Mode, *candidates: ChunkCandidate, min_score: float = 0.25) -> tuple[RankedChunk, ...]:
    return fuse(candidates or ALL, mode=mode, min_score=min_score, word_count=4)


def scores(mode: Mode, *candidates: ChunkCandidate) -> dict[str, float]:
    return {each.id: each.score for each in ranked(mode, *candidates)}


@pytest.mark.requirement("D-12", "D-71")
def test_as_many_hits_as_asked_for_or_the_default_and_never_more_than_the_most() -> None:
    """`min(k or default_k, max_k)` with 8 and 32."""
    options = RetrievalOptions()

    assert (options.default_k, options.min_score, options.max_k) == (8, 0.25, 32)
    assert [effective_k(k, default_k=8, max_k=32) for k in (None, 1, 32, 33)] == [8, 1, 32, 32]
    assert effective_k(None, default_k=8, max_k=5) == 5


@pytest.mark.parametrize("k", [0, -1])
def test_less_than_one_hit_cannot_be_asked_for(k: int) -> None:
    """UsageError names the least value."""
    with pytest.raises(UsageError, match="at least one"):
        effective_k(k, default_k=8, max_k=32)


@pytest.mark.requirement("D-72")
def test_the_score_of_vectors_is_one_less_half_the_square_of_their_distance() -> None:
    """`max(0, min(1, 1 - d^2/2))`, which is the cosine of unit vectors, clipped."""
    for degrees in (0, 30, 60, 90, 120, 180):
        angle = math.radians(degrees)
        distance = math.dist((1.0, 0.0), (math.cos(angle), math.sin(angle)))
        cosine = math.cos(angle)
        (hit,) = ranked("vector", ChunkCandidate(1, "a", cosine=cosine, best=cosine, sentence=cosine), min_score=0.0)

        assert hit.score == pytest.approx(max(0.0, min(1.0, 1 - distance**2 / 2)), abs=1e-4)


@pytest.mark.requirement("D-73")
def test_what_is_below_the_floor_is_dropped() -> None:
    """In the modes sense and vector, words make no difference; a score equal to the minimum stays."""
    assert scores("vector") == {"s": 0.7, "b": 0.4}
    assert scores("sense") == {"s": 0.7, "b": 0.6}
    assert scores(
        "vector", ChunkCandidate(1, "at", cosine=0.25, best=0.25, sentence=0.25), ChunkCandidate(2, "x", cosine=0.2499)
    ) == {"at": 0.25}


def test_the_floor_does_not_hold_for_what_words_have_found() -> None:
    """The minimum is for the cosine; a matching word is reason enough."""
    for mode in ("rrf", "merge"):
        assert scores(mode).keys() == {"b", "w", "s", "n"}
    assert scores("words") == {"w": 0.8, "b": 0.5, "n": 0.1}


def test_sense_is_mostly_the_nearest_of_parts_and_sentences() -> None:
    """0.8 of that cosine and 0.2 of the nearest part's; the floor holds for the nearest."""
    assert scores("sense", ChunkCandidate(1, "a", cosine=0.1, best=0.5, sentence=0.2)) == {"a": 0.5}
    assert scores("sense", ChunkCandidate(1, "a", cosine=0.1, best=0.2, sentence=0.5)) == {"a": 0.44}
    assert scores("sense", ChunkCandidate(1, "a", cosine=0.1, best=0.2, sentence=0.24)) == {}


def test_of_each_document_its_first_hit_is_kept() -> None:
    """In the same order."""
    found = best_per_document(ranked("sense"), {3: "one", 1: "one"})

    assert [each.id for each in found] == ["s"]


@pytest.mark.requirement("A-52")
def test_rrf_sums_reciprocal_ranks_of_the_two_streams() -> None:
    """With the constant 60, on a scale where the first of both streams has 1; equals are in the order of their ids."""
    found = scores("rrf", WORDS, BOTH, SENSE)

    assert found == {
        "b": round((61 / 62 + 61 / 62) / 2, 4),
        "s": round(61 / 61 / 2, 4),
        "w": round(61 / 61 / 2, 4),
    }
    assert list(found) == ["b", "s", "w"]
    assert scores("rrf", ChunkCandidate(1, "a", words=0.1, by={"x": 0.1}, cosine=0.3, best=0.3, sentence=0.3)) == {
        "a": 1.0
    }


@pytest.mark.requirement("A-45")
def test_merge_adds_a_little_for_words_to_the_similarity() -> None:
    """0.85 * similarity + 0.05 * the share of the question's words that the chunk has."""
    assert scores("merge", BOTH, SENSE, WORDS) == {
        "s": round(0.85 * 0.7, 4),
        "b": round(0.85 * 0.4 + 0.05 * 2 / 4, 4),
        "w": round(0.05 / 4, 4),
    }


@pytest.mark.requirement("A-50")
@pytest.mark.parametrize("mode", ["words", "sense", "rrf", "merge"])
def test_an_inbox_is_ranked_lower_and_never_hidden(mode: Mode) -> None:
    """Different from the requirement: notes in an inbox are recalled, with nine tenths of their score."""
    inbox = ChunkCandidate(1, "a", place="inbox", words=0.5, by={"x": 0.5}, cosine=0.5, best=0.5, sentence=0.5)
    (low,), (high,) = (
        ranked(mode, inbox),
        ranked(mode, ChunkCandidate(1, "a", words=0.5, by={"x": 0.5}, cosine=0.5, best=0.5, sentence=0.5)),
    )

    assert low.score == pytest.approx(high.score * 0.9, abs=1e-4)
    assert low.why["place"] == {"place": "inbox", "weight": 0.9}
    assert "place" not in high.why


def test_places_mean_nothing_to_pure_vectors() -> None:
    """Its score is that of the distance and nothing else."""
    assert scores("vector", ChunkCandidate(1, "a", place="inbox", cosine=0.5, best=0.5, sentence=0.5)) == {"a": 0.5}


@pytest.mark.parametrize("mode", FUSED)
def test_equal_scores_are_ordered_by_id_whatever_the_order_they_came_in(mode: Mode) -> None:
    """Scores are rounded to four places first."""
    some = [
        ChunkCandidate(n, f"id{n}", words=0.5 + n * 1e-7, by={"x": 0.5}, cosine=0.5, best=0.5, sentence=0.5)
        for n in range(5)
    ]
    if mode == "rrf":
        some = [
            ChunkCandidate(n, f"id{n}", words=0.5, by={"x": 0.5}, cosine=0.5, best=0.5, sentence=0.5) for n in range(5)
        ]

    assert [each.id for each in ranked(mode, *some)] == [each.id for each in ranked(mode, *reversed(some))]
    assert [each.id for each in ranked(mode, *some)] == ["id0", "id1", "id2", "id3", "id4"]


def test_an_explanation_has_the_parts_that_took_part() -> None:
    """Each score times its weight sums up to the hit's."""
    (hit,) = fuse([BOTH], mode="merge", min_score=0.0, word_count=4, dropped=["the"])

    assert hit.why == {
        "words": {"score": 0.5, "weight": 0.05, "by": {"river": 0.3, "stone": 0.2}, "dropped": ["the"]},
        "sense": {"score": 0.4, "weight": 0.85, "cosine": 0.4, "best": 0.6, "sentence": 0.6, "part": 1},
    }
    assert hit.score == pytest.approx(0.5 * 0.05 + 0.4 * 0.85, abs=1e-9)
    assert ranked("words", BOTH)[0].why.keys() == {"words"}
    assert ranked("sense", BOTH)[0].why.keys() == {"sense"}
