"""Confidence: it grows with the best document's score and with the question's words in the best five documents."""

from itertools import pairwise

import pytest

from commonplace.model import Voice
from commonplace.ranking.candidates import HYBRID_SCALE, ChunkCandidate
from commonplace.ranking.hybrid import ScoredChunk, ScoredDocument, Term, confidence

ASKED = ("river", "stone", "moss", "fern")


def whole(score: float, *words: str, voice: Voice = "", name: str = "d") -> ScoredDocument:
    """A document of that score, with one chunk that has these words."""
    chunk = ChunkCandidate(1, name, words=0.5, by=dict.fromkeys(words, 0.1), document=name, voice=voice)
    return ScoredDocument(name, (ScoredChunk(chunk, score, ()),), (Term("best", score * HYBRID_SCALE, 1.0),))


def test_nothing_found_is_no_confidence() -> None:
    """For any question."""
    assert confidence([], ASKED) == confidence([], ()) == 0


@pytest.mark.parametrize("words", [(), ASKED[:2], ASKED])
def test_the_better_the_best_document_the_surer(words: tuple[str, ...]) -> None:
    """Never less for a higher score, and always from 0 to 1, with four places."""
    found = [confidence([whole(step / 20, *words)], ASKED) for step in range(21)]

    assert all(one <= other for one, other in pairwise(found))
    assert found[0] < found[-1]
    assert all(0 <= each <= 1 and round(each, 4) == each for each in found)


def test_the_more_words_the_surer() -> None:
    """They may be in any of the best five documents."""
    found = [confidence([whole(0.4, *ASKED[:count])], ASKED) for count in range(5)]
    spread = [whole(0.4, word, name=word) for word in ASKED]

    assert all(one < other for one, other in pairwise(found))
    assert confidence(spread, ASKED) == found[-1]


def test_words_of_replies_and_of_what_comes_after_the_fifth_do_not_count() -> None:
    """Assistants repeat the question, and some document always has its words."""
    four = [whole(0.4, name=str(number)) for number in range(4)]
    none = confidence([whole(0.4)], ASKED)

    assert confidence([whole(0.4, *ASKED, voice="assistant")], ASKED) == none
    assert confidence([whole(0.4, *ASKED, voice="user")], ASKED) > none
    assert confidence([*four, whole(0.4), whole(0.4, *ASKED)], ASKED) == none
    assert confidence([*four, whole(0.4, *ASKED)], ASKED) > none


def test_words_that_were_not_asked_for_do_not_count() -> None:
    """A question without words lacks none."""
    assert confidence([whole(0.4, "sand")], ASKED) == confidence([whole(0.4)], ASKED)
    assert confidence([whole(0.4)], ()) == confidence([whole(0.4, *ASKED)], ASKED)


def test_it_is_as_likely_as_not_in_the_middle() -> None:
    """All words, and a best document of two sevenths; with none of them a good one is hardly believed."""
    assert confidence([whole(0.285, *ASKED)], ASKED) == 0.5
    assert confidence([whole(0.2)], ASKED) < 0.02
    assert confidence([whole(1.0, *ASKED)], ASKED) > 0.99
