"""The caller of a request, its scopes, and the memory it may use: dependencies of the routes."""

from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import Depends, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.security import HTTPBearer

from commonplace.agent_hosts import find_agent_host
from commonplace.errors import Refused
from commonplace.memory import Memory
from commonplace.model import Actor, Caller, Scope
from commonplace.model.change import CALLER
from commonplace.web.errors import NoCaller

BEARER_TOKEN = HTTPBearer(
    scheme_name="token",
    description="A token from `commonplace token create`. The Unix socket needs none.",
    auto_error=False,  # the daemon's guard has already checked it: here it is only declared
)


def caller_of(request: Request) -> Caller:
    """The program that calls. Raises NoCaller if no guard has authenticated it."""
    caller = request.scope.get(CALLER)
    if not isinstance(caller, Caller):
        raise NoCaller("missing or invalid token", hint="Send a token: Authorization: Bearer cpl_...")
    return caller


CallingProgram = Annotated[Caller, Depends(caller_of)]


def readable_memory(request: Request, caller: CallingProgram) -> Memory:
    """The caller's memory, to read. Raises Refused, NotFound."""
    return _memory(request, caller, scope="read")


async def writable_memory(request: Request, caller: CallingProgram) -> AsyncIterator[Memory]:
    """The caller's memory, to write; holds one of the write slots during the request. Raises Refused, NotFound."""
    memory = await run_in_threadpool(_memory, request, caller, scope="write")
    async with request.app.state.writers:
        yield memory


async def own_memory(request: Request, caller: CallingProgram) -> AsyncIterator[Memory]:
    """The memory for the person themselves: on the socket, or with a token whose scope is admin.

    Raises Refused, also for an agent's host that calls on the socket under its own name.
    """
    if not caller.may("admin") or find_agent_host(caller.name):
        raise Refused(
            f"{caller.name} acts as an agent, and only the person may do this",
            hint="They run `commonplace review`, `commonplace jobs run` or the like, or use a token of their own with "
            "--scope admin.",
        )
    memory = await run_in_threadpool(_memory, request, caller, scope="admin")
    async with request.app.state.writers:
        yield memory.acting(Actor("person", caller.name, caller.person))


Reader = Annotated[Memory, Depends(readable_memory)]
Writer = Annotated[Memory, Depends(writable_memory)]
Owner = Annotated[Memory, Depends(own_memory)]


def _memory(request: Request, caller: Caller, *, scope: Scope) -> Memory:
    if not caller.may(scope):
        hint = f"Create a token with that scope: commonplace token create NAME --scope {scope}."
        raise Refused(f"{caller.name} has no permission to {scope}", hint=caller.role_hint or hint)
    memory: Memory = request.app.state.memory_for(caller)
    return memory
