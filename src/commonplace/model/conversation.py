"""A conversation: messages between a person and others, in order. It only ever grows."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, get_args

Role = Literal["user", "assistant", "system", "tool"]
ROLES: tuple[Role, ...] = get_args(Role)

Trust = Literal["told", "said", "read", "mined", "imported"]
TRUSTS: tuple[Trust, ...] = get_args(Trust)
"""How far a source is trusted: told by the person, said by an agent, read in a note, mined by a job, imported."""


@dataclass(frozen=True, slots=True)
class Message:
    """One turn. `author` is the speaker's name, empty for the vault's owner and for the assistant.

    `source_id` is the id that the original program gave it; empty if it gave none.
    """

    role: Role
    text: str
    author: str = ""
    at: datetime | None = None
    source_id: str = ""


@dataclass(frozen=True, slots=True)
class Thread:
    """A conversation's metadata.

    `interface` is the program in which it took place, `source_id` the id that the program gave it.
    `started` and `updated` are the times of its first and last message, `recorded` when it was first stored.
    `count` is the number of messages, `closed` when it was closed; None while it is open. `project` is the name of the
    project in which it was held; empty if none is known.
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
    project: str = ""


@dataclass(frozen=True, slots=True)
class RecordResult:
    """The result of recording: the conversation's id, how many messages were new and how many were known."""

    id: str
    added: int
    known: int
