"""Vector search: a scan of the parts picks a pool of chunks, within which the sentences are compared too.

All of it is arithmetic on memory-mapped arrays: no row of the database is read.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from commonplace.index.base import SIMILARITY_CHUNKS, SIMILARITY_REACH, ChunkAttributes, VectorMatch
from commonplace.index.segments.bm25 import Floats, cutoff
from commonplace.index.segments.quantize import ZERO_LEVEL, QuantizedQuery, coarse_halves, cosine_matrix
from commonplace.index.segments.segment import (
    ChunkSelection,
    Mask,
    Numbers,
    PartVectors,
    Segment,
    expand_ranges,
    group_starts,
    positions_in,
)

_NARROW: Final = 0.1  # if a smaller share of the chunks is selected, only their vectors are scanned


@dataclass(frozen=True, slots=True, eq=False)
class _Similarities:
    """Chunks compared with the query, column by column; `positions` are theirs among the numbers asked for."""

    positions: Numbers
    numbers: Numbers
    cosines: Floats
    best: Floats
    parts: Numbers
    sentences: Floats

    def sorted_by(self, *keys: npt.NDArray[Any]) -> tuple[VectorMatch, ...]:
        """The matches, sorted by the last of the keys first."""
        order = np.lexsort(keys)
        columns = (self.numbers, self.cosines, self.best, self.parts, self.sentences)
        return tuple(map(VectorMatch._make, zip(*(column[order].tolist() for column in columns), strict=True)))


def nearest_chunks(
    query: QuantizedQuery, version: str, segments: Sequence[Segment], selection: ChunkSelection, *, limit: int
) -> tuple[VectorMatch, ...]:
    """The `limit` selected chunks nearest to the query, nearest first; ties at the end are not cut."""
    pools: list[tuple[Segment, npt.NDArray[np.int32], Floats]] = []
    for segment, mask, count in zip(segments, selection.masks, selection.sizes, strict=True):
        if count and version in segment.vectors:
            pools.append((segment, *_scan(query, segment.vectors[version], mask, selected=count, size=limit)))
    if not pools:
        return ()
    threshold = cutoff(np.concatenate([best for _, _, best in pools]), limit)
    similar = _joined([_compare(query, segment, version, rows[best >= threshold]) for segment, rows, best in pools])
    return similar.sorted_by(similar.numbers, -similar.best)


def score_chunks(
    query: QuantizedQuery,
    numbers: Sequence[int],
    version: str,
    *,
    segments: Sequence[Segment],
    selection: ChunkSelection,
) -> tuple[VectorMatch, ...]:
    """Those of the chunks that are selected and have vectors of that version, compared with the query, in order."""
    wanted, compared = np.asarray(numbers, np.int64), []
    for segment, mask, count in zip(segments, selection.masks, selection.sizes, strict=True):
        if count and version in segment.vectors:
            positions, rows = positions_in(wanted, segment.numbers)
            positions, rows = positions[mask[rows]], rows[mask[rows]]
            compared.append(_compare(query, segment, version, rows, positions=positions))
    if not compared:
        return ()
    similar = _joined(compared)
    return similar.sorted_by(similar.positions)


def _joined(pieces: Sequence[_Similarities]) -> _Similarities:
    names = ("positions", "numbers", "cosines", "best", "parts", "sentences")
    return _Similarities(**{name: np.concatenate([getattr(each, name) for each in pieces]) for name in names})


def _scan(
    query: QuantizedQuery, vectors: PartVectors, mask: Mask, *, selected: int, size: int
) -> tuple[npt.NDArray[np.int32], Floats]:
    """Rows of selected chunks, the best `size` among them, and the cosine of the best part of each."""
    if selected < _NARROW * len(mask):
        held = np.flatnonzero(mask[vectors.owners])
        owners, cosines = vectors.owners[held], _cosines(query, vectors.rows[held], vectors.scales[held])
    else:
        owners, cosines = vectors.owners, _cosines(query, vectors.rows, vectors.scales)
        if selected < len(mask):
            cosines[~mask[owners]] = -np.inf
    last = len(vectors.owners) - int(vectors.starts[-1])
    parts = max(last, int((vectors.starts[1:] - vectors.starts[:-1]).max(initial=0)))
    pool = np.flatnonzero((cosines >= cutoff(cosines, size * parts)) & (cosines > -np.inf))
    owners, cosines = owners[pool], cosines[pool]
    starts = group_starts(owners)
    return owners[starts], np.maximum.reduceat(cosines, starts) if len(starts) else cosines


def _compare(
    query: QuantizedQuery, segment: Segment, version: str, rows: npt.NDArray[Any], *, positions: Numbers | None = None
) -> _Similarities:
    """The chunks in these rows compared with the query; those without a vector are left out."""
    vectors, wanted = segment.vectors[version], rows.astype(np.int32)
    begins = np.searchsorted(vectors.owners, wanted)
    counts = np.searchsorted(vectors.owners, wanted, side="right") - begins
    held = np.flatnonzero(counts)
    begins, counts, wanted = begins[held], counts[held], wanted[held]
    every, groups = expand_ranges(begins, counts)
    cosines = _cosines(query, vectors.rows.take(every, axis=0), vectors.scales[every])
    firsts = np.cumsum(counts) - counts
    best = np.maximum.reduceat(cosines, firsts) if len(held) else cosines
    at_best = np.flatnonzero(cosines == best[groups])
    return _Similarities(
        positions=held if positions is None else positions[held],
        numbers=segment.numbers[wanted],
        cosines=cosines[firsts],
        best=best,
        parts=at_best[group_starts(groups[at_best])] - firsts,
        sentences=_best_sentences(query, segment, version, wanted, default=best),
    )


def _best_sentences(
    query: QuantizedQuery, segment: Segment, version: str, rows: npt.NDArray[np.int32], *, default: Floats
) -> Floats:
    """The cosine of the best sentence of each of these chunks; `default` for chunks without sentences."""
    sentences, best = segment.sentences[version], default.copy()
    begins, ends = sentences.starts[rows], sentences.starts[rows + 1]
    held = np.flatnonzero(ends > begins)
    if len(held):
        counts = (ends - begins)[held]
        every, _ = expand_ranges(begins[held], counts)
        cosines = _coarse_cosines(query, sentences.rows.take(every, axis=0), sentences.scales[every])
        best[held] = np.maximum.reduceat(cosines, np.cumsum(counts) - counts)
    return best


def _cosines(query: QuantizedQuery, rows: npt.NDArray[np.int8], scales: npt.NDArray[np.float32]) -> Floats:
    return _scaled(query, _products(query.row, rows), scales)


def _coarse_cosines(query: QuantizedQuery, packed: npt.NDArray[np.uint8], scales: npt.NDArray[np.float32]) -> Floats:
    """The cosines of vectors in 4 bits."""
    half = packed.shape[1]
    upper_row = np.zeros(half, np.int8)  # one longer than the rest of the query if that has an odd number of numbers
    upper_row[: len(query.row) - half] = query.row[half:]
    lower, upper = coarse_halves(packed)
    levels = _products(query.row[:half], lower) + _products(upper_row, upper)
    return _scaled(query, levels - ZERO_LEVEL * int(query.row.sum(dtype=np.int64)), scales)


def _products(row: npt.NDArray[np.int8], rows: npt.NDArray[np.int8]) -> Floats:
    """The product of the row with each of the rows, exactly."""
    if not len(rows):
        return np.empty(0)
    # One thread: two are a third faster on an idle machine and much slower on a busy one.
    import simsimd  # of the extra `sense`: without an encoder there are no vectors to compare

    products: Any = simsimd.cdist(row[None, :], rows, metric="dot", threads=1)
    return np.asarray(products, np.float64).reshape(-1)


def _scaled(query: QuantizedQuery, products: Floats, scales: npt.NDArray[np.float32]) -> Floats:
    products *= scales
    products *= query.scale
    return products


# ---------------------------------------------------------------- similarity of documents


def similarity_matrix(
    documents: Sequence[ChunkAttributes], version: str, segments: Sequence[Segment], *, top: int
) -> list[list[float]]:
    """For each document, the cosine of its mean vector with that of each of the first `top` documents."""
    if not documents:
        return []
    first = np.array([each.first for each in documents], np.int64)
    last = np.array([min(each.last, each.first + SIMILARITY_REACH - 1) for each in documents], np.int64)
    pieces = [_chunk_vectors(segment, version, first, last) for segment in segments if version in segment.vectors]
    dim = max((rows.shape[1] for _, rows in pieces), default=1)
    sums, taken = np.zeros((len(documents), dim)), np.zeros(len(documents), np.int64)
    for groups, rows in pieces:  # in the order of the chunks, which may lie in several segments
        room = np.arange(len(groups)) - np.searchsorted(groups, groups) < SIMILARITY_CHUNKS - taken[groups]
        if room.any():
            held = groups[room]
            starts = np.flatnonzero(np.diff(held, prepend=-1))
            sums[held[starts]] += np.add.reduceat(rows[room], starts, axis=0)
            taken += np.bincount(held, minlength=len(documents))
    return cosine_matrix(sums, top=top)


def _chunk_vectors(
    segment: Segment, version: str, first: Numbers, last: Numbers
) -> tuple[Numbers, npt.NDArray[np.float64]]:
    """For each vector of a whole chunk, replies left out: the index of its document, and the vector."""
    vectors = segment.vectors[version]
    begins = np.searchsorted(segment.numbers, first)
    rows, groups = expand_ranges(begins, np.searchsorted(segment.numbers, last, side="right") - begins)
    said = ~segment.replies[rows]
    rows, groups = rows[said].astype(np.int32), groups[said]
    positions = np.minimum(np.searchsorted(vectors.owners, rows), len(vectors.owners) - 1)
    held = np.flatnonzero(vectors.owners[positions] == rows)
    at = positions[held]
    few = np.arange(len(held)) - np.searchsorted(groups[held], groups[held]) < SIMILARITY_CHUNKS
    held, at = held[few], at[few]
    return groups[held], vectors.rows[at] * vectors.scales[at].astype(np.float64)[:, None]
