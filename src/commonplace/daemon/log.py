"""The daemon's log: JSON lines in a file of its owner's, begun anew when it is large.

It says what happened and where in the program, never what a note, a prompt or a token says: of other libraries'
messages, which may quote their input, the place and the kind of error alone are kept.
"""

import json
import logging
import os
import re
import sys
import threading
import traceback
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from commonplace import events
from commonplace.model.moment import moment_text

_OWN_WORDS: Final = "uvicorn"  # a library whose messages quote nothing
_FRAMES: Final = 12
_ENTRY: Final = re.compile(r"(Agent/Memory/(?:[^/\n]+/)*)[^/\n]+(-[0-9a-f]{6}\.md)")


class Log:
    """A file of JSON lines; when it is larger than `most_bytes`, it becomes the first of `older` ones."""

    def __init__(self, path: Path, *, most_bytes: int, older: int) -> None:
        self._path, self._most, self._older = path, most_bytes, older
        self._turn = threading.Lock()
        self._file = _open(path)

    def write(self, level: str, event: str, fields: Mapping[str, Any]) -> None:
        """Write one line. Where the disk takes none, it is lost: no request fails for its line in the log."""
        at = moment_text(datetime.now(UTC))
        values = {name: _nameless(value) for name, value in fields.items() if name != "exc_info"}
        if isinstance(error := fields.get("exc_info"), BaseException):
            values.update(_failed(error))
        line = json.dumps({"at": at, "level": level, "event": event, **values}, default=str) + "\n"
        with self._turn, suppress(OSError):
            if os.fstat(self._file).st_size + len(line) > self._most:
                self._begin_anew()
            os.write(self._file, line.encode())

    def close(self) -> None:
        """Let go of the file."""
        with self._turn:
            os.close(self._file)

    def _begin_anew(self) -> None:
        """Raises OSError. The old file is closed last: its number, once free, may be that of a database."""
        names = [self._path, *(Path(f"{self._path}.{number}") for number in range(1, self._older + 1))]
        names[-1].unlink(missing_ok=True)
        for newer, older in zip(names[-2::-1], names[:0:-1], strict=True):
            if newer.exists():
                newer.rename(older)
        full, self._file = self._file, _open(self._path)
        os.close(full)


class _FromLibraries(logging.Handler):
    """Takes what libraries log into ours."""

    def __init__(self, log: Log) -> None:
        super().__init__(logging.WARNING)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        """Write the record, without what it may quote."""
        fields: dict[str, Any] = {"by": record.name, "where": f"{Path(record.pathname).name}:{record.lineno}"}
        if record.name.startswith(_OWN_WORDS):
            fields["said"] = str(record.msg).strip()
        if record.exc_info and record.exc_info[1]:
            fields["exc_info"] = record.exc_info[1]
        self._log.write(record.levelname.lower(), "library_said", fields)


def take_over(log: Log) -> None:
    """From now on everything that this process has to tell goes to the log: our events, and those of libraries."""
    events.pass_to(log.write)
    root = logging.getLogger()
    root.handlers[:] = [_FromLibraries(log)]
    root.setLevel(logging.WARNING)
    sys.excepthook = lambda kind, error, trace: log.write("error", "unexpected_error", {"exc_info": error})
    threading.excepthook = lambda what: log.write("error", "unexpected_error", {"exc_info": what.exc_value})


def _nameless(value: Any) -> Any:
    """The value; of an entry's path, whose name is made of the entry's words, the folder and the end of its id."""
    return _ENTRY.sub(r"\1...\2", value) if isinstance(value, str) else value


def _failed(error: BaseException) -> dict[str, Any]:
    """The kind of an error, and the places in the program that it came through; its words may quote a note."""
    frames = traceback.extract_tb(error.__traceback__)[-_FRAMES:]
    places = [f"{Path(frame.filename).name}:{frame.lineno} {frame.name}" for frame in frames]
    return {"error": type(error).__name__, "through": places}


def _open(path: Path) -> int:
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
