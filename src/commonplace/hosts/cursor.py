"""Cursor: its MCP servers, and AGENTS.md in a project.

Its hooks cannot put anything before a prompt, and give no transcript that we may read; so none are written.
"""

from typing import Any, Final

from commonplace.errors import UsageError
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

_NAME: Final = "cursor"


def _files(asked: Asked, around: Around) -> tuple[HostFile, ...]:
    folder = (around.project if asked.reach == "project" else around.home) / ".cursor"
    files = [server_file(folder / "mcp.json", "mcpServers", _server(asked, around))]
    if asked.instructions:
        if asked.reach == "user":
            raise UsageError(
                "cursor reads no file of instructions for all projects", hint="Add --scope project, in a project."
            )
        files.append(instructions_file(around.project / "AGENTS.md"))
    return tuple(files)


def _server(asked: Asked, around: Around) -> dict[str, Any]:
    if asked.transport == "stdio":
        return {"type": "stdio", **stdio_server(_NAME, asked, around)}
    header = bearer(asked, around, reference=f"${{env:{TOKEN_VARIABLE}}}")
    return {"url": around.url, "headers": {"Authorization": header}}


def _notes(asked: Asked) -> tuple[str, ...]:
    return (
        "Cursor lets no program put anything before a prompt: its agent asks for memory by the tools.",
        "Nothing of its conversations is captured.",
    )


CURSOR: Final = Host(_NAME, "Cursor", has_hooks=False, files=_files, notes=_notes)
