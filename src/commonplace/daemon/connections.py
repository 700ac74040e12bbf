"""A connection to the daemon: bounded in number, and in the time that the head of a request may take.

The guard sees a request when its head is here. A caller that sends its head a byte at a time, or none at all, is the
business of the connection.
"""

import asyncio
from typing import TYPE_CHECKING, ClassVar, Final

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from commonplace.daemon.answers import ALWAYS
from commonplace.daemon.refusals import Refusal, malformed, too_many
from commonplace.events import emit

if TYPE_CHECKING:
    from commonplace.policy.doors import ServeOptions

_MOST: Final = (
    400  # open connections of one way in; a process has 1,024 files by default, for two ways in and its vaults
)
_HEAD: Final = "Send a request of HTTP/1.1 with a head of less than 16 kB."


class BoundedConnection(H11Protocol):
    """Closes what does not send a whole head within `head_seconds`, and what is one too many."""

    head_seconds: ClassVar[float]
    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in its base
        """Begin to wait for a head; where too many are open already, say so and close."""
        super().connection_made(transport)
        if len(self.connections) > _MOST:
            emit("too_many_connections", level="warning", open=len(self.connections))
            self._end_with(too_many(1.0))
        else:
            self._deadline = self.loop.call_later(self.head_seconds, self._give_up)

    def data_received(self, data: bytes) -> None:
        """Take what came; the time runs from the first byte of a head to its last."""
        super().data_received(data)
        waits = self.conn.their_state is h11.IDLE and not self.transport.is_closing()
        if not waits:
            self._stop_waiting()
        elif self._deadline is None and self.conn.trailing_data[0]:
            self._deadline = self.loop.call_later(self.head_seconds, self._give_up)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the deadline."""
        self._stop_waiting()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """Answer what is no HTTP, or too long a head, in the one shape."""
        self._end_with(malformed("this is no request that we understand", hint=_HEAD))

    def _end_with(self, refusal: Refusal) -> None:
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            body = refusal.body()
            of_body = ((b"content-type", b"application/json"), (b"content-length", str(len(body)).encode("ascii")))
            headers = [*of_body, *refusal.headers, *ALWAYS, (b"connection", b"close")]
            parts = (h11.Response(status_code=refusal.status, headers=headers), h11.Data(data=body), h11.EndOfMessage())
            self.transport.write(b"".join(self.conn.send(part) or b"" for part in parts))
        self.transport.close()

    def _give_up(self) -> None:
        self._deadline = None
        emit("slow_head", level="warning", seconds=self.head_seconds)
        self.transport.close()

    def _stop_waiting(self) -> None:
        if self._deadline:
            self._deadline.cancel()
            self._deadline = None


def connection_for(options: "ServeOptions") -> type[BoundedConnection]:
    """The kind of connection that these options ask for, to be given to the server as its `http`."""

    class Connection(BoundedConnection):
        """With the time that a person set."""

        head_seconds = options.body_seconds

    return Connection
