"""Queries of the index in memory, each answered by looking at every chunk, in plain arithmetic."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, TypeVar

from commonplace.index.base import (
    SIMILARITY_CHUNKS,
    SIMILARITY_REACH,
    VAULT_SOURCE,
    Bm25Parameters,
    ChunkAttributes,
    Counts,
    Edge,
    NoteRow,
    StoredChunk,
    VectorMatch,
    WordMatch,
    WordMatches,
    WrittenNote,
)
from commonplace.index.document_values import (
    document_importance,
    entry_fact,
    fold_label,
    note_entity_names,
    valid_unicode,
)
from commonplace.index.inmemory.documents import InMemoryFactReader, StoredDocument, passes
from commonplace.index.segments.quantize import cosine_matrix, quantize_query
from commonplace.model import Chunk, Document, Filters, Problem
from commonplace.model.template import KEY, SOURCE_VERSION, TEMPLATE

if TYPE_CHECKING:
    from commonplace.index.base import Fixed

_Match = TypeVar("_Match", WordMatch, VectorMatch)

_BODY: Final = 4
_MAX_COUNT: Final = 255  # higher counts are capped


@dataclass(frozen=True, slots=True)
class InMemoryReader(InMemoryFactReader):
    """The documents at one moment."""

    def match_words(
        self, words: Sequence[str], filters: Filters, *, limit: int, bm25: Bm25Parameters, also: Sequence[int] = ()
    ) -> WordMatches:
        """The best chunks that have one of the words, and those of `also`; ties are not cut."""
        weights = word_weights(words, self._chunks(), bm25=bm25)
        length = sum(map(body_length, self._chunks()))
        average, most = length / len(self._chunks()) if length else 1.0, weights.most
        matches = []
        for number, chunk in self._passing_chunks(filters):
            by = weights.contributions(weighted_counts(chunk, bm25), relative_length=body_length(chunk) / average)
            if by:
                shares = {word: contribution / most for word, contribution in by.items()}
                matches.append(WordMatch(number, sum(by.values()) / most, shares))
        best = _best(matches, limit, key=lambda match: match.score)
        others = [match for match in matches if match.number in also and match not in best]
        return WordMatches((*best, *_best(others, len(others), key=lambda match: match.score)), weights.dropped)

    def chunks_with(self, words: Sequence[str], filters: Filters) -> tuple[int, ...]:
        """The numbers of the chunks that have all of these words and pass the filters, ascending."""
        passing = self._passing_chunks(filters)
        return tuple(sorted(number for number, chunk in passing if words and {*words} <= chunk.words.keys()))

    def match_vector(self, vector: "Fixed", filters: Filters, *, version: str, limit: int) -> tuple[VectorMatch, ...]:
        """The chunks of that version nearest to the vector; ties are not cut."""
        numbers = [number for number, _ in self._passing_chunks(filters)]
        return _best(self.score_vector(vector, numbers, version=version), limit, key=lambda match: match.best)

    def score_vector(self, vector: "Fixed", numbers: Sequence[int], *, version: str) -> tuple[VectorMatch, ...]:
        """These chunks compared with the vector, in this order."""
        query = quantize_query(vector)
        query_row, wanted = [int(value) for value in query.row], set(numbers)
        cosines = {
            number: ([sum(map(int.__mul__, query_row, row)) * scale * query.scale for scale, row in rows], chunk)
            for stored in self._searchable()
            if stored.document.version == version
            for number, rows, chunk in zip(stored.numbers, stored.vectors, stored.document.chunks, strict=True)
            if rows and number in wanted
        }
        return tuple(_vector_match(number, *cosines[number]) for number in numbers if number in cosines)

    def chunk_attributes(self, numbers: Sequence[int]) -> Mapping[int, ChunkAttributes]:
        """The attributes of these chunks, in this order."""
        attributes = {
            number: _attributes(number, chunk, stored)
            for stored in self.stored
            for number, chunk in zip(stored.numbers, stored.document.chunks, strict=True)
        }
        return {number: attributes[number] for number in numbers if number in attributes}

    def score_documents(
        self, words: Sequence[str], documents: Sequence[ChunkAttributes], *, bm25: Bm25Parameters
    ) -> list[float]:
        """The BM25 score of each of these documents, all its chunks taken as one text."""
        weights = word_weights(words, self._chunks(), bm25=bm25)
        length = document_length(self._chunks(), bm25)
        average = length / sum(bool(stored.numbers) for stored in self._searchable()) if length else 1.0
        scores = []
        for document in documents:
            chunks = [chunk for number, chunk in self._numbered() if document.first <= number <= document.last]
            relative = document_length(chunks, bm25) / average
            contributions = weights.contributions(document_counts(chunks, bm25), relative_length=relative)
            scores.append(sum(contributions.values()) / weights.most if contributions else 0.0)
        return scores

    def document_similarity(self, documents: Sequence[ChunkAttributes], *, version: str, top: int) -> list[list[float]]:
        """For each of these documents, its cosine with each of the first `top`."""
        import numpy as np

        sums = [self._vector_sum(each, version) for each in documents]
        dim = max((len(each) for each in sums), default=0) or 1
        return cosine_matrix(np.array([each or [0.0] * dim for each in sums]), top=top) if sums else []

    def chunks(self, numbers: Sequence[int]) -> tuple[StoredChunk, ...]:
        """The chunks with these numbers, in this order."""
        chunks = {
            number: StoredChunk(number, _returned_chunk(chunk), replace(stored.document, chunks=(), links=(), facts=()))
            for stored in self.stored
            for number, chunk in zip(stored.numbers, stored.document.chunks, strict=True)
        }
        return tuple(chunks[number] for number in numbers if number in chunks)

    def count_documents(self, filters: Filters) -> int:
        """How many documents pass the filters."""
        return len(self._passing(filters))

    def speakers(self, *, sensitive: bool) -> frozenset[str]:
        """The names of all speakers in the index, with or without those of sensitive documents."""
        documents = (each for each in self._documents() if sensitive or not each.sensitive)
        return frozenset(valid_unicode(chunk.speaker) for each in documents for chunk in each.chunks if chunk.speaker)

    def versions(self) -> Mapping[str, int]:
        """How many chunks have vectors of each version; "" counts those that wait for vectors."""
        counted: dict[str, int] = {}
        for stored in self.stored:
            version = stored.document.version
            count = sum(map(bool, stored.vectors)) if version else len(stored.numbers)
            if count:
                counted[version] = counted.get(version, 0) + count
        return counted

    def counts(self) -> Counts:
        """What the index holds."""
        documents: dict[str, int] = {}
        vectors: dict[str, int] = {}
        for stored in self.stored:
            documents[stored.document.source_type] = documents.get(stored.document.source_type, 0) + 1
            if count := sum(map(len, stored.vectors)):
                vectors[stored.document.version] = vectors.get(stored.document.version, 0) + count
        links = self._links()
        return Counts(
            documents=documents,
            chunks=sum(len(stored.numbers) for stored in self.stored),
            removed=self.removed,
            vectors=vectors,
            waiting=self.versions().get("", 0),
            links=len(links),
            unresolved=sum(link.path is None for link in links),
            sensitive=sum(each.sensitive for each in self._documents()),
            problems=len(self.problems()),
            size=0,
            synced=self.synced,
        )

    def last_sync(self) -> str | None:
        """When a whole source was last compared with the index, or None."""
        return self.synced

    def memory_sources(self) -> Mapping[str, str]:
        """The notes that are marked `memory: source` and not sensitive: for each path the hash of its text."""
        notes = (each for each in self._documents() if each.source_type == VAULT_SOURCE and not each.sensitive)
        return {each.source_id: each.content_hash for each in notes if _is_memory_source(each)}

    def written_notes(self, *, key: str = "", template: str = "") -> tuple[WrittenNote, ...]:
        """The notes whose frontmatter has an idempotency key: with that key, or of that template; sorted by path."""
        notes = (_written_note(each) for each in self._documents() if each.source_type == VAULT_SOURCE)
        found = (each for each in notes if each and key in ("", each.key) and template in ("", each.template))
        return tuple(sorted(found))

    def problems(self) -> tuple[Problem, ...]:
        """Every Problem of every document, sorted."""
        return tuple(sorted(problem for each in self._documents() for problem in each.problems))

    def note_rows(self) -> tuple[NoteRow, ...]:
        """Every note, by path."""
        notes = sorted((each for each in self._documents() if each.source_type == VAULT_SOURCE), key=_path)
        return tuple(
            NoteRow(
                each.source_id,
                each.title,
                each.kind,
                each.place,
                each.updated,
                each.sensitive,
                entry_fact(each) is not None,
                note_entity_names(each, self.rules),
            )
            for each in notes
        )

    def titles_with(self, part: str, *, sensitive: bool) -> tuple[str, ...]:
        """The titles of documents and the names of notes that contain this text, each once, folded and sorted."""
        seen = [each for each in self._documents() if each.place != "staging" and (sensitive or not each.sensitive)]
        names = {name for each in seen for name in (fold_label(each.title), *note_entity_names(each, self.rules))}
        return tuple(sorted(name for name in names if fold_label(part) in name))

    def edges(self, paths: Iterable[str] = (), *, among: bool = False) -> tuple[Edge, ...]:
        """Links from or to these documents, or all links; then the bonds between facts of different documents.

        With `among`, only those between two of these documents.
        """
        selected = set(paths)
        every = (*self._links(), *self._bond_edges())
        if among:
            return tuple(edge for edge in every if edge.source in selected and edge.path in selected)
        return tuple(edge for edge in every if not selected or edge.source in selected or edge.path in selected)

    def _vector_sum(self, attributes: ChunkAttributes, version: str) -> list[float]:
        """The sum of the vectors of the document's first chunks, replies left out."""
        stored = next(each for each in self.stored if each.document.id == attributes.document)
        vectors = [
            [value * scale for value in row]
            for chunk, ((scale, row), *_) in (
                (chunk, rows)
                for chunk, rows in zip(stored.document.chunks[:SIMILARITY_REACH], stored.vectors, strict=False)
                if rows and stored.document.version == version
            )
            if chunk.voice != "assistant"
        ]
        return [sum(column) for column in zip(*vectors[:SIMILARITY_CHUNKS], strict=True)]

    def _searchable(self) -> list[StoredDocument]:
        return [stored for stored in self.stored if stored.document.place != "staging"]

    def _chunks(self) -> list[Chunk]:
        return [chunk for stored in self._searchable() for chunk in stored.document.chunks]

    def _numbered(self) -> Iterator[tuple[int, Chunk]]:
        for stored in self.stored:
            yield from zip(stored.numbers, stored.document.chunks, strict=True)

    def _passing_chunks(self, filters: Filters) -> Iterator[tuple[int, Chunk]]:
        for stored in self._passing(filters):
            yield from zip(stored.numbers, stored.document.chunks, strict=True)

    def _passing(self, filters: Filters) -> list[StoredDocument]:
        """The documents that pass the filters."""
        ids, paths = self._entity_documents(filters.entities)
        names = frozenset[str]().union(*map(self.entity_names, filters.entities))
        ends = self._document_ends() if filters.at else {}

        def is_about(document: Document) -> bool:
            is_in_facts = any(self._is_about(fact, names) for fact in document.facts)
            return is_in_facts or document.id in ids or bool(self._targets(document) & paths)

        return [
            stored
            for stored in self._searchable()
            if passes(stored.document, filters, ends_at=ends.get(stored.document.id, ""))
            and (not filters.entities or is_about(stored.document))
        ]


# ---------------------------------------------------------------- BM25


@dataclass(frozen=True, slots=True)
class WordWeights:
    """The inverse document frequency of each word of a query, and the words that are too common to count."""

    of: Mapping[str, float]
    dropped: tuple[str, ...]
    bm25: Bm25Parameters

    @property
    def most(self) -> float:
        """The score that a text full of every word would approach."""
        return sum(self.of.values()) * (self.bm25.k1 + 1)

    def contributions(self, counts: Mapping[str, float], *, relative_length: float) -> dict[str, float]:
        """What each word contributes to the score of a text with these weighted counts and relative length."""
        k1, b = self.bm25.k1, self.bm25.b
        return {
            word: weight * (counts[word] * (k1 + 1)) / (counts[word] + k1 * (1 - b + b * relative_length))
            for word, weight in self.of.items()
            if counts.get(word)
        }


def word_weights(words: Sequence[str], chunks: Sequence[Chunk], *, bm25: Bm25Parameters) -> WordWeights:
    """The weights of the words among all searchable chunks."""
    frequencies = {word: sum(word in chunk.words for chunk in chunks) for word in dict.fromkeys(words)}
    common = [word for word, frequency in frequencies.items() if frequency > bm25.common * len(chunks)]
    rarer = sum(frequency > 0 and word not in common for word, frequency in frequencies.items())
    dropped = tuple(common) if rarer > 1 else ()
    weights = {
        word: math.log(1 + (len(chunks) - frequency + 0.5) / (frequency + 0.5))
        for word, frequency in frequencies.items()
        if word not in dropped
    }
    return WordWeights(weights, dropped, bm25)


def body_length(chunk: Chunk) -> int:
    """How many words the body of the chunk has."""
    return sum(counts[_BODY] for counts in chunk.words.values())


def weighted_counts(chunk: Chunk, bm25: Bm25Parameters) -> dict[str, float]:
    """How often each word occurs in the chunk, weighted by field."""
    return {
        word: sum(weight * min(count, _MAX_COUNT) for weight, count in zip(bm25.fields, counts, strict=True))
        for word, counts in chunk.words.items()
    }


def document_length(chunks: Sequence[Chunk], bm25: Bm25Parameters) -> float:
    """The length of the chunks as one text, replies weighted."""
    replied = sum(body_length(chunk) for chunk in chunks if chunk.voice == "assistant")
    return sum(map(body_length, chunks)) - replied + bm25.reply * replied


def document_counts(chunks: Sequence[Chunk], bm25: Bm25Parameters) -> dict[str, float]:
    """How often each word occurs in the chunks as one text: in every body, but once in the fields that repeat."""
    return {word: _document_count(word, chunks, bm25) for chunk in chunks for word in chunk.words}


def _document_count(word: str, chunks: Sequence[Chunk], bm25: Bm25Parameters) -> float:
    having = [
        (chunk.voice, [min(count, _MAX_COUNT) for count in chunk.words[word]])
        for chunk in chunks
        if word in chunk.words
    ]
    said = sum(counts[_BODY] for voice, counts in having if voice != "assistant")
    replied = sum(counts[_BODY] for voice, counts in having if voice == "assistant")
    once = sum(bm25.fields[field] * max(counts[field] for _, counts in having) for field in range(_BODY))
    return once + bm25.fields[_BODY] * (said + bm25.reply * replied)


# ---------------------------------------------------------------- results


def _path(document: Document) -> str:
    return document.source_id


def _returned_chunk(chunk: Chunk) -> Chunk:
    """The chunk without what an index does not return."""
    speaker = valid_unicode(chunk.speaker)
    return replace(chunk, text=valid_unicode(chunk.text), speaker=speaker, words={}, parts=(), sentences=())


def _vector_match(number: int, cosines: Sequence[float], chunk: Chunk) -> VectorMatch:
    parts, sentences = cosines[: len(chunk.parts)], cosines[len(chunk.parts) :]
    best = max(parts)
    return VectorMatch(number, parts[0], best, parts.index(best), max(sentences, default=best))


def _attributes(number: int, chunk: Chunk, stored: StoredDocument) -> ChunkAttributes:
    document = stored.document
    return ChunkAttributes(
        number=number,
        chunk_id=chunk.id,
        document=document.id,
        first=stored.numbers[0],
        last=stored.numbers[-1],
        path=valid_unicode(document.source_id) if document.source_type == VAULT_SOURCE else "",
        turn=chunk.line,
        place=document.place,
        voice=chunk.voice,
        speaker=valid_unicode(chunk.speaker),
        at=chunk.at,
        updated=document.updated if document.is_dated else "",
        importance=document_importance(document),
        source=document.source_type,
    )


def _best(matches: Sequence[_Match], limit: int, *, key: Callable[[_Match], float]) -> tuple[_Match, ...]:
    """The best `limit` matches, best first, and those equal to the last of them."""
    ordered = sorted(matches, key=lambda match: (-key(match), match.number))
    if len(ordered) <= limit:
        return tuple(ordered)
    return tuple(match for match in ordered if limit and key(match) >= key(ordered[limit - 1]))


def _written_note(document: Document) -> WrittenNote | None:
    keys = document.metadata.get("frontmatter", {})
    if not isinstance(keys.get(KEY), str):
        return None
    return WrittenNote(document.source_id, *(str(keys.get(name) or "") for name in (KEY, TEMPLATE, SOURCE_VERSION)))


def _is_memory_source(document: Document) -> bool:
    mark = document.metadata.get("frontmatter", {}).get("memory")
    return isinstance(mark, str) and mark.strip().lower() == "source"
