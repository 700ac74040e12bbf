"""The stdio proxy, line by line, against a stand-in for the daemon on a real socket."""

import io
import json
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from commonplace.client import stdio
from commonplace.client.paths import Unreachable
from commonplace.client.stdio import StdioProxy
from tests.stand_in import Script, StandInHandler, echo, standing_in

META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "cli/2"},
}
DEADLINE = 60.0


@pytest.fixture
def script() -> Iterator[Script]:
    with standing_in(Script()) as script:
        yield script


def request(id_: object, method: str, **params: object) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": id_, "method": method, "params": params}).encode() + b"\n"


def notice(method: str, **params: object) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "method": method, "params": params}).encode() + b"\n"


def talk(*lines: bytes, headers: dict[str, str] | None = None, client: str = "") -> dict[object, Any]:
    """What the proxy writes for these lines, by id."""
    out = io.BytesIO()
    StdioProxy(out, headers=headers or {}, client=client).run(lines)
    written = [json.loads(line) for line in out.getvalue().splitlines()]
    return {message.get("id"): message for message in written}


def test_every_request_is_answered_and_notices_are_not(script: Script) -> None:
    """Each answer is one line, with the id of its request; input that ends waits for them."""
    said = talk(
        request(1, "a", x=1), b"\n", notice("notifications/initialized"), request("two", "b", y="ü"), request(3, "c")
    )

    assert {id_: message["result"] for id_, message in said.items()} == {1: {"x": 1}, "two": {"y": "ü"}, 3: {}}
    assert sorted(message["method"] for message, _ in script.asked) == ["a", "b", "c", "notifications/initialized"]


def test_a_slow_request_holds_up_no_other(script: Script) -> None:
    """The slow one is answered only when the quick one, which came after it, has been."""
    quick_is_answered = threading.Event()

    def slowly(handler: StandInHandler, message: dict[str, Any]) -> None:
        assert quick_is_answered.wait(DEADLINE)
        echo(handler, message)

    def quickly(handler: StandInHandler, message: dict[str, Any]) -> None:
        echo(handler, message)
        quick_is_answered.set()

    script.answers = {"slow": slowly, "ping": quickly}
    said = talk(request(1, "slow"), request(2, "ping"))

    assert [message.get("result") for message in (said[1], said[2])] == [{}, {}]


def test_events_are_passed_on_one_line_each_as_they_come(script: Script) -> None:
    """Progress on the way to an answer, and an event over several lines; empty ones say nothing."""

    def in_events(handler: StandInHandler, message: dict[str, Any]) -> None:
        handler.begin_events()
        handler.wfile.write(b": ping\r\n\r\nid: 1\r\ndata:\r\n\r\n")
        handler.wfile.write(b'event: message\r\ndata: {"jsonrpc": "2.0", "method": "notifications/progress"}\r\n\r\n')
        handler.wfile.write(b'data: {"jsonrpc": "2.0",\ndata: "id": 5, "result": {"n": 1}}\n\n')

    script.answers = {"tools/call": in_events}
    out = io.BytesIO()
    StdioProxy(out, headers={}).run([request(5, "tools/call")])
    first, second = (json.loads(line) for line in out.getvalue().splitlines())

    assert first["method"] == "notifications/progress"
    assert second == {"jsonrpc": "2.0", "id": 5, "result": {"n": 1}}


def test_a_session_and_the_protocol_of_an_old_client_are_kept(script: Script) -> None:
    """What the handshake settles goes with every later message, as streamable HTTP wants it."""

    def handshake(handler: StandInHandler, message: dict[str, Any]) -> None:
        result = {"protocolVersion": "2025-11-25"}
        body = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}).encode()
        handler.reply(body, Mcp_Session_Id="s1")

    script.answers = {"initialize": handshake}
    asked, answered = os.pipe()
    with open(asked, "rb") as lines, open(answered, "wb") as keyboard:

        class Screen(io.BytesIO):
            def flush(self) -> None:
                if b"protocolVersion" in self.getvalue() and not keyboard.closed:
                    keyboard.write(request(2, "tools/list"))
                    keyboard.close()

        keyboard.write(request(1, "initialize", clientInfo={"name": "Old Client (beta)"}))
        keyboard.flush()
        StdioProxy(Screen(), headers={}).run(lines)

    assert "mcp-protocol-version" not in script.headers("initialize")
    assert script.headers("tools/list")["mcp-protocol-version"] == "2025-11-25"
    assert script.headers("tools/list")["mcp-session-id"] == "s1"
    assert script.headers("tools/list")["commonplace-client"] == "Old Client -beta-"


def test_a_sessionless_client_says_everything_in_every_message(script: Script) -> None:
    """Its protocol, its method and the name of what it calls go into headers, and so does its own name."""
    talk(request(1, "tools/call", name="memory_search", _meta=META))
    headers = script.headers("tools/call")

    assert headers["mcp-protocol-version"] == "2026-07-28"
    assert (headers["mcp-method"], headers["mcp-name"]) == ("tools/call", "memory_search")
    assert headers["commonplace-client"] == "cli-2"


def test_the_name_that_a_host_was_given_goes_before_the_one_it_says(script: Script) -> None:
    """`--client` is the person's word."""
    talk(request(1, "ping", _meta=META), client="claude-code")

    assert script.headers("ping")["commonplace-client"] == "claude-code"


@pytest.mark.parametrize(
    ("given", "variables", "asked"),
    [
        ("/v/Näh Notizen", {}, "/v/Näh Notizen"),
        ("/v/flag", {"COMMONPLACE_VAULT": "/v/ours"}, "/v/flag"),
        (None, {"MEMORY_VAULT_PATH": "/v/theirs", "COMMONPLACE_VAULT": "/v/ours"}, "/v/ours"),
        (None, {"MEMORY_VAULT_PATH": "/v/theirs"}, "/v/theirs"),
        (None, {}, None),
    ],
)
def test_the_vault_is_named_or_the_default_one_and_never_the_current_folder(
    given: str | None,
    variables: dict[str, str],
    asked: str | None,
    script: Script,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The flag, then our variable, then the one of an earlier system, then nothing."""
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(request(1, "ping"))))
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(io.BytesIO()))
    monkeypatch.setattr("signal.signal", lambda *_: None)  # it is the process's, and this process is pytest's

    stdio.serve_stdio(vault=given)
    sent = script.headers("ping").get("commonplace-vault")

    assert (unquote(sent) if sent else None) == asked


def test_the_folder_in_which_the_host_started_it_goes_along(
    script: Script, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Hosts start it in the folder of their project, which the daemon cannot know; one that is gone is left out."""
    for folder in (tmp_path / "Näh Buch", tmp_path / "gone"):
        folder.mkdir()
        monkeypatch.chdir(folder)
        if folder.name == "gone":
            folder.rmdir()
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(request(1, f"ping/{folder.name[0]}"))))
        monkeypatch.setattr("sys.stdout", io.TextIOWrapper(io.BytesIO()))
        monkeypatch.setattr("signal.signal", lambda *_: None)
        stdio.serve_stdio()
    monkeypatch.chdir(tmp_path)

    assert unquote(script.headers("ping/N")["commonplace-folder"]) == str(tmp_path / "Näh Buch")
    assert "commonplace-folder" not in script.headers("ping/g")


def test_a_cancelled_request_is_not_answered_and_the_daemon_sees_its_caller_go(script: Script) -> None:
    """The daemon has no session in which to look for the request: closing the way to it is the sign."""
    begun, gone = threading.Event(), threading.Event()

    def until_gone(handler: StandInHandler, message: dict[str, Any]) -> None:
        begun.set()
        if handler.rfile.read(1) == b"":
            gone.set()
        handler.hang_up()

    def lines() -> Iterator[bytes]:
        yield request(1, "slow")
        assert begun.wait(DEADLINE)
        yield notice("notifications/cancelled", requestId=1)
        yield notice("notifications/cancelled", requestId="unknown")
        yield request(2, "ping")

    script.answers = {"slow": until_gone}
    out = io.BytesIO()
    StdioProxy(out, headers={}).run(lines())

    assert gone.wait(DEADLINE)
    assert [json.loads(line)["id"] for line in out.getvalue().splitlines()] == [2]
    assert "notifications/cancelled" not in [message["method"] for message, _ in script.asked]


def test_a_listener_ends_with_the_input(script: Script) -> None:
    """Its answer has no end of its own."""

    def for_ever(handler: StandInHandler, message: dict[str, Any]) -> None:
        handler.begin_events()
        handler.rfile.read(1)

    script.answers = {"subscriptions/listen": for_ever}

    assert talk(request(1, "subscriptions/listen")) == {}


@pytest.mark.parametrize("events", ["none", "some"])
def test_a_daemon_that_goes_away_before_its_answer_is_told_with_a_warning(events: str, script: Script) -> None:
    """Nobody knows whether it was carried out, so it is not asked again behind the client's back."""

    def killed(handler: StandInHandler, message: dict[str, Any]) -> None:
        if events == "some":
            handler.begin_events()
            handler.wfile.write(b'data: {"jsonrpc": "2.0", "method": "notifications/progress"}\n\n')
        handler.hang_up()

    script.answers = {"tools/call": killed}
    said = talk(request(1, "tools/call"), request(2, "ping"))

    assert said[1]["error"]["code"] == -32000
    assert "check before you repeat it" in said[1]["error"]["message"]
    assert said[2]["result"] == {}
    assert len([message for message, _ in script.asked if message["id"] == 1]) == 1


def listing(handler: StandInHandler, message: dict[str, Any]) -> None:
    """Two tools, of which one only reads."""
    tools = [{"name": "memory_search", "annotations": {"readOnlyHint": True}}, {"name": "memory_save"}]
    handler.reply(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": {"tools": tools}}).encode())


def one_by_one(*lines: bytes) -> list[Any]:
    """What the proxy writes for these lines, each sent when the one before is answered; in order."""
    written = threading.Semaphore(1)

    class Screen(io.BytesIO):
        def flush(self) -> None:
            written.release()

    def slowly() -> Iterator[bytes]:
        for line in lines:
            assert written.acquire(timeout=DEADLINE)
            yield line

    out = Screen()
    StdioProxy(out, headers={}).run(slowly())
    return [json.loads(line) for line in out.getvalue().splitlines()]


def test_a_request_that_only_reads_is_sent_once_more_if_the_daemon_goes_away(script: Script) -> None:
    """A list, a ping, and a tool that the daemon's own list calls read-only; a tool that saves is never repeated."""
    broken: set[object] = set()

    def killed_once(handler: StandInHandler, message: dict[str, Any]) -> None:
        if message["id"] in broken:
            (listing if message["method"] == "tools/list" else echo)(handler, message)
        else:
            broken.add(message["id"])
            handler.hang_up()

    script.answers = dict.fromkeys(("tools/list", "tools/call", "ping"), killed_once)
    said = one_by_one(
        request(1, "tools/list"),
        request(2, "tools/call", name="memory_search"),
        request(3, "ping"),
        request(4, "tools/call", name="memory_save"),
    )

    assert [("result" in each) for each in said] == [True, True, True, False]
    assert "check before you repeat it" in said[3]["error"]["message"]
    assert [message["id"] for message, _ in script.asked] == [1, 1, 2, 2, 3, 3, 4]


def test_a_reading_request_that_fails_twice_is_not_said_to_have_changed_anything(script: Script) -> None:
    """The agent may simply ask again."""
    script.answers = {"tools/list": lambda handler, _: handler.hang_up()}
    said = talk(request(1, "tools/list"))

    assert said[1]["error"]["message"] == "the daemon closed the connection before it answered"


def test_a_connection_that_breaks_after_the_answer_gives_no_second_answer(script: Script) -> None:
    """Each id is answered once, also if the daemon is killed before it ends its response."""

    def broken_after(handler: StandInHandler, message: dict[str, Any]) -> None:
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        event = b'data: {"jsonrpc": "2.0", "id": 1, "result": {}}\n\n'
        handler.wfile.write(b"%x\r\n%s\r\n5\r\nda" % (len(event), event))
        handler.hang_up()

    script.answers = {"tools/call": broken_after}
    out = io.BytesIO()
    StdioProxy(out, headers={}).run([request(1, "tools/call", name="memory_save")])

    assert [json.loads(line) for line in out.getvalue().splitlines()] == [{"jsonrpc": "2.0", "id": 1, "result": {}}]


def test_the_watch_over_a_daemon_that_hangs_survives_every_error(
    script: Script, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A state file that cannot be read once must not leave all later requests without a watch."""
    looks, looked_again = iter(range(2)), threading.Event()

    def unreadable(_: object) -> None:
        if next(looks, None) == 0:
            raise PermissionError(13, "Permission denied")
        looked_again.set()

    def slowly(handler: StandInHandler, message: dict[str, Any]) -> None:
        assert looked_again.wait(DEADLINE)
        echo(handler, message)

    monkeypatch.setattr(stdio, "frozen_daemon", unreadable)
    monkeypatch.setattr(stdio, "_WATCH_SECONDS", 0.01)
    monkeypatch.setattr(stdio, "_PATIENCE_SECONDS", 0.01)
    script.answers = {"slow": slowly}

    assert talk(request(1, "slow"))[1]["result"] == {}
    assert "Permission denied" in capsys.readouterr().err


def test_a_daemon_that_cannot_be_started_is_an_answer_too(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The agent reads why, instead of waiting; the host finds it in its log."""

    def refuse(**_: object) -> None:
        raise Unreachable("the daemon did not start: the disk is full")

    monkeypatch.setattr(stdio, "ensure_running", refuse)
    said = talk(request(1, "initialize"))

    assert said[1]["error"] == {"code": -32000, "message": "the daemon did not start: the disk is full"}
    assert "the disk is full" in capsys.readouterr().err


def test_bad_lines_are_answered_and_the_next_one_is_read(script: Script) -> None:
    """One broken line does not end the talk."""
    said = talk(b"{broken\n", request(1, "ping"))

    assert said[None]["error"]["code"] == -32700
    assert said[1]["result"] == {}


def test_lines_of_several_megabytes_pass_both_ways(script: Script) -> None:
    """A whole note may be in one."""
    text = "ü" * 2_000_000
    said = talk(request(1, "tools/call", text=text))

    assert said[1]["result"]["text"] == text


def test_an_answer_with_line_breaks_is_one_line(script: Script) -> None:
    """Lines are what separates messages on this door."""
    script.answers = {
        "ping": lambda handler, message: handler.reply(b'{"jsonrpc": "2.0",\r\n"id": 1,\n"result": {}}\n')
    }
    out = io.BytesIO()
    StdioProxy(out, headers={}).run([request(1, "ping")])

    assert out.getvalue().count(b"\n") == 1
