"""The tables of identities, what a database must offer to store them, and the SQLite file in the daemon's folder.

A statement is written once for SQLite and PostgreSQL: it has values as `?` or as `:name`, several statements in one
text are separated by a semicolon, and `postgresql.py` knows its tables by other names.
"""

import hashlib
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Final, Protocol

from commonplace.client.paths import daemon_path
from commonplace.database import Database, ErrorWording
from commonplace.errors import VaultUnavailable

IDENTITY_FILE: Final = "identity.db"
"""In the daemon's folder."""
_WAIT: Final = 5.0  # seconds for a lock
_MOMENT: Final = "GLOB '????-??-??T??:??:??Z'"

_1_PEOPLE: Final = f"""
CREATE TABLE people (
  id                  TEXT PRIMARY KEY,
  name                TEXT NOT NULL,
  role                TEXT NOT NULL CHECK (role IN ('owner', 'admin', 'member', 'reader')),
  daily_tokens        INTEGER CHECK (daily_tokens >= 0),
  daily_dollars       REAL CHECK (daily_dollars >= 0),
  requests_per_second REAL CHECK (requests_per_second > 0),
  created             TEXT NOT NULL CHECK (created {_MOMENT}),
  removed             TEXT NOT NULL DEFAULT '' CHECK (removed = '' OR removed {_MOMENT})
) STRICT, WITHOUT ROWID;
CREATE TABLE members (
  person TEXT NOT NULL REFERENCES people (id),
  vault  TEXT NOT NULL,
  role   TEXT NOT NULL CHECK (role IN ('owner', 'writer', 'reader')),
  added  TEXT NOT NULL CHECK (added {_MOMENT}),
  PRIMARY KEY (person, vault)
) STRICT, WITHOUT ROWID;
CREATE INDEX members_by_vault ON members (vault);
CREATE UNIQUE INDEX one_owner ON members (vault) WHERE role = 'owner';
CREATE TABLE invites (
  hash    TEXT PRIMARY KEY,
  person  TEXT NOT NULL REFERENCES people (id),
  expires TEXT NOT NULL CHECK (expires {_MOMENT})
) STRICT, WITHOUT ROWID;
CREATE TABLE person_spending (
  person TEXT NOT NULL,
  day    TEXT NOT NULL,
  tokens INTEGER NOT NULL,
  cost   REAL NOT NULL,
  PRIMARY KEY (person, day)
) STRICT, WITHOUT ROWID;
"""

# A code that was used stays until it expires, so that its second use is recognised and ends the grant.
_2_OAUTH: Final = f"""
CREATE TABLE oauth_clients (
  id        TEXT PRIMARY KEY,
  name      TEXT NOT NULL,
  redirects TEXT NOT NULL CHECK (json_valid(redirects)),
  created   TEXT NOT NULL CHECK (created {_MOMENT})
) STRICT, WITHOUT ROWID;
CREATE TABLE oauth_grants (
  id        TEXT PRIMARY KEY,
  client    TEXT NOT NULL,
  name      TEXT NOT NULL,
  person    TEXT NOT NULL REFERENCES people (id),
  vault     TEXT NOT NULL,
  scopes    TEXT NOT NULL,
  resource  TEXT NOT NULL,
  created   TEXT NOT NULL CHECK (created {_MOMENT}),
  last_used TEXT NOT NULL DEFAULT '',
  revoked   TEXT NOT NULL DEFAULT '',
  why       TEXT NOT NULL DEFAULT ''
) STRICT, WITHOUT ROWID;
CREATE INDEX oauth_grants_by_person ON oauth_grants (person);
CREATE TABLE oauth_codes (
  hash        TEXT PRIMARY KEY,
  grant_id    TEXT NOT NULL REFERENCES oauth_grants (id),
  redirect    TEXT NOT NULL,
  challenge   TEXT NOT NULL,
  expires     TEXT NOT NULL CHECK (expires {_MOMENT}),
  is_used     INTEGER NOT NULL DEFAULT 0 CHECK (is_used IN (0, 1))
) STRICT, WITHOUT ROWID;
CREATE TABLE oauth_tokens (
  hash     TEXT PRIMARY KEY,
  grant_id TEXT NOT NULL REFERENCES oauth_grants (id),
  kind     TEXT NOT NULL CHECK (kind IN ('access', 'refresh')),
  expires  TEXT NOT NULL CHECK (expires {_MOMENT}),
  is_used  INTEGER NOT NULL DEFAULT 0 CHECK (is_used IN (0, 1))
) STRICT, WITHOUT ROWID;
CREATE INDEX oauth_tokens_by_grant ON oauth_tokens (grant_id);
"""

_3_NETWORKS: Final = """
ALTER TABLE oauth_clients ADD COLUMN network TEXT NOT NULL DEFAULT '';
CREATE INDEX oauth_clients_by_network ON oauth_clients (network, created);
"""
_MIGRATIONS: Final = (_1_PEOPLE, _2_OAUTH, _3_NETWORKS)

IDENTITY_ERRORS: Final = ErrorWording(
    label="list of people",
    damaged=VaultUnavailable,
    mend="Restore {name} from a backup, or move it away and add the people again.",
    too_new="Upgrade Commonplace.",
)


def identity_file() -> Path:
    """Where the people of this user's daemon are stored; the file exists once a person was added."""
    return Path(daemon_path()) / IDENTITY_FILE


class IdentityRows(Protocol):
    """The rows that a statement returns."""

    def fetchone(self) -> Any:
        """The next row; None after the last."""

    def __iter__(self) -> Iterator[Any]: ...


class IdentityConnection(Protocol):
    """A transaction in which statements about identities run."""

    def execute(self, statement: str, values: Any = (), /) -> IdentityRows:
        """Run a statement, or several of them."""

    def executemany(self, statement: str, values: Iterable[Any], /) -> object:
        """Run a statement once for each of these values."""


class IdentityDatabase(Protocol):
    """A database with the tables of identities. Its transactions raise VaultUnavailable."""

    @property
    def is_remote(self) -> bool:
        """True if a statement goes over a network, so that an event loop must not wait for it."""

    def exists(self) -> bool:
        """False for a file that was not created yet: nobody has been added."""

    def read_transaction(self) -> AbstractContextManager[IdentityConnection]:
        """Statements that see one state of the tables."""

    def write_transaction(self) -> AbstractContextManager[IdentityConnection]:
        """The only transaction that writes now; an exception in the block rolls it back."""


class SqliteIdentities:
    """The identities in one file, which is created at first use, and which only its owner may read."""

    is_remote = False

    def __init__(self, file: Path) -> None:
        self._file = file
        self._database = Database(file, migrations=_MIGRATIONS, wording=IDENTITY_ERRORS, wait=_WAIT)

    def exists(self) -> bool:
        """True if the file was created."""
        return self._file.exists()

    def read_transaction(self) -> AbstractContextManager[IdentityConnection]:
        """Statements that see one state of the file."""
        return self._database.read_transaction()

    def write_transaction(self) -> AbstractContextManager[IdentityConnection]:
        """The only transaction that writes now."""
        return self._database.write_transaction()


def secret_hash(secret: str) -> str:
    """The hash by which a secret is stored."""
    return hashlib.sha256(secret.encode("utf-8", "surrogateescape")).hexdigest()
