"""`install` and `doctor` see what a host sees: what it ignores, asks, trusts, and has twice, each with a remedy."""

import json
import os
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from io import BytesIO
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from commonplace.daemon.service.install_file import hosts_over_http
from commonplace.hosts.health_checks import HookStatus
from commonplace.hosts.host import READING_TOOLS, Environment
from commonplace.hosts.plugin import find_plugin, reason_to_stand_by, serve_no_tools
from commonplace.hosts.registry import HOSTS
from commonplace.memory import Memory
from commonplace.model import Caller
from tests.daemons import register, running, small_vault
from tests.host_files import CLAUDE, SETTINGS, Person
from tests.hosts.programs import PLUGIN
from tests.integration.mcp_server.host import Host
from tests.transcript_lines import claude
from tests.warm import warm_program

WELL = HookStatus(12.0, "prompt", "2026-03-01T09:00:00Z")
PLUGIN_NAME = "commonplace@commonplace"


@pytest.fixture
def person(tmp_path: Path) -> Person:
    (tmp_path / "project").mkdir()
    return Person(tmp_path / "home", tmp_path / "project")


def wrong(person: Person, heard: HookStatus | None = WELL) -> list[tuple[str, str, bool]]:
    """What is wrong: about what, what is said, and whether there is a remedy."""
    return [(each.what, each.said, bool(each.remedy)) for each in person.check(heard) if not each.ok]


def enable_plugin(person: Person, *, copy: bool = True) -> Path:
    """Put into Claude Code's files what `claude plugin install` puts there."""
    folder = person.home / ".claude" / "plugins" / "cache" / "commonplace" / "commonplace" / "0.1.0"
    if copy:
        shutil.copytree(PLUGIN, folder)
    settings = json.loads((person.home / ".claude/settings.json").read_text())
    settings["enabledPlugins"] = {PLUGIN_NAME: True}
    person.write(".claude/settings.json", json.dumps(settings))
    installed = {"version": 2, "plugins": {PLUGIN_NAME: [{"scope": "user", "installPath": str(folder)}]}}
    person.write(".claude/plugins/installed_plugins.json", json.dumps(installed))
    return folder


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ('{\n  // mine\n  "model": "opus"\n}\n', "line 2 has a comment"),
        ('{\n  "model": "opus",\n}\n', "line 2 has a trailing comma"),
        ('{"hooks": {"Stop": [\n/* none */]}}\n', "line 2 has a comment"),
    ],
)
def test_a_file_that_claude_code_ignores_is_refused_and_found(person: Person, text: str, fault: str) -> None:
    """Claude Code reads plain JSON, and ignores the whole of a settings.json with more in it: our hooks with it."""
    file = person.write(".claude/settings.json", text)
    before = person.files()
    refused = person.run("install", "claude-code", "--yes")
    unchanged = person.files() == before
    file.write_text("{}")
    person.answer("install", "claude-code", "--yes")
    file.write_text(text)
    found = person.check(WELL)
    person.run("uninstall", "claude-code")

    assert refused.returncode == 2
    assert f"Claude Code ignores this file: {fault}; nothing was changed" in refused.stderr
    assert unchanged
    assert [(each.said, each.path) for each in found if not each.ok] == [
        (f"Claude Code ignores this file: {fault}", str(file))
    ]
    assert file.read_text() == text


def test_two_configuration_folders_are_two_installs(person: Person) -> None:
    """Each has its own entries, doctor looks into both, and each is taken back alone, or both together."""
    work = person.home / "work"
    before = person.files()
    person.answer("install", "claude-code", "--yes")
    first = person.files()
    person.environ["CLAUDE_CONFIG_DIR"] = str(work)
    person.answer("install", "claude-code", "--yes")
    fine = wrong(person)
    person.write("work/settings.json", "{}")
    found = wrong(person)
    del person.environ["CLAUDE_CONFIG_DIR"]
    elsewhere = wrong(person)
    person.write("work/settings.json", "{}")
    person.environ["CLAUDE_CONFIG_DIR"] = str(work)
    person.answer("uninstall", "claude-code")
    (work / "settings.json").unlink(missing_ok=True)
    shutil.rmtree(work, ignore_errors=True)
    alone = person.files()
    del person.environ["CLAUDE_CONFIG_DIR"]
    person.answer("uninstall", "claude-code")

    assert fine == []
    assert found == elsewhere == [(f"claude-code in {work}", "entries of Commonplace are missing or changed", True)]
    assert alone == first
    assert person.files() == before


def test_sessions_in_every_installed_folder_are_kept(tmp_path: Path) -> None:
    """Whatever the folder was that the daemon's own shell knew."""
    with running(tmp_path) as daemon:
        other = tmp_path / "work"
        daemon.environ["CLAUDE_CONFIG_DIR"] = str(other)
        refused = _hand_over(daemon, other, "one")
        installed = daemon.command("install", "claude-code", "--yes")
        codes = [refused, _hand_over(daemon, other, "two"), _hand_over(daemon, tmp_path / ".claude", "three")]

    assert installed.returncode == 0, installed.stderr
    assert codes == [403, 202, 202]


def _hand_over(daemon: Any, config: Path, session: str) -> int:
    """The status of the answer to a hook that hands over a transcript in that configuration folder."""
    transcript = config / "projects" / "p" / f"{session}.jsonl"
    transcript.parent.mkdir(parents=True, exist_ok=True)
    transcript.write_text(claude("user", "hello", id_=session))
    body = {"session_id": session, "transcript_path": str(transcript), "cwd": "/"}
    reply = daemon.call("POST", "/hooks/v1/stop", body=body, headers={"Commonplace-Client": "claude-code"})
    return int(reply.status)


def test_hooks_that_codex_does_not_run_are_found(person: Person) -> None:
    """Codex runs only hooks that a person has trusted; one that was trusted at another place is not."""
    person.answer("install", "codex", "--yes")
    untrusted = wrong(person)
    person.trust_codex_hooks()
    trusted = wrong(person)
    hooks = json.loads((person.home / ".codex/hooks.json").read_text())
    hooks["hooks"]["Stop"].insert(0, {"hooks": [{"type": "command", "command": "say done"}]})
    person.write(".codex/hooks.json", json.dumps(hooks))
    moved = wrong(person)

    assert untrusted == [("codex", "Codex does not run our hooks yet: 5 of 5 are not trusted", True)]
    assert trusted == []
    assert moved == [("codex", "Codex does not run our hooks yet: 1 of 5 are not trusted", True)]


@contextmanager
def taken(port: int, *, answers: bool = False) -> Iterator[None]:
    """Another program listens on that port, and `answers` every request as if it were the daemon."""
    with closing(socket.socket(socket.AF_INET, socket.SOCK_STREAM)) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", port))
        listener.listen()
        if answers:
            threading.Thread(target=_pretend, args=(listener,), daemon=True).start()
        yield
        listener.shutdown(socket.SHUT_RDWR)


def _pretend(listener: socket.socket) -> None:
    body = b'{"ok": true, "name": "commonplace", "proof": "' + b"0" * 64 + b'"}'
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body)
    with suppress(OSError):
        while True:
            connection, _ = listener.accept()
            with connection:
                connection.recv(4096)
                connection.sendall(head + body)


def test_an_address_that_a_host_knows_is_kept_or_refused(person: Person) -> None:
    """With an entry over HTTP the daemon takes no other port; without one it may."""
    register(person.environ, small_vault(person.home / "Notes"))
    port = int(person.environ["COMMONPLACE_SERVE__PORT"])
    person.answer("install", "cursor", "--transport", "http")
    with taken(port):
        refused = person.run("serve", "--background")
    person.environ["COMMONPLACE_SERVE__PORT"] = str(port + 1)
    moved = wrong(person)
    again = person.answer("install", "cursor", "--transport", "http")
    mended = wrong(person)

    assert refused.returncode != 0
    assert f"port {port} is in use by another program, and cursor would look" in refused.stdout + refused.stderr
    assert moved == [
        (
            "cursor",
            f"the entry names http://127.0.0.1:{port}/mcp, and the daemon is at http://127.0.0.1:{port + 1}/mcp",
            True,
        )
    ]
    assert {file["change"] for file in again["files"]} >= {"changed"}
    assert mended == []
    assert hosts_over_http(person.home / "state/commonplace/daemon") == {"cursor": f"http://127.0.0.1:{port + 1}/mcp"}


def test_a_token_is_not_given_to_whoever_holds_the_port(person: Person) -> None:
    """Before a token is written, who listens there must prove to be the daemon; doctor asks for the same proof."""
    register(person.environ, small_vault(person.home / "Notes"))
    port = int(person.environ["COMMONPLACE_SERVE__PORT"])
    with taken(port, answers=True):
        refused = person.run("install", "cursor", "--transport", "http")
    person.answer("install", "cursor", "--transport", "http")
    nobody = wrong(person)
    with taken(port, answers=True):
        squatted = wrong(person)

    assert refused.returncode == 3
    assert f"another program listens on port {port}, and would be sent the token" in refused.stdout + refused.stderr
    assert not (person.home / ".cursor/mcp.json").exists() or "cpl_" not in refused.stdout
    assert nobody == []
    assert squatted == [("cursor", f"another program listens on port {port} and may have its token", True)]


def test_an_address_that_will_not_last_is_not_written(tmp_path: Path) -> None:
    """A daemon that was started on another port than the settings name would be elsewhere the next time."""
    with running(tmp_path) as daemon:
        port = str(daemon.port + 1)
        daemon.environ["COMMONPLACE_SERVE__PORT"] = port
        refused = daemon.command("install", "cursor", "--transport", "http")

    assert refused.returncode == 2
    assert f"but at port {port} when it is started again" in refused.stderr
    assert f"settings set serve.port {daemon.port}" in refused.stderr
    assert not (tmp_path / ".cursor").exists()


def test_the_plugin_alone_is_checked_too(person: Person) -> None:
    """That it is enabled, that its program is found, and the last event; for Codex, that its hooks are trusted."""
    enable_plugin(person)
    with patch.dict(os.environ, {"PATH": "/nowhere"}):
        person.environ["PATH"] = "/nowhere"
        lost = wrong(person)
    person.environ["PATH"] = str(Path(sys.executable).parent)
    fine = person.check(WELL)
    person.write(".codex/config.toml", f'[plugins."{PLUGIN_NAME}"]\nenabled = true\n')
    shutil.copytree(PLUGIN, person.home / ".codex/plugins/cache/commonplace/commonplace/0.1.0")
    codex = wrong(person)

    assert lost == [("claude-code plugin", "`commonplace`, which the plugin calls, is not on your path", True)]
    assert [(each.what, each.ok) for each in fine] == [("claude-code plugin", True)] * 2
    assert "last event prompt" in fine[1].said
    assert codex == [("codex plugin", "Codex does not run our hooks yet: 5 of 5 are not trusted", True)]


def test_the_plugin_and_an_install_are_told_of(person: Person) -> None:
    """`install` says it and leaves the skills to the plugin; `doctor` says it, and minds only an old plugin."""
    folder = enable_plugin(person)
    told = person.answer("install", "claude-code", "--yes")
    both = person.check(WELL)
    server = {"command": "commonplace", "args": ["mcp"]}
    person.write(str(folder / ".mcp.json"), json.dumps({"mcpServers": {"commonplace": server}}))
    old = wrong(person)

    assert any(f"The plugin {PLUGIN_NAME} is enabled in Claude Code as well" in note for note in told["notes"])
    assert not (person.home / ".claude/skills").exists()
    assert all(each.ok for each in both)
    assert any("one of the two serves the tools" in each.said for each in both)
    assert [(what, has_remedy) for what, _, has_remedy in old] == [("claude-code", True)]
    assert "shows every tool twice" in old[0][1]


def test_an_entry_of_a_project_over_http_beside_the_plugin_is_told_with_a_remedy(person: Person) -> None:
    """Only a server over stdio can stand by: the remedy makes it one; with an own entry, the plugin stands by."""
    enable_plugin(person)
    told = person.answer("install", "claude-code", "--scope", "project", "--transport", "http", "--yes")
    twice = [each for each in person.check(WELL) if "is enabled as well" in each.said]
    person.answer("install", "claude-code", "--yes")
    own = [each for each in person.check(WELL) if "is enabled as well" in each.said]
    person.answer("uninstall", "claude-code", "--scope", "user", "--yes")
    person.answer("install", "claude-code", "--scope", "project", "--yes")
    remedied = [each for each in person.check(WELL) if "is enabled as well" in each.said]

    assert any("shown twice" in note for note in told["notes"])
    assert [(each.ok, "over HTTP, so both show every tool" in each.said) for each in twice] == [(False, True)]
    assert "`commonplace install claude-code --scope project`" in twice[0].remedy
    assert [each.ok for each in own] == [True, True]
    assert [each.ok for each in remedied] == [True]


@pytest.mark.parametrize(
    ("entries", "serving"),
    [
        ({"plugin"}, {"plugin"}),
        ({"user", "plugin"}, {"user"}),
        ({"local", "plugin"}, {"local"}),
        ({"project"}, {"project"}),
        ({"project", "plugin"}, {"plugin"}),
        ({"user", "project", "plugin"}, {"project"}),  # it takes the place of the person's own, which has its name
    ],
    ids=lambda names: " ".join(sorted(names)),
)
def test_of_several_servers_one_serves_in_claude_code(person: Person, entries: set[str], serving: set[str]) -> None:
    """Whichever there are, the model is shown every tool once."""
    server = {"command": str(program_in(person)), "args": ["mcp"]}
    values: dict[str, Any] = json.loads(CLAUDE)
    if "user" in entries:
        values["mcpServers"]["commonplace"] = server
    if "local" in entries:
        values["projects"] = {str(person.project): {"mcpServers": {"commonplace": server}}}
    person.write(".claude.json", json.dumps(values))
    if "plugin" in entries:
        enable_plugin(person)
    around = {"CLAUDECODE": "1", "CLAUDE_PROJECT_DIR": str(person.project)}
    with patch.dict(os.environ, person.environ, clear=True):
        standing_by = {each for each in entries & {"project", "plugin"} if reason_to_stand_by(each, around)}
        elsewhere = [reason_to_stand_by(each, {}) for each in ("project", "plugin")]

    started = entries - ({"user"} if "project" in entries else set())
    assert started - standing_by == serving
    assert elsewhere == ["", ""]


def program_in(person: Person) -> Path:
    """A program of our name, which an entry may start."""
    program = person.write("tools/commonplace", "#!/bin/sh\n")
    program.chmod(0o700)
    return program


def own_server(person: Person, server: dict[str, Any], *, is_local: bool = False) -> Path:
    """Put a server into the person's own file of Claude Code, as `claude mcp add` does."""
    values: dict[str, Any] = json.loads(CLAUDE)
    holder = values.setdefault("projects", {}).setdefault(str(person.project), {}) if is_local else values
    holder.setdefault("mcpServers", {})["commonplace"] = server
    return person.write(".claude.json", json.dumps(values))


@pytest.mark.parametrize("is_local", [False, True])
@pytest.mark.parametrize(
    ("server", "fault"),
    [
        ({"command": "/gone/commonplace", "args": ["mcp"]}, "the program /gone/commonplace, which does not exist"),
        (
            {"type": "http", "url": "http://127.0.0.1:1/mcp"},
            "http://127.0.0.1:1/mcp, which is not the daemon's address",
        ),
    ],
    ids=["stdio", "http"],
)
def test_the_plugin_serves_in_place_of_an_entry_that_cannot(
    person: Person, server: dict[str, Any], fault: str, is_local: bool
) -> None:
    """Otherwise there would be no tools at all; doctor names the entry, and how to remove it."""
    person.environ["PATH"] = str(Path(sys.executable).parent)
    enable_plugin(person)
    file = own_server(person, server, is_local=is_local)
    around = {**person.environ, "CLAUDECODE": "1", "CLAUDE_PROJECT_DIR": str(person.project)}
    with patch.dict(os.environ, person.environ, clear=True):
        plugin, project = (reason_to_stand_by(each, around) for each in ("plugin", "project"))
    (found,) = [each for each in person.check(WELL) if not each.ok]

    assert plugin == ""
    assert PLUGIN_NAME in project
    assert (found.what, found.path) == ("claude-code plugin", str(file))
    assert fault in found.said
    assert "claude mcp remove commonplace" in found.remedy


def test_the_plugin_stands_by_for_the_daemons_own_address(person: Person) -> None:
    """Whether `install` wrote the entry, or a person did; the daemon need not run for it."""
    enable_plugin(person)
    around = {**person.environ, "CLAUDECODE": "1", "CLAUDE_PROJECT_DIR": str(person.project)}
    port = person.environ["COMMONPLACE_SERVE__PORT"]
    own_server(person, {"type": "http", "url": f"http://localhost:{port}/mcp"})
    with patch.dict(os.environ, person.environ, clear=True):
        by_hand = reason_to_stand_by("plugin", around)
    person.answer("install", "claude-code", "--yes", "--transport", "http")
    person.environ["COMMONPLACE_SERVE__PORT"] = str(int(port) + 1)
    with patch.dict(os.environ, person.environ, clear=True):
        installed = reason_to_stand_by("plugin", around)

    assert ".claude.json serves them" in by_hand
    assert ".claude.json serves them" in installed


def test_a_server_that_stands_by_lists_no_tools_and_does_no_harm() -> None:
    """It answers the handshake, the list and a ping; anything else is an error."""
    asked = [
        {"id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18"}},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/list"},
        {"id": 3, "method": "ping"},
        {"id": 4, "method": "tools/call", "params": {"name": "memory_search"}},
        {"id": 5, "method": []},
        {"id": 6, "method": {"a": 1}},
    ]
    out = BytesIO()
    serve_no_tools(BytesIO(b"\n".join([*(json.dumps(each).encode() for each in asked), b"oops", b""])), out)
    answers = [json.loads(line) for line in out.getvalue().splitlines()]

    assert answers[0]["result"]["protocolVersion"] == "2025-06-18"
    assert answers[1]["result"] == {"tools": []}
    assert answers[2]["result"] == {}
    assert [answer["error"]["code"] for answer in answers[3:]] == [-32601, -32601, -32601, -32700]


def test_a_plugin_that_is_disabled_or_unreadable_counts_for_nothing(person: Person) -> None:
    """As for the host itself; files of any shape do no harm."""
    enable_plugin(person)
    agent, around = HOSTS["claude-code"].agent, Environment(person.home, person.project, program=())
    there = find_plugin(agent, around)
    local = str(person.project / ".claude/settings.local.json")
    person.write(local, json.dumps({"enabledPlugins": {PLUGIN_NAME: False}}))
    disabled = find_plugin(agent, around)
    shapes = ["[]", "{", '{"enabledPlugins": []}', '{"enabledPlugins": {"commonplace@x": "yes"}}', '// x\n{"a": 1}']
    found = []
    for shape in shapes:
        person.write(".claude/settings.json", shape)
        found.append(find_plugin(agent, around))

    assert there
    assert there.name == PLUGIN_NAME
    assert disabled is None
    assert found == [None] * len(shapes)


def test_tools_that_only_read_are_allowed_with_consent_and_taken_back(person: Person) -> None:
    """Exactly those that were put there: one that the person had allowed themselves stays."""
    own = {"permissions": {"allow": ["Bash(ls)", "mcp__commonplace__note_read"]}, **json.loads(SETTINGS)}
    file = person.write(".claude/settings.json", json.dumps(own, indent=1))
    before = person.files()
    person.answer("install", "claude-code", "--yes")
    silent = json.loads(file.read_text())["permissions"]["allow"]
    person.answer("install", "claude-code", "--allow-reading")
    allowed = json.loads(file.read_text())["permissions"]["allow"]
    person.answer("install", "claude-code")
    kept = json.loads(file.read_text())["permissions"]["allow"]
    person.answer("install", "claude-code", "--ask-before-reading")
    asked = json.loads(file.read_text())["permissions"]["allow"]
    person.answer("install", "claude-code", "--allow-reading")
    person.answer("uninstall", "claude-code")

    assert silent == asked == own["permissions"]["allow"]
    assert sorted(allowed) == sorted(["Bash(ls)", *(f"mcp__commonplace__{tool}" for tool in READING_TOOLS)])
    assert kept == allowed
    assert person.files() == before


@pytest.mark.parametrize("scope", ["user", "project"])
@pytest.mark.parametrize("text", ["", "{}", '{"permissions": {}}', '{"permissions": {"allow": []}}\n', SETTINGS])
def test_allowed_tools_leave_every_byte_as_it_was(person: Person, text: str, scope: str) -> None:
    """With and without hooks, in whatever was there."""
    file = ".claude/settings.json" if scope == "user" else str(person.project / ".claude/settings.json")
    person.write(file, text)
    before = person.files()
    person.answer("install", "claude-code", "--scope", scope, "--no-hooks", "--allow-reading")
    without = (person.home / file).read_text()
    person.answer("install", "claude-code", "--scope", scope, "--yes")
    person.answer("uninstall", "claude-code")

    assert "mcp__commonplace__memory_search" in without
    assert person.files() == before


def test_a_host_without_such_a_setting_refuses(person: Person) -> None:
    """And says so."""
    refused = person.run("install", "cursor", "--allow-reading")

    assert refused.returncode == 2
    assert "Cursor has no setting" in refused.stderr


@pytest.mark.parametrize(("answers", "is_allowed"), [("y\ny\n", True), ("y\n\n", False)])
def test_on_a_terminal_the_person_is_asked_about_reading(person: Person, answers: str, is_allowed: bool) -> None:
    """After the consent to recording; no is what Enter means."""
    ours, theirs = os.openpty()
    os.write(ours, answers.encode())
    done = subprocess.run(
        [warm_program(), "install", "claude-code"],
        env=person.environ,
        cwd=person.project,
        stdin=theirs,
        capture_output=True,
        text=True,
        check=False,
    )
    os.close(ours)
    os.close(theirs)

    assert done.returncode == 0, done.stderr
    assert "May it call these without asking?" in done.stdout
    assert ("mcp__commonplace__" in (person.home / ".claude/settings.json").read_text()) is is_allowed


def test_the_tools_that_may_be_allowed_are_those_that_only_read() -> None:
    """The list in the installer is the server's own."""
    tools = Host(_no_memory).speak(lambda client: client.list_tools())
    reading = [tool.name for tool in tools if tool.annotations and tool.annotations.read_only_hint]

    assert sorted(reading) == sorted(READING_TOOLS)


def _no_memory(caller: Caller) -> Memory:
    raise AssertionError(f"{caller.name} lists tools, which needs no memory")


def test_install_names_what_the_host_sees_and_the_vault(person: Person) -> None:
    """The default vault, or the one that was named; and that there is no model."""
    first, second = (small_vault(person.home / name) for name in ("Notes", "Work"))
    register(person.environ, first, second)
    person.environ.pop("COMMONPLACE_EMBEDDING__MODEL_FOLDER", None)
    person.environ["COMMONPLACE_EMBEDDING__PROVIDER"] = "minilm-l6-v2"
    default = person.run("install", "claude-code", "--yes", "--no-skills")
    named = person.run("--vault", str(second), "install", "codex", "--yes")

    assert "Claude Code sees: the MCP server commonplace, 5 hooks\n" in default.stdout
    assert f"vault: {first} (the default one)\n" in default.stdout
    assert f"vault: {second}\n" in named.stdout
    assert "`commonplace model install`" in default.stderr


def test_a_vault_that_is_away_is_said_in_one_line(person: Person) -> None:
    """A disk that is not mounted: doctor goes on with everything else, and says what to do."""
    first, second = (small_vault(person.home / name) for name in ("Notes", "Work"))
    register(person.environ, first, second)
    person.run("--vault", str(second), "install", "codex", "--no-hooks")
    second.rename(person.home / "Elsewhere")
    found = wrong(person)
    first.rename(person.home / "Unmounted")
    told = json.loads(person.run("doctor", "--json").stdout)["findings"]

    assert found == [("codex", "the vault that it uses is not there", True)]
    vault = next(each for each in told if each["what"] == "vault")
    assert not vault["ok"]
    assert vault["remedy"]
    assert any(each["what"] == "codex" for each in told)
