"""The memory grows by typed entries: whatever brings them in, each is filed under its kind."""

from pathlib import Path

import pytest

from commonplace.memory import Memory
from commonplace.model import KINDS, Actor, Message
from tests.memories import make_memory

SAID = (
    "I live in Utrecht. I prefer short answers. My sister is called Ines. I am allergic to nuts. "
    "We decided to use Postgres because of JSON. I work at Acme as a data engineer."
)


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    """The person's memory."""
    return make_memory(tmp_path)


@pytest.mark.requirement("A-61")
def test_forward_learning_files_each_statement_under_its_kind(memory: Memory) -> None:
    """No statement that learning keeps is without a kind, and its kind is its folder."""
    messages = [Message("user", SAID), Message("assistant", "Noted.")]
    memory.conversations.record(messages, interface="chatgpt", source_id="1")
    memory.learning.run(waits=False)
    facts = [each.fact for each in memory.facts.about() if each.fact.origin == "entry"]

    assert len({fact.kind for fact in facts}) >= 2
    for fact in facts:
        assert fact.kind in KINDS
        assert fact.path.startswith(f"Agent/Memory/{fact.kind}/")


@pytest.mark.requirement("A-61")
def test_what_an_agent_reads_elsewhere_keeps_its_kind_through_review(memory: Memory) -> None:
    """Research is filed like anything else: with its kind, and, because anyone may have written it, after approval."""
    agent = memory.acting(Actor("agent", "claude-code"))
    saved = agent.entries.save(
        "SQLite checkpoints a WAL file at 1,000 pages by default.",
        kind="domain-reference",
        topics=["sqlite"],
        trust="read",
    )
    (approved,) = memory.reviews.approve(saved.fact.id)

    assert saved.staged
    assert approved.fact.path.startswith("Agent/Memory/domain-reference/")
    assert [hit.path for hit in memory.search("WAL checkpoint pages", kinds=["domain-reference"]).hits] == [
        approved.fact.path
    ]
