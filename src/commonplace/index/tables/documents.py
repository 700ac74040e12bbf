"""Documents as rows: written with their labels, chunks and vectors, and read back.

All functions that take a connection work inside the caller's transaction.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import chain
from typing import Any, Final, NamedTuple, Protocol

import numpy as np

from commonplace.errors import UsageError
from commonplace.index.base import EncodedDocument, StoredChunk, vector_texts
from commonplace.index.document_values import document_importance, ends_at, entry_fact, fold_label, valid_unicode
from commonplace.index.segments.quantize import Fixed, QuantizedVectors, pack_vectors, quantize
from commonplace.index.segments.segment import body_length, pack_words
from commonplace.index.tables.sql import SqlConnection, first_free_key, insert_rows, json_text
from commonplace.model import Chunk, Document, Problem, Stamp
from commonplace.model.moment import timestamp_text

STORED_CHUNK_COLUMNS: Final = """
c.number, c.chunk_id, c.chunk_index, c.content, c.content_hash, c.heading_path, c.line, c.token_count,
c.voice, c.speaker, c.at,
d.id, d.user_id, d.source_type, d.source_id, d.title, d.uri, d.content_hash, d.made_from, d.embedding_version,
d.created_at, d.updated_at, d.mtime, d.size, d.sensitive, d.kind, d.status, d.place,
d.aliases_json, d.tags_json, d.topics_json, d.problems_json, d.metadata_json, d.valid_from, d.valid_until, d.dated
"""
STAMP_COLUMNS: Final = (
    "source_id, id, content_hash, made_from, embedding_version, mtime, size, seen, deleted_at IS NOT NULL"
)
_HASH_BYTES: Final = 32  # of a sha256
_ADD_LABEL: Final = "INSERT INTO memory_labels (document, field, label) VALUES (?, ?, ?)"
_DELETE_LABELS: Final = "DELETE FROM memory_labels WHERE document = ? AND field <> 'speaker'"
_DELETE_SPEAKERS: Final = "DELETE FROM memory_labels WHERE document = ? AND field = 'speaker'"
_DIMS: Final = "SELECT version, dim FROM memory_encoders"
_ADD_DIM: Final = "INSERT INTO memory_encoders (version, dim) VALUES (?, ?) ON CONFLICT DO NOTHING"
_CHUNK_STATE: Final = """
SELECT w.words, c.voice, v.parts, v.hashes
FROM memory_chunks c JOIN memory_words w USING (number) LEFT JOIN memory_vectors v USING (number)
WHERE c.number >= :first AND c.number < :beyond ORDER BY c.number
"""


class NumberedVectors(NamedTuple):
    """The vectors of a chunk in 8 bits, those of its `parts` first."""

    number: int
    parts: int
    vectors: QuantizedVectors


class PlacedDocument(NamedTuple):
    """A new document with its key, the number of its first chunk, and the vectors of its chunks."""

    document: Document
    key: int
    first: int
    vectors: Sequence[NumberedVectors]


class EngineRows(Protocol):
    """What an engine stores in its own way."""

    def next_number(self, connection: SqlConnection, count: int) -> int:
        """The first of so many new chunk numbers; a number is never used again."""

    def document_columns(self, document: Document) -> Mapping[str, Any]:
        """The columns of a document's row that only this engine has."""

    def store_vectors(self, connection: SqlConnection, placed: Sequence[PlacedDocument]) -> None:
        """Store the vectors of these documents, besides the rows of `memory_vectors`."""


# ---------------------------------------------------------------- writing


def insert_documents(
    connection: SqlConnection, documents: Sequence[EncodedDocument], *, now: float, engine: EngineRows
) -> dict[int, Document]:
    """Insert the rows of new documents, of each table together; returns the documents by key.

    Raises UsageError if the vectors of one do not match its chunks.
    """
    _check_vectors(connection, documents)
    placed = _placed(connection, documents, engine=engine)
    rows = [_document_columns(each.document, now=now) | _place_columns(each, engine) for each in placed]
    insert_rows(connection, "memory_documents", rows)
    labels = [(each.key, *label) for each in placed for label in sorted(_labels(each.document))]
    connection.executemany(_ADD_LABEL, labels)
    connection.executemany(_ADD_LABEL, [row for each in placed for row in _speakers(each.key, each.document.chunks)])
    _insert_chunks(connection, placed, now=now)
    insert_rows(connection, "memory_vectors", [row for each in placed for row in _vector_rows(each)])
    engine.store_vectors(connection, placed)
    return {each.key: each.document for each in placed}


def _placed(
    connection: SqlConnection, documents: Sequence[EncodedDocument], *, engine: EngineRows
) -> list[PlacedDocument]:
    """The documents with the keys and numbers that they get."""
    key = first_free_key(connection, "memory_documents")
    first = engine.next_number(connection, sum(len(document.chunks) for document, _ in documents))
    placed = []
    for place, (document, vectors) in enumerate(documents):
        placed.append(PlacedDocument(document, key + place, first, _quantized(document, vectors, first=first)))
        first += len(document.chunks)
    return placed


def _place_columns(placed: PlacedDocument, engine: EngineRows) -> dict[str, Any]:
    """The columns of a document's row that are about its key, its chunks and their vectors."""
    return {
        **engine.document_columns(placed.document),
        "key": placed.key,
        "embedding_version": placed.document.version,
        "first_chunk": placed.first,
        "chunk_count": len(placed.document.chunks),
        "encoded_count": len(placed.vectors),
        "vector_count": sum(len(each.vectors.rows) for each in placed.vectors),
    }


def _insert_chunks(connection: SqlConnection, placed: Sequence[PlacedDocument], *, now: float) -> None:
    numbered = [
        (number, chunk, each.document)
        for each in placed
        for number, chunk in enumerate(each.document.chunks, start=each.first)
    ]
    created = timestamp_text(now)
    chunks = [
        _chunk_columns(chunk)
        | {
            "number": number,
            "document_id": document.id,
            "user_id": document.user,
            "embedding_version": document.version if vector_texts(chunk) else "",
            "created_at": created,
        }
        for number, chunk, document in numbered
    ]
    words = [
        {"number": number, "length": body_length(chunk.words), "words": pack_words(chunk.words)}
        for number, chunk, _ in numbered
    ]
    insert_rows(connection, "memory_chunks", chunks)
    insert_rows(connection, "memory_words", words)


def _vector_rows(placed: PlacedDocument) -> list[dict[str, Any]]:
    """Which texts have vectors, and the first vector of the document, from which topics are made."""
    held = placed.vectors
    lead = pack_vectors(held[0].vectors)[0] if held else None
    return [
        {
            "number": each.number,
            "embedding_version": placed.document.version,
            "parts": each.parts,
            "sentences": len(each.vectors.rows) - each.parts,
            "hashes": _hashes(placed.document.chunks[each.number - placed.first]),
            "lead": None if position else lead,
        }
        for position, each in enumerate(held)
    ]


def update_document(connection: SqlConnection, key: int, document: Document, *, now: float) -> None:
    """Update the document's row and labels; its chunks and its version stay."""
    columns = _document_columns(document, now=now)
    assignments = ", ".join(f"{name} = :{name}" for name in columns)
    connection.execute(f"UPDATE memory_documents SET {assignments} WHERE key = :key", {**columns, "key": key})  # noqa: S608
    connection.execute(_DELETE_LABELS, (key,))  # speakers come from the chunks, which may be missing here
    connection.executemany(_ADD_LABEL, [(key, *label) for label in sorted(_labels(document))])


def update_chunks(connection: SqlConnection, key: int, chunks: Sequence[Chunk], *, first: int) -> None:
    """Update the rows of the document's chunks, numbered from `first`; their words and vectors stay."""
    connection.execute(_DELETE_SPEAKERS, (key,))
    connection.executemany(_ADD_LABEL, _speakers(key, chunks))
    rows = [{**_chunk_columns(chunk), "number": number} for number, chunk in enumerate(chunks, start=first)]
    if rows:
        assignments = ", ".join(f"{name} = :{name}" for name in rows[0] if name != "number")
        connection.executemany(f"UPDATE memory_chunks SET {assignments} WHERE number = :number", rows)  # noqa: S608


def _document_columns(document: Document, *, now: float) -> dict[str, Any]:
    """The columns of a document's row, without those about its chunks and its key."""
    texts = {
        "id": document.id,
        "user_id": document.user,
        "source_type": document.source_type,
        "source_id": document.source_id,
        "title": document.title,
        "uri": document.uri,
        "content_hash": document.content_hash,
        "made_from": document.made_from,
        "created_at": document.created,
        "updated_at": document.updated,
        "kind": document.kind,
        "status": document.status,
        "valid_from": document.valid_from,
        "valid_until": document.valid_until,
        "ends_at": ends_at(document.valid_until, entry_fact(document), None),
    }
    return {name: valid_unicode(text) for name, text in texts.items()} | {
        "deleted_at": None,
        "mtime": document.mtime,
        "size": document.size,
        "seen": now,
        "dated": int(document.is_dated),
        "sensitive": int(document.sensitive),
        "place": document.place,
        "importance": document_importance(document),
        "aliases_json": json_text(document.aliases),
        "tags_json": json_text(document.tags),
        "topics_json": json_text(document.topics),
        "problems_json": json_text([asdict(problem) for problem in document.problems]),
        "metadata_json": json_text(dict(document.metadata)),
    }


def _chunk_columns(chunk: Chunk) -> dict[str, Any]:
    """The columns of a chunk's row, without its number, document and version."""
    return {
        "chunk_id": chunk.id,
        "chunk_index": chunk.ordinal,
        "content_hash": chunk.hash,
        "heading_path": json_text(chunk.heading_path),
        "line": chunk.line,
        "token_count": chunk.tokens,
        "voice": chunk.voice,
        "speaker": valid_unicode(chunk.speaker),
        "at": valid_unicode(chunk.at),
        "content": valid_unicode(chunk.text),
    }


def _labels(document: Document) -> set[tuple[str, str]]:
    """The labels by which filters find a document: kind, title, topics, tags and their parents."""
    labels = {("kind", fold_label(document.kind)), ("title", fold_label(document.title))}
    labels |= {("topic", fold_label(topic)) for topic in document.topics}
    for tag in document.tags:
        steps = fold_label(tag).split("/")
        labels |= {("tag", "/".join(steps[: depth + 1])) for depth in range(len(steps))}
    return labels


def _speakers(key: int, chunks: Sequence[Chunk]) -> list[tuple[int, str, str]]:
    """The labels of the speakers of the document with that key."""
    names = {valid_unicode(chunk.speaker) for chunk in chunks if chunk.speaker}
    return [(key, "speaker", name) for name in sorted(names)]


def _check_vectors(connection: SqlConnection, documents: Sequence[EncodedDocument]) -> None:
    """Raise UsageError unless each text of each chunk has a vector, as long as all others of that version."""
    for document, vectors in documents:
        _check_count(document, vectors)
    lengths = {(document.version, each.shape[1]) for document, vectors in documents for each in vectors if len(each)}
    for version, dim in sorted(lengths):
        connection.execute(_ADD_DIM, (version, dim))
        check_dim(_known_dims(connection), version, dim)


def _check_count(document: Document, vectors: Sequence[Fixed]) -> None:
    """Raise UsageError unless each text of each chunk has a vector, or the document has no version."""
    if not document.version and not vectors:
        return
    expected = [len(vector_texts(chunk)) for chunk in document.chunks]
    if not document.version or [len(each) for each in vectors] != expected:
        raise UsageError(
            f"the vectors of {document.source_id} do not match its chunks",
            path=document.source_id,
            hint="Give one array for each chunk, with a row for each of its parts and sentences, and the version.",
        )


def _known_dims(connection: SqlConnection) -> dict[str, int]:
    """The length of the vectors of each version."""
    return dict(connection.execute(_DIMS).fetchall())


def check_dim(known: Mapping[str, int], version: str, dim: int) -> None:
    """Raise UsageError if vectors of that version are known to have another length."""
    if known.get(version, dim) != dim:
        raise UsageError(
            f"vectors of {version} have {known[version]} numbers, but this one has {dim}",
            hint="Give each encoder its own name, then run `commonplace rebuild`.",
        )


def _quantized(document: Document, vectors: Sequence[Fixed], *, first: int) -> list[NumberedVectors]:
    """The vectors of each chunk that has any, in 8 bits, quantized together."""
    held = [(number, each) for number, each in enumerate(vectors, start=first) if len(each)]
    if not held:
        return []
    every = quantize(np.concatenate([each for _, each in held]))
    numbered, start = [], 0
    for number, each in held:
        own = slice(start, start + len(each))
        parts = len(document.chunks[number - first].parts)
        numbered.append(NumberedVectors(number, parts, QuantizedVectors(every.rows[own], every.scales[own])))
        start = own.stop
    return numbered


def _hashes(chunk: Chunk) -> bytes:
    return b"".join(hashlib.sha256(text.encode(errors="surrogatepass")).digest() for text in vector_texts(chunk))


# ---------------------------------------------------------------- reading


def has_same_chunks(connection: SqlConnection, document: Document, *, first: int, count: int, version: str) -> bool:
    """True if the stored chunks have the document's words and voices and, if encoded, its parts and sentences."""
    stored = connection.execute(_CHUNK_STATE, {"first": first, "beyond": first + count}).fetchall()
    if len(stored) != len(document.chunks):
        return False
    return all(
        (words, voice) == (pack_words(chunk.words), chunk.voice)
        and (not version or (parts or 0, hashes or b"") == (len(chunk.parts), _hashes(chunk)))
        for (words, voice, parts, hashes), chunk in zip(stored, document.chunks, strict=True)
    )


def stored_hashes(connection: SqlConnection, *, first: int, count: int) -> tuple[str, ...]:
    """The sha256 of each part and sentence of these chunks that has a vector."""
    rows = connection.execute(_CHUNK_STATE, {"first": first, "beyond": first + count})
    return tuple(chain.from_iterable(split_hashes(hashes or b"") for *_, hashes in rows))


def split_hashes(hashes: bytes) -> list[str]:
    """The hashes in a row of `memory_vectors`, each as hexadecimal digits."""
    return [hashes[at : at + _HASH_BYTES].hex() for at in range(0, len(hashes), _HASH_BYTES)]


def stored_chunk(row: Sequence[Any]) -> StoredChunk:
    """The chunk in a row of STORED_CHUNK_COLUMNS; its words, parts and sentences cannot be restored and are empty."""
    number, chunk_id, ordinal, text, hash_, headings, line, tokens, voice, speaker, at, *rest = row
    chunk = Chunk(
        id=chunk_id,
        ordinal=ordinal,
        text=text,
        hash=hash_,
        heading_path=tuple(json.loads(headings)),
        line=line,
        tokens=tokens,
        words={},
        parts=(),
        voice=voice,
        speaker=speaker,
        at=at,
    )
    return StoredChunk(number=number, chunk=chunk, document=_stored_document(rest))


def _stored_document(row: Sequence[Any]) -> Document:
    (*plain, sensitive, kind, status, place, aliases, tags, topics, problems, metadata, begins, ends, dated) = row
    (identity, user, source_type, source_id, title, uri, content_hash, made_from, version) = plain[:9]
    created, updated, mtime, size = plain[9:]
    return Document(
        id=identity,
        user=user,
        source_type=source_type,
        source_id=source_id,
        title=title,
        uri=uri,
        content_hash=content_hash,
        made_from=made_from,
        version=version,
        created=created,
        updated=updated,
        mtime=mtime,
        size=size,
        sensitive=bool(sensitive),
        kind=kind,
        status=status,
        place=place,
        aliases=tuple(json.loads(aliases)),
        tags=tuple(json.loads(tags)),
        topics=tuple(json.loads(topics)),
        links=(),
        problems=problems_of(problems),
        metadata=json.loads(metadata),
        chunks=(),
        valid_from=begins,
        valid_until=ends,
        is_dated=bool(dated),
    )


def stamp_of(row: Sequence[Any]) -> Stamp:
    """The stamp in a row of STAMP_COLUMNS without the first column."""
    identity, content_hash, made_from, version, mtime, size, seen, deleted = row
    return Stamp(
        id=identity,
        content_hash=content_hash,
        made_from=made_from,
        version=version,
        mtime=mtime,
        size=size,
        seen=seen,
        deleted=bool(deleted),
    )


def problems_of(text: str) -> tuple[Problem, ...]:
    """The Problems in a row's `problems_json`."""
    return tuple(Problem(**problem) for problem in json.loads(text))
