"""What each host's files say of us, and that no project's file ever holds a token."""

import json
import shlex
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from commonplace.errors import UsageError
from commonplace.hosts.host import Environment, InstallOptions
from commonplace.hosts.host_edits import ListEntry, MarkdownBlock, ServerEntry, is_our_list_entry, is_our_server
from commonplace.hosts.registry import HOSTS, host_named

SECRET = "cpl_secret-of-a-test"
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
            value = edit.lines if isinstance(edit, MarkdownBlock) else edit.value
            name = "/".join(edit.path) if not isinstance(edit, MarkdownBlock) else "block"
            shown[f"{file.path}:{name}"] = value
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
    """$CLAUDE_CONFIG_DIR, $CODEX_HOME and $XDG_CONFIG_HOME, as the programs themselves read them."""
    environ = {"CLAUDE_CONFIG_DIR": "/c", "CODEX_HOME": "/x", "XDG_CONFIG_HOME": "/config"}
    around = replace(AROUND, environ=environ)
    paths = {name: [str(file.path) for file in host.files(InstallOptions(), around)] for name, host in HOSTS.items()}

    assert paths["claude-code"] == ["/c/.claude.json", "/c/settings.json"]
    assert paths["codex"] == ["/x/config.toml", "/x/hooks.json"]
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


@pytest.mark.parametrize(("host", "transport"), list(product(HOSTS, ["stdio", "http"])))
def test_a_project_file_never_holds_a_token_or_a_path_of_ours(host: str, transport: Any) -> None:
    """Other people read it, on other machines."""
    shown = json.dumps(said(host, InstallOptions("project", transport, instructions=True)))

    assert SECRET not in shown
    assert "/opt/my tools" not in shown


def test_a_project_hook_is_silent_for_those_who_have_no_commonplace() -> None:
    """Whoever shares the project is not bothered."""
    command = said("claude-code", InstallOptions("project"))["/work/it/.claude/settings.json:hooks/Stop"]["command"]

    assert command == ("if command -v commonplace >/dev/null 2>&1; then commonplace hook stop --host claude-code; fi")
    assert is_our_list_entry({"command": command})


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("transport", ["stdio", "http"])
@pytest.mark.parametrize("reach", ["user", "project"])
def test_everything_that_is_written_is_known_again(host: str, transport: Any, reach: Any) -> None:
    """Else it could not be replaced or removed."""
    for program in (("/a b/commonplace",), ("/usr/bin/python3", "-m", "commonplace")):
        around = replace(AROUND, program=program, vault="/my notes")
        for file in HOSTS[host].files(InstallOptions(reach, transport), around):
            for edit in file.edits:
                assert is_our_server(edit.value) if isinstance(edit, ServerEntry) else True
                assert is_our_list_entry(edit.value) if isinstance(edit, ListEntry) else True


def test_a_vault_that_is_named_goes_into_server_and_hooks() -> None:
    """The host sees that vault alone."""
    shown = said("codex", InstallOptions(), replace(AROUND, vault="/my notes"))

    assert shown["/home/me/.codex/config.toml:mcp_servers/commonplace"]["args"][-2:] == ["--vault", "/my notes"]
    assert shown["/home/me/.codex/hooks.json:hooks/Stop"]["command"].endswith("--vault '/my notes'")


@pytest.mark.parametrize("host", ["cursor", "vscode"])
def test_instructions_for_all_projects_are_refused_where_there_is_no_such_file(host: str) -> None:
    """And the way that there is, is told."""
    with pytest.raises(UsageError) as told:
        HOSTS[host].files(InstallOptions(instructions=True), AROUND)

    assert "--scope project" in str(told.value.hint)


@pytest.mark.parametrize("name", ["opencode", "gemini", "claude-desktop", ""])
def test_a_host_that_there_is_not_names_those_that_there_are(name: str) -> None:
    """A person can choose without reading on."""
    with pytest.raises(UsageError) as told:
        host_named(name)

    assert "claude-code, codex, cursor, vscode" in str(told.value.hint)


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
