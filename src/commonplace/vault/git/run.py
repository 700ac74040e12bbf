"""The git process: how it is started and stopped, what it may not do, and how its failures become our errors.

Our calls run no hook, no filter, no signing program, no fsmonitor, no pager and no network transport, and never prompt,
whatever a repository, a person or a caller has configured: every call but those that find the repository and read its
settings runs under a configuration of ours (`isolation`). Variables that a caller's own git set for its hook do not
divert us, and git is never looked up in the vault.
"""

import os
import re
import stat
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final, Protocol

from commonplace.errors import VaultUnavailable

TIMEOUT_S: Final = 120.0
"""No call of ours takes this long on a working disk."""

SETTINGS: Final = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.quotepath=off",
    "core.safecrlf=false",
    "commit.gpgsign=false",
    "maintenance.auto=false",
)
"""The settings of every call."""

_INHERITED_VARIABLES: Final = frozenset(
    {
        "GIT_CEILING_DIRECTORIES",
        "GIT_CONFIG_GLOBAL",
        "GIT_CONFIG_NOSYSTEM",
        "GIT_CONFIG_SYSTEM",
        "GIT_DISCOVERY_ACROSS_FILESYSTEM",
        "GIT_EXEC_PATH",
    }
)
_UNISOLATED_COMMANDS: Final = frozenset({"config", "init"})
"""The commands that run under the repository's own configuration, as `discover` does: they read it or create one.
None of them runs a program that it names, which tests/integration/vault_git/test_git_hostile.py holds."""

_WRITING_COMMANDS: Final = frozenset(
    {"commit", "fast-import", "maintenance", "read-tree", "update-index", "update-ref"}
)
"""The commands that change the repository; all others create nothing in it."""

_NO_INDEX: Final = "no-index"  # in a view, which has no file of that name
_FIRST_WITH_FSYNC: Final = (2, 36)


@dataclass(frozen=True, slots=True)
class GitResult:
    """The exit status and output of a finished call."""

    code: int
    stdout: bytes
    stderr: str

    @property
    def ok(self) -> bool:
        """True if git exited with status 0."""
        return self.code == 0

    @property
    def fields(self) -> list[str]:
        """The NUL-terminated fields of a call with `-z`."""
        return os.fsdecode(self.stdout).split("\0")[:-1]


@dataclass(frozen=True, slots=True)
class GitCommand:
    """One of several calls that run in parallel."""

    arguments: tuple[str, ...]
    stdin: bytes = b""
    ok_codes: tuple[int, ...] = (0,)  # the exit statuses that count as an answer


class Isolated(Protocol):
    """Says under which variables a call runs, so that nothing of the repository's configuration counts."""

    def variables(self, inherited: Mapping[str, str], *, writes: bool) -> dict[str, str]:
        """The environment of a call that would inherit these variables and may write. Raises VaultUnavailable."""
        ...


class Git:
    """The git program, run in one folder, on the repository that git finds there or on the one in `git_dir`.

    With `trusts_repository` calls run under the repository's own configuration, which lets its filters run.
    """

    def __init__(self, folder: Path, *, git_dir: Path | None = None, trusts_repository: bool = False) -> None:
        self.folder = folder
        self.git_dir = git_dir
        self._trusts_repository = trusts_repository
        self._isolation: Isolated | None = None
        self.index_file: Path | None = None

    def with_index(self, file: Path) -> "Git":
        """The same git, whose calls use this file for the index of the repository."""
        other = copy(self)
        other.index_file = file
        return other

    def without_index(self) -> "Git":
        """The same git, whose calls find no index."""
        return self.with_index(Path(_NO_INDEX))

    def isolate(self, isolation: Isolated) -> None:
        """Run further calls in this environment. `location.find` calls it with one for the repository it found."""
        self._isolation = isolation

    def try_run(
        self, *arguments: str, stdin: bytes = b"", settings: Iterable[str] = (), timeout: float = TIMEOUT_S
    ) -> GitResult:
        """Run git and return the result, whatever its exit status.

        Raises VaultUnavailable when git is missing or does not finish in time.
        """
        return finish(self.start(*arguments, settings=settings), stdin=stdin, command=arguments[0], timeout=timeout)

    def run(
        self, *arguments: str, stdin: bytes = b"", settings: Iterable[str] = (), timeout: float = TIMEOUT_S
    ) -> GitResult:
        """Run git and return the result. Raises VaultUnavailable with git's message when it fails."""
        result = self.try_run(*arguments, stdin=stdin, settings=settings, timeout=timeout)
        if not result.ok:
            raise git_failed(arguments[0], result.stderr)
        return result

    def run_all(self, *commands: GitCommand) -> list[GitResult]:
        """Run the commands in parallel and return their results. Raises VaultUnavailable when one fails."""
        running: list[subprocess.Popen[bytes]] = []
        try:
            running.extend(self.start(*command.arguments) for command in commands)
            results = [
                finish(process, stdin=command.stdin, command=command.arguments[0])
                for command, process in zip(commands, running, strict=True)
            ]
        finally:
            for process in running:
                stop(process)
        for command, result in zip(commands, results, strict=True):
            if result.code not in command.ok_codes:
                raise git_failed(command.arguments[0], result.stderr)
        return results

    def start(self, *arguments: str, settings: Iterable[str] = ()) -> "subprocess.Popen[bytes]":
        """Start git with pipes to and from it. Raises VaultUnavailable when git or the repository is missing."""
        if self._trusts_repository or arguments[0] in _UNISOLATED_COMMANDS:
            return self._start_unisolated(*arguments, settings=settings)
        variables = self._isolated_environment(writes=arguments[0] in _WRITING_COMMANDS)
        return _spawn([*_command_line(settings), *arguments], self.folder, variables)

    def discover(self, *questions: str) -> GitResult:
        """The answer of `rev-parse` to questions about where the repository is; it reads no object."""
        return finish(self._start_unisolated("rev-parse", *questions), command="rev-parse")

    def _start_unisolated(self, *arguments: str, settings: Iterable[str] = ()) -> "subprocess.Popen[bytes]":
        place = [f"--git-dir={self.git_dir}", f"--work-tree={self.folder}"] if self.git_dir else []
        return _spawn([*_command_line(settings), *place, *arguments], self.folder, environment())

    def _isolated_environment(self, *, writes: bool) -> dict[str, str]:
        if self._isolation is None:
            raise AssertionError("find the repository before git runs in it")
        variables = self._isolation.variables(environment(), writes=writes)
        # a relative name is one in the folder of ours that is git's home: the repository must not decide what is there
        index = {"GIT_INDEX_FILE": os.path.join(variables["HOME"], self.index_file)} if self.index_file else {}
        return variables | index


def finish(
    process: "subprocess.Popen[bytes]", *, stdin: bytes = b"", command: str, timeout: float = TIMEOUT_S
) -> GitResult:
    """Wait for a started process and return its result. Raises VaultUnavailable when it does not finish in time."""
    try:
        stdout, stderr = process.communicate(stdin, timeout=timeout)
    except subprocess.TimeoutExpired as error:
        raise VaultUnavailable(
            f"git {command} did not finish within {timeout:g} seconds",
            hint="Check that the disk works, then try again.",
        ) from error
    finally:
        stop(process)
    return GitResult(process.returncode, stdout, stderr.decode(errors="replace"))


def stop(process: "subprocess.Popen[bytes]") -> None:
    """End a process that still runs, with the signal that lets git remove its lock files, and close its pipes."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe and not pipe.closed:
            _close(pipe)


def literal_pathspec(path: str) -> str:
    """The path as an argument that matches this one file, whatever characters it contains."""
    return f":(literal){path}"


def git_failed(command: str, stderr: str) -> VaultUnavailable:
    """The error for a git command that failed, with git's own message."""
    lines = [line for line in stderr.splitlines() if line.strip()]
    message = next((line for line in lines if line.startswith(("fatal:", "error:"))), lines[0] if lines else "")
    if "dubious ownership" in stderr or "unsafe repository" in stderr:
        return VaultUnavailable(
            "the vault's repository belongs to another user, and git refuses to use it",
            hint=f"If you trust it, run: {_trust_command(stderr)}.",
        )
    return VaultUnavailable(
        f"git {command} failed: {message.removeprefix('fatal: ').removeprefix('error: ') or 'no error message'}",
        hint="Run 'git status' and 'git fsck' in the vault, and check the disk's free space and permissions.",
    )


def version() -> tuple[int, ...]:
    """The first two numbers of git's version. Raises VaultUnavailable when git is missing."""
    return _version_of(_program(os.environ.get("PATH", os.defpath)))


def fsync_settings() -> tuple[str, ...]:
    """The settings that make this git fsync everything we acknowledge."""
    if version() >= _FIRST_WITH_FSYNC:
        return ("core.fsync=committed,reference,index",)
    return ("core.fsyncObjectFiles=true",)


def environment() -> dict[str, str]:
    """The environment variables of a call, before those that lead it to the repository."""
    inherited = {
        name: value for name, value in os.environ.items() if not name.startswith("GIT_") or name in _INHERITED_VARIABLES
    }
    return inherited | {
        "PATH": _absolute_folders(os.environ.get("PATH", os.defpath)),
        "LC_ALL": "C",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_ALLOW_PROTOCOL": "",  # no transport at all: an object missing from a partial clone is not fetched
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_ASKPASS": "true",
        "GIT_EDITOR": "true",
    }


def _program(search_path: str) -> str:
    """The git of that PATH as an absolute path. Raises VaultUnavailable when there is none."""
    for folder in _absolute_folders(search_path).split(os.pathsep):
        program = os.path.join(folder, "git")
        if _is_program(program):
            return program
    raise VaultUnavailable("git is not installed or not on the PATH", hint="Install git 2.30 or newer and try again.")


def _is_program(file: str) -> bool:
    try:
        mode = os.stat(file).st_mode
    except OSError:
        return False
    return stat.S_ISREG(mode) and mode & 0o111 != 0


@lru_cache(maxsize=8)
def _version_of(program: str) -> tuple[int, ...]:
    result = finish(_spawn([program, "version"], Path("/"), environment()), command="version")
    return tuple(int(number) for number in re.findall(r"\d+", result.stdout.decode(errors="replace"))[:2])


def _absolute_folders(search_path: str) -> str:
    """The PATH without relative folders: git runs in the vault, where they would lead into it."""
    return os.pathsep.join(folder for folder in search_path.split(os.pathsep) if os.path.isabs(folder)) or os.defpath


def _command_line(settings: Iterable[str]) -> list[str]:
    command = [_program(os.environ.get("PATH", os.defpath)), "--no-pager"]
    for group in (SETTINGS, fsync_settings(), settings):
        for setting in group:
            command += ["-c", setting]
    return command


def _spawn(command: Sequence[str], folder: Path, variables: Mapping[str, str]) -> "subprocess.Popen[bytes]":
    pipe = subprocess.PIPE
    try:
        return subprocess.Popen(command, cwd=folder, env=variables, stdin=pipe, stdout=pipe, stderr=pipe)
    except OSError as error:
        if not folder.is_dir():
            raise VaultUnavailable(f"no such folder: {folder}", hint="Check whether the vault was moved.") from error
        raise VaultUnavailable(
            f"git could not be started: {error.strerror}", hint="Check that 'git version' runs in a terminal."
        ) from error


def _trust_command(stderr: str) -> str:
    suggestion = re.search(r"git config --global --add safe\.directory .+", stderr)
    return suggestion.group().strip() if suggestion else "git config --global --add safe.directory <the vault>"


def _close(pipe: object) -> None:
    try:
        pipe.close()  # type: ignore[attr-defined]
    except BrokenPipeError:
        return
