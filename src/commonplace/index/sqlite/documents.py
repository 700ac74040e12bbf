"""Documents as rows: written with their labels, chunks and vectors, and read back.

All functions that take a connection work inside the caller's transaction.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import chain
from typing import Any, Final

import apsw
import numpy as np

from commonplace.errors import UsageError
from commonplace.index.base import StoredChunk, vector_texts
from commonplace.index.document_values import document_importance, ends_at, entry_fact, fold_label, valid_unicode
from commonplace.index.segments.quantize import Fixed, QuantizedVectors, pack_vectors, quantize, stored_bytes
from commonplace.index.segments.segment import body_length, pack_words
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
_NEXT_NUMBER: Final = "SELECT coalesce(max(seq), 0) + 1 FROM sqlite_sequence WHERE name = 'memory_chunks'"
_ADD_LABEL: Final = "INSERT INTO memory_labels (document, field, label) VALUES (?, ?, ?)"
_DELETE_LABELS: Final = "DELETE FROM memory_labels WHERE document = ? AND (field = 'speaker') = ?"
_ADD_WORDS: Final = "INSERT INTO memory_words (number, length, words) VALUES (?, ?, ?)"
_ADD_VECTORS: Final = """
INSERT INTO memory_vectors (number, embedding_version, parts, sentences, hashes, lead) VALUES (?, ?, ?, ?, ?, ?)
"""
_ADD_NEW_VECTORS: Final = "INSERT INTO memory_new_vectors (number, scales, vectors) VALUES (?, ?, ?)"
_DIMS: Final = "SELECT version, dim FROM memory_encoders"
_ADD_DIM: Final = "INSERT INTO memory_encoders (version, dim) VALUES (?, ?) ON CONFLICT DO NOTHING"
_CHUNK_STATE: Final = """
SELECT w.words, c.voice, v.parts, v.hashes
FROM memory_chunks c JOIN memory_words w USING (number) LEFT JOIN memory_vectors v USING (number)
WHERE c.number >= :first AND c.number < :first + :count ORDER BY c.number
"""


def json_text(value: object) -> str:
    """The value as JSON, its text made valid Unicode."""
    return valid_unicode(json.dumps(value, ensure_ascii=False))


def insertion(table: str, columns: Mapping[str, Any]) -> str:
    """The statement that inserts a row with these columns, each bound by its name."""
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join(f':{name}' for name in columns)})"  # noqa: S608


# ---------------------------------------------------------------- writing


def insert_document(connection: apsw.Connection, document: Document, vectors: Sequence[Fixed], *, now: float) -> int:
    """Insert the rows of a new document; returns its key. Raises UsageError if the vectors do not match its chunks."""
    _check_vectors(connection, document, vectors)
    first: int = connection.execute(_NEXT_NUMBER).get
    columns = _document_columns(document, now=now) | {
        "embedding_version": document.version,
        "first_chunk": first,
        "chunk_count": len(document.chunks),
        "encoded_count": sum(1 for each in vectors if len(each)),
        "vector_count": sum(len(each) for each in vectors),
    }
    key: int = connection.execute(insertion("memory_documents", columns) + " RETURNING key", columns).get
    connection.executemany(_ADD_LABEL, ((key, *label) for label in sorted(_labels(document))))
    _add_speakers(connection, key, document.chunks)
    for number, chunk in enumerate(document.chunks, start=first):
        _insert_chunk(connection, number, document, chunk, now=now)
    _insert_vectors(connection, document, _quantized(vectors), first=first)
    return key


def _insert_chunk(
    connection: apsw.Connection,
    number: int,
    document: Document,
    chunk: Chunk,
    *,
    now: float,
) -> None:
    columns = _chunk_columns(chunk) | {
        "number": number,
        "document_id": document.id,
        "user_id": document.user,
        "embedding_version": document.version if vector_texts(chunk) else "",
        "created_at": timestamp_text(now),
    }
    connection.execute(insertion("memory_chunks", columns), columns)
    connection.execute(_ADD_WORDS, (number, body_length(chunk.words), pack_words(chunk.words)))


def _insert_vectors(
    connection: apsw.Connection, document: Document, vectors: Sequence[QuantizedVectors | None], *, first: int
) -> None:
    """Insert the vectors of the document's chunks, numbered from `first`. The next segment takes them over."""
    lead = next((pack_vectors(each)[0] for each in vectors if each), None)
    for number, (chunk, own) in enumerate(zip(document.chunks, vectors, strict=False), start=first):
        if own:
            counts = (len(chunk.parts), len(chunk.sentences))
            connection.execute(_ADD_VECTORS, (number, document.version, *counts, _hashes(chunk), lead))
            connection.execute(_ADD_NEW_VECTORS, (number, *stored_bytes(own, parts=len(chunk.parts))))
            lead = None


def update_document(connection: apsw.Connection, key: int, document: Document, *, now: float) -> None:
    """Update the document's row and labels; its chunks and its version stay."""
    columns = _document_columns(document, now=now)
    assignments = ", ".join(f"{name} = :{name}" for name in columns)
    connection.execute(f"UPDATE memory_documents SET {assignments} WHERE key = :key", {**columns, "key": key})  # noqa: S608
    connection.execute(_DELETE_LABELS, (key, False))  # speakers come from the chunks, which may be missing here
    connection.executemany(_ADD_LABEL, ((key, *label) for label in sorted(_labels(document))))


def update_chunks(connection: apsw.Connection, key: int, chunks: Sequence[Chunk], *, first: int) -> None:
    """Update the rows of the document's chunks, numbered from `first`; their words and vectors stay."""
    connection.execute(_DELETE_LABELS, (key, True))
    _add_speakers(connection, key, chunks)
    for place, chunk in enumerate(chunks):
        columns = _chunk_columns(chunk)
        assignments = ", ".join(f"{name} = :{name}" for name in columns)
        values = {**columns, "number": first + place}
        connection.execute(f"UPDATE memory_chunks SET {assignments} WHERE number = :number", values)  # noqa: S608


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


def _add_speakers(connection: apsw.Connection, key: int, chunks: Sequence[Chunk]) -> None:
    names = {valid_unicode(chunk.speaker) for chunk in chunks if chunk.speaker}
    connection.executemany(_ADD_LABEL, ((key, "speaker", name) for name in sorted(names)))


def _check_vectors(connection: apsw.Connection, document: Document, vectors: Sequence[Fixed]) -> None:
    """Raise UsageError unless each text of each chunk has a vector, as long as all others of that version."""
    if not document.version and not vectors:
        return
    expected = [len(vector_texts(chunk)) for chunk in document.chunks]
    if not document.version or [len(each) for each in vectors] != expected:
        raise UsageError(
            f"the vectors of {document.source_id} do not match its chunks",
            path=document.source_id,
            hint="Give one array for each chunk, with a row for each of its parts and sentences, and the version.",
        )
    for dim in {each.shape[1] for each in vectors if len(each)}:
        connection.execute(_ADD_DIM, (document.version, dim))
        check_dim(_known_dims(connection), document.version, dim)


def _known_dims(connection: apsw.Connection) -> dict[str, int]:
    """The length of the vectors of each version."""
    return dict(connection.execute(_DIMS))


def check_dim(known: Mapping[str, int], version: str, dim: int) -> None:
    """Raise UsageError if vectors of that version are known to have another length."""
    if known.get(version, dim) != dim:
        raise UsageError(
            f"vectors of {version} have {known[version]} numbers, but this one has {dim}",
            hint="Give each encoder its own name, then run `commonplace rebuild`.",
        )


def _quantized(vectors: Sequence[Fixed]) -> list[QuantizedVectors | None]:
    """The vectors of each chunk in 8 bits, quantized together; None for a chunk without vectors."""
    held = [each for each in vectors if len(each)]
    every = quantize(np.concatenate(held)) if held else None
    by_chunk: list[QuantizedVectors | None] = []
    start = 0
    for each in vectors:
        own = slice(start, start + len(each))
        by_chunk.append(QuantizedVectors(every.rows[own], every.scales[own]) if every and len(each) else None)
        start = own.stop
    return by_chunk


def _hashes(chunk: Chunk) -> bytes:
    return b"".join(hashlib.sha256(text.encode(errors="surrogatepass")).digest() for text in vector_texts(chunk))


# ---------------------------------------------------------------- reading


def has_same_chunks(connection: apsw.Connection, document: Document, *, first: int, count: int, version: str) -> bool:
    """True if the stored chunks have the document's words and voices and, if encoded, its parts and sentences."""
    stored = connection.execute(_CHUNK_STATE, {"first": first, "count": count}).fetchall()
    if len(stored) != len(document.chunks):
        return False
    return all(
        (words, voice) == (pack_words(chunk.words), chunk.voice)
        and (not version or (parts or 0, hashes or b"") == (len(chunk.parts), _hashes(chunk)))
        for (words, voice, parts, hashes), chunk in zip(stored, document.chunks, strict=True)
    )


def stored_hashes(connection: apsw.Connection, *, first: int, count: int) -> tuple[str, ...]:
    """The sha256 of each part and sentence of these chunks that has a vector."""
    rows = connection.execute(_CHUNK_STATE, {"first": first, "count": count})
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
