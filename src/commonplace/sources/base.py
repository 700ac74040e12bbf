"""The seam for sources beyond notes: conversations, tasks, corrections. They go through the same queue and index.

Terms:
- source     one kind of memory that is kept elsewhere, named by its type.
- source id  the name of one thing within its source; it stays the same while the thing changes.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from commonplace.model import Voice


@dataclass(frozen=True, slots=True)
class Passage:
    """One piece of text, and the headings above it.

    Of a turn in a conversation, `turn` is its number, `voice` and `speaker` say who speaks, `at` when, and `before` is
    just enough of the turn before it for the meaning to stand alone; it is encoded with the text and not shown.
    """

    text: str
    heading_path: tuple[str, ...] = ()
    turn: int = 0
    voice: Voice = ""
    speaker: str = ""
    at: str = ""
    before: str = ""


@dataclass(frozen=True, slots=True)
class Sourced:
    """One thing of a source as it is now, ready to be cut into chunks.

    `uri` is where a person finds it; times are text such as 2026-03-01T09:12:44Z.
    """

    source_id: str
    title: str
    uri: str
    passages: tuple[Passage, ...]
    created: str
    updated: str
    sensitive: bool = False
    kind: str = ""
    tags: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)


class Source(Protocol):
    """Where memory comes from. Its methods raise VaultUnavailable when it cannot be read."""

    @property
    def type(self) -> str:
        """What it is, in one word such as chat, task or correction: the `source_type` of its documents."""

    def stamps(self, source_ids: Iterable[str] | None = None) -> Mapping[str, str]:
        """What is there now, of these or of all: source id -> a hash of its content, which changes when anything of it
        does."""

    def read(self, source_id: str) -> Sourced | None:
        """The thing as it is now; None when it is gone."""
