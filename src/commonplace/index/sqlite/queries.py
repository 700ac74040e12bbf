"""Queries of the index, all inside one read transaction; search runs on the segments of its snapshot."""

from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Final, TypeVar

import apsw
import numpy as np
import numpy.typing as npt

from commonplace.index.base import (
    Bm25Parameters,
    ChunkAttributes,
    VectorMatch,
    WordMatches,
)
from commonplace.index.segments.bm25 import best_chunks, build_word_query, chunks_with, document_scores
from commonplace.index.segments.quantize import Fixed, quantize_query
from commonplace.index.segments.segment import ChunkSelection, change_selection, select_ranges
from commonplace.index.segments.vector_search import nearest_chunks, score_chunks, similarity_matrix
from commonplace.index.sqlite.snapshots import Snapshot, changes_since, open_segment_folder
from commonplace.index.tables.documents import (
    check_dim,
)
from commonplace.index.tables.facts import FactTables
from commonplace.index.tables.filters import (
    EntityMatches,
    at_change,
    ended_sql,
    last_change_sql,
    passing_sql,
    searchable_sql,
)
from commonplace.index.tables.links import LinkTables
from commonplace.index.tables.queries import DocumentReader, VersionCounts
from commonplace.model import Filters

_VERSIONS: Final = "SELECT embedding_version, chunks, encoded, vectors FROM memory_versions WHERE user_id = :user"
_DIMS: Final = "SELECT version, dim FROM memory_encoders"
_MOST_COUNTS: Final = 100  # filters whose number of documents is cached

T = TypeVar("T")


class SqliteReader(DocumentReader):
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
        super().__init__(connection, links=links, facts=facts, kept=snapshot.facts)
        self._open = connection
        self._snapshot = snapshot
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
            read = self._read_attributes(missing)
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

    def count_documents(self, filters: Filters) -> int:
        """How many documents pass the filters."""
        cached = self._snapshot.passing
        if filters not in cached:
            if len(cached) >= _MOST_COUNTS:
                cached.clear()
            cached[filters] = super().count_documents(filters)
        return cached[filters]

    def speakers(self, *, sensitive: bool) -> frozenset[str]:
        """The names of all speakers in the index, with or without those of sensitive documents."""
        cached = self._snapshot.speakers
        if sensitive not in cached:
            cached[sensitive] = self._read_speakers(sensitive=sensitive)
        return cached[sensitive]

    def versions(self) -> Mapping[str, int]:
        """How many chunks have vectors of each version; "" counts those that wait for vectors."""
        if not self._snapshot.versions:
            self._snapshot.versions.update(self._encoded_chunks())
        return self._snapshot.versions

    def _in_segments(self, compute: Callable[[], T]) -> T:
        """What is computed from the segments; once more without damaged ones if it fails because of these."""
        try:
            return compute()
        except (ArithmeticError, LookupError, MemoryError, TypeError, ValueError):
            repaired = self._without_damaged(self._open, self._snapshot)
            if repaired is None:
                raise
        self._snapshot = repaired
        return compute()

    def _size(self) -> int:
        file, folder = Path(self._open.filename), open_segment_folder(self._open)
        files = [file, file.with_name(f"{file.name}-wal"), *(folder / each.name for each in self._snapshot.files)]
        return sum(each.stat().st_size for each in files if each.is_file())

    def _version_counts(self) -> Mapping[str, VersionCounts]:
        return {version: VersionCounts(*counts) for version, *counts in self._select(_VERSIONS)}

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
        changed = changes_since(self._open, generation, self._snapshot.state)
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
