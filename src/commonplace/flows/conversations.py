"""Conversations: record or capture -> without secrets -> history -> index; then list, find, close, erase.

`capture_lines` is how an agent's transcript comes in: what is new in it -> messages -> recorded.
"""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from commonplace.errors import CommonplaceError, NotFound, Refused, UsageError
from commonplace.events import emit
from commonplace.flows.ingest.index_notes import unindex_source_item
from commonplace.flows.ingest.sync import index_source_items
from commonplace.flows.stores import Session, Stores
from commonplace.history.base import History, HistoryLoss, NewThread
from commonplace.model import Message, RecordResult, Thread, TranscriptCursor
from commonplace.model.progress import Progress, ignore_progress
from commonplace.sources.conversations import conversation_title
from commonplace.sources.transcripts import read_agent_lines

_NAMED: Final = 3  # conversations that an error names
_MARGIN: Final = 4000  # characters after the cut, so that a secret that begins before it is seen whole
_DIGITS: Final = 12  # of the hash that replaces an id which holds a secret
_FIRST: Final = 8  # messages in which a title is looked for

Window = tuple[datetime, datetime]
"""From one moment until just before another."""

CursorAfter = Callable[[int], TranscriptCursor] | None
"""The cursor of a transcript after so many bytes of the part that is captured; None if no cursor is kept."""


@dataclass(frozen=True, slots=True)
class CaptureResult:
    """The bytes that were read, the messages that were new or already known, and the lines that could not be read."""

    consumed_bytes: int
    added: int
    known: int
    broken: int


def record_conversation(
    thread: NewThread,
    messages: Sequence[Message],
    session: Session,
    *,
    longest: int | None = None,
    cursor: TranscriptCursor | None = None,
    progress: Progress = ignore_progress,
) -> RecordResult:
    """Record the new messages of a conversation and index it. Raises UsageError, Refused and VaultUnavailable.

    What a program records has at most the trust `said`, and cannot be added to what a person told, or to a session that
    is captured. Secrets in what it says and in its names are redacted, and its messages are cut to `longest`
    characters. `cursor` is how far a captured transcript was read. `progress` counts the texts that are encoded.
    """
    if session.actor.kind != "person":
        thread = replace(thread, trust="said") if thread.trust == "told" else thread
        messages = _redacted(messages, longest=longest)
    thread, messages = without_secret_names(thread, messages)
    result = session.stores.history.record_conversation(thread, messages, now=session.clock(), cursor=cursor)
    _index(result.id, session.stores, progress)
    emit("conversation_recorded", id=result.id, added=result.added, known=result.known)
    return result


def _redacted(messages: Sequence[Message], *, longest: int | None) -> list[Message]:
    """The messages without secrets, cut to `longest` characters."""
    from commonplace.screening.secrets import redact  # its expressions take a moment to load, and few calls need them

    most = longest or max((len(each.text) for each in messages), default=0)
    texts = redact([_beginning(each.text, most + _MARGIN) for each in messages])
    return [
        replace(each, text=text if len(each.text) <= most else f"{text[:most]}\n[cut: {len(each.text)} characters]")
        for each, text in zip(messages, texts, strict=True)
    ]


def without_secret_names(thread: NewThread, messages: Sequence[Message] = ()) -> tuple[NewThread, Sequence[Message]]:
    """The thread and the messages without secrets in titles, authors and ids. An id stays one by a hash of it."""
    from commonplace.screening.secrets import redact  # its expressions take a moment to load

    names = (thread.interface, thread.source_id, *(each.source_id for each in messages))
    texts = (thread.title, thread.project, *(each.author for each in messages))
    is_secret = {each: redact([each])[0] != each for each in {*names, *texts} if each}
    if not any(is_secret.values()):
        return thread, messages

    def text(value: str) -> str:
        return redact([value])[0] if is_secret.get(value) else value

    def name(value: str) -> str:
        return f"redacted-{hashlib.sha256(value.encode()).hexdigest()[:_DIGITS]}" if is_secret.get(value) else value

    hidden = replace(
        thread,
        interface=name(thread.interface),
        source_id=name(thread.source_id),
        title=text(thread.title),
        project=text(thread.project),
    )
    return hidden, [replace(each, author=text(each.author), source_id=name(each.source_id)) for each in messages]


def _beginning(text: str, most: int) -> str:
    """The text, cut at a blank: half a word at the end could be half a secret, which no detector recognises."""
    return text if len(text) <= most else text[:most].rsplit(None, 1)[0]


def _index(id: str, stores: Stores, progress: Progress) -> None:
    """Index the conversation. It is recorded already: a failure is an event, and the next sync mends the index."""
    try:
        for source in stores.sources:
            if source.type == stores.conversations.type:
                index_source_items(source, [id], stores, progress=progress)
    except CommonplaceError as error:
        emit("ingest_failed", level="warning", conversations=1, said=str(error))


def capture_lines(
    content: bytes,
    thread: NewThread,
    *,
    session: Session,
    left_out: Sequence[Window],
    longest: int,
    ends: bool,
    cursor_after: CursorAfter,
) -> CaptureResult:
    """Record the messages in these transcript lines, except those within the windows that are left out.

    What was recorded and how far the transcript was read are stored together. If the conversation `ends`, it is closed,
    and a last line without a line break is read too. Raises UsageError for an unknown host, and as
    `record_conversation` does.
    """
    read = read_agent_lines(content, host=thread.interface, is_whole=ends)
    messages = [each for each in read.messages if not _is_within(each, left_out)]
    cursor = cursor_after(read.consumed) if cursor_after else None
    added = known = 0
    if messages:
        result = record_conversation(thread, messages, session, longest=longest, cursor=cursor)
        added, known = result.added, result.known
    elif cursor:
        move_cursor(thread, cursor, session)
    if ends:
        _close_recorded(thread, session)
    return CaptureResult(read.consumed, added, known, read.broken)


def transcript_cursor(thread: NewThread, session: Session) -> TranscriptCursor:
    """How far the transcript of a session was read, by what is recorded of it."""
    return session.stores.history.transcript_cursor(without_secret_names(thread)[0])


def move_cursor(thread: NewThread, cursor: TranscriptCursor, session: Session) -> None:
    """Store how far a transcript was read, unless that is known."""
    if cursor != transcript_cursor(thread, session):
        session.stores.history.move_cursor(without_secret_names(thread)[0], cursor, now=session.clock())


def note_older_history(path: str, session: Session, *, is_gone: bool) -> None:
    """Say that less is recorded of a transcript than was recorded before: the data folder is an older copy.

    The transcript is read again, unless it `is_gone`.
    """
    if is_gone:
        said = f"the data folder is an older copy, and the transcript {path} is gone: the end of that session is lost."
        remedy = "If you have a newer copy of the data folder, put its `conversations` folder back."
        loss = HistoryLoss(session.clock(), said, remedy, restored=False)
    else:
        said = "the data folder is an older copy: what it lacks is read again from the transcripts that still exist."
        loss = HistoryLoss(session.clock(), said)
    emit("history_lost" if is_gone else "history_is_older", level="warning", path=path, said=said)
    session.stores.history.note_loss(loss)


def _is_within(message: Message, windows: Sequence[Window]) -> bool:
    """True if the message is from one of the windows; without a time, it may be."""
    if message.at is None:
        return bool(windows)
    return any(begin <= message.at < end for begin, end in windows)


def _close_recorded(thread: NewThread, session: Session) -> None:
    """Close the conversation if any of it was recorded and it is open."""
    recorded = session.stores.history.captured_conversation(without_secret_names(thread)[0])
    if recorded and recorded.closed is None:
        close_conversation(recorded.id, session)


def list_conversations(
    history: History, *, interface: str | None, project: str | None, since: datetime | None, limit: int | None
) -> tuple[Thread, ...]:
    """The conversations of that program and project with a message since then, newest first, each with a title."""
    threads = history.conversations(interface=interface, project=project, since=since, limit=limit)
    return tuple(_titled(each, history) for each in threads)


def find_conversation(id: str, history: History) -> Thread:
    """The conversation with that id, or the only one whose id begins so. Raises NotFound, UsageError for several."""
    if thread := history.conversation(id):
        return _titled(thread, history)
    matches = [each for each in history.conversations() if each.id.startswith(id)] if id else []
    if len(matches) > 1:
        named = ", ".join(each.id for each in matches[:_NAMED])
        raise UsageError(f"{len(matches)} conversations have an id that begins with {id}", hint=f"Such as {named}.")
    if not matches:
        raise NotFound(f"no such conversation: {id}", hint="`commonplace conversation list` lists them.")
    return _titled(matches[0], history)


def _titled(thread: Thread, history: History) -> Thread:
    """The thread with its title, or with one made from its first messages."""
    if thread.title:
        return thread
    return replace(thread, title=conversation_title(history.messages(thread.id, last=_FIRST)))


def close_conversation(id: str, session: Session) -> Thread:
    """Close a conversation, named by its id or by its program's id; a new message opens it again.

    Raises as `find_conversation` does.
    """
    history = session.stores.history
    by_source = next((each for each in history.conversations() if each.source_id == id), None) if id else None
    thread = by_source or find_conversation(id, history)
    history.close_conversation(thread.id, now=session.clock())
    emit("conversation_closed", id=thread.id)
    return find_conversation(thread.id, history)


def erase_conversation(id: str, session: Session) -> Thread:
    """Remove the conversation for good, from the history, the index and its caches; returns what it was.

    Raises Refused unless a person asks, and NotFound.
    """
    if session.actor.kind != "person":
        raise Refused("only a person may erase a conversation", hint="Ask the owner of the vault.")
    stores = session.stores
    history, source = stores.history, stores.conversations
    thread = find_conversation(id, history)
    if item := source.read(thread.id):
        unindex_source_item(source.type, item, stores)
    history.forget_conversation(thread.id)
    if stores.index.stamp(source.type, thread.id):  # another process has indexed it meanwhile
        stores.index.erase(source.type, thread.id)
    emit("conversation_erased", id=thread.id, messages=thread.count)
    return thread
