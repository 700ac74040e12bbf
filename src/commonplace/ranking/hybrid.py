"""Hybrid ranking: scores of chunks, scores of their documents, and the ranking that both give together.

    chunk     sense + 0.5 words + 0.2 time + 0.2 phrases + 0.15 speaker + 0.1 opening - 0.3 reply
              - 0.03 length + 0.1 correction - 0.1 age of a task; if the question asks for two things, 0.4 of it is the
              score of the better half
    document  best chunk + 0.1 second chunk + 0.05 third chunk + 0.3 words of the whole + 0.2 kinship + 0.1 links
    hit       chunk + 0.3 document if chunks are ranked; the document's score if documents are

A score means the same for every question: all weights are divided by HYBRID_SCALE, and few scores fall outside 0 to 1.
The weights were chosen by measurement, each in the middle of a range in which little changes: docs/benchmarks.md.
"""

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from commonplace.model import SearchUnit, TimeWindow
from commonplace.ranking.candidates import (
    DECIMALS,
    HYBRID_SCALE,
    WEIGHTS,
    ChunkCandidate,
    best_cosine,
    best_first,
    combine_sense,
    limit_per_note,
    place_weight,
    sense_score,
)
from commonplace.ranking.options import RankingPart
from commonplace.ranking.score_modes import RankedChunk, explain_sense, explain_words, is_too_far

TIME: Final = 0.2
PHRASES: Final = 0.2  # the public sets hardly quote: kept for people who search for exact words, not measured there
SPEAKER: Final = 0.15
OPENING: Final = 0.1
REPLY: Final = -0.3  # what an assistant said, if the question does not ask about it
REPLY_ASKED: Final = 0.2
ANSWERED: Final = 0.2  # of the score of the turn that a reply answers, if the question asks about replies
LENGTH: Final = -0.03  # for each time that the number of chunks grows by e: of many, one is near by chance
HALVES: Final = 0.4
# The public sets have neither corrections nor tasks: both are kept for requirement X-06, not measured there, and no
# larger than what the opening of a conversation adds.
CORRECTION: Final = 0.1
OLD_TASK: Final = -0.1
DOCUMENT: Final = 0.3
OTHER_CHUNKS: Final = (0.1, 0.05)
WHOLE: Final = 0.3
KINSHIP: Final = 0.2
LINKS: Final = 0.1  # the public sets have no links: kept for linked vaults (requirement V-11), not measured there

_BEST_DOCUMENTS: Final = 5  # those that count for the confidence

# The evidence for the confidence, as logarithms of odds. Fitted by logistic regression on 1,139 questions, half of
# them with an answer: LongMemEval_S, LoCoMo, SciFact, a garden of 748 notes, and people with 50 entries and notes.
_NEAR: Final = 12.2  # for the score of the best chunk
_COVERED: Final = 2.5  # for the share of the question's words that are found
_MANY: Final = -0.64  # for the logarithm of the number of chunks: the best of many is near by chance
_FEWEST: Final = 30  # chunks: the smallest vaults measured had 50, and less of it changes little
_SAID: Final = -2.9  # if somebody said it: clues lift the scores of conversations
_BEFORE: Final = -3.3

_WORDS, _SENSE = WEIGHTS["hybrid"]


@dataclass(frozen=True, slots=True)
class RecencyDecay:
    """Exponential decay: freshness halves every `half_life` days."""

    half_life: int

    def freshness(self, days: int) -> float:
        """1 for something new, falling towards 0."""
        return math.exp2(-days / self.half_life)


@dataclass(frozen=True, slots=True)
class Clues:
    """What a question says besides its words: times, who spoke, what it quotes, whether it asks about replies.

    `recency` is how age counts where two hits speak of the same thing, and of tasks, if at all; `now` is the moment of
    the question, as text in UTC. Parts of the ranking in `without` are left out.
    """

    windows: tuple[TimeWindow, ...] = ()
    phrases: tuple[str, ...] = ()
    speakers: frozenset[str] = frozenset()
    asks_reply: bool = False
    recency: RecencyDecay | None = None
    without: frozenset[RankingPart] = frozenset()
    now: str = ""

    @property
    def active_recency(self) -> RecencyDecay | None:
        """`recency`, or None for a question that mentions a time: it may be about the past."""
        return None if self.windows or "age" in self.without else self.recency

    @property
    def need_attributes(self) -> bool:
        """True if scoring needs attributes of many chunks besides their words and vectors."""
        return bool(self.windows or self.phrases or self.speakers or self.asks_reply)


class Term(NamedTuple):
    """One part of a score: its own score, its weight, and details that explain it."""

    name: str
    score: float
    weight: float
    details: Mapping[str, Any] = MappingProxyType({})

    @property
    def value(self) -> float:
        """What the part adds to the whole score."""
        return self.score * self.weight / HYBRID_SCALE


class ScoredChunk(NamedTuple):
    """A chunk, its own score, and the terms of that score besides words and sense."""

    candidate: ChunkCandidate
    score: float
    terms: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class ScoredDocument:
    """A document, its chunks best first, and the terms of its score.

    `is_weighed` means that the document's score also counts for its chunks.
    """

    document: str
    chunks: tuple[ScoredChunk, ...]
    terms: tuple[Term, ...]
    is_weighed: bool = True
    score: float = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "score", sum(term.value for term in self.terms))

    def plus(self, term: Term) -> "ScoredDocument":
        """The document with one more term."""
        return ScoredDocument(self.document, self.chunks, (*self.terms, term), self.is_weighed)


@dataclass(frozen=True, slots=True)
class RankRequest:
    """What to rank: chunks or documents, how many, and the cosine that hits without a matching word must reach.

    `dropped` are the words of the question that were too common to count. At most `per_note` chunks of one note are
    taken, 0 for any number.
    """

    by: SearchUnit
    k: int
    min_score: float
    dropped: Sequence[str] = ()
    per_note: int = 0


def plain_score(words: float, best: float, sentence: float) -> float:
    """The score of a chunk by words and sense alone; pass 0 for what it lacks."""
    return _WORDS * words + _SENSE * combine_sense(best, sentence)


def candidate_score(candidate: ChunkCandidate) -> float:
    """The score of the candidate by words and sense alone."""
    return plain_score(candidate.words or 0.0, candidate.best or 0.0, candidate.sentence or 0.0)


def score_chunks(candidates: Iterable[ChunkCandidate], clues: Clues) -> list[ScoredChunk]:
    """Each chunk with its own score; if the question asks about replies, a reply gains from the turn it answers."""
    scored = []
    for candidate in candidates:
        terms = chunk_terms(candidate, clues)
        plain = candidate_score(candidate)
        scored.append(ScoredChunk(candidate, plain + sum(term.value for term in terms), terms))
    if not clues.asks_reply or "replies" in clues.without:
        return scored
    turns: defaultdict[tuple[str, int], float] = defaultdict(float)
    for one in scored:
        if one.candidate.voice == "user":
            key = (one.candidate.document, one.candidate.turn)
            turns[key] = max(turns[key], one.score)
    return [_with_answered_turn(one, turns) for one in scored]


def chunk_terms(candidate: ChunkCandidate, clues: Clues) -> tuple[Term, ...]:
    """What the clues add to a chunk's words and sense."""
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
    if candidate.chunks > 1 and not candidate.voice and "length" not in clues.without:
        terms.append(Term("length", math.log(candidate.chunks), LENGTH, {"chunks": candidate.chunks}))
    if candidate.halves is not None and "halves" not in clues.without:
        terms.append(Term("halves", (candidate.halves - candidate_score(candidate)) * HYBRID_SCALE, HALVES))
    if candidate.source in ("correction", "task") and "sources" not in clues.without:
        terms += _source_terms(candidate, clues)
    return tuple(terms)


def _source_terms(candidate: ChunkCandidate, clues: Clues) -> list[Term]:
    """What the source of a chunk adds: a correction counts more, and a task less the older it is."""
    if candidate.source == "correction":
        return [Term("correction", 1.0, CORRECTION)]
    if clues.windows or clues.recency is None or not (candidate.at and clues.now):
        return []
    days = max(0, (datetime.fromisoformat(clues.now) - datetime.fromisoformat(candidate.at)).days)
    return [Term("task", 1 - clues.recency.freshness(days), OLD_TASK, {"days": days})]


def _with_answered_turn(one: ScoredChunk, turns: Mapping[tuple[str, int], float]) -> ScoredChunk:
    score = turns.get((one.candidate.document, one.candidate.turn - 1), 0.0)
    if one.candidate.voice != "assistant" or not score:
        return one
    term = Term("answers", score * HYBRID_SCALE, ANSWERED)
    return ScoredChunk(one.candidate, one.score + term.value, (*one.terms, term))


def time_nearness(at: str, windows: Sequence[TimeWindow]) -> float:
    """How well a moment in UTC fits the windows: 1 inside one of them, falling towards 0 with the distance.

    0 if the moment is unknown (empty) or there is no window.
    """
    if not at:
        return 0.0
    return max((_window_nearness(at, window) for window in windows), default=0.0)


def _window_nearness(at: str, window: TimeWindow) -> float:
    if window.start <= at < window.end:
        return 1.0
    edge = window.start if at < window.start else window.end
    days = (datetime.fromisoformat(at) - datetime.fromisoformat(edge)) / timedelta(days=1)
    return math.exp(-0.5 * (days / window.tolerance) ** 2)


def score_documents(scored: Iterable[ScoredChunk], clues: Clues) -> list[ScoredDocument]:
    """The documents of these chunks, best first, by their three best chunks; by the best alone without `whole`."""
    is_weighed = "whole" not in clues.without
    chunks: defaultdict[str, list[ScoredChunk]] = defaultdict(list)
    for one in scored:
        chunks[one.candidate.document].append(one)
    documents = []
    for document, own in chunks.items():
        own.sort(key=lambda one: (-one.score, one.candidate.id))
        names = ("best", "second", "third")[: 3 if is_weighed else 1]
        terms = tuple(
            Term(name, max(0.0, one.score) * HYBRID_SCALE, weight)
            for one, name, weight in zip(own, names, (1.0, *OTHER_CHUNKS), strict=False)
        )
        documents.append(ScoredDocument(document, tuple(own), terms, is_weighed))
    return order_documents(documents)


def with_document_words(documents: Sequence[ScoredDocument], scores: Sequence[float]) -> list[ScoredDocument]:
    """The documents with their word scores as whole texts added, best first."""
    return order_documents(
        each.plus(Term("whole", score, WHOLE)) for each, score in zip(documents, scores, strict=True)
    )


def with_kinship(documents: Sequence[ScoredDocument], similarities: Sequence[Sequence[float]]) -> list[ScoredDocument]:
    """The documents with their similarity to the nearest other of the best ones added, best first.

    `similarities` has for each document its cosines with the first, the second and so on of the documents. Only
    conversations gain: of notes, those that touch on everything are similar to many.
    """
    gained = []
    for position, (each, cosines) in enumerate(zip(documents, similarities, strict=True)):
        if not each.chunks[0].candidate.voice:
            gained.append(each)
            continue
        near = max((cosine for other, cosine in enumerate(cosines) if other != position), default=0.0)
        gained.append(each.plus(Term("kinship", max(0.0, near), KINSHIP)))
    return order_documents(gained)


def with_links(documents: Sequence[ScoredDocument], linked: Mapping[str, Collection[str]]) -> list[ScoredDocument]:
    """The documents with the score of the best document linked to each added, best first."""
    scores = {each.document: each.score for each in documents}
    gained = []
    for each in documents:
        best = max((scores[other] for other in linked.get(each.document, ()) if other in scores), default=0.0)
        gained.append(each.plus(Term("links", best * HYBRID_SCALE, LINKS)) if best else each)
    return order_documents(gained)


def order_documents(documents: Iterable[ScoredDocument]) -> list[ScoredDocument]:
    """The documents, best first, in the order of `best_first`."""
    return best_first(documents, score=lambda each: each.score, candidate=lambda each: each.chunks[0].candidate)


def rank(documents: Iterable[ScoredDocument], request: RankRequest) -> tuple[RankedChunk, ...]:
    """The best chunks, or the best chunk of each of the best documents, in the order of `best_first`."""
    entries = (entry for document in documents for entry in _entries(document, request))
    ordered = best_first(entries, score=lambda entry: entry[0], candidate=lambda entry: entry[1].candidate)
    best = limit_per_note(ordered, candidate=lambda entry: entry[1].candidate, k=request.k, per_note=request.per_note)
    return tuple(
        replace(_ranked_chunk(_shown(score), one, terms, request), more=more) for (score, one, terms), more in best
    )


def _entries(document: ScoredDocument, request: RankRequest) -> Iterator[tuple[float, ScoredChunk, tuple[Term, ...]]]:
    near = [
        one for one in document.chunks if not _is_far(one.candidate, request.min_score) or _is_by_named_speaker(one)
    ]
    if request.by == "document":
        for one in near[:1]:
            yield _placed(document.score, one.candidate), one, document.terms
        return
    gain = Term("document", document.score * HYBRID_SCALE, DOCUMENT if document.is_weighed else 0.0)
    for one in near:
        terms = (*one.terms, gain) if gain.weight else one.terms
        yield _placed(one.score + gain.value, one.candidate), one, terms


def _ranked_chunk(score: float, one: ScoredChunk, terms: Iterable[Term], request: RankRequest) -> RankedChunk:
    """The chunk with its reasons: words, sense and terms if chunks are ranked; the document's terms otherwise."""
    candidate = one.candidate
    why: dict[str, Mapping[str, Any]] = {}
    word_weight, sense_weight = WEIGHTS["hybrid"] if request.by == "chunk" else (0.0, 0.0)
    if candidate.words is not None:
        why["words"] = explain_words(candidate, candidate.words, word_weight, request.dropped)
    if (sense := sense_score(candidate, "hybrid")) is not None:
        why["sense"] = explain_sense(candidate, sense, sense_weight)
    for term in terms:
        scores = {"score": round(term.score, DECIMALS), "weight": round(term.weight / HYBRID_SCALE, DECIMALS)}
        why[term.name] = {**scores, **term.details}
    if (weight := place_weight(candidate, "hybrid")) != 1:
        why["place"] = {"place": candidate.place, "weight": weight}
    cosine = None if candidate.cosine is None else round(candidate.cosine, DECIMALS)
    return RankedChunk(candidate.key, candidate.id, score, cosine, why)


def _placed(score: float, candidate: ChunkCandidate) -> float:
    """The score that orders hits; unlike the shown score it is not limited to 0 to 1."""
    return round(score * place_weight(candidate, "hybrid"), DECIMALS)


def _shown(score: float) -> float:
    return max(0.0, min(1.0, score))


def _is_by_named_speaker(one: ScoredChunk) -> bool:
    """True if the question names who said it: the name matched then, although it is not among the words."""
    return any(term.name == "speaker" for term in one.terms)


def _is_far(candidate: ChunkCandidate, min_score: float) -> bool:
    return candidate.words is None and is_too_far(None, best_cosine(candidate), min_score)


def confidence(documents: Sequence[ScoredDocument], words: Collection[str], *, chunks: int) -> float:
    """How likely it is, from 0 to 1, that the answer is among these documents, which are best first.

    It grows with the score of the best chunk of the best five, without what age adds, and with the share of the
    question's `words` that people (not assistants) say in them; it falls with the number of `chunks` in the index.
    Fitted so that of the questions with a confidence of 0.8 about four in five find their answer, if half of all
    questions have none.
    """
    best = [one for document in documents[:_BEST_DOCUMENTS] for one in document.chunks]
    if not best:
        return 0.0
    matched = {word for one in best if one.candidate.voice != "assistant" for word in one.candidate.by}
    covered = len(matched.intersection(words)) / len(words) if words else 1.0
    nearest = max(one.score - sum(term.value for term in one.terms if term.name == "age") for one in best)
    odds = _BEFORE + _NEAR * nearest * HYBRID_SCALE + _COVERED * covered + _MANY * math.log(max(chunks, _FEWEST))
    odds += _SAID if documents[0].chunks[0].candidate.voice else 0.0
    return round(1 / (1 + math.exp(-odds)), 4)
