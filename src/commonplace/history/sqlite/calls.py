"""The model calls in SQL: the table `invocation_log`."""

import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final

import apsw

from commonplace.history.base import ModelCall, checked_limit
from commonplace.history.sqlite.moments import moment_text

_ADD: Final = """
INSERT INTO invocation_log (at, task_type, model_alias, input_hash, version, duration_ms, tokens, cost)
VALUES (?, ?, ?, ?, ?, ?, ?, ?)
"""
_ROWS: Final = """
SELECT at, task_type, model_alias, input_hash, version, duration_ms, tokens, cost FROM invocation_log
"""
_CONDITIONS: Final = {"task_type": "task_type = :task_type", "since": "at >= :since"}
_NEWEST_FIRST: Final = " ORDER BY at DESC, number DESC LIMIT :limit"
_COUNT: Final = "SELECT count(*) FROM invocation_log"
_FORGET: Final = "DELETE FROM invocation_log WHERE input_hash IN (SELECT value FROM json_each(:hashes))"


def add(connection: apsw.Connection, calls: Sequence[ModelCall]) -> None:
    """A row for each call."""
    connection.executemany(
        _ADD,
        (
            (
                moment_text(call.at),
                call.task_type,
                call.model_alias,
                call.input_hash,
                call.version,
                float(call.duration_ms),
                call.tokens,
                float(call.cost),
            )
            for call in calls
        ),
    )


def find(
    connection: apsw.Connection, *, task_type: str | None, since: datetime | None, limit: int | None
) -> tuple[ModelCall, ...]:
    """The calls of that type, from that time on; newest first, at most `limit`."""
    asked = {"task_type": task_type, "since": moment_text(since) if since else None}
    given = {name: value for name, value in asked.items() if value is not None}
    where = " AND ".join(_CONDITIONS[name] for name in given)
    most = checked_limit(limit)
    rows = connection.execute(
        _ROWS + (f"WHERE {where}" if where else "") + _NEWEST_FIRST, {**given, "limit": -1 if most is None else most}
    )
    return tuple(
        ModelCall(
            at=datetime.fromisoformat(at),
            task_type=task,
            model_alias=alias,
            input_hash=input_hash,
            version=version,
            duration_ms=duration,
            tokens=tokens,
            cost=cost,
        )
        for at, task, alias, input_hash, version, duration, tokens, cost in rows
    )


def count(connection: apsw.Connection, task_type: str | None) -> int:
    """How many calls there are, of that type or of all."""
    where = "" if task_type is None else " WHERE task_type = :task_type"
    number: int = connection.execute(_COUNT + where, {"task_type": task_type}).get
    return number


def remove(connection: apsw.Connection, input_hashes: Iterable[str]) -> int:
    """Drop the calls with these texts; how many went. The whole table is read: an index would slow every call."""
    connection.execute(_FORGET, {"hashes": json.dumps(sorted(set(input_hashes)))})
    return connection.changes()
