"""A server of language models over real HTTP on loopback that answers what a test wrote down.

It speaks OpenAI's chat completions and Anthropic's messages, each at its own path:

with serving_models(Answer({"action": "extend"}), Failure(503), Answer(text="no JSON")) as server:
    ...                        # ask server.openai or server.anthropic
    server.requests[0].body    # what was sent

Queued answers come in order, then `default`. With `answers`, that function answers, and no request is kept. A request
for a list of models gets `server.listed`.
"""

import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from threading import Lock, Thread
from typing import Any, Final

from tests.http_servers import TestHTTPServer

MODEL: Final = "scripted-1"
TOKENS_IN: Final = 120
TOKENS_OUT: Final = 30


@dataclass(frozen=True, slots=True)
class Answer:
    """The model answers with this JSON, or with these words; `is_cut` if its limit of tokens ended it."""

    value: Any = None
    text: str | None = None
    tokens: tuple[int, int] | None = (TOKENS_IN, TOKENS_OUT)
    is_cut: bool = False
    delay: float = 0.0


@dataclass(frozen=True, slots=True)
class Failure:
    """The server answers with this status, `error` object and headers; `body` replaces the whole body."""

    status: int
    error: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None


Turn = Answer | Failure


@dataclass(frozen=True, slots=True)
class Received:
    """One request as it arrived; names of headers are in lower case."""

    path: str
    body: Mapping[str, Any]
    headers: Mapping[str, str]

    @property
    def words(self) -> str:
        """Everything that the model was told, as one text."""
        parts = [str(self.body.get("system", "")), *(str(each["content"]) for each in self.body["messages"])]
        return "\n".join(parts)


@dataclass(slots=True)
class ModelScript:
    """What the server will answer, and what it was asked. `refused_formats` are response formats it does not know."""

    turns: list[Turn]
    default: Turn
    url: str = ""
    requests: list[Received] = field(default_factory=list)
    listed: tuple[str, ...] = (MODEL,)
    listing_status: int = 200
    refused_formats: frozenset[str] = frozenset()
    answers: Callable[[Received], Turn] | None = None
    lock: Lock = field(default_factory=Lock)

    @property
    def openai(self) -> str:
        """The base URL for OpenAI's API."""
        return f"{self.url}/v1"

    @property
    def anthropic(self) -> str:
        """The base URL for Anthropic's API."""
        return self.url

    def take(self, received: Received) -> Turn:
        """Keep the request and give the turn that answers it."""
        with self.lock:
            if self.answers:
                return self.answers(received)
            self.requests.append(received)
            format_ = received.body.get("response_format", {}).get("type", "")
            if format_ in self.refused_formats:
                return Failure(400, {"type": "invalid_request_error", "message": f"{format_} is not supported"})
            return self.turns.pop(0) if self.turns else self.default


OUT_OF_ORDER: Final = Failure(500)


@contextmanager
def serving_models(
    *turns: Turn, default: Turn = OUT_OF_ORDER, answers: Callable[[Received], Turn] | None = None
) -> Iterator[ModelScript]:
    """The server, until the block ends."""
    script = ModelScript(list(turns), default, answers=answers)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            headers = {name.lower(): value for name, value in self.headers.items()}
            turn = script.take(Received(self.path, body, headers))
            if isinstance(turn, Answer):
                time.sleep(turn.delay)
                self._send(200, json.dumps(_RESPONSES[self.path](turn)).encode(), {})
            else:
                content = json.dumps({"error": dict(turn.error)}).encode() if turn.body is None else turn.body
                self._send(turn.status, content, turn.headers)

        def do_GET(self) -> None:
            content = json.dumps({"data": [{"id": name} for name in script.listed]}).encode()
            self._send(script.listing_status, content, {})

        def _send(self, status: int, content: bytes, headers: Mapping[str, str]) -> None:
            try:
                self.send_response(status)
                for name, value in {"Content-Length": str(len(content)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(content)
            except ConnectionError:
                """The client did not wait."""

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = TestHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        script.url = f"http://127.0.0.1:{server.server_address[1]}"
        yield script
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _completion(answer: Answer) -> dict[str, Any]:
    words = json.dumps(answer.value) if answer.text is None else answer.text
    choice = {
        "message": {"role": "assistant", "content": words},
        "finish_reason": "length" if answer.is_cut else "stop",
    }
    usage = dict(zip(("prompt_tokens", "completion_tokens"), answer.tokens, strict=True)) if answer.tokens else None
    return {"object": "chat.completion", "choices": [choice], "usage": usage}


def _message(answer: Answer) -> dict[str, Any]:
    block = {"type": "tool_use", "id": "t1", "name": "answer", "input": answer.value}
    if answer.text is not None:
        block = {"type": "text", "text": answer.text}
    usage = dict(zip(("input_tokens", "output_tokens"), answer.tokens, strict=True)) if answer.tokens else None
    return {
        "type": "message",
        "content": [block],
        "stop_reason": "max_tokens" if answer.is_cut else "end",
        "usage": usage,
    }


_RESPONSES: Final = {"/v1/chat/completions": _completion, "/v1/messages": _message}
