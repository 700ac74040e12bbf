"""The weighing of candidates in the mode hybrid: each chunk, its document, and what stands beside that document."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from heapq import nlargest
from typing import Final

from commonplace.flows.streams import Matches, Streams, Wording
from commonplace.index.base import Reading, Standing, Weighing
from commonplace.recalling.hybrid import (
    Clues,
    Scored,
    Whole,
    score_chunks,
    score_documents,
    with_kin,
    with_links,
    with_words,
)
from commonplace.recalling.modes import Candidate
from commonplace.recalling.question import quoted_in
from commonplace.recalling.ties import best_first

WHOLES: Final = Weighing(k1=1.2, b=0.5)
"""How words are weighed where all chunks of a document are taken as one text."""

_WITH_CLUES: Final = 192  # chunks of which more is asked than words and meaning where times or speakers may lift one
_WHOLES: Final = 24  # documents that are weighed as wholes
_KIN: Final = 12  # documents that are compared with the best
_BEST: Final = 3
_ANSWERED: Final = 24  # turns whose replies are looked at where the question is about replies
_PIECES: Final = 2  # of each such reply


class Weighers:
    """One question on the scales, in its own wording and in that of the people whom it names.

    `most` is how many chunks are weighed with their documents.
    """

    def __init__(self, reading: Reading, streams: Streams, clues: Clues, *, most: int) -> None:
        self._reading, self._streams, self._clues = reading, streams, clues
        self._weighed_at_most = most
        self._looked_at = max(_WITH_CLUES, most) if clues.need_standings else most
        self._by_sentences = "sentences" not in clues.without

    def wholes(self, plain: Wording, spoken: Wording | None) -> tuple[list[Whole], tuple[str, ...]]:
        """The documents found, best first, with their chunks; and the words that were too common to count."""
        matches = self._streams.matches(plain)
        of_voices = self._streams.matches(spoken) if spoken else matches
        if spoken:  # each wording says what it makes of what the other has found
            both = matches.numbers | of_voices.numbers
            self._streams.complete(plain, matches, both)
            self._streams.complete(spoken, of_voices, both)
        standings = self._best_standings(matches, of_voices)
        if self._clues.asks_reply and "replies" not in self._clues.without:
            standings |= self._replies(standings, of_voices, spoken or plain)
        candidates = [
            self._candidate(number, standing, of_voices if standing.voice else matches)
            for number, standing in standings.items()
        ]
        scored = score_chunks(self._with_quotes(candidates), self._clues)
        best = best_first(scored, score=lambda one: one.score, candidate=lambda one: one.candidate)
        return self._weighed(
            best[: self._weighed_at_most], standings, plain=plain, spoken=spoken or plain
        ), matches.dropped

    def _best_standings(self, matches: Matches, of_voices: Matches) -> dict[int, Standing]:
        """What is to be known of the best chunks by words and meaning alone, best first; ties are not cut.

        Numbers differ from one index to another, so that none of equals may be left out by them.
        """
        scores = matches.scores(by_sentences=self._by_sentences)
        if of_voices is not matches:
            for number, score in of_voices.scores(by_sentences=self._by_sentences).items():
                scores[number] = max(score, scores.get(number, 0.0))
        least = min(nlargest(self._looked_at, scores.values()), default=0.0)
        found = self._reading.standings([number for number, score in scores.items() if score >= least])
        best = sorted(found.values(), key=lambda each: (-scores[each.number], each.chunk_id))
        return {each.number: each for each in best}

    def _replies(self, standings: Mapping[int, Standing], found: Matches, wording: Wording) -> dict[int, Standing]:
        """The replies to the best turns, which may share no word with the question."""
        turns = [each for each in standings.values() if each.voice == "user"][:_ANSWERED]
        after = [n for each in turns for n in range(each.number + 1, min(each.number + _PIECES, each.last) + 1)]
        more = {n: each for n, each in self._reading.standings(after).items() if each.voice == "assistant"}
        self._streams.complete(wording, found, more)
        known = found.numbers
        return {number: each for number, each in more.items() if number in known}

    def _with_quotes(self, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
        """The candidates with what the question quotes of each; only then their texts are read."""
        phrases = self._clues.phrases
        if not phrases or "phrases" in self._clues.without:
            return candidates
        found = self._reading.found([each.key for each in candidates])
        quoted = {each.number: quoted_in(each.chunk.text, phrases) for each in found}
        return [replace(each, quoted=quoted.get(each.key, ())) for each in candidates]

    def _candidate(self, number: int, standing: Standing, found: Matches) -> Candidate:
        return found.candidate(number, standing, by_sentences=self._by_sentences)

    def _weighed(
        self, scored: Sequence[Scored], standings: Mapping[int, Standing], *, plain: Wording, spoken: Wording
    ) -> list[Whole]:
        clues, wholes = self._clues, score_documents(scored, self._clues)
        of = {standing.document: standing for standing in standings.values()}
        if "whole" not in clues.without:
            some, rest = wholes[:_WHOLES], wholes[_WHOLES:]
            scores = self._by_words([of[each.document] for each in some], plain=plain, spoken=spoken)
            wholes = [*with_words(some, scores), *rest]
        if "kinship" not in clues.without and plain.vectors:
            wholes = self._with_kin(wholes, of, plain)
        if "links" not in clues.without:
            wholes = self._with_links(wholes, of)
        return wholes

    def _by_words(self, documents: Sequence[Standing], *, plain: Wording, spoken: Wording) -> list[float]:
        """What each document scores by words as one text: by the question's own, or what people said by theirs."""
        scores = self._reading.match_whole(plain.words, documents, weighing=WHOLES)
        if spoken is plain:
            return scores
        said = self._reading.match_whole(spoken.words, documents, weighing=WHOLES)
        return [two if each.voice else one for each, one, two in zip(documents, scores, said, strict=True)]

    def _with_kin(self, wholes: Sequence[Whole], of: Mapping[str, Standing], wording: Wording) -> list[Whole]:
        some, rest = wholes[:_KIN], wholes[_KIN:]
        documents = [of[each.document] for each in some]
        by_version = [self._reading.likeness(documents, version=each, top=_BEST) for each in wording.vectors]
        likeness = [[max(each) for each in zip(*rows, strict=True)] for rows in zip(*by_version, strict=True)]
        return [*with_kin(some, likeness), *rest]

    def _with_links(self, wholes: Sequence[Whole], of: Mapping[str, Standing]) -> list[Whole]:
        some, rest = wholes[:_KIN], wholes[_KIN:]
        by_path = {of[each.document].path: each.document for each in some if of[each.document].path}
        if len(by_path) < 2:
            return [*wholes]
        linked: defaultdict[str, set[str]] = defaultdict(set)
        for edge in self._reading.edges(by_path):
            one, other = by_path.get(edge.source), by_path.get(edge.path or "")
            if one and other and one != other:
                linked[one].add(other)
                linked[other].add(one)
        return [*with_links(some, linked), *rest]
