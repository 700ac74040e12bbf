"""Topics in the file: how many documents are about each, and the sum of what they mean.

Sums are of whole numbers, so that they are the same whatever came and went before.
"""

import json
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final

import apsw
import numpy as np
import numpy.typing as npt

from commonplace.index.base import Centroid
from commonplace.index.shrinking import direction, widen
from commonplace.index.sqlite.filters import NOT_ARCHIVED, NOT_STAGED
from commonplace.index.sqlite.rows import folded
from commonplace.model import Topic

_COUNTED: Final = f"""
SELECT topics_json, embedding_version, first_chunk, chunk_count FROM memory_documents
WHERE key = ? AND deleted_at IS NULL AND NOT sensitive AND {NOT_STAGED} AND {NOT_ARCHIVED} AND topics_json <> '[]'
"""  # noqa: S608
_FIRST: Final = """
SELECT parts + sentences, scales, vectors FROM memory_vectors
WHERE number >= :first AND number < :first + :count ORDER BY number LIMIT 1
"""
_ROW: Final = " WHERE user_id = :user AND topic = :topic AND name = :name AND embedding_version = :version"
_SUM: Final = f"SELECT documents, sum FROM memory_topics{_ROW}"  # noqa: S608
_DROP: Final = f"DELETE FROM memory_topics{_ROW}"  # noqa: S608
_WRITE: Final = """
INSERT INTO memory_topics (user_id, topic, name, embedding_version, documents, sum)
VALUES (:user, :topic, :name, :version, :documents, :sum)
ON CONFLICT DO UPDATE SET documents = excluded.documents, sum = excluded.sum
"""
_TOPICS: Final = """
SELECT min(name), sum(documents) FROM memory_topics WHERE user_id = ? GROUP BY topic ORDER BY topic
"""
_NAMES: Final = "SELECT topic, min(name) FROM memory_topics WHERE user_id = ? GROUP BY topic"
_SUMS: Final = "SELECT topic, sum FROM memory_topics WHERE user_id = ? AND embedding_version = ? ORDER BY topic"

Sums = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Share:
    """What a document adds to its topics: each as it compares and as it is spelled, and what the document means."""

    topics: tuple[tuple[str, str], ...]
    version: str
    meaning: bytes


@dataclass(frozen=True, slots=True)
class Topics:
    """The topics of one user's documents. All methods work inside the caller's transaction."""

    user: str

    def share(self, connection: apsw.Connection, key: int | None) -> Share | None:
        """What the document with that key adds now; None where it counts for nothing."""
        row = connection.execute(_COUNTED, (key,)).fetchone()
        if row is None:
            return None
        topics, version, first, count = row
        return Share(_spelled(json.loads(topics)), version, _meaning(connection, first, count))

    def exchange(self, connection: apsw.Connection, old: Share | None, new: Share | None) -> None:
        """Take away what a document added before, and add what it adds now."""
        if old == new:
            return
        if old:
            self._add(connection, old, sign=-1)
        if new:
            self._add(connection, new, sign=1)

    def _add(self, connection: apsw.Connection, share: Share, *, sign: int) -> None:
        for topic, name in share.topics:
            row: dict[str, Any] = {"user": self.user, "topic": topic, "name": name, "version": share.version}
            documents, held = connection.execute(_SUM, row).fetchone() or (0, b"")
            if documents + sign == 0:
                connection.execute(_DROP, row)
                continue
            total = _added(held, share.meaning, sign=sign)
            connection.execute(_WRITE, {**row, "documents": documents + sign, "sum": total})


def known_topics(connection: apsw.Connection, user: str) -> tuple[Topic, ...]:
    """Every topic and how many documents are about it, in the order of their names."""
    return tuple(Topic(*row) for row in connection.execute(_TOPICS, (user,)))


def centroids_of(connection: apsw.Connection, user: str, version: str) -> tuple[Centroid, ...]:
    """The middle of each topic that has one, in the order of their names."""
    names = dict(connection.execute(_NAMES, (user,)))
    sums: list[Any] = connection.execute(_SUMS, (user, version)).fetchall()
    found = []
    for topic, rows in groupby(sums, key=lambda row: row[0]):
        held = [_numbers(total) for _, total in rows if total]
        vector = direction(np.sum(held, axis=0)) if held else None
        if vector is not None:
            found.append(Centroid(names[topic], version, vector))
    return tuple(found)


def _spelled(topics: list[str]) -> tuple[tuple[str, str], ...]:
    """Each topic once, under the first of its spellings in order."""
    return tuple({folded(name): name for name in sorted(topics, reverse=True)}.items())


def _meaning(connection: apsw.Connection, first: int, count: int) -> bytes:
    """The vector of the first part that has one, as whole numbers that can be added up; empty where none has."""
    row = connection.execute(_FIRST, {"first": first, "count": count}).fetchone()
    if row is None:
        return b""
    held, scales, vectors = row
    (scale,) = np.frombuffer(scales, "<f4", 1)
    return widen(np.frombuffer(vectors, np.int8, len(vectors) // held), float(scale)).astype("<i8").tobytes()


def _added(held: bytes, more: bytes, *, sign: int) -> bytes:
    if not held or not more:
        return held or (_numbers(more) * sign).astype("<i8").tobytes()
    return (_numbers(held) + sign * _numbers(more)).astype("<i8").tobytes()


def _numbers(total: bytes) -> Sums:
    return np.frombuffer(total, "<i8").astype(np.int64)
