"""Conversations: recorded and found at once, listed, shown, closed, and erased for good."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from commonplace.errors import CommonplaceError, NotFound, Refused, UsageError
from commonplace.events import emit
from commonplace.flows.forget import forget_sourced
from commonplace.flows.ingest_source import ingest_sourced
from commonplace.flows.shelf import Shelf
from commonplace.history.base import History
from commonplace.history.conversations import NewThread
from commonplace.model import Actor, Message, Recorded, Thread
from commonplace.sources.base import Source
from commonplace.sources.conversations import title_of

_SHOWN: Final = 3  # conversations that an error names
_MARGIN: Final = 4000  # characters behind the longest message: a secret that begins before its end is seen whole
_FIRST: Final = 8  # messages in which a title is looked for


@dataclass(frozen=True, slots=True)
class Table:
    """Where conversations are kept, who is there, and the clock. `source` reads them for the index.

    `shelf` is made at its first use.
    """

    history: History
    source: Source
    actor: Actor
    clock: Callable[[], datetime]
    shelf: Callable[[], Shelf]


def record_conversation(
    thread: NewThread, messages: Sequence[Message], table: Table, *, longest: int | None = None
) -> Recorded:
    """Keep what is new of the conversation, and let it be found. Raises UsageError, Refused and VaultUnavailable.

    What a program records is at most said by it: only a person tells, and to what was told it may add nothing. It goes
    without its secrets, and no message of it is longer than `longest` characters.
    """
    if table.actor.kind != "person":
        thread = replace(thread, trust="said") if thread.trust == "told" else thread
        messages = _scrubbed(messages, longest=longest)
    recorded = table.history.record_conversation(thread, messages, now=table.clock())
    _ingest(recorded.id, table)
    emit("conversation_recorded", id=recorded.id, added=recorded.added, known=recorded.known)
    return recorded


def _scrubbed(messages: Sequence[Message], *, longest: int | None) -> list[Message]:
    """The messages without secrets, none longer than that."""
    from commonplace.policy.scrubbing import scrub  # its expressions take a moment to load, and few calls need them

    most = longest or max((len(each.text) for each in messages), default=0)
    texts = scrub([_beginning(each.text, most + _MARGIN) for each in messages])
    return [
        replace(each, text=text if len(each.text) <= most else f"{text[:most]}\n[cut: {len(each.text)} characters]")
        for each, text in zip(messages, texts, strict=True)
    ]


def _beginning(text: str, most: int) -> str:
    """The text, or its first words: half a word at the end could be half a secret, which nobody recognises."""
    return text if len(text) <= most else text[:most].rsplit(None, 1)[0]


def list_conversations(
    table: Table, *, interface: str | None, since: datetime | None, limit: int | None
) -> tuple[Thread, ...]:
    """Those of that program, with a message from that time on; newest first, each with a title."""
    found = table.history.conversations(interface=interface, since=since, limit=limit)
    return tuple(_titled(each, table) for each in found)


def find_conversation(id: str, table: Table) -> Thread:
    """The conversation with that id, or whose id alone begins so. Raises NotFound, and UsageError for several."""
    if found := table.history.conversation(id):
        return _titled(found, table)
    alike = [each for each in table.history.conversations() if each.id.startswith(id)] if id else []
    if len(alike) > 1:
        named = ", ".join(each.id for each in alike[:_SHOWN])
        raise UsageError(f"{len(alike)} conversations have an id that begins with {id}", hint=f"Such as {named}.")
    if not alike:
        raise NotFound(f"no such conversation: {id}", hint="`commonplace conversation list` shows every one.")
    return _titled(alike[0], table)


def _titled(thread: Thread, table: Table) -> Thread:
    """The thread under its title, or under what is said first in it."""
    if thread.title:
        return thread
    return replace(thread, title=title_of(table.history.messages(thread.id, last=_FIRST)))


def close_conversation(id: str, table: Table) -> Thread:
    """Say that a conversation is finished; a message that is new opens it again. Raises as `find_conversation` does.

    It may be named by its id, or by the id which its program gave it.
    """
    thread = _given(id, table) or find_conversation(id, table)
    now = table.clock()
    table.history.close_conversation(thread.id, now=now)
    emit("conversation_closed", id=thread.id)
    return find_conversation(thread.id, table)


def _given(id: str, table: Table) -> Thread | None:
    """The newest conversation to which its program gave that id."""
    return next((each for each in table.history.conversations() if each.source_id == id), None) if id else None


def erase_conversation(id: str, table: Table) -> Thread:
    """Remove the conversation for good, from the history, the index and its caches; what it was.

    Raises Refused unless a person asks, and NotFound.
    """
    if table.actor.kind != "person":
        raise Refused("only a person may erase a conversation", hint="Ask the owner of the vault.")
    thread = find_conversation(id, table)
    thing, shelf = table.source.read(thread.id), table.shelf()
    if thing:
        forget_sourced(table.source.type, thing, shelf)
    table.history.forget_conversation(thread.id)
    if shelf.index.stamp(table.source.type, thread.id):  # another process has taken it in meanwhile
        shelf.index.erase(table.source.type, thread.id)
    emit("conversation_erased", id=thread.id, messages=thread.count)
    return thread


def _ingest(id_: str, table: Table) -> None:
    """Let the conversation be found. It is kept: an index that fails is told, and mended by sync."""
    try:
        shelf = table.shelf()
        for source in shelf.sources:
            if source.type == table.source.type:
                ingest_sourced(source, [id_], shelf)
    except CommonplaceError as error:
        emit("ingest_failed", level="warning", conversations=1, said=str(error))
