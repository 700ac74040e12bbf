"""A model's server over HTTP: JSON out, JSON in, with a key, retries, limits and no redirects.

`encoders` and `llm` speak through it. The key goes to the configured host alone and is never shown; of a server's error
only the status and the server's names for the error are shown, because servers repeat the text that they were sent.
"""

import ipaddress
import json
import re
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from datetime import UTC, datetime
from email.message import Message
from email.utils import parsedate_to_datetime
from http.client import HTTPException, HTTPResponse, IncompleteRead
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

from commonplace.errors import ProviderFailed, Reason, UsageError

_MAX_ERROR_BYTES: Final = 64 << 10
_READ_BYTES: Final = 64 << 10
_MOST_WAIT_S: Final = 20.0  # a server that asks for a longer pause is asked again by the caller, not here
_GET_TIMEOUT_S: Final = 10.0  # a list of models is there at once
_ERROR_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,40}")
_NO_MONEY: Final = ("insufficient_quota", "billing", "credit balance", "exceeded your current quota", "payment")
_TOO_LONG: Final = (
    "context_length_exceeded",  # OpenAI, vLLM
    "maximum context length",  # vLLM
    "prompt is too long",  # Anthropic
    "available context size",  # llama.cpp
    "context length",  # LM Studio, Ollama
    "string_above_max_length",
)


class ServerError(NamedTuple):
    """An error response: its status, the server's names for it, its words for us to judge, and the wait it asks for."""

    status: int
    names: str
    words: str
    retry_after: float

    @property
    def is_passing(self) -> bool:
        """True if the same request may succeed a moment later."""
        return (self.status in (408, 429) or self.status >= 500) and self.reason == "busy"

    @property
    def reason(self) -> Reason:
        """What the caller should do about it."""
        if self.status in (401, 403):
            return "auth"
        if self.status == 402 or (self.status in (400, 429) and any(each in self.words for each in _NO_MONEY)):
            return "quota"
        if self.status == 413 or (self.status in (400, 422, 500) and any(each in self.words for each in _TOO_LONG)):
            return "too_long"
        if self.status in (408, 429) or self.status >= 500:
            return "busy"
        return "malformed" if self.status in (400, 422) else "unreachable"


class ModelServer:
    """One server and the key for it. `label` is what errors call it, `setting` the one that names its endpoint."""

    def __init__(
        self,
        endpoint: str,
        *,
        label: str,
        setting: str,
        hint: str,
        headers: Mapping[str, str],
        key: str | None,
        timeout: float,
        backoff: float,
        attempts: int,
        max_bytes: int,
    ) -> None:
        """`headers` are sent with every request, the key among them, which is named apart so that no error shows it.

        A busy server is asked up to `attempts` times, after `backoff` seconds, then twice that, or what it asks for.
        Raises UsageError if the endpoint is not an HTTP address, if the key cannot be sent in a header, and if it would
        travel over a network unencrypted.
        """
        self.host = _host_of(endpoint, setting)
        if key and not (key.isascii() and key.isprintable()):  # an error about an invalid header would show it
            raise UsageError(f"the key of the {label} is not one line of plain ASCII text", hint="Check the key.")
        self.is_remote = not is_loopback(self.host)
        if key and self.is_remote and urlsplit(endpoint).scheme.lower() == "http":
            raise UsageError(
                f"the key of the {label} would travel to {self.host} unencrypted",
                hint=f"Write {setting} with https://, or leave the key out if the server needs none.",
            )
        self._label, self._hint, self._key = f"the {label} {self.host}", hint, key
        self._endpoint = endpoint.rstrip("/")
        self._headers = dict(headers)
        self._timeout, self._backoff, self._attempts, self._max_bytes = timeout, backoff, attempts, max_bytes
        # A proxy has no business between us and our own machine, and a redirect would carry the key elsewhere.
        direct = [] if self.is_remote else [urllib.request.ProxyHandler({})]
        self._opener = urllib.request.build_opener(_NoRedirect(), *direct)

    def post(self, path: str, body: Mapping[str, Any]) -> bytes:
        """The response to this JSON. Raises ProviderFailed."""
        content = json.dumps(body).encode()
        headers = {**self._headers, "Content-Type": "application/json"}
        request = urllib.request.Request(f"{self._endpoint}{path}", data=content, headers=headers)  # noqa: S310
        return self._send(request, timeout=self._timeout, attempts=self._attempts)

    def get(self, path: str) -> bytes:
        """The response to a GET, for which nobody waits long. Raises ProviderFailed."""
        request = urllib.request.Request(f"{self._endpoint}{path}", headers=self._headers)  # noqa: S310
        return self._send(request, timeout=min(self._timeout, _GET_TIMEOUT_S), attempts=1)

    def failed(self, what: str, reason: Reason) -> ProviderFailed:
        """The error that says what this server did."""
        return ProviderFailed(f"{self._label} {what}", reason=reason, hint=self._hint)

    def _send(self, request: urllib.request.Request, *, timeout: float, attempts: int) -> bytes:
        for attempt in range(1, attempts + 1):
            try:
                with self._opener.open(request, timeout=timeout) as response:
                    return self._read(response, timeout=timeout)
            except urllib.error.HTTPError as error:
                found = self._error(error)
                wait = found.retry_after or self._backoff * 2 ** (attempt - 1)
                if attempt == attempts or not found.is_passing or wait > min(_MOST_WAIT_S, timeout / 4):
                    raise self._refused(found) from None
            except (OSError, HTTPException, UnicodeError) as error:
                failure = self.failed(f"did not respond: {_cause(error)}", "unreachable")
                failure.may_be_billed = not isinstance(error, urllib.error.URLError)  # which says: it was not sent
                raise failure from None
            time.sleep(wait)
        raise AssertionError("the last attempt returns or raises")

    def _read(self, response: HTTPResponse, *, timeout: float) -> bytes:
        """The body. Raises ProviderFailed if it is too large, OSError and HTTPException if it does not come in time."""
        deadline, parts, size = time.monotonic() + timeout, [], 0
        while part := response.read1(_READ_BYTES):
            parts.append(part)
            size += len(part)
            if size > self._max_bytes:
                raise self.failed(f"responded with more than {self._max_bytes:,} bytes", "malformed")
            if time.monotonic() > deadline:
                raise TimeoutError(f"no whole response within {timeout:g} seconds")
        if response.length:  # the connection ended before the announced length
            raise IncompleteRead(b"")
        return b"".join(parts)

    def _error(self, error: urllib.error.HTTPError) -> ServerError:
        """The error response. Only short names in it are shown, and none that holds the key."""
        words = b""
        try:
            with error:
                words = error.read(_MAX_ERROR_BYTES)
            details = json.loads(words)["error"]
            fields = [str(details.get(field) or "") for field in ("type", "code")]
        except (OSError, HTTPException, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            fields = []  # the status is enough
        safe = [name for name in fields if _ERROR_NAME.fullmatch(name) and not (self._key and self._key in name)]
        names = f": {', '.join(safe)}" if safe else ""
        return ServerError(error.code, names, words.decode(errors="replace").lower(), _retry_after(error.headers))

    def _refused(self, error: ServerError) -> ProviderFailed:
        failure = self.failed(f"responded {error.status}{error.names}", error.reason)
        failure.retry_after = error.retry_after
        return failure


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: object) -> None:
        return None


def is_loopback(host: str) -> bool:
    """True if the host is this machine: a loopback address or `localhost`."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _retry_after(headers: Message) -> float:
    """The seconds that the header Retry-After asks for; 0 without one, or with one that cannot be read."""
    text = str(headers.get("Retry-After") or "").strip()
    if text.isascii() and text.isdigit() and len(text) < 8:
        return float(text)
    try:
        return max(0.0, (parsedate_to_datetime(text) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError, IndexError):
        return 0.0


def _cause(error: Exception) -> str:
    """The system's message; for a malformed response only the error's type, because it may contain the text."""
    reason = getattr(error, "reason", error)
    return str(reason) if isinstance(reason, OSError) else type(error).__name__


def _host_of(endpoint: str, setting: str) -> str:
    """The endpoint's host. Raises UsageError if it is not an HTTP address, or has a user name in it."""
    try:
        parts = urlsplit(endpoint)
        is_invalid = parts.scheme not in ("http", "https") or parts.username is not None or parts.port == 0
    except ValueError:  # an unclosed bracket, a port that is not a number
        is_invalid = True
    if is_invalid or not parts.hostname:
        raise UsageError(f"{setting} is not an HTTP address", hint="Use an address such as http://127.0.0.1:11434/v1.")
    return parts.hostname
