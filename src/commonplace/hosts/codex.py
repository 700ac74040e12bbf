"""Codex: its MCP servers in `config.toml`, its hooks in `hooks.json` beside it, its AGENTS.md."""

from typing import Any, Final

from commonplace.daemon.unit import HANDED_DOWN
from commonplace.hosts.hook_entries import hooks_file
from commonplace.hosts.host import (
    TOKEN_VARIABLE,
    Around,
    Asked,
    Host,
    HostFile,
    instructions_file,
    server_file,
    stdio_server,
)

_NAME: Final = "codex"
_PASSED_ON: Final = [name for name in (*HANDED_DOWN, "COMMONPLACE_VAULT") if name != "PATH"]
"""Codex hides the environment from servers, but for these names: else they would look for another daemon."""


def _files(asked: Asked, around: Around) -> tuple[HostFile, ...]:
    config = around.folder_of("CODEX_HOME", ".codex")
    lines = config / "AGENTS.md"
    if asked.reach == "project":
        config, lines = around.project / ".codex", around.project / "AGENTS.md"
    files = [server_file(config / "config.toml", "mcp_servers", _server(asked, around), form="toml")]
    if asked.hooks:
        files.append(hooks_file(config / "hooks.json", _NAME, asked, around))
    if asked.instructions:
        files.append(instructions_file(lines))
    return tuple(files)


def _server(asked: Asked, around: Around) -> dict[str, Any]:
    if asked.transport == "stdio":
        return {**stdio_server(_NAME, asked, around), "env_vars": _PASSED_ON}
    if asked.reach == "project":
        return {"url": around.url, "bearer_token_env_var": TOKEN_VARIABLE}
    return {"url": around.url, "http_headers": {"Authorization": f"Bearer {around.secret}"}}


def _notes(asked: Asked) -> tuple[str, ...]:
    trusted = ["Codex reads a project's .codex folder only once you trust the project."]
    hooks = ["Codex runs new hooks only once you trust them: start codex and enter /hooks."]
    return (*(trusted if asked.reach == "project" else ()), *(hooks if asked.hooks else ()))


CODEX: Final = Host(_NAME, "Codex", has_hooks=True, files=_files, notes=_notes)
