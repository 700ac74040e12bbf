"""An encoder that calls OpenAI's `POST /embeddings` on a server: Ollama, LM Studio, llama.cpp, vLLM or a remote one."""

import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from commonplace.encoders.base import Spans, heuristic_tokens
from commonplace.errors import ProviderFailed
from commonplace.model_server import ModelServer

if TYPE_CHECKING:
    from commonplace.encoders.base import Floats

_BATCH_SIZE: Final = 64
_ATTEMPTS: Final = 4
_MAX_RESPONSE_BYTES: Final = 256 << 20
_HINT: Final = "Check embedding.endpoint, embedding.remote_model and the server itself."


class HttpEncoder:
    """A model on a server. The key is sent to that server only and never shown."""

    is_ready: Final = True

    def __init__(
        self,
        endpoint: str,
        *,
        model: str,
        key: str | None,
        dim: int,
        version: str,
        max_tokens: int = 256,
        timeout: float = 30.0,
        backoff: float = 0.5,
    ) -> None:
        """`endpoint` is the address without `/embeddings`. Requests to a busy server are retried after `backoff`
        seconds, then twice that, and so on. Raises UsageError if the endpoint is not an HTTP address or the key cannot
        be sent in a header.
        """
        self._server = ModelServer(
            endpoint,
            label="embedding server",
            setting="embedding.endpoint",
            hint=_HINT,
            headers={"Authorization": f"Bearer {key}"} if key else {},
            key=key,
            timeout=timeout,
            backoff=backoff,
            attempts=_ATTEMPTS,
            max_bytes=_MAX_RESPONSE_BYTES,
        )
        self.alias = model
        self.version = version
        self.dim = dim
        self.max_tokens = max_tokens
        self.is_remote = self._server.is_remote

    def encode(self, texts: Sequence[str], *, progress: Callable[[int], None] = lambda count: None) -> "Floats":
        """One row for each text. Raises ProviderFailed if the server does not return them."""
        vectors = np.empty((len(texts), self.dim), np.float32)
        for start in range(0, len(texts), _BATCH_SIZE):
            batch = [self._truncate(text) for text in texts[start : start + _BATCH_SIZE]]
            vectors[start : start + len(batch)] = self._parse_vectors(self._request(batch), count=len(batch))
            progress(len(batch))
        return vectors

    def tokens(self, text: str) -> Spans:
        """Tokens estimated by `heuristic_tokens`: the server's own tokenizer is unknown."""
        return heuristic_tokens(text)

    def _truncate(self, text: str) -> str:
        """The text truncated to `max_tokens`, without surrogates; a space for an empty text, which servers refuse."""
        spans = heuristic_tokens(text)[: self.max_tokens]
        shortened = text[: spans[-1][1]] if spans else " "
        return shortened.encode("utf-8", "replace").decode()

    def _request(self, batch: list[str]) -> bytes:
        return self._server.post("/embeddings", {"model": self.alias, "input": batch, "encoding_format": "float"})

    def _parse_vectors(self, content: bytes, *, count: int) -> "Floats":
        try:
            rows: list[Any] = sorted(json.loads(content)["data"], key=lambda row: row["index"])
            vectors = np.array([row["embedding"] for row in rows])
        except (ValueError, KeyError, TypeError, RecursionError):
            raise self._failed("responded with something other than vectors") from None
        if vectors.dtype.kind not in "iuf":  # text, or integers too large for a float
            raise self._failed("responded with something other than numbers")
        if vectors.shape != (count, self.dim) or [row["index"] for row in rows] != list(range(count)):
            expected, actual = f"{count} vectors of {self.dim}", " x ".join(map(str, vectors.shape))
            raise self._failed(f"responded with {actual} numbers instead of {expected}")
        with np.errstate(over="ignore"):  # an infinite length is refused below
            lengths = np.sqrt(np.square(vectors.astype(np.float64)).sum(axis=1, keepdims=True))
        if not (np.isfinite(lengths).all() and lengths.all()):
            raise self._failed("responded with a vector of length zero or infinity")
        unit: Floats = (vectors / lengths).astype(np.float32)
        return unit

    def _failed(self, what: str) -> ProviderFailed:
        return self._server.failed(what, "malformed")
