"""Which transcripts there are to read and how far each was read: one small private file for each, so that it is quick.

What is written here is not forced to the disk: a daemon that is killed loses nothing, and after a power cut the next
event of the session names its transcript again.
"""

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Final

from commonplace.daemon.private_files import write_privately
from commonplace.daemon.transcript_files import Cursor
from commonplace.errors import VaultUnavailable
from commonplace.events import emit
from commonplace.model.moment import moment_in

FOLDER: Final = "captures"
_MOST_FOLDERS: Final = 20


@dataclass(frozen=True, slots=True)
class Transcript:
    """One session's transcript.

    `folders` are those in which the session was at work, `handed` is when it was last named. `is_waiting` says that
    there may be something new in it, `ends` that the session is over. What was said before `not_before` was read, or
    was not to be recorded.
    """

    host: str
    session_id: str
    path: str
    handed: str
    vault: str = ""
    folders: tuple[str, ...] = ()
    cursor: Cursor = field(default_factory=Cursor)
    is_waiting: bool = True
    ends: bool = False
    not_before: str = ""
    broken: int = 0

    @property
    def key(self) -> str:
        """The name of its file: the same for the same session."""
        return sha256(json.dumps([self.host, self.session_id]).encode()).hexdigest()[:32]

    def at_work_in(self, folders: Iterable[str]) -> "Transcript":
        """The same session, which was in these folders, too; of very many the last ones are known."""
        return replace(self, folders=tuple(dict.fromkeys([*self.folders, *filter(None, folders)]))[-_MOST_FOLDERS:])


class CaptureQueue:
    """The files of the queue."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / FOLDER

    def load(self) -> Iterator[Transcript]:
        """Every transcript that is known. A file that is not ours is told and removed: it is made again."""
        for file in sorted(self._folder.glob("*.json")):
            try:
                yield _parsed(file.read_bytes())
            except OSError as error:
                emit("capture_not_read", level="warning", file=file.name, said=error.strerror)
            except (ValueError, TypeError, KeyError, RecursionError) as error:
                emit("capture_forgotten", level="warning", file=file.name, error=type(error).__name__)
                _remove(file)

    def keep(self, transcript: Transcript) -> None:
        """Write how it stands. Raises VaultUnavailable."""
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_privately(self._folder / f"{transcript.key}.json", asdict(transcript), is_lasting=False)
        except OSError as error:
            message = f"the list of transcripts cannot be written: {error.strerror}"
            raise VaultUnavailable(message, path=str(self._folder), hint="Look at the disk and its modes.") from error

    def drop(self, transcript: Transcript) -> None:
        """Let it go; a session that goes on is known again, and read from its beginning."""
        _remove(self._folder / f"{transcript.key}.json")


def _remove(file: Path) -> None:
    """Remove it; where the disk does not let us, that is told, and the next daemon tries again."""
    try:
        file.unlink(missing_ok=True)
    except OSError as error:
        emit("capture_not_removed", level="warning", file=file.name, said=error.strerror)


def _parsed(text: bytes) -> Transcript:
    """Raises ValueError, TypeError or KeyError for anything but what we wrote."""
    said = json.loads(text)
    values = {part.name: said[part.name] for part in fields(Transcript)}
    texts = (values[name] for name in ("host", "session_id", "path", "handed", "vault", "not_before"))
    if not all(isinstance(each, str) for each in (*texts, *values["folders"])):
        raise ValueError("not a transcript")
    cursor = Cursor(int(values["cursor"]["offset"]), str(values["cursor"]["tail"]))
    if cursor.offset < 0 or not os.path.isabs(values["path"]):
        raise ValueError("no place in a file")
    moment_in(values["handed"])
    if values["not_before"]:
        datetime.fromisoformat(values["not_before"])
    return Transcript(**{**values, "cursor": cursor, "folders": tuple(values["folders"])})
