"""A SQLite file of ours: opened at first use, migrated, read by many at once and written by one at a time.

A write-ahead log lets readers read while one process writes. Deleted data is overwritten.
A killed process loses nothing; a power cut can lose the last transactions, never part of one.
"""

import fcntl
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import apsw

from commonplace.database.errors import (
    ErrorWording,
    locked_error,
    too_new_error,
    translate_errors,
    translate_sqlite_errors,
)
from commonplace.events import emit

_PRAGMAS: Final = (
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = NORMAL",  # 0.04 ms per row instead of 4 with FULL: a power cut may lose the last rows, whole
    "PRAGMA foreign_keys = ON",
    "PRAGMA secure_delete = ON",
    "PRAGMA journal_size_limit = 4000000",  # bytes to which a log is cut when it begins anew; else it keeps its largest
    "PRAGMA temp_store = MEMORY",  # VACUUM copies everything: not into a folder that others can read
)
_BUSY_PAUSE: Final = 0.01  # seconds
_LOCK_PAUSE: Final = 0.02
_RETURN_PAGES: Final = "PRAGMA auto_vacuum = INCREMENTAL"  # counts for a new file, and from the next VACUUM on
_INCREMENTAL: Final = 2  # what `PRAGMA auto_vacuum` answers
_FREE_SHARE: Final = 8  # free pages are returned if they are more than an eighth of the file
_PAGES_AT_ONCE: Final = 1000  # 4 MB, a few milliseconds in which other writers wait

_Identity = tuple[int, int]  # device and inode
_Opened = tuple[_Identity, apsw.Connection]  # which file the connection is to
_NO_FILE: Final[_Identity] = (0, 0)
_DAMAGED: Final = ".damaged"

SqlFunctions = Mapping[str, Callable[..., bytes]]


class Database:
    """One SQLite file. Threads and processes that share it read concurrently and take turns to write.

    `migrations` are the numbered schema steps, `functions` what they call in SQL beyond SQLite's own, each of one
    value; `wait` is the longest wait for a lock in seconds. `prepare` is called with every connection that is opened.
    Every method raises VaultUnavailable if the file cannot be used now, and `wording.damaged` if it is damaged or too
    new; one that `sets_damage_aside` renames a file that is damaged when it is opened, and begins a new one.
    """

    def __init__(
        self,
        file: Path,
        *,
        migrations: Sequence[str],
        wording: ErrorWording,
        wait: float,
        functions: SqlFunctions | None = None,
        prepare: Callable[[apsw.Connection], None] | None = None,
        sets_damage_aside: bool = False,
    ) -> None:
        self._file = file
        self._prepare = prepare
        self._sets_damage_aside = sets_damage_aside
        self._migrations = migrations
        self._functions = functions or {}
        self._wording = wording
        self._wait = wait
        self._writing = threading.Lock()
        self._idle: list[_Opened] = []

    @contextmanager
    def read_transaction(self) -> Iterator[apsw.Connection]:
        """A connection that sees the file as of its first query, whatever others write meanwhile."""
        with translate_sqlite_errors(self._file, self._wording), self._borrowed() as (_, connection):
            connection.execute("BEGIN")
            yield connection
            connection.execute("COMMIT")

    @contextmanager
    def write_transaction(self) -> Iterator[apsw.Connection]:
        """A connection inside a write transaction; an exception in the block rolls it back."""
        with translate_sqlite_errors(self._file, self._wording), self._writing, self._writable() as connection:
            yield connection

    def require_writable(self) -> None:
        """Raise VaultUnavailable if nothing can be written to the file."""
        with self.write_transaction() as connection:
            if connection.readonly("main"):
                raise apsw.ReadOnlyError("attempt to write a readonly database")

    def vacuum(self) -> None:
        """Rewrite the file without deleted data and empty the log, so that no trace of it is left on disk."""
        with translate_sqlite_errors(self._file, self._wording), self._writing, self._borrowed() as (_, connection):
            connection.execute(f"{_RETURN_PAGES}; VACUUM")
            busy = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").get[0]
            if busy:
                raise locked_error(self._file, self._wording)

    def shrink(self) -> None:
        """Write the log into the file for good, and return free pages to the disk if they are many.

        Waits for no other process: what one hinders is left to the next call.
        """
        with translate_sqlite_errors(self._file, self._wording), self._writing, self._borrowed() as (_, connection):
            connection.set_busy_timeout(0)
            free, pages = (int(connection.pragma(name)) for name in ("freelist_count", "page_count"))
            with suppress(apsw.BusyError):
                if free * _FREE_SHARE > pages:
                    _return_pages(connection)
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            connection.set_busy_timeout(round(self._wait * 1000))

    def size(self) -> int:
        """How many bytes the file and its log have on disk; 0 if there is no file."""
        file = self._file.resolve()
        files = (file, file.with_name(f"{file.name}-wal"))
        return sum(each.stat().st_size for each in files if each.is_file())

    def close(self) -> None:
        """Close idle connections; the next use opens the file again."""
        with translate_sqlite_errors(self._file, self._wording):
            while idle := self._take_idle():
                idle[1].close()

    @contextmanager
    def _writable(self) -> Iterator[apsw.Connection]:
        """A connection in a write transaction; a new one if the file was replaced while waiting for the lock."""
        while True:
            with self._borrowed() as (file, connection), _immediate_transaction(connection):
                if file == self._identity():
                    yield connection
                    return

    @contextmanager
    def _borrowed(self) -> Iterator[_Opened]:
        """A connection for one use; closed, not reused, after an error."""
        opened = self._opened()
        try:
            yield opened
        except BaseException:
            opened[1].close()
            raise
        self._idle.append(opened)

    def _opened(self) -> _Opened:
        """An idle connection or a new one; closes connections to a file that has been replaced since."""
        current = self._identity()
        while idle := self._take_idle():
            if idle[0] == current:
                return idle
            idle[1].close()
        with translate_errors(self._file, self._wording):
            try:
                return self._connect()
            except (apsw.CorruptError, apsw.NotADBError) as error:
                if not self._sets_damage_aside:
                    raise
                self._set_damage_aside(str(error))
                return self._connect()

    def _connect(self) -> _Opened:
        return _connect(
            self._file,
            migrations=self._migrations,
            functions=self._functions,
            wording=self._wording,
            wait=self._wait,
            prepare=self._prepare,
        )

    def _set_damage_aside(self, reason: str) -> None:
        """Rename the damaged file and its log; of several processes one does."""
        file = self._file.resolve()
        before = _identity_of(file)
        with exclusive_lock(file.with_name(f"{file.name}.lock"), wait=self._wait):
            if _identity_of(file) != before:
                return
            stamp = time.strftime("%Y%m%dT%H%M%S")
            for each in (file, file.with_name(f"{file.name}-wal"), file.with_name(f"{file.name}-shm")):
                if each.exists():
                    each.rename(each.with_name(f"{each.name}.{stamp}{_DAMAGED}"))
        emit("database_set_aside", level="warning", file=str(file), said=reason)

    def drop_damaged(self) -> None:
        """Remove the damaged files that were set aside: they may say what is to be erased."""
        with translate_errors(self._file, self._wording):
            for file in self._file.resolve().parent.glob(f"{self._file.name}*{_DAMAGED}"):
                file.unlink(missing_ok=True)

    def _identity(self) -> _Identity:
        with translate_errors(self._file, self._wording):
            return _identity_of(self._file)

    def _take_idle(self) -> _Opened | None:
        with suppress(IndexError):  # another thread may take the last one at this moment
            return self._idle.pop()
        return None


@contextmanager
def exclusive_lock(file: Path, *, wait: float) -> Iterator[bool]:
    """True if this process holds the lock file until the block ends; False after `wait` seconds without it.

    The kernel releases the lock of a process that dies.
    """
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(file, os.O_CREAT | os.O_RDWR, 0o600)
    try:
        yield _acquire(descriptor, until=time.monotonic() + wait)
    finally:
        os.close(descriptor)


def _acquire(descriptor: int, *, until: float) -> bool:
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= until:
                return False
            time.sleep(_LOCK_PAUSE)
        else:
            return True


def _connect(
    file: Path,
    *,
    migrations: Sequence[str],
    functions: SqlFunctions,
    wording: ErrorWording,
    wait: float,
    prepare: Callable[[apsw.Connection], None] | None,
) -> _Opened:
    """Open the file, creating and migrating it as needed; a file on a disk that cannot be written is read as it is.

    If the file is replaced meanwhile it is opened again, so that the connection is to the file returned with it.
    """
    while True:
        if _is_read_only(file):
            return _identity_of(file), _read_only_connection(file, functions=functions)
        _make_private(file)
        identity = _identity_of(file)
        connection = apsw.Connection(str(file))
        try:
            connection.set_busy_timeout(round(wait * 1000))
            _set_up(connection, until=time.monotonic() + wait)
            for name, function in functions.items():
                connection.create_scalar_function(name, function, 1, deterministic=True)
            _migrate(connection, migrations, file=file, wording=wording)
            if identity == _identity_of(file) != _NO_FILE:
                if prepare:
                    prepare(connection)
                return identity, connection
        except BaseException:
            connection.close()
            raise
        connection.close()


def _is_read_only(file: Path) -> bool:
    """True for a file in a folder that cannot be written, unless its log holds what the file lacks.

    SQLite needs to create files beside one that has a log, even to read it.
    """
    log = file.with_name(f"{file.name}-wal")
    return file.is_file() and not os.access(file.parent, os.W_OK) and not (log.exists() and log.stat().st_size)


def _read_only_connection(file: Path, *, functions: SqlFunctions) -> apsw.Connection:
    """A connection to a file that nobody can change while it is open."""
    uri = f"{file.resolve().as_uri()}?immutable=1"
    connection = apsw.Connection(uri, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
    for name, function in functions.items():
        connection.create_scalar_function(name, function, 1, deterministic=True)
    return connection


def _make_private(file: Path) -> None:
    """Create the file readable by its owner only. An existing one is not opened: closing it would drop its locks."""
    file = file.resolve()
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not file.exists():
        with suppress(FileExistsError):
            os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))


def _identity_of(file: Path) -> _Identity:
    """Device and inode of the file; zeros if there is none."""
    try:
        stat = file.stat()
    except FileNotFoundError:
        return _NO_FILE
    return stat.st_dev, stat.st_ino


def _set_up(connection: apsw.Connection, *, until: float) -> None:
    """Run the pragmas. Switching to WAL fails at once, whatever the busy timeout, if another process does it too."""
    while True:
        try:
            if not connection.pragma("page_count"):
                connection.execute(_RETURN_PAGES)
            for pragma in _PRAGMAS:
                connection.execute(pragma)
        except apsw.BusyError:
            if time.monotonic() > until:
                raise
            time.sleep(_BUSY_PAUSE)
        else:
            return


def _migrate(connection: apsw.Connection, migrations: Sequence[str], *, file: Path, wording: ErrorWording) -> None:
    """Apply the migrations that the file lacks; of several processes one applies them and the others wait.

    What they deleted is then given back to the disk, unless another process uses the file at this moment.
    """
    if _schema_version(connection) == len(migrations):
        return
    with _immediate_transaction(connection):
        version = _schema_version(connection)
        if version > len(migrations):
            raise too_new_error(file, wording, version=version, supported=len(migrations))
        for step in migrations[version:]:
            connection.execute(step)
        connection.pragma("user_version", len(migrations))
    if version:
        with suppress(apsw.BusyError):
            connection.execute(f"{_RETURN_PAGES}; VACUUM")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


def _return_pages(connection: apsw.Connection) -> None:
    """Return all free pages to the disk; a file from before `auto_vacuum` was set is rewritten."""
    if int(connection.pragma("auto_vacuum")) != _INCREMENTAL:
        connection.execute(f"{_RETURN_PAGES}; VACUUM")
    while int(connection.pragma("freelist_count")):
        connection.execute(f"PRAGMA incremental_vacuum({_PAGES_AT_ONCE})").fetchall()


def _schema_version(connection: apsw.Connection) -> int:
    return int(connection.pragma("user_version"))


@contextmanager
def _immediate_transaction(connection: apsw.Connection) -> Iterator[None]:
    """Commit the block or roll it back; no other process writes meanwhile."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
