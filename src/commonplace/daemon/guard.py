"""The guard: every request passes it before a door sees it, and every answer on its way out.

It checks, in this order, the form of the request, the Host, the page behind it, the caller, the rate, the scope and
the body. What it lets in carries a `Caller`, a body that is already here in full, and no token.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Final

from commonplace.daemon.answers import Dressed, send_refusal
from commonplace.daemon.callers import Callers, scope_for
from commonplace.daemon.head import Head, head_of
from commonplace.daemon.limits import Rates, read_body
from commonplace.daemon.origins import is_preflight, preflight_answer
from commonplace.daemon.refusals import (
    Refusal,
    head_too_large,
    log_refusal,
    malformed,
    our_fault,
    scope_wanted,
    too_many,
    wrong_host,
    wrong_origin,
)
from commonplace.daemon.tokens import Tokens
from commonplace.events import emit
from commonplace.model import Caller
from commonplace.model.caller import CALLER, Via

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from commonplace.policy.doors import ServeOptions

LONGEST_HEAD: Final = 16_384
"""Bytes of a request's target and headers, together."""

_ANYONE: Final = Caller("", frozenset())
"""Whoever asks whether the daemon is there; no client has an empty name."""


def guarded(
    app: "ASGIApp", *, via: Via, options: "ServeOptions", tokens: Tokens, clock: Callable[[], datetime]
) -> "ASGIApp":
    """The same doors behind a guard: one for TCP, which wants tokens, or one for the socket, which does not."""
    return Guard(app, via=via, options=options, tokens=tokens, clock=clock)


class Guard:
    """An ASGI app in front of another."""

    def __init__(
        self, app: "ASGIApp", *, via: Via, options: "ServeOptions", tokens: Tokens, clock: Callable[[], datetime]
    ) -> None:
        self._app, self._via, self._options, self._clock = app, via, options, clock
        self._callers = Callers(tokens, clock=clock)
        self._rates = Rates(per_second=options.requests_per_second, burst=options.burst)

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        """Let one request in, or say why not. The server's own start and stop pass as they are."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            await self._answer(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": 1008})  # no door of ours speaks it

    async def _answer(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        head = head_of(scope)
        if refusal := self._stranger(head):
            await self._refuse(refusal, head, receive=receive, send=Dressed(send))
            return
        dressed = Dressed(send, head)
        if is_preflight(head):
            await dressed.alone(204, preflight_answer(head))
            return
        caller = self._admitted(head)
        if isinstance(caller, Refusal):
            await self._refuse(caller, head, receive=receive, send=dressed)
            return
        options = self._options
        body = await read_body(head, receive, most=options.max_body_bytes, seconds=options.body_seconds)
        if isinstance(body, Refusal):
            await self._refuse(replace(body, caller=caller.name), head, receive=receive, send=dressed)
        elif body is not None:
            await self._let_in(_inner(scope, caller), _replaying(body, receive), dressed)

    def _stranger(self, head: Head) -> Refusal | None:
        """Why not even a browser's question about this request is answered; None where nothing speaks against it."""
        if head.size > LONGEST_HEAD:
            return head_too_large(LONGEST_HEAD)
        if not head.path.startswith("/"):
            return malformed("the target of the request is no path", hint="Ask for a path, such as /mcp.")
        if len(head.all("transfer-encoding")) + len(head.all("content-length")) > 1:
            return malformed("the length of the body is given twice", hint="Send Content-Length or chunks, not both.")
        hosts, origins, sites = head.all("host"), head.all("origin"), head.all("sec-fetch-site")
        if len(origins) > 1 or len(sites) > 1:
            return malformed("a header of the browser came twice", hint="Send Origin and Sec-Fetch-Site once each.")
        if self._via == "tcp" and len(hosts) != 1:
            return malformed("one Host is wanted", hint="Send the header Host once.")
        if self._via == "tcp" and not self._options.admits_host(hosts[0], port=head.port or 0):
            return wrong_host()
        origin, site = next(iter(origins), None), next(iter(sites), "")
        return None if self._options.admits_fetch(site, origin=origin, port=head.port) else wrong_origin()

    def _admitted(self, head: Head) -> Caller | Refusal:
        """The caller, if it may make this request now."""
        caller = self._caller(head)
        if isinstance(caller, Refusal):
            return caller
        if wait := self._rates.draw(caller.name, now=self._clock().timestamp()):
            return replace(too_many(wait), caller=caller.name)
        wanted = scope_for(head.path)
        if caller is not _ANYONE and not caller.may(wanted):
            return replace(scope_wanted(wanted), caller=caller.name)
        return caller

    def _caller(self, head: Head) -> Caller | Refusal:
        if self._via == "socket":
            return self._callers.by_socket(head)
        if head.path == "/health" and head.method in ("GET", "HEAD"):
            return _ANYONE
        return self._callers.by_token(head)

    async def _refuse(self, refusal: Refusal, head: Head, *, receive: "Receive", send: Dressed) -> None:
        log_refusal(refusal, head, via=self._via)
        await send_refusal(refusal, head, receive=receive, send=send, most=self._options.max_body_bytes)

    async def _let_in(self, scope: "Scope", receive: "Receive", send: Dressed) -> None:
        """Pass the request on. A fault behind the door is ours: it is told without what it may quote of a note."""
        try:
            await self._app(scope, receive, send)
        except Exception as error:  # noqa: BLE001 (the outermost door: one request's fault is no other's)
            emit("unexpected_error", level="error", path=scope["path"], exc_info=error)
            if not send.started:
                await send.whole(our_fault())


def _inner(scope: "Scope", caller: Caller) -> "Scope":
    """The request as a door sees it: with its caller, and without the token, so that nothing can write it down."""
    headers = [(name, value) for name, value in scope["headers"] if name != b"authorization"]
    return {**scope, "headers": headers, CALLER: caller}


def _replaying(body: bytes, receive: "Receive") -> "Receive":
    """What a door reads: the body at once, then whatever comes, which is that the caller has gone."""
    told = False

    async def next_message() -> "Message":
        nonlocal told
        if told:
            return await receive()
        told = True
        return {"type": "http.request", "body": body, "more_body": False}

    return next_message
