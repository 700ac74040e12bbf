"""Every encoder keeps the contract of the seam: our models in their variants, hashing, and a server over real HTTP."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from functools import cache

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from commonplace.encoders.base import FIXED_POINT_ONE, EncoderProvider, to_fixed_point
from commonplace.encoders.hashing import HashingEncoder
from commonplace.encoders.http import HttpEncoder
from commonplace.encoders.model_graphs import Variant
from commonplace.encoders.models import GTE_SMALL, MINILM, USE_MULTILINGUAL, LocalModel
from commonplace.encoders.onnx_encoder import OnnxEncoder
from tests import components
from tests.embedding_server import DIM, Script, serving

TEXTS = [
    "Water the beds at six, twice in July.",
    "",
    "The sensors drift by several degrees after a month. " * 30,
    "?!",
    "今日は東京で会議があります。",
    "A feline is resting on a rug.",
    "half a character \ud83d, a NUL \x00, a mark \u202e, a letter that needs two \U0001d4d0",
    "def fold(xs, f, acc):\n\treturn acc",
    "x" * 5000,
    "Water the beds at six, twice in July.",
]


GTE_FOLDER = components.MODEL_FOLDER.with_name("gte-small")
"""161 MB that no test downloads: if a person has installed them there, the real model keeps the contract too."""


def local(model: LocalModel, variant: Variant, *, needs: str = "model") -> AbstractContextManager[EncoderProvider]:
    components.require(needs)
    folder = components.MODEL_FOLDER.with_name(model.name)
    return nullcontext(OnnxEncoder(folder, model, variant=variant, tag="test", threads=3))


@contextmanager
def over_http() -> Iterator[EncoderProvider]:
    with serving(Script()) as server:
        yield HttpEncoder(server.endpoint, model="scripted", key=None, dim=DIM, version="scripted-1", backoff=0)


TWINS: dict[str, Callable[[], AbstractContextManager[EncoderProvider]]] = {
    "minilm-int8": lambda: local(MINILM, "int8"),
    "minilm-fp32": lambda: local(MINILM, "fp32"),
    "multilingual": lambda: local(USE_MULTILINGUAL, "fp32", needs="multilingual"),
    "hashing": lambda: nullcontext(HashingEncoder()),
    "http": over_http,
}
if (GTE_FOLDER / "model.onnx").is_file():
    TWINS["gte-small"] = lambda: local(GTE_SMALL, "int8")


@pytest.fixture(scope="module")
def made() -> Iterator[Callable[[str], EncoderProvider]]:
    """The encoder of a name, loaded once for all tests, in whatever order they come."""
    with ExitStack() as open_ones:
        yield cache(lambda name: open_ones.enter_context(TWINS[name]()))


@pytest.fixture(params=TWINS, ids=str)
def encoder(request: pytest.FixtureRequest, made: Callable[[str], EncoderProvider]) -> EncoderProvider:
    """One encoder."""
    return made(request.param)


@pytest.mark.requirement("D-89")
def test_an_encoder_says_what_it_is(encoder: EncoderProvider) -> None:
    """Every provider has the one contract: a version, a short name, the length of a vector, and the window it reads."""
    assert encoder.version
    assert encoder.alias
    assert encoder.dim > 0
    assert encoder.max_tokens == 256
    assert encoder.is_remote is False


def test_each_text_has_a_row_of_length_one(encoder: EncoderProvider) -> None:
    """Vectors are float32, as long as `dim` says, and of length 1, whatever the text."""
    vectors = encoder.encode(TEXTS)

    assert vectors.shape == (len(TEXTS), encoder.dim)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


def test_a_text_has_one_vector_alone_and_in_company(encoder: EncoderProvider) -> None:
    """Bit for bit: neither the batch nor the place in it changes a vector."""
    together = encoder.encode(TEXTS)
    alone = np.concatenate([encoder.encode([text]) for text in TEXTS])
    turned = encoder.encode(TEXTS[::-1])[::-1]

    assert together.tobytes() == alone.tobytes()
    assert together.tobytes() == turned.tobytes()


def test_rows_keep_the_order_of_the_texts(encoder: EncoderProvider) -> None:
    """Texts run in any order inside; the same text in two places gives the same row, another text another."""
    vectors = encoder.encode(TEXTS)

    assert np.array_equal(vectors[0], vectors[-1])
    assert not np.array_equal(vectors[0], vectors[5])


def test_no_text_gives_no_row(encoder: EncoderProvider) -> None:
    """An empty list is an answer of the right shape."""
    assert encoder.encode([]).shape == (0, encoder.dim)


def test_progress_adds_up_to_the_texts(encoder: EncoderProvider) -> None:
    """Who listens hears of every text once."""
    heard: list[int] = []
    encoder.encode(TEXTS, progress=heard.append)

    assert sum(heard) == len(TEXTS)


def test_many_threads_get_what_one_gets(encoder: EncoderProvider) -> None:
    """An encoder may be called from several threads at once."""
    expected = encoder.encode(TEXTS).tobytes()
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: encoder.encode(TEXTS).tobytes(), range(4)))

    assert set(answers) == {expected}


def test_what_is_beyond_the_window_does_not_count(encoder: EncoderProvider) -> None:
    """A text is read as far as `max_tokens`, and no farther."""
    start = "the sensors drift by some degrees " * 100

    first, second = encoder.encode([start + "and the cable is paid", start + "whoever is on duty calls"])

    assert np.array_equal(first, second)


@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(text=st.text(st.characters(exclude_categories=()), max_size=200))
def test_any_text_has_a_vector_and_tokens_in_order(encoder: EncoderProvider, text: str) -> None:
    """Any Unicode, lone surrogates and NUL included; tokens lie in the text and do not run backwards."""
    spans = encoder.tokens(text)
    vector = encoder.encode([text])[0]

    assert abs(float(np.linalg.norm(vector)) - 1) < 1e-5
    assert all(0 <= start <= end <= len(text) for start, end in spans)
    assert [start for start, _ in spans] == sorted(start for start, _ in spans)


def test_a_vector_is_kept_as_whole_numbers(encoder: EncoderProvider) -> None:
    """What is stored stands for the vector to four digits."""
    vectors = encoder.encode(TEXTS)
    kept = to_fixed_point(vectors)

    assert kept.dtype == np.int16
    assert np.allclose(kept / FIXED_POINT_ONE, vectors, atol=1 / FIXED_POINT_ONE)
