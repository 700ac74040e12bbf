"""Reading one file of an open folder: regular files only, links never followed."""

import errno
import os
import stat
from dataclasses import dataclass

from commonplace.model import Stat
from commonplace.vault.base import ABSENT, Blob, version_of
from commonplace.vault.contract_errors import file_not_found, link_not_followed, not_a_file, too_large_to_read
from commonplace.vault.paths import unfinished_name
from commonplace.vault.syscalls import can_lease
from commonplace.vault.tree import NO_LINKS, FileLocation

_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | NO_LINKS  # opening a pipe must not wait for its writer
_BLOCK_SIZE = 1 << 20
_LINK_ERRORS = (errno.ELOOP, errno.EMLINK)  # the error for a link that is not followed: POSIX, and BSD

_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


@dataclass(frozen=True, slots=True)
class FileSnapshot:
    """A file as it was read: what is needed to compare it and to restore it."""

    blob: Blob
    mode: int


def read_file(location: FileLocation, *, most: int | None = None) -> FileSnapshot:
    """The file at that location. Raises NotFound, and Refused for anything but a regular file of up to `most` bytes."""
    stat_file(location)
    try:
        opened = os.open(location.name, _FLAGS, dir_fd=location.folder)
    except FileNotFoundError as error:
        raise file_not_found(location.path) from error
    except OSError as error:
        if error.errno in _LINK_ERRORS:  # it was not a link a moment ago
            raise link_not_followed(location.path, link=location.path) from error
        raise
    try:
        status = os.fstat(opened)
        _refuse_special(status.st_mode, location.path)
        if most is not None and status.st_size > most:
            raise too_large_to_read(location.path, size=status.st_size, most=most)
        content = _read_all(opened)
    finally:
        os.close(opened)
    file_stat = Stat(location.path, status.st_mtime, len(content))
    return FileSnapshot(Blob(content, version_of(content), file_stat), stat.S_IMODE(status.st_mode))


def stat_file(location: FileLocation) -> Stat:
    """Size and modification time of the file. Raises NotFound, and Refused for anything but a regular file."""
    if location.mode is None:
        raise file_not_found(location.path, twin=location.twin)
    try:
        status = os.stat(location.name, dir_fd=location.folder, follow_symlinks=False)
    except FileNotFoundError as error:
        raise file_not_found(location.path) from error
    _refuse_special(status.st_mode, location.path)
    return Stat(location.path, status.st_mtime, status.st_size)


def version_at(folder: int, name: str, *, final: bool = False) -> str | None:
    """The version of the file with that name; ABSENT when there is none, None for anything but a regular file.

    With `final`, also None while another program has the file open for writing: pass it for a file that nobody can
    find any more, whose version must not change afterwards.
    """
    try:
        opened = os.open(name, _FLAGS, dir_fd=folder)
    except FileNotFoundError:
        return ABSENT
    except OSError as error:
        if error.errno in (*_LINK_ERRORS, errno.ENXIO):  # the last is a socket
            return None
        raise
    try:
        if not stat.S_ISREG(os.fstat(opened).st_mode) or (final and _is_being_written(opened, folder)):
            return None
        return version_of(_read_all(opened))
    finally:
        os.close(opened)


def kind_of(mode: int) -> str:
    """The kind of file that a mode denotes, in words."""
    return "a symbolic link" if stat.S_ISLNK(mode) else _KINDS.get(stat.S_IFMT(mode), "of an unknown kind")


def _is_being_written(opened: int, folder: int) -> bool:
    """True if some program has the file open for writing; False where the file system cannot tell."""
    return not can_lease(opened) and _supports_leases(folder)


def _supports_leases(folder: int) -> bool:
    """True if the folder's file system grants leases at all: network file systems often do not."""
    name = unfinished_name(os.urandom(8).hex())
    opened = os.open(name, os.O_RDONLY | os.O_CREAT | os.O_EXCL | NO_LINKS, 0o600, dir_fd=folder)
    try:
        return can_lease(opened)
    finally:
        os.close(opened)
        os.unlink(name, dir_fd=folder)


def _refuse_special(mode: int, path: str) -> None:
    if stat.S_ISLNK(mode):
        raise link_not_followed(path, link=path)
    if not stat.S_ISREG(mode):
        raise not_a_file(path, kind=kind_of(mode))


def _read_all(opened: int) -> bytes:
    blocks = []
    while block := os.read(opened, _BLOCK_SIZE):
        blocks.append(block)
    return b"".join(blocks)
