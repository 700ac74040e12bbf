"""Validate and normalize what a history stores, so that a message which arrives twice is stored once."""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Final

from commonplace.errors import Refused, UsageError
from commonplace.history.base import ContextState, NewThread, utc_second
from commonplace.model import (
    MEMORY_USES,
    ROLES,
    THREAD_KINDS,
    TRUSTS,
    MemoryUse,
    Message,
    Thread,
    ThreadKind,
    TopicLock,
    Trust,
)

_MOMENT: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", re.ASCII)
_LAST_TURN: Final = 2**62  # longer than any conversation, and within SQLite's integers
_LONGEST_NAME: Final = 200  # characters
_KEY_DIGITS: Final = 16
_ANY_TIME: Final = datetime(1970, 1, 1, tzinfo=UTC)  # the time at which something is recorded does not identify it
_UNKNOWN_AGE: Final = timedelta(days=2)  # of a line in a transcript that says no time
_ID_LETTERS: Final[Mapping[ThreadKind, str]] = {"chat": "c", "task": "t", "correction": "x"}
_ID_DIGITS: Final = 12  # with 75 000 conversations, the odds that any two share an id are 1 in 100 000


@dataclass(frozen=True, slots=True)
class IncomingMessage:
    """A message to store, its time, and its identity within the thread."""

    identity: str
    message: Message
    at: datetime


def incoming_messages(
    messages: Sequence[Message], *, now: datetime, captured: bool = False
) -> tuple[IncomingMessage, ...]:
    """The messages in order, each identified by its id or its content; one without a time has that of the one before.

    The first one has the present time; in a captured transcript, in which hosts write times, an earlier one: nobody
    knows how old the line is, and what was said within the last day counts as the person's word. Raises UsageError if
    there are none, a role is unknown or a time has no zone.
    """
    if not messages:
        raise UsageError("a conversation without messages cannot be recorded", hint="Give at least one message.")
    repeats: Counter[str] = Counter()
    incoming: list[IncomingMessage] = []
    at = utc_second(now - _UNKNOWN_AGE if captured else now)
    for each in messages:
        message = _normalized(each)
        at = message.at or at
        content = _hash("said", message.role, message.author, _iso(message.at), message.text)
        identity = _hash("id", message.source_id) if message.source_id else _hash(content, repeats[content])
        repeats[content] += 1
        incoming.append(IncomingMessage(identity, message, at))
    return tuple(incoming)


def identify_thread(thread: NewThread, messages: Sequence[IncomingMessage]) -> NewThread:
    """The thread with a `source_id`, derived from its messages if it has none.

    Raises UsageError for an unknown trust, kind or use, and for an interface without a name.
    """
    if thread.trust not in TRUSTS:
        raise UsageError(f"no such trust: {thread.trust!r}", hint=f"Choose from: {', '.join(TRUSTS)}.")
    if thread.kind not in THREAD_KINDS:
        raise UsageError(f"no such kind: {thread.kind!r}", hint=f"Choose from: {', '.join(THREAD_KINDS)}.")
    check_use(thread.memory)
    if not thread.interface.strip():
        raise UsageError("the conversation's interface has no name", hint="Name the program in which it was held.")
    source_id = valid_utf8(thread.source_id) or _hash(*(each.identity for each in messages))
    title, project = (" ".join(valid_utf8(text).split()) for text in (thread.title, thread.project))
    return replace(
        thread,
        interface=valid_utf8(thread.interface),
        source_id=source_id,
        title=title,
        project=project,
        parent=valid_utf8(thread.parent),
    )


def identify_by_content(thread: NewThread, messages: Sequence[Message]) -> NewThread:
    """The thread as `identify_thread` gives it for these messages; there may be none if it has a `source_id`."""
    return identify_thread(thread, incoming_messages(messages, now=_ANY_TIME) if messages else ())


def check_use(use: str) -> MemoryUse:
    """The use of that name. Raises UsageError if there is none."""
    for known in MEMORY_USES:
        if known == use:
            return known
    raise UsageError(f"no such use of a conversation: {use!r}", hint=f"Choose from: {', '.join(MEMORY_USES)}.")


def check_trust(thread: NewThread, stored: Trust, *, title: str, adds: bool) -> None:
    """Raise Refused if new content has lower trust than the stored conversation, whose trust it would gain.

    New content is a message (`adds`) or a title other than the stored one; known content may be recorded again.
    """
    is_new = adds or thread.title not in ("", title)
    if is_new and TRUSTS.index(thread.trust) > TRUSTS.index(stored):
        message = f"the conversation has trust {stored!r}; content with trust {thread.trust!r} may not be added to it"
        raise Refused(message, hint="Record it under another id.")


def check_caller(thread: NewThread, *, is_captured: bool) -> None:
    """Raise Refused if a caller names a session that is captured: its words would pass for those of the session."""
    if is_captured and not thread.captured:
        message = f"session {thread.source_id!r} of {thread.interface} is recorded from its own transcript"
        hint = "Nothing needs to be saved: what is said in it is recorded. Save anything else under another session id."
        raise Refused(f"{message}; nothing can be added to it", hint=hint)


def check_kind(thread: NewThread, stored: ThreadKind) -> None:
    """Raise UsageError if something of another kind is recorded under that id."""
    if thread.kind != stored:
        message = f"{thread.source_id!r} of {thread.interface} is recorded as a {stored}, not as a {thread.kind}"
        raise UsageError(message, hint="Give another id.")


def thread_id(thread: NewThread, *, is_taken: bool = False) -> str:
    """The id of a thread: the same on every machine and for every user.

    The id `is_taken` if a caller recorded something under the names of this session before it was captured.
    """
    more = ("captured",) if is_taken else ()
    return f"{_ID_LETTERS[thread.kind]}-{_hash(thread.interface, thread.source_id, *more)[:_ID_DIGITS]}"


def session_key(thread: NewThread) -> str:
    """The name under which the cursor of a session is stored; it does not tell the id of the conversation."""
    return f"s-{_hash('session', thread.interface, thread.source_id)[:_KEY_DIGITS]}"


def erasure_mark(id: str) -> str:
    """What is left of an erased conversation: enough to recognise its id, and not the id itself."""
    return f"e-{_hash('erased', id)[:_KEY_DIGITS]}"


def extend_digest(digest: str, incoming: IncomingMessage) -> str:
    """The digest of a thread with one message more; an empty thread has an empty digest."""
    message = incoming.message
    return _hash(digest, incoming.identity, message.role, message.author, _iso(incoming.at), message.text)


def stamp_of(digest: str, *, title: str, trust: Trust, captured: bool, memory: MemoryUse) -> str:
    """The stamp of a conversation: a hash of its messages, title, trust and use, and of whether it was captured."""
    return _hash(digest, title, trust, *(("captured",) if captured else ()), *((memory,) if memory != "on" else ()))


def check_turns(first: int, last: int | None) -> tuple[int, int | None]:
    """The range of turns, within what SQLite can count. Raises UsageError if `first` is below 1."""
    if first < 1:
        raise UsageError(f"there is no turn {first}", hint="Turns are numbered from 1.")
    return min(first, _LAST_TURN), None if last is None else min(last, _LAST_TURN)


def check_lock(lock: TopicLock) -> TopicLock:
    """The lock as valid UTF-8. Raises UsageError if it has no conversation or its time is not in UTC."""
    if not lock.conversation.strip():
        raise UsageError("the topic lock names no conversation", hint="Name the conversation.")
    if not _MOMENT.fullmatch(lock.at):
        raise UsageError(f"{lock.at!r} is not a time in UTC", hint="Give it as 2026-03-01T09:12:44Z.")
    return TopicLock(valid_utf8(lock.conversation), tuple(map(valid_utf8, lock.topics)), lock.at)


def check_state(state: ContextState) -> ContextState:
    """The state as valid UTF-8. Raises UsageError if it names no conversation."""
    if not state.conversation.strip():
        raise UsageError("the state names no conversation", hint="Name the conversation.")
    given, prompts = frozenset(map(valid_utf8, state.given)), tuple(map(valid_utf8, state.prompts))
    return ContextState(valid_utf8(state.conversation), given, prompts, valid_utf8(state.missed))


def names_of(id: str, thread: Thread | None) -> tuple[str, ...]:
    """The names under which topics and states of a conversation are stored; hooks use that with the interface."""
    own = (thread.source_id, f"{thread.interface}:{thread.source_id}") if thread else ()
    return (valid_utf8(id), *own)


def valid_utf8(text: str) -> str:
    """The text with a question mark for each unpaired surrogate, which UTF-8 cannot encode."""
    return text if text.isascii() else text.encode(errors="replace").decode()


def _normalized(message: Message) -> Message:
    if message.role not in ROLES:
        raise UsageError(f"unknown role {message.role!r}", hint=f"Roles: {', '.join(ROLES)}.")
    return replace(
        message,
        text=valid_utf8(message.text),
        author=" ".join(valid_utf8(message.author).split())[:_LONGEST_NAME].rstrip(),
        at=utc_second(message.at) if message.at else None,
        source_id=valid_utf8(message.source_id),
    )


def _iso(at: datetime | None) -> str:
    return at.isoformat() if at else ""


def _hash(*values: object) -> str:
    return hashlib.sha256(json.dumps(values, ensure_ascii=False).encode()).hexdigest()
