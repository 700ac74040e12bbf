"""The vaults that `init` has registered: the only ones that count when none is named."""

import json
import os
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from commonplace.errors import UsageError


@dataclass(frozen=True, slots=True)
class Registered:
    """Vault folders, and the one that is meant when nothing else says which."""

    vaults: tuple[Path, ...] = ()
    default: Path | None = None

    def meant(self, current: Path | None) -> Path | None:
        """The vault that holds the current folder, where one is given; else the default."""
        holding = [vault for vault in self.vaults if current and current.resolve().is_relative_to(vault)]
        return max(holding, key=lambda vault: len(vault.parts)) if holding else self.default


def registry_file() -> Path:
    """Where the registered vaults are listed."""
    return platformdirs.user_config_path("commonplace") / "vaults.json"


def registered() -> Registered:
    """The vaults that are registered. Raises UsageError when their list cannot be read."""
    path = registry_file()
    try:
        listed = json.loads(path.read_text(encoding="utf-8"))
        vaults = tuple(Path(vault) for vault in listed["vaults"])
        return Registered(vaults, Path(listed["default"]) if listed["default"] else None)
    except FileNotFoundError:
        return Registered()
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(
            f"the list of vaults cannot be read: {error}", path=str(path), hint="Remove it and run `commonplace init`."
        ) from error


def register(vault: Path) -> None:
    """Add a vault to the list; the first one becomes the default."""
    known, real = registered(), vault.resolve()
    vaults = dict.fromkeys([*known.vaults, real])
    listed = {"default": str(known.default or real), "vaults": [str(each) for each in vaults]}
    path = registry_file()
    path.parent.mkdir(parents=True, exist_ok=True)
    half_made = path.with_suffix(f".{os.getpid()}.tmp")
    half_made.write_text(json.dumps(listed, indent=2) + "\n", encoding="utf-8")
    half_made.replace(path)
