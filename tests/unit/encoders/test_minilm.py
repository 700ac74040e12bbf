"""The model that comes with Commonplace: right vectors, exact tokens, clear words when it is not there."""

import base64
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from commonplace.encoders.minilm import MiniLM
from commonplace.encoders.weights import built_graph, graph_path
from commonplace.errors import ProviderFailed, UsageError
from tests.components import MODEL_FOLDER

REFERENCE: dict[str, Any] = json.loads((Path(__file__).parent / "reference.json").read_text())
TEXTS = [each["text"] for each in REFERENCE["texts"]]
HAS_A_WORD = [any(letter.isalnum() for letter in text) for text in TEXTS]
needs_model = pytest.mark.needs("model")


def reference() -> npt.NDArray[np.float64]:
    """The vectors that the reference implementation gave; `method` in the file says how."""
    return np.array([np.frombuffer(base64.b64decode(each["vector"]), "<i2") for each in REFERENCE["texts"]]) / 32767


def likeness(encoder: MiniLM) -> npt.NDArray[np.float64]:
    vectors = encoder.encode(TEXTS).astype(np.float64)
    cosines: npt.NDArray[np.float64] = (vectors * reference()).sum(axis=1)
    return cosines


@needs_model
@pytest.mark.requirement("D-10", "D-89")
def test_fp32_gives_the_vectors_of_the_reference() -> None:
    """The default provider is MiniLM with 384 numbers a vector: cosine over 0.999 with the reference for each text."""
    encoder = MiniLM(MODEL_FOLDER, variant="fp32", tag="test")

    assert encoder.dim == 384
    assert encoder.alias == "minilm-l6-v2"
    assert likeness(encoder).min() > 0.999


@needs_model
def test_int8_stays_near_the_reference() -> None:
    """Cosine over 0.98 for each text with a word in it, and over 0.95 for blanks and marks alone."""
    cosines = likeness(MiniLM(MODEL_FOLDER, variant="int8", tag="test"))

    assert cosines[HAS_A_WORD].min() > 0.98
    assert cosines[HAS_A_WORD].mean() > 0.99
    assert cosines.min() > 0.95


@needs_model
@pytest.mark.requirement("D-11")
def test_a_new_tag_is_a_new_version() -> None:
    """The tag and the variant are both in the version that is stamped on every vector."""
    made = [
        MiniLM(MODEL_FOLDER, variant="int8", tag="a").version,
        MiniLM(MODEL_FOLDER, variant="fp32", tag="a").version,
        MiniLM(MODEL_FOLDER, variant="int8", tag="b").version,
    ]

    assert made == ["a+int8", "a+fp32", "b+int8"]


@needs_model
def test_tokens_are_those_of_the_whole_text() -> None:
    """The tokenizer neither cuts nor fills, and each span is the token's own letters."""
    text = "Überraschung: the quick brown fox (2026)\n" * 40

    spans = MiniLM(MODEL_FOLDER, variant="int8", tag="test").tokens(text)

    assert len(spans) % 40 == 0
    assert len(spans) > 256
    assert [text[start:end] for start, end in spans[-4:]] == ["(", "202", "6", ")"]


@needs_model
def test_half_a_character_moves_no_span() -> None:
    """Spans count characters as Python does, also behind a lone surrogate and beside wide ones."""
    text = "\ud83d 🎉 cat"

    spans = MiniLM(MODEL_FOLDER, variant="int8", tag="test").tokens(text)

    assert text[slice(*spans[-1])] == "cat"


@pytest.mark.requirement("I-65")
def test_a_missing_model_says_how_to_get_it(tmp_path: Path) -> None:
    """Without its weights the encoder is not made, and the failure is of the kind that search goes on without."""
    with pytest.raises(ProviderFailed) as caught:
        MiniLM(tmp_path / "nowhere", variant="int8", tag="test")

    assert caught.value.hint == "Run `commonplace model install`."
    assert "model.safetensors" in caught.value.message


@needs_model
def test_more_tokens_than_the_model_has_places_are_refused() -> None:
    """The model knows 512 places."""
    with pytest.raises(UsageError):
        MiniLM(MODEL_FOLDER, variant="int8", tag="test", max_tokens=513)


@needs_model
def test_the_longest_window_works() -> None:
    """All 512 places may be filled."""
    encoder = MiniLM(MODEL_FOLDER, variant="int8", tag="test", max_tokens=512)

    assert encoder.encode(["word " * 2000]).shape == (1, 384)


@needs_model
def test_a_graph_that_is_gone_is_built_again(tmp_path: Path) -> None:
    """The graph is derived from the weights, and comes out the same, byte for byte."""
    for name in ("model.safetensors", "tokenizer.json"):
        (tmp_path / name).symlink_to(MODEL_FOLDER / name)

    MiniLM(tmp_path, variant="int8", tag="test").encode(["hello"])

    made = built_graph(MODEL_FOLDER, variant="int8").read_bytes()
    assert graph_path(tmp_path, variant="int8").read_bytes() == made
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "model-int8.onnx",
        "model.safetensors",
        "tokenizer.json",
    ]


@needs_model
def test_a_damaged_graph_is_a_failure_that_says_what_to_do(tmp_path: Path) -> None:
    """`model install` builds it anew."""
    shutil.copytree(MODEL_FOLDER, tmp_path / "model", ignore=shutil.ignore_patterns("*.onnx"))
    graph_path(tmp_path / "model", variant="int8").write_bytes(b"not a graph")

    with pytest.raises(ProviderFailed) as caught:
        MiniLM(tmp_path / "model", variant="int8", tag="test").encode(["hello"])
    assert caught.value.hint == "Run `commonplace model install`."
