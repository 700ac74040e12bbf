"""The order of hits with equal scores, how many of one note are shown, and how near a passage is."""

from dataclasses import replace
from itertools import permutations

import pytest

from commonplace.model import Mode, SearchUnit, Voice
from commonplace.ranking.candidates import ChunkCandidate, best_first, candidate_nearness, limit_per_note
from commonplace.ranking.hybrid import Clues, RankRequest, order_documents, rank, score_chunks, score_documents
from commonplace.ranking.score_modes import fuse

SPRING, AUTUMN = "2026-03-01T09:00:00Z", "2026-10-01T09:00:00Z"
PLAIN = ChunkCandidate(1, "", words=0.5, by={"x": 0.5}, cosine=0.5, best=0.5, sentence=0.5)
MATTERS = replace(PLAIN, key=1, id="e", document="e", importance=0.8, updated=SPRING)
NEWER = replace(PLAIN, key=2, id="d", document="d", importance=0.5, updated=AUTUMN)
OLDER_A = replace(PLAIN, key=3, id="a", document="a", importance=0.5, updated=SPRING)
OLDER_B = replace(PLAIN, key=4, id="b", document="b", importance=0.5, updated=SPRING)
UNDATED = replace(PLAIN, key=5, id="c", document="c", importance=0.5)
EQUALS = (OLDER_B, UNDATED, MATTERS, OLDER_A, NEWER)
ORDER = ["e", "d", "a", "b", "c"]


def by_hybrid(*candidates: ChunkCandidate, by: SearchUnit = "chunk") -> list[str]:
    wholes = score_documents(score_chunks(candidates, Clues()), Clues())
    return [each.id for each in rank(wholes, RankRequest(by, 20, 0.0))]


@pytest.mark.parametrize("mode", ["merge", "rrf"])
def test_importance_then_recency_break_ties_in_the_modes_that_mix_two_streams(mode: Mode) -> None:
    """Of hits with the same score the more important is first, then the one updated last; then ids decide."""
    for some in permutations(EQUALS):
        found = fuse(some, mode=mode, min_score=0.0, word_count=1)

        assert [each.id for each in found] == ORDER


@pytest.mark.parametrize("by", ["chunk", "document"])
def test_importance_then_recency_break_ties_in_the_mode_hybrid(by: SearchUnit) -> None:
    """Of hits with the same score the more important is first, then the one updated last; then ids decide."""
    for some in permutations(EQUALS):
        assert by_hybrid(*some, by=by) == ORDER


def test_a_better_hit_comes_first_however_little_it_matters() -> None:
    """Importance and age decide only between scores that are equal to four decimals."""
    better, hardly = (replace(OLDER_B, best=0.5 + more, sentence=0.5 + more) for more in (1e-3, 1e-6))

    assert by_hybrid(MATTERS, better) == ["b", "e"]
    assert by_hybrid(MATTERS, hardly) == ["e", "b"]


def test_documents_that_score_the_same_are_weighed_further_in_the_same_order() -> None:
    """Only the first few documents are scored as wholes, so the important ones must be among them."""
    wholes = score_documents(score_chunks(EQUALS, Clues()), Clues())

    assert [each.document for each in order_documents(reversed(wholes))] == ORDER


def test_entries_of_any_kind_are_ordered_by_the_chunk_that_they_name() -> None:
    """Scores are compared to four decimals, and the entries are returned unchanged."""
    entries = [(0.50001, NEWER), (0.7, UNDATED), (0.5, MATTERS)]
    ordered = best_first(entries, score=lambda entry: entry[0], candidate=lambda entry: entry[1])

    assert ordered == [entries[1], entries[2], entries[0]]


def notes(*documents: str, voice: Voice = "") -> list[ChunkCandidate]:
    """Chunks of these notes, or turns of these conversations, in the order of their ranking."""
    return [replace(PLAIN, key=n, id=str(n), document=each, voice=voice) for n, each in enumerate(documents)]


def limited(candidates: list[ChunkCandidate], *, k: int = 4, per_note: int = 2) -> list[tuple[str, int]]:
    best = limit_per_note(candidates, candidate=lambda each: each, k=k, per_note=per_note)
    return [(each.document, more) for each, more in best]


def test_at_most_two_passages_of_a_note_are_shown_and_the_rest_is_counted() -> None:
    """The places go to the next notes; the count is on the note's last passage and ends with the list."""
    ranked = notes("a", "a", "a", "b", "a", "b", "b", "c", "a", "c")

    assert limited(ranked, k=5) == [("a", 0), ("a", 2), ("b", 0), ("b", 1), ("c", 0)]
    assert limited(ranked, k=2) == [("a", 0), ("a", 0)]
    assert limited(ranked, k=9) == [("a", 0), ("a", 3), ("b", 0), ("b", 1), ("c", 0), ("c", 0)]


def test_all_passages_of_a_note_are_shown_on_request() -> None:
    """A limit of 0 is no limit, and nothing is left to count."""
    assert limited(notes("a", "a", "a", "b"), per_note=0) == [("a", 0), ("a", 0), ("a", 0), ("b", 0)]


def test_turns_of_a_conversation_are_not_limited() -> None:
    """Several turns often answer a question together."""
    assert limited(notes("a", "a", "a", "b", voice="user")) == [("a", 0), ("a", 0), ("a", 0), ("b", 0)]


def test_a_stray_sentence_does_not_make_a_passage_near() -> None:
    """The passage around it counts as much."""
    stray = replace(PLAIN, cosine=0.1, best=0.2, sentence=0.6)

    assert candidate_nearness(stray) == pytest.approx(0.35)
    assert candidate_nearness(replace(PLAIN, cosine=0.4, best=0.5, sentence=0.2)) == pytest.approx(0.45)
    assert candidate_nearness(replace(PLAIN, cosine=None)) is None
