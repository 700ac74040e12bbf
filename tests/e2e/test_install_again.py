"""A host that is installed again: after an upgrade, as `doctor` advises, in another folder, and with other names."""

import json
import os
import shlex
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from commonplace.hosts.health_checks import HookStatus
from tests.daemons import register, small_vault
from tests.host_files import Person

WELL = HookStatus(12.0, "prompt", "2026-03-01T09:00:00Z")
NEWER = ("config", "url", "skills", "allow_reading", "declined_skills")
"""What the first version did not record of an install."""


@pytest.fixture
def person(tmp_path: Path) -> Person:
    (tmp_path / "project").mkdir()
    return Person(tmp_path / "home", tmp_path / "project")


def record_of(person: Person) -> Any:
    return json.loads((person.home / "state/commonplace/daemon/hosts.json").read_text())


def make_older(person: Person) -> None:
    """Let the record be one of the first version."""
    record = record_of(person)
    for install in record["installs"]:
        for name in NEWER:
            del install[name]
    person.write("state/commonplace/daemon/hosts.json", json.dumps(record))


def wrong(person: Person) -> list[str]:
    return [f"{each.what}: {each.said}" for each in person.check(WELL) if not each.ok]


@pytest.mark.parametrize("is_elsewhere", [False, True])
@pytest.mark.parametrize(
    ("host", "variable", "folder"),
    [
        ("claude-code", "CLAUDE_CONFIG_DIR", "work"),
        ("codex", "CODEX_HOME", "work"),
        ("copilot-cli", "COPILOT_HOME", "work"),
        ("gemini", "GEMINI_CLI_HOME", "work/.gemini"),
    ],
)
def test_an_older_record_is_of_the_same_install(
    person: Person, host: str, variable: str, folder: str, is_elsewhere: bool
) -> None:
    """Wherever the host's folder is: no second install, no token left, no copy with a token, nothing behind."""
    if is_elsewhere:
        person.environ[variable] = str(person.home / "work")
    before = person.files()
    person.answer("install", host, "--transport", "http", "--yes", "--no-skills")
    person.home.joinpath(".claude.json.before-commonplace").unlink(missing_ok=True)
    make_older(person)
    person.answer("install", host, "--yes")
    installs, copies = record_of(person)["installs"], [*person.home.rglob("*.before-commonplace")]
    if host == "codex":
        person.environ.pop(variable, None)
    found = [each for each in wrong(person) if "not trusted" not in each]
    kept = [copy.read_text() for copy in copies]
    person.environ.pop(variable, None)
    person.answer("uninstall", host)

    assert [each["host"] for each in installs] == [host]
    assert not is_elsewhere or installs[0]["config"] == str(person.home / folder)
    assert found == []
    assert all(token.revoked for token in person.tokens().list())
    assert not any("cpl_" in text for text in kept)
    assert person.files() == before


def test_a_repeat_keeps_what_was_chosen(person: Person) -> None:
    """The vault and the declined skills, until the person names others."""
    first, second = (small_vault(person.home / name) for name in ("Notes", "Work"))
    register(person.environ, first, second)
    skills = person.home / ".claude" / "skills"
    person.answer("install", "claude-code", "--yes", "--no-skills", "--vault", str(second))
    repeated = person.answer("install", "claude-code")
    without = skills.exists()
    moved = person.answer("install", "claude-code", "--skills", "--vault", str(first))

    assert repeated["vault"] == str(second)
    assert {file["change"] for file in repeated["files"]} == {"unchanged"}
    assert not without
    assert skills.exists()
    assert moved["vault"] == str(first)


def test_skills_that_the_plugin_had_are_not_declined(person: Person) -> None:
    """Without the plugin the next install brings them."""
    plugins = {"enabledPlugins": {"commonplace@commonplace": True}}
    person.write(".claude/settings.json", json.dumps(plugins))
    person.answer("install", "claude-code", "--yes")
    with_plugin = (person.home / ".claude/skills").exists()
    settings = json.loads((person.home / ".claude/settings.json").read_text())
    person.write(".claude/settings.json", json.dumps({**settings, "enabledPlugins": {}}))
    person.answer("install", "claude-code")

    assert not with_plugin
    assert (person.home / ".claude/skills").exists()


@pytest.mark.parametrize("scope", ["user", "project"])
def test_what_doctor_advises_mends_the_install_as_it_was(person: Person, scope: str) -> None:
    """Typed in any folder of the person: the same vault, configuration folder, transport and parts."""
    first, second = (small_vault(person.home / name) for name in ("Notes", "My Work"))
    register(person.environ, first, second)
    person.environ["CLAUDE_CONFIG_DIR"] = str(person.home / "my claude")
    person.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{person.environ['PATH']}"
    chosen = ["--scope", scope, "--transport", "http", "--no-hooks", "--no-skills", "--vault", str(second)]
    person.answer("install", "claude-code", *chosen)
    (before,) = record_of(person)["installs"]
    file = person.home / "my claude/.claude.json" if scope == "user" else person.project / ".mcp.json"
    content = json.loads(file.read_text())
    file.unlink()
    del person.environ["CLAUDE_CONFIG_DIR"]
    person.project = person.home
    (remedy,) = {each.remedy for each in person.check(WELL) if not each.ok}
    _type(person, remedy.split("`")[1])
    (after,) = record_of(person)["installs"]

    assert {**after, "files": [], "token": ""} == {**before, "files": [], "token": ""}
    assert (
        json.loads(file.read_text())["mcpServers"]["commonplace"]["url"] == content["mcpServers"]["commonplace"]["url"]
    )
    assert wrong(person) == []


def test_what_doctor_advises_for_the_usual_folder_names_no_other(person: Person) -> None:
    """Also in a shell whose variable names another folder."""
    person.answer("install", "claude-code", "--yes")
    (person.home / ".claude.json").write_text("{}")
    plain = [each.remedy for each in person.check(WELL) if not each.ok]
    person.environ["CLAUDE_CONFIG_DIR"] = str(person.home / "work")
    elsewhere = [each.remedy for each in person.check(WELL) if not each.ok]

    assert plain == ["Run `commonplace install claude-code` again."]
    assert elsewhere == ["Run `env -u CLAUDE_CONFIG_DIR commonplace install claude-code` again."]


def _type(person: Person, line: str) -> None:
    """Do what a shell does with this line: a folder to go to, a variable, and the command."""
    words = shlex.split(line)
    if words[0] == "cd":
        person.project = Path(words[1])
        words = words[words.index("&&") + 1 :]
    variables = dict(word.split("=", 1) for word in words[: words.index("commonplace")])
    person.environ.update(variables)
    done = person.run(*words[words.index("commonplace") + 1 :])
    for name in variables:
        del person.environ[name]
    assert done.returncode == 0, done.stderr


def test_two_homes_of_gemini_are_two_installs(person: Person) -> None:
    """Its variable names a home; each has its own entries, and each is removed alone."""
    before = person.files()
    person.answer("install", "gemini", "--yes")
    first = person.files()
    person.environ["GEMINI_CLI_HOME"] = str(person.home / "work")
    person.answer("install", "gemini", "--yes")
    both = [each["config"] for each in record_of(person)["installs"]]
    found = wrong(person)
    person.answer("uninstall", "gemini")
    alone = person.files()
    del person.environ["GEMINI_CLI_HOME"]
    person.answer("uninstall", "gemini")

    assert both == [str(person.home / ".gemini"), str(person.home / "work/.gemini")]
    assert found == []
    assert alone == first
    assert person.files() == before


def test_a_refusal_comes_before_the_consent(person: Person) -> None:
    """Nobody agrees to something that does not happen then."""
    person.write(".claude/settings.json", '{\n  // mine\n  "model": "opus"\n}\n')
    refused = person.run("install", "claude-code", "--yes")

    assert refused.returncode == 2
    assert "Claude Code ignores this file" in refused.stderr
    assert refused.stdout == ""


def test_a_folder_with_control_characters_does_not_reach_a_pipe(person: Person) -> None:
    """What is piped is shown in the end; JSON escapes it."""
    register(person.environ, small_vault(person.home / "Notes"))
    folder = person.home / "red\x1b[31mX"
    person.environ["CLAUDE_CONFIG_DIR"] = str(folder)
    told = [person.run("install", "claude-code", "--dry-run"), person.run("install", "claude-code", "--yes")]
    (folder / "settings.json").write_text("{}")
    told += [person.run("doctor"), person.run("uninstall", "claude-code", "--dry-run")]
    (folder / ".claude.json").write_text("{oops")
    told.append(person.run("install", "claude-code"))
    shutil.copy(folder / "settings.json", folder / ".claude.json")
    told.append(person.run("uninstall", "claude-code"))

    assert all("redX" in each.stdout + each.stderr for each in told), told
    assert not any("\x1b" in each.stdout + each.stderr for each in told)
