"""A stand-in for the daemon: real HTTP on the Unix socket of the test's own state folder, with answers by script."""

import json
import os
import socketserver
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from commonplace.client.paths import daemon_files
from commonplace.client.start import DaemonState
from tests.http_servers import ForgivesLostClients

Answer = Callable[["StandInHandler", dict[str, Any]], None]


@dataclass(slots=True)
class Script:
    """How each method is answered, and what was asked: the message and its headers, in lower case."""

    answers: dict[str, Answer] = field(default_factory=dict)
    asked: list[tuple[dict[str, Any], dict[str, str]]] = field(default_factory=list)

    def headers(self, method: str) -> dict[str, str]:
        """The headers of the last message with this method."""
        return next(headers for message, headers in reversed(self.asked) if message.get("method") == method)


class StandInHandler(BaseHTTPRequestHandler):
    """Answers one request."""

    protocol_version = "HTTP/1.1"
    script: Script

    def do_GET(self) -> None:
        self.reply(b'{"ok": true, "name": "commonplace", "version": "0"}')

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.script.asked.append((message, {name.lower(): value for name, value in self.headers.items()}))
        self.script.answers.get(message.get("method", ""), echo)(self, message)

    def reply(self, body: bytes, *, status: int = 200, kind: str = "application/json", **headers: str) -> None:
        """A whole answer."""
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(body)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def begin_events(self) -> None:
        """The head of a stream of events, which ends with the connection."""
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()

    def hang_up(self) -> None:
        """Close without an answer, as a process does that is killed."""
        self.close_connection = True

    def address_string(self) -> str:
        return "socket"

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def echo(handler: StandInHandler, message: dict[str, Any]) -> None:
    """The answer of a daemon that gives back what it is given."""
    if "id" in message:
        handler.reply(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": message.get("params")}).encode())
    else:
        handler.reply(b"", status=202)


@contextmanager
def standing_in(script: Script) -> Iterator[Script]:
    """The stand-in, on the socket where the client looks for the daemon, until the block ends."""
    where = daemon_files()
    where.make_folders()
    server = _Server(str(where.socket), type("ScriptedDesk", (StandInHandler,), {"script": script}))
    state = DaemonState(os.getpid(), "2026-03-01T09:12:44Z", "0", 0, str(where.socket), "http://127.0.0.1:0")
    where.state.write_text(json.dumps(asdict(state)))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield script
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
        where.socket.unlink()


class _Server(ForgivesLostClients, socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True
    request_queue_size = 64
