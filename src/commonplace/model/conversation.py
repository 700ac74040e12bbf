"""A conversation: what was said between a person and others, in the order in which it was said. It only ever grows."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, get_args

Role = Literal["user", "assistant", "system", "tool"]
ROLES: tuple[Role, ...] = get_args(Role)

Trust = Literal["told", "said", "read", "mined", "imported"]
TRUSTS: tuple[Trust, ...] = get_args(Trust)
"""How much a source is worth: told by the person, said by an agent, read in a note, mined by a job, imported."""


@dataclass(frozen=True, slots=True)
class Message:
    """One turn. `author` is the name of who spoke, empty for the vault's owner and for the assistant.

    `source_id` is the id that the program it comes from gave it, empty where there is none.
    """

    role: Role
    text: str
    author: str = ""
    at: datetime | None = None
    source_id: str = ""


@dataclass(frozen=True, slots=True)
class Thread:
    """What is known of a conversation beside its messages.

    `interface` is the program in which it was held, `source_id` the id which that program gave it.
    `started` and `updated` are the times of its first and last message, and `recorded` when it was first kept;
    `count` is how many messages it has, `closed` when it was said to be finished; None while it goes on.
    """

    id: str
    interface: str
    source_id: str
    title: str
    trust: Trust
    started: datetime
    updated: datetime
    recorded: datetime
    count: int
    closed: datetime | None = None


@dataclass(frozen=True, slots=True)
class Recorded:
    """What came of recording: the conversation's id, how many messages were new and how many were known."""

    id: str
    added: int
    known: int
