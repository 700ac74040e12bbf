"""What a replaced file had beside its bytes: its owner and its extended attributes, as far as we may give them."""

import os
from contextlib import suppress

from commonplace.vault.tree import NO_LINKS


def take_after(folder: int, old: str, new: str) -> None:
    """Give the new file the owner, group and extended attributes of the old one.

    What the system forbids is left out: the note itself matters more than its labels.
    """
    with suppress(OSError):
        status = os.stat(old, dir_fd=folder, follow_symlinks=False)
        if (status.st_uid, status.st_gid) != _owner(folder, new):
            os.chown(new, status.st_uid, status.st_gid, dir_fd=folder, follow_symlinks=False)
    if hasattr(os, "listxattr"):
        with suppress(OSError):
            _copy_attributes(folder, old, new)


def _owner(folder: int, name: str) -> tuple[int, int]:
    status = os.stat(name, dir_fd=folder, follow_symlinks=False)
    return status.st_uid, status.st_gid


def _copy_attributes(folder: int, old: str, new: str) -> None:
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
