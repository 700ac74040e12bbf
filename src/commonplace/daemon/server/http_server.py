"""The HTTP server behind both sockets: its connections, and one ASGI application for MCP, the API and our own routes.

Connections are limited in number, and in the time that a request head may take: the guard sees a request only when its
head is complete, so a caller that sends its head byte by byte, or none at all, is handled here. So is a caller that
sends requests and does not read the responses: it has as long to read as to send, and less if others want its place.
"""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final

import fastmcp
import h11
import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Send
from starlette.types import Scope as AsgiScope
from uvicorn.protocols.http.h11_impl import H11Protocol

from commonplace import __version__
from commonplace.daemon.jobs import RequestCounter
from commonplace.daemon.server.guard import LONGEST_HEAD
from commonplace.daemon.server.messages import SECURITY_HEADERS, ErrorResponse, malformed, too_many_requests
from commonplace.errors import CommonplaceError, NotFound, Refused, UsageError, codes_for
from commonplace.events import emit
from commonplace.mcp_server.server import make_server
from commonplace.memory import MemoryFor
from commonplace.model import Caller
from commonplace.model.change import CALLER

if TYPE_CHECKING:
    from commonplace.policy.options import ServeOptions

# Open connections of one socket. A process has 1,024 files by default, for two sockets and its vaults.
_MOST_CONNECTIONS: Final = 400
_HINT: Final = "Send an HTTP/1.1 request whose headers are smaller than 16 kB."
MCP = "/mcp"
API = "/api/"


@dataclass(frozen=True, slots=True)
class DaemonControl:
    """How the daemon's own routes report its status, stop it, and prove by a nonce that it is the daemon."""

    status: Callable[[], dict[str, Any]]
    stop: Callable[[], None]
    prove: Callable[[str], str]


class DaemonApp:
    """The application: routes each path to MCP, to the API, or to the daemon's own routes."""

    def __init__(
        self, memory_for: MemoryFor, control: DaemonControl, counter: RequestCounter, *, hooks: Sequence[Route]
    ) -> None:
        fastmcp.settings.check_for_updates = "off"  # no network call that the settings did not ask for
        self._mcp = make_server(memory_for).http_app(
            path=MCP,
            stateless_http=True,
            json_response=True,
            host_origin_protection=False,  # the guard in front checks both
        )
        self._memory_for = memory_for
        self._api_lock = threading.Lock()
        self._loaded_api: ASGIApp | None = None
        self._own_routes = _own_routes(control, hooks)
        self._counter = counter

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        self._counter.count()
        path = scope["path"]
        if path == MCP or path.startswith(f"{MCP}/"):
            await self._mcp(scope, receive, send)
        elif path.startswith(API):
            api = await run_in_threadpool(self._api) if self._loaded_api is None else self._loaded_api
            await api(scope, receive, send)
        else:
            await self._own_routes(scope, receive, send)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """The application accepts requests within this block."""
        async with self._mcp.lifespan(self._mcp):
            yield

    def _api(self) -> ASGIApp:
        """The HTTP API, loaded at its first request, so that an MCP client does not wait for it."""
        with self._api_lock:
            if self._loaded_api is None:
                from commonplace.web.api import make_api

                self._loaded_api = make_api(self._memory_for)
            return self._loaded_api


def _own_routes(control: DaemonControl, hooks: Sequence[Route]) -> Starlette:
    async def health(request: Request) -> Response:
        return JSONResponse({"ok": True, "name": "commonplace", "version": __version__})

    async def proof(request: Request) -> Response:
        nonce = request.query_params.get("nonce", "")
        return JSONResponse({"ok": True, "proof": await run_in_threadpool(control.prove, nonce)})

    async def status(request: Request) -> Response:
        _require_admin(request)
        return JSONResponse({"ok": True, **await run_in_threadpool(control.status)})

    async def stop(request: Request) -> Response:
        _require_admin(request)
        asyncio.get_running_loop().call_soon(control.stop)
        return JSONResponse({"ok": True, "stopping": True})

    return Starlette(
        routes=[
            Route("/health", health, methods=["GET"]),
            Route("/proof", proof, methods=["GET"]),
            Route("/daemon/status", status, methods=["GET"]),
            Route("/daemon/stop", stop, methods=["POST"]),
            *hooks,
        ],
        exception_handlers={HTTPException: _handle_http_error, CommonplaceError: _handle_our_error},
    )


def _require_admin(request: Request) -> None:
    """Raise Refused unless the caller has the scope admin."""
    caller = request.scope.get(CALLER)
    if not (isinstance(caller, Caller) and caller.may("admin")):
        message = "this needs the scope admin"
        raise Refused(message, hint="Use the socket: `commonplace status`.")


async def _handle_our_error(request: Request, error: Exception) -> Response:
    ours = error if isinstance(error, CommonplaceError) else CommonplaceError("unexpected error")
    return JSONResponse({"ok": False, "error": ours.as_dict()}, codes_for(ours).http)


async def _handle_http_error(request: Request, error: Exception) -> Response:
    """The response for an unknown path, or for a method that a path does not have."""
    status = error.status_code if isinstance(error, HTTPException) else 500
    hint = "Paths are /mcp, /api/v1 (see /api/v1/openapi.json), /health, /proof and /daemon/status."
    ours: CommonplaceError = NotFound("no such path", hint=hint)
    if status == 405:
        ours = UsageError(f"this path does not support {request.method}", hint="Use another method.")
    return JSONResponse({"ok": False, "error": ours.as_dict()}, status)


class BoundedConnection(H11Protocol):
    """Closes a connection that does not send a whole head within `head_seconds`, and one that is too many.

    Aborts one whose caller does not read for as long: closing would wait for the caller to read what is left.
    """

    head_seconds: ClassVar[float]
    _timer: asyncio.TimerHandle | None = None
    _unread_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in its base
        """Start the timer for a head; if too many connections are open, end one that does not read, or this one."""
        super().connection_made(transport)
        if len(self.connections) > _MOST_CONNECTIONS and not self._take_place():
            emit("too_many_connections", level="warning", open=len(self.connections))
            self._end_with(too_many_requests(1.0))
        else:
            self._timer = self.loop.call_later(self.head_seconds, self._give_up)

    def data_received(self, data: bytes) -> None:
        """Process the data; the time runs from the first byte of a head to its last."""
        super().data_received(data)
        is_waiting = self.conn.their_state is h11.IDLE and not self.transport.is_closing()
        if not is_waiting:
            self._stop_timer()
        elif self._timer is None and self.conn.trailing_data[0]:
            self._timer = self.loop.call_later(self.head_seconds, self._give_up)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timers."""
        self._stop_timer()
        self._stop_unread_timer()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Hold the response back, and start the timer for a caller that does not read."""
        super().pause_writing()
        self._start_unread_timer()

    def resume_writing(self) -> None:
        """Go on with the response: the caller has read enough."""
        super().resume_writing()
        self._stop_unread_timer()

    def timeout_keep_alive_handler(self) -> None:
        """Close the connection, which has been idle; not later than the caller has time to read what is left."""
        super().timeout_keep_alive_handler()
        self._start_unread_timer()

    def send_400_response(self, msg: str) -> None:
        """Respond to what is not HTTP, or to too long a head, with our JSON error."""
        self._end_with(malformed("this is not a valid HTTP request", hint=_HINT))

    def _end_with(self, error: ErrorResponse) -> None:
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            body = error.body()
            content = ((b"content-type", b"application/json"), (b"content-length", str(len(body)).encode("ascii")))
            headers = [*content, *error.headers, *SECURITY_HEADERS, (b"connection", b"close")]
            parts = (h11.Response(status_code=error.status, headers=headers), h11.Data(data=body), h11.EndOfMessage())
            self.transport.write(b"".join(self.conn.send(part) or b"" for part in parts))
        self.transport.close()
        self._start_unread_timer()

    def _take_place(self) -> bool:
        """True if a connection was aborted whose caller does not read, so that this one can stay."""
        ends = {each: each.unread_until for each in self.connections if isinstance(each, BoundedConnection)}
        unread = {each: end for each, end in ends.items() if end is not None}
        if unread:
            min(unread, key=lambda each: unread[each]).abort()
        return bool(unread)

    def _give_up(self) -> None:
        self._timer = None
        emit("slow_head", level="warning", seconds=self.head_seconds)
        self.transport.close()
        self._start_unread_timer()

    @property
    def unread_until(self) -> float | None:
        """When the loop's time for a caller that does not read is over; None if the caller reads."""
        return self._unread_timer.when() if self._unread_timer else None

    def abort(self) -> None:
        """End the connection without what its caller has not read."""
        self._stop_unread_timer()
        emit("unread_response", level="warning", seconds=self.head_seconds)
        self.connections.discard(self)  # at once: its place may be needed now
        self.transport.abort()

    def _start_unread_timer(self) -> None:
        if self._unread_timer is None and self.transport.get_write_buffer_size():
            self._unread_timer = self.loop.call_later(self.head_seconds, self.abort)

    def _stop_unread_timer(self) -> None:
        if self._unread_timer:
            self._unread_timer.cancel()
            self._unread_timer = None

    def _stop_timer(self) -> None:
        if self._timer:
            self._timer.cancel()
            self._timer = None


def connection_for(options: "ServeOptions") -> type[BoundedConnection]:
    """The connection class for these options, to be given to uvicorn as its `http`."""

    class Connection(BoundedConnection):
        """With the configured time."""

        head_seconds = options.body_seconds

    return Connection


def make_http_server(app: ASGIApp, options: "ServeOptions", *, grace: int) -> uvicorn.Server:
    """A server that leaves signals and the application's lifespan to us; `grace` is how many seconds requests have."""

    class Server(uvicorn.Server):
        capture_signals = staticmethod(nullcontext)  # type: ignore[assignment]

    config = uvicorn.Config(
        app,
        http=connection_for(options),
        h11_max_incomplete_event_size=LONGEST_HEAD,
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        ws="none",
        timeout_graceful_shutdown=grace,
    )
    return Server(config)
