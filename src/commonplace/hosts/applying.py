"""Changes files of other programs: whole or not at all, with a copy of what was there, and never over a newer text."""

import difflib
import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from commonplace.errors import CommonplaceError, Conflict, Refused, VaultUnavailable
from commonplace.hosts.ours import SECRET

BACKUP: Final = ".before-commonplace"


@dataclass(frozen=True, slots=True)
class Change:
    """A file as it is and as it shall be, None where it is not there; `is_first` while it holds nothing of ours."""

    path: Path
    before: bytes | None
    after: bytes | None
    mode: int
    mode_before: int | None = None
    is_first: bool = False

    @property
    def is_one(self) -> bool:
        """Whether anything changes."""
        return self.before != self.after or (self.after is not None and self.mode != (self.mode_before or self.mode))


def real_file(path: Path, *, within: Path | None = None) -> Path:
    """The file behind the links. Raises Refused for what is no file of this user's, or leads out of `within`."""
    real = Path(os.path.realpath(path))
    try:
        if within is not None and not real.is_relative_to(Path(os.path.realpath(within))):
            raise _refused(path, f"it leads out of the project, to {real}")
        if path.is_symlink() and not real.exists():
            raise _refused(path, f"it leads to {real}, which is not there")
        found = real.stat()
    except FileNotFoundError:
        return real
    except OSError as error:
        raise disk_said(path, error, doing="read") from error
    if not stat.S_ISREG(found.st_mode):
        raise _refused(path, "it is not a file")
    if found.st_uid != os.getuid():
        raise _refused(path, "it belongs to another user")
    return real


def read_file(path: Path) -> tuple[bytes | None, int | None]:
    """What the file holds, and its mode; None twice where there is none. Raises VaultUnavailable."""
    try:
        return path.read_bytes(), stat.S_IMODE(path.stat().st_mode)
    except FileNotFoundError:
        return None, None
    except OSError as error:
        raise disk_said(path, error, doing="read") from error


def missing_folders(path: Path) -> tuple[Path, ...]:
    """The folders above the file that are not there, the deepest first."""
    return tuple(folder for folder in path.parents if not folder.exists())


def apply_change(change: Change) -> None:
    """Let the file say it, in one step. Raises Conflict when someone changed it meanwhile, VaultUnavailable."""
    path, half_made = change.path, change.path.with_name(f".{change.path.name}.commonplace-{os.getpid()}")
    try:
        if change.after is None:
            _check_unchanged(change)
            path.unlink(missing_ok=True)
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        _write(half_made, change.after, mode=change.mode)
        _check_unchanged(change)
        half_made.replace(path)
    except OSError as error:
        raise disk_said(path, error, doing="changed") from error
    finally:
        half_made.unlink(missing_ok=True)


def back_up(change: Change) -> Path | None:
    """Copy a file that holds nothing of ours beside itself, unless there is a copy; the copy that was made now."""
    copy = backup_of(change.path)
    if change.before is None or not change.is_first or os.path.lexists(copy):
        return None
    try:
        _write(copy, change.before, mode=0o600)
    except OSError as error:
        raise disk_said(copy, error, doing="written") from error
    return copy


def backup_of(path: Path) -> Path:
    """Where the copy of the file lies."""
    return path.with_name(path.name + BACKUP)


def remove_folders(folders: Iterable[Path]) -> None:
    """Remove those of the folders that are empty, the deepest first."""
    for folder in sorted(set(folders), key=lambda each: -len(each.parts)):
        try:
            folder.rmdir()
        except OSError:
            continue  # someone put something in, or removed it already


def diff_of(change: Change) -> str:
    """The change as a unified diff, without our tokens; empty where the text stays."""
    old, new = (_lines(text) for text in (change.before, change.after))
    names = ("/dev/null" if change.before is None else f"{change.path}", f"{change.path}")
    if change.after is None:
        names = (f"{change.path}", "/dev/null")
    lines = difflib.unified_diff(old, new, *names)
    whole = (line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)
    return SECRET.sub("cpl_***", "".join(whole))


def disk_said(path: Path, error: OSError, *, doing: str) -> CommonplaceError:
    """What the disk answered, as an error of ours."""
    message = f"the file cannot be {doing}: {error.strerror or error}"
    return VaultUnavailable(message, path=str(path), hint="Look at its permissions and at the disk.")


def _lines(content: bytes | None) -> list[str]:
    return (content or b"").decode("utf-8", "replace").splitlines(keepends=True)


def _write(path: Path, content: bytes, *, mode: int) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    with open(descriptor, "wb") as file:
        os.fchmod(descriptor, mode)
        file.write(content)
        file.flush()
        os.fsync(descriptor)


def _check_unchanged(change: Change) -> None:
    if read_file(change.path)[0] != change.before:
        raise Conflict(
            "another program has just changed the file", path=str(change.path), hint="Run the command again."
        )


def _refused(path: Path, why: str) -> Refused:
    return Refused(f"the file is not touched: {why}", path=str(path), hint="Put a plain file of your own there.")
