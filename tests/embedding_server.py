"""A server that speaks OpenAI's `/embeddings` over real HTTP on loopback; its vectors come from hashing."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from threading import Thread
from typing import Any

from commonplace.encoders.hashing import HashingEncoder
from tests.http_servers import TestHTTPServer

DIM = 64
HASHING = HashingEncoder(DIM)


@dataclass(slots=True)
class Script:
    """What the server answers: first each of the (status, body) in order, then vectors; and what it was asked."""

    first: list[tuple[int, bytes]] = field(default_factory=list)
    asked: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    endpoint: str = ""


def vectors_for(texts: list[str]) -> bytes:
    """An answer as servers give it: not of length 1, and in any order."""
    rows = HASHING.encode(texts) * 3
    data = [{"index": index, "embedding": row.tolist()} for index, row in enumerate(rows)]
    return json.dumps({"object": "list", "data": data[::-1]}).encode()


@contextmanager
def serving(script: Script) -> Iterator[Script]:
    """The server, with its address in `script.endpoint`, until the block ends."""

    class Desk(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            script.asked.append({"path": self.path, **body})
            script.headers.append(dict(self.headers.items()))
            status, answer = script.first.pop(0) if script.first else (200, vectors_for(body["input"]))
            self.send_response(status)
            if 300 <= status < 400:
                self.send_header("Location", "http://127.0.0.1:9/elsewhere")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = TestHTTPServer(("127.0.0.1", 0), Desk)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        script.endpoint = f"http://127.0.0.1:{server.server_address[1]}/v1"
        yield script
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
