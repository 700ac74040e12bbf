"""The history of one tenant in PostgreSQL.

A conversation and how far its transcript was read change in one transaction, so that a message is recorded once,
whatever is killed and however many processes capture it. What PostgreSQL has acknowledged is on its disk.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import lru_cache, partial
from itertools import islice
from pathlib import Path
from typing import Any, Final

from psycopg import Cursor
from psycopg.abc import Buffer
from psycopg.types.string import StrDumper, TextLoader

from commonplace.database.postgresql import Connection, PostgresqlServer, TenantDatabase
from commonplace.history.base import HistoryLoss
from commonplace.history.postgresql.schema import HISTORY_AREA
from commonplace.history.sql.conversations import ConversationRecord, apply_record
from commonplace.history.sql.history import SqlHistory
from commonplace.history.sql.tables import TABLES, postgresql_name
from commonplace.history.sql.transaction import NO_VALUES, Values, postgresql_statement

_now: Final = partial(datetime.now, UTC)
_ZERO, _ZERO_STORED = "\x00", "\x01\x01"
_ONE, _ONE_STORED = "\x01", "\x01\x02"
_ROWS_AT_ONCE: Final = 500  # of at most 17 columns: a statement takes 65,535 values
_SIZE: Final = " + ".join(
    f"(SELECT coalesce(sum(pg_column_size({name}.*)), 0) FROM {name} WHERE {{mine}})"  # noqa: S608
    for name in TABLES
)


@lru_cache(maxsize=512)
def _insertion(table: str, columns: tuple[str, ...], *, count: int) -> bytes:
    """The statement that adds so many rows to a table."""
    named = ", ".join(f'"{column}"' for column in ("tenant", *columns))
    row = f"({', '.join(['%s'] * (len(columns) + 1))})"
    return f"INSERT INTO {postgresql_name(table)} ({named}) VALUES {', '.join([row] * count)}".encode()  # noqa: S608


class TextDumper(StrDumper):
    """Text on its way to the server, which has no character zero: two characters stand for it.

    Two stand for the character one as well, so that every text comes back as it was, and in the same order.
    """

    def dump(self, obj: str) -> Buffer | None:
        """The text in UTF-8."""
        return super().dump(obj.replace(_ONE, _ONE_STORED).replace(_ZERO, _ZERO_STORED))


class TextLoaderOfZeros(TextLoader):
    """Text as it was before `TextDumper`."""

    def load(self, data: Buffer) -> str | bytes:
        """The text that was stored."""
        text = super().load(data)
        if isinstance(text, str) and _ONE in text:
            return text.replace(_ZERO_STORED, _ZERO).replace(_ONE_STORED, _ONE)
        return text


class PostgresqlTransaction:
    """A transaction of one tenant."""

    def __init__(self, connection: Connection, tenant: str) -> None:
        self._cursor: Cursor[tuple[Any, ...]] = connection.cursor()
        self._cursor.adapters.register_dumper(str, TextDumper)
        self._cursor.adapters.register_loader("text", TextLoaderOfZeros)
        self._tenant = tenant

    def rows(self, statement: str, values: Values = NO_VALUES) -> list[Any]:
        """The rows that a statement returns."""
        return self._execute(statement, values).fetchall()

    def change(self, statement: str, values: Values = NO_VALUES) -> int:
        """Run a statement; returns how many rows it inserted, changed or deleted."""
        return self._execute(statement, values).rowcount

    def change_many(self, statement: str, values: Iterable[Values]) -> None:
        """Run a statement once for each of these values, without waiting for each answer."""
        rows = [{**each, "tenant": self._tenant} for each in values]
        if rows:
            self._cursor.executemany(postgresql_statement(statement).encode(), rows)

    def each_row(self, statement: str) -> Iterator[tuple[Any, ...]]:
        """The rows that a statement returns, one by one."""
        yield from self._cursor.stream(postgresql_statement(statement).encode(), {"tenant": self._tenant})

    def add_rows(self, table: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        """Add many rows to a table, many with each statement: the server has no COPY for rows that policies guard."""
        left = iter(rows)
        while some := [*islice(left, _ROWS_AT_ONCE)]:
            values = [value for row in some for value in (self._tenant, *row)]
            self._cursor.execute(_insertion(table, tuple(columns), count=len(some)), values)

    def _execute(self, statement: str, values: Values) -> Cursor[tuple[Any, ...]]:
        return self._cursor.execute(postgresql_statement(statement).encode(), {**values, "tenant": self._tenant})


class PostgresqlChange:
    """A write transaction in which conversations change."""

    def __init__(self, transaction: PostgresqlTransaction) -> None:
        self.transaction = transaction

    def keep(self, record: ConversationRecord, *, now: datetime, is_forced: bool = True) -> None:
        """Make the tables say what the record says."""
        apply_record(self.transaction, record)


class PostgresqlHistoryRows:
    """The rows of one tenant in the tables of histories."""

    def __init__(self, server: PostgresqlServer, tenant: str) -> None:
        self._database = TenantDatabase(server, HISTORY_AREA, tenant=tenant)

    @contextmanager
    def read_transaction(self) -> Iterator[PostgresqlTransaction]:
        """Queries that see one state of the tables."""
        with self._database.read_transaction() as connection:
            yield PostgresqlTransaction(connection, self._database.tenant)

    @contextmanager
    def write_transaction(self) -> Iterator[PostgresqlTransaction]:
        """The only transaction of this tenant that writes now; an exception in the block rolls it back."""
        with self._database.write_transaction() as connection:
            yield PostgresqlTransaction(connection, self._database.tenant)

    def drop_deleted(self) -> None:
        """Nothing: what was deleted leaves the disk when the server's autovacuum has passed."""


class PostgresqlHistory(SqlHistory):
    """The history of one tenant; many processes on many machines may share it.

    `not_copied` gives the file of a history that the vault had before and that is not in this one; None without one.
    """

    def __init__(
        self,
        server: PostgresqlServer,
        *,
        tenant: str,
        not_copied: Callable[[SqlHistory], Path | None] = lambda history: None,
        clock: Callable[[], datetime] = _now,
    ) -> None:
        self._rows, self._not_copied = PostgresqlHistoryRows(server, tenant), not_copied
        super().__init__(self._rows, clock=clock)

    def losses(self, *, now: datetime) -> tuple[HistoryLoss, ...]:
        """What was lost or restored within LOSS_DAYS, newest first; before it, conversations that were not copied."""
        known = super().losses(now=now)
        file = self._not_copied(self)
        if file is None:
            return known
        said = f"{file} has a history that is not used: history.backend is postgresql, and it was not copied there"
        remedy = "`commonplace vault copy-history --to postgresql --dry-run` says what can be copied."
        return (HistoryLoss(now, said, remedy, restored=False), *known)

    def check(self) -> None:
        """Read every row of this tenant: the server reports a page that cannot be read."""
        self.size()

    def size(self) -> int:
        """The bytes of this tenant's rows, without indexes and what is shared with other tenants."""
        with self._rows.read_transaction() as transaction:
            return int(transaction.rows(f"SELECT CAST({_SIZE} AS bigint)")[0][0])

    def close(self) -> None:
        """Nothing: the connections belong to the process."""

    @contextmanager
    def _replacing(self) -> Iterator[PostgresqlTransaction]:
        with self._rows.write_transaction() as transaction:
            yield transaction

    @contextmanager
    def _changing(self) -> Iterator[PostgresqlChange]:
        with self._rows.write_transaction() as transaction:
            yield PostgresqlChange(transaction)
