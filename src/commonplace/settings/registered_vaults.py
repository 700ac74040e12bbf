"""The list of vaults that `commonplace init` has registered. A vault that is not named must be in it."""

import json
import os
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from commonplace.errors import UsageError


@dataclass(frozen=True, slots=True)
class RegisteredVaults:
    """The registered vault folders, and the default one."""

    vaults: tuple[Path, ...] = ()
    default: Path | None = None

    def vault_for(self, current: Path | None) -> Path | None:
        """The innermost vault that contains the folder `current`, else the default."""
        containing = [vault for vault in self.vaults if current and current.resolve().is_relative_to(vault)]
        return max(containing, key=lambda vault: len(vault.parts)) if containing else self.default


def registry_file() -> Path:
    """The file that lists the registered vaults."""
    return platformdirs.user_config_path("commonplace") / "vaults.json"


def registered_vaults() -> RegisteredVaults:
    """The registered vaults; none if there is no list. Raises UsageError if the list cannot be read."""
    path = registry_file()
    try:
        listed = json.loads(path.read_text(encoding="utf-8"))
        vaults = tuple(Path(vault) for vault in listed["vaults"])
        return RegisteredVaults(vaults, Path(listed["default"]) if listed["default"] else None)
    except FileNotFoundError:
        return RegisteredVaults()
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(
            f"cannot read the list of vaults: {error}",
            path=str(path),
            hint="Remove the file and run `commonplace init` again.",
        ) from error


def register_vault(vault: Path) -> None:
    """Add a vault to the list. The first one becomes the default. Replaces the file atomically."""
    present, folder = registered_vaults(), vault.resolve()
    vaults = dict.fromkeys([*present.vaults, folder])
    listed = {"default": str(present.default or folder), "vaults": [str(each) for each in vaults]}
    path = registry_file()
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(f".{os.getpid()}.tmp")
    temporary.write_text(json.dumps(listed, indent=2) + "\n", encoding="utf-8")
    temporary.replace(path)
