"""Confidence: it grows with the best chunk's score and the question's words found, and falls with the index's size."""

from collections.abc import Sequence
from itertools import pairwise

import pytest

from commonplace.model import Voice
from commonplace.ranking import hybrid
from commonplace.ranking.candidates import HYBRID_SCALE, ChunkCandidate
from commonplace.ranking.hybrid import ScoredChunk, ScoredDocument, Term

ASKED = ("river", "stone", "moss", "fern")
VOICES: tuple[Voice, ...] = ("user", "assistant")


def confidence(documents: Sequence[ScoredDocument], words: Sequence[str], *, chunks: int = 500) -> float:
    """In an index of that many chunks."""
    return hybrid.confidence(documents, words, chunks=chunks)


def whole(
    score: float, *words: str, voice: Voice = "", name: str = "d", terms: tuple[Term, ...] = ()
) -> ScoredDocument:
    """A document of that score, with one chunk that has these words."""
    chunk = ChunkCandidate(1, name, words=0.5, by=dict.fromkeys(words, 0.1), document=name, voice=voice)
    return ScoredDocument(name, (ScoredChunk(chunk, score, terms),), (Term("best", score * HYBRID_SCALE, 1.0),))


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
    said = [confidence([whole(0.4, voice=voice)], ASKED) for voice in VOICES]

    assert confidence([whole(0.4, *ASKED, voice="assistant")], ASKED) == said[1]
    assert confidence([whole(0.4, *ASKED, voice="user")], ASKED) > said[0]
    assert confidence([*four, whole(0.4), whole(0.4, *ASKED)], ASKED) == none
    assert confidence([*four, whole(0.4, *ASKED)], ASKED) > none


def test_words_that_were_not_asked_for_do_not_count() -> None:
    """A question without words lacks none."""
    assert confidence([whole(0.4, "sand")], ASKED) == confidence([whole(0.4)], ASKED)
    assert confidence([whole(0.4)], ()) == confidence([whole(0.4, *ASKED)], ASKED)


def test_the_best_of_many_is_believed_less() -> None:
    """One of ten thousand chunks is near to anything by chance; in a small vault little is enough."""
    found = [confidence([whole(0.3, *ASKED[:1])], ASKED, chunks=count) for count in (30, 500, 10_000)]

    assert found == sorted(found, reverse=True)
    assert found[0] > 0.7 > 0.4 > found[-1]


def test_what_shares_no_word_with_the_question_may_still_be_the_answer() -> None:
    """In a small vault, if it is near in meaning."""
    assert 0.1 < confidence([whole(0.18)], ASKED, chunks=30) < 0.5 < confidence([whole(0.3)], ASKED, chunks=30)


def test_nearness_by_chance_is_not_believed_and_a_clear_hit_is() -> None:
    """Without a word in common, and with all of them."""
    assert confidence([whole(0.15)], ASKED) < 0.05
    assert confidence([whole(0.5, *ASKED)], ASKED) > 0.95


def test_age_makes_no_answer_surer() -> None:
    """It only changes the order of hits about the same thing."""
    age = Term("age", 0.2, 1.0)

    assert confidence([whole(0.3 + age.value, terms=(age,))], ASKED) == confidence([whole(0.3)], ASKED)
