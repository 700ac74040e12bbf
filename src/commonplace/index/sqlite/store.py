"""`Index` in SQL: every change is one transaction."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final

import apsw

from commonplace.database import Database
from commonplace.database.errors import damaged_error, translate_row_errors
from commonplace.errors import IndexDamaged
from commonplace.index.base import Linker, Rules, VectorCache
from commonplace.index.segments.quantize import stored_bytes
from commonplace.index.segments.segment_file import MAX_SEGMENT_CHUNKS, MIN_SEGMENT_CHUNKS
from commonplace.index.sqlite.maintenance import BUMP_GENERATION, SegmentMaintenance, replace_index
from commonplace.index.sqlite.queries import SqliteReader
from commonplace.index.sqlite.schema import MIGRATIONS
from commonplace.index.sqlite.snapshots import Snapshot, SnapshotCache
from commonplace.index.tables.changes import DocumentChanges, SqlIndex
from commonplace.index.tables.documents import PlacedDocument
from commonplace.index.tables.facts import fact_of
from commonplace.index.tables.sql import INDEX_ERRORS, SqlConnection
from commonplace.model import Document

_NEXT_NUMBER: Final = "SELECT coalesce(max(seq), 0) + 1 FROM sqlite_sequence WHERE name = 'memory_chunks'"
_ADD_NEW_VECTORS: Final = "INSERT INTO memory_new_vectors (number, scales, vectors) VALUES (?, ?, ?)"
_SNAPSHOT_TRIES: Final = 5
_ROOM: Final = "commonplace.index"


class SqliteIndex(SqlIndex):
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
        self._database = Database(file, migrations=MIGRATIONS, wording=INDEX_ERRORS, wait=wait)
        super().__init__(DocumentChanges(user=user, linker=linker, rules=rules, engine=_SqliteRows()))
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

    def erase(self, source_type: str, source_id: str) -> bool:
        """Delete every trace of the document from every file of the index; False if there was none."""
        self.remove(source_type, source_id, now=0.0)
        with self._reading() as connection:
            row = self._changes.row(connection, source_type, source_id)
        with self._damage_told():
            self._segments.erase(row.key if row else None)  # a purged document may still be in a segment
        self._snapshots.clear()
        fact_of.cache_clear()
        self._database.vacuum()
        return row is not None

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
        transaction, connection, snapshot = self._opened_snapshot()
        repair = self._snapshots.without_damaged
        with transaction:
            yield SqliteReader(
                connection, snapshot, links=self._changes.links, facts=self._changes.facts, without_damaged=repair
            )

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
        segments, changes = self._segments, self._changes
        return SqliteIndex(
            path,
            user=changes.user,
            linker=changes.links.linker,
            rules=changes.facts.rules,
            cache=segments.cache,
            wait=segments.wait,
            min_chunks=segments.min_chunks,
            max_chunks=segments.max_chunks,
        )

    def _opened_snapshot(self) -> tuple[ExitStack, apsw.Connection, Snapshot]:
        """A read transaction, its connection and its snapshot; opened again if the index was replaced meanwhile."""
        while True:
            with ExitStack() as stack:
                connection = stack.enter_context(self._reading())
                if snapshot := self._snapshot(connection):
                    return stack.pop_all(), connection, snapshot

    def _snapshot(self, connection: apsw.Connection) -> Snapshot | None:
        """The snapshot of the connection's transaction, which is restarted if segment files were just replaced.

        None if another process replaced the whole index, and has deleted its segment files.
        """
        try:
            for _ in range(_SNAPSHOT_TRIES):
                if snapshot := self._snapshots.at(connection):
                    return snapshot
                if self._is_replaced(connection):
                    return None
                connection.execute("COMMIT; BEGIN")
            return self._snapshots.from_rows(connection)
        except IndexDamaged:
            if self._is_replaced(connection):
                return None
            raise

    def _is_replaced(self, connection: apsw.Connection) -> bool:
        """True if the connection is to a file that is not the index any more."""
        return Path(connection.filename).name != self._file.resolve().name

    @contextmanager
    def _reading(self) -> Iterator[apsw.Connection]:
        with self._damage_told(), self._database.read_transaction() as connection:
            yield connection

    @contextmanager
    def _writing(self) -> Iterator[apsw.Connection]:
        with self._damage_told(), self._database.write_transaction() as connection:
            yield connection

    def _record_change(self, connection: SqlConnection) -> None:
        connection.execute(BUMP_GENERATION)

    def _damage_told(self) -> AbstractContextManager[None]:
        return translate_row_errors(self._file, INDEX_ERRORS, room=_ROOM)


class _SqliteRows:
    """What only a SQLite file has."""

    def next_number(self, connection: SqlConnection, count: int) -> int:
        """The number after every number that any chunk ever had."""
        number: int = connection.execute(_NEXT_NUMBER).fetchone()[0]
        return number

    def document_columns(self, document: Document) -> Mapping[str, Any]:
        """No columns of its own."""
        return {}

    def store_vectors(self, connection: SqlConnection, placed: Sequence[PlacedDocument]) -> None:
        """Store vectors as rows; the next segment takes them over."""
        vectors = [each for document in placed for each in document.vectors]
        rows = [(each.number, *stored_bytes(each.vectors, parts=each.parts)) for each in vectors]
        connection.executemany(_ADD_NEW_VECTORS, rows)
