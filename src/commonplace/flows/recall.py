"""Recall: a question -> its words and its vector -> two streams, each whole -> ranked hits, with their reasons.

All reads of one search see one moment of the index. A hit whose note has changed on the disk since is looked at
again before it is shown: no hit from a note that no longer says it.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from commonplace.errors import NotFound, ProviderFailed
from commonplace.events import emit
from commonplace.flows.document import VAULT
from commonplace.flows.encode import encode_question
from commonplace.flows.ingest import ingest_paths
from commonplace.flows.past import shelf_at
from commonplace.flows.read import locate
from commonplace.flows.shelf import Shelf
from commonplace.index.base import Found, Reading, SenseMatch, Weighing, WordMatch, WordMatches
from commonplace.model import Answer, Filters, Hit, Mode, Place
from commonplace.policy.sinks import Sink, shown
from commonplace.recalling.empty import Circumstances, why_empty
from commonplace.recalling.fuse import Ranked, fuse
from commonplace.recalling.modes import WEIGHTS, Candidate, effective_k
from commonplace.recalling.snippets import snippet
from commonplace.recalling.words import query_words

if TYPE_CHECKING:
    from commonplace.index.base import Fixed

_LOOKS: Final = 5  # searches until no hit is of a note that has just changed
_RESTLESS: Final = "What was found is being changed at this moment: ask again."
LEAST_POOL: Final = 64  # chunks that each stream brings to the fusion, or four for each hit that is wanted
SNIPPET_WIDTH: Final = 320  # characters of a hit that a terminal shows
WEIGHING: Final = Weighing()


@dataclass(frozen=True, slots=True)
class Ask:
    """A question and how it is to be answered; `as_of` is a moment as text, empty for now.

    `snippets` is whether the hits are to be shown to a person, with the words of the question marked.
    """

    text: str
    mode: Mode = "hybrid"
    k: int | None = None
    min_score: float | None = None
    filters: Filters = field(default_factory=Filters)
    as_of: str = ""
    snippets: bool = False


def recall(ask: Ask, shelf: Shelf, *, sink: Sink) -> Answer:
    """The hits for a question, best first. Raises UsageError, IndexDamaged, and NotFound for a past without history."""
    start = time.perf_counter()
    if not ask.text.strip():
        return Answer(ask.text, ask.mode, searched=False, hits=(), took_ms=0.0, empty="The question is empty.")
    answer = _answer_of_past(ask, shelf, sink) if ask.as_of else _answer_of_today(ask, shelf, sink)
    answer = replace(answer, took_ms=round((time.perf_counter() - start) * 1000, 1))
    emit(
        "memory_retrieval",
        k=effective_k(ask.k, default_k=shelf.retrieval.default_k, max_k=shelf.retrieval.max_k),
        hits=len(answer.hits),
        mode=answer.mode,
        latency_ms=answer.took_ms,
        sources=list(ask.filters.sources),
        times=answer.times,
    )
    return answer


def _answer_of_past(ask: Ask, shelf: Shelf, sink: Sink) -> Answer:
    past = shelf_at(datetime.fromisoformat(ask.as_of) - timedelta(seconds=1), shelf)
    try:
        return replace(_Search(ask, past.shelf, sink).answer(), as_of=ask.as_of, history_begins=past.begins)
    finally:
        past.shelf.index.close()


def _answer_of_today(ask: Ask, shelf: Shelf, sink: Sink) -> Answer:
    """The answer, once none of its hits is of a note that has changed since; what never rests is left out of it."""
    for _ in range(_LOOKS):
        answer = _Search(ask, shelf, sink).answer()
        changed = _changed_on_disk(answer.hits, shelf)
        if not changed:
            return answer
        ingest_paths(changed, shelf)
    hits = tuple(hit for hit in answer.hits if hit.path not in changed)
    return replace(answer, hits=hits, empty=None if hits else _RESTLESS)


class _Search:
    """One search: what it was asked, what it has to work with, and what it had to do without."""

    def __init__(self, ask: Ask, shelf: Shelf, sink: Sink) -> None:
        self.ask, self.shelf, self.sink = ask, shelf, sink
        options = shelf.retrieval
        self.k = effective_k(ask.k, default_k=options.default_k, max_k=options.max_k)
        self.pool = max(LEAST_POOL, 4 * self.k)
        self.min_score = options.min_score if ask.min_score is None else ask.min_score
        self.words = query_words(ask.text).words
        self.mode = ask.mode
        self.degraded: list[str] = []
        self.vectors: dict[str, Fixed] = {}
        self.times: dict[str, float] = {}

    def answer(self) -> Answer:
        """What the index has, at one moment."""
        with self.shelf.index.reading() as reading:
            if reading.synced() is None:
                self.degraded.append("index: the vault was never read whole (run `commonplace sync`)")
            by_sense = self._by_sense(reading) if WEIGHTS[self.ask.mode][1] else {}
            by_words = self._by_words(reading, by_sense)
            by_sense = self._with_sense(reading, by_words, by_sense)
            ranked = self._ranked(reading, by_words, by_sense)
            hits = self._hits(reading, ranked)
            empty = None if hits else self._why_empty(reading, by_sense)
        return Answer(
            self.ask.text,
            self.mode,
            searched=True,
            hits=hits,
            took_ms=0.0,
            degraded=tuple(self.degraded),
            empty=empty,
            times=self.times,
        )

    def _by_sense(self, reading: Reading) -> dict[int, SenseMatch]:
        """The nearest chunks, among those of each encoder that the index has vectors of and that can be asked."""
        found: dict[int, SenseMatch] = {}
        for version, vector in self._questions(reading.versions()).items():
            start = time.perf_counter()
            matches = reading.match_sense(vector, self.ask.filters, version=version, limit=self.pool)
            found.update((match.number, match) for match in matches)
            self._took("sense", start)
        return found

    def _questions(self, versions: Mapping[str, int]) -> "dict[str, Fixed]":
        """The question's vector by each encoder; without any, the search goes on by words and says so."""
        for version in versions if self.shelf.encoders.current else ():
            encoder = self.shelf.encoders.for_version(version) if version else None
            if encoder is None:
                continue
            start = time.perf_counter()
            try:
                self.vectors[version] = encode_question(self.ask.text, encoder, self.shelf)
            except ProviderFailed as failure:
                self.degraded.append(f"sense: {failure}")
            self._took("encode", start)
        self._say_what_is_missing(versions)
        return self.vectors

    def _say_what_is_missing(self, versions: Mapping[str, int]) -> None:
        current = self.shelf.encoders.current
        if current is None:
            self.degraded.append(f"sense: {self.shelf.encoders.missing}")
        unseen = sum(number for version, number in versions.items() if version not in self.vectors)
        if current and unseen and not any(each.startswith("sense:") for each in self.degraded):
            self.degraded.append(f"sense: {unseen} chunks have no vectors yet (run `commonplace sync`)")
        if not self.vectors and (versions or current is None):
            self.mode = "words"

    def _by_words(self, reading: Reading, by_sense: Mapping[int, SenseMatch]) -> WordMatches:
        if not WEIGHTS[self.mode][0]:
            return WordMatches((), ())
        start = time.perf_counter()
        matches = reading.match_words(
            self.words, self.ask.filters, limit=self.pool, weighing=WEIGHING, also=sorted(by_sense)
        )
        self._took("words", start)
        return matches

    def _with_sense(
        self, reading: Reading, by_words: WordMatches, by_sense: dict[int, SenseMatch]
    ) -> dict[int, SenseMatch]:
        """The sense of the chunks that words found, too: each stream speaks for all candidates."""
        start = time.perf_counter()
        others = [match.number for match in by_words.matches if match.number not in by_sense]
        for version, vector in self.vectors.items():
            by_sense.update((match.number, match) for match in reading.sense_of(vector, others, version=version))
        self._took("sense", start)
        return by_sense

    def _ranked(
        self, reading: Reading, by_words: WordMatches, by_sense: Mapping[int, SenseMatch]
    ) -> tuple[Ranked, ...]:
        start = time.perf_counter()
        words = {match.number: match for match in by_words.matches}
        places = reading.places(sorted({*words, *by_sense}))
        candidates = [
            _candidate(number, chunk_id, place, words.get(number), by_sense.get(number))
            for number, (chunk_id, place) in places.items()
        ]
        ranked = fuse(
            candidates,
            mode=self.mode,
            k=self.k,
            min_score=self.min_score,
            asked=len(self.words),
            dropped=by_words.dropped,
        )
        self._took("fuse", start)
        return ranked

    def _hits(self, reading: Reading, ranked: Sequence[Ranked]) -> tuple[Hit, ...]:
        start = time.perf_counter()
        found = reading.found([each.key for each in ranked])
        hits = tuple(self._hit(there, each) for there, each in zip(found, ranked, strict=True))
        self._took("hits", start)
        return hits

    def _hit(self, found: Found, ranked: Ranked) -> Hit:
        """The hit as this sink may see it: of a sensitive note perhaps its title and path alone."""
        document, chunk = found.document, found.chunk
        is_whole = shown(document.sensitive, self.sink) == "whole"
        wanted = is_whole and self.ask.snippets
        seen = snippet(chunk.text, self.words, width=SNIPPET_WIDTH) if wanted else None
        return Hit(
            chunk_id=chunk.id,
            document_id=document.id,
            source_type=document.source_type,
            path=document.source_id,
            title=document.title,
            heading_path=chunk.heading_path if is_whole else (),
            line=chunk.line,
            text=chunk.text if is_whole else "",
            score=ranked.score,
            cosine=ranked.cosine,
            sensitive=document.sensitive,
            updated=document.updated,
            metadata=document.metadata if is_whole else {"sensitive": True},
            why=ranked.why,
            snippet=seen.text if seen else "",
            marks=seen.marks if seen else (),
        )

    def _why_empty(self, reading: Reading, by_sense: Mapping[int, SenseMatch]) -> str:
        counts = reading.counts()
        return why_empty(
            Circumstances(
                mode=self.mode,
                documents=sum(counts.documents.values()),
                passing=reading.passing(self.ask.filters),
                synced=counts.synced is not None,
                words=self.words,
                nearest=max((match.best for match in by_sense.values()), default=None),
                min_score=self.min_score,
            )
        )

    def _took(self, what: str, start: float) -> None:
        self.times[what] = round(self.times.get(what, 0.0) + (time.perf_counter() - start) * 1000, 2)


def _candidate(
    number: int, chunk_id: str, place: Place, words: WordMatch | None, sense: SenseMatch | None
) -> Candidate:
    return Candidate(
        number,
        chunk_id,
        place,
        words=words.score if words else None,
        by=words.by if words else {},
        cosine=sense.cosine if sense else None,
        sense=sense.best if sense else None,
        part=sense.part if sense else 0,
    )


def _changed_on_disk(hits: Sequence[Hit], shelf: Shelf) -> list[str]:
    """The notes among the hits that were saved, or are gone, since they were indexed."""
    notes = dict.fromkeys(hit.path for hit in hits if hit.source_type == VAULT)
    return [path for path in notes if _differs_on_disk(path, shelf)]


def _differs_on_disk(path: str, shelf: Shelf) -> bool:
    known = shelf.index.stamp(VAULT, path)
    try:
        stat = shelf.vault.stat(locate(path, shelf.vault))
    except NotFound:
        return True
    return known is None or (known.mtime, known.size) != (stat.mtime, stat.size)
