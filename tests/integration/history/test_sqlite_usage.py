"""What only the file `history.db` can get wrong about usage: traces, other processes, older files."""

from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID

import apsw
import pytest

from commonplace.errors import VaultUnavailable
from commonplace.history.base import ContextState, NewThread, Use
from commonplace.history.sql import conversations as in_sql
from commonplace.history.sql.transaction import sqlite_statement
from commonplace.history.sqlite.history import SqliteHistory
from commonplace.history.sqlite.schema import MIGRATIONS
from commonplace.model import Message, TopicLock
from tests.raw_files import raw_bytes

NOW = datetime(2026, 3, 1, 9, 12, 44, tzinfo=UTC)
SECRET = "0199f3c2-7c1e-7d3a-9d55-6a2f0c1b8e11"
LOCK = TopicLock("c-1", ("the third door",), "2026-03-01T09:12:44Z")
STATE = ContextState("x:1", frozenset({"m-1"}), ("the third door",), "and the fourth")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "data" / "history.db"


def test_a_forgotten_use_is_in_no_page_and_no_log(file: Path) -> None:
    """The raw bytes of every file of the database, while it is open and after; other uses are kept."""
    history = SqliteHistory(file)
    others = [str(UUID(int=number)) for number in range(500)]
    for day in range(30):
        history.record_use([*others, SECRET], now=NOW + timedelta(days=day))
    assert SECRET.encode() in raw_bytes(file.parent)

    assert history.forget_uses([SECRET]) == 30
    assert SECRET.encode() not in raw_bytes(file.parent)
    assert file.with_name("history.db-wal").stat().st_size == 0
    assert len(history.uses(others)) == 500
    history.close()
    assert SECRET.encode() not in raw_bytes(file.parent)


def test_the_topics_of_an_erased_conversation_are_in_no_page_and_no_log(file: Path) -> None:
    """They reveal what it was about."""
    history = SqliteHistory(file)
    id_ = history.record_conversation(NewThread("x", "1"), [Message("user", "a")], now=NOW).id
    history.lock_topics(TopicLock(id_, ("the third door",), LOCK.at))
    assert b"the third door" in raw_bytes(file.parent)

    assert history.forget_conversation(id_)
    assert b"the third door" not in raw_bytes(file.parent)
    history.close()


def test_the_prompts_of_an_erased_conversation_are_in_no_page_and_no_log(file: Path) -> None:
    """They are what was said in it."""
    history = SqliteHistory(file)
    id_ = history.record_conversation(NewThread("x", "1"), [Message("user", "a")], now=NOW).id
    for number in range(50):
        history.save_context_state(ContextState(f"y:{number}", prompts=("tea",)), now=NOW)
    history.save_context_state(ContextState("x:1", prompts=("the third door",)), now=NOW)
    assert b"the third door" in raw_bytes(file.parent)

    assert history.forget_conversation(id_)
    assert b"the third door" not in raw_bytes(file.parent)
    history.close()


def test_forgetting_while_another_process_reads_says_that_traces_are_left(file: Path) -> None:
    """The log cannot be emptied under a reader: the call fails, and the next one finishes the work."""
    history = SqliteHistory(file, wait=0.05)
    history.record_use([SECRET], now=NOW)
    with closing(apsw.Connection(str(file))) as reader:
        reader.execute("BEGIN; SELECT * FROM fact_uses").fetchall()
        with pytest.raises(VaultUnavailable) as refused:
            history.forget_uses([SECRET])

    assert refused.value.hint
    assert history.forget_uses([SECRET]) == 0
    assert SECRET.encode() not in raw_bytes(file.parent)
    history.close()


def test_uses_and_topics_are_there_for_the_next_process(file: Path) -> None:
    """Another process that opens the file finds what the first one stored."""
    first, second = SqliteHistory(file), SqliteHistory(file)
    first.record_use([SECRET], now=NOW)
    first.lock_topics(LOCK)
    first.save_context_state(STATE, now=NOW)
    first.close()

    assert second.uses([SECRET]) == {SECRET: Use(1, 1, "2026-03-01")}
    assert second.topic_lock("c-1") == LOCK
    assert second.context_state("x:1") == STATE
    second.close()


def test_a_history_without_uses_gets_their_tables(file: Path) -> None:
    """A file of an earlier Commonplace gets the migrations it lacks, and keeps its rows."""
    file.parent.mkdir()
    with closing(apsw.Connection(str(file))) as connection:
        for step in MIGRATIONS[:3]:
            connection.execute(step)
        connection.execute("INSERT INTO commits (hash, at) VALUES ('abc', '2026-03-01T09:12:44Z')")
        connection.pragma("user_version", 3)
    history = SqliteHistory(file)
    history.record_use([SECRET], now=NOW)

    assert history.newest_commit() == "abc"
    assert history.uses([SECRET]) == {SECRET: Use(1, 1, "2026-03-01")}
    history.close()


def test_the_uses_of_a_fact_are_found_by_key(file: Path) -> None:
    """However many there are: neither a query nor a deletion reads the whole table."""
    history = SqliteHistory(file)
    history.record_use([SECRET], now=NOW)
    history.close()
    with closing(apsw.Connection(str(file))) as connection:
        plans = [
            [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {query}", {"ids": "[]", "since": ""})]
            for query in map(sqlite_statement, (in_sql._USES, in_sql._FORGET_USES))
        ]

    assert all(any(step.startswith("SEARCH fact_uses USING PRIMARY KEY") for step in plan) for plan in plans)
