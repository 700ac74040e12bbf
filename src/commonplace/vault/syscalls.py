"""What Python does not offer as such: a rename that never replaces, one that exchanges two files, and a full flush.

The renames take an open folder and a name for each side, so that no symbolic link can be slipped into the way.
"""

import errno
import os
import signal
import sys
from collections.abc import Callable
from functools import cache

_DARWIN = sys.platform == "darwin"
_EXCHANGE = 0x2  # RENAME_EXCHANGE in linux/fs.h; RENAME_SWAP in Darwin's sys/stdio.h has the same value
_NO_REPLACE = 0x4 if _DARWIN else 0x1  # RENAME_EXCL; RENAME_NOREPLACE
_UNSUPPORTED = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP)

_Call = Callable[[int, bytes, int, bytes, int], int]


def exchange(folder: int, one: str, other: str) -> bool:
    """Let two files of a folder change places in one step; False where the file system cannot do that."""
    return _rename(folder, one, folder, other, flags=_EXCHANGE)


def rename_new(source_folder: int, source: str, folder: int, name: str) -> None:
    """Give the file a name that is not taken. Raises FileExistsError when it is."""
    if _rename(source_folder, source, folder, name, flags=_NO_REPLACE):
        return
    os.link(source, name, src_dir_fd=source_folder, dst_dir_fd=folder, follow_symlinks=False)
    os.unlink(source, dir_fd=source_folder)


def flush(opened: int) -> None:
    """Wait until what was written to this file or folder is on the disk itself, as far as its file system can tell."""
    try:
        _flush_whole(opened)
    except OSError as error:
        if error.errno not in _UNSUPPORTED:  # some network file systems cannot flush a folder
            raise


def leases(opened: int) -> bool:
    """Whether the system leases this file, opened for reading: it does not while someone has it open for writing."""
    try:
        from fcntl import F_RDLCK, F_SETLEASE, F_SETSIG, F_UNLCK, fcntl  # type: ignore[attr-defined,unused-ignore]
    except ImportError:  # only Linux has leases
        return False
    try:
        fcntl(opened, F_SETSIG, signal.SIGURG)  # a lease that is broken would else end the process
        fcntl(opened, F_SETLEASE, F_RDLCK)
        fcntl(opened, F_SETLEASE, F_UNLCK)
    except OSError:
        return False
    return True


def _flush_whole(opened: int) -> None:
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
def _rename_call() -> _Call | None:
    import ctypes  # several milliseconds that a reader need not spend

    call = getattr(ctypes.CDLL(None, use_errno=True), "renameatx_np" if _DARWIN else "renameat2", None)
    if call is None:
        return None
    call.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint]
    call.restype = ctypes.c_int
    found: _Call = call
    return found
