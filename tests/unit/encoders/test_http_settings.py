"""The HTTP encoder before it sends anything: its version, its endpoint, its key."""

from dataclasses import replace

import pytest

from commonplace.app.encoders import make_encoder
from commonplace.encoders.http import HttpEncoder
from commonplace.encoders.options import EmbeddingOptions
from commonplace.errors import UsageError

DIM = 48


def encoder(endpoint: str, *, key: str | None = None) -> HttpEncoder:
    return HttpEncoder(endpoint, model="nomic", key=key, dim=DIM, version="v1")


def test_the_version_names_the_model_and_the_length_of_a_vector() -> None:
    """Vectors of two models, or of two lengths, never meet under one version."""
    options = EmbeddingOptions(provider="http", version_tag="t", remote_model="nomic", dim=DIM)
    others = [replace(options, dim=DIM + 1), replace(options, remote_model="bge"), replace(options, version_tag="u")]

    versions = [made.version for each in [options, *others] if (made := make_encoder(each))]

    assert versions == [f"t+nomic-{DIM}", f"t+nomic-{DIM + 1}", f"t+bge-{DIM}", f"u+nomic-{DIM}"]


@pytest.mark.parametrize(
    ("endpoint", "remote"),
    [
        ("http://127.0.0.1:11434/v1", False),
        ("http://127.8.9.1/v1", False),
        ("http://[::1]:80/v1/", False),
        ("http://LOCALHOST:1/v1", False),
        ("http://localhost.example.org/v1", True),
        ("http://192.168.1.2:11434/v1", True),
        ("http://0.0.0.0:11434/v1", True),
        ("https://api.openai.com/v1", True),
    ],
)
def test_only_this_machine_is_not_remote(endpoint: str, remote: bool) -> None:
    """Sensitive text goes to no remote encoder, so that the question is decided by the address alone."""
    assert encoder(endpoint).is_remote is remote


@pytest.mark.parametrize(
    "endpoint",
    [
        "file:///etc/passwd",
        "ftp://example.org",
        "127.0.0.1:11434",
        "http://",
        "http://[",
        "http://example.org:seven/v1",
        "http://127.0.0.1@example.org/v1",
        "http://me:secret@127.0.0.1/v1",
    ],
)
def test_an_endpoint_is_an_http_address(endpoint: str) -> None:
    """Anything else is refused before a text goes anywhere; a login in it is not repeated."""
    with pytest.raises(UsageError) as caught:
        encoder(endpoint)
    assert "secret" not in str(caught.value.as_dict())


@pytest.mark.parametrize("key", ["sk-secret\n", "sk-secr\u00e9t"])
def test_a_key_that_cannot_be_sent_in_a_header_is_refused_and_not_shown(key: str) -> None:
    """The library's own error would print it."""
    with pytest.raises(UsageError) as caught:
        encoder("http://127.0.0.1:1/v1", key=key)
    assert "sk-" not in str(caught.value.as_dict())


def test_a_key_never_travels_over_a_network_unencrypted() -> None:
    """A key and plain HTTP to another machine are refused before anything is sent; without a key it may be asked."""
    with pytest.raises(UsageError) as caught:
        encoder("http://192.168.1.2:11434/v1", key="sk-secret")

    assert "sk-" not in str(caught.value.as_dict())
    assert "https" in str(caught.value.hint)
    assert encoder("https://192.168.1.2/v1", key="sk-secret").is_remote
    assert encoder("http://127.0.0.1:1/v1", key="sk-secret").is_remote is False
