"""A daemon that hangs: a process of the test that holds the lock, takes connections and never answers."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from commonplace.client import start
from commonplace.client.paths import Unreachable, daemon_files
from commonplace.client.start import DaemonState, end_daemon, frozen_daemon, is_daemon_running, is_silent, read_state
from commonplace.daemon.service import control
from commonplace.errors import VaultUnavailable

HANGS = """
import fcntl, json, os, signal, socket, sys, time
lock, state, at, started = sys.argv[1:]
signal.signal(signal.SIGTERM, signal.SIG_IGN)
held = os.open(lock, os.O_RDWR | os.O_CREAT, 0o600)
fcntl.flock(held, fcntl.LOCK_EX)
listening = socket.socket(socket.AF_UNIX)
listening.bind(at)
listening.listen(8)
fields = {"pid": os.getpid(), "started": started, "version": "1", "port": 1, "socket": at, "url": ""}
open(state, "w").write(json.dumps(fields))
print("ready", flush=True)
time.sleep(60)
"""


@pytest.fixture
def hanging(monkeypatch: pytest.MonkeyPatch) -> Iterator["subprocess.Popen[bytes]"]:
    """The process; pings wait a tenth of a second for it, and it has had all the time to start."""
    for name in ("_HEALTH_SECONDS", "_SECOND_SECONDS", "_TERM_SECONDS"):
        monkeypatch.setattr(start, name, 0.1)
    monkeypatch.setattr(start, "_LOADING_SECONDS", 0.0)
    files = daemon_files()
    files.make_folders()
    words = [str(files.lock), str(files.state), str(files.socket), datetime.now(UTC).isoformat()]
    process = subprocess.Popen([sys.executable, "-c", HANGS, *words], stdout=subprocess.PIPE)
    assert process.stdout
    assert process.stdout.readline() == b"ready\n"
    yield process
    process.kill()
    process.wait()
    process.stdout.close()


def known() -> DaemonState:
    state = read_state(daemon_files().state)
    assert state
    return state


def test_a_daemon_that_answers_nothing_is_found_and_ended(hanging: "subprocess.Popen[bytes]") -> None:
    """It takes the connection and ignores SIGTERM: the lock is free afterwards, and another can be started."""
    files = daemon_files()
    frozen = frozen_daemon(files)
    assert is_silent(0.1)
    assert frozen == known()
    end_daemon(frozen, files)

    assert hanging.wait(60) == -signal.SIGKILL
    assert not is_daemon_running(files)
    assert not is_silent(0.1)


def test_a_daemon_that_has_just_started_may_be_silent_but_not_one_that_is_stopped(
    hanging: "subprocess.Popen[bytes]", monkeypatch: pytest.MonkeyPatch
) -> None:
    """It loads its modules before it answers; a stopped process does nothing any more."""
    monkeypatch.setattr(start, "_LOADING_SECONDS", 60.0)
    early = frozen_daemon(daemon_files())
    os.kill(hanging.pid, signal.SIGSTOP)

    assert early is None
    assert frozen_daemon(daemon_files()) == known()


def test_a_process_that_only_has_the_number_of_the_daemon_is_never_ended(hanging: "subprocess.Popen[bytes]") -> None:
    """It began after the time that the daemon wrote down, or the file speaks of another daemon by now."""
    files, state = daemon_files(), known()
    before = (datetime.now(UTC) - timedelta(hours=1)).isoformat()
    files.state.write_text(json.dumps({**json.loads(files.state.read_text()), "started": before}))
    older = known()

    for each in (older, state):
        with pytest.raises(Unreachable, match="cannot be ended"):
            end_daemon(each, files)
    assert frozen_daemon(files) is None
    assert hanging.poll() is None


def test_the_age_of_a_process_is_known_with_and_without_proc(hanging: "subprocess.Popen[bytes]") -> None:
    """As on macOS, by ps."""
    own, by_ps = start._process(hanging.pid), start._process_by_ps(hanging.pid)

    assert own
    assert by_ps
    assert abs(own.age - by_ps.age) < 3
    assert not own.is_stopped
    assert start._process(2**22 + 1) is None


def test_stopping_signals_no_process_that_only_has_the_number_of_the_daemon(
    hanging: "subprocess.Popen[bytes]", monkeypatch: pytest.MonkeyPatch
) -> None:
    """The daemon was asked to stop and did not answer for seconds: by then its number may be another's."""
    files = daemon_files()
    before = (datetime.now(UTC) - timedelta(hours=1)).isoformat()
    monkeypatch.setattr(control, "_ANSWER", 0.1)
    monkeypatch.setattr(control, "_STOPPING", 0.1)
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        fields = {**json.loads(files.state.read_text()), "pid": other.pid, "started": before}
        files.state.write_text(json.dumps(fields))
        with pytest.raises(VaultUnavailable, match="does not stop"):
            control.stop_daemon()
        other.communicate(b"\n")

    assert other.returncode == 0


def test_stopping_a_daemon_that_does_not_answer_looks_once_whether_it_hangs(
    hanging: "subprocess.Popen[bytes]", monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each look may take ten seconds. One that is only busy gets the signal, as it is the daemon's own process."""
    looks: list[object] = []
    monkeypatch.setattr(control, "frozen_daemon", looks.append)
    monkeypatch.setattr(control, "_ANSWER", 0.1)
    monkeypatch.setattr(control, "_STOPPING", 0.1)
    signals: list[tuple[object, ...]] = []
    monkeypatch.setattr(control, "signal_daemon", lambda *given: signals.append(given))
    with pytest.raises(VaultUnavailable, match="does not stop"):
        control.stop_daemon()

    assert len(looks) == 1
    assert [(given[0], given[2]) for given in signals] == [(known(), signal.SIGTERM)]
