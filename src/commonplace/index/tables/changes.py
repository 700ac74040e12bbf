"""How one document is added, changed or removed: its rows, and those of others that depend on it.

`DocumentChanges` works inside the caller's transaction; writers of one index take turns. `SqlIndex` opens the
transactions.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from typing import Any, Final

from commonplace.errors import Conflict, NotFound
from commonplace.index.base import EncodedDocument, Linker, PastStep, Rules
from commonplace.index.document_values import valid_unicode
from commonplace.index.segments.quantize import Fixed
from commonplace.index.tables.documents import (
    STAMP_COLUMNS,
    EngineRows,
    has_same_chunks,
    insert_documents,
    stamp_of,
    stored_hashes,
    update_chunks,
    update_document,
)
from commonplace.index.tables.facts import AffectedFacts, FactTables, TopicContribution, TopicTable
from commonplace.index.tables.links import LinkTables
from commonplace.index.tables.past_lines import PastTables
from commonplace.index.tables.sql import SqlConnection, json_text
from commonplace.model import Document, Stamp
from commonplace.model.moment import timestamp_text

_OF_SOURCE: Final = " FROM memory_documents WHERE user_id = ? AND source_type = ?"
_STAMPS: Final = f"SELECT {STAMP_COLUMNS}{_OF_SOURCE}"
_ROW: Final = (
    "SELECT key, source_id, deleted_at IS NOT NULL, first_chunk, chunk_count, embedding_version, aliases_json,"
    f" made_from{_OF_SOURCE} AND source_id = ?"
)
_STORED: Final = """
SELECT source_id FROM memory_documents
WHERE user_id = :user AND source_type = :source AND source_id IN (SELECT value FROM json_each(:paths)) LIMIT 1
"""
_REMOVE: Final = "UPDATE memory_documents SET deleted_at = ? WHERE key = ?"
_DELETE: Final = "DELETE FROM memory_documents WHERE key = ?"
_PURGED: Final = "SELECT count(*) FROM memory_documents WHERE user_id = ? AND deleted_at < ?"
_PURGE: Final = "DELETE FROM memory_documents WHERE user_id = ? AND deleted_at < ?"
_FORGET_SYNC: Final = "DELETE FROM memory_syncs WHERE user_id = ?"
_SYNC: Final = "INSERT INTO memory_syncs (user_id, at) VALUES (?, ?)"
_HISTORY: Final = "SELECT commit_id, derived FROM memory_history WHERE user_id = ?"
_FORGET_HISTORY: Final = "DELETE FROM memory_history WHERE user_id = ?"
_FOLLOW: Final = "INSERT INTO memory_history (user_id, commit_id, derived) VALUES (?, ?, ?)"
_ADVANCE: Final = "UPDATE memory_history SET commit_id = ? WHERE user_id = ? AND commit_id = ?"


@dataclass(frozen=True, slots=True)
class StoredRow:
    """The row of a document, as far as a change needs it."""

    key: int
    source_id: str
    deleted: int
    first_chunk: int
    chunk_count: int
    version: str
    aliases: str
    made_from: str


@dataclass(frozen=True, slots=True)
class _Before:
    """What facts and topics need to know of a document before it changes."""

    affected: AffectedFacts
    contribution: TopicContribution | None


class DocumentChanges:
    """The documents of one user."""

    def __init__(self, *, user: str, linker: Linker, rules: Rules, engine: EngineRows) -> None:
        self.user = user
        self.links = LinkTables(user=user, linker=linker)
        self.facts = FactTables(user=user, rules=rules)
        self.past = PastTables(rules)
        self._topics = TopicTable(user=user)
        self._engine = engine

    # ------------------------------------------------------------ what is stored

    def stamps(self, connection: SqlConnection, source_type: str) -> Mapping[str, Stamp]:
        """The stamp of every document of a source, including removed ones, by its `source_id`."""
        rows: list[Any] = connection.execute(_STAMPS, (self.user, source_type)).fetchall()
        return {source_id: stamp_of(row) for source_id, *row in rows}

    def stamp(self, connection: SqlConnection, source_type: str, source_id: str) -> Stamp | None:
        """The stamp of one document, or None."""
        values = (self.user, source_type, valid_unicode(source_id))
        row = connection.execute(f"{_STAMPS} AND source_id = ?", values).fetchone()
        return stamp_of(row[1:]) if row else None

    def part_hashes(self, connection: SqlConnection, source_type: str, source_id: str) -> tuple[str, ...]:
        """The sha256 of each text for which the document has a vector, also if removed; () if there is no document."""
        row = self.row(connection, source_type, source_id)
        return stored_hashes(connection, first=row.first_chunk, count=row.chunk_count) if row else ()

    def row(self, connection: SqlConnection, source_type: str, source_id: str) -> StoredRow | None:
        """The row of one document, or None."""
        row = connection.execute(_ROW, (self.user, source_type, valid_unicode(source_id))).fetchone()
        return StoredRow(*row) if row else None

    # ------------------------------------------------------------ one document

    def put(self, connection: SqlConnection, document: Document, vectors: Sequence[Fixed], *, now: float) -> None:
        """Add a document. Raises Conflict if it exists, even removed; UsageError if the vectors do not match."""
        self.put_all(connection, [(document, vectors)], now=now)

    def put_all(self, connection: SqlConnection, documents: Sequence[EncodedDocument], *, now: float) -> None:
        """Add documents. Raises Conflict if one exists, even removed; UsageError if the vectors do not match."""
        self._check_free(connection, [document for document, _ in documents])
        own = [(replace(document, user=self.user), vectors) for document, vectors in documents]
        affected = self.facts.affected_by(connection, [document for document, _ in own])
        by_key = insert_documents(connection, own, now=now, engine=self._engine)
        self.facts.write(connection, by_key)
        self.facts.update(connection, affected)
        for key in (key for key, document in by_key.items() if document.topics):
            self._topics.exchange(connection, None, self._topics.contribution(connection, key))
        self.links.resolve(connection, by_key, self.links.write(connection, by_key))

    def upsert(self, connection: SqlConnection, document: Document, vectors: Sequence[Fixed], *, now: float) -> None:
        """Add or replace a document with its chunks and vectors. Raises UsageError if the vectors do not match."""
        row = self.row(connection, document.source_type, document.source_id)
        self._replace(connection, row, document, vectors, now=now)

    def touch(self, connection: SqlConnection, document: Document, *, now: float) -> None:
        """Update everything but the document's chunks and their version.

        Raises NotFound, or Conflict if the stored chunks were made from something else.
        """
        row = self.row(connection, document.source_type, document.source_id)
        if not row:
            raise _missing(document.source_id)
        if row.made_from != document.made_from:
            raise _changed(row.source_id, document.source_id)
        self._update(connection, row, document, now=now)

    def rename(self, connection: SqlConnection, source_id: str, document: Document, *, now: float) -> None:
        """Give the document at `source_id` the id, path and metadata of this one, and its chunks their new ids.

        Raises NotFound, or Conflict if the path is taken or the chunks differ.
        """
        row = self.row(connection, document.source_type, source_id)
        if not row:
            raise _missing(source_id)
        self._free_path(connection, row, document)
        has_same = has_same_chunks(
            connection, document, first=row.first_chunk, count=row.chunk_count, version=row.version
        )
        if not has_same:
            raise _changed(source_id, document.source_id)
        self._update(connection, row, document, now=now)
        update_chunks(connection, row.key, document.chunks, first=row.first_chunk)

    def remove(self, connection: SqlConnection, source_type: str, source_id: str, *, now: float) -> bool:
        """Hide the document from every query; False if there was none."""
        row = self.row(connection, source_type, source_id)
        if not row or row.deleted:
            return False
        names = self.links.names(connection, row.key)
        before = self._before(connection, row, None)
        connection.execute(_REMOVE, (timestamp_text(now), row.key))
        connection.execute("DELETE FROM memory_names WHERE document = ?", (row.key,))
        self.facts.delete(connection, row.key)
        self._after(connection, row.key, before)
        self.links.resolve(connection, [], names)
        return True

    def delete(self, connection: SqlConnection, key: int) -> None:
        """Delete the rows of a document; the facts and links of others must not depend on it any more."""
        connection.execute(_DELETE, (key,))

    def purge(self, connection: SqlConnection, *, before: float) -> int:
        """Delete the documents that were removed before that time; returns how many."""
        values = (self.user, timestamp_text(before))
        count: int = connection.execute(_PURGED, values).fetchone()[0]
        if count:
            connection.execute(_PURGE, values)
        return count

    # ------------------------------------------------------------ the whole index

    def record_sync(self, connection: SqlConnection, at: str) -> None:
        """Store when a whole source was compared with the index."""
        connection.execute(_FORGET_SYNC, (self.user,))
        connection.execute(_SYNC, (self.user, at))

    def followed_history(self, connection: SqlConnection) -> tuple[str, str]:
        """The commit up to which the index follows the history, and what was derived from it; empty at first."""
        row = connection.execute(_HISTORY, (self.user,)).fetchone()
        return (row[0], row[1]) if row else ("", "")

    def follow_history(self, connection: SqlConnection, commit: str, derived: str) -> None:
        """Store the commit up to which the index follows the vault's history, and what was derived from it."""
        connection.execute(_FORGET_HISTORY, (self.user,))
        connection.execute(_FOLLOW, (self.user, commit, derived))

    def advance_history(self, connection: SqlConnection, before: str, commit: str) -> None:
        """Follow the history up to this commit, if the index followed it up to `before`."""
        connection.execute(_ADVANCE, (commit, self.user, before))

    def add_past(self, connection: SqlConnection, steps: Sequence[PastStep], *, form: str, after: str) -> None:
        """Add commits of the vault's history, oldest first. Raises Conflict unless `after` is the newest one."""
        self.past.add(connection, steps, form=form, after=after)

    def cut_past(self, connection: SqlConnection, number: int) -> None:
        """Forget the commits of the vault's history after that one; everything if one of them erased a note."""
        self.past.cut(connection, number)

    # ------------------------------------------------------------ steps of a change

    def _replace(
        self,
        connection: SqlConnection,
        row: StoredRow | None,
        document: Document,
        vectors: Sequence[Fixed],
        *,
        now: float,
    ) -> None:
        names = self.links.names(connection, row.key) if row else frozenset()
        before, own = self._before(connection, row, document), replace(document, user=self.user)
        if row:
            self.delete(connection, row.key)
        (key,) = insert_documents(connection, [(own, vectors)], now=now, engine=self._engine)
        self.facts.write(connection, {key: own})
        self._after(connection, key, before)
        self._link(connection, key, document, row=row, before=names)

    def _update(self, connection: SqlConnection, row: StoredRow, document: Document, *, now: float) -> None:
        names = self.links.names(connection, row.key)
        before, own = self._before(connection, row, document), replace(document, user=self.user)
        update_document(connection, row.key, own, now=now)
        self.facts.delete(connection, row.key)
        self.facts.write(connection, {row.key: own})
        self._after(connection, row.key, before)
        self._link(connection, row.key, document, row=row, before=names)

    def _before(self, connection: SqlConnection, row: StoredRow | None, document: Document | None) -> _Before:
        """The state of facts and topics before this document replaces the stored one."""
        key = row.key if row else None
        return _Before(self.facts.affected(connection, key, document), self._topics.contribution(connection, key))

    def _after(self, connection: SqlConnection, key: int, before: _Before) -> None:
        """Update facts and topics to what they would be if the document had always been as it is now."""
        self.facts.update(connection, before.affected)
        self._topics.exchange(connection, before.contribution, self._topics.contribution(connection, key))

    def _link(
        self,
        connection: SqlConnection,
        key: int,
        document: Document,
        *,
        row: StoredRow | None,
        before: frozenset[str],
    ) -> None:
        """Resolve the document's links, and other links whose target may have changed with its names."""
        self.links.delete(connection, key)
        names = self.links.write(connection, {key: document})
        is_unchanged = row and row.source_id == document.source_id and row.aliases == json_text(document.aliases)
        self.links.resolve(connection, [key], before ^ names if is_unchanged else before | names)

    def _check_free(self, connection: SqlConnection, documents: Sequence[Document]) -> None:
        """Raise Conflict if one of the documents is stored, or given twice."""
        paths: dict[str, set[str]] = {}
        for document in documents:
            of_source, path = paths.setdefault(document.source_type, set()), valid_unicode(document.source_id)
            if path in of_source:
                raise _taken(path)
            of_source.add(path)
        for source_type, of_source in paths.items():
            values = {"user": self.user, "source": source_type, "paths": json_text(sorted(of_source))}
            if row := connection.execute(_STORED, values).fetchone():
                raise _taken(row[0])

    def _free_path(self, connection: SqlConnection, row: StoredRow, document: Document) -> None:
        """Delete a removed document at the document's new path. Raises Conflict if there is one that is not removed."""
        other = self.row(connection, document.source_type, document.source_id)
        if other is None or other.key == row.key:
            return
        if not other.deleted:
            raise _taken(document.source_id)
        self.delete(connection, other.key)


class SqlIndex(ABC):
    """The part of `Index` that is the same in every engine: each change is one transaction."""

    def __init__(self, changes: DocumentChanges) -> None:
        self._changes = changes

    @abstractmethod
    def _reading(self) -> AbstractContextManager[SqlConnection]:
        """A connection that sees the index at one moment."""

    @abstractmethod
    def _writing(self) -> AbstractContextManager[SqlConnection]:
        """A connection in a write transaction."""

    @abstractmethod
    def _record_change(self, connection: SqlConnection) -> None:
        """Tell every process that what it has in memory is of an earlier state."""

    @contextmanager
    def _change(self) -> Iterator[SqlConnection]:
        with self._writing() as connection:
            yield connection
            self._record_change(connection)

    def stamps(self, source_type: str) -> Mapping[str, Stamp]:
        """The stamp of every document of a source, including removed ones, by its `source_id`."""
        with self._reading() as connection:
            return self._changes.stamps(connection, source_type)

    def stamp(self, source_type: str, source_id: str) -> Stamp | None:
        """The stamp of one document, or None."""
        with self._reading() as connection:
            return self._changes.stamp(connection, source_type, source_id)

    def part_hashes(self, source_type: str, source_id: str) -> tuple[str, ...]:
        """The sha256 of each text for which the document has a vector, also if removed; () if there is no document."""
        with self._reading() as connection:
            return self._changes.part_hashes(connection, source_type, source_id)

    def put(self, document: Document, vectors: Sequence[Fixed], *, now: float) -> None:
        """Add a document. Raises Conflict if it exists, even removed; UsageError if the vectors do not match."""
        with self._change() as connection:
            self._changes.put(connection, document, vectors, now=now)

    def put_all(self, documents: Sequence[EncodedDocument], *, now: float) -> None:
        """Add documents. Raises Conflict if one exists, even removed; UsageError if the vectors do not match."""
        with self._change() as connection:
            self._changes.put_all(connection, documents, now=now)

    def upsert(self, document: Document, vectors: Sequence[Fixed], *, now: float) -> None:
        """Add or replace a document with its chunks and vectors. Raises UsageError if the vectors do not match."""
        with self._change() as connection:
            self._changes.upsert(connection, document, vectors, now=now)

    def touch(self, document: Document, *, now: float) -> None:
        """Update everything but the document's chunks and their version. Raises NotFound and Conflict."""
        with self._change() as connection:
            self._changes.touch(connection, document, now=now)

    def rename(self, source_id: str, document: Document, *, now: float) -> None:
        """Give the document at `source_id` the id, path and metadata of this one. Raises NotFound and Conflict."""
        with self._change() as connection:
            self._changes.rename(connection, source_id, document, now=now)

    def remove(self, source_type: str, source_id: str, *, now: float) -> bool:
        """Hide the document from every query; False if there was none."""
        with self._change() as connection:
            return self._changes.remove(connection, source_type, source_id, now=now)

    def purge(self, *, before: float) -> int:
        """Delete the documents that were removed before that time; returns how many."""
        with self._writing() as connection:
            deleted = self._changes.purge(connection, before=before)
            if deleted:
                self._record_change(connection)
        return deleted

    def record_sync(self, at: str) -> None:
        """Store when a whole source was compared with the index."""
        with self._writing() as connection:
            self._changes.record_sync(connection, at)

    def followed_history(self) -> tuple[str, str]:
        """The commit up to which the index follows the history, and what was derived from it; empty at first."""
        with self._reading() as connection:
            return self._changes.followed_history(connection)

    def follow_history(self, commit: str, derived: str) -> None:
        """Store the commit up to which the index follows the vault's history, and what was derived from it."""
        with self._writing() as connection:
            self._changes.follow_history(connection, commit, derived)

    def advance_history(self, before: str, commit: str) -> None:
        """Follow the history up to this commit, if the index followed it up to `before`."""
        with self._writing() as connection:
            self._changes.advance_history(connection, before, commit)

    def add_past(self, steps: Sequence[PastStep], *, form: str, after: str) -> None:
        """Add commits of the vault's history, oldest first. Raises Conflict unless `after` is the newest one."""
        with self._writing() as connection:
            self._changes.add_past(connection, steps, form=form, after=after)

    def cut_past(self, number: int) -> None:
        """Forget the commits of the vault's history after that one; everything if one of them erased a note."""
        with self._writing() as connection:
            self._changes.cut_past(connection, number)


def _taken(path: str) -> Conflict:
    return Conflict(f"{path} is already in the index", path=path, hint="Read it again and replace it instead.")


def _changed(old: str, path: str) -> Conflict:
    return Conflict(f"{path} does not have the same chunks as {old}", path=path, hint="Replace it instead.")


def _missing(path: str) -> NotFound:
    return NotFound(f"{path} is not in the index", path=path, hint="Add it instead.")
