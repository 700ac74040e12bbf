"""Finds the daemon, or starts it and waits until it answers; once, however many start it together."""

import os
import time
from pathlib import Path
from typing import Final

from commonplace.client.calling import call
from commonplace.client.launching import launch, not_startable
from commonplace.client.places import Places, Unreachable, places
from commonplace.client.state import State, read_state

START_SECONDS: Final = 15.0  # a cold start takes one; a laptop that just woke up takes more
_PAUSE: Final = 0.02
_HEALTH_SECONDS: Final = 2.0  # how long a daemon that accepts a connection may take to say that it is well
_PATIENCE: Final = 0.5  # seconds until another one is started when ours made way for one that does not answer
_LINES_SHOWN: Final = 5
_BYTES_SHOWN: Final = 2000


def ensure_running(*, timeout: float = START_SECONDS) -> State:
    """The daemon of this user, started if need be. Raises Unreachable, with the end of its log, if it stays silent."""
    where = places()
    deadline = time.monotonic() + timeout
    if state := find_running(where):
        return state
    try:
        where.make()
        return _start(where, deadline)
    except OSError as error:
        raise not_startable(where.folder, error) from error


def find_running(where: Places) -> State | None:
    """The daemon that answers now, or None."""
    try:
        if call("GET", "/health", timeout=_HEALTH_SECONDS).status != 200:
            return None
    except Unreachable:
        return None
    return read_state(where.state)


def _start(where: Places, deadline: float) -> State:
    begun = _size(where.log)
    child = launch(where.log)
    ended, made_way = 0.0, False
    while time.monotonic() < deadline:
        if state := find_running(where):
            return state
        code = child.poll()
        if code:
            raise Unreachable(f"the daemon did not start: {_end_of(where.log, begun)}")
        if code == 0:  # it made way for another one, which is either about to answer or about to end
            ended = ended or time.monotonic()
            if time.monotonic() - ended > _PATIENCE:
                child, ended, made_way = launch(where.log), 0.0, True
        time.sleep(_PAUSE)
    if made_way and (other := read_state(where.state)):  # its socket is gone, or it hangs
        raise Unreachable(f"the daemon runs as process {other.pid} and does not answer: `commonplace stop` ends it")
    raise Unreachable(f"the daemon was started and does not answer: {_end_of(where.log, begun)}")


def _size(log: Path) -> int:
    return log.stat().st_size if log.exists() else 0


def _end_of(log: Path, begun: int) -> str:
    """The last lines that were written to the log since it had this size."""
    if not log.exists():
        return f"nothing is in {log}"
    with log.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(begun if begun <= size else 0, size - _BYTES_SHOWN))
        lines = file.read().decode(errors="replace").split("\n")
    said = " / ".join([line.strip() for line in lines if line.strip()][-_LINES_SHOWN:])
    return f"{said or 'it said nothing'} (log: {log})"
