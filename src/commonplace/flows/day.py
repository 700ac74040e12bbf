"""A day -> what happened on it, in order: conversations, what was learned, writes, edits of the person, meetings."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo
from itertools import groupby
from typing import Final, Literal

from commonplace.errors import Refused
from commonplace.flows.calendars import events_between
from commonplace.flows.memory.facts import entry_reader
from commonplace.flows.notes.history import OPERATION, log_entries
from commonplace.flows.read import list_notes
from commonplace.flows.stores import Session
from commonplace.index.base import FactQuery
from commonplace.model.layout import is_entry_path
from commonplace.model.moment import moment_text, parse_moment

HappeningKind = Literal["conversation", "memory", "write", "edit", "meeting"]
_MOST: Final = 500  # of each kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Happening:
    """One thing that happened on a day.

    `title` says it. `path` is the note that it is about, `id` the conversation, the entry or the commit; both may be
    empty. `by` is the program or the person.
    """

    at: datetime
    kind: HappeningKind
    title: str
    path: str = ""
    id: str = ""
    by: str = ""


def day_of(day: date, zone: tzinfo, session: Session) -> tuple[Happening, ...]:
    """What happened on that day of the zone, in order. Raises Refused unless a person asks, IndexDamaged."""
    if session.actor.kind != "person":
        raise Refused("only the person may see a whole day", hint="Search for what you need.")
    start = datetime(day.year, day.month, day.day, tzinfo=zone).astimezone(UTC)
    next_day = day + timedelta(days=1)
    end = datetime(next_day.year, next_day.month, next_day.day, tzinfo=zone).astimezone(UTC)
    parts = (_conversations, _memories, _writes, _edits, _meetings)
    return tuple(
        sorted((each for part in parts for each in part(start, end, session)), key=lambda each: (each.at, each.title))
    )


def _conversations(start: datetime, end: datetime, session: Session) -> Iterator[Happening]:
    threads = session.stores.history.conversations(since=start, kind=None)
    for thread in [each for each in threads if each.started < end][:_MOST]:
        title = thread.title or thread.source_id
        yield Happening(
            at=max(start, thread.started), kind="conversation", title=title, id=thread.id, by=thread.interface
        )


def _memories(start: datetime, end: datetime, session: Session) -> Iterator[Happening]:
    query = FactQuery(
        origins=("entry",), recorded_from=moment_text(start), recorded_until=moment_text(end), limit=_MOST
    )
    with entry_reader(session.stores) as reader:
        facts = [record.fact for record in reader.facts(query)]
    for fact in facts:
        at, by = parse_moment(fact.recorded), fact.origins.interface
        if start <= at < end:
            yield Happening(at=at, kind="memory", title=fact.text, path=fact.path, id=fact.id, by=by)


def _writes(start: datetime, end: datetime, session: Session) -> Iterator[Happening]:
    """The changes of notes, one for each commit; entries stand there as what was learned."""
    log_entries(session.stores, limit=1)  # restores rows that a crash has lost
    rows = session.stores.history.entries(since=start, until=end)
    notes = [each for each in rows if each.when < end and each.verb != OPERATION and not is_entry_path(each.path)]
    for commit, group in groupby(notes[:_MOST], key=lambda each: each.commit):
        changed = list(group)
        first, more = changed[-1], len(changed) - 1
        title = f"{first.verb} {first.destination or first.path}{f' and {more} more' if more else ''}"
        by = first.origin or first.actor
        yield Happening(at=first.when, kind="write", title=title, path=first.path, id=commit or "", by=by)


def _edits(start: datetime, end: datetime, session: Session) -> Iterator[Happening]:
    """The notes that were last changed on that day, and not through Commonplace."""
    stores = session.stores
    ours = {each.destination or each.path for each in stores.history.entries(since=start, until=end)}
    for stat in list_notes("", stores.vault, skip=stores.ignored):
        at = datetime.fromtimestamp(stat.mtime, UTC)
        if start <= at < end and stat.path not in ours:
            yield Happening(at=at, kind="edit", title=f"edited {stat.path}", path=stat.path, by="you")


def _meetings(start: datetime, end: datetime, session: Session) -> Iterator[Happening]:
    for event in events_between(start, end, session):
        if event.takes_place:
            yield Happening(
                at=max(start, event.start), kind="meeting", title=event.title, id=event.id, by=event.calendar
            )
