"""The routes for hooks: context for a prompt or a session, and the transcripts that hosts leave behind.

Open on the socket alone: a hook names files of this machine, which a caller with a token must not.
"""

import json
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import BaseModel, Field, ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from commonplace.daemon.capture.worker import CaptureWorker
from commonplace.daemon.service.state_files import write_private_file
from commonplace.errors import NotFound, Refused, UsageError
from commonplace.events import emit
from commonplace.hooks.arguments import EVENTS
from commonplace.hooks.main import SKIPS_FILE
from commonplace.memory import MemoryFor
from commonplace.memory.context import PROMPT_SECONDS, START_SECONDS, Contexts
from commonplace.model import Caller, Context
from commonplace.model.change import CALLER
from commonplace.model.moment import moment_text

MOST_CHARS: Final = 9000
"""Characters of injected text; hosts truncate it, or drop it, at 10,000."""

EVENTS_FILE: Final = "hook_events.json"
_TRUNCATED: Final = "[truncated: longer than the host accepts]"
_NO_CONTEXT: Final = Context(text="", included=(), left_out=(), budget=0)
_CONTEXT_EVENTS: Final = ("session-start", "prompt")
_FORGETTING_EVENTS: Final = ("pre-compact", "session-end")
_MOST_SESSIONS: Final = 1000  # a forgotten session gets the same context twice
_ECHO_SECONDS: Final = 2.0  # in which a host runs all its hooks for one event
_MOST_HOSTS: Final = 50
_MOST_BYTES: Final = 100_000
_EVENT_FIELDS: Final = frozenset({"event", "at", "took_ms", "events"})
_SKIP_FIELDS: Final = ("at", "host", "event", "reason")  # of a line in the file of skips
_Field = Annotated[str, Field(max_length=4096)]


class HookCall(BaseModel):
    """What a hook sends: the fields of its host's event, and how much text and time there is."""

    session_id: _Field = ""
    transcript_path: _Field = ""
    cwd: _Field = ""
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
        parts = [self.session, self.event, own, call.phase, self.caller.vault]
        return "\n".join(parts) if own and self.session else ""


class HookRoutes:
    """Answers hooks."""

    def __init__(self, memory_for: MemoryFor, events: "HookEvents", capture: CaptureWorker) -> None:
        self._memory_for, self._events, self._capture = memory_for, events, capture
        self._sessions = HookSessions()

    @property
    def routes(self) -> list[Route]:
        """The routes to add to the application."""
        return [Route("/hooks/v1/{event}", self._handle, methods=["POST"])]

    async def _handle(self, request: Request) -> Response:
        start = time.perf_counter()
        hook = await _parse_hook(request)
        if hook.event == "ping":
            return JSONResponse({"ok": True, "took_ms": _ms_since(start)})
        answer: dict[str, Any]
        if hook.event in _CONTEXT_EVENTS:
            answer = await self._answer_with_context(hook, request)
        else:
            answer = {"taken": await run_in_threadpool(self._queue_transcript, hook)}
        took_ms = _ms_since(start)
        await run_in_threadpool(self._events.note, hook.caller.name, hook.event, took_ms=took_ms)
        return JSONResponse({"ok": True, **answer, "took_ms": took_ms}, 200 if "context" in answer else 202)

    async def _answer_with_context(self, hook: Hook, request: Request) -> dict[str, Any]:
        """The context for the model; empty if another hook of the same event has just been given it."""
        if hook.event_id and not self._sessions.is_first(hook.event_id):
            return {"context": "", "late": []}
        context = await run_in_threadpool(self._context, hook)
        if await request.is_disconnected():
            self._sessions.retract(hook.event_id)
        elif hook.event == "session-start" and hook.session:
            self._sessions.remember(hook.session, context.marks)
        return {"context": _truncate(context, tokens=hook.call.tokens), "late": list(context.late)}

    def _context(self, hook: Hook) -> Context:
        """The context for the prompt or the session; empty if there is no vault and none was requested."""
        try:
            contexts = self._memory_for(hook.caller).context
        except NotFound:
            if hook.caller.vault:
                raise
            return _NO_CONTEXT
        return self._build_context(hook, contexts)

    def _build_context(self, hook: Hook, contexts: Contexts) -> Context:
        """The context; not counted as use if the person wants nothing of this session recorded."""
        call = hook.call
        limits: dict[str, Any] = {
            "phase": call.phase,
            "budget": min(contexts.budget, MOST_CHARS),
            "tokens": min(filter(None, (contexts.tokens, call.tokens)), default=0),
            "peek": not self._capture.is_wanted(host=hook.caller.name, session_id=call.session_id, cwd=call.cwd),
        }
        if hook.event == "session-start":
            self._sessions.forget(hook.session)
            return contexts.start(**limits, within=min(call.within, START_SECONDS))
        return contexts(
            call.prompt,
            **limits,
            conversation=hook.session,
            within=min(call.within, PROMPT_SECONDS),
            known=self._sessions.known(hook.session),
        )

    def _queue_transcript(self, hook: Hook) -> bool:
        """Queue the transcript to be read; False if the hook names none."""
        call = hook.call
        if hook.event in _FORGETTING_EVENTS:
            self._sessions.forget(hook.session)
        if not (call.transcript_path and call.session_id):
            return False
        self._capture.enqueue(
            host=hook.caller.name,
            session_id=call.session_id,
            transcript=call.transcript_path,
            cwd=call.cwd,
            ends=hook.event == "session-end",
            vault=hook.caller.vault,
        )
        return True


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


def _ms_since(start: float) -> float:
    return round((time.perf_counter() - start) * 1000, 1)


class HookSessions:
    """What the models of running sessions have read, so that the context at the start is not injected again.

    Its methods may be called from several threads.
    """

    def __init__(self) -> None:
        self._read: OrderedDict[str, frozenset[str]] = OrderedDict()
        self._answered: dict[str, float] = {}
        self._lock = threading.Lock()

    def remember(self, session: str, marks: frozenset[str]) -> None:
        """Record that the session has read exactly these pieces."""
        with self._lock:
            self._read[session] = marks
            self._read.move_to_end(session)
            while len(self._read) > _MOST_SESSIONS:
                self._read.popitem(last=False)

    def known(self, session: str) -> frozenset[str]:
        """The pieces that the session's model has read; empty if unknown."""
        with self._lock:
            if session in self._read:
                self._read.move_to_end(session)
            return self._read.get(session, frozenset())

    def forget(self, session: str) -> None:
        """Forget a session that is over, or that its host is about to compact."""
        with self._lock:
            self._read.pop(session, None)

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


class HookEvents:
    """The last event of each host, so that a person can see whether its hooks work; kept in the daemon's folder.

    Its methods may be called from several threads.
    """

    def __init__(self, folder: Path) -> None:
        self._file = folder / EVENTS_FILE
        self._lock = threading.Lock()
        self._last = _read_events(self._file)

    def note(self, host: str, event: str, *, took_ms: float) -> None:
        """Record an event as its host's last one. If the disk refuses, that is logged."""
        at = moment_text(datetime.now(UTC))
        with self._lock:
            previous = self._last.pop(host, {})
            self._last[host] = {"event": event, "at": at, "took_ms": took_ms, "events": previous.get("events", 0) + 1}
            while len(self._last) > _MOST_HOSTS:
                del self._last[next(iter(self._last))]
            try:
                write_private_file(self._file, self._last, durable=False)
            except OSError as error:
                emit("hook_events_not_kept", level="warning", said=error.strerror)


def read_hook_events(folder: Path) -> list[dict[str, Any]]:
    """For each host, by name: its last event, the number of events, the number of skips and the last skip.

    Read from the files in the daemon's folder, whether the daemon runs or not.
    """
    last_events = _read_events(folder / EVENTS_FILE)
    skips = list(_read_skips(folder / SKIPS_FILE))
    counts = Counter(skip["host"] for skip in skips)
    last_skips = {skip["host"]: skip for skip in skips}
    return [
        {
            "host": host,
            **last_events.get(host, {"event": "", "at": "", "took_ms": 0.0, "events": 0}),
            "skipped": counts[host],
            "last_skip": _without_host(last_skips[host]) if host in last_skips else None,
        }
        for host in sorted({*last_events, *last_skips})
    ]


def _without_host(skip: dict[str, str]) -> dict[str, str]:
    return {key: skip[key] for key in ("at", "event", "reason")}


def _read_events(file: Path) -> dict[str, dict[str, Any]]:
    """The last event of each host; empty if the file is missing or not ours."""
    try:
        values = json.loads(_read_text(file))
    except (ValueError, RecursionError):
        return {}
    hosts = values if isinstance(values, dict) else {}
    return {host: each for host, each in hosts.items() if isinstance(each, dict) and {*each} == _EVENT_FIELDS}


def _read_skips(file: Path) -> Iterator[dict[str, str]]:
    for line in _read_text(file).splitlines():
        fields = line.split("\t")
        if len(fields) == len(_SKIP_FIELDS):
            yield dict(zip(_SKIP_FIELDS, fields, strict=True))


def _read_text(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            return opened.read(_MOST_BYTES).decode(errors="replace")
    except OSError:  # missing, or not ours to read
        return ""
