"""Which events ended since they were last asked for: a pure function over events and a cursor.

The cursor has a moment for each calendar, up to which it was read when events were last given. It never runs ahead of
what was read: after a night without network, an event that is mirrored late still ends later than the cursor. Behind it
lies the look-back, for events that a server tells late; in that time the cursor names the events that were given. An
event that was given and then moved to a later time stays named until it is over for long.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from commonplace.model.calendar import Event
from commonplace.model.moment import moment_text, parse_moment


@dataclass(frozen=True, slots=True)
class Ended:
    """Events that ended, in the order of their ends, and the cursor for the next call: moments and ids, for JSON."""

    events: tuple[Event, ...]
    cursor: Mapping[str, Any] = field(default_factory=dict)


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
