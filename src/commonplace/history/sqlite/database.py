"""The file `history.db`: opened at first use, brought up to date, and changed by one process at a time.

A write-ahead log lets readers read while one process writes. What is deleted is overwritten.
A killed process loses nothing; a power cut can lose the last rows, whole, and `recover` adds them from git's commits.
"""

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import apsw

from commonplace.history.sqlite.migrations import MIGRATIONS
from commonplace.history.sqlite.trouble import database_trouble, locked, too_new

_PRAGMAS: Final = (
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = NORMAL",  # 0.04 ms a row where FULL takes 4: the change itself is fsynced by git already
    "PRAGMA foreign_keys = ON",
    "PRAGMA secure_delete = ON",
    "PRAGMA temp_store = MEMORY",  # VACUUM copies everything: not into a folder that others use
)
_PAUSE: Final = 0.01


class Database:
    """One connection, shared by the threads of this process in turns."""

    def __init__(self, file: Path, *, wait: float) -> None:
        self._file = file
        self._wait = wait
        self._turn = threading.Lock()
        self._connection: apsw.Connection | None = None

    @contextmanager
    def reading(self) -> Iterator[apsw.Connection]:
        """The connection, for one query. Raises VaultUnavailable."""
        with self._turn, database_trouble(self._file):
            yield self._opened()

    @contextmanager
    def changing(self) -> Iterator[apsw.Connection]:
        """The connection inside a write transaction: an exception takes all of it back. Raises VaultUnavailable."""
        with self._turn, database_trouble(self._file):
            connection = self._opened()
            with _write_transaction(connection):
                yield connection

    def scrub(self) -> None:
        """Write the file anew without what was deleted, and empty the log. Raises VaultUnavailable."""
        with self._turn, database_trouble(self._file):
            connection = self._opened()
            connection.execute("VACUUM")
            busy = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").get[0]
            if busy:
                raise locked(self._file)

    def close(self) -> None:
        """Close the connection; the next use opens another."""
        with self._turn, database_trouble(self._file):
            if self._connection:
                self._connection.close()
                self._connection = None

    def _opened(self) -> apsw.Connection:
        if self._connection is None:
            _make_private(self._file)
            self._connection = self._connect()
        return self._connection

    def _connect(self) -> apsw.Connection:
        connection = apsw.Connection(str(self._file))
        try:
            connection.set_busy_timeout(round(self._wait * 1000))
            _set_up(connection, until=time.monotonic() + self._wait)
            self._migrate(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _migrate(self, connection: apsw.Connection) -> None:
        """Take the steps that the file has not taken; of several processes one takes them and the others wait."""
        if _steps_taken(connection) == len(MIGRATIONS):
            return
        with _write_transaction(connection):
            taken = _steps_taken(connection)
            if taken > len(MIGRATIONS):
                raise too_new(self._file, steps=taken, known=len(MIGRATIONS))
            for step in MIGRATIONS[taken:]:
                connection.execute(step)
            connection.pragma("user_version", len(MIGRATIONS))


@contextmanager
def _write_transaction(connection: apsw.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _make_private(file: Path) -> None:
    """Create the file for its owner alone. One that is there is not opened: closing it again would drop its locks."""
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not file.exists():
        with suppress(FileExistsError):
            os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))


def _set_up(connection: apsw.Connection, *, until: float) -> None:
    """Switching to the log fails at once, whatever the busy timeout, when another process is switching too."""
    while True:
        try:
            for pragma in _PRAGMAS:
                connection.execute(pragma)
        except apsw.BusyError:
            if time.monotonic() > until:
                raise
            time.sleep(_PAUSE)
        else:
            return


def _steps_taken(connection: apsw.Connection) -> int:
    return int(connection.pragma("user_version"))
