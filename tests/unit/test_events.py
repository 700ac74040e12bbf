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


def test_observers_see_every_event_until_they_end() -> None:
    """Also those that are not written; the first observer does not keep the second from seeing them."""
    first: list[str] = []
    second: list[tuple[str, object]] = []
    end_first = events.observe(lambda event, fields: first.append(event))
    end_second = events.observe(lambda event, fields: second.append((event, fields["n"])))
    events.emit("small", level="debug", n=1)
    end_first()
    events.emit("small", level="debug", n=2)
    end_second()
    events.emit("small", level="debug", n=3)

    assert (first, second) == (["small"], [("small", 1), ("small", 2)])
