"""The hosts that there are, by name."""

from typing import Final

from commonplace.errors import UsageError
from commonplace.hosts.claude_code import CLAUDE_CODE
from commonplace.hosts.codex import CODEX
from commonplace.hosts.cursor import CURSOR
from commonplace.hosts.host import Host
from commonplace.hosts.vscode import VSCODE

HOSTS: Final[dict[str, Host]] = {host.name: host for host in (CLAUDE_CODE, CODEX, CURSOR, VSCODE)}


def host_named(name: str) -> Host:
    """The host of that name. Raises UsageError, with the names that there are."""
    if name not in HOSTS:
        hint = f"Choose from {', '.join(HOSTS)}; others take `commonplace mcp` as the command of an MCP server."
        raise UsageError(f"{name!r} is no host that can be installed", hint=hint)
    return HOSTS[name]
