"""Laws of the mode hybrid: scores from 0 to 1, each the sum of its reasons, in an order that is theirs alone."""

from collections.abc import Sequence
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.model import SearchUnit, TimeWindow
from commonplace.ranking.candidates import ChunkCandidate
from commonplace.ranking.hybrid import (
    Clues,
    RankRequest,
    RecencyDecay,
    ScoredDocument,
    rank,
    score_chunks,
    score_documents,
    with_document_words,
    with_kinship,
    with_links,
)
from commonplace.ranking.options import RANKING_PARTS
from commonplace.ranking.recency import same_things, with_recency
from commonplace.ranking.score_modes import RankedChunk

DOCUMENTS = ("a", "b", "c", "d")
LINKED = {"a": {"b", "d"}, "b": {"a"}, "d": {"a"}}
WINDOW = TimeWindow("2026-03-01T00:00:00Z", "2026-03-04T00:00:00Z", tolerance=4.0, said="in March")
TIMES = ("", "2026-03-02T10:00:00Z", "2026-03-06T10:00:00Z", "2025-01-01T00:00:00Z")
PHRASES = ("red boat", "blue")
ROUNDING = 3e-4
"""Every score that is told is rounded to four places, and there are up to eight of them."""

shares = st.floats(0, 1)
cosines = st.floats(-1, 1)


@st.composite
def candidates(draw: st.DrawFn) -> list[ChunkCandidate]:
    """Chunks of a few documents, found by words, by meaning, or by both."""
    some = []
    for key in range(draw(st.integers(0, 9))):
        words = draw(st.none() | shares)
        sense = draw(st.none() | st.tuples(cosines, cosines, cosines))
        cosine, best, sentence = sense or (None, None, None)
        some.append(
            ChunkCandidate(
                key,
                f"c{draw(st.integers(0, 99))}-{key}",
                draw(st.sampled_from(("", "inbox"))),
                words=words,
                by={} if words is None else {"x": words},
                cosine=cosine,
                best=best,
                sentence=sentence,
                halves=draw(st.none() | shares),
                document=draw(st.sampled_from(DOCUMENTS)),
                chunks=draw(st.integers(1, 40)),
                turn=draw(st.integers(1, 4)),
                opens=draw(st.booleans()),
                voice=draw(st.sampled_from(("", "user", "assistant"))),
                speaker=draw(st.sampled_from(("", "Ann", "Bob"))),
                at=draw(st.sampled_from(TIMES)),
                quoted=draw(st.sampled_from(((), PHRASES[:1], PHRASES))),
                updated=draw(st.sampled_from(TIMES)),
                importance=draw(st.sampled_from((0.0, 0.5, 0.8))),
            )
        )
    return some


questions = st.builds(
    Clues,
    windows=st.sampled_from(((), (WINDOW,))),
    phrases=st.just(PHRASES),
    speakers=st.sampled_from((frozenset[str](), frozenset({"Ann"}))),
    asks_reply=st.booleans(),
    recency=st.sampled_from((None, RecencyDecay(90))),
    without=st.frozensets(st.sampled_from(RANKING_PARTS), max_size=2),
)
bys = st.sampled_from(("chunk", "document"))


def weighed(found: Sequence[ChunkCandidate], clues: Clues, alike: Sequence[float]) -> list[ScoredDocument]:
    """The documents with all their terms; `alike` is what each has in common with each."""
    wholes = score_documents(score_chunks(found, clues), clues)
    wholes = with_document_words(wholes, [alike[DOCUMENTS.index(each.document)] for each in wholes])
    likeness = [[_likeness(each, other, alike) for other in wholes[:3]] for each in wholes]
    kin = with_kinship(wholes, likeness)
    recency = clues.active_recency
    return with_links(with_recency(kin, same_things(wholes, likeness), recency) if recency else kin, LINKED)


def _likeness(one: ScoredDocument, other: ScoredDocument, alike: Sequence[float]) -> float:
    places = (DOCUMENTS.index(each.document) for each in (one, other))
    return 2 * max(alike[place] for place in places) - 1


def clipped(score: float) -> float:
    return max(0.0, min(1.0, score))


def summed(hit: RankedChunk) -> float:
    """What its reasons make, at its place."""
    parts = (reason["score"] * reason["weight"] for reason in hit.why.values() if "score" in reason)
    return clipped(sum(parts) * float(hit.why.get("place", {}).get("weight", 1.0)))


@given(candidates(), questions, st.lists(shares, min_size=4, max_size=4), bys, shares)
def test_every_score_is_the_sum_of_its_reasons(
    found: list[ChunkCandidate], clues: Clues, alike: list[float], by: SearchUnit, min_score: float
) -> None:
    """Of each the score times the weight, from 0 to 1, times what its place takes; four places, best first; of each
    document one hit where documents are ranked."""
    wholes = weighed(found, clues, alike)
    hits = rank(wholes, RankRequest(by, 20, min_score))
    of = {each.key: each.document for each in found}

    assert all(0 <= hit.score <= 1 and round(hit.score, 4) == hit.score for hit in hits)
    assert [hit.score for hit in hits] == [pytest.approx(summed(hit), abs=ROUNDING) for hit in hits]
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    if by == "document":
        assert len({of[hit.key] for hit in hits}) == len(hits)


@given(candidates(), questions, st.lists(shares, min_size=4, max_size=4), bys, st.randoms())
def test_the_order_in_which_chunks_are_found_means_nothing(
    found: list[ChunkCandidate], clues: Clues, alike: list[float], by: SearchUnit, order: Random
) -> None:
    """The same hits, scores and reasons to the last digit."""
    shuffled = [*found]
    order.shuffle(shuffled)

    one, other = (rank(weighed(each, clues, alike), RankRequest(by, 20, 0.0)) for each in (found, shuffled))
    assert one == other
