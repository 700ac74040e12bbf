"""`History` in lists and dictionaries, lost with the process."""

import threading
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from commonplace.history.base import (
    ERASED,
    LOSS_DAYS,
    MOST_STATES,
    STATE_DAYS,
    AuditEntry,
    ContextState,
    HistoryLoss,
    ModelCall,
    NewThread,
    UnfinishedErasure,
    Use,
    check_limit,
    expiry,
    new_token,
    token_hash,
    utc_second,
)
from commonplace.history.normalize import (
    IncomingMessage,
    check_caller,
    check_lock,
    check_state,
    check_trust,
    check_turns,
    extend_digest,
    identify_thread,
    incoming_messages,
    names_of,
    session_key,
    stamp_of,
    thread_id,
    valid_utf8,
)
from commonplace.model import Message, RecordResult, Thread, TopicLock, TranscriptCursor


@dataclass(frozen=True, slots=True)
class _Grant:
    path: str
    expires: datetime


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
        incoming = incoming_messages(messages, now=now)
        new = identify_thread(thread, incoming)
        with self._lock:
            id_ = self._id_of(new)
            empty = _StoredThread(_new_thread(id_, new, at=incoming[0].at, now=utc_second(now)))
            stored = self._threads.setdefault(id_, empty)
            is_known = all(each.identity in stored.messages for each in incoming)
            check_trust(new, stored.thread.trust, title=stored.thread.title, adds=not is_known)
            before = stored.thread.count
            title, project = new.title or stored.thread.title, new.project or stored.thread.project
            stored.thread = replace(stored.thread, title=title, project=project)
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
    ) -> tuple[Thread, ...]:
        """Conversations of that program and project with a message since that time; newest first, at most `limit`."""
        start = utc_second(since) if since else None
        check_limit(limit)
        with self._lock:
            oldest_first = sorted((stored.thread for stored in self._threads.values()), key=lambda each: each.updated)
        matching = (
            each
            for each in reversed(oldest_first)
            if (interface is None or each.interface == valid_utf8(interface))
            and (project is None or each.project == valid_utf8(project))
            and (start is None or each.updated >= start)
        )
        return tuple(matching)[:limit]

    def conversation(self, id: str) -> Thread | None:
        """The conversation with that id, or None."""
        stored = self._threads.get(id)
        return stored.thread if stored else None

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
        return {
            id_: stamp_of(each.digest, title=each.thread.title, trust=each.thread.trust, captured=each.thread.captured)
            for id_, each in threads.items()
        }

    def close_conversation(self, id: str, *, now: datetime) -> bool:
        """Mark the conversation as finished; False if there is none."""
        with self._lock:
            if stored := self._threads.get(id):
                stored.thread = replace(stored.thread, closed=utc_second(now))
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
        return super().forget_conversation(id)


class InMemoryHistory(InMemoryUsage):
    """Audit, grants and model calls, with conversations and usage."""

    def __init__(self) -> None:
        super().__init__()
        self._audit: list[AuditEntry] = []
        self._erasures: dict[str, UnfinishedErasure] = {}
        self._commits: dict[str, datetime] = {}
        self._grants: dict[str, _Grant] = {}  # by token hash
        self._calls: list[ModelCall] = []

    def record(self, *entries: AuditEntry) -> None:
        """Add these rows."""
        with self._lock:
            self._add(entries)

    def entries(
        self,
        *,
        path: str | None = None,
        actor: str | None = None,
        since: datetime | None = None,
        limit: int | None = None,
    ) -> tuple[AuditEntry, ...]:
        """Rows about that note, by that actor, since that time; newest first, at most `limit`."""
        start = utc_second(since) if since else None
        check_limit(limit)
        with self._lock:
            oldest_first = sorted(self._audit, key=lambda entry: entry.when)
        matching = (
            entry
            for entry in reversed(oldest_first)
            if (path is None or entry.names(path))
            and (actor is None or entry.actor == actor)
            and (start is None or entry.when >= start)
        )
        return tuple(matching)[:limit]

    def newest_commit(self) -> str | None:
        """The latest commit that was recorded or recovered, or None."""
        with self._lock:
            return max(reversed(self._commits), key=self._commits.__getitem__, default=None)

    def recover(self, entries: Iterable[AuditEntry]) -> int:
        """Add the rows whose commit is unknown; returns how many were added."""
        entries = tuple(entries)
        with self._lock:
            missing = [entry for entry in entries if entry.commit and entry.commit not in self._commits]
            self._add(missing)
        return len(missing)

    def forget_path(self, path: str) -> int:
        """Remove every trace of that path; returns how many audit rows were removed."""
        with self._lock:
            self._states.clear()
            self._topic_locks.clear()
            removed = [entry for entry in self._audit if entry.names(path)]
            mutations = {entry.mutation for entry in removed}
            self._audit = [
                replace(entry, reason=entry.reason.replace(path, ERASED)) if entry.mutation in mutations else entry
                for entry in self._audit
                if not entry.names(path)
            ]
            self._grants = {key: grant for key, grant in self._grants.items() if grant.path != path}
        return len(removed)

    def begin_erasure(self, erasure: UnfinishedErasure) -> None:
        """Remember what is being erased, until it is ended."""
        self._erasures[erasure.path] = replace(erasure, begun=utc_second(erasure.begun))

    def unfinished_erasures(self) -> tuple[UnfinishedErasure, ...]:
        """The erasures that were begun and not ended, oldest first."""
        return tuple(sorted(self._erasures.values(), key=lambda each: (each.begun, each.path)))

    def end_erasure(self, path: str) -> None:
        """Forget that this path was being erased."""
        self._erasures.pop(path, None)

    def give_grant(self, path: str, *, now: datetime, minutes: int = 10) -> str:
        """A new token that allows one write to that path within `minutes`."""
        token = new_token()
        with self._lock:
            self._grants[token_hash(token)] = _Grant(path, expiry(now, minutes))
        return token

    def has_grant(self, token: str, path: str, *, now: datetime) -> bool:
        """True if the token is valid for exactly that path now; does not use it up."""
        grant = self._grants.get(token_hash(token))
        return grant is not None and grant.path == path and grant.expires > utc_second(now)

    def use_grant(self, token: str, path: str, *, now: datetime) -> bool:
        """True if the token is valid for exactly that path now; uses it up."""
        with self._lock:
            is_valid = self.has_grant(token, path, now=now)
            if is_valid:
                del self._grants[token_hash(token)]
            return is_valid

    def log_calls(self, calls: Sequence[ModelCall]) -> None:
        """Add a row for each call."""
        with self._lock:
            self._calls.extend(calls)

    def calls(
        self, *, task_type: str | None = None, since: datetime | None = None, limit: int | None = None
    ) -> tuple[ModelCall, ...]:
        """Calls of that type since that time; newest first, at most `limit`."""
        start = utc_second(since) if since else None
        check_limit(limit)
        with self._lock:
            oldest_first = sorted(self._calls, key=lambda call: call.at)
        matching = (
            call
            for call in reversed(oldest_first)
            if (task_type is None or call.task_type == task_type) and (start is None or call.at >= start)
        )
        return tuple(matching)[:limit]

    def count_calls(self, task_type: str | None = None) -> int:
        """How many calls were logged, of that type or in total."""
        return len(self.calls(task_type=task_type))

    def forget_calls(self, input_hashes: Iterable[str]) -> int:
        """Remove every call with one of these texts; returns how many."""
        hashes = set(input_hashes)
        with self._lock:
            remaining = [call for call in self._calls if call.input_hash not in hashes]
            removed = len(self._calls) - len(remaining)
            self._calls = remaining
        return removed

    def size(self) -> int:
        """Return 0: nothing is on disk."""
        return 0

    def close(self) -> None:
        """Do nothing: nothing is open."""

    def _add(self, entries: Iterable[AuditEntry]) -> None:
        for entry in entries:
            self._audit.append(entry)
            if entry.commit:
                self._commits.setdefault(entry.commit, entry.when)


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
