"""Makes the HTTP API of the memories that a caller may ask for."""

import asyncio
from importlib.metadata import version

from fastapi import Depends, FastAPI

from commonplace.memory import MemoryFor
from commonplace.web import (
    change_routes,
    context_routes,
    conversation_routes,
    entry_routes,
    fact_routes,
    index_routes,
    note_routes,
    search_routes,
)
from commonplace.web.errors import REFUSALS, answer_errors
from commonplace.web.gate import TOKEN

_WRITERS = 8  # writes at once: they take turns anyway, and those that wait in threads leave none for readers

_ROUTERS = (
    search_routes.router,
    context_routes.router,
    entry_routes.router,
    fact_routes.router,
    note_routes.router,
    change_routes.router,
    conversation_routes.router,
    index_routes.router,
)


def make_api(memory_for: MemoryFor, *, prefix: str = "/api/v1") -> FastAPI:
    """The API as an ASGI application; every path begins with `prefix`.

    Whoever serves it puts the Caller into `scope["commonplace.caller"]`, and is asked by `memory_for` for the memory
    of that caller. It has no page of documentation, which would be fetched from elsewhere: `openapi.json` says all.
    """
    api = FastAPI(
        title="Commonplace",
        summary="A memory of notes: search, save, recall.",
        version=version("commonplace"),
        openapi_url=f"{prefix}/openapi.json",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        responses=REFUSALS,
        dependencies=[Depends(TOKEN)],
    )
    api.state.memory_for = memory_for
    api.state.writers = asyncio.Semaphore(_WRITERS)
    answer_errors(api)
    for router in _ROUTERS:
        api.include_router(router, prefix=prefix)
    return api
