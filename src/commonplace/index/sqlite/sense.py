"""Search by meaning: a scan of the parts picks a pool, and within it the sentences are compared too.

All of it is arithmetic on mapped arrays: no row of the database is read.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import simsimd

from commonplace.index.base import SenseMatch
from commonplace.index.shrinking import Question
from commonplace.index.sqlite.bm25 import Floats, cut_at
from commonplace.index.sqlite.filters import Live, Mask
from commonplace.index.sqlite.segment import Numbers, Segment, Vectors, first_of_each
from commonplace.index.sqlite.slices import in_slices, rows_of

_NARROW: Final = 0.1  # where fewer of the vectors count, only those are scanned


@dataclass(frozen=True, slots=True, eq=False)
class _Near:
    """Chunks and how near each is; `places` are theirs in what was asked for."""

    places: Numbers
    numbers: Numbers
    cosines: Floats
    best: Floats
    parts: Numbers
    sentences: Floats

    def sorted_by(self, *keys: npt.NDArray[Any]) -> tuple[SenseMatch, ...]:
        """The matches, by the last of the keys first."""
        order = np.lexsort(keys)
        columns = (self.numbers, self.cosines, self.best, self.parts, self.sentences)
        return tuple(map(SenseMatch._make, zip(*(column[order].tolist() for column in columns), strict=True)))


def nearest(
    question: Question, version: str, segments: Sequence[Segment], live: Live, *, limit: int
) -> tuple[SenseMatch, ...]:
    """The chunks that count and are among the nearest `limit`, nearest first; ties at the end are not cut."""
    pools: list[tuple[Segment, npt.NDArray[np.int32], Floats]] = []
    for segment, mask, count in zip(segments, live.masks, live.sizes, strict=True):
        if count and version in segment.vectors:
            pools.append((segment, *_scan(question, segment.vectors[version], mask, counting=count, size=limit)))
    if not pools:
        return ()
    cut = cut_at(np.concatenate([best for _, _, best in pools]), limit)
    near = _joined([_nearness(question, segment, version, rows[best >= cut]) for segment, rows, best in pools])
    return near.sorted_by(near.numbers, -near.best)


def sense_of(
    question: Question, numbers: Sequence[int], version: str, *, segments: Sequence[Segment], live: Live
) -> tuple[SenseMatch, ...]:
    """How near those of the chunks are that count and have vectors of that version, in this order."""
    asked, found = np.asarray(numbers, np.int64), []
    for segment, mask, count in zip(segments, live.masks, live.sizes, strict=True):
        if count and version in segment.vectors:
            places, rows = rows_of(asked, segment.numbers)
            places, rows = places[mask[rows]], rows[mask[rows]]
            found.append(_nearness(question, segment, version, rows, places=places))
    if not found:
        return ()
    near = _joined(found)
    return near.sorted_by(near.places)


def _joined(found: Sequence[_Near]) -> _Near:
    names = ("places", "numbers", "cosines", "best", "parts", "sentences")
    return _Near(**{name: np.concatenate([getattr(each, name) for each in found]) for name in names})


def _scan(
    question: Question, vectors: Vectors, mask: Mask, *, counting: int, size: int
) -> tuple[npt.NDArray[np.int32], Floats]:
    """The rows of chunks that count, among which the best `size` are, and how near the best part of each is."""
    if counting < _NARROW * len(mask):
        held = np.flatnonzero(mask[vectors.owners])
        owners, near = vectors.owners[held], _cosines(question, vectors.rows[held], vectors.scales[held])
    else:
        owners, near = vectors.owners, _cosines(question, vectors.rows, vectors.scales)
        if counting < len(mask):
            near[~mask[owners]] = -np.inf
    parts = int(np.diff(vectors.starts, append=len(vectors.owners)).max())
    kept = np.flatnonzero((near >= cut_at(near, size * parts)) & (near > -np.inf))
    owners, near = owners[kept], near[kept]
    starts = first_of_each(owners)
    return owners[starts], np.maximum.reduceat(near, starts) if len(starts) else near


def _nearness(
    question: Question, segment: Segment, version: str, rows: npt.NDArray[Any], *, places: Numbers | None = None
) -> _Near:
    """How near the chunks in these rows are; those without a vector are left out."""
    vectors, wanted = segment.vectors[version], rows.astype(np.int32)
    begins = np.searchsorted(vectors.owners, wanted)
    counts = np.searchsorted(vectors.owners, wanted, side="right") - begins
    held = np.flatnonzero(counts)
    begins, counts, wanted = begins[held], counts[held], wanted[held]
    every, groups = in_slices(begins, counts)
    cosines = _cosines(question, vectors.rows.take(every, axis=0), vectors.scales[every])
    firsts = np.cumsum(counts) - counts
    best = np.maximum.reduceat(cosines, firsts) if len(held) else cosines
    at_best = np.flatnonzero(cosines == best[groups])
    return _Near(
        places=held if places is None else places[held],
        numbers=segment.numbers[wanted],
        cosines=cosines[firsts],
        best=best,
        parts=at_best[first_of_each(groups[at_best])] - firsts,
        sentences=_best_sentences(question, segment, version, wanted, otherwise=best),
    )


def _best_sentences(
    question: Question, segment: Segment, version: str, rows: npt.NDArray[np.int32], *, otherwise: Floats
) -> Floats:
    """How near the best sentence of each of these chunks is; where there is none, what is given for it."""
    fine, best = segment.fine[version], otherwise.copy()
    begins, ends = fine.starts[rows], fine.starts[rows + 1]
    held = np.flatnonzero(ends > begins)
    if len(held):
        counts = (ends - begins)[held]
        every, _ = in_slices(begins[held], counts)
        cosines = _cosines(question, fine.rows.take(every, axis=0), fine.scales[every])
        best[held] = np.maximum.reduceat(cosines, np.cumsum(counts) - counts)
    return best


def _cosines(question: Question, rows: npt.NDArray[np.int8], scales: npt.NDArray[np.float32]) -> Floats:
    if not len(rows):
        return np.empty(0)
    # One thread: two are quicker by a third on an idle machine and slower by far on a busy one.
    products: Any = simsimd.cdist(question.row[None, :], rows, metric="dot", threads=1)
    cosines = np.asarray(products, np.float64).reshape(-1)
    cosines *= scales
    cosines *= question.scale
    return cosines
