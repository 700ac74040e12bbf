"""How an answer leaves: with the headers that every answer has, and refusals in the one shape."""

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from commonplace.daemon.head import Head
from commonplace.daemon.origins import sharing
from commonplace.daemon.refusals import SLOW, Headers, Refusal

if TYPE_CHECKING:
    from starlette.types import Message, Receive, Send

ALWAYS: Final[Headers] = (
    (b"cache-control", b"no-store"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
)
_OURS: Final = frozenset({name for name, _ in ALWAYS} | {b"server", b"vary"})
_LINGER: Final = 0.5  # seconds; a caller that still sends would else see a broken pipe and not why


class Dressed:
    """A `send` whose answers carry our headers, and those that let an admitted page read them."""

    def __init__(self, send: "Send", head: Head | None = None) -> None:
        self._send = send
        self._extra = (*ALWAYS, *(sharing(head) if head else ()))
        self.started = False

    async def __call__(self, message: "Message") -> None:
        """Pass a message on."""
        if message["type"] == "http.response.start":
            self.started = True
            kept = [(name, value) for name, value in message.get("headers", ()) if name.lower() not in _OURS]
            message = {**message, "headers": [*kept, *self._extra]}
        await self._send(message)

    async def alone(self, status: int, headers: Headers) -> None:
        """Send an answer without a body."""
        await self({"type": "http.response.start", "status": status, "headers": headers})
        await self({"type": "http.response.body", "body": b""})

    async def whole(self, refusal: Refusal, *, headers: Headers = (), more: bool = False) -> None:
        """Send a refusal; with `more`, its end is still to come, though a caller has all it was promised."""
        body = refusal.body()
        of_body = ((b"content-type", b"application/json"), (b"content-length", str(len(body)).encode("ascii")))
        start = {"type": "http.response.start", "status": refusal.status}
        await self({**start, "headers": (*of_body, *refusal.headers, *headers)})
        await self({"type": "http.response.body", "body": body, "more_body": more})


async def send_refusal(refusal: Refusal, head: Head, *, receive: "Receive", send: Dressed, most: int) -> None:
    """Say why a request goes no further. A body that was not read ends the connection with it."""
    if not head.has_body:
        await send.whole(refusal)
        return
    await send.whole(refusal, headers=((b"connection", b"close"),), more=True)
    if refusal.status != SLOW:
        await _let_finish(receive, most)
    await send({"type": "http.response.body", "body": b""})


async def _let_finish(receive: "Receive", most: int) -> None:
    """Throw away what a caller still sends, for a moment and up to `most` bytes, until it reads the answer."""
    with suppress(TimeoutError):
        async with asyncio.timeout(_LINGER):
            while most > 0:
                message = await receive()
                if message["type"] == "http.disconnect" or not message.get("more_body", False):
                    return
                most -= len(message.get("body", b""))
