"""Queries of the index, all inside one read transaction; search runs on the segments of its snapshot."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any, Final

import apsw
import numpy as np
import numpy.typing as npt

from commonplace.index.base import (
    VAULT_SOURCE,
    Bm25Parameters,
    ChunkAttributes,
    Counts,
    Edge,
    StoredChunk,
    VectorMatch,
    WordMatches,
)
from commonplace.index.segments.bm25 import best_chunks, build_word_query, document_scores
from commonplace.index.segments.quantize import Fixed, quantize_query
from commonplace.index.segments.segment import ChunkSelection, select_ranges
from commonplace.index.segments.vector_search import nearest_chunks, score_chunks, similarity_matrix
from commonplace.index.sqlite.documents import (
    STORED_CHUNK_COLUMNS,
    check_dim,
    problems_of,
    stored_chunk,
)
from commonplace.index.sqlite.fact_queries import SqliteFactReader
from commonplace.index.sqlite.facts import FactTables
from commonplace.index.sqlite.filters import EntityMatches, at_change, last_change_sql, passing_sql, searchable_sql
from commonplace.index.sqlite.links import LinkTables, edges_of
from commonplace.index.sqlite.snapshots import Snapshot, open_segment_folder
from commonplace.model import Filters, Problem

# CROSS JOIN fixes the order: from the few chunks to their documents, not from all documents to their chunks.
_CHUNKS: Final = f"""
SELECT {STORED_CHUNK_COLUMNS} FROM memory_chunks c CROSS JOIN memory_documents d ON d.id = c.document_id
WHERE c.number IN (SELECT value FROM json_each(:numbers)) AND d.user_id = :user AND d.deleted_at IS NULL
"""  # noqa: S608
_ATTRIBUTES: Final = """
SELECT c.number, c.chunk_id, d.id, d.first_chunk, d.first_chunk + d.chunk_count - 1,
  iif(d.source_type = :linked, d.source_id, ''), c.line, d.place, c.voice, c.speaker, c.at,
  d.updated_at, d.importance
FROM memory_chunks c CROSS JOIN memory_documents d ON d.id = c.document_id
WHERE c.number IN (SELECT value FROM json_each(:numbers)) AND d.user_id = :user AND d.deleted_at IS NULL
"""
_SPEAKERS: Final = """
SELECT DISTINCT l.label FROM memory_labels l CROSS JOIN memory_documents d ON d.key = l.document
WHERE l.field = 'speaker' AND d.user_id = :user AND d.deleted_at IS NULL AND d.sensitive <= :sensitive
"""
_DOCUMENTS: Final = " FROM memory_documents WHERE user_id = :user AND deleted_at IS NULL"
_VERSIONS: Final = f"SELECT embedding_version, sum(encoded_count){_DOCUMENTS} GROUP BY 1 HAVING sum(encoded_count) > 0"
_VECTOR_COUNTS: Final = (
    f"SELECT embedding_version, sum(vector_count){_DOCUMENTS} GROUP BY 1 HAVING sum(vector_count) > 0"
)
_WAITING: Final = f"SELECT coalesce(sum(chunk_count), 0){_DOCUMENTS} AND embedding_version = ''"
_SOURCES: Final = f"SELECT source_type, count(*){_DOCUMENTS} GROUP BY 1"
_TOTALS: Final = (
    "SELECT coalesce(sum(chunk_count), 0), coalesce(sum(sensitive), 0),"
    f" coalesce(sum(json_array_length(problems_json)), 0){_DOCUMENTS}"
)
_REMOVED: Final = "SELECT count(*) FROM memory_documents WHERE user_id = :user AND deleted_at IS NOT NULL"
_LINK_COUNTS: Final = (
    "SELECT count(*), count(*) - count(l.path) FROM memory_links l JOIN memory_documents d ON d.key = l.document"
    " WHERE d.user_id = :user AND d.deleted_at IS NULL"
)
_DIMS: Final = "SELECT version, dim FROM memory_encoders"
_LAST_SYNC: Final = "SELECT at FROM memory_syncs WHERE user_id = :user"


class SqliteReader(SqliteFactReader):
    """The index as one connection sees it inside its transaction. The snapshot caches what queries read."""

    def __init__(
        self, connection: apsw.Connection, snapshot: Snapshot, *, links: LinkTables, facts: FactTables
    ) -> None:
        super().__init__(connection, facts)
        self._snapshot = snapshot
        self._links = links

    def match_words(
        self, words: Sequence[str], filters: Filters, *, limit: int, bm25: Bm25Parameters, also: Sequence[int] = ()
    ) -> WordMatches:
        """The best chunks that have one of the words, and those of `also`; of equal ones the lower number is first."""
        segments, selection = self._snapshot.segments, self._selection(filters)
        query = build_word_query(words, segments, self._searchable(), bm25=bm25)
        return best_chunks(query, segments, selection, limit=limit, also=also)

    def match_vector(self, vector: Fixed, filters: Filters, *, version: str, limit: int) -> tuple[VectorMatch, ...]:
        """The chunks nearest to the vector; of equal ones the lower number is first.

        Raises UsageError if the vector has another length than those of its version.
        """
        check_dim(self._dims(), version, len(vector))
        query, segments = quantize_query(vector), self._snapshot.segments
        return nearest_chunks(query, version, segments, self._selection(filters), limit=limit)

    def score_vector(self, vector: Fixed, numbers: Sequence[int], *, version: str) -> tuple[VectorMatch, ...]:
        """These chunks compared with the vector, in this order. Raises UsageError as `match_vector` does."""
        check_dim(self._dims(), version, len(vector))
        query, segments = quantize_query(vector), self._snapshot.segments
        return score_chunks(query, numbers, version, segments=segments, selection=self._searchable())

    def chunk_attributes(self, numbers: Sequence[int]) -> Mapping[int, ChunkAttributes]:
        """The attributes of these chunks, in this order; chunks that do not exist are left out."""
        cached = self._snapshot.attributes
        attributes = {number: each for number in numbers if (each := cached.get(number))}
        missing = [int(number) for number in numbers if number not in attributes]
        if missing:
            rows = self._select(_ATTRIBUTES, numbers=json.dumps(missing), linked=VAULT_SOURCE)
            read = {row[0]: ChunkAttributes._make(row) for row in rows}
            self._snapshot.cache_attributes(read)
            attributes |= read
        return {number: attributes[number] for number in numbers if number in attributes}

    def score_documents(
        self, words: Sequence[str], documents: Sequence[ChunkAttributes], *, bm25: Bm25Parameters
    ) -> list[float]:
        """The BM25 score of each of these documents, all its chunks taken as one text."""
        segments, searchable = self._snapshot.segments, self._searchable()
        query = build_word_query(words, segments, searchable, bm25=bm25)
        return document_scores(query, documents, segments, searchable)

    def document_similarity(self, documents: Sequence[ChunkAttributes], *, version: str, top: int) -> list[list[float]]:
        """For each of these documents, its cosine with each of the first `top`."""
        return similarity_matrix(documents, version, self._snapshot.segments, top=top)

    def chunks(self, numbers: Sequence[int]) -> tuple[StoredChunk, ...]:
        """The chunks with these numbers, in this order; numbers without a chunk are left out."""
        rows = self._select(_CHUNKS, numbers=json.dumps([*map(int, numbers)]))
        chunks = {each.number: each for each in map(stored_chunk, rows)}
        return tuple(chunks[number] for number in numbers if number in chunks)

    def count_documents(self, filters: Filters) -> int:
        """How many documents pass the filters."""
        sql, values = passing_sql(filters, self._entities(filters.entities))
        return len(self._select(sql, **values))

    def speakers(self, *, sensitive: bool) -> frozenset[str]:
        """The names of all speakers in the index, with or without those of sensitive documents."""
        cached = self._snapshot.speakers
        if sensitive not in cached:
            cached[sensitive] = frozenset(name for (name,) in self._select(_SPEAKERS, sensitive=sensitive))
        return cached[sensitive]

    def versions(self) -> Mapping[str, int]:
        """How many chunks have vectors of each version; "" counts those that wait for vectors."""
        if not self._snapshot.versions:
            ((waiting,),) = self._select(_WAITING)
            self._snapshot.versions.update(dict(self._select(_VERSIONS)) | ({"": waiting} if waiting else {}))
        return self._snapshot.versions

    def counts(self) -> Counts:
        """What the index holds."""
        ((chunks, sensitive, problems),) = self._select(_TOTALS)
        ((links, unresolved),) = self._select(_LINK_COUNTS)
        return Counts(
            documents=dict(self._select(_SOURCES)),
            chunks=chunks,
            removed=self._select(_REMOVED)[0][0],
            vectors=dict(self._select(_VECTOR_COUNTS)),
            waiting=self._select(_WAITING)[0][0],
            links=links,
            unresolved=unresolved,
            sensitive=sensitive,
            problems=problems,
            size=self._size(),
            synced=self.last_sync(),
        )

    def last_sync(self) -> str | None:
        """When a whole source was last compared with the index, or None."""
        rows = self._select(_LAST_SYNC)
        return rows[0][0] if rows else None

    def problems(self) -> tuple[Problem, ...]:
        """Every Problem of every document, sorted."""
        rows = self._select(f"SELECT problems_json{_DOCUMENTS} AND problems_json <> '[]'")
        return tuple(sorted(problem for (text,) in rows for problem in problems_of(text)))

    def edges(self, paths: Iterable[str] = ()) -> tuple[Edge, ...]:
        """Links from or to these documents, or all links; then the bonds between facts of different documents."""
        return edges_of(self._connection, self._links.user, paths)

    def _size(self) -> int:
        file, folder = Path(self._connection.filename), open_segment_folder(self._connection)
        files = [file, file.with_name(f"{file.name}-wal"), *(folder / each.name for each in self._snapshot.files)]
        return sum(each.stat().st_size for each in files if each.is_file())

    def _select(self, sql: str, **values: Any) -> list[Any]:
        bound = {name: value for name, value in {"user": self._links.user, **values}.items() if f":{name}" in sql}
        return self._connection.execute(sql, bound).fetchall()

    def _dims(self) -> Mapping[str, int]:
        if not self._snapshot.dims:
            self._snapshot.dims.update(dict(self._select(_DIMS)))
        return self._snapshot.dims

    def _searchable(self, *, at: str = "") -> ChunkSelection:
        """Every chunk that a search may return, whatever its filters."""
        cached = self._snapshot.selections.get(None)
        if cached:
            return cached
        ranges = self._ranges(*searchable_sql(at), columns=3)
        segments = self._snapshot.segments
        self._snapshot.cache_selection(Filters(at=at), select_ranges(ranges[ranges[:, 2] > 0, :2], segments))
        return self._snapshot.cache_selection(None, select_ranges(ranges[:, :2], segments))

    def _selection(self, filters: Filters) -> ChunkSelection:
        """The chunks that pass the filters."""
        last_change = last_change_sql(filters)
        rounded = at_change(filters, self._select(last_change[0], **last_change[1])[0][0] if last_change else "")
        self._searchable(at=rounded.at)
        cached = self._snapshot.selections.get(rounded)
        if cached:
            return cached
        ranges = self._ranges(*passing_sql(rounded, self._entities(rounded.entities)), columns=2)
        return self._snapshot.cache_selection(rounded, select_ranges(ranges, self._snapshot.segments))

    def _ranges(self, sql: str, values: Mapping[str, Any], *, columns: int) -> npt.NDArray[np.int64]:
        return np.fromiter(chain.from_iterable(self._select(sql, **values)), np.int64).reshape(-1, columns)

    def _entities(self, names: Sequence[str]) -> EntityMatches:
        """The documents to which the entities of a filter refer, and the names under which facts are about them."""
        if not names:
            return EntityMatches()
        every = frozenset[str]().union(*map(self.entity_names, names))
        return replace(self._links.find_entities(self._connection, names), names=tuple(sorted(every)))
