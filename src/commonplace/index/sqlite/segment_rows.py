"""A segment made from the rows of its chunks, which are the record."""

from array import array
from dataclasses import dataclass, field
from typing import Final

import apsw
import numpy as np

from commonplace.index.sqlite.segment import Chunks, Fine, Numbers, Segment, Vectors, build_segment, first_of_each
from commonplace.index.sqlite.words import ENTRY

_CHUNKS: Final = """
SELECT number, length, voice = 'assistant', words FROM memory_chunks WHERE number BETWEEN ? AND ? ORDER BY number
"""
_VECTORS: Final = """
SELECT number, embedding_version, parts, sentences, scales, vectors FROM memory_vectors
WHERE number BETWEEN ? AND ? ORDER BY number
"""
_SCALE: Final = 4  # bytes


def read_segment(connection: apsw.Connection, first: int, last: int) -> Segment:
    """The segment of these numbers."""
    chunks = _chunks(connection, first, last)
    gathered: dict[str, _Gathered] = {}
    for number, version, parts, sentences, scales, rows in connection.execute(_VECTORS, (first, last)):
        gathered.setdefault(version, _Gathered()).add(number, (parts, sentences), scales=scales, rows=rows)
    return build_segment(
        first,
        last,
        chunks=chunks,
        vectors={version: each.vectors(chunks.numbers) for version, each in gathered.items()},
        fine={version: each.fine(chunks.numbers) for version, each in gathered.items()},
    )


@dataclass(frozen=True, slots=True)
class _Gathered:
    """The vectors of one version; each byte stands in memory once, for a segment may have hundreds of megabytes."""

    numbers: "array[int]" = field(default_factory=lambda: array("q"))
    parts: "array[int]" = field(default_factory=lambda: array("i"))
    sentences: "array[int]" = field(default_factory=lambda: array("i"))
    scales: bytearray = field(default_factory=bytearray)
    rows: bytearray = field(default_factory=bytearray)
    fine_scales: bytearray = field(default_factory=bytearray)
    fine_rows: bytearray = field(default_factory=bytearray)

    def add(self, number: int, counts: tuple[int, int], *, scales: bytes, rows: bytes) -> None:
        """Take in a chunk's vectors: so many parts and sentences."""
        parts, sentences = counts
        end = len(rows) // (parts + sentences) * parts
        self.numbers.append(number)
        self.parts.append(parts)
        self.sentences.append(sentences)
        self.scales.extend(scales[: parts * _SCALE])
        self.rows.extend(rows[:end])
        self.fine_scales.extend(scales[parts * _SCALE :])
        self.fine_rows.extend(rows[end:])

    def vectors(self, numbers: Numbers) -> Vectors:
        """Those of the parts, for a segment with these chunks."""
        owners = np.repeat(self._owners(numbers), np.array(self.parts, np.int32))
        scales = np.frombuffer(self.scales, "<f4")
        rows = np.frombuffer(self.rows, np.int8).reshape(len(scales), -1)
        return Vectors(owners=owners, starts=first_of_each(owners), scales=scales, rows=rows)

    def fine(self, numbers: Numbers) -> Fine:
        """Those of the sentences."""
        starts = np.zeros(len(numbers) + 1, np.int32)
        starts[self._owners(numbers) + 1] = self.sentences
        scales = np.frombuffer(self.fine_scales, "<f4")
        dim = len(self.rows) * _SCALE // len(self.scales)
        rows = np.frombuffer(self.fine_rows, np.int8).reshape(-1, dim)
        return Fine(starts=np.cumsum(starts, dtype=np.int32), scales=scales, rows=rows)

    def _owners(self, numbers: Numbers) -> np.ndarray:
        return np.searchsorted(numbers, np.array(self.numbers, np.int64)).astype(np.int32)


def _chunks(connection: apsw.Connection, first: int, last: int) -> Chunks:
    numbers, lengths, replies, entries, together = array("q"), array("i"), array("b"), array("i"), bytearray()
    for number, length, is_reply, words in connection.execute(_CHUNKS, (first, last)):
        numbers.append(number)
        lengths.append(length)
        replies.append(is_reply)
        entries.append(len(words) // ENTRY.itemsize)
        together += words
    return Chunks(
        numbers=np.array(numbers, np.int64),
        lengths=np.array(lengths, np.int32),
        replies=np.array(replies, np.bool_),
        entries=np.array(entries, np.int32),
        words=together,
    )
