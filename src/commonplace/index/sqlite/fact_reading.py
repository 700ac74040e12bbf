"""Questions about facts, inside one read transaction."""

from collections.abc import Iterable
from itertools import groupby
from typing import Any, Final

import apsw

from commonplace.index.base import Centroid, Contest, FactQuery
from commonplace.index.facts import keeping
from commonplace.index.sqlite.fact_query import facts_query
from commonplace.index.sqlite.fact_rows import fact_of, known_of
from commonplace.index.sqlite.facts import Facts
from commonplace.index.sqlite.rows import json_text, storable
from commonplace.index.sqlite.topics import centroids_of, known_topics
from commonplace.model import FactEdge, Known, Topic

_BONDS: Final = """
SELECT f.id, b.bond, b.target
FROM memory_facts f INDEXED BY memory_facts_by_id CROSS JOIN memory_bonds b ON b.fact = f.key
WHERE f.user_id = :user AND f.keeps = 1 AND f.id IN (SELECT value FROM json_each(:ids))
UNION
SELECT f.id, b.bond, b.target FROM memory_bonds b CROSS JOIN memory_facts f ON f.key = b.fact
WHERE b.target IN (SELECT value FROM json_each(:ids)) AND f.user_id = :user AND f.keeps = 1
ORDER BY 1, 2, 3
"""
_CONTESTS: Final = """
SELECT f.fact_json, w.fact_json, f.end_at
FROM memory_facts f INDEXED BY memory_facts_ended
CROSS JOIN memory_facts w INDEXED BY memory_facts_by_id ON w.user_id = :user AND w.id = f.end_by AND w.keeps = 1
WHERE f.user_id = :user AND f.end_by <> '' AND f.status = 'active' ORDER BY f.path, f.position
"""
_TWINS: Final = """
SELECT DISTINCT id, path FROM memory_facts INDEXED BY memory_facts_by_id
WHERE user_id = :user AND id IN (SELECT id FROM memory_facts INDEXED BY memory_facts_of_twins
  WHERE user_id = :user AND keeps = 0)
"""
_NAMED: Final = """
SELECT DISTINCT d.source_id FROM memory_entities e CROSS JOIN memory_documents d ON d.key = e.document
WHERE e.name = :name AND d.user_id = :user AND d.deleted_at IS NULL ORDER BY 1
"""
_KNOWN_NAMES: Final = """
SELECT n.value FROM json_each(:names) n
WHERE EXISTS (SELECT 1 FROM memory_entities e CROSS JOIN memory_documents d ON d.key = e.document
  WHERE e.name = n.value AND d.user_id = :user AND d.deleted_at IS NULL)
OR EXISTS (SELECT 1 FROM memory_facts f INDEXED BY memory_facts_by_subject
  WHERE f.user_id = :user AND f.subject <> '' AND f.subject = n.value AND f.keeps = 1)
OR EXISTS (SELECT 1 FROM memory_facts f INDEXED BY memory_facts_by_object
  WHERE f.user_id = :user AND f.object <> '' AND f.object = n.value AND f.keeps = 1)
"""
_CALLED: Final = """
SELECT DISTINCT m.name FROM memory_entities e
CROSS JOIN memory_documents d ON d.key = e.document CROSS JOIN memory_entities m ON m.document = d.key
WHERE e.name = :name AND d.user_id = :user AND d.deleted_at IS NULL
"""


class FactReading:
    """The facts as one connection sees them inside its transaction."""

    def __init__(self, connection: apsw.Connection, facts: Facts) -> None:
        self._connection = connection
        self._facts = facts

    def facts(self, asked: FactQuery) -> tuple[Known, ...]:
        """The facts that fit, those last updated first, then by id; each id once."""
        query, values = facts_query(asked, user=self._facts.user)
        rows: list[Any] = self._connection.execute(query, values).fetchall()
        return tuple(known_of(*row) for row in rows)

    def bonds(self, ids: Iterable[str]) -> tuple[FactEdge, ...]:
        """Every bond from or to these facts, `update` for each that supersedes another; in order."""
        return tuple(FactEdge(*row) for row in self._rows(_BONDS, ids=json_text([*ids])))

    def contests(self) -> tuple[Contest, ...]:
        """Every fact that is active and holds no longer because another does, in the order of paths and lines."""
        return tuple(Contest(fact_of(loser), fact_of(winner), at) for loser, winner, at in self._rows(_CONTESTS))

    def twins(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """The ids that stand at several paths, with those paths; the one that keeps it first."""
        rows = sorted(self._rows(_TWINS), key=lambda row: (row[0], *keeping(*row)))
        found = {identity: tuple(path for _, path in of) for identity, of in groupby(rows, key=lambda row: row[0])}
        return tuple((identity, paths) for identity, paths in found.items() if len(paths) > 1)

    def named(self, name: str) -> tuple[str, ...]:
        """The paths of the notes that have this name, in order."""
        asked = storable(self._facts.rules.entity(name))
        return tuple(path for (path,) in self._rows(_NAMED, name=asked))

    def known_names(self, names: Iterable[str]) -> frozenset[str]:
        """Those of these names that a note has or a fact is about."""
        asked = [*filter(None, map(storable, names))]
        return frozenset(name for (name,) in self._rows(_KNOWN_NAMES, names=json_text(asked)))

    def entities(self, name: str) -> frozenset[str]:
        """The names of what this one may mean: itself, and those of the notes that have it."""
        asked = storable(self._facts.rules.entity(name))
        called = {each for (each,) in self._rows(_CALLED, name=asked)}
        return frozenset(filter(None, {asked, *called}))

    def topics(self) -> tuple[Topic, ...]:
        """Every topic and how many documents are about it, in the order of their names."""
        return known_topics(self._connection, self._facts.user)

    def centroids(self, version: str) -> tuple[Centroid, ...]:
        """The middle of each topic that has one, in the order of their names."""
        return centroids_of(self._connection, self._facts.user, version)

    def _rows(self, query: str, **values: Any) -> list[Any]:
        return self._connection.execute(query, {"user": self._facts.user, **values}).fetchall()
