"""PostgreSQL as one tenant sees it: isolation, turns, migrations, lost connections."""

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import psycopg
import pytest

from commonplace.app.postgresql import tenant_of
from commonplace.database.errors import ErrorWording
from commonplace.database.postgresql import Area, Migration, PostgresqlServer, TenantDatabase, TenantTable
from commonplace.errors import IndexDamaged, UsageError, VaultUnavailable
from commonplace.settings.schema import Settings
from tests.components import require
from tests.polling import wait_for
from tests.postgresql import WAIT, TestServer, database_url, new_tenant, postgresql_server

WORDING = ErrorWording("test table", IndexDamaged, "Make {name} again.")
FIRST = Migration((TenantTable("thing", "name text NOT NULL", "name", partitioned=True),))
AREA = Area("test", (FIRST,), WORDING)
OpenArea = Callable[..., TenantDatabase]


@pytest.fixture(autouse=True)
def _server() -> None:
    require("postgres")


@pytest.fixture
def things() -> TenantDatabase:
    return TenantDatabase(postgresql_server(), AREA, tenant=new_tenant())


def add(database: TenantDatabase, *names: str) -> None:
    with database.write_transaction() as connection:
        for name in names:
            connection.execute("INSERT INTO thing VALUES (%s, %s)", (database.tenant, name))


def names(database: TenantDatabase) -> list[object]:
    """Every name that a query without a WHERE clause shows."""
    with database.read_transaction() as connection:
        return [row[0] for row in connection.execute("SELECT name FROM thing ORDER BY name")]


def test_a_query_that_forgets_its_tenant_sees_no_row_of_another(things: TenantDatabase) -> None:
    """Row-level security holds for reading, changing, deleting and adding; in the partitions, too."""
    other = TenantDatabase(postgresql_server(), AREA, tenant=new_tenant())
    add(things, "a", "b")
    add(other, "c")
    with other.write_transaction() as connection:
        changed = connection.execute("UPDATE thing SET name = name || '!'").rowcount
        counts = [connection.execute(f"SELECT count(*) FROM thing_p{each}".encode()).fetchone() for each in (0, 1)]

    assert (names(things), names(other), changed) == (["a", "b"], ["c!"], 1)
    assert sum(int(str(row[0])) for row in counts if row) == 1
    with pytest.raises(VaultUnavailable, match="row-level security"), other.write_transaction() as connection:
        connection.execute("INSERT INTO thing VALUES (%s, 'x')", (things.tenant,))


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://ada:s3c%ret@localhost/notes",
        "postgresql://ada:x@s3cret@localhost/notes",
        "postgresql://ada:s3cret/x@localhost/notes",
        "postgresql://ada:x@s3cret/y@localhost/notes",
        "postgresql://ada:s3 cret@localhost/notes",
        "postgres//ada:s3cret@localhost/notes",
    ],
)
def test_an_address_that_cannot_be_read_is_not_quoted(url: str) -> None:
    """The driver would name the part that it does not understand, which is often one of the password."""
    database = TenantDatabase(PostgresqlServer(url, connections=1, partitions=0, wait=2.0), AREA, tenant="a")
    with pytest.raises(UsageError) as raised, database.read_transaction():
        pass

    assert "s3c" not in f"{raised.value} {raised.value.hint}"


def test_without_a_tenant_no_row_is_visible(things: TenantDatabase) -> None:
    """A connection that never named one sees nothing."""
    add(things, "a")
    with psycopg.connect(database_url()) as connection:
        row = connection.execute("SELECT count(*) FROM thing").fetchone()

    assert row == (0,)


def test_a_reader_sees_one_moment_and_a_failed_change_changes_nothing(things: TenantDatabase) -> None:
    """What is written meanwhile is not seen; what raises is rolled back."""
    add(things, "a")
    with things.read_transaction() as connection:
        before = connection.execute("SELECT count(*) FROM thing").fetchone()
        add(things, "b")
        after = connection.execute("SELECT count(*) FROM thing").fetchone()
    with pytest.raises(VaultUnavailable), things.write_transaction() as connection:
        connection.execute("DELETE FROM thing; SELECT 1 / 0")

    assert before == after == (1,)
    assert names(things) == ["a", "b"]


def test_writers_of_one_tenant_take_turns_and_do_not_wait_for_others(things: TenantDatabase) -> None:
    """Each reads what the one before wrote, so no count is lost."""
    other = TenantDatabase(postgresql_server(), AREA, tenant=new_tenant())

    def count_up() -> None:
        for _ in range(10):
            with things.write_transaction() as connection:
                row = connection.execute("SELECT count(*) FROM thing").fetchone()
                connection.execute("INSERT INTO thing VALUES (%s, %s)", (things.tenant, f"{row}"))

    threads = [threading.Thread(target=count_up) for _ in range(4)]
    with other.write_transaction():
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(WAIT)

    assert len(names(things)) == 40


def test_a_thread_that_waits_too_long_for_a_turn_is_told(things: TenantDatabase) -> None:
    """The other one holds the lock in another connection."""
    short = PostgresqlServer(database_url(), connections=2, partitions=2, wait=0.2)
    late = TenantDatabase(short, AREA, tenant=things.tenant)
    with things.write_transaction(), pytest.raises(VaultUnavailable) as told, late.write_transaction():
        pass
    short.close()

    assert told.value.reason == "locked"


def test_a_lock_is_held_by_one_process_on_any_machine() -> None:
    """Another waits, or is told at once; it is free after the block, and after an error in it."""
    here = PostgresqlServer(database_url(), connections=4, partitions=0, wait=WAIT)
    there = PostgresqlServer(database_url(), connections=4, partitions=0, wait=WAIT)
    name = new_tenant()
    with here.lock(name, wait=0.0) as first, there.lock(name, wait=0.0) as second, there.lock(name, wait=0.05) as late:
        held = (first, second, late)
    with suppress(KeyError), there.lock(name, wait=1.0):
        raise KeyError
    with here.lock(name, wait=1.0) as again:
        pass
    here.close()
    there.close()

    assert held == (True, False, False)
    assert again


def test_a_lock_is_taken_on_a_new_connection_if_the_server_closed_the_old_one() -> None:
    """As after a restart of the server."""
    server = PostgresqlServer(database_url(), connections=4, partitions=0, wait=WAIT)
    with server.connection() as connection:
        number = connection.info.backend_pid
    with psycopg.connect(database_url(), autocommit=True) as other:
        other.execute("SELECT pg_terminate_backend(%s)", (number,))
    with server.lock(new_tenant(), wait=0.0) as is_ours:
        pass
    server.close()

    assert is_ours


def test_a_connection_that_the_server_closed_is_replaced(things: TenantDatabase) -> None:
    """A restart of the server costs no request. Connections of its own: other tests share those of this process."""
    server = PostgresqlServer(database_url(), connections=1, partitions=2, wait=WAIT)
    database = TenantDatabase(server, AREA, tenant=things.tenant)
    add(database, "a")
    with server.connection() as connection:
        number = connection.info.backend_pid
    with psycopg.connect(database_url(), autocommit=True) as other:
        other.execute("SELECT pg_terminate_backend(%s)", (number,))

    assert names(database) == ["a"]
    server.close()


def test_more_threads_than_connections_wait_and_one_thread_may_take_several(things: TenantDatabase) -> None:
    """A thread that holds one takes the next at once: no two wait for each other."""
    few = PostgresqlServer(database_url(), connections=1, partitions=2, wait=WAIT)
    database = TenantDatabase(few, AREA, tenant=things.tenant)

    def nest() -> None:
        with database.read_transaction(), database.read_transaction() as connection:
            connection.execute("SELECT 1")

    threads = [threading.Thread(target=nest) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(WAIT)
    few.close()

    assert not any(thread.is_alive() for thread in threads)


def test_a_fork_uses_connections_of_its_own(things: TenantDatabase) -> None:
    """Those of its parent go on."""
    add(things, "a")
    child = os.fork()
    if not child:
        os._exit(0 if names(things) == ["a"] else 1)
    _, status = os.waitpid(child, 0)

    assert os.waitstatus_to_exitcode(status) == 0
    assert names(things) == ["a"]


@pytest.fixture
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of an empty database of its own."""
    name = f"fresh_{os.getpid()}_{id(tmp_path_factory) % 10_000}"
    admin = database_url().replace("postgresql://commonplace@/commonplace", "postgresql://postgres@/postgres")
    with psycopg.connect(admin, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} OWNER commonplace".encode())
    yield database_url().replace("@/commonplace", f"@/{name}")
    with psycopg.connect(admin, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())


@pytest.fixture
def open_area() -> Iterator[OpenArea]:
    """Opens the tables of a program that knows these migrations, by a server of its own."""
    servers: list[PostgresqlServer] = []

    def opened(url: str, *migrations: Migration) -> TenantDatabase:
        servers.append(PostgresqlServer(url, connections=4, partitions=2, wait=WAIT))
        return TenantDatabase(servers[-1], Area("test", migrations, WORDING), tenant="one")

    yield opened
    for server in servers:
        server.close()


def test_a_newer_schema_keeps_rows_and_programs_of_the_version_before_go_on(fresh: str, open_area: OpenArea) -> None:
    """So daemons are replaced one by one; only a step that ends older ones turns them away."""
    more = Migration(("ALTER TABLE thing ADD COLUMN colour text",))
    older, newer = open_area(fresh, FIRST), open_area(fresh, FIRST, more)
    add(older, "a")
    with newer.write_transaction() as connection:
        connection.execute("UPDATE thing SET colour = 'red'")
    restarted = open_area(fresh, FIRST)
    with restarted.write_transaction() as connection:
        connection.execute("INSERT INTO thing (tenant, name) VALUES ('one', 'b')")
    last = open_area(fresh, FIRST, more, Migration(("ALTER TABLE thing DROP COLUMN colour",), ends_older=True))

    assert names(last) == ["a", "b"]
    with pytest.raises(VaultUnavailable, match=r"version 3, which needs .* version 3; .* knows version 2") as told:
        names(open_area(fresh, FIRST, more))
    assert (told.value.reason, "Upgrade Commonplace" in str(told.value.hint)) == ("newer_schema", True)


def test_a_program_that_runs_refuses_tables_that_it_became_too_old_for(fresh: str, open_area: OpenArea) -> None:
    """It looks at the version with each transaction: its next one may neither read nor write."""
    running = open_area(fresh, FIRST)
    add(running, "a")
    more = Migration(("ALTER TABLE thing RENAME COLUMN name TO title; ALTER TABLE thing ADD COLUMN name text",), True)
    with open_area(fresh, FIRST, more).read_transaction():
        pass

    with pytest.raises(VaultUnavailable, match="schema version 2"):
        names(running)
    with pytest.raises(VaultUnavailable, match="schema version 2"):
        add(running, "b")


def test_a_change_of_a_table_in_use_lets_others_go_on_and_is_made_when_it_is_free(
    fresh: str, open_area: OpenArea
) -> None:
    """A long read, such as that of a backup: others would wait behind the change as long as it waits."""
    older, other = open_area(fresh, FIRST), open_area(fresh, FIRST)
    newer = open_area(fresh, FIRST, Migration(("ALTER TABLE thing ADD COLUMN colour text",)))
    add(older, "a")
    changed: list[list[object]] = []
    with older.read_transaction() as reading:
        reading.execute("SELECT name FROM thing").fetchall()
        thread = threading.Thread(target=lambda: changed.append(names(newer)))
        thread.start()
        with psycopg.connect(fresh, autocommit=True) as watching:
            waiting = b"SELECT 1 FROM pg_locks WHERE NOT granted AND mode = 'AccessExclusiveLock'"
            wait_for(lambda: watching.execute(waiting).fetchone())
        add(other, "b")
        still = bool(changed)
    thread.join(WAIT)

    assert (still, changed) == (False, [["a", "b"]])


def test_a_change_of_a_table_that_stays_in_use_is_given_up_with_the_reason(fresh: str, open_area: OpenArea) -> None:
    """The next request tries again."""
    older = open_area(fresh, FIRST)
    server = PostgresqlServer(fresh, connections=4, partitions=2, wait=0.1)
    area = Area("test", (FIRST, Migration(("ALTER TABLE thing ADD COLUMN colour text",))), WORDING)
    newer = TenantDatabase(server, area, tenant="one")
    add(older, "a")
    try:
        with older.read_transaction() as reading:
            reading.execute("SELECT name FROM thing").fetchall()
            with pytest.raises(VaultUnavailable, match="locked by another process") as told:
                names(newer)

        assert told.value.reason == "locked"
        assert names(newer) == ["a"]
    finally:
        server.close()


def test_of_several_processes_that_begin_at_once_one_makes_the_tables(fresh: str, open_area: OpenArea) -> None:
    """The others wait for it."""
    databases = [open_area(fresh, FIRST) for _ in range(6)]
    threads = [threading.Thread(target=add, args=(each, f"n{number}")) for number, each in enumerate(databases)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(WAIT)

    assert len(names(databases[0])) == 6


def test_a_role_that_sees_every_row_is_refused(fresh: str, open_area: OpenArea) -> None:
    """A superuser is not held by row-level security."""
    admin = open_area(fresh.replace("commonplace@", "postgres@"), FIRST)

    with pytest.raises(UsageError, match="every tenant"):
        names(admin)


def test_a_server_that_is_away_is_an_error_with_a_hint_and_without_the_address(
    tmp_path: Path, open_area: OpenArea
) -> None:
    """The address may hold a password."""
    database = open_area(f"postgresql://me:hunter2@/db?host={tmp_path}")

    with pytest.raises(VaultUnavailable) as told:
        names(database)
    assert "hunter2" not in f"{told.value} {told.value.hint}"
    assert "postgresql.url" in str(told.value.hint)


def test_a_database_without_the_extension_says_so(fresh: str, open_area: OpenArea) -> None:
    """The server runs and the address is right: it is the administrator who has to do something."""
    database = open_area(fresh, Migration(("CREATE TABLE direction (vector halfvec(2))",)))

    with pytest.raises(VaultUnavailable, match="halfvec") as told:
        names(database)
    assert "CREATE EXTENSION vector" in str(told.value.hint)


def test_a_server_that_no_packet_reaches_is_noticed_within_a_minute() -> None:
    """By default a query would wait for it for a quarter of an hour; an address may say otherwise."""
    url = database_url()
    server, patient = (
        PostgresqlServer(each, connections=1, partitions=0, wait=WAIT) for each in (url, f"{url}&tcp_user_timeout=0")
    )
    with server.connection() as first, patient.connection() as second:
        found, changed = first.info.get_parameters(), second.info.get_parameters()
    server.close()
    patient.close()

    assert int(found["tcp_user_timeout"]) <= 60_000
    idle, interval, count = (int(found[f"keepalives_{each}"]) for each in ("idle", "interval", "count"))
    assert idle + interval * count <= 60
    assert changed["tcp_user_timeout"] == "0"


def test_a_server_that_was_restarted_is_used_again(tmp_path: Path, open_area: OpenArea) -> None:
    """Stopped at once and started again, with open connections."""
    server = TestServer(Path(f"/tmp/commonplace-pg-{new_tenant()}"))
    server.folder.mkdir()
    try:
        database = open_area(server.start(), FIRST)
        add(database, "a")
        server.stop()
        with pytest.raises(VaultUnavailable):
            names(database)
        server.resume()

        assert names(database) == ["a"]
    finally:
        server.remove()


def test_vaults_of_two_machines_with_one_name_are_two_tenants(tmp_path: Path) -> None:
    """Without a set name each data folder has a random one, which stays."""
    settings = Settings()
    ada, ben = tmp_path / "ada" / "Notes-0a1b2c3d", tmp_path / "ben" / "Notes-0a1b2c3d"
    names = {tenant_of(settings, ada), tenant_of(settings, ada), tenant_of(settings, ben)}

    assert len(names) == 2
    assert all(name.startswith("Notes-0a1b2c3d-") for name in names)
    assert [each.name for each in ada.iterdir()] == ["tenant"]
