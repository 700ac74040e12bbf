"""`commonplace mcp` as hosts run it: a process that speaks MCP on its standard input and output, and a real daemon."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import pytest
from fastmcp import Client
from fastmcp.client.transports import StdioTransport
from mcp import ClientSession, StdioServerParameters, stdio_client

from tests.daemons import command, small_vault, surroundings

DEADLINE = 60.0
HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test host", "version": "1"}}
MCP = ["-m", "commonplace", "mcp"]


@pytest.fixture(scope="module")
def environ(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The surroundings of a person with one vault; whoever comes first starts the daemon."""
    home = tmp_path_factory.mktemp("person")
    environ = surroundings(home)
    assert command(environ, "init", str(small_vault(home / "Notes"))).returncode == 0
    yield environ
    command(environ, "stop")


class Host:
    """A host that has started the stdio door and writes lines to it."""

    def __init__(self, environ: Mapping[str, str], *words: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, *MCP, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=dict(environ)
        )

    def send(self, line: bytes) -> None:
        assert self.process.stdin
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def hear(self) -> dict[str, Any]:
        assert self.process.stdout
        return dict(json.loads(self.process.stdout.readline()))

    def ask(self, method: str, **params: object) -> dict[str, Any]:
        self.send(json.dumps({"jsonrpc": "2.0", "id": method, "method": method, "params": params}).encode())
        return self.hear()

    def call(self, tool: str, **arguments: object) -> dict[str, Any]:
        return self.ask("tools/call", name=tool, arguments=arguments)

    def end(self) -> int:
        assert self.process.stdin
        self.process.stdin.close()
        return self.process.wait(DEADLINE)


@contextmanager
def hosting(environ: Mapping[str, str], *words: str) -> Iterator[Host]:
    host = Host(environ, *words)
    try:
        yield host
    finally:
        host.process.kill()
        host.process.wait()
        for pipe in (host.process.stdin, host.process.stdout):
            assert pipe
            pipe.close()


def started(environ: Mapping[str, str]) -> list[int]:
    """The process numbers of all daemons that have been started there, by their log."""
    log = Path(environ["COMMONPLACE_STATE"]) / "daemon" / "serve.log"
    lines = [json.loads(line) for line in log.read_text().splitlines() if line.startswith("{")]
    return [line["pid"] for line in lines if line["event"] == "daemon_started"]


def kill_daemon(environ: Mapping[str, str]) -> None:
    """Kill it, and wait until it no longer listens."""
    os.kill(started(environ)[-1], signal.SIGKILL)
    deadline = time.monotonic() + DEADLINE
    while time.monotonic() < deadline:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as caller:
            try:
                caller.connect(f"{environ['COMMONPLACE_STATE']}/daemon/serve.sock")
            except ConnectionRefusedError:
                return
    pytest.fail("the daemon is still there")


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_the_fastmcp_client_works_over_stdio_with_and_without_sessions(
    mode: Literal["auto", "legacy"], environ: dict[str, str], tmp_path: Path
) -> None:
    """Tools are listed, a memory is saved and found again, and ten calls at once are all answered."""
    door = StdioTransport(sys.executable, MCP, env=environ, keep_alive=False, log_file=tmp_path / "log")

    async def talk() -> tuple[set[str], Any, list[Any]]:
        async with Client(door, mode=mode) as client:
            tools = {tool.name for tool in await client.list_tools()}
            await client.call_tool("memory_save", {"text": f"Prefers the {mode} train.", "kind": "preference"})
            found = await client.call_tool("memory_search", {"query": f"{mode} train"})
            asked = [{"query": f"n{n}", "verbose": True} for n in range(10)]
            many = await asyncio.gather(*(client.call_tool("memory_search", each) for each in asked))
            return tools, found.content[0].text, many

    tools, found, many = asyncio.run(talk())

    assert {"memory_search", "memory_recall", "memory_save", "note_read"} <= tools
    assert f"Prefers the {mode} train." in found
    assert [answer.structured_content["query"] for answer in many] == [f"n{n}" for n in range(10)]


def test_the_official_python_client_works_over_stdio(environ: dict[str, str]) -> None:
    """The handshake, the tools, a note as a resource, and an error of a tool as one."""
    server = StdioServerParameters(command=sys.executable, args=MCP, env=environ)

    async def talk() -> tuple[Any, ...]:
        async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
            hello = await session.initialize()
            return (
                hello.server_info.name,
                len((await session.list_tools()).tools),
                await session.read_resource("vault://note/People/Jonas.md"),
                await session.call_tool("note_read", {"path": "None.md"}),
            )

    name, tools, note, missing = asyncio.run(talk())

    assert (name, tools) == ("commonplace", 14)
    assert "Leipzig" in note.contents[0].text
    assert missing.is_error


def test_hosts_that_start_together_share_one_daemon_which_greets_them_without_a_vault(tmp_path: Path) -> None:
    """Nothing is registered yet: the handshake works all the same, and a tool says what to do."""
    environ = surroundings(tmp_path)
    hosts = [Host(environ) for _ in range(4)]
    try:
        hellos = [host.ask("initialize", **HELLO) for host in hosts]
        refused = hosts[0].call("memory_search", query="anything")
        codes = [host.end() for host in hosts]
    finally:
        command(environ, "stop")
        for host in hosts:
            host.process.kill()
            assert host.process.stdout
            host.process.stdout.close()

    assert {hello["result"]["serverInfo"]["name"] for hello in hellos} == {"commonplace"}
    assert "commonplace init" in json.dumps(refused)
    assert codes == [0, 0, 0, 0]
    assert len(started(environ)) == 1


def test_a_daemon_that_is_killed_is_started_again_by_the_next_request(environ: dict[str, str]) -> None:
    """What was saved before is there, and the host keeps its door."""
    with hosting(environ) as host:
        host.ask("initialize", **HELLO)
        host.call("memory_save", text="The spare key hangs in the shed.", kind="fact")
        before = len(started(environ))
        kill_daemon(environ)
        found = host.call("memory_search", query="spare key")

    assert "shed" in json.dumps(found["result"])
    assert len(started(environ)) == before + 1


GIVES_UP = 40.0
"""Seconds in which a call is given up that a frozen daemon does not answer: 2 until it is looked after and a ping of 2;
the rest is for a busy machine. It was 150."""


def test_a_frozen_daemon_is_given_up_in_seconds_and_replaced(environ: dict[str, str]) -> None:
    """The call gets an error that says so, and the next one an answer of another daemon."""
    with hosting(environ) as host:
        host.ask("initialize", **HELLO)
        host.call("memory_save", text="The ladder hangs behind the shed.", kind="fact")
        frozen = started(environ)[-1]
        os.kill(frozen, signal.SIGSTOP)
        begun = time.monotonic()
        failed = host.call("memory_search", query="ladder")
        took = time.monotonic() - begun
        found = host.call("memory_search", query="ladder")

    assert took < GIVES_UP
    assert failed["error"]["code"] == -32000
    assert f"the daemon (process {frozen}) did not answer and is started again" in failed["error"]["message"]
    assert "behind the shed" in json.dumps(found["result"])
    assert started(environ)[-1] != frozen  # it has the lock, which the other held as long as it lived


def test_status_and_stop_tell_of_a_frozen_daemon_which_force_ends(environ: dict[str, str]) -> None:
    """Nothing waits for long, and nothing is ended unless it is asked for."""
    assert command(environ, "serve", "--background").returncode == 0
    frozen = started(environ)[-1]
    os.kill(frozen, signal.SIGSTOP)
    begun = time.monotonic()
    status, stop, force = (command(environ, *words) for words in (["status"], ["stop"], ["stop", "--force"]))
    took = time.monotonic() - begun

    assert f"(process {frozen}) does not answer" in status.stdout
    assert (stop.returncode, "`commonplace stop --force` ends it" in stop.stderr) == (5, True)
    assert (force.returncode, force.stdout.strip()) == (0, "stopped")
    assert took < 3 * GIVES_UP
    assert "not running" in command(environ, "status").stdout


def test_bad_lines_are_answered_and_nothing_but_messages_is_written(environ: dict[str, str]) -> None:
    """Input that ends ends the door, after its last answer."""
    with hosting(environ) as host:
        host.send(b"hello?")
        bad = host.hear()
        host.send(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}')
        pong = host.ask("ping")
        code = host.end()
        rest = host.process.stdout.read() if host.process.stdout else b""

    assert bad["error"]["code"] == -32700
    assert pong["result"] == {}
    assert (code, rest) == (0, b"")


def test_a_door_ends_when_it_is_told_to(environ: dict[str, str]) -> None:
    """SIGTERM, as hosts send it, and the daemon lives on for the others."""
    with hosting(environ) as host:
        host.ask("initialize", **HELLO)
        host.process.send_signal(signal.SIGTERM)
        code = host.process.wait(DEADLINE)

    assert code == -signal.SIGTERM
    assert command(environ, "status").returncode == 0


def test_the_door_serves_the_vault_and_carries_the_name_that_it_is_given(
    environ: dict[str, str], tmp_path: Path
) -> None:
    """A second vault by --vault, and the agent's name in the log of what was written."""
    other = tmp_path / "Andere Notizen"
    other.mkdir()
    assert command(environ, "init", str(other)).returncode == 0
    with hosting(environ, "--vault", str(other), "--client", "claude-desktop") as host:
        host.ask("initialize", **HELLO)
        saved = host.call("memory_save", text="The other vault is here.", kind="fact")
    log = subprocess.run(["git", "-C", str(other), "log", "-1"], capture_output=True, text=True, check=True).stdout

    assert saved["result"]["isError"] is False
    assert "claude-desktop" in log
