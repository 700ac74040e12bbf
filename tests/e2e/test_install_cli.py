"""`commonplace install` and `uninstall` on the files of real hosts: what they change, tell, and take back."""

import json
import os
import pty
import shutil
import stat
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from unittest.mock import patch

import pytest

from commonplace.hosts.health_checks import HookStatus, probe_daemon
from tests.daemons import register, running, small_vault
from tests.host_files import CLAUDE, CODEX, SETTINGS, VSCODE, Person
from tests.warm import warm_program

HOSTS = ["claude-code", "codex", "cursor", "vscode"]


def token_in(file: Path) -> str:
    """The secret that the file's entry of ours holds."""
    entry = json.loads(file.read_text())["mcpServers"]["commonplace"]
    return str(entry["headers"]["Authorization"]).removeprefix("Bearer ")


@pytest.fixture
def person(tmp_path: Path) -> Person:
    (tmp_path / "project").mkdir()
    return Person(tmp_path / "home", tmp_path / "project")


@pytest.mark.parametrize("transport", ["stdio", "http"])
@pytest.mark.parametrize("scope", ["user", "project"])
@pytest.mark.parametrize("host", HOSTS)
def test_install_and_uninstall_leave_every_byte_as_it_was(
    person: Person, host: str, scope: str, transport: str
) -> None:
    """Files, folders and empty objects that were made go, too; a second install changes nothing."""
    lines = ["--instructions"] if scope == "project" else []
    words = ["install", host, "--scope", scope, "--transport", transport, "--yes", *lines]
    before = person.files()
    person.answer(*words)
    installed = person.files()
    again = person.answer(*words)
    tokens = len(person.tokens().list())
    person.answer("uninstall", host)

    assert before != installed
    assert {file["change"] for file in again["files"]} == {"unchanged"}
    assert person.files() == before
    assert tokens == (1 if (scope, transport) == ("user", "http") else 0)
    assert all(token.revoked for token in person.tokens().list())


def test_nothing_of_theirs_changes_while_it_is_installed(person: Person) -> None:
    """Comments, line ends, byte order mark, trailing commas and the order of keys are kept; the copy is what was."""
    for host in ("claude-code", "codex", "vscode"):
        person.answer("install", host, "--yes")
    vscode = (person.home / "config/Code/User/mcp.json").read_text()
    claude = (person.home / ".claude.json").read_text()
    settings = json.loads((person.home / ".claude/settings.json").read_text())
    codex = (person.home / ".codex/config.toml").read_bytes()
    copy = person.home / ".claude.json.before-commonplace"

    assert claude.startswith(CLAUDE[:-3] + ', "commonplace": {')
    assert vscode.startswith(VSCODE[:-4] + ', "commonplace": {')
    assert vscode.endswith("},\n}")
    assert codex.startswith(CODEX.encode() + b"\r\n\r\n[mcp_servers.commonplace]\r\n")
    assert settings["hooks"]["Stop"][0] == {"hooks": [{"command": "say done"}]}
    assert len(settings["hooks"]["Stop"]) == 2
    assert copy.read_text() == CLAUDE


def test_a_dry_run_shows_the_change_and_changes_nothing(person: Person) -> None:
    """For both ways; no token is made for it."""
    before = person.files()
    shown = person.run("install", "codex", "--transport", "http", "--dry-run")
    unchanged = person.files()
    person.run("install", "codex", "--yes")
    installed = person.files()
    taken = person.run("uninstall", "codex", "--dry-run")

    assert shown.returncode == 0
    assert "+[mcp_servers.commonplace]" in shown.stdout
    assert "cpl_***" in shown.stdout
    assert unchanged == before
    assert "-[mcp_servers.commonplace]" in taken.stdout
    assert person.files() == installed
    assert not person.tokens().list()


def test_without_a_yes_nothing_is_captured(person: Person) -> None:
    """Where nobody can be asked, the first install says what it would capture and stops; without hooks it goes on."""
    before = person.files()
    stopped = person.run("install", "claude-code")
    after = person.files()
    plain = person.run("install", "claude-code", "--no-hooks")
    person.run("install", "claude-code", "--yes")
    later = person.run("install", "claude-code")

    assert stopped.returncode == 2
    assert "commonplace pause" in stopped.stdout
    assert "--yes" in stopped.stderr
    assert after == before
    assert plain.returncode == 0
    assert later.returncode == 0
    assert "pause" not in later.stdout


@pytest.mark.parametrize(("answer", "code"), [("y", 0), ("n", 1)])
def test_on_a_terminal_the_person_is_asked(person: Person, answer: str, code: int) -> None:
    """And a no changes nothing."""
    before = person.files()
    ours, theirs = pty.openpty()
    os.write(ours, f"{answer}\n".encode())
    done = subprocess.run(
        [warm_program(), "install", "codex"],
        env=person.environ,
        cwd=person.project,
        stdin=theirs,
        capture_output=True,
        check=False,
    )
    os.close(ours)
    os.close(theirs)

    assert done.returncode == code, done.stderr
    assert (person.files() == before) is (answer == "n")


def test_a_file_that_cannot_be_read_is_refused_and_nothing_else_is_touched(person: Person) -> None:
    """With the line and what to do, before anything is written."""
    person.write(".claude/settings.json", '{\n  "hooks": {\n    oops\n  }\n}\n')
    before = person.files()
    refused = person.run("install", "claude-code", "--yes")
    token = person.run("install", "claude-code", "--yes", "--transport", "http")

    assert refused.returncode == 2
    assert "line 3 is not valid JSON" in refused.stderr
    assert "settings.json" in refused.stderr
    assert token.returncode == 2
    assert person.files() == before
    assert not person.tokens().list()


def test_another_server_of_our_name_is_left_alone(person: Person) -> None:
    """It is a conflict, which a person decides."""
    person.write(".cursor/mcp.json", '{"mcpServers": {"commonplace": {"command": "npx", "args": ["other"]}}}')
    before = person.files()
    refused = person.run("install", "cursor")
    person.run("uninstall", "cursor")

    assert refused.returncode == 4
    assert person.files() == before


def test_a_token_is_for_the_persons_eyes_alone(person: Person) -> None:
    """The file becomes private, keeps its token while it is good, and gets its mode back."""
    file = person.write(".cursor/mcp.json", "{}")
    file.chmod(0o644)
    person.answer("install", "cursor", "--transport", "http")
    secret = token_in(file)
    mode, token = stat.S_IMODE(file.stat().st_mode), person.tokens().find(secret)
    assert token is not None
    person.tokens().revoke(token.id, now=datetime.now(UTC))
    person.answer("install", "cursor", "--transport", "http")
    newer = token_in(file)
    person.answer("install", "cursor")
    stdio = file.read_text()
    person.answer("uninstall", "cursor")

    assert mode == 0o600
    assert token.client == "cursor"
    assert newer != secret
    assert "cpl_" not in stdio
    assert person.tokens().find(newer) is None
    assert stat.S_IMODE(file.stat().st_mode) == 0o644


def test_a_later_install_says_what_is_there(person: Person) -> None:
    """--no-hooks takes hooks away that were there; lines of instruction stay until they are uninstalled."""
    before = person.files()
    person.answer("install", "codex", "--yes", "--instructions")
    person.answer("install", "codex", "--no-hooks")
    hooks, lines = (person.home / ".codex/hooks.json").exists(), (person.home / ".codex/AGENTS.md").exists()
    person.answer("uninstall", "codex")

    assert (hooks, lines) == (False, True)
    assert person.files() == before


def test_lines_that_two_hosts_share_stay_for_the_one_that_is_left(person: Person) -> None:
    """And go with the last one, to the byte."""
    (person.project / "AGENTS.md").write_text("# Rules\n\nBe kind.")
    before = person.files()
    for host in ("cursor", "vscode"):
        person.answer("install", host, "--scope", "project", "--instructions")
    person.answer("uninstall", "cursor")
    shared = (person.project / "AGENTS.md").read_text()
    person.answer("uninstall", "vscode")

    assert shared.count("commonplace:begin") == 1
    assert person.files() == before


def test_what_a_person_adds_meanwhile_stays(person: Person) -> None:
    """Only what is ours goes."""
    person.answer("install", "cursor", "--scope", "project")
    file = person.project / ".cursor" / "mcp.json"
    servers = json.loads(file.read_text())
    servers["mcpServers"]["theirs"] = {"command": "x"}
    file.write_text(json.dumps(servers))
    person.answer("uninstall", "cursor", "--scope", "project")

    assert json.loads(file.read_text()) == {"mcpServers": {"theirs": {"command": "x"}}}


def test_entries_are_found_when_the_record_is_lost(person: Person) -> None:
    """By what they are, where they usually stand."""
    person.answer("install", "claude-code", "--yes")
    (person.home / "state/commonplace/daemon/hosts.json").unlink()
    person.answer("uninstall", "claude-code")

    assert (person.home / ".claude.json").read_text() == CLAUDE
    assert (person.home / ".claude/settings.json").read_text() == SETTINGS


def test_scopes_are_taken_back_one_by_one_or_together(person: Person) -> None:
    """`--scope` says which; without it all of the host goes."""
    before = person.files()
    for scope in ("user", "project"):
        person.answer("install", "cursor", "--scope", scope)
    person.answer("uninstall", "cursor", "--scope", "user")
    left = (person.project / ".cursor/mcp.json").exists(), (person.home / ".cursor").exists()
    person.answer("install", "cursor")
    person.answer("uninstall", "cursor")
    nothing = person.run("uninstall", "cursor")

    assert left == (True, False)
    assert person.files() == before
    assert nothing.stdout == "not installed\n"


def test_two_that_install_at_once_do_not_forget_each_other(person: Person) -> None:
    """Both are in the record, so that both are taken back."""
    before = person.files()
    words = [warm_program(), "install"]
    started = [
        subprocess.Popen(
            [*words, host, "--yes"],
            env=person.environ,
            cwd=person.project,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for host in HOSTS
    ]
    codes = [each.wait(60) for each in started]
    recorded = json.loads((person.home / "state/commonplace/daemon/hosts.json").read_text())["installs"]
    for host in HOSTS:
        person.answer("uninstall", host)

    assert codes == [0] * len(HOSTS)
    assert sorted(each["host"] for each in recorded) == sorted(HOSTS)
    assert person.files() == before


def test_uninstalling_all_leaves_the_notes_and_says_what_else(person: Person) -> None:
    """The daemon ends, its files go, hosts are as they were; conversations go only on request, and with a yes."""
    person.without_system()
    vault = small_vault(person.home / "Notes")
    register(person.environ, vault)
    before = person.files()
    with running(
        person.home, vaults=[vault], COMMONPLACE_SERVE__PORT=person.environ["COMMONPLACE_SERVE__PORT"]
    ) as daemon:
        for host in HOSTS:
            person.answer("install", host, "--yes")
        unit = person.write("config/systemd/user/commonplace.service", "[Unit]\n")
        told = person.answer("uninstall", "--all")
        ended = daemon.process.wait(30)
    (person.home / "serve.err").unlink()
    shutil.rmtree(person.home / "config/systemd")
    refused = person.run("uninstall", "--all", "--with-data")
    kept = [Path(folder).is_dir() for folder in told["kept"]["data"]]
    person.answer("uninstall", "--all", "--with-data", "--yes")

    assert ended == 0
    assert told["stopped"]
    assert told["kept"]["vaults"] == [str(vault)]
    assert told["unit"] == str(unit)
    assert refused.returncode == 2
    assert kept == [True]
    assert person.files() == before
    assert not list(person.home.rglob("*.before-commonplace"))
    assert not (person.home / "state/commonplace").exists()
    assert not (person.home / "data/commonplace").exists()
    assert not (person.home / "config/commonplace").exists()


def test_uninstalling_with_data_finds_every_vault_that_was_ever_served(person: Person) -> None:
    """One that was taken off the list, one whose folder is away, one on the list: their data goes, no note does."""
    person.without_system()
    listed, removed, away = vaults = [small_vault(person.home / name) for name in ("Notes", "Old", "Disk")]
    register(person.environ, *vaults)
    for vault in vaults:
        assert person.run("--vault", str(vault), "sync").returncode == 0
    person.answer("vault", "remove", str(removed))
    elsewhere = away.rename(person.home / "Elsewhere")
    notes = {path: path.read_bytes() for path in person.home.rglob("*.md")}
    kept = person.answer("uninstall", "--all")["kept"]["data"]
    person.answer("uninstall", "--all", "--with-data", "--yes")

    assert {Path(folder).name.rpartition("-")[0] for folder in kept} >= {"Notes", "Old", "Disk"}
    assert not (person.home / "data/commonplace").exists()
    assert not (person.home / "config/commonplace").exists()
    assert {path: path.read_bytes() for path in person.home.rglob("*.md")} == notes
    assert all(vault.is_dir() for vault in (listed, removed, elsewhere))


def test_doctor_finds_what_a_host_lacks(person: Person) -> None:
    """Entries, program, token and the daemon, each with what to do; all is well after an install."""
    person.answer("install", "cursor", "--transport", "http")
    person.answer("install", "codex", "--yes")
    person.trust_codex_hooks()
    well = person.check(HookStatus(12.0, "prompt", "2026-03-01T09:00:00Z"))
    person.write(".codex/hooks.json", "{}")
    person.tokens().revoke("cursor", now=datetime.now(UTC))
    ill = person.check(None)

    assert all(finding.ok for finding in well), well
    assert any(
        "a hook is answered in 12 ms, last event prompt at 2026-03-01T09:00:00Z" in finding.said for finding in well
    )
    assert {(finding.what, finding.said) for finding in ill if not finding.ok} == {
        ("cursor", "the token is not valid"),
        ("codex", "entries of Commonplace are missing or changed"),
        ("cursor, codex", "the daemon is not running"),
    }
    assert all(finding.remedy for finding in ill if not finding.ok)


@pytest.mark.parametrize(("late", "ok"), [(1, True), (6, False)])
def test_doctor_tells_how_often_recall_was_late(person: Person, late: int, ok: bool) -> None:
    """Once in twenty prompts is told; more than one in ten is a problem, with what to do."""
    person.answer("install", "codex", "--yes")
    status = HookStatus(12.0, "prompt", "2026-03-01T09:00:00Z", recalls=20, late=late, last_late="2026-03-01T08:00:00Z")
    (told,) = [finding for finding in person.check(status) if "late" in finding.said]

    assert told.said == (
        f"recall was late for {late} of the last 20 prompts and session starts, last at 2026-03-01T08:00:00Z"
    )
    assert (told.ok, bool(told.remedy)) == (ok, not ok)
    assert not any("late" in finding.said for finding in person.check(HookStatus(12.0, recalls=20)))


def test_doctor_asks_a_real_daemon(tmp_path: Path) -> None:
    """How long a hook takes, and which event was the last one."""
    with running(tmp_path) as daemon, patch.dict(os.environ, daemon.environ, clear=True):
        first = probe_daemon("codex")
        daemon.call("POST", "/hooks/v1/stop", body={}, headers={"Commonplace-Client": "codex"})
        later = probe_daemon("codex")
        late = {"prompt": "What heats the greenhouse?", "within": 0.0}
        daemon.call("POST", "/hooks/v1/prompt", body=late, headers={"Commonplace-Client": "codex"})
        last, shown = probe_daemon("codex"), daemon.command("status").stdout

    assert (first.event, later.event) == ("", "stop")
    assert (last.late, last.recalls, last.last_late) == (1, 1, last.at)
    assert "; recall was late for 1 of the last 1" in shown
    assert later.at
    assert 0 < later.took_ms < 5000


@pytest.mark.parametrize(
    "words",
    [
        ["install", "notepad"],
        ["install", "codex", "--scope", "team"],
        ["install", "codex", "--transport", "sse"],
        ["install", "cursor", "--instructions"],
        ["uninstall"],
        ["uninstall", "codex", "--all"],
        ["uninstall", "codex", "--with-data"],
    ],
)
def test_what_cannot_be_is_a_usage_error(person: Person, words: list[str]) -> None:
    """With a hint, and nothing changed."""
    before = person.files()
    refused = person.run(*words, "--json")

    assert refused.returncode == 2
    assert json.loads(refused.stdout)["error"]["hint"]
    assert person.files() == before


def test_hosts_that_share_a_file_all_leave_it(person: Person) -> None:
    """The lines in AGENTS.md go with the last of them, whoever put them there; a dry run shows them once."""
    lines = person.project / "AGENTS.md"
    lines.write_bytes(b"# Mine")
    before = person.files()
    sharing = ("codex", "vscode", "cursor")
    for host in sharing:
        person.answer("install", host, "--scope", "project", "--instructions", "--yes")
    first = person.answer("uninstall", "codex", "--dry-run")
    shown = person.answer("uninstall", "--all", "--dry-run")
    person.answer("uninstall", "--all")

    assert [file["path"] for file in first["files"] if file["path"] == str(lines)] == []
    assert [file["path"] for file in shown["files"]].count(str(lines)) == 1
    assert person.files() == before
    assert not lines.with_name("AGENTS.md.before-commonplace").exists()


@pytest.mark.parametrize("host", HOSTS)
def test_the_home_is_no_project(host: str, person: Person) -> None:
    """Its files are those of the person's own install; two installs in one file would undo each other's work."""
    before = person.files()
    person.project = person.home
    refused = person.run("install", host, "--scope", "project", "--yes")
    in_home = refused.returncode == 0  # VS Code's own files lie elsewhere, so that a home may be its project

    assert in_home == (host == "vscode"), refused.stdout + refused.stderr
    assert in_home or ("is not a project" in refused.stderr and person.files() == before)
