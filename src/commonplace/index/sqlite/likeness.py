"""How alike documents are: the cosine of what their chunks mean on average."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from commonplace.index.base import AVERAGED, REACH, Standing
from commonplace.index.shrinking import alike
from commonplace.index.sqlite.segment import Numbers, Segment
from commonplace.index.sqlite.slices import in_slices


def score_likeness(
    documents: Sequence[Standing], version: str, segments: Sequence[Segment], *, top: int
) -> list[list[float]]:
    """For each document, how alike it is to each of the first `top` of them."""
    if not documents:
        return []
    first = np.array([each.first for each in documents], np.int64)
    last = np.array([min(each.last, each.first + REACH - 1) for each in documents], np.int64)
    found = [_means(segment, version, first, last) for segment in segments if version in segment.vectors]
    dim = max((rows.shape[1] for _, rows in found), default=1)
    sums, taken = np.zeros((len(documents), dim)), np.zeros(len(documents), np.int64)
    for groups, rows in found:  # in the order of the chunks, which may lie in several segments
        room = np.arange(len(groups)) - np.searchsorted(groups, groups) < AVERAGED - taken[groups]
        if room.any():
            held = groups[room]
            starts = np.flatnonzero(np.diff(held, prepend=-1))
            sums[held[starts]] += np.add.reduceat(rows[room], starts, axis=0)
            taken += np.bincount(held, minlength=len(documents))
    return alike(sums, top=top)


def _means(segment: Segment, version: str, first: Numbers, last: Numbers) -> tuple[Numbers, npt.NDArray[np.float64]]:
    """The vectors of the chunks themselves, replies left out, and of which document each is."""
    vectors = segment.vectors[version]
    begins = np.searchsorted(segment.numbers, first)
    rows, groups = in_slices(begins, np.searchsorted(segment.numbers, last, side="right") - begins)
    said = ~segment.replies[rows]
    rows, groups = rows[said].astype(np.int32), groups[said]
    places = np.minimum(np.searchsorted(vectors.owners, rows), len(vectors.owners) - 1)
    held = np.flatnonzero(vectors.owners[places] == rows)
    at = places[held]
    few = np.arange(len(held)) - np.searchsorted(groups[held], groups[held]) < AVERAGED
    held, at = held[few], at[few]
    return groups[held], vectors.rows[at] * vectors.scales[at].astype(np.float64)[:, None]
