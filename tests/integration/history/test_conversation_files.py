"""Conversations survive the loss of `history.db`, of its log, of a line or of a file, and the loss is told."""

import json
import os
import shutil
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import apsw
import pytest

from commonplace.errors import VaultUnavailable
from commonplace.history.base import HistoryLoss, NewThread
from commonplace.history.sqlite.conversation_files import ConversationFiles
from commonplace.history.sqlite.history import SqliteHistory
from commonplace.history.sqlite.schema import MIGRATIONS
from commonplace.model import Message, TranscriptCursor
from commonplace.model.learning import Extraction, LearnedBatch, LearningState
from tests.raw_files import raw_bytes

NOW = datetime(2026, 3, 1, 9, 12, 44, tzinfo=UTC)
BOAT = NewThread("claude-code", "s-1", title="The boat", trust="said", project="atlas", captured=True)
CURSOR = TranscriptCursor(120, "ab" * 32, "cd" * 8)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "data" / "history.db"


def opened(file: Path) -> SqliteHistory:
    return SqliteHistory(file, clock=lambda: NOW)


def said(history: SqliteHistory) -> dict[str, list[str]]:
    """What is recorded, by the ids of the conversations in their programs."""
    return {each.source_id: [m.text for m in history.messages(each.id)] for each in history.conversations()}


def fill(file: Path) -> None:
    """Two conversations, one of which is captured, closed and has grown."""
    history = opened(file)
    history.record_conversation(BOAT, [Message("user", "Argo leaks.", source_id="m1")], now=NOW, cursor=CURSOR)
    history.record_conversation(NewThread("chatgpt", "7"), [Message("user", "Hello"), Message("tool", "")], now=NOW)
    later = TranscriptCursor(240, "ef" * 32, "cd" * 8)
    words = [Message("assistant", 'Mend\u2028it.\n\n"now" 🛶', author="Claude", source_id="m2")]
    id_ = history.record_conversation(BOAT, words, now=NOW + timedelta(days=40), cursor=later).id
    history.close_conversation(id_, now=NOW + timedelta(days=41))
    history.close()


def state(history: SqliteHistory) -> tuple[object, ...]:
    """Everything that the history knows of conversations, tasks and corrections."""
    threads = history.conversations(kind=None)
    messages = {each.id: history.messages(each.id) for each in threads}
    return threads, messages, dict(history.conversation_stamps()), history.transcript_cursor(BOAT)


def _truncate(file: Path) -> None:
    os.truncate(file, file.stat().st_size // 2)


def _scribble(file: Path) -> None:
    file.write_bytes(b"not a database" * 400)


@pytest.mark.parametrize(
    "harm",
    [Path.unlink, lambda file: file.write_bytes(b""), _truncate, _scribble],
    ids=["deleted", "emptied", "truncated", "scribbled over"],
)
def test_conversations_survive_the_loss_of_the_database_and_it_is_told(
    file: Path, harm: Callable[[Path], object]
) -> None:
    """The same threads, turns, times, stamps and cursors as before; new ones go on where the old ones end."""
    fill(file)
    before = opened(file)
    was = state(before)
    before.close()
    harm(file)
    after = opened(file)

    assert state(after) == was
    (loss,) = after.losses(now=NOW)
    assert (loss.restored, "2 conversations restored" in loss.said) == (True, True)
    again = after.record_conversation(BOAT, [Message("user", "Argo leaks.", source_id="m1")], now=NOW)
    assert (again.added, again.known) == (0, 1)
    assert after.losses(now=NOW + timedelta(days=31)) == ()
    after.close()


def test_what_was_only_in_a_lost_log_is_restored(file: Path) -> None:
    """The database is as it was before the last transactions: they are in the files."""
    fill(file)
    history = opened(file)
    with closing(apsw.Connection(str(file))) as raw:
        raw.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    older = file.read_bytes()
    for number in range(3):
        history.record_conversation(NewThread("x", str(number)), [Message("user", "later")], now=NOW)
    was = state(history)
    history.close()
    for name in ("history.db-wal", "history.db-shm"):
        (file.parent / name).unlink(missing_ok=True)
    file.write_bytes(older)
    after = opened(file)

    assert state(after) == was
    assert "3 messages restored" in after.losses(now=NOW)[0].said
    after.close()


@pytest.mark.parametrize("harm", ["removed", "shortened", "one line damaged"])
def test_what_the_files_lose_is_written_again_from_the_database(file: Path, harm: str) -> None:
    """The two copies restore each other; the next loss of the database finds whole files."""
    fill(file)
    history = opened(file)
    was = state(history)
    history.close()
    first, *_ = sorted((file.parent / "conversations").glob("*.jsonl"))
    content = first.read_bytes()
    if harm == "removed":
        first.unlink()
    else:
        first.write_bytes(content[:40] if harm == "shortened" else content.replace(b"Argo", b"Arg0"))
    history = opened(file)
    history.check()
    told = history.losses(now=NOW)
    now = state(history)
    history.close()
    file.unlink()
    again = opened(file)

    assert now == was
    assert told
    assert all(each.restored for each in told)
    assert {key: sorted(texts) for key, texts in said(again).items()} == {
        "s-1": sorted(["Argo leaks.", 'Mend\u2028it.\n\n"now" 🛶']),
        "7": ["", "Hello"],
    }
    again.close()


def test_a_damaged_line_that_no_copy_has_is_told_as_lost(file: Path) -> None:
    """The rest is restored, the line is kept beside it, and an erasure removes it."""
    fill(file)
    first, *_ = sorted((file.parent / "conversations").glob("*.jsonl"))
    first.write_bytes(first.read_bytes().replace(b"Hello", b"Hullo"))
    file.unlink()
    history = opened(file)
    (lost,) = (each for each in history.losses(now=NOW) if not each.restored)

    assert said(history) == {"s-1": ["Argo leaks.", 'Mend\u2028it.\n\n"now" 🛶']}
    assert "is lost" in lost.said
    assert lost.remedy
    assert b"Hullo" in first.with_name(f"{first.name}.damaged").read_bytes()
    history.forget_conversation(history.conversations()[0].id)
    assert b"Hullo" not in raw_bytes(file.parent)
    history.close()


def test_half_a_line_was_never_acknowledged_and_is_cut_off(file: Path) -> None:
    """What a killed process left of its last write is no loss, and does not spoil the next line."""
    fill(file)
    history = opened(file)
    was = state(history)
    history.close()
    last = sorted((file.parent / "conversations").glob("*.jsonl"))[-1]
    with last.open("ab") as stream:
        stream.write(b'{"sum":"0123456789abcdef","record":{"id":"c-1234')
    history = opened(file)
    history.record_conversation(NewThread("x", "new"), [Message("user", "next")], now=NOW + timedelta(days=50))
    kept = {each: text for each, text in said(history).items() if each != "new"}
    history.close()
    file.unlink()
    again = opened(file)

    assert kept == {thread.source_id: [m.text for m in was[1][thread.id]] for thread in was[0]}  # type: ignore[index,attr-defined]
    assert said(again)["new"] == ["next"]
    assert all(json.loads(line) for line in last.read_bytes().splitlines())
    again.close()


def test_a_record_whose_transaction_was_killed_is_there_once(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed between the write to the file and the commit: the next one to open it finds it, and tells no loss."""
    fill(file)
    real = ConversationFiles.append

    class Killed(BaseException):
        """The process is gone."""

    def write_and_die(self: ConversationFiles, *values: object, **more: object) -> None:
        real(self, *values, **more)  # type: ignore[arg-type]
        raise Killed

    monkeypatch.setattr(ConversationFiles, "append", write_and_die)
    with pytest.raises(Killed):
        opened(file).record_conversation(NewThread("x", "1"), [Message("user", "last words")], now=NOW)
    monkeypatch.undo()
    history = opened(file)
    first = said(history)["1"]
    again = history.record_conversation(NewThread("x", "1"), [Message("user", "last words")], now=NOW)

    assert (first, again.added, again.known, history.losses(now=NOW)) == (["last words"], 0, 1, ())
    history.close()


@pytest.mark.parametrize("point", ["append", "rewrite"])
def test_an_erasure_that_is_killed_is_finished_by_the_next_opening(
    file: Path, monkeypatch: pytest.MonkeyPatch, point: str
) -> None:
    """No word of it is left in any file."""
    fill(file)
    history = opened(file)
    (boat,) = (each for each in history.conversations() if each.source_id == "s-1")
    real = getattr(ConversationFiles, point)

    class Killed(BaseException):
        """The process is gone."""

    def die(self: ConversationFiles, *values: object, **more: object) -> None:
        if point == "append":
            real(self, *values, **more)
        raise Killed

    monkeypatch.setattr(ConversationFiles, point, die)
    with pytest.raises(Killed):
        history.forget_conversation(boat.id)
    monkeypatch.undo()
    history.close()
    after = opened(file)

    assert said(after) == {"7": ["Hello", ""]}
    assert b"Argo" not in raw_bytes(file.parent)
    assert after.forgotten([boat.id, "c-1"]) == {boat.id}
    after.close()


def test_an_erased_session_does_not_come_back_from_its_transcript_and_may_go_on(file: Path) -> None:
    """The cursor outlives it, also when the database is lost; what is said later is recorded, and stays."""
    fill(file)
    history = opened(file)
    cursor = history.transcript_cursor(BOAT)
    (boat,) = (each for each in history.conversations() if each.source_id == "s-1")
    history.forget_conversation(boat.id)
    history.record_conversation(BOAT, [Message("user", "Another day.", source_id="m9")], now=NOW)
    history.record_conversation(NewThread("x", "2"), [Message("user", "two")], now=NOW)
    history.forget_conversation(history.conversations(interface="x")[0].id)
    history.close()
    file.unlink()
    after = opened(file)

    assert after.transcript_cursor(BOAT) == cursor
    assert said(after) == {"s-1": ["Another day."], "7": ["Hello", ""]}
    assert b"Argo" not in raw_bytes(file.parent)
    after.close()


def test_an_older_database_does_not_bring_an_erased_conversation_back(file: Path) -> None:
    """What a person erased stays erased, whichever of the two copies is older."""
    fill(file)
    older = file.read_bytes()
    history = opened(file)
    (boat,) = (each for each in history.conversations() if each.source_id == "s-1")
    history.forget_conversation(boat.id)
    history.close()
    file.write_bytes(older)
    after = opened(file)

    assert list(said(after)) == ["7"]
    assert b"Argo" not in raw_bytes(file.parent)
    after.close()


def test_conversations_of_an_earlier_version_are_written_to_files_once(file: Path) -> None:
    """The database alone had them; nothing is told, because nothing was lost."""
    file.parent.mkdir()
    with closing(apsw.Connection(str(file))) as connection:
        for step in MIGRATIONS[:8]:
            connection.execute(step)
        for number, (interface, trust) in enumerate([("claude-code", "said"), ("chatgpt", "told")], start=1):
            connection.execute(
                "INSERT INTO conversation_threads (id, interface, source_id, title, trust, started, updated, recorded, "
                f"count, digest, project) VALUES ('c-{number}', '{interface}', 's{number}', 'T', '{trust}', :at, :at, "
                ":at, 1, 'd', 'p')",
                {"at": "2026-03-01T09:12:44Z"},
            )
            connection.execute(
                "INSERT INTO conversation_messages (thread, turn, identity, role, author, at, source_id, text) "
                f"VALUES ({number}, 1, 'i{number}', 'user', '', '2026-03-01T09:12:44Z', 'm', 'words {number}')"
            )
        connection.pragma("user_version", 8)
    history = opened(file)
    was = said(history)
    captured = {each.source_id: each.captured for each in history.conversations()}
    told = history.losses(now=NOW)
    history.close()
    file.unlink()
    after = opened(file)

    assert was == said(after) == {"s1": ["words 1"], "s2": ["words 2"]}
    assert captured == {"s1": True, "s2": False}
    assert told == ()
    after.close()


def test_nothing_new_writes_nothing(file: Path) -> None:
    """A transcript that comes again and again does not make the files grow."""
    fill(file)
    history = opened(file)
    before = raw_bytes(file.parent / "conversations")
    for _ in range(3):
        history.record_conversation(NewThread("chatgpt", "7"), [Message("user", "Hello")], now=NOW)
    history.close()

    assert raw_bytes(file.parent / "conversations") == before


def test_a_clock_that_goes_back_does_not_change_the_order(file: Path) -> None:
    """What is recorded later comes later, also after the database is lost."""
    history = opened(file)
    history.record_conversation(NewThread("x", "1"), [Message("user", "a")], now=NOW + timedelta(days=400))
    history.record_conversation(NewThread("x", "1"), [Message("user", "b")], now=NOW)
    history.close()
    file.unlink()
    after = opened(file)

    assert said(after) == {"1": ["a", "b"]}
    after.close()


def test_an_older_data_folder_has_the_cursor_of_what_it_has(file: Path, tmp_path: Path) -> None:
    """So that what it lacks is read again."""
    history = opened(file)
    history.record_conversation(BOAT, [Message("user", "a", source_id="m1")], now=NOW, cursor=CURSOR)
    history.close()
    shutil.copytree(file.parent, tmp_path / "copy")
    fill(file)
    shutil.rmtree(file.parent)
    shutil.copytree(tmp_path / "copy", file.parent)
    after = opened(file)

    assert after.transcript_cursor(BOAT) == CURSOR
    assert said(after) == {"s-1": ["a"]}
    after.close()


def test_a_disk_that_refuses_the_file_leaves_nothing_recorded(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The call fails with what to do, and the next one works."""
    fill(file)
    history = opened(file)
    was = state(history)
    with monkeypatch.context() as patch:

        def refuse(*values: object) -> int:
            raise OSError(28, "No space left on device")

        patch.setattr(os, "pwrite", refuse)
        with pytest.raises(VaultUnavailable, match="No space left") as refused:
            history.record_conversation(NewThread("x", "1"), [Message("user", "a")], now=NOW)

    assert refused.value.hint
    assert state(history) == was
    assert history.record_conversation(NewThread("x", "1"), [Message("user", "a")], now=NOW).added == 1
    history.close()


def test_a_link_in_place_of_a_file_is_not_followed(file: Path, tmp_path: Path) -> None:
    """Nothing is written to where it leads."""
    opened(file).entries()
    (tmp_path / "elsewhere").write_text("")
    (file.parent / "conversations" / "2026-03.jsonl").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(VaultUnavailable):
        opened(file).record_conversation(NewThread("x", "1"), [Message("user", "a")], now=NOW)

    assert (tmp_path / "elsewhere").read_text() == ""


def test_a_loss_with_the_same_words_is_told_once(file: Path) -> None:
    """With the day on which it came last."""
    history = opened(file)
    for days in (0, 2):
        history.note_loss(HistoryLoss(NOW + timedelta(days=days), "gone", restored=False))

    assert history.losses(now=NOW) == (HistoryLoss(NOW + timedelta(days=2), "gone", restored=False),)
    history.close()


@pytest.mark.parametrize("harm", ["database", "files", "nothing"])
def test_kinds_parents_and_uses_have_two_copies(file: Path, harm: str) -> None:
    """Tasks, corrections, and what each is used for, also where that was switched: each copy restores the other."""
    history = opened(file)
    chat = history.record_conversation(BOAT, [Message("user", "Argo leaks.")], now=NOW).id
    wrong = NewThread("claude-code", "correction:1", kind="correction", parent=chat)
    history.record_conversation(wrong, [Message("assistant", "Sell it."), Message("user", "No, mend it.")], now=NOW)
    task = NewThread("todo", "task:1", kind="task", memory="isolated")
    history.set_memory_use(history.record_conversation(task, [Message("user", "Caulk.")], now=NOW).id, "on", now=NOW)
    history.set_memory_use(chat, "off", now=NOW)
    was, traits = state(history), history.thread_traits()
    history.close()
    if harm == "database":
        file.unlink()
    elif harm == "files":
        shutil.rmtree(file.parent / "conversations")
        opened(file).check()
        file.unlink()
    again = opened(file)

    assert (state(again), again.thread_traits()) == (was, traits)
    assert {each.kind: each.memory for each in traits.values()} == {"chat": "off", "correction": "on", "task": "on"}
    again.close()


def test_a_thread_of_the_usual_kind_is_written_as_ever(file: Path) -> None:
    """Its line has no fields that came later: an earlier version of the program reads it."""
    fill(file)
    lines = [line for each in (file.parent / "conversations").glob("*.jsonl") for line in each.read_text().splitlines()]

    assert lines
    assert not any('"kind"' in line or '"parent"' in line or '"memory"' in line for line in lines)


@pytest.mark.parametrize("harm", ["database", "files"])
def test_how_far_conversations_were_learned_has_two_copies(file: Path, harm: str) -> None:
    """What was read once is not due again, whichever copy is lost; what the conversation says later is."""
    fill(file)
    history = opened(file)
    ids = {each.source_id: each.id for each in history.conversations()}
    assert history.begin_learning(
        LearnedBatch(source=ids["7"], extraction=Extraction(), extractor="rules", until=2), now=NOW
    )
    history.close()
    if harm == "database":
        file.unlink()
    else:
        shutil.rmtree(file.parent / "conversations")
        opened(file).check()
        file.unlink()
    after = opened(file)
    later = NOW + timedelta(days=90)

    assert after.due_conversations(now=later, silent_since=later) == (ids["s-1"],)
    assert after.learning_states()[ids["7"]].turns == 2
    assert any("how far 1 of them were learned" in loss.said for loss in after.losses(now=NOW))

    after.record_conversation(NewThread("chatgpt", "7"), [Message("user", "Again", source_id="m9")], now=later)

    assert {*after.due_conversations(now=later, silent_since=later)} == {*ids.values()}
    after.close()


def test_what_an_earlier_version_learned_is_written_to_the_files_once(file: Path) -> None:
    """It was in the database alone; nothing is told, because nothing was lost."""
    fill(file)
    history = opened(file)
    id_ = history.conversations(interface="chatgpt")[0].id
    history.save_learning_state(LearningState(source=id_, turns=2))
    history.close()
    with closing(apsw.Connection(str(file))) as connection:
        connection.pragma("user_version", 16)
    told = opened(file).losses(now=NOW)
    file.unlink()
    after = opened(file)

    assert told == ()
    assert after.learning_states()[id_].turns == 2
    after.close()


def test_how_far_an_erased_conversation_was_learned_is_erased_with_it(file: Path) -> None:
    """Its record names the conversation, so it goes from the files, too."""
    fill(file)
    history = opened(file)
    id_ = history.conversations(interface="chatgpt")[0].id
    history.begin_learning(LearnedBatch(source=id_, extraction=Extraction(), extractor="rules", until=2), now=NOW)
    history.forget_conversation(id_)
    history.close()

    assert id_.encode() not in raw_bytes(file.parent)
