"""Build a context: a request -> four parts gathered side by side until the deadline -> composed within the budget.

No model but the encoder is asked. Use is recorded here and nowhere else, on this device.
"""

import os
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, Generic, TypeVar

from commonplace.context.compose import ComposedContext, ContextLimits, compose, skipped_sections
from commonplace.context.options import BRIEFING, ContextOptions, Phase, find_phase
from commonplace.context.selection import parse_channel
from commonplace.encoders.base import heuristic_tokens
from commonplace.errors import CommonplaceError, UsageError
from commonplace.events import emit
from commonplace.flows.context.facts import PieceOrOmission, fact_pieces
from commonplace.flows.context.notes import (
    PassageRequest,
    marked_entry_pieces,
    note_pieces,
    passage_pieces,
    playbook_pieces,
)
from commonplace.flows.context.topics import lock_topics, match_topics, style_for
from commonplace.flows.stores import QueryCache, Session
from commonplace.model import Actor, InferredTopics, Style
from commonplace.model.context import Context, ContextSection, OmittedPiece, Piece
from commonplace.model.layout import is_recallable
from commonplace.questions.question import query_of_prompt

_SECTIONS_OF: Final[Mapping[str, tuple[ContextSection, ...]]] = {
    "notes": ("user", "channel", "dated"),
    "marked": ("user",),
    "facts": ("facts",),
    "recall": ("playbooks", "recalled"),
}

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextRequest:
    """What a context is for. Without a prompt it is the start of a session.

    `within` is the number of seconds it may take; None waits for everything. A `peek` records nothing: no use, and no
    topics of the conversation. `known` are the marks of pieces that the model has read already.
    """

    prompt: str = ""
    phase: str = ""
    conversation: str = ""
    scope: str = ""
    kinds: tuple[str, ...] = ()
    budget: int | None = None
    tokens: int | None = None
    within: float | None = None
    peek: bool = False
    known: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class _Plan:
    """A request with its phase, channel and limits resolved, and the sections that the phase leaves out."""

    request: ContextRequest
    phase: Phase | None
    channel: str
    skips: frozenset[ContextSection]
    limits: ContextLimits


@dataclass(frozen=True, slots=True)
class _Part:
    """The result of one part: pieces and omissions, and what else it learned."""

    pieces: tuple[PieceOrOmission, ...] = ()
    inferred: InferredTopics = InferredTopics(())
    style: Style | None = None
    degraded: tuple[str, ...] = ()


def build_context(request: ContextRequest, session: Session) -> Context:
    """The context for the request, with the reason for everything in it and everything left out.

    A part that is not ready in time is left out and named. Raises UsageError for an unknown phase or channel.
    """
    start = time.perf_counter()
    plan = _plan(request, session.stores.context)
    session = _model_session(session, waits=request.within is None)
    parts = gather(_parts(plan, session), within=request.within)
    composed = _compose(parts, plan, session)
    failures = () if request.peek else _record(composed, parts, request, session)
    took_ms = round((time.perf_counter() - start) * 1000, 1)
    context = _context(composed, parts, plan, failures=failures, took_ms=took_ms)
    emit("memory_context", chars=len(context.text), took_ms=context.took_ms, late=list(context.late))
    return context


def _plan(request: ContextRequest, options: ContextOptions) -> _Plan:
    phase = find_phase(request.phase, options.phases)
    if request.phase and not phase and request.phase.casefold() != BRIEFING:
        names = ", ".join([*(line.split()[0] for line in options.phases), BRIEFING])
        raise UsageError(f"no phase is called {request.phase!r}", hint=f"Phases: {names}; `context.phases` sets them.")
    limits = ContextLimits(
        budget=options.budget if request.budget is None else request.budget,
        tokens=options.tokens if request.tokens is None else request.tokens,
        recalled_chars=phase.chars if phase else 0,
        recalled=options.recalled,
        playbooks=options.playbooks,
    )
    skips = skipped_sections(request.phase.casefold())
    return _Plan(request, phase, parse_channel(request.scope), skips, limits)


def _model_session(session: Session, *, waits: bool) -> Session:
    """The session at one moment, as an agent: whoever asks, the context goes to a model."""
    stores = replace(session.stores, waits_for_encoder=waits, query_cache=QueryCache())
    agent = Actor("agent", session.actor.origin)
    return replace(session.at(session.clock()), stores=stores, actor=agent)


def _parts(plan: _Plan, session: Session) -> dict[str, Callable[[], _Part]]:
    """The parts that are gathered side by side."""
    parts: dict[str, Callable[[], _Part]] = {
        "notes": partial(_notes, plan, session),
        "marked": partial(_marked_entries, plan, session),
        "facts": partial(_facts, plan, session),
        "recall": partial(_recall, plan, session),
    }
    if "facts" in plan.skips:
        del parts["facts"]
    if not plan.request.prompt.strip():
        del parts["recall"]
    return parts


def _notes(plan: _Plan, session: Session) -> _Part:
    return _Part(note_pieces(session, channel=plan.channel))


def _marked_entries(plan: _Plan, session: Session) -> _Part:
    return _Part(_in_channel(marked_entry_pieces(session), plan.channel))


def _facts(plan: _Plan, session: Session) -> _Part:
    """The facts; those about the topics of the conversation are boosted."""
    pieces = fact_pieces(plan.request.prompt, session, topics=_conversation_topics(plan.request, session))
    return _Part(_in_channel(pieces, plan.channel))


def _conversation_topics(request: ContextRequest, session: Session) -> tuple[str, ...]:
    """The topics that the conversation is locked to, or those of its first message."""
    lock = session.stores.history.topic_lock(request.conversation) if request.conversation else None
    if lock or not request.prompt.strip():
        return lock.topics if lock else ()
    return tuple(name for name, _ in match_topics(query_of_prompt(request.prompt), session).topics)


def _in_channel(pieces: Iterable[PieceOrOmission], channel: str) -> tuple[PieceOrOmission, ...]:
    """The pieces, with those from notes of other channels left out."""
    return tuple(
        OmittedPiece(each.section, "another place", "scope", "another channel's")
        if isinstance(each, Piece) and not is_recallable(each.document, channel=channel)
        else each
        for each in pieces
    )


def _recall(plan: _Plan, session: Session) -> _Part:
    """The topics and the style of the prompt, and the passages and playbooks that fit it."""
    request, options = plan.request, session.stores.context
    message = query_of_prompt(request.prompt)
    inferred = match_topics(message, session, conversation=request.conversation)
    topics = _topic_names(inferred)
    style = style_for(message, session, topics=topics)
    query = PassageRequest(request.prompt, request.kinds, plan.phase, plan.channel, topics)
    pieces: tuple[PieceOrOmission, ...] = ()
    degraded: tuple[str, ...] = ()
    if options.recall:
        pieces, answer = passage_pieces(query, session)
        degraded = answer.degraded
    playbooks = playbook_pieces(query, session) if options.playbooks else ()
    return _Part((*_style_pieces(style), *pieces, *playbooks), inferred, style, degraded)


def _topic_names(inferred: InferredTopics) -> tuple[str, ...]:
    return inferred.locked or tuple(name for name, _ in inferred.topics)


def _style_pieces(style: Style | None) -> tuple[Piece, ...]:
    if style is None:
        return ()
    why = "the style that fits the prompt"
    return (Piece(section="user", key=style.path, document=style.path, source=style.path, text=style.text, why=why),)


@dataclass(frozen=True, slots=True)
class GatherResult(Generic[_T]):
    """The results that were ready in time, by name; the names of those that were not; and the errors of the failed."""

    ready: Mapping[str, _T]
    late: tuple[str, ...]
    failed: Mapping[str, CommonplaceError]


def gather(parts: Mapping[str, Callable[[], _T]], *, within: float | None) -> GatherResult[_T]:
    """Run all parts at once, for `within` seconds at most, or until all are done.

    A late part runs on in the background, so that what it loads is there the next time; if it fails then, that is an
    event. An error that is not a CommonplaceError is raised.
    """
    until = None if within is None else time.monotonic() + within
    done: dict[str, _T] = {}
    errors: dict[str, BaseException] = {}
    over = threading.Event()

    def run(name: str, part: Callable[[], _T]) -> None:
        try:
            done[name] = part()
        except BaseException as error:  # noqa: BLE001 (the waiting thread raises or reports it)
            errors[name] = error
            if over.is_set():  # no thread is waiting any more
                emit("late_part_failed", level="warning", part=name, error=type(error).__name__)

    threads = [threading.Thread(target=run, args=each, name=f"gather-{each[0]}", daemon=True) for each in parts.items()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(None if until is None else max(0.0, until - time.monotonic()))
    over.set()
    ready, failures = dict(done), dict(errors)  # a late part may end at any moment from here on
    failed: dict[str, CommonplaceError] = {}
    for name, error in failures.items():
        if not isinstance(error, CommonplaceError):
            raise error
        failed[name] = error
    return GatherResult(ready, tuple(name for name in parts if name not in ready and name not in failed), failed)


def new_nonce() -> str:
    """Eight hex digits that no text can know in advance, for the fence around the context."""
    return os.urandom(4).hex()


def _compose(parts: GatherResult[_Part], plan: _Plan, session: Session) -> ComposedContext:
    pieces = [each for part in parts.ready.values() for each in part.pieces]
    composed = compose(
        [each for each in pieces if isinstance(each, Piece)],
        plan.limits,
        nonce=new_nonce(),
        measure=lambda text: len(heuristic_tokens(text)),
        now=session.now,
        skips=plan.skips,
        seen_marks=plan.request.known,
    )
    omissions = [each for each in pieces if isinstance(each, OmittedPiece) and each.section not in plan.skips]
    return replace(composed, left_out=(*composed.left_out, *omissions, *_missing(parts, plan)))


def _missing(parts: GatherResult[_Part], plan: _Plan) -> tuple[OmittedPiece, ...]:
    """An omission for each section of this phase whose part was late or failed."""
    said = dict.fromkeys(parts.late, "not ready in time")
    said |= {name: str(error) for name, error in parts.failed.items()}
    missing = [OmittedPiece(section, "", "late", said[name]) for name in said for section in _SECTIONS_OF[name]]
    return tuple(each for each in dict.fromkeys(missing) if each.section not in plan.skips)


def _record(
    composed: ComposedContext, parts: GatherResult[_Part], request: ContextRequest, session: Session
) -> tuple[str, ...]:
    """Count the included facts as used and lock the conversation's topics; returns what failed.

    Nothing is recorded before this, so that a late part records nothing for a prompt that was answered without it.
    """
    used = dict.fromkeys(each.piece.fact for each in composed.included if each.piece.fact)
    recall = parts.ready.get("recall", _Part())
    try:
        session.stores.history.record_use([*used], now=session.clock())
        lock_topics(recall.inferred, session, conversation=request.conversation)
    except CommonplaceError as error:
        return (f"the use of these memories was not recorded: {error}",)
    return ()


def _context(
    composed: ComposedContext,
    parts: GatherResult[_Part],
    plan: _Plan,
    *,
    failures: tuple[str, ...],
    took_ms: float,
) -> Context:
    recall = parts.ready.get("recall", _Part())
    failed = (f"{name}: {error}" for name, error in parts.failed.items())
    return Context(
        text=composed.text,
        included=composed.included,
        left_out=composed.left_out,
        budget=plan.limits.budget,
        token_budget=plan.limits.tokens,
        tokens=composed.tokens,
        is_over=composed.is_over,
        phase=plan.request.phase.casefold(),
        topics=_topic_names(recall.inferred),
        drifted=recall.inferred.drifted,
        style=recall.style.name if recall.style else "",
        late=parts.late,
        degraded=(*recall.degraded, *failed, *failures),
        took_ms=took_ms,
    )
