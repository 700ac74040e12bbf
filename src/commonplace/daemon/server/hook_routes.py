"""The routes for hooks: context for a prompt or a session, and the transcripts that hosts leave behind.

Open on the socket alone: a hook names files of this machine, which a caller with a token must not.
"""

import asyncio
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Final

from pydantic import BaseModel, Field, ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from commonplace.agent_hosts import find_agent_host
from commonplace.daemon.capture.worker import CaptureWorker
from commonplace.daemon.server.hook_events import HookEvents
from commonplace.errors import NotFound, Refused, UsageError
from commonplace.hooks.arguments import EVENTS
from commonplace.memory import MemoryFor
from commonplace.memory.context import PROMPT_SECONDS, START_SECONDS, Contexts
from commonplace.model import Actor, Caller, Context
from commonplace.model.change import CALLER
from commonplace.model.context import SESSION_SECTIONS, Piece
from commonplace.model.untrusted_text import line_of

if TYPE_CHECKING:
    from commonplace.context.options import HookOptions
    from commonplace.history.base import ContextState

MOST_CHARS: Final = 9000
"""Characters of injected text; hosts truncate it, or drop it, at 10,000."""

REFLECT: Final = (
    "Commonplace, the person's memory: they said something in this session that may matter in others. Before you "
    "finish, save what will still matter in six months with memory_save, as the skill reflect says: what they said or "
    "plainly agreed to, in one plain sentence each, with their words as `quote`; nothing inferred, nothing known "
    "already. If there is nothing, save nothing. Then end with one line on what you saved."
)
"""The reason for which an agent goes on instead of stopping, once in a session."""

LATE_LINE: Final = "Commonplace: recall was late; it comes with the next prompt"
_LONGEST_LINE: Final = 100  # characters on the host's screen
_LONGEST_QUOTE: Final = 40
_TRUNCATED: Final = "[truncated: longer than the host accepts]"
_CONTEXT_EVENTS: Final = ("session-start", "prompt")
_KEPT: Final = "resume"  # the source of a session whose model still has what it was given
_ECHO_SECONDS: Final = 2.0  # in which a host runs all its hooks for one event
_Field = Annotated[str, Field(max_length=4096)]


class HookCall(BaseModel):
    """What a hook sends: the fields of its host's event, and how much text and time there is.

    `source` says why a session starts: startup, resume, clear or compact.
    """

    session_id: _Field = ""
    transcript_path: _Field = ""
    cwd: _Field = ""
    source: _Field = ""
    turn: _Field = ""
    prompt: Annotated[str, Field(max_length=200_000)] = ""
    phase: _Field = ""
    tokens: Annotated[int, Field(ge=0)] = 0
    within: Annotated[float, Field(ge=0)] = START_SECONDS


@dataclass(frozen=True, slots=True)
class Hook:
    """One event of a session: its caller and its fields."""

    event: str
    caller: Caller
    call: HookCall

    @property
    def session(self) -> str:
        """The session's id, unique across hosts; empty if the host gives none."""
        return f"{self.caller.name}:{self.call.session_id}" if self.call.session_id else ""

    @property
    def event_id(self) -> str:
        """An id that all hooks of one event share; empty if the host says too little."""
        call, own = self.call, self.call.transcript_path if self.event == "session-start" else self.call.turn
        parts = [self.session, self.event, call.source, own, call.phase, self.caller.vault]
        return "\n".join(parts) if own and self.session else ""


class HookRoutes:
    """Answers hooks."""

    def __init__(
        self, memory_for: MemoryFor, events: HookEvents, capture: CaptureWorker, options: "HookOptions"
    ) -> None:
        self._memory_for, self._events, self._capture, self._options = memory_for, events, capture, options
        self._echoes = HookEchoes()

    @property
    def routes(self) -> list[Route]:
        """The routes to add to the application."""
        return [Route("/hooks/v1/{event}", self._handle, methods=["POST"])]

    async def _handle(self, request: Request) -> Response:
        start = time.perf_counter()
        hook = await _parse_hook(request)
        if hook.event == "ping":
            return JSONResponse({"ok": True, "took_ms": _ms_since(start)})
        answer = await self._answer(hook, request)
        took_ms, late = _ms_since(start), answer.get("late")
        note = partial(self._events.note, took_ms=took_ms, late=None if late is None else bool(late))
        await run_in_threadpool(note, hook.caller.name, hook.event)
        return JSONResponse({"ok": True, **answer, "took_ms": took_ms}, 200 if "context" in answer else 202)

    async def _answer(self, hook: Hook, request: Request) -> dict[str, Any]:
        """The context for the model, or whether a transcript was taken.

        No context, and no recall that could be late, if another hook of the same event has just been given it.
        """
        if hook.event not in _CONTEXT_EVENTS:
            taken = await run_in_threadpool(self._queue_transcript, hook)
            return {"taken": taken, **(await self._reflection(hook) if hook.event == "stop" else {})}
        if hook.event_id and not self._echoes.is_first(hook.event_id):
            return {"context": ""}
        contexts = await run_in_threadpool(self._contexts, hook)
        if contexts is None:
            return {"context": ""}
        before = await run_in_threadpool(self._state_before, hook, contexts)
        context = await run_in_threadpool(self._build_context, hook, contexts)
        if await request.is_disconnected():
            await run_in_threadpool(self._take_back, hook, contexts, before)
            return {"context": "", "late": ["answer"]}
        text = _truncate(context, tokens=hook.call.tokens)
        return {"context": text, "late": list(context.late), **self._screen(hook, context)}

    def _contexts(self, hook: Hook) -> Contexts | None:
        """The contexts of the caller's vault; None if there is no vault and none was requested."""
        try:
            return self._memory_for(hook.caller).context
        except NotFound:
            if hook.caller.vault:
                raise
            return None

    def _build_context(self, hook: Hook, contexts: Contexts) -> Context:
        """The context, of which nothing is recorded that says what the session is about if the person wants that."""
        call = hook.call
        shared: dict[str, Any] = {
            "conversation": hook.session,
            "folder": call.cwd,
            "phase": call.phase,
            "budget": min(contexts.budget, MOST_CHARS),
            "tokens": min(filter(None, (contexts.tokens, call.tokens)), default=0),
            "private": self._is_private(hook),
        }
        if hook.event == "session-start":
            return contexts.start(**shared, within=min(call.within, START_SECONDS))
        if not shared["private"]:
            self._note_prompt(hook)
        notes = self._options.notes_for(hook.caller.name)
        return contexts(call.prompt, **shared, notes=notes, within=min(call.within, PROMPT_SECONDS))

    def _note_prompt(self, hook: Hook) -> None:
        """Note what the person typed: a host's hook knows it, where an agent could only claim it."""
        caller = hook.caller
        noting = self._memory_for(caller).acting(Actor("job", caller.name, caller.person))
        noting.context.note_prompt(hook.call.prompt)

    async def _reflection(self, hook: Hook) -> dict[str, str]:
        """The reason to go on and look back, if the settings want it; nothing if it cannot be told in time."""
        host = find_agent_host(hook.caller.name)
        if not (self._options.reflect and hook.session and host and host.continues_on_stop):
            return {}
        contexts = await run_in_threadpool(self._contexts, hook)
        if contexts is None or await run_in_threadpool(self._is_private, hook):
            return {}
        judging = asyncio.ensure_future(run_in_threadpool(contexts.is_worth_reflecting, hook.session))
        done, _ = await asyncio.wait({judging}, timeout=hook.call.within)
        if not done or not judging.result():
            return {}
        await run_in_threadpool(contexts.note_reflection, hook.session)
        return {"reflect": REFLECT}

    def _is_private(self, hook: Hook) -> bool:
        """True if the person wants nothing of this session recorded."""
        call = hook.call
        return not self._capture.is_wanted(host=hook.caller.name, session_id=call.session_id, cwd=call.cwd)

    def _state_before(self, hook: Hook, contexts: Contexts) -> "ContextState":
        """What the session's model has before the answer: nothing, if the session starts and is not resumed."""
        if hook.event == "session-start" and hook.call.source != _KEPT:
            contexts.forget(hook.session)
        return contexts.given(hook.session)

    def _take_back(self, hook: Hook, contexts: Contexts, before: "ContextState") -> None:
        """Let the next hook give what this one did not: it left before it was answered."""
        self._echoes.retract(hook.event_id)
        if hook.session:
            contexts.take_back(before, prompt="" if self._is_private(hook) else hook.call.prompt)

    def _screen(self, hook: Hook, context: Context) -> dict[str, str]:
        """The line for the host's own screen, if the host has a place for it and there is something to say."""
        host = find_agent_host(hook.caller.name)
        if not (self._options.screen_line and host and host.shows_line):
            return {}
        line = LATE_LINE if context.late else screen_line([each.piece for each in context.included])
        return {"screen": line} if line else {}

    def _queue_transcript(self, hook: Hook) -> bool:
        """Queue the transcript to be read; False if the hook names none. A compacted session is given all again."""
        call = hook.call
        is_named = bool(call.transcript_path and call.session_id)
        if is_named:
            self._capture.enqueue(
                host=hook.caller.name,
                session_id=call.session_id,
                transcript=call.transcript_path,
                cwd=call.cwd,
                ends=hook.event == "session-end",
                vault=hook.caller.vault,
            )
        if hook.event == "pre-compact" and (contexts := self._contexts(hook)):
            contexts.forget(hook.session)  # not at its end, after which it may be resumed
        return is_named


async def _parse_hook(request: Request) -> Hook:
    """The event in the request. Raises Refused over TCP, UsageError for an unknown event or invalid fields."""
    caller, event = request.scope[CALLER], request.path_params["event"]
    if caller.via != "socket":
        raise Refused("hooks are accepted only on the socket", hint="Run `commonplace hook`, which uses it.")
    if event not in EVENTS:
        raise UsageError(f"no such event: {event!r}", hint=f"Events: {', '.join(EVENTS)}.")
    try:
        return Hook(event, caller, HookCall.model_validate_json(await request.body() or b"{}"))
    except ValidationError as error:
        errors = "; ".join(f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors())
        raise UsageError(
            f"invalid event: {errors}", hint="Run `commonplace hook`, which sends the right form."
        ) from error


def _truncate(context: Context, *, tokens: int) -> str:
    """The text, truncated if its fixed parts exceed what a host accepts. The last line closes the last section."""
    most = MOST_CHARS
    if tokens and context.tokens > tokens:
        most = min(most, len(context.text) * tokens // context.tokens)
    if len(context.text) <= most:
        return context.text
    closing = context.text.rpartition("\n")[2]
    return f"{context.text[: most - len(closing) - len(_TRUNCATED) - 2]}\n{_TRUNCATED}\n{closing}"


def screen_line(pieces: Sequence[Piece]) -> str:
    """What was recalled, in one line for people: how many memories and passages, and the first words of some.

    What is for this prompt is quoted before what is for the session.
    """
    if not pieces:
        return ""
    passages = sum(piece.section == "recalled" for piece in pieces)
    counts = (_counted(len(pieces) - passages, "memory", "memories"), _counted(passages, "passage", "passages"))
    line = f"Commonplace: {', '.join(filter(None, counts))} recalled"
    for number, piece in enumerate(sorted(pieces, key=lambda each: each.section in SESSION_SECTIONS)):
        quote = _quote(piece.title or piece.text)
        longer = f'{line}{", " if number else ": "}"{quote}"'
        if len(longer) > _LONGEST_LINE:
            return f"{line} ..." if number else line
        line = longer
    return line


def _counted(count: int, one: str, many: str) -> str:
    return f"{count} {one if count == 1 else many}" if count else ""


def _quote(text: str) -> str:
    """The first words of a text, without what a terminal could take as a command or a reader as the end of a quote."""
    plain = line_of(text).replace('"', "'")
    if len(plain) <= _LONGEST_QUOTE:
        return plain
    return f"{plain[:_LONGEST_QUOTE].rpartition(' ')[0] or plain[:_LONGEST_QUOTE]} ..."


def _ms_since(start: float) -> float:
    return round((time.perf_counter() - start) * 1000, 1)


class HookEchoes:
    """The events of the last seconds, so that an event which a host sends twice is answered once.

    Its methods may be called from several threads.
    """

    def __init__(self) -> None:
        self._answered: dict[str, float] = {}
        self._lock = threading.Lock()

    def is_first(self, event: str) -> bool:
        """False if the same event was just handled: a host in which we are installed twice sends it twice."""
        now = time.monotonic()
        with self._lock:
            self._answered = {each: at for each, at in self._answered.items() if now - at < _ECHO_SECONDS}
            return self._answered.setdefault(event, now) == now

    def retract(self, event: str) -> None:
        """Let the next hook of this event be the first: the one that asked left before it was answered."""
        with self._lock:
            self._answered.pop(event, None)
