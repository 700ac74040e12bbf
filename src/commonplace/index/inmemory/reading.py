"""Questions to the index in memory: each is answered by looking at every chunk, in plain arithmetic."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from commonplace.index.base import (
    AVERAGED,
    LINKED,
    REACH,
    Counts,
    Edge,
    Found,
    SenseMatch,
    Standing,
    Weighing,
    WordMatch,
    WordMatches,
)
from commonplace.index.facts import importance_of
from commonplace.index.inmemory.entry import Entry
from commonplace.index.inmemory.filtering import passes, plain
from commonplace.index.inmemory.knowing import FactReading
from commonplace.index.inmemory.weighing import length_of, weighed_words, whole_length, whole_words, worths
from commonplace.index.shrinking import alike, shrink_question
from commonplace.model import Chunk, Document, Filters, Problem

if TYPE_CHECKING:
    from commonplace.index.base import Fixed

_Match = TypeVar("_Match", WordMatch, SenseMatch)


@dataclass(frozen=True, slots=True)
class InMemoryReading(FactReading):
    """The documents that were there at one moment."""

    def match_words(
        self, words: Sequence[str], filters: Filters, *, limit: int, weighing: Weighing, also: Sequence[int] = ()
    ) -> WordMatches:
        """The best chunks that have one of the words, and those of `also`; ties are not cut."""
        found = worths(words, self._chunks(), weighing=weighing)
        length = sum(map(length_of, self._chunks()))
        average, most = length / len(self._chunks()) if length else 1.0, found.most
        matches = []
        for number, chunk in self._passing(filters):
            by = found.shares(weighed_words(chunk, weighing), longer=length_of(chunk) / average)
            if by:
                shares = {word: share / most for word, share in by.items()}
                matches.append(WordMatch(number, sum(by.values()) / most, shares))
        best = _best(matches, limit, key=lambda match: match.score)
        others = [match for match in matches if match.number in also and match not in best]
        return WordMatches((*best, *_best(others, len(others), key=lambda match: match.score)), found.dropped)

    def match_sense(self, vector: "Fixed", filters: Filters, *, version: str, limit: int) -> tuple[SenseMatch, ...]:
        """The chunks nearest to the vector among those of that version; ties are not cut."""
        numbers = [number for number, _ in self._passing(filters)]
        return _best(self.sense_of(vector, numbers, version=version), limit, key=lambda match: match.best)

    def sense_of(self, vector: "Fixed", numbers: Sequence[int], *, version: str) -> tuple[SenseMatch, ...]:
        """How near these chunks are to the vector, in this order."""
        question = shrink_question(vector)
        row, asked = [int(value) for value in question.row], set(numbers)
        kept = {
            number: ([sum(map(int.__mul__, row, each)) * scale * question.scale for scale, each in rows], chunk)
            for entry in self._searchable()
            if entry.document.version == version
            for number, rows, chunk in zip(entry.numbers, entry.vectors, entry.document.chunks, strict=True)
            if rows and number in asked
        }
        return tuple(_sense_match(number, *kept[number]) for number in numbers if number in kept)

    def standings(self, numbers: Sequence[int]) -> Mapping[int, Standing]:
        """What is to be known of each of these chunks, in this order."""
        known = {
            number: _standing(number, chunk, entry)
            for entry in self.entries
            for number, chunk in zip(entry.numbers, entry.document.chunks, strict=True)
        }
        return {number: known[number] for number in numbers if number in known}

    def match_whole(self, words: Sequence[str], documents: Sequence[Standing], *, weighing: Weighing) -> list[float]:
        """The score of each of these documents by words, all its chunks taken as one text."""
        found = worths(words, self._chunks(), weighing=weighing)
        length = whole_length(self._chunks(), weighing)
        average = length / sum(bool(entry.numbers) for entry in self._searchable()) if length else 1.0
        scores = []
        for standing in documents:
            chunks = [chunk for number, chunk in self._numbered() if standing.first <= number <= standing.last]
            longer = whole_length(chunks, weighing) / average
            shares = found.shares(whole_words(chunks, weighing), longer=longer)
            scores.append(sum(shares.values()) / found.most if shares else 0.0)
        return scores

    def likeness(self, documents: Sequence[Standing], *, version: str, top: int) -> list[list[float]]:
        """For each of these documents, how alike in meaning it is to each of the first `top`."""
        import numpy as np

        sums = [self._summed(each, version) for each in documents]
        dim = max((len(each) for each in sums), default=0) or 1
        return alike(np.array([each or [0.0] * dim for each in sums]), top=top) if sums else []

    def _summed(self, standing: Standing, version: str) -> list[float]:
        """The sum of what the first chunks of a document mean, replies left out."""
        entry = next(each for each in self.entries if each.document.id == standing.document)
        said = [
            [value * scale for value in row]
            for chunk, ((scale, row), *_) in (
                (chunk, rows)
                for chunk, rows in zip(entry.document.chunks[:REACH], entry.vectors, strict=False)
                if rows and entry.document.version == version
            )
            if chunk.voice != "assistant"
        ]
        return [sum(column) for column in zip(*said[:AVERAGED], strict=True)]

    def speakers(self, *, sensitive: bool) -> frozenset[str]:
        """The names of all who speak in what the index holds; with or without those of sensitive documents."""
        documents = (entry.document for entry in self.entries)
        chunks = (chunk for each in documents if sensitive or not each.sensitive for chunk in each.chunks)
        return frozenset(plain(chunk.speaker) for chunk in chunks if chunk.speaker)

    def passing(self, filters: Filters) -> int:
        """How many documents pass the filters."""
        return len(self._under(filters))

    def found(self, numbers: Sequence[int]) -> tuple[Found, ...]:
        """The chunks with these numbers, in this order."""
        known = {
            number: Found(number, _shown(chunk), replace(entry.document, chunks=(), links=(), facts=()))
            for entry in self.entries
            for number, chunk in zip(entry.numbers, entry.document.chunks, strict=True)
        }
        return tuple(known[number] for number in numbers if number in known)

    def versions(self) -> Mapping[str, int]:
        """How many chunks have vectors of each version; "" counts those that wait for theirs."""
        counted: dict[str, int] = {}
        for entry in self.entries:
            version = entry.document.version
            count = sum(map(bool, entry.vectors)) if version else len(entry.numbers)
            if count:
                counted[version] = counted.get(version, 0) + count
        return counted

    def counts(self) -> Counts:
        """What the index holds."""
        documents: dict[str, int] = {}
        vectors: dict[str, int] = {}
        for entry in self.entries:
            documents[entry.document.source_type] = documents.get(entry.document.source_type, 0) + 1
            if count := sum(map(len, entry.vectors)):
                vectors[entry.document.version] = vectors.get(entry.document.version, 0) + count
        links = self._links()
        return Counts(
            documents=documents,
            chunks=sum(len(entry.numbers) for entry in self.entries),
            removed=self.removed,
            vectors=vectors,
            waiting=self.versions().get("", 0),
            links=len(links),
            unresolved=sum(link.path is None for link in links),
            sensitive=sum(entry.document.sensitive for entry in self.entries),
            problems=len(self.problems()),
            size=0,
            synced=self.compared,
        )

    def synced(self) -> str | None:
        """When a whole source was last compared with the index."""
        return self.compared

    def problems(self) -> tuple[Problem, ...]:
        """Every Problem of every document, in order."""
        return tuple(sorted(problem for entry in self.entries for problem in entry.document.problems))

    def edges(self, paths: Iterable[str] = ()) -> tuple[Edge, ...]:
        """The links from or to these documents, or all links; then the bonds between the facts that stand in them."""
        asked = set(paths)
        every = (*self._links(), *self._bond_edges())
        return tuple(edge for edge in every if not asked or edge.source in asked or edge.path in asked)

    def _searchable(self) -> list[Entry]:
        return [entry for entry in self.entries if entry.document.place != "staging"]

    def _chunks(self) -> list[Chunk]:
        return [chunk for entry in self._searchable() for chunk in entry.document.chunks]

    def _numbered(self) -> Iterator[tuple[int, Chunk]]:
        for entry in self.entries:
            yield from zip(entry.numbers, entry.document.chunks, strict=True)

    def _passing(self, filters: Filters) -> Iterator[tuple[int, Chunk]]:
        for entry in self._under(filters):
            yield from zip(entry.numbers, entry.document.chunks, strict=True)

    def _under(self, filters: Filters) -> list[Entry]:
        """What passes the filters."""
        keys, paths = self._about(filters.entities)
        names = frozenset[str]().union(*map(self.entities, filters.entities))
        ends = self._ends_at() if filters.at else {}

        def is_about(document: Document) -> bool:
            is_told = any(self._names(fact, tuple(names)) for fact in document.facts)
            return is_told or document.id in keys or bool(self._meant_by(document) & paths)

        return [
            entry
            for entry in self._searchable()
            if passes(entry.document, filters, ends_at=ends.get(entry.document.id, ""))
            and (not filters.entities or is_about(entry.document))
        ]


def _shown(chunk: Chunk) -> Chunk:
    """The chunk without what an index does not give back."""
    return replace(chunk, text=plain(chunk.text), speaker=plain(chunk.speaker), words={}, parts=(), sentences=())


def _sense_match(number: int, cosines: Sequence[float], chunk: Chunk) -> SenseMatch:
    parts, sentences = cosines[: len(chunk.parts)], cosines[len(chunk.parts) :]
    best = max(parts)
    return SenseMatch(number, parts[0], best, parts.index(best), max(sentences, default=best))


def _standing(number: int, chunk: Chunk, entry: Entry) -> Standing:
    document = entry.document
    return Standing(
        number=number,
        chunk_id=chunk.id,
        document=document.id,
        first=entry.numbers[0],
        last=entry.numbers[-1],
        path=plain(document.source_id) if document.source_type == LINKED else "",
        turn=chunk.line,
        place=document.place,
        voice=chunk.voice,
        speaker=plain(chunk.speaker),
        at=chunk.at,
        updated=document.updated,
        importance=importance_of(document),
    )


def _best(matches: Sequence[_Match], limit: int, *, key: Callable[[_Match], float]) -> tuple[_Match, ...]:
    """The matches from the best down, as many as asked and those that are equal to the last."""
    ordered = sorted(matches, key=lambda match: (-key(match), match.number))
    if len(ordered) <= limit:
        return tuple(ordered)
    return tuple(match for match in ordered if limit and key(match) >= key(ordered[limit - 1]))
