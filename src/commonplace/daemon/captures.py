"""Transcripts that hooks hand over: taken at once, read later, one after the other, by a thread of its own.

What is waiting is on the disk before `hand_over` returns, and a cursor moves only after what stands before it is
recorded. So a daemon that is killed reads something twice at the most, and history keeps it once.
"""

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from commonplace.daemon.capture_queue import CaptureQueue, Transcript
from commonplace.daemon.capturing import Capturing, Looked
from commonplace.daemon.choices import Choices
from commonplace.daemon.transcript_files import Cursor, checked_path, folders_of
from commonplace.errors import CommonplaceError, UsageError
from commonplace.events import emit
from commonplace.memory import MemoryFor
from commonplace.model.moment import moment_in, moment_text

if TYPE_CHECKING:
    from commonplace.sources.options import CaptureOptions

_LATE: Final = 3.0  # seconds after which a transcript is looked at once more: hosts write the last words late
_RETRY: Final = 5.0  # seconds, doubled each time
_LONGEST_RETRY: Final = 300.0
_MISSING: Final = timedelta(minutes=10)  # a transcript that is not there by then is dropped
_FORGOTTEN: Final = timedelta(days=30)  # a session that is silent for so long is begun anew
_LONGEST_ID: Final = 500
_now = partial(datetime.now, UTC)


@dataclass(slots=True)
class _Turn:
    """When a transcript is looked at next, how many looks are left, and how often it failed in a row."""

    due: float
    looks: int = 2
    failed: int = 0


class Captures:
    """The transcripts of all sessions. Its methods may be called from several threads."""

    def __init__(
        self,
        folder: Path,
        memory_for: MemoryFor,
        options: "CaptureOptions",
        *,
        clock: Callable[[], datetime] = _now,
        late: float = _LATE,
    ) -> None:
        self.choices = Choices(folder)
        self._capturing = Capturing(memory_for, self.choices, options, clock)
        self._options, self._clock, self._late = options, clock, late
        self._queue = CaptureQueue(folder)
        self._change = threading.Condition()
        self._known = {each.key: each for each in self._queue.load()}
        begun = time.monotonic()  # all may have grown while we were away
        self._turns = {key: _Turn(begun, looks=1 + each.is_waiting) for key, each in self._known.items()}
        self._is_ending = False
        self._last_read, self._said = "", ""
        self._thread = threading.Thread(target=self._run, name="captures", daemon=True)

    def hand_over(
        self, *, host: str, session_id: str, transcript: str, cwd: str = "", ends: bool = False, vault: str = ""
    ) -> None:
        """Take a transcript, to be read soon. It is on the disk when this returns.

        Raises UsageError for a host whose transcripts are unknown, Refused for a file elsewhere, VaultUnavailable.
        """
        if not session_id or len(session_id) > _LONGEST_ID:
            raise UsageError("a session without an id", hint="A hook says in which session it is called.")
        path = str(checked_path(transcript, folders=folders_of(host, more=self._options.folders)))
        named = Transcript(host, session_id, path, handed=self._time(), vault=vault, ends=ends)
        with self._change:
            known = self._known.get(named.key, named)
            cursor = known.cursor if (known.path, known.vault) == (path, vault) else Cursor()
            taken = replace(known, path=path, vault=vault, handed=named.handed, cursor=cursor, ends=ends)
            self._keep(replace(taken, is_waiting=True).at_work_in([cwd]))
            self._turns[named.key] = _Turn(time.monotonic())
            self._change.notify_all()

    def is_wanted(self, *, host: str, session_id: str, cwd: str) -> bool:
        """Whether anything of this session may be kept."""
        known = self._known.get(Transcript(host, session_id, "", "").key)
        folders = (*(known.folders if known else ()), *([cwd] if cwd else []))
        return not self._capturing.why_not(session_id=session_id, folders=folders)

    def begin(self) -> None:
        """Read from now on."""
        self._thread.start()

    def end(self, *, within: float) -> bool:
        """Begin no other look; whether the one at work has ended in time. What is waiting goes on next time."""
        with self._change:
            self._is_ending = True
            self._change.notify_all()
        if self._thread.ident:
            self._thread.join(within)
        return not self._thread.is_alive()

    def told(self) -> dict[str, Any]:
        """What `status` says of them."""
        with self._change:
            waiting = sum(each.is_waiting for each in self._known.values())
        paused: list[str] = []
        try:
            paused = [str(each) for each in self.choices.current()]
        except CommonplaceError as error:
            paused = [error.message]
        return {
            "enabled": self._options.enabled,
            "waiting": waiting,
            "sessions": len(self._known),
            "last_read": self._last_read,
            "paused": paused,
            "said": self._said,
        }

    def _run(self) -> None:
        while (due := self._next()) is not None:
            self._look(*due)

    def _next(self) -> tuple[Transcript, _Turn] | None:
        """The transcript that is due, waited for; None when it is time to end."""
        with self._change:
            while not self._is_ending:
                key = min(self._turns, key=lambda each: self._turns[each].due, default="")
                wait = self._turns[key].due - time.monotonic() if key else None
                if wait is not None and wait <= 0:
                    return self._known[key], self._turns[key]
                self._change.wait(wait)
        return None

    def _look(self, transcript: Transcript, turn: _Turn) -> None:
        try:
            looked = self._capturing.look(transcript)
        except FileNotFoundError:
            self._put_off(transcript, turn, said="the transcript is not there", until=_MISSING)
        except (CommonplaceError, OSError) as error:
            self._put_off(transcript, turn, said=str(error), until=_FORGOTTEN)
        except Exception as error:  # noqa: BLE001 (a job: whatever it is, the other transcripts are read)
            emit("capture_failed", level="error", path=transcript.path, exc_info=error)
            self._put_off(transcript, turn, said=type(error).__name__, until=_FORGOTTEN)
        else:
            self._go_on(transcript, turn, looked)

    def _go_on(self, before: Transcript, turn: _Turn, looked: Looked) -> None:
        """Keep how far it was read, and say when it is looked at again."""
        with self._change:
            now = self._known[before.key]
            self._said, self._last_read = "", self._time()
            if (now.path, now.vault) != (before.path, before.vault):
                return  # another file by now, of which nothing is read yet
            if turn is self._turns[before.key]:  # else it was handed over again meanwhile, and has its turn
                turn.failed, turn.looks = 0, turn.looks - (not looked.has_more)
                turn.due = time.monotonic() + (0.0 if looked.has_more else self._late)
            after = replace(looked.transcript, handed=now.handed, ends=now.ends).at_work_in(now.folders)
            self._keep_after(replace(after, is_waiting=self._turns[before.key].looks > 0))
        if looked.added:
            emit("transcript_read", host=before.host, added=looked.added, offset=looked.transcript.cursor.offset)

    def _keep_after(self, transcript: Transcript) -> None:
        """Keep a transcript that was read, or let it go when nobody has spoken of it for long.

        One of which something was not to be recorded is known as long as its file is there: else it would be some day.
        """
        if not transcript.is_waiting and not transcript.not_before and self._is_older(transcript, _FORGOTTEN):
            self._drop(transcript)
            return
        if not transcript.is_waiting:  # it is looked at once more when it may be let go
            self._turns[transcript.key].due = time.monotonic() + _FORGOTTEN.total_seconds()
        with suppress(CommonplaceError):  # told at the next hand-over; until then it is read twice, and kept once
            self._keep(transcript)

    def _put_off(self, transcript: Transcript, turn: _Turn, *, said: str, until: timedelta) -> None:
        """Try again later; let it go when it was named too long ago."""
        with self._change:
            now = self._known[transcript.key]
            if turn is not self._turns[transcript.key]:
                return
            if self._is_older(now, until):
                emit("capture_dropped", level="warning" if now.is_waiting else "info", path=now.path, said=said)
                self._drop(now)
                return
            if not turn.failed:
                emit("capture_put_off", level="warning", path=now.path, said=said)
            self._said = said
            turn.due = time.monotonic() + min(_LONGEST_RETRY, _RETRY * 2 ** min(turn.failed, 10))
            turn.failed += 1

    def _is_older(self, transcript: Transcript, after: timedelta) -> bool:
        """Whether it was last handed over longer ago than that."""
        return self._clock() - moment_in(transcript.handed) > after

    def _keep(self, transcript: Transcript) -> None:
        self._queue.keep(transcript)
        self._known[transcript.key] = transcript

    def _drop(self, transcript: Transcript) -> None:
        self._queue.drop(transcript)
        del self._known[transcript.key], self._turns[transcript.key]

    def _time(self) -> str:
        return moment_text(self._clock())
