"""What an erasure leaves behind: nothing that can be undone, found or read."""

import os
import signal
from pathlib import Path
from typing import Any

import pytest

from commonplace import NotFound, Refused, open_memory
from commonplace.vault import batch, obsidian
from tests.gitvault import git, new_vault

OPTIONS = {"embedding.provider": "none"}


def test_undo_does_not_undo_a_part_of_an_erasure(tmp_path: Path) -> None:
    """The change by which the erasure took the id out of the entries that named it."""
    root = tmp_path / "vault"
    new_vault(root, note="# A note\n")
    with open_memory(root, settings=OPTIONS) as memory:
        first = memory.entries.save("The boiler stands in the cellar of the old house.").fact.id
        second = memory.entries.save("The boiler was replaced in March 2025.", extends=[first]).fact
        assert first in (root / second.path).read_text()
        memory.entries.erase(first)
        memory.entries.save("The roof was mended in April 2025.")

        undone = memory.notes.undo()

        assert "roof" in undone[0].path
        assert first not in (root / second.path).read_text()


def test_undo_of_an_older_change_does_not_bring_the_id_of_an_erased_entry_back(tmp_path: Path) -> None:
    """An undo that took the id away: undone itself, it would bring it back."""
    root = tmp_path / "vault"
    new_vault(root, note="# A note\n")
    with open_memory(root, settings=OPTIONS) as memory:
        first = memory.entries.save("The boiler stands in the cellar of the old house.").fact.id
        second = memory.entries.save("The boiler was replaced in March 2025.", extends=[first]).fact
        (undone,) = memory.notes.undo()
        memory.entries.erase(first)

        with pytest.raises(Refused, match="erased since"):
            memory.notes.undo(commit=undone.commit)

        assert not (root / second.path).exists()


def test_an_erasure_forgets_the_topics_of_conversations(tmp_path: Path) -> None:
    """They are words of entries."""
    root = tmp_path / "vault"
    new_vault(root, note="# A note\n")
    with open_memory(root, settings=OPTIONS) as memory:
        saved = memory.entries.save("The kiln in the workshop needs new coils.", topics=["zanderkiln"])
        memory.context("zanderkiln", conversation="c1")
        memory.entries.erase(saved.fact.id)
    data = Path.home()
    assert [file for file in data.rglob("*") if file.is_file() and b"zanderkiln" in file.read_bytes()] == []


def test_an_erasure_killed_before_its_commit_is_finished_by_whoever_opens_the_vault(tmp_path: Path, home: Path) -> None:
    """The note is off the disk, and the vault's journal is still there: the vault recovers before the rows go."""
    root, word = tmp_path / "vault", "quokkazander"
    new_vault(root, note="# A note\n")
    with open_memory(root, settings=OPTIONS) as memory:
        entry = memory.entries.save(f"The boiler is called {word} by everyone in the house.").fact
    if not (child := os.fork()):
        made = batch.make_all

        def make_all(*given: Any) -> None:
            made(*given)
            os.kill(os.getpid(), signal.SIGKILL)

        vars(obsidian)["make_all"] = make_all
        with open_memory(root, settings=OPTIONS) as memory:
            memory.entries.erase(entry.id)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    assert not (root / entry.path).exists()
    with open_memory(root, settings=OPTIONS) as memory, pytest.raises(NotFound):
        memory.entries.show(entry.id)

    assert [file for file in home.rglob("*") if file.is_file() and word.encode() in file.read_bytes()] == []
    assert git(root, "grep", "-c", word, "HEAD", check=False) == ""
