"""Links in the file: which document each of them means, kept true whenever a document comes, goes or changes names."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import apsw

from commonplace.index.base import LINKED, Linker
from commonplace.index.sqlite.filters import Entities
from commonplace.index.sqlite.rows import folded, json_text, link_of, link_text, storable
from commonplace.model import Document, Link

_NAMES_OF: Final = "SELECT name FROM memory_names WHERE document = ?"
_ADD_NAME: Final = "INSERT INTO memory_names (name, document) VALUES (?, ?)"
_ADD_LINK: Final = (
    "INSERT INTO memory_links (document, position, line, target, relation, link_json)"
    " VALUES (?, ?, ?, ?, ?, ?) RETURNING key"
)
_ADD_LINK_NAME: Final = "INSERT INTO memory_link_names (name, link) VALUES (?, ?)"
# CROSS JOIN holds SQLite to the order of the tables: left to itself it walks all documents of the user.
_AFFECTED: Final = """
SELECT l.key, d.source_id, l.link_json FROM memory_links l CROSS JOIN memory_documents d ON d.key = l.document
WHERE d.user_id = :user AND l.key IN
  (SELECT key FROM memory_links WHERE document = :document
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


@dataclass(frozen=True, slots=True)
class Links:
    """The links of one user's documents. All methods work inside the caller's transaction."""

    user: str
    linker: Linker

    def names(self, connection: apsw.Connection, document: int) -> frozenset[str]:
        """The names under which the document with that key can be meant now."""
        return frozenset(name for (name,) in connection.execute(_NAMES_OF, (document,)))

    def write(self, connection: apsw.Connection, key: int, document: Document) -> frozenset[str]:
        """Keep the document's names and links, in the place of earlier ones; its names come back."""
        connection.execute("DELETE FROM memory_names WHERE document = ?", (key,))
        connection.execute("DELETE FROM memory_links WHERE document = ?", (key,))
        names = self._names_of(document)
        connection.executemany(_ADD_NAME, ((name, key) for name in names))
        for position, link in enumerate(link for link in document.links if link.target):
            values = (key, position, link.line, storable(link.target), storable(link.relation), link_text(link))
            row: int = connection.execute(_ADD_LINK, values).get
            may_mean = {storable(name) for name in self.linker.names_in(link)}
            connection.executemany(_ADD_LINK_NAME, ((name, row) for name in may_mean))
        return names

    def resolve(self, connection: apsw.Connection, document: int | None, changed: Iterable[str]) -> None:
        """Resolve the links of that document, and those that may mean a document of one of the changed names."""
        values = {"user": self.user, "document": document, "names": json_text([*changed])}
        affected: list[Any] = connection.execute(_AFFECTED, values).fetchall()
        known: dict[frozenset[str], dict[str, tuple[str, ...]]] = {}
        for key, source, text in affected:
            link = link_of(text)
            names = frozenset(self.linker.names_in(link))
            if names not in known:
                known[names] = {path: aliases for _, path, aliases in self._among(connection, names)}
            path = self.linker.resolve(link, source=source, among=known[names])
            connection.execute("UPDATE memory_links SET path = ? WHERE key = ? AND path IS NOT ?", (path, key, path))

    def entities(self, connection: apsw.Connection, names: Iterable[str]) -> Entities:
        """The documents that these titles, aliases or paths mean."""
        keys: dict[int, str] = {}
        for name in names:
            titled = {"title": folded(name), "user": self.user}
            keys |= dict(connection.execute(_TITLED, titled))
            link = _link_to(storable(name))
            for key, path, aliases in self._among(connection, self.linker.names_in(link)):
                if self.linker.resolve(link, source="", among={path: aliases}) == path:
                    keys[key] = path
        return Entities(keys=tuple(sorted(keys)), paths=tuple(sorted(keys.values())))

    def _names_of(self, document: Document) -> frozenset[str]:
        if document.source_type != LINKED:
            return frozenset()
        return frozenset(storable(name) for name in self.linker.names_of(document.source_id, document.aliases))

    def _among(self, connection: apsw.Connection, names: Iterable[str]) -> list[tuple[int, str, tuple[str, ...]]]:
        values: Mapping[str, Any] = {"user": self.user, "names": json_text([*names])}
        rows = connection.execute(_AMONG, values)
        return [(key, path, tuple(json.loads(aliases))) for key, path, aliases in rows]


def _link_to(name: str) -> Link:
    return Link(
        target=name, heading=None, block=None, alias=None, form="wikilink", where="body", line=0, start=0, end=0
    )
