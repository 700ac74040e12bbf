"""Builds an MCP tool from a plain method.

The method takes the tool's arguments, returns a TypedDict and raises CommonplaceError. The tool answers with text for a
model. Claude Code, Codex and VS Code show a model the structured content alone if there is any, other hosts the text
alone: so the text says all that a model needs, and the structured content, which has every field and `ok`, comes only
if the argument `verbose` asks for it. A model may read either, so marks and hidden characters are broken in both.
"""

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any, Final

from fastmcp.tools import Tool, ToolResult
from fastmcp.utilities.json_schema import dereference_refs
from mcp_types import ToolAnnotations
from pydantic_core import to_jsonable_python

from commonplace.mcp_server.errors import converting_errors
from commonplace.model.untrusted_text import break_marks, break_values

READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
ADDS = ToolAnnotations(destructive_hint=False, idempotent_hint=True, open_world_hint=False)
"""Adds something; repeating the call changes nothing."""

CHANGES = ToolAnnotations(destructive_hint=True, idempotent_hint=True, open_world_hint=False)
TAKES_BACK = ToolAnnotations(destructive_hint=True, open_world_hint=False)

_VERBOSE: Final = inspect.Parameter("verbose", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=bool)
"""Adds the JSON, for programs. Every tool takes it and none lists it: a model, which reads each list, has no use for
it."""

_LISTED: Final = frozenset({"type", "description", "enum", "items", "properties", "required"})
_NEAR: Final = 150  # characters: a model that says what is asked for may reach such a limit, and no longer one
"""What the list of tools says about an argument. Bounds and defaults are checked, and named in the error."""


def tool(
    name: str,
    method: Callable[..., Mapping[str, Any] | ToolResult],
    *,
    title: str,
    description: str,
    hints: ToolAnnotations,
    text: Callable[[Mapping[str, Any]], str],
    is_fenced: bool = False,
) -> Tool:
    """The tool that calls `method`; `text` is what a model reads of its answer. A ToolResult is sent as it is.

    `is_fenced`: the answer is a context, broken already, in which only our own marks stand.
    """
    signature = inspect.signature(method)

    @functools.wraps(method)
    def answer(*args: Any, verbose: bool = False, **kwargs: Any) -> ToolResult:
        values = method(*args, **kwargs)
        if isinstance(values, ToolResult):
            return values
        content = text(values) if is_fenced else break_marks(text(values))
        if not verbose:
            return ToolResult(content=content)
        fields = break_values(to_jsonable_python({"ok": True, **values}))
        if is_fenced:
            fields["text"] = values["text"]
        return ToolResult(content=content, structured_content=fields)

    parameters = [*signature.parameters.values(), _VERBOSE]
    answer.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=parameters, return_annotation=ToolResult
    )
    answer.__annotations__ = {**method.__annotations__, "verbose": bool, "return": ToolResult}
    made = Tool.from_function(
        converting_errors(answer),
        name=name,
        title=title,
        description=description,
        annotations=hints,
        output_schema=None,
    )
    listed = listed_schema(dereference_refs(made.parameters))  # some hosts follow no reference
    del listed["properties"][_VERBOSE.name]
    return made.model_copy(update={"parameters": listed})


def listed_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of arguments as the list of tools shows it: every model reads it, so it is short."""
    listed = {name: value for name, value in schema.items() if name in _LISTED}
    if schema.get("maxLength", _NEAR) < _NEAR:
        listed["maxLength"] = schema["maxLength"]
    if "properties" in listed:
        listed["properties"] = {name: listed_schema(each) for name, each in listed["properties"].items()}
    if "items" in listed:
        listed["items"] = listed_schema({name: each for name, each in listed["items"].items() if name != "description"})
    return listed
