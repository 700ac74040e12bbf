"""Captures the transcripts that hooks name: queued at once, read later, one after the other, in a thread of its own.

A waiting transcript is on disk before `enqueue` returns. How far a transcript was read is stored by the history in one
write with what was read. So a daemon that is killed reads something twice at most, and history keeps it once; and if
the history is replaced by an older copy, the lines that it lacks are read again.
"""

import os
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from commonplace.agent_hosts import working_folders
from commonplace.daemon.capture.pauses import Pauses
from commonplace.daemon.capture.queue import (
    CaptureQueue,
    QueuedTranscript,
    TranscriptPart,
    check_transcript_path,
    cursor_at,
    file_name_hash,
    is_of_subagent,
    next_line,
    next_part,
    open_transcript,
    transcript_folders,
)
from commonplace.daemon.service.install_file import installed_transcript_folders
from commonplace.errors import CommonplaceError, UsageError
from commonplace.events import emit
from commonplace.memory import MemoryFor
from commonplace.memory.conversations import Conversations
from commonplace.model import Actor, Caller, TranscriptCursor
from commonplace.model.moment import moment_text, parse_moment

if TYPE_CHECKING:
    from commonplace.sources.options import CaptureOptions

PART_BYTES: Final = 2 << 20
"""Bytes that are read at once, if they hold more than a line."""

_LONGEST_LINE: Final = 16 << 20  # bytes: pictures are stored with what was typed; a longer line is skipped
_BEGINNING: Final = datetime.min.replace(tzinfo=UTC)
_SECOND_LOOK: Final = 3.0  # seconds until a transcript is read once more: hosts write the last words late
_RETRY_SECONDS: Final = 5.0  # doubled each time
_LONGEST_RETRY: Final = 300.0
_MISSING_FOR: Final = timedelta(minutes=10)  # until a transcript that does not exist is dropped
_SILENT_FOR: Final = timedelta(days=30)  # until a session is forgotten and would be read from its start
_LONGEST_ID: Final = 500
_now = partial(datetime.now, UTC)


@dataclass(slots=True)
class _Schedule:
    """When a transcript is read next, how many reads are left, and how often it failed in a row."""

    due: float
    looks: int = 2
    failures: int = 0


class CaptureWorker:
    """Reads the transcripts of all sessions. Its methods may be called from several threads."""

    def __init__(
        self,
        folder: Path,
        memory_for: MemoryFor,
        options: "CaptureOptions",
        *,
        clock: Callable[[], datetime] = _now,
        second_look: float = _SECOND_LOOK,
    ) -> None:
        self.pauses = Pauses(folder)
        self._step = CaptureStep(folder, memory_for, self.pauses, options, clock)
        self._options, self._clock, self._second_look = options, clock, second_look
        self._queue = CaptureQueue(folder)
        self._change = threading.Condition()
        self._transcripts = {each.key: each for each in self._queue.load()}
        start = time.monotonic()  # any of them may have grown while no daemon ran
        self._schedule = {key: _Schedule(start, looks=1 + each.is_waiting) for key, each in self._transcripts.items()}
        self._is_ending = False
        self._last_read, self._last_error = "", ""
        self._thread = threading.Thread(target=self._run, name="captures", daemon=True)

    def enqueue(
        self, *, host: str, session_id: str, transcript: str, cwd: str = "", ends: bool = False, vault: str = ""
    ) -> None:
        """Queue a transcript, to be read soon. It is on disk when this returns.

        Raises UsageError for a host without transcripts, Refused for a file elsewhere, VaultUnavailable.
        """
        if not session_id or len(session_id) > _LONGEST_ID:
            message = f"a session id must have 1 to {_LONGEST_ID} characters"
            raise UsageError(message, hint="A hook sends the id of its session.")
        path = str(check_transcript_path(transcript, folders=self._step.transcript_folders(host)))
        new = QueuedTranscript(host, session_id, path, handed=self._time(), vault=vault, ends=ends)
        with self._change:
            old = self._transcripts.get(new.key, new)
            if (old.path, old.vault) != (path, vault):
                old = replace(old, path=path, vault=vault, recorded=0, vault_folder="", earlier=None)
            merged = replace(old, handed=new.handed, ends=ends)
            self._save(replace(merged, is_waiting=True).with_folders([cwd]))
            self._schedule[new.key] = _Schedule(time.monotonic())
            self._change.notify_all()

    def is_wanted(self, *, host: str, session_id: str, cwd: str) -> bool:
        """True if this session may be recorded."""
        transcript = self._transcripts.get(QueuedTranscript(host, session_id, "", "").key)
        folders = (*(transcript.folders if transcript else ()), *([cwd] if cwd else []))
        return not self._step.why_not(session_id=session_id, folders=folders)

    def begin(self) -> None:
        """Start reading."""
        self._thread.start()

    def end(self, *, within: float) -> bool:
        """Stop reading; True if the thread has ended within that many seconds. The next daemon reads the rest."""
        with self._change:
            self._is_ending = True
            self._change.notify_all()
        if self._thread.ident:
            self._thread.join(within)
        return not self._thread.is_alive()

    def status(self) -> dict[str, Any]:
        """The part about capture in `status`."""
        with self._change:
            waiting = sum(each.is_waiting for each in self._transcripts.values())
        return {
            "enabled": self._options.enabled,
            "waiting": waiting,
            "sessions": len(self._transcripts),
            "last_read": self._last_read,
            "paused": self.pauses.lines(),
            "said": self._last_error,
        }

    def _run(self) -> None:
        while (due := self._next()) is not None:
            self._read(*due)

    def _next(self) -> tuple[QueuedTranscript, _Schedule] | None:
        """Wait for the next transcript that is due; None when it is time to end."""
        with self._change:
            while not self._is_ending:
                key = min(self._schedule, key=lambda each: self._schedule[each].due, default="")
                wait = self._schedule[key].due - time.monotonic() if key else None
                if wait is not None and wait <= 0:
                    return self._transcripts[key], self._schedule[key]
                self._change.wait(wait)
        return None

    def _read(self, transcript: QueuedTranscript, schedule: _Schedule) -> None:
        try:
            result = self._step.run(transcript)
        except FileNotFoundError:
            self._step.notice_loss(transcript)
            self._retry_later(transcript, schedule, error="the transcript does not exist", give_up_after=_MISSING_FOR)
        except (CommonplaceError, OSError) as error:
            self._retry_later(transcript, schedule, error=str(error), give_up_after=_SILENT_FOR)
        except Exception as error:  # noqa: BLE001 (a job: whatever it is, the other transcripts are read)
            emit("capture_failed", level="error", path=transcript.path, exc_info=error)
            self._retry_later(transcript, schedule, error=type(error).__name__, give_up_after=_SILENT_FOR)
        else:
            self._finish(transcript, schedule, result)

    def _finish(self, before: QueuedTranscript, schedule: _Schedule, result: "CaptureStepResult") -> None:
        """Save how far the transcript was read, and schedule the next read."""
        with self._change:
            current = self._transcripts[before.key]
            self._last_error, self._last_read = "", self._time()
            if (current.path, current.vault) != (before.path, before.vault):
                return  # another file by now, of which nothing is read yet
            if schedule is self._schedule[before.key]:  # otherwise it was queued again meanwhile
                schedule.failures, schedule.looks = 0, schedule.looks - (not result.has_more)
                schedule.due = time.monotonic() + (0.0 if result.has_more else self._second_look)
            after = replace(result.transcript, handed=current.handed, ends=current.ends).with_folders(current.folders)
            self._save_or_forget(replace(after, is_waiting=self._schedule[before.key].looks > 0))
        if result.added:
            emit("transcript_read", host=before.host, added=result.added, offset=result.transcript.recorded)

    def _save_or_forget(self, transcript: QueuedTranscript) -> None:
        """Save a transcript that was read, or drop it if its session has been silent for long.

        A transcript with a part that was not to be recorded is kept while its file exists: otherwise a later read from
        the start would record that part.
        """
        if not transcript.is_waiting and not transcript.not_before and self._is_older(transcript, _SILENT_FOR):
            self._drop(transcript)
            return
        if not transcript.is_waiting:  # it is read once more when it may be dropped
            self._schedule[transcript.key].due = time.monotonic() + _SILENT_FOR.total_seconds()
        with suppress(CommonplaceError):  # the next `enqueue` reports it; until then it is read twice, and kept once
            self._save(transcript)

    def _retry_later(
        self, transcript: QueuedTranscript, schedule: _Schedule, *, error: str, give_up_after: timedelta
    ) -> None:
        """Schedule another read; drop the transcript if it was named too long ago."""
        with self._change:
            current = self._transcripts[transcript.key]
            if schedule is not self._schedule[transcript.key]:
                return
            if self._is_older(current, give_up_after):
                is_waiting = current.is_waiting
                emit("capture_dropped", level="warning" if is_waiting else "info", path=current.path, said=error)
                self._drop(current)
                return
            if not schedule.failures:
                emit("capture_put_off", level="warning", path=current.path, said=error)
            self._last_error = error
            schedule.due = time.monotonic() + min(_LONGEST_RETRY, _RETRY_SECONDS * 2 ** min(schedule.failures, 10))
            schedule.failures += 1

    def _is_older(self, transcript: QueuedTranscript, age: timedelta) -> bool:
        """True if the transcript was last named longer ago than `age`."""
        return self._clock() - parse_moment(transcript.handed) > age

    def _save(self, transcript: QueuedTranscript) -> None:
        self._queue.save(transcript)
        self._transcripts[transcript.key] = transcript

    def _drop(self, transcript: QueuedTranscript) -> None:
        self._queue.drop(transcript)
        del self._transcripts[transcript.key], self._schedule[transcript.key]

    def _time(self) -> str:
        return moment_text(self._clock())


@dataclass(frozen=True, slots=True)
class CaptureStepResult:
    """The transcript after a read, whether there is more to read at once, and how many messages were added."""

    transcript: QueuedTranscript
    has_more: bool = False
    added: int = 0


@dataclass(frozen=True, slots=True)
class CaptureStep:
    """One read of one transcript: records what is new unless the person does not want it, and moves the cursor.

    `folder` is the daemon's own, which lists where hosts are installed.
    """

    folder: Path
    memory_for: MemoryFor
    pauses: Pauses
    options: "CaptureOptions"
    clock: Callable[[], datetime]
    most: int = PART_BYTES
    longest: int = _LONGEST_LINE

    def run(self, transcript: QueuedTranscript) -> CaptureStepResult:
        """Read one part. Raises FileNotFoundError, OSError, and what the memory raises."""
        folders = self.transcript_folders(transcript.host)
        with open_transcript(Path(transcript.path), folders=folders) as file:
            if self.why_not(session_id=transcript.session_id, folders=transcript.folders):
                return self._skip(file, transcript)
            if is_of_subagent(file, transcript.host, longest=self.longest):  # its session may be the person's own
                return CaptureStepResult(transcript)
            return self._record(file, transcript)

    def transcript_folders(self, host: str) -> tuple[Path, ...]:
        """Where the host's transcripts may be: its usual folders, those it is installed in, and those of the settings.

        Raises UsageError for a host without transcripts.
        """
        installed = installed_transcript_folders(self.folder, host)
        return transcript_folders(host, more=(*self.options.folders, *installed))

    def why_not(self, *, session_id: str, folders: Sequence[str]) -> str:
        """Why that conversation is not recorded now; empty if it is."""
        if not self.options.enabled:
            return "off: capture.enabled"
        return self.pauses.why_not(session_id=session_id, folders=folders)

    def _skip(self, file: int, transcript: QueuedTranscript) -> CaptureStepResult:
        """Move the cursor to the end and note the time: what was said up to now is never recorded."""
        if transcript.ends and transcript.is_waiting:
            with suppress(CommonplaceError):  # a conversation that stays open does no harm; a recorded one would
                self._conversations(transcript).capture(
                    b"", host=transcript.host, session_id=transcript.session_id, ends=True
                )
        end = cursor_at(file, os.fstat(file).st_size, name=file_name_hash(transcript.path))
        with suppress(CommonplaceError):  # the time is enough, unless the clocks differ
            conversations = self._conversations(transcript)
            conversations.move_cursor(end, host=transcript.host, session_id=transcript.session_id)
            transcript = replace(transcript, recorded=end.offset, vault_folder=conversations.vault_folder)
        now = self.clock().astimezone(UTC).isoformat()
        return CaptureStepResult(replace(transcript, not_before=now, earlier=None))

    def notice_loss(self, transcript: QueuedTranscript) -> None:
        """Note that a transcript is gone of which the history has less than it had; a failure is left to the next."""
        with suppress(CommonplaceError):
            conversations = self._conversations(transcript)
            cursor = conversations.cursor(host=transcript.host, session_id=transcript.session_id)
            if cursor.offset < transcript.recorded and conversations.vault_folder == transcript.vault_folder:
                conversations.note_older_history(transcript.path, is_gone=True)

    def _record(self, file: int, transcript: QueuedTranscript) -> CaptureStepResult:
        conversations, name = self._conversations(transcript), file_name_hash(transcript.path)
        cursor = self._cursor(file, transcript, conversations)
        part = next_part(file, cursor, most=self.most, longest=self.longest)
        transcript = transcript.with_folders(working_folders(part.content))  # the session may have moved
        if self.why_not(session_id=transcript.session_id, folders=transcript.folders):
            return self._skip(file, transcript)
        ends = transcript.ends and transcript.is_waiting and part.is_last
        if not part.content and not ends:
            return CaptureStepResult(replace(transcript, recorded=part.start, vault_folder=conversations.vault_folder))
        captured = conversations.capture(
            part.content,
            host=transcript.host,
            session_id=transcript.session_id,
            ends=ends,
            left_out=self._left_out(transcript),
            longest=self.options.max_message_chars,
            folders=transcript.folders,
            cursor_after=lambda consumed: cursor_at(file, part.start + consumed, name=name),
        )
        offset, broken = part.start + captured.consumed_bytes, captured.broken
        if not captured.consumed_bytes and not part.is_last:
            offset, broken = self._after_long_line(file, part), broken + 1
            after_line = cursor_at(file, offset, name=name)
            conversations.move_cursor(after_line, host=transcript.host, session_id=transcript.session_id)
        if broken and not transcript.broken:
            emit("transcript_lines_broken", level="warning", path=transcript.path, lines=broken)
        after = replace(
            transcript,
            recorded=offset,
            vault_folder=conversations.vault_folder,
            broken=transcript.broken + broken,
            earlier=None,
        )
        return CaptureStepResult(after, has_more=not part.is_last and offset > part.start, added=captured.added)

    def _cursor(self, file: int, transcript: QueuedTranscript, conversations: Conversations) -> TranscriptCursor:
        """How far this file was read, by what is recorded; the loss is noted if that is less than it was.

        A vault that is new to the session gets what is said from now on: the rest is in the vault before it.
        """
        name = file_name_hash(transcript.path)
        cursor = conversations.cursor(host=transcript.host, session_id=transcript.session_id)
        if cursor.file != name:
            cursor = replace(transcript.earlier or TranscriptCursor(), file=name)
        if cursor.offset >= transcript.recorded:
            return cursor
        if conversations.vault_folder != transcript.vault_folder:
            cursor = cursor_at(file, min(transcript.recorded, os.fstat(file).st_size), name=name)
            conversations.move_cursor(cursor, host=transcript.host, session_id=transcript.session_id)
            return cursor
        conversations.note_older_history(transcript.path, is_gone=False)
        return cursor

    def _after_long_line(self, file: int, part: TranscriptPart) -> int:
        """The offset of the line after one that is too long; the start of the part while that line has no end."""
        return next_line(file, part.start + len(part.content)) or part.start

    def _left_out(self, transcript: QueuedTranscript) -> list[tuple[datetime, datetime]]:
        """The periods whose messages are not recorded."""
        windows = [*self.pauses.windows(session_id=transcript.session_id, folders=transcript.folders)]
        if transcript.not_before:
            windows.append((_BEGINNING, datetime.fromisoformat(transcript.not_before)))
        return windows

    def _conversations(self, transcript: QueuedTranscript) -> Conversations:
        caller = Caller(transcript.host, frozenset({"write"}), vault=transcript.vault, via="socket")
        return self.memory_for(caller).acting(Actor("job", transcript.host)).conversations
