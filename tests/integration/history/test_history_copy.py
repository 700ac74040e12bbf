"""A history is copied from one database to another: every row, once, all or nothing."""

import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from commonplace.errors import Refused
from commonplace.history.base import (
    AuditEntry,
    ContextState,
    GivenContext,
    GivenPiece,
    HistoryLoss,
    ModelCall,
    ModelState,
    NewThread,
    UnfinishedErasure,
)
from commonplace.history.postgresql.history import PostgresqlHistory
from commonplace.history.sql.copy import copy_history
from commonplace.history.sql.history import SqlHistory
from commonplace.history.sql.tables import TABLES
from commonplace.history.sqlite.history import SqliteHistory
from commonplace.model import Message, TopicLock, TranscriptCursor
from commonplace.model.calendar import CalendarResource, CalendarState, Event
from commonplace.model.learning import ExtractedFact, Extraction, LearnedBatch
from commonplace.model.upkeep import JobLease, JobNotice, JobState, Step, StepResult
from tests.postgresql import new_tenant, postgresql_server

NOW = datetime(2026, 3, 1, 9, 12, 44, tzinfo=UTC)
AT = "2026-03-01T09:12:44Z"
SESSION = NewThread("codex", "s-1", trust="said", captured=True)
CALL = ModelCall(at=NOW, task_type="t", model_alias="m", input_hash="a" * 64, version="v", duration_ms=1.5, cost=0.1)


def in_file(folder: Path) -> SqliteHistory:
    return SqliteHistory(folder / "history.db", clock=lambda: NOW)


def in_postgresql() -> PostgresqlHistory:
    return PostgresqlHistory(postgresql_server(), tenant=new_tenant(), clock=lambda: NOW)


def fill(history: SqlHistory) -> str:
    """Put something into every table; returns the id of a conversation that was forgotten."""
    history.record(AuditEntry("m1", NOW, "write", "a\x00é.md", "agent", "mcp", "why", commit="c1", after="f" * 64))
    history.give_grant("Diary.md", now=NOW)
    history.begin_erasure(UnfinishedErasure("x.md", ("y.md",), "", NOW))
    history.note_loss(HistoryLoss(NOW, "something was lost"))
    history.log_calls([CALL, CALL])
    history.save_model_state(ModelState("m", 2, "down", "503", NOW), now=NOW)
    talk = [Message("user", "I sail.", at=NOW), Message("assistant", "\x01 Where?", at=NOW)]
    cursor = TranscriptCursor(12, "tail", "file")
    id_ = history.record_conversation(SESSION, talk, now=NOW, cursor=cursor).id
    history.close_conversation(id_, now=NOW)
    history.record_conversation(NewThread("chatgpt", "b", title="B"), talk, now=NOW)
    forgotten = NewThread("codex", "s-2", trust="said", captured=True)
    gone = history.record_conversation(forgotten, talk, now=NOW, cursor=cursor).id
    history.forget_conversation(gone)
    history.record_use(["f1"], now=NOW)
    history.lock_topics(TopicLock("codex:s-1", ("boats",), AT))
    history.save_context_state(ContextState("codex:s-1", frozenset({"f1"}), ("hi",)), now=NOW)
    piece = GivenPiece("facts", "f1", "a.md", "named", 4)
    history.record_context(
        GivenContext(at=NOW, origin="mcp", conversation="c", prompt="hi", chars=9, silence="", pieces=(piece,))
    )
    extraction = Extraction(facts=(ExtractedFact(text="Sails.", quote="I sail.", turn=1),))
    history.begin_learning(LearnedBatch(source=id_, extraction=extraction, extractor="rules", until=2), now=NOW)
    history.take_lease(JobLease(job="sleep", owner="o", boot="b", process="1.1", until=AT), now=NOW)
    history.save_job_state(JobState(job="sleep", values={"a": 1}))
    run = history.begin_run("sleep", now=NOW)
    history.add_step(run, StepResult(step=Step(action="write", subject="a.md", said="A note."), outcome="done"))
    history.raise_notice(JobNotice(key="k", said="Look.", at=AT))
    event = Event(id="e1", uid="u1", calendar="work", title="Lunch", start=NOW, end=NOW + timedelta(hours=1))
    history.save_events("work", [event], window=(NOW, NOW + timedelta(days=1)), now=NOW)
    history.save_calendar_state(
        CalendarState(calendar="work", source="s", mark="m"), resources=[CalendarResource("h", "e", "BEGIN")]
    )
    return gone


@pytest.fixture
def source(tmp_path: Path) -> SqliteHistory:
    """A history in files, with something in every table."""
    history = in_file(tmp_path / "source")
    fill(history)
    return history


def test_a_round_trip_is_equal(source: SqliteHistory, tmp_path: Path) -> None:
    """From files to PostgreSQL to other files; a second copy finds nothing to do."""
    rows, back = in_postgresql(), in_file(tmp_path / "back")
    steps: list[tuple[str, int, int]] = []
    there = copy_history(source, rows, progress=lambda *step: steps.append(step))
    again = copy_history(source, rows)
    copy_history(rows, back)

    assert there.rows.keys() == TABLES.keys()
    assert steps[-1] == ("rows", sum(there.rows.values()), sum(there.rows.values()))
    assert (there.is_equal, again.is_equal, copy_history(source, back).is_equal) == (False, True, True)
    for each in (rows, back):
        assert each.entries() == source.entries()
        assert each.conversation_stamps() == source.conversation_stamps()
        assert each.pending_items() == source.pending_items()
        assert each.transcript_cursor(SESSION) == source.transcript_cursor(SESSION)
    assert rows.begin_run("sleep", now=NOW) == back.begin_run("sleep", now=NOW) == source.begin_run("sleep", now=NOW)


def test_the_conversation_files_of_a_copy_are_whole(tmp_path: Path) -> None:
    """If history.db is lost, they restore conversations, cursors, and that one was forgotten."""
    rows, back = in_postgresql(), in_file(tmp_path / "back")
    gone = fill(rows)
    copy_history(rows, back)
    back.close()
    for file in (tmp_path / "back").glob("history.db*"):
        file.unlink()
    restored = in_file(tmp_path / "back")

    assert restored.conversation_stamps() == rows.conversation_stamps()
    assert restored.forgotten([gone]) == {gone}
    for name in ("s-1", "s-2"):
        session = NewThread("codex", name, captured=True)
        assert restored.transcript_cursor(session) == rows.transcript_cursor(session)
    restored.check()
    assert len(restored.losses(now=NOW)) == 1  # that history.db was missing


def test_a_history_that_is_there_is_replaced_only_on_request(source: SqliteHistory, tmp_path: Path) -> None:
    """Whichever database it is in; a dry run says how much it has, and changes nothing."""
    for target in (in_postgresql(), in_file(tmp_path / "target")):
        target.record_conversation(NewThread("codex", "other"), [Message("user", "Other words.")], now=NOW)
        planned = copy_history(source, target, is_dry=True)
        with pytest.raises(Refused, match="not empty"):
            copy_history(source, target)
        (kept,) = target.conversations()
        replaced = copy_history(source, target, replaces=True)

        assert kept.source_id == "other"
        assert planned.replaced == replaced.replaced == 2
        assert target.conversation_stamps() == source.conversation_stamps()
        assert copy_history(source, target).is_equal
        target.check()
        assert target.losses(now=NOW) == source.losses(now=NOW)


def test_a_copy_that_fails_changes_nothing(source: SqliteHistory, tmp_path: Path) -> None:
    """Killed in the middle: the tables and the files have what they had."""
    target = in_file(tmp_path / "target")
    target.record_conversation(NewThread("codex", "other"), [Message("user", "Other words.")], now=NOW)

    def stop(what: str, done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        copy_history(source, target, replaces=True, progress=stop)
    target.close()
    shutil.copytree(tmp_path / "target", tmp_path / "seen")

    assert [each.source_id for each in in_file(tmp_path / "seen").conversations()] == ["other"]
