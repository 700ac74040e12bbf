"""What a person does not want to be recorded: nothing at all for a while, a project, a conversation.

The list is a private file, read by the daemon and changed by `commonplace pause` and `resume`, whether the daemon runs
or not. A project can also say it itself, by a file in its folder. Where the list cannot be read, nothing is recorded.
"""

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, Literal, get_args

from commonplace.daemon.private_files import turn_at, write_privately
from commonplace.errors import CommonplaceError, VaultUnavailable
from commonplace.model.moment import moment_in, moment_text

Kind = Literal["all", "project", "conversation"]

FILE: Final = "choices.json"
OPT_OUT: Final = ".commonplace-off"
_VERSION: Final = 1
_KEPT: Final = timedelta(days=90)  # after a pause, in which a transcript may still be read again from its beginning
_END_OF_TIME: Final = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Pause:
    """From when to when nothing was recorded, and of what: a folder, or a host's id of a conversation.

    `until` is empty while it goes on.
    """

    kind: Kind
    what: str
    since: str
    until: str = ""

    def __str__(self) -> str:
        named = "everything" if self.kind == "all" else f"{self.kind} {self.what}"
        return f"{named}, since {self.since}"

    def covers(self, session_id: str, folders: Iterable[str]) -> bool:
        """Whether it is about a conversation that was held in these folders."""
        if self.kind == "project":
            return any(self.what in (folder, *map(str, Path(folder).parents)) for folder in folders)
        return self.kind == "all" or self.what == session_id


class Choices:
    """The list as it is on the disk. Its methods may be called from several threads."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / FILE
        self._seen: tuple[int, int, int] | None = None
        self._pauses: tuple[Pause, ...] = ()

    def pause(self, kind: Kind, what: str = "", *, now: datetime) -> bool:
        """Record nothing of it from now on; False where that was so already. Raises VaultUnavailable."""
        with self._changing(now) as pauses:
            if any((each.kind, each.what, each.until) == (kind, what, "") for each in pauses):
                return False
            pauses.append(Pause(kind, what, moment_text(now)))
            return True

    def resume(self, kind: Kind, what: str = "", *, now: datetime) -> bool:
        """Record it again from now on; False where it was not paused. Raises VaultUnavailable."""
        until = moment_text(now + timedelta(seconds=1))  # this second was still paused
        with self._changing(now) as pauses:
            ended = [(kind, what, "") == (each.kind, each.what, each.until) for each in pauses]
            pauses[:] = [replace(each, until=until) if ends else each for each, ends in zip(pauses, ended, strict=True)]
            return any(ended)

    def current(self) -> tuple[Pause, ...]:
        """What is paused now. Raises VaultUnavailable(damaged)."""
        return tuple(each for each in self._read() if not each.until)

    def why_not(self, *, session_id: str, folders: Sequence[str]) -> str:
        """Why nothing of that conversation is recorded now, in a few words; empty where it is."""
        real = _real(folders)
        try:
            paused = next((each for each in self.current() if each.covers(session_id, real)), None)
        except CommonplaceError as error:
            return error.message
        if paused:
            return f"paused: {paused}"
        off = next((file for folder in (*folders, *real) if (file := opted_out(folder))), None)
        return f"{off} is there" if off else ""

    def windows(self, *, session_id: str, folders: Sequence[str]) -> tuple[tuple[datetime, datetime], ...]:
        """When nothing of that conversation was to be recorded. Raises VaultUnavailable(damaged)."""
        about = [each for each in self._read() if each.covers(session_id, _real(folders))]
        return tuple((moment_in(each.since), moment_in(each.until) if each.until else _END_OF_TIME) for each in about)

    def _read(self) -> tuple[Pause, ...]:
        try:
            found = self._file.stat()
            seen = found.st_ino, found.st_size, found.st_mtime_ns
            if seen != self._seen:
                self._pauses, self._seen = _parsed(json.loads(self._file.read_bytes())), seen
        except FileNotFoundError:
            self._pauses, self._seen = (), None
        except OSError as error:
            raise self._trouble(error.strerror or str(error)) from error
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise self._trouble("it does not hold what we wrote") from error
        return self._pauses

    @contextmanager
    def _changing(self, now: datetime) -> Iterator[list[Pause]]:
        """The pauses, to be changed in place; other programs wait meanwhile. Those that ended long ago go."""
        try:
            with turn_at(self._file):
                pauses = [each for each in self._read() if not each.until or moment_in(each.until) > now - _KEPT]
                yield pauses
                write_privately(self._file, {"version": _VERSION, "pauses": [asdict(each) for each in pauses]})
        except OSError as error:
            raise self._trouble(error.strerror or str(error)) from error

    def _trouble(self, why: str) -> CommonplaceError:
        return VaultUnavailable(
            f"the list of what is paused cannot be used: {why}",
            path=str(self._file),
            reason="damaged",
            hint="Nothing is recorded meanwhile. Mend its mode or its disk; or remove it, and pause again.",
        )


def opted_out(folder: str) -> Path | None:
    """The file by which a project says that nothing is recorded in it: in the folder, or above it up to home."""
    if not os.path.isabs(folder):
        return None
    home = Path(os.path.expanduser("~"))
    for each in (Path(folder), *Path(folder).parents):
        if os.path.lexists(each / OPT_OUT):
            return each / OPT_OUT
        if each == home:
            break
    return None


def _real(folders: Iterable[str]) -> tuple[str, ...]:
    return tuple(os.path.realpath(folder) for folder in folders if os.path.isabs(folder))


def _parsed(listed: Any) -> tuple[Pause, ...]:
    """Raises ValueError, KeyError or TypeError for anything but what we wrote."""
    if listed["version"] != _VERSION:
        raise ValueError("another version")
    pauses = tuple(Pause(**fields) for fields in listed["pauses"])
    for each in pauses:
        if each.kind not in get_args(Kind) or not isinstance(each.what, str):
            raise ValueError("a pause of another form")
        moment_in(each.since)
        moment_in(each.until or each.since)
    return pauses
