"""One look into the index: a question understood, encoded, searched in two streams, weighed -> hits with their reasons.

All reads of one look see one moment of the index.
"""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import Any, Final

from commonplace.flows.document import VAULT
from commonplace.flows.hits import hit_of, withheld_titles
from commonplace.flows.shelf import Shelf
from commonplace.flows.streams import Streams, Wording
from commonplace.flows.weigh import Weighers
from commonplace.flows.wordings import missing_sense, vectors_of
from commonplace.index.base import Reading
from commonplace.model import Answer, By, Filters, Hit, Mode
from commonplace.policy.sinks import Sink, shown
from commonplace.recalling.age import Ageing
from commonplace.recalling.confidence import confidence
from commonplace.recalling.empty import Circumstances, why_empty
from commonplace.recalling.fuse import Ranked, first_of_documents, fuse
from commonplace.recalling.hybrid import Clues
from commonplace.recalling.modes import WEIGHTS, effective_k, nearest
from commonplace.recalling.question import Question, understand
from commonplace.recalling.rank import Wanted, rank
from commonplace.recalling.times import in_utc
from commonplace.recalling.words import query_words

LEAST_POOL: Final = 48  # chunks that each stream brings to the fusion, or four for each hit that is wanted
HYBRID_POOL: Final = 96  # the same in the mode hybrid, which compares them by their sentences
WEIGHED: Final = 48  # chunks that the mode hybrid weighs with their documents, or six for each hit that is wanted
WIDER: Final = 2  # times as many of each where documents are ranked: each needs but one
WIDEST: Final = 32  # times as many at most, where few documents have most of the chunks


@dataclass(frozen=True, slots=True)
class Ask:
    """A question and how it is to be answered; `as_of` is a moment as text, empty for now.

    `by` is what is ranked; `now` the moment from which "last week" is counted, that of the clock where it is None.
    `snippets` is whether the hits are to be shown to a person, with the words of the question marked; `tells_why`
    whether an answer without hits says why, for which the whole index is counted. `channel`
    leaves out what other channels than that one hold; None leaves all in.
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
    channel: str | None = None
    tells_why: bool = True


@dataclass(frozen=True, slots=True)
class _Worded:
    """A question as it is put to the index: in its own wording, and in that of the people whom it names."""

    question: Question
    plain: Wording
    spoken: Wording | None


class LookUp:
    """One search: what it was asked, what it has to work with, and what it had to do without."""

    def __init__(self, ask: Ask, shelf: Shelf, sink: Sink) -> None:
        self.ask, self.shelf = ask, shelf
        self.tells_all = shown(sensitive=True, sink=sink) == "whole"
        self.now = ask.now or shelf.clock()
        filters = replace(ask.filters, at=ask.filters.at or in_utc(self.now))
        self.filters = filters if self.tells_all else replace(filters, sensitive="out")
        options = shelf.retrieval
        self.without = frozenset(options.without)
        self.ageing = Ageing(days, self.now) if (days := options.recency_half_life_days) else None
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
            speakers = frozenset[str]() if "names" in self.without else reading.speakers(sensitive=self.tells_all)
        start = time.perf_counter()
        question = understand(self.ask.text, now=self.now, speakers=speakers)
        self._took("understand", start)
        look = self._worded(question, versions)
        with self.shelf.index.reading() as reading:
            if reading.synced() is None:
                self.degraded.append("index: the vault was never read whole (run `commonplace sync`)")
            ranked = self._ranked(reading, look)
            hits = self._hits(reading, ranked, look.plain.words)
            if not self.tells_all:
                titles = withheld_titles(reading, look.plain.words, path=self.ask.filters.path, limit=self.k)
                hits = (*hits, *titles)[: self.k]
            empty = self._why_empty(reading) if self.ask.tells_why and not hits else None
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

    def _worded(self, question: Question, versions: Mapping[str, int]) -> "_Worded":
        """The question with its words and vectors; where no vector can be had, the search goes on by words."""
        words = query_words(self.ask.text).words
        if not WEIGHTS[self.ask.mode][1]:
            return _Worded(question, Wording(words, {}), None)
        start = time.perf_counter()
        vectors, failures = vectors_of(self.ask.text, versions, self.shelf)
        if not vectors and (versions or self.shelf.encoders.current is None):
            self.mode = "words"
        spoken = None
        if question.speakers and self.mode == "hybrid":
            of_them, more = vectors_of(question.sense, versions, self.shelf)
            failures += more
            spoken = Wording(question.words.words, vectors | of_them)  # where only this failed, its own words will do
        self.degraded += missing_sense(versions, vectors, self.shelf, failures=failures)
        self._took("encode", start)
        return _Worded(question, Wording(words, vectors), spoken)

    def _ranked(self, reading: Reading, look: "_Worded") -> tuple[Ranked, ...]:
        """What was found, best first; more is looked at where the best chunks are of too few documents."""
        pool = max(HYBRID_POOL if self.mode == "hybrid" else LEAST_POOL, 4 * self.k) * self.wider
        streams = Streams(reading, self.filters, mode=self.mode, pool=pool)
        start = time.perf_counter()
        rank_them = self._weighed if self.mode == "hybrid" else self._fused
        ranked = rank_them(reading, streams, look=look)
        self._took("rank", start)
        for what, took in streams.times.items():
            self.times[what] = round(self.times.get(what, 0.0) + took, 2)
            self.times["rank"] = round(self.times["rank"] - took, 2)
        is_short = self.ask.by == "document" and len(ranked) < self.k and streams.found >= pool
        if is_short and self.wider < WIDEST:
            self.wider *= 2 * WIDER
            return self._ranked(reading, look)
        return ranked

    def _weighed(self, reading: Reading, streams: Streams, *, look: "_Worded") -> tuple[Ranked, ...]:
        question = look.question
        clues = Clues(
            windows=question.windows,
            phrases=question.phrases,
            speakers=frozenset(question.speakers),
            asks_reply=question.asks_reply,
            ageing=self.ageing,
            without=self.without,
        )
        most = max(WEIGHED, 6 * self.k) * self.wider
        wholes, dropped = Weighers(reading, streams, clues, most=most).wholes(look.plain, look.spoken)
        self._note_nearest(nearest(one.candidate) for whole in wholes for one in whole.chunks)
        ranked = rank(wholes, Wanted(self.ask.by, self.k, self.min_score, dropped))
        self.confidence = confidence(wholes, (look.spoken or look.plain).words) if ranked else 0.0
        return ranked

    def _fused(self, reading: Reading, streams: Streams, *, look: "_Worded") -> tuple[Ranked, ...]:
        matches = streams.matches(look.plain)
        standings = reading.standings(sorted(matches.numbers))
        candidates = [
            matches.candidate(number, standing, by_sentences="sentences" not in self.without)
            for number, standing in standings.items()
        ]
        self._note_nearest(nearest(each, self.mode) for each in candidates)
        asked = len(look.plain.words)
        ranked = fuse(candidates, mode=self.mode, min_score=self.min_score, asked=asked, dropped=matches.dropped)
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
