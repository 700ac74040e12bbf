"""The progress line of the command line: silent for short work, one line on a terminal, plain lines elsewhere."""

import io
import sys
import threading
from collections.abc import Iterator

import pytest

from commonplace.cli import progress as progress_module
from commonplace.cli.invocation import Invocation
from commonplace.cli.progress import ProgressLine
from tests.polling import wait_for


class Stream(io.TextIOWrapper):
    """Standard error, as a terminal or as a file."""

    def __init__(self, *, is_terminal: bool) -> None:
        super().__init__(io.BytesIO(), "utf-8", write_through=True)
        self._is_terminal = is_terminal

    def isatty(self) -> bool:
        return self._is_terminal

    @property
    def text(self) -> str:
        return self.buffer.getvalue().decode()  # type: ignore[attr-defined, no-any-return]


@pytest.fixture(autouse=True)
def _fast(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(progress_module, "_QUIET_S", 0.02)
    monkeypatch.setattr(progress_module, "_PLAIN_S", 0.02)
    monkeypatch.setattr(progress_module, "_REFRESH_S", 0.01)
    yield
    assert "progress" not in {thread.name for thread in threading.enumerate()}


def shown(monkeypatch: pytest.MonkeyPatch, *, is_terminal: bool, enough: str, invocation: Invocation) -> str:
    stream = Stream(is_terminal=is_terminal)
    monkeypatch.setattr(sys, "stderr", stream)
    with ProgressLine(invocation) as progress:
        progress("texts", 10, 100)
        if enough:
            wait_for(lambda: enough in stream.text)
    return stream.text


def test_a_terminal_shows_one_line_that_is_wiped_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """No line break is written: the answer begins where the line was."""
    text = shown(monkeypatch, is_terminal=True, enough="encoded 10 of 100 texts", invocation=Invocation())

    assert "\n" not in text
    assert text.startswith("\r\033[Kencoded 10 of 100 texts")
    assert text.endswith("\r\033[K")


def test_elsewhere_a_plain_line_comes_every_few_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    """A log or an agent's shell sees that work goes on, without control characters."""
    line = "encoded 10 of 100 texts\n"
    text = shown(monkeypatch, is_terminal=False, enough=line * 2, invocation=Invocation())

    assert set(text.splitlines()) == {line.strip()}


@pytest.mark.parametrize("invocation", [Invocation(quiet=True), Invocation(json=True)])
@pytest.mark.parametrize("is_terminal", [True, False])
def test_quiet_and_json_show_nothing(
    monkeypatch: pytest.MonkeyPatch, invocation: Invocation, is_terminal: bool
) -> None:
    """Programs read what these print."""
    assert shown(monkeypatch, is_terminal=is_terminal, enough="", invocation=invocation) == ""


@pytest.mark.parametrize("is_terminal", [True, False])
def test_work_that_is_done_at_once_shows_nothing(monkeypatch: pytest.MonkeyPatch, is_terminal: bool) -> None:
    """A line that flashes up tells nobody anything."""
    monkeypatch.setattr(progress_module, "_QUIET_S", 60.0)
    monkeypatch.setattr(progress_module, "_PLAIN_S", 60.0)

    assert shown(monkeypatch, is_terminal=is_terminal, enough="", invocation=Invocation()) == ""


def test_a_stage_without_numbers_is_shown_with_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Such as a download by another program, which does not say how far it is."""
    stream = Stream(is_terminal=False)
    monkeypatch.setattr(sys, "stderr", stream)
    with ProgressLine(Invocation()) as progress:
        progress.stage("fetching from the package index", 0, 1)
        wait_for(lambda: "fetching from the package index, 1 s\n" in stream.text)
        progress.stage("fetching model.onnx", 2_000_000, 90_000_000)
        wait_for(lambda: "fetched 2.0 of 90.0 MB\n" in stream.text)

    assert "\033" not in stream.text
