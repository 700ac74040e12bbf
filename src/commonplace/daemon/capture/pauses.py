"""What a person does not want recorded: nothing at all for a while, a project, a conversation.

The list is a private file, read by the daemon and changed by `commonplace pause` and `resume`, whether the daemon runs
or not. A project can also opt out itself, by a file in its folder. While the list cannot be read, nothing is recorded.
"""

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, Literal, get_args

from commonplace.daemon.service.state_files import file_lock, user_daemon_files, write_private_file
from commonplace.errors import CommonplaceError, VaultUnavailable
from commonplace.model.diagnostics import Finding
from commonplace.model.moment import moment_text, parse_moment

PauseKind = Literal["all", "project", "conversation"]

FILE: Final = "choices.json"
OPT_OUT: Final = ".commonplace-off"
_VERSION: Final = 1
_RETENTION: Final = timedelta(days=90)  # after a pause, in which a transcript may still be read again from its start
_END_OF_TIME: Final = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Pause:
    """A period in which nothing is recorded; `what` is a folder, or a host's id of a conversation.

    `until` is empty while the pause lasts.
    """

    kind: PauseKind
    what: str
    since: str
    until: str = ""

    def __str__(self) -> str:
        subject = "everything" if self.kind == "all" else f"{self.kind} {self.what}"
        return f"{subject}, since {self.since}"

    def covers(self, session_id: str, folders: Iterable[str]) -> bool:
        """True if it applies to a conversation that was held in these folders."""
        if self.kind == "project":
            return any(self.what in (folder, *map(str, Path(folder).parents)) for folder in folders)
        return self.kind == "all" or self.what == session_id


class Pauses:
    """The list on disk. Its methods may be called from several threads."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / FILE
        self._identity: tuple[int, int, int] | None = None
        self._pauses: tuple[Pause, ...] = ()

    def pause(self, kind: PauseKind, what: str = "", *, now: datetime) -> bool:
        """Stop recording it; False if it was paused already. Raises VaultUnavailable."""
        with self._changing(now) as pauses:
            if any((each.kind, each.what, each.until) == (kind, what, "") for each in pauses):
                return False
            pauses.append(Pause(kind, what, moment_text(now)))
            return True

    def resume(self, kind: PauseKind, what: str = "", *, now: datetime) -> bool:
        """Record it again from now on; False if it was not paused. Raises VaultUnavailable."""
        until = moment_text(now + timedelta(seconds=1))  # the current second still belongs to the pause
        with self._changing(now) as pauses:
            ended = [(kind, what, "") == (each.kind, each.what, each.until) for each in pauses]
            pauses[:] = [replace(each, until=until) if ends else each for each, ends in zip(pauses, ended, strict=True)]
            return any(ended)

    def current(self) -> tuple[Pause, ...]:
        """What is paused now. Raises VaultUnavailable(damaged)."""
        return tuple(each for each in self._read() if not each.until)

    def lines(self) -> list[str]:
        """What is paused now and since when, one line each; why the list cannot be used, if it cannot."""
        try:
            return [str(each) for each in self.current()]
        except CommonplaceError as error:
            return [error.message]

    def finding(self) -> Finding:
        """What is paused, for `doctor`; a pause is no fault, but a list that cannot be used is one."""
        try:
            paused = self.current()
        except CommonplaceError as error:
            said, remedy = error.message, error.hint or ""
            return Finding("recording", ok=False, said=said, remedy=remedy, path=error.path)
        said = "; ".join(f"paused: {each}" for each in paused)
        return Finding("recording", ok=True, said=said or "no conversation is paused")

    def why_not(self, *, session_id: str, folders: Sequence[str]) -> str:
        """Why that conversation is not recorded now, in a few words; empty if it is."""
        real = _real_paths(folders)
        try:
            pause = next((each for each in self.current() if each.covers(session_id, real)), None)
        except CommonplaceError as error:
            return error.message
        if pause:
            return f"paused: {pause}"
        opt_out = next((file for folder in (*folders, *real) if (file := opt_out_file(folder))), None)
        return f"opted out by {opt_out}" if opt_out else ""

    def windows(self, *, session_id: str, folders: Sequence[str]) -> tuple[tuple[datetime, datetime], ...]:
        """The periods in which that conversation was not to be recorded. Raises VaultUnavailable(damaged)."""
        real = _real_paths(folders)
        return tuple(
            (parse_moment(each.since), parse_moment(each.until) if each.until else _END_OF_TIME)
            for each in self._read()
            if each.covers(session_id, real)
        )

    def _read(self) -> tuple[Pause, ...]:
        try:
            status = self._file.stat()
            identity = status.st_ino, status.st_size, status.st_mtime_ns
            if identity != self._identity:
                self._pauses, self._identity = _parse(json.loads(self._file.read_bytes())), identity
        except FileNotFoundError:
            self._pauses, self._identity = (), None
        except OSError as error:
            raise self._error(error.strerror or str(error)) from error
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise self._error("its content is not a list of pauses") from error
        return self._pauses

    @contextmanager
    def _changing(self, now: datetime) -> Iterator[list[Pause]]:
        """The pauses, to be changed in place; other programs wait meanwhile. Pauses that ended long ago are dropped."""
        try:
            with file_lock(self._file):
                oldest = now - _RETENTION
                pauses = [each for each in self._read() if not each.until or parse_moment(each.until) > oldest]
                yield pauses
                write_private_file(self._file, {"version": _VERSION, "pauses": [asdict(each) for each in pauses]})
        except OSError as error:
            raise self._error(error.strerror or str(error)) from error

    def _error(self, reason: str) -> CommonplaceError:
        return VaultUnavailable(
            f"the list of pauses cannot be used: {reason}",
            path=str(self._file),
            reason="damaged",
            hint="Nothing is recorded until it can be used: fix its permissions, or remove it and pause again.",
        )


def user_pauses() -> Pauses:
    """The list of the user who runs this program, whether or not the daemon runs; its folder may not exist yet."""
    return Pauses(user_daemon_files().folder)


def opt_out_file(folder: str) -> Path | None:
    """The file with which a project opts out of recording: in the folder, or above it up to the home folder."""
    if not os.path.isabs(folder):
        return None
    home = Path(os.path.expanduser("~"))
    for each in (Path(folder), *Path(folder).parents):
        if os.path.lexists(each / OPT_OUT):
            return each / OPT_OUT
        if each == home:
            break
    return None


def _real_paths(folders: Iterable[str]) -> tuple[str, ...]:
    return tuple(os.path.realpath(folder) for folder in folders if os.path.isabs(folder))


def _parse(values: Any) -> tuple[Pause, ...]:
    """Raises ValueError, KeyError or TypeError for anything but what we write."""
    if values["version"] != _VERSION:
        raise ValueError("another version")
    pauses = tuple(Pause(**fields) for fields in values["pauses"])
    for each in pauses:
        if each.kind not in get_args(PauseKind) or not isinstance(each.what, str):
            raise ValueError("not a pause")
        parse_moment(each.since)
        parse_moment(each.until or each.since)
    return pauses
