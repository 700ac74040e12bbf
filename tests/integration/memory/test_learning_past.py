"""Conversations of years ago are learned from: what was said since is newer than they are."""

from datetime import UTC, datetime
from pathlib import Path

from tests.memories import make_memory

OLD = "I live in Utrecht. My cat is called Momo. I no longer work at Philips. I'm vegetarian."
OLDER = "I live in Ghent. I am no longer vegetarian."


def test_what_was_said_long_ago_ends_nothing_that_was_said_since(tmp_path: Path) -> None:
    """A later statement stays, an earlier one is part of the past, and what is said again holds again."""
    with make_memory(tmp_path) as memory:
        for text in ("Lives in Berlin.", "Works at Philips."):
            memory.entries.save(text, kind="fact")
        for year, text in ((2025, OLD), (2024, OLDER)):
            message = {"role": "user", "content": text, "at": datetime(year, 3, 1, tzinfo=UTC)}
            memory.conversations.record([message], interface="chatgpt", source_id=str(year))
        memory.learning.run()
        refused = [each.text for each in memory.learning.log() if each.outcome == "refused"]
        current = {each.fact.text for each in memory.facts.about()}

    assert current == {"Lives in Berlin.", "Works at Philips.", "The cat is called Momo.", "Is vegetarian."}
    assert refused == ["No longer works at Philips."]
