"""Words in rows: which chunks have a word, how often, and how long these chunks are.

A segment holds the words of a range of chunks. The words are divided into buckets by the first bits of their hashes; a
bucket is one row, so a question reads a row for each of its words and each segment. Chunks that no segment holds yet
are few, and their words are read from `memory_words`.
"""

import math
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from commonplace.index.postgresql.statements import BuildConnection
from commonplace.index.segments.segment import (
    Numbers,
    Segment,
    SegmentBuilder,
    count_patterns,
    positions_in,
    range_mask,
)
from commonplace.index.segments.segment_file import SegmentFile, UnsegmentedChunks, next_range

MIN_CHUNKS: Final = 256
"""Chunks newer than all segments that are worth a new segment: every process reads the newer ones after each change."""
MAX_CHUNKS: Final = 65_536
_BUCKET: Final = 4096  # postings in a bucket, about: 20 kB compressed
_MOST_BUCKETS: Final = 1 << 16
_HASH_BITS: Final = 64
_FIELDS: Final = 5
_SEGMENTS: Final = "SELECT first, last, chunks, buckets FROM memory_segments ORDER BY first"
_WORDS: Final = """
SELECT w.number, w.length, c.voice, w.words FROM memory_words w JOIN memory_chunks c ON c.number = w.number
WHERE w.number BETWEEN :first AND :last ORDER BY w.number
"""
# OFFSET 0: each range is looked up in the index. The planner would else compare all chunks with all ranges.
_LENGTHS: Final = """
SELECT f.number, f.length, f.voice FROM unnest(:low::bigint[], :high::bigint[]) AS r (low, high), LATERAL (
  SELECT w.number, w.length, c.voice FROM memory_words w JOIN memory_chunks c ON c.number = w.number
  WHERE w.number BETWEEN r.low AND r.high AND c.number BETWEEN r.low AND r.high OFFSET 0) AS f
ORDER BY f.number
"""
_BUCKETS: Final = """
SELECT p.first, p.bucket, p.content FROM memory_postings p
JOIN unnest(:firsts::bigint[], :buckets::bigint[]) AS w (first, bucket) ON p.first = w.first AND p.bucket = w.bucket
ORDER BY p.first
"""
_LIVING: Final = "SELECT first_chunk, chunk_count FROM memory_documents WHERE chunk_count > 0 ORDER BY first_chunk"
_UNLIST: Final = "DELETE FROM memory_segments WHERE first <= :last AND last >= :first"
_DROP: Final = "DELETE FROM memory_postings WHERE first IN (SELECT value FROM json_each(:firsts))"
_LIST: Final = "INSERT INTO memory_segments (first, last, chunks, buckets) VALUES (?, ?, ?, ?)"
_ADD: Final = "INSERT INTO memory_postings (first, bucket, content) VALUES (?, ?, ?)"


class PostingSegment(NamedTuple):
    """A segment as the tables list it."""

    first: int
    last: int
    chunks: int
    buckets: int

    def bucket_of(self, word: int) -> int:
        """The bucket of the word with that hash."""
        return word * self.buckets >> _HASH_BITS


@dataclass(frozen=True, slots=True, eq=False)
class Postings:
    """The chunks that have one word: their numbers, ascending, lengths, whether a program speaks, and the counts."""

    numbers: Numbers
    lengths: npt.NDArray[np.int32]
    replies: npt.NDArray[np.bool_]
    counts: npt.NDArray[np.uint8]

    def of(self, chosen: npt.NDArray[Any] | slice) -> "Postings":
        """Those that are chosen by a mask, by positions or by a range."""
        return Postings(self.numbers[chosen], self.lengths[chosen], self.replies[chosen], self.counts[chosen])


# ---------------------------------------------------------------- reading


def posting_segments(connection: BuildConnection) -> tuple[PostingSegment, ...]:
    """The segments of the build, in the order of their numbers."""
    return tuple(PostingSegment._make(row) for row in connection.execute(_SEGMENTS))


def read_words(connection: BuildConnection, first: int, last: int) -> Segment:
    """The words of these chunks, read from the rows of the chunks."""
    builder = SegmentBuilder()
    for number, length, voice, words in connection.execute(_WORDS, {"first": first, "last": last}):
        builder.add_chunk(number, length, is_reply=voice == "assistant", words=words)
    return builder.build(first, last)


def read_postings(
    connection: BuildConnection, words: Iterable[int], *, segments: Sequence[PostingSegment], recent: Segment
) -> dict[int, Postings]:
    """The chunks that have each of the words with these hashes: in segments, then in the newest chunks."""
    wanted = [*words]
    pieces: dict[int, list[Postings]] = {word: [] for word in wanted}
    keys = {(each.first, each.bucket_of(word)) for each in segments for word in wanted}
    if keys:
        firsts, buckets = zip(*sorted(keys), strict=True)
        rows = connection.execute(_BUCKETS, {"firsts": [*firsts], "buckets": [*buckets]}).fetchall()
        contents = {(first, bucket): _unpacked(content, first) for first, bucket, content in rows}
        for each in segments:
            for word in wanted:
                if (bucket := contents.get((each.first, each.bucket_of(word)))) is not None:
                    pieces[word] += bucket.having(word)
    for word in wanted:
        pieces[word].append(_postings_in(recent, word))
    return {word: _joined(each) for word, each in pieces.items()}


def word_segment(postings: Mapping[int, Postings], *, within: tuple[Numbers, Numbers]) -> Segment:
    """The chunks in these ranges that have one of the words, as a segment that has these words alone."""
    kept = {word: each.of(range_mask(each.numbers, *within)) for word, each in postings.items()}
    every = _joined([*kept.values()])
    numbers, places = np.unique(every.numbers, return_index=True)
    return _segment(kept, numbers=numbers, lengths=every.lengths[places], replies=every.replies[places])


def document_segment(
    connection: BuildConnection, postings: Mapping[int, Postings], ranges: Sequence[tuple[int, int]]
) -> Segment:
    """All chunks of documents, each with the numbers from its first to its last, as a segment with these words."""
    low, high = zip(*ranges, strict=True) if ranges else ((), ())
    rows: list[Any] = connection.execute(_LENGTHS, {"low": [*low], "high": [*high]}).fetchall()
    distinct = {number: (length, voice == "assistant") for number, length, voice in rows}
    numbers = np.array([*distinct], np.int64)
    lengths = np.array([length for length, _ in distinct.values()], np.int32)
    replies = np.array([is_reply for _, is_reply in distinct.values()], np.bool_)
    kept = {word: each.of(positions_in(each.numbers, numbers)[0]) for word, each in postings.items()}
    return _segment(kept, numbers=numbers, lengths=lengths, replies=replies)


def _segment(
    postings: Mapping[int, Postings],
    *,
    numbers: Numbers,
    lengths: npt.NDArray[np.int32],
    replies: npt.NDArray[np.bool_],
) -> Segment:
    words = sorted(postings)
    rows = [np.searchsorted(numbers, postings[word].numbers).astype(np.int32) for word in words]
    counts = [postings[word].counts for word in words]
    codes, patterns = count_patterns(np.concatenate(counts or [np.empty((0, _FIELDS), np.uint8)]))
    return Segment(
        first=int(numbers[0]) if len(numbers) else 1,
        last=int(numbers[-1]) if len(numbers) else 0,
        numbers=numbers,
        lengths=lengths,
        replies=replies,
        hashes=np.array(words, np.uint64),
        starts=np.cumsum([0, *map(len, rows)]).astype(np.int64),
        rows=np.concatenate(rows or [np.empty(0, np.int32)]),
        codes=codes,
        patterns=patterns,
        vectors={},
        sentences={},
    )


def _postings_in(segment: Segment, word: int) -> Postings:
    posting = segment.posting(word)
    rows = segment.rows[posting]
    return Postings(segment.numbers[rows], segment.lengths[rows], segment.replies[rows], segment.counts(posting))


def _joined(pieces: Sequence[Postings]) -> Postings:
    empty = Postings(
        np.empty(0, np.int64), np.empty(0, np.int32), np.empty(0, np.bool_), np.empty((0, _FIELDS), np.uint8)
    )
    held = [*pieces, empty]
    return Postings(
        np.concatenate([each.numbers for each in held]),
        np.concatenate([each.lengths for each in held]),
        np.concatenate([each.replies for each in held]),
        np.concatenate([each.counts for each in held]),
    )


# ---------------------------------------------------------------- a bucket as bytes


@dataclass(frozen=True, slots=True, eq=False)
class _Bucket:
    """The words of a bucket by their hashes; those of the word at i have the postings from ends[i - 1] to ends[i]."""

    hashes: npt.NDArray[np.uint64]
    ends: Numbers
    postings: Postings

    def having(self, word: int) -> list[Postings]:
        """The chunks that have the word, if any."""
        at = int(np.searchsorted(self.hashes, np.uint64(word)))
        if at == len(self.hashes) or self.hashes[at] != word:
            return []
        begin = int(self.ends[at - 1]) if at else 0
        return [self.postings.of(slice(begin, int(self.ends[at])))]


def _packed(segment: Segment, words: slice) -> bytes:
    """The words at these places of the segment: how many, and column by column what a _Bucket has, compressed."""
    own = slice(int(segment.starts[words.start]), int(segment.starts[words.stop]))
    rows = segment.rows[own]
    columns = (
        segment.hashes[words].astype("<u8"),
        np.diff(segment.starts[words.start : words.stop + 1]).astype("<u4"),
        (segment.numbers[rows] - segment.first).astype("<u4"),
        segment.lengths[rows].astype("<i4"),
        segment.replies[rows].astype(np.uint8),
        segment.counts(own),
    )
    head = np.array([words.stop - words.start, len(rows)], "<u4").tobytes()
    return zlib.compress(head + b"".join(each.tobytes() for each in columns), 1)


def _unpacked(content: bytes, first: int) -> _Bucket:
    raw = zlib.decompress(content)
    words, postings = (int(each) for each in np.frombuffer(raw, "<u4", 2))
    columns, at = [], 8
    for kind, count in (("<u8", words), ("<u4", words), ("<u4", postings), ("<i4", postings), ("u1", postings)):
        columns.append(np.frombuffer(raw, kind, count, at))
        at += columns[-1].nbytes
    hashes, sizes, offsets, lengths, replies = columns
    counts = np.frombuffer(raw, np.uint8, postings * _FIELDS, at).reshape(-1, _FIELDS)
    held = Postings(offsets.astype(np.int64) + first, lengths.astype(np.int32), replies.astype(np.bool_), counts)
    return _Bucket(hashes.astype(np.uint64), np.cumsum(sizes, dtype=np.int64), held)


# ---------------------------------------------------------------- writing


def due_range(
    connection: BuildConnection, *, next_number: int, min_chunks: int, max_chunks: int
) -> tuple[int, int] | None:
    """The numbers of the segment to write next, which replaces those it overlaps; None if none is due."""
    segments = posting_segments(connection)
    covered = segments[-1].last if segments else 0
    if next_number - 1 - covered < min_chunks:
        return None
    ranges = np.array(connection.execute(_LIVING).fetchall(), np.int64).reshape(-1, 2)
    files = [SegmentFile(each.first, each.last, each.chunks, str(each.first), 0, 0) for each in segments]
    living = {each.name: _living(ranges, each.first, each.last) for each in files}
    newer = UnsegmentedChunks(covered + 1, next_number - 1, _living(ranges, covered + 1, next_number - 1))
    return next_range(files, living=living, bad=frozenset(), newer=newer, min_chunks=min_chunks, max_chunks=max_chunks)


def _living(ranges: Numbers, first: int, last: int) -> int:
    """How many chunks with these numbers exist."""
    begins, ends = ranges[:, 0], ranges[:, 0] + ranges[:, 1] - 1
    return int(np.maximum(np.minimum(ends, last) - np.maximum(begins, first) + 1, 0).sum())


def segments_with_deleted(connection: BuildConnection) -> list[tuple[int, int]]:
    """The numbers of the segments that hold a chunk which no longer exists."""
    ranges = np.array(connection.execute(_LIVING).fetchall(), np.int64).reshape(-1, 2)
    segments = posting_segments(connection)
    return [(each.first, each.last) for each in segments if _living(ranges, each.first, each.last) < each.chunks]


def write_postings(connection: BuildConnection, first: int, last: int) -> None:
    """Write the segment of these numbers in place of those that it overlaps."""
    segment = read_words(connection, first, last)
    overlapped = [each.first for each in posting_segments(connection) if each.first <= last and each.last >= first]
    connection.execute(_DROP, {"firsts": str(overlapped)})
    connection.execute(_UNLIST, {"first": first, "last": last})
    buckets = min(1 << math.ceil(math.log2(max(1, len(segment.rows) / _BUCKET))), _MOST_BUCKETS)
    connection.executemany(_LIST, [(first, last, len(segment.numbers), buckets)])
    shift = np.uint64(_HASH_BITS - (buckets.bit_length() - 1))
    numbers = (segment.hashes >> shift).astype(np.int64) if buckets > 1 else np.zeros(len(segment.hashes), np.int64)
    edges = np.searchsorted(numbers, np.arange(buckets + 1)).tolist()
    held = [(at, slice(begin, end)) for at, (begin, end) in enumerate(pairwise(edges)) if begin < end]
    for some in range(0, len(held), 64):
        connection.executemany(_ADD, [(first, at, _packed(segment, words)) for at, words in held[some : some + 64]])
