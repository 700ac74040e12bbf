"""What belongs to one device stays there: heat, queues, the index and the log of jobs are never in the vault."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from commonplace.model import Actor, Message
from tests.memories import make_memory

DERIVED = {".db", ".db-wal", ".db-shm", ".seg", ".jsonl", ".json", ".bin", ".lock"}


@pytest.mark.requirement("A-12")
def test_device_local_state_is_never_in_the_vault(tmp_path: Path) -> None:
    """After saves, searches, uses, learning and every job, the vault holds notes and git's own files, and no others.

    The row's `_meta/` is the data folder outside of the vault: what is derived there is not synced as truth.
    """
    vault = tmp_path / "vault"
    with make_memory(tmp_path) as memory:
        memory.entries.save("Prefers tea to coffee.", kind="preference")
        memory.acting(Actor("agent", "codex")).entries.save("The shed is green and stands by the pond.", kind="fact")
        messages = [Message("user", "I prefer rye bread.", at=datetime(2026, 1, 1, tzinfo=UTC))]
        id = memory.conversations.record(messages, interface="codex", source_id="1").id
        memory.learning.learn(id)
        memory.context("what do I like to drink?", conversation="codex:2")
        for job in memory.jobs.list():
            memory.jobs.run(job.name)
        memory.index.sync()
    files = [path.relative_to(vault) for path in vault.rglob("*") if path.is_file()]
    ours = [path for path in files if path.parts[0] != ".git"]

    assert ours
    assert {path.suffix for path in ours} <= {".md", ".base", ""}
    assert not [path for path in files if path.suffix in DERIVED and path.parts[0] != ".git"]
    assert not [path for path in files if "commonplace" in path.parts[:2] and path.suffix == ".db"]
    assert any(file.suffix == ".db" for file in (tmp_path / "data").rglob("*"))
