"""A model that says what a test wrote down: an HTTP server on the loopback that keeps every request it was sent.

with ScriptedAnthropic([Say("Good."), ...]) as model:
    ...                          # run the host with model.url
    model.requests[0].text       # all that it sent to the model, as one text
"""

import json
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler
from types import TracebackType
from typing import Any, Final, Self, get_args

from commonplace.mcp_server.arguments import About, Situations
from commonplace.mcp_server.memory_tools import SAVE
from commonplace.mcp_server.server import INSTRUCTIONS
from tests.http_servers import TestHTTPServer

STANDARD_ANSWER: Final = "Done."
"""What the model says when its script is at its end, and to questions of the host's own (a title, a summary)."""
_PAUSE: Final = 0.2  # seconds
_MOST_PAUSES: Final = 100


@dataclass(frozen=True, slots=True)
class Say:
    """The model answers with this text."""

    text: str


@dataclass(frozen=True, slots=True)
class Call:
    """The model calls this tool of Commonplace, or of the host itself."""

    tool: str
    arguments: Mapping[str, Any]


Turn = Say | Call


def missing_words(request: "Request") -> list[str]:
    """The words that ask for what an entry is about and when it matters, as far as the model was not given them."""
    paragraph = next(each for each in INSTRUCTIONS.split("\n\n") if "memory_save what" in each)
    descriptions = [str(get_args(each)[1].description) for each in (About, Situations)]
    told = " ".join(request.text.split())
    return [words for words in (SAVE, paragraph, *descriptions) if " ".join(words.split()) not in told]


@dataclass(frozen=True, slots=True)
class Request:
    """What a host sent to its model."""

    path: str
    body: Mapping[str, Any]

    @property
    def text(self) -> str:
        """Every text in it, in order, each on lines of its own."""
        return "\n".join(_texts(self.body))


class ScriptedModel:
    """The server, running for a `with` block. Its kinds say how a turn is put on the wire."""

    def __init__(self, script: Sequence[Turn]) -> None:
        self.requests: list[Request] = []
        self._left = list(script)
        self._pauses = 0
        self._lock = threading.Lock()
        self._server = TestHTTPServer(("127.0.0.1", 0), _answering(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._server.server_port}"

    @property
    def turns(self) -> list[Request]:
        """The requests of the conversation itself, without the host's own questions."""
        return [request for request in self.requests if self.is_a_turn(request)]

    def take(self, request: Request) -> Turn:
        """Keep the request, and give the turn that answers it.

        A host does not wait for a server that is slow to start: until a tool is there, the model does something else.
        """
        with self._lock:
            self.requests.append(request)
            if not (self.is_a_turn(request) and self._left):
                return Say(STANDARD_ANSWER)
            turn = self._left[0]
            if not isinstance(turn, Call) or turn.tool in self.tools_in(request) or self._pauses >= _MOST_PAUSES:
                return self._left.pop(0)
            self._pauses += 1
        time.sleep(_PAUSE)
        return self.pastime

    @property
    def pastime(self) -> Call:
        """What the model does to pass the time."""
        raise NotImplementedError

    def is_a_turn(self, request: Request) -> bool:
        """Whether this belongs to the conversation."""
        raise NotImplementedError

    def tools_in(self, request: Request) -> set[str]:
        """The tools of Commonplace that the model is told of, by our own names."""
        raise NotImplementedError

    def stream(self, turn: Turn, request: Request) -> Iterator[Mapping[str, Any]]:
        """The server-sent events of an answer; each has its `type`, if the API gives them one."""
        raise NotImplementedError


def _answering(model: ScriptedModel) -> type[BaseHTTPRequestHandler]:
    class Answering(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._answer(b"{}", kind="application/json")

        def do_HEAD(self) -> None:
            self._answer(b"", kind="application/json")

        def do_POST(self) -> None:
            sent = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            path = self.path.partition("?")[0]
            if path.endswith("/count_tokens"):
                return self._answer(b'{"input_tokens": 100}', kind="application/json")
            request = Request(path, json.loads(sent or b"{}"))
            events = model.stream(model.take(request), request)
            text = "".join(f"{_event_line(event)}data: {json.dumps(event)}\n\n" for event in events)
            return self._answer(text.encode(), kind="text/event-stream")

        def _answer(self, body: bytes, *, kind: str) -> None:
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    return Answering


def _event_line(event: Mapping[str, Any]) -> str:
    return f"event: {event['type']}\n" if "type" in event else ""


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, Sequence):
        for inner in value:
            yield from _texts(inner)
