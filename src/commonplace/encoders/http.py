"""An encoder that calls OpenAI's `POST /embeddings` on a server: Ollama, LM Studio, llama.cpp, vLLM or a remote one."""

import ipaddress
import json
import re
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from http.client import HTTPException
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

import numpy as np

from commonplace.encoders.base import Spans, heuristic_tokens
from commonplace.errors import ProviderFailed, UsageError

if TYPE_CHECKING:
    from commonplace.encoders.base import Floats

_BATCH_SIZE: Final = 64
_ATTEMPTS: Final = 4
_MAX_RESPONSE_BYTES: Final = 256 << 20
_MAX_ERROR_BYTES: Final = 64 << 10
_ERROR_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,40}")
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
        host = _host_of(endpoint)
        if key and not (key.isascii() and key.isprintable()):  # an error about an invalid header would show it
            hint = "Check the environment variable that embedding.key_env names."
            raise UsageError("the key of the embedding server is not one line of plain ASCII text", hint=hint)
        self.alias = model
        self.version = version
        self.dim = dim
        self.max_tokens = max_tokens
        self.is_remote = not _is_loopback(host)
        self._host = host
        self._url = f"{endpoint.rstrip('/')}/embeddings"
        self._key = key
        self._timeout = timeout
        self._backoff = backoff
        # A proxy has no business between us and our own machine, and a redirect would carry the key elsewhere.
        direct = [] if self.is_remote else [urllib.request.ProxyHandler({})]
        self._opener = urllib.request.build_opener(_NoRedirect(), *direct)

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
        body = json.dumps({"model": self.alias, "input": batch, "encoding_format": "float"}).encode()
        headers = {"Content-Type": "application/json"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        request = urllib.request.Request(self._url, data=body, headers=headers)  # noqa: S310 (checked to be HTTP)
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                with self._opener.open(request, timeout=self._timeout) as response:
                    content: bytes = response.read(_MAX_RESPONSE_BYTES)
                    return content
            except urllib.error.HTTPError as error:
                if attempt == _ATTEMPTS or not (error.code == 429 or error.code >= 500):
                    raise self._failed(f"responded {error.code}{self._error_names(error)}") from None
                error.close()
            except (OSError, HTTPException, UnicodeError) as error:
                raise self._failed(f"did not respond: {_reason(error)}") from None
            time.sleep(self._backoff * 2 ** (attempt - 1))
        raise AssertionError("the last attempt returns or raises")

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

    def _error_names(self, error: urllib.error.HTTPError) -> str:
        """The error's `type` and `code` and nothing else of the response: servers repeat the text they were sent."""
        try:
            with error:
                details = json.loads(error.read(_MAX_ERROR_BYTES))["error"]
            names = [str(details.get(field) or "") for field in ("type", "code")]
        except (OSError, HTTPException, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return ""  # the status is enough
        safe = [name for name in names if _ERROR_NAME.fullmatch(name) and not (self._key and self._key in name)]
        return f": {', '.join(safe)}" if safe else ""

    def _failed(self, what: str) -> ProviderFailed:
        return ProviderFailed(f"the embedding server {self._host} {what}", hint=_HINT)


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: object) -> None:
        return None


def _reason(error: Exception) -> str:
    """The system's message; for a malformed response only the error's type, because it may contain the text."""
    reason = getattr(error, "reason", error)
    return str(reason) if isinstance(reason, OSError) else type(error).__name__


def _host_of(endpoint: str) -> str:
    """The endpoint's host. Raises UsageError if it is not an HTTP address, or has a user name in it."""
    try:
        parts = urlsplit(endpoint)
        is_invalid = parts.scheme not in ("http", "https") or parts.username is not None or parts.port == 0
    except ValueError:  # an unclosed bracket, a port that is not a number
        is_invalid = True
    if is_invalid or not parts.hostname:
        raise UsageError(
            "embedding.endpoint is not an HTTP address", hint="Use an address such as http://127.0.0.1:11434/v1."
        )
    return parts.hostname


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
