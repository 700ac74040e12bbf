"""Who calls, and what they may do here: the memory that each route works with."""

from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import Depends, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.security import HTTPBearer

from commonplace.errors import Refused
from commonplace.memory import Memory
from commonplace.model import Caller, Scope
from commonplace.model.caller import CALLER
from commonplace.web.errors import NoCaller

TOKEN = HTTPBearer(
    scheme_name="token",
    description="A token of `commonplace token create`. The Unix socket wants none.",
    auto_error=False,  # the daemon's guard has looked at it already: here it is only declared
)


def caller_of(request: Request) -> Caller:
    """The program that calls. Raises NoCaller where no guard has said who it is."""
    caller = request.scope.get(CALLER)
    if not isinstance(caller, Caller):
        raise NoCaller("nobody is known to call", hint="Send a token: Authorization: Bearer cpl_...")
    return caller


CallerHere = Annotated[Caller, Depends(caller_of)]


def reading(request: Request, caller: CallerHere) -> Memory:
    """The memory that the caller asks for, to read in. Raises Refused, NotFound."""
    return _memory(request, caller, scope="read")


async def writing(request: Request, caller: CallerHere) -> AsyncIterator[Memory]:
    """The same, to change, for as long as the request has a turn to write. Raises Refused, NotFound."""
    memory = await run_in_threadpool(_memory, request, caller, scope="write")
    async with request.app.state.writers:
        yield memory


Reader = Annotated[Memory, Depends(reading)]
Writer = Annotated[Memory, Depends(writing)]


def _memory(request: Request, caller: Caller, *, scope: Scope) -> Memory:
    if not caller.may(scope):
        raise Refused(
            f"{caller.name} may not {scope} here",
            hint=f"Make a token with it: commonplace token create NAME --scope {scope}.",
        )
    memory: Memory = request.app.state.memory_for(caller)
    return memory
