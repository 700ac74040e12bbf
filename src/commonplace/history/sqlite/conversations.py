"""The conversations in SQL: the tables `conversation_threads` and `conversation_messages`."""

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

import apsw

from commonplace.database import Database
from commonplace.history.arrivals import (
    Arrival,
    arrivals_of,
    check_trust,
    checked_turns,
    grown,
    known_thread,
    stamp_of,
    storable,
    thread_id,
)
from commonplace.history.base import checked_limit
from commonplace.history.conversations import NewThread
from commonplace.history.sqlite.moments import moment_text
from commonplace.model import Message, Recorded, Thread

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
SELECT id, interface, source_id, title, trust, started, updated, recorded, count, closed FROM conversation_threads
"""
_CONDITIONS: Final = {"interface": "interface = :interface", "since": "updated >= :since", "id": "id = :id"}
_NEWEST_FIRST: Final = " ORDER BY updated DESC, number DESC LIMIT :limit"
_MESSAGES: Final = """
SELECT role, text, author, at, source_id FROM conversation_messages
WHERE thread = (SELECT number FROM conversation_threads WHERE id = :id)
AND turn >= :first AND (:last IS NULL OR turn <= :last)
ORDER BY turn
"""
_STAMPS: Final = "SELECT id, digest, title, trust FROM conversation_threads"
_THESE: Final = " WHERE id IN (SELECT value FROM json_each(:ids))"
_FORGET_TOPICS: Final = """
DELETE FROM topic_locks
WHERE conversation = :id OR conversation = (SELECT source_id FROM conversation_threads WHERE id = :id)
"""
_CLOSE: Final = "UPDATE conversation_threads SET closed = :now WHERE id = :id"
_FORGET: Final = "DELETE FROM conversation_threads WHERE id = :id"


class SqliteConversations:
    """The conversations of one file."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def record_conversation(self, thread: NewThread, messages: Sequence[Message], *, now: datetime) -> Recorded:
        """Add the messages that are not known yet, all or none."""
        arrivals = arrivals_of(messages, now=now)
        known = known_thread(thread, arrivals)
        with self._database.changing() as connection:
            added = _record(connection, known, arrivals, now=moment_text(now))
        return Recorded(thread_id(known), added, len(arrivals) - added)

    def conversations(
        self, *, interface: str | None = None, since: datetime | None = None, limit: int | None = None
    ) -> tuple[Thread, ...]:
        """Those of that program, with a message from that time on; newest first, at most `limit`."""
        asked = {
            "interface": None if interface is None else storable(interface),
            "since": moment_text(since) if since else None,
        }
        return self._threads(asked, limit=checked_limit(limit))

    def conversation(self, id: str) -> Thread | None:
        """The conversation with that id; None when there is none."""
        return next(iter(self._threads({"id": storable(id)}, limit=1)), None)

    def messages(self, id: str, *, first: int = 1, last: int | None = None) -> tuple[Message, ...]:
        """The messages from one number to another, both within."""
        first, last = checked_turns(first, last)
        with self._database.reading() as connection:
            rows = connection.execute(_MESSAGES, {"id": storable(id), "first": first, "last": last}).fetchall()
        return tuple(_message(*row) for row in rows)

    def conversation_stamps(self, ids: Iterable[str] | None = None) -> Mapping[str, str]:
        """The stamp of each conversation, or of those of these that are there, by id."""
        asked = None if ids is None else {"ids": json.dumps([*map(storable, ids)])}
        with self._database.reading() as connection:
            rows: list[Any] = connection.execute(_STAMPS + (_THESE if asked else ""), asked).fetchall()
        return {id_: stamp_of(digest, title=title, trust=trust) for id_, digest, title, trust in rows}

    def close_conversation(self, id: str, *, now: datetime) -> bool:
        """Say that it is finished; whether it is there."""
        with self._database.changing() as connection:
            connection.execute(_CLOSE, {"id": storable(id), "now": moment_text(now)})
            return connection.changes() > 0

    def forget_conversation(self, id: str) -> bool:
        """Remove the conversation, with what it was found to be about, also from pages that are free and from the log.

        Says whether it was there.
        """
        with self._database.changing() as connection:
            connection.execute(_FORGET_TOPICS, {"id": storable(id)})
            connection.execute(_FORGET, {"id": storable(id)})
            was_there = connection.changes() > 0
        self._database.scrub()
        return was_there

    def _threads(self, asked: Mapping[str, str | None], *, limit: int | None) -> tuple[Thread, ...]:
        given: dict[str, Any] = {name: value for name, value in asked.items() if value is not None}
        where = " AND ".join(_CONDITIONS[name] for name in given)
        with self._database.reading() as connection:
            rows = connection.execute(
                _THREADS + (f"WHERE {where}" if where else "") + _NEWEST_FIRST,
                {**given, "limit": -1 if limit is None else limit},
            ).fetchall()
        return tuple(_thread(*row) for row in rows)


def _record(connection: apsw.Connection, thread: NewThread, arrivals: Sequence[Arrival], *, now: str) -> int:
    """Add what is new to the thread, which is made if it is not there; how many messages were."""
    values = {
        "id": thread_id(thread),
        "interface": thread.interface,
        "source_id": thread.source_id,
        "title": thread.title,
        "trust": thread.trust,
        "at": moment_text(arrivals[0].at),
        "now": now,
    }
    there: Any = connection.execute(_FIND, values).fetchone() or connection.execute(_ADD_THREAD, values).fetchone()
    number, count, digest, started, updated, trust, title = there
    new = _unknown(connection, number, arrivals)
    check_trust(thread, trust, title=title, adds=bool(new))
    for arrival in new:
        digest = grown(digest, arrival)
    times = [moment_text(each.at) for each in new]
    connection.executemany(_ADD_MESSAGE, (_row(number, count + at, each) for at, each in enumerate(new, start=1)))
    grows = {
        "number": number,
        "count": count + len(new),
        "digest": digest,
        "started": min([started, *times]),
        "updated": max([updated, *times]),
        "title": thread.title,
        "added": len(new),
    }
    connection.execute(_GROW, grows)
    return len(new)


def _unknown(connection: apsw.Connection, thread: int, arrivals: Sequence[Arrival]) -> list[Arrival]:
    """Those of the arrivals that the thread does not have, each once."""
    by_identity = {each.identity: each for each in reversed(arrivals)}
    identities = json.dumps([*by_identity])
    known = {found for (found,) in connection.execute(_KNOWN, {"thread": thread, "identities": identities})}
    return [each for each in arrivals if each.identity not in known and by_identity[each.identity] is each]


def _row(thread: int, turn: int, arrival: Arrival) -> tuple[int | str, ...]:
    message = arrival.message
    at = moment_text(arrival.at)
    return thread, turn, arrival.identity, message.role, message.author, at, message.source_id, message.text


def _message(*row: Any) -> Message:
    """A row of `_MESSAGES`."""
    role, text, author, at, source_id = row
    return Message(role, text, author, datetime.fromisoformat(at), source_id)


def _thread(*row: Any) -> Thread:
    """A row of `_THREADS`."""
    id_, interface, source_id, title, trust, started, updated, recorded, count, closed = row
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
    )
