"""Turns at remembering: one at a time in all processes that share a data folder, or in this one where there is none."""

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Final

from commonplace.errors import VaultUnavailable

_POLL: Final = 0.005  # seconds between two looks at the lock


def turns_in(folder: Path | None, *, wait: float) -> Callable[[], AbstractContextManager[None]]:
    """What is held while someone looks at what is known and writes what follows from it.

    Raises VaultUnavailable(locked) after `wait` seconds.
    """
    mine = threading.Lock()

    @contextmanager
    def turn() -> Iterator[None]:
        if not mine.acquire(timeout=wait):
            raise _too_long(wait)
        try:
            with _of_all_processes(folder, wait=wait):
                yield
        finally:
            mine.release()

    return turn


@contextmanager
def _of_all_processes(folder: Path | None, *, wait: float) -> Iterator[None]:
    if folder is None:
        yield
        return
    from filelock import FileLock, Timeout  # forty milliseconds that a reader need not spend

    folder.mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder / "remember.lock")
    try:
        lock.acquire(timeout=wait, poll_interval=_POLL)
    except Timeout as error:
        raise _too_long(wait) from error
    try:
        yield
    finally:
        lock.release()


def _too_long(wait: float) -> VaultUnavailable:
    return VaultUnavailable(
        f"others have been saving for {wait:g} seconds",
        reason="locked",
        hint="Try again; `vault.lock_wait_seconds` is how long to wait.",
    )
