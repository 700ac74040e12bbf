"""Vaults: the backends that keep them, how one is made or adopted, and where its data is."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from commonplace.errors import Refused, UsageError, VaultUnavailable
from commonplace.settings import Settings, load_settings, register
from commonplace.vault.base import ABSENT, Capability, StorageBackend
from commonplace.vault.git import Author, Repository
from commonplace.vault.git.place import covers
from commonplace.vault.git.program import Git
from commonplace.vault.inmemory import InMemory
from commonplace.vault.local import DeviceLocal
from commonplace.vault.obsidian import ObsidianVault
from commonplace.vault.options import VaultOptions
from commonplace.vault.registry import Registry

_NO_OPTIONS = VaultOptions()


def backends(options: VaultOptions) -> Registry:
    """Every storage backend that comes with Commonplace, by name."""
    registry = Registry()
    registry.register("device-local", lambda root: DeviceLocal(_named(root)))
    registry.register("in-memory", lambda root: InMemory())
    registry.register(
        "obsidian-vault",
        lambda root: ObsidianVault(_named(root), author=_author(options), filters=options.git_filters),
    )
    return registry


@dataclass(frozen=True, slots=True)
class Initialised:
    """A vault that is ready: its folder, whether its repository was made now, and where its data is kept."""

    root: Path
    created: bool
    data: Path


def init_vault(folder: Path, *, flags: Mapping[str, object]) -> Initialised:
    """Make or adopt a vault, with git behind it, and let this machine know it. No note is changed."""
    root = folder.expanduser().absolute()
    settings = load_settings(flags={**flags, "vault.root": str(root)}).settings
    _made(root)
    created = put_under_git(root, settings.vault)
    data = data_folder(settings, root)
    _made(data)
    register(root)
    return Initialised(root, created, data)


def put_under_git(root: Path, options: VaultOptions = _NO_OPTIONS) -> bool:
    """Give the vault a repository unless one covers it; whether one was made."""
    is_new = not covers(Git(root.resolve()))
    Repository.create(root, author=_author(options))
    return is_new


def copy_sample(folder: Path) -> None:
    """Put the sample vault into a new or empty folder. Raises Refused when something is there already."""
    if any(_made(folder).iterdir()):
        raise Refused("the folder is not empty", path=str(folder), hint="Name a new folder.")
    store = DeviceLocal(folder)
    sample = Path(__file__).parent.parent / "sample_vault"
    with store.transaction() as changes:
        for path in sorted(sample.rglob("*")):
            if path.is_file():
                changes.write(store.resolve(path.relative_to(sample).as_posix()), path.read_bytes(), expected=ABSENT)


def data_folder(settings: Settings, root: Path) -> Path:
    """One folder for each vault, named so that a person recognises it."""
    real = root.resolve()
    name = f"{real.name}-{hashlib.sha256(str(real).encode(errors='replace')).hexdigest()[:8]}"
    folder = (settings.data or platformdirs.user_data_path("commonplace")) / name
    if folder.resolve().is_relative_to(real):
        raise Refused(
            "the data folder may not lie inside the vault", path=str(folder), hint="Name another with --data FOLDER."
        )
    return folder


def kept_in(settings: Settings, vault: StorageBackend) -> Path | None:
    """The folder for the data of this vault; None for a vault that is gone with the process, as its data is."""
    root = settings.vault.root
    return data_folder(settings, root) if root and Capability.PERSISTENT in vault.capabilities else None


def _author(options: VaultOptions) -> Author:
    return Author(options.git_author_name, options.git_author_email)


def _named(root: Path | None) -> Path:
    if root is None:
        raise UsageError(
            "no vault is named",
            hint="Run `commonplace init FOLDER` once, give --vault FOLDER, or set COMMONPLACE_VAULT.",
        )
    return root


def _made(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        message = f"could not make the folder {folder}: {error.strerror}"
        raise VaultUnavailable(message, path=str(folder), hint="Name a folder that you may write to.") from error
    return folder
