"""What happened in a day or a week, as values for a template: sessions, meetings, entries, changed notes, open tasks.

Only what a program may see: no sensitive notes and entries, nothing that waits for review, no conversation that memory
may not learn from, none of a channel. Notes that templates wrote are left out, so that no note reports another.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import Any, Final

from commonplace.errors import NotFound
from commonplace.facts.commitments import StatedCommitment, commitments_of, plain_task
from commonplace.facts.entry_paths import id_digits
from commonplace.facts.triples import ME, strip_links
from commonplace.flows.conversations import may_learn_from
from commonplace.flows.memory.facts import entry_reader
from commonplace.flows.read import is_hidden, list_notes, locate
from commonplace.flows.stores import Session
from commonplace.flows.templates.meetings import attendees_of, read_note
from commonplace.index.base import FactQuery
from commonplace.model import Fact, Message, Note, Thread
from commonplace.model.layout import MEMORY, is_below
from commonplace.model.moment import moment_text
from commonplace.model.note_words import plain_words
from commonplace.model.template import WRITTEN_BY
from commonplace.notes import parse
from commonplace.sources.transcripts import strip_memory

MOST_NOTES: Final = 500
"""Notes that are looked into; more at once come from an import or a clone."""
_OPEN_BOXES: Final = (" ", "/")  # other characters mark a question, an idea, what was forwarded
_LONGEST_TITLE: Final = 400
_MOST_PEOPLE: Final = 5  # of a meeting that are named
_AGENT: Final = MEMORY.partition("/")[0]


@dataclass(frozen=True, slots=True)
class Period:
    """The days from `first` to `last`, both included, in the person's zone."""

    first: date
    last: date
    zone: tzinfo

    @property
    def start(self) -> datetime:
        """The moment at which it begins."""
        return _midnight(self.first, self.zone)

    @property
    def end(self) -> datetime:
        """The moment at which it is over."""
        return _midnight(self.last + timedelta(days=1), self.zone)

    def has(self, moment: datetime) -> bool:
        """True if the moment is in it."""
        return self.start <= moment < self.end

    def has_text(self, moment: str) -> bool:
        """True if the moment, as text in UTC, is in it."""
        return bool(moment) and moment_text(self.start) <= moment < moment_text(self.end)


def _midnight(day: date, zone: tzinfo) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=zone).astimezone(UTC)


def version_at(period: Period, now: datetime) -> str:
    """The version of what a note about the period is made from: it changes until the period is over."""
    return "complete" if now >= period.end else f"until {moment_text(now)}"


def what_happened(period: Period, session: Session) -> dict[str, list[dict[str, Any]]] | None:
    """The conversations, meetings, entries, changed notes and open tasks of the period; None if nothing happened."""
    found = {
        "sessions": _sessions(period, session),
        "meetings": [*_meetings(period, session)],
        **_entries(period, session),
        **_notes(period, session),
    }
    return found if any(values for name, values in found.items() if name != "tasks") else None


def cut_lists(lists: Mapping[str, Sequence[Any]], most: int) -> dict[str, Any]:
    """The first items of each list, and by its name in `left_out` how many more there are."""
    return {
        **{name: values[:most] for name, values in lists.items()},
        "left_out": {name: max(0, len(values) - most) for name, values in lists.items()},
    }


# ---------------------------------------------------------------- conversations


def _sessions(period: Period, session: Session) -> list[dict[str, Any]]:
    """The conversations and tasks of the period, oldest first: title, program, project, times, number of messages."""
    threads = session.stores.history.conversations(since=period.start, kind=None)
    found = [each for thread in threads if (each := _session(thread, period, session))]
    return sorted(found, key=lambda each: (each["day"], each["began"], each["id"]))


def _session(thread: Thread, period: Period, session: Session) -> dict[str, Any] | None:
    is_other = thread.kind == "correction" or thread.trust == "imported" or bool(thread.channel)
    if is_other or thread.started >= period.end or not may_learn_from(thread, session.stores):
        return None
    messages = session.stores.history.messages(thread.id)
    said = [each for each in messages if each.at and period.has(each.at) and each.role in ("user", "assistant")]
    if not said:
        return None
    began, ended = (each.at.astimezone(period.zone) for each in (said[0], said[-1]) if each.at)
    return {
        "id": thread.id,
        "title": (thread.title or _first_words(said))[:_LONGEST_TITLE] or "untitled",
        "interface": thread.interface,
        "project": thread.project,
        "day": f"{began:%Y-%m-%d}",
        "began": f"{began:%H:%M}",
        "ended": f"{ended:%H:%M}",
        "count": len(said),
    }


def _first_words(messages: Sequence[Message]) -> str:
    words = (strip_memory(each.text).strip() for each in messages if each.role == "user")
    return next((each for each in words if each), "")


# ---------------------------------------------------------------- meetings


def _meetings(period: Period, session: Session) -> Iterator[dict[str, Any]]:
    """The meetings that began in the period and are over: when, with whom, and their notes.

    One whose note programs may not see is left out.
    """
    events = session.stores.history.events(period.start, min(period.end, session.clock()))
    met = [each for each in events if each.takes_place and not each.all_day and attendees_of(each)]
    for event in met:
        if not period.has(event.start) or event.end > session.clock():
            continue
        with session.stores.index.reader() as reader:
            paths = [each.path for each in reader.written_notes(key=event.id)]
        if not paths or read_note(paths[0], session):
            start = event.start.astimezone(period.zone)
            yield {
                "title": event.title,
                "day": f"{start:%Y-%m-%d}",
                "time": f"{start:%H:%M}",
                "people": [plain_words(each.name) for each in attendees_of(event)][:_MOST_PEOPLE],
                "path": paths[0] if paths else "",
            }


# ---------------------------------------------------------------- entries


def _entries(period: Period, session: Session) -> dict[str, list[dict[str, Any]]]:
    """The entries of the period: `decided` and `learned` in it, and `changed`: those that replaced others."""
    with entry_reader(session.stores) as reader:
        records = reader.facts(FactQuery(origins=("entry",), sensitive=False))
    facts = {record.fact.id: record.fact for record in records}
    new = [each for each in facts.values() if each.status == "active" and period.has_text(each.recorded)]
    new.sort(key=lambda each: (each.recorded, each.id))
    changed = [each for each in facts.values() if period.has_text(each.superseded_at) and each.superseded_by in facts]
    changed.sort(key=lambda each: (each.superseded_at, each.id))
    replacing = {each.superseded_by for each in changed}
    return {
        "decided": [_entry(each) for each in new if each.kind == "decision"],
        "learned": [_entry(each) for each in new if each.kind != "decision" and each.id not in replacing],
        "changed": [{**_entry(facts[each.superseded_by]), "old": each.text} for each in changed],
    }


def _entry(fact: Fact) -> dict[str, Any]:
    return {"text": fact.text, "kind": fact.kind or fact.fact, "digits": id_digits(fact.id), "about": fact.subject}


# ---------------------------------------------------------------- notes


def _notes(period: Period, session: Session) -> dict[str, list[dict[str, Any]]]:
    """The notes that changed in the period (`notes`), by path, and the tasks that stand open in them (`tasks`)."""
    changed = list(_changed_notes(period, session))
    tasks = [each for note in changed for each in _open_tasks(note)]
    return {"notes": [{"path": note.path} for note in changed], "tasks": tasks}


def _open_tasks(note: Note) -> Iterator[dict[str, Any]]:
    """The lines with an open box, in plain words: who, what, and by when."""
    stated = {each.line: each for each in commitments_of(note)}
    for action in note.actions:
        if action.box in _OPEN_BOXES:
            commitment = stated.get(action.line)
            text = _said_by(commitment) if commitment else plain_task(action.text)
            yield {"text": text, "path": note.path, "line": action.line}


def _said_by(commitment: StatedCommitment) -> str:
    who = "" if commitment.who == ME else f"{strip_links(commitment.who)}: "
    return f"{who}{commitment.what}{f' (due {commitment.due})' if commitment.due else ''}"


def _changed_notes(period: Period, session: Session) -> Iterator[Note]:
    stores = session.stores
    rows = stores.history.entries(since=period.start)
    paths = {row.destination or row.path for row in rows if period.has(row.when)}
    stats = list_notes("", stores.vault, skip=stores.ignored)
    paths |= {stat.path for stat in stats if period.has(datetime.fromtimestamp(stat.mtime, UTC))}
    there = {stat.path for stat in stats}
    chosen = sorted(path for path in paths & there if not is_below(path, _AGENT) and not stores.unindexed(path))
    for path in chosen[:MOST_NOTES]:
        try:
            blob = stores.vault.read(locate(path, stores.vault))
        except NotFound:  # deleted meanwhile
            continue
        note = parse(blob.content, path=path, mtime=blob.stat.mtime)
        if not is_hidden(note, stores) and WRITTEN_BY not in note.frontmatter:
            yield note
