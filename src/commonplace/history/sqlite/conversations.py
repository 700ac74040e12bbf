"""Conversations, use of facts, topic locks and states in SQL.

Tables: `conversation_threads`, `conversation_messages`, `fact_uses`, `topic_locks`, `context_states`.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

import apsw

from commonplace.database import Database
from commonplace.history.base import (
    MOST_STATES,
    STATE_DAYS,
    ContextState,
    NewThread,
    Use,
    check_limit,
    stored_moment,
)
from commonplace.history.normalize import (
    IncomingMessage,
    check_lock,
    check_state,
    check_trust,
    check_turns,
    extend_digest,
    identify_thread,
    incoming_messages,
    names_of,
    stamp_of,
    thread_id,
    valid_utf8,
)
from commonplace.model import Message, RecordResult, Thread, TopicLock

_FIND: Final = """
SELECT number, count, digest, started, updated, trust, title FROM conversation_threads
WHERE interface = :interface AND source_id = :source_id
"""
_ADD_THREAD: Final = """
INSERT INTO conversation_threads (id, interface, source_id, title, trust, started, updated, recorded, count, digest)
VALUES (:id, :interface, :source_id, :title, :trust, :at, :at, :now, 0, '')
RETURNING number, count, digest, started, updated, trust, title
"""
_GROW: Final = """
UPDATE conversation_threads
SET count = :count, digest = :digest, started = :started, updated = :updated,
    title = CASE WHEN :title = '' THEN title ELSE :title END,
    project = CASE WHEN :project = '' THEN project ELSE :project END,
    closed = CASE WHEN :added > 0 THEN NULL ELSE closed END
WHERE number = :number
"""
_KNOWN: Final = """
SELECT identity FROM conversation_messages
WHERE thread = :thread AND identity IN (SELECT value FROM json_each(:identities))
"""
_ADD_MESSAGE: Final = """
INSERT INTO conversation_messages (thread, turn, identity, role, author, at, source_id, text)
VALUES (?, ?, ?, ?, ?, ?, ?, ?)
"""
_THREADS: Final = """
SELECT id, interface, source_id, title, trust, started, updated, recorded, count, closed, project
FROM conversation_threads
"""
_CONDITIONS: Final = {
    "interface": "interface = :interface",
    "project": "project = :project",
    "since": "updated >= :since",
    "id": "id = :id",
}
_NEWEST_FIRST: Final = " ORDER BY updated DESC, number DESC LIMIT :limit"
_MESSAGES: Final = """
SELECT role, text, author, at, source_id FROM conversation_messages
WHERE thread = (SELECT number FROM conversation_threads WHERE id = :id)
AND turn >= :first AND (:last IS NULL OR turn <= :last)
ORDER BY turn
"""
_STAMPS: Final = "SELECT id, digest, title, trust FROM conversation_threads"
_THESE: Final = " WHERE id IN (SELECT value FROM json_each(:ids))"
_FORGET_NAMED: Final = (
    "DELETE FROM topic_locks WHERE conversation IN (SELECT value FROM json_each(:names))",
    "DELETE FROM context_states WHERE conversation IN (SELECT value FROM json_each(:names))",
)
_CLOSE: Final = "UPDATE conversation_threads SET closed = :now WHERE id = :id"
_FORGET: Final = "DELETE FROM conversation_threads WHERE id = :id"
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
    """Conversations in one file."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def record_conversation(self, thread: NewThread, messages: Sequence[Message], *, now: datetime) -> RecordResult:
        """Append the messages that are new, all or none."""
        incoming = incoming_messages(messages, now=now)
        new = identify_thread(thread, incoming)
        with self._database.write_transaction() as connection:
            added = _record(connection, new, incoming, now=stored_moment(now))
        return RecordResult(thread_id(new), added, len(incoming) - added)

    def conversations(
        self,
        *,
        interface: str | None = None,
        project: str | None = None,
        since: datetime | None = None,
        limit: int | None = None,
    ) -> tuple[Thread, ...]:
        """Conversations of that program and project with a message since that time; newest first, at most `limit`."""
        conditions = {
            "interface": None if interface is None else valid_utf8(interface),
            "project": None if project is None else valid_utf8(project),
            "since": stored_moment(since) if since else None,
        }
        return self._threads(conditions, limit=check_limit(limit))

    def conversation(self, id: str) -> Thread | None:
        """The conversation with that id, or None."""
        return next(iter(self._threads({"id": valid_utf8(id)}, limit=1)), None)

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
        return {id_: stamp_of(digest, title=title, trust=trust) for id_, digest, title, trust in rows}

    def close_conversation(self, id: str, *, now: datetime) -> bool:
        """Mark the conversation as finished; False if there is none."""
        with self._database.write_transaction() as connection:
            connection.execute(_CLOSE, {"id": valid_utf8(id), "now": stored_moment(now)})
            return connection.changes() > 0

    def forget_conversation(self, id: str) -> bool:
        """Remove the conversation, its topic lock and its state, also from free pages and the log; False if none."""
        names = json.dumps(names_of(id, self.conversation(id)))
        with self._database.write_transaction() as connection:
            for statement in _FORGET_NAMED:
                connection.execute(statement, {"names": names})
            connection.execute(_FORGET, {"id": valid_utf8(id)})
            existed = connection.changes() > 0
        self._database.vacuum()
        return existed

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


def _record(connection: apsw.Connection, thread: NewThread, incoming: Sequence[IncomingMessage], *, now: str) -> int:
    """Append what is new to the thread, creating it if needed; returns how many messages were added."""
    values = {
        "id": thread_id(thread),
        "interface": thread.interface,
        "source_id": thread.source_id,
        "title": thread.title,
        "trust": thread.trust,
        "at": stored_moment(incoming[0].at),
        "now": now,
    }
    row: Any = connection.execute(_FIND, values).fetchone() or connection.execute(_ADD_THREAD, values).fetchone()
    number, count, digest, started, updated, trust, title = row
    new = _unknown(connection, number, incoming)
    check_trust(thread, trust, title=title, adds=bool(new))
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
        "added": len(new),
    }
    connection.execute(_GROW, thread_values)
    return len(new)


def _unknown(connection: apsw.Connection, thread: int, incoming: Sequence[IncomingMessage]) -> list[IncomingMessage]:
    """The messages that the thread does not have, each once."""
    by_identity = {each.identity: each for each in reversed(incoming)}
    identities = json.dumps([*by_identity])
    known = {identity for (identity,) in connection.execute(_KNOWN, {"thread": thread, "identities": identities})}
    return [each for each in incoming if each.identity not in known and by_identity[each.identity] is each]


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
    id_, interface, source_id, title, trust, started, updated, recorded, count, closed, project = row
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
    )


def _day(when: datetime) -> str:
    return stored_moment(when)[:_DAY]


def _sorted_ids(ids: Iterable[str]) -> list[str]:
    """Each id once, sorted, so that pages are touched in sequence."""
    return sorted({valid_utf8(each) for each in ids})
