"""Files of which one process at a time may change something, and the clearing away of those that no longer count."""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

_PAUSE: Final = 0.02


@contextmanager
def only_one(lock: Path, *, wait: float) -> Iterator[bool]:
    """Whether this is the only one that holds the lock until the block ends. The kernel frees a dead holder's."""
    lock.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(lock, os.O_CREAT | os.O_RDWR, 0o600)
    try:
        yield _locked(descriptor, until=time.monotonic() + wait)
    finally:
        os.close(descriptor)


def clear(folder: Path, *, keep: frozenset[str]) -> None:
    """Take away all files of the folder but these; another process may take away the folder meanwhile."""
    with suppress(FileNotFoundError):
        for file in folder.iterdir():
            if file.name not in keep:
                file.unlink(missing_ok=True)


def _locked(descriptor: int, *, until: float) -> bool:
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= until:
                return False
            time.sleep(_PAUSE)
        else:
            return True
