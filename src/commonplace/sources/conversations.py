"""The sources of recorded threads: conversations, tasks, corrections, and what is isolated.

Each thread is one document of one of these sources, and each of its messages one passage. What the person corrected is
not a passage of the correction: it was wrong.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, Protocol

from commonplace.model import MemoryUse, Message, Thread, ThreadKind
from commonplace.model.moment import moment_text
from commonplace.sources.base import SourceItem, SourcePassage

CHAT: Final = "chat"
TASK: Final = "task"
CORRECTION: Final = "correction"
ISOLATED: Final = "isolated"
"""The type of what is found only by a search that names it."""
THREAD_TYPES: Final = (CHAT, TASK, CORRECTION, ISOLATED)
_MAX_TITLE: Final = 60
_MAX_CORRECTED: Final = 300  # characters of what was corrected that a hit shows


class ThreadPlace(Protocol):
    """What decides to which source a thread belongs: a `Thread`, or the traits of one."""

    @property
    def kind(self) -> ThreadKind: ...

    @property
    def memory(self) -> MemoryUse: ...

    @property
    def interface(self) -> str: ...

    @property
    def project(self) -> str: ...


class ConversationReader(Protocol):
    """The store of recorded conversations, which is the history."""

    def conversation(self, id: str) -> Thread | None:
        """The conversation with that id, or None."""

    def messages(self, id: str, *, first: int = 1, last: int | None = None) -> tuple[Message, ...]:
        """Its messages in order, from number `first` to number `last`."""

    def conversation_stamps(self, ids: Iterable[str] | None = None) -> Mapping[str, str]:
        """A content hash for each of these conversations, or for all."""

    def thread_traits(self, ids: Iterable[str] | None = None) -> Mapping[str, ThreadPlace]:
        """What decides to which source each of these threads belongs, or all."""

    def forgotten(self, ids: Iterable[str]) -> frozenset[str]:
        """Those of these conversations that were erased."""


class ConversationSource:
    """The threads of a store that belong to one source. `closing` gives the last sentences of a text.

    What was held in one of the programs or projects in `isolated` is isolated.
    """

    def __init__(
        self,
        store: ConversationReader,
        *,
        closing: Callable[[str], str],
        type: str = CHAT,
        isolated: frozenset[str] = frozenset(),
    ) -> None:
        self.type = type
        self._store = store
        self._closing = closing
        self._isolated = isolated

    def of_type(self, type: str) -> "ConversationSource":
        """The source of the same store with another type."""
        return ConversationSource(self._store, closing=self._closing, type=type, isolated=self._isolated)

    def type_of(self, thread: ThreadPlace) -> str:
        """The type of the source to which a thread belongs."""
        is_isolated = thread.memory == "isolated" or {thread.interface, thread.project} & self._isolated
        return ISOLATED if is_isolated else thread.kind

    def stamps(self, source_ids: Iterable[str] | None = None) -> Mapping[str, str]:
        """A content hash for each of these threads, or for all, as far as they belong to this source."""
        ids = None if source_ids is None else [*source_ids]
        traits = self._store.thread_traits(ids)
        stamps = self._store.conversation_stamps(ids)
        return {id_: stamp for id_, stamp in stamps.items() if id_ in traits and self.type_of(traits[id_]) == self.type}

    def lost(self, source_ids: Iterable[str]) -> frozenset[str]:
        """Those of these conversations that the store should have and has not: none of them was erased."""
        ids = frozenset(source_ids)
        return ids - self._store.forgotten(ids) - self._store.conversation_stamps(ids).keys()

    def read(self, source_id: str) -> SourceItem | None:
        """The thread as it is now, or None if there is none in this source."""
        thread = self._store.conversation(source_id)
        if thread is None or self.type_of(thread) != self.type:
            return None
        # Messages added since have a stamp of their own and are read with it.
        messages = self._store.messages(source_id, last=thread.count)
        passages = self._passages(messages)
        if thread.kind == CORRECTION:
            passages = (each for each in passages if each.voice == "user")
        return SourceItem(
            source_id=thread.id,
            title=thread.title or conversation_title(messages),
            uri=f"conversation:{thread.id}",
            passages=tuple(passages),
            created=moment_text(thread.started),
            updated=moment_text(thread.updated),
            metadata={
                "conversation": thread.id,
                "interface": thread.interface,
                "trust": thread.trust,
                "captured": thread.captured,
                "turns": thread.count,
                **({} if thread.memory == "on" else {"memory": thread.memory}),
                **(_correction_metadata(thread, messages) if thread.kind == CORRECTION else {}),
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


def _correction_metadata(thread: Thread, messages: Iterable[Message]) -> dict[str, str]:
    """The conversation in which it was made, and the beginning of what was corrected."""
    corrected = next((each.text for each in messages if each.role == "assistant"), "")
    words = " ".join(corrected[: 4 * _MAX_CORRECTED].split())
    return {"parent": thread.parent, "corrects": cut_words(words, _MAX_CORRECTED)}


def conversation_title(messages: Iterable[Message]) -> str:
    """The beginning of the person's first message, or else of the first message, cut after a word."""
    with_text = [message for message in messages if message.text.strip()]
    first = next((message for message in with_text if message.role == "user"), with_text[0] if with_text else None)
    return cut_words(" ".join(first.text[: 8 * _MAX_TITLE].split()) if first else "", _MAX_TITLE)


def cut_words(words: str, most: int) -> str:
    """The words, cut after one of them if they have more characters."""
    if len(words) <= most:
        return words
    return (words[:most].rpartition(" ")[0] or words[:most]) + "…"
