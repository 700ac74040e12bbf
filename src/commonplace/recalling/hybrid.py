"""The mode hybrid: what a chunk scores by itself, what its document scores, and what both make together.

    chunk     sense + 0.5 words + 0.2 time + 0.2 phrases + 0.15 speaker + 0.1 opening - 0.3 reply (+ 0.3 age)
    document  its best chunk + 0.1 its second + 0.05 its third + 0.3 words of the whole + 0.2 kinship + 0.1 links
    hit       chunk + 0.3 document, where chunks are asked for, or the document's score, where documents are

A score means the same for every question; all weights are divided by HYBRID_SCALE, and few scores are beyond 0 and 1.
They were chosen by measurement, each in the middle of a range in which little changes: docs/benchmarks.md.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from commonplace.recalling.age import Ageing
from commonplace.recalling.modes import HYBRID_SCALE, WEIGHTS, Candidate, sense_of
from commonplace.recalling.parts import Part
from commonplace.recalling.ties import best_first
from commonplace.recalling.when import Window
from commonplace.recalling.when import nearness as time_nearness

TIME: Final = 0.2
PHRASES: Final = 0.2
SPEAKER: Final = 0.15
OPENING: Final = 0.1
REPLY: Final = -0.3  # what a program said, where the question is not about it
REPLY_ASKED: Final = 0.2
AGE: Final = 0.3  # added and not multiplied by: what is old is not hidden, however old it is
BEFORE: Final = 0.2  # of the score of the turn that a reply answers, where the question is about replies
DOCUMENT: Final = 0.3
OTHERS: Final = (0.1, 0.05)
WHOLE: Final = 0.3
KINSHIP: Final = 0.2
LINKS: Final = 0.1


class Term(NamedTuple):
    """A part of a score: what it is worth, what it weighs, and what there is to tell of it."""

    name: str
    score: float
    weight: float
    told: Mapping[str, Any] = MappingProxyType({})

    @property
    def value(self) -> float:
        """What it adds."""
        return self.score * self.weight / HYBRID_SCALE


@dataclass(frozen=True, slots=True)
class Clues:
    """What a question says beside its words: times, who spoke, what it quotes, whether it is about replies.

    `ageing` is how age is to be weighed, if at all. Parts of the ranking that are in `without` are left out.
    """

    windows: tuple[Window, ...] = ()
    phrases: tuple[str, ...] = ()
    speakers: frozenset[str] = frozenset()
    asks_reply: bool = False
    ageing: Ageing | None = None
    without: frozenset[Part] = frozenset()

    @property
    def weighed_age(self) -> Ageing | None:
        """How age is weighed; a question that names a time may be about the past, and does not weigh it."""
        return None if self.windows or "age" in self.without else self.ageing

    @property
    def need_standings(self) -> bool:
        """Whether more must be known of many chunks than their words and their meaning."""
        return bool(self.windows or self.phrases or self.speakers or self.asks_reply or self.weighed_age)


_WORDS, _SENSE = WEIGHTS["hybrid"]


def plain_score(words: float, best: float, sentence: float) -> float:
    """What a chunk scores by its words and its meaning alone: 0 for what it has not."""
    return _WORDS * words + _SENSE * sense_of(best, sentence)


def chunk_terms(candidate: Candidate, clues: Clues) -> tuple[Term, ...]:
    """What the clues add to a chunk's words and meaning."""
    terms = []
    if clues.windows and "time" not in clues.without and (near := time_nearness(candidate.at, clues.windows)):
        terms.append(Term("time", near, TIME, {"at": candidate.at, "said": [each.said for each in clues.windows]}))
    if candidate.quoted and "phrases" not in clues.without:
        terms.append(Term("phrases", len(candidate.quoted) / len(clues.phrases), PHRASES, {"quoted": candidate.quoted}))
    if candidate.speaker in clues.speakers and "names" not in clues.without:
        terms.append(Term("speaker", 1.0, SPEAKER, {"name": candidate.speaker}))
    if candidate.opens and candidate.voice == "user" and "opening" not in clues.without:
        terms.append(Term("opening", 1.0, OPENING))
    if candidate.voice == "assistant" and "replies" not in clues.without:
        terms.append(Term("reply", 1.0, REPLY_ASKED if clues.asks_reply else REPLY))
    if (ageing := clues.weighed_age) and (at := candidate.at or candidate.updated):
        days = ageing.days_since(at)
        terms.append(Term("age", ageing.freshness(days), AGE, {"at": at, "days": days}))
    return tuple(terms)


class Scored(NamedTuple):
    """A chunk, what it scores by itself, and the terms of that beside words and meaning."""

    candidate: Candidate
    score: float
    terms: tuple[Term, ...]


def score_chunks(candidates: Iterable[Candidate], clues: Clues) -> list[Scored]:
    """What each chunk scores by itself; a reply that is asked for gains by the turn that it answers."""
    scored = []
    for each in candidates:
        terms = chunk_terms(each, clues)
        plain = plain_score(each.words or 0.0, each.best or 0.0, each.sentence or 0.0)
        scored.append(Scored(each, plain + sum(term.value for term in terms), terms))
    if not clues.asks_reply or "replies" in clues.without:
        return scored
    turns: defaultdict[tuple[str, int], float] = defaultdict(float)
    for one in scored:
        if one.candidate.voice == "user":
            key = (one.candidate.document, one.candidate.turn)
            turns[key] = max(turns[key], one.score)
    return [_with_question(one, turns) for one in scored]


def _with_question(one: Scored, turns: Mapping[tuple[str, int], float]) -> Scored:
    before = turns.get((one.candidate.document, one.candidate.turn - 1), 0.0)
    if one.candidate.voice != "assistant" or not before:
        return one
    term = Term("answers", before * HYBRID_SCALE, BEFORE)
    return Scored(one.candidate, one.score + term.value, (*one.terms, term))


@dataclass(frozen=True, slots=True)
class Whole:
    """A document, its chunks best first, and the terms of its score; if it `is_weighed`, its chunks gain by it."""

    document: str
    chunks: tuple[Scored, ...]
    terms: tuple[Term, ...]
    is_weighed: bool = True
    score: float = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "score", sum(term.value for term in self.terms))

    def gaining(self, term: Term) -> "Whole":
        """The same with one more term."""
        return Whole(self.document, self.chunks, (*self.terms, term), self.is_weighed)


def score_documents(scored: Iterable[Scored], clues: Clues) -> list[Whole]:
    """The documents of these chunks by their best three, best first; by their best alone, where wholes are left out."""
    is_weighed = "whole" not in clues.without
    chunks: defaultdict[str, list[Scored]] = defaultdict(list)
    for one in scored:
        chunks[one.candidate.document].append(one)
    wholes = []
    for document, own in chunks.items():
        own.sort(key=lambda one: (-one.score, one.candidate.id))
        names = ("best", "second", "third")[: 3 if is_weighed else 1]
        terms = tuple(
            Term(name, max(0.0, one.score) * HYBRID_SCALE, weight)
            for one, name, weight in zip(own, names, (1.0, *OTHERS), strict=False)
        )
        wholes.append(Whole(document, tuple(own), terms, is_weighed))
    return in_order(wholes)


def in_order(wholes: Iterable[Whole]) -> list[Whole]:
    """Best first, equals as `best_first` orders them."""
    return best_first(wholes, score=lambda each: each.score, candidate=lambda each: each.chunks[0].candidate)


def with_words(wholes: Sequence[Whole], scores: Sequence[float]) -> list[Whole]:
    """The documents with what each scores by words as one text."""
    return in_order(each.gaining(Term("whole", score, WHOLE)) for each, score in zip(wholes, scores, strict=True))


def with_kin(wholes: Sequence[Whole], likeness: Sequence[Sequence[float]]) -> list[Whole]:
    """The documents with how alike each is to the nearest of the best ones, itself left out.

    `likeness` gives for each document how alike it is to the first, the second and so on of them.
    """
    gained = []
    for place, (each, alike) in enumerate(zip(wholes, likeness, strict=True)):
        near = max((cosine for other, cosine in enumerate(alike) if other != place), default=0.0)
        gained.append(each.gaining(Term("kinship", max(0.0, near), KINSHIP)))
    return in_order(gained)


def with_links(wholes: Sequence[Whole], linked: Mapping[str, Collection[str]]) -> list[Whole]:
    """The documents with the score of the best that each is linked with."""
    scores = {each.document: each.score for each in wholes}
    gained = []
    for each in wholes:
        best = max((scores[other] for other in linked.get(each.document, ()) if other in scores), default=0.0)
        gained.append(each.gaining(Term("links", best * HYBRID_SCALE, LINKS)) if best else each)
    return in_order(gained)
