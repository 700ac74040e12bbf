"""Counting without a tokenizer, and the twin without a model."""

from pathlib import Path

import numpy as np
import pytest

import commonplace
from commonplace.encoders.hashing import HashingEncoder
from commonplace.encoders.heuristic import heuristic_tokens
from commonplace.encoders.minilm import MiniLM
from tests.components import MODEL_FOLDER

SAMPLES = sorted((Path(commonplace.__file__).parent / "sample_vault").rglob("*.md"))


@pytest.mark.needs("model")
@pytest.mark.requirement("D-90")
def test_the_heuristic_counts_too_high_rather_than_too_low() -> None:
    """Over all sample notes up to 15 % too high and never too low, no note short by over a tenth."""
    texts = [path.read_text(errors="replace") for path in SAMPLES]
    encoder = MiniLM(MODEL_FOLDER, variant="int8", tag="test")
    counted = np.array([len(heuristic_tokens(text)) for text in texts])
    exact = np.array([len(encoder.tokens(text)) for text in texts])

    assert len(texts) >= 15
    assert 1.0 <= counted.sum() / exact.sum() <= 1.15
    assert (counted / exact).min() >= 0.9


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


def test_texts_that_share_words_are_near_in_the_twin() -> None:
    """Enough meaning for tests of search: near by words and by parts of words."""
    encoder = HashingEncoder()
    texts = ["water the garden beds", "watering garden bed", "a letter of the tax office"]
    garden, gardening, taxes = encoder.encode(texts)

    assert float(garden @ gardening) > float(garden @ taxes) + 0.2


def test_the_twin_is_the_same_everywhere() -> None:
    """Recorded once: the vector depends on no machine, no process and no library's version."""
    vector = HashingEncoder(8).encode(["Water the beds"])[0]

    assert [round(float(number), 4) for number in vector] == RECORDED


RECORDED = [0.2481, 0.7442, 0.0, -0.2481, 0.0, -0.124, 0.2481, -0.4961]
