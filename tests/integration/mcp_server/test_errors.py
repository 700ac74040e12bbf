"""An unexpected error in the daemon's log."""

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from commonplace import events
from commonplace.daemon.service.state_files import Log
from commonplace.errors import UsageError
from commonplace.mcp_server import server
from commonplace.mcp_server.errors import argument_error
from commonplace.memory import Memory
from commonplace.model import Caller
from tests.integration.mcp_server.host import Host


def test_an_unexpected_error_is_logged_with_its_type_and_place(tmp_path: Path) -> None:
    """The model is told to look there. The message itself is left out: it may quote notes."""

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
    assert line["through"][-1].startswith("test_errors.py:")
    assert "secret" not in json.dumps(line)


def test_many_unknown_arguments_make_few_errors(ada_host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    """A model is told of three; building an error for each of the others would hold up all callers."""
    causes: list[ValidationError] = []

    def noted(error: Exception, **about: Any) -> UsageError:
        causes.append(error.__cause__)  # type: ignore[arg-type]
        return argument_error(error, **about)

    monkeypatch.setattr(server, "argument_error", noted)
    error = ada_host.error("memory_search", query="x", **{f"k{number}": 1 for number in range(10_000)})

    assert "k0: unexpected keyword argument; k1: unexpected" in error["message"]
    assert causes[0].error_count() == 3
