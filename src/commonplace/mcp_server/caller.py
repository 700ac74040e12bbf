"""The caller of the current request, the program it calls from, and the memory that serves it."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final

from commonplace.agent_hosts import AGENT_HOSTS
from commonplace.errors import Refused
from commonplace.memory import Memory, MemoryFor
from commonplace.model import Caller, Scope
from commonplace.model.change import CALLER

UNKNOWN: Final = "unknown"

_UNSPECIFIC: Final = frozenset({"", "socket", "stdio", "mcp", "mcp-client", "client", "python", "unknown"})
"""Names that identify no program: transports, and the defaults of client libraries."""

_MAX_NAME: Final = 40


_calling: ContextVar[tuple[Caller, str] | None] = ContextVar("calling", default=None)
"""The caller and the name of its client, in a call that does not go through FastMCP."""


@contextmanager
def calling(caller: Caller, client: str) -> Iterator[None]:
    """What runs in this block is called by that caller, whose client gives itself that name."""
    token = _calling.set((caller, client))
    try:
        yield
    finally:
        _calling.reset(token)


@dataclass(frozen=True, slots=True)
class CurrentCall:
    """Gives every tool, resource and prompt the caller of the current request, and the memory for that caller."""

    memory_for: MemoryFor
    caller_of_session: Callable[[], Caller]

    def caller_of(self) -> Caller:
        """The caller: of a direct call, or as FastMCP knows it. Raises Refused without one."""
        direct = _calling.get()
        return direct[0] if direct else self.caller_of_session()

    def memory(self) -> Memory:
        """The memory that serves the caller. Raises NotFound for a vault that is not registered."""
        return self.memory_for(self.caller_of())

    def interface(self, name: str = "") -> str:
        """The program the call comes from: `name` if given, else from the names of the caller and its client."""
        return interface_of(name) if name.strip() else interface_of(self.caller_of().name, client_name())

    def folder(self) -> str:
        """The folder in which the caller works, if it told over the socket; empty if not."""
        return self.caller_of().folder

    def check(self, scope: Scope) -> None:
        """Raise Refused unless the caller has that scope."""
        caller = self.caller_of()
        if not caller.may(scope):
            hint = f"Ask the person for a token with the scope {scope}: `commonplace token create`."
            message = f"{caller.name or 'this client'} has no permission to {scope}"
            raise Refused(message, hint=caller.role_hint or hint)


def caller_of_request() -> Caller:
    """The caller that the daemon's guard admitted with this HTTP request. Raises Refused without one."""
    from fastmcp.server.dependencies import get_http_request

    try:
        caller = get_http_request().scope.get(CALLER)
    except RuntimeError:  # raised by FastMCP outside of an HTTP request
        caller = None
    if not isinstance(caller, Caller):
        raise Refused("the request has no authenticated caller", hint="Connect through `commonplace serve`.")
    return caller


def client_name() -> str:
    """The name the client gave in the MCP handshake; empty if it gave none."""
    if direct := _calling.get():
        return direct[1]
    from fastmcp.server.dependencies import get_context

    params = get_context().session.client_params
    return params.client_info.name if params else ""


def interface_of(*names: str) -> str:
    """The program with these names, as the one word that provenance records; `unknown` if they identify none.

    A known host wins over any other name; otherwise the first name that identifies a program counts.
    """
    words = [_slug(name) for name in names]
    hosts = (host.name for word in words for host in AGENT_HOSTS if any(mark in word for mark in host.client_names))
    others = (word for word in words if word not in _UNSPECIFIC)
    return next(hosts, None) or next(others, UNKNOWN)


def _slug(name: str) -> str:
    """The name in lower-case letters, digits and dashes."""
    return re.sub(r"[^a-z0-9]+", "-", name.casefold()).strip("-")[:_MAX_NAME].rstrip("-")
