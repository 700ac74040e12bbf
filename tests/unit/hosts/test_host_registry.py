"""What each host's files say of us, and that no project's file ever holds a token."""

import json
import shlex
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any, cast

import pytest

from commonplace.errors import UsageError
from commonplace.hosts.host import SKILLS, Environment, InstallOptions, InstallScope, Transport, is_temporary
from commonplace.hosts.host_edits import (
    ListEntry,
    MarkdownBlock,
    ServerEntry,
    WholeFile,
    is_our_file,
    is_our_list_entry,
    is_our_server,
)
from commonplace.hosts.plan import plan_install
from commonplace.hosts.registry import HOSTS, host_named

REPOSITORY = Path(__file__).parents[3]
SECRET = "cpl_secret-of-a-test"
WITHOUT_HTTP = {("project", "copilot-cli"), ("project", "zed"), ("user", "claude-desktop")}
"""Where a token would have to be in a file that others read, or where the host takes no address at all."""
OFFERED = [
    (scope, transport, name)
    for scope, transport, name in product(("user", "project"), ("stdio", "http"), HOSTS)
    if scope in HOSTS[name].scopes and (transport == "stdio" or (scope, name) not in WITHOUT_HTTP)
]
"""Every way to install every host."""
AROUND = Environment(
    home=Path("/home/me"),
    project=Path("/work/it"),
    program=("/opt/my tools/commonplace",),
    url="http://127.0.0.1:8377/mcp",
    secret=SECRET,
)


def said(host: str, asked: InstallOptions, around: Environment = AROUND) -> dict[str, Any]:
    """The files of the host by path, with the values that they get."""
    shown: dict[str, Any] = {}
    for file in HOSTS[host].files(asked, around):
        for edit in file.edits:
            if isinstance(edit, WholeFile):
                shown[str(file.path)] = edit.sealed
            elif isinstance(edit, MarkdownBlock):
                shown[f"{file.path}:block"] = edit.lines
            else:
                shown[f"{file.path}:{'/'.join(edit.path)}"] = edit.value
    return shown


def test_claude_code_has_its_server_and_five_hooks() -> None:
    """In the files that it reads for a person; commands are quoted for a shell."""
    shown = said("claude-code", InstallOptions())
    hook = shown["/home/me/.claude/settings.json:hooks/UserPromptSubmit"]

    assert shown["/home/me/.claude.json:mcpServers/commonplace"] == {
        "type": "stdio",
        "command": "/opt/my tools/commonplace",
        "args": ["mcp", "--client", "claude-code"],
    }
    assert shlex.split(hook["command"]) == ["/opt/my tools/commonplace", "hook", "prompt", "--host", "claude-code"]
    assert [key.rpartition("/")[2] for key in shown if ":hooks/" in key] == [
        "SessionStart",
        "UserPromptSubmit",
        "Stop",
        "PreCompact",
        "SessionEnd",
    ]


def test_folders_that_the_environment_names_go_first() -> None:
    """As the programs themselves read the variables."""
    environ = {"CLAUDE_CONFIG_DIR": "/c", "CODEX_HOME": "/x", "COPILOT_HOME": "/p", "XDG_CONFIG_HOME": "/config"}
    environ["GEMINI_CLI_HOME"] = "/g"
    around = replace(AROUND, environ=environ)
    asked = InstallOptions(skills=False)
    paths = {name: [str(file.path) for file in host.files(asked, around)] for name, host in HOSTS.items()}

    assert paths["claude-code"] == ["/c/.claude.json", "/c/settings.json"]
    assert paths["codex"] == ["/x/config.toml", "/x/hooks.json"]
    assert paths["copilot-cli"] == ["/p/mcp-config.json"]
    assert paths["gemini"] == ["/g/.gemini/settings.json"]
    assert paths["opencode"] == ["/config/opencode/opencode.json"]
    assert paths["zed"] == ["/config/zed/settings.json"]
    assert paths["claude-desktop"] == ["/config/Claude/claude_desktop_config.json"]
    assert paths["vscode"] == ["/config/Code/User/mcp.json"]
    assert paths["cursor"] == ["/home/me/.cursor/mcp.json"]


def test_codex_passes_the_names_of_our_variables_on() -> None:
    """It hides all others from servers; a token goes into a header for a person, a variable's name for a project."""
    stdio = said("codex", InstallOptions())["/home/me/.codex/config.toml:mcp_servers/commonplace"]
    person = said("codex", InstallOptions(transport="http"))["/home/me/.codex/config.toml:mcp_servers/commonplace"]
    project = said("codex", InstallOptions("project", "http"))["/work/it/.codex/config.toml:mcp_servers/commonplace"]

    assert {"COMMONPLACE_STATE", "XDG_STATE_HOME"} <= set(stdio["env_vars"])
    assert person == {"url": AROUND.url, "http_headers": {"Authorization": f"Bearer {SECRET}"}}
    assert project == {"url": AROUND.url, "bearer_token_env_var": "COMMONPLACE_TOKEN"}


@pytest.mark.parametrize(("scope", "transport", "host"), [each for each in OFFERED if each[0] == "project"])
def test_a_project_file_never_holds_a_token_or_a_path_of_ours(
    scope: InstallScope, transport: Transport, host: str
) -> None:
    """Other people read it, on other machines."""
    shown = json.dumps(said(host, InstallOptions(scope, transport, instructions=True)))

    assert SECRET not in shown
    assert "/opt/my tools" not in shown


def test_a_project_hook_is_silent_for_those_who_have_no_commonplace() -> None:
    """Whoever shares the project is not bothered."""
    command = said("claude-code", InstallOptions("project"))["/work/it/.claude/settings.json:hooks/Stop"]["command"]

    assert command == ("if command -v commonplace >/dev/null 2>&1; then commonplace hook stop --host claude-code; fi")
    assert is_our_list_entry({"command": command})


@pytest.mark.parametrize(("scope", "transport", "host"), OFFERED)
def test_everything_that_is_written_is_known_again(scope: InstallScope, transport: Transport, host: str) -> None:
    """Else it could not be replaced or removed."""
    for program in (("/a b/commonplace",), ("/usr/bin/python3", "-m", "commonplace")):
        around = replace(AROUND, program=program, vault="/my notes")
        for file in HOSTS[host].files(InstallOptions(scope, transport), around):
            for edit in file.edits:
                assert is_our_server(edit.value) if isinstance(edit, ServerEntry) else True
                assert is_our_list_entry(edit.value) if isinstance(edit, ListEntry) else True
                assert is_our_file(edit.sealed) if isinstance(edit, WholeFile) else True


def test_a_vault_that_is_named_goes_into_server_and_hooks() -> None:
    """The host sees that vault alone."""
    shown = said("codex", InstallOptions(), replace(AROUND, vault="/my notes"))

    assert shown["/home/me/.codex/config.toml:mcp_servers/commonplace"]["args"][-2:] == ["--vault", "/my notes"]
    assert shown["/home/me/.codex/hooks.json:hooks/Stop"]["command"].endswith("--vault '/my notes'")


@pytest.mark.parametrize("host", ["cursor", "vscode", "zed"])
def test_instructions_for_all_projects_are_refused_where_there_is_no_such_file(host: str) -> None:
    """And the way that there is, is told."""
    with pytest.raises(UsageError) as told:
        HOSTS[host].files(InstallOptions(instructions=True), AROUND)

    assert "--scope project" in str(told.value.hint)


@pytest.mark.parametrize("name", ["perplexity", "obsidian", "Codex", ""])
def test_a_host_that_there_is_not_names_those_that_there_are(name: str) -> None:
    """A person can choose without reading on."""
    with pytest.raises(UsageError) as told:
        host_named(name)

    assert ", ".join(HOSTS) in str(told.value.hint)


@pytest.mark.parametrize(
    "entry",
    [
        None,
        "commonplace",
        {},
        {"command": "commonplace"},
        {"command": "npx", "args": ["mcp"]},
        {"url": "https://x.com/mcp"},
    ],
)
def test_another_servers_entry_is_not_taken_for_ours(entry: Any) -> None:
    """The name alone says nothing."""
    assert not is_our_server(entry)


def test_a_program_of_another_name_is_not_ours() -> None:
    """A person's own script may be called nearly so, and stays."""
    theirs = ("/bin/my-commonplace", "~/.commonplace", "uncommonplace")
    ours = ("commonplace", "'/o p/commonplace'", "python -P -m commonplace", "C:\\commonplace.exe")

    assert [is_our_list_entry({"command": f"{name} hook stop --host x"}) for name in theirs] == [False] * 3
    assert [is_our_list_entry({"command": f"{name} hook stop --host x"}) for name in ours] == [True] * 4


SERVERS = {
    "gemini": ("/home/me/.gemini/settings.json:mcpServers/commonplace", "httpUrl"),
    "opencode": ("/home/me/.config/opencode/opencode.json:mcp/commonplace", "url"),
    "copilot-cli": ("/home/me/.copilot/mcp-config.json:mcpServers/commonplace", "url"),
    "zed": ("/home/me/.config/zed/settings.json:context_servers/commonplace", "url"),
    "windsurf": ("/home/me/.codeium/windsurf/mcp_config.json:mcpServers/commonplace", "serverUrl"),
}
"""Where the documentation of each host has a person's MCP servers, and what it calls the address of one."""


@pytest.mark.parametrize("host", SERVERS)
def test_each_host_has_its_server_where_it_looks_for_it(host: str) -> None:
    """By either transport; a person's own file holds the token."""
    place, address = SERVERS[host]
    stdio = said(host, InstallOptions())[place]
    http = said(host, InstallOptions(transport="http"))[place]
    words = [stdio["command"], *stdio.get("args", [])] if isinstance(stdio["command"], str) else stdio["command"]

    assert words == ["/opt/my tools/commonplace", "mcp", "--client", host]
    assert http[address] == AROUND.url
    assert http["headers"] == {"Authorization": f"Bearer {SECRET}"}


def test_gemini_counts_milliseconds_and_has_names_of_its_own_for_events() -> None:
    """Servers and hooks are in one file."""
    shown = said("gemini", InstallOptions())
    hooks = {key.rpartition("/")[2]: value for key, value in shown.items() if ":hooks/" in key}

    assert list(hooks) == ["SessionStart", "BeforeAgent", "AfterAgent", "PreCompress", "SessionEnd"]
    assert hooks["BeforeAgent"]["timeout"] == 5000
    assert hooks["BeforeAgent"]["command"].endswith("hook prompt --host gemini")


def test_a_shared_file_refers_to_the_token_as_its_host_writes_it() -> None:
    """A variable of whoever reads it."""
    gemini = said("gemini", InstallOptions("project", "http"))["/work/it/.gemini/settings.json:mcpServers/commonplace"]
    opencode = said("opencode", InstallOptions("project", "http"))["/work/it/opencode.json:mcp/commonplace"]

    assert gemini["headers"] == {"Authorization": "Bearer ${COMMONPLACE_TOKEN}"}
    assert opencode["headers"] == {"Authorization": "Bearer {env:COMMONPLACE_TOKEN}"}


@pytest.mark.parametrize(("scope", "host"), sorted(WITHOUT_HTTP))
def test_where_http_cannot_be_had_that_is_said(scope: str, host: str) -> None:
    """And what to leave out."""
    with pytest.raises(UsageError) as told:
        HOSTS[host].files(InstallOptions(cast(InstallScope, scope), "http"), AROUND)

    assert "--transport http" in str(told.value.hint)


@pytest.mark.parametrize("host", ["windsurf", "claude-desktop"])
def test_a_host_without_projects_says_so(host: str) -> None:
    """Nothing is written where nobody reads it."""
    with pytest.raises(UsageError) as told:
        plan_install(HOSTS[host], InstallOptions("project"), AROUND, None)

    assert "--scope project" in str(told.value.hint)


SKILL_FOLDERS = {
    "claude-code": ".claude/skills",
    "codex": ".agents/skills",
    "gemini": ".gemini/skills",
    "opencode": ".config/opencode/skills",
    "copilot-cli": ".copilot/skills",
    "cursor": ".cursor/skills",
    "vscode": ".copilot/skills",
    "zed": ".agents/skills",
    "windsurf": ".codeium/windsurf/skills",
}


@pytest.mark.requirement("X-16")
@pytest.mark.parametrize("host", SKILL_FOLDERS)
def test_every_host_that_knows_skills_gets_ours_unless_asked_not_to(host: str) -> None:
    """In the folder that its documentation names; most hosts offer them as commands, too."""
    files = [str(file.path) for file in HOSTS[host].files(InstallOptions(), AROUND)]
    without = [str(file.path) for file in HOSTS[host].files(InstallOptions(skills=False), AROUND)]

    assert set(files) - set(without) == {f"/home/me/{SKILL_FOLDERS[host]}/{name}/SKILL.md" for name in SKILLS}


def test_the_plugin_has_the_same_skills_word_for_word() -> None:
    """One text for both ways to install; `cp` makes them equal again."""
    plugin = {file.parent.name: file.read_text() for file in (REPOSITORY / "plugins").rglob("SKILL.md")}
    ours = {file.stem: file.read_text() for file in (REPOSITORY / "src/commonplace/hosts/skills").glob("*.md")}

    assert plugin == ours
    assert set(ours) == set(SKILLS)


@pytest.mark.parametrize(
    ("program", "is_so"),
    [
        ("/home/me/.cache/uv/archive-v0/xYz/bin/commonplace", True),
        ("/ci/cache/archive-v0/xYz/bin/python", True),
        ("/home/me/.cache/uv/environments-v2/a-1/bin/commonplace", True),
        ("/home/me/.cache/pipx/0a1b/bin/commonplace", True),
        ("/home/me/.local/share/pipx/.cache/0a1b/bin/commonplace", True),
        ("/Users/me/Library/Caches/pipx/0a1b/bin/commonplace", True),
        ("/home/me/.local/share/uv/tools/commonplace-memory/bin/commonplace", False),
        ("/home/me/.local/share/pipx/venvs/commonplace-memory/bin/commonplace", False),
        ("/home/me/.local/bin/commonplace", False),
    ],
)
def test_a_program_in_a_cache_is_not_installed(program: str, is_so: bool) -> None:
    """`uvx` and `pipx run` delete it some day, and the host would call nothing."""
    assert is_temporary((program,)) == is_so
    if is_so:
        with pytest.raises(UsageError, match="temporary") as told:
            plan_install(HOSTS["codex"], InstallOptions(), replace(AROUND, program=(program,)), None)
        assert "uv tool install 'commonplace-memory[all]'" in str(told.value.hint)
