"""Commits by `git fast-import`, and the index entries of the committed paths.

One process writes blobs, trees, commits and the branch, without an index. The branch is moved only if the new tip
contains the old one, so another program's commit is never lost: when one came in between, ours is made again on top
of it. In the index exactly our paths are set, whatever else is staged, and another program's lock is waited for.
"""

import os
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import IO, Final

from commonplace.errors import VaultUnavailable
from commonplace.vault.git.history import trailer_lines
from commonplace.vault.git.location import FILE_MODES, RepositoryLocation
from commonplace.vault.git.run import TIMEOUT_S, Git, finish, git_failed, stop
from commonplace.vault.git.state import branch, has_commit

BRANCH_WAIT_S = 5.0
"""How long another program may keep moving or locking the branch."""

INDEX_WAIT_S = 5.0
"""How long another program may hold the lock of the index."""

_PAUSE_S: Final = 0.02
_FOLDER_MODE: Final = "040000"
_BRANCH_MOVED: Final = ("does not contain", ".lock': File exists", "but expected", "reference already exists")
_UNPACK_LIMIT: Final = "fastimport.unpackLimit=100"  # objects; more than that stay in a pack


@dataclass(frozen=True, slots=True)
class Author:
    """The author of our commits, whatever is configured."""

    name: str
    email: str

    def line(self, now: float) -> bytes:
        """The author line of a commit, with the time and the zone of this machine."""
        zone = time.strftime("%z", time.localtime(now))
        return f"{_without_brackets(self.name)} <{_without_brackets(self.email)}> {int(now)} {zone}".encode()


@dataclass(frozen=True, slots=True)
class NewCommit:
    """A commit to be made: the bytes of each path, None for a path that is removed."""

    message: str
    trailers: tuple[tuple[str, str], ...]
    files: Mapping[str, bytes | None]


@dataclass(frozen=True, slots=True)
class FileToCommit:
    """A file to be committed: its bytes, or the id of a blob that holds them; its mode if HEAD does not have it."""

    content: bytes
    stored: str | None
    mode: str


@dataclass(frozen=True, slots=True)
class PreparedCommit:
    """A commit in the repository's own terms: paths relative to the root of the working tree."""

    message: bytes
    files: Mapping[str, FileToCommit | None]


@dataclass(frozen=True, slots=True)
class CommitResult:
    """The ids of the new commits, and the modes that their files have now."""

    ids: tuple[str, ...]
    modes: Mapping[str, str]


def commit_all(
    git: Git, location: RepositoryLocation, commits: Sequence[PreparedCommit], *, author: Author
) -> CommitResult:
    """Make the commits, in order, on top of the branch. Raises VaultUnavailable, and then none is made."""
    deadline = time.monotonic() + BRANCH_WAIT_S
    while True:
        name = branch(git, location)
        tip = name if has_commit(git, location, name) else None
        result = _fast_import(git, location, _Script(name, tip, author, commits))
        if isinstance(result, CommitResult):
            return result
        if not any(sign in result for sign in _BRANCH_MOVED):
            raise git_failed("fast-import", result)
        if time.monotonic() > deadline:
            raise VaultUnavailable(
                f"another program kept changing or locking {name} for {BRANCH_WAIT_S:g} seconds",
                reason="repository_busy",
                hint="Let it finish and try again. If no git process runs, look for a leftover .lock file in .git.",
            )
        time.sleep(_PAUSE_S)


def stage(git: Git, location: RepositoryLocation, entries: Mapping[str, str | None]) -> None:
    """Set index entries, each "mode blob-id", or remove those that are None.

    Raises VaultUnavailable(repository_busy) when another program keeps the index locked.
    """
    zeros = "0" * (64 if location.object_format == "sha256" else 40)
    lines = []
    for path, entry in entries.items():
        lines.append(os.fsencode(f"{entry or f'0 {zeros}'}\t{location.inside(path)}") + b"\0")
    _update_index(git, location, b"".join(lines))


def message_of(commit: NewCommit) -> bytes:
    """The message with its trailers, each on one line, in a paragraph of their own at the end."""
    trailers = trailer_lines(commit.trailers)
    text = commit.message.replace("\0", "").strip() or "commonplace"
    return f"{text}\n\n{trailers}".strip().encode(errors="replace") + b"\n"


@dataclass(frozen=True, slots=True)
class _Script:
    branch: str
    tip: str | None
    author: Author
    commits: Sequence[PreparedCommit]


def _fast_import(git: Git, location: RepositoryLocation, script: _Script) -> CommitResult | str:
    """The new commits, or git's error message when it made none."""
    process = git.start("fast-import", "--quiet", "--done", "--date-format=raw", settings=(_UNPACK_LIMIT,))
    watchdog = threading.Timer(TIMEOUT_S, process.terminate)
    watchdog.start()
    commits = None
    try:
        with suppress(BrokenPipeError):  # git exited early: its message says why
            commits = _send(process, script)
        result = finish(process, command="fast-import")
    finally:
        watchdog.cancel()
        stop(process)
        (location.git_dir / f"fast_import_crash_{process.pid}").unlink(missing_ok=True)
    return commits if result.ok and commits else result.stderr or "fast-import ended early"


def _send(process: "subprocess.Popen[bytes]", script: _Script) -> CommitResult:
    stdin, stdout = process.stdin or _no_pipe(), process.stdout or _no_pipe()
    modes = {}
    for number, commit in enumerate(script.commits, start=1):
        _open_commit(stdin, script, number)
        removed_first = sorted(commit.files.items(), key=lambda file: file[1] is not None)  # a file can become a folder
        for path, file in removed_first:
            modes[path] = _send_file(stdin, stdout, path, file)
    for number in range(1, len(script.commits) + 1):
        stdin.write(b"get-mark :%d\n" % number)
    stdin.write(b"done\n")
    stdin.flush()
    ids = tuple(os.fsdecode(stdout.readline()).strip() for _ in script.commits)
    return CommitResult(ids, modes)


def _open_commit(stdin: IO[bytes], script: _Script, number: int) -> None:
    author = script.author.line(time.time())
    message = script.commits[number - 1].message
    stdin.write(b"commit %s\nmark :%d\n" % (os.fsencode(script.branch), number))
    stdin.write(b"author %s\ncommitter %s\ndata %d\n%s\n" % (author, author, len(message), message))
    if number == 1 and script.tip:
        stdin.write(b"from %s^0\n" % os.fsencode(script.tip))


def _send_file(stdin: IO[bytes], stdout: IO[bytes], path: str, file: FileToCommit | None) -> str:
    """Write or remove the file; returns the mode it has now, "" for a removed one."""
    name = _quote(path)
    stdin.write(b"ls %s\n" % name)
    stdin.flush()
    previous_mode = os.fsdecode(stdout.readline()).split(" ", 1)[0]
    if file is None:
        if previous_mode != _FOLDER_MODE:  # the previous commit may have a folder of that name, with notes in it
            stdin.write(b"D %s\n" % name)
        return ""
    mode = previous_mode if previous_mode in FILE_MODES else file.mode
    if file.stored:
        stdin.write(b"M %s %s %s\n" % (mode.encode(), file.stored.encode(), name))
    else:
        stdin.write(b"M %s inline %s\ndata %d\n%s\n" % (mode.encode(), name, len(file.content), file.content))
    return mode


def _update_index(git: Git, location: RepositoryLocation, stdin: bytes) -> None:
    deadline = time.monotonic() + INDEX_WAIT_S
    while True:
        result = git.try_run("update-index", "-z", "--index-info", stdin=stdin)
        if result.ok:
            return
        if "index.lock': File exists" not in result.stderr:
            raise git_failed("update-index", result.stderr)
        if time.monotonic() > deadline:
            raise VaultUnavailable(
                f"another program has held the index of the vault's repository for {INDEX_WAIT_S:g} seconds",
                path=str(location.git_dir / "index.lock"),
                reason="repository_busy",
                hint="Let it finish and try again. Only if no git process runs, remove this file.",
            )
        time.sleep(_PAUSE_S)


def _quote(path: str) -> bytes:
    return b'"' + os.fsencode(path).replace(b"\\", b"\\\\").replace(b'"', b'\\"') + b'"'


def _without_brackets(text: str) -> str:
    return "".join(char for char in text if char.isprintable() and char not in "<>").strip() or "Commonplace"


def _no_pipe() -> IO[bytes]:
    raise AssertionError("git was started with pipes")
