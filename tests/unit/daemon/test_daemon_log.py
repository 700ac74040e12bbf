"""The daemon's log: JSON lines, rotated by size, for its owner alone, quoting nothing."""

import json
import logging
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from commonplace import events
from commonplace.daemon.log import Log, take_over


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Log]:
    made = Log(tmp_path / "serve.log", most_bytes=10_000, older=2)
    yield made
    made.close()


@pytest.fixture
def taken_over(log: Log) -> Iterator[Log]:
    root, hooks = logging.getLogger(), (sys.excepthook, threading.excepthook)
    before = (root.handlers[:], root.level)
    take_over(log)
    yield log
    events.pass_to(None)
    root.handlers[:], root.level = before
    sys.excepthook, threading.excepthook = hooks


def lines(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "serve.log").read_text().splitlines()]


def test_an_event_is_a_json_line_with_its_time(taken_over: Log, tmp_path: Path) -> None:
    """Not on standard error, where nobody looks."""
    events.emit("vault_locked", level="warning", path="a.md")
    (line,) = lines(tmp_path)

    assert line.pop("at").endswith("Z")
    assert line == {"level": "warning", "event": "vault_locked", "path": "a.md"}


def test_a_full_log_becomes_an_older_one_and_few_are_kept(log: Log, tmp_path: Path) -> None:
    """No file is larger than was asked for, and none is kept beyond the number asked for."""
    for number in range(1000):
        log.write("info", "counted", {"number": number})
    files = sorted(tmp_path.iterdir())

    assert [file.name for file in files] == ["serve.log", "serve.log.1", "serve.log.2"]
    assert all(file.stat().st_size <= 10_000 for file in files)
    assert lines(tmp_path)[-1]["number"] == 999


def test_no_older_log_is_kept_where_none_is_wanted(tmp_path: Path) -> None:
    """`serve.log_files = 0` begins the one file anew."""
    log = Log(tmp_path / "serve.log", most_bytes=10_000, older=0)
    for number in range(500):
        log.write("info", "counted", {"number": number})
    log.close()

    assert [file.name for file in tmp_path.iterdir()] == ["serve.log"]
    assert (tmp_path / "serve.log").stat().st_size <= 10_000


def test_the_log_is_its_owners_alone(log: Log, tmp_path: Path) -> None:
    """The older ones too."""
    for number in range(500):
        log.write("info", "counted", {"number": number})

    assert {file.stat().st_mode & 0o777 for file in tmp_path.iterdir()} == {0o600}


def test_an_error_is_told_by_kind_and_place_and_not_by_its_words(taken_over: Log, tmp_path: Path) -> None:
    """The words of an error may quote a note, a prompt or a token."""
    try:
        int("the secret diary")
    except ValueError as error:
        events.emit("unexpected_error", level="error", exc_info=error)
    (line,) = lines(tmp_path)

    assert line["error"] == "ValueError"
    assert line["through"][-1].startswith("test_daemon_log.py:")
    assert "diary" not in (tmp_path / "serve.log").read_text()


def test_what_a_library_says_is_kept_without_what_it_quotes(taken_over: Log, tmp_path: Path) -> None:
    """Its name, the place and the kind of error; the words of the HTTP server alone, which quotes nothing."""
    logging.getLogger("mcp.server").error("failed on 'the secret diary'")
    logging.getLogger("uvicorn.error").warning("Invalid HTTP request received.")
    first, second = lines(tmp_path)

    assert (first["event"], first["by"]) == ("library_said", "mcp.server")
    assert "said" not in first
    assert second["said"] == "Invalid HTTP request received."
