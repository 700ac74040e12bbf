"""Connections, by a real server on a real socket."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest
import uvicorn

from commonplace.daemon.server import http_server as connections
from commonplace.daemon.server.http_server import connection_for
from commonplace.policy.options import ServeOptions

HEAD = b"GET / HTTP/1.1\r\nHost: localhost\r\n"


async def says_hello(scope: Any, receive: Any, send: Any) -> None:
    """An app that answers everything."""
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"5")]})
    await send({"type": "http.response.body", "body": b"hello"})


class Client:
    """One connection to the server."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    async def send(self, text: bytes) -> None:
        self.writer.write(text)
        await self.writer.drain()

    async def hears(self, ending: bytes) -> bytes:
        """What comes, up to and with that."""
        return await asyncio.wait_for(self.reader.readuntil(ending), 60)

    async def is_closed(self) -> bytes:
        """All that comes until the server closes; a closing that drops what we sent counts."""
        try:
            return await asyncio.wait_for(self.reader.read(), 60)
        except ConnectionResetError:
            return b""


Connect = Callable[[], Awaitable[Client]]
LIMIT = 60.0


def pass_time(seconds: float) -> None:
    """Let the clock of the running loop jump ahead: the server and its callers share it."""
    loop = asyncio.get_running_loop()
    clock = loop.time
    loop.time = lambda: clock() + seconds  # type: ignore[method-assign]


@asynccontextmanager
async def serving(app: Any = says_hello) -> AsyncIterator[Connect]:
    """A server whose callers have LIMIT seconds for a head."""
    http = connection_for(ServeOptions(body_seconds=LIMIT))
    settings = {"lifespan": "off", "log_config": None, "ws": "none", "timeout_keep_alive": 3600}
    server = uvicorn.Server(uvicorn.Config(app, port=0, http=http, **settings))  # type: ignore[arg-type]
    at_work = asyncio.create_task(server._serve())
    while not server.started:
        await asyncio.sleep(0.001)
    port = server.servers[0].sockets[0].getsockname()[1]
    clients: list[Client] = []

    async def connect() -> Client:
        clients.append(Client(*await asyncio.open_connection("127.0.0.1", port)))
        return clients[-1]

    try:
        yield connect
    finally:
        for client in clients:
            client.writer.close()
        server.should_exit = True
        await at_work


def test_a_head_that_does_not_come_to_its_end_closes_the_connection() -> None:
    """Nothing at all, half a head, and half a second head, however busily it is sent."""

    async def run() -> list[bytes]:
        async with serving() as connect:
            silent, half, busy, second = [await connect() for _ in range(4)]
            await half.send(HEAD)
            await busy.send(HEAD)
            await second.send(HEAD + b"\r\n")
            await second.hears(b"hello")  # the others were there before it
            await second.send(HEAD)
            for _ in range(5):
                with suppress(ConnectionError):
                    await busy.send(b"X: y\r\n")
                await asyncio.sleep(0.01)
                pass_time(LIMIT / 4)
            return [await each.is_closed() for each in (silent, half, busy, second)]

    assert asyncio.run(run()) == [b""] * 4


def test_a_caller_that_sends_whole_heads_is_kept() -> None:
    """Longer than the time for one head, with a pause between requests, and two heads at once."""

    async def run() -> list[bytes]:
        async with serving() as connect:
            client = await connect()
            heard = []
            for text in (HEAD + b"\r\n", HEAD + b"\r\n", (HEAD + b"\r\n") * 2):
                await client.send(text[:10])
                await client.send(text[10:])
                heard.append(await client.hears(b"hello"))
                pass_time(LIMIT * 3 / 4)
            heard.append(await client.hears(b"hello"))
            return heard

    assert [each.split(b"\r\n")[0] for each in asyncio.run(run())] == [b"HTTP/1.1 200 OK"] * 4


def test_one_connection_too_many_is_told_and_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that are open go on; when one of them ends, another may come."""
    monkeypatch.setattr(connections, "_MOST_CONNECTIONS", 2)

    async def run() -> tuple[bytes, bytes, bytes]:
        async with serving() as connect:
            first, _ = await connect(), await connect()
            refused = await (await connect()).is_closed()
            await first.send(HEAD + b"Connection: close\r\n\r\n")
            served = await first.is_closed()
            later = await connect()
            await later.send(HEAD + b"\r\n")
            return refused, served, await later.hears(b"hello")

    refused, served, later = asyncio.run(run())

    assert refused.startswith(b"HTTP/1.1 429")
    assert json.loads(refused.partition(b"\r\n\r\n")[2])["error"]["message"] == "too many requests"
    assert served.endswith(b"hello")
    assert later.endswith(b"hello")


async def says_much(scope: Any, receive: Any, send: Any) -> None:
    """An app whose answers no buffer of a socket holds."""
    body = b"x" * 20_000_000
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"20000000")]})
    await send({"type": "http.response.body", "body": body})


def test_a_caller_that_does_not_read_is_ended() -> None:
    """Its connection does not wait for it to read what is left; one that reads, however much, gets everything."""

    async def run() -> tuple[int, int]:
        async with serving(says_much) as connect:
            silent, reader = await connect(), await connect()
            for client in (silent, reader):
                await client.send((HEAD + b"\r\n") * 3)
            read = len(await asyncio.wait_for(reader.reader.readexactly(60_000_000), 60))
            pass_time(LIMIT)
            await asyncio.sleep(0)  # the server ends the silent one before it reads on
            left = 0
            with suppress(ConnectionError):
                while part := await asyncio.wait_for(silent.reader.read(1 << 20), 60):
                    left += len(part)
            return read, left

    read, left = asyncio.run(run())

    assert read == 60_000_000
    assert left < 20_000_000


def test_callers_that_do_not_read_give_their_place_to_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """All places are taken by connections that pipeline requests and never read: a new caller is served at once."""
    monkeypatch.setattr(connections, "_MOST_CONNECTIONS", 5)

    async def run() -> bytes:
        async with serving(says_much) as connect:
            silent = [await connect() for _ in range(5)]
            for client in silent:
                await client.send((HEAD + b"\r\n") * 5)
            await asyncio.sleep(0)
            while True:
                client = await connect()
                await client.send(HEAD + b"\r\n")
                if (head := await client.hears(b"\r\n\r\n")).startswith(b"HTTP/1.1 200"):
                    return head

    assert asyncio.run(asyncio.wait_for(run(), 60)).startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize(
    "text",
    [
        b"nonsense\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nX: " + b"a" * 70_000,
        b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!",
        b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\nhello",
        b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\nhello",
        b"GET / HTTP/1.1\r\nHost: a\r\n X: folded\x00\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost : a\r\n\r\n",
    ],
)
def test_what_is_no_request_is_answered_in_the_one_shape_and_closed(text: bytes) -> None:
    """Also a head that goes on and on, and lengths that contradict each other."""

    async def run() -> bytes:
        async with serving() as connect:
            client = await connect()
            await client.send(text)
            return await client.is_closed()

    answer = asyncio.run(run())
    head, _, body = answer.partition(b"\r\n\r\n")

    assert head.startswith(b"HTTP/1.1 400")
    assert json.loads(body)["error"]["type"] == "UsageError"
    assert b"x-content-type-options: nosniff" in head.lower()
    assert b"connection: close" in head.lower()
