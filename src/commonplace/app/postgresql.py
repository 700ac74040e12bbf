"""The connections to PostgreSQL that the settings describe, one set for each database; locks between machines."""

import atexit
import os
import secrets
from contextlib import AbstractContextManager, suppress
from functools import lru_cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from commonplace.errors import UsageError, VaultUnavailable, missing_extra
from commonplace.settings.database_vaults import shown_vault, tenant_in
from commonplace.settings.load import own_value
from commonplace.settings.registered_vaults import registered_vaults
from commonplace.settings.schema import Settings

if TYPE_CHECKING:
    from commonplace.database.postgresql import PostgresqlServer


_TENANT_FILE: Final = "tenant"  # in the data folder of a vault


class SharedLock(Protocol):
    """A lock of all machines that share a database."""

    def __call__(self, *, wait: float) -> AbstractContextManager[bool]:
        """True in the block if the lock is ours; False after `wait` seconds without it."""


def postgresql_of(settings: Settings) -> "PostgresqlServer":
    """The connections to the database of the settings. Raises UsageError if they name none."""
    options = settings.postgresql
    if options.url is None:
        raise UsageError(
            "a backend is postgresql, and no database is set",
            hint="Set postgresql.url, such as postgresql://commonplace@localhost/commonplace.",
        )
    if find_spec("psycopg") is None:
        raise missing_extra("postgresql", "a backend in PostgreSQL")
    return _connections(
        options.url,
        connections=options.connections,
        partitions=options.partitions,
        wait=settings.vault.lock_wait_seconds,
    )


def tenant_of(settings: Settings, folder: Path | None) -> str:
    """The name of the vault in the database.

    Raises UsageError if it has neither a set name nor a data folder, or if the name would be that of other vaults too.
    """
    if name := settings.postgresql.tenant:
        _require_own_name(name, settings.vault.root)
        return name
    if folder is None:
        raise UsageError("this vault has no name in the database", hint="Set postgresql.tenant.")
    return _given_name(folder)


def _given_name(folder: Path) -> str:
    """The name in the data folder of a vault that has none by the settings, made at first use.

    It is random in part: two machines may have different vaults with one name in one database.
    """
    file, draft = folder / _TENANT_FILE, folder / f".{_TENANT_FILE}-{secrets.token_hex(4)}"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not file.exists():
            draft.write_text(f"{folder.name}-{secrets.token_hex(8)}\n", encoding="utf-8")
            with suppress(FileExistsError):  # another process was first
                os.link(draft, file)
            draft.unlink()
        return file.read_text(encoding="utf-8").strip()
    except OSError as error:
        message = f"the name of the vault in the database cannot be read or written: {error.strerror or error}"
        raise VaultUnavailable(message, path=str(file), hint="Set postgresql.tenant.") from error


def _require_own_name(name: str, root: Path | None) -> None:
    """Raise UsageError if another vault has the name, or would have: they would be one vault to the database.

    A vault that is in the database itself has its name by its address, and another one in a folder by the user's file
    for that vault alone. A name that is set for all vaults is that of every folder.
    """
    if root is None or tenant_in(root):
        return
    others = [each for each in registered_vaults().vaults if each not in (root, root.resolve())]
    same = [each for each in others if name in (tenant_in(each), own_value("postgresql.tenant", each))]
    if same:
        raise UsageError(
            f"postgresql.tenant is {name}, and so is that of {shown_vault(same[0])}: they would read and overwrite each"
            " other's memory",
            hint="Choose another: `commonplace settings set postgresql.tenant NAME --for-vault`.",
        )
    if own_value("postgresql.tenant", root) != name and any(not tenant_in(each) for each in others):
        raise UsageError(
            f"postgresql.tenant is {name} for all vaults: they would read and overwrite each other's memory",
            hint="Set it for each vault alone: `commonplace settings set postgresql.tenant NAME --for-vault`.",
        )


def lock_of_machines(settings: Settings, folder: Path | None, purpose: str) -> SharedLock | None:
    """The lock for that purpose if machines may share the vault, its index or its history; None if none do."""
    if "postgresql" not in (settings.vault.backend, settings.index.backend, settings.history.backend):
        return None
    return partial(postgresql_of(settings).lock, f"{purpose}/{tenant_of(settings, folder)}")


@lru_cache(maxsize=8)
def _connections(url: str, *, connections: int, partitions: int, wait: float) -> "PostgresqlServer":
    from commonplace.database.postgresql import PostgresqlServer  # only for those who use it

    server = PostgresqlServer(url, connections=connections, partitions=partitions, wait=wait)
    atexit.register(server.close)
    return server
