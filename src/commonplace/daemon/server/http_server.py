"""The HTTP server behind both sockets: its connections, and one ASGI application for MCP, the API and our own routes.

Connections are limited in number, and in the time that a request head may take: the guard sees a request only when its
head is complete, so a caller that sends its head byte by byte, or none at all, is handled here. So is a caller that
sends requests and does not read the responses: it has as long to read as to send, and less if others want its place.
"""

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
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
from starlette.types import ASGIApp, Message, Receive, Send
from starlette.types import Scope as AsgiScope
from uvicorn.protocols.http.h11_impl import H11Protocol

from commonplace import __version__
from commonplace.daemon.jobs import RequestCounter
from commonplace.daemon.metrics import CONTENT_TYPE
from commonplace.daemon.server.guard import LONGEST_HEAD
from commonplace.daemon.server.messages import (
    CONNECTION,
    SECURITY_HEADERS,
    ConnectionFacts,
    ErrorResponse,
    malformed,
    too_many_requests,
)
from commonplace.daemon.workers import WorkerPool
from commonplace.errors import CommonplaceError, NotFound, Refused, UsageError, codes_for, for_strangers
from commonplace.events import emit
from commonplace.identity.access import Identities
from commonplace.mcp_server.direct_calls import ToolCall, plain_call
from commonplace.mcp_server.server import make_mcp
from commonplace.memory import MemoryFor
from commonplace.model import Caller
from commonplace.model import Scope as ModelScope
from commonplace.model.change import CALLER
from commonplace.model.diagnostics import Finding
from commonplace.settings.harmless import SettingsEditor
from commonplace.web.job_queue import JobQueue
from commonplace.web.live_events import LiveEvents
from commonplace.web.page.sessions import LINK_LIFE, PAGE_SESSION, PageSessions, is_page_path

if TYPE_CHECKING:
    from commonplace.policy.options import ServeOptions

# Open connections of one socket. A process has 1,024 files by default, for two sockets and its vaults.
_MOST_CONNECTIONS: Final = 400
_READY_SECONDS: Final = 2.0  # how long an answer of /ready is given again: looking reads the index of each vault
_HINT: Final = "Send an HTTP/1.1 request whose headers are smaller than 16 kB."
MCP = "/mcp"
API = "/api/"


@dataclass(frozen=True, slots=True)
class DaemonControl:
    """How the daemon's own routes report its status, stop it, and prove by a nonce that it is the daemon.

    `link` makes a link by which a browser signs in to the page of a vault, and `vaults` are the registered ones.
    `checks` are those of doctor that are about no vault.
    """

    status: Callable[[], dict[str, Any]]
    stop: Callable[[], None]
    prove: Callable[[str], str]
    link: Callable[[str], str]
    metrics: Callable[[str], str]
    unready: Callable[[], Sequence[str]]
    vaults: Callable[[], Sequence[Path]]
    checks: Callable[[], Sequence[Finding]]


class DaemonApp:
    """The application: routes each path to MCP, to the API, to the page, or to the daemon's own routes."""

    def __init__(
        self,
        memory_for: MemoryFor,
        control: DaemonControl,
        counter: RequestCounter,
        *,
        sessions: PageSessions,
        hooks: Sequence[Route],
        live: LiveEvents,
        jobs: JobQueue,
        settings: SettingsEditor,
        identities: Identities,
        workers: WorkerPool,
    ) -> None:
        fastmcp.settings.check_for_updates = "off"  # no network call that the settings did not ask for
        mcp = make_mcp(memory_for)
        self._calls, self._throttles = mcp.calls, mcp.throttles
        self._mcp = mcp.server.http_app(
            path=MCP,
            stateless_http=True,
            json_response=True,
            host_origin_protection=False,  # the guard in front checks both
        )
        self._memory_for, self._sessions, self._control = memory_for, sessions, control
        self._live, self._jobs, self._settings = live, jobs, settings
        self._identities, self._workers = identities, workers
        self._load_lock = threading.Lock()
        self._loaded_api: ASGIApp | None = None
        self._loaded_page: ASGIApp | None = None
        self._own_routes = _own_routes(control, hooks)
        self._counter = counter

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        """Handle one request; its beginning and its end are events."""
        self._counter.count()
        start, status = time.perf_counter(), 500

        async def send_on(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        emit("http_started", level="debug")
        try:
            await self._dispatch(scope, receive, send_on)
        finally:
            ms, method = (time.perf_counter() - start) * 1000, scope["method"][:10]
            emit("http_request", level="debug", route=route_kind(scope), method=method, status=status, ms=ms)

    async def _dispatch(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        path = scope["path"]
        if path == MCP or path.startswith(f"{MCP}/"):
            await self._call_tool(scope, receive, send)
        elif path.startswith(API):
            api = await run_in_threadpool(self._api) if self._loaded_api is None else self._loaded_api
            await api(scope, receive, send)
        elif _is_for_page(scope):
            page = await run_in_threadpool(self._page) if self._loaded_page is None else self._loaded_page
            await page(scope, receive, send)
        else:
            await self._own_routes(scope, receive, send)

    async def _call_tool(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        """Answer a plain call of a tool at once; leave everything else that comes by MCP to the SDK."""
        message = await receive()  # the guard has read the whole body
        call = plain_call(scope["headers"], message["body"]) if _is_whole_post(scope, message) else None
        need = self._calls.scope_of(call.name) if call else None
        if call is None or need is None:
            await self._mcp(scope, _again(message, receive), send)
            return
        caller = scope[CALLER]
        answer = partial(self._answer_here, call, caller, need)
        result = await self._workers.answer(call, caller, answer) if need == "read" else await answer()
        await Response(call.response(result), media_type="application/json")(scope, receive, send)

    async def _answer_here(self, call: ToolCall, caller: Caller, need: ModelScope) -> bytes:
        async with self._throttles[need].slot(caller.name):
            return await run_in_threadpool(self._calls.answer, call, caller)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """The application accepts requests within this block."""
        async with self._mcp.lifespan(self._mcp):
            yield

    def _api(self) -> ASGIApp:
        """The HTTP API, loaded at its first request, so that an MCP client does not wait for it."""
        with self._load_lock:
            if self._loaded_api is None:
                from commonplace.web.api import make_api

                self._loaded_api = make_api(self._memory_for, live=self._live, jobs=self._jobs)
            return self._loaded_api

    def _page(self) -> ASGIApp:
        """The page for the person, loaded at its first request."""
        with self._load_lock:
            if self._loaded_page is None:
                from commonplace.web.page.app import make_page
                from commonplace.web.page.view import PageHost

                host = PageHost(
                    memory_for=self._memory_for,
                    sessions=self._sessions,
                    vaults=self._control.vaults,
                    status=self._control.status,
                    checks=self._control.checks,
                    jobs=self._jobs,
                    live=self._live,
                    settings=self._settings,
                    identities=self._identities,
                )
                self._loaded_page = make_page(host)
            return self._loaded_page


def _is_whole_post(scope: AsgiScope, message: Message) -> bool:
    is_whole = message["type"] == "http.request" and not message.get("more_body", False)
    return is_whole and scope["method"] == "POST" and scope["path"] == MCP and isinstance(scope.get(CALLER), Caller)


def _again(message: Message, receive: Receive) -> Receive:
    """A `receive` that gives this message once more, then whatever comes."""
    messages = [message]

    async def next_message() -> Message:
        return messages.pop() if messages else await receive()

    return next_message


def route_kind(scope: AsgiScope) -> str:
    """The kind of route that a request took, such as `mcp`, `api/search` or `page`; `other` if there was none."""
    path = scope["path"]
    if path == MCP or path.startswith(f"{MCP}/"):
        return "mcp"
    if "endpoint" not in scope:  # routers set it
        return "other"
    if path.startswith(API):
        return f"api/{path.split('/')[3]}"
    return "page" if is_page_path(path) else str(path.split("/")[1])


def _is_for_page(scope: AsgiScope) -> bool:
    """True for a browser, signed in or not; False for a caller with a token or on the socket."""
    caller = scope.get(CALLER)
    is_nobody = isinstance(caller, Caller) and not caller.name
    return is_page_path(scope["path"]) and (scope.get(PAGE_SESSION) is not None or is_nobody)


def _own_routes(control: DaemonControl, hooks: Sequence[Route]) -> Starlette:
    async def health(request: Request) -> Response:
        return JSONResponse({"ok": True, "name": "commonplace", "version": __version__})

    readiness = Readiness(control.unready)

    async def ready(request: Request) -> Response:
        reasons = await run_in_threadpool(readiness.reasons)
        return JSONResponse({"ok": not reasons, "ready": not reasons, "reasons": [*reasons]}, 503 if reasons else 200)

    async def metrics(request: Request) -> Response:
        caller = request.scope.get(CALLER)
        vault = caller.vault if isinstance(caller, Caller) else ""
        return Response(await run_in_threadpool(control.metrics, vault), media_type=CONTENT_TYPE)

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

    async def page_link(request: Request) -> Response:
        caller = _require_admin(request)
        if caller.via != "socket":
            raise Refused("only a program of this user may open the page", hint="Run `commonplace open`.")
        link = await run_in_threadpool(control.link, caller.vault)
        return JSONResponse({"ok": True, "url": link, "seconds": int(LINK_LIFE.total_seconds())})

    return Starlette(
        routes=[
            Route("/health", health, methods=["GET"]),
            Route("/ready", ready, methods=["GET"]),
            Route("/metrics", metrics, methods=["GET"]),
            Route("/proof", proof, methods=["GET"]),
            Route("/daemon/status", status, methods=["GET"]),
            Route("/daemon/stop", stop, methods=["POST"]),
            Route("/daemon/page-link", page_link, methods=["POST"]),
            *hooks,
        ],
        exception_handlers={HTTPException: _handle_http_error, CommonplaceError: _handle_our_error},
    )


class Readiness:
    """Why requests cannot be answered in full: looked at once in a while, however often anybody asks."""

    def __init__(self, look: Callable[[], Sequence[str]], clock: Callable[[], float] = time.monotonic) -> None:
        self._look, self._clock = look, clock
        self._lock = threading.Lock()
        self._reasons: Sequence[str] | None = None
        self._until = 0.0

    def reasons(self) -> Sequence[str]:
        """The reasons of the last seconds. While somebody looks, others get what was known before, if something was."""
        if not self._lock.acquire(blocking=self._reasons is None):
            return self._reasons or ()
        try:
            if self._reasons is None or self._clock() >= self._until:
                self._reasons = self._look()
                self._until = self._clock() + _READY_SECONDS
            return self._reasons
        finally:
            self._lock.release()


def _require_admin(request: Request) -> Caller:
    """The caller. Raises Refused unless it has the scope admin."""
    caller = request.scope.get(CALLER)
    if not (isinstance(caller, Caller) and caller.may("admin")):
        message = "this needs the scope admin"
        raise Refused(message, hint="Use the socket: `commonplace status`.")
    return caller


async def _handle_our_error(request: Request, error: Exception) -> Response:
    ours = error if isinstance(error, CommonplaceError) else CommonplaceError("unexpected error")
    caller = request.scope.get(CALLER)
    if not (isinstance(caller, Caller) and caller.name):
        ours = for_strangers(ours)
    return JSONResponse({"ok": False, "error": ours.as_dict()}, codes_for(ours).http)


async def _handle_http_error(request: Request, error: Exception) -> Response:
    """The response for an unknown path, or for a method that a path does not have."""
    status = error.status_code if isinstance(error, HTTPException) else 500
    hint = "Paths are /mcp, /api/v1 (see /api/v1/openapi.json), /health, /ready, /metrics, /proof and /daemon/status."
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
        self.app_state = {**self.app_state, CONNECTION: ConnectionFacts()}
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
