"""Segments without files: masks, postings, word hashes, quantized vectors, cutoffs, and the merge policy."""

import numpy as np
import numpy.typing as npt
import pytest

from commonplace.index.segments.bm25 import cutoff
from commonplace.index.segments.quantize import (
    ZERO_LEVEL,
    QuantizedVectors,
    coarse_halves,
    coarsen,
    pack_vectors,
    quantize,
    quantize_query,
    restore,
    stored_bytes,
    unpack_vectors,
)
from commonplace.index.segments.segment import (
    WORD_ENTRY,
    ChunkArrays,
    body_length,
    build_segment,
    pack_words,
    range_mask,
    unpack_words,
    word_hash,
)
from commonplace.index.segments.segment_file import SegmentFile, UnsegmentedChunks, next_range
from commonplace.model import WordCounts
from tests.index_documents import vector


def test_a_mask_selects_the_numbers_within_the_ranges() -> None:
    """Ranges may reach beyond both ends, and over missing numbers."""
    numbers = np.array([3, 4, 6, 9, 10, 11])
    mask = range_mask(numbers, np.array([1, 6, 10]), np.array([3, 2, 1]))

    assert mask.tolist() == [True, False, True, False, True, False]
    assert range_mask(numbers, np.empty(0, np.int64), np.empty(0, np.int64)).tolist() == [False] * 6
    assert range_mask(np.empty(0, np.int64), np.array([1]), np.array([3])).tolist() == []


def test_a_word_is_packed_as_its_hash_with_counts_up_to_255() -> None:
    """Sorted by hash, whatever the order of the words; a word of a long text takes ten bytes instead of thirteen."""
    one, two = {"a": (1, 0, 0, 0, 999), "b": (0, 2, 0, 0, 3)}, {"b": (0, 2, 0, 0, 3), "a": (1, 0, 0, 0, 255)}

    assert pack_words(one) == pack_words(two)
    entries = unpack_words(pack_words(one))
    assert sorted(entries["hash"].tolist()) == entries["hash"].tolist()
    assert {int(word): counts.tolist() for word, counts in entries} == {
        word_hash("a"): [1, 0, 0, 0, 255],
        word_hash("b"): [0, 2, 0, 0, 3],
    }
    assert len(unpack_words(pack_words({}))) == 0
    many = {f"word {number}": (0, 0, number % 9 == 0, 0, 1) for number in range(100)}
    assert len(pack_words(many)) < 1000
    assert body_length(one) == 1002
    assert word_hash("a") != word_hash("b")


def test_a_posting_lists_the_chunks_with_a_word() -> None:
    """As rows in the order of numbers; an unknown word has an empty posting."""
    counts: list[WordCounts] = [{"a": (0, 0, 0, 0, 1)}, {}, {"a": (0, 0, 0, 0, 2), "b": (1, 0, 0, 0, 1)}]
    words = [unpack_words(pack_words(each)).tobytes() for each in counts]
    entries = np.array([*map(len, counts)], np.int32)
    lengths, replies = np.array([1, 0, 3], np.int32), np.zeros(3, np.bool_)
    chunks = ChunkArrays(np.array([5, 9, 11]), lengths, replies, entries, b"".join(words))
    segment = build_segment(5, 11, chunks=chunks, vectors={}, sentences={})

    assert segment.rows[segment.posting(word_hash("a"))].tolist() == [0, 2]
    assert segment.counts(segment.posting(word_hash("b"))).tolist() == [[1, 0, 0, 0, 1]]
    assert segment.posting(word_hash("c")) == slice(0, 0)
    none = np.empty(0, np.int32)
    empty = ChunkArrays(none.astype(np.int64), none, none.astype(np.bool_), none, b"")
    assert len(build_segment(1, 3, chunks=empty, vectors={}, sentences={}).rows) == 0


def test_a_quantized_vector_is_near_the_original() -> None:
    """Off by less than two thousandths in any direction, and as long as before; zeros stay zeros."""
    vectors = np.array([vector("soil", dim=384), vector("rain", dim=384), np.zeros(384, np.int16)])
    small = quantize(vectors)
    again = small.rows * small.scales[:, None]

    assert np.abs(again - vectors).max() / 32767 < 0.002
    assert np.linalg.norm(again, axis=1) == pytest.approx(np.linalg.norm(vectors.astype(float), axis=1), rel=1e-6)
    assert not small.rows[2].any()
    assert quantize(vectors[:0]).rows.shape == (0, 384)


@pytest.mark.parametrize("dim", [1, 5, 384])
def test_a_vector_that_was_stored_and_read_is_quantized_to_the_same_bits(dim: int) -> None:
    """So an index is the same to the last digit, whether its vectors come from the encoder or from the cache."""
    vectors = np.array([*(vector(str(n), dim=dim) for n in range(500)), np.zeros(dim, np.int16)])
    small = quantize(vectors)
    read = unpack_vectors(pack_vectors(small))
    again = quantize(restore(read))

    assert (read.rows == small.rows).all()
    assert (read.scales == small.scales).all()
    assert (again.rows == small.rows).all()
    assert again.scales[:-1].tolist() == small.scales[:-1].tolist()
    assert {len(each) for each in pack_vectors(small)} == {dim + 4}


def test_counts_are_stored_as_codes_of_the_patterns_that_occur() -> None:
    """Two bytes a posting while there are few patterns, four beyond: what comes back is what was counted."""
    counts = np.random.default_rng(1).integers(0, 256, (70_000, 5), np.uint8)
    few = counts % 3
    for given, code in ((counts, np.uint32), (few, np.uint16), (few[:0], np.uint16)):
        words = np.zeros(len(given), WORD_ENTRY)
        words["hash"], words["counts"] = np.arange(len(given), dtype=np.uint64), given
        one, entries = np.ones(1, np.int32), np.array([len(given)], np.int32)
        chunks = ChunkArrays(np.array([1]), one, np.zeros(1, np.bool_), entries, words.tobytes())
        segment = build_segment(1, 1, chunks=chunks, vectors={}, sentences={})
        assert (segment.counts(slice(None)) == given).all()
        assert (segment.codes.dtype, len(segment.patterns)) == (np.dtype(code), len(np.unique(given, axis=0)))


def test_a_quantized_vector_depends_on_itself_alone() -> None:
    """Whatever is quantized with it, and as a query too: its cosine with itself is 1."""
    vectors = np.array([vector(str(n), dim=384) for n in range(20)])
    together, alone = quantize(vectors), [quantize(each[None, :]) for each in vectors]

    assert all(np.array_equal(together.rows[n], each.rows[0]) for n, each in enumerate(alone))
    assert together.scales.tolist() == [float(each.scales[0]) for each in alone]
    question = quantize_query(vectors[3])
    product = int(together.rows[3].astype(int) @ question.row.astype(int))
    assert product * float(together.scales[3]) * question.scale == pytest.approx(1, abs=1e-4)


def test_a_cosine_in_eight_bits_is_off_by_a_thousandth_at_most_in_most_cases() -> None:
    """The error of 8 bits over many pairs: some ten-thousandths on average, never as much as three thousandths."""
    one, other = (np.array([vector(f"{side} {n}", dim=384) for n in range(400)]) for side in "ab")
    small, wide = quantize(one), quantize(other)
    products = (small.rows.astype(np.int64) * wide.rows).sum(axis=1)
    cosines = products * small.scales.astype(float) * wide.scales.astype(float) / 32767**2
    errors = cosines - (one.astype(np.int64) * other).sum(axis=1) / 32767**2

    assert np.sqrt(np.mean(errors**2)) < 0.001
    assert np.abs(errors).max() < 0.003


def test_a_cutoff_is_the_lowest_of_the_best() -> None:
    """Lower than any score if there are fewer."""
    scores = np.array([0.5, 0.1, 0.5, 0.9])

    assert [cutoff(scores, limit) for limit in (0, 1, 2, 3, 4)] == [np.inf, 0.9, 0.5, 0.5, -np.inf]


@pytest.mark.parametrize(
    ("chunks", "newer", "expected"),
    [
        ([], UnsegmentedChunks(1, 3, 3), None),
        ([], UnsegmentedChunks(1, 4, 4), (1, 4)),
        ([], UnsegmentedChunks(1, 40, 40), (1, 16)),
        ([8], UnsegmentedChunks(9, 12, 4), (9, 12)),
        ([7], UnsegmentedChunks(8, 11, 4), (1, 11)),
        ([12, 4], UnsegmentedChunks(17, 20, 4), (13, 20)),
        ([15, 3], UnsegmentedChunks(19, 22, 4), (16, 22)),
    ],
)
def test_a_segment_takes_new_chunks_and_small_neighbours(
    chunks: list[int], newer: UnsegmentedChunks, expected: tuple[int, int] | None
) -> None:
    """At least 4 new chunks, at most 16 in all, and neighbours under twice what was gathered."""
    named, first = [], 1
    for count in chunks:
        named.append(SegmentFile(first, first + count - 1, count, f"{first}", 0, 0))
        first += count
    living = {each.name: each.chunks for each in named}

    assert next_range(named, living=living, bad=frozenset(), newer=newer, min_chunks=4, max_chunks=16) == expected


def test_bad_segments_and_mostly_dead_ones_come_first() -> None:
    """They are rewritten over the same numbers."""
    named = [SegmentFile(1, 10, 10, "a", 0, 0), SegmentFile(11, 20, 10, "b", 0, 0)]
    newer = UnsegmentedChunks(21, 99, 79)

    def due(living: int, bad: frozenset[str]) -> tuple[int, int] | None:
        return next_range(named, living={"a": 10, "b": living}, bad=bad, newer=newer, min_chunks=100, max_chunks=200)

    assert due(5, frozenset()) is None
    assert due(4, frozenset()) == (11, 20)
    assert due(10, frozenset({"a"})) == (1, 10)


def test_a_cosine_in_four_bits_is_right_on_average() -> None:
    """Off by half a hundredth in most cases, as often too high as too low; with itself a vector has a cosine of 1."""
    one, other = (np.array([vector(f"{side} {n}", dim=384) for n in range(400)]) for side in "ab")
    coarse, wide = coarsen(quantize(one)), quantize(other)
    exact = (one.astype(np.int64) * other).sum(axis=1) / 32767**2
    errors = _cosines(coarse, wide) - exact

    assert np.sqrt(np.mean(errors**2)) < 0.008
    assert np.abs(errors).max() < 0.03
    assert abs(np.mean(errors)) < 0.001
    assert _cosines(coarse, quantize(one)) == pytest.approx(1, abs=1e-4)


def test_a_vector_of_few_numbers_keeps_its_zeros_in_four_bits() -> None:
    """Large numbers are cut off only where that brings the vector nearer: an encoder of words has mostly zeros."""
    sparse = np.zeros((3, 64), np.int16)
    sparse[0, [3, 40]], sparse[1, 7] = (20_000, -26_000), 32_767
    coarse = coarsen(quantize(sparse))

    assert np.array_equal(coarse.rows != 0, sparse != 0)
    assert _cosines(coarse, quantize(sparse)) == pytest.approx([1, 1, 0], abs=0.01)


@pytest.mark.parametrize("dim", [1, 5, 384])
def test_a_sentence_is_stored_in_half_as_many_bytes_as_a_part(dim: int) -> None:
    """What comes back is what was stored, whether the vector came from the encoder or from the cache."""
    vectors = quantize(np.array([vector(str(n), dim=dim) for n in range(5)]))
    scales, rows = stored_bytes(vectors, parts=2)
    cached = quantize(restore(unpack_vectors(pack_vectors(vectors))))
    half = (dim + 1) // 2
    lower, upper = coarse_halves(np.frombuffer(rows[2 * dim :], np.uint8).reshape(3, half))
    expected = coarsen(QuantizedVectors(vectors.rows[2:], vectors.scales[2:]))

    assert (len(scales), len(rows)) == (5 * 4, 2 * dim + 3 * half)
    assert rows[: 2 * dim] == vectors.rows[:2].tobytes()
    assert np.array_equal(np.hstack([lower, upper])[:, :dim] - ZERO_LEVEL, expected.rows)
    assert np.array_equal(np.frombuffer(scales, "<f4")[2:], expected.scales)
    assert stored_bytes(cached, parts=2) == (scales, rows)


def _cosines(one: QuantizedVectors, other: QuantizedVectors) -> npt.NDArray[np.float64]:
    products = (one.rows.astype(np.int64) * other.rows).sum(axis=1)
    cosines: npt.NDArray[np.float64] = products * one.scales.astype(float) * other.scales.astype(float) / 32767**2
    return cosines
