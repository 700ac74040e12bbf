"""The source of conversations: each is one document, each thing that a person or an assistant said one passage."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Final, Protocol

from commonplace.model import Message, Thread
from commonplace.sources.base import Passage, Sourced

CHAT: Final = "chat"
_LONGEST_TITLE: Final = 60


class Kept(Protocol):
    """Where conversations are kept: the history."""

    def conversation(self, id: str) -> Thread | None:
        """The conversation with that id; None when there is none."""

    def messages(self, id: str, *, first: int = 1, last: int | None = None) -> tuple[Message, ...]:
        """Its messages in order, from one number to another."""

    def conversation_stamps(self, ids: Iterable[str] | None = None) -> Mapping[str, str]:
        """A hash of what each of these says, or all."""


class ConversationSource:
    """The conversations that are kept. `closing` gives the last sentences of a text."""

    type = CHAT

    def __init__(self, kept: Kept, *, closing: Callable[[str], str]) -> None:
        self._kept = kept
        self._closing = closing

    def stamps(self, source_ids: Iterable[str] | None = None) -> Mapping[str, str]:
        """What is there now: id -> a hash of what it says."""
        return self._kept.conversation_stamps(source_ids)

    def read(self, source_id: str) -> Sourced | None:
        """The conversation as it is now; None when it is gone."""
        thread = self._kept.conversation(source_id)
        if thread is None:
            return None
        messages = self._kept.messages(source_id, last=thread.count)  # what was added meanwhile comes with its stamp
        return Sourced(
            source_id=thread.id,
            title=thread.title or title_of(messages),
            uri=f"conversation:{thread.id}",
            passages=tuple(self._passages(messages)),
            created=_text(thread.started),
            updated=_text(thread.updated),
            metadata={
                "conversation": thread.id,
                "interface": thread.interface,
                "trust": thread.trust,
                "turns": thread.count,
            },
        )

    def _passages(self, messages: Iterable[Message]) -> Iterator[Passage]:
        """A passage for each turn that says something; what systems and tools say is kept and not searched."""
        before = ""
        for turn, each in enumerate(messages, start=1):
            if each.role not in ("user", "assistant") or not each.text.strip():
                continue
            at = _text(each.at) if each.at else ""
            yield Passage(each.text, turn=turn, voice=each.role, speaker=each.author, at=at, before=before)
            before = (f"{each.author}: " if each.author else "") + self._closing(each.text)


def title_of(messages: Iterable[Message]) -> str:
    """The beginning of what the person says first, or else of what is said first; to the end of a word."""
    said = [each for each in messages if each.text.strip()]
    first = next((each for each in said if each.role == "user"), said[0] if said else None)
    words = " ".join(first.text[: 8 * _LONGEST_TITLE].split()) if first else ""
    if len(words) <= _LONGEST_TITLE:
        return words
    return (words[:_LONGEST_TITLE].rpartition(" ")[0] or words[:_LONGEST_TITLE]) + "…"


def _text(at: datetime) -> str:
    return f"{at.astimezone(UTC).replace(microsecond=0, tzinfo=None).isoformat()}Z"
