"""The history in one SQLite file, and the conversations in files beside it."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Final

import apsw

from commonplace.database import Database
from commonplace.history.base import HistoryLoss
from commonplace.history.sql.conversations import ConversationRecord, add_loss, apply_record, stored_records
from commonplace.history.sql.history import SqlHistory
from commonplace.history.sql.transaction import NO_VALUES, Values, sqlite_statement, sqlite_values
from commonplace.history.sqlite.conversation_files import FOLDER, ConversationFiles, FileSync
from commonplace.history.sqlite.schema import HISTORY_ERRORS, MIGRATIONS

_now: Final = partial(datetime.now, UTC)
_COUNT_ERASED: Final = "SELECT count(*) FROM erased_conversations"


class SqliteTransaction:
    """A transaction on a connection."""

    def __init__(self, connection: apsw.Connection) -> None:
        self.connection = connection

    def rows(self, statement: str, values: Values = NO_VALUES) -> list[Any]:
        """The rows that a statement returns."""
        return self.connection.execute(sqlite_statement(statement), sqlite_values(values)).fetchall()

    def change(self, statement: str, values: Values = NO_VALUES) -> int:
        """Run a statement; returns how many rows it inserted, changed or deleted."""
        before = self.connection.total_changes()
        self.connection.execute(sqlite_statement(statement), sqlite_values(values))
        return self.connection.changes() if self.connection.total_changes() > before else 0

    def change_many(self, statement: str, values: Iterable[Values]) -> None:
        """Run a statement once for each of these values."""
        self.connection.executemany(sqlite_statement(statement), values)

    def each_row(self, statement: str) -> Iterator[tuple[Any, ...]]:
        """The rows that a statement returns, one by one."""
        return self.connection.execute(sqlite_statement(statement))

    def add_rows(self, table: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        """Add many rows to a table."""
        named = ", ".join(f'"{column}"' for column in columns)
        places = ", ".join("?" for _ in columns)
        self.connection.executemany(f"INSERT INTO {table} ({named}) VALUES ({places})", rows)  # noqa: S608


class SqliteHistoryFile:
    """The database of a history in one file."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @contextmanager
    def read_transaction(self) -> Iterator[SqliteTransaction]:
        """Queries that see one state of the file."""
        with self._database.read_transaction() as connection:
            yield SqliteTransaction(connection)

    @contextmanager
    def write_transaction(self) -> Iterator[SqliteTransaction]:
        """The only transaction that writes now; an exception in the block rolls it back."""
        with self._database.write_transaction() as connection:
            yield SqliteTransaction(connection)

    def drop_deleted(self) -> None:
        """Remove what was deleted from free pages and from the log."""
        self._database.vacuum()


class SqliteChange:
    """A write transaction in which records go to the tables and to the files."""

    def __init__(self, connection: apsw.Connection, sync: FileSync) -> None:
        self.connection, self.transaction = connection, SqliteTransaction(connection)
        self._sync = sync

    def keep(self, record: ConversationRecord, *, now: datetime, is_forced: bool = True) -> None:
        """Add a record to the tables and the files; what it erases is removed from the files."""
        self._sync.add(self.connection, record, now=now, is_forced=is_forced)
        if record.erased:
            self._sync.drop_erased(self.connection)


class SqliteHistory(SqlHistory):
    """The history in one file and the conversations beside it, created at first use; many processes may share it.

    `wait` is how many seconds a call waits for a lock before it raises VaultUnavailable(locked). A file that is damaged
    when it is opened is set aside, and a new one is made.
    """

    def __init__(self, file: Path, *, wait: float = 10.0, clock: Callable[[], datetime] = _now) -> None:
        self._files = ConversationFiles(file.parent / FOLDER, wait=wait)
        self._sync = FileSync(self._files, _apply, self._stored, _add_loss, clock)
        self._file = Database(
            file,
            migrations=MIGRATIONS,
            wording=HISTORY_ERRORS,
            wait=wait,
            prepare=self.catch_up_at_opening,
            sets_damage_aside=True,
        )
        super().__init__(SqliteHistoryFile(self._file), clock=clock)

    def forget_path(self, path: str) -> int:
        """Remove every trace of that path, also from free pages, the log and damaged files."""
        removed = super().forget_path(path)
        self._file.drop_damaged()
        return removed

    def forget_conversation(self, id: str) -> bool:
        """Remove the conversation from the files and the tables, also from free pages and the log."""
        if any(record is None for _, record in self._sync.all_records()):
            with self._changing() as change:
                self._sync.restore(change.connection)  # so that no damaged line has words of it
        is_gone = super().forget_conversation(id)
        self._file.drop_damaged()
        return is_gone

    def check(self) -> None:
        """Check every line of the files and every page of the database; what the files lack is written again.

        Others write meanwhile: only what is damaged is mended under the lock.
        """
        with self._file.read_transaction() as connection:
            problems = [said for (said,) in connection.execute("PRAGMA quick_check")]
            if problems != ["ok"]:
                raise apsw.CorruptError(problems[0])
        is_damaged = any(record is None for _, record in self._sync.all_records())
        with self._changing() as change:
            if is_damaged:
                self._sync.restore(change.connection)

    def catch_up_at_opening(self, connection: apsw.Connection) -> None:
        """Bring the tables and the files to the same content, for a connection that was just opened.

        A history that cannot be written is read as it is. Of an erasure that was killed, no trace is left.
        """
        if connection.readonly("main") or self._sync.is_caught_up(connection):
            return
        is_used, erased = self._files.is_used, connection.execute(_COUNT_ERASED).get
        connection.execute("BEGIN IMMEDIATE")
        try:
            with self._files.locked():
                self._sync.catch_up(connection, is_used=is_used)
            connection.execute("COMMIT")
        except BaseException:
            connection.execute("ROLLBACK")
            raise
        if connection.execute(_COUNT_ERASED).get != erased:
            with suppress(apsw.BusyError):
                connection.execute("VACUUM; PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def size(self) -> int:
        """The bytes of the file, its log and the conversation files."""
        return self._file.size() + self._files.size()

    def close(self) -> None:
        """Close the file; the next call opens it again."""
        self._file.close()

    @contextmanager
    def _replacing(self) -> Iterator[SqliteTransaction]:
        """A write transaction without conversation files: what the tables have at its end is written to new ones."""
        with self._file.write_transaction() as connection, self._files.locked():
            self._files.remove()
            yield SqliteTransaction(connection)
            self._sync.restore(connection, is_used=False)

    def _stored(self, connection: apsw.Connection) -> Iterator[ConversationRecord]:
        return stored_records(SqliteTransaction(connection), now=self._clock())

    @contextmanager
    def _changing(self) -> Iterator[SqliteChange]:
        """A write transaction whose tables have what the files have."""
        with self._file.write_transaction() as connection, self._files.locked():
            self._sync.catch_up(connection)
            yield SqliteChange(connection, self._sync)


def _apply(connection: apsw.Connection, record: ConversationRecord) -> bool:
    """Make the tables say what the record says; False if they did."""
    before = connection.total_changes()
    apply_record(SqliteTransaction(connection), record)
    return connection.total_changes() > before


def _add_loss(connection: apsw.Connection, loss: HistoryLoss) -> None:
    add_loss(SqliteTransaction(connection), loss)
