"""The door for hooks: what is put before a prompt or a session, and the transcripts that hosts leave behind.

Open on the socket alone: a hook names files of this machine, which is nothing for a caller with a token.
"""

import time
from dataclasses import dataclass
from typing import Annotated, Any, Final

from pydantic import BaseModel, Field, ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from commonplace.daemon.captures import Captures
from commonplace.daemon.hook_events import HookEvents
from commonplace.daemon.sessions import Sessions
from commonplace.errors import NotFound, Refused, UsageError
from commonplace.memory import MemoryFor
from commonplace.memory.context import PROMPT_SECONDS, START_SECONDS, Contexts
from commonplace.model import Caller, Context
from commonplace.model.caller import CALLER

MOST_CHARS: Final = 9000
"""Characters of injected text; hosts cut it, or take it away, at 10,000."""

_CUT: Final = "[cut here: it is more than a host takes]"
_NO_VAULT: Final = Context(text="", included=(), left_out=(), budget=0)
_SHORTENS: Final = ("pre-compact", "session-end")
_EVENTS: Final = ("session-start", "prompt", "stop", *_SHORTENS, "ping")
_LONG = Annotated[str, Field(max_length=4096)]


class HookCall(BaseModel):
    """What a hook sends: what its host says of the event, and how much it can take."""

    session_id: _LONG = ""
    transcript_path: _LONG = ""
    cwd: _LONG = ""
    turn: _LONG = ""
    prompt: Annotated[str, Field(max_length=200_000)] = ""
    phase: _LONG = ""
    tokens: Annotated[int, Field(ge=0)] = 0
    within: Annotated[float, Field(ge=0)] = START_SECONDS


@dataclass(frozen=True, slots=True)
class Hook:
    """One event of a session: who sent it, and what."""

    event: str
    caller: Caller
    call: HookCall

    @property
    def session(self) -> str:
        """The session's name among those of all hosts; empty where the host does not say."""
        return f"{self.caller.name}:{self.call.session_id}" if self.call.session_id else ""

    @property
    def event_id(self) -> str:
        """What this event is known by to all hooks of its host; empty where the host says too little."""
        call, own = self.call, self.call.transcript_path if self.event == "session-start" else self.call.turn
        known = [self.session, self.event, own, call.phase, self.caller.vault]
        return "\n".join(known) if own and self.session else ""


class HookDoor:
    """Answers hooks."""

    def __init__(self, memory_for: MemoryFor, events: HookEvents, captures: Captures) -> None:
        self._memory_for, self._events, self._captures = memory_for, events, captures
        self._sessions = Sessions()

    @property
    def routes(self) -> list[Route]:
        """The way to this door."""
        return [Route("/hooks/v1/{event}", self._answer, methods=["POST"])]

    async def _answer(self, request: Request) -> Response:
        began = time.perf_counter()
        hook = await _hook_in(request)
        if hook.event == "ping":
            return JSONResponse({"ok": True, "took_ms": _ms_since(began)})
        answer: dict[str, Any]
        if hook.event in ("session-start", "prompt"):
            answer = await self._put_before(hook, request)
        else:
            answer = {"taken": await run_in_threadpool(self._take, hook)}
        took_ms = _ms_since(began)
        await run_in_threadpool(self._events.note, hook.caller.name, hook.event, took_ms=took_ms)
        return JSONResponse({"ok": True, **answer, "took_ms": took_ms}, 200 if "context" in answer else 202)

    async def _put_before(self, hook: Hook, request: Request) -> dict[str, Any]:
        """What the host puts before the model; nothing where another hook of its has just been given it."""
        if hook.event_id and not self._sessions.is_first(hook.event_id):
            return {"context": "", "late": []}
        context = await run_in_threadpool(self._context, hook)
        if await request.is_disconnected():
            self._sessions.was_not_read(hook.event_id)
        elif hook.event == "session-start" and hook.session:
            self._sessions.remember(hook.session, context.marks)
        return {"context": _fitting(context, tokens=hook.call.tokens), "late": list(context.late)}

    def _context(self, hook: Hook) -> Context:
        """What belongs before the prompt or the session; nothing where there is no vault, and none was asked for."""
        try:
            contexts = self._memory_for(hook.caller).context
        except NotFound:
            if hook.caller.vault:
                raise
            return _NO_VAULT
        return self._composed(hook, contexts)

    def _composed(self, hook: Hook, contexts: Contexts) -> Context:
        """Where a person wants nothing of a session kept, nothing of this is."""
        call = hook.call
        bounds: dict[str, Any] = {
            "phase": call.phase,
            "budget": min(contexts.budget, MOST_CHARS),
            "tokens": min(filter(None, (contexts.tokens, call.tokens)), default=0),
            "peek": not self._captures.is_wanted(host=hook.caller.name, session_id=call.session_id, cwd=call.cwd),
        }
        if hook.event == "session-start":
            self._sessions.forget(hook.session)
            return contexts.start(**bounds, within=min(call.within, START_SECONDS))
        return contexts(
            call.prompt,
            **bounds,
            conversation=hook.session,
            within=min(call.within, PROMPT_SECONDS),
            known=self._sessions.known(hook.session),
        )

    def _take(self, hook: Hook) -> bool:
        """Hands the transcript on to be read; whether there is one."""
        call = hook.call
        if hook.event in _SHORTENS:
            self._sessions.forget(hook.session)
        if not (call.transcript_path and call.session_id):
            return False
        self._captures.hand_over(
            host=hook.caller.name,
            session_id=call.session_id,
            transcript=call.transcript_path,
            cwd=call.cwd,
            ends=hook.event == "session-end",
            vault=hook.caller.vault,
        )
        return True


async def _hook_in(request: Request) -> Hook:
    """The event that was sent. Raises Refused on TCP, UsageError for one that there is not."""
    caller, event = request.scope[CALLER], request.path_params["event"]
    if caller.via != "socket":
        raise Refused("hooks come in by the socket", hint="Run `commonplace hook`, which does.")
    if event not in _EVENTS:
        raise UsageError(f"no event is called {event!r}", hint=f"Events: {', '.join(_EVENTS)}.")
    try:
        return Hook(event, caller, HookCall.model_validate_json(await request.body() or b"{}"))
    except ValidationError as error:
        wrong = "; ".join(f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors())
        raise UsageError(f"this is no event: {wrong}", hint="Run `commonplace hook`, which knows its form.") from error


def _fitting(context: Context, *, tokens: int) -> str:
    """The text, cut where what is never cut is larger than a host takes. Its last line closes its last section."""
    most = MOST_CHARS
    if tokens and context.tokens > tokens:
        most = min(most, len(context.text) * tokens // context.tokens)
    if len(context.text) <= most:
        return context.text
    closing = context.text.rpartition("\n")[2]
    return f"{context.text[: most - len(closing) - len(_CUT) - 2]}\n{_CUT}\n{closing}"


def _ms_since(began: float) -> float:
    return round((time.perf_counter() - began) * 1000, 1)
