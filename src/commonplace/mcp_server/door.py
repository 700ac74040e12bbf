"""Who is at the door in this call, and the memory that serves them."""

from collections.abc import Callable
from dataclasses import dataclass

from commonplace.errors import Refused
from commonplace.mcp_server.interfaces import interface_of
from commonplace.memory import Memory, MemoryFor
from commonplace.model import Caller, Scope
from commonplace.model.caller import CALLER


@dataclass(frozen=True, slots=True)
class Door:
    """What every tool, resource and prompt asks: the caller of this call, and the memory for them."""

    memory_for: MemoryFor
    caller_of: Callable[[], Caller]

    def memory(self) -> Memory:
        """The memory that serves the caller. Raises NotFound for a vault that is not registered."""
        return self.memory_for(self.caller_of())

    def interface(self, named: str = "") -> str:
        """The program in which this is said: the one named, else what the caller and its client call themselves."""
        return interface_of(named) if named.strip() else interface_of(self.caller_of().name, client_name())

    def check(self, scope: Scope) -> None:
        """Raise Refused unless the caller has that scope."""
        caller = self.caller_of()
        if not caller.may(scope):
            raise Refused(
                f"{caller.name or 'this client'} has no leave to {scope}",
                hint=f"Ask the person for a token with the scope {scope}: `commonplace token create`.",
            )


def caller_of_request() -> Caller:
    """The caller that the guard let in with this HTTP request. Raises Refused where it let in nobody."""
    from fastmcp.server.dependencies import get_http_request

    try:
        caller = get_http_request().scope.get(CALLER)
    except RuntimeError:  # what FastMCP raises where there is no HTTP request at all
        caller = None
    if not isinstance(caller, Caller):
        raise Refused("nobody was let in with this request", hint="Come in by the daemon: `commonplace serve`.")
    return caller


def client_name() -> str:
    """What the client calls itself in this request; empty where it does not say."""
    from fastmcp.server.dependencies import get_context

    said = get_context().session.client_params
    return said.client_info.name if said else ""
