"""Two streams of candidates for a question, one by words and one by meaning, each of them whole."""

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from commonplace.index.base import Reading, SenseMatch, Standing, Weighing, WordMatch
from commonplace.model import Filters, Mode
from commonplace.recalling.hybrid import plain_score
from commonplace.recalling.modes import WEIGHTS, Candidate

if TYPE_CHECKING:
    from commonplace.index.base import Fixed

WEIGHING = Weighing(k1=0.9, b=0.25)
"""How words are weighed in one chunk: chunks are short, so their length says little."""


@dataclass(frozen=True, slots=True)
class Wording:
    """A question in one wording: the words to look for, and its vector by each encoder."""

    words: tuple[str, ...]
    vectors: "Mapping[str, Fixed]"


@dataclass(slots=True)
class Matches:
    """What one wording has found: chunks by words and by meaning, by their numbers. Each knows of the other's."""

    words: dict[int, WordMatch] = field(default_factory=dict)
    sense: dict[int, SenseMatch] = field(default_factory=dict)
    dropped: tuple[str, ...] = ()

    @property
    def numbers(self) -> set[int]:
        """All that were found."""
        return {*self.words, *self.sense}

    def scores(self, *, by_sentences: bool) -> dict[int, float]:
        """What each chunk scores in the mode hybrid by words and meaning alone."""
        scores = {}
        for number, sense in self.sense.items():
            words = self.words.get(number)
            sentence = sense.sentence if by_sentences else sense.best
            scores[number] = plain_score(words.score if words else 0.0, sense.best, sentence)
        for number, found in self.words.items():
            if number not in scores:
                scores[number] = plain_score(found.score, 0.0, 0.0)
        return scores

    def candidate(self, number: int, standing: Standing, *, by_sentences: bool) -> Candidate:
        """The chunk as the ranking sees it."""
        words, sense = self.words.get(number), self.sense.get(number)
        return Candidate(
            number,
            standing.chunk_id,
            standing.place,
            words=words.score if words else None,
            by=words.by if words else {},
            cosine=sense.cosine if sense else None,
            best=sense.best if sense else None,
            sentence=(sense.sentence if by_sentences else sense.best) if sense else None,
            part=sense.part if sense else 0,
            document=standing.document,
            turn=standing.turn,
            opens=standing.first == number,
            voice=standing.voice,
            speaker=standing.speaker,
            at=standing.at,
            updated=standing.updated,
            importance=standing.importance,
        )


class Streams:
    """Where the candidates of one look come from, how long each stream took, and how many chunks were `found`."""

    def __init__(self, reading: Reading, filters: Filters, *, mode: Mode, pool: int) -> None:
        self._reading, self._filters, self._mode, self._pool = reading, filters, mode, pool
        self.times: dict[str, float] = {}
        self.found = 0

    def matches(self, wording: Wording) -> Matches:
        """The best chunks of both streams; of what one has found, the other says what it makes of it."""
        found = Matches()
        if WEIGHTS[self._mode][1]:
            self._nearest(wording, found)
        if WEIGHTS[self._mode][0]:
            self._by_words(wording, found, limit=self._pool, also=found.sense)
            self._add_sense(wording, found, found.words)
        self.found = max(self.found, len(found.numbers))
        return found

    def _nearest(self, wording: Wording, found: Matches) -> None:
        """The nearest chunks, among those of each encoder that the index has vectors of and that can be asked."""
        start = time.perf_counter()
        for version, vector in wording.vectors.items():
            matches = self._reading.match_sense(vector, self._filters, version=version, limit=self._pool)
            found.sense.update((match.number, match) for match in matches)
        self._took("sense", start)

    def _by_words(self, wording: Wording, found: Matches, *, limit: int, also: Iterable[int]) -> None:
        start = time.perf_counter()
        by_words = self._reading.match_words(
            wording.words, self._filters, limit=limit, weighing=WEIGHING, also=sorted(also)
        )
        found.words.update((match.number, match) for match in by_words.matches)
        found.dropped = by_words.dropped
        self._took("words", start)

    def complete(self, wording: Wording, found: Matches, numbers: Iterable[int]) -> None:
        """What the wording makes of these chunks, by words and by meaning, as far as it is not known."""
        others = [number for number in numbers if number not in found.words and number not in found.sense]
        if others:
            self._by_words(wording, found, limit=0, also=others)
            self._add_sense(wording, found, others)

    def _add_sense(self, wording: Wording, found: Matches, numbers: Iterable[int]) -> None:
        """How near these chunks are in meaning, as far as it is not known."""
        start = time.perf_counter()
        others = [number for number in numbers if number not in found.sense]
        for version, vector in wording.vectors.items():
            matches = self._reading.sense_of(vector, others, version=version)
            found.sense.update((match.number, match) for match in matches)
        self._took("sense", start)

    def _took(self, what: str, start: float) -> None:
        self.times[what] = round(self.times.get(what, 0.0) + (time.perf_counter() - start) * 1000, 2)
