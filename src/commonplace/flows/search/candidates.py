"""Candidates for a query: the best chunks by words and by meaning, and their scores in the mode hybrid.

`CandidateSearch` reads both halves of the index. `HybridScorer` scores chunks, their documents, and what is related to
those documents, from what the index knows about them.
"""

import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from heapq import nlargest
from typing import TYPE_CHECKING, Final

from commonplace.index.base import Bm25Parameters, ChunkAttributes, IndexReader, VectorMatch, WordMatch
from commonplace.model import Filters, Mode
from commonplace.questions.question import phrases_in
from commonplace.ranking.candidates import WEIGHTS, ChunkCandidate, best_first
from commonplace.ranking.hybrid import (
    Clues,
    ScoredChunk,
    ScoredDocument,
    plain_score,
    score_chunks,
    score_documents,
    with_document_words,
    with_kinship,
    with_links,
)
from commonplace.ranking.recency import same_things, with_recency

if TYPE_CHECKING:
    from commonplace.index.base import Fixed

CHUNK_BM25: Final = Bm25Parameters(k1=0.9, b=0.25)
"""For words in one chunk: chunks are short, so their length says little."""

DOCUMENT_BM25: Final = Bm25Parameters(k1=1.2, b=0.5)
"""For words in all chunks of a document, taken as one text."""

_WITH_CLUES: Final = 192  # chunks whose attributes are read if times or speakers may raise one of them
_WHOLES: Final = 24  # documents that are scored as one text
_RELATED: Final = 12  # documents that are compared with the best
_BEST: Final = 3
_ANSWERED: Final = 24  # turns whose replies are scored if the query asks for replies
_PIECES: Final = 2  # chunks of each such reply


@dataclass(frozen=True, slots=True)
class Phrasing:
    """One phrasing of a query: its words, and its vector by each encoder version."""

    words: tuple[str, ...]
    vectors: "Mapping[str, Fixed]"


@dataclass(slots=True)
class Matches:
    """Matches for one phrasing of the query, keyed by chunk number; each half also scores what the other found."""

    words: dict[int, WordMatch] = field(default_factory=dict)
    vectors: dict[int, VectorMatch] = field(default_factory=dict)
    dropped: tuple[str, ...] = ()

    @property
    def numbers(self) -> set[int]:
        """The numbers of all matching chunks."""
        return {*self.words, *self.vectors}

    def scores(self, *, by_sentences: bool) -> dict[int, float]:
        """The hybrid score of each chunk by words and meaning alone."""
        scores = {}
        for number, sense in self.vectors.items():
            words = self.words.get(number)
            sentence = sense.sentence if by_sentences else sense.best
            scores[number] = plain_score(words.score if words else 0.0, sense.best, sentence)
        for number, match in self.words.items():
            if number not in scores:
                scores[number] = plain_score(match.score, 0.0, 0.0)
        return scores

    def candidate(
        self, number: int, attributes: ChunkAttributes, *, by_sentences: bool, halves: float | None = None
    ) -> ChunkCandidate:
        """The chunk as the ranking takes it; `halves` is its score by the halves of the query, if that has two."""
        words, sense = self.words.get(number), self.vectors.get(number)
        return ChunkCandidate(
            number,
            attributes.chunk_id,
            attributes.place,
            words=words.score if words else None,
            by=words.by if words else {},
            cosine=sense.cosine if sense else None,
            best=sense.best if sense else None,
            sentence=(sense.sentence if by_sentences else sense.best) if sense else None,
            part=sense.part if sense else 0,
            document=attributes.document,
            chunks=attributes.last - attributes.first + 1,
            turn=attributes.turn,
            opens=attributes.first == number,
            voice=attributes.voice,
            speaker=attributes.speaker,
            at=attributes.at,
            updated=attributes.updated,
            importance=attributes.importance,
            source=attributes.source,
            halves=halves,
        )


class CandidateSearch:
    """Finds candidates; `times` is how long each half took, `count` the most chunks that one phrasing matched."""

    def __init__(self, reader: IndexReader, filters: Filters, *, mode: Mode, pool: int) -> None:
        self._reader, self._filters, self._mode, self._pool = reader, filters, mode, pool
        self.times: dict[str, float] = {}
        self.count = 0

    def matches(self, phrasing: Phrasing) -> Matches:
        """The best chunks by words and by meaning; each half also scores what the other found."""
        matches = Matches()
        if WEIGHTS[self._mode][1]:
            self._add_nearest(phrasing, matches)
        if WEIGHTS[self._mode][0]:
            self._add_words(phrasing, matches, limit=self._pool, also=matches.vectors)
            self._add_vectors(phrasing, matches, matches.words)
        self.count = max(self.count, len(matches.numbers))
        return matches

    def complete(self, phrasing: Phrasing, matches: Matches, numbers: Iterable[int]) -> None:
        """Score these chunks for the phrasing, by words and by meaning, if they are not scored yet."""
        others = [number for number in numbers if number not in matches.words and number not in matches.vectors]
        if others:
            self._add_words(phrasing, matches, limit=0, also=others)
            self._add_vectors(phrasing, matches, others)

    def _add_nearest(self, phrasing: Phrasing, matches: Matches) -> None:
        """Add the nearest chunks by each encoder whose vectors the index has."""
        start = time.perf_counter()
        for version, vector in phrasing.vectors.items():
            nearest = self._reader.match_vector(vector, self._filters, version=version, limit=self._pool)
            matches.vectors.update((match.number, match) for match in nearest)
        self._took("sense", start)

    def _add_words(self, phrasing: Phrasing, matches: Matches, *, limit: int, also: Iterable[int]) -> None:
        start = time.perf_counter()
        best = self._reader.match_words(phrasing.words, self._filters, limit=limit, bm25=CHUNK_BM25, also=sorted(also))
        matches.words.update((match.number, match) for match in best.matches)
        matches.dropped = best.dropped
        self._took("words", start)

    def _add_vectors(self, phrasing: Phrasing, matches: Matches, numbers: Iterable[int]) -> None:
        """Score these chunks by meaning, if they are not scored yet."""
        start = time.perf_counter()
        others = [number for number in numbers if number not in matches.vectors]
        for version, vector in phrasing.vectors.items():
            scores = self._reader.score_vector(vector, others, version=version)
            matches.vectors.update((match.number, match) for match in scores)
        self._took("sense", start)

    def _took(self, what: str, start: float) -> None:
        self.times[what] = round(self.times.get(what, 0.0) + (time.perf_counter() - start) * 1000, 2)


class HybridScorer:
    """Scores one query, as it is phrased and as the people it names would phrase it.

    `most` is the number of chunks that are scored with their documents.
    """

    def __init__(self, reader: IndexReader, candidates: CandidateSearch, clues: Clues, *, most: int) -> None:
        self._reader, self._candidates, self._clues = reader, candidates, clues
        self._most = most
        self._attributes_limit = max(_WITH_CLUES, most) if clues.need_attributes else most
        self._by_sentences = "sentences" not in clues.without

    def documents(
        self, plain: Phrasing, spoken: Phrasing | None, halves: Sequence[Phrasing] = ()
    ) -> tuple[list[ScoredDocument], tuple[str, ...]]:
        """The scored documents with their chunks, best first; and the words that were too common to count."""
        phrasings = [plain, *([spoken] if spoken else []), *halves]
        found = [self._candidates.matches(each) for each in phrasings]
        numbers = set[int]().union(*(each.numbers for each in found))
        for phrasing, each in zip(phrasings, found, strict=True):  # score the others' matches too
            self._candidates.complete(phrasing, each, numbers)
        matches, spoken_matches = found[0], found[1 if spoken else 0]
        half_scores = [each.scores(by_sentences=self._by_sentences) for each in found[len(phrasings) - len(halves) :]]
        attributes = self._best_attributes(found)
        if self._clues.asks_reply and "replies" not in self._clues.without:
            attributes |= self._replies(attributes, spoken_matches, spoken or plain)
        candidates = [
            (spoken_matches if each.voice else matches).candidate(
                number,
                each,
                by_sentences=self._by_sentences,
                halves=max((scores.get(number, 0.0) for scores in half_scores), default=None),
            )
            for number, each in attributes.items()
        ]
        scored = score_chunks(self._with_quotes(candidates), self._clues)
        best = best_first(scored, score=lambda one: one.score, candidate=lambda one: one.candidate)
        documents = self._score_documents(best[: self._most], attributes, plain=plain, spoken=spoken or plain)
        return documents, matches.dropped

    def _best_attributes(self, found: Sequence[Matches]) -> dict[int, ChunkAttributes]:
        """Attributes of the best chunks by words and meaning alone, best first, each by its best phrasing.

        Ties at the cut are all kept: chunk numbers differ between indexes and must not break them.
        """
        scores: dict[int, float] = {}
        for matches in found:
            for number, score in matches.scores(by_sentences=self._by_sentences).items():
                scores[number] = max(score, scores.get(number, 0.0))
        least = min(nlargest(self._attributes_limit, scores.values()), default=0.0)
        attributes = self._reader.chunk_attributes([number for number, score in scores.items() if score >= least])
        best = sorted(attributes.values(), key=lambda each: (-scores[each.number], each.chunk_id))
        return {each.number: each for each in best}

    def _replies(
        self, attributes: Mapping[int, ChunkAttributes], matches: Matches, phrasing: Phrasing
    ) -> dict[int, ChunkAttributes]:
        """The replies to the best turns, which may share no word with the query."""
        turns = [each for each in attributes.values() if each.voice == "user"][:_ANSWERED]
        after = [n for each in turns for n in range(each.number + 1, min(each.number + _PIECES, each.last) + 1)]
        more = {n: each for n, each in self._reader.chunk_attributes(after).items() if each.voice == "assistant"}
        self._candidates.complete(phrasing, matches, more)
        scored = matches.numbers
        return {number: each for number, each in more.items() if number in scored}

    def _with_quotes(self, candidates: Sequence[ChunkCandidate]) -> Sequence[ChunkCandidate]:
        """The candidates, with the phrases that the query quotes from each; reads their texts only if it quotes any."""
        phrases = self._clues.phrases
        if not phrases or "phrases" in self._clues.without:
            return candidates
        chunks = self._reader.chunks([each.key for each in candidates])
        quoted = {each.number: phrases_in(each.chunk.text, phrases) for each in chunks}
        return [replace(each, quoted=quoted.get(each.key, ())) for each in candidates]

    def _score_documents(
        self,
        scored: Sequence[ScoredChunk],
        attributes: Mapping[int, ChunkAttributes],
        *,
        plain: Phrasing,
        spoken: Phrasing,
    ) -> list[ScoredDocument]:
        clues, documents = self._clues, score_documents(scored, self._clues)
        of_document = {each.document: each for each in attributes.values()}
        if "whole" not in clues.without:
            some, rest = documents[:_WHOLES], documents[_WHOLES:]
            scores = self._by_words([of_document[each.document] for each in some], plain=plain, spoken=spoken)
            documents = [*with_document_words(some, scores), *rest]
        if plain.vectors:
            documents = self._with_similar(documents, of_document, plain)
        if "links" not in clues.without:
            documents = self._with_links(documents, of_document)
        return documents

    def _by_words(self, documents: Sequence[ChunkAttributes], *, plain: Phrasing, spoken: Phrasing) -> list[float]:
        """The score of each document as one text, by the plain words, or by the spoken ones if people speak in it."""
        scores = self._reader.score_documents(plain.words, documents, bm25=DOCUMENT_BM25)
        if spoken is plain:
            return scores
        said = self._reader.score_documents(spoken.words, documents, bm25=DOCUMENT_BM25)
        return [two if each.voice else one for each, one, two in zip(documents, scores, said, strict=True)]

    def _with_similar(
        self, documents: Sequence[ScoredDocument], of_document: Mapping[str, ChunkAttributes], phrasing: Phrasing
    ) -> list[ScoredDocument]:
        """The documents with what the similarity of the best adds: kinship, and age if two speak of the same thing."""
        some, rest = documents[:_RELATED], documents[_RELATED:]
        attributes = [of_document[each.document] for each in some]
        by_version = [
            self._reader.document_similarity(attributes, version=each, top=_BEST) for each in phrasing.vectors
        ]
        similarity = [[max(each) for each in zip(*rows, strict=True)] for rows in zip(*by_version, strict=True)]
        same = same_things(some, similarity)
        if "kinship" not in self._clues.without:
            some = with_kinship(some, similarity)
        if recency := self._clues.active_recency:
            some = with_recency(some, same, recency)
        return [*some, *rest]

    def _with_links(
        self, documents: Sequence[ScoredDocument], of_document: Mapping[str, ChunkAttributes]
    ) -> list[ScoredDocument]:
        some, rest = documents[:_RELATED], documents[_RELATED:]
        by_path = {of_document[each.document].path: each.document for each in some if of_document[each.document].path}
        if len(by_path) < 2:
            return [*documents]
        linked: defaultdict[str, set[str]] = defaultdict(set)
        for edge in self._reader.edges(by_path, among=True):
            one, other = by_path.get(edge.source), by_path.get(edge.path or "")
            if one and other and one != other:
                linked[one].add(other)
                linked[other].add(one)
        return [*with_links(some, linked), *rest]
