"""One connection to a SQLite file that is ours: private, with a write-ahead log, and of the newest form."""

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import apsw

from commonplace.database.trouble import Wording, too_new

_PRAGMAS: Final = (
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = NORMAL",  # 0.04 ms a row where FULL takes 4: a power cut may take the last rows, whole
    "PRAGMA foreign_keys = ON",
    "PRAGMA secure_delete = ON",
    "PRAGMA temp_store = MEMORY",  # VACUUM copies everything: not into a folder that others use
)
_PAUSE: Final = 0.01

Identity = tuple[int, int]
"""Which file on which disk."""

Opened = tuple[Identity, apsw.Connection]
"""Which file it is, and the connection to it."""

_NOWHERE: Final[Identity] = (0, 0)


def connect(file: Path, *, migrations: Sequence[str], wording: Wording, wait: float) -> Opened:
    """A connection to the file, which is made if it is not there and takes the steps that it lacks.

    A file that is replaced meanwhile is opened anew, so that the connection is to the file that is named with it.
    """
    while True:
        _make_private(file)
        identity = identity_of(file)
        connection = apsw.Connection(str(file))
        try:
            connection.set_busy_timeout(round(wait * 1000))
            _set_up(connection, until=time.monotonic() + wait)
            _migrate(connection, migrations, file=file, wording=wording)
            if identity == identity_of(file) != _NOWHERE:
                return identity, connection
        except BaseException:
            connection.close()
            raise
        connection.close()


def identity_of(file: Path) -> Identity:
    """Which file this is on its disk; zeros when there is none."""
    try:
        found = file.stat()
    except FileNotFoundError:
        return _NOWHERE
    return found.st_dev, found.st_ino


@contextmanager
def write_transaction(connection: apsw.Connection) -> Iterator[None]:
    """The block changes all or nothing, and no other process writes meanwhile."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _migrate(connection: apsw.Connection, migrations: Sequence[str], *, file: Path, wording: Wording) -> None:
    """Take the steps that the file has not taken; of several processes one takes them and the others wait."""
    if _steps_taken(connection) == len(migrations):
        return
    with write_transaction(connection):
        taken = _steps_taken(connection)
        if taken > len(migrations):
            raise too_new(file, wording, steps=taken, known=len(migrations))
        for step in migrations[taken:]:
            connection.execute(step)
        connection.pragma("user_version", len(migrations))


def _make_private(file: Path) -> None:
    """Create the file for its owner alone. One that is there is not opened: closing it again would drop its locks."""
    file = file.resolve()
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
