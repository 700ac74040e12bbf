"""Search by meaning: a quick scan in 8 bits picks a pool, and whole numbers of 16 bits decide within it.

Sums of products of whole numbers are exact, so a cosine is the same on every machine and in every order.
"""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import simsimd

from commonplace.index.base import SenseMatch
from commonplace.index.sqlite.bm25 import Floats, cut_at
from commonplace.index.sqlite.filters import Live, Mask
from commonplace.index.sqlite.segment import Fixed, Segment, Vectors, first_of_each, shrink

_ONE: Final = 32767
_POOL: Final = 96  # 8 bits are off by some thousandths: the true best are well within twice as many
_TIMES: Final = 2
_NARROW: Final = 0.1  # where fewer of the vectors count, only those are scanned


def pool_by_sense(vector: Fixed, version: str, segments: Sequence[Segment], live: Live, *, limit: int) -> list[int]:
    """The numbers of chunks that count, among which the nearest `limit` are; ties at the end are not cut."""
    size = max(_TIMES * limit, _POOL)
    question = shrink(vector[None, :], [0]).rows
    numbers, near = np.empty(0, np.int64), np.empty(0)
    for segment, mask, count in zip(segments, live.masks, live.sizes, strict=True):
        if count and version in segment.vectors:
            rows, more = _scan(question, segment.vectors[version], mask, counting=count, size=size)
            kept = np.flatnonzero(more >= (near.min() if len(near) >= size else cut_at(more, size)))
            numbers = np.concatenate([numbers, segment.numbers[rows[kept]]])
            near = np.concatenate([near, more[kept]])
            best = near >= cut_at(near, size)
            numbers, near = numbers[best], near[best]
    pool: list[int] = numbers.tolist()
    return pool


def nearness(vector: Fixed, kept: Sequence[tuple[int, int, bytes]]) -> tuple[SenseMatch, ...]:
    """How near each chunk is: given its number, how many parts it has, and a row of 16-bit numbers for each part."""
    rows = np.frombuffer(b"".join(blob for _, _, blob in kept), "<i2").reshape(-1, len(vector))
    products = rows.astype(np.float64) @ vector.astype(np.float64)  # exact: no sum of whole numbers reaches 2^53
    cosines: list[float] = (products / (_ONE * _ONE)).tolist()
    matches, start = [], 0
    for number, parts, _ in kept:
        own = cosines[start : start + parts]
        best = max(own)
        matches.append(SenseMatch(number, own[0], best, own.index(best)))
        start += parts
    return tuple(matches)


def nearest(matches: Sequence[SenseMatch], limit: int) -> tuple[SenseMatch, ...]:
    """The best of them, nearest first; ties at the end are not cut."""
    cut = cut_at(np.array([match.best for match in matches]), limit)
    kept = (match for match in matches if match.best >= cut)
    return tuple(sorted(kept, key=lambda match: (-match.best, match.number)))


def _scan(
    question: npt.NDArray[np.int8], vectors: Vectors, mask: Mask, *, counting: int, size: int
) -> tuple[npt.NDArray[np.int32], Floats]:
    """The rows of chunks that count, among which the best `size` are, and about how near the best part of each is."""
    if counting < _NARROW * len(mask):
        held = np.flatnonzero(mask[vectors.owners])
        owners, near = vectors.owners[held], _dot(question, vectors.rows[held]) * vectors.scales[held]
    else:
        owners, near = vectors.owners, _dot(question, vectors.rows) * vectors.scales
        if counting < len(mask):
            near[~mask[owners]] = -np.inf
    parts = int(np.diff(vectors.starts, append=len(vectors.owners)).max())
    kept = np.flatnonzero((near >= cut_at(near, size * parts)) & (near > -np.inf))
    owners, near = owners[kept], near[kept]
    starts = first_of_each(owners)
    return owners[starts], np.maximum.reduceat(near, starts) if len(starts) else near


def _dot(question: npt.NDArray[np.int8], rows: npt.NDArray[np.int8]) -> Floats:
    if not len(rows):
        return np.empty(0)
    # One thread: two are quicker by a third on an idle machine and slower by far on a busy one.
    products: Any = simsimd.cdist(question, rows, metric="dot", threads=1)
    return np.asarray(products, np.float64).reshape(-1)
