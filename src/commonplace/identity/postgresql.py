"""Identities in PostgreSQL: one set of tables for all daemons of a server, beside the tables of the tenants.

They are no tenant's: a person may use vaults of several. Their names begin with `identity_`. Times are text such as
2026-03-01T09:12:44Z, compared byte by byte. A released migration is never changed.
"""

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, Final

from commonplace.database.postgresql import Area, Connection, Migration, PostgresqlServer, TenantDatabase
from commonplace.identity.schema import IDENTITY_ERRORS, IdentityConnection, IdentityRows

_NOBODY: Final = "/"  # the tenant of these transactions, which has no rows in the tables of tenants
_TABLES: Final = (
    *("people", "members", "invites", "person_spending", "device_tokens"),
    *("oauth_clients", "oauth_grants", "oauth_codes", "oauth_tokens"),
)
_TABLE: Final = re.compile(rf"\b(?:{'|'.join(_TABLES)})\b")
_NAME: Final = re.compile(r":([a-z_]+)")
_TEXT: Final = 'text COLLATE "C" NOT NULL'
_MOMENT: Final = "LIKE '____-__-__T__:__:__Z'"
_PEOPLE: Final = f"""
CREATE TABLE identity_people (
  id                  {_TEXT} PRIMARY KEY,
  name                {_TEXT},
  role                {_TEXT} CHECK (role IN ('owner', 'admin', 'member', 'reader')),
  daily_tokens        bigint CHECK (daily_tokens >= 0),
  daily_dollars       double precision CHECK (daily_dollars >= 0),
  requests_per_second double precision CHECK (requests_per_second > 0),
  created             {_TEXT} CHECK (created {_MOMENT}),
  removed             {_TEXT} DEFAULT '' CHECK (removed = '' OR removed {_MOMENT})
);
CREATE TABLE identity_members (
  person {_TEXT} REFERENCES identity_people (id),
  vault  {_TEXT},
  role   {_TEXT} CHECK (role IN ('owner', 'writer', 'reader')),
  added  {_TEXT} CHECK (added {_MOMENT}),
  PRIMARY KEY (person, vault)
);
CREATE INDEX identity_members_by_vault ON identity_members (vault);
CREATE UNIQUE INDEX identity_one_owner ON identity_members (vault) WHERE role = 'owner';
CREATE TABLE identity_invites (
  hash    {_TEXT} PRIMARY KEY,
  person  {_TEXT} REFERENCES identity_people (id),
  expires {_TEXT} CHECK (expires {_MOMENT})
);
CREATE TABLE identity_person_spending (
  person {_TEXT},
  day    {_TEXT},
  tokens bigint NOT NULL,
  cost   double precision NOT NULL,
  PRIMARY KEY (person, day)
);
CREATE TABLE identity_device_tokens (
  hash      {_TEXT} PRIMARY KEY,
  id        {_TEXT},
  client    {_TEXT},
  scopes    {_TEXT},
  vault     {_TEXT},
  person    {_TEXT} REFERENCES identity_people (id),
  created   {_TEXT} CHECK (created {_MOMENT}),
  last_used {_TEXT},
  revoked   {_TEXT}
);
CREATE INDEX identity_device_tokens_by_id ON identity_device_tokens (id);
"""
_OAUTH: Final = f"""
CREATE TABLE identity_oauth_clients (
  id        {_TEXT} PRIMARY KEY,
  name      {_TEXT},
  redirects {_TEXT},
  created   {_TEXT} CHECK (created {_MOMENT})
);
CREATE TABLE identity_oauth_grants (
  id        {_TEXT} PRIMARY KEY,
  client    {_TEXT},
  name      {_TEXT},
  person    {_TEXT} REFERENCES identity_people (id),
  vault     {_TEXT},
  scopes    {_TEXT},
  resource  {_TEXT},
  created   {_TEXT} CHECK (created {_MOMENT}),
  last_used {_TEXT} DEFAULT '',
  revoked   {_TEXT} DEFAULT '',
  why       {_TEXT} DEFAULT ''
);
CREATE INDEX identity_oauth_grants_by_person ON identity_oauth_grants (person);
CREATE TABLE identity_oauth_codes (
  hash      {_TEXT} PRIMARY KEY,
  grant_id  {_TEXT} REFERENCES identity_oauth_grants (id),
  redirect  {_TEXT},
  challenge {_TEXT},
  expires   {_TEXT} CHECK (expires {_MOMENT}),
  is_used   integer NOT NULL DEFAULT 0
);
CREATE TABLE identity_oauth_tokens (
  hash     {_TEXT} PRIMARY KEY,
  grant_id {_TEXT} REFERENCES identity_oauth_grants (id),
  kind     {_TEXT} CHECK (kind IN ('access', 'refresh')),
  expires  {_TEXT} CHECK (expires {_MOMENT}),
  is_used  integer NOT NULL DEFAULT 0
);
CREATE INDEX identity_oauth_tokens_by_grant ON identity_oauth_tokens (grant_id);
"""
_NETWORKS: Final = f"""
ALTER TABLE identity_oauth_clients ADD COLUMN network {_TEXT} DEFAULT '';
CREATE INDEX identity_oauth_clients_by_network ON identity_oauth_clients (network, created);
"""
IDENTITY_AREA: Final = Area("identity", (Migration((_PEOPLE, _OAUTH)), Migration((_NETWORKS,))), IDENTITY_ERRORS)


class PostgresqlIdentities:
    """The identities in a database that several daemons share."""

    is_remote = True

    def __init__(self, server: PostgresqlServer) -> None:
        self._database = TenantDatabase(server, IDENTITY_AREA, tenant=_NOBODY)

    def exists(self) -> bool:
        """True: the tables are made at first use."""
        return True

    @contextmanager
    def read_transaction(self) -> Iterator[IdentityConnection]:
        """Statements that see one state of the tables."""
        with self._database.read_transaction() as connection:
            yield _PostgresqlStatements(connection)

    @contextmanager
    def write_transaction(self) -> Iterator[IdentityConnection]:
        """The only transaction on any machine that changes identities now."""
        with self._database.write_transaction() as connection:
            yield _PostgresqlStatements(connection)


class _PostgresqlStatements:
    """Runs statements of this room in a transaction."""

    def __init__(self, connection: Connection) -> None:
        self._cursor = connection.cursor()

    def execute(self, statement: str, values: Any = (), /) -> IdentityRows:
        """Run a statement, or several of them."""
        for each in _translated(statement):
            self._cursor.execute(each, values)
        return self._cursor

    def executemany(self, statement: str, values: Iterable[Any], /) -> None:
        """Run a statement once for each of these values."""
        (only,) = _translated(statement)
        self._cursor.executemany(only, [*values])


@lru_cache(maxsize=100)
def _translated(statement: str) -> tuple[bytes, ...]:
    """The statements of a text as PostgreSQL reads them."""
    text = _TABLE.sub(lambda match: f"identity_{match[0]}", statement)
    text = _NAME.sub(r"%(\1)s", text).replace("?", "%s")
    return tuple(each.encode() for each in text.split(";") if each.strip())
