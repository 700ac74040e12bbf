"""Folders of indexes that are made and taken away, while other processes may take them away, too."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from commonplace.errors import VaultUnavailable

_ATTEMPTS: Final = 5  # to remove a folder into which another process writes


def remove_folder(folder: Path, *, what: str) -> None:
    """Take the folder away with all that is in it; one that is gone is no trouble. Raises VaultUnavailable."""
    for _ in range(_ATTEMPTS):
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            return
    with folder_trouble(folder, what=what):
        shutil.rmtree(folder)


@contextmanager
def folder_trouble(folder: Path, *, what: str) -> Iterator[None]:
    """Trouble with the disk in this block is VaultUnavailable, told of `what`; a folder that is gone is none."""
    try:
        yield
    except FileNotFoundError:
        return
    except OSError as error:
        raise VaultUnavailable(
            f"{what} cannot be made or removed ({error.strerror or error})",
            path=str(folder),
            hint=f"Give your user permission for {folder}, or delete it: it is made anew.",
        ) from error
