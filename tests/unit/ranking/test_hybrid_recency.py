"""Recency in hybrid ranking: of those that speak of the same thing, the newer come earlier; nothing else moves."""

from dataclasses import replace

import pytest

from commonplace.model import TimeWindow
from commonplace.ranking.candidates import HYBRID_SCALE, ChunkCandidate
from commonplace.ranking.hybrid import (
    Clues,
    RankRequest,
    RecencyDecay,
    ScoredChunk,
    ScoredDocument,
    Term,
    rank,
)
from commonplace.ranking.options import RetrievalOptions
from commonplace.ranking.recency import days_between, same_things, with_recency

AGEING = RecencyDecay(30)
OLD, NEW, NEWEST = "2026-03-01T12:00:00Z", "2026-03-31T12:00:00Z", "2026-09-01T12:00:00Z"
WINDOW = TimeWindow("2026-03-01T00:00:00Z", "2026-04-01T00:00:00Z", tolerance=4.0, said="in March")


def talk(name: str, score: float, at: str = "") -> ScoredDocument:
    """A conversation with that score, held at that time."""
    chunk = ChunkCandidate(1, name, document=name, at=at, voice="user", cosine=0.5, best=0.5, sentence=0.5)
    return ScoredDocument(name, (ScoredChunk(chunk, score, ()),), (Term("best", score * HYBRID_SCALE, 1.0),))


def as_note(document: ScoredDocument, *, importance: float = 0.0) -> ScoredDocument:
    (one,) = document.chunks
    chunk = replace(one.candidate, voice="", importance=importance)
    return ScoredDocument(document.document, (ScoredChunk(chunk, one.score, ()),), document.terms)


def ordered(*documents: ScoredDocument, same: str = "ab", recency: RecencyDecay = AGEING) -> list[str]:
    """The names in the order that recency gives, if all that `same` names speak of the same thing."""
    kin = {name: set(same) - {name} for name in same}
    return [each.document for each in with_recency(documents, kin, recency)]


@pytest.mark.requirement("I-11")
def test_the_newer_of_two_that_speak_of_the_same_thing_comes_first() -> None:
    """By default, with a half-life of 30 days. Different from the requirement: not 180, and only for such hits."""
    assert RetrievalOptions().recency_half_life_days == 30
    assert ordered(talk("a", 0.5, OLD), talk("b", 0.4, NEWEST)) == ["b", "a"]
    assert ordered(talk("a", 0.5, NEWEST), talk("b", 0.4, OLD)) == ["a", "b"]
    assert ordered(talk("a", 0.5, OLD), talk("b", 0.4, NEWEST), same="") == ["a", "b"]


def test_what_is_much_better_stays_first() -> None:
    """The shorter the time between them, the less is needed for that."""
    assert ordered(talk("a", 0.8, OLD), talk("b", 0.4, NEWEST)) == ["a", "b"]
    assert ordered(talk("a", 0.5, OLD), talk("b", 0.4, NEW)) == ["b", "a"]
    assert ordered(talk("a", 0.6, OLD), talk("b", 0.4, NEW)) == ["a", "b"]


def test_they_change_places_among_themselves_only() -> None:
    """What stands between them stays where it is, with its score; the places keep their scores."""
    documents = (talk("a", 0.5, OLD), talk("x", 0.45, NEWEST), talk("b", 0.4, NEWEST))
    aged = with_recency(documents, {"a": {"b"}, "b": {"a"}}, AGEING)

    assert [each.document for each in aged] == ["b", "x", "a"]
    assert [each.score for each in aged] == pytest.approx([0.5, 0.45, 0.4])


def test_those_that_are_the_same_as_one_are_the_same_as_each_other() -> None:
    """Of three values of one thing the last comes first, although it is near to only one of the others."""
    documents = (talk("a", 0.5, OLD), talk("b", 0.45, NEW), talk("c", 0.4, NEWEST))
    same = {"a": {"b"}, "b": {"a", "c"}, "c": {"b"}}

    assert [each.document for each in with_recency(documents, same, AGEING)] == ["c", "a", "b"]


def test_what_has_no_time_does_not_move() -> None:
    """Nothing says that it is older."""
    assert ordered(talk("a", 0.5), talk("b", 0.4, NEWEST)) == ["a", "b"]


def test_two_are_the_same_if_they_are_near_and_of_one_sort() -> None:
    """Conversations, or entries, which are short and must be nearer; of two notes on one subject both may hold."""
    near, far = [[1.0, 0.5], [0.5, 1.0]], [[1.0, 0.4], [0.4, 1.0]]
    two = talk("a", 0.5), talk("b", 0.4)
    entries = [as_note(each, importance=0.5) for each in two]

    assert same_things(two, near) == {"a": {"b"}, "b": {"a"}}
    assert same_things(two, far) == {}
    assert same_things([as_note(each) for each in two], [[1.0, 0.9], [0.9, 1.0]]) == {}
    assert same_things(entries, near) == same_things([two[0], entries[1]], [[1.0, 0.9], [0.9, 1.0]]) == {}
    assert same_things(entries, [[1.0, 0.7], [0.7, 1.0]]) == {"a": {"b"}, "b": {"a"}}


def test_where_all_are_alike_none_are_the_same() -> None:
    """Two friends who talk every week: what they say is near to everything that they say."""
    talks = [talk(name, 0.5) for name in "abcdefg"]
    alike = [[1.0 if one == other else 0.7 for other in range(7)] for one in range(7)]
    apart = [[1.0 if one == other else 0.2 for other in range(7)] for one in range(7)]
    apart[0][1] = apart[1][0] = 0.7

    assert same_things(talks, alike) == {}
    assert same_things(talks, apart) == {"a": {"b"}, "b": {"a"}}


@pytest.mark.parametrize(
    ("at", "days"),
    [(NEW, 30), ("2026-03-01T12:00:01Z", 0), ("2026-03-01T11:00:00Z", 0), (OLD, 0), ("2025-03-01T12:00:00Z", 0)],
)
def test_days_are_whole_and_never_below_none(at: str, days: int) -> None:
    """Of the time from the older to the newer."""
    assert days_between(OLD, at) == days


def test_a_question_that_names_a_time_does_not_weigh_age() -> None:
    """It may be about the past. This holds even if the part `time` is left out."""
    asked = Clues(recency=AGEING, windows=(WINDOW,))

    assert Clues(recency=AGEING).active_recency == AGEING
    assert asked.active_recency is None
    assert replace(asked, without=frozenset({"time"})).active_recency is None
    assert Clues(recency=AGEING, without=frozenset({"age"})).active_recency is None


def test_a_hit_tells_its_age() -> None:
    """The time that was looked at, and how many days it is behind the newest about the same thing."""
    aged = with_recency((talk("a", 0.5, OLD), talk("b", 0.4, NEW)), {"a": {"b"}, "b": {"a"}}, AGEING)
    hits = {hit.id: hit.why["age"] for hit in rank(aged, RankRequest("document", 5, 0.0))}

    assert hits["a"] == {"score": -0.2, "weight": 0.5, "at": OLD, "days": 30}
    assert hits["b"] == {"score": 0.2, "weight": 0.5, "at": NEW, "days": 0}
