"""Conversations in append-only files beside `history.db`: what was said cannot be rebuilt from anything else.

`conversations/2026-11.jsonl` has what was recorded in that month, one line for each call:

    {"sum":"<16 digits>","record":{"id":"c-...","at":"...","thread":{...},"messages":[...],"cursor":{...}}}

`sum` is the beginning of the sha256 of the bytes of the record. A line is written with one call and forced to the disk
before the call that recorded it returns. A last line without its end was never acknowledged, and is cut off. A record
with `erased` has a hash of the id of a conversation that is gone; its records are removed from the files then. One with
`memory` says what a conversation is used for from then on, one with `learned` up to which message facts were learned.
The tables in `history.db` are made from these files, and say how much of each they contain. What the files have more is
added when `history.db` is opened and before each change; what the files lack is written again from the tables.
"""

import hashlib
import json
import os
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import apsw

from commonplace.database.connection import exclusive_lock
from commonplace.errors import VaultUnavailable
from commonplace.events import emit
from commonplace.history.base import HistoryLoss, NewThread, stored_moment
from commonplace.history.normalize import IncomingMessage, erasure_mark
from commonplace.history.sql.conversations import ConversationRecord
from commonplace.model import MemoryUse, Message, TranscriptCursor
from commonplace.model.conversation import stricter_use
from commonplace.model.text import counted

FOLDER: Final = "conversations"
EXTENSION: Final = ".jsonl"
DAMAGED: Final = ".damaged"
_BEFORE_SUM: Final = b'{"sum":"'
_AFTER_SUM: Final = b'","record":'
_SUM_DIGITS: Final = 16
_HEAD: Final = len(_BEFORE_SUM) + _SUM_DIGITS + len(_AFTER_SUM)
_LOCK: Final = "lock"
_LATER: Final = ("kind", "parent", "memory")  # fields of a thread that the first files do not have
_FILES: Final = "SELECT name, size, last, sum FROM conversation_files"
_SET_FILE: Final = """
INSERT INTO conversation_files (name, size, last, sum) VALUES (:name, :size, :last, :sum)
ON CONFLICT (name) DO UPDATE SET size = excluded.size, last = excluded.last, sum = excluded.sum
"""
_COPY: Final = "Nothing needs to be done; a copy of the old history.db, put in place of the new one, brings these back."
_LOST: Final = (
    "Lost are facts that were extracted and not saved yet, the log of what was learned, how often facts were used, the "
    "topics of sessions, the logs of model calls and of jobs, the mirror of calendars, and that you repeated lines "
    "which programs wrote into USER.md; marked notes are read again."
)
_COUNT_LEARNED: Final = "SELECT count(*) FROM learning_sources WHERE turns > 0"
_BEGUN: Final = ""  # the name in `conversation_files` by which a history knows that its files were looked at


@dataclass(frozen=True, slots=True)
class FileState:
    """How much of a file is known: its size, where its last line begins, and the sum of that line."""

    size: int = 0
    last: int = 0
    sum: str = ""

    def after(self, line: bytes) -> "FileState":
        """The state with this line added."""
        digits = line[len(_BEFORE_SUM) : len(_BEFORE_SUM) + _SUM_DIGITS].decode(errors="replace")
        return FileState(self.size + len(line), self.size, digits)


class ConversationFiles:
    """The files of one history. Methods that change them are called while `locked`."""

    def __init__(self, folder: Path, *, wait: float) -> None:
        self.folder = folder
        self._wait = wait

    @property
    def is_used(self) -> bool:
        """True if a history was ever opened beside these files."""
        return self.folder.is_dir()

    @contextmanager
    def locked(self) -> Iterator[None]:
        """No other process changes the files in this block. Raises VaultUnavailable."""
        with self._told(), exclusive_lock(self.folder / _LOCK, wait=self._wait) as is_ours:
            if not is_ours:
                message = "another process keeps the conversation files locked"
                raise VaultUnavailable(message, path=str(self.folder), reason="locked", hint="Try again in a moment.")
            yield

    def sizes(self) -> dict[str, int]:
        """The size of each file by its name, in the order in which they were written; empty if there are none."""
        with self._told(), suppress(FileNotFoundError), os.scandir(self.folder) as found:
            files = [each for each in found if each.name.endswith(EXTENSION) and each.is_file(follow_symlinks=False)]
            return {each.name: each.stat(follow_symlinks=False).st_size for each in sorted(files, key=lambda f: f.name)}
        return {}

    def continues(self, name: str, known: FileState) -> bool:
        """True if the file still has what was known of it, by its size and the sum of the last known line."""
        if not known.size:
            return True
        with self._told(), open(self.folder / name, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            head = os.pread(file.fileno(), _HEAD, known.last)
        return size >= known.size and head == _BEFORE_SUM + known.sum.encode() + _AFTER_SUM

    def name_for(self, now: datetime) -> str:
        """The file to append to: that of this month, or a later one if the clock has gone back."""
        return max([f"{stored_moment(now)[:7]}{EXTENSION}", *list(self.sizes())[-1:]])

    def records(self, name: str, *, start: int = 0) -> Iterator[tuple[bytes, ConversationRecord | None]]:
        """Each whole line of a file from there on, and its record; None for a line that is damaged."""
        with self._told(), open(self.folder / name, "rb") as file:
            file.seek(start)
            for line in file:
                if line.endswith(b"\n"):
                    yield line, _parse(line)

    def append(self, name: str, line: bytes, *, size: int, is_forced: bool = True) -> None:
        """Write the line at the end of a file of this size; what a killed process left behind it is cut off.

        Raises VaultUnavailable, and then the file is as it was.
        """
        with self._told():
            is_new = not (self.folder / name).exists()
            file = os.open(self.folder / name, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
            try:
                _write_at(file, line, size=size)
                if is_forced:
                    os.fsync(file)
            finally:
                os.close(file)
            if is_new:
                _force_folder(self.folder)

    def cut(self, name: str, size: int) -> None:
        """Cut the file off at this size."""
        with self._told():
            os.truncate(self.folder / name, size)

    def rewrite(self, name: str, kept: Iterable[bool]) -> FileState:
        """Replace the file by one with those of its lines that are `kept`, atomically; returns its new state."""
        state, part = FileState(), self.folder / f"{name}.part"
        with self._told():
            with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600), "wb") as file:
                for (line, _), is_kept in zip(self.records(name), kept, strict=True):
                    if is_kept:
                        file.write(line)
                        state = state.after(line)
                file.flush()
                os.fsync(file.fileno())
            os.replace(part, self.folder / name)
            _force_folder(self.folder)
        return state

    def set_damage_aside(self, name: str) -> tuple[Path, FileState]:
        """Move the damaged lines of a file into one beside it; returns that, and the state of what is left."""
        aside = self.folder / f"{name}{DAMAGED}"
        with self._told():
            with open(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o600), "ab") as file:
                file.writelines(line for line, record in self.records(name) if record is None)
                os.fsync(file.fileno())
            return aside, self.rewrite(name, [record is not None for _, record in self.records(name)])

    def drop_damaged(self) -> None:
        """Remove what was set aside: nobody knows what it says, so it may be words that are to be erased."""
        with self._told():
            for pattern in (f"*{DAMAGED}", "*.part"):
                for file in self.folder.glob(pattern):
                    file.unlink(missing_ok=True)

    def remove(self) -> None:
        """Remove all files."""
        with self._told():
            for name in self.sizes():
                (self.folder / name).unlink(missing_ok=True)
            self.drop_damaged()

    def size(self) -> int:
        """The bytes of all files."""
        return sum(self.sizes().values())

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Raises VaultUnavailable for what the disk refuses."""
        try:
            yield
        except OSError as error:
            said = f"the conversation files cannot be read or written: {error.strerror or error}"
            hint = "Check free space, and give your user read and write permission for the folder and its files."
            raise VaultUnavailable(said, path=str(self.folder), hint=hint) from error


@dataclass(frozen=True, slots=True)
class FileSync:
    """Keeps the tables and the files of one history at the same content; each restores what the other has lost.

    `apply` makes the tables say what a record says, and returns False if they did; `stored` gives all conversations
    as the tables have them, each as one record. `add_loss` notes what was lost, and `clock` dates it. Methods that
    change anything are called in a write transaction, while the files are locked.
    """

    files: ConversationFiles
    apply: Callable[[apsw.Connection, ConversationRecord], bool]
    stored: Callable[[apsw.Connection], Iterator[ConversationRecord]]
    add_loss: Callable[[apsw.Connection, HistoryLoss], None]
    clock: Callable[[], datetime]

    def add(
        self, connection: apsw.Connection, record: ConversationRecord, *, now: datetime, is_forced: bool = True
    ) -> None:
        """Add a record to the tables and to the files; one that changes nothing is not written."""
        if self.apply(connection, record):
            self._append(connection, record, now=now, is_forced=is_forced)

    def is_caught_up(self, connection: apsw.Connection) -> bool:
        """True if the tables have what the files have, by the sizes of the files and the end of the last one."""
        known, sizes = _known_files(connection), self.files.sizes()
        if _BEGUN not in known or sizes != {name: each.size for name, each in known.items() if name != _BEGUN}:
            return False
        return all(self.files.continues(name, known[name]) for name in list(sizes)[-1:])

    def catch_up(self, connection: apsw.Connection, *, is_used: bool = True) -> None:
        """Add what the files have more than the tables; restore what the files lack.

        `is_used` says that there was a history beside these files before.
        """
        if self.is_caught_up(connection):
            return
        known, sizes = _known_files(connection), self.files.sizes()
        begun, states = known.pop(_BEGUN, None), {name: known.get(name, FileState()) for name in sizes}
        if begun and known.keys() <= sizes.keys() and all(map(self.files.continues, states, states.values())):
            records = [each for name, state in states.items() for each in self._replay(connection, name, state)]
            if None not in records:
                self._tell_replayed(connection, [each for each in records if each])
                return
        self.restore(connection, is_used=is_used)

    def _replay(self, connection: apsw.Connection, name: str, state: FileState) -> Iterator[ConversationRecord | None]:
        """Add the records after this state to the tables; None for each damaged line. Cuts off half a last line."""
        for line, record in self.files.records(name, start=state.size):
            if record:
                self.apply(connection, record)
            state = state.after(line)
            yield record
        _set_file(connection, name, state)
        self.files.cut(name, state.size)

    def _tell_replayed(self, connection: apsw.Connection, records: Sequence[ConversationRecord]) -> None:
        """One record more is what a killed process leaves; more of them were in a `history.db` that is gone."""
        if any(each.erased for each in records):
            self.drop_erased(connection)
        count = sum(len(each.messages) for each in records)
        if len(records) > 1 and count:
            restored = counted(count, "message")
            self._tell(connection, f"history.db was older than the conversation files: {restored} restored from them.")

    def restore(self, connection: apsw.Connection, *, is_used: bool = True) -> None:
        """Read all files into the tables, and write to the files what only the tables have."""
        is_missing, had_threads = is_used and _BEGUN not in _known_files(connection), _count(connection) > 0
        connection.execute("DELETE FROM conversation_files")
        _set_file(connection, _BEGUN, FileState())
        seen: dict[str, set[str]] = defaultdict(set)
        uses: dict[str, MemoryUse] = {}
        learned: dict[str, int] = {}
        damaged, has_erased = list[str](), False
        for name in self.files.sizes():
            for record in self._replay(connection, name, FileState()):
                if record is None:
                    damaged.append(name)
                elif record.erased:
                    has_erased = True
                    seen = defaultdict(set, {id_: each for id_, each in seen.items() if erasure_mark(id_) != record.id})
                    seen[record.id] = set()
                else:
                    seen[record.id].update(each.identity for each in record.messages)
                    uses[record.id] = _use_after(record, uses.get(record.id, "on"))
                    learned[record.id] = max(record.learned, learned.get(record.id, 0))
        for name in dict.fromkeys(damaged):
            aside, state = self.files.set_damage_aside(name)
            _set_file(connection, name, state)
            self._tell_damaged(connection, str(aside), is_whole=had_threads)
        if has_erased:
            self.drop_erased(connection)
        written = self._write_missing(connection, seen, uses, learned)
        if is_used:
            self._tell_restored(connection, is_missing=is_missing, written=written)

    def _write_missing(
        self,
        connection: apsw.Connection,
        seen: Mapping[str, set[str]],
        uses: Mapping[str, MemoryUse],
        learned: Mapping[str, int],
    ) -> int:
        """Write what only the tables have: messages of conversations, their uses, and how far they were learned.

        Returns how many messages.
        """
        count = 0
        for record in self.stored(connection):
            missing = tuple(each for each in record.messages if each.identity not in seen.get(record.id, ()))
            is_other_use = record.thread is not None and record.thread.memory != uses.get(record.id)
            is_read_further = record.learned > learned.get(record.id, 0)
            if missing or record.id not in seen or is_other_use or is_read_further:
                self._append(connection, replace(record, messages=missing), now=datetime.fromisoformat(record.at))
                count += len(missing)
        return count

    def _append(
        self, connection: apsw.Connection, record: ConversationRecord, *, now: datetime, is_forced: bool = True
    ) -> None:
        """Write a record whose content the tables have."""
        name, line = self.files.name_for(now), _line(record)
        known = _known_files(connection).get(name, FileState())
        _set_file(connection, name, known.after(line))
        self.files.append(name, line, size=known.size, is_forced=is_forced)

    def drop_erased(self, connection: apsw.Connection) -> None:
        """Remove what was recorded of conversations before they were erased; the record of the erasure stays."""
        erasures = Counter(record.id for _, record in self.all_records() if record and record.erased)
        for name in self.files.sizes():
            kept = []
            for _, record in self.files.records(name):
                if record and record.erased:
                    erasures[record.id] -= 1
                kept.append(record is None or record.erased or not erasures[erasure_mark(record.id)])
            if not all(kept):
                _set_file(connection, name, self.files.rewrite(name, kept))
        self.files.drop_damaged()

    def all_records(self) -> Iterator[tuple[bytes, ConversationRecord | None]]:
        """Each whole line of all files, and its record; None for a line that is damaged."""
        for name in self.files.sizes():
            yield from self.files.records(name)

    def _tell_restored(self, connection: apsw.Connection, *, is_missing: bool, written: int) -> None:
        if is_missing:
            restored = counted(_count(connection), "conversation")
            learned = int(connection.execute(_COUNT_LEARNED).get)
            said = (
                f"history.db was missing, empty or damaged: {restored} restored from the conversation files, and how "
                f"far {learned} of them were learned. {_LOST}"
            )
            self._tell(connection, said, remedy=_COPY)
        elif written:
            said = (
                f"conversation files were missing or damaged: {counted(written, 'message')} restored from history.db."
            )
            self._tell(connection, said)

    def _tell_damaged(self, connection: apsw.Connection, aside: str, *, is_whole: bool) -> None:
        said = f"damaged lines of the conversation files were moved to {aside}"
        if is_whole:
            self._tell(connection, f"{said}; what they said is in history.db and was written again.")
            return
        remedy = (
            "If you have a backup of that folder, put the file without `.damaged` back, then run `commonplace doctor`."
        )
        said = f"{said}; what they said is lost, unless a transcript still has it."
        self._tell(connection, said, remedy=remedy, restored=False)

    def _tell(self, connection: apsw.Connection, said: str, *, remedy: str = "", restored: bool = True) -> None:
        emit("history_restored" if restored else "history_lost", level="warning", said=said)
        self.add_loss(connection, HistoryLoss(self.clock(), said, remedy, restored))


def _use_after(record: ConversationRecord, use: MemoryUse) -> MemoryUse:
    """What a conversation may be used for after a record, as the tables have it."""
    if record.thread:
        use = stricter_use(use, record.thread.memory)
    return record.memory or use


def _known_files(connection: apsw.Connection) -> dict[str, FileState]:
    rows: list[Any] = connection.execute(_FILES).fetchall()
    return {name: FileState(size, last, sum_) for name, size, last, sum_ in rows}


def _set_file(connection: apsw.Connection, name: str, state: FileState) -> None:
    connection.execute(_SET_FILE, {"name": name, "size": state.size, "last": state.last, "sum": state.sum})


def _count(connection: apsw.Connection) -> int:
    return int(connection.execute("SELECT count(*) FROM conversation_threads").get)


def _write_at(file: int, line: bytes, *, size: int) -> None:
    """Cut the file to this size and write the line behind it; a failure leaves the file at this size."""
    os.ftruncate(file, size)
    try:
        rest = memoryview(line)
        while rest:
            rest = rest[os.pwrite(file, rest, size + len(line) - len(rest)) :]
    except OSError:
        os.ftruncate(file, size)
        raise


def _force_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _line(record: ConversationRecord) -> bytes:
    """The record as one line of a file."""
    values: dict[str, Any] = {"id": record.id, "at": record.at}
    if record.thread:
        values["thread"] = _thread_values(record.thread)
    if record.messages:
        values["messages"] = [_message_values(each) for each in record.messages]
    if record.cursor:
        values["cursor"] = {"session": record.session, **asdict(record.cursor)}
    values |= {"closed": record.closed} if record.closed else {}
    values |= {"erased": True} if record.erased else {}
    values |= {"memory": record.memory} if record.memory else {}
    values |= {"learned": record.learned} if record.learned else {}
    body = json.dumps(values, ensure_ascii=False, separators=(",", ":")).encode()
    return b"".join((_BEFORE_SUM, _sum(body), _AFTER_SUM, body, b"}\n"))


def _thread_values(thread: NewThread) -> dict[str, Any]:
    """The fields of a thread; those that came later are left out where they say what is usual."""
    values, usual = asdict(thread), asdict(NewThread(""))
    return {name: value for name, value in values.items() if name not in _LATER or value != usual[name]}


def _message_values(incoming: IncomingMessage) -> dict[str, str]:
    message = incoming.message
    return {
        "identity": incoming.identity,
        "role": message.role,
        "author": message.author,
        "at": stored_moment(incoming.at),
        "source_id": message.source_id,
        "text": message.text,
    }


def _incoming(values: Mapping[str, Any]) -> IncomingMessage:
    at = datetime.fromisoformat(values["at"])
    message = Message(values["role"], values["text"], values["author"], at, values["source_id"])
    return IncomingMessage(values["identity"], message, at)


def _parse(line: bytes) -> ConversationRecord | None:
    """The record in a line; None if its sum is wrong or it is not a record."""
    body = line[_HEAD:-2]
    if line[:_HEAD] != _BEFORE_SUM + _sum(body) + _AFTER_SUM or line[-2:] != b"}\n":
        return None
    try:
        values = json.loads(body)
        cursor = values.get("cursor") or {}
        thread = values.get("thread")
        return ConversationRecord(
            id=values["id"],
            at=values["at"],
            thread=NewThread(**thread) if thread else None,
            messages=tuple(map(_incoming, values.get("messages", ()))),
            session=cursor.pop("session", ""),
            cursor=TranscriptCursor(**cursor) if cursor else None,
            closed=values.get("closed", ""),
            erased=values.get("erased", False),
            memory=values.get("memory"),
            learned=int(values.get("learned", 0)),
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def _sum(body: bytes) -> bytes:
    return hashlib.sha256(body).hexdigest()[:_SUM_DIGITS].encode()
