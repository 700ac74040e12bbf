"""Learning is killed at any step, again and again: the next run goes on, and each fact is there once and whole."""

import random
import shutil
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

from commonplace import Message, open_memory
from commonplace.memory import Memory
from tests.faults.figures import Figures
from tests.faults.killing import killed_after
from tests.gitvault import new_vault
from tests.run_length import rounds

KILLS = rounds(5, long=200)
ROOMS = ("flows/", "history/sqlite", "index/sqlite", "index/tables", "database", "vault", "extraction")
OPTIONS = {"embedding.provider": "none"}
SPOKEN = (
    "I live in Utrecht. Can you find a tea shop?",
    "I prefer tabs to spaces. And I am allergic to peanuts.",
    "My sister Ada works at Norrfors.",
    "We decided to use PostgreSQL for the shop.",
)
NOTE = "---\nmemory: source\n---\nI work as a nurse.\n\nMy dog is called Momo.\n"
EDITED = NOTE.replace("My dog is called Momo.", "My cat is called Lilo.")
SAID_AT = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)


def _learn(memory: Memory) -> bool:
    memory.learning.run()
    return True


def learn(root: Path, *, steps: int | None) -> int:
    """Learn in another process, killed after that many calls of our functions; returns the calls made, 0 if killed."""
    return killed_after(steps, _learn, root, rooms=ROOMS, settings=OPTIONS)


def prepared(root: Path) -> None:
    """A vault with conversations and a marked note that was read once and edited since."""
    new_vault(root, note="# A note\n")
    (root / "Me.md").write_text(NOTE)
    with open_memory(root, settings=OPTIONS) as memory:
        memory.index.sync()
        memory.learning.run()
        (root / "Me.md").write_text(EDITED)
        memory.index.sync()
        for number, text in enumerate(SPOKEN):
            messages = [Message("user", text, at=SAID_AT), Message("assistant", "Noted.", at=SAID_AT)]
            memory.conversations.record(messages, interface="test", source_id=str(number))


def learned(root: Path) -> tuple[Counter[str], Counter[tuple[str, str, str]]]:
    """The statements that hold, and the log: every item with its source and outcome."""
    with open_memory(root, settings=OPTIONS) as memory:
        facts = [each.fact for each in memory.facts.about()]
        assert not any(each.confirmed for each in facts)
        assert memory.learning.status().pending == 0
        log = Counter((each.source, each.text, str(each.outcome)) for each in memory.learning.log())
    return Counter(each.text for each in facts), log


def test_no_kill_loses_or_doubles_what_was_said(tmp_path: Path, home: Path) -> None:
    """Whatever was cut off is done by the runs that follow, as if nothing had happened."""
    prepared(tmp_path / "whole")
    total = learn(tmp_path / "whole", steps=None)
    facts, log = learned(tmp_path / "whole")
    chance = random.Random(18)
    assert total > 100
    assert len(facts) >= 6
    with Figures("learn") as figures:
        figures.more = "restored: vaults in which a later run finished the work"
        while figures.kills < KILLS:
            root = tmp_path / f"vault{figures.kills}"
            prepared(root)
            while figures.kills < KILLS and not learn(root, steps=chance.randrange(1, total)):
                figures.kills += 1
            learn(root, steps=None)
            found, found_log = learned(root)
            figures.acknowledged += facts.total()
            figures.lost += (facts - found).total()
            figures.restored += 1
            assert (found - facts, facts - found) == (Counter(), Counter()), f"after {figures.kills} kills"
            assert (found_log - log, log - found_log) == (Counter(), Counter()), f"after {figures.kills} kills"
            for folder in (root, home / "data"):
                shutil.rmtree(folder)
