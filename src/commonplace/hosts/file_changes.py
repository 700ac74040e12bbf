"""Changes files of other programs: whole or not at all, with a backup of the original, and never over a newer text."""

import difflib
import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from commonplace.errors import CommonplaceError, Conflict, Refused, VaultUnavailable
from commonplace.hosts.host_edits import TOKEN_PATTERN

BACKUP_SUFFIX: Final = ".before-commonplace"


@dataclass(frozen=True, slots=True)
class FileChange:
    """A file before and after, None if it does not exist; `is_first` while it holds nothing of ours.

    `is_foreign` if a person's own file or link lies where a file of ours would, or ours was changed: it stays as it is.
    """

    path: Path
    before: bytes | None
    after: bytes | None
    mode: int
    mode_before: int | None = None
    is_first: bool = False
    is_foreign: bool = False

    @property
    def has_effect(self) -> bool:
        """True if the content or the mode changes."""
        return self.before != self.after or (self.after is not None and self.mode != (self.mode_before or self.mode))


def resolve_file(path: Path, *, within: Path | None = None) -> Path:
    """The file behind symbolic links; it need not exist.

    Raises Refused if it is not a regular file of this user, or lies outside of `within` or behind a link to nowhere;
    VaultUnavailable.
    """
    real = Path(os.path.realpath(path))
    try:
        if within is not None and not real.is_relative_to(Path(os.path.realpath(within))):
            raise _refused(path, f"it is a link out of the project, to {real}")
        if link := next((each for each in (path, *path.parents) if each.is_symlink() and not each.exists()), None):
            said = "it" if link == path else f"its folder {link}"
            raise _refused(path, f"{said} links to {os.path.realpath(link)}, which does not exist")
        status = real.stat()
    except FileNotFoundError:
        return real
    except OSError as error:
        raise disk_error(path, error, doing="read") from error
    if not stat.S_ISREG(status.st_mode):
        raise _refused(path, "it is not a regular file")
    if status.st_uid != os.getuid():
        raise _refused(path, "it belongs to another user")
    return real


def read_file(path: Path) -> tuple[bytes | None, int | None]:
    """The content and the mode of a file; None twice if it does not exist. Raises VaultUnavailable."""
    try:
        return path.read_bytes(), stat.S_IMODE(path.stat().st_mode)
    except FileNotFoundError:
        return None, None
    except OSError as error:
        raise disk_error(path, error, doing="read") from error


def missing_folders(path: Path) -> tuple[Path, ...]:
    """The folders above the file that do not exist, the deepest first."""
    return tuple(folder for folder in path.parents if not folder.exists())


def apply_change(change: FileChange) -> None:
    """Write the change atomically. Raises Conflict if the file was changed meanwhile, VaultUnavailable."""
    path, temporary = change.path, change.path.with_name(f".{change.path.name}.commonplace-{os.getpid()}")
    try:
        if change.after is None:
            _check_unchanged(change)
            path.unlink(missing_ok=True)
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        _write(temporary, change.after, mode=change.mode)
        _check_unchanged(change)
        temporary.replace(path)
    except OSError as error:
        raise disk_error(path, error, doing="changed") from error
    finally:
        temporary.unlink(missing_ok=True)


def back_up(change: FileChange) -> Path | None:
    """Copy a file that holds nothing of ours, unless a backup exists; the new backup. Raises VaultUnavailable."""
    backup = backup_path(change.path)
    if change.before is None or not change.is_first or os.path.lexists(backup):
        return None
    try:
        _write(backup, change.before, mode=0o600)
    except OSError as error:
        raise disk_error(backup, error, doing="written") from error
    return backup


def backup_path(path: Path) -> Path:
    """The path of the file's backup, next to the file."""
    return path.with_name(path.name + BACKUP_SUFFIX)


def remove_empty_folders(folders: Iterable[Path]) -> None:
    """Remove those of the folders that are empty, the deepest first."""
    for folder in sorted(set(folders), key=lambda each: -len(each.parts)):
        try:
            folder.rmdir()
        except OSError:
            continue  # not empty, or removed already


def unified_diff(change: FileChange) -> str:
    """The change as a unified diff, with our tokens masked; empty if the text stays the same."""
    old, new = (_lines(text) for text in (change.before, change.after))
    names = ("/dev/null" if change.before is None else f"{change.path}", f"{change.path}")
    if change.after is None:
        names = (f"{change.path}", "/dev/null")
    lines = difflib.unified_diff(old, new, *names)
    complete = (line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)
    return TOKEN_PATTERN.sub("cpl_***", "".join(complete))


def disk_error(path: Path, error: OSError, *, doing: str) -> CommonplaceError:
    """The disk's error as one of ours; `doing` completes "the file cannot be ..."."""
    message = f"the file cannot be {doing}: {error.strerror or error}"
    return VaultUnavailable(message, path=str(path), hint="Check its permissions and the disk.")


def _lines(content: bytes | None) -> list[str]:
    return (content or b"").decode("utf-8", "replace").splitlines(keepends=True)


def _write(path: Path, content: bytes, *, mode: int) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    with open(descriptor, "wb") as file:
        os.fchmod(descriptor, mode)
        file.write(content)
        file.flush()
        os.fsync(descriptor)


def _check_unchanged(change: FileChange) -> None:
    if read_file(change.path)[0] != change.before:
        message = "another program has just changed the file"
        raise Conflict(message, path=str(change.path), hint="Run the command again.")


def _refused(path: Path, reason: str) -> Refused:
    return Refused(f"the file was left alone: {reason}", path=str(path), hint="Put a regular file of your own there.")
