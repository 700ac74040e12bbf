"""Files next to a note: the temporary file that will replace it, and the conflict copy kept when two saves met.

What a killed process left is removed by the next one that holds the vault's lock: a file in the state folder says which
files were being written (`UnfinishedFiles`; a transaction under git has its journal).
"""

import json
import os
import shutil
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import NoReturn

from commonplace.errors import Conflict, NotFound, Refused
from commonplace.events import emit
from commonplace.vault.files import version_at
from commonplace.vault.paths import LONGEST_NAME, is_temporary, is_unfinished, temporary_name, unfinished_name
from commonplace.vault.syscalls import flush, rename_new, translate_os_errors
from commonplace.vault.tree import NO_LINKS, FileLocation, FolderTree

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


class UnfinishedFiles:
    """The file that says which files a process is writing, with their versions; empty when none is.

    It is not fsynced: after a crash of the machine, a listing reports what was left. Use it with the vault's lock.
    """

    def __init__(self, file: Path) -> None:
        self._file = file

    @contextmanager
    def during(self, versions: Mapping[str, Iterable[str]]) -> Iterator[None]:
        """Note these paths, each with its versions before and after, while the block writes them."""
        noted = {path: list(each) for path, each in versions.items()}
        with translate_os_errors(str(self._file), doing="write"):
            self._file.write_text(json.dumps(noted), encoding="ascii")
        try:
            yield
        finally:
            self._clear()

    def clean_up(self, tree: FolderTree) -> None:
        """Remove what a killed process left, and report it."""
        try:
            noted = json.loads(self._file.read_bytes() or b"{}")
            versions = {str(path): [str(version) for version in each] for path, each in noted.items()}
        except FileNotFoundError:
            return
        except (OSError, ValueError, AttributeError, TypeError):  # it was killed while it noted them: nothing had begun
            versions = {}
        if versions:
            removed, copies = remove_temporary_files(
                tree, versions, ours={version for each in versions.values() for version in each}
            )
            self._clear()
            emit("leftovers_removed", level="warning", removed=list(removed), kept=list(copies))

    def _clear(self) -> None:
        with suppress(OSError):
            os.truncate(self._file, 0)


def remove_temporary_files(
    tree: FolderTree, paths: Iterable[str], *, ours: set[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Remove the temporary files next to these files; one with another version than ours becomes a conflict copy.

    Returns the names of both. The caller holds the vault's lock, so that nobody is at work on them.
    """
    removed, copies = [], []
    for folder, note in _folders(paths).items():
        with (
            suppress(NotFound, Refused),
            translate_os_errors(folder, doing="clean up"),
            tree.open_folder(folder) as (opened, path),
        ):
            prefix = f"{path}/" if path else ""
            for name in filter(is_temporary, os.listdir(opened)):
                if is_unfinished(name) or version_at(opened, name, final=True) in ours:
                    os.unlink(name, dir_fd=opened)
                    removed.append(prefix + name)
                else:
                    location = FileLocation(opened, note, prefix + note, None, None)
                    copies.append(prefix + rename_to_conflict_copy(location, name))
    return tuple(removed), tuple(copies)


def remove_workshops(root: Path) -> None:
    """Remove the folders in which a repository for the vault was made; the caller knows that it has one by now."""
    with suppress(OSError):
        for name in filter(is_temporary, os.listdir(root)):
            if (root / name).is_dir() and not (root / name).is_symlink():
                shutil.rmtree(root / name, ignore_errors=True)


def _folders(paths: Iterable[str]) -> dict[str, str]:
    """Every folder of these files, and the name of one of them."""
    parts = [PurePosixPath(path) for path in paths]
    return {"" if path.parent == PurePosixPath() else str(path.parent): path.name for path in reversed(parts)}


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
