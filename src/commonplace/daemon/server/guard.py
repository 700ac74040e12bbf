"""The guard: every request passes it before a route sees it, and every response on its way out.

It checks, in this order, the form of the request, the Host, the Origin, the token, the rate, the scope and the body.
What it admits carries a `Caller`, a complete body, and no token.
"""

import asyncio
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import PurePath
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote

from commonplace.client.paths import is_client_name
from commonplace.daemon.server.messages import (
    ErrorResponse,
    RequestHead,
    ResponseSender,
    head_too_large,
    internal_error,
    invalid_token,
    is_preflight,
    malformed,
    missing_scope,
    other_user,
    other_vault,
    preflight_headers,
    refuse_request,
    request_head,
    tokens_unreadable,
    too_large,
    too_many_fields,
    too_many_guesses,
    too_many_requests,
    too_slow,
    wrong_host,
    wrong_origin,
)
from commonplace.daemon.tokens import Token, Tokens, is_own_program
from commonplace.errors import CommonplaceError
from commonplace.events import emit
from commonplace.model import SCOPES, Caller, Scope
from commonplace.model.change import CALLER, Via

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Send
    from starlette.types import Scope as AsgiScope

    from commonplace.policy.options import ServeOptions

LONGEST_HEAD: Final = 16_384
"""Bytes of a request's target and headers, together."""

MOST_FIELDS: Final = 50_000
"""Names, lists and objects in the JSON of a body: the largest request, 5,000 messages, has about half as many."""

_COUNTED_FROM: Final = 100_000  # bytes; a smaller body is validated in milliseconds, whatever it has
_FIELD: Final = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+("[ \t\r\n]*+:)?"?|([\[{])', re.DOTALL)
_ANYONE: Final = Caller("", frozenset())
"""Whoever asks whether the daemon is running; no client has an empty name."""
_OPEN_PATHS: Final = frozenset({"/health", "/proof"})  # a caller asks them before it sends a token
_SECRET: Final = re.compile(r"cpl_[\w-]*")
_LOGGED_PATH: Final = 200  # characters of a path in the log
_LONGEST_PATH: Final = 4096  # bytes, the longest path there is
_GUESSES_PER_SECOND: Final = 5.0
_GUESSES_AT_ONCE: Final = 50
_MOST_CALLERS: Final = 1000  # in a rate limiter; names are free on the socket, so they must not pile up


def guard_app(
    app: "ASGIApp", *, via: Via, options: "ServeOptions", tokens: Tokens, clock: Callable[[], datetime]
) -> "ASGIApp":
    """The app behind a guard: for TCP, which requires tokens, or for the socket, which does not."""
    return Guard(app, via=via, options=options, tokens=tokens, clock=clock)


class Guard:
    """An ASGI app in front of another."""

    def __init__(
        self, app: "ASGIApp", *, via: Via, options: "ServeOptions", tokens: Tokens, clock: Callable[[], datetime]
    ) -> None:
        self._app, self._via, self._options, self._clock = app, via, options, clock
        self._authenticator = Authenticator(tokens, clock=clock, other_users=options.other_users)
        self._rates = RateLimiter(per_second=options.requests_per_second, burst=options.burst)

    async def __call__(self, scope: "AsgiScope", receive: "Receive", send: "Send") -> None:
        """Admit one request, or refuse it with the reason. The server's lifespan messages pass unchanged."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            await self._handle(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": 1008})  # no route speaks it

    async def _handle(self, scope: "AsgiScope", receive: "Receive", send: "Send") -> None:
        head = request_head(scope)
        if error := self._check_form(head):
            await self._refuse(error, head, receive=receive, send=ResponseSender(send))
            return
        sender = ResponseSender(send, head)
        if is_preflight(head):
            await sender.send_empty(204, preflight_headers(head))
            return
        caller = self._admit(head)
        if isinstance(caller, ErrorResponse):
            await self._refuse(caller, head, receive=receive, send=sender)
            return
        options = self._options
        body = await read_body(head, receive, most=options.max_body_bytes, seconds=options.body_seconds)
        if isinstance(body, bytes) and len(body) > _COUNTED_FROM and await asyncio.to_thread(has_too_many_fields, body):
            body = too_many_fields(MOST_FIELDS)
        if isinstance(body, ErrorResponse):
            await self._refuse(replace(body, caller=caller.name), head, receive=receive, send=sender)
        elif body is not None:
            await self._pass_on(_inner_scope(scope, caller), _replay(body, receive), sender)

    def _check_form(self, head: RequestHead) -> ErrorResponse | None:
        """The error for a request that not even a CORS preflight may make; None if its form, host and origin fit."""
        if head.size > LONGEST_HEAD:
            return head_too_large(LONGEST_HEAD)
        if not head.path.startswith("/"):
            return malformed("the target of the request is not a path", hint="Request a path, such as /mcp.")
        if len(head.all("transfer-encoding")) + len(head.all("content-length")) > 1:
            return malformed("the length of the body was given twice", hint="Send Content-Length or chunks, not both.")
        hosts, origins, sites = head.all("host"), head.all("origin"), head.all("sec-fetch-site")
        if len(origins) > 1 or len(sites) > 1:
            return malformed("a browser header was sent twice", hint="Send Origin and Sec-Fetch-Site once each.")
        if self._via == "tcp" and len(hosts) != 1:
            return malformed("the request must have one Host header", hint="Send the header Host once.")
        if self._via == "tcp" and not self._options.admits_host(hosts[0], port=head.port or 0):
            return wrong_host()
        origin, site = next(iter(origins), None), next(iter(sites), "")
        return None if self._options.admits_fetch(site, origin=origin, port=head.port) else wrong_origin()

    def _admit(self, head: RequestHead) -> Caller | ErrorResponse:
        """The caller, if it may make this request now."""
        caller = self._authenticate(head)
        if isinstance(caller, ErrorResponse):
            return caller
        if wait := self._rates.draw(caller.name, now=self._clock().timestamp()):
            return replace(too_many_requests(wait), caller=caller.name)
        scope = required_scope(head.path)
        if caller is not _ANYONE and not caller.may(scope):
            return replace(missing_scope(scope), caller=caller.name)
        return caller

    def _authenticate(self, head: RequestHead) -> Caller | ErrorResponse:
        if self._via == "socket":
            return self._authenticator.by_socket(head)
        if head.path in _OPEN_PATHS and head.method in ("GET", "HEAD"):
            return _ANYONE
        return self._authenticator.by_token(head)

    async def _refuse(
        self, error: ErrorResponse, head: RequestHead, *, receive: "Receive", send: ResponseSender
    ) -> None:
        _log_refusal(error, head, via=self._via)
        await refuse_request(error, head, receive=receive, send=send, most=self._options.max_body_bytes)

    async def _pass_on(self, scope: "AsgiScope", receive: "Receive", send: ResponseSender) -> None:
        """Call the app. Its unexpected errors are answered without their text, which may quote a note."""
        try:
            await self._app(scope, receive, send)
        except Exception as error:  # noqa: BLE001 (the outermost door: an error of one request must not affect others)
            emit("unexpected_error", level="error", path=scope["path"], exc_info=error)
            if not send.is_started:
                await send.send_error(internal_error())


class Authenticator:
    """Identifies callers: by a token over TCP, by the owner's private folder on the socket. Slows down guessing.

    Without `other_users`, a token counts only from a program of the user who runs the daemon.
    """

    def __init__(self, tokens: Tokens, *, clock: Callable[[], datetime], other_users: bool) -> None:
        self._tokens = tokens
        self._clock = clock
        self._other_users = other_users
        self._guesses = RateLimiter(per_second=_GUESSES_PER_SECOND, burst=_GUESSES_AT_ONCE)

    def by_token(self, head: RequestHead) -> Caller | ErrorResponse:
        """The caller over TCP. A valid token is accepted however many wrong ones came before."""
        try:
            token = self._token(head)
        except CommonplaceError as error:
            emit("tokens_unreadable", level="error", **error.as_dict())
            return tokens_unreadable()
        if token is None:
            wait = self._guesses.draw("", now=self._clock().timestamp())
            return too_many_guesses(wait) if wait else invalid_token()
        if head.peer and head.port and not self._other_users and not is_own_program(head.peer, port=head.port):
            emit("token_of_other_user", level="warning", client=token.client, token=token.id)
            return other_user()
        headers = _own_headers(head)
        if isinstance(headers, ErrorResponse):
            return headers
        _, vault = headers
        if token.vault and vault and vault not in (token.vault, PurePath(token.vault).name):
            return other_vault()
        self._tokens.touch(token, now=self._clock())
        return Caller(token.client, frozenset(token.scopes), vault=token.vault or vault, via="tcp")

    def by_socket(self, head: RequestHead) -> Caller | ErrorResponse:
        """The caller on the socket: its owner, through a program that states its own name."""
        headers = _own_headers(head)
        if isinstance(headers, ErrorResponse):
            return headers
        client, vault = headers
        folder = _decode_path(head.one("commonplace-folder") or "") or ""  # one that cannot be read is no obstacle
        return Caller(client or "socket", frozenset(SCOPES), vault=vault, via="socket", folder=folder)

    def _token(self, head: RequestHead) -> Token | None:
        values = head.all("authorization")
        if len(values) != 1:
            return None
        scheme, _, secret = values[0].partition(" ")
        return self._tokens.find(secret.strip()) if scheme.lower() == "bearer" and secret else None


def required_scope(path: str) -> Scope:
    """The scope that a caller needs for this path; the route may require more."""
    return "admin" if path == "/daemon" or path.startswith("/daemon/") else "read"


def _own_headers(head: RequestHead) -> tuple[str, str] | ErrorResponse:
    """The client and the vault that the headers name; empty if they do not."""
    clients, vaults = head.all("commonplace-client"), head.all("commonplace-vault")
    if len(clients) > 1 or len(vaults) > 1:
        hint = "Send Commonplace-Client and Commonplace-Vault once each."
        return malformed("a header of Commonplace was sent twice", hint=hint)
    if clients and not is_client_name(clients[0]):
        hint = "Use 1 to 64 letters, digits, spaces, dots, underscores and dashes."
        return malformed("Commonplace-Client is not a valid client name", hint=hint)
    vault = _decode_path(vaults[0]) if vaults else ""
    if vault is None:
        hint = "Send the path or the folder name of a registered vault, as percent-encoded UTF-8."
        return malformed("Commonplace-Vault is not a path", hint=hint)
    return (clients[0] if clients else "", vault)


def _decode_path(value: str) -> str | None:
    """A path that may be percent-encoded; None if it is not UTF-8, too long, or holds unprintable characters."""
    try:
        text = unquote(value.encode("latin-1").decode("utf-8"), errors="strict")
    except UnicodeDecodeError:
        return None
    is_valid = len(text.encode("utf-8")) <= _LONGEST_PATH and text.isprintable()
    return text if is_valid else None


@dataclass(slots=True)
class _Bucket:
    left: float
    seen: float


class RateLimiter:
    """A token bucket for each caller, which refills by `per_second` up to `burst`."""

    def __init__(self, *, per_second: float, burst: int) -> None:
        self._per_second = per_second
        self._burst = burst
        self._buckets: dict[str, _Bucket] = {}

    def draw(self, caller: str, *, now: float) -> float:
        """The seconds that this caller has to wait; 0.0 if the request may go on."""
        bucket = self._buckets.get(caller)
        if bucket is None:
            self._make_room(now)
            bucket = self._buckets[caller] = _Bucket(self._burst, now)
        bucket.left = self._refilled(bucket, now)
        bucket.seen = now
        if bucket.left < 1:
            return (1 - bucket.left) / self._per_second
        bucket.left -= 1
        return 0.0

    def _refilled(self, bucket: _Bucket, now: float) -> float:
        """The bucket's level now; a clock that was set back refills nothing."""
        return min(self._burst, bucket.left + max(0.0, now - bucket.seen) * self._per_second)

    def _make_room(self, now: float) -> None:
        """Forget the callers whose bucket is full again, for whom nothing changes; then the oldest."""
        if len(self._buckets) < _MOST_CALLERS:
            return
        self._buckets = {
            name: bucket for name, bucket in self._buckets.items() if self._refilled(bucket, now) < self._burst
        }
        while len(self._buckets) >= _MOST_CALLERS:
            del self._buckets[next(iter(self._buckets))]


async def read_body(
    head: RequestHead, receive: "Receive", *, most: int, seconds: float
) -> bytes | ErrorResponse | None:
    """The whole body, or an error at once if it is too large or too slow; None if the caller went away.

    A declared length is believed if it is too large, and never if it is small enough.
    """
    if head.content_length is not None and head.content_length > most:
        return too_large(most)
    body = bytearray()
    try:
        async with asyncio.timeout(seconds):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    return None
                body += message.get("body", b"")
                if len(body) > most:
                    return too_large(most)
                if not message.get("more_body", False):
                    return bytes(body)
    except TimeoutError:
        return too_slow(seconds)


def has_too_many_fields(body: bytes) -> bool:
    """True if the JSON in a body has more names, lists and objects than any request.

    Each of them may become an error, on the event loop.
    """
    fields = 0
    for text in _FIELD.finditer(body):
        fields += text[1] is not None or text[2] is not None
        if fields > MOST_FIELDS:
            return True
    return False


def _inner_scope(scope: "AsgiScope", caller: Caller) -> "AsgiScope":
    """The request as a route sees it: with its caller, and without the token, so that nothing can log it."""
    headers = [(name, value) for name, value in scope["headers"] if name != b"authorization"]
    return {**scope, "headers": headers, CALLER: caller}


def _replay(body: bytes, receive: "Receive") -> "Receive":
    """A `receive` that gives the body first, then whatever comes, which is that the caller has gone."""
    is_sent = False

    async def next_message() -> "Message":
        nonlocal is_sent
        if is_sent:
            return await receive()
        is_sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    return next_message


def _log_refusal(error: ErrorResponse, head: RequestHead, *, via: str) -> None:
    """Log that a request was refused, without its headers, its query and its body."""
    path = _SECRET.sub("cpl_...", head.path[:_LOGGED_PATH])
    emit(
        "request_refused",
        level="warning",
        status=error.status,
        message=error.error.message,
        method=head.method[:10],
        path=path,
        via=via,
        caller=error.caller,
    )
