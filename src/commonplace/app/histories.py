"""The history of a vault, where the settings say; copies of it from one place to the other."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from commonplace.app.postgresql import postgresql_of, tenant_of
from commonplace.app.vaults import backends, data_folder_of
from commonplace.errors import CommonplaceError, UsageError
from commonplace.history.base import History
from commonplace.history.inmemory.history import InMemoryHistory
from commonplace.history.options import HistoryBackend
from commonplace.history.sql.copy import HistoryCopy, copy_history, is_left_behind
from commonplace.history.sql.history import SqlHistory
from commonplace.history.sqlite.history import SqliteHistory
from commonplace.model.progress import Progress
from commonplace.settings.schema import Settings

if TYPE_CHECKING:
    from commonplace.history.postgresql.history import PostgresqlHistory

HISTORY_FILE: Final = "history.db"


def make_history(settings: Settings, folder: Path | None) -> History:
    """The history of the vault with that data folder; in memory without one. Raises UsageError."""
    if settings.history.backend == "postgresql":
        return _in_postgresql(settings, folder)
    return SqliteHistory(folder / HISTORY_FILE) if folder else InMemoryHistory()


def place_in_database(settings: Settings, folder: Path | None) -> str | None:
    """Where the history is, if that is not the data folder: a sentence for a person who removes the folder."""
    if settings.history.backend != "postgresql":
        return None
    return f"the history in PostgreSQL, as tenant {tenant_of(settings, folder)}"


def copy_vault_history(
    settings: Settings, *, to: HistoryBackend, replaces: bool, is_dry: bool, progress: Progress
) -> HistoryCopy:
    """Copy the history of the vault to SQLite or to PostgreSQL, from the other. Raises UsageError and Refused."""
    vault = backends(settings).select(settings.vault.backend, root=settings.vault.root)
    folder = data_folder_of(settings, vault)
    if folder is None:
        raise UsageError("this vault has no data folder", hint="Name a vault with --vault FOLDER.")
    file, rows = SqliteHistory(folder / HISTORY_FILE), _in_postgresql(settings, folder)
    source, target = (file, rows) if to == "postgresql" else (rows, file)
    return copy_history(source, target, replaces=replaces, is_dry=is_dry, progress=progress)


def _in_postgresql(settings: Settings, folder: Path | None) -> "PostgresqlHistory":
    server, tenant = postgresql_of(settings), tenant_of(settings, folder)
    from commonplace.history.postgresql.history import PostgresqlHistory  # only for those who use it

    return PostgresqlHistory(server, tenant=tenant, not_copied=partial(_file_not_copied, folder))


def _file_not_copied(folder: Path | None, history: SqlHistory) -> Path | None:
    """The file of the history in that data folder if something of it is missing in the other; else None."""
    file = folder / HISTORY_FILE if folder else None
    if file is None or not file.exists():
        return None
    older = SqliteHistory(file)
    try:
        return file if is_left_behind(older, history) else None
    except CommonplaceError:  # it cannot be read: `doctor` of a history in files says why
        return file
    finally:
        older.close()
