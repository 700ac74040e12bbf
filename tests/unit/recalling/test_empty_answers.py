"""Why a search found nothing."""

from dataclasses import replace

from commonplace.recalling.empty import Circumstances, why_empty

USUAL = Circumstances(
    mode="hybrid", documents=20, passing=20, synced=True, words=("river", "stone"), nearest=0.1, min_score=0.25
)


def test_an_empty_index_says_what_to_do() -> None:
    """A vault that was never read is another thing than a vault without notes."""
    assert "commonplace sync" in why_empty(replace(USUAL, documents=0, passing=0, synced=False))
    assert why_empty(replace(USUAL, documents=0, passing=0)) == "The vault has no note to search."


def test_filters_that_nothing_fits_are_named() -> None:
    """No search could have found anything."""
    assert why_empty(replace(USUAL, passing=0)) == "None of the 20 documents fits the filters."


def test_words_that_stand_nowhere_are_named() -> None:
    """In the words mode nothing else counts."""
    found = why_empty(replace(USUAL, mode="words", nearest=None, passing=1))

    assert found == "None of `river`, `stone` stands in the 1 document that fit the filters."


def test_a_question_without_words_is_said_to_be_one() -> None:
    """Such as one of signs alone."""
    assert why_empty(replace(USUAL, mode="words", words=())) == "The question has no word that could be searched."


def test_what_is_too_far_is_said_with_its_numbers() -> None:
    """The best that there was, and the floor that it missed."""
    far = "othing is near enough in meaning: the best has 0.100, and min_score is 0.25."

    assert why_empty(replace(USUAL, mode="sense")) == f"N{far}"
    assert why_empty(replace(USUAL, words=())) == f"N{far}"
    assert why_empty(USUAL) == f"None of `river`, `stone` stands in the 20 documents, and n{far}"


def test_missing_vectors_are_named() -> None:
    """With a way out where the mode needs them."""
    assert "`--mode words`" in why_empty(replace(USUAL, mode="vector", nearest=None))
    assert why_empty(replace(USUAL, nearest=None)).endswith("which have no vectors.")


def test_a_long_list_of_words_is_cut() -> None:
    """Five are enough to see what was searched."""
    found = why_empty(replace(USUAL, mode="words", words=tuple("abcdefgh")))

    assert found == "None of `a`, `b`, `c`, `d`, `e` and 3 more words stands in the 20 documents."
