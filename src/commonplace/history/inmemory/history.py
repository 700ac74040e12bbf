"""`History` in lists and dictionaries, lost with the process: audit, grants, model calls, the mirror of calendars."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

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
    token_hash,
    utc_second,
)
from commonplace.history.inmemory.learning import InMemoryJobs
from commonplace.history.mirror import checked_events, checked_state, checked_window, compare, overlaps
from commonplace.model.calendar import CalendarResource, CalendarState, Event, EventChanges


class InMemoryCalendars(InMemoryJobs):
    """Events, texts and states of calendars."""

    def __init__(self) -> None:
        super().__init__()
        self._events: dict[str, dict[str, Event]] = {}  # by calendar and id
        self._calendar_states: dict[str, CalendarState] = {}
        self._resources: dict[str, dict[str, CalendarResource]] = {}  # by calendar and name

    def save_events(
        self, calendar: str, events: Iterable[Event], *, window: tuple[datetime, datetime], now: datetime
    ) -> EventChanges:
        """Make the mirror of that calendar equal to `events` within the window; all or nothing."""
        incoming, window = checked_events(calendar, events), checked_window(*window)
        with self._lock:
            mirrored = self._events.setdefault(calendar, {})
            stored, changes = compare(mirrored, incoming, window=window, now=now)
            mirrored.update({event.id: event for event in stored})
        return changes

    def events(
        self, start: datetime, end: datetime, *, calendar: str | None = None, with_removed: bool = False
    ) -> tuple[Event, ...]:
        """Events that overlap that time, cancelled ones too, ordered by start and id."""
        window = checked_window(start, end)
        found = (
            event
            for event in self._all_events()
            if calendar in (None, event.calendar)
            and (with_removed or event.removed is None)
            and overlaps(event, *window)
        )
        return tuple(sorted(found, key=lambda each: (each.start, each.id, each.calendar)))

    def events_ending(self, after: datetime, until: datetime) -> tuple[Event, ...]:
        """Events that end later than `after` and no later than `until`, ordered by end and id; no removed ones."""
        first, last = utc_second(after), utc_second(until)
        found = (event for event in self._all_events() if event.removed is None and first < event.end <= last)
        return tuple(sorted(found, key=lambda each: (each.end, each.id, each.calendar)))

    def event(self, id: str) -> Event | None:
        """The event with that id, removed or not; of two calendars that have it, one that has not removed it."""
        found = [event for event in self._all_events() if event.id == id]
        return min(found, key=lambda each: (each.removed is not None, each.calendar), default=None)

    def calendar_states(self) -> Mapping[str, CalendarState]:
        """How far each calendar was read, by name; those that were never tried are left out."""
        with self._lock:
            return {name: self._calendar_states[name] for name in sorted(self._calendar_states)}

    def save_calendar_state(
        self, state: CalendarState, *, resources: Iterable[CalendarResource] = (), gone: Iterable[str] = ()
    ) -> None:
        """Store how far a calendar was read, with these resources, and without those of the names `gone`."""
        checked = checked_state(state)
        with self._lock:
            self._calendar_states[state.calendar] = checked
            kept = self._resources.setdefault(state.calendar, {})
            for href in gone:
                kept.pop(href, None)
            kept.update({each.href: each for each in resources})

    def calendar_resources(self, calendar: str) -> Mapping[str, CalendarResource]:
        """The texts that the calendar was read from, by name."""
        with self._lock:
            kept = self._resources.get(calendar, {})
            return {href: kept[href] for href in sorted(kept)}

    def forget_calendar(self, calendar: str) -> int:
        """Remove everything about that calendar for good; returns how many events."""
        with self._lock:
            self._calendar_states.pop(calendar, None)
            self._resources.pop(calendar, None)
            return len(self._events.pop(calendar, {}))

    def _all_events(self) -> list[Event]:
        with self._lock:
            return [event for events in self._events.values() for event in events.values()]


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
        verb: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        limit: int | None = None,
    ) -> tuple[AuditEntry, ...]:
        """Rows of that note, actor and verb, from `since` to `until`, both included; newest first, at most `limit`."""
        start, end = utc_second(since) if since else None, utc_second(until) if until else None
        check_limit(limit)
        with self._lock:
            oldest_first = sorted(self._audit, key=lambda entry: entry.when)
        matching = (
            entry
            for entry in reversed(oldest_first)
            if (path is None or entry.names(path))
            and (actor is None or entry.actor == actor)
            and (verb is None or entry.verb == verb)
            and (start is None or entry.when >= start)
            and (end is None or entry.when <= end)
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
            self._contexts.clear()
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

    def spending_by_task(self, *, since: datetime) -> tuple[TaskSpending, ...]:
        """What the calls of language models came to since the UTC day of that moment, by day and task."""
        start = day_bounds(since)[0]
        by_task: dict[tuple[str, str], list[ModelCall]] = {}
        with self._lock:
            for call in self._calls:
                if call.tokens and call.at >= start:
                    by_task.setdefault((f"{call.at:%Y-%m-%d}", call.task_type), []).append(call)
        return tuple(
            TaskSpending(*key, len(calls), sum(call.tokens for call in calls), sum(call.cost for call in calls))
            for key, calls in sorted(by_task.items())
        )

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
