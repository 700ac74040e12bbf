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
        by = {word: round(share, _PLACES) for word, share in candidate.by.items()}
        why["words"] = {**_scored(words, word_weight), "by": by, "dropped": list(dropped)}
    if sense is not None and candidate.cosine is not None and candidate.sense is not None:
        near = {"cosine": round(candidate.cosine, _PLACES), "best": round(candidate.sense, _PLACES)}
        why["sense"] = {**_scored(sense, sense_weight), **near, "part": candidate.part}
    if (weight := place_weight(candidate, mode)) != 1:
        why["place"] = {"place": candidate.place, "weight": weight}
    return why


def _scored(score: float, weight: float) -> dict[str, float]:
    return {"score": round(score, _PLACES), "weight": round(weight, _PLACES)}
