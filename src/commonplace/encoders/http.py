"""Any server that speaks OpenAI's `POST /embeddings`: Ollama, LM Studio, llama.cpp, vLLM, or one far away."""

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

from commonplace.encoders.base import Spans
from commonplace.encoders.heuristic import heuristic_tokens
from commonplace.errors import ProviderFailed, UsageError

if TYPE_CHECKING:
    from commonplace.encoders.base import Floats

_BATCH: Final = 64
_ATTEMPTS: Final = 4
_LARGEST_ANSWER: Final = 256 << 20
_LARGEST_REFUSAL: Final = 64 << 10
_CODE: Final = re.compile(r"[A-Za-z0-9_-]{1,40}")
_HINT: Final = "Look at embedding.endpoint, embedding.remote_model and the server itself."


class HttpEncoder:
    """The model of a server. The key is sent to that server alone, and shown nowhere."""

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
        """`endpoint` is what comes before `/embeddings`. A server that is busy is asked again after `backoff` seconds,
        then twice that, and so on. Raises UsageError for an endpoint that is no HTTP address, or a key that no header
        can carry.
        """
        host = _host_of(endpoint)
        if key and not (key.isascii() and key.isprintable()):  # the error of a wrong header would show it
            hint = "Look at the variable that embedding.key_env names."
            raise UsageError("the key of the embedding server is no plain text in one line", hint=hint)
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

    def encode(self, texts: Sequence[str], *, progress: Callable[[int], None] = lambda more: None) -> "Floats":
        """One row for each text. Raises ProviderFailed when the server does not give them."""
        vectors = np.empty((len(texts), self.dim), np.float32)
        for start in range(0, len(texts), _BATCH):
            batch = [self._cut(text) for text in texts[start : start + _BATCH]]
            vectors[start : start + len(batch)] = self._vectors_in(self._ask(batch), count=len(batch))
            progress(len(batch))
        return vectors

    def tokens(self, text: str) -> Spans:
        """The words and marks of the text: the server's own tokens are not known."""
        return heuristic_tokens(text)

    def _cut(self, text: str) -> str:
        """As much as the model reads, without half characters; a blank for an empty text, which servers refuse."""
        spans = heuristic_tokens(text)[: self.max_tokens]
        kept = text[: spans[-1][1]] if spans else " "
        return kept.encode("utf-8", "replace").decode()

    def _ask(self, batch: list[str]) -> bytes:
        body = json.dumps({"model": self.alias, "input": batch, "encoding_format": "float"}).encode()
        headers = {"Content-Type": "application/json"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        request = urllib.request.Request(self._url, data=body, headers=headers)  # noqa: S310 (checked to be HTTP)
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                with self._opener.open(request, timeout=self._timeout) as answer:
                    read: bytes = answer.read(_LARGEST_ANSWER)
                    return read
            except urllib.error.HTTPError as error:
                if attempt == _ATTEMPTS or not (error.code == 429 or error.code >= 500):
                    raise self._failed(f"answered {error.code}{self._told(error)}") from None
                error.close()
            except (OSError, HTTPException, UnicodeError) as error:
                raise self._failed(f"did not answer: {_why(error)}") from None
            time.sleep(self._backoff * 2 ** (attempt - 1))
        raise AssertionError("the last attempt returns or raises")

    def _vectors_in(self, answer: bytes, *, count: int) -> "Floats":
        try:
            rows: list[Any] = sorted(json.loads(answer)["data"], key=lambda row: row["index"])
            vectors = np.array([row["embedding"] for row in rows])
        except (ValueError, KeyError, TypeError, RecursionError):
            raise self._failed("answered with something else than vectors") from None
        if vectors.dtype.kind not in "iuf":  # words, or whole numbers that are larger than any float
            raise self._failed("answered with something else than numbers")
        if vectors.shape != (count, self.dim) or [row["index"] for row in rows] != list(range(count)):
            expected, found = f"{count} vectors of {self.dim}", " x ".join(map(str, vectors.shape))
            raise self._failed(f"answered with {found} numbers instead of {expected}")
        with np.errstate(over="ignore"):  # a length beyond all floats is refused below
            lengths = np.sqrt(np.square(vectors.astype(np.float64)).sum(axis=1, keepdims=True))
        if not (np.isfinite(lengths).all() and lengths.all()):
            raise self._failed("answered with a vector that has no length")
        unit: Floats = (vectors / lengths).astype(np.float32)
        return unit

    def _told(self, error: urllib.error.HTTPError) -> str:
        """The server's own names for what is wrong, and no other word of it: servers repeat the text that they got."""
        try:
            with error:
                told = json.loads(error.read(_LARGEST_REFUSAL))["error"]
            names = [str(told.get(field) or "") for field in ("type", "code")]
        except (OSError, HTTPException, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return ""  # the status says enough
        kept = [name for name in names if _CODE.fullmatch(name) and not (self._key and self._key in name)]
        return f": {', '.join(kept)}" if kept else ""

    def _failed(self, what: str) -> ProviderFailed:
        return ProviderFailed(f"the embedding server {self._host} {what}", hint=_HINT)


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: object) -> None:
        return None


def _why(error: Exception) -> str:
    """What the system says about it; of an answer that is no HTTP, only the kind of fault, since it may hold text."""
    reason = getattr(error, "reason", error)
    return str(reason) if isinstance(reason, OSError) else type(error).__name__


def _host_of(endpoint: str) -> str:
    """The endpoint's host. Raises UsageError for what is no plain HTTP address; a login has no place in it."""
    try:
        parts = urlsplit(endpoint)
        wrong = parts.scheme not in ("http", "https") or parts.username is not None or parts.port == 0
    except ValueError:  # brackets that do not close, a port that is no number
        wrong = True
    if wrong or not parts.hostname:
        raise UsageError("embedding.endpoint is not an HTTP address", hint="Such as http://127.0.0.1:11434/v1.")
    return parts.hostname


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
