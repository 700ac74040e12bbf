"""The daemon's files in the user's state folder: private, replaced atomically, changed by one program at a time.

One daemon runs per user: the process that holds the lock, which writes its addresses to a file. Its log is JSON lines,
rotated when it is large. The log says what happened and where in the program, never what a note, a prompt or a token
says. Messages of other libraries may quote their input, so only the place and the type of error are kept of them.
"""

import fcntl
import hashlib
import json
import logging
import os
import re
import sys
import threading
import time
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from commonplace import events
from commonplace.client.paths import DaemonFiles, Unreachable, daemon_files
from commonplace.client.start import DaemonState, is_daemon_running, read_state
from commonplace.errors import VaultUnavailable
from commonplace.model.layout import MEMORY
from commonplace.model.moment import moment_text

_HARMLESS_LIBRARY: Final = "uvicorn"  # its messages quote no input
_FRAMES: Final = 12
_ENTRY: Final = re.compile(rf"({MEMORY}/(?:[^/\n]+/)*)[^/\n]+(-[0-9a-f]{{6}}\.md)")
_NOTE: Final = re.compile(r"(?!\s)[^:;,()\"'`\n]{0,300}?[^:;,()\"'`\n/]\.md\b", re.IGNORECASE)
_MASKED: Final = "..."


class Log:
    """A file of JSON lines; when it exceeds `most_bytes`, it becomes the first of `older` files."""

    def __init__(self, path: Path, *, most_bytes: int, older: int) -> None:
        self._path, self._most, self._older = path, most_bytes, older
        self._lock = threading.Lock()
        self._file = _open(path)

    def write(self, level: str, event: str, fields: Mapping[str, Any]) -> None:
        """Write one line. If the disk refuses it, it is lost: no request fails because of the log."""
        at = moment_text(datetime.now(UTC))
        values = {name: _mask_names(value) for name, value in fields.items() if name != "exc_info"}
        if isinstance(error := fields.get("exc_info"), BaseException):
            values.update(_error_fields(error))
        line = json.dumps({"at": at, "level": level, "event": event, **values}, default=str) + "\n"
        with self._lock, suppress(OSError):
            if os.fstat(self._file).st_size + len(line) > self._most:
                self._rotate()
            os.write(self._file, line.encode())

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            os.close(self._file)

    def _rotate(self) -> None:
        """Rename the files and open a new one. Raises OSError.

        The old file is closed last: its descriptor, once free, may become that of a database.
        """
        names = [self._path, *(Path(f"{self._path}.{number}") for number in range(1, self._older + 1))]
        names[-1].unlink(missing_ok=True)
        for newer, older in zip(names[-2::-1], names[:0:-1], strict=True):
            if newer.exists():
                newer.rename(older)
        full, self._file = self._file, _open(self._path)
        os.close(full)


class _LibraryHandler(logging.Handler):
    """Passes what libraries log to ours."""

    def __init__(self, log: Log) -> None:
        super().__init__(logging.WARNING)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        """Write the record, without text that it may quote."""
        fields: dict[str, Any] = {"by": record.name, "where": f"{Path(record.pathname).name}:{record.lineno}"}
        if record.name.startswith(_HARMLESS_LIBRARY):
            fields["said"] = str(record.msg).strip()
        if record.exc_info and record.exc_info[1]:
            fields["exc_info"] = record.exc_info[1]
        self._log.write(record.levelname.lower(), "library_said", fields)


def log_everything_to(log: Log) -> None:
    """Send everything that this process reports to the log: our events, libraries' messages, uncaught errors."""
    events.pass_to(log.write)
    root = logging.getLogger()
    root.handlers[:] = [_LibraryHandler(log)]
    root.setLevel(logging.WARNING)
    sys.excepthook = lambda kind, error, trace: log.write("error", "unexpected_error", {"exc_info": error})
    threading.excepthook = lambda what: log.write("error", "unexpected_error", {"exc_info": what.exc_value})


def _mask_names(value: Any) -> Any:
    """The value without the names of notes, which are words of theirs and outlive them here when they are erased.

    Of an entry its folder and its id stay; another note is a hash of its path, the same in every line.
    """
    if not isinstance(value, str):
        return value
    return _NOTE.sub(_masked, _ENTRY.sub(rf"\1{_MASKED}\2", value))


def _masked(match: re.Match[str]) -> str:
    name = match[0]
    return name if f"/{_MASKED}-" in name else f"<note {hashlib.sha256(name.encode()).hexdigest()[:8]}>"


def _error_fields(error: BaseException) -> dict[str, Any]:
    """The type and the stack of an error, without its message, which may quote a note."""
    frames = traceback.extract_tb(error.__traceback__)[-_FRAMES:]
    places = [f"{Path(frame.filename).name}:{frame.lineno} {frame.name}" for frame in frames]
    return {"error": type(error).__name__, "through": places}


def _open(path: Path) -> int:
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)


_LOCK_SECONDS: Final = 5.0  # to wait for others who change the same file
_INSTANCE_SECONDS: Final = 0.3  # a program that only checks whether the lock is held holds it for less
_POLL_SECONDS: Final = 0.02


def write_private_file(path: Path, values: Mapping[str, object], *, durable: bool = True) -> None:
    """Replace the file's content by this JSON in one step. Raises OSError, and leaves the file as it was then.

    `durable=False` skips fsync: the content survives a crash of the process, not of the machine.
    """
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        file = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        with open(file, "w", encoding="utf-8") as text:
            text.write(json.dumps(values, indent=2) + "\n")
            text.flush()
            if durable:
                os.fsync(file)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


@contextmanager
def file_lock(path: Path) -> Iterator[None]:
    """Exclusive access to the file, by a lock next to it. Raises TimeoutError if it is held too long, OSError."""
    lock = os.open(path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        if not acquire_lock(lock, fcntl.LOCK_EX, within=_LOCK_SECONDS):
            raise TimeoutError(None, "another program is changing it")
        yield
    finally:
        os.close(lock)


def acquire_lock(lock: int, operation: int, *, within: float) -> bool:
    """Lock the open file, waiting up to `within` seconds; False if it is not free. Closing the file releases it."""
    deadline = time.monotonic() + within
    while True:
        try:
            fcntl.flock(lock, operation | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                return False
            time.sleep(_POLL_SECONDS)
        else:
            return True


class InstanceLock:
    """The right to be the daemon, held until it is released or the process ends, however it ends."""

    def __init__(self, files: DaemonFiles, lock: int) -> None:
        self._files, self._lock = files, lock

    def announce(self, state: DaemonState) -> None:
        """Write the daemon's addresses for other programs. Raises VaultUnavailable."""
        try:
            write_private_file(self._files.state, asdict(state), durable=False)
        except OSError as error:
            message = f"the daemon's state file cannot be written: {error.strerror}"
            hint = "Free some space on that disk, or set COMMONPLACE_STATE to a folder on another."
            raise VaultUnavailable(message, path=str(self._files.state), hint=hint) from error

    def release(self) -> None:
        """Remove the state file and the socket, and let another process be the daemon."""
        for path in (self._files.state, self._files.socket):
            path.unlink(missing_ok=True)
        os.close(self._lock)


@contextmanager
def instance_lock(files: DaemonFiles) -> Iterator[InstanceLock | None]:
    """The right to be the daemon within this block; None while another process has it.

    Raises VaultUnavailable if the state folder is not private to this user, or cannot be created.
    """
    make_daemon_folders(files)
    lock = _open_lock(files.lock)
    if not acquire_lock(lock, fcntl.LOCK_EX, within=_INSTANCE_SECONDS):
        os.close(lock)
        yield None
        return
    instance = InstanceLock(files, lock)
    files.state.unlink(missing_ok=True)  # the state of a daemon that was killed
    try:
        yield instance
    finally:
        instance.release()


def user_daemon_files() -> DaemonFiles:
    """The files of this user's daemon. Raises VaultUnavailable for a user without a home folder."""
    try:
        return daemon_files()
    except Unreachable as error:
        raise VaultUnavailable(str(error), hint="The daemon keeps its tokens there.") from error


def running_daemon(files: DaemonFiles) -> DaemonState | None:
    """The state of the running daemon; None if none runs, or it is not ready yet."""
    if not is_daemon_running(files):
        return None
    with suppress(OSError):
        return read_state(files.state)
    return None


def make_daemon_folders(files: DaemonFiles) -> None:
    """Create the state folders. Raises VaultUnavailable if they are not private to this user or cannot be created."""
    try:
        files.make_folders()
    except Unreachable as error:
        hint = "The daemon keeps its tokens there."
        raise VaultUnavailable(str(error), path=str(files.folder), hint=hint) from error
    except OSError as error:
        message = f"the daemon's folder cannot be created: {error.strerror}"
        hint = "Set COMMONPLACE_STATE to another folder."
        raise VaultUnavailable(message, path=str(files.folder), hint=hint) from error


def _open_lock(path: Path) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        message = f"the daemon's lock cannot be opened: {error.strerror}"
        raise VaultUnavailable(message, path=str(path), hint="Check the folder's permissions.") from error
