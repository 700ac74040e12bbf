"""Vaults: the storage backends, how a vault is made or adopted, and where its data is kept."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from commonplace.errors import Refused, UsageError, VaultUnavailable
from commonplace.settings.load import load_settings
from commonplace.settings.registered_vaults import register_vault
from commonplace.settings.schema import Settings
from commonplace.vault.base import ABSENT, Capability, StorageBackend
from commonplace.vault.git.commit import Author
from commonplace.vault.git.location import covers
from commonplace.vault.git.repository import Repository
from commonplace.vault.git.run import Git
from commonplace.vault.inmemory import InMemory
from commonplace.vault.local import DeviceLocal
from commonplace.vault.obsidian import ObsidianVault
from commonplace.vault.options import VaultOptions

GROUP = "commonplace.backends"
"""The entry-point group for backends of other packages: each entry names a factory."""

Factory = Callable[[Path | None], StorageBackend]
"""Opens a store in the folder from the settings, None when they have none."""


class BackendRegistry:
    """The available backends: those registered here, then those of installed packages."""

    def __init__(self) -> None:
        self._factories: dict[str, Factory] = {}

    def register(self, name: str, factory: Factory) -> None:
        """Register a backend under that name. Raises UsageError when the name is taken."""
        if name in self._factories:
            raise UsageError(f"a storage backend '{name}' is already registered", hint="Choose another name.")
        self._factories[name] = factory

    def names(self) -> tuple[str, ...]:
        """The names of all available backends, sorted."""
        return tuple(sorted({*self._factories, *_entry_points()}))

    def select(self, name: str, *, root: Path | None) -> StorageBackend:
        """The store in that folder. Raises UsageError for an unknown name."""
        factory = self._factories.get(name) or self._load(name)
        return factory(root)

    def _load(self, name: str) -> Factory:
        entries = _entry_points()
        if name not in entries:
            raise self._unknown(name)
        try:
            return entries[name]()
        except (ImportError, AttributeError) as error:
            raise UsageError(
                f"the storage backend '{name}' cannot be loaded: {error}", hint="Reinstall its package."
            ) from error

    def _unknown(self, name: str) -> UsageError:
        from difflib import get_close_matches

        names = self.names()
        near = get_close_matches(name, names, n=1)
        suggestion = f"Did you mean '{near[0]}'? " if near else ""
        return UsageError(
            f"no such storage backend: '{name}'", hint=f"{suggestion}Known backends: {', '.join(names) or 'none'}."
        )


def _entry_points() -> dict[str, Callable[[], Factory]]:
    from importlib.metadata import entry_points  # not needed while every name is one of ours

    return {point.name: point.load for point in entry_points(group=GROUP)}


_NO_OPTIONS = VaultOptions()


def backends(options: VaultOptions) -> BackendRegistry:
    """Every storage backend that comes with Commonplace, by name."""
    registry = BackendRegistry()
    registry.register("device-local", lambda root: DeviceLocal(_required(root)))
    registry.register("in-memory", lambda root: InMemory())
    registry.register(
        "obsidian-vault",
        lambda root: ObsidianVault(_required(root), author=_author(options), filters=options.git_filters),
    )
    return registry


@dataclass(frozen=True, slots=True)
class Initialised:
    """A vault that is ready: its folder, whether its repository was created now, and its data folder."""

    root: Path
    created: bool
    data: Path


def init_vault(folder: Path, *, flags: Mapping[str, object]) -> Initialised:
    """Make or adopt a vault under git, and register it on this machine. No note is changed."""
    root = folder.expanduser().absolute()
    settings = load_settings(flags={**flags, "vault.root": str(root)}).settings
    _create_folder(root)
    created = put_under_git(root, settings.vault)
    data = data_folder(settings, root)
    _create_folder(data)
    register_vault(root)
    return Initialised(root, created, data)


def put_under_git(root: Path, options: VaultOptions = _NO_OPTIONS) -> bool:
    """Create a repository for the vault unless one covers it; True if it was created."""
    is_new = not covers(Git(root.resolve()))
    Repository.create(root, author=_author(options))
    return is_new


def copy_sample(folder: Path) -> None:
    """Copy the sample vault into a new or empty folder. Raises Refused if the folder is not empty."""
    if any(_create_folder(folder).iterdir()):
        raise Refused("the folder is not empty", path=str(folder), hint="Name a new folder.")
    store = DeviceLocal(folder)
    sample = Path(__file__).parent.parent / "sample_vault"
    with store.transaction() as changes:
        for path in sorted(sample.rglob("*")):
            if path.is_file():
                changes.write(store.resolve(path.relative_to(sample).as_posix()), path.read_bytes(), expected=ABSENT)


def data_folder(settings: Settings, root: Path) -> Path:
    """The data folder of a vault, named so that a person recognises it. Raises Refused if it is inside the vault."""
    real = root.resolve()
    name = f"{real.name}-{hashlib.sha256(str(real).encode(errors='replace')).hexdigest()[:8]}"
    folder = (settings.data or platformdirs.user_data_path("commonplace")) / name
    if folder.resolve().is_relative_to(real):
        raise Refused(
            "the data folder must not be inside the vault", path=str(folder), hint="Name another with --data FOLDER."
        )
    return folder


def data_folder_of(settings: Settings, vault: StorageBackend) -> Path | None:
    """The data folder of this vault; None for a vault in memory, whose data goes with the process."""
    root = settings.vault.root
    return data_folder(settings, root) if root and Capability.PERSISTENT in vault.capabilities else None


def _author(options: VaultOptions) -> Author:
    return Author(options.git_author_name, options.git_author_email)


def _required(root: Path | None) -> Path:
    if root is None:
        raise UsageError(
            "no vault was given",
            hint="Run `commonplace init FOLDER` once, give --vault FOLDER, or set COMMONPLACE_VAULT.",
        )
    return root


def _create_folder(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        message = f"cannot create the folder {folder}: {error.strerror}"
        raise VaultUnavailable(message, path=str(folder), hint="Name a folder that you may write to.") from error
    return folder
