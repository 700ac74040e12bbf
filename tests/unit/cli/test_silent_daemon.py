"""What the commands say where no daemon can be reached."""

import pytest

from commonplace.cli.main import _globals_first, _run
from commonplace.client.places import places
from commonplace.client.state import State
from commonplace.daemon.single import claimed

STATE = State(4711, "2026-03-01T09:12:44Z", "0.1.0", 8377, "/s", "http://127.0.0.1:8377")


def test_status_tells_a_daemon_that_does_not_answer_from_none(capsys: pytest.CaptureFixture[str]) -> None:
    """The one is to be stopped, the other to be started; the exit code is the same."""
    with claimed(places()) as claim:
        assert claim
        claim.announce(STATE)
        silent = _run(["status"])
    none = _run(["status"])
    first, second = capsys.readouterr().out.splitlines()

    assert (silent, none) == (1, 1)
    assert first == "process 4711 is the daemon and does not answer: `commonplace stop` ends it"
    assert second == "not running: `commonplace serve` starts it"


@pytest.mark.parametrize("words", [["token", "list"], ["token", "create", "x"], ["status"], ["stop"], ["serve"]])
def test_a_user_without_a_home_is_told_what_to_set(
    words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As an error with a remedy, and not as a bug of ours."""
    for name in ("COMMONPLACE_STATE", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", "nowhere")
    code = _run(_globals_first(words))

    assert code == 5
    assert "set COMMONPLACE_STATE to a folder of your own" in capsys.readouterr().err
