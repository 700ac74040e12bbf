"""Tools out of plain functions: their names, what they tell of themselves, and how their answers leave."""

import functools
from collections.abc import Callable
from typing import Any

from fastmcp.tools import Tool, ToolResult
from fastmcp.utilities.json_schema import dereference_refs
from mcp_types import ToolAnnotations

from commonplace.mcp_server.answers import Answer, schema_of
from commonplace.mcp_server.failures import failing

Call = Callable[..., dict[str, Any]]
"""A tool's own work: what it answers, without `ok`. Errors are raised."""

READS = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
ADDS = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
"""Adds something; the same once more changes nothing."""

CHANGES = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False)
TAKES_BACK = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=False, open_world_hint=False)


def tool(
    name: str,
    call: Call,
    *,
    title: str,
    says: str,
    hints: ToolAnnotations,
    answers: type[Answer],
    shown: Callable[[dict[str, Any]], str] | None = None,
) -> Tool:
    """The tool that makes this call. `shown` is its answer as text, for hosts that show no structure; else JSON."""

    @functools.wraps(call)
    def answer(*args: Any, **kwargs: Any) -> ToolResult:
        values = call(*args, **kwargs)
        return ToolResult(content=shown(values) if shown else None, structured_content={"ok": True, **values})

    made = Tool.from_function(
        failing(answer),
        name=name,
        title=title,
        description=says,
        annotations=hints.model_copy(update={"title": title}),
        output_schema=schema_of(answers),
    )
    return made.model_copy(update={"parameters": dereference_refs(made.parameters)})  # some hosts follow no reference
