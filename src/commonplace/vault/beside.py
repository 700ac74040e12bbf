"""Files beside the note: the half-made one that is about to take its place, and the copy kept when two saves met."""

import os
import time
from contextlib import suppress
from typing import NoReturn

from commonplace.errors import Conflict
from commonplace.events import emit
from commonplace.vault.paths import LONGEST_NAME, temporary_name, unfinished_name
from commonplace.vault.syscalls import flush, rename_new
from commonplace.vault.tree import NO_LINKS, Place

_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | NO_LINKS
_ANY_MODE = 0o666  # the system takes the umask's bits away


def new_name() -> str:
    """A name for a half-made file that no other writer uses."""
    return temporary_name(os.urandom(8).hex())


def write_temporary(folder: int, content: bytes, mode: int | None) -> str:
    """The name of a new half-made file that holds the content, on the disk itself.

    It has another name while it lacks bytes: after a crash, what bears the final name is whole, and may be someone's.
    """
    token = os.urandom(8).hex()
    name, whole = unfinished_name(token), temporary_name(token)
    opened = os.open(name, _NEW_FILE, _ANY_MODE if mode is None else mode & 0o777, dir_fd=folder)
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


def keep_beside(place: Place, temporary: str) -> NoReturn:
    """Keep a file that someone saved while we worked under a name that people understand, and say so."""
    name = set_aside(place, temporary)
    raise Conflict(
        f"{place.path} was saved twice while it was being changed; what was saved is kept beside it as {name}",
        path=place.path,
        hint=f"Compare {place.path} with '{name}', keep what you want, and delete the copy.",
    )


def set_aside(place: Place, temporary: str) -> str:
    """Give a file that is not ours the name of a conflict copy of the note at that place, and say which."""
    saved = os.stat(temporary, dir_fd=place.folder, follow_symlinks=False).st_mtime
    name = _conflict_name(place.name, time.strftime("%Y-%m-%dT%H%M%SZ", time.gmtime(saved)))
    try:
        rename_new(place.folder, temporary, place.folder, name)
    except FileExistsError:
        name = _conflict_name(place.name, os.urandom(8).hex())
        rename_new(place.folder, temporary, place.folder, name)
    return name


def _conflict_name(name: str, stamp: str) -> str:
    stem, dot, ending = name.rpartition(".")
    if not stem:
        stem, dot, ending = name, "", ""
    tail = f" (conflict {stamp}){dot}{ending}"
    room = LONGEST_NAME - len(tail.encode())
    return stem.encode()[:room].decode(errors="ignore") + tail


def unlink(place: Place, temporary: str) -> None:
    """Remove a half-made or displaced file; one that stays is told, for the change itself is already decided."""
    try:
        os.unlink(temporary, dir_fd=place.folder)
    except FileNotFoundError:
        return
    except OSError as error:
        emit("temporary_file_left", level="warning", path=place.path, name=temporary, said=error.strerror)
