"""What an extractor makes of a conversation or a marked note: candidate facts with their evidence, and the rest.

An extractor reads turns and gives an Extraction; it decides nothing about what is stored. Days are text such as
2026-03-01, empty if unknown. Turn numbers are those of the conversation, counted from 1.
"""

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

REJECT_REASONS: tuple[RejectReason, ...] = get_args(RejectReason)


@dataclass(frozen=True, slots=True)
class Turn:
    """One message as an extractor sees it: its number in the conversation, who spoke, the words, and the day."""

    number: int
    role: Role
    text: str
    day: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractedFact:
    """A candidate with its evidence.

    `quote` is a literal part of the text of the turn `turn`. `ends` are the words of what is over, for the relations
    `update` and `end`; empty where the statement itself tells. `importance` None means the default of its class.
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
    importance: float | None = None
    valid_from: str = ""
    valid_until: str = ""


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
