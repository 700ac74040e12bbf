"""Builds the HTTP API."""

import asyncio

from fastapi import Depends, FastAPI

from commonplace import __version__
from commonplace.memory import MemoryFor
from commonplace.web import (
    agenda_routes,
    entry_routes,
    event_routes,
    note_routes,
    profile_routes,
    search_routes,
    task_routes,
    upkeep_routes,
)
from commonplace.web.access import BEARER_TOKEN
from commonplace.web.errors import ERROR_RESPONSES, install_error_handlers
from commonplace.web.job_queue import JobQueue
from commonplace.web.live_events import LiveEvents

_WRITERS = 8  # concurrent writes: they are serialized anyway, and those that wait in threads leave none for reads

_ROUTERS = (
    search_routes.search_router,
    search_routes.context_router,
    entry_routes.entry_router,
    entry_routes.fact_router,
    entry_routes.review_router,
    profile_routes.profile_router,
    note_routes.note_router,
    note_routes.change_router,
    entry_routes.conversation_router,
    task_routes.task_router,
    task_routes.correction_router,
    search_routes.index_router,
    agenda_routes.commitment_router,
    agenda_routes.calendar_router,
    agenda_routes.project_router,
    upkeep_routes.job_router,
    upkeep_routes.template_router,
    upkeep_routes.digest_router,
    event_routes.event_router,
)


def make_api(
    memory_for: MemoryFor, *, live: LiveEvents | None = None, jobs: JobQueue | None = None, prefix: str = "/api/v1"
) -> FastAPI:
    """The API as an ASGI application; every path begins with `prefix`.

    `live` is what `/events` sends, `jobs` runs what the person asks for; the daemon fills and ends both.
    The server puts the Caller into `scope["commonplace.caller"]`; `memory_for` gives the memory for that caller.
    There is no documentation page, which would be loaded from another site: `openapi.json` describes everything.
    """
    api = FastAPI(
        title="Commonplace",
        summary="A memory of notes: search, save, recall.",
        version=__version__,
        openapi_url=f"{prefix}/openapi.json",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        responses=ERROR_RESPONSES,
        dependencies=[Depends(BEARER_TOKEN)],
    )
    api.state.memory_for = memory_for
    api.state.live = live or LiveEvents()
    api.state.jobs = jobs or JobQueue()
    api.state.writers = asyncio.Semaphore(_WRITERS)
    install_error_handlers(api)
    for router in _ROUTERS:
        api.include_router(router, prefix=prefix)
    return api
