"""The daemon as a process: one for each user, two ways in, every registered vault, and a clean end."""

import json
import os
import shutil
import signal
import socket
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from commonplace import open_memory
from tests.daemons import (
    Daemon,
    Reply,
    command,
    launch_interpreter,
    program,
    register,
    running,
    small_vault,
    start,
    surroundings,
)
from tests.polling import wait_for

MCP_HEADERS = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18"}
TRIES = 10


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """One daemon for the tests that leave it as it was, with two vaults: Notes is the default, Work the other.

    The port that its settings name is taken by another program.
    """
    home = tmp_path_factory.mktemp("home")
    work = home / "Work"
    work.mkdir()
    (work / "Plan.md").write_text("# Plan\n\nThe budget is settled in April.\n")
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = str(other.getsockname()[1])
        with running(home, vaults=[small_vault(home / "Notes"), work], COMMONPLACE_SERVE__PORT=port) as made:
            made.wait_synced()
            yield made


@contextmanager
def started_anew(home: Path) -> Iterator[Daemon]:
    """A daemon as people start it, with an interpreter of its own."""
    environ = surroundings(home)
    register(environ, small_vault(home / "Notes"))
    daemon = start(home, environ, launch_interpreter)
    try:
        yield daemon
    finally:
        daemon.stop()


def mcp(daemon: Daemon, method: str, params: dict[str, Any], **headers: str) -> Reply:
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    return daemon.call("POST", "/mcp", body=body, headers={**MCP_HEADERS, **headers})


def found(daemon: Daemon, question: str, vault: str = "") -> list[str]:
    headers = {"Commonplace-Vault": vault} if vault else {}
    answer = daemon.call("POST", "/api/v1/search", body={"query": question}, headers=headers).json
    return [hit["source_path"] for hit in answer["results"]]


@pytest.mark.requirement("A-22")
def test_a_second_serve_finds_the_first_and_says_where_it_is(daemon: Daemon) -> None:
    """One daemon for each user: the second starts nothing and ends well."""
    second = daemon.command("serve")

    assert second.returncode == 0, second.stderr
    assert f"running at {daemon.url}, process {daemon.process.pid}" in second.stdout
    assert json.loads(daemon.command("serve", "--json").stdout)["pid"] == daemon.process.pid


def test_in_the_foreground_it_says_where_it_is_and_how_to_make_a_token(daemon: Daemon) -> None:
    """One line for the person who started it."""
    (line,) = (daemon.home / "serve.err").read_text().splitlines()

    assert line.startswith(f"serving at {daemon.url} (MCP: {daemon.url}/mcp)")
    assert "commonplace token create" in line


@pytest.mark.requirement("A-22")
def test_many_sessions_are_served_by_one_daemon_and_none_is_remembered(daemon: Daemon) -> None:
    """Streamable HTTP; what a client calls its session makes no difference to what it finds."""
    wanted = {"name": "memory_search", "arguments": {"query": "compost", "verbose": True}}
    answers = [mcp(daemon, "tools/call", wanted, **{"Mcp-Session-Id": f"session-{number}"}) for number in range(3)]
    results = [answer.json["result"]["structuredContent"]["results"] for answer in answers]

    assert [answer.status for answer in answers] == [200, 200, 200]
    assert all([hit["source_path"] for hit in hits] == ["Projects/Greenhouse.md"] for hits in results)
    assert all("mcp-session-id" not in answer.headers for answer in answers)


@pytest.mark.requirement("A-25")
@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="reads /proc")
def test_it_listens_on_the_loopback_and_on_a_socket_file_alone(daemon: Daemon) -> None:
    """127.0.0.1 and a Unix socket, both answering; no other address has the port."""
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    listening = [row[1] for row in rows if row[3] == "0A" and row[1].endswith(f":{daemon.port:04X}")]
    rows6 = Path("/proc/net/tcp6").read_text() if Path("/proc/net/tcp6").exists() else ""

    assert listening == [f"0100007F:{daemon.port:04X}"]
    assert f":{daemon.port:04X} " not in rows6
    assert daemon.call("GET", "/health", token="").json == daemon.call("GET", "/health").json
    assert daemon.call("GET", "/health").json["name"] == "commonplace"


def test_its_files_are_its_owners_alone(daemon: Daemon) -> None:
    """A folder that nobody else may enter, and no file in it that anybody else may read."""
    daemon.token("somebody")
    files = {file.name: file.stat().st_mode & 0o777 for file in daemon.state.iterdir() if file.exists()}

    assert daemon.state.stat().st_mode & 0o777 == 0o700
    assert {"serve.lock", "serve.json", "serve.log", "serve.sock", "tokens.json"} <= files.keys()
    assert set(files.values()) == {0o600}


def test_status_says_what_the_daemon_does(daemon: Daemon) -> None:
    """Process, ways in, vaults with their notes and how they are searched, watchers, chores, memory, requests."""
    told = json.loads(daemon.command("status", "--json").stdout)
    shown = daemon.command("status")
    vaults = {vault["name"]: vault for vault in told["vaults"]}
    notes = len([note for note in (daemon.home / "Notes").rglob("*.md") if note.name != "_index.md"])  # a list of them

    assert (told["running"], told["pid"], told["url"]) == (True, daemon.process.pid, daemon.url)
    assert told["requests"] > 0
    assert 10 < told["memory_mb"] < 1000
    assert (vaults["Notes"]["notes"], vaults["Notes"]["default"], vaults["Work"]["default"]) == (notes, True, False)
    assert all((vault["mode"], vault["watching"]) == ("hybrid", True) for vault in vaults.values())
    assert {chore["chore"] for chore in told["chores"]} == {
        "open new vaults",
        "tidy the repositories",
        "record which tokens were used",
        "learn from conversations",
        "run due jobs",
    }
    assert all(vault["jobs"] and vault["notices"] == [] for vault in vaults.values())
    assert "upkeep    probe: next at " in shown.stdout
    assert shown.returncode == 0
    assert f"{notes} notes, " in shown.stdout
    assert "chunks, hybrid, watched" in shown.stdout


def test_a_vault_is_asked_for_by_name_or_path_and_only_if_it_is_registered(daemon: Daemon) -> None:
    """Any other is not found, and the hint says what to do; the folder itself is never looked at."""
    (daemon.home / "Stranger").mkdir()
    strange = daemon.call("GET", "/api/v1/notes", headers={"Commonplace-Vault": str(daemon.home / "Stranger")})

    assert found(daemon, "budget", "Work") == found(daemon, "budget", str(daemon.home / "Work")) == ["Plan.md"]
    assert found(daemon, "budget") == []
    assert (strange.status, strange.json["error"]["type"]) == (404, "NotFound")
    assert "commonplace init" in strange.json["error"]["hint"]


def test_what_a_person_saves_is_found_within_moments(daemon: Daemon) -> None:
    """Every vault is watched."""
    (daemon.home / "Work" / "Parking.md").write_text("# Parking\n\nThe zeppelin lands on the roof.\n")

    wait_for(lambda: found(daemon, "zeppelin", "Work") == ["Parking.md"])


@pytest.mark.requirement("A-20", "A-21")
def test_the_library_and_mcp_are_two_ways_into_one_memory(daemon: Daemon, monkeypatch: pytest.MonkeyPatch) -> None:
    """What one writes the other finds; the library needs no daemon, and MCP stands above the same verbs."""
    for name, value in daemon.environ.items():
        monkeypatch.setenv(name, value)
    saved = mcp(daemon, "tools/call", {"name": "memory_save", "arguments": {"text": "Prefers oak for the shelves."}})
    with open_memory(daemon.home / "Notes", actor="agent") as memory:
        by_library = [hit.text for hit in memory.search("oak shelves")]
        memory.entries.save("Waters the ferns on Fridays.", kind="workflow")

    assert saved.json["result"]["isError"] is False
    assert any("oak" in text for text in by_library)
    assert any("ferns" in path for path in found(daemon, "ferns Fridays"))


@pytest.mark.requirement("A-21")
def test_no_daemon_is_forced_on_whoever_works_without_one(tmp_path: Path) -> None:
    """The commands work on the vault itself, and start nothing."""
    environ = surroundings(tmp_path)
    register(environ, small_vault(tmp_path / "Notes"))
    command(environ, "sync")
    searched = command(environ, "search", "compost", "--json")
    status = command(environ, "status", "--json")

    assert json.loads(searched.stdout)["count"] == 1
    assert (status.returncode, json.loads(status.stdout)["running"]) == (1, False)
    assert "not running" in command(environ, "stop").stdout


@pytest.mark.requirement("D-94")
def test_without_a_vault_the_daemon_runs_and_its_answers_say_what_is_missing(tmp_path: Path) -> None:
    """No vault is no failure: an agent goes on without memory. A vault that is registered later is served at once."""
    with running(tmp_path, vaults=[]) as daemon:
        listed = mcp(daemon, "tools/list", {})
        asked = {"name": "memory_search", "arguments": {"query": "compost", "verbose": True}}
        without = mcp(daemon, "tools/call", asked).json
        told = daemon.command("status")
        daemon.command("init", str(small_vault(tmp_path / "Notes")))
        daemon.wait_synced()
        wait_for(lambda: daemon.call("GET", "/daemon/status").json["vaults"])
        daemon.wait_synced()
        later = found(daemon, "compost")

    assert (listed.status, told.returncode) == (200, 0)
    assert "commonplace init" in json.dumps(without)
    assert later == ["Projects/Greenhouse.md"]


def test_a_vault_that_is_away_is_told_and_harms_no_other(tmp_path: Path) -> None:
    """An unmounted disk, or a vault with broken settings of its own; when they come back, they are served again."""
    away, broken = small_vault(tmp_path / "Away"), small_vault(tmp_path / "Broken")
    environ = surroundings(tmp_path)
    register(environ, away, broken, small_vault(tmp_path / "Notes"))
    away.rename(tmp_path / "Elsewhere")
    (broken / ".commonplace.toml").write_text("= broken")
    daemon = start(tmp_path, environ)
    try:
        wait_for(lambda: found(daemon, "compost", "Notes"))
        told = {vault["name"]: vault for vault in daemon.call("GET", "/daemon/status").json["vaults"]}
        refused = daemon.call("GET", "/api/v1/notes", headers={"Commonplace-Vault": "Away"})
        shutil.move(tmp_path / "Elsewhere", away)
        wait_for(lambda: found(daemon, "compost", "Away"))
        away.rename(tmp_path / "Elsewhere")
        shutil.copytree(tmp_path / "Elsewhere", away)  # as after a restore
        (away / "Quartz.md").write_text("# Quartz\n\nQuartz is found in the new folder.\n")
        wait_for(lambda: found(daemon, "quartz", "Away"))
    finally:
        daemon.stop()

    assert (told["Away"]["open"], told["Broken"]["open"], told["Notes"]["open"]) == (False, False, True)
    assert "cannot be found" in told["Away"]["said"]
    assert "TOML" in told["Broken"]["said"]
    assert refused.status == 503


def test_a_request_under_way_is_answered_before_the_daemon_ends(tmp_path: Path) -> None:
    """SIGTERM: no new connection, what runs is finished, the socket and the announcement are gone, exit code 0."""
    with started_anew(tmp_path) as daemon:
        body = json.dumps({"query": "compost"}).encode()
        caller = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        caller.settimeout(20)
        caller.connect(str(daemon.socket))
        head = "POST /api/v1/search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json"
        caller.sendall(f"{head}\r\nContent-Length: {len(body)}\r\nExpect: 100-continue\r\n\r\n".encode())
        invited = caller.recv(1000)  # the request is being answered now
        daemon.process.send_signal(signal.SIGTERM)
        wait_for(lambda: "daemon_stopping" in daemon.log())
        caller.sendall(body)
        answer = caller.recv(1000)
        caller.close()
        code = daemon.process.wait(30)
        left = {file.name for file in daemon.state.iterdir()}

    assert b" 100 " in invited
    assert answer.startswith(b"HTTP/1.1 200 ")
    assert code == 0
    assert left == {"serve.lock", "serve.log"}
    assert "daemon_stopped" in daemon.log()


def test_a_second_signal_ends_it_at_once(tmp_path: Path) -> None:
    """Whoever presses Ctrl-C twice does not wait for a caller."""
    with started_anew(tmp_path) as daemon:
        caller = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        caller.connect(str(daemon.socket))
        caller.sendall(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n")
        caller.recv(100)
        daemon.process.send_signal(signal.SIGINT)
        wait_for(lambda: "daemon_stopping" in daemon.log())
        daemon.process.send_signal(signal.SIGINT)
        code = daemon.process.wait(60)
        caller.close()

        assert code == -signal.SIGINT


def test_it_starts_in_the_background_and_stops_on_command(tmp_path: Path) -> None:
    """`serve --background` returns when it answers, `stop` when it is gone; what a killed one left is no trouble."""
    environ = surroundings(tmp_path)
    register(environ, small_vault(tmp_path / "Notes"))
    first = json.loads(program(environ, "serve", "--background", "--json").stdout)
    os.kill(first["pid"], signal.SIGKILL)
    wait_for(lambda: json.loads(command(environ, "status", "--json").stdout)["running"] is False)
    second = json.loads(program(environ, "serve", "--background", "--json").stdout)
    running_now = command(environ, "status", "--json")
    stopped = command(environ, "stop", "--json")

    assert (second["ok"], second["pid"] != first["pid"]) == (True, True)
    assert json.loads(running_now.stdout)["pid"] == second["pid"]
    assert json.loads(stopped.stdout) == {"ok": True, "stopped": True}
    assert command(environ, "status").returncode == 1
    assert not (tmp_path / "state/commonplace/daemon/serve.sock").exists()


def test_many_that_start_it_at_once_all_find_it_running(tmp_path: Path) -> None:
    """One starts it, the others wait for that one: nobody is told that it does not run."""
    environ = surroundings(tmp_path)
    with ThreadPoolExecutor(6) as pool:
        done = [*pool.map(lambda _: program(environ, "serve", "--background", "--json"), range(6))]
    try:
        assert [each.returncode for each in done] == [0] * 6, [each.stderr for each in done]
        assert len({json.loads(each.stdout)["pid"] for each in done}) == 1
    finally:
        command(environ, "stop", "--force")


def test_a_port_that_is_taken_is_no_trouble(daemon: Daemon) -> None:
    """The next one is taken, and everybody is told which."""
    asked = int(daemon.environ["COMMONPLACE_SERVE__PORT"])
    answer = daemon.call("GET", "/health", token="")

    assert answer.status == 200
    assert asked < daemon.port <= asked + 20


def test_the_log_holds_neither_questions_nor_notes_nor_tokens(daemon: Daemon) -> None:
    """JSON lines, which say what happened and not what was said, not even when something goes wrong."""
    token = daemon.token("curious")
    daemon.call("POST", "/api/v1/search", body={"query": "xylophone lessons"}, token=token)
    daemon.call("POST", "/mcp", body={"jsonrpc": "2.0", "method": "xylophone"}, token=token, headers=MCP_HEADERS)
    daemon.call("POST", "/api/v1/search", body={"xylophone": 1}, token=token)
    mcp(daemon, "tools/call", {"name": "memory_search", "arguments": {"xylophone": "xylophone"}})
    mcp(daemon, "tools/call", {"name": "note_write", "arguments": {"path": "Inbox/Xylo.md", "text": "the xylophone"}})
    daemon.call("GET", "/api/v1/notes", token=f"{token}x")
    log = daemon.log()

    assert all(json.loads(line)["at"] for line in log.splitlines())
    assert "xylophone" not in log
    assert token not in log
    assert "compost" not in log


@pytest.mark.needs("model")
def test_the_first_answer_does_not_wait_for_the_model(tmp_path: Path) -> None:
    """Words until the model is loaded, and the answer says so; then by meaning too."""
    environ = surroundings(tmp_path, provider="minilm-l6-v2")
    register(environ, small_vault(tmp_path / "Notes"))
    command(environ, "sync")
    asked = {"name": "memory_search", "arguments": {"query": "compost", "verbose": True}}
    for _ in range(TRIES):
        daemon = start(tmp_path, environ, launch_interpreter)
        first = mcp(daemon, "tools/call", asked).json["result"]["structuredContent"]
        if first["mode"] == "words":
            break
        daemon.stop()  # other programs held us up, and it was loaded meanwhile
    try:
        wait_for(lambda: daemon.call("GET", "/daemon/status").json["vaults"][0]["mode"] == "hybrid", within=60.0)
        later = mcp(daemon, "tools/call", asked).json["result"]["structuredContent"]
    finally:
        daemon.stop()

    assert (first["mode"], first["count"]) == ("words", 1)
    assert "still loading" in first["degraded"][0]
    assert (later["mode"], later["degraded"]) == ("hybrid", [])


def test_the_unit_of_the_system_is_shown_written_once_and_taken_away(tmp_path: Path) -> None:
    """Without a working systemctl or launchctl, the commands that are left are told."""
    environ = {**surroundings(tmp_path / "my home"), "PATH": str(Path(shutil.which("git") or "").parent / "none")}
    shown = command(environ, "serve", "--install-service", "--dry-run", "--json")
    file = Path(json.loads(shown.stdout)["path"])
    was_there = file.exists()
    written = [json.loads(command(environ, "serve", "--install-service", "--json").stdout) for _ in range(2)]
    text = file.read_text()
    removed = [json.loads(command(environ, "serve", "--uninstall-service", "--json").stdout) for _ in range(2)]

    assert not was_there
    assert text == json.loads(shown.stdout)["text"]
    assert sys.executable in text
    assert [each["changed"] for each in written] == [True, False]
    assert written[0]["left"]
    assert [each["changed"] for each in removed] == [True, False]
    assert not file.exists()


def test_a_state_folder_open_to_others_is_refused(tmp_path: Path) -> None:
    """Exit code 5, and what to do about it."""
    environ = surroundings(tmp_path)
    folder = tmp_path / "state" / "commonplace" / "daemon"
    folder.mkdir(parents=True)
    folder.chmod(0o755)
    refused = command(environ, "serve")

    assert refused.returncode == 5
    assert f"chmod 700 {folder}" in refused.stderr


def test_switches_that_contradict_each_other_are_refused(tmp_path: Path) -> None:
    """To install and to uninstall; a dry run of nothing."""
    both = command(surroundings(tmp_path), "serve", "--install-service", "--uninstall-service")
    dry = command(surroundings(tmp_path), "serve", "--dry-run")

    assert (both.returncode, dry.returncode) == (2, 2)
