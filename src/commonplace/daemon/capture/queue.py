"""Which transcripts there are to read, and safe reading of their files.

Each transcript has one small private file in the queue, so that a change is quick. These files are not forced to the
disk: a daemon that is killed loses nothing, and after a power cut the next event of the session names its transcript
again. How far a transcript was read is stored with what was read, in the vault's history: so lines are never taken for
recorded that are not.

A hook names a transcript, and any program of this user can call a hook. So only files in the folders of that host are
read, and they are opened so that nothing can be put in their place between the check and the read.
"""

import json
import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields, replace
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Final

from commonplace.agent_hosts import TRANSCRIPT_HOSTS, find_agent_host, parse_transcript_line
from commonplace.daemon.service.state_files import write_private_file
from commonplace.errors import Refused, UsageError, VaultUnavailable
from commonplace.events import emit
from commonplace.model import TranscriptCursor
from commonplace.model.moment import parse_moment

FOLDER: Final = "captures"
EXTENSION: Final = ".jsonl"
_MOST_FOLDERS: Final = 20
_TAIL_BYTES: Final = 4096  # before the cursor, by which a file is recognized
_NAME_DIGITS: Final = 16
_CHUNK_BYTES: Final = 1 << 20
_HINT: Final = "Transcripts must be in the host's own folder; the setting capture.folders adds more folders."


@dataclass(frozen=True, slots=True)
class QueuedTranscript:
    """One session's transcript.

    `folders` are the session's working folders, `handed` is when it was last named. `is_waiting` says that it may have
    something new, `ends` that the session is over. What was said before `not_before` was read, or was not to be
    recorded. `broken` counts lines that are not JSON. `recorded` is the offset up to which the history had it last: a
    history of the vault in `vault_folder` with less is an older copy. `earlier` is a cursor from before histories had
    them.
    """

    host: str
    session_id: str
    path: str
    handed: str
    vault: str = ""
    folders: tuple[str, ...] = ()
    recorded: int = 0
    vault_folder: str = ""
    is_waiting: bool = True
    ends: bool = False
    not_before: str = ""
    broken: int = 0
    earlier: TranscriptCursor | None = None

    @property
    def key(self) -> str:
        """The name of its file: the same for the same session."""
        return sha256(json.dumps([self.host, self.session_id]).encode()).hexdigest()[:32]

    def with_folders(self, folders: Iterable[str]) -> "QueuedTranscript":
        """The transcript with these working folders added; of very many, the last ones are kept."""
        return replace(self, folders=tuple(dict.fromkeys([*self.folders, *filter(None, folders)]))[-_MOST_FOLDERS:])


class CaptureQueue:
    """The files of the queue."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / FOLDER

    def load(self) -> Iterator[QueuedTranscript]:
        """Every transcript in the queue. An invalid file is logged and removed: the next event creates it again."""
        for file in sorted(self._folder.glob("*.json")):
            try:
                yield _parse(file.read_bytes())
            except OSError as error:
                emit("capture_not_read", level="warning", file=file.name, said=error.strerror)
            except (ValueError, TypeError, KeyError, RecursionError) as error:
                emit("capture_forgotten", level="warning", file=file.name, error=type(error).__name__)
                _remove(file)

    def save(self, transcript: QueuedTranscript) -> None:
        """Write the transcript's state. Raises VaultUnavailable."""
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_private_file(self._folder / f"{transcript.key}.json", asdict(transcript), durable=False)
        except OSError as error:
            message = f"the list of transcripts cannot be written: {error.strerror}"
            raise VaultUnavailable(
                message, path=str(self._folder), hint="Check the disk and its permissions."
            ) from error

    def drop(self, transcript: QueuedTranscript) -> None:
        """Remove it; if the session goes on, it is queued again and read from its start."""
        _remove(self._folder / f"{transcript.key}.json")


def _remove(file: Path) -> None:
    """Remove the file; if the disk refuses, that is logged, and the next daemon tries again."""
    try:
        file.unlink(missing_ok=True)
    except OSError as error:
        emit("capture_not_removed", level="warning", file=file.name, said=error.strerror)


def _parse(content: bytes) -> QueuedTranscript:
    """Raises ValueError, TypeError or KeyError for anything but what we write."""
    stored = json.loads(content)
    if "cursor" in stored:
        stored |= {"earlier": stored.pop("cursor"), "recorded": 0, "vault_folder": ""}
    values = {each.name: stored[each.name] for each in fields(QueuedTranscript)}
    texts = (values[name] for name in ("host", "session_id", "path", "handed", "vault", "vault_folder", "not_before"))
    if not all(isinstance(each, str) for each in (*texts, *values["folders"])):
        raise ValueError("not a transcript")
    if int(values["recorded"]) < 0 or not os.path.isabs(values["path"]):
        raise ValueError("not a position in a file")
    parse_moment(values["handed"])
    if values["not_before"]:
        datetime.fromisoformat(values["not_before"])
    earlier = values["earlier"] and TranscriptCursor(int(values["earlier"]["offset"]), str(values["earlier"]["tail"]))
    return QueuedTranscript(**{**values, "earlier": earlier, "folders": tuple(values["folders"])})


@dataclass(frozen=True, slots=True)
class TranscriptPart:
    """The next part of a transcript: its content, where it starts, and the size of the file."""

    content: bytes
    start: int
    size: int

    @property
    def is_last(self) -> bool:
        """True if the file ends with it."""
        return self.start + len(self.content) >= self.size


def transcript_folders(host: str, *, more: Sequence[str], environ: Mapping[str, str] = os.environ) -> tuple[Path, ...]:
    """The real folders in which the host's transcripts may be. Raises UsageError for a host without transcripts.

    Those below its default folder always: the variable belongs to the shell that happened to start this program.
    """
    agent = find_agent_host(host)
    if agent is None or not agent.transcript_folder:
        hint = f"Hosts with transcripts: {', '.join(TRANSCRIPT_HOSTS)}."
        raise UsageError(f"transcripts of {host!r} cannot be read", hint=hint)
    configs = (agent.named_config(environ), os.path.join(os.path.expanduser("~"), agent.config_folder))
    folders = (
        *(os.path.join(config, agent.transcript_folder) for config in configs if config),
        *map(os.path.expanduser, more),
    )
    return tuple(dict.fromkeys(Path(os.path.realpath(folder)) for folder in folders if os.path.isabs(folder)))


def check_transcript_path(path: str, *, folders: Sequence[Path]) -> Path:
    """The real path of a transcript in one of the folders; it need not exist yet. Raises Refused for any other."""
    if "\0" in path or not os.path.isabs(path) or not path.endswith(EXTENSION):
        raise Refused(f"not a transcript: the path must be absolute and end in {EXTENSION}", hint=_HINT)
    real = Path(os.path.realpath(path))
    if real.suffix != EXTENSION or not any(folder in real.parents for folder in folders):
        raise _outside(path)
    return real


@contextmanager
def open_transcript(path: Path, *, folders: Sequence[Path]) -> Iterator[int]:
    """The file's descriptor, open for reading within this block.

    Raises FileNotFoundError, OSError for a symbolic link on the path, Refused if it is not a file of this user.
    """
    folder = next((each for each in folders if each in path.parents), None)
    if folder is None:
        raise _outside(str(path))
    file = _open_below(folder, path.relative_to(folder).parts)
    try:
        status = os.fstat(file)
        if not stat.S_ISREG(status.st_mode) or status.st_uid != os.getuid():
            raise Refused("not a file of this user", path=str(path), hint=_HINT)
        yield file
    finally:
        os.close(file)


def next_part(file: int, cursor: TranscriptCursor, *, most: int, longest: int) -> TranscriptPart:
    """What follows the cursor; from the start of the file if its text has changed.

    It has at most `most` bytes, or up to `longest` if not even one line fits.
    """
    size = os.fstat(file).st_size
    is_same = cursor == cursor_at(file, min(cursor.offset, size), name=cursor.file)
    start = cursor.offset if is_same else 0
    content = _read(file, start, min(most, size - start))
    if b"\n" not in content:
        content = _read(file, start, min(longest, size - start))
    return TranscriptPart(content, start, size)


def is_of_subagent(file: int, host: str, *, longest: int) -> bool:
    """True if the first line of a transcript says that an agent speaks there in the person's place."""
    agent = find_agent_host(host)
    part = next_part(file, TranscriptCursor(), most=_CHUNK_BYTES, longest=longest)
    line = parse_transcript_line(part.content.partition(b"\n")[0])
    return bool(agent and line and agent.is_subagent_line(line))


def cursor_at(file: int, offset: int, *, name: str) -> TranscriptCursor:
    """The cursor for a file of that name that was read up to this offset."""
    begin = max(0, offset - _TAIL_BYTES)
    tail = sha256(_read(file, begin, offset - begin)).hexdigest() if offset else ""
    return TranscriptCursor(offset, tail, name)


def file_name_hash(path: str) -> str:
    """The name of a transcript in its cursor."""
    return sha256(path.encode(errors="surrogateescape")).hexdigest()[:_NAME_DIGITS]


def next_line(file: int, offset: int) -> int | None:
    """The offset of the line after the one at this offset; None if that one has no end yet."""
    while chunk := os.pread(file, _CHUNK_BYTES, offset):
        if (position := chunk.find(b"\n")) >= 0:
            return offset + position + 1
        offset += len(chunk)
    return None


def _open_below(folder: Path, parts: Sequence[str]) -> int:
    """The file at these parts, opened step by step from the folder; no step follows a symbolic link."""
    current = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    for part in parts:
        try:
            inner = os.open(part, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=current)
        finally:
            os.close(current)
        current = inner
    return current


def _read(file: int, offset: int, count: int) -> bytes:
    """Up to `count` bytes from this offset."""
    chunks: list[bytes] = []
    while count > 0 and (chunk := os.pread(file, count, offset)):
        chunks.append(chunk)
        offset, count = offset + len(chunk), count - len(chunk)
    return b"".join(chunks)


def _outside(path: str) -> Refused:
    message = "the file is not in the folders of its host"
    return Refused(message, path=path, reason="path_escape", hint=_HINT)
