"""The jobs `sleep` and `sleep-channels`: each night, what happened since the last one -> dated notes and facts.

    cursor -> new messages by day -> a model or the rules -> facts are saved, then the day's note is written -> cursor

The note is written last and says how far it has each conversation: a run that is killed before it does the part again,
and `save` recognises the facts; a run that is killed after it skips the part. A day's note that exists is added to.

Both also remove bullets whose conversation or entry was erased, and, if the settings ask for it, dated notes that are
too old. Conversations with an id such as `channel:team` belong to that channel, all others to the person.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, tzinfo
from typing import Any, Final

from commonplace.errors import NotFound, ProviderFailed
from commonplace.flows.conversations import may_learn_from
from commonplace.flows.learn.model_calls import model_of
from commonplace.flows.learn.settle import item_outcome
from commonplace.flows.memory.undo import removed_statements
from commonplace.flows.notes.write import delete_note
from commonplace.flows.read import locate
from commonplace.flows.stores import Session
from commonplace.history.base import AuditEntry
from commonplace.index.base import FactQuery
from commonplace.model import Message, Terms, Thread
from commonplace.model.layout import CHANNELS, DATED_NOTES, channel_folder
from commonplace.model.learning import LearnedItem
from commonplace.model.moment import parse_moment
from commonplace.model.text import counted
from commonplace.notes import parse
from commonplace.upkeep.day_data import DayCursor, DayData, DayPart, day_of, days_between, gather
from commonplace.upkeep.day_memories import (
    DayMemories,
    facts_of_day,
    notes_below,
    read_day_note,
    read_existing_note,
    remember_by_model,
    remember_by_rules,
    rewrite_note,
)
from commonplace.upkeep.day_note import (
    DayAddition,
    covered_by,
    day_path,
    expired,
    merged_note,
    named_day,
    through_of,
)
from commonplace.upkeep.erasures import apply_forgetting, erased_steps, reviews_and_progress
from commonplace.upkeep.job import Job, JobRun, Plan, Step, StepOutcome, StepResult
from commonplace.vault.base import Blob

_MOST_PARTS: Final = 12  # calls of a model in one run, for each place: a fortnight away takes two nights
_UNFIT: Final = frozenset({"malformed", "too_long"})  # the model is there, and cannot do it: the rules can
_OUTCOMES: Final[Mapping[str, StepOutcome]] = {
    "stored": "done",
    "replaced": "done",
    "ended": "done",
    "staged": "proposed",
    "confirmed": "unchanged",
    "refused": "refused",
}


@dataclass(frozen=True, slots=True)
class Place:
    """Whose days are written: a channel's, or the person's own if it has no name. `zone` is that of its days."""

    channel: str
    zone: tzinfo

    @property
    def folder(self) -> str:
        """The folder of its dated notes."""
        return f"{channel_folder(self.channel)}/memories" if self.channel else DATED_NOTES

    def belongs(self, thread: Thread) -> bool:
        """True if the conversation was held here."""
        return thread.channel == self.channel

    @property
    def names(self) -> Callable[[Message], str] | None:
        """Who speaks: in a channel the id of each member."""
        return (lambda message: message.author or "owner") if self.channel else None


# ---------------------------------------------------------------- plan


def plan_sleep(run: JobRun) -> Plan:
    """The steps for the person's own days. Raises ProviderFailed if the model is away and nothing else is to do."""
    return _plan_place(Place("", run.zone), run, state=run.state, days=run.options.sleep.retention_days)


def plan_channels(run: JobRun) -> Plan:
    """The steps for every channel, each with its own cursor and with days in UTC. Raises as `plan_sleep` does."""
    states = run.state.get("channels")
    before: Mapping[str, Any] = states if isinstance(states, Mapping) else {}
    plans = dict[str, Plan]()
    failure: ProviderFailed | None = None
    for channel in channels(run.session):
        state = before.get(channel)
        try:
            plans[channel] = _plan_place(
                Place(channel, UTC),
                run,
                state=state if isinstance(state, Mapping) else {},
                days=run.options.sleep_channels.retention_days,
            )
        except ProviderFailed as error:
            failure = error
            break
    if failure and not any(plan.steps for plan in plans.values()):
        raise failure
    after = {name: plan.state for name, plan in plans.items() if plan.state is not None}
    said = " ".join(filter(None, (*(plan.said for plan in plans.values()), str(failure or ""))))
    return Plan(
        steps=tuple(step for plan in plans.values() for step in plan.steps),
        state={"channels": {**before, **after}},
        said=said,
        left=sum(plan.left for plan in plans.values()),
    )


def channels(session: Session) -> tuple[str, ...]:
    """The channels that have conversations or notes, by name."""
    threads = session.stores.history.conversations(kind=None)
    notes = [path.removeprefix(f"{CHANNELS}/") for path in notes_below(CHANNELS, session)]
    named = {path.partition("/")[0] for path in notes if "/" in path}
    return tuple(sorted({*named, *(each.channel for each in threads)} - {""}))


def _plan_place(place: Place, run: JobRun, *, state: Mapping[str, Any], days: int) -> Plan:
    session, cursor = run.session, DayCursor.of(state, now=run.session.clock())
    made = (*_dated(place, session), *(() if place.channel else reviews_and_progress(session)))
    tidying = (*erased_steps(made, session), *_retention_steps(place, session, days=days))
    data = gather(
        session,
        cursor,
        zone=place.zone,
        belongs=place.belongs,
        names=place.names,
        covered=_once(lambda day: covered_by(_frontmatter(place, day, session))),
    )
    parts = [*_parts(data, cursor, place, session)]
    steps, left, said = list[Step](), list[DayPart](), list[str]()
    is_away = False
    for number, part in enumerate(parts):
        if number >= _MOST_PARTS or is_away or run.stops():
            left.append(part)
            continue
        is_last = part.day not in {other.day for other in parts[number + 1 :]}
        try:
            memories = _remember(part, place, session, cursor=cursor, is_last=is_last)
        except ProviderFailed as error:
            if not steps and not tidying:
                raise
            memories, is_away = DayMemories(said=f"The model is away, so that some days wait: {error}"), True
        said += [memories.said] if memories.said else []
        if is_away or not _are_readable(part, session):
            left.append(part)
            continue
        steps += _part_steps(part, memories, place, through=session.now if is_last else "")
    after = data.cursor_after(left, before=cursor, now=session.now, zone=place.zone)
    return Plan(
        steps=(*steps, *tidying),
        state=after.state if after.state != state else None,
        said=" ".join(said),
        left=len(left),
    )


def _once(read: Callable[[str], Mapping[str, int]]) -> Callable[[str], Mapping[str, int]]:
    known: dict[str, Mapping[str, int]] = {}

    def once(day: str) -> Mapping[str, int]:
        if day not in known:
            known[day] = read(day)
        return known[day]

    return once


def _parts(data: DayData, cursor: DayCursor, place: Place, session: Session) -> tuple[DayPart, ...]:
    """The parts of the days; without a model also the days on which only entries were saved."""
    parts = data.parts()
    if place.channel or model_of("sleep", session) is not None:
        return parts
    first, last = (day_of(each, place.zone) for each in (parse_moment(cursor.until), session.clock()))
    days = {*days_between(first, last)} - {part.day for part in parts}
    quiet = [
        DayPart(day, ())
        for day in days
        if facts_of_day(day, session, since=_since(place, day, session, cursor), zone=place.zone)
    ]
    return tuple(sorted((*parts, *quiet), key=lambda part: part.day))


def _since(place: Place, day: str, session: Session, cursor: DayCursor) -> str:
    """The moment after which entries of that day are new: the cursor's, or the one up to which the note has them."""
    return max(cursor.until, through_of(_frontmatter(place, day, session)))


def _remember(part: DayPart, place: Place, session: Session, *, cursor: DayCursor, is_last: bool) -> DayMemories:
    """The memories of a part, by the model or without one. Raises ProviderFailed if the model is away."""
    if part.items and model_of("sleep", session) is not None:
        note = read_day_note(day_path(part.day, channel=place.channel), session)
        try:
            return remember_by_model(part, session, channel=place.channel, note=note, zone=place.zone)
        except ProviderFailed as error:
            if error.reason not in _UNFIT:
                raise
    since = _since(place, part.day, session, cursor)
    return remember_by_rules(part, session, channel=place.channel, since=since, zone=place.zone, is_last=is_last)


def _are_readable(part: DayPart, session: Session) -> bool:
    """True unless a person has switched off or erased one of the conversations while the model answered."""
    threads = (session.stores.history.conversation(item.thread.id) for item in part.items)
    return all(thread is not None and may_learn_from(thread, session.stores) for thread in threads)


def _part_steps(part: DayPart, memories: DayMemories, place: Place, *, through: str) -> Iterator[Step]:
    """Facts first, then the note; `through` is the moment up to which it then has its day, empty if more follows."""
    for learned in memories.facts:
        yield Step(
            action="save",
            subject=learned.source,
            said=f"Save a fact that was said on {part.day}: it passes the gate like every other.",
            values={"learned": learned},
        )
    if memories.memories:
        conversations = {item.thread.id: item.last for item in part.items}
        talks = f", from {counted(len(conversations), 'conversation')}" if conversations else ""
        yield Step(
            action="write",
            subject=day_path(part.day, channel=place.channel),
            said=f"Write {_memories(len(memories.memories))} of {part.day}{talks}.",
            values={"addition": DayAddition(memories=memories.memories, conversations=conversations, through=through)},
        )


def _memories(count: int) -> str:
    return "1 memory" if count == 1 else f"{count} memories"


def _frontmatter(place: Place, day: str, session: Session) -> Mapping[str, Any]:
    note = read_day_note(day_path(day, channel=place.channel), session)
    return note.frontmatter if note else {}


# ---------------------------------------------------------------- what is too old


def _retention_steps(place: Place, session: Session, *, days: int) -> Iterator[Step]:
    """A step for each dated note that is too old and that no person wrote in; none if retention is off."""
    if not days:
        return
    now = session.clock().astimezone(UTC)
    for path in expired(_dated(place, session), days=days, now=now):
        if is_ours(path, session):
            yield Step(
                action="delete",
                subject=path,
                said=f"Delete {path}: it is older than {counted(days, 'day')}.",
            )


def is_ours(path: str, session: Session) -> bool:
    """True if jobs alone wrote the note: every version of it in the log is a job's, one made from the other."""
    stores = session.stores
    rows = stores.history.entries(path=path)
    try:
        version = stores.vault.read(locate(path, stores.vault)).version
    except NotFound:
        return False
    return bool(rows) and rows[0].after == version and _is_unbroken(rows)


def _is_unbroken(rows: Sequence[AuditEntry]) -> bool:
    """True if each row, newest first, was made by a job from what the older one left."""
    older: list[str | None] = [*(row.after for row in rows[1:]), None]
    return all(row.actor == "job" and row.before == before for row, before in zip(rows, older, strict=True))


def _dated(place: Place, session: Session) -> tuple[str, ...]:
    paths = notes_below(place.folder, session, recursive=False)
    return tuple(path for path in paths if named_day(path))


# ---------------------------------------------------------------- apply


def apply_step(step: Step, run: JobRun) -> StepResult:
    """Do one step; done before, it changes nothing. Raises Refused, Conflict and VaultUnavailable."""
    return _DEEDS[step.action](step, run.session)


def _save_fact(step: Step, session: Session) -> StepResult:
    learned = step.values["learned"]
    item = LearnedItem(
        source=learned.source,
        text=learned.fact.text,
        outcome="pending",
        quote=learned.fact.quote,
        turn=learned.fact.turn,
        extractor=learned.extractor,
    )
    settled = item_outcome(item, learned.fact, session, removed=removed_statements(session), dry_run=False)
    outcome = _OUTCOMES[settled.outcome]
    if outcome in ("done", "proposed"):
        session.stores.history.add_learned_item(settled, now=session.clock())
    return StepResult(
        step=step,
        outcome=outcome,
        commit=_commit_of(settled.fact, session) if outcome == "done" else "",
        review=settled.fact if outcome == "proposed" else "",
        reason=settled.reason,
    )


def _commit_of(fact: str, session: Session) -> str:
    """The commit that wrote the entry with that id; empty if the log does not know it."""
    with session.stores.index.reader() as reader:
        records = reader.facts(FactQuery(ids=(fact,), origins=("entry",)))
    rows = session.stores.history.entries(path=records[0].fact.path, limit=1) if records else ()
    return rows[0].commit or "" if rows else ""


def _write_day(step: Step, session: Session) -> StepResult:
    addition: DayAddition = step.values["addition"]

    def content(there: Blob | None) -> bytes:
        known = parse(there.content, path=step.subject, mtime=0.0).frontmatter if there else {}
        covered = covered_by(known)
        is_new = any(last > covered.get(id_, 0) for id_, last in addition.conversations.items())
        if there and not is_new and through_of(known) >= addition.through:
            return there.content
        return merged_note(there.content if there else None, addition, path=step.subject)

    return rewrite_note(step, session, content, message=f"commonplace: memories of {step.subject[-13:-3]}")


def _delete_day(step: Step, session: Session) -> StepResult:
    there = read_existing_note(step.subject, session)
    if there is None:
        return StepResult(step=step, outcome="unchanged", reason="It is gone already.")
    if not is_ours(step.subject, session):
        return StepResult(step=step, outcome="refused", reason="You have written in it since.")
    terms = Terms(message=f"commonplace: retention of {step.subject}", why=step.said, expected=there.version)
    changed = delete_note(step.subject, session, terms)
    return StepResult(step=step, outcome="done", commit=changed.commit or "")


_DEEDS: Final[Mapping[str, Callable[[Step, Session], StepResult]]] = {
    "save": _save_fact,
    "write": _write_day,
    "forget": apply_forgetting,
    "delete": _delete_day,
}

JOB: Final = Job(
    name="sleep",
    about="Writes the day's memories and the facts said in it",
    schedule="15 3 * * *",
    plan=plan_sleep,
    apply=apply_step,
    most_steps=200,
    seconds=1800,
)
CHANNELS_JOB: Final = replace(
    JOB,
    name="sleep-channels",
    about="Writes the memories of each channel's day",
    schedule="25 3 * * *",
    plan=plan_channels,
)
