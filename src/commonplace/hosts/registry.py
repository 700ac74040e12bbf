"""The hosts that can be installed, by name: which of their files get which entries.

What a program reads is taken from its own documentation, and what that does not say is not written. To add a host, add
it to `commonplace.agent_hosts`, and here a function for its files, one for its notes, and its line in `_HOSTS`; the
laws in `tests/property/test_host_file_laws.py` hold for the editing.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from commonplace.agent_hosts import AgentHost
from commonplace.daemon.service.units import PASSED_VARIABLES
from commonplace.errors import UsageError
from commonplace.hosts.host import (
    READING_TOOLS,
    TOKEN_VARIABLE,
    Environment,
    Host,
    HostFile,
    InstallOptions,
    bearer,
    hooks_file,
    instructions_file,
    known_agent,
    project_instructions,
    refuse_shared_token,
    server_file,
    skill_files,
    stdio_server,
)
from commonplace.hosts.host_edits import SERVER_NAME, TOKEN_INPUT, Edit, ListEntry, ListValue, ServerEntry

_CLAUDE_CODE, _CODEX, _GEMINI, _OPENCODE, _COPILOT = map(
    known_agent, ("claude-code", "codex", "gemini", "opencode", "copilot-cli")
)
_CURSOR, _VSCODE, _ZED, _WINDSURF, _CLAUDE_DESKTOP = map(
    known_agent, ("cursor", "vscode", "zed", "windsurf", "claude-desktop")
)
_CODEX_VARIABLES: Final = [name for name in (*PASSED_VARIABLES, "COMMONPLACE_VAULT") if name != "PATH"]
"""Codex hides all variables but these from servers; without them a server would look for another daemon."""
_MILLISECONDS: Final = 1000  # in a second; Gemini CLI counts them
_TOKEN_QUESTION: Final = {
    "type": "promptString",
    "id": TOKEN_INPUT,
    "description": "Token for Commonplace (commonplace token create vscode)",
    "password": True,
}


def _tools_only(host: AgentHost) -> tuple[str, ...]:
    return (
        f"Nothing is added to prompts in {host.title}: its agent looks memory up with the tools.",
        "Its conversations are not recorded.",
    )


def _application_folder(name: str, environment: Environment) -> Path:
    """The folder in which a desktop program of that name keeps its settings."""
    if environment.platform == "darwin":
        return environment.home / "Library" / "Application Support" / name
    return environment.folder("XDG_CONFIG_HOME", ".config") / name


# Claude Code: MCP servers, hooks, skills, CLAUDE.md.
#
# A person's MCP servers are in `.claude.json`, which the program rewrites as it runs. `claude mcp add` writes the same
# entry; we edit the file ourselves, because that can be previewed, undone, and done before the program is installed.
# If the program changes the file between our read and our write, we notice and write nothing.


def _claude_code_files(options: InstallOptions, environment: Environment) -> tuple[HostFile, ...]:
    config = environment.config_folder(_CLAUDE_CODE)
    if options.scope == "project":
        servers, folder = environment.project / ".mcp.json", environment.project / ".claude"
        instructions = environment.project / "CLAUDE.md"
    else:
        servers, folder = _claude_code_servers(config, environment), config
        instructions = config / "CLAUDE.md"
    files = [server_file(servers, "mcpServers", _claude_code_server(options, environment))]
    edits = _claude_code_settings(options, environment)
    if edits:
        files.append(HostFile(folder / "settings.json", "json", edits))
    files = [replace(file, plain=True) for file in files]
    if options.instructions:
        files.append(instructions_file(instructions))
    return (*files, *skill_files(folder / "skills", options))


def _claude_code_settings(options: InstallOptions, environment: Environment) -> tuple[Edit, ...]:
    """Our entries in the settings: hooks, and the tools that it need not ask for."""
    hooks = hooks_file(Path(), _CLAUDE_CODE, options, environment).edits if options.hooks else ()
    tools = READING_TOOLS if options.allow_reading else ()
    return (*hooks, *(ListValue(("permissions", "allow"), f"mcp__{SERVER_NAME}__{tool}") for tool in tools))


def _claude_code_servers(config: Path, environment: Environment) -> Path:
    """The file with a person's servers; an older file takes precedence if it exists, as it does for the program."""
    older = config / ".config.json"
    if older.exists():
        return older
    return (config if environment.environ.get(_CLAUDE_CODE.config_variable) else environment.home) / ".claude.json"


def _claude_code_server(options: InstallOptions, environment: Environment) -> dict[str, Any]:
    if options.transport == "stdio":
        server = stdio_server(_CLAUDE_CODE.name, options, environment)
        entry = ["--entry", "project"] if options.scope == "project" else []  # it may leave the tools to the plugin
        return {"type": "stdio", **server, "args": [*server["args"], *entry]}
    header = bearer(options, environment, reference=f"${{{TOKEN_VARIABLE}}}")
    return {"type": "http", "url": environment.url, "headers": {"Authorization": header}}


def _claude_code_notes(options: InstallOptions) -> tuple[str, ...]:
    if options.scope == "project":
        return ("Claude Code asks once, in this project, whether the server of .mcp.json may run.",)
    return ()


# Codex: MCP servers in `config.toml`, hooks in `hooks.json` next to it, skills, AGENTS.md.


def _codex_files(options: InstallOptions, environment: Environment) -> tuple[HostFile, ...]:
    config, skills = environment.config_folder(_CODEX), environment.home
    instructions = config / "AGENTS.md"
    if options.scope == "project":
        config, skills = environment.project / ".codex", environment.project
        instructions = environment.project / "AGENTS.md"
    server = _codex_server(options, environment)
    files = [server_file(config / "config.toml", "mcp_servers", server, format="toml")]
    if options.hooks:
        files.append(hooks_file(config / "hooks.json", _CODEX, options, environment))
    if options.instructions:
        files.append(instructions_file(instructions))
    return (*files, *skill_files(skills / ".agents" / "skills", options))


def _codex_server(options: InstallOptions, environment: Environment) -> dict[str, Any]:
    if options.transport == "stdio":
        return {**stdio_server(_CODEX.name, options, environment), "env_vars": _CODEX_VARIABLES}
    if options.scope == "project":
        return {"url": environment.url, "bearer_token_env_var": TOKEN_VARIABLE}
    return {"url": environment.url, "http_headers": {"Authorization": f"Bearer {environment.secret}"}}


def _codex_notes(options: InstallOptions) -> tuple[str, ...]:
    project = ["Codex reads a project's .codex folder only once you trust the project."]
    hooks = ["Codex runs new hooks only once you trust them: start codex and enter /hooks."]
    saves = "Codex asks before it saves, because a save may end an older memory: allow it always, or each time."
    return (*(project if options.scope == "project" else ()), *(hooks if options.hooks else ()), saves)


# Gemini CLI: MCP servers and hooks in one `settings.json`, skills, GEMINI.md.


def _gemini_files(options: InstallOptions, environment: Environment) -> tuple[HostFile, ...]:
    folder = environment.config_folder(_GEMINI)
    instructions = folder / "GEMINI.md"
    if options.scope == "project":
        folder, instructions = environment.project / ".gemini", environment.project / "GEMINI.md"
    settings = folder / "settings.json"
    edits = server_file(settings, "mcpServers", _gemini_server(options, environment)).edits
    if options.hooks:
        edits += hooks_file(settings, _GEMINI, options, environment, timeout_unit=_MILLISECONDS).edits
    files = [HostFile(settings, "json", edits)]
    if options.instructions:
        files.append(instructions_file(instructions))
    return (*files, *skill_files(folder / "skills", options))


def _gemini_server(options: InstallOptions, environment: Environment) -> dict[str, Any]:
    if options.transport == "stdio":
        return stdio_server(_GEMINI.name, options, environment)
    header = bearer(options, environment, reference=f"${{{TOKEN_VARIABLE}}}")
    return {"httpUrl": environment.url, "headers": {"Authorization": header}}


def _gemini_notes(options: InstallOptions) -> tuple[str, ...]:
    return ("Gemini CLI uses servers and hooks only in folders that you trust: it asks when it starts in one.",)


# OpenCode: MCP servers in `opencode.json` or `opencode.jsonc`, skills, AGENTS.md. Its plugins are programs that run
# inside it, and their documented events do not let one add text to a prompt; so we write none.


def _opencode_files(options: InstallOptions, environment: Environment) -> tuple[HostFile, ...]:
    config = environment.folder("XDG_CONFIG_HOME", ".config") / "opencode"
    skills, instructions = config, config / "AGENTS.md"
    if options.scope == "project":
        config, skills = environment.project, environment.project / ".opencode"
        instructions = environment.project / "AGENTS.md"
    commented = config / "opencode.jsonc"
    settings = commented if commented.exists() else config / "opencode.json"
    files = [server_file(settings, "mcp", _opencode_server(options, environment))]
    if options.instructions:
        files.append(instructions_file(instructions))
    return (*files, *skill_files(skills / "skills", options))


def _opencode_server(options: InstallOptions, environment: Environment) -> dict[str, Any]:
    if options.transport == "stdio":
        server = stdio_server(_OPENCODE.name, options, environment)
        return {"type": "local", "command": [server["command"], *server["args"]]}
    header = bearer(options, environment, reference=f"{{env:{TOKEN_VARIABLE}}}")
    return {"type": "remote", "url": environment.url, "headers": {"Authorization": header}}


# Copilot CLI: MCP servers, skills, its own instructions file or AGENTS.md. What a hook answers to a prompt is dropped,
# and the format of its transcripts is not documented; so we write no hooks.


def _copilot_files(options: InstallOptions, environment: Environment) -> tuple[HostFile, ...]:
    refuse_shared_token(_COPILOT, options)
    folder = environment.config_folder(_COPILOT)
    servers, instructions = folder / "mcp-config.json", folder / "copilot-instructions.md"
    if options.scope == "project":
        folder = environment.project / ".github"
        servers, instructions = folder / "mcp.json", environment.project / "AGENTS.md"
    files = [server_file(servers, "mcpServers", _copilot_server(options, environment))]
    if options.instructions:
        files.append(instructions_file(instructions))
    return (*files, *skill_files(folder / "skills", options))


def _copilot_server(options: InstallOptions, environment: Environment) -> dict[str, Any]:
    if options.transport == "stdio":
        return {"type": "local", **stdio_server(_COPILOT.name, options, environment)}
    header = {"Authorization": f"Bearer {environment.secret}"}
    return {"type": "http", "url": environment.url, "headers": header}


def _copilot_notes(options: InstallOptions) -> tuple[str, ...]:
    project = ["Copilot CLI reads a project's servers only once you trust the folder."]
    return (*(project if options.scope == "project" else ()), *_tools_only(_COPILOT))


# The others are editors, or have a window of their own. None of them lets a program add text to a prompt, or has
# transcripts that we may read: so they get MCP servers and skills, and no hooks.
#
# Cursor: MCP servers, skills, and AGENTS.md in a project.


def _cursor_files(options: InstallOptions, environment: Environment) -> tuple[HostFile, ...]:
    folder = (environment.project if options.scope == "project" else environment.home) / ".cursor"
    files = [server_file(folder / "mcp.json", "mcpServers", _cursor_server(options, environment))]
    instructions = project_instructions(_CURSOR, options, environment)
    return (*files, *instructions, *skill_files(folder / "skills", options))


def _cursor_server(options: InstallOptions, environment: Environment) -> dict[str, Any]:
    if options.transport == "stdio":
        return {"type": "stdio", **stdio_server(_CURSOR.name, options, environment)}
    header = bearer(options, environment, reference=f"${{env:{TOKEN_VARIABLE}}}")
    return {"url": environment.url, "headers": {"Authorization": header}}


# VS Code: MCP servers, skills, and AGENTS.md in a project. It asks a person for a project's token itself, once.


def _vscode_files(options: InstallOptions, environment: Environment) -> tuple[HostFile, ...]:
    path, skills = _application_folder("Code", environment) / "User" / "mcp.json", environment.home / ".copilot"
    if options.scope == "project":
        path, skills = environment.project / ".vscode" / "mcp.json", environment.project / ".github"
    edits: tuple[Edit, ...] = (ServerEntry(("servers", SERVER_NAME), _vscode_server(options, environment)),)
    if options.scope == "project" and options.transport == "http":
        edits += (ListEntry(("inputs",), value=_TOKEN_QUESTION),)
    instructions = project_instructions(_VSCODE, options, environment)
    return (HostFile(path, "json", edits), *instructions, *skill_files(skills / "skills", options))


def _vscode_server(options: InstallOptions, environment: Environment) -> dict[str, Any]:
    if options.transport == "stdio":
        return {"type": "stdio", **stdio_server(_VSCODE.name, options, environment)}
    header = bearer(options, environment, reference=f"${{input:{TOKEN_INPUT}}}")
    return {"type": "http", "url": environment.url, "headers": {"Authorization": header}}


# Zed: MCP servers, which it calls context servers, in its settings; skills, and AGENTS.md in a project.


def _zed_files(options: InstallOptions, environment: Environment) -> tuple[HostFile, ...]:
    refuse_shared_token(_ZED, options)
    settings, skills = environment.folder("XDG_CONFIG_HOME", ".config") / "zed", environment.home
    if options.scope == "project":
        settings, skills = environment.project / ".zed", environment.project
    server = server_file(settings / "settings.json", "context_servers", _zed_server(options, environment))
    instructions = project_instructions(_ZED, options, environment)
    return (server, *instructions, *skill_files(skills / ".agents" / "skills", options))


def _zed_server(options: InstallOptions, environment: Environment) -> dict[str, Any]:
    if options.transport == "stdio":
        return stdio_server(_ZED.name, options, environment)
    return {"url": environment.url, "headers": {"Authorization": f"Bearer {environment.secret}"}}


def _zed_notes(options: InstallOptions) -> tuple[str, ...]:
    project = ["Zed starts a project's servers only once you trust the project."]
    return (*(project if options.scope == "project" else ()), *_tools_only(_ZED))


# Windsurf: MCP servers, skills and rules of a person. It reads no servers from a project.


def _windsurf_files(options: InstallOptions, environment: Environment) -> tuple[HostFile, ...]:
    folder = environment.home / ".codeium" / "windsurf"
    files = [server_file(folder / "mcp_config.json", "mcpServers", _windsurf_server(options, environment))]
    if options.instructions:
        files.append(instructions_file(folder / "memories" / "global_rules.md"))
    return (*files, *skill_files(folder / "skills", options))


def _windsurf_server(options: InstallOptions, environment: Environment) -> dict[str, Any]:
    if options.transport == "stdio":
        return stdio_server(_WINDSURF.name, options, environment)
    return {"serverUrl": environment.url, "headers": {"Authorization": f"Bearer {environment.secret}"}}


# Claude Desktop: MCP servers that it starts itself. It has no projects, and no instructions file.


def _claude_desktop_files(options: InstallOptions, environment: Environment) -> tuple[HostFile, ...]:
    if options.transport == "http":
        raise UsageError(
            "Claude Desktop starts the servers in its file itself, and takes no address there",
            hint="Leave out --transport http.",
        )
    if options.instructions:
        raise UsageError("Claude Desktop has no instructions file", hint="Leave out --instructions.")
    path = _application_folder("Claude", environment) / "claude_desktop_config.json"
    server = server_file(path, "mcpServers", stdio_server(_CLAUDE_DESKTOP.name, options, environment))
    return (replace(server, plain=True),)


_HOSTS: Final = (
    Host(_CLAUDE_CODE, _claude_code_files, _claude_code_notes, allows_reading=True),
    Host(_CODEX, _codex_files, _codex_notes),
    Host(_GEMINI, _gemini_files, _gemini_notes),
    Host(_OPENCODE, _opencode_files, lambda options: _tools_only(_OPENCODE)),
    Host(_COPILOT, _copilot_files, _copilot_notes),
    Host(_CURSOR, _cursor_files, lambda options: _tools_only(_CURSOR)),
    Host(_VSCODE, _vscode_files, lambda options: _tools_only(_VSCODE)),
    Host(_ZED, _zed_files, _zed_notes),
    Host(_WINDSURF, _windsurf_files, lambda options: _tools_only(_WINDSURF), scopes=("user",)),
    Host(_CLAUDE_DESKTOP, _claude_desktop_files, lambda options: _tools_only(_CLAUDE_DESKTOP), scopes=("user",)),
)
HOSTS: Final[dict[str, Host]] = {host.name: host for host in _HOSTS}


def host_named(name: str) -> Host:
    """The host of that name. Raises UsageError, with the names that exist."""
    if name not in HOSTS:
        hint = f"Choose from {', '.join(HOSTS)}; other hosts take `commonplace mcp` as the command of an MCP server."
        raise UsageError(f"no host called {name!r} can be installed", hint=hint)
    return HOSTS[name]
