"""What this machine has of agents: their configuration, their transcripts, and exports that can be imported."""

import os
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from commonplace.agent_hosts import AGENT_HOSTS, AgentHost

_IMPORTED_HOSTS: Final = ("claude-code", "codex")
_EXPORTS: Final = ("*chatgpt*.zip", "*openai*.zip", "*claude*.zip", "data-*-batch-*.zip", "conversations*.json")
"""Names of exports as the programs' web pages call them."""
_MOST_EXPORTS: Final = 10


def hosts_on_this_machine(home: Path) -> list[AgentHost]:
    """The agent hosts whose configuration folder is there."""
    return [host for host in AGENT_HOSTS if (folder := _config_folder(host, home)) and folder.is_dir()]


def import_commands(home: Path, *, looks_in_downloads: bool) -> list[str]:
    """The commands that import what is on this machine: transcripts of agents, and exports if they are looked for."""
    folders = [folder for folder in _transcript_folders(home) if folder.is_dir()]
    exports = _exports(home / "Downloads") if looks_in_downloads else []
    return [f"commonplace import {shlex.quote(str(each))}" for each in (*folders, *exports)]


def _transcript_folders(home: Path) -> Iterator[Path]:
    for host in AGENT_HOSTS:
        if host.name in _IMPORTED_HOSTS:
            yield (_config_folder(host, home) or home) / host.transcript_folder


def _config_folder(host: AgentHost, home: Path) -> Path | None:
    """The folder with the host's own configuration; None for a host that has none that is known."""
    if named := host.named_config(os.environ):
        return Path(named)
    return home / host.config_folder if host.config_folder else None


def _exports(folder: Path) -> list[Path]:
    """Files that are named like exports, the newest first; none if the folder cannot be read."""
    try:
        found = {each for pattern in _EXPORTS for each in folder.glob(pattern) if each.is_file()}
        return sorted(found, key=lambda each: each.stat().st_mtime, reverse=True)[:_MOST_EXPORTS]
    except OSError:
        return []
