"""What is known of use, in SQL: the tables `fact_uses` and `topic_locks`."""

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from commonplace.history.arrivals import storable
from commonplace.history.locks import storable_lock
from commonplace.history.sqlite.conversations import SqliteConversations
from commonplace.history.sqlite.moments import moment_text
from commonplace.history.uses import Use
from commonplace.model import TopicLock

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
_FORGET: Final = "DELETE FROM fact_uses WHERE fact IN (SELECT value FROM json_each(:ids))"
_LOCK: Final = """
INSERT INTO topic_locks (conversation, topics, at) VALUES (:conversation, :topics, :at)
ON CONFLICT (conversation) DO UPDATE SET topics = excluded.topics, at = excluded.at
"""
_LOCKED: Final = "SELECT topics, at FROM topic_locks WHERE conversation = :conversation"


class SqliteUses(SqliteConversations):
    """What is known of use in one file, beside its conversations."""

    def record_use(self, ids: Sequence[str], *, now: datetime) -> None:
        """Count one use of each of these facts, all or none, on the day of that moment in UTC."""
        day = _day(now)
        if facts := _storable(ids):
            with self._database.changing() as connection:
                connection.executemany(_COUNT_ONE, ((fact, day) for fact in facts))

    def uses(self, ids: Iterable[str], *, since: datetime | None = None) -> Mapping[str, Use]:
        """The uses of these facts, from the day of that moment on; those that were never used are left out."""
        asked = {"ids": json.dumps(_storable(ids)), "since": _day(since) if since else ""}
        with self._database.reading() as connection:
            rows: list[Any] = connection.execute(_USES, asked).fetchall()
        return {fact: Use(times, days, last) for fact, times, days, last in rows}

    def forget_uses(self, ids: Iterable[str]) -> int:
        """Remove what is known of the use of these facts, also from pages that are free and from the log."""
        facts = _storable(ids)
        if not facts:
            return 0
        with self._database.changing() as connection:
            connection.execute(_FORGET, {"ids": json.dumps(facts)})
            gone = connection.changes()
        self._database.scrub()
        return gone

    def lock_topics(self, lock: TopicLock) -> None:
        """Keep what a conversation is about, in the place of what was kept before."""
        kept = storable_lock(lock)
        row = {"conversation": kept.conversation, "topics": json.dumps(kept.topics), "at": kept.at}
        with self._database.changing() as connection:
            connection.execute(_LOCK, row)

    def topic_lock(self, conversation: str) -> TopicLock | None:
        """What that conversation is about; None when nothing was kept."""
        asked = storable(conversation)
        with self._database.reading() as connection:
            row = connection.execute(_LOCKED, {"conversation": asked}).fetchone()
        return TopicLock(asked, tuple(json.loads(row[0])), row[1]) if row else None


def _day(when: datetime) -> str:
    return moment_text(when)[:_DAY]


def _storable(ids: Iterable[str]) -> list[str]:
    """Each id once, in order: pages are then touched one after another."""
    return sorted({storable(each) for each in ids})
