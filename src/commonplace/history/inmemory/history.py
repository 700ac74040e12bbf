"""`History` in lists and dictionaries, lost with the process."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from commonplace.history.base import (
    ERASED,
    STATE_DAYS,
    AuditEntry,
    ModelCall,
    ModelState,
    Spending,
    UnfinishedErasure,
    check_limit,
    day_bounds,
    expiry,
    new_token,
    token_hash,
    utc_second,
)
from commonplace.history.inmemory.calendars import InMemoryCalendars


@dataclass(frozen=True, slots=True)
class _Grant:
    path: str
    expires: datetime


class InMemoryHistory(InMemoryCalendars):
    """Audit, grants and model calls, with conversations and usage."""

    def __init__(self) -> None:
        super().__init__()
        self._audit: list[AuditEntry] = []
        self._erasures: dict[str, UnfinishedErasure] = {}
        self._commits: dict[str, datetime] = {}
        self._grants: dict[str, _Grant] = {}  # by token hash
        self._calls: list[ModelCall] = []
        self._reserved: list[ModelCall] = []  # by number, as they were added
        self._model_states: dict[str, tuple[datetime, ModelState]] = {}  # by identity, with the time of the last save

    def record(self, *entries: AuditEntry) -> None:
        """Add these rows."""
        with self._lock:
            self._add(entries)

    def entries(
        self,
        *,
        path: str | None = None,
        actor: str | None = None,
        since: datetime | None = None,
        limit: int | None = None,
    ) -> tuple[AuditEntry, ...]:
        """Rows about that note, by that actor, since that time; newest first, at most `limit`."""
        start = utc_second(since) if since else None
        check_limit(limit)
        with self._lock:
            oldest_first = sorted(self._audit, key=lambda entry: entry.when)
        matching = (
            entry
            for entry in reversed(oldest_first)
            if (path is None or entry.names(path))
            and (actor is None or entry.actor == actor)
            and (start is None or entry.when >= start)
        )
        return tuple(matching)[:limit]

    def newest_commit(self) -> str | None:
        """The latest commit that was recorded or recovered, or None."""
        with self._lock:
            return max(reversed(self._commits), key=self._commits.__getitem__, default=None)

    def recover(self, entries: Iterable[AuditEntry]) -> int:
        """Add the rows whose commit is unknown; returns how many were added."""
        entries = tuple(entries)
        with self._lock:
            missing = [entry for entry in entries if entry.commit and entry.commit not in self._commits]
            self._add(missing)
        return len(missing)

    def forget_path(self, path: str) -> int:
        """Remove every trace of that path; returns how many audit rows were removed."""
        self.forget_learning(path)
        with self._lock:
            self._states.clear()
            self._topic_locks.clear()
            removed = [entry for entry in self._audit if entry.names(path)]
            mutations = {entry.mutation for entry in removed}
            self._audit = [
                replace(entry, reason=entry.reason.replace(path, ERASED)) if entry.mutation in mutations else entry
                for entry in self._audit
                if not entry.names(path)
            ]
            self._grants = {key: grant for key, grant in self._grants.items() if grant.path != path}
        return len(removed)

    def begin_erasure(self, erasure: UnfinishedErasure) -> None:
        """Remember what is being erased, until it is ended."""
        self._erasures[erasure.path] = replace(erasure, begun=utc_second(erasure.begun))

    def unfinished_erasures(self) -> tuple[UnfinishedErasure, ...]:
        """The erasures that were begun and not ended, oldest first."""
        return tuple(sorted(self._erasures.values(), key=lambda each: (each.begun, each.path)))

    def end_erasure(self, path: str) -> None:
        """Forget that this path was being erased."""
        self._erasures.pop(path, None)

    def give_grant(self, path: str, *, now: datetime, minutes: int = 10) -> str:
        """A new token that allows one write to that path within `minutes`."""
        token = new_token()
        with self._lock:
            self._grants[token_hash(token)] = _Grant(path, expiry(now, minutes))
        return token

    def has_grant(self, token: str, path: str, *, now: datetime) -> bool:
        """True if the token is valid for exactly that path now; does not use it up."""
        grant = self._grants.get(token_hash(token))
        return grant is not None and grant.path == path and grant.expires > utc_second(now)

    def use_grant(self, token: str, path: str, *, now: datetime) -> bool:
        """True if the token is valid for exactly that path now; uses it up."""
        with self._lock:
            is_valid = self.has_grant(token, path, now=now)
            if is_valid:
                del self._grants[token_hash(token)]
            return is_valid

    def log_calls(self, calls: Sequence[ModelCall]) -> None:
        """Add a row for each call."""
        with self._lock:
            self._calls.extend(calls)

    def calls(
        self, *, task_type: str | None = None, since: datetime | None = None, limit: int | None = None
    ) -> tuple[ModelCall, ...]:
        """Calls of that type since that time; newest first, at most `limit`."""
        start = utc_second(since) if since else None
        check_limit(limit)
        with self._lock:
            oldest_first = sorted(self._calls, key=lambda call: call.at)
        matching = (
            call
            for call in reversed(oldest_first)
            if (task_type is None or call.task_type == task_type) and (start is None or call.at >= start)
        )
        return tuple(matching)[:limit]

    def reserve_call(self, call: ModelCall, *, budget: Spending) -> int | None:
        """Add the call with the most it can cost, unless that would exceed the day's budget; returns its number."""
        with self._lock:
            spent = self._spending(call.at)
            if spent.tokens + call.tokens > budget.tokens or spent.cost + call.cost > budget.cost:
                return None
            self._calls.append(call)
            self._reserved.append(call)
            return len(self._reserved)

    def settle_call(self, number: int, *, tokens: int, cost: float, duration_ms: float) -> None:
        """Replace what was reserved by what the call came to."""
        with self._lock:
            reserved = self._reserved[number - 1]
            settled = replace(reserved, tokens=tokens, cost=cost, duration_ms=duration_ms)
            self._calls = [settled if call is reserved else call for call in self._calls]

    def spending(self, day: datetime) -> Spending:
        """What the calls of language models on that UTC day came to."""
        with self._lock:
            return self._spending(day)

    def _spending(self, day: datetime) -> Spending:
        start, end = day_bounds(day)
        calls = [call for call in self._calls if call.tokens and start <= call.at < end]
        return Spending(len(calls), sum(call.tokens for call in calls), sum(call.cost for call in calls))

    def model_state(self, identity: str) -> ModelState:
        """The failures of that model since it last answered."""
        return self._model_states.get(identity, (None, ModelState(identity)))[1]

    def save_model_state(self, state: ModelState, *, now: datetime) -> None:
        """Store the state of a model, replacing the earlier one."""
        at, oldest = utc_second(now), utc_second(now) - timedelta(days=STATE_DAYS)
        until = utc_second(state.until) if state.until else None
        with self._lock:
            states = {key: kept for key, kept in self._model_states.items() if kept[0] >= oldest}
            self._model_states = states | {state.identity: (at, replace(state, until=until))}

    def forget_model_states(self) -> int:
        """Forget the failures of all models; returns how many had some."""
        with self._lock:
            count, self._model_states = len(self._model_states), {}
        return count

    def count_calls(self, task_type: str | None = None) -> int:
        """How many calls were logged, of that type or in total."""
        return len(self.calls(task_type=task_type))

    def forget_calls(self, input_hashes: Iterable[str]) -> int:
        """Remove every call with one of these texts; returns how many."""
        hashes = set(input_hashes)
        with self._lock:
            remaining = [call for call in self._calls if call.input_hash not in hashes]
            removed = len(self._calls) - len(remaining)
            self._calls = remaining
        return removed

    def size(self) -> int:
        """Return 0: nothing is on disk."""
        return 0

    def close(self) -> None:
        """Do nothing: nothing is open."""

    def _add(self, entries: Iterable[AuditEntry]) -> None:
        for entry in entries:
            self._audit.append(entry)
            if entry.commit:
                self._commits.setdefault(entry.commit, entry.when)
