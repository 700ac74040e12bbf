"""`Index` in SQL: every change is one transaction."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import apsw

from commonplace.database import Database
from commonplace.database.errors import damaged_error, translate_row_errors
from commonplace.errors import Conflict, NotFound
from commonplace.index.base import Linker, PastStep, Rules, VectorCache
from commonplace.index.document_values import valid_unicode
from commonplace.index.segments.quantize import Fixed
from commonplace.index.segments.segment_file import MAX_SEGMENT_CHUNKS, MIN_SEGMENT_CHUNKS
from commonplace.index.sqlite.documents import (
    STAMP_COLUMNS,
    has_same_chunks,
    insert_document,
    json_text,
    stamp_of,
    stored_hashes,
    update_chunks,
    update_document,
)
from commonplace.index.sqlite.facts import AffectedFacts, FactTables, TopicContribution, TopicTable, fact_of
from commonplace.index.sqlite.links import LinkTables
from commonplace.index.sqlite.maintenance import BUMP_GENERATION, SegmentMaintenance, replace_index
from commonplace.index.sqlite.past_lines import PastTables
from commonplace.index.sqlite.queries import SqliteReader
from commonplace.index.sqlite.schema import INDEX_ERRORS, MIGRATIONS
from commonplace.index.sqlite.snapshots import Snapshot, SnapshotCache
from commonplace.model import Document, Stamp
from commonplace.model.moment import timestamp_text

_OF_SOURCE: Final = " FROM memory_documents WHERE user_id = ? AND source_type = ?"
_STAMPS: Final = f"SELECT {STAMP_COLUMNS}{_OF_SOURCE}"
_ROW: Final = (
    "SELECT key, source_id, deleted_at IS NOT NULL, first_chunk, chunk_count, embedding_version, aliases_json,"
    f" made_from{_OF_SOURCE} AND source_id = ?"
)
_REMOVE: Final = "UPDATE memory_documents SET deleted_at = ? WHERE key = ?"
_DELETE: Final = "DELETE FROM memory_documents WHERE key = ?"
_PURGE: Final = "DELETE FROM memory_documents WHERE user_id = ? AND deleted_at < ?"
_SYNC: Final = "INSERT INTO memory_syncs (user_id, at) VALUES (?, ?) ON CONFLICT DO UPDATE SET at = excluded.at"
_HISTORY: Final = "SELECT commit_id, derived FROM memory_history WHERE user_id = ?"
_FOLLOW: Final = """
INSERT INTO memory_history (user_id, commit_id, derived) VALUES (?, ?, ?)
ON CONFLICT DO UPDATE SET commit_id = excluded.commit_id, derived = excluded.derived
"""
_ADVANCE: Final = "UPDATE memory_history SET commit_id = ? WHERE user_id = ? AND commit_id = ?"
_SNAPSHOT_TRIES: Final = 5
_ROOM: Final = "commonplace.index"


@dataclass(frozen=True, slots=True)
class _StoredRow:
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


class SqliteIndex:
    """The index of one user in one file, created at first use; any number of processes may share it.

    `cache` has the vectors of texts, for the case that a segment file is damaged.
    `wait` is how many seconds a change waits for a lock before it raises VaultUnavailable(locked).
    `min_chunks` and `max_chunks` bound the size of a segment.
    """

    def __init__(
        self,
        file: Path,
        *,
        user: str,
        linker: Linker,
        rules: Rules,
        cache: VectorCache | None = None,
        wait: float = 10.0,
        min_chunks: int = MIN_SEGMENT_CHUNKS,
        max_chunks: int = MAX_SEGMENT_CHUNKS,
    ) -> None:
        self._file = file
        self._user = user
        self._database = Database(file, migrations=MIGRATIONS, wording=INDEX_ERRORS, wait=wait)
        self._links = LinkTables(user=user, linker=linker)
        self._facts = FactTables(user=user, rules=rules)
        self._topics = TopicTable(user=user)
        self._snapshots = SnapshotCache(cache)
        self._segments = SegmentMaintenance(
            file,
            self._database,
            cache,
            min_chunks=min_chunks,
            max_chunks=max_chunks,
            wait=wait,
            damaged=self._snapshots.damaged,
        )

    def stamps(self, source_type: str) -> Mapping[str, Stamp]:
        """The stamp of every document of a source, including removed ones, by its `source_id`."""
        with self._reading() as connection:
            rows: list[Any] = connection.execute(_STAMPS, (self._user, source_type)).fetchall()
        return {source_id: stamp_of(row) for source_id, *row in rows}

    def stamp(self, source_type: str, source_id: str) -> Stamp | None:
        """The stamp of one document, or None."""
        with self._reading() as connection:
            values = (self._user, source_type, valid_unicode(source_id))
            row = connection.execute(f"{_STAMPS} AND source_id = ?", values).fetchone()
        return stamp_of(row[1:]) if row else None

    def part_hashes(self, source_type: str, source_id: str) -> tuple[str, ...]:
        """The sha256 of each text for which the document has a vector, also if removed; () if there is no document."""
        with self._reading() as connection:
            row = self._row(connection, source_type, source_id)
            return stored_hashes(connection, first=row.first_chunk, count=row.chunk_count) if row else ()

    def put(self, document: Document, vectors: Sequence[Fixed], *, now: float) -> None:
        """Add a document. Raises Conflict if it exists, even removed; UsageError if the vectors do not match."""
        with self._change() as connection:
            if self._row(connection, document.source_type, document.source_id):
                raise _taken(document.source_id)
            self._replace(connection, None, document, vectors, now=now)

    def upsert(self, document: Document, vectors: Sequence[Fixed], *, now: float) -> None:
        """Add or replace a document with its chunks and vectors. Raises UsageError if the vectors do not match."""
        with self._change() as connection:
            row = self._row(connection, document.source_type, document.source_id)
            self._replace(connection, row, document, vectors, now=now)

    def touch(self, document: Document, *, now: float) -> None:
        """Update everything but the document's chunks and their version.

        Raises NotFound, or Conflict if the stored chunks were made from something else.
        """
        with self._change() as connection:
            row = self._row(connection, document.source_type, document.source_id)
            if not row:
                raise _missing(document.source_id)
            if row.made_from != document.made_from:
                raise _changed(row.source_id, document.source_id)
            self._update(connection, row, document, now=now)

    def rename(self, source_id: str, document: Document, *, now: float) -> None:
        """Give the document at `source_id` the id, path and metadata of this one, and its chunks their new ids.

        Raises NotFound, or Conflict if the path is taken or the chunks differ.
        """
        with self._change() as connection:
            row = self._row(connection, document.source_type, source_id)
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

    def remove(self, source_type: str, source_id: str, *, now: float) -> bool:
        """Hide the document from every query; False if there was none."""
        with self._change() as connection:
            row = self._row(connection, source_type, source_id)
            if not row or row.deleted:
                return False
            names = self._links.names(connection, row.key)
            before = self._before(connection, row, None)
            connection.execute(_REMOVE, (timestamp_text(now), row.key))
            connection.execute("DELETE FROM memory_names WHERE document = ?", (row.key,))
            self._facts.delete(connection, row.key)
            self._after(connection, row.key, before)
            self._links.resolve(connection, None, names)
        return True

    def erase(self, source_type: str, source_id: str) -> bool:
        """Delete every trace of the document from every file of the index; False if there was none."""
        self.remove(source_type, source_id, now=0.0)
        with self._reading() as connection:
            row = self._row(connection, source_type, source_id)
        with self._damage_told():
            self._segments.erase(_DELETE, row.key if row else None)  # a purged document may still be in a segment
        self._snapshots.clear()
        fact_of.cache_clear()
        self._database.vacuum()
        return row is not None

    def purge(self, *, before: float) -> int:
        """Delete the documents that were removed before that time; returns how many."""
        with self._writing() as connection:
            connection.execute(_PURGE, (self._user, timestamp_text(before)))
            deleted = connection.changes()
            if deleted:
                connection.execute(BUMP_GENERATION)
        return deleted

    def record_sync(self, at: str) -> None:
        """Store when a whole source was compared with the index."""
        with self._writing() as connection:
            connection.execute(_SYNC, (self._user, at))

    def followed_history(self) -> tuple[str, str]:
        """The commit up to which the index follows the history, and what was derived from it; empty at first."""
        with self._reading() as connection:
            row = connection.execute(_HISTORY, (self._user,)).fetchone()
        return (row[0], row[1]) if row else ("", "")

    def follow_history(self, commit: str, derived: str) -> None:
        """Store the commit up to which the index follows the vault's history, and what was derived from it."""
        with self._writing() as connection:
            connection.execute(_FOLLOW, (self._user, commit, derived))

    def advance_history(self, before: str, commit: str) -> None:
        """Follow the history up to this commit, if the index followed it up to `before`."""
        with self._writing() as connection:
            connection.execute(_ADVANCE, (commit, self._user, before))

    def add_past(self, steps: Sequence[PastStep], *, form: str, after: str) -> None:
        """Add commits of the vault's history, oldest first. Raises Conflict unless `after` is the newest one."""
        with self._writing() as connection:
            PastTables(self._facts.rules).add(connection, steps, form=form, after=after)

    def cut_past(self, number: int) -> None:
        """Forget the commits of the vault's history after that one; everything if one of them erased a note."""
        with self._writing() as connection:
            PastTables(self._facts.rules).cut(connection, number)

    def optimize(self, *, check: bool = False) -> None:
        """Write recent changes to segments, if it is worth the work; rewrite segments that are known to be damaged.

        With `check`, the files are read to find out.
        """
        with self._damage_told():
            self._segments.optimize(check=check)

    def damaged_files(self) -> tuple[str, ...]:
        """The names of the segment files that are not as they were written; reads every file.

        Raises IndexDamaged, and VaultUnavailable if nothing can be written.
        """
        self._database.require_writable()
        with self._reading() as connection:
            said: str = connection.execute("PRAGMA quick_check(1)").get
        if said != "ok":
            raise damaged_error(self._file, INDEX_ERRORS, f"is damaged ({said})")
        with self._damage_told():
            return self._segments.find_damaged()

    @contextmanager
    def reader(self) -> Iterator[SqliteReader]:
        """A reader of the index at this moment."""
        with self._reading() as connection:
            snapshot = self._snapshot(connection)
            repair = self._snapshots.without_damaged
            yield SqliteReader(connection, snapshot, links=self._links, facts=self._facts, without_damaged=repair)

    @contextmanager
    def replacement(self) -> Iterator["SqliteIndex"]:
        """A new, empty index. If the block succeeds it replaces this one, for every process."""
        with replace_index(self._file, self._database, wait=self._segments.wait) as path:
            fresh = self._like(path)
            yield fresh
            fresh.optimize()
            fresh.close()
        self.close()

    def close(self) -> None:
        """Close the file and unmap the segments; the next call opens them again."""
        self._snapshots.clear()
        self._database.close()

    def _like(self, path: Path) -> "SqliteIndex":
        """An index in another file with the settings of this one."""
        segments = self._segments
        return SqliteIndex(
            path,
            user=self._user,
            linker=self._links.linker,
            rules=self._facts.rules,
            cache=segments.cache,
            wait=segments.wait,
            min_chunks=segments.min_chunks,
            max_chunks=segments.max_chunks,
        )

    def _snapshot(self, connection: apsw.Connection) -> Snapshot:
        """The snapshot of the connection's transaction, which is restarted if segment files were just replaced."""
        for _ in range(_SNAPSHOT_TRIES):
            snapshot = self._snapshots.at(connection)
            if snapshot:
                return snapshot
            connection.execute("COMMIT; BEGIN")
        return self._snapshots.from_rows(connection)

    @contextmanager
    def _reading(self) -> Iterator[apsw.Connection]:
        with self._damage_told(), self._database.read_transaction() as connection:
            yield connection

    @contextmanager
    def _writing(self) -> Iterator[apsw.Connection]:
        with self._damage_told(), self._database.write_transaction() as connection:
            yield connection

    @contextmanager
    def _change(self) -> Iterator[apsw.Connection]:
        with self._writing() as connection:
            yield connection
            connection.execute(BUMP_GENERATION)

    def _damage_told(self) -> AbstractContextManager[None]:
        return translate_row_errors(self._file, INDEX_ERRORS, room=_ROOM)

    def _row(self, connection: apsw.Connection, source_type: str, source_id: str) -> _StoredRow | None:
        row = connection.execute(_ROW, (self._user, source_type, valid_unicode(source_id))).fetchone()
        return _StoredRow(*row) if row else None

    def _replace(
        self,
        connection: apsw.Connection,
        row: _StoredRow | None,
        document: Document,
        vectors: Sequence[Fixed],
        *,
        now: float,
    ) -> None:
        names = self._links.names(connection, row.key) if row else frozenset()
        before, own = self._before(connection, row, document), replace(document, user=self._user)
        if row:
            connection.execute(_DELETE, (row.key,))
        key = insert_document(connection, own, vectors, now=now)
        self._facts.write(connection, key, own)
        self._after(connection, key, before)
        self._link(connection, key, document, row=row, before=names)

    def _update(self, connection: apsw.Connection, row: _StoredRow, document: Document, *, now: float) -> None:
        names = self._links.names(connection, row.key)
        before, own = self._before(connection, row, document), replace(document, user=self._user)
        update_document(connection, row.key, own, now=now)
        self._facts.write(connection, row.key, own)
        self._after(connection, row.key, before)
        self._link(connection, row.key, document, row=row, before=names)

    def _before(self, connection: apsw.Connection, row: _StoredRow | None, document: Document | None) -> _Before:
        """The state of facts and topics before this document replaces the stored one."""
        key = row.key if row else None
        return _Before(self._facts.affected(connection, key, document), self._topics.contribution(connection, key))

    def _after(self, connection: apsw.Connection, key: int, before: _Before) -> None:
        """Update facts and topics to what they would be if the document had always been as it is now."""
        self._facts.update(connection, before.affected)
        self._topics.exchange(connection, before.contribution, self._topics.contribution(connection, key))

    def _link(
        self,
        connection: apsw.Connection,
        key: int,
        document: Document,
        *,
        row: _StoredRow | None,
        before: frozenset[str],
    ) -> None:
        """Resolve the document's links, and other links whose target may have changed with its names."""
        names = self._links.write(connection, key, document)
        is_unchanged = row and row.source_id == document.source_id and row.aliases == json_text(document.aliases)
        self._links.resolve(connection, key, before ^ names if is_unchanged else before | names)

    def _free_path(self, connection: apsw.Connection, row: _StoredRow, document: Document) -> None:
        """Delete a removed document at the document's new path. Raises Conflict if there is one that is not removed."""
        other = self._row(connection, document.source_type, document.source_id)
        if other is None or other.key == row.key:
            return
        if not other.deleted:
            raise _taken(document.source_id)
        connection.execute(_DELETE, (other.key,))


def _taken(path: str) -> Conflict:
    return Conflict(f"{path} is already in the index", path=path, hint="Read it again and replace it instead.")


def _changed(old: str, path: str) -> Conflict:
    return Conflict(f"{path} does not have the same chunks as {old}", path=path, hint="Replace it instead.")


def _missing(path: str) -> NotFound:
    return NotFound(f"{path} is not in the index", path=path, hint="Add it instead.")
