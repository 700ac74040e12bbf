"""Queries of the index, all inside one read transaction; search runs on the segments of its snapshot."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any, Final, TypeVar

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
from commonplace.index.segments.bm25 import best_chunks, build_word_query, chunks_with, document_scores
from commonplace.index.segments.quantize import Fixed, quantize_query
from commonplace.index.segments.segment import ChunkSelection, change_selection, select_ranges
from commonplace.index.segments.vector_search import nearest_chunks, score_chunks, similarity_matrix
from commonplace.index.sqlite.documents import (
    STORED_CHUNK_COLUMNS,
    check_dim,
    problems_of,
    stored_chunk,
)
from commonplace.index.sqlite.fact_queries import SqliteFactReader
from commonplace.index.sqlite.facts import FactTables
from commonplace.index.sqlite.filters import (
    EntityMatches,
    at_change,
    ended_sql,
    last_change_sql,
    passing_sql,
    searchable_sql,
)
from commonplace.index.sqlite.links import LinkTables, edges_of
from commonplace.index.sqlite.snapshots import Snapshot, changes_since, open_segment_folder
from commonplace.model import Filters, Problem

# CROSS JOIN fixes the order: from the few chunks to their documents, not from all documents to their chunks.
_CHUNKS: Final = f"""
SELECT {STORED_CHUNK_COLUMNS} FROM memory_chunks c CROSS JOIN memory_documents d ON d.id = c.document_id
WHERE c.number IN (SELECT value FROM json_each(:numbers)) AND d.user_id = :user AND d.deleted_at IS NULL
"""  # noqa: S608
_ATTRIBUTES: Final = """
SELECT c.number, c.chunk_id, d.id, d.first_chunk, d.first_chunk + d.chunk_count - 1,
  iif(d.source_type = :linked, d.source_id, ''), c.line, d.place, c.voice, c.speaker, c.at,
  iif(d.dated, d.updated_at, ''), d.importance, d.source_type
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
_OF_VERSIONS: Final = " FROM memory_versions WHERE user_id = :user"
_VERSIONS: Final = f"SELECT embedding_version, encoded{_OF_VERSIONS} AND encoded > 0"
_VECTOR_COUNTS: Final = f"SELECT embedding_version, vectors{_OF_VERSIONS} AND vectors > 0"
_WAITING: Final = f"SELECT coalesce(sum(chunks), 0){_OF_VERSIONS} AND embedding_version = ''"
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

T = TypeVar("T")


class SqliteReader(SqliteFactReader):
    """The index as one connection sees it inside its transaction. The snapshot caches what queries read."""

    def __init__(
        self,
        connection: apsw.Connection,
        snapshot: Snapshot,
        *,
        links: LinkTables,
        facts: FactTables,
        without_damaged: Callable[[apsw.Connection, Snapshot], Snapshot | None],
    ) -> None:
        super().__init__(connection, facts, snapshot.facts)
        self._snapshot = snapshot
        self._links = links
        self._without_damaged = without_damaged

    def match_words(
        self, words: Sequence[str], filters: Filters, *, limit: int, bm25: Bm25Parameters, also: Sequence[int] = ()
    ) -> WordMatches:
        """The best chunks that have one of the words, and those of `also`; of equal ones the lower number is first."""

        def find() -> WordMatches:
            segments, selection = self._snapshot.segments, self._selection(filters)
            query = build_word_query(words, segments, self._searchable(), bm25=bm25)
            return best_chunks(query, segments, selection, limit=limit, also=also)

        return self._in_segments(find)

    def chunks_with(self, words: Sequence[str], filters: Filters) -> tuple[int, ...]:
        """The numbers of the chunks that have all of these words and pass the filters, ascending."""
        return self._in_segments(lambda: chunks_with(words, self._snapshot.segments, self._selection(filters)))

    def match_vector(self, vector: Fixed, filters: Filters, *, version: str, limit: int) -> tuple[VectorMatch, ...]:
        """The chunks nearest to the vector; of equal ones the lower number is first.

        Raises UsageError if the vector has another length than those of its version.
        """
        check_dim(self._dims(), version, len(vector))
        query = quantize_query(vector)

        def find() -> tuple[VectorMatch, ...]:
            return nearest_chunks(query, version, self._snapshot.segments, self._selection(filters), limit=limit)

        return self._in_segments(find)

    def score_vector(self, vector: Fixed, numbers: Sequence[int], *, version: str) -> tuple[VectorMatch, ...]:
        """These chunks compared with the vector, in this order. Raises UsageError as `match_vector` does."""
        check_dim(self._dims(), version, len(vector))
        query = quantize_query(vector)

        def score() -> tuple[VectorMatch, ...]:
            segments = self._snapshot.segments
            return score_chunks(query, numbers, version, segments=segments, selection=self._searchable())

        return self._in_segments(score)

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

        def score() -> list[float]:
            segments, searchable = self._snapshot.segments, self._searchable()
            query = build_word_query(words, segments, searchable, bm25=bm25)
            return document_scores(query, documents, segments, searchable)

        return self._in_segments(score)

    def document_similarity(self, documents: Sequence[ChunkAttributes], *, version: str, top: int) -> list[list[float]]:
        """For each of these documents, its cosine with each of the first `top`."""
        return self._in_segments(lambda: similarity_matrix(documents, version, self._snapshot.segments, top=top))

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

    def memory_sources(self) -> Mapping[str, str]:
        """The notes that are marked `memory: source` and not sensitive: for each path the hash of its text."""
        return dict(self._select(_MEMORY_SOURCES))

    def problems(self) -> tuple[Problem, ...]:
        """Every Problem of every document, sorted."""
        rows = self._select(f"SELECT problems_json{_DOCUMENTS} AND problems_json <> '[]'")
        return tuple(sorted(problem for (text,) in rows for problem in problems_of(text)))

    def edges(self, paths: Iterable[str] = ()) -> tuple[Edge, ...]:
        """Links from or to these documents, or all links; then the bonds between facts of different documents."""
        return edges_of(self._connection, self._links.user, paths)

    def _in_segments(self, compute: Callable[[], T]) -> T:
        """What is computed from the segments; once more without damaged ones if it fails because of these."""
        try:
            return compute()
        except (ArithmeticError, LookupError, MemoryError, TypeError, ValueError):
            repaired = self._without_damaged(self._connection, self._snapshot)
            if repaired is None:
                raise
        self._snapshot = repaired
        return compute()

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
        snapshot = self._snapshot
        if cached := snapshot.selections.get(None):
            return cached
        if brought := self._brought_up_to_date(None):
            return snapshot.cache_selection(None, brought)
        ranges = self._ranges(*searchable_sql(at), columns=3)
        snapshot.cache_selection(Filters(at=at), select_ranges(ranges[ranges[:, 2] > 0, :2], snapshot.segments))
        return snapshot.cache_selection(None, select_ranges(ranges[:, :2], snapshot.segments))

    def _selection(self, filters: Filters) -> ChunkSelection:
        """The chunks that pass the filters."""
        last_change = last_change_sql(filters)
        rounded = at_change(filters, self._select(last_change[0], **last_change[1])[0][0] if last_change else "")
        self._searchable(at=rounded.at)
        snapshot = self._snapshot
        if cached := snapshot.selections.get(rounded):
            return cached
        if brought := self._brought_up_to_date(rounded):
            return snapshot.cache_selection(rounded, brought)
        ranges = self._ranges(*passing_sql(rounded, self._entities(rounded.entities)), columns=2)
        return snapshot.cache_selection(rounded, select_ranges(ranges, snapshot.segments))

    def _brought_up_to_date(self, filters: Filters | None) -> ChunkSelection | None:
        """The selection, made of an earlier one by looking at the documents that changed; None if there is none."""
        similar = self._snapshot.similar_selection(filters)
        if similar is None:
            return None
        known, generation, selection = similar
        changed = changes_since(self._connection, generation, self._snapshot.state)
        if changed is None:
            return None
        if known and filters and known.at != filters.at:
            changed = np.unique(
                np.concatenate([changed, self._ranges(*ended_sql(known.at, filters.at), columns=2)]), axis=0
            )
        sql = passing_sql(filters, EntityMatches(), among=changed[:, 0].tolist())
        passing = self._ranges(*sql, columns=2)
        return change_selection(selection, self._snapshot.segments, changed=changed, passing=passing)

    def _ranges(self, sql: str, values: Mapping[str, Any], *, columns: int) -> npt.NDArray[np.int64]:
        return np.fromiter(chain.from_iterable(self._select(sql, **values)), np.int64).reshape(-1, columns)

    def _entities(self, names: Sequence[str]) -> EntityMatches:
        """The documents to which the entities of a filter refer, and the names under which facts are about them."""
        if not names:
            return EntityMatches()
        every = frozenset[str]().union(*map(self.entity_names, names))
        return replace(self._links.find_entities(self._connection, names), names=tuple(sorted(every)))
