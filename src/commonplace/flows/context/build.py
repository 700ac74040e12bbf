"""Build a context: a request -> parts gathered until the deadline -> composed within the budget.

The parts of a session (the person's own notes, the profile, the last session) are given once to a conversation; the
parts of a prompt leave out what the conversation has been given. No model but the encoder is asked. What was given, and
its use, is recorded here and nowhere else, on this device.
"""

import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from contextvars import copy_context
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, Generic, TypeVar

from commonplace.context.compose import ComposedContext, ContextLimits, compose, skipped_sections
from commonplace.context.options import BRIEFING, NOTES_MODES, ContextOptions, NotesMode, Phase, find_phase
from commonplace.context.selection import parse_channel
from commonplace.encoders.base import count_tokens
from commonplace.errors import CommonplaceError, IndexDamaged, UsageError
from commonplace.events import emit
from commonplace.flows.context.conversation_state import (
    PROFILE_GIVEN,
    after_context,
    kept_text,
    prompts_to_judge,
    read_state,
    why_silent,
)
from commonplace.flows.context.facts import EntryPieces, EntryRequest, PieceOrOmission, entry_pieces, fact_pieces
from commonplace.flows.context.groups import show_undecided
from commonplace.flows.context.passages import PassageRequest, passage_pieces
from commonplace.flows.context.session_start import (
    DIGEST_PIECE,
    marked_entry_pieces,
    note_pieces,
    profile_pieces,
    session_pieces,
)
from commonplace.flows.context.topics import lock_topics, match_topics, style_for
from commonplace.flows.digest import note_announcement
from commonplace.flows.project import project_at
from commonplace.flows.stores import QueryCache, Session
from commonplace.history.base import ContextState, GivenContext, GivenPiece
from commonplace.model import InferredTopics, Style
from commonplace.model.context import SESSION_SECTIONS, Context, ContextSection, OmittedPiece, Piece
from commonplace.model.layout import is_recallable
from commonplace.questions.question import query_of_prompt

_SECTIONS_OF: Final[Mapping[str, tuple[ContextSection, ...]]] = {
    "notes": ("user", "channel", "dated"),
    "marked": ("user",),
    "profile": ("profile",),
    "session": ("session",),
    "facts": ("facts",),
    "recall": ("facts", "playbooks", "recalled"),
}
_PROMPT_CHARS: Final = 80  # of a prompt in the log of contexts
_SLOW: Final = 0.05  # seconds of one part after which the next begins beside it
GATHER_THREAD: Final = "gather"
"""The name of a thread that gathers parts."""
_SESSION_PARTS: Final = ("notes", "marked", "profile", "session")

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextRequest:
    """What a context is for. Without a prompt it is the start of a session.

    `conversation` names the session: what it has been given does not come again. `folder` is where it works; the
    repository there is its project. `notes` is a NotesMode, empty for the one in the settings. Without `profile` the
    parts of a session are left out. `within` is the number of seconds it may take; None waits for everything. A `peek`
    records nothing: no use, no topics, nothing given. Of a `private` conversation only that is recorded which every
    session is given, and which says nothing about it.
    """

    prompt: str = ""
    phase: str = ""
    conversation: str = ""
    folder: str = ""
    scope: str = ""
    kinds: tuple[str, ...] = ()
    notes: str = ""
    profile: bool = True
    budget: int | None = None
    tokens: int | None = None
    within: float | None = None
    peek: bool = False
    private: bool = False


@dataclass(frozen=True, slots=True)
class _Plan:
    """A request with its phase, channel, project and limits resolved, and what its conversation has been given.

    `prompts` are those that memories are judged by, the newest last: the prompt, with the one before it if it is a
    follow-up, and one for which recall was late. It is empty if the prompt asks for nothing.
    """

    request: ContextRequest
    phase: Phase | None
    channel: str
    project: str
    notes: NotesMode
    skips: frozenset[ContextSection]
    limits: ContextLimits
    state: ContextState
    prompts: tuple[str, ...]

    @property
    def kinds(self) -> tuple[str, ...]:
        """The requested kinds of entries, or those of the phase; empty for all."""
        return self.request.kinds or (self.phase.kinds if self.phase else ())

    @property
    def gives_profile(self) -> bool:
        """True if the conversation does not have the parts of a session yet."""
        return self.request.profile and PROFILE_GIVEN not in self.state.given


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
    plan = _plan(request, session)
    session = _model_session(session, waits=request.within is None)
    parts = gather(_parts(plan, session), within=request.within)
    composed = _compose(parts, plan, session)
    failures = () if request.peek else _record(composed, parts, plan, session)
    took_ms = round((time.perf_counter() - start) * 1000, 1)
    context = _context(composed, parts, plan, failures=failures, took_ms=took_ms)
    emit("memory_context", chars=len(context.text), took_ms=context.took_ms, late=list(context.late))
    return context


def _plan(request: ContextRequest, session: Session) -> _Plan:
    options = session.stores.context
    phase = find_phase(request.phase, options.phases)
    if request.phase and not phase and request.phase.casefold() != BRIEFING:
        names = ", ".join([*(line.split()[0] for line in options.phases), BRIEFING])
        raise UsageError(f"no phase is called {request.phase!r}", hint=f"Phases: {names}; `context.phases` sets them.")
    project = project_at(request.folder, vault=session.stores.vault_folder) if request.folder else None
    state = read_state(request.conversation, session.stores.history)
    return _Plan(
        request,
        phase,
        parse_channel(request.scope),
        project.name if project else "",
        _notes_mode(request.notes or options.notes),
        skipped_sections(request.phase.casefold()),
        _limits(request, options, phase),
        state,
        prompts_to_judge(request.prompt, state),
    )


def _limits(request: ContextRequest, options: ContextOptions, phase: Phase | None) -> ContextLimits:
    return ContextLimits(
        budget=options.budget if request.budget is None else request.budget,
        tokens=options.tokens if request.tokens is None else request.tokens,
        recalled_chars=phase.chars if phase else 0,
        recalled=options.recalled,
        playbooks=options.playbooks,
    )


def _notes_mode(name: str) -> NotesMode:
    for mode in NOTES_MODES:
        if mode == name.casefold():
            return mode
    raise UsageError(f"{name!r} is not a mode for notes", hint=f"Give one of: {', '.join(NOTES_MODES)}.")


def _model_session(session: Session, *, waits: bool) -> Session:
    """The session at one moment, as an agent: whoever asks, the context goes to a model."""
    stores = replace(session.stores, waits_for_encoder=waits, query_cache=QueryCache())
    return replace(session.at(session.clock()), stores=stores, actor=replace(session.actor, kind="agent"))


def _parts(plan: _Plan, session: Session) -> dict[str, Callable[[], _Part]]:
    """The parts to gather, first what this prompt is about: the rest of a session comes with the next if it is late."""
    parts: dict[str, Callable[[], _Part]] = {
        "notes": partial(_notes, plan, session),
        "marked": partial(_marked_entries, plan, session),
        "facts": partial(_facts, plan, session),
        "recall": partial(_recall, plan, session),
        "profile": partial(_profile, plan, session),
        "session": partial(_last_session, plan, session),
    }
    has_prompt, options = bool(plan.request.prompt.strip()), session.stores.context
    left_out = {name for name, sections in _SECTIONS_OF.items() if set(sections) <= plan.skips}
    left_out |= set() if plan.gives_profile else {"profile", "session"}
    left_out |= set() if options.profile else {"profile"}
    left_out |= set() if has_prompt else {"facts", "recall"}
    return {name: part for name, part in parts.items() if name not in left_out}


def _notes(plan: _Plan, session: Session) -> _Part:
    return _Part(_changed(note_pieces(session, channel=plan.channel), plan))


def _marked_entries(plan: _Plan, session: Session) -> _Part:
    return _Part(_changed(_in_channel(marked_entry_pieces(session), plan.channel), plan))


def _changed(pieces: tuple[PieceOrOmission, ...], plan: _Plan) -> tuple[PieceOrOmission, ...]:
    """The pieces; once the conversation has them, only those whose text has changed since."""
    if plan.gives_profile:
        return pieces
    given = {mark.rpartition("@")[0] for mark in plan.state.given}
    return tuple(each for each in pieces if isinstance(each, Piece) and each.key in given)


def _profile(plan: _Plan, session: Session) -> _Part:
    return _Part(profile_pieces(session, project=plan.project, channel=plan.channel))


def _last_session(plan: _Plan, session: Session) -> _Part:
    return _Part(session_pieces(session, project=plan.project, conversation=plan.request.conversation))


def _facts(plan: _Plan, session: Session) -> _Part:
    """The facts that the prompt names; those about the topics of the conversation are boosted."""
    pieces = fact_pieces(_named(plan), session, topics=_conversation_topics(plan.request, session))
    return _Part(_in_channel(pieces, plan.channel))


def _named(plan: _Plan) -> str:
    """The prompts that may name something."""
    return "\n".join(plan.prompts or (plan.request.prompt,))


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
    """The topics and the style of the prompt, and the entries and passages that fit it."""
    request = plan.request
    message = query_of_prompt(request.prompt)
    inferred = match_topics(message, session, conversation=request.conversation)
    topics = _topic_names(inferred)
    style = style_for(message, session, topics=topics)
    silence = why_silent(request.prompt, plan.state)
    if silence or not session.stores.context.recall:
        said = silence or "context.recall is off"
        return _Part((*_style_pieces(style), OmittedPiece("recalled", "", "unsure", said)), inferred, style)
    entries = entry_pieces(EntryRequest(plan.prompts, plan.kinds, plan.project, topics), session)
    passages, degraded = _passages(plan, entries, session, topics=topics)
    pieces = (*_style_pieces(style), *_in_channel(entries.pieces, plan.channel), *passages)
    return _Part(pieces, inferred, style, tuple(dict.fromkeys((*entries.degraded, *degraded))))


def _passages(
    plan: _Plan, entries: EntryPieces, session: Session, *, topics: tuple[str, ...]
) -> tuple[tuple[PieceOrOmission, ...], tuple[str, ...]]:
    """The passages of notes and conversations that fit the prompts, and what was missing in the search for them."""
    nearest = entries.nearest(without=plan.skips)
    pieces: list[PieceOrOmission] = []
    degraded: list[str] = []
    for prompt in reversed(plan.prompts):
        query = PassageRequest(prompt, plan.notes, plan.kinds, plan.channel, topics, nearest_entry=nearest)
        more, answer = passage_pieces(query, session)
        pieces += more
        degraded += answer.degraded
    return tuple(pieces), tuple(dict.fromkeys(degraded))


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
    """Run all parts, for `within` seconds at most, or until all are done.

    They run one after another, which is quicker than side by side: most of it is computing, and Python computes in one
    thread at a time. Whenever one takes long, as it waits for a disk or a model, the others go on beside it. A late
    part runs on in the background, so that what it loads is there the next time; if it fails then, that is an event.
    An error that is not a CommonplaceError is raised.
    """
    until = None if within is None else time.monotonic() + within
    done: dict[str, _T] = {}
    errors: dict[str, BaseException] = {}
    waiting, ended, over = deque(parts.items()), threading.Semaphore(0), threading.Event()

    def run() -> None:
        with suppress(IndexError):  # none is left
            while True:
                name, part = waiting.popleft()
                try:
                    done[name] = part()
                except BaseException as error:  # noqa: BLE001 (the waiting thread raises or reports it)
                    errors[name] = error
                    if over.is_set():  # no thread is waiting any more
                        emit("late_part_failed", level="warning", part=name, error=type(error).__name__)
                ended.release()

    count = 0
    _start(run)
    while count < len(parts):
        left = threading.TIMEOUT_MAX if until is None else max(0.0, until - time.monotonic())
        patience = min(left, _SLOW) if waiting else left
        if ended.acquire(timeout=patience):
            count += 1
        elif patience == left:
            break
        else:
            _start(run)
    over.set()
    ready, failures = dict(done), dict(errors)  # a late part may end at any moment from here on
    failed: dict[str, CommonplaceError] = {}
    for name, error in failures.items():
        if not isinstance(error, CommonplaceError):
            raise error
        failed[name] = error
    return GatherResult(ready, tuple(name for name in parts if name not in ready and name not in failed), failed)


def _start(run: Callable[[], None]) -> None:
    threading.Thread(target=copy_context().run, args=(run,), name=GATHER_THREAD).start()


def new_nonce() -> str:
    """Eight hex digits that no text can know in advance, for the fence around the context."""
    return os.urandom(4).hex()


def _compose(parts: GatherResult[_Part], plan: _Plan, session: Session) -> ComposedContext:
    pieces = [each for part in parts.ready.values() for each in part.pieces]
    shown = [each for each in pieces if isinstance(each, Piece)]
    if not {*parts.late, *parts.failed} & {"marked", "facts", "profile"}:  # else the index may not answer in time
        with suppress(IndexDamaged):
            shown = show_undecided(shown, session, prompt=_named(plan), given=plan.state.given, kinds=plan.kinds)
    composed = compose(
        shown,
        plan.limits,
        nonce=new_nonce(),
        measure=count_tokens,
        now=session.now,
        skips=plan.skips,
        seen_marks=plan.state.given,
    )
    omissions = [each for each in pieces if isinstance(each, OmittedPiece) and each.section not in plan.skips]
    return replace(composed, left_out=(*composed.left_out, *omissions, *_missing(parts, plan)))


def _missing(parts: GatherResult[_Part], plan: _Plan) -> tuple[OmittedPiece, ...]:
    """An omission for each section of this phase whose part was late or failed."""
    said = dict.fromkeys(parts.late, "not ready in time")
    said |= {name: str(error) for name, error in parts.failed.items()}
    missing = [OmittedPiece(section, "", "late", said[name]) for name in said for section in _SECTIONS_OF[name]]
    return tuple(each for each in dict.fromkeys(missing) if each.section not in plan.skips)


def _record(composed: ComposedContext, parts: GatherResult[_Part], plan: _Plan, session: Session) -> tuple[str, ...]:
    """Count the included facts as used, and record what the conversation was given; returns what failed.

    Nothing is recorded before this, so that a late part records nothing for a prompt that was answered without it.
    """
    used = _used_facts(composed, parts, plan)
    recall = parts.ready.get("recall", _Part())
    history, conversation = session.stores.history, plan.request.conversation
    try:
        if not plan.request.private:
            history.record_use(used, now=session.clock())
            history.record_context(_given(composed, plan, session))
            lock_topics(recall.inferred, session, conversation=conversation)
        if any(each.piece.key == DIGEST_PIECE for each in composed.included):
            note_announcement(session)
        if conversation:
            state = history.context_state(conversation)  # another prompt, or a compaction, may have changed it
            history.save_context_state(_next_state(state, composed, parts, plan), now=session.clock())
    except CommonplaceError as error:
        return (f"the use of these memories was not recorded: {error}",)
    return ()


def _given(composed: ComposedContext, plan: _Plan, session: Session) -> GivenContext:
    """What is remembered of the context: ids, paths, reasons and sizes; of the prompt its beginning, without secrets.

    The prompt of a call that names no conversation is not kept, as nothing could ever remove it.
    """
    request = plan.request
    silences = (each.said for each in composed.left_out if each.section == "recalled" and not each.source)
    pieces = (
        GivenPiece(each.piece.section, each.piece.key, each.piece.document, each.piece.why, each.chars)
        for each in composed.included
    )
    return GivenContext(
        at=session.clock(),
        origin=session.actor.origin,
        conversation=request.conversation,
        prompt=kept_text(request.prompt)[:_PROMPT_CHARS] if request.conversation else "",
        chars=len(composed.text),
        silence=next(silences, ""),
        pieces=tuple(pieces),
    )


def _used_facts(composed: ComposedContext, parts: GatherResult[_Part], plan: _Plan) -> list[str]:
    """The facts that the prompt needed and the model has now, from this context or from an earlier one.

    What is loaded in every session is not used by being loaded, or it would stay so for ever.
    """
    named = {piece.fact for name in ("facts", "recall") for piece in _pieces_of(parts, name) if piece.fact}
    given = {mark.rpartition("@")[0] for mark in plan.state.given}
    has = {each.piece.fact for each in composed.included} | given
    return sorted(named & has)


def _pieces_of(parts: GatherResult[_Part], name: str) -> Iterator[Piece]:
    return (each for each in parts.ready.get(name, _Part()).pieces if isinstance(each, Piece))


def _next_state(
    state: ContextState, composed: ComposedContext, parts: GatherResult[_Part], plan: _Plan
) -> ContextState:
    """What the conversation has been given after this context; of a private one, only the parts of a session."""
    missing, is_private = {*parts.late, *parts.failed}, plan.request.private
    shown = [each.piece for each in composed.included if not each.is_cut]
    marks = {piece.mark for piece in shown if not is_private or piece.section in SESSION_SECTIONS}
    if plan.gives_profile and not plan.skips and not missing & {*_SESSION_PARTS}:
        marks.add(PROFILE_GIVEN)
    prompt = "" if is_private else plan.request.prompt
    return after_context(state, marks=marks, prompt=prompt, is_missed=bool(missing & {"recall", "facts"}))


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
