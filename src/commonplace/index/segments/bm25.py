"""Word search: BM25 over the fields of a chunk, and over whole documents, in arithmetic on arrays.

The score of a chunk is computed for each chunk alone and in the order of the query's words. For a document, words and
lengths are counted in integers before they are weighted. So scores are the same to the last digit however the chunks
are distributed over segments.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from commonplace.index.base import Bm25Parameters, ChunkAttributes, WordMatch, WordMatches
from commonplace.index.segments.segment import (
    ChunkSelection,
    Mask,
    Numbers,
    Segment,
    expand_ranges,
    positions_in,
    word_hash,
)

Floats = npt.NDArray[np.float64]

_BLOCK: Final = 32  # scores that `cutoff` looks at together
_NARROW: Final = 0.5  # if a smaller share of the chunks is selected, only those are scored
_BODY: Final = 4
"""The only field that differs between the chunks of a document; the others repeat in every chunk and count once."""


@dataclass(frozen=True, slots=True)
class QueryWord:
    """A word of the query; `worth` is its inverse document frequency, `postings` has its slice in each segment."""

    text: str
    hash: int
    worth: float
    postings: tuple[slice, ...]


@dataclass(frozen=True, slots=True)
class WordQuery:
    """The words that count, those that were dropped, and the average length of a chunk."""

    words: tuple[QueryWord, ...]
    dropped: tuple[str, ...]
    average: float
    bm25: Bm25Parameters

    @property
    def most(self) -> float:
        """The score that a chunk full of every word would approach."""
        return sum(word.worth for word in self.words) * (self.bm25.k1 + 1)

    def in_segments(self, segments: Sequence[Segment]) -> "WordQuery":
        """The query, with its statistics, for other segments than those it was built for."""
        words = (replace(word, postings=_postings(word.hash, segments)) for word in self.words)
        return replace(self, words=tuple(words))


def build_word_query(
    words: Sequence[str], segments: Sequence[Segment], every: ChunkSelection, *, bm25: Bm25Parameters
) -> WordQuery:
    """The query, with statistics over all searchable chunks (`every`): filters change no score.

    It finds words in these segments alone; `in_segments` gives it others.
    """
    total = every.size
    postings = {word: _postings(word_hash(word), segments) for word in dict.fromkeys(words)}
    frequencies = {word: _document_frequency(each, segments, every) for word, each in postings.items()}
    common = [word for word, frequency in frequencies.items() if frequency > bm25.common * total]
    rarer = [word for word, frequency in frequencies.items() if frequency and word not in common]
    dropped = tuple(common) if len(rarer) > 1 else ()
    counting = tuple(
        QueryWord(word, word_hash(word), math.log(1 + (total - frequency + 0.5) / (frequency + 0.5)), postings[word])
        for word, frequency in frequencies.items()
        if word not in dropped
    )
    return WordQuery(counting, dropped, average=every.words / total if every.words else 1.0, bm25=bm25)


def _postings(word: int, segments: Sequence[Segment]) -> tuple[slice, ...]:
    return tuple(segment.posting(word) for segment in segments)


def _document_frequency(postings: Sequence[slice], segments: Sequence[Segment], every: ChunkSelection) -> int:
    """How many of the selected chunks have the word with these postings."""
    count = 0
    for segment, posting, mask, size in zip(segments, postings, every.masks, every.sizes, strict=True):
        length = posting.stop - posting.start
        is_whole = not length or size == len(mask)
        count += length if is_whole else int(np.count_nonzero(mask[segment.rows[posting]]))
    return count


# ---------------------------------------------------------------- chunks


def best_chunks(
    query: WordQuery, segments: Sequence[Segment], selection: ChunkSelection, *, limit: int, also: Sequence[int]
) -> WordMatches:
    """The best selected chunks that have one of the words, and those of `also`; ties at the end are not cut."""
    always = np.unique(np.asarray(also, np.int64))
    matches: list[WordMatch] = []
    if limit:
        pools = [
            (at, *_pool(_scores(query, segments[at], selection, at), segments[at], always, limit=limit))
            for at, count in enumerate(selection.sizes)
            if count
        ]
        threshold = cutoff(np.concatenate([scores for _, _, scores, _ in pools] or [np.empty(0)]), limit)
        for at, rows, scores, is_always in pools:
            included = (scores >= threshold) | is_always
            matches += _matches(query, segments[at], at, rows[included])
    else:
        for at, (segment, mask) in enumerate(zip(segments, selection.masks, strict=True)):
            _, rows = positions_in(always, segment.numbers)
            matches += _matches(query, segment, at, rows[mask[rows]])
    return WordMatches(tuple(sorted(matches, key=lambda match: (-match.score, match.number))), query.dropped)


def chunks_with(words: Sequence[str], segments: Sequence[Segment], selection: ChunkSelection) -> tuple[int, ...]:
    """The numbers of the selected chunks that have all of these words, ascending; none for no words."""
    numbers: list[int] = []
    for segment, mask, count in zip(segments, selection.masks, selection.sizes, strict=True):
        postings = sorted((segment.rows[segment.posting(word_hash(word))] for word in words), key=len)
        if not postings or not count:
            continue
        rows, *others = postings
        for other in others if len(rows) else ():
            nearest = np.minimum(np.searchsorted(other, rows), len(other) - 1)
            rows = rows[other[nearest] == rows]
        numbers += segment.numbers[rows[mask[rows]]].tolist()
    return tuple(sorted(numbers))


def cutoff(scores: npt.NDArray[np.floating], limit: int) -> float:
    """The lowest of the best `limit` scores; minus infinity if there are not as many."""
    if len(scores) <= limit:
        return -math.inf
    if not limit:
        return math.inf
    if len(scores) > limit * _BLOCK * 2:  # the maxima of blocks give a lower bound, below which most are discarded
        blocks = scores[: len(scores) // _BLOCK * _BLOCK].reshape(_BLOCK, -1).max(axis=0)
        scores = scores[scores >= np.partition(blocks, len(blocks) - limit)[len(blocks) - limit]]
    return float(np.partition(scores, len(scores) - limit)[len(scores) - limit])


def _pool(scores: Floats, segment: Segment, always: Numbers, *, limit: int) -> tuple[Numbers, Floats, Mask]:
    """Rows and scores of the segment's best chunks and of those in `always`, and which ones the latter are."""
    rows = np.flatnonzero(scores > 0)  # of booleans: of floats it takes ten times as long
    scores, is_always = scores[rows], np.zeros(len(rows), np.bool_)
    _, always_rows = positions_in(always, segment.numbers)
    _, positions = positions_in(always_rows, rows)
    is_always[positions] = True
    included = (scores >= cutoff(scores, limit)) | is_always
    return rows[included], scores[included], is_always[included]


def _scores(query: WordQuery, segment: Segment, selection: ChunkSelection, at: int) -> Floats:
    """The score of each chunk of the segment, not normalized; 0 for chunks that are not selected."""
    mask, is_narrow = selection.masks[at], selection.sizes[at] < _NARROW * len(selection.masks[at])
    sums, weights = np.zeros(len(segment.numbers)), _pattern_weights(query, segment, at)
    for word in query.words:
        posting = word.postings[at]
        rows, codes = segment.rows[posting], segment.codes[posting]
        if not len(rows):
            continue
        if is_narrow:
            selected = mask[rows]
            rows, codes = rows[selected], codes[selected]
        weighted = _weighted(query, segment.patterns[codes]) if weights is None else weights[codes]
        sums[rows] += _contributions(word, query, weighted, segment.lengths[rows])
    if selection.sizes[at] < len(mask):
        sums[~mask] = 0
    return sums


def _pattern_weights(query: WordQuery, segment: Segment, at: int) -> Floats | None:
    """The weighted count of each pattern of the segment; None if the words have fewer postings than it has patterns."""
    postings = sum(word.postings[at].stop - word.postings[at].start for word in query.words)
    return _weighted(query, segment.patterns) if postings > len(segment.patterns) else None


def _weighted(query: WordQuery, counts: npt.NDArray[np.uint8]) -> Floats:
    """How often a word occurs, by the weight of the fields in which it does."""
    weighted = np.zeros(len(counts))
    for field, weight in enumerate(query.bm25.fields):
        weighted += counts[:, field] * np.float64(weight)
    return weighted


def _contributions(word: QueryWord, query: WordQuery, weighted: Floats, lengths: npt.NDArray[np.int32]) -> Floats:
    """What the word contributes to the scores of chunks in which it has these counts, of these lengths."""
    k1, b = query.bm25.k1, query.bm25.b
    return word.worth * (weighted * (k1 + 1)) / (weighted + k1 * (1 - b + b * (lengths / query.average)))


def _matches(query: WordQuery, segment: Segment, at: int, rows: npt.NDArray[np.int64]) -> list[WordMatch]:
    """Those of these chunks of the segment that have one of the words."""
    if not len(rows):
        return []
    by: list[dict[str, float]] = [{} for _ in range(len(rows))]
    most, wanted = query.most, rows.astype(np.int32)  # the type of the postings: otherwise numpy copies a whole one
    scores, lengths = np.zeros(len(rows)), segment.lengths[rows]
    for word in query.words:
        posting = word.postings[at]
        having = segment.rows[posting]
        if not len(having):
            continue
        positions = np.minimum(having.searchsorted(wanted), len(having) - 1)
        (has,) = (having[positions] == wanted).nonzero()
        if not len(has):
            continue
        weighted = _weighted(query, segment.counts(positions[has] + posting.start))
        contributions = _contributions(word, query, weighted, lengths[has])
        scores[has] += contributions
        contributions /= most
        for match, contribution in zip(has.tolist(), contributions.tolist(), strict=True):
            by[match][word.text] = contribution
    (matching,) = (scores > 0).nonzero()
    numbers, totals = segment.numbers[rows[matching]].tolist(), (scores[matching] / most).tolist()
    found = (by[match] for match in matching.tolist())
    return [*map(WordMatch._make, zip(numbers, totals, found, strict=True))]


# ---------------------------------------------------------------- whole documents


def document_scores(
    query: WordQuery, documents: Sequence[ChunkAttributes], segments: Sequence[Segment], every: ChunkSelection
) -> list[float]:
    """The score of each of the documents, from 0 to 1, all its chunks taken as one text."""
    if not query.words or not documents:
        return [0.0] * len(documents)
    first, last = np.array([(each.first, each.last) for each in documents], np.int64).T
    counts = _DocumentCounts(len(query.words), len(documents))
    for at, segment in enumerate(segments):
        counts.add(query, segment, at, first=first, last=last)
    scores: list[float] = _document_scores(query, counts, average=_average_length(query, every)).tolist()
    return scores


class _DocumentCounts:
    """How often each word occurs in each document, and how long the documents are; replies are counted separately."""

    def __init__(self, words: int, documents: int) -> None:
        self.repeated = np.zeros((words * documents, _BODY), np.uint8)
        self.said, self.replied = np.zeros((2, words * documents))
        self.lengths, self.reply_lengths = np.zeros((2, documents))

    def add(self, query: WordQuery, segment: Segment, at: int, *, first: Numbers, last: Numbers) -> None:
        """Count what the segment has of the documents whose chunks have the numbers `first` to `last`."""
        begins, ends = segment.numbers.searchsorted(first), segment.numbers.searchsorted(last, side="right")
        if (begins == ends).all():
            return
        self._measure(segment, begins, ends)
        every, groups = expand_ranges(*_posting_ranges(query, segment, at, np.concatenate([begins, ends])))
        if not len(every):
            return
        counts, replies = segment.counts(every), segment.replies[segment.rows[every]]
        starts = np.flatnonzero(np.diff(groups, prepend=-1))
        highest = np.maximum.reduceat(counts[:, :_BODY], starts, axis=0)
        self.repeated[groups[starts]] = np.maximum(self.repeated[groups[starts]], highest)
        self.said += np.bincount(groups, counts[:, _BODY] * ~replies, len(self.said))
        self.replied += np.bincount(groups, counts[:, _BODY] * replies, len(self.said))

    def _measure(self, segment: Segment, begins: Numbers, ends: Numbers) -> None:
        rows, groups = expand_ranges(begins, ends - begins)
        lengths, replies = segment.lengths[rows], segment.replies[rows]
        self.lengths += np.bincount(groups, lengths * ~replies, len(self.lengths))
        self.reply_lengths += np.bincount(groups, lengths * replies, len(self.lengths))


def _posting_ranges(query: WordQuery, segment: Segment, at: int, edges: Numbers) -> tuple[Numbers, Numbers]:
    """For each word and document, where its rows begin in the word's posting, and how many there are."""
    edges = edges.astype(np.int32)  # the type of the rows: otherwise numpy copies all of them for the search
    positions = []
    for word in query.words:
        posting = word.postings[at]
        positions.append(posting.start + segment.rows[posting].searchsorted(edges))
    begins, ends = np.concatenate(positions).reshape(len(positions), 2, -1).transpose(1, 0, 2).reshape(2, -1)
    return begins, ends - begins


def _average_length(query: WordQuery, every: ChunkSelection) -> float:
    words = every.words - every.replied + query.bm25.reply * every.replied
    return words / every.documents if words else 1.0


def _document_scores(query: WordQuery, counts: _DocumentCounts, *, average: float) -> Floats:
    bm25 = query.bm25
    said = counts.said + bm25.reply * counts.replied
    lengths = counts.lengths + bm25.reply * counts.reply_lengths
    weighted = said * bm25.fields[_BODY]
    for field in range(_BODY):
        weighted += counts.repeated[:, field] * np.float64(bm25.fields[field])
    weighted = weighted.reshape(len(query.words), -1)
    relative = 1 - bm25.b + bm25.b * (lengths / average)
    worth: npt.NDArray[np.float64] = np.array([word.worth for word in query.words])[:, None]
    contributions = np.divide(
        worth * (weighted * (bm25.k1 + 1)),
        weighted + bm25.k1 * relative,
        out=np.zeros_like(weighted),
        where=weighted > 0,
    )
    scores: Floats = contributions.sum(axis=0) / query.most
    return scores
