"""The verbs on conversations: record, read from a file, capture from an agent, list, show, close, erase."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, tzinfo
from typing import Any

from commonplace.flows.capture import Captured, Window, capture_lines
from commonplace.flows.converse import (
    Table,
    close_conversation,
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
from commonplace.sources.options import LONGEST_MESSAGE
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

    def capture(
        self,
        content: bytes,
        *,
        host: str,
        session_id: str,
        ends: bool = False,
        left_out: Sequence[Window] = (),
        longest: int = LONGEST_MESSAGE,
    ) -> Captured:
        """Record what whole lines of an agent's own transcript say, as said; it may come again, and is kept once.

        What the person typed and what the assistant said is taken, and a mark stands for each secret; calls of tools,
        what the host says, and what memory itself gave are not. Messages of the windows that are `left_out` are not
        recorded, longer ones than `longest` are cut. `ends` closes the conversation. Raises UsageError for a host
        whose transcripts are unknown.
        """
        thread = NewThread(host, session_id, trust="said")
        return capture_lines(content, thread, table=self._table, left_out=left_out, longest=longest, ends=ends)

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

    def close(self, id: str) -> Thread:
        """Say that a conversation is finished; what is recorded after that opens it again.

        `id` is as in `show`, or the id which its program gave it. Raises NotFound.
        """
        return close_conversation(id, self._table)

    def erase(self, id: str) -> Thread:
        """Remove a conversation for good. Only a person may: Refused. It cannot be undone."""
        return erase_conversation(id, self._table)
