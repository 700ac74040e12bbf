"""The sleep job is killed at any step, again and again: the next run goes on, and each bullet is there once."""

import random
import shutil
from collections import Counter
from datetime import timedelta
from pathlib import Path

from commonplace import Message
from commonplace.app import open_with
from commonplace.memory import Memory
from commonplace.model import Actor
from commonplace.settings.load import load_settings
from tests.faults.figures import Figures
from tests.faults.killing import killed_after
from tests.gitvault import new_vault
from tests.memories import Calendar
from tests.run_length import rounds

KILLS = rounds(4, long=150)
ROOMS = ("flows/", "history/sqlite", "index/sqlite", "index/tables", "database", "vault", "upkeep")
OPTIONS = {"embedding.provider": "none", "upkeep.zone": "UTC"}
SPOKEN = (
    "Please fix the valve controller of the greenhouse",
    "Which tea shop in Utrecht is open on Sunday?",
    "Write the tests for the pump of the well",
)
CLOCK = Calendar()


def opened(root: Path) -> Memory:
    """The memory of that vault, on one day: days are part of what is compared."""
    settings = load_settings(flags={**OPTIONS, "vault.root": str(root)}).settings
    return open_with(settings, actor=Actor("person", "test"), clock=CLOCK)


def _sleep(memory: Memory) -> bool:
    return memory.jobs.run("sleep").outcome == "done"


def sleep(root: Path, *, steps: int | None) -> int:
    """Run the job in another process, killed after that many calls of ours; returns the calls made, 0 if killed."""
    return killed_after(steps, _sleep, root, rooms=ROOMS, settings=OPTIONS, opens=lambda: opened(root))


def prepared(root: Path) -> None:
    """A vault with conversations of two days and a saved entry."""
    new_vault(root, note="# A note\n")
    with opened(root) as memory:
        memory.index.sync()
        memory.entries.save("I prefer tabs to spaces.")
        for number, text in enumerate(SPOKEN):
            at = CLOCK.at - timedelta(hours=1, days=number % 2)
            memory.conversations.record([Message("user", text, at=at)], interface="test", source_id=str(number))


def bullets(root: Path) -> Counter[str]:
    """The bullets of all days, without their block ids."""
    files = sorted((root / "Agent" / "memories").glob("*.md"))
    lines = [(file.name, line) for file in files for line in file.read_text().splitlines() if line.startswith("- ")]
    return Counter(f"{name} {line.partition(' ^')[0]}" for name, line in lines)


def test_no_kill_loses_or_doubles_a_bullet(tmp_path: Path, home: Path) -> None:
    """Whatever was cut off is done by the runs that follow, as if nothing had happened."""
    prepared(tmp_path / "whole")
    total = sleep(tmp_path / "whole", steps=None)
    whole = bullets(tmp_path / "whole")
    chance = random.Random(19)
    assert total > 100
    assert len(whole) == 4
    with Figures("sleep") as figures:
        figures.more = "restored: vaults in which a later run finished the work"
        while figures.kills < KILLS:
            root = tmp_path / f"vault{figures.kills}"
            prepared(root)
            while figures.kills < KILLS and not sleep(root, steps=chance.randrange(1, total)):
                figures.kills += 1
            sleep(root, steps=None)
            found = bullets(root)
            figures.acknowledged += whole.total()
            figures.lost += (whole - found).total()
            figures.restored += 1
            assert found == whole, f"after {figures.kills} kills"
            for folder in (root, home / "data"):
                shutil.rmtree(folder)
