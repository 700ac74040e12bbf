"""What a proxy reads in a message, checked against the library that the daemon's MCP is made with."""

import json

import pytest
from mcp.shared.inbound import InboundModernRoute, classify_inbound_request, decode_header_value

from commonplace.client.stdio import (
    Handshake,
    InvalidMessage,
    as_header,
    error_line_from_http,
    headers_of,
    read_message,
)

MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}

_VERSION = "io.modelcontextprotocol/protocolVersion"


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("tools/list", {}),
        ("tools/call", {"name": "memory_search", "arguments": {"query": "tank"}}),
        ("prompts/get", {"name": " rückblick"}),
        ("resources/read", {"uri": "vault://note/Ideen/Küche.md"}),
    ],
)
def test_a_sessionless_message_is_repeated_in_the_headers_that_the_daemon_checks(
    method: str, params: dict[str, object]
) -> None:
    """The server of the protocol of 2026 refuses a message whose headers say something else, or nothing."""
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": MODERN}}
    headers = {name.lower(): value for name, value in headers_of(message).items()}

    assert isinstance(classify_inbound_request(message, headers=headers), InboundModernRoute)
    assert isinstance(classify_inbound_request(message, headers={}), InboundModernRoute) is False


@pytest.mark.parametrize("text", ["plain", "with blanks", " edge", "ümlaut", "two\nlines", "=?base64?eA==?=", ""])
def test_any_text_survives_a_header(text: str) -> None:
    """What a header cannot hold goes in base64, and comes out as it was."""
    assert decode_header_value(as_header(text)) == text


def test_messages_of_old_clients_need_no_such_headers() -> None:
    """They agreed on a protocol once, in their handshake."""
    assert headers_of({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "x"}}) == {}


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"{nonsense", -32700),
        (b"\xff\xfe{}", -32700),
        (b"[" * 200_000, -32700),
        (b'[{"jsonrpc": "2.0"}]', -32600),
        (b'"text"', -32600),
        (b'{"jsonrpc": "2.0", "id": {"a": 1}, "method": "ping"}', -32600),
        (b'{"jsonrpc": "2.0", "id": null, "method": "ping"}', -32600),
    ],
)
def test_what_is_no_message_has_an_error_of_json_rpc(line: bytes, code: int) -> None:
    """Bad JSON, bad UTF-8, bottomless nesting, a batch, an id that is none."""
    with pytest.raises(InvalidMessage) as caught:
        read_message(line)

    assert caught.value.code == code


def test_a_refusal_of_the_daemon_is_told_in_its_own_words() -> None:
    """What the guard says reaches the agent, with what to do about it."""
    said = {"type": "Refused", "reason": "rate", "message": "too many requests", "hint": "Wait a second."}
    line = error_line_from_http({"id": 7}, status=429, body=json.dumps({"ok": False, "error": said}).encode())

    assert json.loads(line) == {
        "jsonrpc": "2.0",
        "id": 7,
        "error": {"code": -32603, "message": "too many requests. Wait a second.", "data": said},
    }


def test_an_error_of_mcp_itself_is_passed_on_with_the_id_of_its_request() -> None:
    """The library answers without an id where it could not read the request."""
    body = b'{"jsonrpc": "2.0", "id": null, "error": {"code": -32020, "message": "mismatch"}}'

    assert json.loads(error_line_from_http({"id": "a"}, status=400, body=body)) == {
        "jsonrpc": "2.0",
        "id": "a",
        "error": {"code": -32020, "message": "mismatch"},
    }


def test_an_answer_that_is_nothing_we_know_is_told_by_its_status() -> None:
    """A page of a proxy, or nothing at all."""
    told = json.loads(error_line_from_http({"id": 1}, status=502, body=b"<html>"))

    assert "502" in told["error"]["message"]


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
    with pytest.raises(InvalidMessage, match="a string or an integer"):
        read_message(json.dumps({"jsonrpc": "2.0", "id": id, "method": "ping"}).encode())
