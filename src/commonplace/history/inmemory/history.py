"""A history in lists and dictionaries that keeps the contract; for tests, and beside a vault that is in memory."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from commonplace.history.base import (
    ERASED,
    AuditEntry,
    ModelCall,
    checked_limit,
    expiry,
    new_token,
    token_hash,
    utc_second,
)
from commonplace.history.inmemory.uses import InMemoryUses


@dataclass(frozen=True, slots=True)
class _Grant:
    path: str
    expires: datetime


class InMemoryHistory(InMemoryUses):
    """A history that is gone with the process."""

    def __init__(self) -> None:
        super().__init__()
        self._audit: list[AuditEntry] = []
        self._commits: dict[str, datetime] = {}
        self._grants: dict[str, _Grant] = {}
        self._calls: list[ModelCall] = []

    def record(self, *entries: AuditEntry) -> None:
        """Add these rows."""
        with self._turn:
            self._add(entries)

    def entries(
        self,
        *,
        path: str | None = None,
        actor: str | None = None,
        since: datetime | None = None,
        limit: int | None = None,
    ) -> tuple[AuditEntry, ...]:
        """The rows about that note, by that actor, from that time on; newest first, at most `limit`."""
        start = utc_second(since) if since else None
        checked_limit(limit)
        with self._turn:
            oldest_first = sorted(self._audit, key=lambda entry: entry.when)
        chosen = (
            entry
            for entry in reversed(oldest_first)
            if (path is None or entry.names(path))
            and (actor is None or entry.actor == actor)
            and (start is None or entry.when >= start)
        )
        return tuple(chosen)[:limit]

    def newest_commit(self) -> str | None:
        """The latest commit that was recorded or recovered."""
        with self._turn:
            return max(reversed(self._commits), key=self._commits.__getitem__, default=None)

    def recover(self, entries: Iterable[AuditEntry]) -> int:
        """Add the rows whose commit is not known; how many were added."""
        entries = tuple(entries)
        with self._turn:
            missing = [entry for entry in entries if entry.commit and entry.commit not in self._commits]
            self._add(missing)
        return len(missing)

    def forget_path(self, path: str) -> int:
        """Remove every trace of that path; how many audit rows went."""
        with self._turn:
            gone = [entry for entry in self._audit if entry.names(path)]
            mutations = {entry.mutation for entry in gone}
            self._audit = [
                replace(entry, reason=entry.reason.replace(path, ERASED)) if entry.mutation in mutations else entry
                for entry in self._audit
                if not entry.names(path)
            ]
            self._grants = {key: grant for key, grant in self._grants.items() if grant.path != path}
        return len(gone)

    def give_grant(self, path: str, *, now: datetime, minutes: int = 10) -> str:
        """A new token that lets one write to that path pass within those minutes."""
        token = new_token()
        with self._turn:
            self._grants[token_hash(token)] = _Grant(path, expiry(now, minutes))
        return token

    def has_grant(self, token: str, path: str, *, now: datetime) -> bool:
        """Whether the token is good for exactly that path now; it is not used up by asking."""
        grant = self._grants.get(token_hash(token))
        return grant is not None and grant.path == path and grant.expires > utc_second(now)

    def use_grant(self, token: str, path: str, *, now: datetime) -> bool:
        """Whether the token is good for exactly that path now; a good one is used up by this."""
        with self._turn:
            good = self.has_grant(token, path, now=now)
            if good:
                del self._grants[token_hash(token)]
            return good

    def log_calls(self, calls: Sequence[ModelCall]) -> None:
        """Add a row for each call."""
        with self._turn:
            self._calls.extend(calls)

    def calls(
        self, *, task_type: str | None = None, since: datetime | None = None, limit: int | None = None
    ) -> tuple[ModelCall, ...]:
        """The calls of that type, from that time on; newest first, at most `limit`."""
        start = utc_second(since) if since else None
        checked_limit(limit)
        with self._turn:
            oldest_first = sorted(self._calls, key=lambda call: call.at)
        chosen = (
            call
            for call in reversed(oldest_first)
            if (task_type is None or call.task_type == task_type) and (start is None or call.at >= start)
        )
        return tuple(chosen)[:limit]

    def count_calls(self, task_type: str | None = None) -> int:
        """How many calls were logged, of that type or of all."""
        return len(self.calls(task_type=task_type))

    def forget_calls(self, input_hashes: Iterable[str]) -> int:
        """Remove every call with one of these texts; how many went."""
        hashes = set(input_hashes)
        with self._turn:
            kept = [call for call in self._calls if call.input_hash not in hashes]
            gone = len(self._calls) - len(kept)
            self._calls = kept
        return gone

    def close(self) -> None:
        """Nothing is open."""

    def _add(self, entries: Iterable[AuditEntry]) -> None:
        for entry in entries:
            self._audit.append(entry)
            if entry.commit:
                self._commits.setdefault(entry.commit, entry.when)
