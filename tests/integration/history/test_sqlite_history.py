"""What only the file `history.db` can get wrong: traces, permissions, damage, schema versions."""

import hashlib
import stat
import threading
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import apsw
import pytest

from commonplace.database import translate_errors
from commonplace.errors import VaultUnavailable
from commonplace.history.base import AuditEntry, ModelCall, NewThread, stored_moment
from commonplace.history.sqlite.history import SqliteHistory
from commonplace.history.sqlite.schema import HISTORY_ERRORS, MIGRATIONS
from commonplace.model import Message
from tests.raw_files import raw_bytes

NOW = datetime(2026, 3, 1, 9, 12, 44, tzinfo=UTC)
ENTRY = AuditEntry("m", NOW, "write", "Inbox/a.md", "agent", "mcp", "why", after="f" * 64, commit="c1", in_digest=True)
SECRET = "Diary/what-nobody-should-find"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "data" / "history.db"


def test_an_erased_path_is_in_no_page_and_no_log(file: Path) -> None:
    """The raw bytes of every file of the database, while it is open and after; the rows of other notes are kept."""
    history = SqliteHistory(file)
    secret = [f"{SECRET}.md", f"{SECRET}-too.md"]
    for number in range(300):
        when = NOW + timedelta(seconds=number)
        path = secret[number % 6] if number % 6 < 2 else f"Inbox/{number}.md"
        history.record(replace(ENTRY, mutation=f"m{number}", commit=f"c{number}", when=when, path=path, reason=path))
    history.record(replace(ENTRY, verb="move", destination=secret[0]))
    history.give_grant(secret[0], now=NOW)
    assert SECRET.encode() in raw_bytes(file.parent)

    assert [history.forget_path(path) for path in secret] == [51, 50]
    assert SECRET.encode() not in raw_bytes(file.parent)
    assert file.with_name("history.db-wal").stat().st_size == 0
    assert len(history.entries()) == 200
    history.close()
    assert SECRET.encode() not in raw_bytes(file.parent)


def test_the_hash_of_an_erased_text_is_in_no_page_and_no_log(file: Path) -> None:
    """Otherwise someone who knows a text could check if it was once in a note."""
    history = SqliteHistory(file)
    secret = bytes.fromhex("5ec2e7" * 10 + "5ec2")
    one = ModelCall(at=NOW, task_type="t", model_alias="m", input_hash=secret.hex(), version="v", duration_ms=1)
    history.log_calls([replace(one, input_hash=f"{number:064x}") if number % 5 else one for number in range(500)])
    assert secret in raw_bytes(file.parent)

    assert history.forget_calls([secret.hex()]) == 100
    assert secret not in raw_bytes(file.parent)
    assert history.count_calls() == 400
    history.close()
    assert secret not in raw_bytes(file.parent)


def test_calls_are_logged_all_or_none(file: Path) -> None:
    """A row that the table rejects rolls back the others."""
    history = SqliteHistory(file)
    good = ModelCall(at=NOW, task_type="t", model_alias="m", input_hash="0" * 64, version="v", duration_ms=1)
    with pytest.raises(VaultUnavailable):
        history.log_calls([good, replace(good, tokens="many")])  # type: ignore[arg-type]

    assert history.calls() == ()
    history.close()


def test_a_history_without_the_log_of_calls_gets_it(file: Path) -> None:
    """A file with the first schema is migrated when it is opened, and keeps its rows."""
    file.parent.mkdir(parents=True)
    with closing(apsw.Connection(str(file))) as older:
        older.execute(MIGRATIONS[0])
        older.pragma("user_version", 1)
    history = SqliteHistory(file)
    history.record(ENTRY)

    assert (history.count_calls(), history.entries()) == (0, (ENTRY,))
    history.close()


OLDER_CALL = """
INSERT INTO invocation_log (at, task_type, model_alias, input_hash, version, duration_ms, tokens, cost)
VALUES (?, ?, ?, ?, ?, ?, ?, ?)
"""


@pytest.mark.requirement("D-76")
def test_an_older_log_of_calls_keeps_every_row_and_is_a_fifth_as_large(file: Path) -> None:
    """What the texts of one call have in common is stored once; a row for each text stays, in its order."""
    one = ModelCall(at=NOW, task_type="embed_vault_chunk", model_alias="m", input_hash="", version="v", duration_ms=1.5)
    calls = [
        replace(one, input_hash=hashlib.sha256(str(n).encode()).hexdigest(), duration_ms=n // 64 + 0.25)
        for n in range(4000)
    ]
    calls[7] = replace(one, input_hash="ab" * 32, task_type="extract", tokens=12, cost=0.5)
    file.parent.mkdir(parents=True)
    with closing(apsw.Connection(str(file))) as older:
        for step in MIGRATIONS[:7]:
            older.execute(step)
        rows = (
            (stored_moment(c.at), c.task_type, c.model_alias, c.input_hash, c.version, c.duration_ms, c.tokens, c.cost)
            for c in calls
        )
        with older:  # one transaction
            older.executemany(OLDER_CALL, rows)
        older.pragma("user_version", 7)
    before = file.stat().st_size
    history = SqliteHistory(file)

    assert history.calls() == tuple(reversed(calls))
    assert history.count_calls("embed_vault_chunk") == 3999
    history.close()
    assert file.stat().st_size < before / 2  # each table of a later migration has a page of its own
    with closing(apsw.Connection(str(file))) as reader:
        log = reader.execute("SELECT sum(pgsize) FROM dbstat WHERE name LIKE 'invocation_%'").get
    assert log < 60 * len(calls)


def test_a_batch_goes_with_its_last_text(file: Path) -> None:
    """Of a text that was erased nothing is left, not even when it was given to a model."""
    history = SqliteHistory(file)
    one = ModelCall(at=NOW, task_type="t", model_alias="m", input_hash="a" * 64, version="v", duration_ms=1)
    two = replace(one, duration_ms=2, input_hash="b" * 64)
    history.log_calls([one, replace(one, input_hash="b" * 64), two])

    assert history.forget_calls(["b" * 64]) == 2
    assert history.calls() == (one,)
    with history._database.read_transaction() as transaction:
        assert transaction.rows("SELECT count(*) FROM invocation_batches") == [(1,)]
    history.close()


def test_erasing_while_another_process_reads_says_that_traces_are_left(file: Path) -> None:
    """The log cannot be emptied under a reader: the call fails, and the next one finishes the work."""
    history = SqliteHistory(file, wait=0.05)
    history.record(replace(ENTRY, path=SECRET))
    with closing(apsw.Connection(str(file))) as reader:
        reader.execute("BEGIN; SELECT * FROM audit").fetchall()
        with pytest.raises(VaultUnavailable) as refused:
            history.forget_path(SECRET)

    assert refused.value.reason == "locked"
    assert history.forget_path(SECRET) == 0
    assert SECRET.encode() not in raw_bytes(file.parent)


def test_only_the_hash_of_a_token_is_stored(file: Path) -> None:
    """Whoever reads the file cannot use the grant."""
    history = SqliteHistory(file)
    token = history.give_grant("Diary.md", now=NOW)

    assert token.encode() not in raw_bytes(file.parent)


def test_expired_grants_do_not_pile_up(file: Path) -> None:
    """Giving one deletes those that have expired."""
    history = SqliteHistory(file)
    for day in range(3):
        history.give_grant("Diary.md", now=NOW + timedelta(days=day))

    with closing(apsw.Connection(str(file))) as reader:
        assert reader.execute("SELECT count(*) FROM grants").get == 1


def test_the_audit_is_append_only_in_the_file_too(file: Path) -> None:
    """A program that opens the file cannot rewrite who did what."""
    SqliteHistory(file).record(ENTRY)

    with closing(apsw.Connection(str(file))) as other, pytest.raises(apsw.ConstraintError, match="append-only"):
        other.execute("UPDATE audit SET actor = 'person'")


def test_times_in_the_file_have_one_format(file: Path) -> None:
    """ISO 8601 with T and Z, so that text order is time order."""
    history = SqliteHistory(file)
    history.record(ENTRY)
    history.give_grant("a.md", now=NOW)

    with closing(apsw.Connection(str(file))) as reader:
        assert reader.execute("SELECT at FROM audit UNION SELECT at FROM commits").get == "2026-03-01T09:12:44Z"
        assert reader.execute("SELECT expires FROM grants").get == "2026-03-01T09:22:44Z"


def test_the_file_is_for_its_owner_alone(file: Path) -> None:
    """Paths and reasons are personal; the log beside it as well."""
    SqliteHistory(file).record(ENTRY)

    files = [each for each in file.parent.rglob("*") if each.is_file()]

    assert {stat.S_IMODE(each.stat().st_mode) for each in files} == {0o600}
    assert stat.S_IMODE((file.parent / "conversations").stat().st_mode) == 0o700
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def test_nothing_is_made_before_the_first_use(file: Path) -> None:
    """A command that only reads notes leaves no file behind."""
    SqliteHistory(file).close()

    assert not file.parent.exists()


def test_threads_take_turns(file: Path) -> None:
    """Eight threads write to one history, and no row is lost."""
    history = SqliteHistory(file)

    def add(name: int) -> None:
        for number in range(20):
            history.record(replace(ENTRY, mutation=f"{name}-{number}"))

    threads = [threading.Thread(target=add, args=(name,)) for name in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()

    assert len({row.mutation for row in history.entries()}) == 160


def test_rows_are_added_together_or_not_at_all(file: Path) -> None:
    """A row that cannot be stored rolls back the others of its call, and the next call works."""
    history = SqliteHistory(file)
    with pytest.raises(VaultUnavailable):
        history.record(ENTRY, replace(ENTRY, path=None))  # type: ignore[arg-type]

    assert (history.entries(), history.newest_commit()) == ((), None)
    history.record(ENTRY)
    assert history.entries() == (ENTRY,)


def test_a_locked_history_says_so_after_the_wait(file: Path) -> None:
    """The error has a reason, the file and what to do."""
    history = SqliteHistory(file, wait=0.05)
    history.record(ENTRY)
    with closing(apsw.Connection(str(file))) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(VaultUnavailable, match=r"history\.db is locked") as refused:
            history.record(ENTRY)

    assert (refused.value.reason, refused.value.path) == ("locked", str(file))
    assert refused.value.hint
    history.record(ENTRY)


@pytest.mark.parametrize(
    "content", [b"this is no database at all, whatever its name may be" * 40, b"SQLite format 3\0" * 99]
)
def test_a_file_that_is_not_a_database_is_set_aside_and_reported(file: Path, content: bytes) -> None:
    """It is never overwritten; a new one begins with the conversations, and says so."""
    history = SqliteHistory(file)
    history.record_conversation(NewThread("x", "1"), [Message("user", "My boat is called Argo.")], now=NOW)
    history.close()
    file.write_bytes(content)
    history = SqliteHistory(file, clock=lambda: NOW)
    (thread,) = history.conversations()
    (aside,) = file.parent.glob("history.db.*.damaged")

    assert [each.text for each in history.messages(thread.id)] == ["My boat is called Argo."]
    assert aside.read_bytes() == content
    assert "missing, empty or damaged: 1 conversation restored" in history.losses(now=NOW)[0].said
    history.forget_path("Diary.md")
    assert not aside.exists()


def test_a_damaged_page_is_reported(file: Path) -> None:
    """Damage below the header is found when the page is read."""
    history = SqliteHistory(file)
    for number in range(200):
        history.record(replace(ENTRY, mutation=f"m{number}", reason="x" * 100))
    history.close()
    whole = file.read_bytes()
    file.write_bytes(whole[:-8192] + b"\xff" * 8192)

    with pytest.raises(VaultUnavailable, match="is damaged"):
        history.entries()


def test_a_folder_in_its_place_is_reported(file: Path) -> None:
    """As is a file where its folder should be."""
    file.mkdir(parents=True)

    with pytest.raises(VaultUnavailable, match="cannot be"):
        SqliteHistory(file).record(ENTRY)
    (file.parent / "plain").write_text("")
    with pytest.raises(VaultUnavailable, match=r"cannot be opened \("):
        SqliteHistory(file.parent / "plain" / "history.db").record(ENTRY)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (apsw.ReadOnlyError("x"), "cannot be written (x)"),
        (apsw.PermissionsError("x"), "cannot be opened (x)"),
        (apsw.FullError("x"), "the disk is full"),
        (apsw.IOError("x"), "cannot be read or written"),
        (apsw.LockedError("x"), "is locked"),
        (apsw.SchemaChangeError("x"), "cannot be used"),
        (PermissionError(13, "Permission denied"), "cannot be opened (Permission denied)"),
    ],
)
def test_no_exception_of_apsw_escapes(file: Path, error: Exception, said: str) -> None:
    """Whatever SQLite or the disk says is VaultUnavailable with a hint."""
    with pytest.raises(VaultUnavailable) as refused, translate_errors(file, HISTORY_ERRORS):
        raise error

    assert said in refused.value.message
    assert refused.value.hint


def test_a_history_with_a_newer_schema_is_left_alone(file: Path) -> None:
    """An older Commonplace does not write to a file it does not know."""
    SqliteHistory(file).record(ENTRY)
    with closing(apsw.Connection(str(file))) as newer:
        newer.pragma("user_version", len(MIGRATIONS) + 1)

    with pytest.raises(VaultUnavailable, match="newer schema") as refused:
        SqliteHistory(file).record(ENTRY)
    assert refused.value.hint == "Upgrade Commonplace."


def test_a_failed_migration_changes_nothing(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Migrations are applied together or not at all; the file can still be opened."""
    monkeypatch.setattr("commonplace.history.sqlite.history.MIGRATIONS", (*MIGRATIONS, "CREATE TABLE audit (x)"))
    with pytest.raises(VaultUnavailable):
        SqliteHistory(file).record(ENTRY)
    monkeypatch.undo()

    SqliteHistory(file).record(ENTRY)
    with closing(apsw.Connection(str(file))) as reader:
        assert reader.pragma("user_version") == len(MIGRATIONS)


def test_an_older_file_gets_only_the_migrations_it_lacks(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its rows are kept."""
    SqliteHistory(file).record(ENTRY)
    monkeypatch.setattr("commonplace.history.sqlite.history.MIGRATIONS", (*MIGRATIONS, "CREATE TABLE newer (x)"))

    assert SqliteHistory(file).entries() == (ENTRY,)
    with closing(apsw.Connection(str(file))) as reader:
        assert reader.pragma("user_version") == len(MIGRATIONS) + 1
        assert reader.execute("SELECT count(*) FROM newer").get == 0
