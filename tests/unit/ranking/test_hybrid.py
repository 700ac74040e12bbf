"""Hybrid ranking: what each term adds to a chunk and to its document, and what `without` removes."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from commonplace.model import SearchUnit, TimeWindow, Voice
from commonplace.ranking.candidates import HYBRID_SCALE, ChunkCandidate
from commonplace.ranking.hybrid import (
    ANSWERED,
    CORRECTION,
    DOCUMENT,
    HALVES,
    KINSHIP,
    LENGTH,
    LINKS,
    OLD_TASK,
    OPENING,
    OTHER_CHUNKS,
    PHRASES,
    REPLY,
    REPLY_ASKED,
    SPEAKER,
    TIME,
    WHOLE,
    Clues,
    RankRequest,
    RecencyDecay,
    ScoredChunk,
    ScoredDocument,
    chunk_terms,
    rank,
    score_chunks,
    score_documents,
    time_nearness,
    with_document_words,
    with_kinship,
    with_links,
)
from commonplace.ranking.options import RANKING_PARTS, RankingPart
from commonplace.ranking.score_modes import RankedChunk

INSIDE, BESIDE, FAR_OFF = "2026-03-02T10:00:00Z", "2026-03-08T00:00:00Z", "2025-03-02T10:00:00Z"
WINDOW = TimeWindow("2026-03-01T00:00:00Z", "2026-03-04T00:00:00Z", tolerance=4.0, said="early in March")
ALL = Clues(windows=(WINDOW,), phrases=("red boat", "blue"), speakers=frozenset({"Ann"}))
ASKED = replace(ALL, asks_reply=True)
ANN = ChunkCandidate(1, "ann", best=0.6, cosine=0.6, sentence=0.6, voice="user", speaker="Ann", opens=True, at=INSIDE)
BOT = ChunkCandidate(2, "bot", best=0.6, cosine=0.6, sentence=0.6, voice="assistant", speaker="Bot", at=FAR_OFF)
QUOTING = replace(ANN, quoted=("blue",))
LONG = ChunkCandidate(3, "long", best=0.6, cosine=0.6, sentence=0.6, chunks=20, halves=0.4)
OF_CHUNKS: dict[RankingPart, set[str]] = {
    "time": {"time"},
    "phrases": {"phrases"},
    "names": {"speaker"},
    "opening": {"opening"},
    "replies": {"reply"},
    "length": {"length"},
    "halves": {"halves"},
    "sources": {"correction", "task"},
}
"""The terms of chunks that each part brings; the other parts bring none."""


def added(candidate: ChunkCandidate, clues: Clues) -> dict[str, float]:
    """What each term adds, in the units of the formula."""
    return {term.name: round(term.value * HYBRID_SCALE, 6) for term in chunk_terms(candidate, clues)}


def terms_of(whole: ScoredDocument) -> dict[str, float]:
    """The same of a document."""
    return {term.name: round(term.value * HYBRID_SCALE, 6) for term in whole.terms}


def chunk(document: str, score: float, *, key: int = 1, **fields: Any) -> ChunkCandidate:
    """A chunk that scores so much by its meaning, in the units of the formula."""
    name = f"{document}-{key}"
    return ChunkCandidate(key, name, document=document, cosine=score, best=score, sentence=score, **fields)


def scored(*candidates: ChunkCandidate) -> list[ScoredChunk]:
    return score_chunks(candidates, Clues())


def documents(*scores: float, voice: Voice = "") -> list[ScoredDocument]:
    """The documents a, b, c of one chunk each, with these scores."""
    chunks = (chunk(chr(97 + place), score, voice=voice) for place, score in enumerate(scores))
    return score_documents(scored(*chunks), Clues())


def ranked(
    wholes: Sequence[ScoredDocument],
    *,
    by: SearchUnit = "chunk",
    k: int = 20,
    min_score: float = 0.0,
    dropped: Sequence[str] = (),
) -> tuple[RankedChunk, ...]:
    return rank(wholes, RankRequest(by, k, min_score, dropped))


@pytest.mark.parametrize(
    ("found", "score"),
    [
        ({"words": 0.5, "by": {"x": 0.5}}, 0.125),
        ({"cosine": 0.1, "best": 0.4, "sentence": 0.4}, 0.2),
        ({"words": 1.0, "cosine": 1.0, "best": 1.0, "sentence": 1.0}, 0.75),
        ({"words": 0.5, "cosine": -0.5, "best": -0.5, "sentence": -0.2}, 0.125),
        ({}, 0.0),
    ],
)
def test_words_count_half_of_what_meaning_does(found: dict[str, Any], score: float) -> None:
    """Meaning is that of the nearest part and sentence; what is below 0 counts as 0."""
    (one,) = scored(ChunkCandidate(1, "a", **found))

    assert one.score == pytest.approx(score)
    assert one.terms == ()


@pytest.mark.parametrize(("at", "worth"), [(INSIDE, 1.0), (BESIDE, 0.606531), (FAR_OFF, 0.0), ("", 0.0)])
def test_what_was_said_about_the_time_that_is_named_counts_more(at: str, worth: float) -> None:
    """It counts less with the distance, and not at all if the time of the chunk is unknown."""
    assert added(replace(ANN, at=at), Clues(windows=(WINDOW,))).get("time", 0.0) == pytest.approx(
        worth * TIME, abs=1e-6
    )


@pytest.mark.parametrize(("quoted", "worth"), [((), 0.0), (("blue",), 0.5), (("red boat", "blue"), 1.0)])
def test_what_has_the_quoted_phrases_counts_more(quoted: tuple[str, ...], worth: float) -> None:
    """By the share of them that it has."""
    assert added(replace(BOT, quoted=quoted), ALL).get("phrases", 0.0) == worth * PHRASES


def test_what_the_named_speaker_says_counts_more() -> None:
    """Text without a speaker, as in a note, does not."""
    clues = Clues(speakers=frozenset({"Ann"}))

    assert added(ANN, clues)["speaker"] == SPEAKER
    assert "speaker" not in added(replace(ANN, speaker="Bob"), clues)
    assert "speaker" not in added(replace(ANN, speaker=""), clues)
    assert "speaker" not in added(ANN, Clues())


@pytest.mark.parametrize(
    ("change", "worth"),
    [({}, OPENING), ({"opens": False}, 0.0), ({"voice": "assistant"}, 0.0), ({"voice": ""}, 0.0)],
)
def test_the_turn_that_opens_a_conversation_counts_more(change: dict[str, Any], worth: float) -> None:
    """If a person says it; the first passage of a note opens nothing."""
    assert added(replace(ANN, **change), Clues()).get("opening", 0.0) == worth


def test_a_reply_counts_less_unless_it_is_asked_for() -> None:
    """What a person says, and what stands in a note, is the same to both questions."""
    assert REPLY < 0 < REPLY_ASKED
    assert added(BOT, Clues()) == {"reply": REPLY}
    assert added(BOT, Clues(asks_reply=True)) == {"reply": REPLY_ASKED}
    assert added(ANN, Clues()) == added(ANN, Clues(asks_reply=True)) == {"opening": OPENING}
    assert added(replace(BOT, voice=""), Clues()) == {}


def test_a_reply_that_is_asked_for_gains_by_the_turn_that_it_answers() -> None:
    """A share of what the best piece of the turn just before it scores, in the same conversation."""
    best, piece = (chunk("talk", score, key=key, turn=1, voice="user") for key, score in ((1, 0.8), (2, 0.5)))
    reply = chunk("talk", 0.1, key=3, turn=2, voice="assistant")
    late = chunk("talk", 0.1, key=4, turn=4, voice="assistant")
    elsewhere = chunk("other", 0.1, key=5, turn=2, voice="assistant")
    found = score_chunks([reply, best, piece, late, elsewhere], Clues(asks_reply=True))
    gains = {one.candidate.key: {term.name: term.value * HYBRID_SCALE for term in one.terms} for one in found}

    assert gains[3] == {"reply": pytest.approx(REPLY_ASKED), "answers": pytest.approx(ANSWERED * 0.8)}
    assert [one.score for one in found if one.candidate.key == 3] == [
        pytest.approx((0.1 + REPLY_ASKED + ANSWERED * 0.8) / HYBRID_SCALE)
    ]
    assert [sorted(gains[key]) for key in (1, 2, 4, 5)] == [[], [], ["reply"], ["reply"]]


def test_a_reply_that_is_not_asked_for_gains_by_no_turn() -> None:
    """Neither does a reply if the part `replies` is left out."""
    turns = [chunk("talk", 0.8, turn=1, voice="user"), chunk("talk", 0.1, key=2, turn=2, voice="assistant")]

    for clues in (Clues(), Clues(asks_reply=True, without=frozenset({"replies"}))):
        names = {term.name for one in score_chunks(turns, clues) for term in one.terms}
        assert "answers" not in names, clues


@pytest.mark.parametrize("part", RANKING_PARTS)
@pytest.mark.parametrize("clues", [ALL, ASKED])
def test_a_part_that_is_left_out_takes_its_own_terms_and_nothing_else(part: RankingPart, clues: Clues) -> None:
    """The other terms keep their values."""
    less = replace(clues, without=frozenset({part}))

    for each in (QUOTING, BOT, LONG, replace(ANN, source="correction"), replace(BOT, source="task")):
        whole, own = added(each, clues), OF_CHUNKS.get(part, set())
        assert added(each, less) == {name: value for name, value in whole.items() if name not in own}


def test_a_chunk_of_a_long_note_counts_less() -> None:
    """Of many chunks one is near by chance; turns of a conversation, and a note of one chunk, lose nothing."""
    lost = [added(replace(LONG, chunks=count, halves=None), Clues()).get("length", 0.0) for count in (1, 2, 20)]

    assert lost == [pytest.approx(LENGTH * math.log(count), abs=1e-5) for count in (1, 2, 20)]
    assert "length" not in added(replace(LONG, voice="user"), Clues())


def test_a_correction_counts_more_and_a_task_less_with_age() -> None:
    """A task of today loses nothing, one of a half-life half; a question about a time, one without recency, none."""
    clues = Clues(recency=RecencyDecay(30), now=INSIDE)
    task = replace(LONG, source="task", voice="assistant", at=INSIDE, halves=None)
    aged = replace(task, at="2026-01-31T10:00:00Z")

    assert added(replace(ANN, source="correction"), clues)["correction"] == CORRECTION
    assert [added(each, clues)["task"] for each in (task, aged)] == [0, pytest.approx(OLD_TASK / 2)]
    assert "task" not in added(aged, replace(clues, windows=(WINDOW,)))
    assert "task" not in added(aged, replace(clues, recency=None))


def test_of_a_question_for_two_things_the_better_half_counts_too() -> None:
    """As a part of the score instead of the whole question's: it may be less than that or more."""
    plain = score_chunks([replace(LONG, chunks=1, halves=None)], Clues())[0].score
    scores = [score_chunks([replace(LONG, chunks=1, halves=half)], Clues())[0].score for half in (0.0, plain, 0.9)]

    assert scores == [pytest.approx((1 - HALVES) * plain + HALVES * half) for half in (0.0, plain, 0.9)]


def test_a_document_scores_by_its_best_three_chunks() -> None:
    """The best whole, a little of the second, less of the third; no other, and none below 0."""
    four = [chunk("a", score, key=key) for key, score in enumerate((0.4, 0.9, 0.1, 0.6))]
    (whole,) = score_documents(scored(*four), Clues())
    (low,) = score_documents(scored(chunk("a", 0.2, voice="assistant")), Clues())

    assert terms_of(whole) == {
        "best": 0.9,
        "second": pytest.approx(OTHER_CHUNKS[0] * 0.6),
        "third": pytest.approx(OTHER_CHUNKS[1] * 0.4),
    }
    assert [one.candidate.key for one in whole.chunks] == [1, 3, 0, 2]
    assert whole.score == pytest.approx((0.9 + OTHER_CHUNKS[0] * 0.6 + OTHER_CHUNKS[1] * 0.4) / HYBRID_SCALE)
    assert (terms_of(low), low.score) == ({"best": 0.0}, 0.0)


def test_without_wholes_a_document_is_its_best_chunk_and_gives_nothing() -> None:
    """And a chunk scores by itself."""
    clues = Clues(without=frozenset({"whole"}))
    wholes = score_documents(score_chunks([chunk("a", 0.9), chunk("a", 0.4, key=2)], clues), clues)

    assert [terms_of(each) for each in wholes] == [{"best": 0.9}]
    assert [(each.score, set(each.why)) for each in ranked(wholes)] == [(0.45, {"sense"}), (0.2, {"sense"})]


def test_the_words_of_the_whole_document_count() -> None:
    """And the order is that of the new scores."""
    wholes = with_document_words(documents(0.5, 0.4), [0.2, 0.9])

    assert [each.document for each in wholes] == ["b", "a"]
    assert [terms_of(each)["whole"] for each in wholes] == [pytest.approx(0.9 * WHOLE), pytest.approx(0.2 * WHOLE)]


def test_kinship_is_with_the_nearest_of_the_best_and_never_with_itself() -> None:
    """By its cosine, which counts as 0 below 0; one document alone has no kin, and notes have none."""
    likeness = [[1.0, 0.5, -0.2], [0.5, 1.0, 0.1], [-0.2, 0.1, 1.0], [-0.3, -0.4, -0.1]]
    wholes = with_kinship(documents(0.9, 0.8, 0.7, 0.6, voice="user"), likeness)
    kin = {each.document: terms_of(each)["kinship"] for each in wholes}

    assert kin == {name: pytest.approx(near * KINSHIP) for name, near in zip("abcd", (0.5, 0.5, 0.1, 0), strict=True)}
    assert terms_of(with_kinship(documents(0.9, voice="user"), [[1.0]])[0])["kinship"] == 0
    assert not any("kinship" in terms_of(each) for each in with_kinship(documents(0.9, 0.8, 0.7, 0.6), likeness))


def test_linked_documents_gain_by_the_best_that_they_are_linked_with() -> None:
    """They gain by its score. Links to documents that were not found add nothing."""
    wholes = with_links(documents(0.8, 0.6, 0.4, 0.2), {"a": {"b", "c"}, "b": {"a"}, "c": {"a"}, "d": {"elsewhere"}})
    gains = {each.document: {t.name: t.score for t in each.terms}.get("links", 0.0) for each in wholes}
    weights = {term.weight for each in wholes for term in each.terms if term.name == "links"}

    assert gains == {"a": pytest.approx(0.6), "b": pytest.approx(0.8), "c": pytest.approx(0.8), "d": 0.0}
    assert weights == {LINKS}


def test_a_chunk_gains_by_its_document() -> None:
    """Of two that are alike, that of the better document is first."""
    wholes = score_documents(scored(chunk("a", 0.5), chunk("b", 0.5, key=2), chunk("b", 0.9, key=3)), Clues())
    by_id = {each.id: each for each in ranked(wholes)}

    assert [*by_id] == ["b-3", "b-2", "a-1"]
    assert by_id["a-1"].score == round((0.5 + DOCUMENT * 0.5) / HYBRID_SCALE, 4)
    assert by_id["b-2"].score == round((0.5 + DOCUMENT * (0.9 + OTHER_CHUNKS[0] * 0.5)) / HYBRID_SCALE, 4)


def test_of_each_document_its_best_chunk_is_given() -> None:
    """It has the document's score and terms; its own words and sense are explained with weight 0."""
    first = chunk("a", 0.5, words=0.4, by={"x": 0.4})
    wholes = score_documents(scored(first, chunk("a", 0.6, key=2), chunk("b", 0.1, key=3)), Clues())
    one, other = ranked(wholes, by="document")

    assert (one.id, other.id) == ("a-1", "b-3")
    assert one.score == round((0.7 + OTHER_CHUNKS[0] * 0.6) / HYBRID_SCALE, 4)
    assert set(one.why) == {"words", "sense", "best", "second"}
    assert (one.why["words"]["weight"], one.why["sense"]["weight"]) == (0, 0)


def test_what_is_far_in_meaning_and_shares_no_word_is_left_out() -> None:
    """A document then shows the best that is not; one without any is not shown."""
    near, word = chunk("a", 0.25), replace(chunk("b", 0.1, key=2), words=0.1, by={"x": 0.1})
    far, opening = chunk("c", 0.2, key=3), chunk("a", 0.24, key=4, opens=True, voice="user")
    wholes = score_documents(scored(near, word, far, opening), Clues())

    assert [each.id for each in ranked(wholes, min_score=0.25)] == ["a-1", "b-2"]
    assert [each.id for each in ranked(wholes, by="document", min_score=0.25)] == ["a-1", "b-2"]
    assert len(ranked(wholes, min_score=0.0)) == 4


@pytest.mark.parametrize("by", ["chunk", "document"])
def test_an_inbox_is_ranked_lower_and_never_hidden(by: SearchUnit) -> None:
    """Its score is multiplied by 0.9, and the explanation says so."""
    wholes = score_documents(scored(chunk("a", 0.5, place="inbox"), chunk("b", 0.5, key=2)), Clues())
    high, low = ranked(wholes, by=by)

    assert (high.id, low.id) == ("b-2", "a-1")
    assert low.score == round(high.score * 0.9, 4)
    assert low.why["place"] == {"place": "inbox", "weight": 0.9}
    assert "place" not in high.why


@pytest.mark.parametrize("by", ["chunk", "document"])
def test_no_more_come_than_are_wanted_and_equals_by_their_ids(by: SearchUnit) -> None:
    """Also those whose scores are equal once they are rounded."""
    some = [chunk(name, 0.5 + step * 1e-7, key=step) for step, name in enumerate("dacb")]

    assert [each.id for each in ranked(score_documents(scored(*some), Clues()), by=by)] == ["a-1", "b-3", "c-2", "d-0"]
    assert [each.id for each in ranked(score_documents(scored(*some), Clues()), by=by, k=2)] == ["a-1", "b-3"]


def test_reasons_tell_what_they_are_about() -> None:
    """When it was said and what the question says of it, who speaks, which words were too common."""
    wholes = score_documents(score_chunks([replace(ANN, words=0.5, by={"x": 0.5})], ALL), ALL)
    (hit,) = ranked(wholes, dropped=("the",))

    assert hit.why["time"] == {"score": 1.0, "weight": TIME / 2, "at": INSIDE, "said": ["early in March"]}
    assert hit.why["speaker"] == {"score": 1.0, "weight": SPEAKER / 2, "name": "Ann"}
    assert hit.why["opening"] == {"score": 1.0, "weight": OPENING / 2}
    assert hit.why["words"] == {"score": 0.5, "weight": 0.25, "by": {"x": 0.5}, "dropped": ["the"]}
    assert hit.why["sense"]["score"] == 0.6
    assert hit.cosine == 0.6


def test_scores_beyond_one_are_shown_as_one_and_still_ordered() -> None:
    """Scores below 0 are shown as 0 and still ordered."""
    above = [replace(chunk(name, 1.0, key=key), words=1.0, by={"x": 1.0}) for key, name in enumerate("zya", start=1)]
    best = replace(above[0], voice="user", opens=True, speaker="Ann", at=INSIDE)
    more = replace(above[1], voice="user", speaker="Ann", at=INSIDE)
    clues = Clues(windows=(WINDOW,), speakers=frozenset({"Ann"}))
    low = [
        replace(chunk(name, near, key=key), voice="assistant") for key, name, near in ((4, "b", 0.0), (5, "c", 0.02))
    ]
    hits = ranked(score_documents(score_chunks([*above[2:], more, best, *low], clues), clues))

    assert [each.id for each in hits] == ["z-1", "y-2", "a-3", "c-5", "b-4"]
    assert [each.score for each in hits if each.score in (0, 1)] == [1, 1, 0, 0]


def test_what_lies_inside_a_window_is_near_and_what_lies_beside_it_less_so() -> None:
    """A tolerance beside it is exp(-1/2) near; the best of several windows counts."""
    day = TimeWindow("2024-05-01T00:00:00Z", "2024-05-02T00:00:00Z", 2.0, "on 1 May")
    since = TimeWindow("2024-05-10T00:00:00Z", "9999-12-31T23:59:59Z", 1.0, "since 10 May")

    assert time_nearness("2024-05-01T00:00:00Z", [day]) == time_nearness("2024-05-01T23:59:59Z", [day]) == 1
    assert time_nearness("2024-04-29T00:00:00Z", [day]) == pytest.approx(0.6065, abs=1e-4)
    assert time_nearness("2024-05-04T00:00:00Z", [day]) == pytest.approx(0.6065, abs=1e-4)
    assert time_nearness("2024-05-04T00:00:00Z", [day, since]) == time_nearness("2024-05-04T00:00:00Z", [day])
    assert time_nearness("2030-01-01T00:00:00Z", [day, since]) == 1
    assert time_nearness("1990-01-01T00:00:00Z", [day]) == 0
    assert time_nearness("", [day]) == time_nearness("2024-05-01T00:00:00Z", []) == 0
