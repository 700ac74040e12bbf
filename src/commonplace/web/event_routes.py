"""The route of live events: one stream of server-sent events for each listener."""

from typing import Annotated

from fastapi import APIRouter, Header, Request
from fastapi.responses import StreamingResponse

from commonplace.model.change import CALLER, STILL_ADMITTED
from commonplace.web.access import Reader
from commonplace.web.live_events import LiveEvents
from commonplace.web.schemas import NO_QUERY, Word

event_router = APIRouter(prefix="/events", tags=["events"])


class EventStream(StreamingResponse):
    """Server-sent events, as a browser's EventSource reads them."""

    media_type = "text/event-stream"


@event_router.get(
    "",
    operation_id="live_events",
    summary="Follow what happens",
    dependencies=[NO_QUERY],
    response_class=EventStream,
    responses={200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}}},
)
async def live_events(
    request: Request,
    memory: Reader,
    last_event_id: Annotated[
        Word, Header(description="The id of the last event that was seen, to go on from there.")
    ] = "",
) -> EventStream:
    """Writes, changed files, runs of jobs, what waits for review, and progress of long work, as server-sent events.

    The stream goes on until the caller leaves or the daemon stops, with a comment now and then while nothing happens.
    An event `missed` says that some were lost. At most 32 programs of one person listen at once; another one gets
    the status 429.
    """
    live: LiveEvents = request.app.state.live
    vault = memory.conversations.vault_folder
    person, is_admitted = request.scope[CALLER].person, request.scope[STILL_ADMITTED]
    return EventStream(live.stream(vault, last_event_id, person=person, is_admitted=is_admitted))
