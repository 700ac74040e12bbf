"""The gate: scopes for each tool, and errors in one shape."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from fastmcp import Client
from fastmcp.exceptions import ToolError
from mcp.shared.exceptions import MCPError

from commonplace.errors import NotFound
from commonplace.mcp_server.server import make_server
from commonplace.memory import Memory
from commonplace.model import Caller
from tests.unit.mcp_server.host import Host, told, vault_with
from tests.unit.mcp_server.test_server import READING, TOOLS


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    return vault_with(tmp_path, People__Ada="# Ada\n\nAda works at Acme.\n")


def test_a_caller_sees_the_tools_that_it_may_call(memory: Memory) -> None:
    """With `read` those that read, with `write` all, with nothing none."""
    assert Host(memory, scopes=("read",)).tool_names() == READING
    assert Host(memory, scopes=("write",)).tool_names() == TOOLS
    assert Host(memory, scopes=()).tool_names() == set()


def test_a_call_without_its_scope_is_refused_and_changes_nothing(memory: Memory, tmp_path: Path) -> None:
    """The tools that a caller is not shown cannot be called by it either."""
    host = Host(memory, scopes=("read",))
    changing: dict[str, dict[str, Any]] = {
        "memory_append": {"text": "Ada prefers tea to coffee."},
        "memory_capture": {"text": "Ada prefers tea to coffee."},
        "memory_forget": {"id": "x"},
        "note_write": {"path": "Inbox/x.md", "text": "x"},
        "undo_last": {},
        "conversation_save": {"messages": [{"role": "user", "content": "hello"}]},
        "conversation_close": {"session_id": "x"},
    }
    errors = {tool: host.error(tool, **arguments) for tool, arguments in changing.items()}

    assert set(errors) == TOOLS - READING
    assert {error["reason"] for error in errors.values()} == {"refused"}
    assert all("scope write" in error["hint"] for error in errors.values())
    assert {path.name for path in (tmp_path / "vault").rglob("*.md")} == {"Ada.md"}


def test_a_caller_without_any_scope_reads_nothing(memory: Memory) -> None:
    """Nor by a resource or a prompt, of which it is shown none."""
    host = Host(memory, scopes=())

    assert host.error("memory_search", query="Ada")["reason"] == "refused"
    assert host.speak(lambda client: client.list_prompts()) == []
    assert host.speak(lambda client: client.list_resource_templates()) == []
    for read in (
        lambda client: client.read_resource("vault://note/People/Ada.md"),
        lambda client: client.get_prompt("recall", {"prompt": "Ada"}),
    ):
        with pytest.raises(MCPError) as refused:
            host.speak(read)
        assert refused.value.error.data["reason"] == "refused"


def test_an_error_says_its_reason_what_happened_and_what_to_do(memory: Memory) -> None:
    """As text for hosts that show text, and as the error of every door."""
    result = Host(memory).call("note_read", path="People/Bob.md")

    assert result.is_error
    assert told(result) == "missing: no such note: People/Bob.md. `commonplace note list` shows every note."
    assert result.structured_content == {
        "ok": False,
        "error": {
            "type": "NotFound",
            "reason": "missing",
            "message": "no such note: People/Bob.md",
            "hint": "`commonplace note list` shows every note.",
            "path": "People/Bob.md",
        },
    }


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "query: missing required argument"),
        ({"query": "x", "k": 51}, "k: input should be less than or equal to 50"),
        ({"query": "x", "k": 0}, "k: input should be greater than or equal to 1"),
        ({"query": "x", "session": "s"}, "session: unexpected keyword argument"),
        ({"query": "x" * 4001}, "query: string should have at most 4000 characters"),
    ],
)
def test_wrong_arguments_are_named_shortly_with_those_there_are(
    memory: Memory, arguments: dict[str, object], said: str
) -> None:
    """A model mends its call by that alone."""
    error = Host(memory).error("memory_search", **arguments)

    assert (error["reason"], error["message"]) == ("usage", f"wrong arguments for memory_search: {said}")
    assert error["hint"].startswith("Arguments: query, k, kinds, ")


def test_a_fault_of_ours_is_told_in_the_log_alone(capsys: pytest.CaptureFixture[str]) -> None:
    """No traceback, no path of the program and no word of the fault leaves by the door."""

    def broken(caller: Caller) -> Memory:
        raise RuntimeError("secret detail in /srv/private")

    result = Host(broken).call("memory_search", query="x")
    logged = capsys.readouterr().err

    assert result.is_error
    assert result.structured_content
    assert result.structured_content["error"]["reason"] == "unexpected"
    assert "secret" not in json.dumps(result.structured_content) + told(result)
    assert "secret detail" in logged
    assert "mcp_call_failed" in logged


def test_a_vault_that_is_not_there_is_said_so() -> None:
    """What the daemon raises for a caller reaches that caller."""

    def none_there(caller: Caller) -> Memory:
        raise NotFound("no vault is registered", hint="Run `commonplace init FOLDER` once.")

    error = Host(none_there).error("note_list")

    assert (error["reason"], error["hint"]) == ("missing", "Run `commonplace init FOLDER` once.")


def test_without_a_request_that_was_let_in_nothing_is_served(memory: Memory) -> None:
    """The caller comes from the guard alone: a server that stands behind none serves nobody."""
    server = make_server(lambda caller: memory)

    async def search() -> None:
        async with Client(server) as client:
            await client.call_tool("memory_search", {"query": "Ada"})

    with pytest.raises(ToolError, match="refused: nobody was let in"):
        asyncio.run(search())


def test_a_tool_that_is_not_there_is_said_with_those_that_are(memory: Memory) -> None:
    """A model that guesses a name learns the right one."""
    error = Host(memory).error("memory.search", query="Ada")

    assert (error["reason"], error["message"]) == ("missing", "no tool is called 'memory.search'")
    assert "memory_search" in error["hint"]
