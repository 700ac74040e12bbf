"""Retention: conversations that are too old are forgotten everywhere, exactly at the cutoff, and only if it is set."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from commonplace.errors import NotFound, Refused, UsageError
from commonplace.memory import Memory
from commonplace.model import Actor, Message
from tests.command_line import calling
from tests.memories import Calendar, make_memory

NOW = datetime(2026, 9, 1, 9, 0, tzinfo=UTC)
WORD = "quokkazander"
DAYS = {"upkeep.retention.days": 90}


def opened(folder: Path, **settings: object) -> Memory:
    named = {name.replace("__", "."): value for name, value in settings.items()}
    return make_memory(folder, clock=Calendar(NOW), settings={**DAYS, **named})


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with opened(tmp_path) as made:
        yield made


def talk(memory: Memory, *, at: datetime, id: str = "1", interface: str = "codex", text: str = "") -> str:
    """Record a conversation whose last message is from that time."""
    said = text or f"The boiler is called {WORD} by everyone in the house."
    messages = [Message("user", said, at=at - timedelta(hours=1)), Message("assistant", "Noted.", at=at)]
    return memory.conversations.record(messages, interface=interface, source_id=id, trust="told").id


def ids(memory: Memory) -> set[str]:
    return {each.id for each in memory.conversations.list()}


@pytest.mark.requirement("I-46", "I-54")
def test_nothing_is_forgotten_unless_the_person_says_how_long_to_keep(tmp_path: Path) -> None:
    """Conversations are the source that ages; without days all stay, and the run says why. Notes are never touched."""
    with opened(tmp_path, upkeep__retention__days=0) as memory:
        old = talk(memory, at=NOW - timedelta(days=3000))
        record = memory.jobs.run("retention")

        assert record.steps == ()
        assert "upkeep.retention.days is 0" in record.said
        assert ids(memory) == {old}
    with opened(tmp_path) as memory:
        kept = memory.entries.save("Sings in a choir.", kind="preference").fact.path
        record = memory.jobs.run("retention")

        assert [(each.step.subject, each.outcome) for each in record.steps] == [(old, "done")]
        assert ids(memory) == set()
        assert memory.notes.read(kept).body.strip() == "Sings in a choir."


@pytest.mark.requirement("I-49")
def test_the_cutoff_is_exact_and_in_utc(memory: Memory) -> None:
    """A last message one second before the cutoff goes; one at the cutoff stays, in whatever zone it was said."""
    cutoff = NOW - timedelta(days=90)
    gone = talk(memory, at=cutoff - timedelta(seconds=1), id="before")
    at = talk(memory, at=cutoff, id="at", text="Rye bread is on the table.")
    talk(memory, at=cutoff + timedelta(seconds=1), id="after", text="Oat bread is on the table.")
    dry = memory.jobs.run("retention", dry_run=True)
    record = memory.jobs.run("retention")
    again = memory.jobs.run("retention")

    assert [each.step.subject for each in dry.steps] == [each.step.subject for each in record.steps] == [gone]
    assert len(ids(memory)) == 2
    assert at in ids(memory)
    assert again.steps == ()


def test_each_program_may_have_its_own_days(tmp_path: Path) -> None:
    """0 keeps all of a program; what is not named follows the general rule."""
    rules = ["chatgpt=10", "claude-code=0"]
    with opened(tmp_path, upkeep__retention__sources=rules) as memory:
        at = NOW - timedelta(days=20)
        short = talk(memory, at=at, interface="chatgpt", text="Short-lived words here.")
        talk(memory, at=at, interface="codex", text="Words of the middle here.")
        talk(memory, at=NOW - timedelta(days=900), interface="claude-code", text="Words to keep here.")
        record = memory.jobs.run("retention")

    assert [each.step.subject for each in record.steps] == [short]
    with pytest.raises((UsageError, ValueError)), opened(tmp_path, upkeep__retention__sources=["chatgpt"]):
        pass


def test_what_is_forgotten_is_forgotten_everywhere(memory: Memory, tmp_path: Path) -> None:
    """Messages, files, index, vectors, topics and the log of jobs hold no word; imports know that it is forgotten."""
    at = NOW - timedelta(days=100)
    id = talk(memory, at=at)
    memory.context(f"what about the {WORD} boiler?", conversation="codex:1")
    found = memory.search(WORD, sources=("chat",)).hits
    memory.jobs.run("retention")
    known = memory._session.stores.history.forgotten([id])
    hits = memory.search(WORD, sources=("chat",)).hits
    memory.close()
    left = [file for file in (tmp_path / "data").rglob("*") if file.is_file() and WORD.encode() in file.read_bytes()]

    assert found
    assert known == {id}
    assert (hits, left) == ((), [])


@pytest.mark.parametrize("facts", ["keep", "forget"])
def test_what_was_learned_stays_without_its_quote_unless_the_person_chooses(tmp_path: Path, facts: str) -> None:
    """An entry is memory; its quote and turn are the conversation's words."""
    with opened(tmp_path, upkeep__retention__facts=facts) as memory:
        id = talk(memory, at=NOW - timedelta(days=100), text="I prefer tea to coffee.")
        memory.learning.learn(id)
        (learned,) = [each.fact for each in memory.facts.about()]
        memory.jobs.run("retention")
        if facts == "forget":
            with pytest.raises(NotFound):
                memory.entries.show(learned.id)
            return
        after = memory.entries.show(learned.id).fact
        note = memory.notes.read(after.path).text

    assert learned.origins.quote
    assert (after.text, after.updated) == (learned.text, learned.updated)
    assert (after.origins.quote, after.origins.turn) == ("", 0)
    assert "quote" not in note


def test_an_agent_may_not_prune(memory: Memory) -> None:
    """Only the person, by setting or by hand."""
    with pytest.raises(Refused):
        memory.acting(Actor("agent", "codex")).conversations.prune("1d")


def test_the_person_prunes_by_hand_after_a_dry_run(tmp_path: Path) -> None:
    """`commonplace conversation prune`: by age and program; without a terminal it wants --yes."""
    with opened(tmp_path) as memory:
        old = talk(memory, at=datetime(2020, 1, 1, tzinfo=UTC), interface="chatgpt")
        talk(memory, at=datetime(2020, 1, 1, tzinfo=UTC), interface="codex", text="Other words are here.")
    run = calling(tmp_path / "vault")
    words = ("conversation", "prune", "--older-than", "180d", "--source", "chatgpt")
    environment = {"COMMONPLACE_DATA": str(tmp_path / "data")}
    dry = run("--json", *words, "--dry-run", **environment)
    shown = run(*words, "--dry-run", **environment)
    refused = run(*words, **environment)
    done = run("--json", *words, "--yes", **environment)

    assert [each["id"] for each in json.loads(dry.stdout)["forgotten"]] == [old]
    assert shown.stderr == "1 conversation, nothing was changed\n"
    assert refused.returncode == 2
    assert "--yes" in refused.stderr
    assert json.loads(done.stdout)["count"] == 1
    with opened(tmp_path) as memory:
        assert len(ids(memory)) == 1
