"""The load of `bench/clients.py`: MCP clients in one process, each asking and saving one thing after another.

Every second client is an old one, with a handshake; the others are of the sessionless kind. All come in by TCP with a
token of their own. They speak the protocol by hand, over one connection each: the computing of a client library, 5 ms a
request, belongs to other machines or to programs that wait for a model most of the time, and not to what is measured.
`library` uses FastMCP's client instead.
"""

import asyncio
import json
import random
import resource
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from bench.entries_vault import WORDS

SHARES: Final = {"memory_search": 60, "memory_recall": 20, "memory_save": 10, "note_read": 5, "memory_facts": 5}
_SYLLABLES: Final = [consonant + vowel for consonant in "bdfgklmnprstvz" for vowel in "aeiou"]
_AFTER_ERROR_S: Final = 1.0
_OLD, _NEW = "2025-06-18", "2026-07-28"


@dataclass(frozen=True, slots=True)
class Load:
    """What one process does: its clients by number and token, when it begins, for how long, and what it asks about.

    `pace` is how many requests a second each client makes at most; 0 for as many as it can.
    """

    port: int
    tokens: Mapping[int, str]
    begins: float
    seconds: float
    people: Sequence[str]
    notes: Sequence[str]
    pace: float = 0.0
    library: bool = False


@dataclass(slots=True)
class Told:
    """What came of it: milliseconds by tool, errors in words, the texts whose saving was acknowledged, the end.

    `late` counts the recalls of which a part was not ready in time, `computed` is the seconds that this process took.
    """

    times: dict[str, list[float]] = field(default_factory=lambda: {tool: [] for tool in SHARES})
    errors: list[str] = field(default_factory=list)
    saved: list[str] = field(default_factory=list)
    late: int = 0
    ended: float = 0.0
    computed: float = 0.0


class McpClient(Protocol):
    """A connected client."""

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The structured answer of a tool. Raises RuntimeError for an error."""


def run(load: Load) -> Told:
    """Carry the load out; this is the whole work of one process."""
    told = Told()
    asyncio.run(_all(load, told))
    return told


async def _all(load: Load, told: Told) -> None:
    tasks = [asyncio.create_task(_client(number, token, load, told)) for number, token in load.tokens.items()]
    await asyncio.sleep(max(0.0, load.begins - time.time()))
    before = _computed()
    await asyncio.gather(*tasks)
    told.computed = _computed() - before


def _computed() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


async def _client(number: int, token: str, load: Load, told: Told) -> None:
    source, connect = random.Random(number), _by_library if load.library else _by_hand
    async with connect(load.port, token, is_old=bool(number % 2)) as client:
        if time.time() > load.begins:
            told.errors.append(f"client {number} was connected only after the load had begun")
        first = source.random() / load.pace if load.pace else 0.0  # so that they do not ask in step
        await asyncio.sleep(max(0.0, load.begins + first - time.time()))  # connecting is over: now all begin together
        due = time.time()
        while time.time() < load.begins + load.seconds:
            (tool,) = source.choices(list(SHARES), weights=list(SHARES.values()))
            await _call(client, tool, _arguments(tool, source, load), told)
            told.ended = time.time()
            if load.pace:
                due += 1 / load.pace
                await asyncio.sleep(max(0.0, due - time.time()))


async def _call(client: McpClient, tool: str, arguments: dict[str, Any], told: Told) -> None:
    begun = time.perf_counter()
    try:
        said = await client.call(tool, arguments)
    except (RuntimeError, OSError, EOFError) as error:
        told.errors.append(f"{tool}: {type(error).__name__}: {error}")
        await asyncio.sleep(_AFTER_ERROR_S)
        return
    told.times[tool].append((time.perf_counter() - begun) * 1000)
    if tool == "memory_save":
        told.saved.append(arguments["text"])
    elif tool == "memory_recall":
        told.late += bool(said.get("late"))
    elif tool == "memory_search" and not said.get("searched"):
        told.errors.append(f"{tool}: nothing was searched for {arguments}")


class HandClient:
    """MCP over HTTP on one connection, without a library."""

    def __init__(self, port: int, token: str, *, is_old: bool) -> None:
        self._version = _OLD if is_old else _NEW
        self._port, self._is_old, self._number = port, is_old, 0
        self._head = (
            f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\n"
            "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
            f"MCP-Protocol-Version: {self._version}\r\n"
        )

    async def connect(self) -> None:
        """Open the connection, with the handshake of an old client."""
        self._stream, self._writer = await asyncio.open_connection("127.0.0.1", self._port)
        if self._is_old:
            about = {"protocolVersion": _OLD, "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
            await self._send({"id": 0, "method": "initialize", "params": about})
            await self._send({"method": "notifications/initialized"})

    def close(self) -> None:
        """Close the connection."""
        self._writer.close()

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The structured answer of a tool. Raises RuntimeError for an error."""
        self._number += 1
        params: dict[str, Any] = {"name": tool, "arguments": arguments}
        more = ""
        if not self._is_old:
            about = {"protocolVersion": _NEW, "clientCapabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
            params["_meta"] = {f"io.modelcontextprotocol/{name}": value for name, value in about.items()}
            more = f"Mcp-Method: tools/call\r\nMcp-Name: {tool}\r\n"
        answer = await self._send({"id": self._number, "method": "tools/call", "params": params}, more)
        result = json.loads(answer)["result"]
        if result.get("isError"):
            raise RuntimeError(result["content"][0]["text"])
        return dict(result.get("structuredContent") or {})

    async def _send(self, message: Mapping[str, Any], more: str = "") -> bytes:
        if self._stream.at_eof():  # the daemon closes a connection that was idle for some seconds
            self._stream, self._writer = await asyncio.open_connection("127.0.0.1", self._port)
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self._writer.write(f"{self._head}{more}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        head = (await self._stream.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        length = next((line for line in head.split("\r\n") if line.startswith("content-length:")), ":0")
        answer = await self._stream.readexactly(int(length.partition(":")[2]))
        if not head.startswith(("http/1.1 200", "http/1.1 202")):
            raise RuntimeError(f"{head[:40]!r} {answer[:200]!r}")
        return answer


@asynccontextmanager
async def _by_hand(port: int, token: str, *, is_old: bool) -> AsyncIterator[McpClient]:
    client = HandClient(port, token, is_old=is_old)
    await client.connect()
    try:
        yield client
    finally:
        client.close()


@asynccontextmanager
async def _by_library(port: int, token: str, *, is_old: bool) -> AsyncIterator[McpClient]:
    from fastmcp import Client
    from fastmcp.client.transports import StreamableHttpTransport

    way = StreamableHttpTransport(f"http://127.0.0.1:{port}/mcp", headers={"Authorization": f"Bearer {token}"})

    class LibraryClient:
        """FastMCP's own client."""

        async def call(self, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
            """The structured answer of a tool."""
            return dict((await client.call_tool(tool, dict(arguments))).structured_content or {})

    async with Client(way, mode="legacy" if is_old else "auto") as client:
        yield LibraryClient()


def _arguments(tool: str, source: random.Random, load: Load) -> dict[str, Any]:
    question = " ".join(source.choices(WORDS, k=4))
    match tool:
        case "memory_search":
            return {"query": question, "verbose": True}
        case "memory_recall":
            return {"prompt": f"{question}, and what of {source.choice(load.people)}?", "verbose": True}
        case "memory_save":
            return _new_fact(source)
        case "note_read":
            return {"path": source.choice(load.notes)}
        case _:
            return {"entity": source.choice(load.people)}


def _new_fact(source: random.Random) -> dict[str, Any]:
    """A fact about somebody of whom nothing is known: what is like something known would confirm or replace it."""
    name = f"{_word(source).capitalize()} {_word(source).capitalize()}"
    liked = f"{' '.join(source.choices(WORDS, k=2))} {_word(source)}"
    return {"text": f"{name} likes {liked}.", "kind": "fact", "subject": name, "predicate": "likes", "object": liked}


def _word(source: random.Random) -> str:
    return "".join(source.choices(_SYLLABLES, k=4))
