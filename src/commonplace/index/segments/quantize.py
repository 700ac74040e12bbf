"""Vectors in 8 bits, each with its own scale: what an index stores and compares.

Products of integers are exact, and their factors depend on the two vectors alone. So a cosine is the same to the last
digit on every machine, in every index, and in whatever order it is computed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

Fixed = npt.NDArray[np.int16 | np.float64]
"""Numbers of which 32767 stands for 1: 16 bits from an encoder, or 8 bits times a scale from the cache."""

_ONE: Final = 32767  # stands for 1 in a 16-bit vector
_MAX: Final = 127
_SCALE_BYTES: Final = 4
_SUM_SCALE: Final = 2.0**15  # products with it lose nothing: a scale has 24 bits and a number 8


@dataclass(frozen=True, slots=True, eq=False)
class QuantizedVectors:
    """Vectors as 8-bit integers; a row times its scale approximates the original."""

    rows: npt.NDArray[np.int8]
    scales: npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class QuantizedQuery:
    """A query's vector: its product with a row, times the row's scale, times `scale`, is their cosine."""

    row: npt.NDArray[np.int8]
    scale: float


def quantize(vectors: Fixed) -> QuantizedVectors:
    """The vectors in 8 bits: the largest number of each becomes 127, and the scale preserves its length."""
    wide = vectors.astype(np.float64)
    peaks = np.abs(wide).max(axis=1, initial=1)
    rows = np.rint(wide * _MAX / peaks[:, None])
    before, after = ((each**2).sum(axis=1) for each in (wide, rows))
    scales = np.sqrt(before) / np.sqrt(np.maximum(after, 1))
    return QuantizedVectors(rows=rows.astype(np.int8), scales=scales.astype(np.float32))


def restore(vectors: QuantizedVectors) -> Fixed:
    """The numbers that the 8 bits stand for: quantized again, they become the same bits and the same scale."""
    return vectors.rows * vectors.scales.astype(np.float64)[:, None]


def pack_vectors(vectors: QuantizedVectors) -> list[bytes]:
    """Each vector as bytes: its scale (32-bit float, little endian), then its numbers."""
    scales = np.ascontiguousarray(vectors.scales, "<f4")
    return [scale.tobytes() + row.tobytes() for scale, row in zip(scales, vectors.rows, strict=True)]


def unpack_vectors(packed: Sequence[bytes]) -> QuantizedVectors:
    """The vectors in these bytes, all of one length."""
    table = np.frombuffer(b"".join(packed), np.int8).reshape(len(packed), -1)
    scales = np.ascontiguousarray(table[:, :_SCALE_BYTES]).view("<f4")[:, 0]
    return QuantizedVectors(rows=table[:, _SCALE_BYTES:], scales=scales)


def quantize_query(vector: Fixed) -> QuantizedQuery:
    """The vector of a query in 8 bits."""
    quantized = quantize(vector[None, :])
    return QuantizedQuery(row=quantized.rows[0], scale=float(quantized.scales[0]) / (_ONE * _ONE))


def cosine_matrix(sums: npt.NDArray[np.float64], *, top: int) -> list[list[float]]:
    """The cosine of each row with each of the first `top` rows, to six places; 0 for a zero row."""
    lengths = np.sqrt((sums**2).sum(axis=1, keepdims=True))
    units = np.divide(sums, lengths, out=np.zeros_like(sums), where=lengths > 0)
    cosines: list[list[float]] = np.round(units @ units[:top].T, 6).tolist()
    return cosines


def summable(row: npt.NDArray[np.int8], scale: float) -> npt.NDArray[np.int64]:
    """An 8-bit vector as integers that can be added in any order, and subtracted again, without rounding."""
    return np.rint(row.astype(np.float64) * scale * _SUM_SCALE).astype(np.int64)


def unit_vector(sums: npt.NDArray[np.int64]) -> npt.NDArray[np.float32] | None:
    """The unit vector in the direction of such a sum; None for a zero sum."""
    wide = sums.astype(np.float64)
    length = float(np.sqrt((wide**2).sum()))
    return (wide / length).astype(np.float32) if length else None
