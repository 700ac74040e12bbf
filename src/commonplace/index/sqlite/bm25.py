"""Search by words: BM25 over the fields of a chunk, in plain arithmetic on arrays.

What a chunk scores is computed for each chunk alone and in the order of the query's words, so it is the same to the
last digit however the chunks are spread over segments.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from commonplace.index.base import Weighing, WordMatch, WordMatches
from commonplace.index.sqlite.filters import Live, Mask
from commonplace.index.sqlite.segment import Numbers, Segment
from commonplace.index.sqlite.slices import rows_of
from commonplace.index.sqlite.words import word_hash

Floats = npt.NDArray[np.float64]
_BLOCK = 32  # scores that are looked at together
_NARROW = 0.5  # where fewer of the chunks count, only those are computed


@dataclass(frozen=True, slots=True)
class Word:
    """A word of the query: how rare it is decides what it is worth."""

    text: str
    hash: int
    worth: float


@dataclass(frozen=True, slots=True)
class Query:
    """What a search by words computes with: the words that count, and the average length of a chunk."""

    words: tuple[Word, ...]
    dropped: tuple[str, ...]
    average: float
    weighing: Weighing

    @property
    def most(self) -> float:
        """What a chunk full of every word would come near to."""
        return sum(word.worth for word in self.words) * (self.weighing.k1 + 1)


def weigh_words(words: Sequence[str], segments: Sequence[Segment], every: Live, *, weighing: Weighing) -> Query:
    """The query over all chunks that a search may find, whatever its filters: they change no score."""
    total = every.size
    spread = {word: _spread(word_hash(word), segments, every) for word in dict.fromkeys(words)}
    common = [word for word, df in spread.items() if df > weighing.common * total]
    rarer = [word for word, df in spread.items() if df and word not in common]
    dropped = tuple(common) if len(rarer) > 1 else ()
    counting = tuple(
        Word(word, word_hash(word), math.log(1 + (total - df + 0.5) / (df + 0.5)))
        for word, df in spread.items()
        if word not in dropped
    )
    return Query(counting, dropped, average=every.words / total if every.words else 1.0, weighing=weighing)


def best_by_words(
    query: Query, segments: Sequence[Segment], live: Live, *, limit: int, also: Sequence[int]
) -> WordMatches:
    """The best chunks that count and have one of the words, and those of `also`; ties at the end are not cut."""
    wanted = np.sort(np.asarray(also, np.int64))
    pools = [
        (segments[at], *_pool(_sums(query, segments[at], live, at), segments[at], wanted, limit=limit))
        for at, count in enumerate(live.sizes)
        if count
    ]
    cut = cut_at(np.concatenate([sums for _, _, sums, _ in pools] or [np.empty(0)]), limit)
    matches: list[WordMatch] = []
    for segment, rows, sums, is_asked in pools:
        kept = (sums >= cut) | is_asked
        matches += _matches(query, segment, rows[kept], sums[kept])
    return WordMatches(tuple(sorted(matches, key=lambda match: (-match.score, match.number))), query.dropped)


def _pool(sums: Floats, segment: Segment, wanted: Numbers, *, limit: int) -> tuple[Numbers, Floats, Mask]:
    """The rows of the best in the segment and of those that are wanted, what each has, and which are the wanted."""
    rows = np.flatnonzero(sums > 0)  # of truths: of numbers it takes ten times as long
    sums, is_asked = sums[rows], np.zeros(len(rows), np.bool_)
    _, asked = rows_of(wanted, segment.numbers)
    _, places = rows_of(asked, rows)
    is_asked[places] = True
    kept = (sums >= cut_at(sums, limit)) | is_asked
    return rows[kept], sums[kept], is_asked[kept]


def cut_at(scores: npt.NDArray[np.floating], limit: int) -> float:
    """The score of the last that is among the best `limit`; lower than any when there are not as many."""
    if len(scores) <= limit:
        return -math.inf
    if not limit:
        return math.inf
    if len(scores) > limit * _BLOCK * 2:  # the best of each block tell below what most need not be looked at
        blocks = scores[: len(scores) // _BLOCK * _BLOCK].reshape(_BLOCK, -1).max(axis=0)
        scores = scores[scores >= np.partition(blocks, len(blocks) - limit)[len(blocks) - limit]]
    return float(np.partition(scores, len(scores) - limit)[len(scores) - limit])


def _spread(word: int, segments: Sequence[Segment], every: Live) -> int:
    """In how many chunks the word stands."""
    count = 0
    for segment, mask, size in zip(segments, every.masks, every.sizes, strict=True):
        rows = segment.rows[segment.posting(word)]
        count += len(rows) if size == len(mask) else int(np.count_nonzero(mask[rows]))
    return count


def _sums(query: Query, segment: Segment, live: Live, at: int) -> Floats:
    """What each chunk of the segment that counts has of the words' worth together."""
    mask, is_narrow = live.masks[at], live.sizes[at] < _NARROW * len(live.masks[at])
    sums = np.zeros(len(segment.numbers))
    for word in query.words:
        where = segment.posting(word.hash)
        rows, counts = segment.rows[where], segment.counts[where]
        if is_narrow:
            kept = mask[rows]
            rows, counts = rows[kept], counts[kept]
        sums[rows] += _shares(word, query, counts, segment.lengths[rows])
    if live.sizes[at] < len(mask):
        sums[~mask] = 0
    return sums


def _shares(word: Word, query: Query, counts: npt.NDArray[np.uint8], lengths: npt.NDArray[np.int32]) -> Floats:
    """What chunks with these counts of the word and of these lengths have of its worth."""
    k1, b = query.weighing.k1, query.weighing.b
    weighed = np.zeros(len(counts))
    for field, weight in enumerate(query.weighing.fields):
        weighed += counts[:, field] * np.float64(weight)
    return word.worth * (weighed * (k1 + 1)) / (weighed + k1 * (1 - b + b * (lengths / query.average)))


def _matches(query: Query, segment: Segment, rows: npt.NDArray[np.int64], sums: Floats) -> list[WordMatch]:
    by: list[dict[str, float]] = [{} for _ in rows]
    most, sought = query.most, rows.astype(np.int32)  # as the postings are: else all of one would be copied
    for word in query.words:
        where = segment.posting(word.hash)
        having, counts = segment.rows[where], segment.counts[where]
        if not len(having):
            continue
        places = np.minimum(np.searchsorted(having, sought), len(having) - 1)
        shares = _shares(word, query, counts[places], segment.lengths[rows])
        shares /= most
        has = np.flatnonzero(having[places] == rows)
        for match, share in zip(has.tolist(), shares[has].tolist(), strict=True):
            by[match][word.text] = share
    numbers, totals = segment.numbers[rows].tolist(), (sums / most).tolist()
    return [*map(WordMatch._make, zip(numbers, totals, by, strict=True))]
