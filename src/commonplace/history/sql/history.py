"""Audit, grants and model calls in SQL: the tables `commits`, `audit`, `grants`, and those of model calls.

Times are text such as 2026-03-01T09:12:44Z, so that text order is time order.
"""

import json
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import fields
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any, Final

from commonplace.history.base import (
    ERASED,
    STATE_DAYS,
    AuditEntry,
    ModelCall,
    ModelState,
    Spending,
    TaskSpending,
    UnfinishedErasure,
    check_limit,
    day_bounds,
    expiry,
    new_token,
    stored_moment,
    token_hash,
)
from commonplace.history.sql.calendars import SqlCalendars
from commonplace.history.sql.conversations import forget_named
from commonplace.history.sql.jobs import forget_steps
from commonplace.history.sql.transaction import ALL_ROWS, SqlTransaction, first_row

_ADD_COMMIT: Final = "INSERT INTO commits ({tenant} hash, at) VALUES ({:tenant} :commit, :at) ON CONFLICT DO NOTHING"
_ADD_ENTRY: Final = """
INSERT INTO audit ({tenant} mutation, at, verb, path, actor, origin, reason, destination, before, after, commit_number,
                   in_digest, person)
VALUES ({:tenant} :mutation, :at, :verb, :path, :actor, :origin, :reason, :destination, :before, :after,
        (SELECT number FROM commits WHERE {mine} AND hash = :commit), :in_digest, :person)
"""
_ENTRIES: Final = """
SELECT mutation, audit.at, verb, path, actor, origin, reason, destination, before, after, hash, in_digest, person
FROM audit LEFT JOIN commits ON {mine commits} AND commits.number = commit_number
WHERE {mine audit}
"""
_ENTRY_CONDITIONS: Final = {
    "path": "(path = :path OR destination = :path)",
    "actor": "actor = :actor",
    "verb": "verb = :verb",
    "since": "audit.at >= :since",
    "until": "audit.at <= :until",
}
_NEWEST_ENTRY_FIRST: Final = " ORDER BY audit.at DESC, audit.number DESC LIMIT :limit"
_COMMITS: Final = "SELECT hash FROM commits WHERE {mine}"
_NEWEST_COMMIT: Final = "SELECT hash FROM commits WHERE {mine} ORDER BY at DESC, number DESC LIMIT 1"
_REDACT_REASONS: Final = """
UPDATE audit SET reason = replace(reason, :path, :erased)
WHERE {mine} AND mutation IN (SELECT mutation FROM audit WHERE {mine} AND (path = :path OR destination = :path))
"""
_FORGET_PATH: Final = "DELETE FROM audit WHERE {mine} AND (path = :path OR destination = :path)"
_FORGET_GRANTS: Final = "DELETE FROM grants WHERE {mine} AND path = :path"
_FORGET_STATES: Final = (
    "DELETE FROM context_states WHERE {mine}",
    "DELETE FROM topic_locks WHERE {mine}",
    "DELETE FROM context_log WHERE {mine}",
)
_BEGIN_ERASURE: Final = """
INSERT INTO unfinished_erasures ({tenant} path, former, entry, begun)
VALUES ({:tenant} :path, :former, :entry, :begun)
ON CONFLICT ({tenant} path) DO UPDATE SET former = excluded.former, entry = excluded.entry, begun = excluded.begun
"""
_UNFINISHED_ERASURES: Final = """
SELECT path, former, entry, begun FROM unfinished_erasures WHERE {mine} ORDER BY begun, path
"""
_END_ERASURE: Final = "DELETE FROM unfinished_erasures WHERE {mine} AND path = :path"
_GIVE_GRANT: Final = """
INSERT INTO grants ({tenant} token_hash, path, expires) VALUES ({:tenant} :token, :path, :expires)
"""
_HAS_GRANT: Final = "SELECT 1 FROM grants WHERE {mine} AND token_hash = :token AND path = :path AND expires > :now"
_USE_GRANT: Final = "DELETE FROM grants WHERE {mine} AND token_hash = :token AND path = :path AND expires > :now"
_DELETE_EXPIRED_GRANTS: Final = "DELETE FROM grants WHERE {mine} AND expires <= :now"
_ADD_BATCH: Final = """
INSERT INTO invocation_batches ({tenant} at, task_type, model_alias, version, duration_ms, tokens, cost)
VALUES ({:tenant} :at, :task_type, :model_alias, :version, :duration_ms, :tokens, :cost) RETURNING number
"""
_ADD_CALL: Final = "INSERT INTO invocation_log ({tenant} batch, input_hash) VALUES ({:tenant} :batch, :input_hash)"
_SPENDING: Final = """
SELECT count(*), CAST(coalesce(sum(tokens), 0) AS bigint), coalesce(sum(cost), 0.0) FROM invocation_batches
WHERE {mine} AND tokens > 0 AND at >= :start AND at < :end
"""
_SPENDING_BY_TASK: Final = """
SELECT substr(at, 1, 10), task_type, count(*), CAST(sum(tokens) AS bigint), sum(cost) FROM invocation_batches
WHERE {mine} AND tokens > 0 AND at >= :start GROUP BY 1, 2 ORDER BY 1, 2
"""
_SETTLE_CALL: Final = """
UPDATE invocation_batches SET tokens = :tokens, cost = :cost, duration_ms = :duration_ms
WHERE {mine} AND number = :number
"""
_MODEL_STATE: Final = "SELECT failures, reason, said, until FROM model_states WHERE {mine} AND identity = :identity"
_SAVE_MODEL_STATE: Final = """
INSERT INTO model_states ({tenant} identity, failures, reason, said, until, at)
VALUES ({:tenant} :identity, :failures, :reason, :said, :until, :at)
ON CONFLICT ({tenant} identity) DO UPDATE SET failures = excluded.failures, reason = excluded.reason,
  said = excluded.said, until = excluded.until, at = excluded.at
"""
_DROP_MODEL_STATES: Final = "DELETE FROM model_states WHERE {mine} AND at < :oldest"
_FORGET_MODEL_STATES: Final = "DELETE FROM model_states WHERE {mine}"
_BATCHES: Final = """
FROM invocation_log AS log JOIN invocation_batches AS batch ON {mine batch} AND batch.number = log.batch
WHERE {mine log}
"""
_CALLS: Final = f"""
SELECT at, task_type, model_alias, input_hash, version, duration_ms, tokens, cost{_BATCHES}
"""
_CALL_CONDITIONS: Final = {"task_type": "task_type = :task_type", "since": "at >= :since"}
_NEWEST_CALL_FIRST: Final = " ORDER BY at DESC, log.number DESC LIMIT :limit"
_COUNT_CALLS: Final = f"SELECT count(*) {_BATCHES}"
_FORGET_CALLS: Final = """
DELETE FROM invocation_log WHERE {mine} AND input_hash IN (SELECT unhex(value) FROM json_each(:hashes))
"""
_FORGET_BATCHES: Final = """
DELETE FROM invocation_batches WHERE {mine} AND number NOT IN (SELECT batch FROM invocation_log WHERE {mine})
"""


class SqlHistory(SqlCalendars):
    """Audit, grants and model calls in tables, with everything else."""

    def reading(self) -> AbstractContextManager[SqlTransaction]:
        """All tables, as they are at one moment."""
        return self._database.read_transaction()

    def replacing(self) -> AbstractContextManager[SqlTransaction]:
        """A write transaction in which all tables are filled anew."""
        return self._replacing()

    def record(self, *entries: AuditEntry) -> None:
        """Add these rows, all or none."""
        with self._database.write_transaction() as transaction:
            _add_entries(transaction, entries)

    def entries(
        self,
        *,
        path: str | None = None,
        actor: str | None = None,
        verb: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        limit: int | None = None,
    ) -> tuple[AuditEntry, ...]:
        """Rows of that note, actor and verb, from `since` to `until`, both included; newest first, at most `limit`."""
        bounds = {"since": stored_moment(since) if since else None, "until": stored_moment(until) if until else None}
        conditions = {"path": path, "actor": actor, "verb": verb, **bounds}
        values = {name: value for name, value in conditions.items() if value is not None}
        where = "".join(f" AND {_ENTRY_CONDITIONS[name]}" for name in values)
        most = ALL_ROWS if check_limit(limit) is None else limit
        with self._database.read_transaction() as transaction:
            rows = transaction.rows(_ENTRIES + where + _NEWEST_ENTRY_FIRST, {**values, "limit": most})
        return tuple(_entry(row) for row in rows)

    def newest_commit(self) -> str | None:
        """The latest commit that was recorded or recovered, or None."""
        with self._database.read_transaction() as transaction:
            row = first_row(transaction, _NEWEST_COMMIT)
        return row[0] if row else None

    def recover(self, entries: Iterable[AuditEntry]) -> int:
        """Add the rows whose commit is unknown; returns how many were added."""
        entries = tuple(entries)
        if not entries:
            return 0
        with self._database.write_transaction() as transaction:
            known = {hash_ for (hash_,) in transaction.rows(_COMMITS)}
            missing = [entry for entry in entries if entry.commit and entry.commit not in known]
            _add_entries(transaction, missing)
        return len(missing)

    def forget_path(self, path: str) -> int:
        """Remove every trace of that path for good; returns how many rows were removed."""
        with self._database.write_transaction() as transaction:
            transaction.change(_REDACT_REASONS, {"path": path, "erased": ERASED})
            removed = transaction.change(_FORGET_PATH, {"path": path})
            transaction.change(_FORGET_GRANTS, {"path": path})
            for statement in _FORGET_STATES:
                transaction.change(statement)
            forget_named(transaction, [path])
            forget_steps(transaction, [path])
        self._database.drop_deleted()
        return removed

    def begin_erasure(self, erasure: UnfinishedErasure) -> None:
        """Remember what is being erased, until it is ended."""
        values = {"path": erasure.path, "former": json.dumps(erasure.former), "entry": erasure.entry}
        with self._database.write_transaction() as transaction:
            transaction.change(_BEGIN_ERASURE, values | {"begun": stored_moment(erasure.begun)})

    def unfinished_erasures(self) -> tuple[UnfinishedErasure, ...]:
        """The erasures that were begun and not ended, oldest first."""
        with self._database.read_transaction() as transaction:
            rows = transaction.rows(_UNFINISHED_ERASURES)
        return tuple(
            UnfinishedErasure(path, tuple(json.loads(former)), entry, datetime.fromisoformat(begun))
            for path, former, entry, begun in rows
        )

    def end_erasure(self, path: str) -> None:
        """Forget that this path was being erased, also in free pages and the log."""
        with self._database.write_transaction() as transaction:
            transaction.change(_END_ERASURE, {"path": path})
        self._database.drop_deleted()

    def give_grant(self, path: str, *, now: datetime, minutes: int = 10) -> str:
        """A new token that allows one write to that path within `minutes`; deletes expired grants."""
        token = new_token()
        grant = {"token": token_hash(token), "path": path, "expires": stored_moment(expiry(now, minutes))}
        with self._database.write_transaction() as transaction:
            transaction.change(_DELETE_EXPIRED_GRANTS, {"now": stored_moment(now)})
            transaction.change(_GIVE_GRANT, grant)
        return token

    def has_grant(self, token: str, path: str, *, now: datetime) -> bool:
        """True if the token is valid for exactly that path now; does not use it up."""
        values = {"token": token_hash(token), "path": path, "now": stored_moment(now)}
        with self._database.read_transaction() as transaction:
            return first_row(transaction, _HAS_GRANT, values) is not None

    def use_grant(self, token: str, path: str, *, now: datetime) -> bool:
        """True if the token is valid for exactly that path now; uses it up."""
        values = {"token": token_hash(token), "path": path, "now": stored_moment(now)}
        with self._database.write_transaction() as transaction:
            return transaction.change(_USE_GRANT, values) == 1

    def log_calls(self, calls: Sequence[ModelCall]) -> None:
        """Add a row for each call, all or none; those in a row that differ in their text alone are one batch."""
        if not calls:
            return
        with self._database.write_transaction() as transaction:
            for batch, some in groupby(calls, key=_batch_row):
                number: int = first_row(transaction, _ADD_BATCH, dict(batch))[0]
                transaction.change_many(_ADD_CALL, (_call_row(number, call) for call in some))

    def calls(
        self, *, task_type: str | None = None, since: datetime | None = None, limit: int | None = None
    ) -> tuple[ModelCall, ...]:
        """Calls of that type since that time; newest first, at most `limit`."""
        conditions = {"task_type": task_type, "since": stored_moment(since) if since else None}
        values = {name: value for name, value in conditions.items() if value is not None}
        where = "".join(f" AND {_CALL_CONDITIONS[name]}" for name in values)
        most = ALL_ROWS if check_limit(limit) is None else limit
        with self._database.read_transaction() as transaction:
            rows = transaction.rows(_CALLS + where + _NEWEST_CALL_FIRST, {**values, "limit": most})
        return tuple(_call(row) for row in rows)

    def reserve_call(self, call: ModelCall, *, budget: Spending) -> int | None:
        """Add the call with the most it can cost, unless that would exceed the day's budget; returns its number."""
        with self._database.write_transaction() as transaction:
            spent = _spending(transaction, call.at)
            if spent.tokens + call.tokens > budget.tokens or spent.cost + call.cost > budget.cost:
                return None
            number: int = first_row(transaction, _ADD_BATCH, dict(_batch_row(call)))[0]
            transaction.change(_ADD_CALL, _call_row(number, call))
        return number

    def settle_call(self, number: int, *, tokens: int, cost: float, duration_ms: float) -> None:
        """Replace what was reserved by what the call came to."""
        values = {"number": number, "tokens": tokens, "cost": float(cost), "duration_ms": float(duration_ms)}
        with self._database.write_transaction() as transaction:
            transaction.change(_SETTLE_CALL, values)

    def spending(self, day: datetime) -> Spending:
        """What the calls of language models on that UTC day came to."""
        with self._database.read_transaction() as transaction:
            return _spending(transaction, day)

    def spending_by_task(self, *, since: datetime) -> tuple[TaskSpending, ...]:
        """What the calls of language models came to since the UTC day of that moment, by day and task."""
        with self._database.read_transaction() as transaction:
            rows = transaction.rows(_SPENDING_BY_TASK, {"start": stored_moment(day_bounds(since)[0])})
        return tuple(TaskSpending(*row) for row in rows)

    def model_state(self, identity: str) -> ModelState:
        """The failures of that model since it last answered."""
        with self._database.read_transaction() as transaction:
            row = first_row(transaction, _MODEL_STATE, {"identity": identity})
        if row is None:
            return ModelState(identity)
        failures, reason, said, until = row
        return ModelState(identity, failures, reason, said, datetime.fromisoformat(until) if until else None)

    def save_model_state(self, state: ModelState, *, now: datetime) -> None:
        """Store the state of a model, replacing the earlier one."""
        until = stored_moment(state.until) if state.until else ""
        known = {name: getattr(state, name) for name in ("identity", "failures", "reason", "said")}
        with self._database.write_transaction() as transaction:
            transaction.change(_SAVE_MODEL_STATE, {**known, "until": until, "at": stored_moment(now)})
            transaction.change(_DROP_MODEL_STATES, {"oldest": stored_moment(now - timedelta(days=STATE_DAYS))})

    def forget_model_states(self) -> int:
        """Forget the failures of all models; returns how many had some."""
        with self._database.write_transaction() as transaction:
            return transaction.change(_FORGET_MODEL_STATES)

    def count_calls(self, task_type: str | None = None) -> int:
        """How many calls were logged, of that type or in total."""
        where = "" if task_type is None else " AND task_type = :task_type"
        with self._database.read_transaction() as transaction:
            count: int = first_row(transaction, _COUNT_CALLS + where, {"task_type": task_type})[0]
        return count

    def forget_calls(self, input_hashes: Iterable[str]) -> int:
        """Remove every call with one of these texts, also from free pages and the log; returns how many.

        This reads the whole table: an index by hash would slow every logged call.
        """
        with self._database.write_transaction() as transaction:
            removed = transaction.change(_FORGET_CALLS, {"hashes": sorted(set(input_hashes))})
            transaction.change(_FORGET_BATCHES)
        self._database.drop_deleted()
        return removed


def _add_entries(transaction: SqlTransaction, entries: Iterable[AuditEntry]) -> None:
    for entry in entries:
        values = {
            "mutation": entry.mutation,
            "at": stored_moment(entry.when),
            "verb": entry.verb,
            "path": entry.path,
            "actor": entry.actor,
            "origin": entry.origin,
            "reason": entry.reason,
            "destination": entry.destination,
            "before": entry.before,
            "after": entry.after,
            "commit": entry.commit,
            "in_digest": int(entry.in_digest),
            "person": entry.person,
        }
        if entry.commit:
            transaction.change(_ADD_COMMIT, values)
        transaction.change(_ADD_ENTRY, values)


def _entry(row: Iterable[Any]) -> AuditEntry:
    """The audit entry in a row of `_ENTRIES`, whose columns are in the order of the fields."""
    values: dict[str, Any] = {each.name: value for each, value in zip(fields(AuditEntry), row, strict=True)}
    when, in_digest = datetime.fromisoformat(values.pop("when")), bool(values.pop("in_digest"))
    return AuditEntry(**values, when=when, in_digest=in_digest)


def _spending(transaction: SqlTransaction, day: datetime) -> Spending:
    start, end = map(stored_moment, day_bounds(day))
    return Spending(*first_row(transaction, _SPENDING, {"start": start, "end": end}))


def _batch_row(call: ModelCall) -> tuple[tuple[str, str | int | float], ...]:
    """What the calls of a batch have in common, as pairs of column and value."""
    return (
        ("at", stored_moment(call.at)),
        ("task_type", call.task_type),
        ("model_alias", call.model_alias),
        ("version", call.version),
        ("duration_ms", float(call.duration_ms)),
        ("tokens", call.tokens),
        ("cost", float(call.cost)),
    )


def _call_row(batch: int, call: ModelCall) -> dict[str, int | bytes]:
    return {"batch": batch, "input_hash": bytes.fromhex(call.input_hash)}


def _call(row: Iterable[Any]) -> ModelCall:
    """The call in a row of `_CALLS`, whose columns are in the order of the fields."""
    values: dict[str, Any] = {each.name: value for each, value in zip(fields(ModelCall), row, strict=True)}
    at, input_hash = datetime.fromisoformat(values.pop("at")), bytes(values.pop("input_hash")).hex()
    return ModelCall(**values, at=at, input_hash=input_hash)
