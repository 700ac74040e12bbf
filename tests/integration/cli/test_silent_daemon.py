"""What the commands say where no daemon can be reached."""

import pytest

from commonplace.__main__ import run_command
from commonplace.client.paths import daemon_files
from commonplace.client.start import DaemonState
from commonplace.daemon.service.state_files import instance_lock

STATE = DaemonState(4711, "2026-03-01T09:12:44Z", "0.1.0", 8377, "/s", "http://127.0.0.1:8377")


def test_status_tells_a_daemon_that_does_not_answer_from_none(capsys: pytest.CaptureFixture[str]) -> None:
    """The one is to be stopped, the other to be started; the exit code is the same."""
    with instance_lock(daemon_files()) as claim:
        assert claim
        claim.announce(STATE)
        silent = run_command(["status"])
    none = run_command(["status"])
    first, second = capsys.readouterr().out.splitlines()

    assert (silent, none) == (1, 1)
    assert first == "the daemon (process 4711) does not answer: `commonplace stop --force` ends it"
    assert second == "not running: `commonplace serve` starts it"


@pytest.mark.parametrize(
    "words", [["token", "list"], ["token", "create", "x"], ["status"], ["stop"], ["serve"], ["person", "list"]]
)
def test_a_user_without_a_home_is_told_what_to_set(
    words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As an error with a remedy, and not as a bug of ours."""
    for name in ("COMMONPLACE_STATE", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", "nowhere")
    code = run_command(words)

    assert code == 5
    assert "set COMMONPLACE_STATE to a folder of your own" in capsys.readouterr().err
