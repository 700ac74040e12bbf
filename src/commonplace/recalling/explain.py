"""Why a chunk has its score, part by part."""

from collections.abc import Mapping, Sequence
from typing import Any

from commonplace.model import Mode
from commonplace.recalling.modes import WEIGHTS, Candidate, place_weight

_PLACES = 4


def explain(
    candidate: Candidate, *, mode: Mode, parts: tuple[float | None, float | None], dropped: Sequence[str]
) -> Mapping[str, Mapping[str, Any]]:
    """The parts that took part, with rounded numbers.

    The `score` of the words times their `weight`, and that of the sense times its own, sum up to the hit's score
    before its place is looked at.
    """
    words, sense = parts
    word_weight, sense_weight = WEIGHTS[mode]
    why: dict[str, Mapping[str, Any]] = {}
    if words is not None:
        why["words"] = told_words(candidate, words, word_weight, dropped)
    if sense is not None and candidate.cosine is not None:
        why["sense"] = told_sense(candidate, sense, sense_weight)
    if (weight := place_weight(candidate, mode)) != 1:
        why["place"] = {"place": candidate.place, "weight": weight}
    return why


def told_words(candidate: Candidate, score: float, weight: float, dropped: Sequence[str]) -> Mapping[str, Any]:
    """What words added, with the share of each and those that were too common to count."""
    by = {word: round(share, _PLACES) for word, share in candidate.by.items()}
    return {**_scored(score, weight), "by": by, "dropped": list(dropped)}


def told_sense(candidate: Candidate, score: float, weight: float) -> Mapping[str, Any]:
    """What meaning added: how near the chunk itself is, its nearest part and its nearest sentence."""
    cosines = {"cosine": candidate.cosine, "best": candidate.best, "sentence": candidate.sentence}
    told = {name: round(cosine, _PLACES) for name, cosine in cosines.items() if cosine is not None}
    return {**_scored(score, weight), **told, "part": candidate.part}


def _scored(score: float, weight: float) -> dict[str, float]:
    return {"score": round(score, _PLACES), "weight": round(weight, _PLACES)}
