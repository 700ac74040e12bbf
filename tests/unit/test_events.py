"""Events go to standard error, and only those that were asked for."""

import json
from collections.abc import Iterator

import pytest

from commonplace import events


@pytest.fixture(autouse=True)
def _quiet_again() -> Iterator[None]:
    yield
    events.listen("warning")


def test_an_event_is_a_json_line_on_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    """When standard error is no terminal; standard output stays clean."""
    events.emit("vault_locked", level="warning", path="a.md")
    out, err = capsys.readouterr()

    assert out == ""
    assert {"event": "vault_locked", "level": "warning", "path": "a.md"}.items() <= json.loads(err).items()


def test_a_library_says_nothing_below_a_warning(capsys: pytest.CaptureFixture[str]) -> None:
    """Until a door listens."""
    events.emit("vault_read")

    assert capsys.readouterr().err == ""


def test_a_door_may_listen_more_closely(capsys: pytest.CaptureFixture[str]) -> None:
    """`-v` shows everything."""
    events.listen("debug")
    events.emit("vault_read", level="debug")

    assert "vault_read" in capsys.readouterr().err
