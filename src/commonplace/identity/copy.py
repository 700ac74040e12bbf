"""Copy everybody from one database to another: people, members, sign-in codes, spending, OAuth and devices' tokens.

Rows are copied as they are. Secrets are hashes in both, so every token, code and sign-in works on.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Final, Protocol

from commonplace.client.paths import DATABASE_PREFIX
from commonplace.errors import Refused
from commonplace.identity.devices import TOKEN_COLUMNS, Token, token_from_row, token_to_row
from commonplace.identity.schema import IdentityConnection, IdentityDatabase

TABLES: Final[Mapping[str, tuple[str, ...]]] = {
    "people": (
        *("id", "name", "role", "daily_tokens", "daily_dollars", "requests_per_second"),
        *("created", "removed"),
    ),
    "members": ("person", "vault", "role", "added"),
    "invites": ("hash", "person", "expires"),
    "person_spending": ("person", "day", "tokens", "cost"),
    "oauth_clients": ("id", "name", "redirects", "created", "network"),
    "oauth_grants": (
        *("id", "client", "name", "person", "vault", "scopes", "resource"),
        *("created", "last_used", "revoked", "why"),
    ),
    "oauth_codes": ("hash", "grant_id", "redirect", "challenge", "expires", "is_used"),
    "oauth_tokens": ("hash", "grant_id", "kind", "expires", "is_used"),
}
"""The tables of both databases with their columns; one that refers to another comes after it."""
_TOKENS: Final = "device_tokens"
_Rows = Mapping[str, Sequence[tuple[Any, ...]]]


class TokenStore(Protocol):
    """A place of tokens beside a database: those of people, and of the user who runs the daemon."""

    def read(self) -> Sequence[Token]:
        """All tokens. Raises VaultUnavailable."""

    def changing(self) -> AbstractContextManager[list[Token]]:
        """The tokens, to be changed in place; written if the block succeeds. Raises VaultUnavailable."""


@dataclass(frozen=True, slots=True)
class IdentityStore:
    """A place of people: their database, and the file of their devices' tokens if those are not in the database."""

    database: IdentityDatabase
    token_file: TokenStore | None = None


@dataclass(frozen=True, slots=True)
class IdentityCopy:
    """What was copied, or would be: the rows of each table that has some, and how many the target had.

    `is_equal` says that the target had the same rows already. `folders` are the vaults of members that are folders:
    another machine does not have them.
    """

    rows: Mapping[str, int]
    replaced: int = 0
    is_equal: bool = False
    folders: tuple[str, ...] = ()


def copy_identities(
    source: IdentityStore, target: IdentityStore, *, replaces: bool = False, is_dry: bool = False
) -> IdentityCopy:
    """Make the people of the target equal to those of the source; `is_dry` only looks.

    Raises Refused if the target has others and `replaces` is False, or if the source has nobody.
    """
    rows = _read(source)
    if not rows["people"]:
        raise Refused("there is nobody to copy", hint="`commonplace person add ID` adds people.")
    before = _read(target)
    replaced = sum(map(len, before.values()))
    counts = {name: len(each) for name, each in rows.items() if each}
    plan = IdentityCopy(counts, replaced, before == rows, _folders(rows))
    if plan.is_equal or is_dry:
        return plan
    if replaced and not replaces:
        raise Refused(
            f"the list of people there is not empty: it has {replaced} rows, and others than this one",
            hint="Look at it before you replace it; then add --replace.",
        )
    _write(target, rows)
    return plan


def _read(store: IdentityStore) -> _Rows:
    """The rows of each table in an order of their own, as of one moment; a database that is not there has none."""
    if not store.database.exists():
        return {name: [] for name in (*TABLES, _TOKENS)}
    with store.database.read_transaction() as connection:
        rows = {name: sorted(_select(connection, name, columns), key=repr) for name, columns in TABLES.items()}
        tokens = _select(connection, _TOKENS, TOKEN_COLUMNS) if store.token_file is None else ()
        rows[_TOKENS] = sorted(tokens)
    if store.token_file is not None:
        known = {row[0] for row in rows["people"]}
        rows[_TOKENS] = sorted(token_to_row(each) for each in store.token_file.read() if each.person in known)
    return rows


def _select(connection: IdentityConnection, table: str, columns: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    return map(tuple, connection.execute(f"SELECT {', '.join(columns)} FROM {table}"))  # noqa: S608 (our own names)


def _write(store: IdentityStore, rows: _Rows) -> None:
    """Replace everything in one transaction. A file of tokens is written last, when all rows have been accepted."""
    with store.database.write_transaction() as connection:
        if store.token_file is None:
            connection.execute(f"DELETE FROM {_TOKENS}")  # noqa: S608
        for table in reversed([*TABLES]):
            connection.execute(f"DELETE FROM {table}")  # noqa: S608
        for table, columns in TABLES.items():
            _insert(connection, table, columns, rows[table])
        if store.token_file is None:
            _insert(connection, _TOKENS, TOKEN_COLUMNS, rows[_TOKENS])
        else:
            with store.token_file.changing() as tokens:
                own = [each for each in tokens if not each.person]
                tokens[:] = [*own, *map(token_from_row, rows[_TOKENS])]


def _insert(
    connection: IdentityConnection, table: str, columns: Sequence[str], rows: Iterable[tuple[Any, ...]]
) -> None:
    places = ", ".join("?" * len(columns))
    connection.executemany(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({places})", rows)  # noqa: S608


def _folders(rows: _Rows) -> tuple[str, ...]:
    vaults = {str(row[TABLES["members"].index("vault")]) for row in rows["members"]}
    return tuple(sorted(each for each in vaults if not each.startswith(DATABASE_PREFIX)))
