"""The jobs `playbooks` and `digest` are killed at any step: the next run goes on, and each line is there once."""

import random
import re
import shutil
from collections import Counter
from pathlib import Path

from commonplace import Message, open_memory
from commonplace.memory import Memory
from tests.faults.figures import Figures
from tests.faults.killing import killed_after
from tests.gitvault import new_vault
from tests.run_length import rounds

KILLS = rounds(5, long=100)
ROOMS = ("upkeep/", "flows/", "history/sqlite", "index/sqlite", "index/tables", "database", "vault")
OPTIONS = {"embedding.provider": "none"}
STEPS = "1. Run the tests.\n2. Build with `make site`.\n3. Copy it to the server."
EXPLAINED = f"For the record, this is how we deploy the website:\n{STEPS}"
_NAMES = re.compile(r"\b[0-9a-f]{6,40}\b")


def _run_jobs(memory: Memory) -> bool:
    records = [memory.jobs.run(name) for name in ("playbooks", "digest")]
    return all(each.outcome == "done" for each in records)


def run_jobs(root: Path, *, steps: int | None) -> int:
    """Run both jobs in another process, killed after that many calls; returns the calls made, 0 if killed."""
    return killed_after(steps, _run_jobs, root, rooms=ROOMS, settings=OPTIONS)


def prepared(root: Path) -> None:
    """A vault with an explained procedure, work that ended well, and changes by an agent."""
    new_vault(root, note="# A note\n")
    with open_memory(root, settings=OPTIONS) as memory:
        memory.index.sync()
        memory.conversations.record([Message("user", EXPLAINED), Message("assistant", "Noted.")], source_id="1")
        memory.tasks.record("Renew the certificate of the shop", result=f"{STEPS}\nAll checks passed.")
    with open_memory(root, actor="agent", settings=OPTIONS) as agent:
        agent.notes.write("Inbox/Idea.md", "An idea.\n")
        agent.projects.add_progress("the parser works", project="atlas")


def outcome(root: Path) -> tuple[Counter[str], int, Counter[str]]:
    """The playbooks that hold, how many wait, and the lines of the digest without ids and commits."""
    with open_memory(root, settings=OPTIONS) as memory:
        texts = Counter(each.fact.text for each in memory.facts.about() if each.fact.kind == "procedural")
        waiting = memory.reviews.count()
    notes = (root / "Agent/digests").glob("*.md")
    lines = [_NAMES.sub("*", line) for note in notes for line in note.read_text().splitlines()]
    return texts, waiting, Counter(line for line in lines if line.startswith("- "))


def test_no_kill_loses_or_doubles_a_playbook_or_a_line_of_the_digest(tmp_path: Path, home: Path) -> None:
    """Whatever was cut off is done by the runs that follow, as if nothing had happened."""
    prepared(tmp_path / "whole")
    total = run_jobs(tmp_path / "whole", steps=None)
    expected = outcome(tmp_path / "whole")
    chance = random.Random(45)
    assert total > 100
    assert (expected[0].total(), expected[1], expected[2].total()) == (1, 1, 4)
    with Figures("report") as figures:
        figures.more = "restored: vaults in which a later run finished the work"
        while figures.kills < KILLS:
            root = tmp_path / f"vault{figures.kills}"
            prepared(root)
            while figures.kills < KILLS and not run_jobs(root, steps=chance.randrange(1, total)):
                figures.kills += 1
            assert run_jobs(root, steps=None) >= 0
            found = outcome(root)
            figures.acknowledged += expected[2].total()
            figures.lost += (expected[2] - found[2]).total()
            figures.restored += 1
            assert found == expected, f"after {figures.kills} kills"
            for folder in (root, home / "data"):
                shutil.rmtree(folder)
