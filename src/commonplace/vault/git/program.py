"""The `git` program: how it is called, ended, and how what it says becomes an error of ours."""

import os
import re
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from commonplace.errors import VaultUnavailable
from commonplace.vault.git.environment import SETTINGS, environment

LIMIT_S = 120.0
"""No call of ours takes this long on a disk that works."""

_FIRST_WITH_FSYNC = (2, 36)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a call came to."""

    code: int
    out: bytes
    err: str

    @property
    def ok(self) -> bool:
        """Whether git was content."""
        return self.code == 0

    @property
    def fields(self) -> list[str]:
        """The output of a call with `-z`."""
        return os.fsdecode(self.out).split("\0")[:-1]


@dataclass(frozen=True, slots=True)
class Call:
    """One of several questions that are asked at once."""

    arguments: tuple[str, ...]
    given: bytes = b""
    content_with: tuple[int, ...] = (0,)  # the exit statuses that are an answer


class Git:
    """The program, run in one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def ask(self, *arguments: str, given: bytes = b"", settings: Iterable[str] = (), limit: float = LIMIT_S) -> Answer:
        """What git says, whatever it says. Raises VaultUnavailable when git is missing or does not come back."""
        return finish(self.start(*arguments, settings=settings), given=given, doing=arguments[0], limit=limit)

    def tell(self, *arguments: str, given: bytes = b"", settings: Iterable[str] = (), limit: float = LIMIT_S) -> Answer:
        """What git says when it is content. Raises VaultUnavailable with its words otherwise."""
        answer = self.ask(*arguments, given=given, settings=settings, limit=limit)
        if not answer.ok:
            raise failed(arguments[0], answer.err)
        return answer

    def tell_all(self, *calls: Call) -> list[Answer]:
        """The answers to calls that run side by side. Raises VaultUnavailable when git is not content with one."""
        running: list[subprocess.Popen[bytes]] = []
        try:
            running.extend(self.start(*call.arguments) for call in calls)
            answers = [
                finish(each, given=call.given, doing=call.arguments[0])
                for call, each in zip(calls, running, strict=True)
            ]
        finally:
            for each in running:
                stop(each)
        for call, answer in zip(calls, answers, strict=True):
            if answer.code not in call.content_with:
                raise failed(call.arguments[0], answer.err)
        return answers

    def start(self, *arguments: str, settings: Iterable[str] = ()) -> "subprocess.Popen[bytes]":
        """The running call, with pipes to and from it. Raises VaultUnavailable when git is missing."""
        return _spawn([*_command(fsync_settings(), settings), *arguments], self.folder)


def finish(running: "subprocess.Popen[bytes]", *, given: bytes = b"", doing: str, limit: float = LIMIT_S) -> Answer:
    """What a running call came to. Raises VaultUnavailable when it does not come back."""
    try:
        out, err = running.communicate(given, timeout=limit)
    except subprocess.TimeoutExpired as error:
        raise VaultUnavailable(
            f"git {doing} did not finish within {limit:g} seconds", hint="Check that the disk works, then try again."
        ) from error
    finally:
        stop(running)
    return Answer(running.returncode, out, err.decode(errors="replace"))


def stop(running: "subprocess.Popen[bytes]") -> None:
    """End a call that still runs, with the signal that lets git remove its lock files; close its pipes."""
    if running.poll() is None:
        running.terminate()
        try:
            running.wait(timeout=5)
        except subprocess.TimeoutExpired:
            running.kill()
            running.wait()
    for pipe in (running.stdin, running.stdout, running.stderr):
        if pipe and not pipe.closed:
            _close(pipe)


def literal(path: str) -> str:
    """A path as an argument that git takes for this one file, whatever characters are in it."""
    return f":(literal){path}"


def failed(doing: str, said: str) -> VaultUnavailable:
    """The error that tells what git said."""
    lines = [line for line in said.splitlines() if line.strip()]
    words = next((line for line in lines if line.startswith(("fatal:", "error:"))), lines[0] if lines else "")
    if "dubious ownership" in said or "unsafe repository" in said:
        return VaultUnavailable(
            "the vault's repository belongs to another user, and git refuses to use it",
            hint=f"If you trust it, run: {_trusting(said)}.",
        )
    return VaultUnavailable(
        f"git {doing} failed: {words.removeprefix('fatal: ').removeprefix('error: ') or 'it said nothing'}",
        hint="Run 'git status' and 'git fsck' in the vault, and look at the disk's space and permissions.",
    )


@lru_cache(maxsize=1)
def version() -> tuple[int, ...]:
    """The first two numbers of git's version."""
    answer = finish(_spawn(["git", "version"], Path("/")), doing="version")
    return tuple(int(number) for number in re.findall(r"\d+", answer.out.decode(errors="replace"))[:2])


def fsync_settings() -> tuple[str, ...]:
    """What makes this git flush to the disk all that we acknowledge."""
    if version() >= _FIRST_WITH_FSYNC:
        return ("core.fsync=committed,reference,index",)
    return ("core.fsyncObjectFiles=true",)


def _command(*settings: Iterable[str]) -> list[str]:
    command = ["git", "--no-pager"]
    for group in (SETTINGS, *settings):
        for setting in group:
            command += ["-c", setting]
    return command


def _spawn(command: Sequence[str], folder: Path) -> "subprocess.Popen[bytes]":
    pipe = subprocess.PIPE
    try:
        return subprocess.Popen(command, cwd=folder, env=environment(), stdin=pipe, stdout=pipe, stderr=pipe)
    except FileNotFoundError as error:
        if not folder.is_dir():
            raise VaultUnavailable(f"there is no folder {folder}", hint="Look whether the vault was moved.") from error
        raise VaultUnavailable(
            "git is not installed, or not on the PATH", hint="Install git 2.30 or newer and try again."
        ) from error
    except OSError as error:
        raise VaultUnavailable(
            f"git could not be started: {error.strerror}", hint="Check that 'git version' runs in a terminal."
        ) from error


def _trusting(said: str) -> str:
    found = re.search(r"git config --global --add safe\.directory .+", said)
    return found.group().strip() if found else "git config --global --add safe.directory <the vault>"


def _close(pipe: object) -> None:
    try:
        pipe.close()  # type: ignore[attr-defined]
    except BrokenPipeError:
        return
