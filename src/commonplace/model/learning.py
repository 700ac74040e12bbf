"""What an extractor makes of a conversation or a marked note: candidate facts with their evidence, and the rest.

An extractor reads turns and gives an Extraction; it decides nothing about what is stored. Days are text such as
2026-03-01, empty if unknown. Turn numbers are those of the conversation, counted from 1.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from commonplace.model.conversation import Role
from commonplace.model.fact import FactClass

FactRelation = Literal["new", "update", "extend", "derive", "end"]
"""How a candidate stands to what was known: it is new, changes it, adds to it, follows from it, or says it is over."""

RejectReason = Literal[
    "no_quote",
    "not_the_person",
    "invented",
    "hypothetical",
    "question",
    "joke",
    "quotation",
    "third_party",
    "unimportant",
    "passing",
    "instruction",
    "secret",
    "junk",
    "too_many",
    "malformed",
]
"""Why an extracted item was not offered to memory."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One message as an extractor sees it: its number in the conversation, who spoke, the words, and the day.

    `day` is that of UTC, as moments of facts are; `local_day` that of the person, from whom "by Friday" is said.
    """

    number: int
    role: Role
    text: str
    day: str = ""
    local_day: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractedFact:
    """A candidate with its evidence.

    `quote` is a literal part of the text of the turn `turn`. `ends` are the words of what is over, for the relations
    `update` and `end`; empty where the statement itself tells. `importance` None means the default of its class.
    `due` is the day by which a commitment is to be done.
    """

    text: str
    quote: str
    turn: int
    kind: str = "fact"
    fact: FactClass = "fact"
    relation: FactRelation = "new"
    ends: str = ""
    subject: str = ""
    predicate: str = ""
    object: str = ""
    topics: tuple[str, ...] = ()
    about: str = ""
    when: str = ""
    importance: float | None = None
    valid_from: str = ""
    valid_until: str = ""
    due: str = ""


@dataclass(frozen=True, slots=True)
class Rejection:
    """An item that was not offered to memory: its words, why, and the turn it came from; 0 if none is known."""

    text: str
    reason: RejectReason
    turn: int = 0


@dataclass(frozen=True, slots=True)
class SpokenCommitment:
    """Something that someone undertook to do: who, what, and by which day."""

    who: str
    what: str
    by: str = ""
    turn: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Extraction:
    """Everything that was made of one conversation.

    `mentions` are the people and things it speaks of, `questions` those left open, `drift` how the topic moved.
    """

    facts: tuple[ExtractedFact, ...] = ()
    rejections: tuple[Rejection, ...] = ()
    summary: str = ""
    mentions: tuple[str, ...] = ()
    questions: tuple[str, ...] = ()
    commitments: tuple[SpokenCommitment, ...] = ()
    drift: str = ""


LearnOutcome = Literal["pending", "stored", "replaced", "staged", "confirmed", "ended", "refused", "rejected"]
"""What became of an extracted item: nothing yet; a new entry; a new entry in place of an old one; an entry that waits
for review; known already; the end of a fact; refused by the gate; not offered to memory at all."""

LEARN_OUTCOMES: tuple[LearnOutcome, ...] = get_args(LearnOutcome)


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnedItem:
    """One item of an extraction and what became of it.

    `source` is the id of a conversation or the path of a marked note. `fact` is the id of the entry that has it, `old`
    that of the fact that it replaced, confirmed or ended. `number` orders items, and is 0 before they are stored.
    """

    source: str
    text: str
    outcome: LearnOutcome
    reason: str = ""
    quote: str = ""
    turn: int = 0
    fact: str = ""
    old: str = ""
    extractor: str = ""
    at: str = ""
    number: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnedBatch:
    """An extraction with the part of the source that it was made of, to be stored before anything is saved.

    A conversation was read from turn `after` + 1 to turn `until`; of a note `stamp` is the hash of its text and
    `paragraphs` are the hashes of all its paragraphs.
    """

    source: str
    extraction: Extraction
    extractor: str
    after: int = 0
    until: int = 0
    stamp: str = ""
    paragraphs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LearningState:
    """How far a conversation or a marked note was learned, and what hinders it.

    `turns` is how many messages of a conversation were read, `stamp` the hash of a note's text when it was read.
    `failures` is how often in a row it could not be read, `reason` why, `retry_at` when it is tried again; empty for at
    once. One that `is_parked` waits until a person asks for another try.
    """

    source: str
    turns: int = 0
    stamp: str = ""
    paragraphs: tuple[str, ...] = ()
    failures: int = 0
    reason: str = ""
    retry_at: str = ""
    is_parked: bool = False

    @property
    def is_note(self) -> bool:
        """True for a marked note, False for a conversation."""
        return self.source.endswith(".md")


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnResult:
    """What was learned from one conversation or marked note: its items, and what else was extracted.

    `turns` is how many messages were read now. `reason` says why nothing was read; empty if something was.
    """

    source: str
    title: str = ""
    extractor: str = ""
    turns: int = 0
    items: tuple[LearnedItem, ...] = ()
    summary: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LearningRun:
    """What one run has learned, how many sources are left, and why it ended early; empty if it did not.

    `open` is how many conversations with new messages were left alone because they still go on.
    """

    results: tuple[LearnResult, ...] = ()
    left: int = 0
    said: str = ""
    open: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class LearningStatus:
    """The state of learning.

    `extractor` is `rules` or the model's name; `said` is why that model cannot be asked. `due` is how many sources can
    be read now, `open` how many there are with conversations that still go on. `pending` items were extracted and not
    saved. `today` counts what became of the items of this day (UTC). `waiting` and `parked` are sources that failed.
    """

    is_enabled: bool
    extractor: str
    said: str
    due: int
    open: int
    marked_notes: int
    pending: int
    read_today: int
    today: Mapping[str, int]
    waiting: tuple[LearningState, ...]
    parked: tuple[LearningState, ...]


@dataclass(frozen=True, slots=True)
class HostQuestion:
    """What the model of an agent's host is asked for us: instructions and a text. `key` finds its answer."""

    key: str
    system: str
    text: str
    most_tokens: int
