"""What SQLite says, in our words: no exception of apsw leaves this room."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import apsw

from commonplace.errors import VaultUnavailable

_MEND: Final = (
    "Keep a copy of {name} and move it away with the files {name}-wal and {name}-shm beside it; "
    "a new one is made, and its audit is recovered from the vault's commits."
)
_WHAT_AND_HINT: Final[dict[type[Exception], tuple[str, str]]] = {
    apsw.CorruptError: ("is damaged", _MEND),
    apsw.NotADBError: ("is not a database", _MEND),
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


@contextmanager
def database_trouble(file: Path) -> Iterator[None]:
    """Turn what SQLite or the disk raises in the block into VaultUnavailable, with what to do about it."""
    try:
        yield
    except (apsw.BusyError, apsw.LockedError) as error:
        raise locked(file) from error
    except apsw.Error as error:
        what, hint = next((_WHAT_AND_HINT[kind] for kind in type(error).__mro__ if kind in _WHAT_AND_HINT), _OTHERWISE)
        raise _unavailable(file, what, said=str(error), hint=hint) from error
    except OSError as error:
        hint = "Look whether its folder is there, and give your user permission for it."
        raise _unavailable(file, "cannot be opened", said=error.strerror or str(error), hint=hint) from error


def locked(file: Path) -> VaultUnavailable:
    """The error for a history that another process kept too long."""
    return VaultUnavailable(
        f"the history {file.name} is locked by another process",
        path=str(file),
        reason="locked",
        hint="Wait until that process has finished and try again; if it hangs, end it.",
    )


def too_new(file: Path, *, steps: int, known: int) -> VaultUnavailable:
    """The error for a history that a newer Commonplace wrote."""
    return VaultUnavailable(
        f"the history {file.name} is of a newer form ({steps}, known here: {known})",
        path=str(file),
        hint="Upgrade Commonplace.",
    )


def _unavailable(file: Path, what: str, *, said: str, hint: str) -> VaultUnavailable:
    return VaultUnavailable(
        f"the history {file.name} {what} ({said})", path=str(file), hint=hint.format(name=file.name)
    )
