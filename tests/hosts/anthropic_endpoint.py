"""A scripted model that speaks the Messages API, for Claude Code."""

import json
from collections.abc import Iterator, Mapping
from typing import Any
from uuid import uuid4

from tests.hosts.endpoint import Call, Request, Say, ScriptedModel, Turn


class ScriptedAnthropic(ScriptedModel):
    """Answers `POST /v1/messages` as server-sent events."""

    def is_a_turn(self, request: Request) -> bool:
        """Claude Code asks for a title and the like without tools."""
        return request.path.endswith("/messages") and bool(request.body.get("tools"))

    def tools_in(self, request: Request) -> set[str]:
        """Their full names begin with the server's, and with the plugin's where it is one's."""
        return {name.partition("commonplace__")[2] for name in self.full_names_in(request)}

    def full_names_in(self, request: Request) -> list[str]:
        """The tools of Commonplace as the host lists them, as often as it lists them."""
        return [name for name in _listed(request) if "commonplace__" in name]

    @property
    def pastime(self) -> Call:
        """Claude Code has a tool for it."""
        return Call("WaitForMcpServers", {})

    def stream(self, turn: Turn, request: Request) -> Iterator[Mapping[str, Any]]:
        """A message with one block: text, or the use of a tool."""
        usage = {"input_tokens": 100, "output_tokens": 1}
        message = {"id": f"msg_{uuid4().hex}", "type": "message", "role": "assistant", "content": [], "usage": usage}
        model = request.body.get("model", "scripted")
        yield {"type": "message_start", "message": {**message, "model": model, "stop_reason": None}}
        yield from _block(turn, request)
        reason = "tool_use" if isinstance(turn, Call) else "end_turn"
        yield {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 5}}
        yield {"type": "message_stop"}


def _block(turn: Turn, request: Request) -> Iterator[Mapping[str, Any]]:
    if isinstance(turn, Say):
        block: dict[str, Any] = {"type": "text", "text": ""}
        delta = {"type": "text_delta", "text": turn.text}
    else:
        block = {"type": "tool_use", "id": f"toolu_{uuid4().hex}", "name": _full_name(turn.tool, request), "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(dict(turn.arguments))}
    yield {"type": "content_block_start", "index": 0, "content_block": block}
    yield {"type": "content_block_delta", "index": 0, "delta": delta}
    yield {"type": "content_block_stop", "index": 0}


def _listed(request: Request) -> list[str]:
    return [str(tool["name"]) for tool in request.body.get("tools", ())]


def _full_name(tool: str, request: Request) -> str:
    """The name under which the host lists a tool of ours; the same for one of its own."""
    return next((name for name in _listed(request) if name.endswith(f"commonplace__{tool}")), tool)
