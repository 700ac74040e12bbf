"""Recency: conversations or entries that speak of the same thing change places so that the newer come earlier."""

import statistics
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Final

from commonplace.ranking.candidates import DECIMALS, HYBRID_SCALE
from commonplace.ranking.hybrid import RecencyDecay, ScoredChunk, ScoredDocument, Term, order_documents

AGE: Final = 0.6  # for the newest of those that speak of the same thing
SAME_THING: Final = MappingProxyType({"conversation": 0.45, "entry": 0.6})
"""The cosine from which two speak of the same thing. Of 22 pairs of conversations that tell the old and the new value
of something, 21 reach it (LongMemEval_S, development half), and 5 % of the others. Notes never do: both may hold."""
STANDS_OUT: Final = 0.25  # by how much their cosine must be above the usual one of the best documents
_ENOUGH: Final = 6  # documents that tell what is usual


def with_recency(
    documents: Sequence[ScoredDocument], same: Mapping[str, Collection[str]], recency: RecencyDecay
) -> list[ScoredDocument]:
    """The documents, best first; those that speak of the same thing have changed places so that the newer come earlier.

    They only change places among themselves, so that nothing else rises or falls. `same` are the ids of the documents
    that speak of the same thing as each. A document's time is that of its best chunk.
    """
    by_id = {each.document: each for each in documents}
    gained: dict[str, ScoredDocument] = {}
    for each in documents:
        if each.document not in gained:
            group = [by_id[one] for one in _group_of(each.document, same) if one in by_id and _time_of(by_id[one])]
            gained |= {one.document: one for one in _newest_first(group, recency)} if len(group) > 1 else {}
    return order_documents(gained.get(each.document, each) for each in documents)


def same_things(
    documents: Sequence[ScoredDocument], similarities: Sequence[Sequence[float]]
) -> Mapping[str, Collection[str]]:
    """For each document, by its id, the ids of others of its sort that speak of the same thing.

    `similarities` are as in `with_kinship`. Two must also stand out from the others: where all are alike, as in the
    talk of two friends, none are the same.
    """
    pairs = [
        (each, other, cosine)
        for each, cosines in zip(documents, similarities, strict=True)
        for other, cosine in zip(documents, cosines, strict=False)
        if other is not each
    ]
    usual = statistics.median(cosine for _, _, cosine in pairs) if len(documents) >= _ENOUGH else 0.0
    same: defaultdict[str, set[str]] = defaultdict(set)
    for each, other, cosine in pairs:
        least = SAME_THING.get(_sort_of(each))
        if least and cosine >= max(least, usual + STANDS_OUT) and _sort_of(other) == _sort_of(each):
            same[each.document].add(other.document)
            same[other.document].add(each.document)
    return same


def _group_of(document: str, same: Mapping[str, Collection[str]]) -> Collection[str]:
    """The document, those that speak of the same thing, those that speak of the same thing as these, and so on."""
    group, waiting = {document}, [document]
    while waiting:
        others = [one for one in same.get(waiting.pop(), ()) if one not in group]
        group.update(others)
        waiting.extend(others)
    return group


def _newest_first(group: Sequence[ScoredDocument], recency: RecencyDecay) -> Iterator[ScoredDocument]:
    """The documents of a group, each with the score of the place that it takes if age counts."""
    newest = max(map(_time_of, group), default="")
    days = {each.document: days_between(_time_of(each), newest) for each in group}

    def with_age(each: ScoredDocument) -> float:
        return round(each.score + recency.freshness(days[each.document]) * AGE / HYBRID_SCALE, DECIMALS)

    places = order_documents(group)
    aged = sorted(places, key=with_age, reverse=True)
    for place, each in zip(places, aged, strict=True):
        details = {"at": _time_of(each), "days": days[each.document]}
        yield _aged(each, Term("age", (place.score - each.score) * HYBRID_SCALE, 1.0, details))


def _sort_of(document: ScoredDocument) -> str:
    best = document.chunks[0].candidate
    if best.voice:
        return "conversation"
    return "entry" if best.importance else "note"


def _time_of(document: ScoredDocument) -> str:
    best = document.chunks[0].candidate
    return best.at or best.updated


def _aged(document: ScoredDocument, age: Term) -> ScoredDocument:
    """The document with that term, in its best chunk too."""
    best, *others = document.chunks
    aged = ScoredChunk(best.candidate, best.score + age.value, (*best.terms, age))
    return ScoredDocument(document.document, (aged, *others), (*document.terms, age), document.is_weighed)


def days_between(at: str, newest: str) -> int:
    """How many whole days a moment in UTC is before the newest one; 0 if it is not before it."""
    return max(0, (datetime.fromisoformat(newest) - datetime.fromisoformat(at)).days)
