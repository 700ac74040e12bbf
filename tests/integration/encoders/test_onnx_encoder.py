"""Our encoders: correct vectors, exact tokens, clear errors if its files are missing or damaged."""

import base64
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import commonplace
from commonplace.encoders.base import heuristic_tokens
from commonplace.encoders.model_files import ensure_graph, graph_path, missing_files
from commonplace.encoders.model_graphs import BertShape, build_bert_graph
from commonplace.encoders.models import (
    GTE_SMALL,
    MINILM,
    MODELS,
    USE_MULTILINGUAL,
    model_of_version,
    read_safetensors,
)
from commonplace.encoders.onnx_encoder import OnnxEncoder
from commonplace.encoders.onnx_format import onnx_model, onnx_node, onnx_port
from commonplace.errors import ProviderFailed, UsageError
from tests.components import MODEL_FOLDER, MULTILINGUAL_FOLDER

REFERENCE: dict[str, Any] = json.loads((Path(__file__).parent / "reference.json").read_text())
TEXTS = [each["text"] for each in REFERENCE["texts"]]
HAS_A_WORD = [any(letter.isalnum() for letter in text) for text in TEXTS]
SAMPLES = sorted((Path(commonplace.__file__).parent / "sample_vault").rglob("*.md"))
WEIGHTS, TOKENIZER = (file.name for file in MINILM.files)
needs_model = pytest.mark.needs("model")


def reference() -> npt.NDArray[np.float64]:
    """The vectors that the reference implementation gave; `method` in the file says how."""
    return np.array([np.frombuffer(base64.b64decode(each["vector"]), "<i2") for each in REFERENCE["texts"]]) / 32767


def link_files(folder: Path) -> None:
    for file in MINILM.files:
        (folder / file.name).symlink_to(MODEL_FOLDER / file.name)


@pytest.fixture(scope="module")
def int8() -> OnnxEncoder:
    """The default variant, loaded once; tests with other files or settings make their own."""
    return OnnxEncoder(MODEL_FOLDER, MINILM, variant="int8", tag="test")


def cosines_with_reference(encoder: OnnxEncoder) -> npt.NDArray[np.float64]:
    vectors = encoder.encode(TEXTS).astype(np.float64)
    cosines: npt.NDArray[np.float64] = (vectors * reference()).sum(axis=1)
    return cosines


@needs_model
@pytest.mark.requirement("D-10", "D-89")
def test_fp32_gives_the_vectors_of_the_reference() -> None:
    """The default provider is MiniLM with 384 numbers a vector: cosine over 0.999 with the reference for each text."""
    encoder = OnnxEncoder(MODEL_FOLDER, MINILM, variant="fp32", tag="test")

    assert encoder.dim == 384
    assert encoder.alias == "minilm-l6-v2"
    assert cosines_with_reference(encoder).min() > 0.999


@needs_model
def test_int8_stays_near_the_reference(int8: OnnxEncoder) -> None:
    """Cosine over 0.98 for each text with a word in it, and over 0.95 for blanks and marks alone."""
    cosines = cosines_with_reference(int8)

    assert cosines[HAS_A_WORD].min() > 0.98
    assert cosines[HAS_A_WORD].mean() > 0.99
    assert cosines.min() > 0.95


@needs_model
@pytest.mark.requirement("D-11")
def test_a_new_tag_is_a_new_version() -> None:
    """The tag and the variant are both in the version that is stamped on every vector."""
    versions = [
        OnnxEncoder(MODEL_FOLDER, MINILM, variant="int8", tag="a").version,
        OnnxEncoder(MODEL_FOLDER, MINILM, variant="fp32", tag="a").version,
        OnnxEncoder(MODEL_FOLDER, MINILM, variant="int8", tag="b").version,
    ]

    assert versions == ["a+int8", "a+fp32", "b+int8"]


@needs_model
def test_tokens_are_those_of_the_whole_text(int8: OnnxEncoder) -> None:
    """The tokenizer neither cuts nor fills, and each span is the token's own letters."""
    text = "Überraschung: the quick brown fox (2026)\n" * 40

    spans = int8.tokens(text)

    assert len(spans) % 40 == 0
    assert len(spans) > 256
    assert [text[start:end] for start, end in spans[-4:]] == ["(", "202", "6", ")"]


@needs_model
def test_half_a_character_moves_no_span(int8: OnnxEncoder) -> None:
    """Spans count characters as Python does, also after a lone surrogate and next to wide characters."""
    text = "\ud83d 🎉 cat"

    spans = int8.tokens(text)

    assert text[slice(*spans[-1])] == "cat"


@pytest.mark.requirement("I-65")
def test_a_missing_model_says_how_to_get_it(tmp_path: Path) -> None:
    """Without its weights the encoder is not made, and the failure is of the kind that search goes on without."""
    with pytest.raises(ProviderFailed) as caught:
        OnnxEncoder(tmp_path / "nowhere", MINILM, variant="int8", tag="test")

    assert caught.value.hint == "Run `commonplace model install minilm-l6-v2`."
    assert "model.safetensors" in caught.value.message


@needs_model
def test_more_tokens_than_the_model_has_places_are_refused() -> None:
    """The model knows 512 places."""
    with pytest.raises(UsageError):
        OnnxEncoder(MODEL_FOLDER, MINILM, variant="int8", tag="test", max_tokens=513)


@needs_model
def test_the_longest_window_works() -> None:
    """All 512 places may be filled."""
    encoder = OnnxEncoder(MODEL_FOLDER, MINILM, variant="int8", tag="test", max_tokens=512)

    assert encoder.encode(["word " * 2000]).shape == (1, 384)


@needs_model
def test_a_graph_that_is_gone_is_built_again(tmp_path: Path) -> None:
    """The graph is derived from the weights, and comes out the same, byte for byte."""
    link_files(tmp_path)

    OnnxEncoder(tmp_path, MINILM, variant="int8", tag="test").encode(["hello"])

    expected = ensure_graph(MODEL_FOLDER, MINILM, variant="int8").read_bytes()
    assert graph_path(tmp_path, variant="int8").read_bytes() == expected
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "model-int8.onnx",
        "model.safetensors",
        "tokenizer.json",
    ]


@needs_model
def test_a_damaged_graph_is_built_again(tmp_path: Path, int8: OnnxEncoder) -> None:
    """Also one that would load and give other numbers; `tests/unit/encoders` has more kinds of damage."""
    link_files(tmp_path)
    intact = ensure_graph(MODEL_FOLDER, MINILM, variant="int8").read_bytes()
    middle = len(intact) // 2
    graph_path(tmp_path, variant="int8").write_bytes(intact[:middle] + bytes(4096) + intact[middle + 4096 :])

    vectors = OnnxEncoder(tmp_path, MINILM, variant="int8", tag="test").encode(["hello"])

    assert np.array_equal(vectors, int8.encode(["hello"]))
    assert graph_path(tmp_path, variant="int8").read_bytes() == intact


@needs_model
@pytest.mark.parametrize("graph", [None, b"not a graph"])
def test_no_graph_is_built_from_damaged_weights(tmp_path: Path, graph: bytes | None) -> None:
    """Of the right size, but not the pinned ones: a failure that says what to do."""
    (tmp_path / TOKENIZER).symlink_to(MODEL_FOLDER / TOKENIZER)
    (tmp_path / WEIGHTS).touch()
    os.truncate(tmp_path / WEIGHTS, MINILM.files[0].size)
    if graph:
        graph_path(tmp_path, variant="int8").write_bytes(graph)

    with pytest.raises(ProviderFailed, match=r"model\.safetensors is not the pinned file") as caught:
        OnnxEncoder(tmp_path, MINILM, variant="int8", tag="test").encode(["hello"])
    assert caught.value.hint == "Run `commonplace model install minilm-l6-v2`."


@needs_model
@pytest.mark.parametrize("change", [lambda whole: b" " * len(whole), lambda whole: whole.replace(b'"the"', b'"teh"')])
def test_a_damaged_tokenizer_is_a_failure_that_says_what_to_do(
    tmp_path: Path, change: Callable[[bytes], bytes]
) -> None:
    """Also one that would load: its tokens would be others."""
    (tmp_path / WEIGHTS).symlink_to(MODEL_FOLDER / WEIGHTS)
    (tmp_path / TOKENIZER).write_bytes(change((MODEL_FOLDER / TOKENIZER).read_bytes()))

    with pytest.raises(ProviderFailed, match=r"tokenizer\.json is not the pinned file") as caught:
        OnnxEncoder(tmp_path, MINILM, variant="int8", tag="test").tokens("hello")
    assert caught.value.hint == "Run `commonplace model install minilm-l6-v2`."


@needs_model
def test_a_graph_that_cannot_be_loaded_is_a_failure_of_the_provider(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Such as one with a step that this onnxruntime does not know; nothing is printed past the error."""
    link_files(tmp_path)
    ports = [onnx_port(name, "int32", ["tokens"]) for name in ("ids", "vector")]
    step = onnx_node("NoSuchStep", ["ids"], ["vector"])
    whole = onnx_model(nodes=[step], tensors=[], inputs=ports[:1], outputs=ports[1:])
    graph_path(tmp_path, variant="int8").write_bytes(whole)

    with pytest.raises(ProviderFailed, match="the model cannot be loaded") as caught:
        OnnxEncoder(tmp_path, MINILM, variant="int8", tag="test").encode(["hello"])
    assert caught.value.hint == "Run `commonplace model install minilm-l6-v2`."
    assert capfd.readouterr() == ("", "")


@needs_model
@pytest.mark.parametrize("texts", [["hello"], ["hello", "again"]])
def test_a_run_that_fails_is_a_failure_of_the_provider(tmp_path: Path, texts: list[str]) -> None:
    """A graph that loads but has only the first ten tokens, alone and in the pool; the error does not show the text."""
    link_files(tmp_path)
    tensors = dict(read_safetensors((MODEL_FOLDER / WEIGHTS).read_bytes()))
    tensors["embeddings.word_embeddings.weight"] = tensors["embeddings.word_embeddings.weight"][:10]
    graph_path(tmp_path, variant="int8").write_bytes(build_bert_graph(tensors, BertShape(), variant="int8"))

    with pytest.raises(ProviderFailed) as caught:
        OnnxEncoder(tmp_path, MINILM, variant="int8", tag="test").encode(texts)
    assert caught.value.message == "the model failed: InvalidArgument"
    assert caught.value.hint == "Run `commonplace model install minilm-l6-v2`."


@needs_model
def test_an_interrupt_drops_the_work_that_has_not_begun() -> None:
    """The encoder is free at once for the next text, and the program to end."""
    encoder = OnnxEncoder(MODEL_FOLDER, MINILM, variant="int8", tag="test", threads=2)
    encoder.encode(["load it"])

    def interrupt(count: int) -> None:
        raise KeyboardInterrupt

    start = time.process_time()
    with pytest.raises(KeyboardInterrupt):
        encoder.encode(["some words of a note " * 50] * 1000, progress=interrupt)
    encoder.encode(["next", "and next"])

    assert time.process_time() - start < 5


@needs_model
def test_the_runtime_of_the_model_reports_nothing_home(tmp_path: Path) -> None:
    """It would give the machine an id in the user's cache, and send what it sees: not unless a person asks for it."""
    program = (
        "import sys; from pathlib import Path; from commonplace.encoders.models import MINILM\n"
        "from commonplace.encoders.onnx_encoder import OnnxEncoder\n"
        "OnnxEncoder(Path(sys.argv[1]), MINILM, variant='int8', tag='x').encode(['ready'])"
    )
    environ = {name: value for name, value in os.environ.items() if name not in ("CI", "ORT_DISABLE_TELEMETRY")}
    environ |= {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    subprocess.run([sys.executable, "-c", program, str(MODEL_FOLDER)], env=environ, check=True)

    assert [*tmp_path.rglob("*")] == []


@needs_model
@pytest.mark.requirement("D-90")
def test_the_heuristic_counts_too_high_rather_than_too_low(int8: OnnxEncoder) -> None:
    """Over all sample notes up to 15 % too high and never too low, no note short by over a tenth."""
    texts = [path.read_text(errors="replace") for path in SAMPLES]
    counted = np.array([len(heuristic_tokens(text)) for text in texts])
    exact = np.array([len(int8.tokens(text)) for text in texts])

    assert len(texts) >= 15
    assert 1.0 <= counted.sum() / exact.sum() <= 1.15
    assert (counted / exact).min() >= 0.9


MEMORIES = [
    "Is allergic to peanuts.",
    "Pays the rent on the third.",
    "Plays the cello on Wednesdays.",
    "Drives a blue van.",
]
FOREIGN = {
    "Welches Instrument spiele ich?": 2,
    "Quelle est la couleur de ma voiture ?": 3,
    "¿Cuándo pago el alquiler?": 1,
    "私は何のアレルギーがありますか。": 0,
}


@pytest.mark.needs("multilingual")
def test_a_question_in_another_language_finds_the_english_memory() -> None:
    """German, French, Spanish and Japanese: the memory that is meant is the nearest of four."""
    encoder = OnnxEncoder(MULTILINGUAL_FOLDER, USE_MULTILINGUAL, variant="fp32", tag="test")

    cosines = encoder.encode([*FOREIGN]) @ encoder.encode(MEMORIES).T

    assert cosines.argmax(axis=1).tolist() == [*FOREIGN.values()]


@pytest.mark.needs("multilingual")
def test_tokens_of_the_multilingual_model_are_pieces_of_the_text() -> None:
    """Also where the tokenizer joins widths and ligatures, and for several spaces in a row."""
    encoder = OnnxEncoder(MULTILINGUAL_FOLDER, USE_MULTILINGUAL, variant="fp32", tag="test")
    text = "Der Hund  heißt Bruno.\n今日は"

    pieces = [text[start:end] for start, end in encoder.tokens(text)]

    assert pieces[:5] == ["Der", "Hund", "heißt", "Bruno", "."]
    assert pieces[-1] == "は"
    assert np.array_equal(*encoder.encode(["Ｆｕｌｌ ﬁve", "Full five"]))


def test_no_two_models_have_a_version_in_common() -> None:
    """Whatever the tag: vectors of two models are never compared."""
    versions = [
        (each.name, variant, each.version(variant, tag=tag))
        for each in MODELS.values()
        for variant in each.variants
        for tag in ("mine@2", *(other.tag for other in MODELS.values()))
    ]

    assert len({version for _, _, version in versions}) == len(versions)
    for name, variant, version in versions:
        known = model_of_version(version)
        assert known
        assert (known[0].name, known[1]) == (name, variant)


@pytest.mark.parametrize("version", ["", "hashing-384", "int8", "2023-08+gte-small", "x+all-minilm-384"])
def test_a_version_of_another_encoder_is_of_none_of_our_models(version: str) -> None:
    """Then its vectors cannot be compared with a question."""
    assert model_of_version(version) is None


def test_unrelated_texts_have_a_cosine_near_zero_by_gte() -> None:
    """Or near it: without the centre it is 0.75, and floors and weights that were chosen with MiniLM would not hold."""
    folder = MODEL_FOLDER.with_name(GTE_SMALL.name)
    if missing_files(folder, GTE_SMALL):
        pytest.skip("gte-small is not installed: 161 MB that no test downloads")
    encoder = OnnxEncoder(folder, GTE_SMALL, variant="int8", tag="test")
    near, far = ["A feline is resting on a rug.", "The cat sleeps on the carpet."], MEMORIES

    vectors = encoder.encode([*near, *far])
    unrelated = (vectors[:2] @ vectors[2:].T).ravel()

    assert abs(unrelated.mean()) < 0.25
    assert float(vectors[0] @ vectors[1]) > 0.5
