"""`History` in SQL."""

from collections.abc import Iterable, Sequence
from dataclasses import fields
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import apsw

from commonplace.database import Database, Wording
from commonplace.errors import VaultUnavailable
from commonplace.history.base import (
    ERASED,
    AuditEntry,
    ModelCall,
    checked_limit,
    expiry,
    new_token,
    token_hash,
)
from commonplace.history.sqlite import calls as call_log
from commonplace.history.sqlite.migrations import MIGRATIONS
from commonplace.history.sqlite.moments import moment_text
from commonplace.history.sqlite.uses import SqliteUses

WORDING: Final = Wording(
    label="history",
    damaged=VaultUnavailable,
    mend="Keep a copy of {name} and move it away with the files {name}-wal and {name}-shm beside it; "
    "a new one is made, and its audit is recovered from the vault's commits.",
    too_new="Upgrade Commonplace.",
)

_ADD_COMMIT: Final = "INSERT INTO commits (hash, at) VALUES (:commit, :at) ON CONFLICT DO NOTHING"
_ADD_ROW: Final = """
INSERT INTO audit (mutation, at, verb, path, actor, origin, reason, destination, before, after, commit_number,
                   in_digest)
VALUES (:mutation, :at, :verb, :path, :actor, :origin, :reason, :destination, :before, :after,
        (SELECT number FROM commits WHERE hash = :commit), :in_digest)
"""
_ROWS: Final = """
SELECT mutation, audit.at, verb, path, actor, origin, reason, destination, before, after, hash, in_digest
FROM audit LEFT JOIN commits ON commits.number = commit_number
"""
_CONDITIONS: Final = {
    "path": "(path = :path OR destination = :path)",
    "actor": "actor = :actor",
    "since": "audit.at >= :since",
}
_NEWEST_FIRST: Final = " ORDER BY audit.at DESC, audit.number DESC LIMIT :limit"
_NEWEST_COMMIT: Final = "SELECT hash FROM commits ORDER BY at DESC, number DESC LIMIT 1"
_TAKE_PATH_OUT_OF_REASONS: Final = """
UPDATE audit SET reason = replace(reason, :path, :erased)
WHERE mutation IN (SELECT mutation FROM audit WHERE path = :path OR destination = :path)
"""
_FORGET: Final = "DELETE FROM audit WHERE path = :path OR destination = :path"
_FORGET_GRANTS: Final = "DELETE FROM grants WHERE path = :path"
_GIVE: Final = "INSERT INTO grants (token_hash, path, expires) VALUES (:token, :path, :expires)"
_HAS: Final = "SELECT 1 FROM grants WHERE token_hash = :token AND path = :path AND expires > :now"
_USE: Final = "DELETE FROM grants WHERE token_hash = :token AND path = :path AND expires > :now"
_DROP_EXPIRED: Final = "DELETE FROM grants WHERE expires <= :now"


class SqliteHistory(SqliteUses):
    """The history in that file, made at first use; any number of processes may use it at once.

    `wait` is how many seconds a call waits for its turn before it raises VaultUnavailable(locked).
    """

    def __init__(self, file: Path, *, wait: float = 5.0) -> None:
        super().__init__(Database(file, migrations=MIGRATIONS, wording=WORDING, wait=wait))

    def record(self, *entries: AuditEntry) -> None:
        """Add these rows, all or none."""
        with self._database.changing() as connection:
            _add(connection, entries)

    def entries(
        self,
        *,
        path: str | None = None,
        actor: str | None = None,
        since: datetime | None = None,
        limit: int | None = None,
    ) -> tuple[AuditEntry, ...]:
        """The rows about that note, by that actor, from that time on; newest first, at most `limit`."""
        asked = {"path": path, "actor": actor, "since": moment_text(since) if since else None}
        given = {name: value for name, value in asked.items() if value is not None}
        where = " AND ".join(_CONDITIONS[name] for name in given)
        checked_limit(limit)
        with self._database.reading() as connection:
            rows = connection.execute(
                _ROWS + (f"WHERE {where}" if where else "") + _NEWEST_FIRST,
                {**given, "limit": -1 if limit is None else limit},
            ).fetchall()
        return tuple(_entry(row) for row in rows)

    def newest_commit(self) -> str | None:
        """The latest commit that was recorded or recovered."""
        with self._database.reading() as connection:
            commit: str | None = connection.execute(_NEWEST_COMMIT).get
        return commit

    def recover(self, entries: Iterable[AuditEntry]) -> int:
        """Add the rows whose commit is not known; how many were added."""
        entries = tuple(entries)
        with self._database.changing() as connection:
            known = {hash_ for (hash_,) in connection.execute("SELECT hash FROM commits")}
            missing = [entry for entry in entries if entry.commit and entry.commit not in known]
            _add(connection, missing)
        return len(missing)

    def forget_path(self, path: str) -> int:
        """Remove every trace of that path, also from pages that are free and from the log; how many rows went."""
        with self._database.changing() as connection:
            connection.execute(_TAKE_PATH_OUT_OF_REASONS, {"path": path, "erased": ERASED})
            connection.execute(_FORGET, {"path": path})
            gone = connection.changes()
            connection.execute(_FORGET_GRANTS, {"path": path})
        self._database.scrub()
        return gone

    def give_grant(self, path: str, *, now: datetime, minutes: int = 10) -> str:
        """A new token that lets one write to that path pass within those minutes; expired ones are dropped."""
        token = new_token()
        grant = {"token": token_hash(token), "path": path, "expires": moment_text(expiry(now, minutes))}
        with self._database.changing() as connection:
            connection.execute(_DROP_EXPIRED, {"now": moment_text(now)})
            connection.execute(_GIVE, grant)
        return token

    def has_grant(self, token: str, path: str, *, now: datetime) -> bool:
        """Whether the token is good for exactly that path now; it is not used up by asking."""
        with self._database.reading() as connection:
            found = connection.execute(_HAS, {"token": token_hash(token), "path": path, "now": moment_text(now)})
            return found.fetchone() is not None

    def use_grant(self, token: str, path: str, *, now: datetime) -> bool:
        """Whether the token is good for exactly that path now; a good one is used up by this."""
        with self._database.changing() as connection:
            connection.execute(_USE, {"token": token_hash(token), "path": path, "now": moment_text(now)})
            return connection.changes() == 1

    def log_calls(self, calls: Sequence[ModelCall]) -> None:
        """Add a row for each call, all or none."""
        if calls:
            with self._database.changing() as connection:
                call_log.add(connection, calls)

    def calls(
        self, *, task_type: str | None = None, since: datetime | None = None, limit: int | None = None
    ) -> tuple[ModelCall, ...]:
        """The calls of that type, from that time on; newest first, at most `limit`."""
        with self._database.reading() as connection:
            return call_log.find(connection, task_type=task_type, since=since, limit=limit)

    def count_calls(self, task_type: str | None = None) -> int:
        """How many calls were logged, of that type or of all."""
        with self._database.reading() as connection:
            return call_log.count(connection, task_type)

    def forget_calls(self, input_hashes: Iterable[str]) -> int:
        """Remove every call with one of these texts, also from pages that are free and from the log; how many went."""
        with self._database.changing() as connection:
            gone = call_log.remove(connection, input_hashes)
        self._database.scrub()
        return gone

    def close(self) -> None:
        """Close the file; the next call opens it again."""
        self._database.close()


def _add(connection: apsw.Connection, entries: Iterable[AuditEntry]) -> None:
    for entry in entries:
        values = {
            "mutation": entry.mutation,
            "at": moment_text(entry.when),
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
        }
        if entry.commit:
            connection.execute(_ADD_COMMIT, values)
        connection.execute(_ADD_ROW, values)


def _entry(row: Iterable[Any]) -> AuditEntry:
    """A row of `_ROWS`, whose columns stand in the order of the fields."""
    values: dict[str, Any] = {each.name: value for each, value in zip(fields(AuditEntry), row, strict=True)}
    when, in_digest = datetime.fromisoformat(values.pop("when")), bool(values.pop("in_digest"))
    return AuditEntry(**values, when=when, in_digest=in_digest)
