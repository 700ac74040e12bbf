"""Tokens without a tokenizer, and vectors without a model."""

import pytest

from commonplace.encoders.base import heuristic_tokens
from commonplace.encoders.hashing import HashingEncoder


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", []),
        (" \n\t", []),
        ("cat, dog", ["cat", ",", "dog"]),
        ("internationalisation", ["inter", "natio", "nalis", "ation"]),
        ("1234", ["12", "34"]),
        ("snake_case", ["snake", "_", "case"]),
        ("café", ["café"]),
        ("日本", ["日", "本"]),
        ("🎉\x00\ud83d", ["🎉", "\x00", "\ud83d"]),
    ],
)
@pytest.mark.requirement("D-90")
def test_words_and_marks_are_tokens(text: str, tokens: list[str]) -> None:
    """A long word is several tokens, and so is a number; letters of other scripts count one by one."""
    assert [text[start:end] for start, end in heuristic_tokens(text)] == tokens


def test_texts_that_share_words_are_near_by_hashing() -> None:
    """Enough meaning for tests of search: near by words and by parts of words."""
    encoder = HashingEncoder()
    texts = ["water the garden beds", "watering garden bed", "a letter of the tax office"]
    garden, gardening, taxes = encoder.encode(texts)

    assert float(garden @ gardening) > float(garden @ taxes) + 0.2


def test_hashing_is_the_same_everywhere() -> None:
    """Recorded once: the vector depends on no machine, no process and no library's version."""
    vector = HashingEncoder(8).encode(["Water the beds"])[0]

    assert [round(float(number), 4) for number in vector] == RECORDED


RECORDED = [0.2481, 0.7442, 0.0, -0.2481, 0.0, -0.124, 0.2481, -0.4961]
