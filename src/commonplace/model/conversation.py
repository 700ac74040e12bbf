"""A conversation: messages between a person and others, in order. It only ever grows."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal, get_args

Role = Literal["user", "assistant", "system", "tool"]
ROLES: tuple[Role, ...] = get_args(Role)

Trust = Literal["told", "said", "read", "mined", "imported"]
TRUSTS: tuple[Trust, ...] = get_args(Trust)
"""How far a source is trusted: told by the person, said by an agent, read in a note, mined by a job, imported."""

ThreadKind = Literal["chat", "task", "correction"]
THREAD_KINDS: tuple[ThreadKind, ...] = get_args(ThreadKind)
"""What is recorded: a conversation, a task with its result, or what the person corrected."""

MemoryUse = Literal["on", "off", "isolated"]
MEMORY_USES: tuple[MemoryUse, ...] = get_args(MemoryUse)
"""What a conversation is used for, from most to least: search finds it, prompts are given passages of it, and facts are
learned from it (`on`); search alone finds it (`off`); only a search that names the source `isolated` finds it."""

CHANNEL_NAME: Final = r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}"
"""The expression of a channel's name, which is also the name of its folder."""
_CHANNEL_ID: Final = re.compile(rf"channel:({CHANNEL_NAME})(?:/.*)?", re.DOTALL)


FactsKept = Literal["keep", "forget"]
"""What becomes of facts that were learned from a conversation that is forgotten: they stay, or they go with it."""


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
    project in which it was held; empty if none is known. `captured` says that we read it in the program's own
    transcript; who spoke in any other conversation is what the caller that recorded it says. `parent` is the id of the
    conversation in which a correction was made, empty if none is known. `memory` is what it may be used for.
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
    captured: bool = False
    kind: ThreadKind = "chat"
    parent: str = ""
    memory: MemoryUse = "on"

    @property
    def channel(self) -> str:
        """The channel in which it was held, by an id such as `channel:team` or `channel:team/17`; empty for none."""
        match = _CHANNEL_ID.fullmatch(self.source_id)
        return match[1] if match else ""

    @property
    def is_eligible(self) -> bool:
        """True if facts may be learned from it and prompts may be given passages of it."""
        return self.memory == "on"

    @property
    def is_claim(self) -> bool:
        """True if only the program that recorded it says who spoke: no person told it, and no transcript was read."""
        return not self.captured and self.trust != "told"


@dataclass(frozen=True, slots=True)
class RecordResult:
    """The result of recording: the conversation's id, how many messages were new and how many were known."""

    id: str
    added: int
    known: int


@dataclass(frozen=True, slots=True)
class TranscriptCursor:
    """How far a transcript was read, and a hash of the bytes right before: another hash means another text.

    `file` is a hash of the transcript's path, so that no path outlives a conversation that is erased.
    """

    offset: int = 0
    tail: str = ""
    file: str = ""


def stricter_use(one: MemoryUse, other: MemoryUse) -> MemoryUse:
    """The one of two that allows less."""
    return max(one, other, key=MEMORY_USES.index)


_SPEAKERS: Final = {"user": "the person", "assistant": "assistant", "system": "system", "tool": "tool"}
_HEADER: Final = re.compile(
    r"^(?P<before>[ \t]*+)(?!>)(?=[^\w\n]{0,6}(?:user|human|person|you|me|assistant|ai|bot|model|system|developer"
    r"|tool|claude|chatgpt|codex|gemini)\b[^\w\n]{0,6}[:：])",
    re.IGNORECASE | re.MULTILINE,
)


def speaker_label(role: str, author: str = "", *, is_claim: bool) -> str:
    """Who spoke: the author and the role; `unverified` if only the program that recorded it says so."""
    speaker = _SPEAKERS.get(role, role)
    named = f"{author} ({speaker})" if author and speaker else author or speaker
    return f"{named}, unverified" if is_claim and named else named


def is_claim(metadata: Mapping[str, Any]) -> bool:
    """True if only the program that recorded a hit's conversation says who spoke."""
    return metadata.get("trust", "told") != "told" and not metadata.get("captured")


def hit_speaker(metadata: Mapping[str, Any]) -> str:
    """Who spoke in a hit of a conversation; empty if nobody knows."""
    role, author = str(metadata.get("role") or ""), str(metadata.get("speaker") or "")
    return speaker_label(role, author, is_claim=is_claim(metadata))


def quote_turn_headers(text: str) -> str:
    """The text of one turn, with a `>` before each line in it that begins like a turn of another speaker."""
    return _HEADER.sub(r"\g<before>> ", text)
