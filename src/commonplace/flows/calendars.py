"""Calendars: read what is new -> expand it into events -> mirror them in the history. And: which events ended.

    sync_calendar   a reader's texts -> events within the window of days -> what was added, changed and removed
    statuses        each calendar of the settings, and how far it was read
    ended_events    the events that ended since a cursor, each once

Nothing of a calendar reaches the vault here. A reading that fails leaves the mirror as it was.

The cursor has a moment for each calendar, up to which it was read when events were last given. It never runs ahead of
what was read: after a night without network, an event that is mirrored late still ends later than the cursor. Behind it
lies the look-back, for events that a server tells late; in that time the cursor names the events that were given. An
event that was given and then moved to a later time stays named until it is over for long.
"""

import hashlib
import re
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any, Final, Literal

from commonplace.errors import CommonplaceError, NotFound
from commonplace.events import emit
from commonplace.flows.stores import Session, Stores
from commonplace.history.base import History
from commonplace.model.calendar import CalendarResource, CalendarState, Event, EventChanges
from commonplace.model.moment import moment_text, parse_moment
from commonplace.model.note_words import plain_words
from commonplace.model.text import counted
from commonplace.sources.calendars.base import CalendarSource
from commonplace.sources.calendars.events import Expansion, expand

_PLAIN_ADDRESS: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*@[A-Za-z0-9.-]+")
_MEETINGS_TO_TELL: Final = 3  # from which it is no accident that somebody is in all of them
SyncOutcome = Literal["read", "unchanged", "failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncResult:
    """What one reading of a calendar gave: `events` is how many there are in the window, `reason` why it failed.

    `problems` names events that could not be read; the others were. `likely_own` is the one address that takes part in
    all meetings, if none of them is known as the person's.
    """

    calendar: str
    outcome: SyncOutcome
    events: int = 0
    changes: EventChanges = EventChanges()
    problems: tuple[str, ...] = ()
    likely_own: str = ""
    reason: str = ""
    hint: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CalendarStatus:
    """A calendar of the settings: where it is read, without any secret, when it last was, and a word about that.

    `is_late` says that it could not be read for longer than the settings allow.
    """

    name: str
    kind: str
    place: str
    read: datetime | None
    failures: int
    reason: str
    is_late: bool
    said: str


@dataclass(frozen=True, slots=True)
class Ended:
    """Events that ended, in the order of their ends, and the cursor for the next call: moments and ids, for JSON."""

    events: tuple[Event, ...]
    cursor: Mapping[str, Any] = field(default_factory=dict)


def sync_calendar(name: str, session: Session, *, is_dry: bool = False) -> SyncResult:
    """Bring the mirror of that calendar up to date; with `is_dry` only read it. What fails is in the result.

    Raises NotFound if the settings have no such calendar, VaultUnavailable if the history cannot be written.
    """
    source, now, history = find_source(name, session.stores), session.clock(), session.stores.history
    version = _version(source, session.stores)
    state = history.calendar_states().get(name) or CalendarState(calendar=name)
    old = history.calendar_resources(name)
    known: Mapping[str, CalendarResource] = old if state.source == version else {}
    window = window_at(now, session.stores)
    tried = replace(state, source=version, tried=now, failures=0, reason="")
    try:
        reading = source.open().read(state.mark if known else "", known)
        if reading.is_unchanged and known and state.window == window[1]:
            if not is_dry:
                history.save_calendar_state(replace(tried, mark=reading.mark, read=now))
            return SyncResult(calendar=name, outcome="unchanged", events=_count(history, name, window))
        texts = {href: each for href, each in known.items() if href not in reading.gone}
        texts |= {each.href: each for each in reading.changed}
        expansion = _expand(name, texts, session, window=window)
    except CommonplaceError as error:
        return _failed(error, state, session, is_dry=is_dry)
    if is_dry:
        return _result(name, expansion, EventChanges())
    changes = history.save_events(name, expansion.events, window=window, now=now)
    done = replace(tried, mark=reading.mark, read=now, window=window[1])
    gone = {*reading.gone, *(href for href in old if href not in texts)}
    history.save_calendar_state(done, resources=reading.changed, gone=gone)
    return _result(name, expansion, changes)


def find_source(name: str, stores: Stores) -> CalendarSource:
    """The calendar of that name. Raises NotFound."""
    for each in stores.calendars.sources:
        if each.config.name == name:
            return each
    names = ", ".join(each.config.name for each in stores.calendars.sources) or "none yet"
    raise NotFound(f"no calendar is called {name!r}", hint=f"Calendars: {names}.")


def window_at(now: datetime, stores: Stores) -> tuple[datetime, datetime]:
    """The days whose events are mirrored; the same all through a day of UTC."""
    options, day = stores.calendars.options, now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return day - timedelta(days=options.past_days), day + timedelta(days=options.future_days + 1)


def calendar_statuses(stores: Stores) -> tuple[CalendarStatus, ...]:
    """Every calendar of the settings, and how far it was read."""
    states = stores.history.calendar_states()
    return tuple(_status(each, states.get(each.config.name), stores) for each in stores.calendars.sources)


def ended_events(
    history: History,
    *,
    now: datetime,
    lookback: timedelta,
    cursor: Mapping[str, Any] | None = None,
    with_all_day: bool = False,
    with_cancelled: bool = False,
) -> Ended:
    """Events that ended since the cursor, in the order of their ends, and the next cursor, which JSON can hold.

    An event is given once, whatever happens between two calls: `newly_ended` says how. Store the cursor when the events
    are dealt with; what a crash leaves undone is given again, under the same ids.
    """
    read = {name: state.read for name, state in history.calendar_states().items() if state.read}
    started = [parse_moment(each) for each in (cursor or {}).get("calendars", {}).values()]
    first = min([now, *started]) - lookback
    events = [
        event
        for event in history.events_ending(first, now)
        if (with_all_day or not event.all_day) and (with_cancelled or event.status != "cancelled")
    ]
    seen = {id: event.end for id in (cursor or {}).get("seen", ()) if (event := history.event(id))}
    return newly_ended(events, now=now, lookback=lookback, cursor=cursor or {}, read=read, seen=seen)


def _expand(
    name: str, texts: Mapping[str, CalendarResource], session: Session, *, window: tuple[datetime, datetime]
) -> Expansion:
    calendars = session.stores.calendars
    deadline = time.monotonic() + calendars.options.timeout_seconds
    return expand(
        (texts[href].text for href in sorted(texts)),
        calendar=name,
        window=window,
        zone=calendars.zone,
        most=calendars.options.most_events,
        own=_own_addresses(find_source(name, session.stores), session.stores),
        stops=lambda: time.monotonic() > deadline,
    )


def _failed(error: CommonplaceError, state: CalendarState, session: Session, *, is_dry: bool) -> SyncResult:
    """What failed, kept in the state: the mirror stays as it was."""
    if not is_dry:
        emit("calendar_not_read", level="warning", calendar=state.calendar, reason=error.reason, said=error.message)
        failed = replace(state, tried=session.clock(), failures=state.failures + 1, reason=error.message)
        session.stores.history.save_calendar_state(failed)
    return SyncResult(calendar=state.calendar, outcome="failed", reason=error.message, hint=error.hint or "")


def _result(name: str, expansion: Expansion, changes: EventChanges) -> SyncResult:
    return SyncResult(
        calendar=name,
        outcome="read",
        events=len(expansion.events),
        changes=changes,
        problems=expansion.problems,
        likely_own=likely_own_address(expansion.events),
    )


def likely_own_address(events: Iterable[Event]) -> str:
    """The one address that takes part in every meeting of several; empty if the person's is known, or none does."""
    meetings = {event.uid: event.people for event in events if len(event.people) > 1}
    everyone = [each for people in meetings.values() for each in people]
    if len(meetings) < _MEETINGS_TO_TELL or any(each.is_owner for each in everyone):
        return ""
    common = set.intersection(*({each.email.casefold() for each in people} for people in meetings.values())) - {""}
    own = next((each.email for each in everyone if {each.email.casefold()} == common), "")
    return own if _PLAIN_ADDRESS.fullmatch(own) else ""  # it is shown as part of a command


def _count(history: History, name: str, window: tuple[datetime, datetime]) -> int:
    return len(history.events(*window, calendar=name))


def _version(source: CalendarSource, stores: Stores) -> str:
    """Changes with everything that decides which events a text gives: then it is read again."""
    options = stores.calendars.options
    own = sorted(_own_addresses(source, stores))
    parts = (source.config.identity, options.past_days, options.future_days, str(stores.calendars.zone), own)
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


def _own_addresses(source: CalendarSource, stores: Stores) -> frozenset[str]:
    """The person's addresses: those of the settings, and their name on the server if it is one."""
    user = source.config.user
    return frozenset(each.casefold() for each in (*stores.calendars.options.own_addresses, user) if "@" in each)


def _status(source: CalendarSource, state: CalendarState | None, stores: Stores) -> CalendarStatus:
    config, now = source.config, stores.clock()
    read, failures, reason = (state.read, state.failures, state.reason) if state else (None, 0, "")
    late = timedelta(hours=stores.calendars.options.late_hours)
    is_late = now - read > late if read else failures > 0
    said = f"last read {moment_text(read)}" if read else "never read"
    if failures:
        said += f"; {counted(failures, 'try')} failed since: {reason}".replace("trys", "tries")
    place = {"file": config.path, "caldav": config.host, "address": "a private address"}[config.kind]
    return CalendarStatus(
        name=config.name,
        kind=config.kind,
        place=place,
        read=read,
        failures=failures,
        reason=reason,
        is_late=is_late,
        said=said,
    )


def next_meetings_line(session: Session, *, most: int = 3) -> str:
    """`Next meetings: Wednesday 2026-03-04, 09:00 to 09:30: Offer sync, with Ada Lovelace; ...`; empty without any.

    Those of the next seven days in the person's zone. Their words came from whoever sent the invitation.
    """
    now, zone = session.clock(), session.stores.calendars.zone
    events = session.stores.history.events(now, now + timedelta(days=7))
    coming = [each for each in events if each.takes_place and not each.all_day and each.end > now][:most]
    return f"Next meetings: {'; '.join(_meeting_words(each, zone) for each in coming)}" if coming else ""


def _meeting_words(event: Event, zone: tzinfo) -> str:
    start, end = event.start.astimezone(zone), event.end.astimezone(zone)
    names = [plain_words(each.name, most=40) for each in event.attendees if not (each.is_owner or each.has_declined)]
    with_names = f", with {', '.join(names[:5])}{' and others' if len(names) > 5 else ''}" if names else ""
    return f"{start:%A %Y-%m-%d, %H:%M} to {end:%H:%M}: {plain_words(event.title, most=80)}{with_names}"


def events_between(
    start: datetime, end: datetime, session: Session, *, calendar: str | None = None, with_removed: bool = False
) -> tuple[Event, ...]:
    """The mirrored events of that time, ordered by start. Raises UsageError if the end is before the start."""
    return session.stores.history.events(start, end, calendar=calendar, with_removed=with_removed)


def newly_ended(
    events: Iterable[Event],
    *,
    now: datetime,
    lookback: timedelta,
    cursor: Mapping[str, Any],
    read: Mapping[str, datetime],
    seen: Mapping[str, datetime],
) -> Ended:
    """Those of the events that ended by `now`, after the cursor of their calendar less the look-back, and not seen.

    A calendar without a cursor begins at `now`: what was long over when it was added is not given. `read` says until
    when each calendar is known, `seen` when the events that the cursor names now end. One id is given once, also if two
    calendars have it.
    """
    old = {name: parse_moment(at) for name, at in cursor.get("calendars", {}).items()}
    given: dict[str, Event] = {}
    for event in sorted(events, key=lambda each: (each.end, each.id, each.calendar)):
        after = old.get(event.calendar, now) - lookback
        if after < event.end <= now and event.id not in seen:
            given.setdefault(event.id, event)
    new = {name: max(old.get(name, now), min(at, now)) if name in old else min(at, now) for name, at in read.items()}
    oldest = min([*new.values(), now]) - lookback
    ends = {**seen, **{event.id: event.end for event in given.values()}}
    return Ended(
        tuple(given.values()),
        {
            "calendars": {name: moment_text(at) for name, at in sorted(new.items())},
            "seen": sorted(id for id, end in ends.items() if end > oldest),
        },
    )
