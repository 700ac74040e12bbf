"""Queries of the index in PostgreSQL, inside one read transaction.

A search computes what `index/segments` computes, on the few rows that it reads: the postings of its words, the vectors
of its candidates. Which documents pass the filters is asked once for each state of the index and kept.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from commonplace.index.base import (
    SIMILARITY_REACH,
    Bm25Parameters,
    ChunkAttributes,
    FactQuery,
    VectorMatch,
    WordMatches,
)
from commonplace.index.options import VectorSearch
from commonplace.index.postgresql.approximate import is_indexed, nearest_approximately
from commonplace.index.postgresql.builds import BuildState
from commonplace.index.postgresql.postings import (
    Postings,
    PostingSegment,
    document_segment,
    posting_segments,
    read_postings,
    read_words,
    word_segment,
)
from commonplace.index.postgresql.statements import BuildConnection
from commonplace.index.postgresql.vectors import encoder_number, nearest_exactly, read_first_parts, read_vectors
from commonplace.index.segments.bm25 import WordQuery, best_chunks, build_word_query, chunks_with, document_scores
from commonplace.index.segments.quantize import Fixed, quantize_query
from commonplace.index.segments.segment import ChunkSelection, Numbers, Segment, range_mask, word_hash
from commonplace.index.segments.vector_search import nearest_chunks, score_chunks, similarity_matrix
from commonplace.index.tables.documents import check_dim
from commonplace.index.tables.facts import FactTables
from commonplace.index.tables.filters import at_change, last_change_sql, passing_sql
from commonplace.index.tables.links import LinkTables
from commonplace.index.tables.queries import DocumentReader, VersionCounts
from commonplace.model import FactRecord, Filters

_RANGES: Final = "SELECT string_agg(int8send(first_chunk) || int8send(chunk_count), '') FROM ({passing}) AS d"
_LENGTHS: Final = """
SELECT coalesce(sum(body_words), 0), coalesce(sum(reply_words), 0) FROM memory_documents
WHERE user_id = :user AND deleted_at IS NULL AND place <> 'staging'
"""
_VERSIONS: Final = """
SELECT embedding_version, sum(chunk_count), sum(encoded_count), sum(vector_count) FROM memory_documents
WHERE user_id = :user AND deleted_at IS NULL GROUP BY 1
"""
_DIMS: Final = "SELECT version, dim FROM memory_encoders"
_SIZED: Final = (
    *("memory_documents", "memory_chunks", "memory_words", "memory_vectors", "memory_parts", "memory_sentences"),
    *("memory_postings", "memory_links", "memory_facts", "memory_past_lines"),
)
_FEW: Final = 20  # chunks for each one that passes a filter, from which on those that pass are few
_MOST_SELECTIONS: Final = 32  # filters whose passing documents are kept
_MOST_ATTRIBUTES: Final = 65_536


@dataclass(frozen=True, slots=True, eq=False)
class _Ranges:
    """Documents with chunks, sorted: the first number of each and how many it has."""

    first: Numbers
    count: Numbers

    @property
    def chunks(self) -> int:
        """How many chunks they have."""
        return int(self.count.sum())


@dataclass(frozen=True, slots=True, eq=False)
class Everything:
    """All searchable documents, the words of their chunks, and how many of these are said by a program."""

    ranges: _Ranges
    words: int
    replied: int

    def selection(self, segment: Segment) -> ChunkSelection:
        """Every searchable chunk; the segment has only such, those with one of the query's words."""
        every = np.ones(len(segment.numbers), np.bool_)
        sizes = (self.ranges.chunks,), (self.words,), (self.replied,)
        return ChunkSelection((every,), *sizes, documents=len(self.ranges.first))


@dataclass(slots=True)
class BuildSnapshot:
    """What a process keeps of one state of the index."""

    state: BuildState
    segments: tuple[PostingSegment, ...] | None = None
    recent: Segment | None = None
    everything: Everything | None = None
    selections: dict[Filters, _Ranges] = field(default_factory=dict)
    versions: dict[str, int] = field(default_factory=dict)
    dims: dict[str, int] = field(default_factory=dict)
    speakers: dict[bool, frozenset[str]] = field(default_factory=dict)
    attributes: dict[int, ChunkAttributes] = field(default_factory=dict)
    facts: dict[FactQuery, tuple[FactRecord, ...]] = field(default_factory=dict)


class PostgresqlReader(DocumentReader):
    """The index as one connection sees it inside its transaction."""

    def __init__(
        self,
        connection: BuildConnection,
        snapshot: BuildSnapshot,
        *,
        links: LinkTables,
        facts: FactTables,
        search: VectorSearch,
    ) -> None:
        super().__init__(connection, links=links, facts=facts, kept=snapshot.facts)
        self._open, self._snapshot, self._search = connection, snapshot, search
        self._postings: dict[int, Postings] = {}

    # ------------------------------------------------------------ by words

    def match_words(
        self, words: Sequence[str], filters: Filters, *, limit: int, bm25: Bm25Parameters, also: Sequence[int] = ()
    ) -> WordMatches:
        """The best chunks that have one of the words, and those of `also`; of equal ones the lower number is first."""
        segment, query = self._word_query(words, bm25)
        return best_chunks(query, (segment,), self._selection(filters, segment), limit=limit, also=also)

    def chunks_with(self, words: Sequence[str], filters: Filters) -> tuple[int, ...]:
        """The numbers of the chunks that have all of these words and pass the filters, ascending."""
        segment = self._words(words)
        return chunks_with(words, (segment,), self._selection(filters, segment))

    def score_documents(
        self, words: Sequence[str], documents: Sequence[ChunkAttributes], *, bm25: Bm25Parameters
    ) -> list[float]:
        """The BM25 score of each of these documents, all its chunks taken as one text."""
        segment, query = self._word_query(words, bm25)
        postings = {word.hash: self._postings[word.hash] for word in query.words}
        whole = document_segment(self._open, postings, [(each.first, each.last) for each in documents])
        return document_scores(query.in_segments((whole,)), documents, (whole,), self._everything().selection(segment))

    def _word_query(self, words: Sequence[str], bm25: Bm25Parameters) -> tuple[Segment, WordQuery]:
        segment = self._words(words)
        every = self._everything().selection(segment)
        return segment, build_word_query(words, (segment,), every, bm25=bm25)

    def _words(self, words: Sequence[str]) -> Segment:
        """The searchable chunks that have one of the words."""
        hashes = [*dict.fromkeys(map(word_hash, words))]
        snapshot = self._snapshot
        if snapshot.segments is None:
            snapshot.segments = posting_segments(self._open)
        if snapshot.recent is None:
            snapshot.recent = read_words(self._open, snapshot.state.covered + 1, snapshot.state.next_number - 1)
        missing = [each for each in hashes if each not in self._postings]
        if missing:
            self._postings |= read_postings(self._open, missing, segments=snapshot.segments, recent=snapshot.recent)
        ranges = self._everything().ranges
        return word_segment({each: self._postings[each] for each in hashes}, within=(ranges.first, ranges.count))

    # ------------------------------------------------------------ by vectors

    def match_vector(self, vector: Fixed, filters: Filters, *, version: str, limit: int) -> tuple[VectorMatch, ...]:
        """The chunks nearest to the vector; of equal ones the lower number is first.

        Raises UsageError if the vector has another length than those of its version.
        """
        check_dim(self._dims(), version, len(vector))
        encoder = encoder_number(self._open, version)
        if not encoder or limit < 1:
            return ()
        query, passing = quantize_query(vector), self._passing(filters)
        numbers: list[int] = []
        if self._search == "approximate" and is_indexed(self._open, build=self._open.build, encoder=encoder):
            numbers = nearest_approximately(self._open, query, encoder=encoder, passing=passing, limit=limit)
        if len(numbers) < limit:  # a narrow filter, or exact search
            are_few = self._are_few(filters)
            numbers = nearest_exactly(self._open, query, encoder=encoder, passing=passing, are_few=are_few, limit=limit)
        segment = read_vectors(self._open, numbers, version=version, encoder=encoder)
        return nearest_chunks(query, version, (segment,), _whole(segment), limit=limit)

    def score_vector(self, vector: Fixed, numbers: Sequence[int], *, version: str) -> tuple[VectorMatch, ...]:
        """These chunks compared with the vector, in this order. Raises UsageError as `match_vector` does."""
        check_dim(self._dims(), version, len(vector))
        encoder, ranges = encoder_number(self._open, version), self._everything().ranges
        wanted = np.unique(np.asarray(numbers, np.int64))
        searchable = wanted[range_mask(wanted, ranges.first, ranges.count)].tolist()
        segment = read_vectors(self._open, searchable, version=version, encoder=encoder)
        query = quantize_query(vector)
        return score_chunks(query, numbers, version, segments=(segment,), selection=_whole(segment))

    def document_similarity(self, documents: Sequence[ChunkAttributes], *, version: str, top: int) -> list[list[float]]:
        """For each of these documents, its cosine with each of the first `top`."""
        ranges = [(each.first, min(each.last, each.first + SIMILARITY_REACH - 1)) for each in documents]
        encoder = encoder_number(self._open, version)
        segment = read_first_parts(self._open, ranges, version=version, encoder=encoder)
        return similarity_matrix(documents, version, (segment,), top=top)

    # ------------------------------------------------------------ what ranking needs, and counts

    def chunk_attributes(self, numbers: Sequence[int]) -> Mapping[int, ChunkAttributes]:
        """The attributes of these chunks, in this order; chunks that do not exist are left out."""
        known = self._snapshot.attributes
        missing = [int(number) for number in numbers if number not in known]
        if missing:
            if len(known) > _MOST_ATTRIBUTES:
                known = self._snapshot.attributes = {}
                missing = [*map(int, numbers)]
            known.update(self._read_attributes(missing))
        return {number: known[number] for number in numbers if number in known}

    def speakers(self, *, sensitive: bool) -> frozenset[str]:
        """The names of all speakers in the index, with or without those of sensitive documents."""
        known = self._snapshot.speakers
        if sensitive not in known:
            known[sensitive] = self._read_speakers(sensitive=sensitive)
        return known[sensitive]

    def versions(self) -> Mapping[str, int]:
        """How many chunks have vectors of each version; "" counts those that wait for vectors."""
        if not self._snapshot.versions:
            self._snapshot.versions = self._encoded_chunks()
        return self._snapshot.versions

    def _version_counts(self) -> Mapping[str, VersionCounts]:
        return {version: VersionCounts(*counts) for version, *counts in self._select(_VERSIONS)}

    def _size(self) -> int:
        """The bytes of the rows, without PostgreSQL's own indexes."""
        sums = [f"(SELECT coalesce(sum(pg_column_size(t)), 0) FROM {table} t)" for table in _SIZED]  # noqa: S608
        ((size,),) = self._select(f"SELECT {' + '.join(sums)}")
        return int(size)

    def _dims(self) -> Mapping[str, int]:
        if not self._snapshot.dims:
            self._snapshot.dims = dict(self._select(_DIMS))
        return self._snapshot.dims

    # ------------------------------------------------------------ which documents

    def _everything(self) -> Everything:
        snapshot = self._snapshot
        if snapshot.everything is None:
            ((words, replied),) = self._select(_LENGTHS)
            snapshot.everything = Everything(self._ranges(None), int(words), int(replied))
        return snapshot.everything

    def _selection(self, filters: Filters, segment: Segment) -> ChunkSelection:
        """The chunks of the segment that pass the filters."""
        ranges = self._selected(filters)
        mask = range_mask(segment.numbers, ranges.first, ranges.count)
        return ChunkSelection((mask,), (int(np.count_nonzero(mask)),), (0,), (0,), documents=0)

    def _selected(self, filters: Filters) -> _Ranges:
        """The chunks that pass the filters."""
        known, rounded = self._snapshot.selections, self._rounded(filters)
        if rounded not in known:
            for oldest in [*known][: max(0, len(known) - _MOST_SELECTIONS + 1)]:
                known.pop(oldest, None)
            known[rounded] = self._ranges(rounded)
        return known[rounded]

    def _are_few(self, filters: Filters) -> bool:
        """True if so few chunks pass the filters that each of their documents is looked up."""
        return bool(self._selected(filters).count.sum() * _FEW < self._everything().ranges.count.sum())

    def _rounded(self, filters: Filters) -> Filters:
        """The filters at the last moment at which what passes them changed."""
        last_change = last_change_sql(filters)
        return at_change(filters, self._select(last_change[0], **last_change[1])[0][0] if last_change else "")

    def _ranges(self, filters: Filters | None) -> _Ranges:
        entities = self._entities(filters.entities if filters else ())
        sql, values = passing_sql(filters, entities)
        ((packed,),) = self._select(_RANGES.replace("{passing}", f"{sql} AND chunk_count > 0"), **values)
        ranges = np.frombuffer(packed or b"", ">i8").astype(np.int64).reshape(-1, 2)
        first, count = ranges[np.argsort(ranges[:, 0])].T
        return _Ranges(first, count)

    def _passing(self, filters: Filters) -> tuple[str, Mapping[str, Any]]:
        """Selects the keys of the documents that pass the filters, with its values."""
        sql, values = passing_sql(filters, self._entities(filters.entities), columns="d.key")
        return sql, {"user": self._links.user, **values}


def _whole(segment: Segment) -> ChunkSelection:
    """All chunks of the segment."""
    count = len(segment.numbers)
    return ChunkSelection((np.ones(count, np.bool_),), (count,), (0,), (0,), documents=0)
