"""Conversations, use of facts, topic locks and states in SQL.

Tables: `conversation_threads`, `conversation_messages`, `capture_cursors`, `erased_conversations`, `history_losses`,
`fact_uses`, `topic_locks`, `context_states`. The tables of conversations are made from files (`conversation_files.py`).
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from typing import Any, Final

import apsw

from commonplace.database import Database
from commonplace.history.base import (
    LOSS_DAYS,
    MOST_STATES,
    STATE_DAYS,
    ContextState,
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
from commonplace.history.sqlite.conversation_files import ConversationFiles, ConversationRecord, FileSync, note_loss
from commonplace.model import MemoryUse, Message, RecordResult, Thread, ThreadKind, TopicLock, TranscriptCursor
from commonplace.model.conversation import stricter_use

_FIND: Final = """
SELECT id, captured, trust, title, kind FROM conversation_threads
WHERE interface = :interface AND source_id = :source_id ORDER BY captured
"""
_STATE_OF: Final = """
SELECT number, count, digest, started, updated, memory, title, project FROM conversation_threads WHERE id = :id
"""
_ADD_THREAD: Final = """
INSERT INTO conversation_threads (id, interface, source_id, title, trust, started, updated, recorded, count, digest,
                                  captured, kind, parent, memory)
VALUES (:id, :interface, :source_id, :title, :trust, :at, :at, :now, 0, '', :captured, :kind, :parent, :memory)
RETURNING number, count, digest, started, updated, memory, title, project
"""
_GROW: Final = """
UPDATE conversation_threads
SET count = :count, digest = :digest, started = :started, updated = :updated,
    title = CASE WHEN :title = '' THEN title ELSE :title END,
    project = CASE WHEN :project = '' THEN project ELSE :project END,
    memory = :memory,
    closed = CASE WHEN :added > 0 THEN NULL ELSE closed END
WHERE number = :number
"""
_KNOWN: Final = """
SELECT identity FROM conversation_messages
WHERE thread = (SELECT number FROM conversation_threads WHERE id = :id)
AND identity IN (SELECT value FROM json_each(:identities))
"""
_ADD_MESSAGE: Final = """
INSERT INTO conversation_messages (thread, turn, identity, role, author, at, source_id, text)
VALUES (?, ?, ?, ?, ?, ?, ?, ?)
"""
_THREADS: Final = """
SELECT id, interface, source_id, title, trust, started, updated, recorded, count, closed, project, captured, kind,
       parent, memory
FROM conversation_threads
"""
_CONDITIONS: Final = {
    "interface": "interface = :interface",
    "project": "project = :project",
    "since": "updated >= :since",
    "kind": "kind = :kind",
    "parent": "parent = :parent AND parent <> ''",
    "id": "id = :id",
    "session": "interface = :interface AND source_id = :session AND captured",
}
_NEWEST_FIRST: Final = " ORDER BY updated DESC, number DESC LIMIT :limit"
_MESSAGES: Final = """
SELECT role, text, author, at, source_id FROM conversation_messages
WHERE thread = (SELECT number FROM conversation_threads WHERE id = :id)
AND turn >= :first AND (:last IS NULL OR turn <= :last)
ORDER BY turn
"""
_STORED_MESSAGES: Final = """
SELECT identity, role, text, author, at, source_id FROM conversation_messages
WHERE thread = (SELECT number FROM conversation_threads WHERE id = :id) ORDER BY turn
"""
_STAMPS: Final = "SELECT id, digest, title, trust, captured, memory FROM conversation_threads"
_TRAITS: Final = "SELECT id, kind, memory, interface, project FROM conversation_threads"
_THESE: Final = " WHERE id IN (SELECT value FROM json_each(:ids))"
_FORGET_NAMED: Final = (
    "DELETE FROM topic_locks WHERE conversation IN (SELECT value FROM json_each(:names))",
    "DELETE FROM context_states WHERE conversation IN (SELECT value FROM json_each(:names))",
    "DELETE FROM learned_items WHERE batch IN (SELECT number FROM learning_batches"
    " WHERE source IN (SELECT value FROM json_each(:names)))",
    "DELETE FROM learning_batches WHERE source IN (SELECT value FROM json_each(:names))",
    "DELETE FROM learning_sources WHERE source IN (SELECT value FROM json_each(:names))",
)
_CLOSE: Final = "UPDATE conversation_threads SET closed = :now WHERE id = :id"
_SET_USE: Final = "UPDATE conversation_threads SET memory = :memory WHERE id = :id AND memory <> :memory"
_FORGET: Final = "DELETE FROM conversation_threads WHERE id = :id"
_COUNT_ERASED: Final = "SELECT count(*) FROM erased_conversations"
_ERASED: Final = "INSERT INTO erased_conversations (mark) VALUES (:id) ON CONFLICT DO NOTHING"
_CURSOR: Final = "SELECT offset, tail, file FROM capture_cursors WHERE session = :session"
_MOVE_CURSOR: Final = """
INSERT INTO capture_cursors (session, offset, tail, file) VALUES (:session, :offset, :tail, :file)
ON CONFLICT (session) DO UPDATE SET offset = excluded.offset, tail = excluded.tail, file = excluded.file
"""
_LOSSES: Final = (
    "SELECT at, said, remedy, restored FROM history_losses WHERE at >= :since ORDER BY at DESC, number DESC"
)
_DAY: Final = 10  # characters of a moment that name its day
_COUNT_ONE: Final = """
INSERT INTO fact_uses (fact, day, times) VALUES (?, ?, 1)
ON CONFLICT (fact, day) DO UPDATE SET times = times + 1
"""
_USES: Final = """
SELECT fact, sum(times), count(*), max(day) FROM fact_uses
WHERE fact IN (SELECT value FROM json_each(:ids)) AND day >= :since
GROUP BY fact
"""
_FORGET_USES: Final = "DELETE FROM fact_uses WHERE fact IN (SELECT value FROM json_each(:ids))"
_LOCK: Final = """
INSERT INTO topic_locks (conversation, topics, at) VALUES (:conversation, :topics, :at)
ON CONFLICT (conversation) DO UPDATE SET topics = excluded.topics, at = excluded.at
"""
_LOCKED: Final = "SELECT topics, at FROM topic_locks WHERE conversation = :conversation"
_STATE: Final = "SELECT given, prompts, missed FROM context_states WHERE conversation = :conversation"
_FORGET_STATE: Final = "DELETE FROM context_states WHERE conversation = :conversation"
_ADD_STATE: Final = """
INSERT INTO context_states (conversation, given, prompts, missed, at)
VALUES (:conversation, :given, :prompts, :missed, :at)
"""
_DROP_STATES: Final = """
DELETE FROM context_states WHERE at < :since OR number IN
(SELECT number FROM context_states ORDER BY at DESC, number DESC LIMIT -1 OFFSET :most)
"""


class SqliteConversations:
    """Conversations in `history.db` and the files beside it. `clock` dates what was lost."""

    def __init__(self, database: Database, files: ConversationFiles, *, clock: Callable[[], datetime]) -> None:
        self._database = database
        self._files = files
        self._clock = clock
        self._sync = FileSync(files, _apply, _stored_records, clock)

    def record_conversation(
        self, thread: NewThread, messages: Sequence[Message], *, now: datetime, cursor: TranscriptCursor | None = None
    ) -> RecordResult:
        """Append the messages that are new, all or none, and move the session's cursor with them."""
        incoming = incoming_messages(messages, now=now)
        new = identify_thread(thread, incoming)
        with self._changing() as connection:
            record = _new_record(connection, new, incoming, now=now, cursor=cursor)
            self._sync.add(connection, record, now=now)
        return RecordResult(record.id, len(record.messages), len(incoming) - len(record.messages))

    def transcript_cursor(self, thread: NewThread) -> TranscriptCursor:
        """How far the transcript of that session was read; its beginning if nothing was, or if that was lost."""
        with self._database.read_transaction() as connection:
            return _cursor(connection, session_key(identify_thread(thread, ())))

    def move_cursor(self, thread: NewThread, cursor: TranscriptCursor, *, now: datetime) -> None:
        """Store how far the transcript was read; not forced to the disk, because it can be read again."""
        session = session_key(identify_thread(thread, ()))
        record = ConversationRecord(session, stored_moment(now), session=session, cursor=cursor)
        with self._changing() as connection:
            self._sync.add(connection, record, now=now, is_forced=False)

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
        with self._database.read_transaction() as connection:
            return _id_of(connection, new)[0]

    def unrecorded(self, thread: NewThread, messages: Sequence[Message]) -> tuple[Message, ...]:
        """Those of the messages that `record_conversation` would add, each once, in order."""
        now = self._clock()
        incoming = incoming_messages(messages, now=now)
        with self._database.read_transaction() as connection:
            record = _new_record(connection, identify_thread(thread, incoming), incoming, now=now, cursor=None)
        return tuple(each.message for each in record.messages)

    def captured_conversation(self, thread: NewThread) -> Thread | None:
        """The conversation that was captured from that session of that program, or None."""
        named = identify_thread(thread, ())
        return next(iter(self._threads({"interface": named.interface, "session": named.source_id}, limit=1)), None)

    def messages(self, id: str, *, first: int = 1, last: int | None = None) -> tuple[Message, ...]:
        """Messages number `first` to `last`, inclusive."""
        first, last = check_turns(first, last)
        with self._database.read_transaction() as connection:
            rows = connection.execute(_MESSAGES, {"id": valid_utf8(id), "first": first, "last": last}).fetchall()
        return tuple(_message(*row) for row in rows)

    def conversation_stamps(self, ids: Iterable[str] | None = None) -> Mapping[str, str]:
        """Stamps by id, of all conversations or of those of `ids` that exist."""
        values = None if ids is None else {"ids": json.dumps([*map(valid_utf8, ids)])}
        with self._database.read_transaction() as connection:
            rows: list[Any] = connection.execute(_STAMPS + (_THESE if values else ""), values).fetchall()
        return {
            id_: stamp_of(digest, title=title, trust=trust, captured=bool(captured), memory=memory)
            for id_, digest, title, trust, captured, memory in rows
        }

    def thread_traits(self, ids: Iterable[str] | None = None) -> Mapping[str, ThreadTraits]:
        """What decides where threads are found, by id."""
        values = None if ids is None else {"ids": json.dumps([*map(valid_utf8, ids)])}
        with self._database.read_transaction() as connection:
            rows: list[Any] = connection.execute(_TRAITS + (_THESE if values else ""), values).fetchall()
        return {id_: ThreadTraits(*traits) for id_, *traits in rows}

    def close_conversation(self, id: str, *, now: datetime) -> bool:
        """Mark the conversation as finished; False if there is none."""
        if not (thread := self.conversation(id)):
            return False
        with self._changing() as connection:
            at = stored_moment(now)
            self._sync.add(connection, ConversationRecord(thread.id, at, closed=at), now=now)
        return True

    def set_memory_use(self, id: str, use: MemoryUse, *, now: datetime) -> bool:
        """Set what a conversation may be used for; False if there is none."""
        checked = check_use(use)
        if not (thread := self.conversation(id)):
            return False
        with self._changing() as connection:
            record = ConversationRecord(thread.id, stored_moment(now), memory=checked)
            self._sync.add(connection, record, now=now)
        return True

    def forget_conversation(self, id: str) -> bool:
        """Remove the conversation from the files and the tables, also from free pages and the log; False if none."""
        thread = self.conversation(id)
        with self._changing() as connection:
            if thread and any(record is None for _, record in self._sync.all_records()):
                self._sync.restore(connection)  # so that no damaged line has words of it
            forget_named(connection, names_of(id, thread))
            if thread:
                now, session = self._clock(), _session(thread)
                cursor = _cursor(connection, session) if thread.captured else None
                at = stored_moment(now)
                mark = erasure_mark(thread.id)
                record = ConversationRecord(mark, at, session=session, cursor=cursor, erased=True)
                self._sync.add(connection, record, now=now)
                self._sync.drop_erased(connection)
        self._database.vacuum()
        self._database.drop_damaged()
        return thread is not None

    def forgotten(self, ids: Iterable[str]) -> frozenset[str]:
        """Those of these conversations that were forgotten."""
        with self._database.read_transaction() as connection:
            marks = {mark for (mark,) in connection.execute("SELECT mark FROM erased_conversations")}
        return frozenset(id_ for id_ in ids if erasure_mark(id_) in marks)

    def losses(self, *, now: datetime) -> tuple[HistoryLoss, ...]:
        """What was lost or restored within LOSS_DAYS, newest first."""
        since = stored_moment(now - timedelta(days=LOSS_DAYS))
        with self._database.read_transaction() as connection:
            rows: list[Any] = connection.execute(_LOSSES, {"since": since}).fetchall()
        return tuple(
            HistoryLoss(datetime.fromisoformat(at), said, remedy, bool(restored)) for at, said, remedy, restored in rows
        )

    def note_loss(self, loss: HistoryLoss) -> None:
        """Add to the losses; one with the same words is renewed."""
        with self._database.write_transaction() as connection:
            note_loss(connection, loss)

    def check(self) -> None:
        """Check every line of the files and every page of the database; what the files lack is written again.

        Others write meanwhile: only what is damaged is mended under the lock.
        """
        with self._database.read_transaction() as connection:
            problems = [said for (said,) in connection.execute("PRAGMA quick_check")]
            if problems != ["ok"]:
                raise apsw.CorruptError(problems[0])
        is_damaged = any(record is None for _, record in self._sync.all_records())
        with self._changing() as connection:
            if is_damaged:
                self._sync.restore(connection)

    def catch_up_at_opening(self, connection: apsw.Connection) -> None:
        """Bring the tables and the files to the same content, for a connection that was just opened.

        A history that cannot be written is read as it is. Of an erasure that was killed, no trace is left.
        """
        if connection.readonly("main") or self._sync.is_caught_up(connection):
            return
        is_used, erased = self._files.is_used, connection.execute(_COUNT_ERASED).get
        connection.execute("BEGIN IMMEDIATE")
        try:
            with self._files.locked():
                self._sync.catch_up(connection, is_used=is_used)
            connection.execute("COMMIT")
        except BaseException:
            connection.execute("ROLLBACK")
            raise
        if connection.execute(_COUNT_ERASED).get != erased:
            with suppress(apsw.BusyError):
                connection.execute("VACUUM; PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    @contextmanager
    def _changing(self) -> Iterator[apsw.Connection]:
        """A connection in a write transaction, whose tables have what the files have."""
        with self._database.write_transaction() as connection, self._files.locked():
            self._sync.catch_up(connection)
            yield connection

    def _threads(self, conditions: Mapping[str, str | None], *, limit: int | None) -> tuple[Thread, ...]:
        values: dict[str, Any] = {name: value for name, value in conditions.items() if value is not None}
        where = " AND ".join(_CONDITIONS[name] for name in values)
        with self._database.read_transaction() as connection:
            rows = connection.execute(
                _THREADS + (f"WHERE {where}" if where else "") + _NEWEST_FIRST,
                {**values, "limit": -1 if limit is None else limit},
            ).fetchall()
        return tuple(_thread(*row) for row in rows)


class SqliteUsage(SqliteConversations):
    """Use of facts, topic locks and states in one file, with its conversations."""

    def record_use(self, ids: Sequence[str], *, now: datetime) -> None:
        """Count one use of each of these facts, all or none, on the UTC day of `now`."""
        day = _day(now)
        if facts := _sorted_ids(ids):
            with self._database.write_transaction() as connection:
                connection.executemany(_COUNT_ONE, ((fact, day) for fact in facts))

    def uses(self, ids: Iterable[str], *, since: datetime | None = None) -> Mapping[str, Use]:
        """Use of these facts since the day of that moment; facts that were never used are left out."""
        values = {"ids": json.dumps(_sorted_ids(ids)), "since": _day(since) if since else ""}
        with self._database.read_transaction() as connection:
            rows: list[Any] = connection.execute(_USES, values).fetchall()
        return {fact: Use(times, days, last) for fact, times, days, last in rows}

    def forget_uses(self, ids: Iterable[str]) -> int:
        """Remove all use of these facts, also from free pages and the log; returns how many rows."""
        facts = _sorted_ids(ids)
        if not facts:
            return 0
        with self._database.write_transaction() as connection:
            connection.execute(_FORGET_USES, {"ids": json.dumps(facts)})
            removed = connection.changes()
        self._database.vacuum()
        return removed

    def lock_topics(self, lock: TopicLock) -> None:
        """Store the topics of a conversation, replacing earlier ones."""
        stored = check_lock(lock)
        row = {"conversation": stored.conversation, "topics": json.dumps(stored.topics), "at": stored.at}
        with self._database.write_transaction() as connection:
            connection.execute(_LOCK, row)

    def topic_lock(self, conversation: str) -> TopicLock | None:
        """The topics stored for that conversation, or None."""
        name = valid_utf8(conversation)
        with self._database.read_transaction() as connection:
            row = connection.execute(_LOCKED, {"conversation": name}).fetchone()
        return TopicLock(name, tuple(json.loads(row[0])), row[1]) if row else None

    def context_state(self, conversation: str) -> ContextState:
        """What that conversation's model has been given; an empty state if nothing is known of it."""
        name = valid_utf8(conversation)
        with self._database.read_transaction() as connection:
            row: Any = connection.execute(_STATE, {"conversation": name}).fetchone()
        if not row:
            return ContextState(name)
        given, prompts, missed = row
        return ContextState(name, frozenset(json.loads(given)), tuple(json.loads(prompts)), missed)

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
        with self._database.write_transaction() as connection:
            connection.execute(_FORGET_STATE, {"conversation": stored.conversation})
            connection.execute(_ADD_STATE, row)
            since = stored_moment(now - timedelta(days=STATE_DAYS))
            connection.execute(_DROP_STATES, {"since": since, "most": MOST_STATES})


def _new_record(
    connection: apsw.Connection,
    thread: NewThread,
    incoming: Sequence[IncomingMessage],
    *,
    now: datetime,
    cursor: TranscriptCursor | None,
) -> ConversationRecord:
    """What a call adds to the history. Raises Refused as `record_conversation` does."""
    id_, own = _id_of(connection, thread)
    session = session_key(thread)
    if own is None:
        new = _each_once(incoming)
    else:
        trust, title, kind = own
        check_kind(thread, kind)
        new = _unknown(connection, id_, incoming)
        check_trust(thread, trust, title=title, adds=bool(new))
    return ConversationRecord(id_, stored_moment(now), thread, tuple(new), session if cursor else "", cursor)


def _id_of(connection: apsw.Connection, thread: NewThread) -> tuple[str, Sequence[Any] | None]:
    """The id of a thread, and its trust, title and kind if it is stored. Raises Refused as `check_caller` does."""
    names = {"interface": thread.interface, "source_id": thread.source_id}
    stored: list[Any] = connection.execute(_FIND, names).fetchall()
    check_caller(thread, is_captured=any(captured for _, captured, *_ in stored))
    own = next((row for row in stored if row[1] == thread.captured), None)
    return (own[0], own[2:]) if own else (thread_id(thread, is_taken=bool(stored)), None)


def _apply(connection: apsw.Connection, record: ConversationRecord) -> bool:
    """Make the tables say what the record says, whether it comes for the first time or again; False if they did."""
    before = connection.total_changes()
    if record.erased:
        for thread in [_thread(*row) for row in connection.execute(_THREADS).fetchall()]:
            if erasure_mark(thread.id) == record.id:
                forget_named(connection, names_of(thread.id, thread))
                connection.execute(_FORGET, {"id": thread.id})
        connection.execute(_ERASED, {"id": record.id})
    if record.cursor and record.cursor != _cursor(connection, record.session):
        values = {"offset": record.cursor.offset, "tail": record.cursor.tail, "file": record.cursor.file}
        connection.execute(_MOVE_CURSOR, {"session": record.session, **values})
    if record.thread:
        _grow(connection, record, record.thread)
    if record.closed:
        connection.execute(_CLOSE, {"id": record.id, "now": record.closed})
    if record.memory:
        connection.execute(_SET_USE, {"id": record.id, "memory": record.memory})
    return connection.total_changes() > before


def _grow(connection: apsw.Connection, record: ConversationRecord, thread: NewThread) -> None:
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
    row: Any = connection.execute(_STATE_OF, values).fetchone() or connection.execute(_ADD_THREAD, values).fetchone()
    number, count, digest, started, updated, memory, *names = row
    new, use = _unknown(connection, record.id, record.messages), stricter_use(memory, thread.memory)
    if not new and [memory, *names] == [use, thread.title or names[0], thread.project or names[1]]:
        return
    for each in new:
        digest = extend_digest(digest, each)
    times = [stored_moment(each.at) for each in new]
    connection.executemany(_ADD_MESSAGE, (_row(number, count + place, each) for place, each in enumerate(new, start=1)))
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
    connection.execute(_GROW, thread_values)


def _cursor(connection: apsw.Connection, session: str) -> TranscriptCursor:
    row: Any = connection.execute(_CURSOR, {"session": session}).fetchone()
    return TranscriptCursor(*row) if row else TranscriptCursor()


def forget_named(connection: apsw.Connection, names: Sequence[str]) -> None:
    """Remove topic locks, states and what was learned, under these names."""
    for statement in _FORGET_NAMED:
        connection.execute(statement, {"names": json.dumps(names)})


def _session(thread: Thread) -> str:
    """The name of the session's cursor."""
    return session_key(NewThread(thread.interface, thread.source_id))


def _stored_records(connection: apsw.Connection) -> Iterator[ConversationRecord]:
    """Every conversation as one record."""
    for thread in [_thread(*row) for row in connection.execute(_THREADS + " ORDER BY number").fetchall()]:
        rows = connection.execute(_STORED_MESSAGES, {"id": thread.id}).fetchall()
        yield _record_of(thread, [_stored(*row) for row in rows], _cursor(connection, _session(thread)))


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
    session = _session(thread) if thread.captured and cursor.offset else ""
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


def _unknown(connection: apsw.Connection, id: str, incoming: Sequence[IncomingMessage]) -> list[IncomingMessage]:
    """The messages that the conversation does not have, each once."""
    identities = json.dumps([each.identity for each in incoming])
    known = {identity for (identity,) in connection.execute(_KNOWN, {"id": id, "identities": identities})}
    return [each for each in _each_once(incoming) if each.identity not in known]


def _row(thread: int, turn: int, incoming: IncomingMessage) -> tuple[int | str, ...]:
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
    return sorted({valid_utf8(each) for each in ids})
