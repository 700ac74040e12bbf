"""Puts the parts together: the only module that picks implementations."""

from collections.abc import Mapping
from pathlib import Path

from commonplace.errors import Refused, UsageError, VaultUnavailable
from commonplace.events import emit
from commonplace.memory import Memory, Notes
from commonplace.policy.ignore import ignores
from commonplace.settings import Settings, load_settings
from commonplace.vault.base import ABSENT, StorageBackend
from commonplace.vault.inmemory import InMemory
from commonplace.vault.local import DeviceLocal
from commonplace.vault.registry import Registry


def open_memory(vault: str | Path | None = None, *, settings: Mapping[str, object] | None = None) -> Memory:
    """The memory of a vault, given by its folder or else by the settings.

    `settings` are dotted keys that win over files and environment, such as `{"retrieval.default_k": 5}`.
    Raises UsageError for a wrong setting or when no vault is named, VaultUnavailable when it cannot be opened.
    """
    flags = dict(settings or {})
    if vault is not None:
        flags["vault.root"] = str(vault)
    return open_with(load_settings(flags=flags).settings)


def open_with(settings: Settings) -> Memory:
    """The memory that these settings describe. Raises as `open_memory` does."""
    backend = backends().select(settings.vault.backend, root=settings.vault.root)
    emit("vault_opened", level="debug", backend=backend.name, root=str(settings.vault.root or ""))
    return Memory(notes=_notes(backend, settings))


def backends() -> Registry:
    """Every storage backend that comes with Commonplace, by name."""
    registry = Registry()
    registry.register("device-local", _device_local)
    registry.register("in-memory", lambda root: InMemory())
    return registry


def _device_local(root: Path | None) -> StorageBackend:
    if root is None:
        raise UsageError(
            "no vault is named",
            hint="Give --vault FOLDER, set COMMONPLACE_VAULT, or put `root` under [vault] in your settings file.",
        )
    return DeviceLocal(root)


def _notes(backend: StorageBackend, settings: Settings) -> Notes:
    return Notes(backend, safety=settings.safety, ignored=ignores(settings.vault.ignore_globs))


def copy_sample(folder: Path) -> None:
    """Put the sample vault into a new or empty folder. Raises Refused when something is there already."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        empty = not any(folder.iterdir())
    except OSError as error:
        message = f"could not make the folder {folder}: {error.strerror}"
        raise VaultUnavailable(message, path=str(folder), hint="Name a new folder.") from error
    if not empty:
        raise Refused("the folder is not empty", path=str(folder), hint="Name a new folder.")
    store = DeviceLocal(folder)
    sample = Path(__file__).parent / "sample_vault"
    with store.transaction() as changes:
        for path in sorted(sample.rglob("*")):
            if path.is_file():
                changes.write(store.resolve(path.relative_to(sample).as_posix()), path.read_bytes(), expected=ABSENT)
