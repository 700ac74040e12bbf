"""Vaults: the storage backends, how a vault is recognised, and where its data is kept."""

import re
import shlex
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

import platformdirs

from commonplace.app.postgresql import postgresql_of
from commonplace.errors import CommonplaceError, Refused, UsageError, VaultUnavailable
from commonplace.events import emit
from commonplace.settings.database_vaults import tenant_in
from commonplace.settings.registered_vaults import (
    RegisteredVault,
    RegisteredVaults,
    register_vault,
    registered_vaults,
)
from commonplace.settings.schema import Settings
from commonplace.vault.base import ABSENT, Capability, StorageBackend
from commonplace.vault.git.commit import Author
from commonplace.vault.git.location import identity
from commonplace.vault.git.run import Git
from commonplace.vault.inmemory import InMemory
from commonplace.vault.local import DeviceLocal
from commonplace.vault.obsidian import ObsidianVault
from commonplace.vault.options import VaultOptions

if TYPE_CHECKING:
    from commonplace.vault.postgresql.store import PostgresqlVault

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
_DATA_NAME: Final = re.compile(r".*-[0-9a-f]{8}(-\d+)?", re.DOTALL)
_DATA_FILES: Final = ("history.db", "conversations", "index", "vectors.db", "remember.lock", "past")


def backends(settings: Settings) -> BackendRegistry:
    """Every storage backend that comes with Commonplace, by name."""
    registry, options = BackendRegistry(), settings.vault
    most = options.max_read_bytes
    registry.register("device-local", lambda root: DeviceLocal(_present(root), max_read_bytes=most))
    registry.register("in-memory", lambda root: InMemory())
    registry.register(
        "obsidian-vault",
        lambda root: ObsidianVault(
            _present(root), author=author_of(options), filters=options.git_filters, max_read_bytes=most
        ),
    )
    registry.register("postgresql", lambda root: open_postgresql(settings, root))
    return registry


def open_postgresql(settings: Settings, root: Path | None) -> "PostgresqlVault":
    """The vault in the database that this folder stands for. Raises UsageError for a folder of notes, or for none."""
    tenant = tenant_in(root) if root else ""
    if not tenant:
        what = f"{root} is a folder" if root else "no vault was given"
        raise UsageError(
            f"vault.backend is postgresql, and {what}",
            hint="Name the vault as --vault postgresql:NAME, or set vault.backend for this vault to obsidian-vault.",
        )
    server = postgresql_of(settings)
    from commonplace.vault.postgresql.store import PostgresqlVault  # only for those who use it

    options = settings.vault
    return PostgresqlVault(server, tenant=tenant, author=author_of(options), max_read_bytes=options.max_read_bytes)


def put_under_git(root: Path, options: VaultOptions = _NO_OPTIONS) -> bool:
    """Create a repository for the vault unless one covers it; True if it was created."""
    from commonplace.screening.secrets import is_secret_file  # only a new vault needs them
    from commonplace.vault.git import baseline

    return baseline.put_under_git(root, author=author_of(options), is_secret=is_secret_file)


def copy_sample(folder: Path) -> None:
    """Copy the sample vault into a new or empty folder. Raises Refused if the folder is not empty."""
    if any(create_folder(folder).iterdir()):
        raise Refused("the folder is not empty", path=str(folder), hint="Name a new folder.")
    store = DeviceLocal(folder)
    sample = Path(__file__).parent.parent / "sample_vault"
    with store.transaction() as changes:
        for path in sorted(sample.rglob("*")):
            if path.is_file():
                changes.write(store.resolve(path.relative_to(sample).as_posix()), path.read_bytes(), expected=ABSENT)


def data_folder(settings: Settings, root: Path) -> Path:
    """The data folder of a vault, which has the vault's name. Raises Refused if it is inside the vault."""
    registered = registered_vaults()
    earlier = None if registered.find(root) else removed_vault(registered, root)
    return data_folder_named(settings, earlier.name if earlier else registered.name_for(root), root=root)


def data_folder_named(settings: Settings, name: str, *, root: Path) -> Path:
    """The data folder of the vault of that name, in that folder. Raises Refused if it is inside the vault."""
    folder = (settings.data or user_data_folder()) / name
    if folder.resolve().is_relative_to(root.resolve()):
        raise Refused(
            "the data folder must not be inside the vault", path=str(folder), hint="Name another with --data FOLDER."
        )
    return folder


def user_data_folder() -> Path:
    """The folder in which the data of this user's vaults is, unless the settings name another."""
    return platformdirs.user_data_path("commonplace")


def all_data_folders(settings: Settings) -> tuple[Path, ...]:
    """The data folder of every vault that was ever opened here, registered or not, as far as they still exist."""
    registered = registered_vaults()
    entries = (*registered.entries, *registered.removed)
    places = dict.fromkeys((settings.data or user_data_folder(), user_data_folder()))
    named = [place / entry.name for place in places for entry in entries]
    known = [entry.data for entry in entries if entry.data]
    found = [folder for place in places if place.is_dir() for folder in sorted(place.iterdir()) if _holds_data(folder)]
    return tuple(folder for folder in dict.fromkeys((*known, *named, *found)) if folder.is_dir())


def _holds_data(folder: Path) -> bool:
    """True for a folder that is named like a vault's data folder and holds what only such a folder does."""
    return bool(_DATA_NAME.fullmatch(folder.name)) and any((folder / name).exists() for name in _DATA_FILES)


def data_folder_of(settings: Settings, vault: StorageBackend) -> Path | None:
    """The data folder of this vault; None for a vault in memory, whose data goes with the process."""
    root = settings.vault.root
    return data_folder(settings, root) if root and Capability.PERSISTENT in vault.capabilities else None


def author_of(options: VaultOptions) -> Author:
    """The author of our commits in a vault with these settings."""
    return Author(options.git_author_name, options.git_author_email)


def _present(root: Path | None) -> Path:
    """The vault's folder. Raises UsageError if none was given, VaultUnavailable if a registered vault is not in it."""
    if root is None:
        raise UsageError(
            "no vault was given",
            hint="Run `commonplace init FOLDER` once, give --vault FOLDER, or set COMMONPLACE_VAULT.",
        )
    entry = registered_vaults().find(root)
    if entry and not holds_vault(entry):
        raise gone_error(root)
    if entry and entry.repository and entry.folder != folder_numbers(entry.root):
        complete_entry(root)  # recognised by its history, which costs calls of git
    return root


def gone_error(root: Path) -> VaultUnavailable:
    """The error for a registered vault whose folder is not there, or is another one."""
    named = shlex.quote(str(root))
    moved = f"If you moved it: `commonplace vault move {named} NEW_FOLDER`."
    if not root.is_dir():
        hint = f"{moved} Else mount its disk, or take it off the list with `commonplace vault remove`."
        return VaultUnavailable(f"the vault's folder cannot be found: {root}", path=str(root), hint=hint)
    return VaultUnavailable(
        f"another folder is where the vault was: {root} does not have its git history",
        path=str(root),
        hint=f"{moved} If its disk is not mounted, mount it. If this is the vault, with a git history that you have "
        f"rewritten: `commonplace init {named}`.",
    )


def repository_of(root: Path) -> str:
    """What tells this vault's repository from every other, wherever its folder is; empty if it has none."""
    return identity(Git(root.resolve())) if root.is_dir() and not tenant_in(root) else ""


def folder_numbers(root: Path) -> str:
    """The numbers of the folder's device, of the folder and of its `.git`, if it has one; empty if it is not there.

    Another folder has others, so that a vault which is where it was costs no call of git.
    """
    try:
        folder = root.stat()
    except OSError:
        return ""
    try:
        own = str((root / ".git").stat().st_ino)
    except OSError:
        own = ""
    return f"{folder.st_dev}:{folder.st_ino}:{own}"


def is_same_folder(entry: RegisteredVault, root: Path) -> bool:
    """True if the file system says that this folder is the one in which the vault was, whatever it is called now."""
    return bool(entry.folder) and entry.folder.split(":")[:2] == folder_numbers(root).split(":")[:2]


def holds_vault(entry: RegisteredVault) -> bool:
    """True if the vault is in its folder: that has not changed, or has the same git history, or never had one.

    A repository that git cannot read counts as the vault's: opening the vault then says why.
    """
    if not entry.root.is_dir():
        return False
    if not entry.repository or entry.folder == folder_numbers(entry.root):
        return True
    try:
        return repository_of(entry.root) == entry.repository
    except CommonplaceError:
        return True


def removed_vault(registered: RegisteredVaults, root: Path) -> RegisteredVault | None:
    """The vault in this folder if it was taken off the list, wherever it was then; None if there was none."""
    real = root.resolve()
    here = [entry for entry in registered.removed if entry.root == real]
    if found := next((entry for entry in here if is_same_folder(entry, real) or holds_vault(entry)), None):
        return found
    if not any(entry.repository for entry in registered.removed):
        return None
    repository = ""
    with suppress(CommonplaceError):  # a repository that git cannot read is like none
        repository = repository_of(real)
    moved = [entry for entry in registered.removed if repository and entry.repository == repository]
    gone = [entry for entry in moved if not holds_vault(entry)]
    return gone[0] if len(gone) == 1 else None


def complete_entry(root: Path) -> None:
    """Note in the entry of a vault what it is recognised by, as it is now. A failure is only reported."""
    try:
        entry = registered_vaults().find(root)
        if entry is None or not holds_vault(entry):
            return
        repository, folder = repository_of(root), folder_numbers(root)
        known = repository or entry.repository
        if known and (known, folder) != (entry.repository, entry.folder):
            register_vault(root, repository=known, folder=folder)
    except CommonplaceError as error:
        emit("vault_entry_not_completed", level="warning", vault=str(root), said=str(error))


def create_folder(folder: Path) -> Path:
    """The folder, created with those above it if needed. Raises VaultUnavailable."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        message = f"cannot create the folder {folder}: {error.strerror}"
        raise VaultUnavailable(message, path=str(folder), hint="Name a folder that you may write to.") from error
    return folder
