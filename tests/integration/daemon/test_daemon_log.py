"""The daemon's log: JSON lines, rotated by size, for its owner alone, quoting nothing."""

import json
import logging
import os
import shutil
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from commonplace import events
from commonplace.client.paths import daemon_files
from commonplace.daemon.serve import serve
from commonplace.daemon.service.state_files import Log, log_everything_to
from commonplace.errors import VaultUnavailable
from commonplace.settings.harmless import SettingsWriter


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Log]:
    (tmp_path / "logs").mkdir()
    made = Log(tmp_path / "logs" / "serve.log", most_bytes=10_000, older=2)
    yield made
    made.close()


@pytest.fixture
def taken_over(log: Log, monkeypatch: pytest.MonkeyPatch) -> Iterator[Log]:
    """The log of this process. Other tests use libraries that change their own loggers."""
    for name in ("mcp", "mcp.server", "uvicorn", "uvicorn.error"):
        for attribute, value in {"level": logging.NOTSET, "propagate": True, "disabled": False}.items():
            monkeypatch.setattr(logging.getLogger(name), attribute, value)
    root, hooks = logging.getLogger(), (sys.excepthook, threading.excepthook)
    before = (root.handlers[:], root.level)
    log_everything_to(log)
    yield log
    events.pass_to(None)
    root.handlers[:], root.level = before
    sys.excepthook, threading.excepthook = hooks


def lines(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "logs" / "serve.log").read_text().splitlines()]


def test_an_event_is_a_json_line_with_its_time(taken_over: Log, tmp_path: Path) -> None:
    """Not on standard error, where nobody looks."""
    events.emit("vault_locked", level="warning", path="a.md")
    (line,) = lines(tmp_path)

    assert line.pop("at").endswith("Z")
    assert line == {"level": "warning", "event": "vault_locked", "path": "<note fecccc97>"}


def test_a_full_log_becomes_an_older_one_and_few_are_kept(log: Log, tmp_path: Path) -> None:
    """No file is larger than was asked for, and none is kept beyond the number asked for."""
    for number in range(1000):
        log.write("info", "counted", {"number": number})
    files = sorted((tmp_path / "logs").iterdir())

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

    assert {file.stat().st_mode & 0o777 for file in (tmp_path / "logs").iterdir()} == {0o600}


def test_an_error_is_told_by_kind_and_place_and_not_by_its_words(taken_over: Log, tmp_path: Path) -> None:
    """The words of an error may quote a note, a prompt or a token."""
    try:
        int("the secret diary")
    except ValueError as error:
        events.emit("unexpected_error", level="error", exc_info=error)
    (line,) = lines(tmp_path)

    assert line["error"] == "ValueError"
    assert line["through"][-1].startswith("test_daemon_log.py:")
    assert "diary" not in (tmp_path / "logs" / "serve.log").read_text()


def test_what_a_library_says_is_kept_without_what_it_quotes(taken_over: Log, tmp_path: Path) -> None:
    """Its name, the place and the kind of error; the words of the HTTP server alone, which quotes nothing."""
    logging.getLogger("mcp.server").error("failed on 'the secret diary'")
    logging.getLogger("uvicorn.error").warning("Invalid HTTP request received.")
    first, second = lines(tmp_path)

    assert (first["event"], first["by"]) == ("library_said", "mcp.server")
    assert "said" not in first
    assert second["said"] == "Invalid HTTP request received."


def test_a_disk_that_takes_no_line_costs_the_line_and_nothing_else(
    log: Log, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever tells of an event goes on: a request is answered also where the disk is full."""

    def full(file: int, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as broken:
        broken.setattr(os, "write", full)
        events.pass_to(log.write)
        events.emit("memory_context", level="error", chars=5)
        events.pass_to(None)
    log.write("info", "after", {})

    assert json.loads((tmp_path / "logs" / "serve.log").read_text())["event"] == "after"


def test_a_log_that_cannot_be_begun_anew_writes_into_no_other_file(log: Log, tmp_path: Path) -> None:
    """A file that was opened meanwhile, such as a database, must not get the log's number, and with it its lines."""
    for number in range(120):
        log.write("info", "counted", {"number": number, "what": "x" * 40})
    shutil.rmtree(tmp_path / "logs")
    log.write("info", "one too many", {"what": "x" * 9_000})
    database = tmp_path / "index.db"
    with database.open("wb"), (tmp_path / "other.db").open("wb"):
        log.write("info", "written elsewhere", {})

    assert database.read_bytes() == (tmp_path / "other.db").read_bytes() == b""


def test_an_entry_is_told_by_its_folder_and_the_end_of_its_id(log: Log, tmp_path: Path) -> None:
    """Its name is made of its words, and those of what is staged too; other notes are told by their paths."""
    staged = "Agent/Memory/_staging/Agent-Memory-fact-2026-11-takes-zanzitol-a34cb7-17bbb2.md"
    log.write("info", "vault_remember", {"path": "Agent/Memory/fact/2026-11/takes-zanzitol-a34cb7.md", "to": staged})
    log.write("info", "vault_write", {"path": "People/Ada.md"})
    first, second = map(json.loads, (tmp_path / "logs" / "serve.log").read_text().splitlines())

    assert (first["path"], first["to"]) == (
        "Agent/Memory/fact/2026-11/...-a34cb7.md",
        "Agent/Memory/_staging/...-17bbb2.md",
    )
    assert second["path"] == "<note 50c677a0>"


def test_a_log_that_cannot_be_opened_is_said_before_anything_is_served() -> None:
    """With its path and what to do, not as a bug of ours."""
    where = daemon_files()
    where.make_folders()
    where.log.mkdir()

    with pytest.raises(VaultUnavailable, match="log cannot be opened") as refused:
        serve(flags={}, ready=lambda state: None, writer=SettingsWriter(save=print, remove=print))
    assert refused.value.path == str(where.log)
