"""The HTTP encoder against a scripted server: batches, retries, errors, and responses that are not vectors."""

import json
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from commonplace.encoders.http import HttpEncoder
from commonplace.errors import ProviderFailed
from tests.embedding_server import DIM, HASHING, Script, serving

KEY = "sk-very-secret"
ODD: list[object] = [10**400, float("inf"), 1e200, "1.5", None, {}, [1.0]]


@pytest.fixture
def server() -> Iterator[Script]:
    """A scripted server."""
    with serving(Script()) as script:
        yield script


def encoder(endpoint: str, *, key: str | None = KEY, dim: int = DIM) -> HttpEncoder:
    return HttpEncoder(endpoint, model="nomic", key=key, dim=dim, version="v1", backoff=0, timeout=5)


@pytest.mark.requirement("D-89")
def test_texts_go_out_in_batches_and_come_back_in_order(server: Script) -> None:
    """Another provider is a matter of settings: at most 64 texts a call, rows by the answer's `index`, length 1."""
    texts = [f"note number {number}" for number in range(130)]

    vectors = encoder(server.endpoint).encode(texts)

    assert [len(call["input"]) for call in server.asked] == [64, 64, 2]
    assert {(call["path"], call["model"]) for call in server.asked} == {("/v1/embeddings", "nomic")}
    assert np.allclose(vectors, HASHING.encode(texts), atol=1e-6)


def test_the_key_goes_to_the_server_alone(server: Script) -> None:
    """It is sent as a bearer token; without one, no such header is sent."""
    encoder(server.endpoint).encode(["a"])
    encoder(server.endpoint, key=None).encode(["a"])

    assert [headers.get("Authorization") for headers in server.headers] == [f"Bearer {KEY}", None]


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_busy_server_is_asked_again(server: Script, status: int) -> None:
    """Being busy passes."""
    server.first = [(status, b""), (status, b"")]

    assert encoder(server.endpoint).encode(["a"]).shape == (1, DIM)
    assert len(server.asked) == 3


def test_a_server_that_stays_busy_is_given_up(server: Script) -> None:
    """Four attempts, then a failure with the status."""
    server.first = [(503, b"")] * 9

    with pytest.raises(ProviderFailed, match="503"):
        encoder(server.endpoint).encode(["a"])
    assert len(server.asked) == 4


@pytest.mark.parametrize(
    ("answer", "names"),
    [
        (
            {"error": {"type": "invalid_request_error", "code": "model_not_found"}},
            ": invalid_request_error, model_not_found",
        ),
        ({"error": {"type": "x", "code": 40}}, ": x, 40"),
        ({"error": {"type": "x", "code": None}}, ": x"),
        ({"error": {"message": "PRIVATE"}}, ""),
        ({"error": {"type": "PRIVATE text", "code": "PRIVATE" * 9}}, ""),
        ({"error": {"type": ["PRIVATE"], "code": KEY}}, ""),
        ({"error": "PRIVATE"}, ""),
        (f"PRIVATE, wrong key {KEY}", ""),
        (["PRIVATE"], ""),
        (None, ""),
    ],
)
def test_an_error_is_reported_without_the_text_and_the_key(server: Script, answer: object, names: str) -> None:
    """The status and the server's names for the fault; servers repeat what they got, and that stays out of errors."""
    server.first = [(401, json.dumps(answer).encode())]

    with pytest.raises(ProviderFailed) as caught:
        encoder(server.endpoint).encode(["PRIVATE"])
    assert caught.value.message == f"the embedding server 127.0.0.1 responded 401{names}"
    assert KEY not in json.dumps(caught.value.as_dict())
    assert len(server.asked) == 1


@pytest.mark.parametrize("answer", [b"", b"<html>PRIVATE", b"\xff", b"[" * 60_000, b'{"error": {"type": "cut'])
def test_an_error_that_is_not_json_is_reported_by_its_status(server: Script, answer: bytes) -> None:
    """Whatever the server sends with it."""
    server.first = [(400, answer)]

    with pytest.raises(ProviderFailed) as caught:
        encoder(server.endpoint).encode(["a"])
    assert caught.value.message == "the embedding server 127.0.0.1 responded 400"


def test_a_response_that_is_not_http_is_reported_without_its_text() -> None:
    """A server that only repeats what it hears shows nothing of it in the error."""
    with socket.create_server(("127.0.0.1", 0)) as listening, ThreadPoolExecutor(1) as pool:
        response = pool.submit(_respond_without_http, listening)

        with pytest.raises(ProviderFailed) as caught:
            encoder(f"http://127.0.0.1:{listening.getsockname()[1]}/v1").encode(["a"])
        response.result()
        assert caught.value.message == "the embedding server 127.0.0.1 did not respond: BadStatusLine"


def _respond_without_http(listening: socket.socket) -> None:
    caller, _ = listening.accept()
    with caller:
        caller.recv(65536)
        caller.sendall(b"PRIVATE text\r\n\r\n")


@pytest.mark.parametrize("endpoint", ["http://127.0.0.1:9/v\u00e4", "https://a..b/v1", "http://127.0.0.1:9/a b"])
def test_an_address_that_cannot_be_asked_is_a_failure(endpoint: str) -> None:
    """Found out only when it is asked."""
    with pytest.raises(ProviderFailed, match="did not respond"):
        encoder(endpoint).encode(["a"])


def test_a_redirect_is_not_followed(server: Script) -> None:
    """The key would go along to another place."""
    server.first = [(302, b"")]

    with pytest.raises(ProviderFailed, match="302"):
        encoder(server.endpoint).encode(["a"])


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"<html>",
        b"[]",
        b'{"data": 1}',
        b'{"data": []}',
        b'{"data": [{"index": 0, "embedding": [1, 2]}]}',
        b'{"data": [{"index": 0, "embedding": ["a", "b"]}]}',
        json.dumps({"data": [{"index": 1, "embedding": [1.0] * DIM}]}).encode(),
        json.dumps({"data": [{"index": 0, "embedding": [0.0] * DIM}]}).encode(),
        json.dumps({"data": [{"index": 0, "embedding": [float("nan")] * DIM}]}).encode(),
        json.dumps({"data": [{"index": at, "embedding": [1.0] * DIM} for at in (0, 1)]}).encode(),
        *(json.dumps({"data": [{"index": 0, "embedding": [odd, *[1.0] * (DIM - 1)]}]}).encode() for odd in ODD),
        json.dumps({"data": [{"index": 0, "embedding": [[1.0]] * DIM}]}).encode(),
        json.dumps({"data": [{"index": 0, "embedding": ["1.5"] * DIM}]}).encode(),
        json.dumps({"data": [{"index": 0, "embedding": [True] * DIM}]}).encode(),
        b'{"data": [{"index": 0, "embedding": [1e999]}]}',
        b"[" * 100_000,
    ],
)
def test_an_answer_that_is_not_the_vectors_asked_for_is_a_failure(server: Script, answer: bytes) -> None:
    """Wrong counts, wrong lengths, no numbers, no length: nothing of it is taken as a vector."""
    server.first = [(200, answer)]

    with pytest.raises(ProviderFailed):
        encoder(server.endpoint).encode(["a"])


def test_a_server_that_is_not_there_is_a_failure() -> None:
    """Nothing listens on that port any more."""
    with serving(Script()) as gone:
        endpoint = gone.endpoint

    with pytest.raises(ProviderFailed, match="did not respond"):
        encoder(endpoint).encode(["a"])


def test_a_proxy_does_not_come_between_us_and_our_own_machine(server: Script, monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy in the environment is for the world outside."""
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")

    assert encoder(server.endpoint).encode(["a"]).shape == (1, DIM)
