"""Files next to a note: the temporary file that will replace it, and the conflict copy kept when two saves met."""

import os
import time
from contextlib import suppress
from typing import NoReturn

from commonplace.errors import Conflict
from commonplace.events import emit
from commonplace.vault.paths import LONGEST_NAME, temporary_name, unfinished_name
from commonplace.vault.syscalls import flush, rename_new
from commonplace.vault.tree import NO_LINKS, FileLocation

_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | NO_LINKS
_DEFAULT_MODE = 0o666  # the system removes the bits of the umask


def new_temporary_name() -> str:
    """A name for a temporary file that no other writer uses."""
    return temporary_name(os.urandom(8).hex())


def write_temporary(folder: int, content: bytes, mode: int | None) -> str:
    """Write the content to a new temporary file, fsync it, and return its name.

    The file has another name until it is complete: after a crash, a file with the final name is whole, and may be a
    person's.
    """
    token = os.urandom(8).hex()
    name, whole = unfinished_name(token), temporary_name(token)
    opened = os.open(name, _NEW_FILE, _DEFAULT_MODE if mode is None else mode & 0o777, dir_fd=folder)
    try:
        if mode is not None:
            os.fchmod(opened, mode & 0o777)
        rest = memoryview(content)
        while rest:
            rest = rest[os.write(opened, rest) :]
        flush(opened)
        os.rename(name, whole, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with suppress(OSError):
            os.unlink(name, dir_fd=folder)
        raise
    finally:
        os.close(opened)
    return whole


def copy_attributes(folder: int, old: str, new: str) -> None:
    """Give the new file the owner, group and extended attributes of the old one.

    Whatever the system forbids is left out: the note itself matters more than its labels.
    """
    with suppress(OSError):
        status = os.stat(old, dir_fd=folder, follow_symlinks=False)
        if (status.st_uid, status.st_gid) != _owner(folder, new):
            os.chown(new, status.st_uid, status.st_gid, dir_fd=folder, follow_symlinks=False)
    if hasattr(os, "listxattr"):
        with suppress(OSError):
            _copy_extended_attributes(folder, old, new)


def keep_conflict_copy(location: FileLocation, temporary: str) -> NoReturn:
    """Rename a file that someone saved meanwhile to a conflict copy, and raise Conflict with its name."""
    name = rename_to_conflict_copy(location, temporary)
    raise Conflict(
        f"{location.path} was saved twice while it was being changed; the other save is kept next to it as {name}",
        path=location.path,
        hint=f"Compare {location.path} with '{name}', keep what you want, and delete the copy.",
    )


def rename_to_conflict_copy(location: FileLocation, temporary: str) -> str:
    """Give a file that is not ours the name of a conflict copy of the note, and return that name."""
    saved = os.stat(temporary, dir_fd=location.folder, follow_symlinks=False).st_mtime
    name = _conflict_name(location.name, time.strftime("%Y-%m-%dT%H%M%SZ", time.gmtime(saved)))
    try:
        rename_new(location.folder, temporary, location.folder, name)
    except FileExistsError:
        name = _conflict_name(location.name, os.urandom(8).hex())
        rename_new(location.folder, temporary, location.folder, name)
    return name


def remove_temporary(location: FileLocation, temporary: str) -> None:
    """Remove a temporary or displaced file; a failure is only logged, because the change itself is already decided."""
    try:
        os.unlink(temporary, dir_fd=location.folder)
    except FileNotFoundError:
        return
    except OSError as error:
        emit("temporary_file_left", level="warning", path=location.path, name=temporary, said=error.strerror)


def _conflict_name(name: str, stamp: str) -> str:
    stem, dot, ending = name.rpartition(".")
    if not stem:
        stem, dot, ending = name, "", ""
    tail = f" (conflict {stamp}){dot}{ending}"
    room = LONGEST_NAME - len(tail.encode())
    return stem.encode()[:room].decode(errors="ignore") + tail


def _owner(folder: int, name: str) -> tuple[int, int]:
    status = os.stat(name, dir_fd=folder, follow_symlinks=False)
    return status.st_uid, status.st_gid


def _copy_extended_attributes(folder: int, old: str, new: str) -> None:
    source = os.open(old, os.O_RDONLY | NO_LINKS, dir_fd=folder)
    try:
        names = os.listxattr(source)
        if names:
            target = os.open(new, os.O_RDONLY | NO_LINKS, dir_fd=folder)
            try:
                for name in names:
                    with suppress(OSError):
                        os.setxattr(target, name, os.getxattr(source, name))
            finally:
                os.close(target)
    finally:
        os.close(source)
