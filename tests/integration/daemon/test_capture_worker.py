"""Captures: what hooks hand over is taken at once, read soon, once, and only if the person wants it."""

import hashlib
import json
import os
import shutil
import stat
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import apsw
import pytest

from commonplace import events
from commonplace.daemon.capture.pauses import OPT_OUT, Pauses
from commonplace.daemon.capture.queue import FOLDER, QueuedTranscript
from commonplace.daemon.capture.worker import CaptureStep, CaptureStepResult, CaptureWorker
from commonplace.errors import NotFound, Refused, UsageError
from commonplace.memory import Memory
from commonplace.model import Actor, Caller
from commonplace.sources.options import CaptureOptions
from tests.memories import make_memory
from tests.polling import wait_for
from tests.transcript_lines import claude, claude_folder, codex

OPTIONS = CaptureOptions()


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with make_memory(tmp_path) as made:
        yield made


class Session:
    """A session of Claude Code, its transcript, and the captures that read it."""

    def __init__(self, state: Path, memory: Memory, *, options: CaptureOptions = OPTIONS) -> None:
        self.state, self.memory, self.options = state, memory, options
        self.path = claude_folder(Path.home()) / "s1.jsonl"
        self.asked: list[Caller] = []
        self.says: Callable[[], Memory] = lambda: memory

    def memory_for(self, caller: Caller) -> Memory:
        self.asked.append(caller)
        return self.says().acting(Actor("agent", caller.name))

    @contextmanager
    def captures(self, **more: Callable[[], datetime]) -> Iterator[CaptureWorker]:
        """A daemon's captures, which are at work in this block."""
        made = CaptureWorker(self.state, self.memory_for, self.options, second_look=0.0, **more)
        made.begin()
        yield made
        assert made.end(within=60)

    def say(self, *texts: str) -> None:
        """Write what was said now to the transcript."""
        now = datetime.now(UTC).isoformat()
        with self.path.open("a") as file:
            file.write("".join(claude("user", text, id_=text, at=now) for text in texts))

    def hand_over(self, captures: CaptureWorker, *, cwd: str = "", ends: bool = False) -> None:
        """What a hook does; waits until it is read."""
        captures.enqueue(
            host="claude-code", session_id="s1", transcript=str(self.path), cwd=cwd or str(self.state), ends=ends
        )
        wait_for(lambda: captures.status()["waiting"] == 0)

    @property
    def kept(self) -> list[str]:
        """What is in history."""
        threads = self.memory.conversations.list()
        return [each.text for thread in threads for each in self.memory.conversations.show(thread.id)[1]]


@pytest.fixture
def session(tmp_path: Path, memory: Memory) -> Session:
    return Session(tmp_path, memory)


def test_progress_is_kept_at_each_phase_end_and_whenever_it_is_saved_by_hand(session: Session) -> None:
    """Dual-trigger progress: the end of a turn records what is new by itself, and an explicit save does not wait."""
    with session.captures() as captures:
        session.say("one", "two")
        session.hand_over(captures)
        at_the_first_end = session.kept
        session.memory.conversations.record([{"role": "user", "content": "saved"}], interface="claude-code")
        saved = session.kept
        session.say("three")
        session.hand_over(captures, ends=True)

    assert at_the_first_end == ["one", "two"]
    assert sorted(saved) == ["one", "saved", "two"]
    assert sorted(session.kept) == ["one", "saved", "three", "two"]
    (thread,) = [each for each in session.memory.conversations.list() if each.source_id == "s1"]
    assert thread.closed
    assert session.asked[0] == Caller("claude-code", frozenset({"write"}), via="socket")


def test_handing_over_takes_no_time_and_is_on_the_disk_before_it_returns(session: Session) -> None:
    """A hook waits for it. Nothing is opened or read meanwhile."""
    captures = CaptureWorker(session.state, session.memory_for, OPTIONS)  # it never begins
    session.say("one")
    begun = time.thread_time()
    for number in range(50):
        captures.enqueue(host="claude-code", session_id=f"s{number}", transcript=str(session.path), cwd="/", ends=False)
    took = time.thread_time() - begun
    files = list((session.state / FOLDER).iterdir())

    assert took < 50 * 0.01
    assert len(files) == 50
    assert {stat.S_IMODE(each.stat().st_mode) for each in files} == {0o600}
    assert session.asked == []


def test_what_waits_when_the_daemon_ends_is_read_by_the_next_one(session: Session) -> None:
    """Also what was written meanwhile in a session that nobody named again."""
    unread = CaptureWorker(session.state, session.memory_for, OPTIONS)
    session.say("one")
    unread.enqueue(host="claude-code", session_id="s1", transcript=str(session.path))
    with session.captures() as captures:
        wait_for(lambda: captures.status()["waiting"] == 0)
    session.say("two")
    with session.captures():
        wait_for(lambda: len(session.kept) == 2)

    assert session.kept == ["one", "two"]


def test_last_words_that_a_host_writes_late_are_read_too(session: Session) -> None:
    """After a hand-over the transcript is looked at once more."""
    captures = CaptureWorker(session.state, session.memory_for, OPTIONS, second_look=3.0)
    captures.begin()
    session.say("one")
    captures.enqueue(host="claude-code", session_id="s1", transcript=str(session.path))
    wait_for(lambda: session.kept == ["one"])
    session.say("late")
    wait_for(lambda: session.kept == ["one", "late"])

    assert captures.end(within=60)


def test_half_a_line_waits_for_its_other_half(session: Session) -> None:
    """And is kept once."""
    line = claude("user", "whole", id_="1")
    with session.captures() as captures:
        session.path.write_text(line[:40])
        session.hand_over(captures)
        at_first = session.kept
        session.path.write_text(line)
        session.hand_over(captures)

    assert (at_first, session.kept) == ([], ["whole"])


def test_a_transcript_that_was_cut_or_replaced_is_read_again_and_kept_once(session: Session) -> None:
    """What is known by its id does not come twice."""
    with session.captures() as captures:
        session.say("one", "two")
        session.hand_over(captures)
        session.path.write_text("")
        session.say("two", "three")
        session.hand_over(captures)

    assert session.kept == ["one", "two", "three"]


def test_a_broken_line_is_told_once_and_nothing_is_lost(session: Session) -> None:
    """In the log, without a word of what it says."""
    told: list[tuple[str, dict[str, object]]] = []
    events.pass_to(lambda level, event, fields: told.append((event, dict(fields))))
    try:
        with session.captures() as captures:
            for number in range(2):
                session.say(f"before {number}")
                with session.path.open("a") as file:
                    file.write('{"secret thing\n')
                session.say(f"after {number}")
                session.hand_over(captures)
    finally:
        events.pass_to(None)
    broken = [fields for event, fields in told if event == "transcript_lines_broken"]

    assert session.kept == ["before 0", "after 0", "before 1", "after 1"]
    assert broken == [{"path": os.path.realpath(session.path), "lines": 1}]


def test_a_file_elsewhere_is_refused_and_an_unknown_host_is_an_error(session: Session, tmp_path: Path) -> None:
    """At once, so that the hook can tell it."""
    captures = CaptureWorker(session.state, session.memory_for, OPTIONS)
    elsewhere = tmp_path / "s1.jsonl"
    elsewhere.write_text(claude("user", "Not a transcript.", id_="1"))

    with pytest.raises(Refused):
        captures.enqueue(host="claude-code", session_id="s1", transcript=str(elsewhere))
    with pytest.raises(UsageError, match="notepad"):
        captures.enqueue(host="notepad", session_id="s1", transcript=str(session.path))
    with pytest.raises(UsageError, match="id"):
        captures.enqueue(host="claude-code", session_id="", transcript=str(session.path))
    assert captures.status()["sessions"] == 0


def test_more_folders_may_be_named_in_the_settings(tmp_path: Path, memory: Memory) -> None:
    """For an agent that keeps its transcripts elsewhere."""
    session = Session(tmp_path, memory, options=CaptureOptions(folders=(str(tmp_path / "more"),)))
    session.path = tmp_path / "more" / "s1.jsonl"
    session.path.parent.mkdir()
    with session.captures() as captures:
        session.say("one")
        session.hand_over(captures)

    assert session.kept == ["one"]


@pytest.mark.requirement("V-15")
@pytest.mark.parametrize("kind", ["all", "project", "conversation", "file", "setting"])
def test_only_an_eligible_conversation_comes_into_memory(tmp_path: Path, memory: Memory, kind: str) -> None:
    """Paused, or opted out: nothing of it is recorded, neither now nor when it is resumed; what comes later is."""
    session = Session(tmp_path, memory, options=CaptureOptions(enabled=kind != "setting"))
    project = tmp_path / "project"
    project.mkdir()
    now = datetime.now(UTC)
    with session.captures() as captures:
        if kind == "file":
            (project / OPT_OUT).touch()
        elif kind != "setting":
            what = {"all": "", "project": str(project), "conversation": "s1"}[kind]
            captures.pauses.pause(kind, what, now=now)  # type: ignore[arg-type]
        wanted_at_first = captures.is_wanted(host="claude-code", session_id="s1", cwd=str(project))
        session.say("not this")
        session.hand_over(captures, cwd=str(project))
        paused, said = session.kept, captures.status()["paused"]
        if kind == "file":
            (project / OPT_OUT).unlink()
        elif kind != "setting":
            captures.pauses.resume(kind, what, now=now - timedelta(seconds=1))  # type: ignore[arg-type]
        session.say("but this")
        session.hand_over(captures, cwd=str(project))

    assert not wanted_at_first
    assert paused == []
    assert bool(said) == (kind in ("all", "project", "conversation"))
    assert session.kept == ([] if kind == "setting" else ["but this"])


@pytest.mark.parametrize(
    "spoken_by",
    [{"source": {"subagent": {"thread_spawn": {"parent_thread_id": "s1"}}}}, {"thread_source": "subagent"}, {}],
    ids=["spawned", "named", "the person"],
)
def test_what_an_agent_says_to_its_sub_agent_is_not_taken_for_the_persons_words(
    session: Session, spoken_by: dict[str, object]
) -> None:
    """A rollout of Codex says in its first line whose it is; the person's own session is read on."""
    folder = Path.home() / ".codex" / "sessions"
    folder.mkdir(parents=True)
    meta = {"id": "s2", "cwd": str(session.state), "source": "cli", "thread_source": "user", **spoken_by}
    first = json.dumps({"type": "session_meta", "payload": meta}) + "\n"
    own, other = folder / "own.jsonl", folder / "other.jsonl"
    own.write_text(codex("user", "I live in Oslo.", id_="1"))
    other.write_text(first + codex("user", "The person lives in Rome.", id_="2"))

    def hand_over(path: Path) -> None:
        captures.enqueue(host="codex", session_id="s1", transcript=str(path), cwd=str(session.state))
        wait_for(lambda: captures.status()["waiting"] == 0)

    with session.captures() as captures:
        hand_over(own)
        hand_over(other)
        with own.open("a") as file:
            file.write(codex("user", "I like it there.", id_="3"))
        hand_over(own)

    said = ["I live in Oslo.", "I like it there."]
    assert session.kept == (said if spoken_by else [said[0], "The person lives in Rome.", said[1]])


def test_a_session_that_went_elsewhere_is_still_of_the_project_it_began_in(session: Session, tmp_path: Path) -> None:
    """An agent may change its folder; the person's choice stays."""
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / OPT_OUT).touch()
    with session.captures() as captures:
        session.say("one")
        session.hand_over(captures, cwd=str(tmp_path / "secret"))
        session.say("two")
        session.hand_over(captures, cwd="/")
        is_wanted = captures.is_wanted(host="claude-code", session_id="s1", cwd="/")

    assert session.kept == []
    assert not is_wanted


def test_what_was_said_in_a_pause_that_no_hook_saw_is_not_recorded(session: Session) -> None:
    """It begins and ends between two events of the session: the times of the lines say it."""
    begun = datetime.now(UTC) - timedelta(hours=2)
    with session.captures() as captures:
        captures.pauses.pause("all", now=begun)
        captures.pauses.resume("all", now=begun + timedelta(hours=1))
        within = (begun + timedelta(minutes=30)).isoformat()
        session.path.write_text(claude("user", "within", id_="1", at=within))
        session.say("after")
        session.hand_over(captures)

    assert session.kept == ["after"]


def test_what_was_passed_over_stays_so_when_the_file_is_written_anew(session: Session) -> None:
    """The cursor alone would not know."""
    with session.captures() as captures:
        captures.pauses.pause("conversation", "s1", now=datetime.now(UTC) - timedelta(seconds=5))
        session.say("not this")
        session.hand_over(captures)
        captures.pauses.resume("conversation", "s1", now=datetime.now(UTC) - timedelta(seconds=3))
        whole = session.path.read_text()
        session.path.write_text('{"type": "summary"}\n' + whole)
        session.say("but this")
        session.hand_over(captures)

    assert session.kept == ["but this"]


def test_what_cannot_be_recorded_is_tried_again(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """There is no vault yet: it waits, and nothing is lost."""
    monkeypatch.setattr("commonplace.daemon.capture.worker._RETRY_SECONDS", 0.01)
    is_there = threading.Event()

    def registered() -> Memory:
        if not is_there.is_set():
            raise NotFound("no vault is registered")
        return session.memory

    session.says = registered
    with session.captures() as captures:
        session.say("one")
        captures.enqueue(host="claude-code", session_id="s1", transcript=str(session.path))
        wait_for(lambda: len(session.asked) > 3)
        meanwhile = captures.status()
        is_there.set()
        wait_for(lambda: captures.status()["waiting"] == 0)

    assert (meanwhile["waiting"], meanwhile["said"]) == (1, "no vault is registered")
    assert session.kept == ["one"]


def test_a_transcript_that_never_comes_is_dropped_after_a_while(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And harms no other."""
    monkeypatch.setattr("commonplace.daemon.capture.worker._RETRY_SECONDS", 0.01)
    now = [datetime.now(UTC)]
    with session.captures(clock=lambda: now[0]) as captures:
        captures.enqueue(host="claude-code", session_id="s0", transcript=str(session.path.parent / "s0.jsonl"))
        wait_for(lambda: captures.status()["said"] == "the transcript does not exist")
        now[0] += timedelta(minutes=11)
        wait_for(lambda: captures.status()["sessions"] == 0)
        session.say("one")
        session.hand_over(captures)

    assert session.kept == ["one"]


def test_a_large_transcript_comes_in_rounds_and_a_monstrous_line_is_passed_over(session: Session) -> None:
    """Memory stays bounded, and the lines behind it are read."""
    session.say(*(f"text {number}" for number in range(50)))
    with session.path.open("a") as file:
        file.write("x" * 20_000 + "\n")
    session.say("behind")
    small = CaptureStep(
        session.state,
        session.memory_for,
        Pauses(session.state),
        OPTIONS,
        lambda: datetime.now(UTC),
        most=2000,
        longest=5000,
    )
    looked = CaptureStepResult(QueuedTranscript("claude-code", "s1", os.path.realpath(session.path), ""), has_more=True)
    rounds = 0
    while looked.has_more:
        looked, rounds = small.run(looked.transcript), rounds + 1

    assert session.kept == [*(f"text {number}" for number in range(50)), "behind"]
    assert rounds > 5
    assert looked.transcript.broken == 1


def test_a_file_of_the_queue_that_is_broken_is_made_again(session: Session) -> None:
    """Nothing stops the daemon from beginning."""
    folder = session.state / FOLDER
    with session.captures() as captures:
        session.say("one")
        session.hand_over(captures)
    (file,) = folder.iterdir()
    whole = json.loads(file.read_text())
    wrong = [("recorded", -1), ("handed", "yesterday"), ("not_before", "noon")]
    for text in ("", "{", "[]", *(json.dumps({**whole, name: value}) for name, value in wrong)):
        file.write_text(text)
        with session.captures() as captures:
            session.hand_over(captures)

    assert session.kept == ["one"]


def test_what_was_said_in_a_project_that_is_left_out_is_not_kept_from_another_folder(session: Session) -> None:
    """A host names the folder that an agent is in at the end of its turn; the lines say in which it was said."""
    left_out = session.state / "left-out"
    left_out.mkdir()
    (left_out / OPT_OUT).touch()
    now = datetime.now(UTC).isoformat()
    with session.captures() as captures:
        session.path.write_text(claude("user", "not for you", id_="1", at=now, more={"cwd": str(left_out / "deep")}))
        session.hand_over(captures, cwd=str(session.state))
        session.say("nor this")
        session.hand_over(captures, cwd=str(session.state))

    assert session.kept == []


def test_a_session_that_is_silent_for_long_is_forgotten_unless_something_of_it_was_not_wanted(
    session: Session, tmp_path: Path
) -> None:
    """Else it would be read from its beginning some day, and recorded after all."""
    now = [datetime.now(UTC)]
    (tmp_path / OPT_OUT).touch()
    with session.captures(clock=lambda: now[0]) as captures:
        session.say("not this")
        session.hand_over(captures)
        other = session.path.with_name("s2.jsonl")
        other.write_text(claude("user", "two", id_="2", at=now[0].isoformat()))
        captures.enqueue(host="claude-code", session_id="s2", transcript=str(other), cwd="/")
        wait_for(lambda: captures.status()["waiting"] == 0)
    (tmp_path / OPT_OUT).unlink()
    now[0] += timedelta(days=40)
    with session.captures(clock=lambda: now[0]) as captures:
        wait_for(lambda: captures.status()["sessions"] == 1)
        session.hand_over(captures)

    assert session.kept == ["two"]


def test_a_daemon_that_runs_for_long_forgets_silent_sessions_too(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else its folder would grow with every session until it is started anew."""
    monkeypatch.setattr("commonplace.daemon.capture.worker._SILENT_FOR", timedelta(seconds=2))
    with session.captures() as captures:
        session.say("one")
        session.hand_over(captures)
        wait_for(lambda: captures.status()["sessions"] == 0)

    assert session.kept == ["one"]
    assert list((session.state / FOLDER).iterdir()) == []


def test_a_disk_that_refuses_to_forget_stops_no_other_transcript(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The thread that reads goes on."""
    monkeypatch.setattr("commonplace.daemon.capture.worker._RETRY_SECONDS", 0.01)
    now, real = [datetime.now(UTC)], Path.unlink

    def refused(path: Path, missing_ok: bool = False) -> None:
        if path.parent.name == FOLDER:
            raise PermissionError(13, "not allowed")
        real(path, missing_ok)

    monkeypatch.setattr(Path, "unlink", refused)
    with session.captures(clock=lambda: now[0]) as captures:
        captures.enqueue(host="claude-code", session_id="s0", transcript=str(session.path.parent / "s0.jsonl"))
        now[0] += timedelta(minutes=11)
        wait_for(lambda: captures.status()["sessions"] == 0)
        session.say("one")
        session.hand_over(captures)

    assert session.kept == ["one"]


def test_a_captured_conversation_knows_the_project_it_began_in(session: Session, tmp_path: Path) -> None:
    """The first of its folders that is in a repository; the vault itself is none."""
    for name in ("atlas", "boat"):
        (tmp_path / name / ".git").mkdir(parents=True)
    with session.captures() as captures:
        session.say("one")
        session.hand_over(captures, cwd=str(tmp_path / "vault"))
        before = session.memory.conversations.list()[0].project
        session.say("two")
        session.hand_over(captures, cwd=str(tmp_path / "atlas/src"))
        session.say("three")
        session.hand_over(captures, cwd=str(tmp_path / "boat"))
    (thread,) = session.memory.conversations.list()

    assert (before, thread.project, thread.count) == ("", "atlas", 3)


@contextmanager
def _other_data(tmp_path: Path, *, keeps: bool) -> Iterator[Path]:
    """The data folder, replaced in this block's wake by the copy that was made at its beginning, or by nothing."""
    data = next(tmp_path.rglob("history.db")).parent
    shutil.copytree(data, tmp_path / "copy")
    yield data
    shutil.rmtree(data)
    if keeps:
        shutil.copytree(tmp_path / "copy", data)


@pytest.mark.parametrize("keeps", [True, False], ids=["an older copy", "nothing left"])
def test_an_older_data_folder_gets_what_the_transcripts_still_have(tmp_path: Path, *, keeps: bool) -> None:
    """The state folder is newer than the data folder: what was read is read again, once, and it is told."""
    with make_memory(tmp_path) as memory:
        session = Session(tmp_path, memory)
        with session.captures() as captures:
            session.say("one")
            session.hand_over(captures)
        memory.close()
        with _other_data(tmp_path, keeps=keeps):
            with session.captures() as captures:
                session.say("two")
                session.hand_over(captures)
            memory.close()
        with session.captures() as captures:  # nobody hands anything over: a daemon that starts looks at all of them
            wait_for(lambda: session.kept == ["one", "two"])
        said = [each.said for each in memory.index.examine()]

    assert any("the data folder is an older copy: what it lacks is read again" in each for each in said)


def test_an_older_data_folder_whose_transcripts_are_gone_is_told_as_lost(tmp_path: Path) -> None:
    """Doctor names the transcript, and what can be done."""
    with make_memory(tmp_path) as memory:
        session = Session(tmp_path, memory)
        with session.captures() as captures:
            session.say("one")
            session.hand_over(captures)
        memory.close()
        with _other_data(tmp_path, keeps=True), session.captures() as captures:
            session.say("two")
            session.hand_over(captures)
            memory.close()
        session.path.unlink()
        with session.captures():
            wait_for(lambda: any(not each.ok and str(session.path) in each.said for each in memory.index.examine()))
        (lost,) = (each for each in memory.index.examine() if str(session.path) in each.said)

    assert "lost" in lost.said
    assert "`conversations` folder" in lost.remedy


def test_an_erased_session_is_not_read_again_and_may_go_on(session: Session) -> None:
    """Not by the next daemon, nor when its hook calls again."""
    with session.captures() as captures:
        session.say("erase me")
        session.hand_over(captures)
        (thread,) = session.memory.conversations.list()
        session.memory.conversations.erase(thread.id)
        session.hand_over(captures)
    with session.captures() as captures:
        session.say("go on")
        session.hand_over(captures)

    assert session.kept == ["go on"]


def test_another_vault_gets_only_what_is_said_from_then_on(tmp_path: Path, session: Session) -> None:
    """A person who changes the vault does not move what was said before into it."""
    with session.captures() as captures:
        session.say("for the first vault")
        session.hand_over(captures)
    with make_memory(tmp_path / "second") as other:
        session.says = lambda: other
        with session.captures() as captures:
            session.hand_over(captures)  # nothing was said yet since the change
            session.say("for the second")
            session.hand_over(captures)
        kept = [each.text for thread in other.conversations.list() for each in other.conversations.show(thread.id)[1]]

    assert kept == ["for the second"]


def test_the_queue_of_an_earlier_version_is_read_on_where_it_was(session: Session) -> None:
    """Its cursors are used once: what was recorded, or erased, by that version does not come again."""
    with session.captures() as captures:
        session.say("recorded and erased by an earlier version")
        session.hand_over(captures)
    (thread,) = session.memory.conversations.list()
    (file,) = (session.state / FOLDER).glob("*.json")
    values = json.loads(file.read_bytes())
    size = session.path.stat().st_size
    tail = hashlib.sha256(session.path.read_bytes()[-4096:]).hexdigest()
    for name in ("recorded", "vault_folder", "earlier"):
        del values[name]
    file.write_text(json.dumps({**values, "cursor": {"offset": size, "tail": tail}}))
    history = session.memory.conversations._session.stores.history
    history.forget_conversation(thread.id)
    with closing(apsw.Connection(str(next(session.state.rglob("history.db"))))) as raw:
        raw.execute("DELETE FROM capture_cursors")
    with session.captures() as captures:
        session.say("new")
        session.hand_over(captures)

    assert session.kept == ["new"]
