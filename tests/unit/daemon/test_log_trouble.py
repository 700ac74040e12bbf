"""The log when the disk says no, and what it tells of entries."""

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from commonplace import events
from commonplace.client.places import places
from commonplace.client.state import State
from commonplace.daemon.log import Log
from commonplace.daemon.serving import serve
from commonplace.daemon.single import claimed
from commonplace.errors import VaultUnavailable

STATE = State(1, "2026-03-01T09:12:44Z", "0.1.0", 8377, "/s", "http://127.0.0.1:8377")


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Log]:
    (tmp_path / "logs").mkdir()
    made = Log(tmp_path / "logs" / "serve.log", most_bytes=10_000, older=2)
    yield made
    made.close()


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
    assert second["path"] == "People/Ada.md"


def test_a_log_that_cannot_be_opened_is_said_before_anything_is_served() -> None:
    """With its path and what to do, not as a bug of ours."""
    where = places()
    where.make()
    where.log.mkdir()

    with pytest.raises(VaultUnavailable, match="log cannot be opened") as refused:
        serve(flags={}, ready=lambda state: None)
    assert refused.value.path == str(where.log)


def test_a_daemon_that_cannot_write_where_it_listens_says_so() -> None:
    """The disk is full, or the place is taken by something else."""
    where = places()
    with claimed(where) as claim:
        assert claim
        where.state.mkdir()
        with pytest.raises(VaultUnavailable, match="cannot be written down"):
            claim.announce(STATE)
        where.state.rmdir()
