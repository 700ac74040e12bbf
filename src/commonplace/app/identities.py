"""The people of a server and the tokens of their devices, where the settings say; copies to the other place."""

from collections.abc import Mapping

from commonplace.app.postgresql import postgresql_of
from commonplace.client.paths import Unreachable, daemon_path
from commonplace.errors import VaultUnavailable
from commonplace.identity.access import Identities
from commonplace.identity.copy import IdentityCopy, IdentityStore, TokenStore, copy_identities
from commonplace.identity.devices import DeviceTokens
from commonplace.identity.options import IdentityBackend
from commonplace.identity.schema import IdentityDatabase, SqliteIdentities, identity_file
from commonplace.settings.load import load_settings
from commonplace.settings.schema import Settings


def server_settings(flags: Mapping[str, object]) -> Settings:
    """The settings of the server, which are of no vault: a broken one must not stop it.

    Raises UsageError, and VaultUnavailable for a user without a home folder.
    """
    try:
        place = daemon_path()
    except Unreachable as error:
        raise VaultUnavailable(str(error), hint="The daemon keeps its people and tokens there.") from error
    return load_settings(flags={**flags, "vault.root": place}).settings


def make_identities(settings: Settings) -> IdentityDatabase:
    """The database of people. Raises UsageError if it is in PostgreSQL and no database is set."""
    return _in_file() if settings.identity.backend == "sqlite" else _in_postgresql(settings)


def make_device_tokens(settings: Settings) -> DeviceTokens | None:
    """The tokens of people that several daemons share; None if they are in the daemon's own file. Raises UsageError."""
    return DeviceTokens(make_identities(settings)) if settings.identity.backend == "postgresql" else None


def copy_people(
    settings: Settings, *, token_file: TokenStore, to: IdentityBackend, replaces: bool, is_dry: bool
) -> IdentityCopy:
    """Copy everybody to SQLite or to PostgreSQL, from the other. Raises UsageError and Refused.

    `token_file` has the tokens of their devices while the people are in SQLite.
    """
    files, rows = IdentityStore(_in_file(), token_file), IdentityStore(_in_postgresql(settings))
    source, target = (files, rows) if to == "postgresql" else (rows, files)
    return copy_identities(source, target, replaces=replaces, is_dry=is_dry)


def left_in_file(settings: Settings) -> str:
    """A sentence for a person who changed the backend: the file of this machine has people, and PostgreSQL has nobody.

    Empty if that is not so. Raises UsageError and VaultUnavailable.
    """
    file = Identities(_in_file())
    if settings.identity.backend == "sqlite" or not file.has_people:
        return ""
    if Identities(_in_postgresql(settings)).people.list():
        return ""
    count = sum(not each.removed for each in file.people.list())
    return (
        f"nobody is in PostgreSQL yet; people in the file of this machine: {count}."
        " `commonplace person copy --to postgresql` copies them with their tokens"
    )


def _in_file() -> IdentityDatabase:
    return SqliteIdentities(identity_file())


def _in_postgresql(settings: Settings) -> IdentityDatabase:
    server = postgresql_of(settings)
    from commonplace.identity.postgresql import PostgresqlIdentities  # only for those who use it

    return PostgresqlIdentities(server)
