"""The notation of the statements of this room, and what a database must offer to run them.

A statement is written once for both databases:
- `:name`                     a value of that name; the list of a `json_each(:names)` is a list of texts or numbers
- `{mine}`, `{mine a}`        true for the rows of this history: of the one table, or of the table with the alias `a`
- `{tenant}`, `{:tenant}`     the column that says whose row it is, in a list of columns; and its value
- tables                      have the names of `tables.py`; in PostgreSQL, `history_` goes before them

A SQLite file is one history, so the last four say nothing there. In PostgreSQL a history is one tenant among many, and
each part of a statement that names a table names the tenant, too.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import lru_cache
from typing import Any, Final, Protocol

from commonplace.history.sql.tables import TABLES, postgresql_name

Values = Mapping[str, Any]
NO_VALUES: Final[Values] = {}
ALL_ROWS: Final = 2**62
"""A LIMIT that limits nothing: the databases do not agree on another way to say so."""
_MINE: Final = re.compile(r"\{mine(?: (\w+))?\}")
_NAME: Final = re.compile(r"(?<!:):([a-z_]+)")
_TABLE: Final = re.compile(rf"\b(?:{'|'.join(TABLES)})\b")
_IN_LIST: Final = re.compile(r"IN \(SELECT value FROM json_each\(:(\w+)\)\)")
_LIST: Final = re.compile(r"json_each\(:(\w+)\)")


class SqlTransaction(Protocol):
    """A transaction in which statements of the notation run."""

    def rows(self, statement: str, values: Values = NO_VALUES) -> list[Any]:
        """The rows that a statement returns."""

    def change(self, statement: str, values: Values = NO_VALUES) -> int:
        """Run a statement; returns how many rows it inserted, changed or deleted."""

    def change_many(self, statement: str, values: Iterable[Values]) -> None:
        """Run a statement once for each of these values."""

    def each_row(self, statement: str) -> Iterator[tuple[Any, ...]]:
        """The rows that a statement returns, one by one."""

    def add_rows(self, table: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        """Add many rows to a table, as fast as the database can."""


class SqlDatabase(Protocol):
    """A database with the tables of one history. Every method raises VaultUnavailable."""

    def read_transaction(self) -> AbstractContextManager[SqlTransaction]:
        """Queries that see one state of the database, whatever others write meanwhile."""

    def write_transaction(self) -> AbstractContextManager[SqlTransaction]:
        """The only transaction that writes now; an exception in the block rolls it back."""

    def drop_deleted(self) -> None:
        """Remove what was deleted from the disk, as far as the database can."""


def first_row(transaction: SqlTransaction, statement: str, values: Values = NO_VALUES) -> Any:
    """The first row that a statement returns, or None."""
    return next(iter(transaction.rows(statement, values)), None)


@lru_cache(maxsize=512)
def sqlite_statement(statement: str) -> str:
    """The statement as SQLite reads it."""
    return _MINE.sub("TRUE", statement.replace("{tenant}", "").replace("{:tenant}", ""))


def sqlite_values(values: Values) -> dict[str, Any]:
    """The values as SQLite takes them: a list is text in JSON."""
    return {name: json.dumps(value) if isinstance(value, list) else value for name, value in values.items()}


@lru_cache(maxsize=512)
def postgresql_statement(statement: str) -> str:
    """The statement as PostgreSQL reads it. A value of the name `tenant` goes with it."""
    text = _IN_LIST.sub(r"= ANY (CAST(:\1 AS text[]))", statement)
    text = _LIST.sub(r"unnest(CAST(:\1 AS text[])) AS listed (value)", text)
    text = _TABLE.sub(lambda match: postgresql_name(match[0]), text)
    text = text.replace("{tenant}", "tenant,").replace("{:tenant}", ":tenant,")
    text = _MINE.sub(lambda match: f"{match[1]}.tenant = :tenant" if match[1] else "tenant = :tenant", text)
    text = text.replace("instr(", "strpos(").replace("unhex(value)", "decode(value, 'hex')")
    return _NAME.sub(r"%(\1)s", text.replace("%", "%%"))
