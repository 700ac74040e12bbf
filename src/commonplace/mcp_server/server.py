"""The MCP server: tools, resources, prompts and instructions over the memory of whoever calls."""

from collections.abc import Callable
from importlib.metadata import version

from fastmcp import FastMCP

from commonplace.mcp_server.conversation_tools import conversation_tools
from commonplace.mcp_server.door import Door, caller_of_request
from commonplace.mcp_server.entry_tools import entry_tools
from commonplace.mcp_server.gate import Gate
from commonplace.mcp_server.instructions import INSTRUCTIONS
from commonplace.mcp_server.memory_tools import memory_tools
from commonplace.mcp_server.note_tools import note_tools
from commonplace.mcp_server.prompts import prompts_of
from commonplace.mcp_server.resources import note_template
from commonplace.memory import MemoryFor
from commonplace.model import Caller


def make_server(memory_for: MemoryFor, *, caller_of: Callable[[], Caller] = caller_of_request) -> FastMCP[None]:
    """The server, to be mounted or asked in this process. It keeps nothing between two calls.

    `memory_for` gives the memory for a caller, `caller_of` the caller of the call that is being answered.
    """
    door = Door(memory_for, caller_of)
    tools = [*memory_tools(door), *entry_tools(door), *note_tools(door), *conversation_tools(door)]
    server: FastMCP[None] = FastMCP(
        "commonplace",
        INSTRUCTIONS,
        version=version("commonplace"),
        tools=tools,
        middleware=[Gate(door, tools)],
        mask_error_details=True,
        dereference_schemas=False,  # they are made so
    )
    server.add_template(note_template(door))
    for prompt in prompts_of(door):
        server.add_prompt(prompt)
    return server
