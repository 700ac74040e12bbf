"""Vaults in a database: how they are named, and the folder that stands for one on this machine.

`postgresql:NAME` is the vault of the tenant NAME, whatever the settings say. On a machine an empty folder stands for it
wherever a vault is known by its folder: in the list of vaults, in the daemon, for hooks and tokens.
"""

import re
from pathlib import Path
from typing import Final

import platformdirs

from commonplace.client.paths import DATABASE_PREFIX
from commonplace.errors import UsageError

BACKEND: Final = "postgresql"
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9._-]{0,99}")
_HINT: Final = "Use small letters, digits, dots, dashes and underscores, such as postgresql:team."


def folder_for(named: str) -> Path | None:
    """The folder that stands for a vault named `postgresql:NAME`; None for any other text. Raises UsageError."""
    if not named.startswith(DATABASE_PREFIX):
        return None
    return folder_of_tenant(named.removeprefix(DATABASE_PREFIX))


def folder_of_tenant(name: str) -> Path:
    """The folder that stands for the vault of that tenant. Raises UsageError for a name that is no folder's."""
    if not _NAME.fullmatch(name):
        raise UsageError(f"not a name of a vault in a database: {name!r}", hint=_HINT)
    return _folder() / name


def tenant_in(root: Path) -> str:
    """The tenant whose vault this folder stands for; empty for a folder of notes."""
    return root.name if root.parent in (_folder(), _folder().resolve()) and _NAME.fullmatch(root.name) else ""


def shown_vault(root: Path) -> str:
    """The vault as a person names it: `postgresql:NAME`, or the path of its folder."""
    tenant = tenant_in(root)
    return f"{DATABASE_PREFIX}{tenant}" if tenant else str(root)


def _folder() -> Path:
    return platformdirs.user_data_path("commonplace") / BACKEND
