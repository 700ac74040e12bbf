"""The seam for sources other than notes, such as conversations. They share the queue and the index with notes.

Terms:
- source     one kind of memory that is stored outside the vault, named by its type.
- item       one thing of a source, such as a conversation.
- source id  the name of an item within its source; it stays the same while the item changes.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol

from commonplace.model import Voice


@dataclass(frozen=True, slots=True)
class SourcePassage:
    """A stretch of text, and the headings above it.

    For a turn in a conversation, `turn` is its number, `voice` and `speaker` say who speaks and `at` when. `before` is
    the end of the turn before it, which makes the meaning clear: it is encoded with the text and not shown.
    """

    text: str
    heading_path: tuple[str, ...] = ()
    turn: int = 0
    voice: Voice = ""
    speaker: str = ""
    at: str = ""
    before: str = ""


@dataclass(frozen=True, slots=True)
class SourceItem:
    """One item of a source as it is now, ready to be cut into chunks.

    `uri` is where a person finds it; times are text such as 2026-03-01T09:12:44Z.
    """

    source_id: str
    title: str
    uri: str
    passages: tuple[SourcePassage, ...]
    created: str
    updated: str
    sensitive: bool = False
    kind: str = ""
    tags: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)


class Source(Protocol):
    """A source of items to index. Its methods raise VaultUnavailable if it cannot be read."""

    @property
    def type(self) -> str:
        """The `source_type` of its documents, in one word such as chat, task or correction."""

    def stamps(self, source_ids: Iterable[str] | None = None) -> Mapping[str, str]:
        """The current items, or those of them with these ids: source id -> a hash that changes with their content."""

    def lost(self, source_ids: Iterable[str]) -> frozenset[str]:
        """Those of these items that are gone although nobody removed them: the index may have their only copy."""

    def read(self, source_id: str) -> SourceItem | None:
        """The item as it is now, or None if it is gone."""


class InMemorySource:
    """A source in a dictionary, for tests and for callers that hold the items themselves."""

    def __init__(self, type: str) -> None:
        self.type = type
        self._items: dict[str, SourceItem] = {}

    def put(self, *items: SourceItem) -> None:
        """Add items; they replace those with the same ids."""
        self._items.update({item.source_id: item for item in items})

    def remove(self, source_id: str) -> None:
        """Remove the item, if there is one."""
        self._items.pop(source_id, None)

    def stamps(self, source_ids: Iterable[str] | None = None) -> Mapping[str, str]:
        """The current items, or those of them with these ids: source id -> a hash of their content."""
        ids = self._items if source_ids is None else {*source_ids} & {*self._items}
        return {source_id: stamp_of(self._items[source_id]) for source_id in ids}

    def lost(self, source_ids: Iterable[str]) -> frozenset[str]:
        """Return nothing: what is gone was removed."""
        return frozenset()

    def read(self, source_id: str) -> SourceItem | None:
        """The item as it is now, or None if it is gone."""
        return self._items.get(source_id)


def stamp_of(item: SourceItem) -> str:
    """The SHA-256 of all fields of the item."""
    text = json.dumps(asdict(item), sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()
