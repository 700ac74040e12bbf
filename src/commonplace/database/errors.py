"""Errors of SQLite and the disk, translated: no exception of apsw leaves the rooms that use it."""

import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from inspect import CO_GENERATOR
from itertools import dropwhile
from pathlib import Path
from traceback import walk_tb
from typing import Final

import apsw

from commonplace.errors import CommonplaceError, VaultUnavailable

_DAMAGES: Final[dict[type[Exception], str]] = {
    apsw.CorruptError: "is damaged",
    apsw.NotADBError: "is not a database",
    apsw.SQLError: "does not have the expected tables",
}
_MESSAGE_AND_HINT: Final[dict[type[Exception], tuple[str, str]]] = {
    apsw.ReadOnlyError: ("cannot be written", "Give your user write permission for it and its folder."),
    apsw.PermissionsError: ("cannot be opened", "Give your user read and write permission for it."),
    apsw.CantOpenError: (
        "cannot be opened",
        "Check that it is a file, and give your user permission for its folder.",
    ),
    apsw.FullError: ("cannot be written: the disk is full", "Free some space and try again."),
    apsw.IOError: ("cannot be read or written", "The disk reports an error: check its health and free space."),
}
_OF_DAMAGED_ROWS: Final = (LookupError, TypeError, ValueError, OverflowError, MemoryError, zlib.error)
"""What a row that does not have what was written makes of Python's own functions for text, JSON and numbers."""
_OTHER: Final = ("cannot be used", "Try again; if it keeps failing, inspect the file with `sqlite3`.")


@dataclass(frozen=True, slots=True)
class ErrorWording:
    """How errors describe a file: its label, the error to raise if it is damaged, and the hints.

    `mend` is the hint for a damaged file, `too_new` for a file that a newer Commonplace wrote. In `mend`, `{name}`
    stands for the file's name.
    """

    label: str
    damaged: type[CommonplaceError]
    mend: str
    too_new: str = ""


@contextmanager
def translate_errors(file: Path, wording: ErrorWording) -> Iterator[None]:
    """Translate errors of SQLite and the disk that the block raises.

    Only for blocks that touch nothing but the database's files: an OSError is taken to be about them.
    """
    try:
        with translate_sqlite_errors(file, wording):
            yield
    except OSError as error:
        message = _message(file, wording, f"cannot be opened ({error.strerror or error})")
        hint = "Check that its folder exists, and give your user permission for it."
        raise VaultUnavailable(message, path=str(file), hint=hint) from error


@contextmanager
def translate_sqlite_errors(file: Path, wording: ErrorWording) -> Iterator[None]:
    """Translate errors of SQLite that the block raises; the block may run any code."""
    try:
        yield
    except (apsw.BusyError, apsw.LockedError) as error:
        raise locked_error(file, wording) from error
    except tuple(_DAMAGES) as error:
        what = next(_DAMAGES[kind] for kind in type(error).__mro__ if kind in _DAMAGES)
        raise damaged_error(file, wording, f"{what} ({error})") from error
    except apsw.Error as error:
        kinds = (kind for kind in type(error).__mro__ if kind in _MESSAGE_AND_HINT)
        what, hint = next((_MESSAGE_AND_HINT[kind] for kind in kinds), _OTHER)
        raise VaultUnavailable(_message(file, wording, f"{what} ({error})"), path=str(file), hint=hint) from error


@contextmanager
def translate_row_errors(file: Path, wording: ErrorWording, *, room: str) -> Iterator[None]:
    """Translate what code of that package raises in the block because a row does not have what was written.

    SQLite finds damage to its own pages only. Errors of other code that runs in the block are left as they are.
    """
    try:
        yield
    except _OF_DAMAGED_ROWS as error:
        if not _is_raised_by(room, error):
            raise
        raise damaged_error(file, wording, f"is damaged ({error or type(error).__name__})") from error


def _is_raised_by(room: str, error: BaseException) -> bool:
    """True if the last of our own functions that ran was one of that package."""
    frames = [frame for frame, _ in walk_tb(error.__traceback__)]
    inside = dropwhile(lambda frame: frame.f_code.co_flags & CO_GENERATOR, frames)  # the context managers themselves
    names = (str(frame.f_globals.get("__name__", "")) for frame in inside)
    ours = [name for name in names if name.startswith("commonplace.")]
    return bool(ours) and f"{ours[-1]}.".startswith(f"{room}.")


def damaged_error(file: Path, wording: ErrorWording, what: str) -> CommonplaceError:
    """The error for a file that is damaged in that way."""
    return wording.damaged(_message(file, wording, what), path=str(file), hint=wording.mend.format(name=file.name))


def locked_error(file: Path, wording: ErrorWording) -> VaultUnavailable:
    """The error for a file that another process kept locked too long."""
    return VaultUnavailable(
        _message(file, wording, "is locked by another process"),
        path=str(file),
        reason="locked",
        hint="Wait until that process has finished and try again; if it hangs, end it.",
    )


def too_new_error(file: Path, wording: ErrorWording, *, version: int, supported: int) -> CommonplaceError:
    """The error for a file that a newer Commonplace wrote."""
    message = _message(file, wording, f"has a newer schema (version {version}, supported up to {supported})")
    return wording.damaged(message, path=str(file), hint=wording.too_new)


def _message(file: Path, wording: ErrorWording, what: str) -> str:
    return f"the {wording.label} {file.name} {what}"
