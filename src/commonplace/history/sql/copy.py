"""Copy a history from one database to another, row by row: nothing is lost, and nothing is interpreted."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from commonplace.errors import Refused, VaultUnavailable
from commonplace.history.sql.history import SqlHistory
from commonplace.history.sql.tables import TABLES
from commonplace.history.sql.transaction import SqlTransaction
from commonplace.model.progress import Progress, ignore_progress

_MESSAGES: Final = "conversation_messages"
_STEP: Final = 1000  # rows between two reports of progress
_MODULUS: Final = 2**256


@dataclass(frozen=True, slots=True)
class TableSum:
    """How many rows a table has, and a sum of their hashes: equal for equal rows in any order."""

    rows: int = 0
    hash: int = 0


@dataclass(frozen=True, slots=True)
class HistoryCopy:
    """What was copied, or would be: the rows of each table that has some, and how many the target had.

    `is_equal` says that the target had the same rows already.
    """

    rows: Mapping[str, int]
    replaced: int = 0
    is_equal: bool = False


def copy_history(
    source: SqlHistory,
    target: SqlHistory,
    *,
    replaces: bool = False,
    is_dry: bool = False,
    progress: Progress = ignore_progress,
) -> HistoryCopy:
    """Make the target equal to the source, all or nothing; `is_dry` only looks.

    Raises Refused if the target has other rows and `replaces` is False.
    """
    with source.reading() as read:
        with target.reading() as present:
            before = _sums(present)
        sums = _sums(read)
        replaced = sum(each.rows for each in before.values())
        plan = HistoryCopy({name: each.rows for name, each in sums.items() if each.rows}, replaced, before == sums)
        if plan.is_equal or is_dry:
            return plan
        if replaced and not replaces:
            raise Refused(
                f"the history there is not empty: it has {replaced} rows, and others than this one",
                hint="Look at it before you replace it; then add --replace.",
            )
        with target.replacing() as written:
            _clear(written)
            _fill(written, read, sums, progress)
            if _sums(written) != sums:
                raise VaultUnavailable("the copy is not equal to the history; nothing was changed", hint="Try again.")
    return plan


def is_left_behind(older: SqlHistory, history: SqlHistory) -> bool:
    """True if the older history has conversations and the other has none, or has anything and the other nothing.

    The other one gets rows of its own with its first use, so only a copy is compared row by row.
    """
    if not _has_rows(older):
        return False
    return not _has_rows(history) or (bool(older.thread_traits()) and not history.thread_traits())


def _has_rows(history: SqlHistory) -> bool:
    with history.reading() as transaction:
        return any(transaction.rows(f"SELECT 1 FROM {name} WHERE {{mine}} LIMIT 1") for name in TABLES)  # noqa: S608


def _sums(transaction: SqlTransaction) -> dict[str, TableSum]:
    return {name: _sum(_rows(transaction, name)) for name in TABLES}


def _sum(rows: Iterator[tuple[Any, ...]]) -> TableSum:
    count = total = 0
    for row in rows:
        text = json.dumps(row, default=_hex, ensure_ascii=True)
        total = (total + int.from_bytes(hashlib.sha256(text.encode()).digest())) % _MODULUS
        count += 1
    return TableSum(count, total)


def _hex(value: Any) -> str:
    return bytes(value).hex()


def _rows(transaction: SqlTransaction, table: str) -> Iterator[tuple[Any, ...]]:
    columns = ", ".join(f'"{column}"' for column in TABLES[table])
    return transaction.each_row(f"SELECT {columns} FROM {table} WHERE {{mine}}")  # noqa: S608


def _clear(transaction: SqlTransaction) -> None:
    """Delete all rows; messages go with their threads."""
    for table in reversed([name for name in TABLES if name != _MESSAGES]):
        transaction.change(f"DELETE FROM {table} WHERE {{mine}}")  # noqa: S608


def _fill(
    transaction: SqlTransaction, source: SqlTransaction, sums: Mapping[str, TableSum], progress: Progress
) -> None:
    done, total = 0, sum(each.rows for each in sums.values())

    def counted(rows: Iterator[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
        nonlocal done
        for row in rows:
            done += 1
            if done % _STEP == 0 or done == total:
                progress("rows", done, total)
            yield row

    for table, known in sums.items():
        if known.rows:
            transaction.add_rows(table, TABLES[table], counted(_rows(source, table)))
