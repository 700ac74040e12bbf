"""SQLite files of other programs, read only: their tables and rows, whatever the file says.

The file may be damaged or made to do harm. A copy of it is opened, so that nothing of the original changes and no other
program waits; only plain tables are read, so that nothing in its schema runs.
"""

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

import apsw

from commonplace.errors import UsageError

Cell = str | int | float | None
"""A value of a row; bytes are left out."""

SQLITE_HEADER: Final = b"SQLite format 3\x00"
"""The first bytes of every SQLite file."""

_LARGEST: Final = 4 * 1024**3  # bytes of a file: vectors of a million passages have 1.5 GB
_PIECE: Final = 1024 * 1024
_LARGEST_CELL: Final = 32 * 1024 * 1024
_HINT: Final = "Close the program that writes it, and name a copy of the file."


@contextmanager
def foreign_tables(stream: BinaryIO) -> Iterator["ForeignTables"]:
    """The tables of the SQLite file in a stream. Raises UsageError if it is none, is damaged, or is too large."""
    with tempfile.TemporaryDirectory(prefix="commonplace-") as folder:
        copy = Path(folder, "copy.db")
        _copy(stream, copy)
        try:
            connection = apsw.Connection(str(copy), flags=apsw.SQLITE_OPEN_READONLY)
            try:
                yield ForeignTables(_guarded(connection))
            finally:
                connection.close()
        except apsw.Error as error:
            raise UsageError(f"the database cannot be read: {error}", hint=_HINT) from error


def _copy(stream: BinaryIO, file: Path) -> None:
    left = _LARGEST
    with file.open("wb") as target:
        while content := stream.read(_PIECE):
            left -= len(content)
            if left < 0:
                raise UsageError(f"the database is larger than {_LARGEST // 1024**3} GB", hint="Name a smaller copy.")
            target.write(content)


def _guarded(connection: apsw.Connection) -> apsw.Connection:
    connection.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
    connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
    connection.limit(apsw.SQLITE_LIMIT_LENGTH, _LARGEST_CELL)
    connection.execute("PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0; PRAGMA temp_store = MEMORY")
    return connection


class ForeignTables:
    """The plain tables of an opened file: no views, and no tables that a module makes up."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        rows = connection.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'table'")
        self.names: frozenset[str] = frozenset(name for name, sql in rows if isinstance(name, str) and _is_plain(sql))

    def rows(self, table: str, *, order: Sequence[str] = ()) -> Iterator[Mapping[str, Cell]]:
        """The rows of a table, in the order of these columns where it has them; none if there is no such table."""
        columns = self._columns(table) if table in self.names else ()
        if not columns:
            return
        # Text may hold bytes that are not UTF-8, so it is read as bytes. What is stored as bytes are vectors.
        cells = ", ".join(
            f"CASE typeof({name}) WHEN 'text' THEN CAST({name} AS BLOB) WHEN 'blob' THEN NULL ELSE {name} END"
            for name in map(_quoted, columns)
        )
        sorting = ", ".join(_quoted(name) for name in order if name in columns)
        sql = f"SELECT {cells} FROM {_quoted(table)}"  # noqa: S608 - all names are quoted
        sql += f" ORDER BY {sorting}" if sorting else ""
        for row in self._connection.execute(sql):
            yield dict(zip(columns, map(_cell, row), strict=True))

    def _columns(self, table: str) -> tuple[str, ...]:
        return tuple(str(row[1]) for row in self._connection.execute(f"PRAGMA table_info({_quoted(table)})"))


def _is_plain(sql: object) -> bool:
    return isinstance(sql, str) and not sql.lstrip().upper().startswith("CREATE VIRTUAL")


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _cell(value: object) -> Cell:
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    return value if isinstance(value, int | float) else None
