"""The file that lists the installed hosts, and what the daemon must know of it: their folders, and their addresses.

`hosts.install_record` writes it.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from commonplace.agent_hosts import find_agent_host
from commonplace.errors import CommonplaceError, VaultUnavailable

FILE: Final = "hosts.json"
VERSION: Final = 1


def read_install_values(folder: Path) -> Mapping[str, Any]:
    """The content of the file in the daemon's folder; empty if there is none. Raises VaultUnavailable(damaged)."""
    path = folder / FILE
    try:
        values = json.loads(path.read_bytes())
        if values["version"] != VERSION or not isinstance(values["installs"], list):
            raise ValueError("another version")
    except FileNotFoundError:
        return {"version": VERSION, "installs": [], "backups": []}
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise damaged_record(path) from error
    return values if isinstance(values, dict) else {}


def damaged_record(path: Path) -> VaultUnavailable:
    """The error for a file that is not what we write."""
    hint = "Remove it; `commonplace uninstall HOST` still finds the entries in their usual places."
    return VaultUnavailable("the record of installed hosts cannot be read", path=str(path), reason="damaged", hint=hint)


def installed_transcript_folders(folder: Path, host: str) -> tuple[str, ...]:
    """The folders with transcripts of this host in every configuration folder that it is installed in."""
    agent = find_agent_host(host)
    configs = [str(each.get("config") or "") for each in _installs(folder) if each.get("host") == host]
    if agent is None or not agent.transcript_folder:
        return ()
    return tuple(os.path.join(config, agent.transcript_folder) for config in dict.fromkeys(configs) if config)


def hosts_over_http(folder: Path) -> dict[str, str]:
    """The hosts whose entries name the daemon's address, and that address."""
    return {str(each.get("host")): str(each["url"]) for each in _installs(folder) if each.get("url")}


def _installs(folder: Path) -> list[Mapping[str, Any]]:
    """The installs; none if the file cannot be read, which `commonplace doctor` reports."""
    try:
        return [each for each in read_install_values(folder)["installs"] if isinstance(each, Mapping)]
    except CommonplaceError:
        return []
