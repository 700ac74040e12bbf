"""Vectors in 8 bits, each with its own scale: what an index keeps and compares.

Products of whole numbers are exact, and what they are multiplied by depends on the two vectors alone. So a cosine is
the same to the last digit on every machine, in every index, and in whatever order it is computed.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

Fixed = npt.NDArray[np.int16]

_ONE: Final = 32767  # stands for 1 in a vector of 16 bits
_MOST: Final = 127
_FINE: Final = 2.0**15  # products with it lose nothing: a scale has 24 bits and a number 8


@dataclass(frozen=True, slots=True, eq=False)
class Shrunk:
    """Vectors as 8-bit whole numbers; each times its scale is near to what it was."""

    rows: npt.NDArray[np.int8]
    scales: npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """A question's vector: its product with a row, times the row's scale, times `scale`, is their cosine."""

    row: npt.NDArray[np.int8]
    scale: float


def shrink(vectors: Fixed) -> Shrunk:
    """The vectors in 8 bits: what is largest in each becomes 127, and its scale gives it the length that it had."""
    wide = vectors.astype(np.int64)
    peaks = np.abs(wide).max(axis=1, initial=1)
    rows = np.rint(wide * _MOST / peaks[:, None])
    lengths, shrunk = ((each**2).sum(axis=1) for each in (wide, rows))
    scales = np.sqrt(lengths) / np.sqrt(np.maximum(shrunk, 1))
    return Shrunk(rows=rows.astype(np.int8), scales=scales.astype(np.float32))


def shrink_question(vector: Fixed) -> Question:
    """The vector of a question in 8 bits."""
    shrunk = shrink(vector[None, :])
    return Question(row=shrunk.rows[0], scale=float(shrunk.scales[0]) / (_ONE * _ONE))


def alike(sums: npt.NDArray[np.float64], *, top: int) -> list[list[float]]:
    """The cosine of each row with each of the first `top`, to six places; 0 for one without direction."""
    lengths = np.sqrt((sums**2).sum(axis=1, keepdims=True))
    units = np.divide(sums, lengths, out=np.zeros_like(sums), where=lengths > 0)
    cosines: list[list[float]] = np.round(units @ units[:top].T, 6).tolist()
    return cosines


def widen(row: npt.NDArray[np.int8], scale: float) -> npt.NDArray[np.int64]:
    """A vector of 8 bits as whole numbers that can be added up in any order, and taken away again."""
    return np.rint(row.astype(np.float64) * scale * _FINE).astype(np.int64)


def direction(sums: npt.NDArray[np.int64]) -> npt.NDArray[np.float32] | None:
    """The unit vector of a sum of such numbers; None where it has no direction."""
    wide = sums.astype(np.float64)
    length = float(np.sqrt((wide**2).sum()))
    return (wide / length).astype(np.float32) if length else None
