"""Reading one file of an open folder: regular files only, links never followed."""

import errno
import os
import stat
from dataclasses import dataclass

from commonplace.model import Stat
from commonplace.vault.base import ABSENT, Blob, version_of
from commonplace.vault.paths import unfinished_name
from commonplace.vault.rules import missing, not_a_file, symbolic_link
from commonplace.vault.syscalls import leases
from commonplace.vault.tree import NO_LINKS, Place

_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | NO_LINKS  # opening a pipe must not wait for its writer
_PIECE = 1 << 20
_LINK = (errno.ELOOP, errno.EMLINK)  # what a system says of a link it is told not to follow: POSIX, and BSD

_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


@dataclass(frozen=True, slots=True)
class Present:
    """A file as it was read: what is needed to compare it and to bring it back."""

    blob: Blob
    mode: int


def read_file(place: Place) -> Present:
    """The file at that place. Raises NotFound, and Refused for what is no regular file."""
    stat_file(place)
    try:
        opened = os.open(place.name, _FLAGS, dir_fd=place.folder)
    except FileNotFoundError as error:
        raise missing(place.path) from error
    except OSError as error:
        if error.errno in _LINK:  # it was no link a moment ago
            raise symbolic_link(place.path, link=place.path) from error
        raise
    try:
        status = os.fstat(opened)
        _refuse_special(status.st_mode, place.path)
        content = _read_all(opened)
    finally:
        os.close(opened)
    known = Stat(place.path, status.st_mtime, len(content))
    return Present(Blob(content, version_of(content), known), stat.S_IMODE(status.st_mode))


def stat_file(place: Place) -> Stat:
    """Size and time of the file at that place. Raises NotFound, and Refused for what is no regular file."""
    if place.mode is None:
        raise missing(place.path, twin=place.twin)
    try:
        status = os.stat(place.name, dir_fd=place.folder, follow_symlinks=False)
    except FileNotFoundError as error:
        raise missing(place.path) from error
    _refuse_special(status.st_mode, place.path)
    return Stat(place.path, status.st_mtime, status.st_size)


def version_at(folder: int, name: str, *, final: bool = False) -> str | None:
    """The version of the file under that name, ABSENT when nothing is there, None for what is no regular file.

    `final` wants the version of a file that nobody will find any more: None while someone still writes into it.
    """
    try:
        opened = os.open(name, _FLAGS, dir_fd=folder)
    except FileNotFoundError:
        return ABSENT
    except OSError as error:
        if error.errno in (*_LINK, errno.ENXIO):  # the last is a socket
            return None
        raise
    try:
        if not stat.S_ISREG(os.fstat(opened).st_mode) or (final and _is_being_written(opened, folder)):
            return None
        return version_of(_read_all(opened))
    finally:
        os.close(opened)


def _is_being_written(opened: int, folder: int) -> bool:
    """Whether some program has the file open for writing; False where the file system cannot tell."""
    return not leases(opened) and _can_lease(folder)


def _can_lease(folder: int) -> bool:
    """Whether the file system of this folder leases a file that nobody writes: network file systems often do not."""
    name = unfinished_name(os.urandom(8).hex())
    opened = os.open(name, os.O_RDONLY | os.O_CREAT | os.O_EXCL | NO_LINKS, 0o600, dir_fd=folder)
    try:
        return leases(opened)
    finally:
        os.close(opened)
        os.unlink(name, dir_fd=folder)


def kind_of(mode: int) -> str:
    """What a mode says this is, in words for people."""
    return "a symbolic link" if stat.S_ISLNK(mode) else _KINDS.get(stat.S_IFMT(mode), "of an unknown kind")


def _refuse_special(mode: int, path: str) -> None:
    if stat.S_ISLNK(mode):
        raise symbolic_link(path, link=path)
    if not stat.S_ISREG(mode):
        raise not_a_file(path, kind=kind_of(mode))


def _read_all(opened: int) -> bytes:
    pieces = []
    while piece := os.read(opened, _PIECE):
        pieces.append(piece)
    return b"".join(pieces)
