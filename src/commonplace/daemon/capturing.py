"""One look at one transcript: read on, record what is new unless the person does not want it, and move the cursor."""

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from commonplace.daemon.capture_queue import Transcript
from commonplace.daemon.choices import Choices
from commonplace.daemon.transcript_files import Piece, cursor_at, folders_of, next_line, next_piece, opened
from commonplace.errors import CommonplaceError
from commonplace.events import emit
from commonplace.memory import Conversations, MemoryFor, folders_in
from commonplace.model import Caller

if TYPE_CHECKING:
    from commonplace.sources.options import CaptureOptions

ROUND: Final = 2 << 20
"""Bytes that are read at once, if more than a line is in them."""

_LONGEST_LINE: Final = 16 << 20  # bytes: pictures come with what was typed; a longer line is passed over

_BEGINNING: Final = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Looked:
    """How the transcript stands after a look, whether there is more to read at once, and how many messages came."""

    transcript: Transcript
    has_more: bool = False
    added: int = 0


@dataclass(frozen=True, slots=True)
class Capturing:
    """What a look needs: the vaults, the person's choices and settings, and the clock."""

    memory_for: MemoryFor
    choices: Choices
    options: "CaptureOptions"
    clock: Callable[[], datetime]
    most: int = ROUND
    longest: int = _LONGEST_LINE

    def look(self, transcript: Transcript) -> Looked:
        """Read on for one round. Raises FileNotFoundError, OSError, and what the memory raises."""
        folders = folders_of(transcript.host, more=self.options.folders)
        with opened(Path(transcript.path), folders=folders) as file:
            if self.why_not(session_id=transcript.session_id, folders=transcript.folders):
                return self._pass_over(file, transcript)
            return self._read_on(file, transcript)

    def why_not(self, *, session_id: str, folders: Sequence[str]) -> str:
        """Why nothing of that conversation is recorded now; empty where it is."""
        if not self.options.enabled:
            return "off: capture.enabled"
        return self.choices.why_not(session_id=session_id, folders=folders)

    def _pass_over(self, file: int, transcript: Transcript) -> Looked:
        """Everything that was said up to now is not recorded, today or later."""
        if transcript.ends and transcript.is_waiting:
            with suppress(CommonplaceError):  # a conversation that stays open harms nobody; one that is recorded would
                self._conversations(transcript).capture(
                    b"", host=transcript.host, session_id=transcript.session_id, ends=True
                )
        cursor, now = cursor_at(file, os.fstat(file).st_size), self.clock().astimezone(UTC).isoformat()
        return Looked(replace(transcript, cursor=cursor, not_before=now))

    def _read_on(self, file: int, transcript: Transcript) -> Looked:
        piece = next_piece(file, transcript.cursor, most=self.most, longest=self.longest)
        transcript = transcript.at_work_in(folders_in(piece.content))  # the host may have named another one since
        if self.why_not(session_id=transcript.session_id, folders=transcript.folders):
            return self._pass_over(file, transcript)
        ends = transcript.ends and transcript.is_waiting and piece.is_last
        if not piece.content and not ends:
            return Looked(replace(transcript, cursor=cursor_at(file, piece.begins)))
        captured = self._conversations(transcript).capture(
            piece.content,
            host=transcript.host,
            session_id=transcript.session_id,
            ends=ends,
            left_out=self._left_out(transcript),
            longest=self.options.max_message_chars,
        )
        at = piece.begins + captured.consumed_bytes
        broken = captured.broken
        if not captured.consumed_bytes and not piece.is_last:
            at, broken = self._behind_long_line(file, piece), broken + 1
        if broken and not transcript.broken:
            emit("transcript_lines_broken", level="warning", path=transcript.path, lines=broken)
        after = replace(transcript, cursor=cursor_at(file, at), broken=transcript.broken + broken)
        return Looked(after, has_more=not piece.is_last and at > piece.begins, added=captured.added)

    def _behind_long_line(self, file: int, piece: Piece) -> int:
        """Where the next line begins behind one that is too long; the same place while that one has no end."""
        return next_line(file, piece.begins + len(piece.content)) or piece.begins

    def _left_out(self, transcript: Transcript) -> list[tuple[datetime, datetime]]:
        windows = [*self.choices.windows(session_id=transcript.session_id, folders=transcript.folders)]
        if transcript.not_before:
            windows.append((_BEGINNING, datetime.fromisoformat(transcript.not_before)))
        return windows

    def _conversations(self, transcript: Transcript) -> Conversations:
        caller = Caller(transcript.host, frozenset({"write"}), vault=transcript.vault, via="socket")
        return self.memory_for(caller).conversations
