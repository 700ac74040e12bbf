"""The hosts that can be installed, by name: which of their files get which entries.

To add a host, add it to `commonplace.agent_hosts`, and here a function for its files, one for its notes, and its line
in `HOSTS`; the laws in `tests/property/test_host_file_laws.py` hold for the editing.
"""

import shlex
from pathlib import Path
from typing import Any, Final

from commonplace.agent_hosts import AgentHost, find_agent_host
from commonplace.daemon.service.units import PASSED_VARIABLES
from commonplace.errors import UsageError
from commonplace.hosts.host import (
    PORTABLE_COMMAND,
    TOKEN_VARIABLE,
    Environment,
    Host,
    HostFile,
    InstallOptions,
    bearer,
    instructions_file,
    server_file,
    stdio_server,
)
from commonplace.hosts.host_edits import SERVER_NAME, TOKEN_INPUT, Edit, ListEntry, ServerEntry


def _agent(name: str) -> AgentHost:
    agent = find_agent_host(name)
    if agent is None:
        raise KeyError(name)
    return agent


_CLAUDE_CODE, _CODEX, _CURSOR, _VSCODE = map(_agent, ("claude-code", "codex", "cursor", "vscode"))
_CODEX_VARIABLES: Final = [name for name in (*PASSED_VARIABLES, "COMMONPLACE_VAULT") if name != "PATH"]
"""Codex hides all variables but these from servers; without them a server would look for another daemon."""
_TOKEN_QUESTION: Final = {
    "type": "promptString",
    "id": TOKEN_INPUT,
    "description": "Token for Commonplace (commonplace token create vscode)",
    "password": True,
}
_HOOK_SECONDS: Final = 5  # the hook itself gives up long before
_SESSION_END_SECONDS: Final = 3  # Codex allows no hook more at this event, and complains about one that might take it


def host_named(name: str) -> Host:
    """The host of that name. Raises UsageError, with the names that exist."""
    if name not in HOSTS:
        hint = f"Choose from {', '.join(HOSTS)}; other hosts take `commonplace mcp` as the command of an MCP server."
        raise UsageError(f"no host called {name!r} can be installed", hint=hint)
    return HOSTS[name]


# Claude Code: MCP servers, hooks, CLAUDE.md.
#
# A person's MCP servers are in `.claude.json`, which the program rewrites as it runs. `claude mcp add` writes the same
# entry; we edit the file ourselves, because that can be previewed, undone, and done before the program is installed.
# If the program changes the file between our read and our write, we notice and write nothing.


def _claude_code_files(options: InstallOptions, environment: Environment) -> tuple[HostFile, ...]:
    config = environment.config_folder(_CLAUDE_CODE)
    if options.scope == "project":
        servers, settings = environment.project / ".mcp.json", environment.project / ".claude" / "settings.json"
        instructions = environment.project / "CLAUDE.md"
    else:
        servers, settings = _claude_code_servers(config, environment), config / "settings.json"
        instructions = config / "CLAUDE.md"
    files = [server_file(servers, "mcpServers", _claude_code_server(options, environment))]
    if options.hooks:
        files.append(_hooks_file(settings, _CLAUDE_CODE, options, environment))
    if options.instructions:
        files.append(instructions_file(instructions))
    return tuple(files)


def _claude_code_servers(config: Path, environment: Environment) -> Path:
    """The file with a person's servers; an older file takes precedence if it exists, as it does for the program."""
    older = config / ".config.json"
    if older.exists():
        return older
    return (config if environment.environ.get(_CLAUDE_CODE.config_variable) else environment.home) / ".claude.json"


def _claude_code_server(options: InstallOptions, environment: Environment) -> dict[str, Any]:
    if options.transport == "stdio":
        return {"type": "stdio", **stdio_server(_CLAUDE_CODE.name, options, environment)}
    header = bearer(options, environment, reference=f"${{{TOKEN_VARIABLE}}}")
    return {"type": "http", "url": environment.url, "headers": {"Authorization": header}}


def _claude_code_notes(options: InstallOptions) -> tuple[str, ...]:
    if options.scope == "project":
        return ("Claude Code asks once, in this project, whether the server of .mcp.json may run.",)
    return ()


# Codex: MCP servers in `config.toml`, hooks in `hooks.json` next to it, AGENTS.md.


def _codex_files(options: InstallOptions, environment: Environment) -> tuple[HostFile, ...]:
    config = environment.config_folder(_CODEX)
    instructions = config / "AGENTS.md"
    if options.scope == "project":
        config, instructions = environment.project / ".codex", environment.project / "AGENTS.md"
    server = _codex_server(options, environment)
    files = [server_file(config / "config.toml", "mcp_servers", server, format="toml")]
    if options.hooks:
        files.append(_hooks_file(config / "hooks.json", _CODEX, options, environment))
    if options.instructions:
        files.append(instructions_file(instructions))
    return tuple(files)


def _codex_server(options: InstallOptions, environment: Environment) -> dict[str, Any]:
    if options.transport == "stdio":
        return {**stdio_server(_CODEX.name, options, environment), "env_vars": _CODEX_VARIABLES}
    if options.scope == "project":
        return {"url": environment.url, "bearer_token_env_var": TOKEN_VARIABLE}
    return {"url": environment.url, "http_headers": {"Authorization": f"Bearer {environment.secret}"}}


def _codex_notes(options: InstallOptions) -> tuple[str, ...]:
    project = ["Codex reads a project's .codex folder only once you trust the project."]
    hooks = ["Codex runs new hooks only once you trust them: start codex and enter /hooks."]
    return (*(project if options.scope == "project" else ()), *(hooks if options.hooks else ()))


# Cursor: MCP servers, and AGENTS.md in a project. Its hooks cannot inject anything before a prompt, and give no
# transcript that we may read; so we write none.


def _cursor_files(options: InstallOptions, environment: Environment) -> tuple[HostFile, ...]:
    folder = (environment.project if options.scope == "project" else environment.home) / ".cursor"
    files = [server_file(folder / "mcp.json", "mcpServers", _cursor_server(options, environment))]
    return (*files, *_project_instructions(_CURSOR, options, environment))


def _cursor_server(options: InstallOptions, environment: Environment) -> dict[str, Any]:
    if options.transport == "stdio":
        return {"type": "stdio", **stdio_server(_CURSOR.name, options, environment)}
    header = bearer(options, environment, reference=f"${{env:{TOKEN_VARIABLE}}}")
    return {"url": environment.url, "headers": {"Authorization": header}}


def _cursor_notes(options: InstallOptions) -> tuple[str, ...]:
    return (
        "Cursor does not let a program inject memory before a prompt: its agent looks it up with the tools.",
        "Its conversations are not captured.",
    )


# VS Code: MCP servers, and AGENTS.md in a project. It asks a person for a project's token itself, once.


def _vscode_files(options: InstallOptions, environment: Environment) -> tuple[HostFile, ...]:
    if options.scope == "project":
        path = environment.project / ".vscode" / "mcp.json"
    elif environment.platform == "darwin":
        path = environment.home / "Library" / "Application Support" / "Code" / "User" / "mcp.json"
    else:
        path = environment.folder("XDG_CONFIG_HOME", ".config") / "Code" / "User" / "mcp.json"
    edits: tuple[Edit, ...] = (ServerEntry(("servers", SERVER_NAME), _vscode_server(options, environment)),)
    if options.scope == "project" and options.transport == "http":
        edits += (ListEntry(("inputs",), value=_TOKEN_QUESTION),)
    return (HostFile(path, "json", edits), *_project_instructions(_VSCODE, options, environment))


def _vscode_server(options: InstallOptions, environment: Environment) -> dict[str, Any]:
    if options.transport == "stdio":
        return {"type": "stdio", **stdio_server(_VSCODE.name, options, environment)}
    header = bearer(options, environment, reference=f"${{input:{TOKEN_INPUT}}}")
    return {"type": "http", "url": environment.url, "headers": {"Authorization": header}}


def _vscode_notes(options: InstallOptions) -> tuple[str, ...]:
    return (
        "VS Code's agent looks memory up with the tools; nothing is injected before its prompts.",
        "Its conversations are not captured.",
    )


def _hooks_file(path: Path, host: AgentHost, options: InstallOptions, environment: Environment) -> HostFile:
    """The file with our hooks: for each event a command that hands it to the daemon."""
    edits = [
        ListEntry(
            ("hooks", name),
            nested_key="hooks",
            value={
                "type": "command",
                "command": _hook_command(event, host.name, options, environment),
                "timeout": _SESSION_END_SECONDS if event == "session-end" else _HOOK_SECONDS,
            },
        )
        for name, event in host.hook_events.items()
    ]
    return HostFile(path, "json", tuple(edits))


def _hook_command(event: str, host: str, options: InstallOptions, environment: Environment) -> str:
    program = PORTABLE_COMMAND if options.scope == "project" else environment.program
    words = (*program, "hook", event, "--host", host, *environment.vault_arguments)
    command = " ".join(shlex.quote(word) for word in words)
    if options.scope == "project":  # no error for people who share the project and do not have us
        return f"if command -v {PORTABLE_COMMAND[0]} >/dev/null 2>&1; then {command}; fi"
    return command


def _project_instructions(host: AgentHost, options: InstallOptions, environment: Environment) -> tuple[HostFile, ...]:
    """AGENTS.md of the project, if instructions are requested. Raises UsageError outside of a project."""
    if not options.instructions:
        return ()
    if options.scope == "user":
        message = f"{host.title} has no instructions file for all projects"
        raise UsageError(message, hint="Add --scope project and run the command in a project's folder.")
    return (instructions_file(environment.project / "AGENTS.md"),)


_HOSTS: Final = (
    Host(_CLAUDE_CODE, _claude_code_files, _claude_code_notes),
    Host(_CODEX, _codex_files, _codex_notes),
    Host(_CURSOR, _cursor_files, _cursor_notes),
    Host(_VSCODE, _vscode_files, _vscode_notes),
)
HOSTS: Final[dict[str, Host]] = {host.name: host for host in _HOSTS}
