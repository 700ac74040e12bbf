"""One look into the index: a question understood, encoded, searched in two streams, weighed -> hits with their reasons.

All reads of one look see one moment of the index.
"""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from commonplace.errors import ProviderFailed
from commonplace.flows.document import VAULT
from commonplace.flows.encode import encode_question
from commonplace.flows.hits import hit_of, withheld_titles
from commonplace.flows.shelf import Shelf
from commonplace.flows.streams import Streams, Wording
from commonplace.flows.weigh import Weighers
from commonplace.index.base import Reading
from commonplace.model import Answer, By, Filters, Hit, Mode
from commonplace.policy.sinks import Sink, shown
from commonplace.recalling.confidence import confidence
from commonplace.recalling.empty import Circumstances, why_empty
from commonplace.recalling.fuse import Ranked, first_of_documents, fuse
from commonplace.recalling.hybrid import Clues
from commonplace.recalling.modes import WEIGHTS, effective_k, nearest
from commonplace.recalling.question import Question, understand
from commonplace.recalling.rank import Wanted, rank
from commonplace.recalling.words import query_words

if TYPE_CHECKING:
    from commonplace.index.base import Fixed

LEAST_POOL: Final = 48  # chunks that each stream brings to the fusion, or four for each hit that is wanted
HYBRID_POOL: Final = 128  # the same in the mode hybrid, which compares them by their sentences
WEIGHED: Final = 64  # chunks that the mode hybrid weighs with their documents, or six for each hit that is wanted
WIDER: Final = 2  # times as many of each where documents are ranked: each needs but one


@dataclass(frozen=True, slots=True)
class Ask:
    """A question and how it is to be answered; `as_of` is a moment as text, empty for now.

    `by` is what is ranked; `now` the moment from which "last week" is counted, that of the clock where it is None.
    `snippets` is whether the hits are to be shown to a person, with the words of the question marked.
    """

    text: str
    mode: Mode = "hybrid"
    k: int | None = None
    min_score: float | None = None
    filters: Filters = field(default_factory=Filters)
    as_of: str = ""
    snippets: bool = False
    by: By = "chunk"
    now: datetime | None = None


class LookUp:
    """One search: what it was asked, what it has to work with, and what it had to do without."""

    def __init__(self, ask: Ask, shelf: Shelf, sink: Sink) -> None:
        self.ask, self.shelf = ask, shelf
        self.tells_all = shown(sensitive=True, sink=sink) == "whole"
        self.filters = ask.filters if self.tells_all else replace(ask.filters, sensitive="out")
        options = shelf.retrieval
        self.without = frozenset(options.without)
        self.k = effective_k(ask.k, default_k=options.default_k, max_k=options.max_k)
        self.wider = WIDER if ask.by == "document" else 1
        self.min_score = options.min_score if ask.min_score is None else ask.min_score
        self.mode = ask.mode
        self.degraded: list[str] = []
        self.times: dict[str, float] = {}
        self.read: dict[str, tuple[float, int]] = {}
        self.nearest: float | None = None
        self.confidence: float | None = None

    def answer(self) -> Answer:
        """What the index has, at one moment; the question is encoded before, which may take long."""
        with self.shelf.index.reading() as reading:
            versions = dict(reading.versions()) if WEIGHTS[self.ask.mode][1] else {}
            speakers = frozenset() if "names" in self.without else reading.speakers(sensitive=self.tells_all)
        start = time.perf_counter()
        question = understand(self.ask.text, now=self.ask.now or self.shelf.clock(), speakers=speakers)
        self._took("understand", start)
        plain = Wording(query_words(self.ask.text).words, self._encoded(self.ask.text, versions))
        if WEIGHTS[self.ask.mode][1]:
            self._say_what_is_missing(versions, plain)
        spoken = None
        if question.speakers and self.mode == "hybrid":
            spoken = Wording(question.words.words, self._encoded(question.sense, versions))
        with self.shelf.index.reading() as reading:
            if reading.synced() is None:
                self.degraded.append("index: the vault was never read whole (run `commonplace sync`)")
            ranked = self._ranked(reading, question, plain, spoken)
            hits = self._hits(reading, ranked, plain.words)
            if not self.tells_all:
                titles = withheld_titles(reading, plain.words, path=self.ask.filters.path, limit=self.k)
                hits = (*hits, *titles)[: self.k]
            empty = None if hits else self._why_empty(reading)
        return Answer(
            self.ask.text,
            self.mode,
            searched=True,
            hits=hits,
            took_ms=0.0,
            degraded=tuple(self.degraded),
            empty=empty,
            times=self.times,
            confidence=self.confidence,
            understood=_understood(question),
        )

    def _encoded(self, text: str, versions: Mapping[str, int]) -> "dict[str, Fixed]":
        """The vector of a text by each encoder that the index has vectors of; without any, none, and it is said."""
        vectors: dict[str, Fixed] = {}
        for version in versions if self.shelf.encoders.current else ():
            encoder = self.shelf.encoders.for_version(version) if version else None
            if encoder is None:
                continue
            start = time.perf_counter()
            try:
                vectors[version] = encode_question(text, encoder, self.shelf)
            except ProviderFailed as failure:
                self.degraded.append(f"sense: {failure}")
            self._took("encode", start)
        return vectors

    def _say_what_is_missing(self, versions: Mapping[str, int], plain: Wording) -> None:
        current = self.shelf.encoders.current
        if current is None:
            self.degraded.append(f"sense: {self.shelf.encoders.missing}")
        unseen = sum(number for version, number in versions.items() if version not in plain.vectors)
        if current and unseen and not any(each.startswith("sense:") for each in self.degraded):
            self.degraded.append(f"sense: {unseen} chunks have no vectors yet (run `commonplace sync`)")
        if len(plain.vectors) > 1:
            said = "vectors of two encoders are ranked side by side until all are made anew (run `commonplace sync`)"
            self.degraded.append(f"sense: {said}")
        if not plain.vectors and (versions or current is None):
            self.mode = "words"

    def _ranked(
        self, reading: Reading, question: Question, plain: Wording, spoken: Wording | None
    ) -> tuple[Ranked, ...]:
        pool = max(HYBRID_POOL if self.mode == "hybrid" else LEAST_POOL, 4 * self.k) * self.wider
        streams = Streams(reading, self.filters, mode=self.mode, pool=pool)
        start = time.perf_counter()
        if self.mode == "hybrid":
            ranked = self._weighed(reading, streams, question, plain, spoken)
        else:
            ranked = self._fused(reading, streams, plain)
        self._took("rank", start)
        self.times.update(streams.times)
        self.times["rank"] = round(self.times["rank"] - sum(streams.times.values()), 2)
        return ranked

    def _weighed(
        self, reading: Reading, streams: Streams, question: Question, plain: Wording, spoken: Wording | None
    ) -> tuple[Ranked, ...]:
        clues = Clues(
            windows=question.windows,
            phrases=question.phrases,
            speakers=frozenset(question.speakers),
            asks_reply=question.asks_reply,
            without=self.without,
        )
        wholes, dropped = Weighers(reading, streams, clues, most=max(WEIGHED, 6 * self.k) * self.wider).wholes(
            plain, spoken
        )
        self._note_nearest(nearest(one.candidate) for whole in wholes for one in whole.chunks)
        ranked = rank(wholes, Wanted(self.ask.by, self.k, self.min_score, dropped))
        self.confidence = confidence(wholes, (spoken or plain).words) if ranked else 0.0
        return ranked

    def _fused(self, reading: Reading, streams: Streams, plain: Wording) -> tuple[Ranked, ...]:
        matches = streams.matches(plain)
        standings = reading.standings(sorted(matches.numbers))
        candidates = [
            matches.candidate(number, standing, by_sentences="sentences" not in self.without)
            for number, standing in standings.items()
        ]
        self._note_nearest(nearest(each, self.mode) for each in candidates)
        ranked = fuse(
            candidates, mode=self.mode, min_score=self.min_score, asked=len(plain.words), dropped=matches.dropped
        )
        if self.ask.by == "document":
            ranked = first_of_documents(ranked, {each.key: each.document for each in candidates})
        return ranked[: self.k]

    def _note_nearest(self, cosines: Iterable[float | None]) -> None:
        self.nearest = max((each for each in cosines if each is not None), default=None)

    def _hits(self, reading: Reading, ranked: Sequence[Ranked], words: Sequence[str]) -> tuple[Hit, ...]:
        start = time.perf_counter()
        found = reading.found([each.key for each in ranked])
        notes = (each.document for each in found if each.document.source_type == VAULT)
        self.read = {note.source_id: (note.mtime, note.size) for note in notes}
        hits = tuple(
            hit_of(there, each, words=words, shows=self.ask.snippets)
            for there, each in zip(found, ranked, strict=True)
            if self.tells_all or not there.document.sensitive
        )
        self._took("hits", start)
        return hits

    def _why_empty(self, reading: Reading) -> str:
        counts = reading.counts()
        return why_empty(
            Circumstances(
                mode=self.mode,
                documents=sum(counts.documents.values()),
                passing=reading.passing(self.filters),
                synced=counts.synced is not None,
                words=query_words(self.ask.text).spelled,
                nearest=self.nearest,
                min_score=self.min_score,
            )
        )

    def _took(self, what: str, start: float) -> None:
        self.times[what] = round(self.times.get(what, 0.0) + (time.perf_counter() - start) * 1000, 2)


def _understood(question: Question) -> Mapping[str, Any]:
    """What the question was taken to say beside its words, for those who want to know why."""
    told = {
        "speakers": question.speakers,
        "names": question.names,
        "phrases": question.phrases,
        "windows": tuple(asdict(window) for window in question.windows),
        "asks_reply": question.asks_reply,
        "asks_many": question.asks_many,
    }
    return {name: value for name, value in told.items() if value}
