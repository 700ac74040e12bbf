"""The history seam: what happened, stored so that it can be queried.

Terms:
- audit     one row for each note that a change touched: who, what, why, the version before and after, the commit.
            Rows are only ever added; only `forget_path` removes some, for a person who erases a note.
- mutation  one change as the vault made it; a mutation of many notes has one row for each.
- grant     a person's permission for one write to one personal note; it works once and for a short time.
- call      one text that was sent to a model, known by its hash alone; `forget_calls` removes those of an erased note.
- thread    one conversation, identified by the program in which it was held and the id that program gave it. One that
            we captured from the program's own transcript is another than one that a caller recorded under that id.
            A task and a correction are threads of their own kinds; a correction names the conversation it was made in.
- message   one turn of a thread, numbered from 1. Identified by the id that its program gave it; without one, by
            role, author, time and text, and by how many identical ones precede it in the same call.
            Messages are only ever added, each once; only `forget_conversation` removes them, a whole thread at once.
- cursor    how far the transcript of a captured session was read; stored together with what was read in it.
- stamp     a hash of everything that a conversation says: it changes when the conversation does.
- use       one showing of a fact to someone who asked. Counted by day: a fact recalled often on one day counts once
            for aging, and as often as it was recalled for display.
- lock      the topics of a conversation, as last inferred; one for each conversation.
- state     what the model of a conversation has been given; one for each conversation, dropped if nobody asks for long.
- batch     what was extracted from a part of a conversation or of a marked note, stored together with how far it was
            read: its items are then saved one by one, and what a crash leaves pending is saved later.
- lease     the right to run a scheduled job; one process has it at a time, and loses it if it dies or is late.
- run       one run of a scheduled job with its steps and their outcomes, added as they happen.
- mirror    the events of a person's calendars as they were last read, by calendar and id. An event that its calendar no
            longer has is marked as removed and stays; only `forget_calendar` removes events.

Times are UTC to the second, as in notes and commits.
Every method raises VaultUnavailable if the history cannot be read or written, and then has changed nothing.
"""

import hashlib
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import NamedTuple, Protocol

from commonplace.errors import UsageError
from commonplace.model import MemoryUse, Message, RecordResult, Thread, ThreadKind, TopicLock, TranscriptCursor, Trust
from commonplace.model.calendar import CalendarResource, CalendarState, Event, EventChanges
from commonplace.model.learning import ExtractedFact, LearnedBatch, LearnedItem, LearningState
from commonplace.model.moment import moment_text
from commonplace.model.upkeep import JobLease, JobNotice, JobRecord, JobState, StepResult

STATE_DAYS = 30
"""Days for which the state of a conversation is kept; Claude Code deletes its transcripts after as many."""
MOST_STATES = 1000
"""How many states of conversations are kept; the oldest go first, and their conversation is given everything again."""
MOST_CONTEXTS = 500
"""How many of the contexts that were given are remembered; the oldest go first."""
RUN_DAYS = 400
"""Days for which the runs of scheduled jobs are kept: a year, and a little to compare it with."""
LOSS_DAYS = 30
"""Days for which `losses` names what was lost or restored."""
ERASED = "[erased]"
"""Replaces the path of an erased note in the reason of an audit row."""


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """What one mutation did to one note.

    `mutation` is its id (the trailer Commonplace-Mutation) or its commit; `actor` is person, agent or job;
    `origin` is the interface it came through, `reason` the message of the change. `person` is the id of the person for
    whom it was done, on a server with people; else empty.
    `before` and `after` are versions, None if the note did not exist; `destination` is the new path of a move.
    """

    mutation: str
    when: datetime
    verb: str
    path: str
    actor: str
    origin: str
    reason: str
    destination: str | None = None
    before: str | None = None
    after: str | None = None
    commit: str | None = None
    in_digest: bool = False
    person: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "when", utc_second(self.when))

    def names(self, path: str) -> bool:
        """True if the entry is about the note at that path, changed there or moved there."""
        return path in (self.path, self.destination)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCall:
    """One text that was sent to a model.

    `task_type` is the purpose, such as embed_vault_chunk or extract; `model_alias` is the model's short name, `version`
    that of the encoder or of the prompt. `input_hash` is the sha256 of the text. `cost` is in dollars. `tokens` are
    those that a language model read and wrote; 0 for an encoder.
    """

    at: datetime
    task_type: str
    model_alias: str
    input_hash: str
    version: str
    duration_ms: float
    tokens: int = 0
    cost: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "at", utc_second(self.at))


@dataclass(frozen=True, slots=True)
class Spending:
    """What the calls of language models came to: how many, their tokens, and dollars."""

    calls: int = 0
    tokens: int = 0
    cost: float = 0.0


@dataclass(frozen=True, slots=True)
class TaskSpending:
    """What the calls of language models for one task came to on one UTC day (2026-03-01)."""

    day: str
    task: str
    calls: int
    tokens: int
    cost: float


@dataclass(frozen=True, slots=True)
class ModelState:
    """The failures of a language model since it last answered.

    `identity` stands for the model with all its settings and its key. `reason` is that of the last failure and `said`
    its words; the model is not asked before `until`, and not at all while that is None and there is a reason.
    """

    identity: str
    failures: int = 0
    reason: str = ""
    said: str = ""
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class NewThread:
    """A conversation to record: the program in which it was held, and its id there.

    Without a `source_id` it is identified by its messages: recording it again adds nothing, but it cannot grow.
    `project` is the name of the project in which it was held; empty if none is known. `captured` says that it was read
    in the program's own transcript. `parent` is the id of the conversation in which a correction was made. `memory` is
    what it may be used for; a known conversation keeps what it has if that allows less.
    """

    interface: str
    source_id: str = ""
    title: str = ""
    trust: Trust = "told"
    project: str = ""
    captured: bool = False
    kind: ThreadKind = "chat"
    parent: str = ""
    memory: MemoryUse = "on"


class ThreadTraits(NamedTuple):
    """What decides where a thread is found: its kind, its use, and the program and project it was held in."""

    kind: ThreadKind
    memory: MemoryUse
    interface: str
    project: str


@dataclass(frozen=True, slots=True)
class HistoryLoss:
    """Something that was missing from the history: what happened, and what to do. `restored` if nothing is gone."""

    at: datetime
    said: str
    remedy: str = ""
    restored: bool = True


class Use(NamedTuple):
    """How often a fact was recalled, on how many days, and the last of these days (2026-03-01)."""

    times: int
    days: int
    last: str


@dataclass(frozen=True, slots=True)
class ContextState:
    """What the model of one conversation has been given.

    `given` are marks of pieces, `prompts` the last prompts, oldest first; `missed` is a prompt for which recall was not
    ready in time, empty if none is waiting.
    """

    conversation: str
    given: frozenset[str] = frozenset()
    prompts: tuple[str, ...] = ()
    missed: str = ""


class GivenPiece(NamedTuple):
    """A piece of a context: its section, its key (an id or a path), its note or conversation, why, and its size."""

    section: str
    key: str
    path: str
    why: str
    chars: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenContext:
    """A context that was given to a model: when, through which interface, in which conversation, for which prompt.

    `prompt` is its beginning. `chars` is 0 for a silent one, and `silence` says why nothing was recalled.
    """

    at: datetime
    origin: str
    conversation: str
    prompt: str
    chars: int
    silence: str
    pieces: tuple[GivenPiece, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "at", utc_second(self.at))


@dataclass(frozen=True, slots=True)
class UnfinishedErasure:
    """An erasure that was begun: the note's path, where it was before, its id if it is an entry."""

    path: str
    former: tuple[str, ...]
    entry: str
    begun: datetime


class AuditLog(Protocol):
    """The audit of changes, and the erasures that were begun and not finished."""

    def record(self, *entries: AuditEntry) -> None:
        """Add these rows, all or none."""

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

    def newest_commit(self) -> str | None:
        """The latest commit that was recorded or recovered, or None."""

    def recover(self, entries: Iterable[AuditEntry]) -> int:
        """Add the rows whose commit is unknown, given in chronological order; returns how many were added.

        A commit stays known after its rows are forgotten: an erased path does not come back. Rows without a commit
        cannot be told from known ones and are skipped.
        """

    def forget_path(self, path: str) -> int:
        """Remove every trace of that path for good; returns how many audit rows were removed.

        With it go the states of all conversations and the topics they are locked to, which may hold its words. Rows
        of other notes in the same mutation stay, with the path replaced in their reason.
        After VaultUnavailable rows may be gone while traces are left on disk: call it again.
        """

    def begin_erasure(self, erasure: UnfinishedErasure) -> None:
        """Remember what is being erased until `end_erasure`, so that a crash in between can be mended."""

    def unfinished_erasures(self) -> tuple[UnfinishedErasure, ...]:
        """The erasures that were begun and not ended, oldest first."""

    def end_erasure(self, path: str) -> None:
        """Forget that this path was being erased."""


class GrantStore(Protocol):
    """Permissions for one write each."""

    def give_grant(self, path: str, *, now: datetime, minutes: int = 10) -> str:
        """A new token that allows one write to that path within `minutes`. Only its hash is stored."""

    def has_grant(self, token: str, path: str, *, now: datetime) -> bool:
        """True if the token is valid for exactly that path now; does not use it up."""

    def use_grant(self, token: str, path: str, *, now: datetime) -> bool:
        """True if the token is valid for exactly that path now; uses it up."""


class CallLog(Protocol):
    """The log of model calls."""

    def log_calls(self, calls: Sequence[ModelCall]) -> None:
        """Add a row for each call, all or none."""

    def calls(
        self, *, task_type: str | None = None, since: datetime | None = None, limit: int | None = None
    ) -> tuple[ModelCall, ...]:
        """Calls of that type since that time; newest first, at most `limit`."""

    def reserve_call(self, call: ModelCall, *, budget: Spending) -> int | None:
        """Add the call of a language model with the most it can cost; returns its number for `settle_call`.

        None, and nothing is added, if it would take the spending of its UTC day above the budget's tokens or cost.
        """

    def settle_call(self, number: int, *, tokens: int, cost: float, duration_ms: float) -> None:
        """Replace what was reserved by what the call came to. One that never is counts as reserved."""

    def spending(self, day: datetime) -> Spending:
        """What the calls of language models on that UTC day came to, reserved ones included."""

    def spending_by_task(self, *, since: datetime) -> tuple[TaskSpending, ...]:
        """What the calls of language models came to since the UTC day of that moment; by day, oldest first, and task.

        Reserved calls are included.
        """

    def model_state(self, identity: str) -> ModelState:
        """The failures of that model since it last answered; none if nothing is known of it."""

    def save_model_state(self, state: ModelState, *, now: datetime) -> None:
        """Store the state of a model, replacing the earlier one; drops states older than STATE_DAYS."""

    def forget_model_states(self) -> int:
        """Forget the failures of all models; returns how many had some."""

    def count_calls(self, task_type: str | None = None) -> int:
        """How many calls were logged, of that type or in total."""

    def forget_calls(self, input_hashes: Iterable[str]) -> int:
        """Remove every call with one of these texts for good; returns how many. Fails as `forget_path` does."""


class ConversationStore(Protocol):
    """Recorded conversations."""

    def record_conversation(
        self, thread: NewThread, messages: Sequence[Message], *, now: datetime, cursor: TranscriptCursor | None = None
    ) -> RecordResult:
        """Append the messages that are new, all or none, and move the session's cursor with them.

        A known message is left as it is, whatever its text is now. A message without a time gets the time of the one
        before it in the same call, the first one `now`. A given title or project replaces the old one; the trust, the
        kind and the parent stay what they were at first. Raises UsageError for a conversation without messages, a time
        without a zone, an unknown role, trust, kind or use, and an id of another kind of thread; Refused for a new
        message or title of lower trust than the stored conversation, and for anything from a caller about a session
        that is captured.
        """

    def transcript_cursor(self, thread: NewThread) -> TranscriptCursor:
        """How far the transcript of that session was read; its beginning if nothing was, or if that was lost."""

    def move_cursor(self, thread: NewThread, cursor: TranscriptCursor, *, now: datetime) -> None:
        """Store how far the transcript was read, where what was read holds nothing to record."""

    def conversations(
        self,
        *,
        interface: str | None = None,
        project: str | None = None,
        since: datetime | None = None,
        limit: int | None = None,
        kind: ThreadKind | None = "chat",
        parent: str | None = None,
    ) -> tuple[Thread, ...]:
        """Threads of that program and project with a message since that time; newest first, at most `limit`.

        Only those of one `kind`, by default conversations, and those that were made in the conversation `parent`.
        """

    def conversation(self, id: str) -> Thread | None:
        """The conversation with that id, or None."""

    def thread_id_of(self, thread: NewThread, messages: Sequence[Message] = ()) -> str:
        """The id under which `record_conversation` stores this, known or not. Raises as that does.

        A thread without a `source_id` is identified by its messages.
        """

    def unrecorded(self, thread: NewThread, messages: Sequence[Message]) -> tuple[Message, ...]:
        """Those of the messages that `record_conversation` would add, each once, in order. Raises as that does."""

    def captured_conversation(self, thread: NewThread) -> Thread | None:
        """The conversation that was captured from that session of that program, or None."""

    def messages(self, id: str, *, first: int = 1, last: int | None = None) -> tuple[Message, ...]:
        """Messages number `first` to `last`, inclusive, each with its time; () if there are none."""

    def conversation_stamps(self, ids: Iterable[str] | None = None) -> Mapping[str, str]:
        """Stamps by id, of all conversations or of those of `ids` that exist."""

    def thread_traits(self, ids: Iterable[str] | None = None) -> Mapping[str, ThreadTraits]:
        """What decides where threads are found, by id: of all of them, or of those of `ids` that exist."""

    def close_conversation(self, id: str, *, now: datetime) -> bool:
        """Mark the conversation as finished; False if there is none. A new message reopens it."""

    def set_memory_use(self, id: str, use: MemoryUse, *, now: datetime) -> bool:
        """Set what a conversation may be used for; False if there is none. Raises UsageError for an unknown use."""

    def forget_conversation(self, id: str) -> bool:
        """Remove the conversation, its topic lock and its state for good; False if there was none.

        Both go by its id, by its source id and by `INTERFACE:SOURCE_ID`. The cursor of a captured session stays, so
        that its transcript does not bring it back. Fails as `forget_path` does.
        """

    def forgotten(self, ids: Iterable[str]) -> frozenset[str]:
        """Those of these conversations that were forgotten; what else is missing was lost."""


class UsageStore(Protocol):
    """Use of facts on this device; the topics of conversations, and what their models have been given."""

    def record_use(self, ids: Sequence[str], *, now: datetime) -> None:
        """Count one use of each of these facts, on the UTC day of `now`."""

    def uses(self, ids: Iterable[str], *, since: datetime | None = None) -> Mapping[str, Use]:
        """Use of these facts since the day of that moment; facts that were never used are left out."""

    def forget_uses(self, ids: Iterable[str]) -> int:
        """Remove all use of these facts for good; returns how many rows. Fails as `forget_path` does."""

    def lock_topics(self, lock: TopicLock) -> None:
        """Store the topics of a conversation, replacing earlier ones."""

    def topic_lock(self, conversation: str) -> TopicLock | None:
        """The topics stored for that conversation, or None."""

    def context_state(self, conversation: str) -> ContextState:
        """What that conversation's model has been given; an empty state if nothing is known of it."""

    def save_context_state(self, state: ContextState, *, now: datetime) -> None:
        """Store the state of a conversation, replacing the earlier one.

        Drops states that were last saved more than STATE_DAYS before `now`, and the oldest beyond MOST_STATES.
        Raises UsageError if it names no conversation.
        """

    def record_context(self, given: GivenContext) -> None:
        """Remember a context that was given, and drop the oldest beyond MOST_CONTEXTS.

        `forget_path` forgets all of them; `forget_conversation` those of it and those that have a piece of it.
        """

    def contexts(self, *, limit: int) -> tuple[GivenContext, ...]:
        """The contexts that were given last, newest first, at most `limit`."""


class LearningStore(Protocol):
    """What was learned from conversations and marked notes, and what is still to be learned.

    A source is the id of a conversation or the path of a note. What is learned from a conversation is forgotten with
    it, and so is what is learned from a note with its path.
    """

    def due_conversations(self, *, now: datetime, silent_since: datetime) -> tuple[str, ...]:
        """Ids of conversations with messages that were not read, closed or without a message since then; oldest first.

        Left out are those whose memory is not `on`, those that are parked or wait for another try, tasks, and
        corrections made in another conversation, which has their words too.
        """

    def learning_states(self, sources: Iterable[str] | None = None) -> Mapping[str, LearningState]:
        """How far these sources were learned, or all that were tried; those that never were are left out."""

    def save_learning_state(self, state: LearningState) -> None:
        """Store the state of a source, replacing the earlier one."""

    def begin_learning(self, batch: LearnedBatch, *, now: datetime) -> bool:
        """Store what was extracted and how far the source was read, all or nothing; its failures are forgotten.

        Facts are pending then, rejections are settled. False if the conversation was read from elsewhere than the
        batch begins, or is gone: nothing is stored.
        """

    def pending_items(self) -> tuple[tuple[LearnedItem, ExtractedFact], ...]:
        """The items that were extracted and not settled, oldest first."""

    def settle_item(self, item: LearnedItem, *, now: datetime) -> None:
        """Store the outcome, reason, fact and old fact of the item with that number; one that is gone stays gone."""

    def add_learned_item(self, item: LearnedItem, *, now: datetime) -> None:
        """Store an item that was settled at once, such as the end of a fact; part of the source's last batch."""

    def learned_items(
        self, *, source: str | None = None, since: datetime | None = None, limit: int | None = None
    ) -> tuple[LearnedItem, ...]:
        """Items of that source since that time; newest first, at most `limit`."""

    def learned_batches(self, source: str | None = None, *, since: datetime | None = None) -> tuple[LearnedBatch, ...]:
        """What was extracted from that source, or from all, since that time; oldest first, without facts and items."""

    def forget_learned(self, facts: Iterable[str]) -> int:
        """Remove the items about these facts for good; returns how many. Fails as `forget_path` does."""

    def forget_learning(self, source: str) -> None:
        """Remove everything about that source for good. Fails as `forget_path` does."""


class JobStore(Protocol):
    """Scheduled jobs: who runs one, what each keeps between runs, the log of runs, and notices to the person.

    Steps about a path, a conversation or an entry are forgotten with it; elsewhere in the log and in states its name is
    replaced.
    """

    def take_lease(self, lease: JobLease, *, now: datetime, replaces: str = "") -> bool:
        """True if the lease is now ours: nobody held it, it was ours already, had expired, or `replaces` held it."""

    def job_lease(self, job: str) -> JobLease | None:
        """The lease of that job, expired or not; None if nobody has it."""

    def end_lease(self, lease: JobLease) -> None:
        """Give the lease back; one that somebody else took over stays."""

    def job_states(self) -> Mapping[str, JobState]:
        """The states of all jobs that have one, by name."""

    def save_job_state(self, state: JobState) -> None:
        """Store the state of a job, replacing the earlier one."""

    def begin_run(self, job: str, *, now: datetime) -> int:
        """Add a run to the log, and mark those of that job that never ended as killed; returns its number."""

    def add_step(self, run: int, result: StepResult) -> None:
        """Add what became of a step to a run, without its values; nothing if the run is gone."""

    def end_run(self, record: JobRecord, *, state: JobState | None = None, now: datetime) -> None:
        """Store how the run with that number ended, and the job's state with it; its steps stay as they were added.

        Drops runs older than RUN_DAYS. A run that was marked as killed meanwhile stays so.
        """

    def job_runs(
        self, *, name: str | None = None, since: datetime | None = None, limit: int | None = None
    ) -> tuple[JobRecord, ...]:
        """Runs of that job that began since that time, with their steps; newest first, at most `limit`."""

    def raise_notice(self, notice: JobNotice) -> bool:
        """Store a notice; False if one with that key is there already, which stays as it is."""

    def clear_notice(self, key: str) -> bool:
        """Remove the notice with that key; False if there was none."""

    def job_notices(self) -> tuple[JobNotice, ...]:
        """The notices that stand, oldest first."""


class CalendarStore(Protocol):
    """The mirror of calendars: their events, the texts they were read from, and how far each was read."""

    def save_events(
        self, calendar: str, events: Iterable[Event], *, window: tuple[datetime, datetime], now: datetime
    ) -> EventChanges:
        """Make the mirror of that calendar equal to `events` within the window; all or nothing.

        Mirrored events that overlap the window and are not among them are marked as removed at `now`; others stay. An
        event whose `updated` alone is new is stored and not counted as changed. Raises UsageError for an event of
        another calendar, for an id that is there twice, for times without a zone and an end before the start.
        """

    def events(
        self, start: datetime, end: datetime, *, calendar: str | None = None, with_removed: bool = False
    ) -> tuple[Event, ...]:
        """Events that overlap that time, cancelled ones too, ordered by start and id.

        An event that begins at `end` or ends at `start` is left out; one without a length counts at its start.
        """

    def events_ending(self, after: datetime, until: datetime) -> tuple[Event, ...]:
        """Events that end later than `after` and no later than `until`, ordered by end and id; no removed ones."""

    def event(self, id: str) -> Event | None:
        """The event with that id, removed or not; of two calendars that have it, one that has not removed it."""

    def calendar_states(self) -> Mapping[str, CalendarState]:
        """How far each calendar was read, by name; those that were never tried are left out."""

    def save_calendar_state(
        self, state: CalendarState, *, resources: Iterable[CalendarResource] = (), gone: Iterable[str] = ()
    ) -> None:
        """Store how far a calendar was read, with these resources, and without those of the names `gone`."""

    def calendar_resources(self, calendar: str) -> Mapping[str, CalendarResource]:
        """The texts that the calendar was read from, by name."""

    def forget_calendar(self, calendar: str) -> int:
        """Remove everything about that calendar for good; returns how many events."""


class History(
    AuditLog, GrantStore, CallLog, ConversationStore, UsageStore, LearningStore, JobStore, CalendarStore, Protocol
):
    """One history."""

    def check(self) -> None:
        """Read everything that is stored, and restore what is damaged from its second copy; `losses` then says so."""

    def losses(self, *, now: datetime) -> tuple[HistoryLoss, ...]:
        """What was lost or restored within LOSS_DAYS, newest first."""

    def note_loss(self, loss: HistoryLoss) -> None:
        """Add to the losses; one with the same words is renewed."""

    def size(self) -> int:
        """How many bytes the history has on disk; 0 in memory."""

    def close(self) -> None:
        """Release what is open; the next call opens it again."""


def utc_second(when: datetime) -> datetime:
    """The moment in UTC, to the second. Raises UsageError if it has no zone or lies outside the calendar in UTC."""
    if when.tzinfo is None:
        raise UsageError(f"the time {when.isoformat()} has no zone", hint="Give it one, such as datetime.now(UTC).")
    try:
        return when.astimezone(UTC).replace(microsecond=0)
    except OverflowError as error:  # year 1 or 9999, in a zone in which UTC has left the calendar
        message = f"the time {when.isoformat()} is out of range"
        raise UsageError(message, hint="Give one between the years 2 and 9998.") from error


def day_bounds(when: datetime) -> tuple[datetime, datetime]:
    """The beginning of that moment's UTC day, and of the next one."""
    start = utc_second(when).replace(hour=0, minute=0, second=0)
    return start, start + timedelta(days=1)


def stored_moment(when: datetime) -> str:
    """The moment as text such as 2026-03-01T09:12:44Z. Raises UsageError as `utc_second` does."""
    return moment_text(utc_second(when))


def check_limit(limit: int | None) -> int | None:
    """Return the limit. Raises UsageError if it is negative."""
    if limit is not None and limit < 0:
        raise UsageError(f"limit must be at least 0, not {limit}", hint="Leave it out to get everything.")
    return limit


def new_token() -> str:
    """The text of a new grant: 192 random bits from the operating system."""
    return secrets.token_urlsafe(24)


def token_hash(token: str) -> str:
    """The hash under which a token is stored."""
    return hashlib.sha256(token.encode(errors="replace")).hexdigest()


def expiry(now: datetime, minutes: int) -> datetime:
    """When a grant given now expires. Raises UsageError for less than one minute."""
    if minutes < 1:
        raise UsageError(f"a grant must last at least 1 minute, not {minutes}", hint="Give it at least one minute.")
    return utc_second(now) + timedelta(minutes=minutes)
