"""Vectors in 8 bits, and those of sentences in 4, each with its own scale: what an index stores and compares.

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
_MAX_COARSE: Final = 7
_CLIPS: Final = (1.0, 0.85, 0.7, 0.55)
"""Shares of a vector's largest number that may become the largest in 4 bits. Few numbers are as large: cutting them off
leaves finer levels for the others, which pays for an encoder's vectors, but not for those that are mostly zero."""

ZERO_LEVEL: Final = 8
"""What stands for 0 in half a byte."""

_HALF_BYTE: Final = 4  # bits
_LOWER_HALF: Final = 15
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


def coarsen(vectors: QuantizedVectors) -> QuantizedVectors:
    """The vectors in 4 bits, from -7 to 7, each with the clip that brings it nearest to the original's direction.

    The scale gives the product with the original the value that it had: a cosine is off by chance, neither too high nor
    too low on average. They depend on the 8 bits alone, so they are the same whether a vector comes from the encoder or
    from the cache.
    """
    wide = vectors.rows.astype(np.float64)
    peaks = np.abs(wide).max(axis=1, initial=1)
    rows, nearest = np.zeros_like(wide), np.zeros(len(wide))
    for clip in _CLIPS:
        some = np.clip(np.rint(wide * _MAX_COARSE / (clip * peaks)[:, None]), -_MAX_COARSE, _MAX_COARSE)
        squared_cosines = (wide * some).sum(axis=1) ** 2 / np.maximum((some**2).sum(axis=1), 1)  # but for a factor
        better = squared_cosines > nearest
        rows[better], nearest[better] = some[better], squared_cosines[better]
    shares = (wide**2).sum(axis=1) / np.maximum((wide * rows).sum(axis=1), 1)
    return QuantizedVectors(rows=rows.astype(np.int8), scales=(vectors.scales * shares).astype(np.float32))


def stored_bytes(vectors: QuantizedVectors, *, parts: int) -> tuple[bytes, bytes]:
    """The scales and the rows of a chunk's vectors as an index stores them: parts in 8 bits, then sentences in 4.

    Of a sentence, the first half of the numbers is in the lower halves of the bytes, the rest in the upper ones.
    """
    fine = coarsen(QuantizedVectors(vectors.rows[parts:], vectors.scales[parts:]))
    levels = (fine.rows + ZERO_LEVEL).astype(np.uint8)
    half = coarse_width(levels.shape[1])
    packed = levels[:, :half].copy()
    packed[:, : levels.shape[1] - half] |= levels[:, half:] << _HALF_BYTE
    scales = np.concatenate([vectors.scales[:parts], fine.scales]).astype("<f4")
    return scales.tobytes(), vectors.rows[:parts].tobytes() + packed.tobytes()


def coarse_width(dim: int) -> int:
    """How many bytes a vector of so many numbers has in 4 bits."""
    return (dim + 1) // 2


def coarse_halves(packed: npt.NDArray[np.uint8]) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.int8]]:
    """The lower and the upper halves of the bytes, each ZERO_LEVEL more than the number it stands for."""
    return (packed & _LOWER_HALF).view(np.int8), (packed >> _HALF_BYTE).view(np.int8)


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
