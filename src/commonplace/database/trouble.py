"""What SQLite says, in our words: no exception of apsw leaves the rooms that use it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import apsw

from commonplace.errors import CommonplaceError, VaultUnavailable

_DAMAGES: Final[dict[type[Exception], str]] = {
    apsw.CorruptError: "is damaged",
    apsw.NotADBError: "is not a database",
    apsw.SQLError: "is not of the form it should have",
}
_WHAT_AND_HINT: Final[dict[type[Exception], tuple[str, str]]] = {
    apsw.ReadOnlyError: ("cannot be written", "Give your user write permission for it and its folder."),
    apsw.PermissionsError: ("cannot be opened", "Give your user read and write permission for it."),
    apsw.CantOpenError: (
        "cannot be opened",
        "Look whether it is a file, and give your user permission for its folder.",
    ),
    apsw.FullError: ("cannot be written: the disk is full", "Free some space and try again."),
    apsw.IOError: ("cannot be read or written", "The disk reports an error: check its health and free space."),
}
_OTHERWISE: Final = ("cannot be used", "Try again; if it stays so, look at the file with `sqlite3`.")


@dataclass(frozen=True, slots=True)
class Wording:
    """How errors speak of a file: what it is, which error says that it is damaged, and what to do then.

    In the hints `{name}` stands for the name of the file; `too_new` is for a file that a newer Commonplace wrote.
    """

    label: str
    damaged: type[CommonplaceError]
    mend: str
    too_new: str


@contextmanager
def database_trouble(file: Path, wording: Wording) -> Iterator[None]:
    """Turn what SQLite or the disk raises in the block into an error of ours, with what to do about it.

    It is for blocks that touch the files of the database alone: an OSError is taken to be about them.
    """
    try:
        with sqlite_trouble(file, wording):
            yield
    except OSError as error:
        said = _message(file, wording, f"cannot be opened ({error.strerror or error})")
        hint = "Look whether its folder is there, and give your user permission for it."
        raise VaultUnavailable(said, path=str(file), hint=hint) from error


@contextmanager
def sqlite_trouble(file: Path, wording: Wording) -> Iterator[None]:
    """Turn what SQLite raises in the block, whoever wrote the block, into an error of ours."""
    try:
        yield
    except (apsw.BusyError, apsw.LockedError) as error:
        raise locked(file, wording) from error
    except tuple(_DAMAGES) as error:
        what = next(_DAMAGES[kind] for kind in type(error).__mro__ if kind in _DAMAGES)
        message, hint = _message(file, wording, f"{what} ({error})"), wording.mend.format(name=file.name)
        raise wording.damaged(message, path=str(file), hint=hint) from error
    except apsw.Error as error:
        what, hint = next((_WHAT_AND_HINT[kind] for kind in type(error).__mro__ if kind in _WHAT_AND_HINT), _OTHERWISE)
        raise VaultUnavailable(_message(file, wording, f"{what} ({error})"), path=str(file), hint=hint) from error


def locked(file: Path, wording: Wording) -> VaultUnavailable:
    """The error for a file that another process kept too long."""
    return VaultUnavailable(
        _message(file, wording, "is locked by another process"),
        path=str(file),
        reason="locked",
        hint="Wait until that process has finished and try again; if it hangs, end it.",
    )


def too_new(file: Path, wording: Wording, *, steps: int, known: int) -> CommonplaceError:
    """The error for a file that a newer Commonplace wrote."""
    said = _message(file, wording, f"is of a newer form ({steps}, known here: {known})")
    return wording.damaged(said, path=str(file), hint=wording.too_new)


def _message(file: Path, wording: Wording, what: str) -> str:
    return f"the {wording.label} {file.name} {what}"
