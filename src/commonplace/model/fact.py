"""A fact: one thing known, with its source, validity and history; candidates that may become facts, and their review.

Moments are text such as 2026-03-01T09:12:44Z, days such as 2026-03-01; empty means open or unknown. Windows are half
open: a fact is valid from `valid_from` on, and no longer at `valid_until`.
"""

from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

from commonplace.model.conversation import Trust
from commonplace.model.document import Place
from commonplace.model.entry_field import entry_field
from commonplace.model.proposal import Proposal

FactClass = Literal["", "identity", "fact", "preference", "event"]
FACT_CLASSES: tuple[FactClass, ...] = get_args(FactClass)
"""The class of a fact decides how fast it ages. Empty for long notes, which age like class `fact`."""

KINDS = (
    "preference",
    "workflow",
    "fix",
    "domain-reference",
    "idea",
    "skill-pointer",
    "insight",
    "crystallized",
    "procedural",
    "fact",
    "event",
    "identity",
    "feedback",
    "decision",
    "constraint",
)
"""The built-in kinds of entries. A person may add more in the settings."""

Status = Literal["active", "superseded", "expired", "archived", "deleted"]
STATUSES: tuple[Status, ...] = get_args(Status)

Origin = Literal["entry", "line"]
"""Where a fact is written: in an entry of its own, or in one structured line of a note."""

Bond = Literal["update", "extend", "derive", "contradict", "both", "end"]
"""How one fact relates to another: it replaces it, adds to it, follows from it, or contradicts it; `both` hold, as
somebody has said; or it is said to `end` it, which waits for the person."""

Action = Literal["confirm", "supersede", "extend", "derive", "contradict", "insert"]
"""What becomes of a candidate that is compared with the known facts."""

ACTIONS: tuple[Action, ...] = get_args(Action)


RULES = "rules"
"""The extractor that is no model."""


@dataclass(frozen=True, slots=True)
class Origins:
    """Where a fact comes from: the program, its conversation, and how far the source is trusted.

    What was extracted has its evidence too: `quote` are the words from which it was made, in message number `turn` of
    the conversation or in the marked `note`; `extractor` is `rules`, or the model and the version of its prompt.
    `author` is the id of the person who said it, in a vault that several people share; empty in any other.
    """

    interface: str = entry_field("", "text", key="source.interface")
    conversation: str = entry_field("", "text", key="source.conversation")
    trust: Trust = entry_field("told", "trust", key="source.trust")
    extractor: str = entry_field("", "text", key="source.extractor", is_screened=False)  # the settings name it
    note: str = entry_field("", "text", key="source.note", is_screened=False)  # the path of a note that exists
    turn: int = entry_field(0, "number", key="source.turn")
    quote: str = entry_field("", "text", key="source.quote")
    author: str = entry_field("", "line", key="source.author")

    @property
    def is_quoted(self) -> bool:
        """True if rules made the fact from the words that it quotes; a model may have read into them."""
        return self.extractor == RULES and bool(self.quote)


@dataclass(frozen=True, slots=True, kw_only=True)
class StatementFields:
    """The fields of what an entry states, before and after it is saved; `Fact` describes them."""

    text: str
    kind: str = entry_field("", "word", inherits="version", is_required=True)
    fact: FactClass = entry_field("", "class", inherits="version")
    always_load: bool = entry_field(False, "flag", inherits="always")
    importance: float | None = entry_field(None, "importance", inherits="always")
    topics: tuple[str, ...] = entry_field((), "names", inherits="always", once_called=("topic",))
    about: str = entry_field("", "text", inherits="always")
    when: str = entry_field("", "phrases", inherits="always", once_called=("triggers",))
    project: str = entry_field("", "text", inherits="always")
    project_root: str = entry_field("", "text", inherits="always", inherits_with="project", is_screened=False)
    subject: str = entry_field("", "text", inherits="version")
    predicate: str = entry_field("", "predicate", inherits="version")
    object: str = entry_field("", "text", inherits="version")
    due: str = entry_field("", "day", inherits="version")
    valid_from: str = entry_field("", "start")
    valid_until: str = entry_field("", "start", merges="earliest")
    bonds: tuple[tuple[Bond, str], ...] = entry_field((), "bonds", inherits="version", is_screened=False)
    origins: Origins = Origins()


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact(StatementFields):
    """One thing known, as its note says it.

    `id` is the entry's own; a line's is made from its note and its words. `text` is the statement as written.
    `subject`, `predicate` and `object` are empty for a statement that is not a triple.
    `recorded` is when it was first written down, which is not when it became true.
    `invalidated_at` is when someone set `valid_until` by hand, and `was_valid_until` its value before.
    `bonds` are pairs of a Bond and the id of the other fact. `fingerprint` is equal for equal words.
    `about` is the question that it answers, `when` names situations in which it matters, in other words than its own:
    phrases with commas between them. A playbook is recalled for the tasks in its `when`.
    `project` is the name of the project in which it was saved, `project_root` the folder of its repository on the
    machine that saved it; both are empty for what belongs to no project.
    `pinned` says that the person fixed it: upkeep neither moves it nor changes how it is loaded. `archived_at` is when
    upkeep put it away, though no other entry replaced it.
    `due` is the day by which a commitment is to be done; empty for other facts, and for one without a day.
    """

    id: str
    path: str
    line: int
    origin: Origin
    importance: float = entry_field(0.5, "importance", inherits="always")
    status: Status = entry_field("active", "status", merges="final", is_required=True)
    place: Place = ""
    sensitive: bool = entry_field(False, inherits="always")
    pinned: bool = entry_field(False, "flag", inherits="always")
    invalidated_at: str = entry_field("", "moment", key="invalidated.at", merges="earliest")
    was_valid_until: str = entry_field("", "start", key="invalidated.was")
    recorded: str = entry_field("", "moment", merges="earliest", is_required=True)
    supersedes: str = entry_field("", "id")
    superseded_by: str = entry_field("", "id")
    superseded_at: str = entry_field("", "moment", merges="earliest")
    reason: str = entry_field("", "text")
    archived_at: str = entry_field("", "moment")
    deleted_at: str = entry_field("", "moment", merges="earliest")
    confirmed: tuple[str, ...] = entry_field((), "days", merges="all")
    updated: str = entry_field("", "moment", merges="latest")
    fingerprint: str = ""

    @property
    def begins(self) -> str:
        """The moment from which it holds; if unknown, the moment at which it was recorded."""
        return self.valid_from or self.recorded


class FactEnd(NamedTuple):
    """The end of a fact, because another with the same claim begins: when, and the other's id."""

    at: str
    by: str


class FactRecord(NamedTuple):
    """A fact as the index stores it, and the end that other facts cause; None if none does."""

    fact: Fact
    end: FactEnd | None


class FactEdge(NamedTuple):
    """A bond between two facts, by their ids."""

    source: str
    bond: Bond
    target: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate(StatementFields):
    """Something to remember, before it is compared with the known facts.

    `bonds` are those that the caller states. `importance` None means the default of its class; other fields are those
    of a Fact. `doubt` says why the person must approve it first; empty if nothing is doubtful.
    `said` is the moment at which it was said; empty for now. `is_spoken` says that these are the person's own words, in
    a conversation that we read ourselves: then it may replace what the person told before, as no other word of a
    program may.
    """

    tags: tuple[str, ...] = entry_field((), "names")
    doubt: str = ""
    said: str = ""
    is_spoken: bool = False


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A known entry near to a new one; the `cosine` of their meanings is None if only words were compared.

    `is_same` marks one that may say the same: its triple is nearly equal.
    """

    fact: Fact
    cosine: float | None = None
    is_same: bool = False


@dataclass(frozen=True, slots=True)
class Settlement:
    """What somebody who has read both says of a newer entry and of older ones, which are given by name.

    The newer one `replaces` older ones; it `covers` them: it says all that they say, and more; it says the `same` as
    one, whose wording stays; or `both` hold, it and each of these. `until` is the day on which the newer one ends.
    """

    replaces: tuple[str, ...] = ()
    covers: tuple[str, ...] = ()
    same: tuple[str, ...] = ()
    both: tuple[str, ...] = ()
    until: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all older entries."""
        return (*self.replaces, *self.covers, *self.same, *self.both)


GroupVerdict = Literal["both", "replaces", "same"]
"""What the person says of a group: all hold, the newest replaces the others, or all say the same."""

GROUP_VERDICTS: tuple[GroupVerdict, ...] = get_args(GroupVerdict)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What to do with a candidate: the action, the id of the fact it concerns, and why.

    `also` are the ids of more facts that end with that one, if it ends.
    `until` is the moment at which the candidate itself ends, if a known fact follows it.
    """

    action: Action
    target: str = ""
    reason: str = ""
    until: str = ""
    also: tuple[str, ...] = ()


FactState = Literal["current", "future", "ended", "superseded", "expired", "archived", "deleted", "staged"]


class FactSnapshot(NamedTuple):
    """A fact at a moment: its state then, when and by which fact it ends, its aged importance.

    `uses` is how often it was recalled on this device, `last_used` the last day; empty if it never was, and for a
    moment in the past.
    """

    fact: Fact
    state: FactState
    until: str
    ended_by: str
    importance: float
    uses: int = 0
    last_used: str = ""


@dataclass(frozen=True, slots=True)
class EntryResult:
    """The result of saving, settling, evolving, confirming, forgetting or ending an entry.

    `action` is an Action, or `settle`, `forget`, `end`, `load` or `describe`. `fact` is the fact as it is now, or would
    be. `old` is the id of the fact that it replaced, confirmed, ended or contradicts.
    `staged` says that it waits for review and is not recalled. `changed` is False if nothing had to change.
    `ended` are the facts that end where this one begins, `waiting` those that it is said to end, which the person must
    allow. `neighbours` are the known entries nearest to a new one, of which nobody has said how they relate to it;
    `by_words` says that only words were compared, because there is no encoder.
    """

    action: str
    fact: Fact
    reason: str
    old: str = ""
    commit: str | None = None
    staged: bool = False
    changed: bool = True
    difference: str | None = None
    ended: tuple[Fact, ...] = ()
    waiting: tuple[Fact, ...] = ()
    neighbours: tuple[Neighbour, ...] = ()
    by_words: bool = False


@dataclass(frozen=True, slots=True)
class Chain:
    """A fact with all its versions, oldest first, and every bond of any of them."""

    fact: Fact
    versions: tuple[FactSnapshot, ...]
    edges: tuple[FactEdge, ...]


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic: its name, and how many documents are about it."""

    name: str
    documents: int


@dataclass(frozen=True, slots=True)
class TopicLock:
    """The topics of a conversation, and since when."""

    conversation: str
    topics: tuple[str, ...]
    at: str


@dataclass(frozen=True, slots=True)
class InferredTopics:
    """The topics of a message with the cosine of each, nearest first.

    `locked` are the topics of the conversation so far; `drifted` says that this message has left them.
    """

    topics: tuple[tuple[str, float], ...]
    locked: tuple[str, ...] = ()
    drifted: bool = False


@dataclass(frozen=True, slots=True)
class Style:
    """A style of speaking, from a note under `Agent/styles`: its contexts, and the text that describes it."""

    name: str
    path: str
    contexts: tuple[str, ...]
    is_default: bool
    text: str


ReviewAction = Literal["approve", "edit", "confirm", "reject", "both", "replace", "same", "back", "agree"]


@dataclass(frozen=True, slots=True)
class WaitingEntry:
    """An entry that waits for the person, or an active one of which only the ending of others waits.

    `against` are the known facts that it would replace or contradict. `known` is the fact that says the same by now, if
    there is one. `remarks` say what has changed since it was saved.
    """

    fact: Fact
    against: tuple[Fact, ...] = ()
    known: Fact | None = None
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class WaitingGroup:
    """Near entries of which nobody has said how they relate, the newest first; another id once one of them changes."""

    id: str
    entries: tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class OldEnding:
    """A fact that an old rule ended, the one that replaced it, or None if that is erased, and the rule's reason."""

    fact: Fact
    by: Fact | None
    reason: str

    @property
    def at(self) -> str:
        """When it ended: as it was replaced, or at a later beginning that was announced then."""
        return self.fact.superseded_at or self.fact.valid_until


@dataclass(frozen=True, slots=True)
class ReviewQueue:
    """Everything that waits: entries, endings and proposals, oldest first, and the paths of other staged notes.

    `groups` are what is undecided, the group with the newest entry first.
    """

    entries: tuple[WaitingEntry, ...]
    notes: tuple[str, ...] = ()
    proposals: tuple[Proposal, ...] = ()
    endings: tuple[WaitingEntry, ...] = ()
    groups: tuple[WaitingGroup, ...] = ()

    @property
    def count(self) -> int:
        """How many decisions the person is asked for: a group is one, however many entries it has."""
        return sum(map(len, (self.entries, self.notes, self.proposals, self.endings, self.groups)))


@dataclass(frozen=True, slots=True)
class ReviewResult:
    """The result of a review of one entry or group; `fact` is the entry as it is now, or would be.

    The action is `confirm` if what is known was confirmed in the place of the entry: then `fact` is what is known. It
    is `both` if the entry and the others hold, `replace` if the newest of a group ended the others, `same` if one of a
    group stays for all, `back` for an entry that was brought back, `agree` for one that stays ended.
    `ended` are the entries that it replaced. `remarks` say what the person should know besides.
    """

    action: ReviewAction
    fact: Fact
    ended: tuple[Fact, ...] = ()
    remarks: tuple[str, ...] = ()
    commit: str | None = None
    changed: bool = True
    difference: str | None = None
