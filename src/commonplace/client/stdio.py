"""The MCP server on standard input and output: a proxy to the daemon, which it starts if necessary.

Each line is one JSON-RPC message, which the proxy understands as far as it must: its headers, its response, its errors.
Requests run concurrently, so a slow tool delays nothing else. If the daemon goes away, it is started again; an open
request that only reads is sent once more, any other is answered with an error. While a request is open, the daemon is
asked on another connection whether it is there: a long search may take its time, but a daemon that hangs is given up
within seconds and replaced.
"""

import base64
import json
import os
import re
import signal
import sys
import threading
import time
import traceback
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, BinaryIO, Final

from commonplace.client.http import Exchange
from commonplace.client.paths import Unreachable, as_client_name, daemon_files, folder_header, vault_header
from commonplace.client.start import end_daemon, ensure_running, frozen_daemon

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
INTERNAL_ERROR: Final = -32603
CONNECTION_CLOSED: Final = -32000  # the code of the MCP libraries for a closed connection
Message = Mapping[str, Any]
_VERSION: Final = "io.modelcontextprotocol/protocolVersion"
_CLIENT: Final = "io.modelcontextprotocol/clientInfo"
_NAMED: Final = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
_PLAIN_HEADER: Final = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?")
_ENCODED_HEADER: Final = re.compile(r"=\?base64\?.*\?=")
_MOST_AT_ONCE: Final = 32  # requests; further ones wait
_ENDLESS_METHOD: Final = "subscriptions/listen"  # answered for as long as the client listens
_WATCH_SECONDS: Final = 1.0  # between two looks at the open requests
_PATIENCE_SECONDS: Final = 2.0  # for a request, before the daemon is asked whether it is there
_READING_METHODS: Final = frozenset({"initialize", "ping", "prompts/get", "resources/read"})  # and every list
_OUTCOME_UNKNOWN = "the request may have been carried out: check before you repeat it"


class InvalidMessage(Exception):
    """A line that is not a JSON-RPC message; `code` is JSON-RPC's."""

    def __init__(self, message: str, *, code: int) -> None:
        super().__init__(message)
        self.code = code


def serve_stdio(*, vault: str | None = None, client: str | None = None) -> int:
    """Forward messages until standard input ends; the exit code. Without a vault, the daemon's default is used."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # there is nothing to clean up: the daemon keeps what it received
    headers = {**vault_header(vault or ""), **folder_header()}  # hosts start it in the folder of their project
    StdioProxy(sys.stdout.buffer, headers=headers, client=client or "").run(sys.stdin.buffer)
    return 0


class PendingRequest:
    """A message on its way to the daemon; `cancel` may be called from another thread at any time."""

    def __init__(self, message: Message, line: bytes) -> None:
        self.message = message
        self.line = line
        self.is_cancelled = False
        self.is_answered = False
        self.given_up = ""
        self.began = time.monotonic()
        self._exchange: Exchange | None = None

    def begin(self) -> Exchange:
        """A new exchange for this message, already abandoned if the message was cancelled."""
        exchange = self._exchange = Exchange(daemon_files().socket)
        if self.is_cancelled:
            exchange.abandon()
        return exchange

    def give_up(self, reason: str) -> None:
        """Abandon the request: the client gets an error with this reason."""
        self.given_up = reason
        if self._exchange:
            self._exchange.abandon()

    def cancel(self) -> None:
        """Abandon the request: the daemon stops working on it, and the client gets no response."""
        self.is_cancelled = True
        if self._exchange:
            self._exchange.abandon()


class StdioProxy:
    """Reads lines, forwards each to the daemon, and writes the responses."""

    def __init__(self, out: BinaryIO, *, headers: Mapping[str, str], client: str = "") -> None:
        self._out = out
        self._handshake = Handshake(headers, client=client)
        self._pending: dict[object, PendingRequest] = {}
        self._write_lock = threading.Lock()
        self._start_lock = threading.Lock()
        self._is_busy = threading.Event()

    def run(self, lines: Iterable[bytes]) -> None:
        """Forward every line; return when the lines have ended and every request is answered."""
        threading.Thread(target=self._watch, daemon=True).start()
        with ThreadPoolExecutor(_MOST_AT_ONCE) as pool:
            pool.submit(self._start_ahead)
            for line in lines:
                if line.strip():
                    self._accept(line.strip(), pool)
            for pending in list(self._pending.values()):
                if _is_endless(pending):
                    pending.cancel()

    def _accept(self, line: bytes, pool: ThreadPoolExecutor) -> None:
        try:
            message = read_message(line)
        except InvalidMessage as error:
            self._write(error_line(None, str(error), code=error.code))
            return
        if message.get("method") == "notifications/cancelled":
            self._cancel(message)
            return
        self._handshake.learn(message)
        pending = PendingRequest(message, line)
        self._pending[_key(pending)] = pending
        self._is_busy.set()
        pool.submit(self._carry_out, pending)

    def _cancel(self, message: Message) -> None:
        """Cancel the request that the message names; the daemon has no sessions in which to look for it."""
        params = message.get("params")
        id_ = params.get("requestId") if isinstance(params, dict) else None
        pending = self._pending.get(id_) if isinstance(id_, str | int | float) else None
        if pending:
            pending.cancel()

    def _carry_out(self, pending: PendingRequest) -> None:
        try:
            self._forward(pending)
        except Unreachable as error:
            reason = pending.given_up or str(error)
            is_unknown = error.sent and not self._handshake.is_reading(pending.message)
            message = f"{reason}; {_OUTCOME_UNKNOWN}" if is_unknown else reason
            self._fail(pending, message, code=CONNECTION_CLOSED)
        except Exception as error:  # noqa: BLE001 (the outermost door: the client always gets a response)
            traceback.print_exc()
            self._fail(pending, f"unexpected {type(error).__name__}: {error}", code=INTERNAL_ERROR)
        finally:
            if self._pending.get(_key(pending)) is pending:
                del self._pending[_key(pending)]

    def _forward(self, pending: PendingRequest) -> None:
        try:
            self._send_when_ready(pending)
        except Unreachable as error:
            is_repeatable = self._handshake.is_reading(pending.message) or not (error.sent or pending.given_up)
            if pending.is_cancelled or pending.is_answered or not is_repeatable:
                raise
            self._start()
            self._send_when_ready(pending)

    def _send_when_ready(self, pending: PendingRequest) -> None:
        with self._start_lock:  # a daemon that is being started or replaced is waited for
            pending.began, pending.given_up = time.monotonic(), ""
        self._send(pending)

    def _send(self, pending: PendingRequest) -> None:
        with pending.begin() as exchange:
            exchange.send("POST", "/mcp", body=pending.line, headers=self._handshake.headers_for(pending.message))
            self._handshake.learn_headers(exchange.headers)
            if exchange.headers.get("content-type", "").startswith("text/event-stream"):
                self._relay_events(pending, exchange)
            else:
                self._relay(pending, exchange)

    def _relay(self, pending: PendingRequest, exchange: Exchange) -> None:
        body = exchange.read()
        if not is_request(pending.message):
            return
        if exchange.status != 200:
            body = error_line_from_http(pending.message, status=exchange.status, body=body)
        pending.is_answered = True
        self._respond(pending, body)

    def _relay_events(self, pending: PendingRequest, exchange: Exchange) -> None:
        for event in exchange.events():
            pending.is_answered = pending.is_answered or is_response_to(event, pending.message)
            self._respond(pending, event)
        if is_request(pending.message) and not pending.is_answered:
            raise Unreachable("the daemon ended its response too early", sent=True)

    def _respond(self, pending: PendingRequest, line: bytes) -> None:
        self._handshake.learn_response(line, to=pending.message)
        if not pending.is_cancelled:
            self._write(line)

    def _fail(self, pending: PendingRequest, message: str, *, code: int) -> None:
        if is_request(pending.message) and not (pending.is_cancelled or pending.is_answered):
            self._write(error_line(pending.message, message, code=code))

    def _start(self) -> None:
        with self._start_lock:
            ensure_running()

    def _watch(self) -> None:
        """While requests are open for long, look whether the daemon hangs; if it does, end them and replace it."""
        while self._is_busy.wait():
            self._is_busy.clear()
            while self._longest_wait() is not None:
                time.sleep(_WATCH_SECONDS)
                if (self._longest_wait() or 0.0) > _PATIENCE_SECONDS:
                    with self._start_lock:
                        self._replace_frozen()

    def _longest_wait(self) -> float | None:
        """For how many seconds a request has been open; None if none is."""
        now, pending = time.monotonic(), list(self._pending.values())
        return max((now - each.began for each in pending if not _is_endless(each)), default=None)

    def _replace_frozen(self) -> None:
        """Replace the daemon if it hangs. No error may end the thread that looks: the next look tries again."""
        try:
            files = daemon_files()
            frozen = frozen_daemon(files)
            if not frozen:
                return
            reason = f"the daemon (process {frozen.pid}) did not answer and is started again"
            for pending in list(self._pending.values()):
                pending.give_up(reason)
            end_daemon(frozen, files)
            ensure_running()
        except Exception as error:  # noqa: BLE001
            print(f"commonplace: {error}", file=sys.stderr, flush=True)  # noqa: T201 (hosts keep it as the log)

    def _start_ahead(self) -> None:
        """Start the daemon while the client initializes; the first request reports a failure as well."""
        try:
            self._start()
        except Unreachable as error:
            print(f"commonplace: {error}", file=sys.stderr, flush=True)  # noqa: T201 (hosts keep it as the log)

    def _write(self, line: bytes) -> None:
        """Write one line to standard output; end the process if the reader is gone."""
        with self._write_lock:
            try:
                self._out.write(b" ".join(line.splitlines()) + b"\n")
                self._out.flush()
            except BrokenPipeError:
                os._exit(1)


def _is_endless(pending: PendingRequest) -> bool:
    return pending.message.get("method") == _ENDLESS_METHOD


def _key(pending: PendingRequest) -> object:
    """The id of a request, by which it can be cancelled; a notification has none and stands for itself."""
    return pending.message["id"] if is_request(pending.message) else pending


class Handshake:
    """What a proxy learns from its messages: the protocol version, the client's name, and which tools only read.

    Older clients settle the first two once, with `initialize`; newer ones repeat them in every message, which then
    counts. The daemon says of each tool in its list whether it only reads.
    """

    def __init__(self, headers: Mapping[str, str], *, client: str = "") -> None:
        self._headers = {
            "Accept": "application/json, text/event-stream",
            "Content-Type": "application/json",
            **headers,
        }
        self._fixed_client = client
        self._client = ""
        self._version = ""
        self._session = ""
        self._reading_tools: frozenset[str] = frozenset()

    def learn(self, message: Message) -> None:
        """Remember what a message of the client says about the client."""
        if message.get("method") == "initialize":  # a new handshake replaces an earlier one
            self._version = self._session = ""
        self._version = version_in(message) or self._version
        self._client = client_name_in(message) or self._client

    def learn_response(self, line: bytes, *, to: Message) -> None:
        """Remember the protocol version from the response to `initialize`, and the reading tools from the list."""
        if to.get("method") == "initialize":
            self._version = negotiated_version(line) or self._version
        elif to.get("method") == "tools/list":
            self._reading_tools |= reading_tools(line)

    def is_reading(self, message: Message) -> bool:
        """True if the message changes nothing, so that it may be sent twice."""
        method, params = _text(message.get("method")), message.get("params")
        if method == "tools/call":
            return isinstance(params, dict) and _text(params.get("name")) in self._reading_tools
        return method in _READING_METHODS or method.endswith("/list")

    def learn_headers(self, headers: Mapping[str, str]) -> None:
        """Remember the session id, if the daemon sent one."""
        self._session = headers.get("mcp-session-id", self._session)

    def headers_for(self, message: Message) -> dict[str, str]:
        """All headers for this message."""
        headers = dict(self._headers)
        if client := as_client_name(self._fixed_client or client_name_in(message) or self._client):
            headers["Commonplace-Client"] = client
        if self._session:
            headers["Mcp-Session-Id"] = self._session
        if self._version and message.get("method") != "initialize":
            headers["MCP-Protocol-Version"] = as_header(self._version)
        return headers | headers_of(message)


def read_message(line: bytes) -> Message:
    """The message on this line. Raises InvalidMessage."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError) as error:  # ValueError: not JSON, or not UTF-8
        raise InvalidMessage(f"this line is not JSON: {error}", code=PARSE_ERROR) from error
    if not isinstance(message, dict):
        raise InvalidMessage("a message must be one JSON object on one line", code=INVALID_REQUEST)
    if isinstance(message.get("id"), bool) or not isinstance(message.get("id", 0), str | int):
        raise InvalidMessage("the id of a request must be a string or an integer", code=INVALID_REQUEST)
    return message


def is_request(message: Message) -> bool:
    """True for a request; False for a notification or a response, which are not answered."""
    return "method" in message and "id" in message


def version_in(message: Message) -> str:
    """The protocol version that a message of a sessionless client carries; empty if there is none."""
    return _text(_meta(message).get(_VERSION))


def client_name_in(message: Message) -> str:
    """The client's name in this message; empty if there is none."""
    params = message.get("params")
    initial = params.get("clientInfo") if isinstance(params, dict) and message.get("method") == "initialize" else None
    client = initial or _meta(message).get(_CLIENT)
    return _text(client.get("name")) if isinstance(client, dict) else ""


def headers_of(message: Message) -> dict[str, str]:
    """The headers in which streamable HTTP repeats the content of a sessionless client's message."""
    version, method = version_in(message), _text(message.get("method"))
    if not version:
        return {}
    headers = {"MCP-Protocol-Version": as_header(version), "Mcp-Method": as_header(method)}
    if name := _text(message["params"].get(_NAMED.get(method, ""))):
        headers["Mcp-Name"] = as_header(name)
    return headers


def as_header(text: str) -> str:
    """The text as a header value: unchanged if possible, otherwise base64 between marks."""
    if _PLAIN_HEADER.fullmatch(text) and not _ENCODED_HEADER.fullmatch(text):
        return text
    return f"=?base64?{base64.b64encode(text.encode(errors='replace')).decode()}?="


def error_line(request: Message | None, message: str, *, code: int, details: object = None) -> bytes:
    """The line that reports an error to the client; without a request its id is null."""
    error: dict[str, object] = {"code": code, "message": message}
    if details is not None:
        error["data"] = details
    return json.dumps({"jsonrpc": "2.0", "id": request and request.get("id"), "error": error}).encode()


def error_line_from_http(request: Message, *, status: int, body: bytes) -> bytes:
    """The error line for an HTTP response with a status other than 200."""
    try:
        response = json.loads(body)
    except ValueError:
        response = None
    error = response.get("error") if isinstance(response, dict) else None
    if not isinstance(error, dict):
        return error_line(request, f"the daemon answered with HTTP status {status}", code=INTERNAL_ERROR)
    if "jsonrpc" in response:  # an error of MCP itself; it has no id if the request could not be read
        return json.dumps({**response, "id": request["id"]}).encode()
    parts = [_text(error.get("message")), _text(error.get("hint"))]
    return error_line(request, ". ".join(part for part in parts if part), code=INTERNAL_ERROR, details=error)


def is_response_to(line: bytes, request: Message) -> bool:
    """True if this line is the response to the request, not a message that precedes it."""
    try:
        message = json.loads(line)
    except ValueError:
        return False
    return isinstance(message, dict) and "method" not in message and message.get("id") == request.get("id")


def negotiated_version(line: bytes) -> str:
    """The protocol version in a response to `initialize`; empty if there is none."""
    try:
        return _text(json.loads(line)["result"]["protocolVersion"])
    except (ValueError, KeyError, TypeError):
        return ""


def reading_tools(line: bytes) -> frozenset[str]:
    """The names of the tools in a response to `tools/list` that only read."""
    try:
        tools = json.loads(line)["result"]["tools"]
        return frozenset(_text(each["name"]) for each in tools if (each.get("annotations") or {}).get("readOnlyHint"))
    except (ValueError, KeyError, TypeError, AttributeError):
        return frozenset()


def _meta(message: Message) -> Mapping[str, Any]:
    params = message.get("params")
    meta = params.get("_meta") if isinstance(params, dict) else None
    return meta if isinstance(meta, dict) else {}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
