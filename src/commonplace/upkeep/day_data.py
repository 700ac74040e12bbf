"""What happened since the last night: new messages of conversations and tasks, by day, cut to what a model can read.

A cursor says how far each conversation was read, by the number of its last gathered message: what is said while the
model answers is read the next night. A conversation that the cursor does not know is read from the moment on up to
which everything was gathered, or as a whole if it was recorded since.

    item    the messages of one conversation on one day
    part    the items of one day that are read together, by one call of a model
    share   how many characters of an item a model sees: 80 % of the budget are for what people typed, the rest for what
            ran by itself; within each, items have equal shares, and what a short one leaves goes to the longer ones
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta, tzinfo
from itertools import groupby
from typing import Any, Final

from commonplace.flows.conversations import may_learn_from
from commonplace.flows.learn.learn import read_turns
from commonplace.flows.stores import Session
from commonplace.model import Message, Thread
from commonplace.model.conversation import quote_turn_headers
from commonplace.model.learning import Turn
from commonplace.model.moment import moment_text, parse_moment
from commonplace.model.untrusted_text import clean_text
from commonplace.sources.transcripts import strip_memory

BUDGET: Final = 50_000
"""Characters of day data for one call of a model."""
INTERACTIVE_SHARE: Final = 0.8
"""The part of the budget for what people typed."""
FLOOR: Final = 250
"""The least characters of an item; a day with more items than have room is read in several parts."""
HEAD_SHARE: Final = 0.4
"""The part of a cut item that is its beginning; the rest is its end, where things are decided."""
FIRST_DAYS: Final = 3
"""Days that the first run reads: a prompt gets as many dated notes by default."""
OLDEST_DAYS: Final = 30
"""Days after which a conversation that was recorded late is passed over."""

INTERACTIVE: Final = frozenset({"talk", "email", "cli"})
AUTOMATED: Final = frozenset({"cron", "briefing", "subtask"})
_LONGEST_REPLY: Final = 2000  # characters of an assistant's message: it is context, and may be a whole file


@dataclass(frozen=True, slots=True)
class DayCursor:
    """How far was gathered: everything until a moment, and of recent conversations their last gathered message."""

    until: str = ""
    read: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, state: Mapping[str, Any], *, now: datetime) -> "DayCursor":
        """The cursor in a job's state; that of a first run if there is none."""
        until = str(state.get("until") or moment_text(now - timedelta(days=FIRST_DAYS)))
        read = state.get("read")
        counts = read.items() if isinstance(read, Mapping) else ()
        return cls(until, {str(id_): count for id_, count in counts if isinstance(count, int)})

    @property
    def state(self) -> dict[str, Any]:
        """The cursor as a job's state."""
        return {"until": self.until, "read": dict(sorted(self.read.items()))}


@dataclass(frozen=True, slots=True, kw_only=True)
class DayItem:
    """The messages number `first` to `last` of one conversation, said on one day of the person's zone.

    `turns` are the messages as an extractor sees them, `text` is what a model reads. `began` and `ended` are times of
    the day, such as 14:05.
    """

    thread: Thread
    day: str
    first: int
    last: int
    turns: tuple[Turn, ...]
    text: str
    began: str
    ended: str

    @property
    def is_automated(self) -> bool:
        """True if it ran by itself: its program is one that does, or it is a task that nobody typed."""
        program = self.thread.interface.partition(":")[0].casefold()
        return program in AUTOMATED or (self.thread.kind == "task" and program not in INTERACTIVE)


@dataclass(frozen=True, slots=True)
class DayPart:
    """Items of one day that are read together."""

    day: str
    items: tuple[DayItem, ...]


@dataclass(frozen=True, slots=True)
class DayData:
    """Everything that is new, oldest first, and how many messages each recent conversation has now."""

    items: tuple[DayItem, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)

    def parts(self) -> tuple[DayPart, ...]:
        """The items by day; a day with many is read in several parts."""
        most = (BUDGET - int(BUDGET * INTERACTIVE_SHARE)) // FLOOR
        days = groupby(self.items, key=lambda item: item.day)
        return tuple(
            DayPart(day, tuple(items[start : start + most]))
            for day, group in days
            for items in [list(group)]
            for start in range(0, len(items), most)
        )

    def cursor_after(self, left: Iterable[DayPart], *, before: DayCursor, now: str, zone: tzinfo) -> DayCursor:
        """The cursor after all parts but those that are left; it never goes back."""
        read, until = dict(self.counts), now
        for item in (item for part in left for item in part.items):
            read[item.thread.id] = min(read.get(item.thread.id, item.first - 1), item.first - 1)
            until = min(until, day_start(item.day, zone))
        return DayCursor(max(until, before.until), read)


def gather(
    session: Session,
    cursor: DayCursor,
    *,
    zone: tzinfo,
    belongs: Callable[[Thread], bool],
    names: Callable[[Message], str] | None = None,
    covered: Callable[[str], Mapping[str, int]] = lambda day: {},
) -> DayData:
    """The new messages of the conversations and tasks that `belongs` chooses, and that memory may learn from.

    `names` says who speaks, for a channel; without it the person is `person`. `covered` gives for a day how far its
    note has each conversation: a killed run has written it, and not moved the cursor.
    """
    history, now = session.stores.history, session.clock()
    oldest = now - timedelta(days=OLDEST_DAYS)
    threads = history.conversations(since=min(oldest, parse_moment(cursor.until)), kind=None)
    items, counts, first_day = list[DayItem](), dict[str, int](), day_of(oldest, zone)
    for thread in threads:
        if belongs(thread) and _is_readable(thread, session):
            counts[thread.id] = thread.count
            items += [
                item
                for day, numbers in _days(thread, cursor, session, zone=zone)
                if day >= first_day and (new := [each for each in numbers if each > covered(day).get(thread.id, 0)])
                if (item := _item(thread, session, day=day, numbers=new, zone=zone, names=names))
            ]
    items.sort(key=lambda item: (item.day, item.began, item.thread.id))
    return DayData(tuple(items), counts)


def _is_readable(thread: Thread, session: Session) -> bool:
    """True if it may be read: not what was imported, and not a correction whose conversation has the words too."""
    is_repeated = thread.kind == "correction" and bool(thread.parent)
    return thread.trust != "imported" and not is_repeated and may_learn_from(thread, session.stores)


def _days(
    thread: Thread, cursor: DayCursor, session: Session, *, zone: tzinfo
) -> Iterator[tuple[str, tuple[int, ...]]]:
    """The numbers of the messages that the cursor has not, by day; a message without a time is of the day before it."""
    after = cursor.read.get(thread.id, 0)
    if after >= thread.count:
        return
    messages = session.stores.history.messages(thread.id, last=thread.count)
    if thread.id not in cursor.read and moment_text(thread.recorded) <= cursor.until:
        after = sum(1 for each in messages if each.at and moment_text(each.at) <= cursor.until)
    today, latest = day_of(session.clock(), zone), ""
    days = list[tuple[str, int]]()
    for number, message in enumerate(messages[after:], start=after + 1):
        own = day_of(message.at, zone) if message.at else ""
        latest = max(latest, min(own, today)) or today
        days.append((latest, number))
    for day, group in groupby(days, key=lambda pair: pair[0]):
        yield day, tuple(number for _, number in group)


def _item(
    thread: Thread,
    session: Session,
    *,
    day: str,
    numbers: Sequence[int],
    zone: tzinfo,
    names: Callable[[Message], str] | None,
) -> DayItem | None:
    """The item of these messages; None if nobody says anything in them."""
    messages = session.stores.history.messages(thread.id, last=thread.count)
    turns = read_turns(messages, session, after=numbers[0] - 1, until=numbers[-1])
    turns = tuple(replace(each, text=words) for each in turns if (words := strip_memory(each.text)))
    if not turns:
        return None
    times = [_time_of(messages[number - 1], zone) for number in (numbers[0], numbers[-1])]
    lines = [_line(each, messages[each.number - 1], zone=zone, names=names, thread=thread) for each in turns]
    return DayItem(
        thread=thread,
        day=day,
        first=numbers[0],
        last=numbers[-1],
        turns=turns,
        text="\n".join(lines),
        began=times[0],
        ended=times[-1],
    )


def _line(turn: Turn, message: Message, *, zone: tzinfo, names: Callable[[Message], str] | None, thread: Thread) -> str:
    """One message on a line of its own, with the time and the speaker; no line of it reads as another speaker's."""
    if turn.role == "assistant":
        speaker, text = "assistant", turn.text[:_LONGEST_REPLY]
    else:
        speaker, text = "person" if turn.role == "user" else message.author, strip_memory(clean_text(message.text))
        speaker = names(message) if names else speaker
    unverified = ", unverified" if thread.is_claim and turn.role != "assistant" else ""
    return f"{_time_of(message, zone)} {speaker}{unverified}: {quote_turn_headers(text)}"


def _time_of(message: Message, zone: tzinfo) -> str:
    return f"{message.at.astimezone(zone):%H:%M}" if message.at else ""


def day_of(moment: datetime, zone: tzinfo) -> str:
    """The day of a moment in that zone, such as 2026-03-01."""
    return moment.astimezone(zone).date().isoformat()


def day_start(day: str, zone: tzinfo) -> str:
    """The moment at which a day begins in that zone, as text in UTC."""
    first = date.fromisoformat(day)
    return moment_text(datetime(first.year, first.month, first.day, tzinfo=zone).astimezone(UTC))


def days_between(first: str, last: str) -> tuple[str, ...]:
    """The days from the first to the last one, both included."""
    numbers = range(date.fromisoformat(first).toordinal(), date.fromisoformat(last).toordinal() + 1)
    return tuple(date.fromordinal(number).isoformat() for number in numbers)


# ---------------------------------------------------------------- the budget


def cut_parts(items: Sequence[DayItem], *, budget: int = BUDGET) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The texts of the interactive and of the automated items, each cut to its share."""
    interactive = [item.text for item in items if not item.is_automated]
    automated = [item.text for item in items if item.is_automated]
    most = int(budget * INTERACTIVE_SHARE)
    return cut_texts(interactive, budget=most), cut_texts(automated, budget=budget - most)


def cut_texts(texts: Sequence[str], *, budget: int) -> tuple[str, ...]:
    """The texts within the budget: each has an equal share of it, and what a short one leaves goes to the others."""
    limits = shares([len(text) for text in texts], budget=budget)
    return tuple(cut_middle(text, limit) for text, limit in zip(texts, limits, strict=True))


def shares(lengths: Sequence[int], *, budget: int) -> tuple[int, ...]:
    """How many characters each text of that length may have, together at most the budget.

    Each gets what it has, or an equal share at least; a part has so few items that this is the floor or more.
    """
    limits = [0] * len(lengths)
    left, waiting = budget, sorted(range(len(lengths)), key=lambda place: (lengths[place], place))
    for position, place in enumerate(waiting):
        share = left // (len(waiting) - position)
        limits[place] = min(lengths[place], share)
        left -= limits[place]
    return tuple(limits)


def cut_middle(text: str, most: int) -> str:
    """The text within `most` characters: of a longer one 40 % from its beginning and 60 % from its end."""
    if len(text) <= most:
        return text
    mark = f"\n[... {len(text) - most:,} characters left out ...]\n"
    room = most - len(mark)
    if room <= 0:
        return text[len(text) - most :] if most > 0 else ""
    head = int(room * HEAD_SHARE)
    return text[:head] + mark + text[len(text) - (room - head) :]
