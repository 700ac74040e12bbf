"""A scripted model that speaks the Responses API, for Codex."""

import json
from collections.abc import Iterator, Mapping
from typing import Any
from uuid import uuid4

from tests.hosts.endpoint import Call, Request, Say, ScriptedModel, Turn


class ScriptedOpenAI(ScriptedModel):
    """Answers `POST .../responses` as server-sent events."""

    def is_a_turn(self, request: Request) -> bool:
        """Codex asks for a summary without tools."""
        return request.path.endswith("/responses") and bool(request.body.get("tools"))

    def tools_in(self, request: Request) -> set[str]:
        """They stand below the server."""
        return {tool["name"] for tool in _ours(request).get("tools", ())}

    @property
    def pastime(self) -> Call:
        """A tool that does nothing."""
        return Call("get_goal", {})

    def stream(self, turn: Turn, request: Request) -> Iterator[Mapping[str, Any]]:
        """A response with one item: a message, or the call of a function."""
        response = {"id": f"resp_{uuid4().hex}", "object": "response", "output": []}
        item = _item(turn, request)
        usage = {"input_tokens": 100, "output_tokens": 5, "total_tokens": 105}
        details = {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
        yield {"type": "response.created", "response": response}
        yield {"type": "response.output_item.added", "output_index": 0, "item": item}
        yield {"type": "response.output_item.done", "output_index": 0, "item": item}
        yield {"type": "response.completed", "response": {**response, "output": [item], "usage": {**usage, **details}}}


def _item(turn: Turn, request: Request) -> dict[str, Any]:
    if isinstance(turn, Say):
        content = [{"type": "output_text", "text": turn.text, "annotations": []}]
        return {"type": "message", "id": f"msg_{uuid4().hex}", "role": "assistant", "content": content}
    call = {"type": "function_call", "id": f"fc_{uuid4().hex}", "call_id": f"call_{uuid4().hex}", "name": turn.tool}
    return {**call, **_space_of(turn.tool, request), "arguments": json.dumps(dict(turn.arguments))}


def _space_of(tool: str, request: Request) -> dict[str, str]:
    """Codex lists the tools of a server together, under a name that each call has to give again."""
    space = _ours(request)
    return {"namespace": space["name"]} if any(each["name"] == tool for each in space.get("tools", ())) else {}


def _ours(request: Request) -> Mapping[str, Any]:
    listed = request.body.get("tools", ())
    return next((tool for tool in listed if tool.get("name") == "mcp__commonplace"), {})
