"""Why a search found nothing."""

from dataclasses import replace

from commonplace.ranking.score_modes import EmptySearch, explain_no_results

USUAL = EmptySearch(
    mode="hybrid", documents=20, passing=20, synced=True, words=("river", "stone"), nearest=0.1, min_score=0.25
)


def test_an_empty_index_says_what_to_do() -> None:
    """A vault that was never read differs from a vault without notes."""
    assert "commonplace sync" in explain_no_results(replace(USUAL, documents=0, passing=0, synced=False))
    assert explain_no_results(replace(USUAL, documents=0, passing=0)) == "The vault has no notes to search."


def test_filters_that_nothing_fits_are_named() -> None:
    """No search could have found anything."""
    assert explain_no_results(replace(USUAL, passing=0)) == "None of the 20 documents matches the filters."


def test_words_that_stand_nowhere_are_named() -> None:
    """In the words mode nothing else counts."""
    found = explain_no_results(replace(USUAL, mode="words", nearest=None, passing=1))

    assert found == "None of `river`, `stone` occurs in the 1 document that matches the filters."


def test_a_question_without_words_is_said_to_be_one() -> None:
    """For example a question of punctuation only."""
    assert explain_no_results(replace(USUAL, mode="words", words=())) == "The question has no words to search for."


def test_what_is_too_far_is_said_with_its_numbers() -> None:
    """The best cosine and the minimum it missed."""
    far = "othing is close enough in meaning: the best cosine is 0.100, and min_score is 0.25."

    assert explain_no_results(replace(USUAL, mode="sense")) == f"N{far}"
    assert explain_no_results(replace(USUAL, words=())) == f"N{far}"
    assert explain_no_results(USUAL) == f"None of `river`, `stone` occurs in the 20 documents, and n{far}"


def test_missing_vectors_are_named() -> None:
    """If the mode needs vectors, the message suggests another mode."""
    assert "`--mode words`" in explain_no_results(replace(USUAL, mode="vector", nearest=None))
    assert explain_no_results(replace(USUAL, nearest=None)).endswith("there are no vectors to compare with.")


def test_a_long_list_of_words_is_cut() -> None:
    """Five are enough to see what was searched."""
    found = explain_no_results(replace(USUAL, mode="words", words=tuple("abcdefgh")))

    assert found == "None of `a`, `b`, `c`, `d`, `e` and 3 more words occurs in the 20 documents."


def test_nothing_fits_is_said_with_how_near_it_came() -> None:
    """And how to see the nearest passages all the same; without words, only the meaning is named."""
    rejected = replace(USUAL, nearness=0.284, needed=0.392)
    fits = (
        "othing fits in meaning: the nearness of the best passage is 0.28, and unrelated questions have 0.39 here. "
        "A min_score of 0 shows the nearest passages."
    )

    assert explain_no_results(rejected) == f"None of `river`, `stone` occurs in the 20 documents, and n{fits}"
    assert explain_no_results(replace(rejected, words=())) == f"N{fits}"
