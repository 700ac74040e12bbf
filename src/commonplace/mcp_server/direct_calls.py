"""Answers the call of a tool over HTTP in one step: check its form, run the tool, write the answer.

The SDK builds a session for each request: streams, a task group, a dispatcher. A server without sessions needs none of
it for a plain call, which is 1 to 1.5 ms shorter without, and can be handed to another process. Only plain calls are
recognised here: a POST with one `tools/call` in a version of the protocol that we know, with nothing unusual about it.
Everything else, and all that is wrong, is left to the SDK, so that the protocol's errors are written in one place.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from fastmcp.tools import Tool, ToolResult
from mcp.shared.inbound import (
    MCP_PARAM_HEADER_PREFIX,
    InboundLadderRejection,
    classify_inbound_request,
    find_duplicated_routing_header,
)
from mcp_types import methods
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS
from pydantic import TypeAdapter, ValidationError
from pydantic_core import from_json, to_json

from commonplace import __version__
from commonplace.errors import CommonplaceError
from commonplace.mcp_server.caller import CurrentCall, calling
from commonplace.mcp_server.errors import CallFailed, argument_error, error_result
from commonplace.mcp_server.learning_tools import FOR_SAMPLING
from commonplace.model import Caller, Scope
from commonplace.model.request import few_unknown

SERVER_NAME: Final = "commonplace"

_METHOD: Final = "tools/call"
_JSON: Final = "application/json"
_UNNAMED_VERSION: Final = "2025-03-26"  # of a request without the header, as the specification has it
_SERVER_INFO: Final = {"io.modelcontextprotocol/serverInfo": {"name": SERVER_NAME, "version": __version__}}
_SESSION: Final = "mcp-session-id"
_FIELDS: Final = frozenset({"jsonrpc", "id", "method", "params"})
_PARAMS: Final = frozenset({"name", "arguments", "_meta"})

Headers = Iterable[tuple[bytes, bytes]]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call: the tool and its arguments, the version of the protocol, the name that the client gives itself."""

    id: int | str
    name: str
    arguments: Mapping[str, Any]
    version: str
    client: str = ""

    def response(self, result: bytes) -> bytes:
        """The body of the response with this result."""
        return b'{"jsonrpc":"2.0","id":%s,"result":%s}' % (to_json(self.id), result)


def plain_call(headers: Headers, body: bytes) -> ToolCall | None:
    """The call in the body of a POST; None if it is anything else than a plain call of a tool."""
    values = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in headers]
    named = dict(values)
    is_json = named.get("content-type", "").partition(";")[0].strip() == _JSON and _JSON in named.get("accept", "")
    if not is_json or _SESSION in named or any(name.startswith(MCP_PARAM_HEADER_PREFIX.lower()) for name in named):
        return None
    try:
        message = from_json(body)
    except ValueError:
        return None
    if not _is_plain(message) or find_duplicated_routing_header(values) is not None:
        return None
    params, version = message["params"], named.get("mcp-protocol-version", _UNNAMED_VERSION)
    client: object = None
    if version in MODERN_PROTOCOL_VERSIONS:
        route = classify_inbound_request(message, headers=named)
        if isinstance(route, InboundLadderRejection):
            return None
        client = route.client_info
    elif version not in HANDSHAKE_PROTOCOL_VERSIONS:
        return None
    try:
        methods.validate_client_request(_METHOD, version, params)
    except (ValidationError, KeyError):
        return None
    name = client.get("name") if isinstance(client, Mapping) else ""
    return ToolCall(
        message["id"], params["name"], params.get("arguments") or {}, version, name if isinstance(name, str) else ""
    )


def _is_plain(message: object) -> bool:
    if not isinstance(message, dict) or not _FIELDS.issuperset(message):
        return False
    params, id_ = message.get("params"), message.get("id")
    return (
        message.get("jsonrpc") == "2.0"
        and message.get("method") == _METHOD
        and isinstance(id_, int | str)
        and not isinstance(id_, bool)
        and isinstance(params, dict)
        and _PARAMS.issuperset(params)
        and isinstance(params.get("name"), str)
        and isinstance(params.get("arguments", {}), dict)
    )


class DirectCalls:
    """Runs plain calls of these tools, in the thread of whoever asks."""

    def __init__(self, tools: Iterable[Tool], call: CurrentCall) -> None:
        self._call = call
        self._tools = {tool.name: tool for tool in tools if tool.name not in FOR_SAMPLING}
        self._functions: dict[str, TypeAdapter[ToolResult]] = {}

    def scope_of(self, name: str) -> Scope | None:
        """The scope that the tool needs; None if no plain call can run it."""
        tool = self._tools.get(name)
        return required_scope(tool) if tool else None

    def answer(self, call: ToolCall, caller: Caller) -> bytes:
        """The result of the call, as JSON; an error of ours is a result too."""
        with calling(caller, call.client):
            return _result_json(self._run(call), call.version)

    def _run(self, call: ToolCall) -> ToolResult:
        tool = self._tools[call.name]
        names = tool.parameters["properties"]
        try:
            self._call.check(required_scope(tool))
            return self._function(tool).validate_python(few_unknown(dict(call.arguments), names))
        except CallFailed as failed:
            return error_result(failed.error)
        except CommonplaceError as error:
            return error_result(error)
        except ValidationError as error:  # of the arguments: what the tool itself raises is a CallFailed
            return error_result(argument_error(error, tool=tool.name, names=[*names]))

    def _function(self, tool: Tool) -> TypeAdapter[ToolResult]:
        """The tool's function, which checks its arguments and then runs; made once, as that takes milliseconds."""
        if tool.name not in self._functions:
            self._functions[tool.name] = TypeAdapter(tool.fn)  # type: ignore[attr-defined]  # made from a function
        return self._functions[tool.name]


def required_scope(tool: Tool) -> Scope:
    """The scope that a caller needs for this tool."""
    return "read" if tool.annotations and tool.annotations.read_only_hint else "write"


def _result_json(result: ToolResult, version: str) -> bytes:
    content = [block.model_dump(mode="json", by_alias=True, exclude_none=True) for block in result.content]
    fields: dict[str, Any] = {"content": content, "isError": result.is_error}
    if result.structured_content is not None:
        fields["structuredContent"] = result.structured_content
    if version in MODERN_PROTOCOL_VERSIONS:
        fields |= {"resultType": "complete", "_meta": _SERVER_INFO}
    return to_json(fields)
