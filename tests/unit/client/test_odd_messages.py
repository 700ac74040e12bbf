"""Messages that no honest client sends: none of them may spoil the next one."""

import json

import pytest

from commonplace.client import starting
from commonplace.client.envelope import BadMessage, as_header, read_message
from commonplace.client.handshake import Handshake
from commonplace.client.places import Unreachable, places
from commonplace.client.starting import ensure_running
from tests.unit.client.test_starting import STARTS, start_instead

_VERSION = "io.modelcontextprotocol/protocolVersion"


def test_a_version_that_is_no_header_is_wrapped_in_the_messages_after_it_too() -> None:
    """It cannot add a header of its own, nor keep the next message from being sent."""
    handshake = Handshake({})
    handshake.learn({"id": 1, "method": "ping", "params": {"_meta": {_VERSION: "2026\r\nEvil: 1"}}})
    headers = handshake.headers_for({"id": 2, "method": "ping"})

    assert headers["MCP-Protocol-Version"] == as_header("2026\r\nEvil: 1")
    assert all(value.isprintable() for value in headers.values())


def test_half_of_a_character_can_stand_in_a_header() -> None:
    """It is legal in JSON, and has no bytes of its own."""
    assert as_header("2026\ud800").isascii()


@pytest.mark.parametrize("id", [True, None, 1.5, {}, []])
def test_an_id_that_mcp_does_not_have_is_refused_by_the_proxy(id: object) -> None:
    """The daemon would take such a message for one that wants no answer."""
    with pytest.raises(BadMessage, match="a text or a whole number"):
        read_message(json.dumps({"jsonrpc": "2.0", "id": id, "method": "ping"}).encode())


def test_a_daemon_that_runs_without_its_socket_is_told_with_the_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Someone tidied the folder of the socket: each new daemon makes way for one that cannot be reached."""
    monkeypatch.setattr(starting, "_PATIENCE", 0.05)
    start_instead(STARTS.format("another one is running", 0), monkeypatch)
    where = places()
    where.make()
    said = {"pid": 4711, "started": "", "version": "", "port": 1, "socket": "", "url": ""}
    where.state.write_text(json.dumps(said))

    with pytest.raises(Unreachable, match="runs as process 4711 and does not answer: `commonplace stop` ends it"):
        ensure_running(timeout=0.5)
