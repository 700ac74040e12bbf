"""The files that agents keep their transcripts in: which may be read, and how they are read on where one stopped.

A hook names a file, and any program of this user can call a hook. So only what lies in the folders of that agent is
read, and it is opened so that nothing can be put in its place between the look and the reading.
"""

import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final

from commonplace.errors import Refused, UsageError

ENDING: Final = ".jsonl"
_HOMES: Final = {
    "claude-code": ("CLAUDE_CONFIG_DIR", ".claude", "projects"),
    "codex": ("CODEX_HOME", ".codex", "sessions"),
}
"""Of each host: the variable that names its folder, the folder below home, and where transcripts are in it."""
_TAIL: Final = 4096  # bytes before the cursor by which a file is known again
_STEP: Final = 1 << 20
_HINT: Final = "Transcripts lie where the agent keeps them; the setting capture.folders names more folders."


@dataclass(frozen=True, slots=True)
class Cursor:
    """How far a transcript was read, and a hash of the bytes right before: another hash means another text."""

    offset: int = 0
    tail: str = ""


@dataclass(frozen=True, slots=True)
class Piece:
    """What comes next in a transcript: where it begins, and how large the file is by now."""

    content: bytes
    begins: int
    size: int

    @property
    def is_last(self) -> bool:
        """Whether the file ends with it."""
        return self.begins + len(self.content) >= self.size


def folders_of(host: str, *, more: Sequence[str], environ: Mapping[str, str] = os.environ) -> tuple[Path, ...]:
    """The real folders in which transcripts of that host may lie. Raises UsageError for a host that has none."""
    if host not in _HOMES:
        raise UsageError(f"no transcripts of {host!r} are known", hint=f"Known: {', '.join(_HOMES)}.")
    variable, below_home, inner = _HOMES[host]
    named = environ.get(variable) or os.path.join(os.path.expanduser("~"), below_home)
    folders = (os.path.join(named, inner), *map(os.path.expanduser, more))
    return tuple(Path(os.path.realpath(folder)) for folder in folders if os.path.isabs(folder))


def checked_path(named: str, *, folders: Sequence[Path]) -> Path:
    """The real path of a transcript in one of the folders. Raises Refused for any other; it need not be there yet."""
    if "\0" in named or not os.path.isabs(named) or not named.endswith(ENDING):
        raise Refused(f"this is no transcript: the name is no full path that ends in {ENDING}", hint=_HINT)
    real = Path(os.path.realpath(named))
    if real.suffix != ENDING or not any(folder in real.parents for folder in folders):
        raise Refused("this file is not in the folders of its agent", path=named, reason="path_escape", hint=_HINT)
    return real


@contextmanager
def opened(path: Path, *, folders: Sequence[Path]) -> Iterator[int]:
    """The file, open for reading in this block.

    Raises FileNotFoundError, OSError for a symbolic link on the way, Refused for what is not this user's own file.
    """
    folder = next((each for each in folders if each in path.parents), None)
    if folder is None:
        raise Refused("this file is not in the folders of its agent", path=str(path), reason="path_escape", hint=_HINT)
    file = _walked(folder, path.relative_to(folder).parts)
    try:
        found = os.fstat(file)
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.getuid():
            raise Refused("this is no file of this user", path=str(path), hint=_HINT)
        yield file
    finally:
        os.close(file)


def _walked(folder: Path, parts: Sequence[str]) -> int:
    """The last of the parts, opened step by step from the folder; no step follows a symbolic link."""
    at = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    for part in parts:
        try:
            inner = os.open(part, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=at)
        finally:
            os.close(at)
        at = inner
    return at


def next_piece(file: int, cursor: Cursor, *, most: int, longest: int) -> Piece:
    """What stands behind the cursor; from the beginning, if it is not the text it was.

    It has at most so many bytes, or as many as the `longest` line where not even one line fits.
    """
    size = os.fstat(file).st_size
    begins = cursor.offset if cursor == cursor_at(file, min(cursor.offset, size)) else 0
    content = _bytes(file, begins, min(most, size - begins))
    if b"\n" not in content:
        content = _bytes(file, begins, min(longest, size - begins))
    return Piece(content, begins, size)


def cursor_at(file: int, offset: int) -> Cursor:
    """The cursor for a file that was read up to there."""
    begin = max(0, offset - _TAIL)
    return Cursor(offset, sha256(_bytes(file, begin, offset - begin)).hexdigest() if offset else "")


def next_line(file: int, offset: int) -> int | None:
    """Where the line after the one at that place begins; None where that one has no end yet."""
    while step := os.pread(file, _STEP, offset):
        if (at := step.find(b"\n")) >= 0:
            return offset + at + 1
        offset += len(step)
    return None


def _bytes(file: int, offset: int, count: int) -> bytes:
    """So many bytes from there on, or as many as there are."""
    pieces: list[bytes] = []
    while count > 0 and (piece := os.pread(file, count, offset)):
        pieces.append(piece)
        offset, count = offset + len(piece), count - len(piece)
    return b"".join(pieces)
