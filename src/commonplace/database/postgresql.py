"""A PostgreSQL database of ours: connections, transactions in which one tenant's rows are visible, and migrations.

A tenant is one vault. `tenant` is the first column of every key; row-level security compares it with the tenant of the
transaction, so a query that forgets to ask for its tenant sees no row of another. Queries name the tenant all the same:
the planner then skips the partitions of others.

Reading sees one snapshot. Writers of one tenant and area take turns, as those of a SQLite file do.

Each transaction reads the oldest version of the schema that a program may know: one that runs while another program
changes the schema goes on if the change only adds, and refuses to use the tables if the change ends older programs.
"""

import os
import re
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Final

import psycopg
from psycopg import errors as pg_errors
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from commonplace.database.errors import ErrorWording
from commonplace.errors import UsageError, VaultUnavailable

Connection = psycopg.Connection[tuple[object, ...]]
_READING: Final = sql.SQL("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL commonplace.tenant = {tenant}")
_OLDEST: Final = sql.SQL("; SELECT version, oldest FROM commonplace_schema WHERE area = {area}")
_WRITING: Final = sql.SQL(
    "BEGIN; SET LOCAL commonplace.tenant = {tenant}; SET LOCAL lock_timeout = {wait};"
    " SELECT pg_advisory_xact_lock(hashtextextended({lock}, 0))"
)
_TRYING: Final = sql.SQL("BEGIN; SET LOCAL commonplace.tenant = {tenant}")
_TRY_LOCK: Final = sql.SQL("SELECT pg_try_advisory_xact_lock(hashtextextended({lock}, 0))")
_POLICY: Final = """
ALTER TABLE {name} ENABLE ROW LEVEL SECURITY;
ALTER TABLE {name} FORCE ROW LEVEL SECURITY;
CREATE POLICY one_tenant ON {name} USING (tenant = current_setting('commonplace.tenant', true))
  WITH CHECK (tenant = current_setting('commonplace.tenant', true));
"""
_SCHEMA_TABLE: Final = """
CREATE TABLE IF NOT EXISTS commonplace_schema (area text PRIMARY KEY, version integer NOT NULL, oldest integer NOT NULL)
"""
_ALIVE: Final = {"keepalives_idle": 15, "keepalives_interval": 5, "keepalives_count": 3, "tcp_user_timeout": 30_000}
"""Seconds, and milliseconds: a server that no packet reaches is noticed by then; else a query would wait for hours."""
_SCHEMES: Final = ("postgresql://", "postgres://")
_PORTS: Final = re.compile("[0-9,]*", re.ASCII)  # one for each host
_MIGRATING: Final = "commonplace schema"  # the advisory lock of migrations
_MIGRATION_LOCK: Final = "500ms"  # others wait behind a waiting ALTER TABLE; below deadlock_timeout (1 s): it gives way
_MIGRATION_PAUSE: Final = 0.1  # seconds
_LONGEST_TENANT: Final = 200  # characters
_LOCK_WORDING: Final = ErrorWording(label="lock", damaged=VaultUnavailable, mend="")
_TRY: Final = "SELECT pg_try_advisory_lock(hashtextextended(%s, 0))"
_WAIT: Final = "SELECT pg_advisory_lock(hashtextextended(%s, 0))"
_RELEASE: Final = "SELECT pg_advisory_unlock(hashtextextended(%s, 0))"
_ROLE_HINT: Final = (
    "As an administrator of the server: CREATE ROLE commonplace LOGIN; CREATE DATABASE commonplace OWNER commonplace;"
    " and in that database: CREATE EXTENSION vector. Then connect as commonplace."
)
_EXTENSION_HINT: Final = (
    "The extension pgvector 0.8 or newer is missing in this database. As an administrator of the server, in this"
    " database: CREATE EXTENSION vector; or, if it is older: ALTER EXTENSION vector UPDATE."
)


@dataclass(frozen=True, slots=True)
class TenantTable:
    """A table whose rows belong to tenants; `columns` and `key` are SQL without the column `tenant`, which is first.

    The large ones are `partitioned` by tenant, unless the settings want no partitions.
    """

    name: str
    columns: str
    key: str
    partitioned: bool = False

    def statements(self, partitions: int) -> str:
        """The SQL that creates the table, its partitions, and the policy that hides the rows of other tenants."""
        count = partitions if self.partitioned else 0
        tail = " PARTITION BY HASH (tenant)" if count else ""
        made = (
            f"CREATE TABLE {self.name} (tenant text NOT NULL, {self.columns}, PRIMARY KEY (tenant, {self.key})){tail};"
        )
        parts = [f"{self.name}_p{number}" for number in range(count)]
        made += "".join(
            f"\nCREATE TABLE {part} PARTITION OF {self.name} FOR VALUES WITH (MODULUS {count}, REMAINDER {number});"
            for number, part in enumerate(parts)
        )
        return made + "".join(_POLICY.format(name=name) for name in (self.name, *parts))


@dataclass(frozen=True, slots=True)
class Migration:
    """One step of an area's schema: tables and SQL, in order.

    Programs of the version before go on with a database that has it, so that daemons can be replaced one by one; if
    they could not, it `ends_older` ones.
    """

    steps: tuple[TenantTable | str, ...]
    ends_older: bool = False


@dataclass(frozen=True, slots=True)
class Area:
    """The tables of one room: their name in errors and locks, and how they came to be."""

    name: str
    migrations: Sequence[Migration]
    wording: ErrorWording

    @property
    def oldest(self) -> int:
        """The oldest version of the schema that a program may know to use the newest."""
        breaks = [number for number, each in enumerate(self.migrations, start=1) if each.ends_older]
        return breaks[-1] if breaks else 1

    def require_known(self, version: int, oldest: int) -> None:
        """Raise VaultUnavailable if the tables have a version that this program is too old for."""
        known = len(self.migrations)
        if oldest > known:
            raise VaultUnavailable(
                f"the {self.wording.label} in PostgreSQL has schema version {version}, which needs a program that knows"
                f" version {oldest}; this one knows version {known}",
                reason="newer_schema",
                hint="Upgrade Commonplace on this machine and restart its daemon.",
            )


class PostgresqlServer:
    """The connections of this process to one database. They are opened when needed and used again.

    A thread that holds a connection may take another at once, so threads that wait for one hold none.
    """

    def __init__(self, url: str, *, connections: int, partitions: int, wait: float) -> None:
        self._url, self._partitions, self.wait = url, partitions, wait
        self._idle: list[Connection] = []
        self._free = threading.BoundedSemaphore(connections)
        self._held = threading.local()
        self._process = os.getpid()
        self._inherited: list[Connection] = []
        self._known: set[str] = set()
        self._migrating = threading.Lock()

    @contextmanager
    def connection(self) -> Iterator[Connection]:
        """A connection for one use, outside of a transaction; closed, not used again, after an error."""
        with self._counted():
            connection = self._take() or self._open()
            try:
                yield connection
            except BaseException:
                connection.close()
                raise
            self._idle.append(connection)

    @contextmanager
    def lock(self, name: str, *, wait: float) -> Iterator[bool]:
        """True if this process holds the lock of that name until the block ends; False after `wait` seconds without it.

        It holds on every machine, and the server releases the lock of a process that dies. Raises VaultUnavailable.
        """
        with translated(_LOCK_WORDING), self._living_connection() as connection:
            is_ours = _acquire(connection, name, wait=wait)
            try:
                yield is_ours
            finally:
                if is_ours and not connection.closed:
                    connection.execute(_RELEASE, (name,))

    def prepare(self, area: Area) -> None:
        """Apply the migrations that the database lacks; of several processes one does, the others wait."""
        if area.name in self._known:
            return
        with self._migrating, self.connection() as connection:
            if area.name not in self._known:
                _require_guarded(connection)
                _migrate(connection, area, partitions=self._partitions, wait=self.wait)
                self._known.add(area.name)

    def close(self) -> None:
        """Close the idle connections; the next use opens new ones."""
        while (connection := self._take()) is not None:
            connection.close()

    @contextmanager
    def _living_connection(self) -> Iterator[Connection]:
        """A connection that the server has answered on; a new one if it has closed those that were idle."""
        with self.connection() as connection:
            try:
                connection.execute("SELECT 1")
            except psycopg.OperationalError:
                self.close()
                with self.connection() as fresh:
                    yield fresh
                return
            yield connection

    @contextmanager
    def _counted(self) -> Iterator[None]:
        """Wait for one of the process's connections, unless this thread holds one."""
        depth = getattr(self._held, "depth", 0)
        if not depth and not self._free.acquire(timeout=self.wait):
            raise VaultUnavailable(
                "all connections to PostgreSQL are in use",
                reason="locked",
                hint="Try again, or raise the setting postgresql.connections.",
            )
        self._held.depth = depth + 1
        try:
            yield
        finally:
            self._held.depth = depth
            if not depth:
                self._free.release()

    def _take(self) -> Connection | None:
        if self._process != os.getpid():  # a fork shares the sockets of its parent: closing them would end the parent's
            self._inherited, self._idle, self._process = self._idle, [], os.getpid()
        while True:
            try:
                connection = self._idle.pop()
            except IndexError:
                return None
            if not connection.closed:
                return connection

    def _open(self) -> Connection:
        check_address(self._url)
        given = conninfo_to_dict(self._url)
        alive = {name: value for name, value in _ALIVE.items() if name not in given}
        address = make_conninfo(self._url, **alive, connect_timeout=max(2, round(self.wait)))
        connection = psycopg.connect(address, autocommit=True)
        connection.prepare_threshold = None  # a prepared statement keeps a plan that was made for another tenant
        return connection


class TenantDatabase:
    """The rows of one tenant in the tables of one area.

    Every method raises VaultUnavailable if the server cannot be used now or this program is too old for the tables,
    and `wording.damaged` if they are not as this program knows them.
    """

    def __init__(self, server: PostgresqlServer, area: Area, *, tenant: str) -> None:
        if not 0 < len(tenant) <= _LONGEST_TENANT or not tenant.isprintable():
            raise UsageError(f"not a name of a tenant: {tenant!r}", hint="Choose another in `postgresql.tenant`.")
        self.tenant, self.server = tenant, server
        self._area = area

    @contextmanager
    def read_transaction(self) -> Iterator[Connection]:
        """A connection that sees this tenant's rows as of its first query, whatever others write meanwhile."""
        begin = _READING.format(tenant=sql.Literal(self.tenant))
        with translated(self._area.wording), self._transaction(begin) as connection:
            yield connection

    @contextmanager
    def write_transaction(self) -> Iterator[Connection]:
        """A connection inside a write transaction; an exception in the block rolls it back."""
        with self.exclusive("write") as connection:
            yield connection

    @contextmanager
    def exclusive(self, purpose: str, *, wait: float | None = None) -> Iterator[Connection]:
        """A write transaction beside which no other runs for the same tenant, area and purpose, on any machine.

        Another one is waited for as long as the server's settings say, or `wait` seconds.
        """
        begin = _WRITING.format(
            tenant=sql.Literal(self.tenant),
            wait=sql.Literal(f"{max(1, round((self.server.wait if wait is None else wait) * 1000))}ms"),  # 0 is forever
            lock=sql.Literal(self._lock_name(purpose)),
        )
        with translated(self._area.wording), self._transaction(begin) as connection:
            yield connection

    @contextmanager
    def try_exclusive(self, purpose: str) -> Iterator[Connection | None]:
        """The same without waiting: None if another process or thread holds it."""
        begin = _TRYING.format(tenant=sql.Literal(self.tenant))
        with translated(self._area.wording), self._transaction(begin) as connection:
            # Without parameters: a statement with some leaves the transaction its snapshot, which holds up VACUUM and
            # the creation of indexes for as long as the lock is held.
            row = connection.execute(_TRY_LOCK.format(lock=sql.Literal(self._lock_name(purpose)))).fetchone()
            yield connection if row and row[0] else None

    def _lock_name(self, purpose: str) -> str:
        return f"{self._area.name}/{purpose}/{self.tenant}"

    @contextmanager
    def _transaction(self, begin: sql.Composed) -> Iterator[Connection]:
        self.server.prepare(self._area)
        begin += _OLDEST.format(area=sql.Literal(self._area.name))
        with self.server.connection() as first, self._begun(first, begin) as connection:
            yield connection
            connection.execute("COMMIT")

    @contextmanager
    def _begun(self, connection: Connection, begin: sql.Composed) -> Iterator[Connection]:
        """The connection in a transaction; another one if the server has closed it since its last use."""
        try:
            self._begin(connection, begin)
        except psycopg.OperationalError as error:
            if isinstance(error, pg_errors.LockNotAvailable) or not connection.broken:
                raise
            self.server.close()
            with self.server.connection() as fresh:
                self._begin(fresh, begin)
                yield fresh
            return
        yield connection

    def _begin(self, connection: Connection, begin: sql.Composed) -> None:
        """Run the statements, the last of which reads the version of the schema; they are one message to the server."""
        cursor = connection.execute(begin)
        while cursor.nextset():
            pass
        self._area.require_known(*_version_in(cursor.fetchone()))


def check_address(url: str) -> None:
    """Raise UsageError for an address that cannot be read, without quoting it: the driver would name the password.

    A password with a character that ends it in an address, such as @ or /, continues in the host, in the port or in
    the name of the database.
    """
    try:
        parts = conninfo_to_dict(url)
    except psycopg.Error:
        parts = {"host": "@"}
    host, port = str(parts.get("host") or ""), str(parts.get("port") or "")
    is_ambiguous = url.startswith(_SCHEMES) and url.partition("?")[0].count("@") > 1
    if is_ambiguous or "@" in host or not _PORTS.fullmatch(port):
        raise UsageError(
            "postgresql.url is not an address of a database",
            hint="Such as postgresql://commonplace@localhost/commonplace; a password belongs into ~/.pgpass.",
        ) from None


@contextmanager
def translated(wording: ErrorWording) -> Iterator[None]:
    """Translate the errors of PostgreSQL that the block raises; the block may run any code."""
    try:
        yield
    except pg_errors.LockNotAvailable as error:
        raise VaultUnavailable(
            f"the {wording.label} in PostgreSQL is locked by another process",
            reason="locked",
            hint="Wait until that process has finished and try again.",
        ) from error
    except (pg_errors.UndefinedTable, pg_errors.UndefinedColumn, pg_errors.UndefinedFunction) as error:
        message = f"the {wording.label} in PostgreSQL does not have the expected tables ({_said(error)})"
        raise wording.damaged(message, hint=wording.mend.format(name="the database")) from error
    except pg_errors.InsufficientPrivilege as error:
        raise VaultUnavailable(
            f"the {wording.label} in PostgreSQL may not be used ({_said(error)})", hint=_ROLE_HINT
        ) from error
    except pg_errors.UndefinedObject as error:  # a type: those that are not PostgreSQL's own are of pgvector
        raise VaultUnavailable(
            f"the {wording.label} in PostgreSQL cannot be used ({_said(error)})", hint=_EXTENSION_HINT
        ) from error
    except psycopg.Error as error:
        raise VaultUnavailable(
            f"the {wording.label} in PostgreSQL cannot be used ({_said(error)})",
            hint="Check that the server runs, the setting postgresql.url, and the password in ~/.pgpass or PGPASSWORD.",
        ) from error


def _acquire(connection: Connection, name: str, *, wait: float) -> bool:
    """True if the connection has the lock after at most so many seconds."""
    if wait <= 0:
        row = connection.execute(_TRY, (name,)).fetchone()
        return row is not None and bool(row[0])
    connection.execute("SELECT set_config('lock_timeout', %s, false)", (f"{round(wait * 1000)}ms",))
    try:
        connection.execute(_WAIT, (name,))
    except pg_errors.LockNotAvailable:
        return False
    finally:
        connection.execute("RESET lock_timeout")
    return True


def _said(error: psycopg.Error) -> str:
    """The first line of what the server or the driver said; it names no password, as the address was checked."""
    return (error.diag.message_primary or str(error) or type(error).__name__).splitlines()[0]


def _require_guarded(connection: Connection) -> None:
    """Raise UsageError for a role that row-level security does not hold."""
    row = connection.execute("SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user").fetchone()
    if row is None or row[0]:
        raise UsageError(
            "postgresql.url names a role that sees the rows of every tenant (a superuser, or BYPASSRLS)",
            hint=_ROLE_HINT,
        )


def _migrate(connection: Connection, area: Area, *, partitions: int, wait: float) -> None:
    """Apply the migrations that the database lacks.

    Where a table is in use, all programs wait behind a change that waits for it. So a change gives up soon and tries
    again, for `wait` seconds: meanwhile the others work. Raises LockNotAvailable.
    """
    until = time.monotonic() + wait
    while _versions(connection, area) != (len(area.migrations), area.oldest):
        try:
            _apply(connection, area, partitions=partitions)
        except pg_errors.LockNotAvailable:
            if time.monotonic() >= until:
                raise
            time.sleep(_MIGRATION_PAUSE)
        else:
            return


def _apply(connection: Connection, area: Area, *, partitions: int) -> None:
    """Apply the migrations in one transaction; those that others apply now are waited for."""
    newest = len(area.migrations)
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", (_MIGRATING,))
        connection.execute(_SCHEMA_TABLE)
        version, oldest = _versions(connection, area)
        area.require_known(version, oldest)
        connection.execute(f"SET LOCAL lock_timeout = '{_MIGRATION_LOCK}'".encode())
        for migration in area.migrations[version:]:
            for step in migration.steps:
                text = step if isinstance(step, str) else step.statements(partitions)
                connection.execute(text.encode())
        if version < newest:
            connection.execute(
                "INSERT INTO commonplace_schema VALUES (%s, %s, %s)"
                " ON CONFLICT (area) DO UPDATE SET version = excluded.version, oldest = excluded.oldest",
                (area.name, newest, area.oldest),
            )


def _versions(connection: Connection, area: Area) -> tuple[int, int]:
    """The version of an area's tables, and the oldest that a program must know; zeros if there are none."""
    with suppress(pg_errors.UndefinedTable), connection.transaction():
        cursor = connection.execute("SELECT version, oldest FROM commonplace_schema WHERE area = %s", (area.name,))
        return _version_in(cursor.fetchone())
    return 0, 0


def _version_in(row: tuple[object, ...] | None) -> tuple[int, int]:
    return (int(str(row[0])), int(str(row[1]))) if row else (0, 0)
