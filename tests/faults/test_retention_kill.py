"""Forgetting a conversation is killed at any step: the next run finishes it, and no word is left in derived data."""

import random
import shutil
from datetime import UTC, datetime
from pathlib import Path

from commonplace import Message, open_memory
from commonplace.memory import Memory
from tests.faults.figures import Figures
from tests.faults.killing import killed_after
from tests.gitvault import new_vault
from tests.run_length import rounds

KILLS = rounds(8, long=150)
WORD = "quokkazander"
ROOMS = ("flows", "history/sqlite", "index/sqlite", "index/tables", "database", "vault")
OPTIONS = {"embedding.provider": "none"}
LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)


def _prune(memory: Memory) -> bool:
    memory.conversations.prune("180d")
    return True


def prune(root: Path, *, steps: int | None) -> int:
    """Prune in another process, killed after that many calls of our functions; returns the calls made."""
    return killed_after(steps, _prune, root, rooms=ROOMS, settings=OPTIONS)


def prepared(root: Path) -> None:
    """A vault with an old conversation that holds the word, and an entry that quotes it."""
    new_vault(root, note="# A note\n")
    messages = [Message("user", f"I am allergic to walnuts and {WORD}.", at=LONG_AGO)]
    with open_memory(root, settings=OPTIONS) as memory:
        id = memory.conversations.record(messages, interface="codex", source_id="1").id
        quote = f"allergic to walnuts and {WORD}"
        memory.entries.save("Is allergic to walnuts.", kind="constraint", conversation=id, quote=quote)
        memory.index.sync()


def words_left(*folders: Path) -> list[str]:
    """The files that hold the word, git's own aside."""
    files = (file for folder in folders for file in folder.rglob("*") if file.is_file() and ".git" not in file.parts)
    return [str(file) for file in files if WORD.encode() in file.read_bytes()]


def test_a_killed_run_is_finished_by_the_next(tmp_path: Path, home: Path) -> None:
    """Whenever it dies: the entry stays, its quote and every message are gone after the next run."""
    prepared(tmp_path / "counted")
    assert words_left(home, tmp_path) != []
    total = prune(tmp_path / "counted", steps=None)
    assert total > 100
    assert words_left(home, tmp_path) == []
    chance = random.Random(7)
    with Figures("retention") as figures:
        for number in range(KILLS):
            root = tmp_path / f"vault{number}"
            prepared(root)
            figures.kills += prune(root, steps=chance.randrange(1, total)) == 0
            with open_memory(root, settings=OPTIONS) as memory:
                memory.conversations.prune("180d")
                assert [each.fact.text for each in memory.facts.about()] == ["Is allergic to walnuts."]
                assert memory.conversations.list() == ()
            assert words_left(home, root) == [], f"killed in vault {number}"
            for folder in (root, home / "data"):
                shutil.rmtree(folder)
