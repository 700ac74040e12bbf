"""An erasure is killed at any step: what opens the vault next finishes it, and no word is left in derived data."""

import random
import shutil
from pathlib import Path

from commonplace import NotFound, open_memory
from commonplace.memory import Memory
from tests.faults.figures import Figures
from tests.faults.killing import killed_after
from tests.gitvault import git, new_vault
from tests.run_length import rounds

KILLS = rounds(10, long=200)
WORD = "quokkazander"
ROOMS = (
    "flows/notes",
    "flows/memory",
    "flows/ingest",
    "history/sqlite",
    "index/sqlite",
    "index/tables",
    "database",
    "vault",
)
OPTIONS = {"embedding.provider": "none"}


def erase(root: Path, id_: str, *, steps: int | None) -> int:
    """Erase the entry in another process, killed after that many calls of our functions; returns the calls made."""

    def work(memory: Memory) -> bool:
        memory.entries.erase(id_)
        return True

    return killed_after(steps, work, root, rooms=ROOMS, settings=OPTIONS)


def prepared(root: Path) -> tuple[str, str]:
    """A vault with an entry that holds the word, and another one that names it; their ids."""
    new_vault(root, note="# A note\n")
    with open_memory(root, settings=OPTIONS) as memory:
        first = memory.entries.save(f"The boiler is called {WORD} by everyone in the house.").fact.id
        second = memory.entries.save("The boiler was replaced in March 2025.", extends=[first]).fact.id
        memory.index.sync()
    return first, second


def words_left(home: Path) -> list[str]:
    """The derived files that hold the word."""
    return [str(file) for file in home.rglob("*") if file.is_file() and WORD.encode() in file.read_bytes()]


def test_a_killed_erasure_is_finished_by_whoever_opens_the_vault(tmp_path: Path, home: Path) -> None:
    """Either it had not begun, and the entry is whole, or nothing is left of it but what git holds."""
    first, _ = prepared(tmp_path / "counted")
    assert words_left(home) != []
    total = erase(tmp_path / "counted", first, steps=None)
    chance = random.Random(11)
    assert total > 100
    with Figures("erase") as figures:
        figures.more = "restored: erasures that the next process finished"
        for number in range(KILLS):
            root = tmp_path / f"vault{number}"
            ids = prepared(root)
            figures.kills += erase(root, ids[0], steps=chance.randrange(1, total)) == 0
            figures.restored += _finished(root, *ids)
            assert words_left(home) == [], f"killed in vault {number}"
            assert git(root, "grep", "-c", WORD, "HEAD", check=False) == ""
            for folder in (root, home / "data"):
                shutil.rmtree(folder)
    assert figures.restored > 0


def _finished(root: Path, first: str, second: str) -> bool:
    """Open the vault, and erase the entry if that had not begun: whether it had. The other one no longer names it."""
    with open_memory(root, settings=OPTIONS) as memory:
        try:
            memory.entries.show(first)
        except NotFound:
            had_begun = True
        else:
            memory.entries.erase(first)
            had_begun = False
        assert first not in (root / memory.entries.show(second).fact.path).read_text()
    return had_begun
