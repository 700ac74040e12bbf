"""Two streams, one by words and one by meaning, made into one ranking."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from commonplace.model import Mode
from commonplace.recalling.explain import explain
from commonplace.recalling.modes import (
    RRF_CONSTANT,
    WEIGHTS,
    Candidate,
    nearest,
    nearness,
    place_weight,
    word_share,
)
from commonplace.recalling.ties import PLACES, best_first

Parts = tuple[float | None, float | None]


@dataclass(frozen=True, slots=True)
class Ranked:
    """A candidate with its score and what it is made of."""

    key: int
    id: str
    score: float
    cosine: float | None
    why: Mapping[str, Mapping[str, Any]]


def fuse(
    candidates: Sequence[Candidate],
    *,
    mode: Mode,
    min_score: float,
    asked: int,
    dropped: Sequence[str] = (),
) -> tuple[Ranked, ...]:
    """The candidates, best first; equals as `best_first` orders them.

    `min_score` is a floor for the cosine of what no word matched; in the modes sense and vector, of everything.
    `asked` is how many words the question has, `dropped` those of them that were too common to count.
    """
    parted = ((each, _parts(each, mode, asked)) for each in candidates)
    taking_part = [(each, parts) for each, parts in parted if parts != (None, None)]
    ranks = _ranks(taking_part) if mode == "rrf" else {}
    scored = []
    for each, parts in taking_part:
        if is_too_far(parts[0], None if parts[1] is None else nearest(each, mode), min_score):
            continue
        used = ranks[each.key] if mode == "rrf" else parts
        scored.append((round(_mixed(used, mode) * place_weight(each, mode), PLACES), each, used))
    return tuple(
        Ranked(each.key, each.id, score, _rounded(each.cosine), explain(each, mode=mode, parts=used, dropped=dropped))
        for score, each, used in best_first(scored, score=lambda entry: entry[0], candidate=lambda entry: entry[1])
    )


def first_of_documents(ranked: Sequence[Ranked], documents: Mapping[int, str]) -> tuple[Ranked, ...]:
    """Of each document its best chunk, in the same order; `documents` are by the keys of the chunks."""
    first = {documents[each.key]: each for each in reversed(ranked)}
    return tuple(each for each in ranked if first[documents[each.key]] is each)


def _parts(candidate: Candidate, mode: Mode, asked: int) -> Parts:
    """The scores by words and by meaning that take part in this mode."""
    by_meaning = nearness(candidate, mode) if WEIGHTS[mode][1] else None
    return word_share(candidate, mode, asked=asked), by_meaning


def is_too_far(words: float | None, cosine: float | None, min_score: float) -> bool:
    """Whether no word matched and the cosine is below the floor."""
    return words is None and (cosine is None or round(cosine, PLACES) < min_score)


def _ranks(taking_part: Sequence[tuple[Candidate, Parts]]) -> dict[int, Parts]:
    """For each candidate 61 / (60 + rank) in the stream of words and in that of meaning: 1 for the first."""
    by_words = _reciprocals(taking_part, lambda parts: parts[0])
    by_meaning = _reciprocals(taking_part, lambda parts: parts[1])
    return {each.key: (by_words.get(each.key), by_meaning.get(each.key)) for each, _ in taking_part}


def _reciprocals(
    taking_part: Sequence[tuple[Candidate, Parts]], score_of: Callable[[Parts], float | None]
) -> dict[int, float]:
    stream = [(score, each) for each, parts in taking_part if (score := score_of(parts)) is not None]
    ordered = best_first(stream, score=lambda entry: entry[0], candidate=lambda entry: entry[1])
    return {each.key: (RRF_CONSTANT + 1) / (RRF_CONSTANT + rank) for rank, (_, each) in enumerate(ordered, start=1)}


def _mixed(parts: Parts, mode: Mode) -> float:
    """A chunk without a vector has a meaning of 0, one that no word matched a score of 0 by words."""
    return sum(weight * (part or 0.0) for weight, part in zip(WEIGHTS[mode], parts, strict=True))


def _rounded(cosine: float | None) -> float | None:
    return None if cosine is None else round(cosine, PLACES)
