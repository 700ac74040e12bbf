"""A segment: the words and vectors of a range of chunks, in arrays that are searched without reading a row.

A chunk's row here is its place in `numbers`. What stands in a segment depends on the chunks alone.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from commonplace.index.sqlite.words import ENTRY

_PIECES: Final = 16  # words are put in order in as many turns, so that less is in memory at once
_SHIFT: Final = np.uint64(60)

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Vectors:
    """The vectors of parts, of one version: all of them are scanned. Those of one chunk stand together."""

    owners: npt.NDArray[np.int32]  # the row of the chunk that it stands for
    starts: npt.NDArray[np.int32]  # where the vectors of each owner begin
    scales: npt.NDArray[np.float32]
    rows: npt.NDArray[np.int8]


@dataclass(frozen=True, slots=True, eq=False)
class Fine:
    """The vectors of sentences, of one version: those of the chunk in row i are rows[starts[i]:starts[i + 1]].

    They are touched for the chunks alone that are asked for.
    """

    starts: npt.NDArray[np.int32]
    scales: npt.NDArray[np.float32]
    rows: npt.NDArray[np.int8]


@dataclass(frozen=True, slots=True, eq=False)
class Segment:
    """The chunks with numbers from `first` to `last`; word i stands in the chunks rows[starts[i]:starts[i + 1]]."""

    first: int
    last: int
    numbers: Numbers
    lengths: npt.NDArray[np.int32]
    replies: npt.NDArray[np.bool_]  # whether a program speaks in the chunk
    hashes: npt.NDArray[np.uint64]
    starts: npt.NDArray[np.int64]
    rows: npt.NDArray[np.int32]
    counts: npt.NDArray[np.uint8]
    vectors: Mapping[str, Vectors]
    fine: Mapping[str, Fine]

    def posting(self, word: int) -> slice:
        """Where in `rows` and `counts` the chunks with that word stand."""
        place = int(np.searchsorted(self.hashes, np.uint64(word)))
        if place == len(self.hashes) or self.hashes[place] != word:
            return slice(0, 0)
        return slice(int(self.starts[place]), int(self.starts[place + 1]))


@dataclass(frozen=True, slots=True, eq=False)
class Chunks:
    """What a segment takes of chunks in the order of their numbers; `words` are their entries, one after the other."""

    numbers: Numbers
    lengths: npt.NDArray[np.int32]
    replies: npt.NDArray[np.bool_]
    entries: npt.NDArray[np.int32]  # how many words each has
    words: bytes | bytearray


def build_segment(
    first: int, last: int, *, chunks: Chunks, vectors: Mapping[str, Vectors], fine: Mapping[str, Fine]
) -> Segment:
    """The segment of these chunks and their vectors."""
    entries = np.frombuffer(chunks.words, ENTRY)
    owners = np.repeat(np.arange(len(chunks.numbers), dtype=np.int32), chunks.entries)
    pieces = [_postings(entries, owners, piece) for piece in range(_PIECES)]
    hashes, spreads, rows, counts = (np.concatenate(each) for each in zip(*pieces, strict=True))
    return Segment(
        first=first,
        last=last,
        numbers=chunks.numbers,
        lengths=chunks.lengths,
        replies=chunks.replies,
        hashes=hashes,
        starts=np.concatenate([[0], np.cumsum(spreads)]).astype(np.int64),
        rows=rows,
        counts=counts,
        vectors=dict(sorted(vectors.items())),
        fine=dict(sorted(fine.items())),
    )


def _postings(entries: npt.NDArray[Any], owners: npt.NDArray[np.int32], piece: int) -> tuple[npt.NDArray[Any], ...]:
    """Of the words whose hashes begin with these bits: each hash, in how many chunks, in which, and how often."""
    held = np.flatnonzero((entries["hash"] >> _SHIFT) == piece)
    held = held[np.argsort(entries["hash"][held], kind="stable")]
    hashes, spreads = np.unique(entries["hash"][held], return_counts=True)
    return hashes, spreads, owners[held], entries["counts"][held]


def first_of_each(owners: npt.NDArray[np.int32] | Numbers) -> npt.NDArray[np.int32]:
    """The places at which another owner begins."""
    return np.flatnonzero(np.diff(owners, prepend=-1)).astype(np.int32)
