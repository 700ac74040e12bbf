"""A fault of ours, as the daemon's log has it."""

import json
from pathlib import Path

from commonplace import events
from commonplace.daemon.log import Log
from commonplace.memory import Memory
from commonplace.model import Caller
from tests.unit.mcp_server.host import Host


def test_a_fault_is_logged_with_its_kind_and_its_place(tmp_path: Path) -> None:
    """The model is told that the person finds it there, so it must be there; its words, which may quote, are not."""

    def broken(caller: Caller) -> Memory:
        raise RuntimeError("secret detail")

    log = Log(tmp_path / "serve.log", most_bytes=10_000, older=0)
    events.pass_to(log.write)
    try:
        Host(broken).call("memory_search", query="x")
    finally:
        events.pass_to(None)
        log.close()
    (line,) = map(json.loads, (tmp_path / "serve.log").read_text().splitlines())

    assert (line["event"], line["error"]) == ("mcp_call_failed", "RuntimeError")
    assert line["through"][-1].startswith("test_logged_faults.py:")
    assert "secret" not in json.dumps(line)
