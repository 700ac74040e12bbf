"""Text cut to a length, where a reader would cut it."""

import pytest

from commonplace.recalling.shorten import USEFUL, shortened


def test_a_text_is_cut_after_a_sentence_where_one_ends_near() -> None:
    """A line counts like a sentence; a dot inside a word ends nothing."""
    sentences = "The pump is in the shed behind the house and it runs. " * 3
    lines = "- the pump is in the shed behind the house\n" * 4

    assert shortened(sentences, 120) == sentences[:107]
    assert shortened(lines, 100) == lines[:85]
    assert shortened("see recalling.shorten " * 9, 110) == ("see recalling.shorten " * 5).strip()


def test_a_text_without_a_sentence_is_cut_after_a_word() -> None:
    """So is one whose last sentence ends far back."""
    words = "word " * 60

    assert shortened(words, 103) == ("word " * 20).strip()
    assert shortened("No. " + words, 103) == ("No. " + "word " * 20).strip()


@pytest.mark.parametrize(
    ("text", "kept"), [("東" * 300, 100), ("e\u0301" * 150, 100), ("e\u0301" * 150, 101), ("x" * 300, 90)]
)
def test_a_text_without_spaces_is_cut_between_characters(text: str, kept: int) -> None:
    """A sign stays with the letter it belongs to."""
    short = shortened(text, kept)

    assert len(short) in (kept, kept - 1)
    assert not text[len(short)].startswith("\u0301")


def test_too_little_is_nothing() -> None:
    """A beginning that says nothing is no use to a model."""
    assert shortened("word " * 60, USEFUL - 1) == ""
    assert shortened(" " * 300, 200) == ""
    assert len(shortened("x" * 300, USEFUL)) == USEFUL
