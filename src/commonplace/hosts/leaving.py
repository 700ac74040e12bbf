"""What is left of Commonplace on this machine when no host is installed any more, and how it goes."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from commonplace.app.places import remove_folder
from commonplace.app.vaults import data_folder
from commonplace.daemon.single import our_places
from commonplace.errors import CommonplaceError
from commonplace.settings import load_settings, registered, registry_file

_LOCKS = "locks"


@dataclass(frozen=True, slots=True)
class Left:
    """What there still is: the vaults, the folders with their indexes and histories, settings, the list of vaults."""

    vaults: tuple[Path, ...]
    data: tuple[Path, ...]
    settings: tuple[Path, ...]


def what_is_left(flags: Mapping[str, object]) -> Left:
    """What no command has removed yet. Raises UsageError when the list of vaults cannot be read."""
    vaults = registered().vaults
    data = [_data_of(vault, flags) for vault in vaults] + [platformdirs.user_data_path("commonplace") / "models"]
    config = platformdirs.user_config_path("commonplace")
    settings = [registry_file(), *sorted(config.glob("settings.*"))]
    return Left(
        vaults,
        tuple(folder for folder in dict.fromkeys(data) if folder and folder.is_dir()),
        tuple(file for file in dict.fromkeys(settings) if file.is_file()),
    )


def remove_state() -> tuple[Path, ...]:
    """Remove what the daemon kept for itself: state, tokens, log, queue, record; the folders that are gone.

    Only folders that the daemon alone uses: on macOS the settings and the histories lie beside them.
    """
    where = our_places()
    locks = platformdirs.user_state_path("commonplace") / _LOCKS
    gone = [folder for folder in dict.fromkeys((where.folder, where.socket.parent, locks)) if folder.is_dir()]
    for folder in gone:
        remove_folder(folder, what="the daemon's folder")
    for parent in (where.folder.parent, locks.parent / "journals", locks.parent):
        _remove_if_empty(parent)
    return tuple(gone)


def remove_left(left: Left) -> None:
    """Remove everything but the vaults themselves. What was said in conversations is gone with it."""
    for folder in left.data:
        remove_folder(folder, what="the data folder")
        _remove_if_empty(folder.parent)
    for file in left.settings:
        file.unlink(missing_ok=True)
        _remove_if_empty(file.parent)


def _data_of(vault: Path, flags: Mapping[str, object]) -> Path | None:
    try:
        return data_folder(load_settings(flags={**flags, "vault.root": str(vault)}).settings, vault)
    except CommonplaceError:
        return None  # its settings cannot be read: nobody knows where it lies


def _remove_if_empty(folder: Path) -> None:
    with suppress(OSError):
        folder.rmdir()
