"""Tasks and corrections are recorded, found, weighed, switched and erased; what is isolated stays by itself."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from commonplace.errors import NotFound, Refused, UsageError, VaultUnavailable
from commonplace.flows.conversations import may_learn_from
from commonplace.memory import Memory
from commonplace.model import Actor
from tests.memories import Calendar, make_memory
from tests.raw_files import raw_bytes
from tests.transcript_lines import claude

TASK = "Renew the certificate of the shop"
RESULT = "The certificate is renewed until May."
WRONG = "You deploy to the MySQL server in Berlin."
RIGHT = "No, I meant the staging server in Utrecht."
TALK = [
    {"role": "user", "content": "Where do we deploy?"},
    {"role": "assistant", "content": WRONG},
    {"role": "user", "content": RIGHT},
    {"role": "assistant", "content": "Staging it is."},
]


@pytest.fixture
def clock() -> Calendar:
    return Calendar()


@pytest.fixture
def memory(tmp_path: Path, clock: Calendar) -> Iterator[Memory]:
    with make_memory(tmp_path, clock=clock) as opened:
        yield opened


@pytest.fixture
def agent(memory: Memory) -> Memory:
    return memory.acting(Actor("agent", "codex"))


def found(memory: Memory, query: str, *sources: str) -> list[tuple[str, str]]:
    """The source and the text of each hit, best first."""
    return [(hit.source_type, hit.text) for hit in memory.search(query, sources=sources, min_score=0, mode="words")]


# Tasks


@pytest.mark.requirement("I-15")
def test_a_task_and_its_result_are_found_once(memory: Memory) -> None:
    """In a source of their own; the same task with the same result again is known."""
    first = memory.tasks.record(TASK, result=RESULT, interface="todo")
    again = memory.tasks.record(TASK, result=RESULT, interface="todo")
    (listed,) = memory.tasks.list()

    assert (first.added, again.added, again.id) == (2, 0, first.id)
    assert {*found(memory, "certificate", "task")} == {("task", TASK), ("task", RESULT)}
    assert found(memory, "certificate", "chat") == []
    assert (listed.id, listed.kind, listed.title) == (first.id, "task", TASK)
    assert [each.text for each in memory.tasks.show(first.id[:8])[1]] == [TASK, RESULT]
    assert memory.conversations.list() == ()


def test_a_result_may_come_later(memory: Memory, clock: Calendar) -> None:
    """With the id that the program gave the task; a task without words is refused."""
    first = memory.tasks.record(TASK, id="17", interface="todo")
    clock.pass_(hours=1)
    later = memory.tasks.record(TASK, result=RESULT, id="17", interface="todo")

    assert (later.id, later.added, later.known) == (first.id, 1, 1)
    with pytest.raises(UsageError, match="the task is empty"):
        memory.tasks.record("  ")


@pytest.mark.requirement("I-16")
def test_a_silent_task_is_kept_and_not_recalled(memory: Memory, tmp_path: Path) -> None:
    """Neither is any task if the settings switch the source off; recording still works."""
    id_ = memory.tasks.record(TASK, result=RESULT, silent=True).id
    with make_memory(tmp_path / "off", settings={"sources.tasks.enabled": False}) as other:
        other.tasks.record(TASK, result=RESULT)
        unindexed = found(other, "certificate"), len(other.tasks.list())

    assert found(memory, "certificate") == []
    assert memory.tasks.show(id_)[0].memory == "isolated"
    assert len(found(memory, "certificate", "isolated")) == 2
    assert unindexed == ([], 1)


@pytest.mark.requirement("I-18")
def test_a_task_is_recorded_although_the_index_fails(memory: Memory, tmp_path: Path) -> None:
    """The next sync brings it into the index."""
    memory.index.sync()
    index = next((tmp_path / "data").rglob("index.db")).parent
    memory.close()
    kept = index.rename(tmp_path / "kept")
    index.write_text("no folder")
    recorded = memory.tasks.record(TASK, result=RESULT)
    index.unlink()
    kept.rename(index)
    memory.close()
    with make_memory(tmp_path) as again:
        again.index.sync()
        texts = found(again, "certificate")

    assert recorded.added == 2
    assert len(texts) == 2


def test_an_old_task_counts_less(memory: Memory, clock: Calendar) -> None:
    """By its age; a question about a time does not weigh it."""
    memory.tasks.record(TASK, result=RESULT)
    (new, *_) = memory.search(TASK, sources=("task",), min_score=0)
    clock.pass_(days=60)
    (old, *_) = memory.search(TASK, sources=("task",), min_score=0)

    assert old.score < new.score
    assert old.why["task"]["days"] == 60


# Corrections


def test_what_the_person_corrects_in_a_conversation_is_recorded(memory: Memory) -> None:
    """With what was wrong and the conversation; a search finds it once, before what else was said."""
    id_ = memory.conversations.record(TALK, interface="web", source_id="1").id
    memory.conversations.record(TALK, interface="web", source_id="1")
    (correction,) = memory.corrections.list()
    _, messages = memory.corrections.show(correction.id)
    hits = memory.search("staging server Utrecht", min_score=0).hits

    assert [each.text for each in messages] == [WRONG, RIGHT]
    assert (correction.parent, correction.kind) == (id_, "correction")
    assert (hits[0].source_type, hits[0].metadata["corrects"]) == ("correction", WRONG)
    assert [hit.text for hit in hits].count(RIGHT) == 1
    assert "correction" in hits[0].why


@pytest.mark.requirement("X-06")
def test_a_correction_is_found_in_a_transcript_that_comes_in_pieces(memory: Memory) -> None:
    """The answer may have been captured before, as with every hook at the end of a turn; it counts as captured."""
    lines = [
        claude("user", "Where do we deploy?", id_="1").encode(),
        claude("assistant", WRONG, id_="2").encode(),
        claude("user", RIGHT, id_="3").encode(),
    ]
    captured = memory.acting(Actor("job", "claude-code")).conversations
    for line in lines:
        captured.capture(line, host="claude-code", session_id="s")
    captured.capture(b"".join(lines), host="claude-code", session_id="s")
    (correction,) = memory.corrections.list()

    assert (correction.captured, correction.is_claim, correction.trust) == (True, False, "said")
    assert [each.text for each in memory.corrections.show(correction.id)[1]] == [WRONG, RIGHT]


def test_a_correction_of_the_last_answer_is_told_by_hand(memory: Memory) -> None:
    """Or of what the person says it is of; without a conversation it stands alone."""
    id_ = memory.conversations.record(TALK[:2], interface="web", source_id="1").id
    ours = memory.corrections.record("It is in Utrecht.", conversation=id_[:8])
    alone = memory.corrections.record("We deploy on Thursdays.", corrects="You deploy on Fridays.")
    shown = [memory.corrections.show(each.id) for each in (ours, alone)]

    assert [thread.parent for thread, _ in shown] == [id_, ""]
    assert [messages[0].text for _, messages in shown] == [WRONG, "You deploy on Fridays."]
    with pytest.raises(NotFound, match="no such conversation"):
        memory.corrections.record("x", conversation="c-none")
    with pytest.raises(NotFound, match="no such task"):
        memory.tasks.show(alone.id)


def test_erasing_a_conversation_leaves_nothing_of_its_corrections(memory: Memory, tmp_path: Path) -> None:
    """In no file; a correction that was erased by itself does not come back with its conversation."""
    memory.conversations.record(TALK, interface="web", source_id="1")
    (correction,) = memory.corrections.list()
    memory.corrections.erase(correction.id)
    id_ = memory.conversations.record(TALK, interface="web", source_id="1").id
    erased = memory.corrections.list()
    other = memory.conversations.record(TALK, interface="web", source_id="2").id
    for each in (id_, other):
        memory.conversations.erase(each)
    left = memory.corrections.list()
    memory.close()

    assert (erased, left) == ((), ())
    assert b"Utrecht" not in raw_bytes(tmp_path / "data")


def test_a_refused_conversation_leaves_no_correction(memory: Memory, agent: Memory) -> None:
    """What an agent may not add to the person's own conversation is not recorded as a correction in it either."""
    memory.conversations.record(TALK[:2], interface="web", source_id="1")

    with pytest.raises(Refused, match="may not be added"):
        agent.conversations.record(TALK, interface="web", source_id="1")
    assert memory.corrections.list() == ()


def test_secrets_in_tasks_and_corrections_of_programs_are_redacted(memory: Memory, agent: Memory) -> None:
    """As in conversations; a program's correction is a claim, of which no prompt is given anything."""
    key = "sk-ant-api03-" + "abcDEF123456" * 8
    agent.tasks.record(f"Use the key {key}", result=f"Used {key}", trust="said")
    agent.corrections.record(f"No, I meant the key {key}", corrects=WRONG, trust="said")
    texts = [
        message.text
        for verbs in (memory.tasks, memory.corrections)
        for each in verbs.list()
        for message in verbs.show(each.id)[1]
    ]
    context = memory.context("What do my notes say about the key that I meant?", notes="always")

    assert len(texts) == 4
    assert not any(key in each for each in texts)
    assert "the key" not in context.text


def test_a_prompt_is_given_the_persons_correction(memory: Memory) -> None:
    """With what it corrects, although it is an earlier prompt, which otherwise is no memory."""
    memory.conversations.record(TALK, interface="web", source_id="1")
    text = memory.context("What did we say about the staging server in Utrecht?", notes="always").text

    assert RIGHT in text
    assert "said this to correct" in text


# What a conversation is used for


@pytest.mark.requirement("V-29")
def test_the_person_switches_what_a_conversation_is_used_for(memory: Memory) -> None:
    """`off` leaves it to search alone, `isolated` to a search that names it; its corrections follow."""
    id_ = memory.conversations.record(TALK, interface="web", source_id="1").id
    states = {}
    for use in ("on", "off", "isolated", "on"):
        thread = memory.conversations.use(id_, use)
        prompt = memory.context("What did we say about the staging server in Utrecht?", notes="always", peek=True)
        states[use] = (
            may_learn_from(thread, memory._session.stores),
            "Utrecht" in prompt.text,
            {source for source, _ in found(memory, "Utrecht staging")},
            len(found(memory, "Utrecht staging", "isolated")) > 0,
        )

    assert states == {
        "on": (True, True, {"chat", "correction"}, False),
        "off": (False, False, {"chat", "correction"}, False),
        "isolated": (False, False, set(), True),
    }


def test_a_program_may_use_a_conversation_less_and_not_more(memory: Memory, agent: Memory) -> None:
    """It does not see an isolated one: not in a list, not by its id, not in a search."""
    id_ = memory.conversations.record(TALK, interface="web", source_id="1").id
    agent.conversations.use(id_, "off")
    with pytest.raises(Refused, match="memory is off"):
        agent.conversations.use(id_, "on")
    agent.conversations.use(id_, "isolated")

    assert agent.conversations.list() == agent.corrections.list() == ()
    assert len(memory.conversations.list()) == len(memory.corrections.list()) == 1
    assert found(agent, "Utrecht") == []
    with pytest.raises(NotFound):
        agent.conversations.show(id_)
    with pytest.raises(Refused, match="only the person"):
        agent.search("Utrecht", sources=("isolated",))
    with pytest.raises(UsageError, match="no such use"):
        memory.conversations.use(id_, "never")  # type: ignore[arg-type]


def test_the_settings_isolate_a_program_or_a_project(memory: Memory, tmp_path: Path) -> None:
    """At once, before anything is indexed again; and no session is told what was said last in it."""
    folder = tmp_path / "atlas"
    (folder / ".git").mkdir(parents=True)
    memory.conversations.record(TALK, interface="work-laptop", source_id="1", project="atlas")
    told = memory.context.start(folder=str(folder), peek=True).text
    memory.close()
    with make_memory(tmp_path, settings={"sources.isolated": ["work-laptop"]}) as isolated:
        before = found(isolated, "Utrecht staging")
        isolated.index.sync()
        after = found(isolated, "Utrecht staging"), len(found(isolated, "Utrecht staging", "isolated"))
        session = isolated.context.start(folder=str(folder), peek=True).text
        (thread,) = isolated.conversations.list()
        learns = may_learn_from(thread, isolated._session.stores)

    assert "Where do we deploy?" in told
    assert (before, after, session, learns) == ([], ([], 2), "", False)


def test_a_correction_survives_a_disk_that_refuses_the_conversation(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is recorded first: when the same messages come again, nothing is lost and nothing doubled."""
    history = memory._session.stores.history
    record, calls = history.record_conversation, []

    def refusing(thread, *args, **kwargs):  # type: ignore[no-untyped-def] # as record_conversation
        calls.append(thread.kind)
        if thread.kind == "chat":
            raise VaultUnavailable("the disk is full")
        return record(thread, *args, **kwargs)

    monkeypatch.setattr(history, "record_conversation", refusing)
    with pytest.raises(VaultUnavailable):
        memory.conversations.record(TALK, interface="web", source_id="1")
    monkeypatch.undo()
    memory.conversations.record(TALK, interface="web", source_id="1")

    assert calls == ["correction", "chat"]
    assert len(memory.corrections.list()) == len(memory.conversations.list()) == 1
