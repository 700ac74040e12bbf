"""`Index` in memory: what is written."""

import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from commonplace.errors import Conflict, NotFound, UsageError
from commonplace.index.base import Linker, Rules, vector_texts
from commonplace.index.inmemory.entry import Entry, Rows
from commonplace.index.inmemory.reading import InMemoryReading
from commonplace.index.shrinking import shrink
from commonplace.model import Document, Stamp

if TYPE_CHECKING:
    from commonplace.index.base import Fixed


@dataclass(slots=True)
class InMemoryIndex:
    """An index that is gone with the process. Threads may read while one writes."""

    user: str
    linker: Linker
    rules: Rules
    _entries: dict[tuple[str, str], Entry] = field(default_factory=dict)
    _next: int = 1
    _synced: str | None = None

    def stamps(self, source_type: str) -> Mapping[str, Stamp]:
        """What is remembered of every document of a source, the removed ones too."""
        return {path: _stamp(entry) for (source, path), entry in [*self._entries.items()] if source == source_type}

    def stamp(self, source_type: str, source_id: str) -> Stamp | None:
        """The same for one document."""
        entry = self._entries.get((source_type, source_id))
        return _stamp(entry) if entry else None

    def part_hashes(self, source_type: str, source_id: str) -> tuple[str, ...]:
        """The sha256 of each text of which the document has a vector, a removed one too; () when it is not there."""
        entry = self._entries.get((source_type, source_id))
        chunks = entry.document.chunks if entry and entry.document.version else ()
        texts = (text for chunk in chunks for text in vector_texts(chunk))
        return tuple(hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest() for text in texts)

    def put(self, document: Document, vectors: "Sequence[Fixed]", *, now: float) -> None:
        """Add a document that is not there yet. Raises Conflict when it is."""
        if _key(document) in self._entries:
            raise Conflict(f"{document.source_id} is in the index already", path=document.source_id)
        self.upsert(document, vectors, now=now)

    def upsert(self, document: Document, vectors: "Sequence[Fixed]", *, now: float) -> None:
        """Add a document or replace it. Raises UsageError when the vectors do not fit."""
        rows = tuple(map(_rows, vectors))
        if document.version or rows:
            fits = [len(each) for each in rows] == [len(vector_texts(chunk)) for chunk in document.chunks]
            if not (fits and document.version):
                raise UsageError(f"{document.source_id} comes with vectors that do not fit its chunks")
        self._keep(document, rows or ((),) * len(document.chunks), now=now)

    def touch(self, document: Document, *, now: float) -> None:
        """Bring a document up to date in everything but its chunks. Raises NotFound, and Conflict for other chunks."""
        entry = self._entry(document.source_type, document.source_id)
        if entry.document.made_from != document.made_from:
            raise Conflict(f"{document.source_id} has other chunks", path=document.source_id)
        kept = replace(document, user=self.user, chunks=entry.document.chunks, version=entry.document.version)
        self._entries[_key(document)] = replace(entry, document=kept, seen=now, deleted=None)

    def rename(self, source_id: str, document: Document, *, now: float) -> None:
        """Give the document at `source_id` the id, path and particulars of this one, and its chunks their new ids.

        Raises NotFound, and Conflict when the path is taken or the chunks are others.
        """
        entry = self._entry(document.source_type, source_id)
        other = self._entries.get(_key(document))
        if other and other is not entry and other.deleted is None:
            raise Conflict(f"{document.source_id} is in the index already", path=document.source_id)
        if _gist(document, entry) != _gist(entry.document, entry):
            raise Conflict(
                f"{document.source_id} has other chunks than {source_id}",
                path=document.source_id,
                hint="Replace it instead.",
            )
        del self._entries[(document.source_type, source_id)]
        self._keep(replace(document, version=entry.document.version), entry.vectors, now=now)

    def remove(self, source_type: str, source_id: str, *, now: float) -> bool:
        """Let nothing find the document any more; whether it was there."""
        entry = self._entries.get((source_type, source_id))
        if entry is None or entry.deleted is not None:
            return False
        self._entries[(source_type, source_id)] = replace(entry, deleted=math.floor(now))
        return True

    def erase(self, source_type: str, source_id: str) -> bool:
        """Forget the document; whether it was there."""
        return self._entries.pop((source_type, source_id), None) is not None

    def purge(self, *, before: float) -> int:
        """Drop the documents that were removed before that moment; how many."""
        gone = [
            key
            for key, entry in self._entries.items()
            if entry.deleted is not None and entry.deleted < math.floor(before)
        ]
        for key in gone:
            del self._entries[key]
        return len(gone)

    def mark_synced(self, at: str) -> None:
        """Remember when a whole source was compared with the index."""
        self._synced = at

    def settle(self) -> None:
        """Nothing is faster here."""

    @contextmanager
    def reading(self) -> Iterator[InMemoryReading]:
        """A look at the index at this moment."""
        every = [*self._entries.values()]  # at once: another thread may be writing
        live = tuple(entry for entry in every if entry.deleted is None)
        yield InMemoryReading(live, len(every) - len(live), self.linker, self.rules, self._synced)

    @contextmanager
    def rebuilding(self) -> Iterator["InMemoryIndex"]:
        """A new, empty index. When the block ends well it takes the place of this one."""
        fresh = InMemoryIndex(self.user, self.linker, self.rules, _next=self._next)
        yield fresh
        self._entries, self._next, self._synced = fresh._entries, fresh._next, fresh._synced

    def close(self) -> None:
        """Nothing is open."""

    def _keep(self, document: Document, vectors: tuple[Rows, ...], *, now: float) -> None:
        numbers = tuple(range(self._next, self._next + len(document.chunks)))
        self._next += len(numbers)
        self._entries[_key(document)] = Entry(replace(document, user=self.user), numbers, vectors, seen=now)

    def _entry(self, source_type: str, source_id: str) -> Entry:
        entry = self._entries.get((source_type, source_id))
        if entry is None:
            raise NotFound(f"{source_id} is not in the index", path=source_id)
        return entry


def _key(document: Document) -> tuple[str, str]:
    return document.source_type, document.source_id


def _rows(vectors: "Fixed") -> Rows:
    shrunk = shrink(vectors)
    return tuple(zip(shrunk.scales.tolist(), map(tuple, shrunk.rows.tolist()), strict=True))


def _gist(document: Document, entry: Entry) -> list[object]:
    """Words and voices of the chunks, and the texts of vectors if those of the entry are encoded."""
    is_encoded = bool(entry.document.version)
    return [
        (chunk.words, chunk.voice, is_encoded and (len(chunk.parts), vector_texts(chunk))) for chunk in document.chunks
    ]


def _stamp(entry: Entry) -> Stamp:
    document = entry.document
    return Stamp(
        id=document.id,
        content_hash=document.content_hash,
        made_from=document.made_from,
        version=document.version,
        mtime=document.mtime,
        size=document.size,
        seen=entry.seen,
        deleted=entry.deleted is not None,
    )
