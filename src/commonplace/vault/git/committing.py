"""Commits by `git fast-import`: blobs, trees, commits and the branch in one process, without an index.

The branch is moved only if the new tip contains the old one, so another program's commit is never lost: when one came
in between, ours is made again on top of it.
"""

import os
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import IO

from commonplace.errors import VaultUnavailable
from commonplace.vault.git.history import trailer_lines
from commonplace.vault.git.place import Place
from commonplace.vault.git.program import LIMIT_S, Git, failed, finish, stop
from commonplace.vault.git.state import branch, is_born

PATIENCE_S = 5.0
"""How long another program may keep moving or locking the branch."""

_PAUSE_S = 0.02
_FOLDER = "040000"
_MOVED = ("does not contain", ".lock': File exists", "but expected", "reference already exists")
_UNPACKED = "fastimport.unpackLimit=100"  # objects; more stay in a pack
MODES = ("100644", "100755")
"""A file, and one that can be run."""


@dataclass(frozen=True, slots=True)
class Author:
    """Who makes our commits, whatever is configured."""

    name: str
    email: str

    def line(self, now: float) -> bytes:
        """The author as a commit shows it, with the time and the zone of this machine."""
        zone = time.strftime("%z", time.localtime(now))
        return f"{_tame(self.name)} <{_tame(self.email)}> {int(now)} {zone}".encode()


@dataclass(frozen=True, slots=True)
class NewCommit:
    """A commit to be made: the bytes of each path, None for one that is removed."""

    message: str
    trailers: tuple[tuple[str, str], ...]
    files: Mapping[str, bytes | None]


@dataclass(frozen=True, slots=True)
class New:
    """A file to be committed: its bytes, or the blob that already holds them; its mode if HEAD does not have it."""

    content: bytes
    stored: str | None
    mode: str


@dataclass(frozen=True, slots=True)
class Prepared:
    """A commit in the repository's own terms: paths from its root."""

    message: bytes
    files: Mapping[str, New | None]


@dataclass(frozen=True, slots=True)
class Made:
    """The ids of the commits, and the modes that their files have now."""

    ids: tuple[str, ...]
    modes: Mapping[str, str]


def commit_all(git: Git, place: Place, commits: Sequence[Prepared], *, author: Author) -> Made:
    """What was made, in order, on top of the branch. Raises VaultUnavailable; then nothing was."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        name = branch(git, place)
        tip = name if is_born(git, place, name) else None
        answer = _import(git, place, _Script(name, tip, author, commits))
        if isinstance(answer, Made):
            return answer
        if not any(sign in answer for sign in _MOVED):
            raise failed("fast-import", answer)
        if time.monotonic() > deadline:
            raise VaultUnavailable(
                f"another program kept changing or locking {name} for {PATIENCE_S:g} seconds",
                reason="repository_busy",
                hint="Let it finish and try again. If no git process runs, look for a leftover .lock file in .git.",
            )
        time.sleep(_PAUSE_S)


@dataclass(frozen=True, slots=True)
class _Script:
    branch: str
    tip: str | None
    author: Author
    commits: Sequence[Prepared]


def _import(git: Git, place: Place, script: _Script) -> Made | str:
    """What was made, or what git said when it made nothing."""
    running = git.start("fast-import", "--quiet", "--done", "--date-format=raw", settings=(_UNPACKED,))
    watch = threading.Timer(LIMIT_S, running.terminate)
    watch.start()
    made = None
    try:
        with suppress(BrokenPipeError):  # git gave up in the middle: it says why
            made = _speak(running, script)
        answer = finish(running, doing="fast-import")
    finally:
        watch.cancel()
        stop(running)
        (place.git_dir / f"fast_import_crash_{running.pid}").unlink(missing_ok=True)
    return made if answer.ok and made else answer.err or "fast-import ended early"


def _speak(running: "subprocess.Popen[bytes]", script: _Script) -> Made:
    to, back = running.stdin or _no_pipe(), running.stdout or _no_pipe()
    modes = {}
    for number, commit in enumerate(script.commits, start=1):
        _open_commit(to, script, number)
        removed_first = sorted(commit.files.items(), key=lambda file: file[1] is not None)  # a file can become a folder
        for path, new in removed_first:
            modes[path] = _change(to, back, path, new)
    for number in range(1, len(script.commits) + 1):
        to.write(b"get-mark :%d\n" % number)
    to.write(b"done\n")
    to.flush()
    ids = tuple(os.fsdecode(back.readline()).strip() for _ in script.commits)
    return Made(ids, modes)


def _open_commit(to: IO[bytes], script: _Script, number: int) -> None:
    who = script.author.line(time.time())
    message = script.commits[number - 1].message
    to.write(b"commit %s\nmark :%d\n" % (os.fsencode(script.branch), number))
    to.write(b"author %s\ncommitter %s\ndata %d\n%s\n" % (who, who, len(message), message))
    if number == 1 and script.tip:
        to.write(b"from %s^0\n" % os.fsencode(script.tip))


def _change(to: IO[bytes], back: IO[bytes], path: str, new: New | None) -> str:
    """Write or remove the file; the mode that it has now, "" for none."""
    name = _quoted(path)
    to.write(b"ls %s\n" % name)
    to.flush()
    there = os.fsdecode(back.readline()).split(" ", 1)[0]
    if new is None:
        if there != _FOLDER:  # the commit before may have a folder of that name, with notes in it
            to.write(b"D %s\n" % name)
        return ""
    mode = there if there in MODES else new.mode
    if new.stored:
        to.write(b"M %s %s %s\n" % (mode.encode(), new.stored.encode(), name))
    else:
        to.write(b"M %s inline %s\ndata %d\n%s\n" % (mode.encode(), name, len(new.content), new.content))
    return mode


def _quoted(path: str) -> bytes:
    return b'"' + os.fsencode(path).replace(b"\\", b"\\\\").replace(b'"', b'\\"') + b'"'


def message_of(commit: NewCommit) -> bytes:
    """The message with its trailers, each on one line, in a paragraph of their own at the end."""
    trailers = trailer_lines(commit.trailers)
    words = commit.message.replace("\0", "").strip() or "commonplace"
    return f"{words}\n\n{trailers}".strip().encode(errors="replace") + b"\n"


def _tame(text: str) -> str:
    return "".join(char for char in text if char.isprintable() and char not in "<>").strip() or "Commonplace"


def _no_pipe() -> IO[bytes]:
    raise AssertionError("git was started with pipes")
