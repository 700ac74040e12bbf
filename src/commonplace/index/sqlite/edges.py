"""Edges between documents: links, and the bonds between the facts that stand in them."""

from collections.abc import Iterable
from typing import Any, Final

import apsw

from commonplace.index.base import Edge
from commonplace.index.sqlite.rows import json_text

_LINKS: Final = """
SELECT d.source_id, l.target, l.path, l.line, l.relation
FROM memory_links l CROSS JOIN memory_documents d ON d.key = l.document
WHERE d.user_id = :user AND d.deleted_at IS NULL {which} ORDER BY d.source_id, d.source_type, l.position
"""
# The types of source are few and there is no index by path alone: each is looked up in turn.
_LINKS_OF: Final = """
AND l.key IN (
  WITH RECURSIVE types (type) AS (
    SELECT min(source_type) FROM memory_documents WHERE user_id = :user
    UNION ALL
    SELECT (SELECT min(source_type) FROM memory_documents WHERE user_id = :user AND source_type > type)
    FROM types WHERE type IS NOT NULL)
  SELECT f.key FROM memory_documents s CROSS JOIN memory_links f ON f.document = s.key
  WHERE s.user_id = :user AND s.source_type IN (SELECT type FROM types)
    AND s.source_id IN (SELECT value FROM json_each(:paths))
  UNION SELECT key FROM memory_links WHERE path IN (SELECT value FROM json_each(:paths)))
"""
_BONDS: Final = """
SELECT DISTINCT s.path, b.target, t.path, 0, b.bond FROM {which} b
CROSS JOIN memory_facts s ON s.key = b.fact AND s.user_id = :user AND s.keeps = 1
CROSS JOIN memory_facts t INDEXED BY memory_facts_by_id ON t.id = b.target AND t.user_id = :user AND t.keeps = 1
WHERE s.path <> t.path ORDER BY s.path, t.path, b.target, b.bond
"""
_BONDS_OF: Final = """
(SELECT b.* FROM memory_facts f INDEXED BY memory_facts_by_path CROSS JOIN memory_bonds b ON b.fact = f.key
 WHERE f.user_id = :user AND f.keeps = 1 AND f.path IN (SELECT value FROM json_each(:paths))
 UNION SELECT b.* FROM memory_facts f INDEXED BY memory_facts_by_path CROSS JOIN memory_bonds b ON b.target = f.id
 WHERE f.user_id = :user AND f.keeps = 1 AND f.path IN (SELECT value FROM json_each(:paths)))
"""


def edges_of(connection: apsw.Connection, user: str, paths: Iterable[str]) -> tuple[Edge, ...]:
    """The edges from or to these documents, or all edges: links by document and place, then bonds in order."""
    asked = [*paths]
    values = {"user": user, "paths": json_text(asked)} if asked else {"user": user}
    links = _LINKS.format(which=_LINKS_OF if asked else "")
    bonds = _BONDS.format(which=_BONDS_OF if asked else "memory_bonds")
    rows: list[Any] = [row for query in (links, bonds) for row in connection.execute(query, values)]
    return tuple(Edge(*row) for row in rows)
