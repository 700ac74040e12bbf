"""System calls: atomic renames, fsync, leases, deferred signals, and OSErrors translated into our own.

The renames take an open folder and a name for each side, so that no symbolic link can be slipped in between.
An OSError never leaves the vault package: `translate_os_errors` turns it into VaultUnavailable.
"""

import errno
import os
import signal
import stat
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import FrameType

from commonplace.errors import VaultUnavailable

_DARWIN = sys.platform == "darwin"
_EXCHANGE = 0x2  # RENAME_EXCHANGE in linux/fs.h; RENAME_SWAP in Darwin's sys/stdio.h has the same value
_NO_REPLACE = 0x4 if _DARWIN else 0x1  # RENAME_EXCL; RENAME_NOREPLACE
_UNSUPPORTED = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP)
_NO_FILE = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.EMLINK, errno.ENXIO)  # also for a link, or a socket
_DEFERRED = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]

_HINTS = {
    errno.ENOSPC: "The disk is full: free some space and try again. Nothing was changed.",
    errno.EDQUOT: "The disk quota is used up: free some space and try again. Nothing was changed.",
    errno.EROFS: "The file system is mounted read-only: mount it for writing and try again.",
    errno.EACCES: "Give your user read and write permission for it.",
    errno.EPERM: "The system forbids it: check the permissions and attributes of the file and its folder.",
    errno.EIO: "The disk reports an error: check its health and make a backup.",
    errno.EMFILE: "This process has too many open files: close some, or raise the limit (ulimit -n).",
    errno.ENFILE: "The system has too many open files: close some programs and try again.",
    errno.EXDEV: "The two folders are on different file systems: keep a vault on one.",
    errno.ENOENT: "It disappeared meanwhile: check whether the vault was moved or unmounted.",
    errno.ESTALE: "The connection to the network folder was lost: mount it again.",
}

ChangeStamp = tuple[int, ...]
"""Changes whenever the file does; empty when there is no file."""

_RenameCall = Callable[[int, bytes, int, bytes, int], int]


@contextmanager
def translate_os_errors(path: str, *, doing: str) -> Iterator[None]:
    """Turn an OSError of the block into VaultUnavailable: could not `doing` the path, why, and what to do."""
    try:
        yield
    except OSError as error:
        raise unavailable_from(error, path=path, doing=doing) from error


def unavailable_from(error: OSError, *, path: str, doing: str) -> VaultUnavailable:
    """The VaultUnavailable that reports this OSError."""
    reason = error.strerror or type(error).__name__
    hint = _HINTS.get(error.errno or 0, "Check that the disk is connected and works, then try again.")
    return VaultUnavailable(f"could not {doing} {path}: {reason}", path=path, hint=hint)


@contextmanager
def defer_interrupts() -> Iterator[None]:
    """Defer SIGINT, SIGTERM and SIGHUP until the block has ended, so that Ctrl-C cannot interrupt it halfway.

    Python handles signals in the main thread, so in any other thread there is nothing to defer.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    received: list[int] = []

    def remember(number: int, frame: FrameType | None) -> None:
        received.append(number)

    handlers = {number: signal.getsignal(number) for number in _DEFERRED}
    replaced = [number for number, handler in handlers.items() if handler not in (None, signal.SIG_IGN)]
    for number in replaced:
        signal.signal(number, remember)
    try:
        yield
    finally:
        for number in replaced:
            signal.signal(number, handlers[number])
        for number in received:
            signal.raise_signal(number)


def exchange(folder: int, one: str, other: str) -> bool:
    """Atomically exchange two files of a folder; False where the file system cannot do that."""
    return _rename(folder, one, folder, other, flags=_EXCHANGE)


def rename_new(source_folder: int, source: str, folder: int, name: str) -> None:
    """Rename the file to a name that must not exist. Raises FileExistsError when it does."""
    if _rename(source_folder, source, folder, name, flags=_NO_REPLACE):
        return
    os.link(source, name, src_dir_fd=source_folder, dst_dir_fd=folder, follow_symlinks=False)
    os.unlink(source, dir_fd=source_folder)


def flush(opened: int) -> None:
    """Wait until everything written to this file or folder is on the disk, as far as its file system can tell."""
    try:
        _full_fsync(opened)
    except OSError as error:
        if error.errno not in _UNSUPPORTED:  # some network file systems cannot fsync a folder
            raise


def flush_folder(path: str | Path) -> None:
    """Wait until the names in this folder are on the disk."""
    folder = os.open(path, os.O_RDONLY)
    try:
        flush(folder)
    finally:
        os.close(folder)


def change_stamp(path: str | Path) -> ChangeStamp:
    """The stamp of a file as it is now."""
    try:
        status = os.stat(path)
    except OSError:
        return ()
    return (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def read_regular(path: str | Path, *, folder: int | None = None, last: int | None = None) -> bytes | None:
    """The bytes of a regular file, or the `last` of them; None when there is no such file. Never waits for a pipe.

    With an open `folder`, the path is a name in it, and a link with that name counts as no file.
    """
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
    try:
        opened = os.open(path, flags | (0 if folder is None else os.O_NOFOLLOW), dir_fd=folder)
    except OSError as error:
        if error.errno in _NO_FILE:
            return None
        raise
    except ValueError:  # a name with a NUL, which git would end there
        return None
    with open(opened, "rb") as file:
        status = os.fstat(opened)
        if not stat.S_ISREG(status.st_mode):
            return None
        if last is not None:
            file.seek(max(0, status.st_size - last))
        return file.read()


def can_lease(opened: int) -> bool:
    """True if the system grants a read lease on this file: it does not while someone has it open for writing."""
    try:
        from fcntl import F_RDLCK, F_SETLEASE, F_SETSIG, F_UNLCK, fcntl  # type: ignore[attr-defined,unused-ignore]
    except ImportError:  # only Linux has leases
        return False
    try:
        fcntl(opened, F_SETSIG, signal.SIGURG)  # the default signal of a broken lease would end the process
        fcntl(opened, F_SETLEASE, F_RDLCK)
        fcntl(opened, F_SETLEASE, F_UNLCK)
    except OSError:
        return False
    return True


def _full_fsync(opened: int) -> None:
    if sys.platform == "darwin":
        import fcntl

        fcntl.fcntl(opened, fcntl.F_FULLFSYNC)  # fsync on a Mac stops at the drive's cache
    else:
        os.fsync(opened)


def _rename(source_folder: int, source: str, folder: int, name: str, *, flags: int) -> bool:
    call = _rename_call()
    if call is None:
        return False
    import ctypes

    if call(source_folder, os.fsencode(source), folder, os.fsencode(name), flags) == 0:
        return True
    number = ctypes.get_errno()
    if number in _UNSUPPORTED:
        return False
    raise OSError(number, os.strerror(number), name)


@cache
def _rename_call() -> _RenameCall | None:
    import ctypes  # takes several milliseconds, which a reader need not spend

    call = getattr(ctypes.CDLL(None, use_errno=True), "renameatx_np" if _DARWIN else "renameat2", None)
    if call is None:
        return None
    call.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint]
    call.restype = ctypes.c_int
    typed: _RenameCall = call
    return typed
