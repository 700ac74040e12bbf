"""Conversations, use of facts, topic locks and states in SQL.

Tables: `conversation_threads`, `conversation_messages`, `capture_cursors`, `erased_conversations`, `history_losses`,
`fact_uses`, `topic_locks`, `context_states`, `context_log`. What one call changes in a conversation is one
`ConversationRecord`, which each database keeps in its own way.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final, Protocol

from commonplace.history.base import (
    LOSS_DAYS,
    MOST_CONTEXTS,
    MOST_STATES,
    STATE_DAYS,
    ContextState,
    GivenContext,
    GivenPiece,
    HistoryLoss,
    NewThread,
    ThreadTraits,
    Use,
    check_limit,
    stored_moment,
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
    erasure_mark,
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
from commonplace.history.sql.tables import TABLES
from commonplace.history.sql.transaction import ALL_ROWS, SqlDatabase, SqlTransaction, first_row
from commonplace.model import MemoryUse, Message, RecordResult, Thread, ThreadKind, TopicLock, TranscriptCursor
from commonplace.model.conversation import stricter_use

_FIND: Final = """
SELECT id, captured, trust, title, kind FROM conversation_threads
WHERE {mine} AND interface = :interface AND source_id = :source_id
AND substr(source_id, 1, 100) = substr(:source_id, 1, 100) ORDER BY captured
"""
_STATE_OF: Final = """
SELECT number, count, digest, started, updated, memory, title, project FROM conversation_threads
WHERE {mine} AND id = :id
"""
_ADD_THREAD: Final = """
INSERT INTO conversation_threads ({tenant} id, interface, source_id, title, trust, started, updated, recorded, count,
                                  digest, captured, kind, parent, memory)
VALUES ({:tenant} :id, :interface, :source_id, :title, :trust, :at, :at, :now, 0, '', :captured, :kind, :parent,
        :memory)
RETURNING number, count, digest, started, updated, memory, title, project
"""
_GROW: Final = """
UPDATE conversation_threads
SET count = :count, digest = :digest, started = :started, updated = :updated,
    title = CASE WHEN :title = '' THEN title ELSE :title END,
    project = CASE WHEN :project = '' THEN project ELSE :project END,
    memory = :memory,
    closed = CASE WHEN :added > 0 THEN NULL ELSE closed END
WHERE {mine} AND number = :number
"""
_KNOWN: Final = """
SELECT identity FROM conversation_messages
WHERE {mine} AND thread = (SELECT number FROM conversation_threads WHERE {mine} AND id = :id)
AND identity IN (SELECT value FROM json_each(:identities))
"""
_MESSAGE_TABLE: Final = "conversation_messages"
_THREADS: Final = """
SELECT id, interface, source_id, title, trust, started, updated, recorded, count, closed, project, captured, kind,
       parent, memory
FROM conversation_threads WHERE {mine}
"""
_CONDITIONS: Final = {
    "interface": "interface = :interface",
    "project": "project = :project",
    "since": "updated >= :since",
    "kind": "kind = :kind",
    "parent": "parent = :parent AND parent <> ''",
    "id": "id = :id",
    "session": "interface = :interface AND source_id = :session AND captured = 1",
}
_NEWEST_FIRST: Final = " ORDER BY updated DESC, number DESC LIMIT :limit"
_MESSAGES: Final = """
SELECT role, text, author, at, source_id FROM conversation_messages
WHERE {mine} AND thread = (SELECT number FROM conversation_threads WHERE {mine} AND id = :id)
AND turn >= :first AND turn <= :last
ORDER BY turn
"""
_STORED_MESSAGES: Final = """
SELECT identity, role, text, author, at, source_id FROM conversation_messages
WHERE {mine} AND thread = (SELECT number FROM conversation_threads WHERE {mine} AND id = :id) ORDER BY turn
"""
_STAMPS: Final = "SELECT id, digest, title, trust, captured, memory FROM conversation_threads WHERE {mine}"
_TRAITS: Final = "SELECT id, kind, memory, interface, project FROM conversation_threads WHERE {mine}"
_THESE: Final = " AND id IN (SELECT value FROM json_each(:ids))"
_ADD_CONTEXT: Final = """
INSERT INTO context_log ({tenant} at, origin, conversation, prompt, chars, silence, pieces)
VALUES ({:tenant} :at, :origin, :conversation, :prompt, :chars, :silence, :pieces)
"""
_DROP_CONTEXTS: Final = f"""
DELETE FROM context_log WHERE {{mine}} AND number IN
(SELECT number FROM context_log WHERE {{mine}} ORDER BY number DESC LIMIT {ALL_ROWS} OFFSET :most)
"""  # noqa: S608
_CONTEXTS: Final = """
SELECT at, origin, conversation, prompt, chars, silence, pieces FROM context_log
WHERE {mine} ORDER BY number DESC LIMIT :limit
"""
_FORGET_NAMED: Final = (
    "DELETE FROM context_log WHERE {mine} AND EXISTS (SELECT 1 FROM json_each(:names)"
    " WHERE value <> '' AND (value = conversation OR instr(pieces, value) > 0))",
    "DELETE FROM topic_locks WHERE {mine} AND conversation IN (SELECT value FROM json_each(:names))",
    "DELETE FROM context_states WHERE {mine} AND conversation IN (SELECT value FROM json_each(:names))",
    "DELETE FROM learned_items WHERE {mine} AND batch IN (SELECT number FROM learning_batches"
    " WHERE {mine} AND source IN (SELECT value FROM json_each(:names)))",
    "DELETE FROM learning_batches WHERE {mine} AND source IN (SELECT value FROM json_each(:names))",
    "DELETE FROM learning_sources WHERE {mine} AND source IN (SELECT value FROM json_each(:names))",
)
_CLOSE: Final = "UPDATE conversation_threads SET closed = :now WHERE {mine} AND id = :id"
_SET_USE: Final = """
UPDATE conversation_threads SET memory = :memory WHERE {mine} AND id = :id AND memory <> :memory
"""
_FORGET: Final = "DELETE FROM conversation_threads WHERE {mine} AND id = :id"
_ADD_ERASED: Final = "INSERT INTO erased_conversations ({tenant} mark) VALUES ({:tenant} :id) ON CONFLICT DO NOTHING"
_ERASED: Final = "SELECT mark FROM erased_conversations WHERE {mine}"
_LEARN: Final = """
INSERT INTO learning_sources ({tenant} source, turns, stamp, paragraphs, failures, reason, retry_at, is_parked)
VALUES ({:tenant} :id, :learned, '', '[]', 0, '', '', 0)
ON CONFLICT ({tenant} source) DO UPDATE SET turns = excluded.turns WHERE learning_sources.turns < excluded.turns
"""
_LEARNED: Final = "SELECT source, turns FROM learning_sources WHERE {mine} AND turns > 0"
_CURSOR: Final = 'SELECT "offset", tail, file FROM capture_cursors WHERE {mine} AND session = :session'
_CURSORS: Final = 'SELECT session, "offset", tail, file FROM capture_cursors WHERE {mine} ORDER BY session'
_MOVE_CURSOR: Final = """
INSERT INTO capture_cursors ({tenant} session, "offset", tail, file) VALUES ({:tenant} :session, :offset, :tail, :file)
ON CONFLICT ({tenant} session) DO UPDATE SET "offset" = excluded."offset", tail = excluded.tail, file = excluded.file
"""
_LOSSES: Final = (
    "SELECT at, said, remedy, restored FROM history_losses WHERE {mine} AND at >= :since ORDER BY at DESC, number DESC"
)
_ADD_LOSS: Final = """
INSERT INTO history_losses ({tenant} at, said, remedy, restored) VALUES ({:tenant} :at, :said, :remedy, :restored)
ON CONFLICT ({tenant} said) DO UPDATE SET at = excluded.at
"""
_DAY: Final = 10  # characters of a moment that name its day
_COUNT_ONE: Final = """
INSERT INTO fact_uses ({tenant} fact, day, times) VALUES ({:tenant} :fact, :day, 1)
ON CONFLICT ({tenant} fact, day) DO UPDATE SET times = fact_uses.times + 1
"""
_USES: Final = """
SELECT fact, CAST(sum(times) AS bigint), count(*), max(day) FROM fact_uses
WHERE {mine} AND fact IN (SELECT value FROM json_each(:ids)) AND day >= :since
GROUP BY fact
"""
_FORGET_USES: Final = "DELETE FROM fact_uses WHERE {mine} AND fact IN (SELECT value FROM json_each(:ids))"
_LOCK: Final = """
INSERT INTO topic_locks ({tenant} conversation, topics, at) VALUES ({:tenant} :conversation, :topics, :at)
ON CONFLICT ({tenant} conversation) DO UPDATE SET topics = excluded.topics, at = excluded.at
"""
_LOCKED: Final = "SELECT topics, at FROM topic_locks WHERE {mine} AND conversation = :conversation"
_STATE: Final = "SELECT given, prompts, missed FROM context_states WHERE {mine} AND conversation = :conversation"
_FORGET_STATE: Final = "DELETE FROM context_states WHERE {mine} AND conversation = :conversation"
_ADD_STATE: Final = """
INSERT INTO context_states ({tenant} conversation, given, prompts, missed, at)
VALUES ({:tenant} :conversation, :given, :prompts, :missed, :at)
"""
_DROP_STATES: Final = f"""
DELETE FROM context_states WHERE {{mine}} AND (at < :since OR number IN
(SELECT number FROM context_states WHERE {{mine}} ORDER BY at DESC, number DESC LIMIT {ALL_ROWS} OFFSET :most))
"""  # noqa: S608


@dataclass(frozen=True, slots=True)
class ConversationRecord:
    """What one call added: to the conversation `id` at the time `at`.

    `session` names the session whose `cursor` it moves; `closed` is when the conversation was closed. `memory` is what
    the conversation may be used for from then on; None if that stays as it is. `learned` is the number of the last
    message from which was learned; 0 if that stays as it is. One that is `erased` has the mark of a conversation that
    is gone as its id.
    """

    id: str
    at: str
    thread: NewThread | None = None
    messages: tuple[IncomingMessage, ...] = ()
    session: str = ""
    cursor: TranscriptCursor | None = None
    closed: str = ""
    erased: bool = False
    memory: MemoryUse | None = None
    learned: int = 0


class ConversationChange(Protocol):
    """A write transaction in which conversations change."""

    @property
    def transaction(self) -> SqlTransaction:
        """Where the tables are read and changed."""

    def keep(self, record: ConversationRecord, *, now: datetime, is_forced: bool = True) -> None:
        """Make the history say what the record says; one that is not forced to the disk may be lost in a crash."""


class SqlConversations(ABC):
    """Conversations in tables. `clock` dates what was lost or forgotten."""

    def __init__(self, database: SqlDatabase, *, clock: Callable[[], datetime]) -> None:
        self._database = database
        self._clock = clock

    @abstractmethod
    def _replacing(self) -> AbstractContextManager[SqlTransaction]:
        """The write transaction in which all tables are filled anew."""

    @abstractmethod
    def _changing(self) -> AbstractContextManager[ConversationChange]:
        """The write transaction of one change to conversations."""

    def record_conversation(
        self, thread: NewThread, messages: Sequence[Message], *, now: datetime, cursor: TranscriptCursor | None = None
    ) -> RecordResult:
        """Append the messages that are new, all or none, and move the session's cursor with them."""
        incoming = incoming_messages(messages, now=now, captured=thread.captured)
        new = identify_thread(thread, incoming)
        with self._changing() as change:
            record = _new_record(change.transaction, new, incoming, now=now, cursor=cursor)
            change.keep(record, now=now)
        return RecordResult(record.id, len(record.messages), len(incoming) - len(record.messages))

    def transcript_cursor(self, thread: NewThread) -> TranscriptCursor:
        """How far the transcript of that session was read; its beginning if nothing was, or if that was lost."""
        with self._database.read_transaction() as transaction:
            return cursor_of(transaction, session_key(identify_thread(thread, ())))

    def move_cursor(self, thread: NewThread, cursor: TranscriptCursor, *, now: datetime) -> None:
        """Store how far the transcript was read; not forced to the disk, because it can be read again."""
        session = session_key(identify_thread(thread, ()))
        record = ConversationRecord(session, stored_moment(now), session=session, cursor=cursor)
        with self._changing() as change:
            change.keep(record, now=now, is_forced=False)

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
        conditions = {
            "interface": None if interface is None else valid_utf8(interface),
            "project": None if project is None else valid_utf8(project),
            "since": stored_moment(since) if since else None,
            "kind": kind,
            "parent": None if parent is None else valid_utf8(parent),
        }
        return self._threads(conditions, limit=check_limit(limit))

    def conversation(self, id: str) -> Thread | None:
        """The conversation with that id, or None."""
        return next(iter(self._threads({"id": valid_utf8(id)}, limit=1)), None)

    def thread_id_of(self, thread: NewThread, messages: Sequence[Message] = ()) -> str:
        """The id under which `record_conversation` stores this, known or not."""
        new = identify_by_content(thread, messages)
        with self._database.read_transaction() as transaction:
            return _id_of(transaction, new)[0]

    def unrecorded(self, thread: NewThread, messages: Sequence[Message]) -> tuple[Message, ...]:
        """Those of the messages that `record_conversation` would add, each once, in order."""
        now = self._clock()
        incoming = incoming_messages(messages, now=now, captured=thread.captured)
        with self._database.read_transaction() as transaction:
            record = _new_record(transaction, identify_thread(thread, incoming), incoming, now=now, cursor=None)
        return tuple(each.message for each in record.messages)

    def captured_conversation(self, thread: NewThread) -> Thread | None:
        """The conversation that was captured from that session of that program, or None."""
        named = identify_thread(thread, ())
        return next(iter(self._threads({"interface": named.interface, "session": named.source_id}, limit=1)), None)

    def messages(self, id: str, *, first: int = 1, last: int | None = None) -> tuple[Message, ...]:
        """Messages number `first` to `last`, inclusive."""
        first, last = check_turns(first, last)
        with self._database.read_transaction() as transaction:
            values = {"id": valid_utf8(id), "first": first, "last": ALL_ROWS if last is None else last}
            rows = transaction.rows(_MESSAGES, values)
        return tuple(_message(*row) for row in rows)

    def conversation_stamps(self, ids: Iterable[str] | None = None) -> Mapping[str, str]:
        """Stamps by id, of all conversations or of those of `ids` that exist."""
        values = {} if ids is None else {"ids": [*map(valid_utf8, ids)]}
        with self._database.read_transaction() as transaction:
            rows = transaction.rows(_STAMPS + (_THESE if values else ""), values)
        return {
            id_: stamp_of(digest, title=title, trust=trust, captured=bool(captured), memory=memory)
            for id_, digest, title, trust, captured, memory in rows
        }

    def thread_traits(self, ids: Iterable[str] | None = None) -> Mapping[str, ThreadTraits]:
        """What decides where threads are found, by id."""
        values = {} if ids is None else {"ids": [*map(valid_utf8, ids)]}
        with self._database.read_transaction() as transaction:
            rows = transaction.rows(_TRAITS + (_THESE if values else ""), values)
        return {id_: ThreadTraits(*traits) for id_, *traits in rows}

    def close_conversation(self, id: str, *, now: datetime) -> bool:
        """Mark the conversation as finished; False if there is none."""
        if not (thread := self.conversation(id)):
            return False
        with self._changing() as change:
            at = stored_moment(now)
            change.keep(ConversationRecord(thread.id, at, closed=at), now=now)
        return True

    def set_memory_use(self, id: str, use: MemoryUse, *, now: datetime) -> bool:
        """Set what a conversation may be used for; False if there is none."""
        checked = check_use(use)
        if not (thread := self.conversation(id)):
            return False
        with self._changing() as change:
            record = ConversationRecord(thread.id, stored_moment(now), memory=checked)
            change.keep(record, now=now)
        return True

    def forget_conversation(self, id: str) -> bool:
        """Remove the conversation for good; False if there was none."""
        thread = self.conversation(id)
        with self._changing() as change:
            forget_named(change.transaction, names_of(id, thread))
            if thread:
                now, session = self._clock(), session_of(thread)
                cursor = cursor_of(change.transaction, session) if thread.captured else None
                mark = erasure_mark(thread.id)
                record = ConversationRecord(mark, stored_moment(now), session=session, cursor=cursor, erased=True)
                change.keep(record, now=now)
        self._database.drop_deleted()
        return thread is not None

    def forgotten(self, ids: Iterable[str]) -> frozenset[str]:
        """Those of these conversations that were forgotten."""
        with self._database.read_transaction() as transaction:
            marks = {mark for (mark,) in transaction.rows(_ERASED)}
        return frozenset(id_ for id_ in ids if erasure_mark(id_) in marks)

    def losses(self, *, now: datetime) -> tuple[HistoryLoss, ...]:
        """What was lost or restored within LOSS_DAYS, newest first."""
        since = stored_moment(now - timedelta(days=LOSS_DAYS))
        with self._database.read_transaction() as transaction:
            rows = transaction.rows(_LOSSES, {"since": since})
        return tuple(
            HistoryLoss(datetime.fromisoformat(at), said, remedy, bool(restored)) for at, said, remedy, restored in rows
        )

    def note_loss(self, loss: HistoryLoss) -> None:
        """Add to the losses; one with the same words is renewed."""
        with self._database.write_transaction() as transaction:
            add_loss(transaction, loss)

    def _threads(self, conditions: Mapping[str, str | None], *, limit: int | None) -> tuple[Thread, ...]:
        values: dict[str, Any] = {name: value for name, value in conditions.items() if value is not None}
        where = "".join(f" AND {_CONDITIONS[name]}" for name in values)
        with self._database.read_transaction() as transaction:
            rows = transaction.rows(
                _THREADS + where + _NEWEST_FIRST, {**values, "limit": ALL_ROWS if limit is None else limit}
            )
        return tuple(_thread(*row) for row in rows)


class SqlUsage(SqlConversations):
    """Use of facts, topic locks and states, with the conversations."""

    def record_use(self, ids: Sequence[str], *, now: datetime) -> None:
        """Count one use of each of these facts, all or none, on the UTC day of `now`."""
        day = _day(now)
        if facts := _sorted_ids(ids):
            with self._database.write_transaction() as transaction:
                transaction.change_many(_COUNT_ONE, ({"fact": fact, "day": day} for fact in facts))

    def uses(self, ids: Iterable[str], *, since: datetime | None = None) -> Mapping[str, Use]:
        """Use of these facts since the day of that moment; facts that were never used are left out."""
        values = {"ids": _sorted_ids(ids), "since": _day(since) if since else ""}
        with self._database.read_transaction() as transaction:
            rows = transaction.rows(_USES, values)
        return {fact: Use(times, days, last) for fact, times, days, last in rows}

    def forget_uses(self, ids: Iterable[str]) -> int:
        """Remove all use of these facts, also from free pages and the log; returns how many rows."""
        facts = _sorted_ids(ids)
        if not facts:
            return 0
        with self._database.write_transaction() as transaction:
            removed = transaction.change(_FORGET_USES, {"ids": facts})
        self._database.drop_deleted()
        return removed

    def lock_topics(self, lock: TopicLock) -> None:
        """Store the topics of a conversation, replacing earlier ones."""
        stored = check_lock(lock)
        row = {"conversation": stored.conversation, "topics": json.dumps(stored.topics), "at": stored.at}
        with self._database.write_transaction() as transaction:
            transaction.change(_LOCK, row)

    def topic_lock(self, conversation: str) -> TopicLock | None:
        """The topics stored for that conversation, or None."""
        name = valid_utf8(conversation)
        with self._database.read_transaction() as transaction:
            row = first_row(transaction, _LOCKED, {"conversation": name})
        return TopicLock(name, tuple(json.loads(row[0])), row[1]) if row else None

    def context_state(self, conversation: str) -> ContextState:
        """What that conversation's model has been given; an empty state if nothing is known of it."""
        name = valid_utf8(conversation)
        with self._database.read_transaction() as transaction:
            row = first_row(transaction, _STATE, {"conversation": name})
        if not row:
            return ContextState(name)
        given, prompts, missed = row
        return ContextState(name, frozenset(json.loads(given)), tuple(json.loads(prompts)), missed)

    def record_context(self, given: GivenContext) -> None:
        """Remember a context that was given, and drop the oldest of too many."""
        texts = {name: valid_utf8(getattr(given, name)) for name in ("origin", "conversation", "prompt", "silence")}
        pieces = valid_utf8(json.dumps(given.pieces, ensure_ascii=False))
        row = {**texts, "at": stored_moment(given.at), "chars": given.chars, "pieces": pieces}
        with self._database.write_transaction() as transaction:
            transaction.change(_ADD_CONTEXT, row)
            transaction.change(_DROP_CONTEXTS, {"most": MOST_CONTEXTS})

    def contexts(self, *, limit: int) -> tuple[GivenContext, ...]:
        """The contexts that were given last, newest first."""
        with self._database.read_transaction() as transaction:
            rows = transaction.rows(_CONTEXTS, {"limit": limit})
        return tuple(
            GivenContext(
                at=datetime.fromisoformat(at),
                origin=origin,
                conversation=conversation,
                prompt=prompt,
                chars=chars,
                silence=silence,
                pieces=tuple(GivenPiece(*each) for each in json.loads(pieces)),
            )
            for at, origin, conversation, prompt, chars, silence, pieces in rows
        )

    def save_context_state(self, state: ContextState, *, now: datetime) -> None:
        """Store the state of a conversation; drops old ones, and the oldest of too many."""
        stored = check_state(state)
        row = {
            "conversation": stored.conversation,
            "given": json.dumps(sorted(stored.given)),
            "prompts": json.dumps(stored.prompts),
            "missed": stored.missed,
            "at": stored_moment(now),
        }
        with self._database.write_transaction() as transaction:
            transaction.change(_FORGET_STATE, {"conversation": stored.conversation})
            transaction.change(_ADD_STATE, row)
            since = stored_moment(now - timedelta(days=STATE_DAYS))
            transaction.change(_DROP_STATES, {"since": since, "most": MOST_STATES})


def _new_record(
    transaction: SqlTransaction,
    thread: NewThread,
    incoming: Sequence[IncomingMessage],
    *,
    now: datetime,
    cursor: TranscriptCursor | None,
) -> ConversationRecord:
    """What a call adds to the history. Raises Refused as `record_conversation` does."""
    id_, own = _id_of(transaction, thread)
    session = session_key(thread)
    if own is None:
        new = _each_once(incoming)
    else:
        trust, title, kind = own
        check_kind(thread, kind)
        new = _unknown(transaction, id_, incoming)
        check_trust(thread, trust, title=title, adds=bool(new))
    return ConversationRecord(id_, stored_moment(now), thread, tuple(new), session if cursor else "", cursor)


def _id_of(transaction: SqlTransaction, thread: NewThread) -> tuple[str, Sequence[Any] | None]:
    """The id of a thread, and its trust, title and kind if it is stored. Raises Refused as `check_caller` does."""
    names = {"interface": thread.interface, "source_id": thread.source_id}
    stored = transaction.rows(_FIND, names)
    check_caller(thread, is_captured=any(captured for _, captured, *_ in stored))
    own = next((row for row in stored if row[1] == thread.captured), None)
    return (own[0], own[2:]) if own else (thread_id(thread, is_taken=bool(stored)), None)


def apply_record(transaction: SqlTransaction, record: ConversationRecord) -> None:
    """Make the tables say what the record says, whether it comes for the first time or again."""
    if record.erased:
        for thread in [_thread(*row) for row in transaction.rows(_THREADS)]:
            if erasure_mark(thread.id) == record.id:
                forget_named(transaction, names_of(thread.id, thread))
                transaction.change(_FORGET, {"id": thread.id})
        transaction.change(_ADD_ERASED, {"id": record.id})
    if record.cursor and record.cursor != cursor_of(transaction, record.session):
        values = {"offset": record.cursor.offset, "tail": record.cursor.tail, "file": record.cursor.file}
        transaction.change(_MOVE_CURSOR, {"session": record.session, **values})
    if record.thread:
        _grow(transaction, record, record.thread)
    if record.closed:
        transaction.change(_CLOSE, {"id": record.id, "now": record.closed})
    if record.memory:
        transaction.change(_SET_USE, {"id": record.id, "memory": record.memory})
    if record.learned:
        transaction.change(_LEARN, {"id": record.id, "learned": record.learned})


def _grow(transaction: SqlTransaction, record: ConversationRecord, thread: NewThread) -> None:
    """Append what is new to the thread, creating it if needed."""
    values: dict[str, Any] = {
        "id": record.id,
        "interface": thread.interface,
        "source_id": thread.source_id,
        "title": thread.title,
        "trust": thread.trust,
        "captured": int(thread.captured),
        "kind": thread.kind,
        "parent": thread.parent,
        "memory": thread.memory,
        "at": stored_moment(record.messages[0].at) if record.messages else record.at,
        "now": record.at,
    }
    row = first_row(transaction, _STATE_OF, values) or first_row(transaction, _ADD_THREAD, values)
    number, count, digest, started, updated, memory, *names = row
    new, use = _unknown(transaction, record.id, record.messages), stricter_use(memory, thread.memory)
    if not new and [memory, *names] == [use, thread.title or names[0], thread.project or names[1]]:
        return
    for each in new:
        digest = extend_digest(digest, each)
    times = [stored_moment(each.at) for each in new]
    rows = (_row(number, count + place, each) for place, each in enumerate(new, start=1))
    transaction.add_rows(_MESSAGE_TABLE, TABLES[_MESSAGE_TABLE], rows)
    thread_values = {
        "number": number,
        "count": count + len(new),
        "digest": digest,
        "started": min([started, *times]),
        "updated": max([updated, *times]),
        "title": thread.title,
        "project": thread.project,
        "memory": use,
        "added": len(new),
    }
    transaction.change(_GROW, thread_values)


def cursor_of(transaction: SqlTransaction, session: str) -> TranscriptCursor:
    """How far the transcript of that session was read."""
    row = first_row(transaction, _CURSOR, {"session": session})
    return TranscriptCursor(*row) if row else TranscriptCursor()


def forget_named(transaction: SqlTransaction, names: Sequence[str]) -> None:
    """Remove topic locks, states and what was learned, under these names."""
    for statement in _FORGET_NAMED:
        transaction.change(statement, {"names": [*names]})


def add_loss(transaction: SqlTransaction, loss: HistoryLoss) -> None:
    """Add to the losses; one with the same words is renewed."""
    values = {"at": stored_moment(loss.at), "said": loss.said, "remedy": loss.remedy, "restored": int(loss.restored)}
    transaction.change(_ADD_LOSS, values)


def session_of(thread: Thread) -> str:
    """The name of the session's cursor."""
    return session_key(NewThread(thread.interface, thread.source_id))


def stored_records(transaction: SqlTransaction, *, now: datetime) -> Iterator[ConversationRecord]:
    """The erasures and cursors that no conversation has, dated `now`; then every conversation as one record."""
    threads, at = [_thread(*row) for row in transaction.rows(_THREADS + " ORDER BY number")], stored_moment(now)
    living = {erasure_mark(thread.id) for thread in threads}
    erased = [mark for (mark,) in transaction.rows(_ERASED) if mark not in living]
    yield from (ConversationRecord(mark, at, erased=True) for mark in erased)
    sessions = {session_of(thread) for thread in threads if thread.captured}
    for session, *cursor in transaction.rows(_CURSORS):
        if session not in sessions:
            yield ConversationRecord(session, at, session=session, cursor=TranscriptCursor(*cursor))
    learned: dict[str, int] = dict(transaction.rows(_LEARNED))
    for thread in threads:
        rows = transaction.rows(_STORED_MESSAGES, {"id": thread.id})
        record = _record_of(thread, [_stored(*row) for row in rows], cursor_of(transaction, session_of(thread)))
        yield replace(record, learned=learned.get(thread.id, 0))


def _record_of(thread: Thread, messages: Sequence[IncomingMessage], cursor: TranscriptCursor) -> ConversationRecord:
    """The record of a conversation as the tables have it."""
    named = NewThread(
        thread.interface,
        thread.source_id,
        thread.title,
        thread.trust,
        thread.project,
        captured=thread.captured,
        kind=thread.kind,
        parent=thread.parent,
        memory=thread.memory,
    )
    session = session_of(thread) if thread.captured and cursor.offset else ""
    return ConversationRecord(
        thread.id,
        stored_moment(thread.recorded),
        named,
        tuple(messages),
        session,
        cursor if session else None,
        closed=stored_moment(thread.closed) if thread.closed else "",
    )


def _stored(*row: Any) -> IncomingMessage:
    """The message in a row of `_STORED_MESSAGES`."""
    identity, role, text, author, at, source_id = row
    return IncomingMessage(identity, _message(role, text, author, at, source_id), datetime.fromisoformat(at))


def _each_once(incoming: Sequence[IncomingMessage]) -> list[IncomingMessage]:
    first: dict[str, IncomingMessage] = {}
    for each in incoming:
        first.setdefault(each.identity, each)
    return [*first.values()]


def _unknown(transaction: SqlTransaction, id: str, incoming: Sequence[IncomingMessage]) -> list[IncomingMessage]:
    """The messages that the conversation does not have, each once."""
    values = {"id": id, "identities": [each.identity for each in incoming]}
    known = {identity for (identity,) in transaction.rows(_KNOWN, values)}
    return [each for each in _each_once(incoming) if each.identity not in known]


def _row(thread: int, turn: int, incoming: IncomingMessage) -> tuple[int | str, ...]:
    """A row of messages; its columns are in the order of `TABLES`."""
    message = incoming.message
    at = stored_moment(incoming.at)
    return thread, turn, incoming.identity, message.role, message.author, at, message.source_id, message.text


def _message(*row: Any) -> Message:
    """The message in a row of `_MESSAGES`."""
    role, text, author, at, source_id = row
    return Message(role, text, author, datetime.fromisoformat(at), source_id)


def _thread(*row: Any) -> Thread:
    """The thread in a row of `_THREADS`."""
    id_, interface, source_id, title, trust, started, updated, recorded, count, closed, project, captured, *later = row
    kind, parent, memory = later
    return Thread(
        id_,
        interface,
        source_id,
        title,
        trust,
        started=datetime.fromisoformat(started),
        updated=datetime.fromisoformat(updated),
        recorded=datetime.fromisoformat(recorded),
        count=count,
        closed=datetime.fromisoformat(closed) if closed else None,
        project=project,
        captured=bool(captured),
        kind=kind,
        parent=parent,
        memory=memory,
    )


def _day(when: datetime) -> str:
    return stored_moment(when)[:_DAY]


def _sorted_ids(ids: Iterable[str]) -> list[str]:
    """Each id once, sorted, so that pages are touched in sequence."""
    each_once = {*ids}
    if not "".join(each_once).isascii():
        each_once = {valid_utf8(each) for each in each_once}
    return sorted(each_once)
