"""The ranking of the mode hybrid: chunks or documents, best first, each with what its score is made of."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from commonplace.model import By
from commonplace.recalling.explain import told_sense, told_words
from commonplace.recalling.fuse import Ranked, is_too_far
from commonplace.recalling.hybrid import DOCUMENT, Scored, Term, Whole
from commonplace.recalling.modes import HYBRID_SCALE, WEIGHTS, Candidate, nearest, nearness, place_weight
from commonplace.recalling.ties import PLACES, best_first


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a ranking is to give: chunks or documents, how many, and how near in meaning where no word matched.

    `dropped` are the words of the question that were too common to count.
    """

    by: By
    k: int
    min_score: float
    dropped: Sequence[str] = ()


def rank(wholes: Iterable[Whole], wanted: Wanted) -> tuple[Ranked, ...]:
    """The best chunks, or of each of the best documents its best chunk; equals as `best_first` orders them."""
    entries = (entry for whole in wholes for entry in _entries(whole, wanted))
    found = best_first(entries, score=lambda entry: entry[0], candidate=lambda entry: entry[1].candidate)
    return tuple(_ranked(_shown(score), one, terms, wanted) for score, one, terms in found[: wanted.k])


def _entries(whole: Whole, wanted: Wanted) -> Iterator[tuple[float, Scored, tuple[Term, ...]]]:
    near = [one for one in whole.chunks if _is_named(one) or not _is_far(one.candidate, wanted.min_score)]
    if wanted.by == "document":
        for one in near[:1]:
            yield _placed(whole.score, one.candidate), one, whole.terms
        return
    gain = Term("document", whole.score * HYBRID_SCALE, DOCUMENT if whole.is_weighed else 0.0)
    for one in near:
        terms = (*one.terms, gain) if gain.weight else one.terms
        yield _placed(one.score + gain.value, one.candidate), one, terms


def _ranked(score: float, one: Scored, terms: Iterable[Term], wanted: Wanted) -> Ranked:
    """A hit and its reasons: of a chunk its words and meaning and the other terms, of a document its own terms."""
    each = one.candidate
    why: dict[str, Mapping[str, Any]] = {}
    word_weight, sense_weight = WEIGHTS["hybrid"] if wanted.by == "chunk" else (0.0, 0.0)
    if each.words is not None:
        why["words"] = told_words(each, each.words, word_weight, wanted.dropped)
    if (sense := nearness(each, "hybrid")) is not None:
        why["sense"] = told_sense(each, sense, sense_weight)
    for term in terms:
        told = {"score": round(term.score, PLACES), "weight": round(term.weight / HYBRID_SCALE, PLACES), **term.told}
        why[term.name] = told
    if (weight := place_weight(each, "hybrid")) != 1:
        why["place"] = {"place": each.place, "weight": weight}
    return Ranked(each.key, each.id, score, None if each.cosine is None else round(each.cosine, PLACES), why)


def _placed(score: float, candidate: Candidate) -> float:
    """The score by which hits are ordered: what is beyond 0 and 1 still differs there."""
    return round(score * place_weight(candidate, "hybrid"), PLACES)


def _shown(score: float) -> float:
    return max(0.0, min(1.0, score))


def _is_named(one: Scored) -> bool:
    """Whether the question names who said it: then the name is what matched, and it is not among the words."""
    return any(term.name == "speaker" for term in one.terms)


def _is_far(candidate: Candidate, min_score: float) -> bool:
    return is_too_far(candidate.words, nearest(candidate), min_score)
