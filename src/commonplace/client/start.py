"""Finds this user's daemon, or starts it: once, however many clients start it at the same time.

A daemon that holds the lock and does not answer is ended and replaced. Its process id comes from the file that the
holder of the lock wrote; a process that began later than that file says only has the same number, and is left alone.
"""

import fcntl
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from commonplace.client.paths import DaemonFiles, NoAnswer, Unreachable, daemon_files

START_SECONDS: Final = 15.0  # a cold start takes one; a laptop that just woke up takes more
_POLL_SECONDS: Final = 0.02
_HEALTH_SECONDS: Final = 2.0  # how long a daemon that accepts a connection may take to answer
_SECOND_SECONDS: Final = 8.0  # for a second ping: a daemon that only is busy answers one of the two
_LOADING_SECONDS: Final = 30.0  # it listens and is silent until it has loaded: five on two busy cores took over 15
_TERM_SECONDS: Final = 3.0  # for a daemon that hangs to end by itself; writes survive a kill at any moment
_KILL_SECONDS: Final = 5.0
_AGE_SLACK: Final = 5.0  # seconds between the start of the process and the time that it wrote down
_PS_SECONDS: Final = 2.0
_RACE_SECONDS: Final = 0.5  # after which another daemon is started in place of one that was there and has ended
_START_INTERVAL: Final = 10.0  # seconds in which a daemon that was started is assumed to be on its way
_START_MARKER: Final = "begun"  # a file in the daemon's folder: when a client last started one without waiting
_START_LOCK: Final = "start.lock"  # held by the client that starts the daemon
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
    """This user's daemon, started if necessary; one that hangs is replaced.

    Raises Unreachable, with the end of its log, if it does not answer.
    """
    files = daemon_files()
    deadline = time.monotonic() + timeout
    try:
        if state := find_running(files):
            return state
        files.make_folders()
        if frozen := frozen_daemon(files):
            end_daemon(frozen, files)
        return _start_and_wait(files, deadline)
    except OSError as error:
        raise _cannot_start(files.folder, error) from error


def find_running(files: DaemonFiles) -> DaemonState | None:
    """The daemon that answers now, or None."""
    try:
        return read_state(files.state) if _ping(_HEALTH_SECONDS) == 200 else None
    except Unreachable:
        return None


def is_silent(within: float = _HEALTH_SECONDS) -> bool:
    """True if there is a daemon that does not answer within that many seconds; False if it answers or there is none."""
    try:
        _ping(within)
    except NoAnswer:
        return True
    except Unreachable:
        return False
    return False


def frozen_daemon(files: DaemonFiles) -> DaemonState | None:
    """The daemon if it hangs: it holds the lock, has had time to start, and answers no ping. None otherwise.

    A process that was stopped by a signal cannot answer; any other gets a second, longer chance.
    """
    state = read_state(files.state)
    if not state or not is_silent():
        return None
    process = _own_process(state, files)
    if not process:
        return None
    if process.is_stopped:
        return state
    return state if process.age > _LOADING_SECONDS and is_silent(_SECOND_SECONDS) else None


def end_daemon(state: DaemonState, files: DaemonFiles) -> None:
    """End the daemon's process, by force if it must be. Raises Unreachable if it stays, or is not the daemon's."""
    steps = ((signal.SIGTERM, signal.SIGCONT), _TERM_SECONDS), ((signal.SIGKILL,), _KILL_SECONDS)
    for signals, seconds in steps:
        if not is_daemon_running(files):
            return
        if not signal_daemon(state, files, *signals):
            break
        if _wait_for_lock(files, seconds):
            return
    raise Unreachable(
        f"the daemon (process {state.pid}) does not answer and cannot be ended: end that process yourself"
    )


def signal_daemon(state: DaemonState, files: DaemonFiles, *signals: signal.Signals) -> bool:
    """Send these signals to the daemon's process; False if that process is gone, or is not the daemon's."""
    if not _own_process(state, files):
        return False
    try:
        for each in signals:
            os.kill(state.pid, each)
    except OSError:
        return False
    return True


def is_daemon_running(files: DaemonFiles) -> bool:
    """True if some process holds the daemon's lock, whether it is ready or not."""
    try:
        lock = os.open(files.lock, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(lock)
    return False


def _wait_for_lock(files: DaemonFiles, seconds: float) -> bool:
    """True once nobody holds the lock any more; False if that takes longer."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if not is_daemon_running(files):
            return True
        time.sleep(_POLL_SECONDS)
    return False


def _ping(within: float) -> int:
    """The status of the daemon's answer to a ping. Raises Unreachable, NoAnswer."""
    from commonplace.client.http import call  # a hook that starts a daemon has no time to load it

    return call("GET", "/health", timeout=within).status


@dataclass(frozen=True, slots=True)
class _Process:
    """A running process: for how many seconds, and whether a signal has stopped it."""

    age: float
    is_stopped: bool


def _own_process(state: DaemonState, files: DaemonFiles) -> _Process | None:
    """The process of the daemon with that state; None if the daemon is another by now, or the process is."""
    if not is_daemon_running(files) or read_state(files.state) != state:
        return None
    process = _process(state.pid)
    if not process:
        return None
    try:
        running = (datetime.now(UTC) - datetime.fromisoformat(state.started)).total_seconds()
    except (ValueError, TypeError):
        return None
    return process if process.age > running - _AGE_SLACK else None


def _process(pid: int) -> _Process | None:
    """What the system knows of this process; None if there is none, or nothing is known of it."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()  # the name may contain spaces
        uptime = float(Path("/proc/uptime").read_text().split()[0])
        return _Process(uptime - int(fields[19]) / os.sysconf("SC_CLK_TCK"), fields[0] in "Tt")
    except (OSError, ValueError, IndexError):
        return _process_by_ps(pid)


def _process_by_ps(pid: int) -> _Process | None:
    """The same on a system without /proc, such as macOS."""
    try:
        command = ["/bin/ps", "-o", "stat=", "-o", "etime=", "-p", str(pid)]
        output = subprocess.run(command, capture_output=True, text=True, timeout=_PS_SECONDS, check=True).stdout
        status, elapsed = output.split()
        days, _, clock = elapsed.rpartition("-")  # [[days-]hours:]minutes:seconds
        seconds = 0
        for part in clock.split(":"):
            seconds = seconds * 60 + int(part)
        return _Process(int(days or 0) * 86_400 + seconds, status.startswith("T"))
    except (OSError, ValueError, subprocess.SubprocessError):
        return None


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
    """The daemon, started by one client at a time: the others wait for it. Raises Unreachable, OSError."""
    turn = os.open(files.folder / _START_LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        while not _is_turn(turn):
            if state := find_running(files):
                return state
            if time.monotonic() > deadline and not _is_loading(files):
                raise Unreachable("another program is starting the daemon, which does not answer yet: try again soon")
            time.sleep(_POLL_SECONDS)
        return find_running(files) or _start_in_turn(files, deadline)
    finally:
        os.close(turn)


def _is_turn(turn: int) -> bool:
    """True if this process holds the lock of the one that starts the daemon."""
    try:
        fcntl.flock(turn, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _start_in_turn(files: DaemonFiles, deadline: float) -> DaemonState:
    log_size = files.log.stat().st_size if files.log.exists() else 0
    child, ended, has_lost = spawn_daemon(files.log), 0.0, False
    while time.monotonic() < deadline or _is_loading(files):
        if state := find_running(files):
            return state
        has_lost = has_lost or child.poll() == 0  # another daemon holds the lock: it will answer, or end
        if child.poll() is not None and not is_daemon_running(files):
            ended = ended or time.monotonic()
            if child.returncode:
                raise Unreachable(f"the daemon did not start: {_log_end(files.log, log_size)}")
            if time.monotonic() - ended > _RACE_SECONDS:
                child, ended = spawn_daemon(files.log), 0.0
        time.sleep(_POLL_SECONDS)
    if has_lost and (other := read_state(files.state)):  # its socket is gone, or it hangs
        raise Unreachable(f"the daemon runs as process {other.pid} but does not answer: `commonplace stop` stops it")
    raise Unreachable(f"the daemon was started but does not answer: {_log_end(files.log, log_size)}")


def _is_loading(files: DaemonFiles) -> bool:
    """True if a daemon that has just begun holds the lock: on a busy machine it takes long until it answers."""
    state = read_state(files.state)
    process = _own_process(state, files) if state else None
    return bool(process and not process.is_stopped and process.age < _LOADING_SECONDS)


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
