"""What the tables of an index ask of a connection, and small parts of statements.

A statement is in SQLite's words, for SQLite executes it as it is. These rules keep it such that PostgreSQL gives the
same rows:
- a parameter is `:name` or `?`; a list is bound as a JSON array and used as `x IN (SELECT value FROM json_each(:list))`
- a row is added by `INSERT INTO table (columns) VALUES (...)`, at most with ON CONFLICT DO NOTHING
- UPDATE and DELETE name one table, and have a WHERE clause
- JSON is read by `column ->> '$.path'`
- flags are the numbers 0 and 1, not conditions
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Protocol

from commonplace.database import ErrorWording
from commonplace.errors import IndexDamaged
from commonplace.index.document_values import valid_unicode

INDEX_ERRORS: Final = ErrorWording(
    label="index",
    damaged=IndexDamaged,
    mend="Run `commonplace rebuild`.",
    too_new="Upgrade Commonplace, or run `commonplace rebuild`.",
)

VECTOR_CACHE_ERRORS: Final = ErrorWording(
    label="vector cache",
    damaged=IndexDamaged,
    mend="Run `commonplace rebuild`.",
    too_new="Upgrade Commonplace, or run `commonplace rebuild`.",
)


class SqlRows(Protocol):
    """The rows that a statement selects."""

    def __iter__(self) -> Iterator[Any]:
        """One row after the other."""

    def fetchone(self) -> Any:
        """The next row, or None."""

    def fetchall(self) -> Any:
        """The rows that are left, as a list."""


class SqlConnection(Protocol):
    """A connection inside a transaction."""

    def execute(self, statement: str, values: Sequence[Any] | Mapping[str, Any] = ..., /) -> SqlRows:
        """Execute one statement with these values."""

    def executemany(self, statement: str, rows: Iterable[Sequence[Any] | Mapping[str, Any]], /) -> object:
        """Execute the statement once for each row of values."""


def json_text(value: object) -> str:
    """The value as JSON, its text made valid Unicode."""
    return valid_unicode(json.dumps(value, ensure_ascii=False))


def insertion(table: str, columns: Iterable[str]) -> str:
    """The statement that inserts a row with these columns, each bound by its name."""
    names = [*columns]
    return f"INSERT INTO {table} ({', '.join(names)}) VALUES ({', '.join(f':{name}' for name in names)})"  # noqa: S608


def insert_rows(connection: SqlConnection, table: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert rows that all have the same columns."""
    if rows:
        connection.executemany(insertion(table, rows[0]), rows)


def first_free_key(connection: SqlConnection, table: str) -> int:
    """The key after the highest of the table: writers of one index take turns, so it is theirs."""
    key: int = connection.execute(f"SELECT coalesce(max(key), 0) + 1 FROM {table}").fetchone()[0]  # noqa: S608
    return key
