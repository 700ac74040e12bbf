"""A fact: one thing known, with its source, its validity and its history; and what may become one.

Moments are text such as 2026-03-01T09:12:44Z, days such as 2026-03-01; empty means open or unknown. Windows are half
open: a fact is valid from `valid_from` on, and no longer at `valid_until`.
"""

from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

from commonplace.model.conversation import Trust
from commonplace.model.document import Place

FactClass = Literal["", "identity", "fact", "preference", "event"]
FACT_CLASSES: tuple[FactClass, ...] = get_args(FactClass)
"""What sort of thing is known; it decides how fast it ages. Empty for long notes, which age as facts do."""

Status = Literal["active", "superseded", "expired", "archived", "deleted"]
STATUSES: tuple[Status, ...] = get_args(Status)

Origin = Literal["entry", "line"]
"""Where a fact stands: in an entry of its own, or in one structured line of a note."""

Bond = Literal["update", "extend", "derive", "contradict"]
"""How one fact stands to another: it replaces it, adds to it, follows from it, or speaks against it."""

Action = Literal["confirm", "supersede", "extend", "derive", "contradict", "insert"]
"""What becomes of a candidate that meets what is known."""


@dataclass(frozen=True, slots=True)
class Origins:
    """Where a fact comes from: the program, the conversation in it, and how much that is worth."""

    interface: str = ""
    conversation: str = ""
    trust: Trust = "told"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One thing known, as its note says it.

    `id` is the entry's own; a line's is made from its note and its words. `text` is the statement as written.
    `subject`, `predicate` and `object` are empty for a statement that is no triple.
    `recorded` is when it was first written down, which is not when it became true.
    `invalidated_at` is when someone set `valid_until` by hand, and `was_valid_until` what stood there before.
    `bonds` are pairs of a Bond and the id of the other fact. `fingerprint` is the same for the same words.
    """

    id: str
    path: str
    line: int
    origin: Origin
    text: str
    kind: str = ""
    fact: FactClass = ""
    status: Status = "active"
    place: Place = ""
    sensitive: bool = False
    always_load: bool = False
    importance: float = 0.5
    topics: tuple[str, ...] = ()
    subject: str = ""
    predicate: str = ""
    object: str = ""
    valid_from: str = ""
    valid_until: str = ""
    recorded: str = ""
    updated: str = ""
    supersedes: str = ""
    superseded_by: str = ""
    superseded_at: str = ""
    deleted_at: str = ""
    invalidated_at: str = ""
    was_valid_until: str = ""
    reason: str = ""
    bonds: tuple[tuple[Bond, str], ...] = ()
    confirmed: tuple[str, ...] = ()
    origins: Origins = Origins()
    fingerprint: str = ""

    @property
    def begins(self) -> str:
        """The moment from which it holds, as far as that is known: else the one at which it was recorded."""
        return self.valid_from or self.recorded


class End(NamedTuple):
    """That a fact holds no longer because another with the same claim begins: when, and the other's id."""

    at: str
    by: str


class Known(NamedTuple):
    """A fact as the index keeps it, and the End that follows from the others; None where nothing competes."""

    fact: Fact
    end: End | None


class FactEdge(NamedTuple):
    """A bond between two facts, by their ids."""

    source: str
    bond: Bond
    target: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """What someone wants to be known, before it meets what is known already.

    `bonds` are those that the caller states. `importance` None means what is usual for its class.
    """

    text: str
    kind: str = ""
    fact: FactClass = ""
    subject: str = ""
    predicate: str = ""
    object: str = ""
    topics: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    importance: float | None = None
    valid_from: str = ""
    valid_until: str = ""
    always_load: bool = False
    bonds: tuple[tuple[Bond, str], ...] = ()
    origins: Origins = Origins()


class Near(NamedTuple):
    """A known fact beside a candidate; `cosine` is how near they are in meaning, None where that is not known."""

    known: Known
    cosine: float | None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is to become of a candidate: the action, the id of the fact it is about, and why.

    `until` is the moment at which the candidate itself ends, where something known already follows it.
    `is_grey` says that rules alone could not tell: a model may be asked, if there is one.
    """

    action: Action
    target: str = ""
    reason: str = ""
    until: str = ""
    is_grey: bool = False


State = Literal["current", "future", "ended", "superseded", "expired", "archived", "deleted", "staged"]


@dataclass(frozen=True, slots=True)
class Held:
    """A fact as it stands at a moment: its state then, when and by which fact it ends, its importance aged.

    `uses` is how often it was recalled on this device, `last_used` on which day last; empty where it never was, and
    where a day of the past is asked for.
    """

    fact: Fact
    state: State
    until: str
    ended_by: str
    importance: float
    uses: int = 0
    last_used: str = ""


@dataclass(frozen=True, slots=True)
class Remembered:
    """What came of saving, evolving, confirming, forgetting or ending something.

    `action` is an Action, or `forget`, `invalidate` or `load`. `fact` is the fact as it is now, or would be.
    `old` is the id of the fact that it replaced, confirmed, ends or stands against.
    `staged` says that it waits for a person and is not recalled. `changed` is False when all was so already.
    """

    action: str
    fact: Fact
    reason: str
    old: str = ""
    commit: str | None = None
    staged: bool = False
    changed: bool = True
    difference: str | None = None


@dataclass(frozen=True, slots=True)
class Chain:
    """A fact with all its versions, oldest first, and every bond of any of them."""

    fact: Fact
    versions: tuple[Held, ...]
    edges: tuple[FactEdge, ...]


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic: its name, and how many documents are about it."""

    name: str
    documents: int


@dataclass(frozen=True, slots=True)
class TopicLock:
    """The topics that a conversation was found to be about, and since when."""

    conversation: str
    topics: tuple[str, ...]
    at: str


@dataclass(frozen=True, slots=True)
class Inferred:
    """What a message seems to be about: topics with how near each is, nearest first.

    `locked` are those of the conversation so far; `drifted` says that this message has left them.
    """

    topics: tuple[tuple[str, float], ...]
    locked: tuple[str, ...] = ()
    drifted: bool = False


@dataclass(frozen=True, slots=True)
class Style:
    """A way to speak, kept as a note under `Agent/styles`: for which contexts, and the text that describes it."""

    name: str
    path: str
    contexts: tuple[str, ...]
    is_default: bool
    text: str
