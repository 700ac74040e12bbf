"""Documents written as rows, with their labels, chunks and vectors, all inside the caller's transaction."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Final

import apsw
import numpy as np

from commonplace.errors import UsageError
from commonplace.index.base import vector_texts
from commonplace.index.shrinking import Fixed, Shrunk, shrink
from commonplace.index.sqlite.rows import (
    chunk_columns,
    document_columns,
    insertion,
    labels_of,
    speakers_of,
    text_of_time,
)
from commonplace.index.sqlite.words import pack_words
from commonplace.model import Chunk, Document

_NEXT: Final = "SELECT coalesce(max(seq), 0) + 1 FROM sqlite_sequence WHERE name = 'memory_chunks'"
_ADD_LABEL: Final = "INSERT INTO memory_labels (document, field, label) VALUES (?, ?, ?)"
_DROP_LABELS: Final = "DELETE FROM memory_labels WHERE document = ? AND (field = 'speaker') = ?"
_ADD_VECTORS: Final = """
INSERT INTO memory_vectors (number, embedding_version, parts, sentences, hashes, scales, vectors)
VALUES (?, ?, ?, ?, ?, ?, ?)
"""
_DIMS: Final = "SELECT version, dim FROM memory_encoders"
_KEEP_DIM: Final = "INSERT INTO memory_encoders (version, dim) VALUES (?, ?) ON CONFLICT DO NOTHING"
_STORED: Final = """
SELECT c.words, c.voice, v.parts, v.hashes FROM memory_chunks c LEFT JOIN memory_vectors v USING (number)
WHERE c.number >= :first AND c.number < :first + :count ORDER BY c.number
"""


def insert_document(connection: apsw.Connection, document: Document, vectors: Sequence[Fixed], *, now: float) -> int:
    """Add the rows of a document that has none; its key comes back."""
    check_vectors(connection, document, vectors)
    first: int = connection.execute(_NEXT).get
    columns = document_columns(document, now=now) | {
        "embedding_version": document.version,
        "first_chunk": first,
        "chunk_count": len(document.chunks),
        "encoded_count": sum(1 for each in vectors if len(each)),
        "vector_count": sum(len(each) for each in vectors),
    }
    key: int = connection.execute(insertion("memory_documents", columns) + " RETURNING key", columns).get
    connection.executemany(_ADD_LABEL, ((key, *label) for label in sorted(labels_of(document))))
    _add_speakers(connection, key, document.chunks)
    shrunk = _shrunk(vectors) if vectors else [None] * len(document.chunks)
    for place, chunk in enumerate(document.chunks):
        _insert_chunk(connection, first + place, document, chunk, shrunk[place], now=now)
    return key


def update_document(connection: apsw.Connection, key: int, document: Document, *, now: float) -> None:
    """Bring the document's row and labels up to date; its chunks and its version stay."""
    columns = document_columns(document, now=now)
    setting = ", ".join(f"{name} = :{name}" for name in columns)
    connection.execute(f"UPDATE memory_documents SET {setting} WHERE key = :key", {**columns, "key": key})  # noqa: S608
    connection.execute(_DROP_LABELS, (key, False))  # who speaks is told by the chunks, which may not be given
    connection.executemany(_ADD_LABEL, ((key, *label) for label in sorted(labels_of(document))))


def update_chunks(connection: apsw.Connection, key: int, chunks: Sequence[Chunk], *, first: int) -> None:
    """Give the document's chunks, from that number on, what these say; their words and vectors are the same."""
    connection.execute(_DROP_LABELS, (key, True))
    _add_speakers(connection, key, chunks)
    for place, chunk in enumerate(chunks):
        columns = chunk_columns(chunk)
        setting = ", ".join(f"{name} = :{name}" for name in columns)
        values = {**columns, "number": first + place}
        connection.execute(f"UPDATE memory_chunks SET {setting} WHERE number = :number", values)  # noqa: S608


def has_same_chunks(connection: apsw.Connection, document: Document, *, first: int, count: int, version: str) -> bool:
    """Whether the chunks kept there have words and voice of this document's; if encoded, its parts and sentences."""
    stored = connection.execute(_STORED, {"first": first, "count": count}).fetchall()
    if len(stored) != len(document.chunks):
        return False
    return all(
        (words, voice) == (pack_words(chunk.words), chunk.voice)
        and (not version or (parts or 0, hashes or b"") == (len(chunk.parts), _hashes(chunk)))
        for (words, voice, parts, hashes), chunk in zip(stored, document.chunks, strict=True)
    )


def stored_hashes(connection: apsw.Connection, *, first: int, count: int) -> tuple[str, ...]:
    """The hash of each part and sentence of these chunks that has a vector."""
    rows = connection.execute(_STORED, {"first": first, "count": count})
    every = b"".join(hashes or b"" for *_, hashes in rows)
    return tuple(every[at : at + 32].hex() for at in range(0, len(every), 32))


def check_vectors(connection: apsw.Connection, document: Document, vectors: Sequence[Fixed]) -> None:
    """Raise UsageError unless there is a row for each text of each chunk, as long as all others of that version."""
    if not document.version and not vectors:
        return
    wanted = [len(vector_texts(chunk)) for chunk in document.chunks]
    if not document.version or [len(each) for each in vectors] != wanted:
        raise UsageError(
            f"{document.source_id} comes with vectors that do not fit its chunks",
            path=document.source_id,
            hint="Give one array for each chunk, with a row for each of its parts and sentences, and the version.",
        )
    for dim in {each.shape[1] for each in vectors if len(each)}:
        connection.execute(_KEEP_DIM, (document.version, dim))
        check_dim(known_dims(connection), document.version, dim)


def known_dims(connection: apsw.Connection) -> dict[str, int]:
    """How long the vectors of each version are."""
    return dict(connection.execute(_DIMS))


def check_dim(known: Mapping[str, int], version: str, dim: int) -> None:
    """Raise UsageError when vectors of that version are known not to be as long as this."""
    if known.get(version, dim) != dim:
        raise UsageError(
            f"a vector of {version} has {known[version]} numbers, and this one {dim}",
            hint="Use one name for one encoder; then run `commonplace rebuild`.",
        )


def _shrunk(vectors: Sequence[Fixed]) -> list[Shrunk | None]:
    """The vectors of each chunk in 8 bits, made at once; None where a chunk has none."""
    held = [each for each in vectors if len(each)]
    every = shrink(np.concatenate(held)) if held else None
    found: list[Shrunk | None] = []
    start = 0
    for each in vectors:
        own = slice(start, start + len(each))
        found.append(Shrunk(every.rows[own], every.scales[own]) if every and len(each) else None)
        start = own.stop
    return found


def _add_speakers(connection: apsw.Connection, key: int, chunks: Sequence[Chunk]) -> None:
    connection.executemany(_ADD_LABEL, ((key, "speaker", name) for name in sorted(speakers_of(chunks))))


def _insert_chunk(
    connection: apsw.Connection, number: int, document: Document, chunk: Chunk, vectors: Shrunk | None, *, now: float
) -> None:
    columns = chunk_columns(chunk) | {
        "number": number,
        "document_id": document.id,
        "user_id": document.user,
        "embedding_version": document.version if vectors else "",
        "created_at": text_of_time(now),
    }
    connection.execute(insertion("memory_chunks", columns), columns)
    if vectors:
        counts = (len(chunk.parts), len(chunk.sentences))
        blobs = (_hashes(chunk), vectors.scales.astype("<f4").tobytes(), vectors.rows.tobytes())
        connection.execute(_ADD_VECTORS, (number, document.version, *counts, *blobs))


def _hashes(chunk: Chunk) -> bytes:
    return b"".join(hashlib.sha256(text.encode(errors="surrogatepass")).digest() for text in vector_texts(chunk))
