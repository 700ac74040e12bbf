"""Whole documents weighed by words: BM25 of all chunks of a document taken as one text.

Words and lengths are counted in whole numbers first and weighed then, so that the spread of a document over segments
does not show in the last digit.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from commonplace.index.base import Standing
from commonplace.index.sqlite.bm25 import Floats, Query
from commonplace.index.sqlite.filters import Live
from commonplace.index.sqlite.segment import Numbers, Segment
from commonplace.index.sqlite.slices import in_slices

_BODY = 4
"""The field that is said but once; the others stand in every chunk of a document again, and count once."""


class _Counts:
    """How often each word stands in each document, and how long the documents are; replies are counted apart."""

    def __init__(self, words: int, documents: int) -> None:
        self.repeated = np.zeros((words * documents, _BODY), np.uint8)
        self.said, self.replied = np.zeros((2, words * documents))
        self.lengths, self.reply_lengths = np.zeros((2, documents))

    def add(self, query: Query, segment: Segment, first: Numbers, last: Numbers) -> None:
        """Count what the segment has of the documents with chunks from these numbers to those."""
        begins = np.searchsorted(segment.numbers, first)
        ends = np.searchsorted(segment.numbers, last, side="right")
        self._measure(segment, begins, ends)
        every, groups = in_slices(*_postings(query, segment, np.concatenate([begins, ends])))
        if not len(every):
            return
        counts, replies = segment.counts[every], segment.replies[segment.rows[every]]
        starts = np.flatnonzero(np.diff(groups, prepend=-1))
        most = np.maximum.reduceat(counts[:, :_BODY], starts, axis=0)
        self.repeated[groups[starts]] = np.maximum(self.repeated[groups[starts]], most)
        self.said += np.bincount(groups, counts[:, _BODY] * ~replies, len(self.said))
        self.replied += np.bincount(groups, counts[:, _BODY] * replies, len(self.said))

    def _measure(self, segment: Segment, begins: Numbers, ends: Numbers) -> None:
        rows, groups = in_slices(begins, ends - begins)
        lengths, replies = segment.lengths[rows], segment.replies[rows]
        self.lengths += np.bincount(groups, lengths * ~replies, len(self.lengths))
        self.reply_lengths += np.bincount(groups, lengths * replies, len(self.lengths))


def score_whole(query: Query, documents: Sequence[Standing], segments: Sequence[Segment], every: Live) -> list[float]:
    """The score of each of the documents, from 0 to 1."""
    if not query.words or not documents:
        return [0.0] * len(documents)
    first, last = np.array([(each.first, each.last) for each in documents], np.int64).T
    counts = _Counts(len(query.words), len(documents))
    for segment in segments:
        counts.add(query, segment, first, last)
    scores: list[float] = _weighed(query, counts, average=_average(query, every)).tolist()
    return scores


def _postings(query: Query, segment: Segment, edges: Numbers) -> tuple[Numbers, Numbers]:
    """Where the postings of each word have the rows of each document: where they begin there, and how many."""
    edges = edges.astype(np.int32)  # as the rows are: else all of them would be copied for the search
    found = []
    for word in query.words:
        posting = segment.posting(word.hash)
        found.append(posting.start + np.searchsorted(segment.rows[posting], edges))
    begins, ends = np.concatenate(found).reshape(len(found), 2, -1).transpose(1, 0, 2).reshape(2, -1)
    return begins, ends - begins


def _average(query: Query, every: Live) -> float:
    """How long a document is on average."""
    words = every.words - every.replied + query.weighing.reply * every.replied
    return words / every.documents if words else 1.0


def _weighed(query: Query, counts: _Counts, *, average: float) -> Floats:
    weighing = query.weighing
    said = counts.said + weighing.reply * counts.replied
    lengths = counts.lengths + weighing.reply * counts.reply_lengths
    often = said * weighing.fields[_BODY]
    for field in range(_BODY):
        often += counts.repeated[:, field] * np.float64(weighing.fields[field])
    often = often.reshape(len(query.words), -1)
    longer = 1 - weighing.b + weighing.b * (lengths / average)
    worth: npt.NDArray[np.float64] = np.array([word.worth for word in query.words])[:, None]
    shares = np.divide(
        worth * (often * (weighing.k1 + 1)),
        often + weighing.k1 * longer,
        out=np.zeros_like(often),
        where=often > 0,
    )
    scores: Floats = shares.sum(axis=0) / query.most
    return scores
