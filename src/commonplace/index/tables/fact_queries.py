"""Queries of facts, entities and topics, inside one read transaction.

`facts` builds its SQL so that each way in which a fact can match walks an index in the order of the result.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import groupby
from string import ascii_lowercase, ascii_uppercase
from typing import Any, Final

from commonplace.index.base import ID_SUFFIX_LENGTH, ClaimConflict, EntityCount, FactCounts, FactQuery, TopicCentroid
from commonplace.index.document_values import fold_label, id_precedence, valid_unicode
from commonplace.index.tables.facts import FactTables, all_topics, fact_of, fact_record, topic_centroids
from commonplace.index.tables.past_lines import PastReader
from commonplace.index.tables.sql import SqlConnection, json_text
from commonplace.model import FactEdge, FactRecord, Topic

_BONDS: Final = """
SELECT f.id, b.bond, b.target
FROM memory_facts f INDEXED BY memory_facts_by_id CROSS JOIN memory_bonds b ON b.fact = f.key
WHERE f.user_id = :user AND f.keeps = 1 AND f.id IN (SELECT value FROM json_each(:ids))
UNION
SELECT f.id, b.bond, b.target FROM memory_bonds b CROSS JOIN memory_facts f ON f.key = b.fact
WHERE b.target IN (SELECT value FROM json_each(:ids)) AND f.user_id = :user AND f.keeps = 1
ORDER BY 1, 2, 3
"""
_CLAIM_CONFLICTS: Final = """
SELECT f.fact_json, w.fact_json, f.end_at
FROM memory_facts f INDEXED BY memory_facts_ended
CROSS JOIN memory_facts w INDEXED BY memory_facts_by_id ON w.user_id = :user AND w.id = f.end_by AND w.keeps = 1
WHERE f.user_id = :user AND f.end_by <> '' AND f.status = 'active' ORDER BY f.path, f.position
"""
_DUPLICATE_IDS: Final = """
SELECT DISTINCT id, path FROM memory_facts INDEXED BY memory_facts_by_id
WHERE user_id = :user AND id IN (SELECT id FROM memory_facts INDEXED BY memory_facts_of_twins
  WHERE user_id = :user AND keeps = 0)
"""
_NOTES_NAMED: Final = """
SELECT DISTINCT d.source_id FROM memory_entities e CROSS JOIN memory_documents d ON d.key = e.document
WHERE e.name = :name AND d.user_id = :user AND d.deleted_at IS NULL ORDER BY 1
"""
_EXISTING_NAMES: Final = """
SELECT e.name FROM memory_entities e CROSS JOIN memory_documents d ON d.key = e.document
WHERE e.name IN (SELECT value FROM json_each(:names)) AND d.user_id = :user AND d.deleted_at IS NULL
UNION SELECT f.subject FROM memory_facts f INDEXED BY memory_facts_by_subject
WHERE f.user_id = :user AND f.subject <> '' AND f.subject IN (SELECT value FROM json_each(:names)) AND f.keeps = 1
UNION SELECT f.object FROM memory_facts f INDEXED BY memory_facts_by_object
WHERE f.user_id = :user AND f.object <> '' AND f.object IN (SELECT value FROM json_each(:names)) AND f.keeps = 1
"""
_ENTITY_NAMES: Final = """
SELECT DISTINCT m.name FROM memory_entities e
CROSS JOIN memory_documents d ON d.key = e.document CROSS JOIN memory_entities m ON m.document = d.key
WHERE e.name = :name AND d.user_id = :user AND d.deleted_at IS NULL
"""
_ENTITY_COUNTS: Final = """
SELECT name, spelling, subjects, objects, updated_at FROM (SELECT name, spelling, updated_at,
  sum(is_subject) OVER (PARTITION BY name) AS subjects, sum(1 - is_subject) OVER (PARTITION BY name) AS objects,
  row_number() OVER (PARTITION BY name ORDER BY updated_at DESC, spelling) AS place FROM (
  SELECT subject AS name, fact_json ->> '$.subject' AS spelling, 1 AS is_subject, updated_at FROM memory_facts
  WHERE user_id = :user AND keeps = 1 AND subject <> '' AND place <> 'staging' AND sensitive <= :sensitive
  UNION ALL
  SELECT object, fact_json ->> '$.object', 0, updated_at FROM memory_facts
  WHERE user_id = :user AND keeps = 1 AND object <> '' AND place <> 'staging' AND sensitive <= :sensitive))
WHERE place = 1 ORDER BY name
"""
_MENTIONS: Final = """
SELECT path, subject FROM memory_facts
WHERE user_id = :user AND keeps = 1 AND subject <> '' AND place <> 'staging' AND sensitive <= :sensitive
UNION
SELECT path, object FROM memory_facts
WHERE user_id = :user AND keeps = 1 AND object <> '' AND place <> 'staging' AND sensitive <= :sensitive
ORDER BY 1, 2
"""
_KIND: Final = "coalesce(f.fact_json ->> '$.kind', '')"
_CUES: Final = (
    "(lower(f.fact_json ->> '$.about') LIKE :{name} ESCAPE '\\'"
    " OR lower(f.fact_json ->> '$.when') LIKE :{name} ESCAPE '\\')"
)
_TRUST: Final = "coalesce(f.fact_json ->> '$.origins.trust', 'told')"
_RECORDED: Final = "coalesce(f.fact_json ->> '$.recorded', '')"
_MATCHING: Final = "FROM memory_facts f WHERE f.user_id = :user AND f.keeps = 1"
_COUNTS: Final = f"SELECT {_KIND}, {_TRUST}, count(*) {_MATCHING}{{conditions}} GROUP BY 1, 2"
_TOPIC_COUNTS: Final = f"""
SELECT t.topic, count(*) FROM memory_fact_topics t
WHERE t.fact IN (SELECT f.key {_MATCHING}{{conditions}}) GROUP BY 1 ORDER BY 1
"""  # noqa: S608
_MOST_KEPT: Final = 20_000  # records of answers that are kept until the index changes: about 32 MB
_WORTH_KEEPING: Final = 200  # records of an answer: fewer are read in a millisecond
_IN: Final = "IN (SELECT value FROM json_each(:{name}))"
_IN_NAMES: Final = _IN.format(name="names")
_ENDS: Final = ("subject", "object")
_ASCII_LOWER: Final = str.maketrans(ascii_uppercase, ascii_lowercase)
_MANY_NAMES: Final = 20  # or topics: SQLite unites 500 ways at most
_HAS_TOPIC: Final = f"f.key IN (SELECT fact FROM memory_fact_topics WHERE topic {_IN})"  # noqa: S608
_LINKS_TO_NAMED: Final = """
f.origin = 'entry' AND f.document IN (
  SELECT l.document FROM memory_entities e CROSS JOIN memory_documents d ON d.key = e.document
  CROSS JOIN memory_links l ON l.path = d.source_id
  WHERE e.name IN (SELECT value FROM json_each(:names)) AND d.user_id = :user AND d.deleted_at IS NULL)
"""
_ROW: Final = "f.fact_json, f.end_at, f.end_by"  # the arguments of `fact_record`
_WAY: Final = """
SELECT {columns} FROM memory_facts f {by} WHERE f.user_id = :user AND f.keeps = 1 {conditions}
ORDER BY f.updated_at DESC, f.id LIMIT :limit
"""
_TOPIC_WAY: Final = """
SELECT {columns} FROM memory_fact_topics t CROSS JOIN memory_facts f ON f.key = t.fact
WHERE t.topic = :{topic} AND f.user_id = :user AND f.keeps = 1 {conditions}
ORDER BY t.updated_at DESC, t.id LIMIT :limit
"""
# The unary plus keeps SQLite from scanning all facts in order: the keys are few.
_FACTS: Final = """
SELECT {columns} FROM memory_facts f WHERE f.key IN ({ways})
ORDER BY +f.updated_at DESC, f.id LIMIT :limit
"""
# INDEXED BY: otherwise SQLite assumes that a user has few facts. The most selective fields come first.
_SELECTIVE: Final = {
    "ids": "INDEXED BY memory_facts_by_id",
    "prefix": "INDEXED BY memory_facts_by_id",
    "suffix": "INDEXED BY memory_facts_by_tail",
    "fingerprint": "INDEXED BY memory_facts_by_fingerprint",
    "claims": "INDEXED BY memory_facts_by_claim",
    "paths": "INDEXED BY memory_facts_by_path",
    "folder": "INDEXED BY memory_facts_by_path",
    "always_load": "INDEXED BY memory_facts_loaded_always",
    "bond": "NOT INDEXED",  # by their keys
}
_LESS_SELECTIVE: Final = {
    "predicate": "INDEXED BY memory_facts_by_predicate",
    "topics": "NOT INDEXED",  # by their keys
}
_BY_UPDATE: Final = "INDEXED BY memory_facts_by_update"


class FactReader(PastReader):
    """The facts as one connection sees them inside its transaction."""

    def __init__(
        self, connection: SqlConnection, facts: FactTables, kept: dict[FactQuery, tuple[FactRecord, ...]]
    ) -> None:
        """`kept` are the answers that were given for the same state of the index."""
        self._connection = connection
        self._facts = facts
        self._kept = kept

    def facts(self, query: FactQuery) -> tuple[FactRecord, ...]:
        """The facts that match, most recently updated first, then by id; each id once."""
        kept = self._kept.get(query)
        if kept is not None:
            return kept
        sql, values = _facts_sql(query, user=self._facts.user)
        rows: list[Any] = self._connection.execute(sql, values).fetchall()
        records = tuple(fact_record(*row) for row in rows)
        if len(records) + sum(map(len, [*self._kept.values()])) > _MOST_KEPT:
            self._kept.clear()
        if len(records) >= _WORTH_KEEPING:
            self._kept[query] = records
        return records

    def count_facts(self, query: FactQuery) -> FactCounts:
        """How many facts match, by kind, trust and topic."""
        conditions, values = _conditions(replace(query, after=None))
        ways, bound = _ways(query)
        if query.names:
            keys = (
                f"SELECT f.key FROM memory_facts f {by} WHERE f.user_id = :user AND f.keeps = 1 AND {way}"  # noqa: S608
                for by, way in ways
            )
            conditions.append(f"f.key IN ({' UNION '.join(keys)})")
            values |= bound
        where = _joined(conditions)
        rows = self._rows(_with(_COUNTS, conditions=where), **values)
        kinds, trusts = Counter[str](), Counter[str]()
        for kind, trust, count in rows:
            kinds[kind] += count
            trusts[trust] += count
        topics = dict(self._rows(_with(_TOPIC_COUNTS, conditions=where), **values))
        return FactCounts(kinds.total(), dict(sorted(kinds.items())), dict(sorted(trusts.items())), topics)

    def entity_counts(self, *, sensitive: bool) -> tuple[EntityCount, ...]:
        """Every subject and object of facts that are not staged, sorted by name."""
        return tuple(EntityCount(*row) for row in self._rows(_ENTITY_COUNTS, sensitive=int(sensitive)))

    def mentions(self, *, sensitive: bool) -> tuple[tuple[str, str], ...]:
        """Every path with the name of a subject or object of a fact there, sorted."""
        return tuple(self._rows(_MENTIONS, sensitive=int(sensitive)))

    def bonds(self, ids: Iterable[str]) -> tuple[FactEdge, ...]:
        """Every bond from or to these facts, sorted; includes an `update` for each fact that supersedes another."""
        return tuple(FactEdge(*row) for row in self._rows(_BONDS, ids=json_text([*ids])))

    def claim_conflicts(self) -> tuple[ClaimConflict, ...]:
        """Every active fact that no longer holds because another with its claim does, by path and position."""
        return tuple(
            ClaimConflict(fact_of(loser), fact_of(winner), at) for loser, winner, at in self._rows(_CLAIM_CONFLICTS)
        )

    def duplicate_ids(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Ids that occur at several paths, with those paths, the winning one first."""
        rows = sorted(self._rows(_DUPLICATE_IDS), key=lambda row: (row[0], *id_precedence(*row)))
        by_id = {identity: tuple(path for _, path in of) for identity, of in groupby(rows, key=lambda row: row[0])}
        return tuple((identity, paths) for identity, paths in by_id.items() if len(paths) > 1)

    def notes_named(self, name: str) -> tuple[str, ...]:
        """The paths of the notes with this name, sorted."""
        entity = valid_unicode(self._facts.rules.entity(name))
        return tuple(path for (path,) in self._rows(_NOTES_NAMED, name=entity))

    def existing_names(self, names: Iterable[str]) -> frozenset[str]:
        """Those of these normalized names that belong to a note or occur in a fact."""
        stored = [*filter(None, map(valid_unicode, names))]
        return frozenset(name for (name,) in self._rows(_EXISTING_NAMES, names=json_text(stored)))

    def entity_names(self, name: str) -> frozenset[str]:
        """All normalized names of the entity: this one, and those of the notes it names."""
        entity = valid_unicode(self._facts.rules.entity(name))
        others = {each for (each,) in self._rows(_ENTITY_NAMES, name=entity)}
        return frozenset(filter(None, {entity, *others}))

    def topics(self) -> tuple[Topic, ...]:
        """Every topic and how many documents are about it, sorted by name."""
        return all_topics(self._connection, self._facts.user)

    def centroids(self, version: str) -> tuple[TopicCentroid, ...]:
        """The centroid of each topic that has vectors, sorted by name."""
        return topic_centroids(self._connection, self._facts.user, version)

    def _rows(self, sql: str, **values: Any) -> list[Any]:
        rows: list[Any] = self._connection.execute(sql, {"user": self._facts.user, **values}).fetchall()
        return rows


def _facts_sql(query: FactQuery, *, user: str) -> tuple[str, dict[str, Any]]:
    """The query as SQL, and its values; rows are the arguments of `fact_record`."""
    selective = next((by for field, by in _SELECTIVE.items() if getattr(query, field)), "")
    if not (selective or query.names or query.predicate) and 0 < len(query.topics) <= _MANY_NAMES:
        return _by_topics(query, user=user)
    conditions, values = _conditions(query)
    ways, bound = _ways(query)
    selects = [_with(_WAY, by=selective or by, conditions=_joined([way, *conditions])) for by, way in ways]
    values |= bound | {"user": user, "limit": -1 if query.limit is None else query.limit}
    return _united(selects), values


def _by_topics(query: FactQuery, *, user: str) -> tuple[str, dict[str, Any]]:
    """The SQL for topics alone: a way for each, which walks no further than the limit."""
    conditions, values = _conditions(replace(query, topics=()))
    bound = {f"topic{place}": label for place, label in enumerate(dict.fromkeys(map(fold_label, query.topics)))}
    ways = [_with(_TOPIC_WAY, topic=topic, conditions=_joined(conditions)) for topic in bound]
    values |= bound | {"user": user, "limit": -1 if query.limit is None else query.limit}
    return _united(ways), values


def _united(ways: Sequence[str]) -> str:
    """The SQL for facts that match in one of these ways; one way alone is already in the order of the result."""
    if len(ways) == 1:
        return _with(ways[0], columns=_ROW)
    keys = " UNION ".join(f"SELECT key FROM ({_with(way, columns='f.key')})" for way in ways)  # noqa: S608
    return _with(_FACTS, columns=_ROW, ways=keys)


def _with(sql: str, **parts: str) -> str:
    """The SQL with these parts in the places named for them."""
    for name, part in parts.items():
        sql = sql.replace(f"{{{name}}}", part)
    return sql


def _ways(query: FactQuery) -> tuple[list[tuple[str, str]], dict[str, Any]]:
    """The ways in which a fact can match, each as the index to walk and a condition; and their values."""
    if query.names:
        return _by_names([name for name in map(valid_unicode, dict.fromkeys(query.names)) if name])
    selective = next((by for field, by in _LESS_SELECTIVE.items() if getattr(query, field)), "")
    return [(selective or _BY_UPDATE, "")], {}


def _by_names(names: Sequence[str]) -> tuple[list[tuple[str, str]], dict[str, Any]]:
    """A way for each name and end, which walks no further than the limit.

    Of many names few have any fact, and one way for all of them is enough.
    """
    linking = ("INDEXED BY memory_facts_by_document", _LINKS_TO_NAMED)
    if len(names) > _MANY_NAMES:
        together = [(f"INDEXED BY memory_facts_by_{end}", f"f.{end} <> '' AND f.{end} {_IN_NAMES}") for end in _ENDS]
        return [*together, linking], {"names": json_text(names)}
    bound = {f"name{place}": name for place, name in enumerate(names)}
    ways = [
        (f"INDEXED BY memory_facts_by_{end}", f"f.{end} <> '' AND f.{end} = :{name}") for name in bound for end in _ENDS
    ]
    return [*ways, linking], bound | {"names": json_text(names)}


def _conditions(query: FactQuery) -> tuple[list[str], dict[str, Any]]:
    available: dict[str, tuple[str, Any]] = {
        "ids": ("f.id " + _IN, _texts(query.ids)),
        "paths": ("f.path " + _IN, _texts(query.paths)),
        "fingerprint": ("f.fingerprint <> '' AND f.fingerprint = :{name}", valid_unicode(query.fingerprint)),
        "claims": ("f.claim <> '' AND f.claim " + _IN, _texts(query.claims)),
        "bond": ("f.key IN (SELECT fact FROM memory_bonds WHERE bond = :{name})", query.bond),
        "predicate": ("f.predicate <> '' AND f.predicate = :{name}", valid_unicode(query.predicate)),
        "topics": (_HAS_TOPIC, _labels(query.topics)),
        "statuses": ("f.status " + _IN, _texts(query.statuses)),
        "origins": ("f.origin " + _IN, _texts(query.origins)),
        "kinds": (f"{_KIND} {_IN}", _texts(query.kinds)),
        "trusts": (f"{_TRUST} {_IN}", _texts(query.trusts)),
        "recorded_from": (f"{_RECORDED} >= :{{name}}", query.recorded_from),
        "recorded_until": (f"{_RECORDED} < :{{name}}", query.recorded_until),
        "text": ("lower(f.fact_json ->> '$.text') LIKE :{name} ESCAPE '\\'", like_pattern(query.text)),
        "cue": (_CUES, like_pattern(query.cue)),
    }
    conditions = [available[name][0].format(name=name) for name in available if getattr(query, name)]
    values = {name: available[name][1] for name in available if getattr(query, name)}
    if query.prefix:
        conditions.append("f.id >= :prefix AND f.id < :after")
        values |= {"prefix": valid_unicode(query.prefix), "after": valid_unicode(query.prefix) + "\U0010ffff"}
    if query.folder:
        conditions.append("f.path >= :folder AND f.path < :beyond")
        values |= {"folder": valid_unicode(query.folder), "beyond": valid_unicode(query.folder) + "\U0010ffff"}
    if query.suffix:
        conditions.append("substr(f.id, -6) = :tail AND substr(f.id, -length(:suffix)) = :suffix")
        values |= {"suffix": valid_unicode(query.suffix), "tail": valid_unicode(query.suffix)[-ID_SUFFIX_LENGTH:]}
    if query.after:
        conditions.append("f.updated_at <= :page_at AND (f.updated_at < :page_at OR f.id > :page_id)")
        values |= {"page_at": query.after[0], "page_id": query.after[1]}
    flags = {
        "f.always_load = 1": query.always_load,
        "f.sensitive = 0": not query.sensitive,
        "f.sensitive = 1": query.only_sensitive,
        "f.place <> 'staging'": not query.staged,
        "f.place = 'staging'": query.only_staged,
    }
    return [*conditions, *(condition for condition, is_set in flags.items() if is_set)], values


def _joined(conditions: Sequence[str]) -> str:
    return "".join(f" AND {each}" for each in conditions if each)


def like_pattern(text: str) -> str:
    """The pattern of texts that have this one in them."""
    escaped = re.sub(r"[\\%_]", r"\\\g<0>", valid_unicode(text))
    return f"%{escaped.translate(_ASCII_LOWER)}%"


def _texts(texts: Sequence[str]) -> str:
    return json_text([*texts])


def _labels(labels: Sequence[str]) -> str:
    return json_text([fold_label(label) for label in labels])
