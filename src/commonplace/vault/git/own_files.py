"""Our own files below `.git`, and the lines that we add to git's: reached without following a link.

A repository can come from anyone, and a link in it can lead to any file of the person. So a folder is opened from the
one above it, which refuses a link, and files are read only if they are regular ones, because opening a pipe waits for
ever. A file that exists is replaced and not written into: it may have another name elsewhere.
"""

import errno
import os
import re
import socket
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from commonplace.errors import VaultUnavailable
from commonplace.events import emit
from commonplace.vault.git.location import RepositoryLocation, is_branch_name
from commonplace.vault.syscalls import flush, read_regular, translate_os_errors
from commonplace.vault.tree import FOLDER_FLAGS, NO_LINKS

WORK_FOLDER: Final = "commonplace"
"""The folder of our own files in a working tree's git directory."""

HEAD_MARK: Final = "commonplace "
"""What our lock of HEAD begins with; the name of the branch follows."""

NO_HARD_LINKS: Final = (
    *(errno.EPERM, errno.EACCES, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EXDEV, errno.EMLINK),
)
"""The errors for a hard link where there are none: FAT, some network folders, Android (EACCES)."""

_NEW_FILE: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | NO_LINKS
_APPEND: Final = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NONBLOCK", 0) | NO_LINKS
_NOT_A_FOLDER: Final = (errno.ELOOP, errno.EMLINK, errno.ENOTDIR)  # also the errors for a link that is not followed
_LOCKS: Final = {".index": "index.lock", ".head": "HEAD.lock"}
_VAULT_ID: Final = re.compile(rb"[0-9a-f]{16}")


@contextmanager
def open_below(root: Path, *names: str, makes: bool = False) -> Iterator[int]:
    """The open folder that these names lead to; `makes` creates those that are missing.

    Raises VaultUnavailable when one of them is a link or a file, and FileNotFoundError.
    """
    opened = os.open(root, FOLDER_FLAGS & ~os.O_NOFOLLOW)
    try:
        for at, name in enumerate(names):
            if makes:
                with suppress(FileExistsError):
                    os.mkdir(name, dir_fd=opened)
            try:
                below = os.open(name, FOLDER_FLAGS, dir_fd=opened)
            except OSError as error:
                if error.errno in _NOT_A_FOLDER:
                    raise not_followed(root.joinpath(*names[: at + 1])) from error
                raise
            os.close(opened)
            opened = below
        yield opened
    finally:
        os.close(opened)


def not_followed(place: Path) -> VaultUnavailable:
    """The error for a link, or another thing, where a folder or file of the repository belongs."""
    if place.is_symlink():
        return VaultUnavailable(
            f"a symbolic link is where the vault's repository must have a file or folder of its own: {place}",
            path=str(place),
            hint="Replace the link by a copy of what it leads to, and try again; or remove it, if it is not yours.",
        )
    return VaultUnavailable(
        f"something that is no file is where git keeps one in the vault's repository: {place}",
        path=str(place),
        hint="Look what it is, move it away, and try again.",
    )


def replace_below(folder: int, name: str, content: bytes, *, unfinished: str, mode: int | None = None) -> None:
    """Put a file with this content in the place of whatever has that name, a link included; not of a folder."""
    opened = os.open(unfinished, _NEW_FILE, 0o666, dir_fd=folder)
    try:
        with open(opened, "wb") as file:
            if mode is not None:
                os.fchmod(file.fileno(), stat.S_IMODE(mode))
            file.write(content)
            file.flush()
            flush(file.fileno())
        os.rename(unfinished, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with suppress(OSError):
            os.unlink(unfinished, dir_fd=folder)
        raise


def append_to_log(root: Path, name: str, line: bytes) -> None:
    """Add a line to a log of references; one that cannot be written is no reason to refuse the commit."""
    *folders, file = name.split("/")
    with suppress(OSError, VaultUnavailable), open_below(root, *folders, makes=True) as folder:
        _remove_empty_folders(folder, file)
        opened = os.open(file, _APPEND, 0o666, dir_fd=folder)
        try:
            status = os.fstat(opened)
            if stat.S_ISREG(status.st_mode):
                if not status.st_size:
                    _share(opened, folder)
                os.write(opened, line)
        finally:
            os.close(opened)


def unlock_reference(root: Path, name: str) -> None:
    """Rename the lock of a reference, which holds its new value, to the reference. Raises OSError, VaultUnavailable."""
    *folders, file = name.split("/")
    with open_below(root, *folders) as folder:
        _remove_empty_folders(folder, file)  # left of references whose names began with this one
        opened = os.open(f"{file}.lock", os.O_RDONLY | NO_LINKS, dir_fd=folder)
        try:
            _share(opened, folder)
        finally:
            os.close(opened)
        os.rename(f"{file}.lock", file, src_dir_fd=folder, dst_dir_fd=folder)


def _remove_empty_folders(folder: int, name: str) -> None:
    """Remove a folder that has nothing but folders, as git does where a file of a reference belongs."""
    try:
        opened = os.open(name, FOLDER_FLAGS, dir_fd=folder)
    except OSError:
        return
    try:
        for below in os.listdir(opened):
            _remove_empty_folders(opened, below)
    finally:
        os.close(opened)
    with suppress(OSError):
        os.rmdir(name, dir_fd=folder)


def _share(opened: int, folder: int) -> None:
    """Give a file the permissions that its folder gives to a group, which git marks by the set-group-id bit."""
    mode = os.fstat(folder).st_mode
    if mode & stat.S_ISGID:
        with suppress(PermissionError):  # a file of another user has them already
            os.fchmod(opened, stat.S_IMODE(os.fstat(opened).st_mode) | mode & 0o666)


# The vault's identity


def vault_id(git_dir: Path, owner: str) -> str:
    """The random id in this vault's file below `.git/commonplace`; written there first if there is none.

    The caller holds the vault's lock.
    """
    name = f"vault-{owner}"
    with (
        translate_os_errors(str(git_dir / WORK_FOLDER / name), doing="read"),
        open_below(git_dir, WORK_FOLDER, makes=True) as folder,
    ):
        noted = (read_regular(name, folder=folder) or b"").strip()
        if not _VAULT_ID.fullmatch(noted):
            noted = os.urandom(8).hex().encode()
            replace_below(folder, name, noted + b"\n", unfinished=_unfinished(owner))
    return noted.decode("ascii")


def claim(git_dir: Path, owner: str, state: Path) -> None:
    """Note that this state folder is the vault's. Raises VaultUnavailable when another one on this machine is.

    Locks and journals are in the state folder, so that programs with two of them do not know of each other. A folder
    that does not exist any more does not count, and one on another machine is reported: the disk may have been moved.
    """
    name, host = f"state-{owner}", socket.gethostname()
    file = git_dir / WORK_FOLDER / name
    with translate_os_errors(str(file), doing="write"), open_below(git_dir, WORK_FOLDER, makes=True) as folder:
        noted, _, noted_host = os.fsdecode(read_regular(name, folder=folder) or b"").strip().partition("\n")
        if (noted, noted_host) == (str(state), host):
            return
        if noted and noted_host == host and (Path(noted) / "locks").is_dir():
            raise VaultUnavailable(
                f"another state folder is in use for this vault: {noted}; this program uses {state}",
                path=str(file),
                hint=f"Set XDG_STATE_HOME to {Path(noted).parent}, as the other program has it. "
                f"If nothing uses that folder any more, remove the file {file} and try again.",
            )
        if noted:
            emit("vault_state_folder_changed", level="warning", before=noted, on=noted_host, now=str(state))
        replace_below(folder, name, os.fsencode(f"{state}\n{host}\n"), unfinished=_unfinished(owner))


def _unfinished(owner: str) -> str:
    return f"{owner}-{os.urandom(6).hex()}"


# What a killed process left


def remove_own_locks(location: RepositoryLocation, owner: str) -> tuple[str, ...]:
    """Remove what a killed process of ours left in the git directory, and return the names of the lock files.

    The caller holds the vault's lock, so that no process of ours is at work. A lock is ours if it is our own file under
    another name. Any other is never removed.
    """
    removed = []
    with (
        translate_os_errors(str(location.git_dir), doing="clean up"),
        suppress(FileNotFoundError),
        open_below(location.git_dir, WORK_FOLDER) as folder,
    ):
        left = sorted(name for name in os.listdir(folder) if name.startswith(f"{owner}-"))
        for name in left:
            root, *names = _lock_of(location, folder, name)
            if names and _remove_if_ours(folder, name, Path(root), names):
                removed.append(names[-1])
        for name in left:
            with suppress(FileNotFoundError, IsADirectoryError, PermissionError):
                os.unlink(name, dir_fd=folder)
    return tuple(removed)


def _lock_of(location: RepositoryLocation, folder: int, name: str) -> Sequence[str]:
    """The lock that was made from this file of ours: a folder, and the names below it; no names if it has none."""
    stem, suffix = os.path.splitext(name)
    if suffix in _LOCKS:
        return (str(location.git_dir), _LOCKS[suffix])
    head = os.fsdecode(read_regular(f"{stem}.head", folder=folder) or b"") if suffix == ".branch" else ""
    branch = head.removeprefix(HEAD_MARK).removesuffix("\n")
    if not head.startswith(HEAD_MARK) or not is_branch_name(branch):
        return (str(location.common_dir),)
    return (str(location.common_dir), *f"{branch}.lock".split("/"))


def _remove_if_ours(folder: int, name: str, root: Path, names: Sequence[str]) -> bool:
    """Remove the lock if it is our file; True if it was. A lock that a link leads to is not looked at."""
    *folders, lock = names
    with suppress(FileNotFoundError, VaultUnavailable), open_below(root, *folders) as beside:
        if _is_ours(folder, name, beside, lock):
            os.unlink(lock, dir_fd=beside)
            return True
    return False


def _is_ours(folder: int, name: str, beside: int, lock: str) -> bool:
    """True if the lock is a hard link to our file or, only where there are no such links, an unused copy of it."""
    ours = os.stat(name, dir_fd=folder, follow_symlinks=False)
    if os.path.samestat(ours, os.stat(lock, dir_fd=beside, follow_symlinks=False)):
        return True
    if not stat.S_ISREG(ours.st_mode) or _has_hard_links(folder, name):
        return False
    content = read_regular(lock, folder=beside)
    is_copy = bool(content) and content == read_regular(name, folder=folder)
    # when the file is in place already, a lock with the same content is that of another program
    return is_copy and content != read_regular(lock.removesuffix(".lock"), folder=beside)


def _has_hard_links(folder: int, name: str) -> bool:
    """True unless the file system says that it cannot give the file a second name."""
    other = f"{name}-{os.urandom(4).hex()}"
    try:
        os.link(name, other, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
    except OSError as error:
        return error.errno not in NO_HARD_LINKS
    os.unlink(other, dir_fd=folder)
    return True
