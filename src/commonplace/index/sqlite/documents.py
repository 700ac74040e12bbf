"""Documents written as rows, with their labels, chunks and vectors, all inside the caller's transaction."""

import hashlib
from collections.abc import Sequence
from typing import Any, Final

import apsw
import numpy as np

from commonplace.errors import UsageError
from commonplace.index.sqlite.rows import chunk_columns, document_columns, labels_of, text_of_time
from commonplace.index.sqlite.segment import Fixed
from commonplace.model import Chunk, Document

_NEXT: Final = "SELECT coalesce(max(seq), 0) + 1 FROM sqlite_sequence WHERE name = 'memory_chunks'"
_ADD_LABEL: Final = "INSERT INTO memory_labels (document, field, label) VALUES (?, ?, ?)"
_ADD_VECTORS: Final = (
    "INSERT INTO memory_vectors (number, embedding_version, parts, hashes, vectors) VALUES (?, ?, ?, ?, ?)"
)
_KEEP_DIM: Final = "INSERT INTO memory_encoders (version, dim) VALUES (?, ?) ON CONFLICT DO NOTHING"
_STORED: Final = """
SELECT c.words, v.hashes FROM memory_chunks c LEFT JOIN memory_vectors v USING (number)
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
    key: int = connection.execute(_insertion("memory_documents", columns) + " RETURNING key", columns).get
    connection.executemany(_ADD_LABEL, ((key, *label) for label in sorted(labels_of(document))))
    for place, chunk in enumerate(document.chunks):
        _insert_chunk(connection, first + place, document, chunk, vectors[place] if vectors else None, now=now)
    return key


def update_document(connection: apsw.Connection, key: int, document: Document, *, now: float) -> None:
    """Bring the document's row and labels up to date; its chunks and its version stay."""
    columns = document_columns(document, now=now)
    setting = ", ".join(f"{name} = :{name}" for name in columns)
    connection.execute(f"UPDATE memory_documents SET {setting} WHERE key = :key", {**columns, "key": key})  # noqa: S608
    connection.execute("DELETE FROM memory_labels WHERE document = ?", (key,))
    connection.executemany(_ADD_LABEL, ((key, *label) for label in sorted(labels_of(document))))


def update_chunks(connection: apsw.Connection, first: int, chunks: Sequence[Chunk]) -> None:
    """Give the chunks from that number on what these say; their words and vectors are the same."""
    for place, chunk in enumerate(chunks):
        columns = chunk_columns(chunk)
        setting = ", ".join(f"{name} = :{name}" for name in columns)
        values = {**columns, "number": first + place}
        connection.execute(f"UPDATE memory_chunks SET {setting} WHERE number = :number", values)  # noqa: S608


def has_same_chunks(connection: apsw.Connection, document: Document, *, first: int, count: int, version: str) -> bool:
    """Whether the chunks kept there have the words of this document's, and if they are encoded, its parts."""
    stored = connection.execute(_STORED, {"first": first, "count": count}).fetchall()
    if len(stored) != len(document.chunks):
        return False
    return all(
        words == chunk_columns(chunk)["words"] and (not version or (hashes or b"") == _hashes(chunk))
        for (words, hashes), chunk in zip(stored, document.chunks, strict=True)
    )


def stored_hashes(connection: apsw.Connection, *, first: int, count: int) -> tuple[str, ...]:
    """The hash of each part of these chunks that has a vector."""
    rows = connection.execute(_STORED, {"first": first, "count": count})
    every = b"".join(hashes or b"" for _, hashes in rows)
    return tuple(every[at : at + 32].hex() for at in range(0, len(every), 32))


def check_vectors(connection: apsw.Connection, document: Document, vectors: Sequence[Fixed]) -> None:
    """Raise UsageError unless there is a row for each part of each chunk, as long as all others of that version."""
    if not document.version and not vectors:
        return
    if not document.version or [len(each) for each in vectors] != [len(chunk.parts) for chunk in document.chunks]:
        raise UsageError(
            f"{document.source_id} comes with vectors that do not fit its chunks",
            path=document.source_id,
            hint="Give one array for each chunk, with a row for each of its parts, and the encoder's version.",
        )
    for dim in {each.shape[1] for each in vectors if len(each)}:
        connection.execute(_KEEP_DIM, (document.version, dim))
        check_dim(connection, document.version, dim)


def check_dim(connection: apsw.Connection, version: str, dim: int) -> None:
    """Raise UsageError when vectors of that version are not as long as this."""
    known: int | None = connection.execute("SELECT dim FROM memory_encoders WHERE version = ?", (version,)).get
    if known not in (None, dim):
        raise UsageError(
            f"a vector of {version} has {known} numbers, and this one {dim}",
            hint="Use one name for one encoder; then run `commonplace rebuild`.",
        )


def _insert_chunk(
    connection: apsw.Connection, number: int, document: Document, chunk: Chunk, vectors: Fixed | None, *, now: float
) -> None:
    is_encoded = vectors is not None and len(vectors) > 0
    columns = chunk_columns(chunk) | {
        "number": number,
        "document_id": document.id,
        "user_id": document.user,
        "embedding_version": document.version if is_encoded else "",
        "created_at": text_of_time(now),
    }
    connection.execute(_insertion("memory_chunks", columns), columns)
    if vectors is not None and is_encoded:
        blob = np.ascontiguousarray(vectors, "<i2").tobytes()
        connection.execute(_ADD_VECTORS, (number, document.version, len(vectors), _hashes(chunk), blob))


def _insertion(table: str, columns: dict[str, Any]) -> str:
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join(f':{name}' for name in columns)})"  # noqa: S608


def _hashes(chunk: Chunk) -> bytes:
    return b"".join(hashlib.sha256(part.encode(errors="surrogatepass")).digest() for part in chunk.parts)
