"""The plugin in this repository: what its files say, and what its hooks do where the program is not installed."""

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml

from commonplace import __version__
from commonplace.daemon.service.units import PASSED_VARIABLES
from commonplace.hooks.arguments import parse_hook_arguments
from commonplace.memory import Memory
from commonplace.model import Caller
from tests.hosts.programs import PLUGIN, REPOSITORY, run, without_commonplace
from tests.integration.mcp_server.host import Host

HOOKS: dict[str, Any] = json.loads((PLUGIN / "hooks" / "hooks.json").read_text())["hooks"]
SKILLS = sorted((PLUGIN / "skills").glob("*/SKILL.md"))


@pytest.mark.needs("node")
@pytest.mark.parametrize("folder", [REPOSITORY, PLUGIN], ids=["marketplace", "plugin"])
def test_claude_code_finds_nothing_wrong_with_the_plugin(folder: Path, tmp_path: Path) -> None:
    """`claude plugin validate` passes without a warning, for the plugin and for the marketplace that offers it."""
    words = ("plugin", "validate", "--strict", str(folder))
    ran = run("claude", *words, environ={**os.environ, "HOME": str(tmp_path)}, folder=tmp_path)

    assert (ran.code, "Validation passed" in ran.said, "warning" in ran.said) == (0, True, False), ran.said + ran.errors


def test_the_plugin_has_the_version_of_the_program() -> None:
    """Hosts keep a copy of a plugin by its version, and look for a new one when it changes."""
    plugin = json.loads((PLUGIN / ".claude-plugin" / "plugin.json").read_text())
    marketplace = json.loads((REPOSITORY / ".claude-plugin" / "marketplace.json").read_text())

    assert plugin["version"] == __version__
    assert [offered["name"] for offered in marketplace["plugins"]] == [plugin["name"]]


@pytest.mark.parametrize(
    ("called", "event"),
    [
        ("SessionStart", "session-start"),
        ("UserPromptSubmit", "prompt"),
        ("Stop", "stop"),
        ("PreCompact", "pre-compact"),
        ("SessionEnd", "session-end"),
    ],
)
def test_every_hook_calls_the_program_and_lets_the_host_go_on_without_it(
    called: str, event: str, tmp_path: Path
) -> None:
    """Found, it is called with its event and finds out its host; not found, one quiet line says so, and all is well."""
    (hook,) = HOOKS[called][0]["hooks"]
    stand_in = tmp_path / "commonplace"
    stand_in.write_text('#!/bin/sh\ncat\necho "$@"\n')
    stand_in.chmod(0o700)
    bare = without_commonplace(os.environ)

    found = _shell(hook["command"], {**bare, "PATH": f"{tmp_path}:{bare['PATH']}"})
    missed = _shell(hook["command"], bare)

    assert (found.returncode, found.stdout, found.stderr) == (0, f"given\nhook {event} --host auto\n", "")
    assert (missed.returncode, missed.stdout, missed.stderr) == (0, "", "commonplace: skipped (not installed)\n")
    assert (line := parse_hook_arguments(found.stdout.split()[1:]))
    assert (line.event, line.error) == (event, "")


def test_no_hook_is_given_more_time_than_a_host_allows_and_none_is_left_out() -> None:
    """Codex gives three seconds to the end of a session, and complains of a hook that asks for more."""
    allowed = {"SessionStart": 5, "UserPromptSubmit": 5, "Stop": 5, "PreCompact": 5, "SessionEnd": 3}

    assert {called: groups[0]["hooks"][0]["timeout"] for called, groups in HOOKS.items()} == allowed


def test_the_server_of_the_plugin_looks_where_the_person_has_put_things() -> None:
    """Codex hands no variable down to a server that is not named for it: without these it would find another daemon."""
    server = json.loads((PLUGIN / ".mcp.json").read_text())["mcpServers"]["commonplace"]

    assert [server["command"], *server["args"]] == ["commonplace", "mcp", "--entry", "plugin"]
    assert {*PASSED_VARIABLES} - {"PATH"} <= {*server["env_vars"]}


@pytest.mark.parametrize("skill", SKILLS, ids=lambda skill: skill.parent.name)
def test_a_skill_says_when_it_is_for_and_names_tools_that_there_are(skill: Path) -> None:
    """Its name is its folder's, its description says when to use it, and every tool in it is one of the server's."""
    _, head, body = skill.read_text().split("---\n", 2)
    about = yaml.safe_load(head)
    tools = re.findall(r"`((?:memory|note|history|conversation|undo)_\w+)`", body)

    assert (about["name"], {*about}) == (skill.parent.name, {"name", "description"})
    assert "Use " in about["description"]
    assert len(about["description"]) < 400
    assert tools or "`commonplace review" in body
    assert {*tools} <= {*Host(_no_memory).tool_names()}
    assert len(body.split()) < 400


def test_the_skills_are_recall_remember_reflect_and_review() -> None:
    """The moments of a session: before the work, in it, and at its end; and what waits for the person."""
    assert [skill.parent.name for skill in SKILLS] == ["recall", "reflect", "remember", "review-memory"]


def test_the_plugin_has_what_a_directory_of_plugins_shows() -> None:
    """A README that names every part, an icon that is a picture, and who made it, where, and under which licence."""
    plugin = json.loads((PLUGIN / ".claude-plugin" / "plugin.json").read_text())
    readme = (PLUGIN / "README.md").read_text()
    icon = ElementTree.parse(PLUGIN / "assets" / "icon.svg").getroot()

    shown = {"displayName", "description", "version", "author", "homepage", "license", "keywords"}
    assert shown <= {name for name, value in plugin.items() if value}
    assert plugin["homepage"].startswith("https://")
    assert readme.startswith('<img src="assets/icon.svg"')
    assert all(f"`{skill.parent.name}`" in readme for skill in SKILLS)
    assert (icon.tag.rpartition("}")[2], icon.get("viewBox")) == ("svg", "0 0 64 64")


def _shell(command: str, environ: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["/bin/sh", "-c", command], input="given\n", env=environ, capture_output=True, text=True, check=False
    )


def _no_memory(caller: Caller) -> Memory:
    raise AssertionError(f"{caller.name} lists tools, which needs no memory")
