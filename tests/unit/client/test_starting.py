"""Finding the daemon and starting it, without a real one: what is started here is a program of the test."""

import subprocess
import sys
from pathlib import Path

import pytest

from commonplace.client import starting
from commonplace.client.calling import call
from commonplace.client.places import Unreachable, places
from commonplace.client.starting import ensure_running
from tests.stand_in import Script, standing_in

STARTS = "import sys, time; print('loading', flush=True); print({0!r}, file=sys.stderr, flush=True); sys.exit({1})"


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
    with standing_in(Script()):
        state = ensure_running(timeout=1)

    assert state.socket == str(places().socket)


def test_a_daemon_that_fails_to_start_is_told_with_the_end_of_its_log(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only what this start wrote, not what an earlier one did."""
    places().make()
    places().log.write_text("trouble of yesterday\n")
    start_instead(STARTS.format("no such port", 3), monkeypatch)

    with pytest.raises(Unreachable, match="loading / no such port") as caught:
        ensure_running(timeout=20)
    assert "yesterday" not in str(caught.value)
    assert str(places().log) in str(caught.value)


def test_a_daemon_that_stays_silent_is_given_up_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    """The deadline holds, and another one is started when the first made way for one that never answered."""
    monkeypatch.setattr(starting, "_PATIENCE", 0.05)
    start_instead(STARTS.format("another one is running", 0), monkeypatch)

    with pytest.raises(Unreachable, match="does not answer"):
        ensure_running(timeout=0.5)
    assert places().log.read_text().count("another one is running") > 1


def test_a_folder_in_which_nothing_can_be_made_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With what to do about it."""
    (tmp_path / "file").touch()
    monkeypatch.setenv("COMMONPLACE_STATE", str(tmp_path / "file"))

    with pytest.raises(Unreachable, match="COMMONPLACE_STATE"):
        ensure_running(timeout=1)


def test_a_call_to_no_daemon_says_how_to_start_it() -> None:
    """Nothing was sent, so asking again is safe."""
    with pytest.raises(Unreachable, match="commonplace serve") as caught:
        call("GET", "/health", timeout=1)

    assert caught.value.sent is False


def test_a_call_brings_the_status_the_headers_and_the_body() -> None:
    """The names of headers in lower case, whatever the daemon writes."""
    with standing_in(Script()):
        reply = call("GET", "/health", timeout=5)

    assert (reply.status, reply.headers["content-type"]) == (200, "application/json")
    assert b'"ok": true' in reply.body
