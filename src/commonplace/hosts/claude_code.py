"""Claude Code: its MCP servers, its hooks, its CLAUDE.md.

A person's MCP servers stand in `.claude.json`, which the program rewrites as it runs. `claude mcp add` writes the same
entry; we edit the file ourselves, because that can be shown before it is done, taken back, and done before the program
is there. A change of the program's between our reading and our writing is noticed, and nothing is written then.
"""

from pathlib import Path
from typing import Any, Final

from commonplace.hosts.hook_entries import hooks_file
from commonplace.hosts.host import (
    TOKEN_VARIABLE,
    Around,
    Asked,
    Host,
    HostFile,
    bearer,
    instructions_file,
    server_file,
    stdio_server,
)

_NAME: Final = "claude-code"


def _files(asked: Asked, around: Around) -> tuple[HostFile, ...]:
    config = around.folder_of("CLAUDE_CONFIG_DIR", ".claude")
    if asked.reach == "project":
        servers, settings = around.project / ".mcp.json", around.project / ".claude" / "settings.json"
        lines = around.project / "CLAUDE.md"
    else:
        servers, settings, lines = _servers_of_person(config, around), config / "settings.json", config / "CLAUDE.md"
    files = [server_file(servers, "mcpServers", _server(asked, around))]
    if asked.hooks:
        files.append(hooks_file(settings, _NAME, asked, around))
    if asked.instructions:
        files.append(instructions_file(lines))
    return tuple(files)


def _servers_of_person(config: Path, around: Around) -> Path:
    """An older file of the program's goes first where it is there, as it does for the program."""
    older = config / ".config.json"
    if older.exists():
        return older
    return (config if around.environ.get("CLAUDE_CONFIG_DIR") else around.home) / ".claude.json"


def _server(asked: Asked, around: Around) -> dict[str, Any]:
    if asked.transport == "stdio":
        return {"type": "stdio", **stdio_server(_NAME, asked, around)}
    header = bearer(asked, around, reference=f"${{{TOKEN_VARIABLE}}}")
    return {"type": "http", "url": around.url, "headers": {"Authorization": header}}


def _notes(asked: Asked) -> tuple[str, ...]:
    if asked.reach == "project":
        return ("Claude Code asks once, in this project, whether the server of .mcp.json may run.",)
    return ()


CLAUDE_CODE: Final = Host(_NAME, "Claude Code", has_hooks=True, files=_files, notes=_notes)
