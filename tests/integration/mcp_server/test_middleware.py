"""Scopes for each tool, and errors in one form."""

import asyncio
import json
from typing import Any

import pytest
from fastmcp import Client
from fastmcp.exceptions import ToolError
from mcp.shared.exceptions import MCPError

from commonplace.errors import NotFound
from commonplace.mcp_server.server import make_server
from commonplace.memory import Memory
from commonplace.model import Caller
from tests.integration.mcp_server.host import Host, text_of
from tests.integration.mcp_server.test_server import READING, TOOLS


def test_a_caller_sees_the_tools_that_it_may_call(ada: Memory) -> None:
    """With `read` those that read, with `write` all, with nothing none."""
    assert Host(ada, scopes=("read",)).tool_names() == READING
    assert Host(ada, scopes=("write",)).tool_names() == TOOLS
    assert Host(ada, scopes=()).tool_names() == set()


def test_a_call_without_its_scope_is_refused_and_changes_nothing(ada: Memory) -> None:
    """Tools that are hidden from a caller cannot be called by it either."""
    host = Host(ada, scopes=("read",))
    changing: dict[str, dict[str, Any]] = {
        "memory_save": {"text": "Ada prefers tea to coffee."},
        "memory_forget": {"id": "x"},
        "note_write": {"path": "Inbox/x.md", "text": "x"},
        "note_propose": {"path": "Inbox/x.md", "text": "x", "why": "x"},
        "profile_edit": {"operations": [{"op": "append", "line": "Likes tea."}]},
        "undo_last": {},
        "conversation_save": {"messages": [{"role": "user", "content": "hello"}]},
        "project_save": {"project": "atlas", "progress": "done"},
        "memory_learn": {"conversation": "s"},
    }
    errors = {tool: host.error(tool, **arguments) for tool, arguments in changing.items()}

    assert set(errors) == TOOLS - READING | {"memory_learn"}
    assert {error["reason"] for error in errors.values()} == {"refused"}
    assert all("scope write" in error["hint"] for error in errors.values())
    assert [note.path for note in ada.notes.list()] == ["People/Ada.md"]


def test_a_caller_without_any_scope_reads_nothing(ada: Memory) -> None:
    """Nor by a resource or a prompt; none is listed."""
    host = Host(ada, scopes=())

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


def test_an_error_says_its_reason_what_happened_and_what_to_do(ada: Memory) -> None:
    """As text for hosts that show text, and with the fields that errors have everywhere."""
    result = Host(ada).call("note_read", path="People/Bob.md")

    assert result.is_error
    assert text_of(result) == "missing: no such note: People/Bob.md. note_list lists all notes."
    assert result.structured_content == {
        "ok": False,
        "error": {
            "type": "NotFound",
            "reason": "missing",
            "message": "no such note: People/Bob.md",
            "hint": "note_list lists all notes.",
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
def test_wrong_arguments_are_named_with_all_that_exist(ada_host: Host, arguments: dict[str, object], said: str) -> None:
    """That is enough for a model to correct its call."""
    error = ada_host.error("memory_search", **arguments)

    assert (error["reason"], error["message"]) == ("usage", f"wrong arguments for memory_search: {said}")
    assert error["hint"].startswith("Arguments: query, source, k, ")


def test_an_unexpected_error_is_described_only_in_the_log(capsys: pytest.CaptureFixture[str]) -> None:
    """The client sees no traceback, no path and nothing of the message."""

    def broken(caller: Caller) -> Memory:
        raise RuntimeError("secret detail in /srv/private")

    result = Host(broken).call("memory_search", query="x")
    logged = capsys.readouterr().err

    assert result.is_error
    assert result.structured_content
    assert result.structured_content["error"]["reason"] == "unexpected"
    assert "secret" not in json.dumps(result.structured_content) + text_of(result)
    assert "secret detail" in logged
    assert "mcp_call_failed" in logged


def test_a_missing_vault_is_reported() -> None:
    """The caller sees the error that the daemon raised."""

    def none_there(caller: Caller) -> Memory:
        raise NotFound("no vault is registered", hint="Run `commonplace init FOLDER` once.")

    error = Host(none_there).error("note_list")

    assert (error["reason"], error["hint"]) == ("missing", "Tell the person: Run `commonplace init FOLDER` once.")


def test_a_request_without_a_caller_is_refused(ada: Memory) -> None:
    """Only the daemon's guard provides the caller: without it the server serves nothing."""
    server = make_server(lambda caller: ada)

    async def search() -> None:
        async with Client(server) as client:
            await client.call_tool("memory_search", {"query": "Ada"})

    with pytest.raises(ToolError, match="refused: the request has no authenticated caller"):
        asyncio.run(search())


def test_an_unknown_tool_is_refused_with_the_names_of_all(ada: Memory) -> None:
    """A model that guesses a name sees the right one."""
    error = Host(ada).error("memory.search", query="Ada")

    assert (error["reason"], error["message"]) == ("missing", "no tool is called 'memory.search'")
    assert "memory_search" in error["hint"]
