"""A process that writes to a vault in PostgreSQL is killed: all of its transaction is there, or nothing of it."""

from pathlib import Path

import pytest

from commonplace import open_memory
from commonplace.memory import Memory
from commonplace.vault.postgresql.store import PostgresqlVault
from tests.faults.killing import killed_after
from tests.gitvault import AUTHOR
from tests.postgresql import database_url, new_tenant, postgresql_server
from tests.run_length import rounds

pytestmark = pytest.mark.needs("postgres")

STEPS = rounds(8, long=200)
ROOMS = ("vault/postgresql", "vault/file_table", "database/postgresql")


def test_a_kill_at_any_moment_leaves_the_vault_as_before_or_as_after(tmp_path: Path) -> None:
    """Notes, contents and commits agree, and the next writer does not wait for the dead one."""
    tenant = new_tenant()
    vault = PostgresqlVault(postgresql_server(), tenant=tenant, author=AUTHOR)
    with vault.transaction() as changes:
        changes.write(vault.resolve("a.md"), b"0")
        changes.write(vault.resolve("b.md"), b"0")
    settings = {"postgresql.url": database_url(), "postgresql.partitions": 2, "data": str(tmp_path)}

    def opens() -> Memory:
        return open_memory(f"postgresql:{tenant}", settings=dict(settings))

    def work(memory: Memory) -> bool:
        store = memory._session.stores.vault
        number = b"%d" % (int(store.read(store.resolve("a.md")).content) + 1)
        with store.transaction() as changes:
            changes.write(store.resolve("a.md"), number)
            changes.write(store.resolve("b.md"), number)
        return True

    calls = killed_after(None, work, tmp_path, rooms=ROOMS, settings=settings, opens=opens)
    ends = []
    for step in range(1, calls + 1, max(1, calls // STEPS)):
        before = vault.head()
        killed_after(step, work, tmp_path, rooms=ROOMS, settings=settings, opens=opens)
        contents = [vault.read(vault.resolve(path)).content for path in ("a.md", "b.md")]
        ends.append(vault.head() != before)

        assert contents[0] == contents[1]
        assert vault.read_at(vault.resolve("b.md"), vault.head() or "") == contents[0]
        assert int(contents[0]) == len(vault.revisions()) - 1
    with vault.transaction(wait=5) as changes:
        changes.write(vault.resolve("a.md"), b"done")

    assert calls > 20
    assert not ends[0]
