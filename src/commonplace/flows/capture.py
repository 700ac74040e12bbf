"""Capture: what is new in an agent's transcript -> messages -> without secrets -> recorded, and found at once."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from commonplace.flows.converse import Table, close_conversation, record_conversation
from commonplace.history.arrivals import known_thread, thread_id
from commonplace.history.conversations import NewThread
from commonplace.model import Message
from commonplace.sources.agent_transcripts import read_agent_lines

Window = tuple[datetime, datetime]
"""From one moment up to another, which is no longer part of it."""


@dataclass(frozen=True, slots=True)
class Captured:
    """What came of it: how many bytes are read, how many messages were new and known, how many lines broken."""

    consumed_bytes: int
    added: int
    known: int
    broken: int


def capture_lines(
    content: bytes, thread: NewThread, *, table: Table, left_out: Sequence[Window], longest: int, ends: bool
) -> Captured:
    """Record what the lines say, but for what was said within the windows that are left out.

    Where the conversation `ends` it is closed, and a last line without its end is read too. Raises UsageError for a
    host whose transcripts are unknown, and as `record_conversation` does.
    """
    read = read_agent_lines(content, host=thread.interface, is_whole=ends)
    wanted = [each for each in read.messages if not _is_within(each, left_out)]
    added = known = 0
    if wanted:
        recorded = record_conversation(thread, wanted, table, longest=longest)
        added, known = recorded.added, recorded.known
    if ends:
        _close(thread, table)
    return Captured(read.consumed, added, known, read.broken)


def _is_within(message: Message, windows: Sequence[Window]) -> bool:
    """Whether it was said within one of them; of a message without a time nobody knows that it was not."""
    if message.at is None:
        return bool(windows)
    return any(begin <= message.at < end for begin, end in windows)


def _close(thread: NewThread, table: Table) -> None:
    """Say that the conversation is finished, if anything of it was kept and nobody has said so."""
    kept = table.history.conversation(thread_id(known_thread(thread, ())))
    if kept and kept.closed is None:
        close_conversation(kept.id, table)
