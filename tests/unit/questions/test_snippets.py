"""Snippets: the part of a text that shows a question's words."""

import pytest

from commonplace.questions.snippets import Snippet, cut_snippet
from commonplace.questions.words import query_words


def cut(text: str, question: str, *, width: int = 60) -> Snippet:
    return cut_snippet(text, query_words(question).words, width=width)


def marked(found: Snippet) -> list[str]:
    return [found.text[start:end] for start, end in found.marks]


def test_a_short_text_is_shown_whole_on_one_line() -> None:
    """Words match whatever their ending."""
    found = cut("The gardens\n\n  were  watered.", "watering garden")

    assert found.text == "The gardens were watered."
    assert marked(found) == ["gardens", "watered"]


def test_a_long_text_is_cut_to_where_most_of_the_words_are() -> None:
    """Different words count more than one that is repeated; cuts are at spaces, shown by an ellipsis."""
    text = "river river river " + "lorem ipsum " * 20 + "the river has a stone " + "lorem ipsum " * 20
    found = cut(text, "stone in the river")

    assert marked(found) == ["river", "stone"]
    assert found.text.startswith("…")
    assert found.text.endswith("…")
    assert len(found.text) <= 60
    assert set(found.text.strip("…").split()) <= set(text.split())


def test_a_text_without_a_match_is_shown_from_its_beginning() -> None:
    """So is a hit found by meaning alone."""
    found = cut("lorem ipsum dolor " * 20, "river")

    assert found.text == "lorem ipsum dolor lorem ipsum dolor lorem ipsum dolor…"
    assert found.marks == ()


def test_scripts_without_spaces_are_marked_by_their_characters() -> None:
    """Marking the whole run could mark a whole line."""
    found = cut("昨日は東京タワーに行った", "東京タワー")

    assert marked(found) == ["東京タワー"]


@pytest.mark.parametrize("text", ["", "x" * 5000, "東" * 5000, "\x00" * 300, "a " * 5000, "é\u0301" * 500])
@pytest.mark.parametrize("width", [1, 10, 60])
def test_any_text_at_any_width_is_safe(text: str, width: int) -> None:
    """No longer than asked for, marks within the text."""
    found = cut_snippet(text, {"a", "東", "東東", "x" * 64}, width=width)

    assert len(found.text) <= width
    assert all(0 <= start < end <= len(found.text) for start, end in found.marks)
