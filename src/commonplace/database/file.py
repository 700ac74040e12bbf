"""A SQLite file: opened at first use, brought up to date, read by many at once and changed by one at a time.

A write-ahead log lets readers read while one process writes. What is deleted is overwritten.
A killed process loses nothing; a power cut can lose the last rows, whole.
"""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import apsw

from commonplace.database.connect import Identity, Opened, connect, identity_of, write_transaction
from commonplace.database.trouble import Wording, database_trouble, locked, sqlite_trouble


class Database:
    """One file. Its threads read side by side and write in turns; so do the processes that share it.

    `migrations` are its numbered steps, `wait` is how many seconds a call waits for its turn. Every method raises
    VaultUnavailable when the file cannot be used now, and what the `wording` says when it is damaged or too new.
    """

    def __init__(self, file: Path, *, migrations: Sequence[str], wording: Wording, wait: float) -> None:
        self._file = file
        self._migrations = migrations
        self._wording = wording
        self._wait = wait
        self._writing = threading.Lock()
        self._idle: list[Opened] = []

    @contextmanager
    def reading(self) -> Iterator[apsw.Connection]:
        """A connection that sees the file as it is at its first query, whatever others write meanwhile."""
        with sqlite_trouble(self._file, self._wording), self._borrowed() as (_, connection):
            connection.execute("BEGIN")
            yield connection
            connection.execute("COMMIT")

    @contextmanager
    def changing(self) -> Iterator[apsw.Connection]:
        """A connection inside a write transaction: an exception takes all of it back."""
        with sqlite_trouble(self._file, self._wording), self._writing, self._writable() as connection:
            yield connection

    def scrub(self) -> None:
        """Write the file anew without what was deleted, and empty the log."""
        with sqlite_trouble(self._file, self._wording), self._writing, self._borrowed() as (_, connection):
            connection.execute("VACUUM")
            busy = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").get[0]
            if busy:
                raise locked(self._file, self._wording)

    def close(self) -> None:
        """Close what is open and not in use; the next use opens it again."""
        with sqlite_trouble(self._file, self._wording):
            while idle := self._take_idle():
                idle[1].close()

    @contextmanager
    def _writable(self) -> Iterator[apsw.Connection]:
        """A connection in a write transaction; another one when the file was replaced while this one waited for it."""
        while True:
            with self._borrowed() as (file, connection), write_transaction(connection):
                if file == self._identity():
                    yield connection
                    return

    @contextmanager
    def _borrowed(self) -> Iterator[Opened]:
        """A connection for one use; one that met an error is not used again."""
        opened = self._opened()
        try:
            yield opened
        except BaseException:
            opened[1].close()
            raise
        self._idle.append(opened)

    def _opened(self) -> Opened:
        """An idle connection or a new one; those to a file that was replaced since are closed."""
        now = self._identity()
        while idle := self._take_idle():
            if idle[0] == now:
                return idle
            idle[1].close()
        with database_trouble(self._file, self._wording):
            return connect(self._file, migrations=self._migrations, wording=self._wording, wait=self._wait)

    def _identity(self) -> Identity:
        with database_trouble(self._file, self._wording):
            return identity_of(self._file)

    def _take_idle(self) -> Opened | None:
        with suppress(IndexError):  # another thread may take the last one at this moment
            return self._idle.pop()
        return None
