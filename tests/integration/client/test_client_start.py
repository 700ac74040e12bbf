"""Finding the daemon and starting it. A program of the test is started in place of the real daemon."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from commonplace.client import start
from commonplace.client.http import call
from commonplace.client.paths import Unreachable, daemon_files
from commonplace.client.start import ensure_running, start_without_waiting
from tests.stand_in import Script, standing_in

STARTS = "import sys, time; print('loading', flush=True); print({0!r}, file=sys.stderr, flush=True); sys.exit({1})"
WAITS = (0.5, 2.0, 8.0, 30.0)  # seconds: a busy machine needs more of them to start a program and to see it end


def start_instead(program: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let this Python program be what is started as the daemon."""
    real = subprocess.Popen

    def other(words: list[str], **how: object) -> "subprocess.Popen[bytes]":
        assert words == [sys.executable, "-m", "commonplace", "-q", "serve"]
        return real([sys.executable, "-c", program], **how)  # type: ignore[call-overload, no-any-return]

    monkeypatch.setattr("subprocess.Popen", other)


def test_a_daemon_that_answers_is_found_and_none_is_started(monkeypatch: pytest.MonkeyPatch) -> None:
    """The state is what it says of itself."""
    monkeypatch.setattr("subprocess.Popen", None)
    monkeypatch.setattr(start, "_HEALTH_SECONDS", 60.0)
    with standing_in(Script()):
        state = ensure_running(timeout=60)

    assert state.socket == str(daemon_files().socket)


def test_a_daemon_that_fails_to_start_is_told_with_the_end_of_its_log(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only what this start wrote, not what an earlier one did."""
    daemon_files().make_folders()
    daemon_files().log.write_text("trouble of yesterday\n")
    start_instead(STARTS.format("no such port", 3), monkeypatch)

    with pytest.raises(Unreachable, match="loading / no such port") as caught:
        ensure_running(timeout=60)
    assert "yesterday" not in str(caught.value)
    assert str(daemon_files().log) in str(caught.value)


def test_a_daemon_that_stays_silent_is_given_up_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    """The deadline holds, and another one is started when the first made way for one that never answered."""
    monkeypatch.setattr(start, "_RACE_SECONDS", 0.05)
    start_instead(STARTS.format("another one is running", 0), monkeypatch)
    for wait in WAITS:
        daemon_files().log.unlink(missing_ok=True)
        with pytest.raises(Unreachable, match="does not answer"):
            ensure_running(timeout=wait)
        if (starts := daemon_files().log.read_text().count("another one is running")) > 1:
            break

    assert starts > 1


def test_a_folder_in_which_nothing_can_be_made_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With what to do about it."""
    (tmp_path / "file").touch()
    monkeypatch.setenv("COMMONPLACE_STATE", str(tmp_path / "file"))

    with pytest.raises(Unreachable, match="COMMONPLACE_STATE"):
        ensure_running(timeout=1)
    with pytest.raises(Unreachable, match="COMMONPLACE_STATE"):
        start_without_waiting()


def test_a_call_to_no_daemon_says_how_to_start_it() -> None:
    """Nothing was sent, so asking again is safe."""
    with pytest.raises(Unreachable, match="commonplace serve") as caught:
        call("GET", "/health", timeout=1)

    assert caught.value.sent is False


def test_a_call_brings_the_status_the_headers_and_the_body() -> None:
    """The names of headers in lower case, whatever the daemon writes."""
    with standing_in(Script()):
        reply = call("GET", "/health", timeout=60)

    assert (reply.status, reply.headers["content-type"]) == (200, "application/json")
    assert b'"ok": true' in reply.body


def test_a_daemon_that_runs_without_its_socket_is_told_with_the_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Someone tidied the folder of the socket: each new daemon makes way for one that cannot be reached."""
    monkeypatch.setattr(start, "_RACE_SECONDS", 0.05)
    start_instead(STARTS.format("another one is running", 0), monkeypatch)
    where = daemon_files()
    where.make_folders()
    said = {"pid": 4711, "started": "", "version": "", "port": 1, "socket": "", "url": ""}
    where.state.write_text(json.dumps(said))

    for wait in WAITS:
        with pytest.raises(Unreachable, match="does not answer") as caught:
            ensure_running(timeout=wait)
        if "process 4711" in str(caught.value):
            break

    assert "runs as process 4711 but does not answer: `commonplace stop` stops it" in str(caught.value)


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """What was started; in its place a program runs that exits at once."""
    words_of: list[list[str]] = []
    real = subprocess.Popen

    def other(words: list[str], **how: object) -> "subprocess.Popen[bytes]":
        words_of.append(words)
        child: subprocess.Popen[bytes] = real([sys.executable, "-c", "pass"], **how)  # type: ignore[call-overload]
        child.wait()
        return child

    monkeypatch.setattr("subprocess.Popen", other)
    return words_of


def test_a_daemon_is_begun_once_however_many_ask(started: list[list[str]]) -> None:
    """Each prompt of a person whose daemon cannot start would else start another one."""
    answers = [start_without_waiting(), start_without_waiting()]
    long_ago = time.time() - 60
    os.utime(daemon_files().folder / "begun", (long_ago, long_ago))

    assert [*answers, start_without_waiting()] == [True, False, True]
    assert started == [[sys.executable, "-m", "commonplace", "-q", "serve"]] * 2
