"""A plain call of a tool is answered as the SDK answers it, and everything else is left to the SDK."""

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS

from commonplace.mcp_server.direct_calls import plain_call
from commonplace.mcp_server.server import McpServer, make_mcp
from commonplace.model import SCOPES, Actor, Caller
from tests.integration.mcp_server.host import vault_with

CALLER = Caller("zed", frozenset(SCOPES))
READER = Caller("zed", frozenset({"read"}))
ACCEPT = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "text alone": ("note_read", {"path": "Ada.md"}),
    "every field": ("note_read", {"path": "Ada.md", "verbose": True}),
    "a search": ("memory_search", {"query": "Ada <system>tea</system>"}),
    "facts": ("memory_facts", {"entity": "Ada", "verbose": True}),
    "an error of ours": ("note_read", {"path": "Nobody.md"}),
    "a missing argument": ("note_read", {}),
    "a wrong argument": ("memory_search", {"query": "tea", "k": "many"}),
    "unknown arguments": ("memory_search", {"query": "tea", "colour": "blue"}),
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[McpServer]:
    """A server over a vault of two notes; the tests only read it."""
    folder = tmp_path_factory.mktemp("mcp")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CONFIG_HOME", str(folder))
        memory = vault_with(folder, Ada="# Ada\n\nAda drinks tea. \u200b\n", Bo="# Bo\n\n- knows [[Ada]]\n")
    with memory:
        yield make_mcp(lambda caller: memory.acting(Actor("agent", caller.name)), caller_of=lambda: CALLER)


def request(tool: str, arguments: dict[str, Any], version: str) -> tuple[dict[str, str], dict[str, Any]]:
    """The headers and the body of a call in that version of the protocol."""
    headers = {**ACCEPT, "mcp-protocol-version": version}
    params: dict[str, Any] = {"name": tool, "arguments": arguments}
    if version in MODERN_PROTOCOL_VERSIONS:
        about = {"protocolVersion": version, "clientCapabilities": {}, "clientInfo": {"name": "zed", "version": "1"}}
        params["_meta"] = {f"io.modelcontextprotocol/{name}": value for name, value in about.items()}
        headers |= {"mcp-method": "tools/call", "mcp-name": tool}
    return headers, {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params}


def raw(headers: dict[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.encode(), value.encode()) for name, value in headers.items()]


def by_sdk(server: McpServer, headers: dict[str, str], body: dict[str, Any]) -> Any:
    app = server.server.http_app(path="/mcp", stateless_http=True, json_response=True, host_origin_protection=False)

    async def ask() -> Any:
        async with app.lifespan(app):
            transport = httpx2.ASGITransport(app=app)
            async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
                return (await client.post("/mcp", headers=headers, json=body)).json()

    return asyncio.run(ask())


def without_times(answer: Any) -> Any:
    structured = answer["result"].get("structuredContent", {})
    for name in ("took_ms", "times"):
        structured.pop(name, None)
    return answer


@pytest.mark.parametrize("version", [*HANDSHAKE_PROTOCOL_VERSIONS, *MODERN_PROTOCOL_VERSIONS])
@pytest.mark.parametrize("case", CASES)
def test_a_plain_call_is_answered_as_the_sdk_answers_it(server: McpServer, case: str, version: str) -> None:
    """The same result in every version of the protocol, also where it is an error."""
    headers, body = request(*CASES[case], version)
    call = plain_call(raw(headers), json.dumps(body).encode())

    assert call is not None
    assert call.client == ("zed" if version in MODERN_PROTOCOL_VERSIONS else "")
    direct = json.loads(call.response(server.calls.answer(call, CALLER)))
    assert without_times(direct) == without_times(by_sdk(server, headers, body))


def test_a_plain_call_needs_the_scope_of_its_tool(server: McpServer) -> None:
    """A caller that may only read saves nothing."""
    headers, body = request("memory_save", {"text": "Likes rain."}, "2025-06-18")
    call = plain_call(raw(headers), json.dumps(body).encode())

    assert call is not None
    assert server.calls.scope_of("memory_save") == "write"
    assert b"no permission to write" in server.calls.answer(call, READER)


BODY = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "note_read", "arguments": {}}}


@pytest.mark.parametrize(
    ("headers", "body"),
    [
        ({**ACCEPT, "content-type": "text/plain"}, BODY),
        ({**ACCEPT, "accept": "text/html"}, BODY),
        ({**ACCEPT, "mcp-session-id": "1"}, BODY),
        ({**ACCEPT, "mcp-protocol-version": "1999-01-01"}, BODY),
        ({**ACCEPT, "mcp-protocol-version": "2026-07-28"}, BODY),
        (ACCEPT, [BODY]),
        (ACCEPT, "not an object"),
        (ACCEPT, {**BODY, "jsonrpc": "1.0"}),
        (ACCEPT, {**BODY, "method": "tools/list"}),
        (ACCEPT, {**BODY, "id": True}),
        (ACCEPT, {**BODY, "id": None}),
        (ACCEPT, {**BODY, "more": 1}),
        (ACCEPT, {**BODY, "params": None}),
        (ACCEPT, {**BODY, "params": {"name": 5}}),
        (ACCEPT, {**BODY, "params": {"name": "note_read", "arguments": []}}),
        (ACCEPT, {**BODY, "params": {"name": "note_read", "task": {}}}),
    ],
)
def test_what_is_not_a_plain_call_is_left_to_the_sdk(headers: dict[str, str], body: Any) -> None:
    """Whatever is unusual or wrong about a request, the SDK says so."""
    assert plain_call(raw(headers), json.dumps(body).encode()) is None
    assert plain_call(raw(headers), b"{") is None


def test_a_tool_that_asks_the_clients_model_is_left_to_the_sdk(server: McpServer) -> None:
    """It needs to know what the client offers."""
    assert server.calls.scope_of("memory_learn") is None
    assert server.calls.scope_of("no_such_tool") is None
