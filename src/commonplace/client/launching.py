"""Starts the daemon, detached from whoever starts it, so that it outlives them."""

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

from commonplace.client.places import Unreachable, places

_AGAIN_AFTER: Final = 10.0  # seconds in which a daemon that was begun is taken to be on its way
_BEGUN: Final = "begun"  # a file of the daemon's folder: when somebody last began one and did not wait

_started: list[subprocess.Popen[bytes]] = []
"""What this process started; kept, so that one that ended is reaped and none is warned of."""


def begin() -> bool:
    """Start the daemon and do not wait for it; False when one was begun a moment ago. Raises Unreachable."""
    where = places()
    try:
        where.make()
        begun = where.folder / _BEGUN
        if begun.exists() and 0 <= time.time() - begun.stat().st_mtime < _AGAIN_AFTER:
            return False
        begun.touch(mode=0o600)
        launch(where.log)
    except OSError as error:
        raise not_startable(where.folder, error) from error
    return True


def launch(log: Path) -> subprocess.Popen[bytes]:
    """Start `commonplace serve` in a session of its own, writing to its log. Raises OSError."""
    _started[:] = [child for child in _started if child.poll() is None]
    into = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        child = subprocess.Popen(
            [sys.executable, "-m", "commonplace", "-q", "serve"],
            stdin=subprocess.DEVNULL,
            stdout=into,
            stderr=into,
            cwd="/",
            start_new_session=True,
        )
    finally:
        os.close(into)
    _started.append(child)
    return child


def not_startable(folder: Path, error: OSError) -> Unreachable:
    """What is said when the disk does not let a daemon start."""
    return Unreachable(
        f"the daemon cannot be started in {folder} ({error.strerror or error}): "
        "give your user permission for this folder, or set COMMONPLACE_STATE to another"
    )
