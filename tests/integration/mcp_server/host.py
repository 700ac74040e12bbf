"""A host that speaks to the MCP server in this process, by FastMCP's own client."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import mcp_types
from fastmcp import Client, FastMCP
from fastmcp.client.client import CallToolResult
from fastmcp.client.transports import FastMCPTransport

from commonplace.mcp_server.server import make_server
from commonplace.memory import Memory, MemoryFor
from commonplace.model import SCOPES, Actor, Caller, Scope
from tests.memories import make_memory

Back = TypeVar("Back")
Speaker = Client[FastMCPTransport]


class Host:
    """Calls tools as the named client; `program` is what it calls itself in the protocol."""

    def __init__(
        self,
        memory: Memory | MemoryFor,
        *,
        name: str = "claude-code",
        program: str = "",
        scopes: tuple[Scope, ...] = SCOPES,
        folder: str = "",
    ) -> None:
        caller = Caller(name, frozenset(scopes), folder=folder)
        self.server: FastMCP[None] = make_server(
            (lambda caller: memory.acting(Actor("agent", caller.name))) if isinstance(memory, Memory) else memory,
            caller_of=lambda: caller,
        )
        self._program = mcp_types.Implementation(name=program, version="1") if program else None

    def speak(self, say: Callable[[Speaker], Awaitable[Back]]) -> Back:
        """What comes of some requests over one connection."""

        async def connected() -> Back:
            async with Client(self.server, client_info=self._program) as client:
                return await say(client)

        return asyncio.run(connected())

    def call(self, tool: str, **arguments: Any) -> CallToolResult:
        """The answer of a tool, also where it is an error."""
        return self.speak(lambda client: client.call_tool(tool, arguments, raise_on_error=False))

    def ask(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """What a program is told when all goes well."""
        result = self.call(tool, **arguments, verbose=True)
        assert not result.is_error, result.content
        assert result.structured_content
        return result.structured_content

    def read(self, tool: str, **arguments: Any) -> str:
        """What a model reads when all goes well: text, and nothing beside it."""
        result = self.call(tool, **arguments)
        assert not result.is_error, result.content
        assert result.structured_content is None
        return text_of(result)

    def error(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The error of a call that goes wrong."""
        result = self.call(tool, **arguments)
        assert result.is_error
        assert result.structured_content
        assert result.structured_content["ok"] is False
        error: dict[str, Any] = result.structured_content["error"]
        return error

    def tool_names(self) -> set[str]:
        """The tools that it is shown."""
        return {tool.name for tool in self.speak(lambda client: client.list_tools())}


def text_of(result: CallToolResult) -> str:
    """The text of an answer."""
    (block,) = result.content
    assert isinstance(block, mcp_types.TextContent)
    return block.text


def vault_with(folder: Path, **notes: str) -> Memory:
    """A memory of a person's, whose vault has these notes; two underscores in a name stand for a slash."""
    memory = make_memory(folder)
    for name, text in notes.items():
        file = folder / "vault" / f"{name.replace('__', '/')}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    memory.index.sync()
    return memory
