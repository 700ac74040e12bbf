"""The source of recorded conversations: each is one document, and each message one passage."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, Protocol

from commonplace.model import Message, Thread
from commonplace.model.moment import moment_text
from commonplace.sources.base import SourceItem, SourcePassage

CHAT: Final = "chat"
_MAX_TITLE: Final = 60


class ConversationReader(Protocol):
    """The store of recorded conversations, which is the history."""

    def conversation(self, id: str) -> Thread | None:
        """The conversation with that id, or None."""

    def messages(self, id: str, *, first: int = 1, last: int | None = None) -> tuple[Message, ...]:
        """Its messages in order, from number `first` to number `last`."""

    def conversation_stamps(self, ids: Iterable[str] | None = None) -> Mapping[str, str]:
        """A content hash for each of these conversations, or for all."""

    def forgotten(self, ids: Iterable[str]) -> frozenset[str]:
        """Those of these conversations that were erased."""


class ConversationSource:
    """The conversations of a store. `closing` gives the last sentences of a text."""

    type = CHAT

    def __init__(self, store: ConversationReader, *, closing: Callable[[str], str]) -> None:
        self._store = store
        self._closing = closing

    def stamps(self, source_ids: Iterable[str] | None = None) -> Mapping[str, str]:
        """A content hash for each of these conversations, or for all."""
        return self._store.conversation_stamps(source_ids)

    def lost(self, source_ids: Iterable[str]) -> frozenset[str]:
        """Those of these conversations that the store should have and has not: none of them was erased."""
        ids = frozenset(source_ids)
        return ids - self._store.forgotten(ids) - self._store.conversation_stamps(ids).keys()

    def read(self, source_id: str) -> SourceItem | None:
        """The conversation as it is now, or None if there is none."""
        thread = self._store.conversation(source_id)
        if thread is None:
            return None
        # Messages added since have a stamp of their own and are read with it.
        messages = self._store.messages(source_id, last=thread.count)
        return SourceItem(
            source_id=thread.id,
            title=thread.title or conversation_title(messages),
            uri=f"conversation:{thread.id}",
            passages=tuple(self._passages(messages)),
            created=moment_text(thread.started),
            updated=moment_text(thread.updated),
            metadata={
                "conversation": thread.id,
                "interface": thread.interface,
                "trust": thread.trust,
                "captured": thread.captured,
                "turns": thread.count,
            },
        )

    def _passages(self, messages: Iterable[Message]) -> Iterator[SourcePassage]:
        """A passage for each message with text by a person or an assistant; others are recorded and not searched."""
        before = ""
        for turn, message in enumerate(messages, start=1):
            if message.role not in ("user", "assistant") or not message.text.strip():
                continue
            at = moment_text(message.at) if message.at else ""
            yield SourcePassage(
                message.text, turn=turn, voice=message.role, speaker=message.author, at=at, before=before
            )
            before = (f"{message.author}: " if message.author else "") + self._closing(message.text)


def conversation_title(messages: Iterable[Message]) -> str:
    """The beginning of the person's first message, or else of the first message, cut after a word."""
    with_text = [message for message in messages if message.text.strip()]
    first = next((message for message in with_text if message.role == "user"), with_text[0] if with_text else None)
    words = " ".join(first.text[: 8 * _MAX_TITLE].split()) if first else ""
    if len(words) <= _MAX_TITLE:
        return words
    return (words[:_MAX_TITLE].rpartition(" ")[0] or words[:_MAX_TITLE]) + "…"
