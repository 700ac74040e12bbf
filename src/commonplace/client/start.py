"""Finds this user's daemon, or starts it: once, however many clients start it at the same time."""

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Final

from commonplace.client.paths import DaemonFiles, Unreachable, daemon_files

START_SECONDS: Final = 15.0  # a cold start takes one; a laptop that just woke up takes more
_POLL_SECONDS: Final = 0.02
_HEALTH_SECONDS: Final = 2.0  # how long a daemon that accepts a connection may take to answer
_RACE_SECONDS: Final = 0.5  # how long to wait for the winner of the start race before starting another daemon
_START_INTERVAL: Final = 10.0  # seconds in which a daemon that was started is assumed to be on its way
_START_MARKER: Final = "begun"  # a file in the daemon's folder: when a client last started one without waiting
_LOG_LINES: Final = 5
_LOG_BYTES: Final = 2000

_children: list[subprocess.Popen[bytes]] = []
"""Daemons that this process started; kept so that an ended one is reaped without a warning."""


@dataclass(frozen=True, slots=True)
class DaemonState:
    """What the running daemon writes to `serve.json`: its process, start time, version, and two addresses."""

    pid: int
    started: str
    version: str
    port: int
    socket: str
    url: str


def read_state(file: Path) -> DaemonState | None:
    """The state in the file; None if the file is missing or incomplete. Raises OSError."""
    try:
        values = json.loads(file.read_bytes())
        return DaemonState(**{field.name: values[field.name] for field in fields(DaemonState)})
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return None


def ensure_running(*, timeout: float = START_SECONDS) -> DaemonState:
    """This user's daemon, started if necessary. Raises Unreachable, with the end of its log, if it does not answer."""
    files = daemon_files()
    deadline = time.monotonic() + timeout
    if state := find_running(files):
        return state
    try:
        files.make_folders()
        return _start_and_wait(files, deadline)
    except OSError as error:
        raise _cannot_start(files.folder, error) from error


def find_running(files: DaemonFiles) -> DaemonState | None:
    """The daemon that answers now, or None."""
    from commonplace.client.http import call  # a hook that starts a daemon has no time to load it

    try:
        if call("GET", "/health", timeout=_HEALTH_SECONDS).status != 200:
            return None
    except Unreachable:
        return None
    return read_state(files.state)


def start_without_waiting() -> bool:
    """Start the daemon and return at once; False if one was started a moment ago. Raises Unreachable."""
    files = daemon_files()
    try:
        files.make_folders()
        marker = files.folder / _START_MARKER
        if marker.exists() and 0 <= time.time() - marker.stat().st_mtime < _START_INTERVAL:
            return False
        marker.touch(mode=0o600)
        spawn_daemon(files.log)
    except OSError as error:
        raise _cannot_start(files.folder, error) from error
    return True


def spawn_daemon(log: Path) -> subprocess.Popen[bytes]:
    """Run `commonplace serve` in a session of its own, with its output in the log. Raises OSError."""
    _children[:] = [child for child in _children if child.poll() is None]
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        child = subprocess.Popen(
            [sys.executable, "-m", "commonplace", "-q", "serve"],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            cwd="/",
            start_new_session=True,
        )
    finally:
        os.close(output)
    _children.append(child)
    return child


def _start_and_wait(files: DaemonFiles, deadline: float) -> DaemonState:
    log_size = files.log.stat().st_size if files.log.exists() else 0
    child = spawn_daemon(files.log)
    ended, lost_race = 0.0, False
    while time.monotonic() < deadline:
        if state := find_running(files):
            return state
        code = child.poll()
        if code:
            raise Unreachable(f"the daemon did not start: {_log_end(files.log, log_size)}")
        if code == 0:  # another daemon holds the lock: it is about to answer, or about to end
            ended = ended or time.monotonic()
            if time.monotonic() - ended > _RACE_SECONDS:
                child, ended, lost_race = spawn_daemon(files.log), 0.0, True
        time.sleep(_POLL_SECONDS)
    if lost_race and (other := read_state(files.state)):  # its socket is gone, or it hangs
        raise Unreachable(f"the daemon runs as process {other.pid} but does not answer: `commonplace stop` stops it")
    raise Unreachable(f"the daemon was started but does not answer: {_log_end(files.log, log_size)}")


def _log_end(log: Path, start: int) -> str:
    """The last lines written to the log since it had `start` bytes."""
    if not log.exists():
        return f"{log} is empty"
    with log.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(start if start <= size else 0, size - _LOG_BYTES))
        lines = file.read().decode(errors="replace").split("\n")
    output = " / ".join([line.strip() for line in lines if line.strip()][-_LOG_LINES:])
    return f"{output or 'it wrote nothing'} (log: {log})"


def _cannot_start(folder: Path, error: OSError) -> Unreachable:
    return Unreachable(
        f"the daemon cannot be started in {folder} ({error.strerror or error}): "
        "give your user permission for this folder, or set COMMONPLACE_STATE to another"
    )
