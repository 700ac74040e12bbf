"""What only the file `history.db` can get wrong about conversations: traces, changes by others, older files."""

from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import apsw
import pytest

from commonplace.errors import VaultUnavailable
from commonplace.history.base import NewThread
from commonplace.history.sql import conversations as in_sql
from commonplace.history.sqlite.history import SqliteHistory
from commonplace.history.sqlite.schema import MIGRATIONS
from commonplace.model import Message
from tests.raw_files import raw_bytes

NOW = datetime(2026, 3, 1, 9, 12, 44, tzinfo=UTC)
SECRET = "the swordfish opens the third door"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "data" / "history.db"


def test_an_erased_conversation_is_in_no_page_and_no_log(file: Path) -> None:
    """The raw bytes of every file of the database, while it is open and after."""
    history = SqliteHistory(file)
    for number in range(60):
        text = SECRET if number == 30 else f"message {number}"
        thread = NewThread("x", str(number), title=text)
        history.record_conversation(thread, [Message("user", text * 50, author=text)] * 5, now=NOW)
    (secret,) = [each.id for each in history.conversations() if each.source_id == "30"]
    assert SECRET.encode() in raw_bytes(file.parent)

    assert history.forget_conversation(secret)
    assert SECRET.encode() not in raw_bytes(file.parent)
    assert file.with_name("history.db-wal").stat().st_size == 0
    assert len(history.conversations()) == 59
    history.close()
    assert SECRET.encode() not in raw_bytes(file.parent)


def test_messages_are_neither_changed_nor_deleted_one_by_one(file: Path) -> None:
    """The schema itself forbids it."""
    history = SqliteHistory(file)
    id_ = history.record_conversation(NewThread("x", "1"), [Message("user", "a"), Message("user", "b")], now=NOW).id
    history.close()
    with closing(apsw.Connection(str(file))) as connection:
        for change in (
            "UPDATE conversation_messages SET text = 'c'",
            "UPDATE conversation_messages SET at = '2020-01-01T00:00:00Z'",
            "DELETE FROM conversation_messages WHERE turn = 2",
        ):
            with pytest.raises(apsw.ConstraintError):
                connection.execute(change)

    assert [each.text for each in history.messages(id_)] == ["a", "b"]
    history.close()


def test_a_conversation_is_recorded_all_or_none(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A row that the table rejects rolls back the others, and the thread."""
    history = SqliteHistory(file)
    real = in_sql._row
    monkeypatch.setattr(in_sql, "_row", lambda thread, turn, arrival: real(thread, min(turn, 2), arrival))
    with pytest.raises(VaultUnavailable):
        history.record_conversation(NewThread("x"), [Message("user", text) for text in "abc"], now=NOW)

    assert history.conversations() == ()
    history.close()


def test_a_history_without_conversations_gets_their_tables(file: Path) -> None:
    """A file of an earlier Commonplace gets the migrations it lacks, and keeps its rows."""
    file.parent.mkdir()
    with closing(apsw.Connection(str(file))) as connection:
        for step in MIGRATIONS[:2]:
            connection.execute(step)
        connection.execute("INSERT INTO commits (hash, at) VALUES ('abc', '2026-03-01T09:12:44Z')")
        connection.pragma("user_version", 2)
    history = SqliteHistory(file)
    history.record_conversation(NewThread("x"), [Message("user", "a")], now=NOW)

    assert history.newest_commit() == "abc"
    assert len(history.conversations()) == 1
    history.close()


def test_conversations_of_an_earlier_commonplace_belong_to_no_project(file: Path) -> None:
    """They get one when they grow in a repository; the query of a project's last one walks an index."""
    file.parent.mkdir()
    with closing(apsw.Connection(str(file))) as connection:
        for step in MIGRATIONS[:6]:
            connection.execute(step)
        connection.execute(
            "INSERT INTO conversation_threads (id, interface, source_id, title, trust, started, updated, recorded, "
            "count, digest) VALUES ('c-1', 'x', 's', '', 'told', :at, :at, :at, 0, '')",
            {"at": "2026-03-01T09:12:44Z"},
        )
        connection.pragma("user_version", 6)
    history = SqliteHistory(file)
    (before,) = history.conversations()
    history.record_conversation(NewThread("x", "s", project="atlas"), [Message("user", "a")], now=NOW)
    (after,) = history.conversations(project="atlas", limit=1)
    history.close()
    with closing(apsw.Connection(str(file))) as connection:
        plan = connection.execute(
            "EXPLAIN QUERY PLAN SELECT id FROM conversation_threads WHERE project = ? ORDER BY updated DESC", ("a",)
        ).fetchall()

    assert (before.project, after.project, after.source_id) == ("", "atlas", "s")
    assert "conversation_threads_by_project" in str(plan)
