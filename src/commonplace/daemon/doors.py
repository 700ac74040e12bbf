"""One application behind both sockets: MCP, the HTTP API, and what the daemon says of itself."""

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import fastmcp
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Send
from starlette.types import Scope as AsgiScope

from commonplace.daemon.tally import Tally
from commonplace.errors import CommonplaceError, NotFound, Refused, UsageError, answer_to
from commonplace.mcp_server.server import make_server
from commonplace.memory import MemoryFor
from commonplace.model import Caller
from commonplace.model.caller import CALLER

MCP = "/mcp"
API = "/api/"

Answer = Callable[[Request], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class Itself:
    """What the daemon can say of itself, and the way to stop it."""

    status: Callable[[], dict[str, Any]]
    stop: Callable[[], None]


class Doors:
    """The application: each path goes to the door that it belongs to."""

    def __init__(self, memory_for: MemoryFor, itself: Itself, tally: Tally, *, hooks: Sequence[Route]) -> None:
        fastmcp.settings.check_for_updates = "off"  # no call to the network that the settings did not ask for
        self._mcp = make_server(memory_for).http_app(
            path=MCP,
            stateless_http=True,
            json_response=True,
            host_origin_protection=False,  # the guard in front of all doors looks at both
        )
        self._memory_for = memory_for
        self._making = threading.Lock()
        self._made: ASGIApp | None = None
        self._own = _own_routes(itself, hooks)
        self._tally = tally

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        self._tally.count()
        path = scope["path"]
        if path == MCP or path.startswith(f"{MCP}/"):
            await self._mcp(scope, receive, send)
        elif path.startswith(API):
            api = await run_in_threadpool(self._api) if self._made is None else self._made
            await api(scope, receive, send)
        else:
            await self._own(scope, receive, send)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """The doors are open in this block."""
        async with self._mcp.lifespan(self._mcp):
            yield

    def _api(self) -> ASGIApp:
        """The HTTP API, loaded when it is first asked for: an MCP client does not wait for it."""
        with self._making:
            if self._made is None:
                from commonplace.web import make_api

                self._made = make_api(self._memory_for)
            return self._made


def _own_routes(itself: Itself, hooks: Sequence[Route]) -> Starlette:
    async def health(request: Request) -> Response:
        return JSONResponse({"ok": True, "name": "commonplace", "version": version("commonplace")})

    async def status(request: Request) -> Response:
        _want_admin(request)
        return JSONResponse({"ok": True, **await run_in_threadpool(itself.status)})

    async def stop(request: Request) -> Response:
        _want_admin(request)
        asyncio.get_running_loop().call_soon(itself.stop)
        return JSONResponse({"ok": True, "stopping": True})

    return Starlette(
        routes=[
            Route("/health", health, methods=["GET"]),
            Route("/daemon/status", status, methods=["GET"]),
            Route("/daemon/stop", stop, methods=["POST"]),
            *hooks,
        ],
        exception_handlers={HTTPException: _answer_http, CommonplaceError: _answer_ours},
    )


def _want_admin(request: Request) -> None:
    """Raise Refused unless the caller may do everything."""
    caller = request.scope.get(CALLER)
    if not (isinstance(caller, Caller) and caller.may("admin")):
        raise Refused(
            "only a caller with the scope admin may do this", hint="Come in by the socket: `commonplace status`."
        )


async def _answer_ours(request: Request, error: Exception) -> Response:
    ours = error if isinstance(error, CommonplaceError) else CommonplaceError("unexpected")
    return JSONResponse({"ok": False, "error": ours.as_dict()}, answer_to(ours).http)


async def _answer_http(request: Request, error: Exception) -> Response:
    """A path or a method that there is not."""
    status = error.status_code if isinstance(error, HTTPException) else 500
    hint = "There are /mcp, /api/v1 (see /api/v1/openapi.json), /health and /daemon/status."
    ours: CommonplaceError = NotFound("nothing is at this path", hint=hint)
    if status == 405:
        ours = UsageError(f"{request.method} is not for this path", hint="Look at the method.")
    return JSONResponse({"ok": False, "error": ours.as_dict()}, status)
