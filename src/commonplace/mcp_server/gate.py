"""The gate before every call: each caller sees and does what their scopes allow, and errors leave in one shape."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeVar

import mcp_types
from fastmcp.exceptions import ValidationError
from fastmcp.prompts.base import Prompt, PromptResult
from fastmcp.resources.base import ResourceResult
from fastmcp.resources.template import ResourceTemplate
from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from fastmcp.tools import Tool, ToolResult

from commonplace.errors import CommonplaceError, NotFound
from commonplace.mcp_server.door import Door
from commonplace.mcp_server.failures import Failed, as_protocol_error, as_result, wrong_arguments
from commonplace.mcp_server.turns import READS, WRITES, Turns
from commonplace.model import Scope

Back = TypeVar("Back")


class Gate(Middleware):
    """Asks for the scope of what is called; a tool that only reads wants `read`, any other `write`.

    It lists and runs the tools itself. FastMCP would look up for each call what the session has switched off: nothing
    here hangs on a session, and what that loads takes the first call half a second.
    """

    def __init__(self, door: Door, tools: Sequence[Tool]) -> None:
        self._door = door
        self._tools: Mapping[str, Tool] = {tool.name: tool for tool in tools}
        self._turns = {"read": Turns(*READS), "write": Turns(*WRITES)}

    async def on_list_tools(
        self, context: MiddlewareContext[mcp_types.ListToolsRequest], call_next: CallNext[Any, Sequence[Tool]]
    ) -> Sequence[Tool]:
        """The tools that the caller may call."""
        return [tool for tool in self._tools.values() if self._may(scope_of(tool))]

    async def on_list_prompts(
        self, context: MiddlewareContext[mcp_types.ListPromptsRequest], call_next: CallNext[Any, Sequence[Prompt]]
    ) -> Sequence[Prompt]:
        """The prompts, for a caller that may read."""
        return await call_next(context) if self._may("read") else []

    async def on_list_resource_templates(
        self,
        context: MiddlewareContext[mcp_types.ListResourceTemplatesRequest],
        call_next: CallNext[Any, Sequence[ResourceTemplate]],
    ) -> Sequence[ResourceTemplate]:
        """The resource templates, for a caller that may read."""
        return await call_next(context) if self._may("read") else []

    async def on_call_tool(
        self,
        context: MiddlewareContext[mcp_types.CallToolRequestParams],
        call_next: CallNext[mcp_types.CallToolRequestParams, ToolResult],
    ) -> ToolResult:
        """What the tool answers; an error is an answer too, with its reason."""
        try:
            tool = self._named(context.message.name)
            self._door.check(scope_of(tool))
            async with self._turns[scope_of(tool)].of(self._door.caller_of().name):
                return await tool.run(context.message.arguments or {})
        except Failed as failed:
            return as_result(failed.error)
        except CommonplaceError as error:
            return as_result(error)
        except ValidationError as error:
            return as_result(wrong_arguments(error, name=tool.name, known=[*tool.parameters["properties"]]))

    async def on_read_resource(
        self,
        context: MiddlewareContext[mcp_types.ReadResourceRequestParams],
        call_next: CallNext[mcp_types.ReadResourceRequestParams, ResourceResult],
    ) -> ResourceResult:
        """What the resource says; an error is one of the protocol."""
        return await self._read(lambda: call_next(context))

    async def on_get_prompt(
        self,
        context: MiddlewareContext[mcp_types.GetPromptRequestParams],
        call_next: CallNext[mcp_types.GetPromptRequestParams, PromptResult],
    ) -> PromptResult:
        """The prompt; an error is one of the protocol."""
        return await self._read(lambda: call_next(context))

    def _named(self, name: str) -> Tool:
        if tool := self._tools.get(name):
            return tool
        raise NotFound(f"no tool is called {name[:80]!r}", hint=f"Tools: {', '.join(self._tools)}.")

    def _may(self, scope: Scope) -> bool:
        try:
            return self._door.caller_of().may(scope)
        except CommonplaceError as error:
            raise as_protocol_error(error) from error

    async def _read(self, call: Callable[[], Awaitable[Back]]) -> Back:
        try:
            self._door.check("read")
            return await call()
        except Failed as failed:
            raise as_protocol_error(failed.error) from failed
        except CommonplaceError as error:
            raise as_protocol_error(error) from error


def scope_of(tool: Tool) -> Scope:
    """The scope that a tool wants."""
    return "read" if tool.annotations and tool.annotations.read_only_hint else "write"
