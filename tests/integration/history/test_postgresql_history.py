"""What the history in PostgreSQL has of its own: tenants, any text, writers on several machines, append-only tables."""

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType

import apsw
import psycopg
import pytest

from commonplace.errors import VaultUnavailable
from commonplace.history.base import AuditEntry, NewThread
from commonplace.history.postgresql.history import PostgresqlHistory, PostgresqlHistoryRows
from commonplace.history.sql import calendars, conversations, history, jobs, learning
from commonplace.history.sql.copy import is_left_behind
from commonplace.history.sql.history import SqlHistory
from commonplace.history.sql.tables import TABLES, postgresql_name
from commonplace.history.sql.transaction import postgresql_statement, sqlite_statement
from commonplace.history.sqlite.history import SqliteHistory
from commonplace.model import Message
from commonplace.model.upkeep import JobLease
from tests.postgresql import database_url, new_tenant, postgresql_server

NOW = datetime(2026, 3, 1, 9, 12, 44, tzinfo=UTC)
BOAT = NewThread("chatgpt", "boat", title="The boat")
ENTRY = AuditEntry("m1", NOW, "write", "Inbox/a.md", "agent", "mcp", "why", commit="c1")
MODULES = (calendars, conversations, history, jobs, learning)
A_TABLE = re.compile(rf"\b(?:FROM|JOIN|INTO|UPDATE) (?:{'|'.join(TABLES)})\b")


def opened(tenant: str) -> PostgresqlHistory:
    """The history of a tenant."""
    return PostgresqlHistory(postgresql_server(), tenant=tenant, clock=lambda: NOW)


def statements(module: ModuleType) -> Iterator[str]:
    """The SQL of a module."""
    for value in vars(module).values():
        texts = value if isinstance(value, tuple) else (value,)
        yield from (each for each in texts if isinstance(each, str) and A_TABLE.search(each))


@pytest.mark.parametrize("module", MODULES, ids=lambda each: each.__name__.rpartition(".")[2])
def test_every_part_of_a_statement_that_names_a_table_names_the_tenant(module: ModuleType) -> None:
    """Row-level security is the second lock, not the first."""
    found = [*statements(module)]

    assert found
    for each in found:
        assert postgresql_statement(each).count("%(tenant)s") >= len(A_TABLE.findall(each)), each
        assert "tenant" not in sqlite_statement(each)
        assert "{" not in sqlite_statement(each) + postgresql_statement(each)


def test_both_databases_have_the_columns_that_are_copied(tmp_path: Path) -> None:
    """No table or column is left out of a copy, but for what a database has for itself."""
    SqliteHistory(tmp_path / "history.db").record(ENTRY)
    opened(new_tenant()).size()
    with closing(apsw.Connection(str(tmp_path / "history.db"))) as connection:
        names = [name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        in_sqlite = {name: {row[1] for row in connection.execute(f"PRAGMA table_info({name})")} for name in names}
    with psycopg.connect(database_url()) as server:
        in_postgresql = {
            name: {
                column
                for (column,) in server.execute(
                    "SELECT column_name FROM information_schema.columns WHERE table_name = %s", (postgresql_name(name),)
                )
            }
            for name in TABLES
        }
    del in_sqlite["conversation_files"]
    in_sqlite["conversation_messages"].remove("number")

    assert in_sqlite == {name: set(columns) for name, columns in TABLES.items()}
    assert in_postgresql == {name: {"tenant", *columns} for name, columns in TABLES.items()}


def test_tenants_do_not_see_each_other() -> None:
    """Neither by id nor in lists; what one forgets, another keeps."""
    first, second = opened(new_tenant()), opened(new_tenant())
    id_ = first.record_conversation(BOAT, [Message("user", "I sail.")], now=NOW).id
    first.record(ENTRY)

    assert (second.conversation(id_), second.entries(), second.conversation_stamps()) == (None, (), {})
    assert second.record_conversation(BOAT, [Message("user", "Me too.")], now=NOW).added == 1
    second.forget_conversation(id_)
    second.forget_path("Inbox/a.md")
    assert [each.text for each in first.messages(id_)] == ["I sail."]
    assert first.entries() == (ENTRY,)


@pytest.mark.parametrize("text", ["a\x00b", "\x01", "\x00\x01\x02", "\x01\x01\x00", "é\u2028\U0001f600"])
def test_any_text_comes_back_as_it_was(text: str) -> None:
    """PostgreSQL has no character zero in text."""
    stored = opened(new_tenant())
    id_ = stored.record_conversation(NewThread("x", text), [Message("user", text)], now=NOW).id
    stored.record(AuditEntry("m1", NOW, "write", text, "agent", "mcp", f"of {text}"))
    stored.record_use([text], now=NOW)

    assert [each.text for each in stored.messages(id_)] == [text]
    assert [each.reason for each in stored.entries(path=text)] == [f"of {text}"]
    assert [*stored.uses([text])] == [text]


def test_an_id_of_any_length_is_kept() -> None:
    """A program's own id may be longer than an index of the server takes."""
    stored, name = opened(new_tenant()), "".join(map(chr, range(0x4E00, 0x4E00 + 9000)))
    id_ = stored.record_conversation(NewThread("x", name), [Message("user", "hi")], now=NOW).id

    assert stored.record_conversation(NewThread("x", name), [Message("user", "more")], now=NOW).id == id_
    assert stored.record_conversation(NewThread("x", f"{name}b"), [Message("user", "hi")], now=NOW).id != id_


def test_writers_of_one_conversation_record_each_message_once() -> None:
    """Two machines that read the same transcript at once; turns have no gap."""
    tenant = new_tenant()
    said = [Message("user", f"number {each}", source_id=str(each)) for each in range(40)]

    def record(_: int) -> None:
        writer = opened(tenant)
        for end in range(1, len(said) + 1, 3):
            writer.record_conversation(BOAT, said[:end], now=NOW)

    with ThreadPoolExecutor(4) as pool:
        [*pool.map(record, range(4))]
    (thread,) = opened(tenant).conversations()

    assert [each.text for each in opened(tenant).messages(thread.id)] == [each.text for each in said]


def test_a_lease_is_given_to_one_of_many() -> None:
    """Whichever daemon asks first."""
    tenant, until = new_tenant(), "2026-03-01T10:00:00Z"

    def take(number: int) -> bool:
        lease = JobLease(job="sleep", owner=str(number), boot="b", process="1.1", until=until)
        return opened(tenant).take_lease(lease, now=NOW)

    with ThreadPoolExecutor(4) as pool:
        taken = [*pool.map(take, range(8))]

    assert sum(taken) == 1


@pytest.mark.parametrize(
    "statement", ["UPDATE conversation_messages SET text = 'x' WHERE {mine}", "UPDATE audit SET path = '' WHERE {mine}"]
)
def test_what_was_recorded_is_not_changed(statement: str) -> None:
    """The server refuses, whoever asks."""
    tenant = new_tenant()
    opened(tenant).record(ENTRY)
    opened(tenant).record_conversation(BOAT, [Message("user", "I sail.")], now=NOW)

    with (
        pytest.raises(VaultUnavailable, match="append-only"),
        PostgresqlHistoryRows(postgresql_server(), tenant).write_transaction() as transaction,
    ):
        transaction.change(statement)


def test_rows_are_numbered_within_a_tenant() -> None:
    """The numbers of runs say nothing about other tenants."""
    opened(new_tenant()).begin_run("sleep", now=NOW)
    stored = opened(new_tenant())

    assert [stored.begin_run("sleep", now=NOW) for _ in range(3)] == [1, 2, 3]


def test_a_history_knows_its_size_and_reads_all_of_it() -> None:
    """The bytes of its own rows."""
    stored = opened(new_tenant())
    empty = stored.size()
    stored.record_conversation(BOAT, [Message("user", "I sail. " * 500)], now=NOW)
    stored.check()

    assert empty == 0
    assert 100 < stored.size() < 10_000  # long text is compressed


def test_a_file_that_was_not_copied_is_told_until_there_are_conversations(tmp_path: Path) -> None:
    """Whoever changes the setting alone finds an empty history, and reads what to do."""
    file, tenant = tmp_path / "history.db", new_tenant()
    SqliteHistory(file).record(ENTRY)
    older = SqliteHistory(file)

    def not_copied(history: SqlHistory) -> Path | None:
        return file if is_left_behind(older, history) else None

    stored = PostgresqlHistory(postgresql_server(), tenant=tenant, not_copied=not_copied)
    (told,) = stored.losses(now=NOW)
    stored.record(ENTRY)
    copied = stored.losses(now=NOW)
    older.record_conversation(BOAT, [Message("user", "I sail.")], now=NOW)
    (again,) = stored.losses(now=NOW)
    stored.record_conversation(BOAT, [Message("user", "I sail.")], now=NOW)

    assert (str(file) in told.said, "copy-history" in told.remedy, told.restored) == (True, True, False)
    assert (copied, again) == ((), told)
    assert stored.losses(now=NOW) == ()


def test_a_file_without_a_row_is_no_history_that_was_left_behind(tmp_path: Path) -> None:
    """A vault that was registered and never used has an empty file."""
    empty = SqliteHistory(tmp_path / "history.db")
    empty.thread_traits()  # makes the file

    assert not is_left_behind(empty, PostgresqlHistory(postgresql_server(), tenant=new_tenant()))
