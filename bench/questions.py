"""What the benchmark of quality takes in and asks, whichever set it is from.

What belongs to scoring alone (type, gold) is in `Question` and never reaches the library. Ids are opaque.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

Place = tuple[str, int]
"""A conversation and a turn in it, from 1; a note, and 0."""

UNANSWERABLE: Final = "not answerable"


@dataclass(frozen=True, slots=True)
class Turn:
    """What one of them said."""

    role: str
    text: str
    author: str = ""


@dataclass(frozen=True, slots=True)
class Session:
    """One conversation, at one time."""

    id: str
    at: datetime
    turns: tuple[Turn, ...]


@dataclass(frozen=True, slots=True)
class Store:
    """What is taken in before anything is asked: conversations, or notes by id."""

    sessions: tuple[Session, ...] = ()
    notes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Question:
    """A question, when it is asked and of which store; `type`, `gold` and `gold_turns` are for scoring only."""

    id: str
    text: str
    now: datetime
    store: str
    type: str
    gold: frozenset[str]
    gold_turns: frozenset[Place] = frozenset()


def cut_to(questions: Sequence[Question], count: int | None) -> tuple[Question, ...]:
    """So many of the questions, each type with its share; always the same ones. All of them for None."""
    if count is None or count >= len(questions):
        return tuple(questions)
    ordered = sorted(questions, key=lambda each: (each.type, hashlib.sha256(each.id.encode()).digest()))
    return tuple(ordered[(2 * place + 1) * len(ordered) // (2 * count)] for place in range(count))
