"""Truncating text where a reader would."""

import pytest

from commonplace.context.page import MIN_USEFUL, truncate


def test_a_text_is_cut_after_a_sentence_where_one_ends_near() -> None:
    """A line counts like a sentence; a dot inside a word ends nothing."""
    sentences = "The pump is in the shed behind the house and it runs. " * 3
    lines = "- the pump is in the shed behind the house\n" * 4

    assert truncate(sentences, 120) == sentences[:107]
    assert truncate(lines, 100) == lines[:85]
    assert truncate("see recalling.shorten " * 9, 110) == ("see recalling.shorten " * 5).strip()


def test_a_text_without_a_sentence_is_cut_after_a_word() -> None:
    """So is one whose last sentence ends far back."""
    words = "word " * 60

    assert truncate(words, 103) == ("word " * 20).strip()
    assert truncate("No. " + words, 103) == ("No. " + "word " * 20).strip()


@pytest.mark.parametrize(
    ("text", "kept"), [("東" * 300, 100), ("e\u0301" * 150, 100), ("e\u0301" * 150, 101), ("x" * 300, 90)]
)
def test_a_text_without_spaces_is_cut_between_characters(text: str, kept: int) -> None:
    """A sign stays with the letter it belongs to."""
    short = truncate(text, kept)

    assert len(short) in (kept, kept - 1)
    assert not text[len(short)].startswith("\u0301")


def test_too_little_is_nothing() -> None:
    """A beginning that says nothing does not help a model."""
    assert truncate("word " * 60, MIN_USEFUL - 1) == ""
    assert truncate(" " * 300, 200) == ""
    assert len(truncate("x" * 300, MIN_USEFUL)) == MIN_USEFUL
