"""The verbs on conversations: record, read from a file, list, show, erase."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, tzinfo
from typing import Any

from commonplace.flows.converse import (
    Table,
    erase_conversation,
    find_conversation,
    list_conversations,
    record_conversation,
)
from commonplace.history.conversations import NewThread
from commonplace.memory.search import When
from commonplace.model import Message, Recorded, Thread, Trust
from commonplace.recalling.times import moment
from commonplace.sources.messages import message_of
from commonplace.sources.transcripts import read_transcript


class Conversations:
    """The conversations that one vault's owner had, for one actor."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def record(
        self,
        messages: Iterable[Message | Mapping[str, Any]],
        *,
        interface: str = "library",
        source_id: str = "",
        title: str = "",
        trust: Trust = "told",
    ) -> Recorded:
        """Keep a conversation, or what is new of one, and let it be found at once.

        A mapping has `role` and `content`, and may have `author`, `at` and `id`. With a `source_id`, the id that the
        program `interface` gave the conversation, it may be recorded again as it grows: what is known is kept once.
        Without one it is known by its messages, and cannot grow. What an agent records is `said`, never `told`.
        Raises UsageError for what is no message, and for a time without a zone; Refused where something new is worth
        less than what is kept under that id, as what an agent says is less than what a person told.
        """
        thread = NewThread(interface, source_id, title, trust)
        return record_conversation(thread, [message_of(each) for each in messages], self._table)

    def add(
        self,
        content: bytes,
        *,
        name: str,
        interface: str = "",
        source_id: str = "",
        title: str = "",
        trust: Trust = "told",
    ) -> Recorded:
        """Record the conversation in a file: JSON, JSON Lines, or text whose turns begin with `User:` and the like.

        What is given here counts before what the file says of itself; a time without a zone is UTC. Raises UsageError
        with the name of the file and the line that is wrong.
        """
        found = read_transcript(content, name=name)
        thread = NewThread(
            interface or found.interface or "file", source_id or found.source_id, title or found.title, trust
        )
        return record_conversation(thread, found.messages, self._table)

    def list(
        self, *, interface: str | None = None, since: When = None, limit: int | None = None, zone: tzinfo = UTC
    ) -> tuple[Thread, ...]:
        """The conversations of that program, with a message from that time on; newest first, at most `limit`.

        One that was given no title has the beginning of what is said first. `since` is as in a search.
        """
        start = (
            datetime.fromisoformat(moment(since, now=self._table.clock(), zone=zone)[0])
            if isinstance(since, str)
            else since
        )
        return list_conversations(self._table, interface=interface, since=start, limit=limit)

    def show(self, id: str, *, first: int = 1, last: int | None = None) -> tuple[Thread, tuple[Message, ...]]:
        """A conversation and its messages, from one turn to another; the beginning of its id is enough.

        Raises NotFound, and UsageError when several ids begin so.
        """
        thread = find_conversation(id, self._table)
        return thread, self._table.history.messages(thread.id, first=first, last=last)

    def erase(self, id: str) -> Thread:
        """Remove a conversation for good. Only a person may: Refused. It cannot be undone."""
        return erase_conversation(id, self._table)
