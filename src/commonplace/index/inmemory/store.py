"""`Index` and `VectorCache` in memory: every change."""

import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field, replace
from datetime import date
from typing import TYPE_CHECKING

from commonplace.errors import Conflict, NotFound, UsageError
from commonplace.index.base import EncodedDocument, Linker, PastStep, Rules, vector_texts
from commonplace.index.inmemory.documents import StoredDocument, VectorRows
from commonplace.index.inmemory.past_lines import PastNotes
from commonplace.index.inmemory.queries import InMemoryReader
from commonplace.index.segments.quantize import QuantizedVectors, coarsen, quantize, restore
from commonplace.model import Document, Stamp

if TYPE_CHECKING:
    from commonplace.index.base import Fixed


@dataclass(slots=True)
class InMemoryIndex:
    """An index that is lost with the process. Threads may read while one writes."""

    user: str
    linker: Linker
    rules: Rules
    _stored: dict[tuple[str, str], StoredDocument] = field(default_factory=dict)  # by source type and source id
    _next_number: int = 1
    _synced: str | None = None
    _past: PastNotes | None = None  # replaced by each change, so that readers keep what they have
    _history: tuple[str, str] = ("", "")

    def stamps(self, source_type: str) -> Mapping[str, Stamp]:
        """The stamp of every document of a source, including removed ones, by its `source_id`."""
        return {path: _stamp(stored) for (source, path), stored in [*self._stored.items()] if source == source_type}

    def stamp(self, source_type: str, source_id: str) -> Stamp | None:
        """The stamp of one document, or None."""
        stored = self._stored.get((source_type, source_id))
        return _stamp(stored) if stored else None

    def part_hashes(self, source_type: str, source_id: str) -> tuple[str, ...]:
        """The sha256 of each text for which the document has a vector, also if removed; () if there is no document."""
        stored = self._stored.get((source_type, source_id))
        chunks = stored.document.chunks if stored and stored.document.version else ()
        texts = (text for chunk in chunks for text in vector_texts(chunk))
        return tuple(hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest() for text in texts)

    def put(self, document: Document, vectors: "Sequence[Fixed]", *, now: float) -> None:
        """Add a document. Raises Conflict if it exists."""
        if _key(document) in self._stored:
            raise Conflict(f"{document.source_id} is already in the index", path=document.source_id)
        self.upsert(document, vectors, now=now)

    def put_all(self, documents: "Sequence[EncodedDocument]", *, now: float) -> None:
        """Add documents. Raises Conflict if one exists; then none is added."""
        keys = [_key(document) for document, _ in documents]
        taken = [path for source, path in keys if (source, path) in self._stored or keys.count((source, path)) > 1]
        if taken:
            raise Conflict(f"{taken[0]} is already in the index", path=taken[0])
        before = dict(self._stored)
        try:
            for document, vectors in documents:
                self.upsert(document, vectors, now=now)
        except UsageError:
            self._stored = before
            raise

    def upsert(self, document: Document, vectors: "Sequence[Fixed]", *, now: float) -> None:
        """Add or replace a document. Raises UsageError if the vectors do not match its chunks."""
        if document.version or vectors:
            is_match = [len(each) for each in vectors] == [len(vector_texts(chunk)) for chunk in document.chunks]
            if not (is_match and document.version):
                raise UsageError(f"the vectors of {document.source_id} do not match its chunks")
        rows = tuple(_rows(own, parts=len(chunk.parts)) for own, chunk in zip(vectors, document.chunks, strict=False))
        self._store(document, rows or ((),) * len(document.chunks), now=now)

    def touch(self, document: Document, *, now: float) -> None:
        """Update everything but the document's chunks. Raises NotFound, or Conflict if the chunks differ."""
        stored = self._existing(document.source_type, document.source_id)
        if stored.document.made_from != document.made_from:
            raise Conflict(f"{document.source_id} has other chunks", path=document.source_id)
        updated = replace(document, user=self.user, chunks=stored.document.chunks, version=stored.document.version)
        self._stored[_key(document)] = replace(stored, document=updated, seen=now, deleted=None)

    def rename(self, source_id: str, document: Document, *, now: float) -> None:
        """Give the document at `source_id` the id, path and metadata of this one, and its chunks their new ids.

        Raises NotFound, or Conflict if the path is taken or the chunks differ.
        """
        stored = self._existing(document.source_type, source_id)
        other = self._stored.get(_key(document))
        if other and other is not stored and other.deleted is None:
            raise Conflict(f"{document.source_id} is already in the index", path=document.source_id)
        if _chunk_content(document, stored) != _chunk_content(stored.document, stored):
            raise Conflict(
                f"{document.source_id} does not have the same chunks as {source_id}",
                path=document.source_id,
                hint="Replace it instead.",
            )
        del self._stored[(document.source_type, source_id)]
        self._store(replace(document, version=stored.document.version), stored.vectors, now=now)

    def remove(self, source_type: str, source_id: str, *, now: float) -> bool:
        """Hide the document from every query; False if there was none."""
        stored = self._stored.get((source_type, source_id))
        if stored is None or stored.deleted is not None:
            return False
        self._stored[(source_type, source_id)] = replace(stored, deleted=math.floor(now))
        return True

    def erase(self, source_type: str, source_id: str) -> bool:
        """Delete the document; False if there was none."""
        return self._stored.pop((source_type, source_id), None) is not None

    def purge(self, *, before: float) -> int:
        """Delete the documents that were removed before that time; returns how many."""
        expired = [
            key
            for key, stored in self._stored.items()
            if stored.deleted is not None and stored.deleted < math.floor(before)
        ]
        for key in expired:
            del self._stored[key]
        return len(expired)

    def record_sync(self, at: str) -> None:
        """Store when a whole source was compared with the index."""
        self._synced = at

    def followed_history(self) -> tuple[str, str]:
        """The commit up to which the index follows the history, and what was derived from it; empty at first."""
        return self._history

    def follow_history(self, commit: str, derived: str) -> None:
        """Store the commit up to which the index follows the vault's history, and what was derived from it."""
        self._history = commit, derived

    def advance_history(self, before: str, commit: str) -> None:
        """Follow the history up to this commit, if the index followed it up to `before`."""
        if self._history[0] == before:
            self._history = commit, self._history[1]

    def add_past(self, steps: Sequence[PastStep], *, form: str, after: str) -> None:
        """Add commits of the vault's history, oldest first. Raises Conflict unless `after` is the newest one."""
        past = deepcopy(self._past_notes())
        past.add(steps, form=form, after=after)
        self._past = past

    def cut_past(self, number: int) -> None:
        """Forget the commits of the vault's history after that one; everything if one of them erased a note."""
        past = deepcopy(self._past_notes())
        past.cut(number)
        self._past = past

    def optimize(self, *, check: bool = False) -> None:
        """Do nothing: there is no faster form."""

    def damaged_files(self) -> tuple[str, ...]:
        """Nothing: there are no files."""
        return ()

    @contextmanager
    def reader(self) -> Iterator[InMemoryReader]:
        """A reader of the index at this moment."""
        every = [*self._stored.values()]  # at once: another thread may be writing
        live = tuple(stored for stored in every if stored.deleted is None)
        yield InMemoryReader(live, len(every) - len(live), self.linker, self.rules, self._synced, self._past_notes())

    @contextmanager
    def replacement(self) -> Iterator["InMemoryIndex"]:
        """A new, empty index. If the block succeeds it replaces this one."""
        fresh = InMemoryIndex(self.user, self.linker, self.rules, _next_number=self._next_number)
        yield fresh
        self._stored, self._next_number, self._synced = fresh._stored, fresh._next_number, fresh._synced
        self._past = fresh._past
        self._history = fresh._history

    def close(self) -> None:
        """Do nothing: nothing is open."""

    def _past_notes(self) -> PastNotes:
        return self._past or PastNotes(self.rules)

    def _store(self, document: Document, vectors: tuple[VectorRows, ...], *, now: float) -> None:
        numbers = tuple(range(self._next_number, self._next_number + len(document.chunks)))
        self._next_number += len(numbers)
        self._stored[_key(document)] = StoredDocument(replace(document, user=self.user), numbers, vectors, seen=now)

    def _existing(self, source_type: str, source_id: str) -> StoredDocument:
        stored = self._stored.get((source_type, source_id))
        if stored is None:
            raise NotFound(f"{source_id} is not in the index", path=source_id)
        return stored


class InMemoryVectorCache:
    """Vectors that are lost with the process."""

    def __init__(self) -> None:
        self._vectors: dict[tuple[str, str], Fixed] = {}

    def get(self, version: str, hashes: Sequence[str]) -> "Mapping[str, Fixed]":
        """The cached vectors among these, by hash."""
        return {each: self._vectors[version, each] for each in hashes if (version, each) in self._vectors}

    def put(self, version: str, vectors: "Mapping[str, Fixed]") -> None:
        """Cache these vectors."""
        self._vectors |= {(version, each): restore(quantize(vector[None, :]))[0] for each, vector in vectors.items()}

    def forget(self, hashes: Sequence[str]) -> None:
        """Delete the vectors of these texts, of every version."""
        forgotten = set(hashes)
        self._vectors = {key: vector for key, vector in self._vectors.items() if key[1] not in forgotten}

    def check(self) -> None:
        """Do nothing: memory cannot be damaged."""

    def repair(self) -> bool:
        """Return False: memory cannot be damaged."""
        return False

    def drop_unused(self, *, before: date) -> int:
        """Delete nothing: the vectors are lost with the process."""
        return 0

    def size(self) -> int:
        """Return 0: nothing is on disk."""
        return 0

    def close(self) -> None:
        """Do nothing: nothing is open."""


def _key(document: Document) -> tuple[str, str]:
    return document.source_type, document.source_id


def _rows(vectors: "Fixed", *, parts: int) -> VectorRows:
    exact = quantize(vectors)
    coarse = coarsen(QuantizedVectors(exact.rows[parts:], exact.scales[parts:]))
    scales = (*exact.scales[:parts].tolist(), *coarse.scales.tolist())
    return tuple(zip(scales, map(tuple, (*exact.rows[:parts].tolist(), *coarse.rows.tolist())), strict=True))


def _chunk_content(document: Document, stored: StoredDocument) -> list[object]:
    """Words and voices of the document's chunks and, if the stored one is encoded, the texts of their vectors."""
    is_encoded = bool(stored.document.version)
    return [
        (chunk.words, chunk.voice, is_encoded and (len(chunk.parts), vector_texts(chunk))) for chunk in document.chunks
    ]


def _stamp(stored: StoredDocument) -> Stamp:
    document = stored.document
    return Stamp(
        id=document.id,
        content_hash=document.content_hash,
        made_from=document.made_from,
        version=document.version,
        mtime=document.mtime,
        size=document.size,
        seen=stored.seen,
        deleted=stored.deleted is not None,
    )
