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
from commonplace.index.sqlite.filters import Live
from commonplace.index.sqlite.segment import Segment
from commonplace.index.sqlite.words import word_hash

Floats = npt.NDArray[np.float64]
_BLOCK = 64  # scores that are looked at together
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
    places: list[tuple[int, npt.NDArray[np.int64], Floats]] = []
    wanted = np.sort(np.asarray(also, np.int64))
    for at, segment in enumerate(segments):
        if live.sizes[at]:
            sums = _sums(query, segment, live, at)
            rows = np.flatnonzero(sums)
            best = rows[sums[rows] >= cut_at(sums[rows], limit)]
            asked = _rows_of(wanted, segment)
            rows = np.union1d(best, asked[sums[asked] > 0])
            places.append((at, rows, sums[rows]))
    cut = cut_at(np.concatenate([sums for _, _, sums in places] or [np.empty(0)]), limit)
    matches = []
    for at, rows, sums in places:
        kept = (sums >= cut) | np.isin(segments[at].numbers[rows], wanted)
        matches += _matches(query, segments[at], rows[kept], sums[kept])
    return WordMatches(tuple(sorted(matches, key=lambda match: (-match.score, match.number))), query.dropped)


def _rows_of(numbers: npt.NDArray[np.int64], segment: Segment) -> npt.NDArray[np.int64]:
    """The rows of those chunks that are in this segment; the numbers are in order, as the segment's are."""
    if not len(segment.numbers):
        return np.empty(0, np.int64)
    places = np.minimum(np.searchsorted(segment.numbers, numbers), len(segment.numbers) - 1)
    found: npt.NDArray[np.int64] = places[segment.numbers[places] == numbers]
    return found


def cut_at(scores: npt.NDArray[np.floating], limit: int) -> float:
    """The score of the last that is among the best `limit`; lower than any when there are not as many."""
    if len(scores) <= limit:
        return -math.inf
    if not limit:
        return math.inf
    if len(scores) > limit * _BLOCK * 2:  # the best of each block tell below what most need not be looked at
        blocks = np.maximum.reduceat(scores, np.arange(0, len(scores), _BLOCK))
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
    most = query.most
    for word in query.words:
        where = segment.posting(word.hash)
        having, counts = segment.rows[where], segment.counts[where]
        if not len(having):
            continue
        places = np.minimum(np.searchsorted(having, rows), len(having) - 1)
        shares = _shares(word, query, counts[places], segment.lengths[rows])
        shares /= most
        for match in np.flatnonzero(having[places] == rows).tolist():
            by[match][word.text] = float(shares[match])
    numbers, totals = segment.numbers[rows].tolist(), (sums / most).tolist()
    return [WordMatch(number, total, of) for number, total, of in zip(numbers, totals, by, strict=True)]
