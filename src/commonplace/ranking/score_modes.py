"""Ranking in every mode but hybrid: fuses the scores by words and by sense, and explains them, or says in one
sentence why a search found nothing.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from commonplace.model import Mode
from commonplace.model.query import SEE_NEAREST
from commonplace.ranking.candidates import (
    DECIMALS,
    RRF_CONSTANT,
    WEIGHTS,
    ChunkCandidate,
    best_cosine,
    best_first,
    place_weight,
    sense_score,
    words_score,
)


@dataclass(frozen=True, slots=True)
class EmptySearch:
    """A search without results.

    `documents` are in the index, and `passing` of them match the filters; `synced`: the vault was read completely at
    least once. `words` are those searched for; `nearest` is the highest cosine, None if no vector was compared.
    `nearness` is that of the nearest passage if it was rejected for it, and `needed` that of unrelated questions.
    """

    mode: Mode
    documents: int
    passing: int
    synced: bool
    words: Sequence[str]
    nearest: float | None
    min_score: float
    nearness: float | None = None
    needed: float = 0.0


def explain_no_results(search: EmptySearch) -> str:
    """The first reason that holds: nothing to search, nothing passes the filters, no words, nothing close enough."""
    if not search.documents:
        if search.synced:
            return "The vault has no notes to search."
        return "The index is empty: run `commonplace sync` to read the vault."
    if not search.passing:
        return f"None of the {_documents(search.documents)} matches the filters."
    if search.mode == "words":
        return _no_words(search) or f"None of {_quoted(search.words)} occurs in {_searched(search)}."
    if search.nearest is None:
        return _without_vectors(search)
    if search.nearness is not None:
        found = f"None of {_quoted(search.words)} occurs in {_searched(search)}, and n" if search.words else "N"
        return (
            f"{found}othing fits in meaning: the nearness of the best passage is {search.nearness:.2f}, and unrelated "
            f"questions have {search.needed:.2f} here. {SEE_NEAREST}"
        )
    distance = (
        "othing is close enough in meaning: "
        f"the best cosine is {search.nearest:.3f}, and min_score is {search.min_score:.2f}."
    )
    if search.mode in ("sense", "vector") or not search.words:
        return f"N{distance}"
    return f"None of {_quoted(search.words)} occurs in {_searched(search)}, and n{distance}"


def _without_vectors(search: EmptySearch) -> str:
    if search.mode in ("sense", "vector"):
        return f"No vectors to compare with in {_searched(search)}: search with `--mode words`."
    return _no_words(search) or (
        f"None of {_quoted(search.words)} occurs in {_searched(search)}, and there are no vectors to compare with."
    )


def _no_words(search: EmptySearch) -> str | None:
    return None if search.words else "The question has no words to search for."


def _searched(search: EmptySearch) -> str:
    if search.passing == search.documents:
        return f"the {_documents(search.passing)}"
    return f"the {_documents(search.passing)} that {'matches' if search.passing == 1 else 'match'} the filters"


def _documents(count: int) -> str:
    return f"{count} document" if count == 1 else f"{count} documents"


def _quoted(words: Sequence[str], *, most: int = 5) -> str:
    shown = ", ".join(f"`{word}`" for word in words[:most])
    return f"{shown} and {len(words) - most} more words" if len(words) > most else shown


StreamScores = tuple[float | None, float | None]
"""A candidate's scores by words and by sense; None where it takes no part."""


@dataclass(frozen=True, slots=True)
class RankedChunk:
    """A chunk with its score; `why` explains the score, part by part.

    `more` counts further chunks of its note, as `limit_per_note` does.
    """

    key: int
    id: str
    score: float
    cosine: float | None
    why: Mapping[str, Mapping[str, Any]]
    more: int = 0


def fuse(
    candidates: Sequence[ChunkCandidate],
    *,
    mode: Mode,
    min_score: float,
    word_count: int,
    dropped: Sequence[str] = (),
) -> tuple[RankedChunk, ...]:
    """The candidates, best first, in the order of `best_first`.

    `min_score` is the least cosine of candidates without a matching word; in the modes sense and vector, of all.
    `word_count` is the number of words in the question, `dropped` those of them that were too common to count.
    """
    all_scores = ((each, _stream_scores(each, mode, word_count)) for each in candidates)
    entrants = [(each, scores) for each, scores in all_scores if scores != (None, None)]
    ranks = _ranks(entrants) if mode == "rrf" else {}
    scored = []
    for each, scores in entrants:
        if is_too_far(scores[0], None if scores[1] is None else best_cosine(each, mode), min_score):
            continue
        used = ranks[each.key] if mode == "rrf" else scores
        scored.append((round(_weighted_sum(used, mode) * place_weight(each, mode), DECIMALS), each, used))
    return tuple(
        RankedChunk(each.key, each.id, score, _rounded(each.cosine), _explain(each, mode, used, dropped))
        for score, each, used in best_first(scored, score=lambda entry: entry[0], candidate=lambda entry: entry[1])
    )


def best_per_document(ranked: Sequence[RankedChunk], documents: Mapping[int, str]) -> tuple[RankedChunk, ...]:
    """The best chunk of each document, in the same order; `documents` maps the keys of chunks to document ids."""
    first = {documents[each.key]: each for each in reversed(ranked)}
    return tuple(each for each in ranked if first[documents[each.key]] is each)


def is_too_far(words: float | None, cosine: float | None, min_score: float) -> bool:
    """True if no word matched and the cosine is below `min_score`."""
    return words is None and (cosine is None or round(cosine, DECIMALS) < min_score)


def explain_words(candidate: ChunkCandidate, score: float, weight: float, dropped: Sequence[str]) -> Mapping[str, Any]:
    """What words added: the share of each, and the words that were too common to count."""
    by = {word: round(share, DECIMALS) for word, share in candidate.by.items()}
    return {**_rounded_score(score, weight), "by": by, "dropped": list(dropped)}


def explain_sense(candidate: ChunkCandidate, score: float, weight: float) -> Mapping[str, Any]:
    """What meaning added: the cosines of the chunk itself, its nearest part and its nearest sentence."""
    cosines = {"cosine": candidate.cosine, "best": candidate.best, "sentence": candidate.sentence}
    rounded = {name: round(cosine, DECIMALS) for name, cosine in cosines.items() if cosine is not None}
    return {**_rounded_score(score, weight), **rounded, "part": candidate.part}


def _explain(
    candidate: ChunkCandidate, mode: Mode, scores: StreamScores, dropped: Sequence[str]
) -> Mapping[str, Mapping[str, Any]]:
    """The parts of the score, with rounded numbers.

    The `score` of the words times their `weight`, plus that of the sense times its own, is the hit's score before the
    weight of its place.
    """
    words, sense = scores
    word_weight, sense_weight = WEIGHTS[mode]
    why: dict[str, Mapping[str, Any]] = {}
    if words is not None:
        why["words"] = explain_words(candidate, words, word_weight, dropped)
    if sense is not None and candidate.cosine is not None:
        why["sense"] = explain_sense(candidate, sense, sense_weight)
    if (weight := place_weight(candidate, mode)) != 1:
        why["place"] = {"place": candidate.place, "weight": weight}
    return why


def _stream_scores(candidate: ChunkCandidate, mode: Mode, word_count: int) -> StreamScores:
    by_sense = sense_score(candidate, mode) if WEIGHTS[mode][1] else None
    return words_score(candidate, mode, word_count=word_count), by_sense


def _ranks(entrants: Sequence[tuple[ChunkCandidate, StreamScores]]) -> dict[int, StreamScores]:
    """For each candidate 61 / (60 + rank) in the stream of words and in that of sense: 1 for the first."""
    by_words = _reciprocal_ranks(entrants, lambda scores: scores[0])
    by_sense = _reciprocal_ranks(entrants, lambda scores: scores[1])
    return {each.key: (by_words.get(each.key), by_sense.get(each.key)) for each, _ in entrants}


def _reciprocal_ranks(
    entrants: Sequence[tuple[ChunkCandidate, StreamScores]], score_of: Callable[[StreamScores], float | None]
) -> dict[int, float]:
    stream = [(score, each) for each, scores in entrants if (score := score_of(scores)) is not None]
    ordered = best_first(stream, score=lambda entry: entry[0], candidate=lambda entry: entry[1])
    return {each.key: (RRF_CONSTANT + 1) / (RRF_CONSTANT + rank) for rank, (_, each) in enumerate(ordered, start=1)}


def _weighted_sum(scores: StreamScores, mode: Mode) -> float:
    """The fused score; a missing score counts as 0."""
    return sum(weight * (score or 0.0) for weight, score in zip(WEIGHTS[mode], scores, strict=True))


def _rounded_score(score: float, weight: float) -> dict[str, float]:
    return {"score": round(score, DECIMALS), "weight": round(weight, DECIMALS)}


def _rounded(cosine: float | None) -> float | None:
    return None if cosine is None else round(cosine, DECIMALS)
