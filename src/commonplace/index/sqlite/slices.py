"""Places in sorted arrays: where numbers stand in them, and all that lies in slices of them."""

from typing import Any

import numpy as np
import numpy.typing as npt

from commonplace.index.sqlite.segment import Numbers


def rows_of(asked: Numbers, numbers: Numbers) -> tuple[Numbers, Numbers]:
    """Which of the asked ones, by place, are among the numbers, which are in order; and where each stands there."""
    if not len(numbers):
        return np.empty(0, np.int64), np.empty(0, np.int64)
    rows = np.minimum(np.searchsorted(numbers, asked), len(numbers) - 1)
    places = np.flatnonzero(numbers[rows] == asked)
    return places, rows[places]


def in_slices(begins: npt.NDArray[Any], counts: npt.NDArray[Any]) -> tuple[Numbers, Numbers]:
    """Every place that lies in one of the slices, slice after slice; and of each, in which slice it lies."""
    groups = np.repeat(np.arange(len(counts)), counts)
    firsts = np.cumsum(counts) - counts
    return np.arange(len(groups)) + (begins - firsts)[groups], groups
