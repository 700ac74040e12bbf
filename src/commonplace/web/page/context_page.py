"""The page of a prompt: what an agent would be given before it, and why the rest is left out."""

from typing import Final

from fastapi import APIRouter, Request, Response

from commonplace.model import Actor
from commonplace.web.page.view import NavigationEntry, PageMemory, render

ENTRY: Final = NavigationEntry("Context", "/context", group="told", key="x")
_AGENT: Final = Actor("agent", "page preview")
router = APIRouter()


@router.get("/context")
def show_context(request: Request, memory: PageMemory, prompt: str = "", session: str = "") -> Response:
    """What an agent would get for this prompt, or with `session` at the start of a session. Nothing is recorded."""
    agent = memory.acting(_AGENT)
    context = None
    if session:
        context = agent.context.start(peek=True, within=None)
    elif prompt.strip():
        context = agent.context(prompt, peek=True, profile=False, within=None)
    return render(request, "context.html", title="Context", prompt=prompt, is_session=bool(session), context=context)
