"""Questions to the index in memory: each is answered by looking at every chunk, in plain arithmetic."""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, TypeVar
from unicodedata import normalize

from commonplace.index.base import (
    LINKED,
    Counts,
    Edge,
    Found,
    Linker,
    SenseMatch,
    Weighing,
    WordMatch,
    WordMatches,
)
from commonplace.model import Chunk, Document, Filters, Link, Place, Problem

if TYPE_CHECKING:
    from commonplace.index.base import Fixed

_ONE: Final = 32767
_PAST: Final = ("superseded", "expired", "archived", "deleted")
Rows = tuple[tuple[int, ...], ...]
_Match = TypeVar("_Match", WordMatch, SenseMatch)


@dataclass(frozen=True, slots=True)
class Entry:
    """A document as it is kept: the numbers and vectors of its chunks, and when it was seen and removed."""

    document: Document
    numbers: tuple[int, ...]
    vectors: tuple[Rows, ...]
    seen: float
    deleted: int | None = None


@dataclass(frozen=True, slots=True)
class InMemoryReading:
    """The documents that were there at one moment."""

    entries: tuple[Entry, ...]
    removed: int
    linker: Linker
    compared: str | None

    def match_words(
        self, words: Sequence[str], filters: Filters, *, limit: int, weighing: Weighing, also: Sequence[int] = ()
    ) -> WordMatches:
        """The best chunks that have one of the words, and those of `also`; ties are not cut."""
        every = [chunk for entry in self._searchable() for chunk in entry.document.chunks]
        spread = {word: sum(word in chunk.words for chunk in every) for word in dict.fromkeys(words)}
        common = [word for word, df in spread.items() if df > weighing.common * len(every)]
        dropped = tuple(common) if sum(df > 0 and word not in common for word, df in spread.items()) > 1 else ()
        worth = {
            word: math.log(1 + (len(every) - df + 0.5) / (df + 0.5))
            for word, df in spread.items()
            if word not in dropped
        }
        length = sum(_length(chunk) for chunk in every)
        average, most = length / len(every) if length else 1.0, sum(worth.values()) * (weighing.k1 + 1)
        matches = []
        for number, chunk in self._passing(filters):
            by = {word: worth[word] * _share(chunk, word, average, weighing) for word in worth if word in chunk.words}
            if any(by.values()):
                shares = {word: share / most for word, share in by.items()}
                matches.append(WordMatch(number, sum(by.values()) / most, shares))
        best = _best(matches, limit, key=lambda match: match.score)
        others = [match for match in matches if match.number in also and match not in best]
        return WordMatches((*best, *_best(others, len(others), key=lambda match: match.score)), dropped)

    def match_sense(self, vector: "Fixed", filters: Filters, *, version: str, limit: int) -> tuple[SenseMatch, ...]:
        """The chunks nearest to the vector among those of that version; ties are not cut."""
        numbers = [number for number, _ in self._passing(filters)]
        return _best(self.sense_of(vector, numbers, version=version), limit, key=lambda match: match.best)

    def sense_of(self, vector: "Fixed", numbers: Sequence[int], *, version: str) -> tuple[SenseMatch, ...]:
        """How near these chunks are to the vector, in this order."""
        question = [int(value) for value in vector]
        rows = {
            number: parts
            for entry in self._searchable()
            if entry.document.version == version
            for number, parts in zip(entry.numbers, entry.vectors, strict=True)
            if parts
        }
        matches = []
        for number in numbers:
            if number in rows:
                cosines = [sum(map(int.__mul__, question, row)) / (_ONE * _ONE) for row in rows[number]]
                matches.append(SenseMatch(number, cosines[0], max(cosines), cosines.index(max(cosines))))
        return tuple(matches)

    def places(self, numbers: Sequence[int]) -> Mapping[int, tuple[str, Place]]:
        """The id of each of these chunks, and where its document stands."""
        return {each.number: (each.chunk.id, each.document.place) for each in self.found(numbers)}

    def passing(self, filters: Filters) -> int:
        """How many documents pass the filters."""
        return len(self._kept(filters))

    def found(self, numbers: Sequence[int]) -> tuple[Found, ...]:
        """The chunks with these numbers, in this order."""
        known = {
            number: Found(number, _shown(chunk), replace(entry.document, chunks=(), links=()))
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
        edges = self.edges()
        return Counts(
            documents=documents,
            chunks=sum(len(entry.numbers) for entry in self.entries),
            removed=self.removed,
            vectors=vectors,
            waiting=self.versions().get("", 0),
            links=len(edges),
            unresolved=sum(edge.path is None for edge in edges),
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
        """The links from or to these documents, or all links, by document and place."""
        asked = set(paths)
        ordered = sorted(
            (entry.document for entry in self.entries), key=lambda document: (document.source_id, document.source_type)
        )
        edges = [
            Edge(document.source_id, link.target, self._meant(link, document.source_id), link.line)
            for document in ordered
            for link in document.links
            if link.target
        ]
        return tuple(edge for edge in edges if not asked or edge.source in asked or edge.path in asked)

    def _meant(self, link: Link, source: str) -> str | None:
        names = self.linker.names_in(link)
        among = {
            entry.document.source_id: entry.document.aliases
            for entry in self.entries
            if entry.document.source_type == LINKED
            and names & self.linker.names_of(entry.document.source_id, entry.document.aliases)
        }
        return self.linker.resolve(link, source=source, among=among)

    def _searchable(self) -> list[Entry]:
        return [entry for entry in self.entries if entry.document.place != "staging"]

    def _passing(self, filters: Filters) -> Iterator[tuple[int, Chunk]]:
        for entry in self._kept(filters):
            yield from zip(entry.numbers, entry.document.chunks, strict=True)

    def _kept(self, filters: Filters) -> list[Entry]:
        """What passes the filters."""
        keys, paths = self._about(filters.entities)

        def is_about(document: Document) -> bool:
            links = (link for link in document.links if link.target)
            return document.id in keys or any(self._meant(link, document.source_id) in paths for link in links)

        return [
            entry
            for entry in self._searchable()
            if _passes(entry.document, filters) and (not filters.entities or is_about(entry.document))
        ]

    def _about(self, names: Sequence[str]) -> tuple[set[str], set[str]]:
        meant = [entry.document for entry in self.entries for name in names if self._is_named(entry.document, name)]
        return {document.id for document in meant}, {document.source_id for document in meant}

    def _is_named(self, document: Document, name: str) -> bool:
        if _fold(document.title) == _fold(name):
            return True
        link = Link(name, None, None, None, "wikilink", "body", 0, 0, 0)
        path = document.source_id
        return (
            document.source_type == LINKED
            and bool(self.linker.names_in(link) & self.linker.names_of(path, document.aliases))
            and self.linker.resolve(link, source="", among={path: document.aliases}) == path
        )


def _shown(chunk: Chunk) -> Chunk:
    """The chunk without what an index does not give back."""
    return replace(chunk, text=_plain(chunk.text), words={}, parts=())


def _length(chunk: Chunk) -> int:
    return sum(counts[-1] for counts in chunk.words.values())


def _share(chunk: Chunk, word: str, average: float, weighing: Weighing) -> float:
    """How much of the word's worth the chunk has."""
    pairs = zip(weighing.fields, chunk.words[word], strict=True)
    weighed = sum(weight * min(count, 255) for weight, count in pairs)
    longer = 1 - weighing.b + weighing.b * (_length(chunk) / average)
    return weighed * (weighing.k1 + 1) / (weighed + weighing.k1 * longer)


def _best(matches: Sequence[_Match], limit: int, *, key: Callable[[_Match], float]) -> tuple[_Match, ...]:
    """The matches from the best down, as many as asked and those that are equal to the last."""
    ordered = sorted(matches, key=lambda match: (-key(match), match.number))
    if len(ordered) <= limit:
        return tuple(ordered)
    return tuple(match for match in ordered if limit and key(match) >= key(ordered[limit - 1]))


def _passes(document: Document, filters: Filters) -> bool:
    folder = filters.path.rstrip("/")
    tags = {_fold(tag) for tag in document.tags}
    return (
        (not filters.sources or document.source_type in filters.sources)
        and (not filters.kinds or _fold(document.kind) in map(_fold, filters.kinds))
        and (not folder or document.source_id == folder or document.source_id.startswith(f"{folder}/"))
        and (not filters.tags or any(_is_below(tag, _fold(asked)) for tag in tags for asked in filters.tags))
        and (not filters.topics or bool({*map(_fold, document.topics)} & {*map(_fold, filters.topics)}))
        and (not filters.since or document.updated >= filters.since)
        and (not filters.until or document.updated < filters.until)
        and (not filters.sensitive or document.sensitive == (filters.sensitive == "only"))
        and (filters.archived or (document.place != "archive" and document.status not in _PAST))
    )


def _is_below(tag: str, asked: str) -> bool:
    return tag == asked or tag.startswith(f"{asked}/")


def _fold(text: str) -> str:
    return normalize("NFC", _plain(text).casefold())


def _plain(text: str) -> str:
    """The text with a mark in place of what is no Unicode."""
    return re.sub("[\ud800-\udfff]", "\ufffd", text)
