"""Unit tests are pure: one that writes a file or starts a thread, a process or a connection fails."""

import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NoReturn

import apsw
import pytest

_FORBIDDEN: Final = {
    "os.exec": "starts a process",
    "os.fork": "starts a process",
    "os.posix_spawn": "starts a process",
    "os.system": "starts a process",
    "subprocess.Popen": "starts a process",
    "socket.bind": "opens a socket",
    "socket.connect": "opens a socket",
    "sqlite3.connect": "opens a database",
    "os.mkdir": "makes a folder",
    "os.remove": "removes a file",
    "os.rename": "renames a file",
}
_WRITES: Final = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
_CACHES: Final = ("__pycache__", ".hypothesis", os.devnull)

_guard: dict[str, bool] = {"on": False}


def _refuse(event: str, args: tuple[Any, ...]) -> None:
    """Fail the unit test that does this, by Python's audit events; reading files is allowed."""
    if not _guard["on"]:
        return
    deed = _FORBIDDEN.get(event, "")
    # A file that is already open was seen when it was opened: Hypothesis writes its caches so.
    if event == "open" and not isinstance(args[0], int) and isinstance(args[2], int) and args[2] & _WRITES:
        deed = "writes a file"
    if deed and not any(cache in str(args[:1]) for cache in _CACHES):
        _fail(deed)


def _fail(deed: str) -> NoReturn:
    _guard["on"] = False  # the report of the failure may write files
    pytest.fail(f"a unit test {deed}: move it to tests/integration")


sys.addaudithook(_refuse)


@pytest.fixture(autouse=True)
def pure(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Watch the test while it runs."""
    monkeypatch.setattr(threading.Thread, "start", lambda thread: _fail("starts a thread"))  # not an audit event
    monkeypatch.setattr(apsw, "Connection", lambda *_, **__: _fail("opens a database"))
    _guard["on"] = True
    yield
    _guard["on"] = False


@pytest.fixture
def tmp_path() -> Path:
    """No unit test has a folder."""
    pytest.fail("a unit test uses tmp_path: move it to tests/integration")


@pytest.fixture
def home() -> Path:
    """A home that does not exist, since no unit test looks into it."""
    return Path("/nonexistent/home")
