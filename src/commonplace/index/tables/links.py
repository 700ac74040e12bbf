"""Links in SQL: what each one resolves to, kept up to date when documents are added, removed or renamed.

Tables: `memory_names`, `memory_links`, `memory_link_names`.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

from commonplace.index.base import VAULT_SOURCE, Edge, Linker
from commonplace.index.document_values import fold_label, valid_unicode
from commonplace.index.tables.filters import EntityMatches
from commonplace.index.tables.sql import SqlConnection, first_free_key, json_text
from commonplace.model import Document, Link

_NAMES_OF: Final = "SELECT name FROM memory_names WHERE document = ?"
_ADD_NAME: Final = "INSERT INTO memory_names (name, document) VALUES (?, ?)"
_ADD_LINK: Final = (
    "INSERT INTO memory_links (key, document, position, line, target, relation, link_json) VALUES (?, ?, ?, ?, ?, ?, ?)"
)
_LINK_COLUMNS: Final = ("target", "line", "relation")
_ADD_LINK_NAME: Final = "INSERT INTO memory_link_names (name, link) VALUES (?, ?)"
# CROSS JOIN fixes the order of the tables: otherwise SQLite scans all documents of the user.
_AFFECTED: Final = """
SELECT l.key, d.source_id, l.path, l.target, l.line, l.relation, l.link_json
FROM memory_links l CROSS JOIN memory_documents d ON d.key = l.document
WHERE d.user_id = :user AND l.key IN
  (SELECT key FROM memory_links WHERE document IN (SELECT value FROM json_each(:documents))
   UNION SELECT link FROM memory_link_names WHERE name IN (SELECT value FROM json_each(:names)))
"""
_AMONG: Final = """
SELECT DISTINCT d.key, d.source_id, d.aliases_json
FROM memory_names n CROSS JOIN memory_documents d ON d.key = n.document
WHERE n.name IN (SELECT value FROM json_each(:names)) AND d.user_id = :user AND d.deleted_at IS NULL
"""
_TITLED: Final = """
SELECT d.key, d.source_id FROM memory_labels JOIN memory_documents d ON d.key = document
WHERE field = 'title' AND label = :title AND d.user_id = :user AND d.deleted_at IS NULL
"""
_LINKS: Final = """
SELECT d.source_id, l.target, l.path, l.line, l.relation
FROM memory_links l CROSS JOIN memory_documents d ON d.key = l.document
WHERE d.user_id = :user AND d.deleted_at IS NULL {which} ORDER BY d.source_id, d.source_type, l.position
"""
# There is no index by path alone, but few source types: each is looked up in turn.
_LINKS_FROM: Final = """
  WITH RECURSIVE types (type) AS (
    SELECT min(source_type) FROM memory_documents WHERE user_id = :user
    UNION ALL
    SELECT (SELECT min(source_type) FROM memory_documents WHERE user_id = :user AND source_type > type)
    FROM types WHERE type IS NOT NULL)
  SELECT f.key FROM memory_documents s CROSS JOIN memory_links f ON f.document = s.key
  WHERE s.user_id = :user AND s.source_type IN (SELECT type FROM types)
    AND s.source_id IN (SELECT value FROM json_each(:paths))
"""
_LINKS_OF: Final = f"""
AND l.key IN ({_LINKS_FROM}
  UNION SELECT key FROM memory_links WHERE path IN (SELECT value FROM json_each(:paths)))
"""  # noqa: S608
# Not by the links to these documents: thousands may lead to one of them.
_LINKS_AMONG: Final = f"AND l.key IN ({_LINKS_FROM} AND f.path IN (SELECT value FROM json_each(:paths)))"  # noqa: S608
_BONDS: Final = """
SELECT DISTINCT s.path, b.target, t.path, 0, b.bond FROM {which} b
CROSS JOIN memory_facts s ON s.key = b.fact AND s.user_id = :user AND s.keeps = 1
CROSS JOIN memory_facts t INDEXED BY memory_facts_by_id ON t.id = b.target AND t.user_id = :user AND t.keeps = 1
WHERE s.path <> t.path {and_} ORDER BY s.path, t.path, b.target, b.bond
"""
_BONDS_FROM: Final = """
 SELECT b.* FROM memory_facts f INDEXED BY memory_facts_by_path CROSS JOIN memory_bonds b ON b.fact = f.key
 WHERE f.user_id = :user AND f.keeps = 1 AND f.path IN (SELECT value FROM json_each(:paths))
"""
_BONDS_OF: Final = f"""
({_BONDS_FROM}
 UNION SELECT b.* FROM memory_facts f INDEXED BY memory_facts_by_path CROSS JOIN memory_bonds b ON b.target = f.id
 WHERE f.user_id = :user AND f.keeps = 1 AND f.path IN (SELECT value FROM json_each(:paths)))
"""  # noqa: S608
_IS_TO_THEM: Final = "AND t.path IN (SELECT value FROM json_each(:paths))"


@dataclass(frozen=True, slots=True)
class LinkTables:
    """The links of one user's documents. All methods work inside the caller's transaction."""

    user: str
    linker: Linker

    def names(self, connection: SqlConnection, document: int) -> frozenset[str]:
        """The names by which links can refer to the document with that key now."""
        return frozenset(name for (name,) in connection.execute(_NAMES_OF, (document,)))

    def delete(self, connection: SqlConnection, key: int) -> None:
        """Delete the names and links of the document with that key."""
        connection.execute("DELETE FROM memory_names WHERE document = ?", (key,))
        connection.execute("DELETE FROM memory_links WHERE document = ?", (key,))

    def write(self, connection: SqlConnection, documents: Mapping[int, Document]) -> frozenset[str]:
        """Add the names and links of these documents, by key, which have none; returns the names."""
        names = {key: self._names_of(document) for key, document in documents.items()}
        connection.executemany(_ADD_NAME, [(name, key) for key, own in names.items() for name in sorted(own)])
        if any(link.target for document in documents.values() for link in document.links):
            self._write_links(connection, documents)
        return frozenset().union(*names.values())

    def _write_links(self, connection: SqlConnection, documents: Mapping[int, Document]) -> None:
        rows, names, first = [], [], first_free_key(connection, "memory_links")
        placed = [(key, *each) for key, document in documents.items() for each in enumerate(_with_target(document))]
        for number, (document, position, link) in enumerate(placed, start=first):
            texts = (valid_unicode(link.target), valid_unicode(link.relation), _other_fields(link))
            rows.append((number, document, position, link.line, *texts))
            targets = {valid_unicode(name) for name in self.linker.names_in(link)}
            names += [(name, number) for name in sorted(targets)]
        connection.executemany(_ADD_LINK, rows)
        connection.executemany(_ADD_LINK_NAME, names)

    def resolve(self, connection: SqlConnection, documents: Iterable[int], changed: Iterable[str]) -> None:
        """Resolve the links of these documents, and all links to one of the changed names, again."""
        values = {"user": self.user, "documents": json_text([*documents]), "names": json_text([*changed])}
        affected: list[Any] = connection.execute(_AFFECTED, values).fetchall()
        candidates: dict[frozenset[str], dict[str, tuple[str, ...]]] = {}
        for key, source, stored, *fields in affected:
            link = _stored_link(*fields)
            names = frozenset(self.linker.names_in(link))
            if names not in candidates:
                candidates[names] = {path: aliases for _, path, aliases in self._among(connection, names)}
            path = self.linker.resolve(link, source=source, among=candidates[names])
            if path != stored:
                connection.execute("UPDATE memory_links SET path = ? WHERE key = ?", (path, key))

    def find_entities(self, connection: SqlConnection, names: Iterable[str]) -> EntityMatches:
        """The documents to which these titles, aliases or paths refer."""
        keys: dict[int, str] = {}
        for name in names:
            titled = {"title": fold_label(name), "user": self.user}
            keys |= dict(connection.execute(_TITLED, titled).fetchall())
            link = _link_to(valid_unicode(name))
            for key, path, aliases in self._among(connection, self.linker.names_in(link)):
                if self.linker.resolve(link, source="", among={path: aliases}) == path:
                    keys[key] = path
        return EntityMatches(keys=tuple(sorted(keys)), paths=tuple(sorted(keys.values())))

    def _names_of(self, document: Document) -> frozenset[str]:
        if document.source_type != VAULT_SOURCE:
            return frozenset()
        return frozenset(valid_unicode(name) for name in self.linker.names_of(document.source_id, document.aliases))

    def _among(self, connection: SqlConnection, names: Iterable[str]) -> list[tuple[int, str, tuple[str, ...]]]:
        values: Mapping[str, Any] = {"user": self.user, "names": json_text([*names])}
        rows = connection.execute(_AMONG, values)
        return [(key, path, tuple(json.loads(aliases))) for key, path, aliases in rows]


def _with_target(document: Document) -> list[Link]:
    return [link for link in document.links if link.target]


def _other_fields(link: Link) -> str:
    """The fields of a link that have no column of their own, those that are None left out; as JSON."""
    fields = {name: value for name, value in asdict(link).items() if name not in _LINK_COLUMNS and value is not None}
    return json_text(fields)


def _stored_link(target: str, line: int, relation: str, others: str) -> Link:
    fields: dict[str, Any] = {"heading": None, "block": None, "alias": None, **json.loads(others)}
    return Link(target=target, line=line, relation=relation, **fields)


def _link_to(name: str) -> Link:
    return Link(
        target=name, heading=None, block=None, alias=None, form="wikilink", where="body", line=0, start=0, end=0
    )


def edges_of(connection: SqlConnection, user: str, paths: Iterable[str], *, among: bool = False) -> tuple[Edge, ...]:
    """Edges from or to these documents, or all: links by document and position, then bonds, sorted.

    With `among`, only those between two of these documents.
    """
    selected = [*paths]
    if among and not selected:
        return ()
    values = {"user": user, "paths": json_text(selected)} if selected else {"user": user}
    links = _LINKS.format(which=_LINKS_AMONG if among else _LINKS_OF if selected else "")
    which = f"({_BONDS_FROM})" if among else _BONDS_OF if selected else "memory_bonds"
    bonds = _BONDS.format(which=which, and_=_IS_TO_THEM if among else "")
    rows: list[Any] = [row for query in (links, bonds) for row in connection.execute(query, values)]
    return tuple(Edge(*row) for row in rows)
