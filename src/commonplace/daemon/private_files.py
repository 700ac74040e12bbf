"""Files for their owner's eyes alone: replaced as a whole, and changed by one program at a time."""

import fcntl
import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

_TURN: Final = 5.0  # seconds to wait for others who change the same file
_POLL: Final = 0.02


def write_privately(path: Path, values: Mapping[str, object], *, is_lasting: bool = True) -> None:
    """Let the file say this, in one step. Raises OSError, and leaves the file as it was then.

    What is not `is_lasting` survives the end of this process in any way, but perhaps not a power cut: it is quicker.
    """
    half_made = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        file = os.open(half_made, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        with open(file, "w", encoding="utf-8") as text:
            text.write(json.dumps(values, indent=2) + "\n")
            text.flush()
            if is_lasting:
                os.fsync(file)
        half_made.replace(path)
    except BaseException:
        half_made.unlink(missing_ok=True)
        raise


@contextmanager
def turn_at(path: Path) -> Iterator[None]:
    """Our turn to change the file, by a lock beside it. Raises TimeoutError when it does not come, and OSError."""
    lock = os.open(path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        if not is_locked(lock, fcntl.LOCK_EX, within=_TURN):
            raise TimeoutError(None, "another program is changing it")
        yield
    finally:
        os.close(lock)


def is_locked(lock: int, how: int, *, within: float) -> bool:
    """Whether the lock could be had in that time, in seconds; it is held until its file is closed."""
    deadline = time.monotonic() + within
    while True:
        try:
            fcntl.flock(lock, how | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                return False
            time.sleep(_POLL)
        else:
            return True
