"""Conversations: record or capture -> without secrets -> history -> index; then list, find, close, switch, erase.

`capture_lines` is how an agent's transcript comes in: what is new in it -> messages -> recorded. Where the person
corrects the assistant, the correction is recorded too, as a thread of its own.
"""

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice
from typing import Final

from commonplace.errors import CommonplaceError, NotFound, Refused, UsageError
from commonplace.events import emit
from commonplace.flows.ingest.index_notes import unindex_source_item
from commonplace.flows.ingest.sync import index_source_items
from commonplace.flows.stores import Session, Stores
from commonplace.history.base import History, HistoryLoss, NewThread
from commonplace.model import (
    MEMORY_USES,
    TRUSTS,
    Actor,
    MemoryUse,
    Message,
    RecordResult,
    Thread,
    ThreadKind,
    TranscriptCursor,
)
from commonplace.model.conversation import stricter_use
from commonplace.model.progress import Progress, ignore_progress
from commonplace.sources.conversations import ISOLATED, THREAD_TYPES, conversation_title
from commonplace.sources.corrections import corrections_in
from commonplace.sources.transcripts import read_agent_lines

_NAMED: Final = 3  # conversations that an error names
_MARGIN: Final = 4000  # characters after the cut, so that a secret that begins before it is seen whole
_DIGITS: Final = 12  # of the hash that replaces an id which holds a secret
_UUID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")  # an id of a program, never a secret
_FIRST: Final = 8  # messages in which a title is looked for
_NOUNS: Final[Mapping[ThreadKind, str]] = {"chat": "conversation", "task": "task", "correction": "correction"}

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
    is_imported: bool = False,
    progress: Progress = ignore_progress,
) -> RecordResult:
    """Record the new messages of a conversation and index it. Raises UsageError, Refused and VaultUnavailable.

    What a program records has at most the trust `said`, and cannot be added to what a person told, or to a session that
    is captured. Secrets in what it says and in its names are redacted, and its messages are cut to `longest`
    characters; those of one that `is_imported` as well, whoever imports it, and the caller indexes it. `cursor` is how
    far a captured transcript was read. `progress` counts the texts that are encoded. In a vault that several people
    share, what the user said names the person of this session, whatever the caller says.
    """
    if session.actor.kind != "person":
        thread = replace(thread, trust="said") if thread.trust == "told" else thread
    if session.actor.kind != "person" or is_imported:
        messages = redacted_messages(messages, longest=longest)
    if author := session.author:
        messages = [replace(each, author=author) if each.role == "user" else each for each in messages]
    thread, messages = without_secret_names(thread, messages)
    corrections = _record_corrections(thread, messages, session)
    result = session.stores.history.record_conversation(thread, messages, now=session.clock(), cursor=cursor)
    if not is_imported:
        index_threads((result.id, *corrections), session.stores, progress)
    emit("conversation_recorded", id=result.id, added=result.added, known=result.known)
    return result


def _record_corrections(thread: NewThread, messages: Sequence[Message], session: Session) -> tuple[str, ...]:
    """Record what the person corrects in these messages of a conversation; returns the ids of what is new.

    They are recorded before the conversation: if the process is killed in between, the same messages come again.
    """
    history = session.stores.history
    if thread.kind != "chat" or not any(each.role == "user" for each in messages):
        return ()
    parent = history.thread_id_of(thread, messages)
    known = history.conversation(parent)
    if known and TRUSTS.index(thread.trust) > TRUSTS.index(known.trust):  # nothing new of it is recorded
        return ()
    added = []
    for each in corrections_in([*_message_before(known, messages, history), *messages]):
        correction = correction_of(parent, thread, key=each.words.source_id or f"{each.words.at}\n{each.words.text}")
        correction = replace(correction, memory=stricter_use(thread.memory, known.memory) if known else thread.memory)
        if history.forgotten([history.thread_id_of(correction)]):
            continue
        result = history.record_conversation(correction, [each.corrected, each.words], now=session.clock())
        added += [result.id] if result.added else []
    return tuple(added)


def correction_of(parent: str, thread: NewThread, *, key: str) -> NewThread:
    """A correction in the conversation with the id `parent`, which `key` identifies there."""
    digits = hashlib.sha256(key.encode(errors="replace")).hexdigest()[:_DIGITS]
    return replace(thread, source_id=f"correction:{parent}:{digits}", title="", kind="correction", parent=parent)


def _message_before(known: Thread | None, messages: Sequence[Message], history: History) -> tuple[Message, ...]:
    """The last recorded message, unless these messages begin where the conversation does."""
    if known is None or any(each.text == messages[0].text for each in history.messages(known.id, last=1)):
        return ()
    return history.messages(known.id, first=known.count)


def redacted_messages(messages: Sequence[Message], *, longest: int | None) -> list[Message]:
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
    is_secret = {each: redact([each])[0] != each for each in {*names, *texts} if each and not _UUID.fullmatch(each)}
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


def index_threads(ids: Sequence[str], stores: Stores, progress: Progress = ignore_progress) -> None:
    """Index these threads, each in its source. They are recorded already: a failure is an event, mended by a sync."""
    try:
        for source in stores.sources:
            if source.type not in THREAD_TYPES:
                continue
            current = source.stamps(ids)
            if own := [each for each in ids if each in current or stores.index.stamp(source.type, each)]:
                index_source_items(source, own, stores, progress=progress)
    except CommonplaceError as error:
        emit("ingest_failed", level="warning", conversations=len(ids), said=str(error))


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
    messages = [each for each in read.messages if not is_within(each, left_out)]
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


def is_within(message: Message, windows: Sequence[Window]) -> bool:
    """True if the message is from one of the windows; without a time, it may be."""
    if message.at is None:
        return bool(windows)
    return any(begin <= message.at < end for begin, end in windows)


def _close_recorded(thread: NewThread, session: Session) -> None:
    """Close the conversation if any of it was recorded and it is open."""
    recorded = session.stores.history.captured_conversation(without_secret_names(thread)[0])
    if recorded and recorded.closed is None:
        close_conversation(recorded.id, session)


def list_threads(
    session: Session,
    *,
    kind: ThreadKind = "chat",
    interface: str | None,
    project: str | None,
    since: datetime | None,
    limit: int | None,
) -> tuple[Thread, ...]:
    """The threads of that kind, program and project with a message since then, newest first, each with a title.

    A program is not told of isolated ones.
    """
    history, sees_all = session.stores.history, session.actor.kind == "person"
    threads = history.conversations(
        interface=interface, project=project, since=since, limit=limit if sees_all else None, kind=kind
    )
    seen = (each for each in threads if sees_all or not is_isolated(each, session.stores))
    return tuple(_titled(each, history) for each in islice(seen, limit))


def find_thread(id: str, session: Session, *, kind: ThreadKind = "chat") -> Thread:
    """The thread of that kind with that id, or the only one whose id begins so.

    Raises NotFound, also to a program that names an isolated one, and UsageError for several.
    """
    history = session.stores.history
    exact = history.conversation(id)
    matches = [exact] if exact else [each for each in history.conversations(kind=kind) if id and each.id.startswith(id)]
    if session.actor.kind != "person":
        matches = [each for each in matches if not is_isolated(each, session.stores)]
    noun = _NOUNS[kind]
    if len(matches) > 1:
        named = ", ".join(each.id for each in matches[:_NAMED])
        raise UsageError(f"{len(matches)} {noun}s have an id that begins with {id}", hint=f"Such as {named}.")
    if not matches or (kind != "chat" and matches[0].kind != kind):
        listed = f"`commonplace {noun} list` lists them."
        raise NotFound(f"no such {noun}: {id}", hint=listed)
    return _titled(matches[0], history)


def is_isolated(thread: Thread, stores: Stores) -> bool:
    """True if only a search that names the source `isolated` finds the thread, by its own use or by the settings."""
    return stores.conversations.type_of(thread) == ISOLATED


def may_learn_from(thread: Thread, stores: Stores) -> bool:
    """True if facts may be learned from the thread, and prompts be given passages of it."""
    return thread.is_eligible and not is_isolated(thread, stores)


def set_memory_use(id: str, use: MemoryUse, session: Session) -> Thread:
    """Set what a conversation, or a task or correction, may be used for; its corrections follow it.

    Raises Refused if a program would allow more than the person does, NotFound, and UsageError for an unknown use.
    """
    thread, history = find_thread(id, session), session.stores.history
    if session.actor.kind != "person" and use in MEMORY_USES and stricter_use(thread.memory, use) != use:
        raise Refused(f"memory is {thread.memory} for {thread.id}", hint="Only the person may allow more.")
    ids = (*_corrections_of(thread, history), thread.id)
    for each in ids:
        history.set_memory_use(each, use, now=session.clock())
    index_threads(ids, session.stores)
    emit("conversation_use_set", id=thread.id, use=use)
    return find_thread(thread.id, session.as_actor(Actor()))


def last_answer(thread: Thread, history: History) -> Message | None:
    """The assistant's last message in a conversation, among its last few; None if there is none."""
    messages = history.messages(thread.id, first=max(1, thread.count - _FIRST))
    return next((each for each in reversed(messages) if each.role == "assistant" and each.text.strip()), None)


def _corrections_of(thread: Thread, history: History) -> tuple[str, ...]:
    return tuple(each.id for each in history.conversations(kind="correction", parent=thread.id))


def _titled(thread: Thread, history: History) -> Thread:
    """The thread with its title, or with one made from its first messages."""
    if thread.title:
        return thread
    return replace(thread, title=conversation_title(history.messages(thread.id, last=_FIRST)))


def close_conversation(id: str, session: Session) -> Thread:
    """Close a conversation, named by its id or by its program's id; a new message opens it again.

    Raises as `find_thread` does.
    """
    history = session.stores.history
    by_source = next((each for each in history.conversations() if each.source_id == id), None) if id else None
    thread = find_thread(by_source.id if by_source else id, session)
    history.close_conversation(thread.id, now=session.clock())
    emit("conversation_closed", id=thread.id)
    return find_thread(thread.id, session)


def erase_thread(id: str, session: Session, *, kind: ThreadKind = "chat") -> Thread:
    """Remove the thread for good, from the history, the index and its caches; returns what it was.

    With a conversation go the corrections that were made in it. Raises Refused unless a person asks, and NotFound.
    """
    if session.actor.kind != "person":
        raise Refused(f"only a person may erase a {_NOUNS[kind]}", hint="Ask the owner of the vault.")
    thread = find_thread(id, session, kind=kind)
    for each in (*_corrections_of(thread, session.stores.history), thread.id):
        _erase(each, session.stores)
    emit("conversation_erased", id=thread.id, messages=thread.count)
    return thread


def _erase(id: str, stores: Stores) -> None:
    sources = [stores.conversations.of_type(each) for each in THREAD_TYPES]
    for source in sources:
        if item := source.read(id):
            unindex_source_item(source.type, item, stores)
    stores.history.forget_conversation(id)
    for source in sources:
        if stores.index.stamp(source.type, id):  # another process has indexed it meanwhile, or it was moved
            stores.index.erase(source.type, id)
