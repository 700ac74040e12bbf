"""A segment: the words and vectors of a range of chunks, in arrays that are searched without reading a database row.

The row of a chunk is its position in `numbers`. The content of a segment depends on its chunks alone.
Words are stored as hashes with counts, so that no word is readable next to the text.
"""

import zlib
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from itertools import chain
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from commonplace.index.segments.quantize import coarse_width
from commonplace.model import WordCounts

WORD_ENTRY: Final = np.dtype([("hash", "<u8"), ("counts", "u1", (5,))])
"""One word of one chunk: its hash, and how often it occurs in each of the FIELDS."""

_NO_WORDS: Final = np.empty(0, WORD_ENTRY)
_MAX_COUNT: Final = 255
_PIECES: Final = 16  # postings are sorted in this many passes, to bound the memory used at once
_PIECE_SHIFT: Final = np.uint64(60)
_SCALE_BYTES: Final = 4
_MOST_SHORT_CODES: Final = 1 << 16

Numbers = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


# ---------------------------------------------------------------- words of one chunk


@lru_cache(maxsize=8192)  # questions fill it, each new word for good until then
def word_hash(word: str) -> int:
    """The hash that stands for this stemmed word."""
    return int.from_bytes(blake2b(word.encode(errors="surrogatepass")).digest()[:8], "little")


def pack_words(words: WordCounts) -> bytes:
    """The words, sorted by hash; counts are capped at 255. `unpack_words` reads them.

    All hashes, then the counts of each field, compressed: nearly all counts are 0 or 1.
    """
    hashes = np.fromiter(map(word_hash, words), np.uint64, len(words))
    counts = np.fromiter(chain.from_iterable(words.values()), np.int64).reshape(-1, 5)
    order = np.argsort(hashes)
    capped = np.minimum(counts[order], _MAX_COUNT).astype(np.uint8)
    return zlib.compress(hashes[order].astype("<u8").tobytes() + capped.T.tobytes())


def unpack_words(packed: bytes) -> npt.NDArray[Any]:
    """The words as WORD_ENTRY values."""
    content = zlib.decompress(packed)
    entries = np.empty(len(content) // WORD_ENTRY.itemsize, WORD_ENTRY)
    entries["hash"] = np.frombuffer(content, "<u8", len(entries))
    entries["counts"] = np.frombuffer(content, np.uint8, offset=8 * len(entries)).reshape(5, -1).T
    return entries


def body_length(words: WordCounts) -> int:
    """How many words the body of the chunk has."""
    return sum(counts[-1] for counts in words.values())


# ---------------------------------------------------------------- the segment and how it is built


@dataclass(frozen=True, slots=True, eq=False)
class PartVectors:
    """The vectors of parts, of one version, which every search scans. Those of one chunk are adjacent."""

    owners: npt.NDArray[np.int32]  # the row of the chunk to which each vector belongs
    starts: npt.NDArray[np.int32]  # where the vectors of each owner begin
    scales: npt.NDArray[np.float32]
    rows: npt.NDArray[np.int8]


@dataclass(frozen=True, slots=True, eq=False)
class SentenceVectors:
    """The vectors of sentences, of one version: those of the chunk in row i are rows[starts[i]:starts[i + 1]].

    Read only for the chunks that a search has found. They have 4 bits, two numbers in a byte.
    """

    starts: npt.NDArray[np.int32]
    scales: npt.NDArray[np.float32]
    rows: npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True, eq=False)
class Segment:
    """The chunks with numbers from `first` to `last`; word i occurs in the chunks rows[starts[i]:starts[i + 1]]."""

    first: int
    last: int
    numbers: Numbers
    lengths: npt.NDArray[np.int32]
    replies: npt.NDArray[np.bool_]  # whether a program speaks in the chunk
    hashes: npt.NDArray[np.uint64]
    starts: npt.NDArray[np.int64]
    rows: npt.NDArray[np.int32]
    codes: npt.NDArray[np.uint16 | np.uint32]  # which of the patterns each posting has
    patterns: npt.NDArray[np.uint8]  # every different row of counts, in order
    vectors: Mapping[str, PartVectors]
    sentences: Mapping[str, SentenceVectors]

    def vectors_of(self, number: int, version: str) -> tuple[bytes, bytes] | None:
        """The scales and the rows of a chunk's vectors of that version, the parts first; None if it has none here."""
        row = int(np.searchsorted(self.numbers, number))
        parts, sentences = self.vectors.get(version), self.sentences.get(version)
        if row == len(self.numbers) or self.numbers[row] != number or parts is None or sentences is None:
            return None
        own = slice(*np.searchsorted(parts.owners, [row, row + 1]).tolist())
        fine = slice(int(sentences.starts[row]), int(sentences.starts[row + 1]))
        if own.start == own.stop:
            return None
        scales = parts.scales[own].tobytes() + sentences.scales[fine].tobytes()
        return scales, parts.rows[own].tobytes() + sentences.rows[fine].tobytes()

    def counts(self, postings: slice | Numbers) -> npt.NDArray[np.uint8]:
        """How often the word of each posting occurs in each of the FIELDS of its chunk."""
        return self.patterns[self.codes[postings]]

    def posting(self, word: int) -> slice:
        """The slice of `rows` and `codes` that holds the chunks with the word of that hash."""
        position = int(self.hashes.searchsorted(np.uint64(word)))
        if position == len(self.hashes) or self.hashes[position] != word:
            return slice(0, 0)
        return slice(int(self.starts[position]), int(self.starts[position + 1]))


@dataclass(frozen=True, slots=True, eq=False)
class ChunkArrays:
    """The chunks from which a segment is built, in the order of their numbers; `words` are their WORD_ENTRY values."""

    numbers: Numbers
    lengths: npt.NDArray[np.int32]
    replies: npt.NDArray[np.bool_]
    entries: npt.NDArray[np.int32]  # how many words each has
    words: bytes | bytearray


def build_segment(
    first: int,
    last: int,
    *,
    chunks: ChunkArrays,
    vectors: Mapping[str, PartVectors],
    sentences: Mapping[str, SentenceVectors],
) -> Segment:
    """The segment of these chunks and their vectors."""
    entries = np.frombuffer(chunks.words, WORD_ENTRY)
    owners = np.repeat(np.arange(len(chunks.numbers), dtype=np.int32), chunks.entries)
    pieces = [_postings(entries, owners, piece) for piece in range(_PIECES)]
    hashes, frequencies, rows, counts = (np.concatenate(each) for each in zip(*pieces, strict=True))
    codes, patterns = count_patterns(counts)
    return Segment(
        first=first,
        last=last,
        numbers=chunks.numbers,
        lengths=chunks.lengths,
        replies=chunks.replies,
        hashes=hashes,
        starts=np.concatenate([[0], np.cumsum(frequencies)]).astype(np.int64),
        rows=rows,
        codes=codes,
        patterns=patterns,
        vectors=dict(sorted(vectors.items())),
        sentences=dict(sorted(sentences.items())),
    )


def count_patterns(counts: npt.NDArray[np.uint8]) -> tuple[npt.NDArray[np.uint16 | np.uint32], npt.NDArray[np.uint8]]:
    """Every different row of counts, in order, and which of them each row is: nearly all are the same few."""
    wide = np.zeros((len(counts), 8), np.uint8)
    wide[:, : counts.shape[1]] = counts
    keys, codes = np.unique(wide.view("<u8")[:, 0], return_inverse=True)
    patterns = keys.astype("<u8")[:, None].view(np.uint8)[:, : counts.shape[1]]
    return codes.astype(np.uint16 if len(keys) <= _MOST_SHORT_CODES else np.uint32), np.ascontiguousarray(patterns)


def _postings(entries: npt.NDArray[Any], owners: npt.NDArray[np.int32], piece: int) -> tuple[npt.NDArray[Any], ...]:
    """For the hashes whose first bits are `piece`: the hashes, how many chunks have each, which ones, and counts."""
    held = np.flatnonzero((entries["hash"] >> _PIECE_SHIFT) == piece)
    held = held[np.argsort(entries["hash"][held], kind="stable")]
    hashes, frequencies = np.unique(entries["hash"][held], return_counts=True)
    return hashes, frequencies, owners[held], entries["counts"][held]


class SegmentBuilder:
    """Collects the rows of chunks, in the order of their numbers, and builds a segment from them."""

    def __init__(self) -> None:
        self._numbers, self._lengths = array("q"), array("i")
        self._replies, self._entries = array("b"), array("i")
        self._words = bytearray()
        self._vectors: dict[str, _VectorBuilder] = {}

    def add_chunk(self, number: int, length: int, *, is_reply: bool, words: bytes) -> None:
        """Add a chunk: the length of its body, whether a program speaks in it, and its packed words, perhaps none."""
        self._numbers.append(number)
        self._lengths.append(length)
        self._replies.append(is_reply)
        entries = unpack_words(words) if words else _NO_WORDS
        self._entries.append(len(entries))
        self._words += entries.tobytes()

    def add_vectors(self, number: int, version: str, counts: tuple[int, int], *, scales: bytes, rows: bytes) -> None:
        """Add the vectors of a chunk as `stored_bytes` gives them; `counts` are those of parts and of sentences."""
        self._vectors.setdefault(version, _VectorBuilder()).add(number, counts, scales=scales, rows=rows)

    def build(self, first: int, last: int) -> Segment:
        """The segment of the numbers from `first` to `last`."""
        chunks = ChunkArrays(
            numbers=np.array(self._numbers, np.int64),
            lengths=np.array(self._lengths, np.int32),
            replies=np.array(self._replies, np.bool_),
            entries=np.array(self._entries, np.int32),
            words=self._words,
        )
        return build_segment(
            first,
            last,
            chunks=chunks,
            vectors={version: each.part_vectors(chunks.numbers) for version, each in self._vectors.items()},
            sentences={version: each.sentence_vectors(chunks.numbers) for version, each in self._vectors.items()},
        )


@dataclass(frozen=True, slots=True)
class _VectorBuilder:
    """The vectors of one version. Each byte is in memory once, for a segment may have hundreds of megabytes."""

    numbers: "array[int]" = field(default_factory=lambda: array("q"))
    parts: "array[int]" = field(default_factory=lambda: array("i"))
    sentences: "array[int]" = field(default_factory=lambda: array("i"))
    scales: bytearray = field(default_factory=bytearray)
    rows: bytearray = field(default_factory=bytearray)
    sentence_scales: bytearray = field(default_factory=bytearray)
    sentence_rows: bytearray = field(default_factory=bytearray)

    def add(self, number: int, counts: tuple[int, int], *, scales: bytes, rows: bytes) -> None:
        parts, sentences = counts
        end = parts * (2 * len(rows) // (2 * parts + sentences))  # a sentence has half as many bytes as a part
        self.numbers.append(number)
        self.parts.append(parts)
        self.sentences.append(sentences)
        self.scales.extend(scales[: parts * _SCALE_BYTES])
        self.rows.extend(rows[:end])
        self.sentence_scales.extend(scales[parts * _SCALE_BYTES :])
        self.sentence_rows.extend(rows[end:])

    def part_vectors(self, numbers: Numbers) -> PartVectors:
        """The vectors of parts, for a segment with these chunks."""
        owners = np.repeat(self._owners(numbers), np.array(self.parts, np.int32))
        scales = np.frombuffer(self.scales, "<f4")
        rows = np.frombuffer(self.rows, np.int8).reshape(len(scales), -1)
        return PartVectors(owners=owners, starts=group_starts(owners), scales=scales, rows=rows)

    def sentence_vectors(self, numbers: Numbers) -> SentenceVectors:
        """The vectors of sentences, for a segment with these chunks."""
        starts = np.zeros(len(numbers) + 1, np.int32)
        starts[self._owners(numbers) + 1] = self.sentences
        scales = np.frombuffer(self.sentence_scales, "<f4")
        dim = len(self.rows) * _SCALE_BYTES // len(self.scales)
        rows = np.frombuffer(self.sentence_rows, np.uint8).reshape(-1, coarse_width(dim))
        return SentenceVectors(starts=np.cumsum(starts, dtype=np.int32), scales=scales, rows=rows)

    def _owners(self, numbers: Numbers) -> npt.NDArray[np.int32]:
        return np.searchsorted(numbers, np.array(self.numbers, np.int64)).astype(np.int32)


# ---------------------------------------------------------------- selections of chunks


@dataclass(frozen=True, slots=True, eq=False)
class ChunkSelection:
    """The chunks that a query may return, as a mask over each segment, and their statistics.

    For each segment, `sizes` counts the selected chunks, `lengths` the words of their bodies, and `reply_lengths` those
    said by a program; `documents` counts the documents in all segments.
    """

    masks: tuple[Mask, ...]
    sizes: tuple[int, ...]
    lengths: tuple[int, ...]
    reply_lengths: tuple[int, ...]
    documents: int

    @property
    def size(self) -> int:
        """How many chunks are selected."""
        return sum(self.sizes)

    @property
    def words(self) -> int:
        """How many words their bodies have."""
        return sum(self.lengths)

    @property
    def replied(self) -> int:
        """How many of these words are said by a program."""
        return sum(self.reply_lengths)


def select_ranges(ranges: Numbers, segments: Sequence[Segment]) -> ChunkSelection:
    """The chunks in these ranges; each row is the first number of a document's chunks and how many it has."""
    ranges = ranges[ranges[:, 1] > 0]
    first, count = ranges[np.argsort(ranges[:, 0])].T
    masks = [range_mask(segment.numbers, first, count) for segment in segments]
    return _selection([*map(_counted, masks, segments)], documents=len(ranges))


def select_in(segments: Sequence[Segment], selection: ChunkSelection, *, before: Sequence[Segment]) -> ChunkSelection:
    """The same chunks in other segments: `before` are those of the selection. A chunk that is new is not selected."""
    known = {id(segment): at for at, segment in enumerate(before)}
    counted = []
    for segment in segments:
        at = known.get(id(segment))
        counted.append(_counted_at(selection, at) if at is not None else _moved(segment, selection, before))
    return _selection(counted, documents=selection.documents)


def change_selection(
    selection: ChunkSelection, segments: Sequence[Segment], *, changed: Numbers, passing: Numbers
) -> ChunkSelection:
    """The selection after some documents changed: of the ranges in `changed`, those in `passing` are selected now."""
    counted, documents = [], selection.documents + len(passing)
    for at, segment in enumerate(segments):
        begins, ends = _range_rows(changed, segment)
        if np.array_equal(begins, ends):
            counted.append(_counted_at(selection, at))
            continue
        mask = selection.masks[at].copy()
        starts = begins[(ends > begins) & (segment.numbers[np.minimum(begins, len(mask) - 1)] == changed[:, 0])]
        documents -= int(np.count_nonzero(mask[starts]))
        mask[expand_ranges(begins, ends - begins)[0]] = False
        begins, ends = _range_rows(passing, segment)
        mask[expand_ranges(begins, ends - begins)[0]] = True
        counted.append(_counted(mask, segment))
    return _selection(counted, documents=documents)


_Counted = tuple[Mask, int, int, int]  # a mask, and how many chunks, words and words of replies it selects


def _selection(counted: Sequence[_Counted], *, documents: int) -> ChunkSelection:
    masks, sizes, lengths, reply_lengths = zip(*counted, strict=True) if counted else ((), (), (), ())
    return ChunkSelection(masks, sizes, lengths, reply_lengths, documents)


def _counted(mask: Mask, segment: Segment) -> _Counted:
    replies = _word_count(segment, mask & segment.replies)
    return mask, int(np.count_nonzero(mask)), _word_count(segment, mask), replies


def _counted_at(selection: ChunkSelection, at: int) -> _Counted:
    return selection.masks[at], selection.sizes[at], selection.lengths[at], selection.reply_lengths[at]


def _moved(segment: Segment, selection: ChunkSelection, before: Sequence[Segment]) -> _Counted:
    mask = np.zeros(len(segment.numbers), np.bool_)
    for at, older in enumerate(before):
        if older.first <= segment.last and older.last >= segment.first and selection.sizes[at]:
            _, rows = positions_in(older.numbers[selection.masks[at]], segment.numbers)
            mask[rows] = True
    return _counted(mask, segment)


def _range_rows(ranges: Numbers, segment: Segment) -> tuple[Numbers, Numbers]:
    """Where the rows of each range begin and end in the segment."""
    begins = np.searchsorted(segment.numbers, ranges[:, 0])
    return begins, np.searchsorted(segment.numbers, ranges[:, 0] + ranges[:, 1])


def range_mask(numbers: Numbers, first: Numbers, count: Numbers) -> Mask:
    """Which of the sorted numbers lie in one of the ranges, which are sorted and do not overlap."""
    if not len(numbers):
        return np.zeros(0, np.bool_)
    near = slice(
        int(np.searchsorted(first + count, numbers[0], side="right")),
        int(np.searchsorted(first, numbers[-1], side="right")),
    )
    begins = np.searchsorted(numbers, first[near])
    ends = np.searchsorted(numbers, first[near] + count[near])
    size = len(numbers) + 1
    return np.cumsum(np.bincount(begins, minlength=size) - np.bincount(ends, minlength=size))[:-1] > 0


def _word_count(segment: Segment, mask: Mask) -> int:
    return int(np.sum(segment.lengths, where=mask, dtype=np.int64))


# ---------------------------------------------------------------- sorted arrays


def positions_in(wanted: Numbers, numbers: Numbers) -> tuple[Numbers, Numbers]:
    """The positions of those of `wanted` that are in the sorted `numbers`, and the position of each there."""
    if not len(numbers):
        return np.empty(0, np.int64), np.empty(0, np.int64)
    rows = np.minimum(numbers.searchsorted(wanted), len(numbers) - 1)
    (positions,) = (numbers[rows] == wanted).nonzero()
    return positions, rows[positions]


def expand_ranges(begins: npt.NDArray[Any], counts: npt.NDArray[Any]) -> tuple[Numbers, Numbers]:
    """Every position in one of the ranges, range after range; and for each the index of its range."""
    groups = np.repeat(np.arange(len(counts)), counts)
    firsts = counts.cumsum() - counts
    return np.arange(len(groups)) + (begins - firsts)[groups], groups


def group_starts(owners: npt.NDArray[np.int32] | Numbers) -> npt.NDArray[np.int32]:
    """The positions at which a new owner begins, where equal owners are adjacent."""
    begins = np.ones(len(owners), np.bool_)
    np.not_equal(owners[1:], owners[:-1], out=begins[1:])  # a tenth of the time of `diff` for a few hundred
    return np.flatnonzero(begins).astype(np.int32)
