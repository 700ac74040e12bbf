"""VS Code: its MCP servers, and AGENTS.md in a project. It asks for a project's token itself, once."""

from typing import Any, Final

from commonplace.errors import UsageError
from commonplace.hosts.edits import Edit, Listed, Server
from commonplace.hosts.host import Around, Asked, Host, HostFile, bearer, instructions_file, stdio_server
from commonplace.hosts.ours import NAME, TOKEN_INPUT

_NAME: Final = "vscode"
_QUESTION: Final = {
    "type": "promptString",
    "id": TOKEN_INPUT,
    "description": "Token for Commonplace (commonplace token create vscode)",
    "password": True,
}


def _files(asked: Asked, around: Around) -> tuple[HostFile, ...]:
    if asked.reach == "project":
        path = around.project / ".vscode" / "mcp.json"
    elif around.platform == "darwin":
        path = around.home / "Library" / "Application Support" / "Code" / "User" / "mcp.json"
    else:
        path = around.folder_of("XDG_CONFIG_HOME", ".config") / "Code" / "User" / "mcp.json"
    edits: tuple[Edit, ...] = (Server(("servers", NAME), _server(asked, around)),)
    if asked.reach == "project" and asked.transport == "http":
        edits += (Listed(("inputs",), leaf=_QUESTION),)
    files = [HostFile(path, "json", edits)]
    if asked.instructions:
        if asked.reach == "user":
            raise UsageError("vscode reads no AGENTS.md for all projects", hint="Add --scope project, in a project.")
        files.append(instructions_file(around.project / "AGENTS.md"))
    return tuple(files)


def _server(asked: Asked, around: Around) -> dict[str, Any]:
    if asked.transport == "stdio":
        return {"type": "stdio", **stdio_server(_NAME, asked, around)}
    header = bearer(asked, around, reference=f"${{input:{TOKEN_INPUT}}}")
    return {"type": "http", "url": around.url, "headers": {"Authorization": header}}


def _notes(asked: Asked) -> tuple[str, ...]:
    return (
        "VS Code's agent asks for memory by the tools; nothing is put before its prompts.",
        "Nothing of its conversations is captured.",
    )


VSCODE: Final = Host(_NAME, "VS Code", has_hooks=False, files=_files, notes=_notes)
