"""JSON-RPC messages of MCP, as far as a proxy has to understand them: which headers, whose answer, which error."""

import base64
import json
import re
from collections.abc import Mapping
from typing import Any, Final

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
INTERNAL_ERROR: Final = -32603
WENT_AWAY: Final = -32000  # the code that the MCP libraries give to a connection that was closed

Message = Mapping[str, Any]

_VERSION: Final = "io.modelcontextprotocol/protocolVersion"
_CLIENT: Final = "io.modelcontextprotocol/clientInfo"
_NAMED: Final = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
_PLAIN: Final = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?")
_WRAPPED: Final = re.compile(r"=\?base64\?.*\?=")


class BadMessage(Exception):
    """A line that is no message; `code` is JSON-RPC's."""

    def __init__(self, message: str, *, code: int) -> None:
        super().__init__(message)
        self.code = code


def read_message(line: bytes) -> Message:
    """The message on this line. Raises BadMessage."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError) as error:  # ValueError: no JSON, or no UTF-8
        raise BadMessage(f"this line is no JSON: {error}", code=PARSE_ERROR) from error
    if not isinstance(message, dict):
        raise BadMessage("a message is one JSON object on one line", code=INVALID_REQUEST)
    if isinstance(message.get("id"), bool) or not isinstance(message.get("id", 0), str | int):
        raise BadMessage("the id of a request is a text or a whole number", code=INVALID_REQUEST)
    return message


def wants_answer(message: Message) -> bool:
    """Whether it is a request; notifications and answers are not answered."""
    return "method" in message and "id" in message


def version_in(message: Message) -> str:
    """The protocol that a message of a sessionless client names for itself, or an empty text."""
    return _text(_meta(message).get(_VERSION))


def client_in(message: Message) -> str:
    """What the client calls itself in this message, or an empty text."""
    params = message.get("params")
    told = params.get("clientInfo") if isinstance(params, dict) and message.get("method") == "initialize" else None
    about = told or _meta(message).get(_CLIENT)
    return _text(about.get("name")) if isinstance(about, dict) else ""


def headers_of(message: Message) -> dict[str, str]:
    """The headers in which streamable HTTP repeats what a message of a sessionless client says."""
    version, method = version_in(message), _text(message.get("method"))
    if not version:
        return {}
    headers = {"MCP-Protocol-Version": as_header(version), "Mcp-Method": as_header(method)}
    if name := _text(message["params"].get(_NAMED.get(method, ""))):
        headers["Mcp-Name"] = as_header(name)
    return headers


def as_header(text: str) -> str:
    """The text as the value of a header: as it is where that is possible, else in base64 between marks."""
    if _PLAIN.fullmatch(text) and not _WRAPPED.fullmatch(text):
        return text
    return f"=?base64?{base64.b64encode(text.encode(errors='replace')).decode()}?="


def failure(asked: Message | None, message: str, *, code: int, more: object = None) -> bytes:
    """The line that tells the client of an error; without a message it answers, it is for none in particular."""
    error: dict[str, object] = {"code": code, "message": message}
    if more is not None:
        error["data"] = more
    return json.dumps({"jsonrpc": "2.0", "id": asked and asked.get("id"), "error": error}).encode()


def refusal(asked: Message, *, status: int, body: bytes) -> bytes:
    """The error line for an answer with another HTTP status than 200."""
    try:
        said = json.loads(body)
    except ValueError:
        said = None
    error = said.get("error") if isinstance(said, dict) else None
    if not isinstance(error, dict):
        return failure(asked, f"the daemon answered with HTTP status {status}", code=INTERNAL_ERROR)
    if "jsonrpc" in said:  # an error of MCP itself; it has no id where the request could not be read
        return json.dumps({**said, "id": asked["id"]}).encode()
    parts = [_text(error.get("message")), _text(error.get("hint"))]
    return failure(asked, ". ".join(part for part in parts if part), code=INTERNAL_ERROR, more=error)


def answers(line: bytes, asked: Message) -> bool:
    """Whether this line is the answer to the request, and not a message on the way to it."""
    try:
        message = json.loads(line)
    except ValueError:
        return False
    return isinstance(message, dict) and "method" not in message and message.get("id") == asked.get("id")


def version_agreed(line: bytes) -> str:
    """The protocol that the answer to `initialize` settles, or an empty text."""
    try:
        return _text(json.loads(line)["result"]["protocolVersion"])
    except (ValueError, KeyError, TypeError):
        return ""


def _meta(message: Message) -> Mapping[str, Any]:
    params = message.get("params")
    meta = params.get("_meta") if isinstance(params, dict) else None
    return meta if isinstance(meta, dict) else {}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
