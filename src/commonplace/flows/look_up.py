"""One look into the index: a question's words and vector -> two streams, each whole -> ranked hits with their reasons.

All reads of one look see one moment of the index.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from commonplace.errors import ProviderFailed
from commonplace.flows.document import VAULT
from commonplace.flows.encode import encode_question
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

LEAST_POOL: Final = 48  # chunks that each stream brings to the fusion, or four for each hit that is wanted
SNIPPET_WIDTH: Final = 320  # characters of a hit that a terminal shows
WEIGHING: Final = Weighing()
_TITLES: Final = Weighing(fields=(1, 0, 0, 0, 0))


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


class LookUp:
    """One search: what it was asked, what it has to work with, and what it had to do without."""

    def __init__(self, ask: Ask, shelf: Shelf, sink: Sink) -> None:
        self.ask, self.shelf, self.sink = ask, shelf, sink
        self.tells_all = shown(sensitive=True, sink=sink) == "whole"
        self.filters = ask.filters if self.tells_all else replace(ask.filters, sensitive="out")
        options = shelf.retrieval
        self.k = effective_k(ask.k, default_k=options.default_k, max_k=options.max_k)
        self.pool = max(LEAST_POOL, 4 * self.k)
        self.min_score = options.min_score if ask.min_score is None else ask.min_score
        asked = query_words(ask.text)
        self.words, self.spelled = asked.words, asked.spelled
        self.mode = ask.mode
        self.degraded: list[str] = []
        self.vectors: dict[str, Fixed] = {}
        self.times: dict[str, float] = {}
        self.read: dict[str, tuple[float, int]] = {}

    def answer(self) -> Answer:
        """What the index has, at one moment; the question is encoded before, which may take long."""
        if WEIGHTS[self.ask.mode][1]:
            with self.shelf.index.reading() as reading:
                versions = dict(reading.versions())
            self._encode(versions)
        with self.shelf.index.reading() as reading:
            if reading.synced() is None:
                self.degraded.append("index: the vault was never read whole (run `commonplace sync`)")
            by_sense = self._by_sense(reading)
            by_words = self._by_words(reading, by_sense)
            by_sense = self._with_sense(reading, by_words, by_sense)
            ranked = self._ranked(reading, by_words, by_sense)
            hits = self._hits(reading, ranked)
            hits = (*hits, *self._titles(reading))[: self.k]
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
        for version, vector in self.vectors.items():
            start = time.perf_counter()
            matches = reading.match_sense(vector, self.filters, version=version, limit=self.pool)
            found.update((match.number, match) for match in matches)
            self._took("sense", start)
        return found

    def _encode(self, versions: Mapping[str, int]) -> None:
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

    def _say_what_is_missing(self, versions: Mapping[str, int]) -> None:
        current = self.shelf.encoders.current
        if current is None:
            self.degraded.append(f"sense: {self.shelf.encoders.missing}")
        unseen = sum(number for version, number in versions.items() if version not in self.vectors)
        if current and unseen and not any(each.startswith("sense:") for each in self.degraded):
            self.degraded.append(f"sense: {unseen} chunks have no vectors yet (run `commonplace sync`)")
        if len(self.vectors) > 1:
            said = "vectors of two encoders are ranked side by side until all are made anew (run `commonplace sync`)"
            self.degraded.append(f"sense: {said}")
        if not self.vectors and (versions or current is None):
            self.mode = "words"

    def _by_words(self, reading: Reading, by_sense: Mapping[int, SenseMatch]) -> WordMatches:
        if not WEIGHTS[self.mode][0]:
            return WordMatches((), ())
        start = time.perf_counter()
        matches = reading.match_words(
            self.words, self.filters, limit=self.pool, weighing=WEIGHING, also=sorted(by_sense)
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
        notes = (each.document for each in found if each.document.source_type == VAULT)
        self.read = {note.source_id: (note.mtime, note.size) for note in notes}
        pairs = zip(found, ranked, strict=True)
        hits = tuple(self._hit(there, each) for there, each in pairs if self.tells_all or not there.document.sensitive)
        self._took("hits", start)
        return hits

    def _titles(self, reading: Reading) -> tuple[Hit, ...]:
        """For those who may not see sensitive text: sensitive documents that have a word of the question in the title.

        Nothing else of them is searched: an answer that depends on a text tells what stands in it.
        """
        if self.tells_all:
            return ()
        filters = Filters(path=self.ask.filters.path, sensitive="only")
        matches = reading.match_words(self.words, filters, limit=self.k, weighing=_TITLES).matches
        documents = {each.document.id: each for each in reading.found([match.number for match in matches])}
        return tuple(_withheld(each) for each in documents.values())

    def _hit(self, found: Found, ranked: Ranked) -> Hit:
        document, chunk = found.document, found.chunk
        seen = snippet(chunk.text, self.words, width=SNIPPET_WIDTH) if self.ask.snippets else None
        return Hit(
            chunk_id=chunk.id,
            document_id=document.id,
            source_type=document.source_type,
            path=document.source_id,
            title=document.title,
            heading_path=chunk.heading_path,
            line=chunk.line,
            text=chunk.text,
            score=ranked.score,
            cosine=ranked.cosine,
            sensitive=document.sensitive,
            updated=document.updated,
            metadata=document.metadata,
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
                passing=reading.passing(self.filters),
                synced=counts.synced is not None,
                words=self.spelled,
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


def _withheld(found: Found) -> Hit:
    """A sensitive document as those see it who may know that it is there: its title and its path."""
    document = found.document
    return Hit(
        chunk_id=found.chunk.id,
        document_id=document.id,
        source_type=document.source_type,
        path=document.source_id,
        title=document.title,
        heading_path=(),
        line=0,
        text="",
        score=0.0,
        cosine=None,
        sensitive=True,
        updated=document.updated,
        metadata={"sensitive": True},
        why={"title": {"withheld": "the text is sensitive"}},
    )
