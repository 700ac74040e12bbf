"""The list of vaults on this machine, which `commonplace init` and `commonplace vault` change.

A vault keeps its name when its folder moves. The name is that of its data folder, with its index and history, and of
the person's settings file for this vault. A vault that was taken off the list is remembered while its data is there.
"""

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import platformdirs

from commonplace.errors import NotFound, UsageError, VaultUnavailable
from commonplace.settings.database_vaults import folder_for

_LOCK_WAIT_S: Final = 10.0  # changing the list takes a millisecond


@dataclass(frozen=True, slots=True)
class RegisteredVault:
    """A vault on the list: its folder, its name, and its repository.

    `repository` is the id of its first commit and the folder's place in that repository; empty for a vault without.
    `data` is the data folder that `init` made, wherever the settings said; None if it is unknown. `folder` has the
    numbers that the file system gave the folder and its `.git`; empty if they are unknown.
    """

    root: Path
    name: str
    repository: str = ""
    data: Path | None = None
    folder: str = ""


@dataclass(frozen=True, slots=True)
class RegisteredVaults:
    """The registered vaults, the folder of the default one, and the vaults that were removed but left data."""

    entries: tuple[RegisteredVault, ...] = ()
    default: Path | None = None
    removed: tuple[RegisteredVault, ...] = ()

    @property
    def vaults(self) -> tuple[Path, ...]:
        """The folders of the registered vaults."""
        return tuple(entry.root for entry in self.entries)

    def vault_for(self, current: Path | None) -> Path | None:
        """The innermost vault that contains the folder `current`, else the default."""
        containing = [vault for vault in self.vaults if current and current.resolve().is_relative_to(vault)]
        return max(containing, key=lambda vault: len(vault.parts)) if containing else self.default

    def find(self, root: Path) -> RegisteredVault | None:
        """The vault in that folder; None if it is not registered."""
        return next((entry for entry in self.entries if entry.root in (root, root.resolve())), None)

    def name_of(self, root: Path) -> str | None:
        """The name of the vault in that folder, also of one that was removed; None if there was none."""
        entry = self.find(root) or next((each for each in self.removed if each.root == root.resolve()), None)
        return entry.name if entry else None

    def name_for(self, root: Path) -> str:
        """The name of the vault in that folder; for one that is not registered a name that no vault has or had."""
        if entry := self.find(root):
            return entry.name
        taken = {entry.name.casefold() for entry in (*self.entries, *self.removed)}
        name = name_from_path(root)
        numbers = range(2, len(taken) + 3)
        return next(each for each in (name, *(f"{name}-{n}" for n in numbers)) if each.casefold() not in taken)

    def select(self, named: str) -> RegisteredVault:
        """The vault of that path, folder name or name. Raises NotFound, UsageError if there are several."""
        path = folder_for(named) or Path(os.path.abspath(os.path.expanduser(named)))
        by_path = [entry for entry in self.entries if entry.root in (path, path.resolve())]
        matches = by_path or [entry for entry in self.entries if named in (entry.name, entry.root.name)]
        if not matches:
            raise NotFound(
                f"no vault is registered as {named!r}", path=named, hint="`commonplace vault list` has them."
            )
        if len(matches) > 1:
            paths = ", ".join(str(entry.root) for entry in matches)
            raise UsageError(f"several vaults are called {named!r}", hint=f"Name one by its path: {paths}.")
        return matches[0]


def name_from_path(root: Path) -> str:
    """The name that a vault in this folder gets: the folder's, which a person recognises, and a hash of its path."""
    real = root.resolve()
    return f"{real.name}-{hashlib.sha256(str(real).encode(errors='replace')).hexdigest()[:8]}"


def registry_file() -> Path:
    """The file that lists the registered vaults."""
    return platformdirs.user_config_path("commonplace") / "vaults.json"


def registered_vaults() -> RegisteredVaults:
    """The registered vaults; none if there is no list. Raises UsageError if the list cannot be read."""
    path = registry_file()
    try:
        listed = json.loads(path.read_text(encoding="utf-8"))
        entries = tuple(_entry(each) for each in listed["vaults"])
        removed = tuple(_entry(each) for each in listed.get("removed", []))
        return RegisteredVaults(entries, Path(listed["default"]) if listed["default"] else None, removed)
    except FileNotFoundError:
        return RegisteredVaults()
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise UsageError(
            f"cannot read the list of vaults: {error}",
            path=str(path),
            hint="Remove the file and run `commonplace init` again.",
        ) from error


def register_vault(
    vault: Path, *, name: str = "", repository: str = "", folder: str = "", data: Path | None = None
) -> RegisteredVault:
    """Add a vault to the list, or complete its entry. The first one becomes the default.

    A vault that was removed from the list gets its index and history back with the `name` that it had.
    """
    root = vault.resolve()

    def completed(present: RegisteredVaults) -> RegisteredVault:
        entry = present.find(root) or RegisteredVault(root, name or present.name_for(root))
        known = replace(entry, repository=repository or entry.repository, folder=folder or entry.folder)
        return replace(known, data=data or entry.data)

    def add(present: RegisteredVaults) -> RegisteredVaults:
        entry = completed(present)
        entries = {each.name: each for each in (*present.entries, entry)}
        removed = tuple(each for each in present.removed if each.name != entry.name)
        return RegisteredVaults(tuple(entries.values()), present.default or root, removed)

    return completed(change_registry(add))


def change_registry(change: Callable[[RegisteredVaults], RegisteredVaults]) -> RegisteredVaults:
    """Replace the list by what `change` makes of it; returns the new list. Processes take turns.

    Raises UsageError if the list cannot be read, VaultUnavailable if it cannot be written.
    """
    path = registry_file()
    try:
        with _lock():
            changed = change(registered_vaults())
            _write(changed, path)
    except OSError as error:
        message = f"cannot write the list of vaults: {error.strerror}"
        raise VaultUnavailable(message, path=str(path), hint="Check its permissions and the disk's space.") from error
    return changed


def _write(registered: RegisteredVaults, path: Path) -> None:
    """Replace the file at once, or remove it if nothing is left to list: hooks take the file as a sign of a vault."""
    if not registered.entries and not registered.removed:
        path.unlink(missing_ok=True)
        return
    listed = {
        "default": str(registered.default) if registered.default else None,
        "vaults": [_listed(entry) for entry in registered.entries],
        "removed": [_listed(entry) for entry in registered.removed],
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(f".{os.getpid()}.tmp")
    try:
        temporary.write_text(json.dumps(listed, indent=2) + "\n", encoding="utf-8")
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _listed(entry: RegisteredVault) -> dict[str, str]:
    values = {"root": str(entry.root), "name": entry.name, "repository": entry.repository, "folder": entry.folder}
    return {**values, "data": str(entry.data)} if entry.data else values


def _entry(listed: str | Mapping[str, Any]) -> RegisteredVault:
    """An entry of the file; earlier versions listed only the folder. Raises ValueError, KeyError, TypeError."""
    if isinstance(listed, str):
        return RegisteredVault(Path(listed), name_from_path(Path(listed)))
    name, data = str(listed["name"]), listed.get("data")
    if name in ("", ".", "..") or "/" in name or "\0" in name:
        raise ValueError(f"{name!r} is no name of a vault")
    repository, folder = str(listed.get("repository", "")), str(listed.get("folder", ""))
    return RegisteredVault(Path(listed["root"]), name, repository, Path(data) if data else None, folder)


@contextmanager
def _lock() -> Iterator[None]:
    """Hold the lock of the list. Raises VaultUnavailable if another process keeps it, OSError."""
    from filelock import FileLock, Timeout  # forty milliseconds that reading does not need

    folder = platformdirs.user_state_path("commonplace") / "locks"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        with FileLock(folder / "vaults.lock", timeout=_LOCK_WAIT_S, mode=0o600):
            yield
    except Timeout as error:
        message = f"another process has been changing the list of vaults for {_LOCK_WAIT_S:g} seconds"
        raise VaultUnavailable(message, reason="locked", hint="Try again when it has finished.") from error
