"""Queries of chunks, documents and links, inside one read transaction."""

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

from commonplace.index.base import (
    VAULT_SOURCE,
    ChunkAttributes,
    Counts,
    Edge,
    FactQuery,
    NoteRow,
    StoredChunk,
    WrittenNote,
)
from commonplace.index.document_values import fold_label
from commonplace.index.tables.documents import STORED_CHUNK_COLUMNS, problems_of, stored_chunk
from commonplace.index.tables.fact_queries import FactReader, like_pattern
from commonplace.index.tables.facts import FactTables
from commonplace.index.tables.filters import EntityMatches, passing_sql
from commonplace.index.tables.links import LinkTables, edges_of
from commonplace.index.tables.sql import SqlConnection
from commonplace.model import FactRecord, Filters, Problem
from commonplace.model.template import KEY, SOURCE_VERSION, TEMPLATE

# CROSS JOIN fixes the order: from the few chunks to their documents, not from all documents to their chunks.
_CHUNKS: Final = f"""
SELECT {STORED_CHUNK_COLUMNS} FROM memory_chunks c CROSS JOIN memory_documents d ON d.id = c.document_id
WHERE c.number IN (SELECT value FROM json_each(:numbers)) AND d.user_id = :user AND d.deleted_at IS NULL
"""  # noqa: S608
_ATTRIBUTES: Final = """
SELECT c.number, c.chunk_id, d.id, d.first_chunk, d.first_chunk + d.chunk_count - 1,
  CASE WHEN d.source_type = :linked THEN d.source_id ELSE '' END, c.line, d.place, c.voice, c.speaker, c.at,
  CASE WHEN d.dated = 1 THEN d.updated_at ELSE '' END, d.importance, d.source_type
FROM memory_chunks c CROSS JOIN memory_documents d ON d.id = c.document_id
WHERE c.number IN (SELECT value FROM json_each(:numbers)) AND d.user_id = :user AND d.deleted_at IS NULL
"""
# From one name to the next, not through all documents of each.
_SPEAKERS: Final = """
WITH RECURSIVE names (name) AS (
  SELECT min(label) FROM memory_labels WHERE field = 'speaker'
  UNION ALL
  SELECT (SELECT min(label) FROM memory_labels WHERE field = 'speaker' AND label > name)
  FROM names WHERE name IS NOT NULL)
SELECT name FROM names WHERE name IS NOT NULL AND EXISTS (
  SELECT 1 FROM memory_labels l CROSS JOIN memory_documents d ON d.key = l.document
  WHERE l.field = 'speaker' AND l.label = name
    AND d.user_id = :user AND d.deleted_at IS NULL AND d.sensitive <= :sensitive)
"""
_DOCUMENTS: Final = " FROM memory_documents WHERE user_id = :user AND deleted_at IS NULL"
_MEMORY_SOURCES: Final = (
    f"SELECT source_id, content_hash{_DOCUMENTS} AND source_type = '{VAULT_SOURCE}' AND sensitive = 0"
    " AND lower(trim(metadata_json ->> '$.frontmatter.memory')) = 'source' ORDER BY source_id"
)
_WRITTEN_NOTES: Final = f"""
SELECT path, key, template, version FROM (
  SELECT source_id AS path, metadata_json ->> '$.frontmatter.{KEY}' AS key,
    coalesce(metadata_json ->> '$.frontmatter.{TEMPLATE}', '') AS template,
    coalesce(metadata_json ->> '$.frontmatter.{SOURCE_VERSION}', '') AS version
  {_DOCUMENTS} AND source_type = '{VAULT_SOURCE}' AND metadata_json -> '$.frontmatter.{KEY}' LIKE '"%')
WHERE :key IN ('', key) AND :template IN ('', template) ORDER BY path
"""  # noqa: S608
_NOTE_ROWS: Final = f"""
SELECT d.source_id, d.title, d.kind, d.place, d.updated_at, d.sensitive,
  EXISTS (SELECT 1 FROM memory_facts f WHERE f.document = d.key AND f.origin = 'entry'),
  (SELECT string_agg(e.name, '\n') FROM memory_entities e WHERE e.document = d.key)
FROM memory_documents d
WHERE d.user_id = :user AND d.deleted_at IS NULL AND d.source_type = '{VAULT_SOURCE}' ORDER BY d.source_id
"""  # noqa: S608
_TITLES_WITH: Final = """
SELECT t.name FROM (
  SELECT document, label AS name FROM memory_labels WHERE field = 'title'
  UNION ALL SELECT document, name FROM memory_entities) t JOIN memory_documents d ON d.key = t.document
WHERE t.name LIKE :part ESCAPE '\\'
  AND d.user_id = :user AND d.deleted_at IS NULL AND d.place <> 'staging' AND d.sensitive <= :sensitive
"""
_SOURCES: Final = f"SELECT source_type, count(*){_DOCUMENTS} GROUP BY 1"
_TOTALS: Final = f"SELECT coalesce(sum(chunk_count), 0), coalesce(sum(sensitive), 0){_DOCUMENTS}"
_REMOVED: Final = "SELECT count(*) FROM memory_documents WHERE user_id = :user AND deleted_at IS NOT NULL"
_LINK_COUNTS: Final = (
    "SELECT count(*), count(*) - count(l.path) FROM memory_links l JOIN memory_documents d ON d.key = l.document"
    " WHERE d.user_id = :user AND d.deleted_at IS NULL"
)
_LAST_SYNC: Final = "SELECT at FROM memory_syncs WHERE user_id = :user"


class VersionCounts(NamedTuple):
    """How many chunks of one encoder version there are, how many of these have vectors, and how many vectors."""

    chunks: int
    encoded: int
    vectors: int


class DocumentReader(FactReader, ABC):
    """What the index holds, as one connection sees it inside its transaction."""

    def __init__(
        self,
        connection: SqlConnection,
        *,
        links: LinkTables,
        facts: FactTables,
        kept: dict[FactQuery, tuple[FactRecord, ...]],
    ) -> None:
        super().__init__(connection, facts, kept)
        self._links = links

    @abstractmethod
    def _size(self) -> int:
        """How many bytes the index has on disk."""

    @abstractmethod
    def _version_counts(self) -> Mapping[str, VersionCounts]:
        """The counts of each encoder version, "" for chunks that wait for vectors; removed documents left out."""

    def chunks(self, numbers: Sequence[int]) -> tuple[StoredChunk, ...]:
        """The chunks with these numbers, in this order; numbers without a chunk are left out."""
        rows = self._select(_CHUNKS, numbers=json.dumps([*map(int, numbers)]))
        chunks = {each.number: each for each in map(stored_chunk, rows)}
        return tuple(chunks[number] for number in numbers if number in chunks)

    def count_documents(self, filters: Filters) -> int:
        """How many documents pass the filters."""
        sql, values = passing_sql(filters, self._entities(filters.entities))
        count: int = self._select(f"SELECT count(*) FROM ({sql})", **values)[0][0]  # noqa: S608
        return count

    def counts(self) -> Counts:
        """What the index holds."""
        ((chunks, sensitive),) = self._select(_TOTALS)
        ((links, unresolved),) = self._select(_LINK_COUNTS)
        versions = self._version_counts()
        return Counts(
            documents=dict(self._select(_SOURCES)),
            chunks=chunks,
            removed=self._select(_REMOVED)[0][0],
            vectors={version: each.vectors for version, each in versions.items() if each.vectors},
            waiting=versions[""].chunks if "" in versions else 0,
            links=links,
            unresolved=unresolved,
            sensitive=sensitive,
            problems=len(self.problems()),
            size=self._size(),
            synced=self.last_sync(),
        )

    def _encoded_chunks(self) -> dict[str, int]:
        """How many chunks have vectors of each version; "" counts those that wait for vectors."""
        counts = self._version_counts()
        encoded = {version: each.encoded for version, each in counts.items() if each.encoded}
        return encoded | ({"": counts[""].chunks} if "" in counts and counts[""].chunks else {})

    def last_sync(self) -> str | None:
        """When a whole source was last compared with the index, or None."""
        rows = self._select(_LAST_SYNC)
        return rows[0][0] if rows else None

    def memory_sources(self) -> Mapping[str, str]:
        """The notes that are marked `memory: source` and not sensitive: for each path the hash of its text."""
        return dict(self._select(_MEMORY_SOURCES))

    def written_notes(self, *, key: str = "", template: str = "") -> tuple[WrittenNote, ...]:
        """The notes whose frontmatter has an idempotency key: with that key, or of that template; sorted by path."""
        rows = self._select(_WRITTEN_NOTES, key=key, template=template)
        return tuple(WrittenNote(path, *map(str, rest)) for path, *rest in rows)

    def problems(self) -> tuple[Problem, ...]:
        """Every Problem of every document, sorted."""
        rows = self._select(f"SELECT problems_json{_DOCUMENTS} AND problems_json <> '[]'")
        return tuple(sorted(problem for (text,) in rows for problem in problems_of(text)))

    def note_rows(self) -> tuple[NoteRow, ...]:
        """Every note, by path."""
        return tuple(
            NoteRow._make((*row, bool(sensitive), bool(is_entry), frozenset(names.split("\n") if names else ())))
            for *row, sensitive, is_entry, names in self._select(_NOTE_ROWS)
        )

    def titles_with(self, part: str, *, sensitive: bool) -> tuple[str, ...]:
        """The titles of documents and the names of notes that contain this text, each once, folded and sorted."""
        rows = self._select(_TITLES_WITH, part=like_pattern(fold_label(part)), sensitive=int(sensitive))
        return tuple(sorted({name for (name,) in rows}))

    def edges(self, paths: Iterable[str] = (), *, among: bool = False) -> tuple[Edge, ...]:
        """Links from or to these documents, or all links; then the bonds between facts of different documents.

        With `among`, only those between two of these documents.
        """
        return edges_of(self._connection, self._links.user, paths, among=among)

    def _read_attributes(self, numbers: Sequence[int]) -> dict[int, ChunkAttributes]:
        rows = self._select(_ATTRIBUTES, numbers=json.dumps([*map(int, numbers)]), linked=VAULT_SOURCE)
        return {row[0]: ChunkAttributes._make(row) for row in rows}

    def _read_speakers(self, *, sensitive: bool) -> frozenset[str]:
        return frozenset(name for (name,) in self._select(_SPEAKERS, sensitive=int(sensitive)))

    def _entities(self, names: Sequence[str]) -> EntityMatches:
        """The documents to which the entities of a filter refer, and the names under which facts are about them."""
        if not names:
            return EntityMatches()
        every = frozenset[str]().union(*map(self.entity_names, names))
        return replace(self._links.find_entities(self._connection, names), names=tuple(sorted(every)))

    def _select(self, sql: str, **values: Any) -> list[Any]:
        bound = {name: value for name, value in {"user": self._links.user, **values}.items() if f":{name}" in sql}
        rows: list[Any] = self._connection.execute(sql, bound).fetchall()
        return rows
