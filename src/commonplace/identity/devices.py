"""The tokens of people's devices and agents in the database: every daemon of a server accepts the same.

With the identities in a file, these tokens are in the daemon's file of tokens; that of the user who runs the daemon
always is.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from commonplace.identity.schema import IdentityDatabase
from commonplace.model import SCOPES, Scope

TOKEN_COLUMNS: Final = ("id", "client", "scopes", "created", "hash", "vault", "last_used", "revoked", "person")
"""Those of the table, in the order of a row."""
_COLUMNS: Final = ", ".join(TOKEN_COLUMNS)
_LIST: Final = f"SELECT {_COLUMNS} FROM device_tokens ORDER BY created, id"  # noqa: S608
_FIND: Final = f"SELECT {_COLUMNS} FROM device_tokens WHERE hash = ?"  # noqa: S608
_SAVE: Final = f"""
INSERT INTO device_tokens ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (hash) DO UPDATE SET last_used = excluded.last_used, revoked = excluded.revoked
"""  # noqa: S608
_USED: Final = "UPDATE device_tokens SET last_used = ? WHERE id = ? AND last_used < ?"


@dataclass(frozen=True, slots=True)
class Token:
    """A client's token, by its hash. `revoked` and `last_used` are empty until they happen.

    `person` is the id of the person whose device or agent the client is; empty for the user who runs the daemon.
    """

    id: str
    client: str
    scopes: tuple[Scope, ...]
    created: str
    hash: str = field(repr=False)
    vault: str = ""
    last_used: str = ""
    revoked: str = ""
    person: str = ""


class DeviceTokens:
    """The tokens in the database. A change counts with the next request on every daemon. Raises VaultUnavailable."""

    def __init__(self, database: IdentityDatabase) -> None:
        self._database = database

    def read(self) -> tuple[Token, ...]:
        """All tokens, oldest first."""
        with self._database.read_transaction() as connection:
            return tuple(token_from_row(row) for row in connection.execute(_LIST))

    def with_hash(self, hash: str) -> tuple[Token, ...]:
        """The token with that hash, if there is one."""
        with self._database.read_transaction() as connection:
            return tuple(token_from_row(row) for row in connection.execute(_FIND, (hash,)))

    @contextmanager
    def changing(self) -> Iterator[list[Token]]:
        """The tokens, to be changed in place; what differs is written if the block succeeds. Others wait meanwhile."""
        with self._database.write_transaction() as connection:
            before = [token_from_row(row) for row in connection.execute(_LIST)]
            tokens = [*before]
            yield tokens
            changed = [each for each in tokens if each not in {*before}]
            if changed:
                connection.executemany(_SAVE, [token_to_row(each) for each in changed])

    def record_uses(self, uses: Mapping[str, str]) -> None:
        """Write when tokens were last used, by their ids; ids of other tokens change nothing."""
        with self._database.write_transaction() as connection:
            connection.executemany(_USED, [(at, id, at) for id, at in uses.items()])


def token_from_row(row: Any) -> Token:
    """The token in a row of the table."""
    id, client, scopes, *rest = row
    return Token(id, client, tuple(each for each in SCOPES if each in scopes.split()), *rest)


def token_to_row(token: Token) -> tuple[str, ...]:
    """The row of a token."""
    texts = (token.created, token.hash, token.vault, token.last_used, token.revoked, token.person)
    return (token.id, token.client, " ".join(token.scopes), *texts)
