"""Builds an MCP tool from a plain method.

The method takes the tool's arguments, returns a TypedDict and raises CommonplaceError. The output schema is derived
from its return type. Every answer has `ok`: if true, the fields of the return type; if false, `error` instead. Clients
reject an answer that does not fit the schema, so the schema admits both and requires only `ok`.
"""

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any, Final

from fastmcp.tools import Tool, ToolResult
from fastmcp.utilities.json_schema import compress_schema, dereference_refs
from mcp_types import ToolAnnotations
from pydantic import TypeAdapter

from commonplace.mcp_server.errors import converting_errors
from commonplace.memory.shapes import ErrorShape

READS = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
ADDS = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
"""Adds something; repeating the call changes nothing."""

CHANGES = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False)
TAKES_BACK = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=False, open_world_hint=False)

_OUTLINED: Final = frozenset({"FactShape", "FactSnapshotShape"})
"""Shapes whose fields the schemas leave out: five tools answer with facts, which have over 30 fields each."""


def tool(
    name: str,
    method: Callable[..., Mapping[str, Any]],
    *,
    title: str,
    description: str,
    hints: ToolAnnotations,
    text: Callable[[Mapping[str, Any]], str] | None = None,
) -> Tool:
    """The tool that calls `method`. `text` renders the answer for hosts that show text only; JSON if None."""
    signature = inspect.signature(method)

    @functools.wraps(method)
    def answer(*args: Any, **kwargs: Any) -> ToolResult:
        values = method(*args, **kwargs)
        return ToolResult(content=text(values) if text else None, structured_content={"ok": True, **values})

    # FastMCP would derive a second schema from the method's return type.
    answer.__signature__ = signature.replace(return_annotation=ToolResult)  # type: ignore[attr-defined]
    made = Tool.from_function(
        converting_errors(answer),
        name=name,
        title=title,
        description=description,
        annotations=hints.model_copy(update={"title": title}),
        output_schema=output_schema(signature.return_annotation),
    )
    return made.model_copy(update={"parameters": dereference_refs(made.parameters)})  # some hosts follow no reference


def output_schema(shape: type) -> dict[str, Any]:
    """The JSON schema of a tool's answer: the fields of `shape`, or an error. It has no references."""
    schema = TypeAdapter(shape).json_schema(mode="serialization")
    definitions = schema.get("$defs", {})
    for name in _OUTLINED & definitions.keys():
        definitions[name] = {"type": "object", "additionalProperties": True}
    error = TypeAdapter(ErrorShape).json_schema()
    error["properties"]["reason"] = {"type": "string"}  # each tool would list all reasons
    envelope = {"ok": {"type": "boolean"}, "error": error}
    schema |= {"properties": envelope | schema["properties"], "required": ["ok"]}
    return compress_schema(schema, prune_titles=True, dereference=True)
