"""What the system says, in our words: an OSError never leaves this room."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager

from commonplace.errors import VaultUnavailable

_HINTS = {
    errno.ENOSPC: "The disk is full: free some space and try again. Nothing was changed.",
    errno.EDQUOT: "The disk quota is used up: free some space and try again. Nothing was changed.",
    errno.EROFS: "The file system is mounted read-only: mount it for writing and try again.",
    errno.EACCES: "Give your user read and write permission for it.",
    errno.EPERM: "The system forbids it: look at the permissions and attributes of the file and its folder.",
    errno.EIO: "The disk reports an error: check its health and make a backup.",
    errno.EMFILE: "This process has too many open files: close some, or raise the limit (ulimit -n).",
    errno.ENFILE: "The system has too many open files: close some programs and try again.",
    errno.EXDEV: "The two folders are on different file systems: keep a vault on one.",
    errno.ENOENT: "It went away meanwhile: look whether the vault was moved or unmounted.",
    errno.ESTALE: "The network folder was lost: mount it again.",
}


@contextmanager
def disk_trouble(path: str, *, doing: str) -> Iterator[None]:
    """Turn an OSError of the block into VaultUnavailable: could not `doing` the path, why, and what to do."""
    try:
        yield
    except OSError as error:
        raise unavailable(error, path=path, doing=doing) from error


def unavailable(error: OSError, *, path: str, doing: str) -> VaultUnavailable:
    """The error that tells what the disk said."""
    said = error.strerror or type(error).__name__
    hint = _HINTS.get(error.errno or 0, "Check that the disk is there and works, then try again.")
    return VaultUnavailable(f"could not {doing} {path}: {said}", path=path, hint=hint)
