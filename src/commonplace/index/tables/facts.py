"""Facts and topics in SQL, kept up to date when documents change.

A fact's row says whether it is the one that counts for its id, and when it ends because another fact replaces it.
A topic's row has the number of its documents and the sum of their vectors. Sums are of integers, so that they are the
same whatever was added and removed before.

Tables: `memory_facts`, `memory_fact_topics`, `memory_bonds`, `memory_entities`, `memory_topics`.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, Field, asdict, dataclass, fields
from functools import lru_cache
from itertools import groupby
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from commonplace.index.base import Rules, TopicCentroid
from commonplace.index.document_values import (
    ends_at,
    fact_bonds,
    fold_label,
    id_precedence,
    note_entity_names,
    valid_unicode,
)
from commonplace.index.segments.quantize import summable, unit_vector, unpack_vectors
from commonplace.index.tables.filters import NOT_ARCHIVED, NOT_STAGED
from commonplace.index.tables.sql import SqlConnection, first_free_key, insert_rows, json_text
from commonplace.model import Document, Fact, FactEnd, FactRecord, Origins, Topic

_DOCUMENT_IDS: Final = "SELECT id FROM memory_facts WHERE document = ?"
# INDEXED BY: otherwise SQLite assumes that a user has few facts, and scans them all.
_CLAIMS: Final = """
SELECT DISTINCT claim FROM memory_facts INDEXED BY memory_facts_by_id
WHERE user_id = :user AND id IN (SELECT value FROM json_each(:ids)) AND claim <> ''
"""
_ADD_NAME: Final = "INSERT INTO memory_entities (name, document) VALUES (?, ?)"
_ADD_TOPIC: Final = "INSERT INTO memory_fact_topics (topic, updated_at, id, fact) VALUES (?, ?, ?, ?)"
_ADD_BOND: Final = "INSERT INTO memory_bonds (fact, bond, target) VALUES (?, ?, ?)"
_FACTS_OF_IDS: Final = """
SELECT id, key, path, position, keeps FROM memory_facts INDEXED BY memory_facts_by_id
WHERE user_id = :user AND id IN (SELECT value FROM json_each(:ids))
"""
_SET_KEEPS: Final = "UPDATE memory_facts SET keeps = ? WHERE key = ?"
_FACTS_OF_CLAIMS: Final = """
SELECT f.claim, f.key, f.document, f.keeps, f.origin, f.fact_json, f.end_at, f.end_by, d.valid_until
FROM memory_facts f INDEXED BY memory_facts_by_claim CROSS JOIN memory_documents d ON d.key = f.document
WHERE f.user_id = :user AND f.claim <> '' AND f.claim IN (SELECT value FROM json_each(:claims))
ORDER BY f.claim, f.id, f.path
"""
_SET_END: Final = "UPDATE memory_facts SET end_at = ?, end_by = ? WHERE key = ?"
_SET_DOCUMENT_END: Final = "UPDATE memory_documents SET ends_at = ? WHERE key = ? AND ends_at <> ?"
_COUNTED_DOCUMENT: Final = f"""
SELECT topics_json, embedding_version, first_chunk, chunk_count FROM memory_documents
WHERE key = ? AND deleted_at IS NULL AND sensitive = 0 AND {NOT_STAGED} AND {NOT_ARCHIVED} AND topics_json <> '[]'
"""  # noqa: S608
_FIRST_VECTOR: Final = """
SELECT lead FROM memory_vectors
WHERE number >= :first AND number < :beyond ORDER BY number LIMIT 1
"""
_TOPIC_ROW: Final = " WHERE user_id = :user AND topic = :topic AND name = :name AND embedding_version = :version"
_TOPIC_SUM: Final = f"SELECT documents, sum FROM memory_topics{_TOPIC_ROW}"  # noqa: S608
_DELETE_TOPIC: Final = f"DELETE FROM memory_topics{_TOPIC_ROW}"  # noqa: S608
_WRITE_TOPIC: Final = """
INSERT INTO memory_topics (user_id, topic, name, embedding_version, documents, sum)
VALUES (:user, :topic, :name, :version, :documents, :sum)
"""
_TOPICS: Final = """
SELECT min(name), sum(documents) FROM memory_topics WHERE user_id = ? GROUP BY topic ORDER BY topic
"""
_TOPIC_NAMES: Final = "SELECT topic, min(name) FROM memory_topics WHERE user_id = ? GROUP BY topic"
_TOPIC_SUMS: Final = "SELECT topic, sum FROM memory_topics WHERE user_id = ? AND embedding_version = ? ORDER BY topic"
# Facts that need not be parsed again: about ten hubs of 2,000 facts, each with its text 1.6 KB in memory. To parse one
# takes 15 µs, to find it here 0.3.
_KEPT_FACTS: Final = 20_000

_Sums = npt.NDArray[np.int64]


# ---------------------------------------------------------------- facts


class AffectedFacts(NamedTuple):
    """The ids of the facts that a change affects, and their claims before it."""

    ids: frozenset[str]
    claims: frozenset[str]


class _ClaimRow(NamedTuple):
    claim: str
    key: int
    document: int
    keeps: int
    origin: str
    text: str
    end_at: str
    end_by: str
    valid_until: str


@dataclass(frozen=True, slots=True)
class FactTables:
    """The facts of one user's documents. All methods work inside the caller's transaction."""

    user: str
    rules: Rules

    def affected(self, connection: SqlConnection, key: int | None, document: Document | None) -> AffectedFacts:
        """The facts that change when this document replaces the one with that key."""
        ids = {identity for (identity,) in connection.execute(_DOCUMENT_IDS, (key,))} if key is not None else set()
        ids |= {valid_unicode(fact.id) for fact in document.facts} if document else set()
        return AffectedFacts(frozenset(ids), self._claims(connection, ids))

    def affected_by(self, connection: SqlConnection, documents: Iterable[Document]) -> AffectedFacts:
        """The facts that change when these new documents are added."""
        ids = {valid_unicode(fact.id) for document in documents for fact in document.facts}
        return AffectedFacts(frozenset(ids), self._claims(connection, ids) if ids else frozenset())

    def write(self, connection: SqlConnection, documents: Mapping[int, Document]) -> None:
        """Add the facts and the entity names of these documents, by key, which have none."""
        rows = {
            (valid_unicode(name), key)
            for key, document in documents.items()
            for name in note_entity_names(document, self.rules)
        }
        connection.executemany(_ADD_NAME, sorted(rows))
        if any(document.facts for document in documents.values()):
            self._write_facts(connection, documents)

    def _write_facts(self, connection: SqlConnection, documents: Mapping[int, Document]) -> None:
        rows, topics, bonds = [], [], []
        first = first_free_key(connection, "memory_facts")
        placed = [(*each, *fact) for each in documents.items() for fact in enumerate(each[1].facts)]
        for number, (key, document, position, fact) in enumerate(placed, start=first):
            place = {"key": number, "document": key, "position": position, "keeps": 1}
            columns = _fact_columns(fact, document, rules=self.rules) | place | {"end_at": "", "end_by": ""}
            rows.append(columns)
            labels = {fold_label(topic) for topic in fact.topics}
            topics += [(each, columns["updated_at"], columns["id"], columns["key"]) for each in sorted(labels)]
            targets = {(bond, valid_unicode(target)) for bond, target in fact_bonds(fact)}
            bonds += [(columns["key"], bond, target) for bond, target in sorted(targets)]
        insert_rows(connection, "memory_facts", rows)
        connection.executemany(_ADD_TOPIC, topics)
        connection.executemany(_ADD_BOND, bonds)

    def delete(self, connection: SqlConnection, key: int) -> None:
        """Delete the document's facts and the note's entity names."""
        connection.execute("DELETE FROM memory_facts WHERE document = ?", (key,))
        connection.execute("DELETE FROM memory_entities WHERE document = ?", (key,))

    def update(self, connection: SqlConnection, affected: AffectedFacts) -> None:
        """Choose the fact that counts for each affected id, and end facts whose claim another makes now."""
        if affected.ids:
            self._choose(connection, affected.ids)
            self._end(connection, affected.claims | self._claims(connection, affected.ids))

    def _claims(self, connection: SqlConnection, ids: Iterable[str]) -> frozenset[str]:
        values = {"user": self.user, "ids": json_text([*ids])}
        return frozenset(claim for (claim,) in connection.execute(_CLAIMS, values))

    def _choose(self, connection: SqlConnection, ids: Iterable[str]) -> None:
        values = {"user": self.user, "ids": json_text([*ids])}
        by_id: defaultdict[str, list[Any]] = defaultdict(list)
        stored: list[Any] = connection.execute(_FACTS_OF_IDS, values).fetchall()
        for identity, *row in stored:
            by_id[identity].append(row)
        for identity, rows in by_id.items():
            first, *_ = min(rows, key=lambda row: (*id_precedence(identity, row[1]), row[2]))
            changed = [(int(key == first), key) for key, _, _, keeps in rows if keeps != (key == first)]
            connection.executemany(_SET_KEEPS, changed)

    def _end(self, connection: SqlConnection, claims: Iterable[str]) -> None:
        values = {"user": self.user, "claims": json_text([*claims])}
        by_claim: defaultdict[str, list[_ClaimRow]] = defaultdict(list)
        for row in map(_ClaimRow._make, connection.execute(_FACTS_OF_CLAIMS, values).fetchall()):
            by_claim[row.claim].append(row)
        for rows in by_claim.values():
            self._end_each(connection, rows)

    def _end_each(self, connection: SqlConnection, rows: Iterable[_ClaimRow]) -> None:
        """Store when each of these facts with one claim ends; for an entry, also when its document does."""
        facts = [(row, fact_of(row.text)) for row in rows]
        ends = self.rules.ends([fact for row, fact in facts if row.keeps])
        for row, fact in facts:
            end = ends.get(fact.id) if row.keeps else None
            if (end or ("", "")) != (row.end_at, row.end_by):
                connection.execute(_SET_END, (*(end or ("", "")), row.key))
            if row.origin == "entry":
                until = ends_at(row.valid_until, fact, end)
                connection.execute(_SET_DOCUMENT_END, (until, row.document, until))


def _fact_columns(fact: Fact, document: Document, *, rules: Rules) -> dict[str, Any]:
    """The columns of a fact's row, without its document's key, its position and its end."""
    texts = {
        "user_id": document.user,
        "id": fact.id,
        "path": document.source_id,
        "place": document.place,
        "origin": fact.origin,
        "status": fact.status,
        "fingerprint": fact.fingerprint,
        "claim": rules.claim(fact),
        "subject": rules.entity(fact.subject),
        "predicate": fact.predicate,
        "object": rules.entity(fact.object),
        "updated_at": fact.updated,
    }
    return {name: valid_unicode(text) for name, text in texts.items()} | {
        "sensitive": int(document.sensitive),
        "always_load": int(fact.always_load),
        "fact_json": fact_json(fact),
    }


def fact_json(fact: Fact) -> str:
    """The fact as JSON, without fields that have their default value."""
    values = {field.name: getattr(fact, field.name) for field in fields(Fact) if not _is_default(fact, field)}
    return json_text(values | ({"origins": asdict(fact.origins)} if "origins" in values else {}))


@lru_cache(maxsize=_KEPT_FACTS)
def fact_of(text: str) -> Fact:
    """The fact in the `fact_json` of a row."""
    values: dict[str, Any] = json.loads(text)
    values |= {name: _as_tuple(value) for name, value in values.items() if isinstance(value, list)}
    if "origins" in values:
        values["origins"] = _shared_origins(**values["origins"])
    return Fact(**values)


def _as_tuple(values: list[Any]) -> tuple[Any, ...]:
    """A list, and the lists in it, as tuples."""
    return tuple(tuple(value) if isinstance(value, list) else value for value in values)


@lru_cache(maxsize=1024)  # most facts come from the same few programs and conversations
def _shared_origins(**origins: Any) -> Origins:
    return Origins(**origins)


def fact_record(text: str, end_at: str, end_by: str) -> FactRecord:
    """The fact, with its end if another fact replaces it."""
    return FactRecord(fact_of(text), FactEnd(end_at, end_by) if end_by else None)


def _is_default(fact: Fact, field: Field[Any]) -> bool:
    return field.default is not MISSING and getattr(fact, field.name) == field.default


# ---------------------------------------------------------------- topics


@dataclass(frozen=True, slots=True)
class TopicContribution:
    """What a document adds to its topics: each folded and as spelled, and its vector as summable integers."""

    topics: tuple[tuple[str, str], ...]
    version: str
    vector: bytes


@dataclass(frozen=True, slots=True)
class TopicTable:
    """The topics of one user's documents. All methods work inside the caller's transaction."""

    user: str

    def contribution(self, connection: SqlConnection, key: int | None) -> TopicContribution | None:
        """What the document with that key adds now; None if it is not counted."""
        row = connection.execute(_COUNTED_DOCUMENT, (key,)).fetchone()
        if row is None:
            return None
        topics, version, first, count = row
        return TopicContribution(_spellings(json.loads(topics)), version, _document_vector(connection, first, count))

    def exchange(self, connection: SqlConnection, old: TopicContribution | None, new: TopicContribution | None) -> None:
        """Subtract what a document added before, and add what it adds now."""
        if old == new:
            return
        if old:
            self._add(connection, old, sign=-1)
        if new:
            self._add(connection, new, sign=1)

    def _add(self, connection: SqlConnection, contribution: TopicContribution, *, sign: int) -> None:
        for topic, name in contribution.topics:
            row: dict[str, Any] = {"user": self.user, "topic": topic, "name": name, "version": contribution.version}
            documents, total = connection.execute(_TOPIC_SUM, row).fetchone() or (0, b"")
            connection.execute(_DELETE_TOPIC, row)
            if documents + sign:
                total = _added(total, contribution.vector, sign=sign)
                connection.execute(_WRITE_TOPIC, {**row, "documents": documents + sign, "sum": total})


def all_topics(connection: SqlConnection, user: str) -> tuple[Topic, ...]:
    """Every topic and how many documents are about it, sorted by name."""
    return tuple(Topic(*row) for row in connection.execute(_TOPICS, (user,)))


def topic_centroids(connection: SqlConnection, user: str, version: str) -> tuple[TopicCentroid, ...]:
    """The centroid of each topic that has vectors, sorted by name."""
    names = dict(connection.execute(_TOPIC_NAMES, (user,)).fetchall())
    sums: list[Any] = connection.execute(_TOPIC_SUMS, (user, version)).fetchall()
    centroids = []
    for topic, rows in groupby(sums, key=lambda row: row[0]):
        held = [_numbers(total) for _, total in rows if total]
        vector = unit_vector(np.sum(held, axis=0)) if held else None
        if vector is not None:
            centroids.append(TopicCentroid(names[topic], version, vector))
    return tuple(centroids)


def _spellings(topics: list[str]) -> tuple[tuple[str, str], ...]:
    """Each topic once: folded, and the first of its spellings."""
    return tuple({fold_label(name): name for name in sorted(topics, reverse=True)}.items())


def _document_vector(connection: SqlConnection, first: int, count: int) -> bytes:
    """The vector of the first part that has one, as summable integers; empty if none has."""
    row = connection.execute(_FIRST_VECTOR, {"first": first, "beyond": first + count}).fetchone()
    if row is None:
        return b""
    lead = unpack_vectors(row)
    return summable(lead.rows[0], float(lead.scales[0])).astype("<i8").tobytes()


def _added(total: bytes, vector: bytes, *, sign: int) -> bytes:
    if not total or not vector:
        return total or (_numbers(vector) * sign).astype("<i8").tobytes()
    return (_numbers(total) + sign * _numbers(vector)).astype("<i8").tobytes()


def _numbers(total: bytes) -> _Sums:
    return np.frombuffer(total, "<i8").astype(np.int64)
