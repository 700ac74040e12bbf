"""Conversations and the use of facts in dictionaries, lost with the process."""

import threading
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from commonplace.history.base import (
    LOSS_DAYS,
    MOST_CONTEXTS,
    MOST_STATES,
    STATE_DAYS,
    ContextState,
    GivenContext,
    HistoryLoss,
    NewThread,
    ThreadTraits,
    Use,
    check_limit,
    utc_second,
)
from commonplace.history.normalize import (
    IncomingMessage,
    check_caller,
    check_kind,
    check_lock,
    check_state,
    check_trust,
    check_turns,
    check_use,
    extend_digest,
    identify_by_content,
    identify_thread,
    incoming_messages,
    names_of,
    session_key,
    stamp_of,
    thread_id,
    valid_utf8,
)
from commonplace.model import MemoryUse, Message, RecordResult, Thread, ThreadKind, TopicLock, TranscriptCursor
from commonplace.model.conversation import stricter_use


@dataclass(slots=True)
class _StoredThread:
    thread: Thread
    digest: str = ""
    messages: dict[str, Message] = field(default_factory=dict)  # by identity


class InMemoryConversations:
    """Conversations, each by its id. `_lock` guards all state of the history."""

    def __init__(self) -> None:
        self._threads: dict[str, _StoredThread] = {}
        self._cursors: dict[str, TranscriptCursor] = {}  # by session
        self._erased: set[str] = set()
        self._losses: dict[str, HistoryLoss] = {}  # by what they say
        self._lock = threading.Lock()

    def record_conversation(
        self, thread: NewThread, messages: Sequence[Message], *, now: datetime, cursor: TranscriptCursor | None = None
    ) -> RecordResult:
        """Append the messages that are new, and move the session's cursor with them."""
        incoming = incoming_messages(messages, now=now, captured=thread.captured)
        new = identify_thread(thread, incoming)
        with self._lock:
            id_ = self._id_of(new)
            empty = _StoredThread(_new_thread(id_, new, at=incoming[0].at, now=utc_second(now)))
            stored = self._threads.setdefault(id_, empty)
            check_kind(new, stored.thread.kind)
            is_known = all(each.identity in stored.messages for each in incoming)
            check_trust(new, stored.thread.trust, title=stored.thread.title, adds=not is_known)
            before = stored.thread.count
            title, project = new.title or stored.thread.title, new.project or stored.thread.project
            memory = stricter_use(stored.thread.memory, new.memory)
            stored.thread = replace(stored.thread, title=title, project=project, memory=memory)
            for each in incoming:
                if each.identity not in stored.messages:
                    _append(stored, each)
            added = stored.thread.count - before
            if cursor:
                self._cursors[session_key(new)] = cursor
        return RecordResult(id_, added, len(incoming) - added)

    def transcript_cursor(self, thread: NewThread) -> TranscriptCursor:
        """How far the transcript of that session was read; its beginning if nothing was."""
        return self._cursors.get(session_key(identify_thread(thread, ())), TranscriptCursor())

    def move_cursor(self, thread: NewThread, cursor: TranscriptCursor, *, now: datetime) -> None:
        """Store how far the transcript was read."""
        self._cursors[session_key(identify_thread(thread, ()))] = cursor

    def conversations(
        self,
        *,
        interface: str | None = None,
        project: str | None = None,
        since: datetime | None = None,
        limit: int | None = None,
        kind: ThreadKind | None = "chat",
        parent: str | None = None,
    ) -> tuple[Thread, ...]:
        """Threads of that program, project, kind and parent with a message since that time; newest first."""
        start = utc_second(since) if since else None
        check_limit(limit)
        with self._lock:
            oldest_first = sorted((stored.thread for stored in self._threads.values()), key=lambda each: each.updated)
        matching = (
            each
            for each in reversed(oldest_first)
            if (interface is None or each.interface == valid_utf8(interface))
            and (project is None or each.project == valid_utf8(project))
            and (kind is None or each.kind == kind)
            and (parent is None or each.parent == valid_utf8(parent) != "")
            and (start is None or each.updated >= start)
        )
        return tuple(matching)[:limit]

    def conversation(self, id: str) -> Thread | None:
        """The conversation with that id, or None."""
        stored = self._threads.get(id)
        return stored.thread if stored else None

    def thread_id_of(self, thread: NewThread, messages: Sequence[Message] = ()) -> str:
        """The id under which `record_conversation` stores this, known or not."""
        new = identify_by_content(thread, messages)
        with self._lock:
            return self._id_of(new)

    def unrecorded(self, thread: NewThread, messages: Sequence[Message]) -> tuple[Message, ...]:
        """Those of the messages that `record_conversation` would add, each once, in order."""
        incoming = incoming_messages(messages, now=datetime.fromtimestamp(0, UTC))  # no time is stored
        new = identify_thread(thread, incoming)
        with self._lock:
            stored = self._threads.get(self._id_of(new))
            known = stored.messages if stored else {}
            adds = dict[str, Message]()
            for each in incoming:
                if each.identity not in known:
                    adds.setdefault(each.identity, each.message)
            if stored:
                check_kind(new, stored.thread.kind)
                check_trust(new, stored.thread.trust, title=stored.thread.title, adds=bool(adds))
        return tuple(adds.values())

    def captured_conversation(self, thread: NewThread) -> Thread | None:
        """The conversation that was captured from that session of that program, or None."""
        with self._lock:
            return next((each for each in self._named(identify_thread(thread, ())) if each.captured), None)

    def messages(self, id: str, *, first: int = 1, last: int | None = None) -> tuple[Message, ...]:
        """Messages number `first` to `last`, inclusive."""
        first, last = check_turns(first, last)
        with self._lock:
            stored = self._threads.get(id)
            return tuple(stored.messages.values())[first - 1 : last] if stored else ()

    def conversation_stamps(self, ids: Iterable[str] | None = None) -> Mapping[str, str]:
        """Stamps by id, of all conversations or of those of `ids` that exist."""
        with self._lock:
            selected = self._threads if ids is None else [each for each in ids if each in self._threads]
            threads = {id_: self._threads[id_] for id_ in selected}
        return {id_: _stamp(each) for id_, each in threads.items()}

    def thread_traits(self, ids: Iterable[str] | None = None) -> Mapping[str, ThreadTraits]:
        """What decides where threads are found, by id."""
        with self._lock:
            wanted = self._threads if ids is None else [each for each in ids if each in self._threads]
            threads = [self._threads[id_].thread for id_ in wanted]
        return {each.id: ThreadTraits(each.kind, each.memory, each.interface, each.project) for each in threads}

    def close_conversation(self, id: str, *, now: datetime) -> bool:
        """Mark the conversation as finished; False if there is none."""
        with self._lock:
            if stored := self._threads.get(id):
                stored.thread = replace(stored.thread, closed=utc_second(now))
            return stored is not None

    def set_memory_use(self, id: str, use: MemoryUse, *, now: datetime) -> bool:
        """Set what a conversation may be used for; False if there is none."""
        checked = check_use(use)
        with self._lock:
            if stored := self._threads.get(id):
                stored.thread = replace(stored.thread, memory=checked)
            return stored is not None

    def forget_conversation(self, id: str) -> bool:
        """Remove the conversation; False if there was none."""
        with self._lock:
            existed = self._threads.pop(id, None) is not None
            self._erased |= {id} if existed else set()
            return existed

    def forgotten(self, ids: Iterable[str]) -> frozenset[str]:
        """Those of these conversations that were forgotten."""
        return frozenset(ids) & self._erased

    def check(self) -> None:
        """Do nothing: memory is not damaged."""

    def losses(self, *, now: datetime) -> tuple[HistoryLoss, ...]:
        """What was lost or restored within LOSS_DAYS, newest first."""
        since = now - timedelta(days=LOSS_DAYS)
        newest_first = sorted(self._losses.values(), key=lambda each: each.at, reverse=True)
        return tuple(each for each in newest_first if each.at >= since)

    def note_loss(self, loss: HistoryLoss) -> None:
        """Add to the losses; one with the same words is renewed."""
        self._losses[loss.said] = replace(loss, at=utc_second(loss.at))

    def _named(self, thread: NewThread) -> list[Thread]:
        """The conversations with the names of this one: at most one that a caller recorded and one captured."""
        threads = (stored.thread for stored in self._threads.values())
        names = thread.interface, thread.source_id
        return [each for each in threads if (each.interface, each.source_id) == names]

    def _id_of(self, thread: NewThread) -> str:
        """The id of the conversation, new or not. Raises Refused for a caller that names a captured session."""
        named = self._named(thread)
        check_caller(thread, is_captured=any(each.captured for each in named))
        own = next((each.id for each in named if each.captured == thread.captured), None)
        return own or thread_id(thread, is_taken=bool(named))


class InMemoryUsage(InMemoryConversations):
    """Use of facts by day; topic locks and states by conversation."""

    def __init__(self) -> None:
        super().__init__()
        self._days: defaultdict[str, Counter[str]] = defaultdict(Counter)  # fact -> day -> times
        self._topic_locks: dict[str, TopicLock] = {}
        self._contexts: list[GivenContext] = []
        self._states: dict[str, tuple[datetime, ContextState]] = {}  # the last saved comes last

    def record_use(self, ids: Sequence[str], *, now: datetime) -> None:
        """Count one use of each of these facts, on the UTC day of `now`."""
        day = _day(now)
        with self._lock:
            for fact in {valid_utf8(each) for each in ids}:
                self._days[fact][day] += 1

    def uses(self, ids: Iterable[str], *, since: datetime | None = None) -> Mapping[str, Use]:
        """Use of these facts since the day of that moment; facts that were never used are left out."""
        start = _day(since) if since else ""
        facts = {valid_utf8(each) for each in ids}
        with self._lock:
            by_fact = {
                fact: {day: times for day, times in self._days[fact].items() if day >= start}
                for fact in facts
                if fact in self._days
            }
        return {fact: Use(sum(days.values()), len(days), max(days)) for fact, days in by_fact.items() if days}

    def forget_uses(self, ids: Iterable[str]) -> int:
        """Remove all use of these facts; returns how many rows, one for each day."""
        facts = {valid_utf8(each) for each in ids}
        with self._lock:
            return sum(len(self._days.pop(fact, ())) for fact in facts)

    def lock_topics(self, lock: TopicLock) -> None:
        """Store the topics of a conversation, replacing earlier ones."""
        stored = check_lock(lock)
        with self._lock:
            self._topic_locks[stored.conversation] = stored

    def topic_lock(self, conversation: str) -> TopicLock | None:
        """The topics stored for that conversation, or None."""
        return self._topic_locks.get(valid_utf8(conversation))

    def context_state(self, conversation: str) -> ContextState:
        """What that conversation's model has been given; an empty state if nothing is known of it."""
        name = valid_utf8(conversation)
        with self._lock:
            return self._states[name][1] if name in self._states else ContextState(name)

    def record_context(self, given: GivenContext) -> None:
        """Remember a context that was given, and drop the oldest of too many."""
        with self._lock:
            self._contexts = [*self._contexts, given][-MOST_CONTEXTS:]

    def contexts(self, *, limit: int) -> tuple[GivenContext, ...]:
        """The contexts that were given last, newest first."""
        return tuple(reversed(self._contexts))[:limit]

    def save_context_state(self, state: ContextState, *, now: datetime) -> None:
        """Store the state of a conversation; drops old ones, and the oldest of too many."""
        stored, at = check_state(state), utc_second(now)
        with self._lock:
            self._states.pop(stored.conversation, None)
            self._states[stored.conversation] = (at, stored)
            oldest_first = sorted(self._states.items(), key=lambda item: item[1][0])
            kept = [item for item in oldest_first if item[1][0] >= at - timedelta(days=STATE_DAYS)]
            self._states = dict(kept[-MOST_STATES:])

    def forget_conversation(self, id: str) -> bool:
        """Remove the conversation, its topic lock and its state; False if there was none."""
        names = names_of(id, self.conversation(id))
        with self._lock:
            for name in names:
                self._topic_locks.pop(name, None)
                self._states.pop(name, None)
            self._contexts = [each for each in self._contexts if not _names_one(each, names)]
        return super().forget_conversation(id)


def _new_thread(id_: str, new: NewThread, *, at: datetime, now: datetime) -> Thread:
    return Thread(
        id_,
        new.interface,
        new.source_id,
        new.title,
        new.trust,
        started=at,
        updated=at,
        recorded=now,
        count=0,
        captured=new.captured,
        kind=new.kind,
        parent=new.parent,
        memory=new.memory,
    )


def _stamp(stored: _StoredThread) -> str:
    thread = stored.thread
    return stamp_of(
        stored.digest, title=thread.title, trust=thread.trust, captured=thread.captured, memory=thread.memory
    )


def _append(stored: _StoredThread, incoming: IncomingMessage) -> None:
    stored.messages[incoming.identity] = replace(incoming.message, at=incoming.at)
    stored.digest = extend_digest(stored.digest, incoming)
    stored.thread = replace(
        stored.thread,
        count=stored.thread.count + 1,
        closed=None,
        started=min(stored.thread.started, incoming.at),
        updated=max(stored.thread.updated, incoming.at),
    )


def _day(when: datetime) -> str:
    return utc_second(when).date().isoformat()


def _names_one(given: GivenContext, names: Iterable[str]) -> bool:
    """True if the context was given in a conversation of one of these names, or has a piece of one."""
    texts = [text for piece in given.pieces for text in (piece.key, piece.path, piece.why)]
    return any(name and (name == given.conversation or any(name in text for text in texts)) for name in names)
