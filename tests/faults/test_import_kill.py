"""An import that is killed again and again and run once more: nothing is lost, and nothing is there twice."""

import json
import random
import time
from pathlib import Path

import pytest

from commonplace.memory import Memory
from tests.faults.figures import Figures
from tests.import_examples.build import EXAMPLES, small_talks
from tests.memories import make_memory
from tests.run_length import rounds
from tests.warm import warm

KILLS = rounds(6, long=200)
LAP = 10
"""Kills after which the import is run to its end and compared, and a new vault is taken."""
TALKS, FACTS = 40, 8
LONGEST = 3.0
"""Seconds within which a child is killed: about what the import takes."""

Said = dict[str, list[str]]


def _said(memory: Memory) -> Said:
    """What every conversation says, by its title."""
    threads = memory.conversations.list()
    return {each.title: [message.text for message in memory.conversations.show(each.id)[1]] for each in threads}


def _entries(folder: Path) -> list[str]:
    """The statements of all entries of the vault, with repetitions."""
    notes = (folder / "vault").rglob("*.md")
    return sorted(line for note in notes for line in note.read_text().split("\n") if line.startswith("Person "))


def _exports(folder: Path) -> list[str]:
    """Many conversations in one file, and memories of another program, which become entries."""
    talks, memories = folder / "conversations.json", folder / "memory.json"
    talks.write_text(json.dumps(small_talks(TALKS)))
    entity = {"type": "entity", "entityType": "person"}
    facts = ({**entity, "name": f"Person {each}", "observations": [f"Plays game {each}"]} for each in range(FACTS))
    memories.write_text("".join(json.dumps(fact) + "\n" for fact in facts))
    return [str(talks), str(memories), str(EXAMPLES / "claude_ai")]


@pytest.mark.requirement("X-02")
def test_no_kill_of_an_import_loses_or_doubles_anything(tmp_path: Path) -> None:
    """The next run goes on where the killed one was, and ends as if there had been no kill."""
    chance, exports = random.Random(18), _exports(tmp_path)
    with make_memory(tmp_path / "untouched") as untouched:
        untouched.imports.run(exports)
        expected, entries = _said(untouched), _entries(tmp_path / "untouched")
    assert len(entries) == FACTS
    with Figures("import") as figures:
        for begun in range(0, KILLS, LAP):
            folder = tmp_path / f"lap{begun}"
            make_memory(folder).close()
            for number in range(min(LAP, KILLS - begun)):
                output, errors = folder / f"out{number}", folder / f"err{number}"
                call = "tests.faults.importing:import_until_killed"
                child = warm().fork(call, str(folder), *exports, output=output, errors=errors)
                time.sleep(chance.uniform(0.02, LONGEST))
                if child.poll() is None:
                    child.kill(with_group=True)
                    figures.kills += 1
                else:
                    assert child.poll() == 0, errors.read_text()
            with make_memory(folder) as memory:
                memory.imports.run(exports)
                again = memory.imports.run(exports)

                assert _said(memory) == expected
                assert _entries(folder) == entries
                assert not again.has_changes
                figures.acknowledged += sum(map(len, expected.values()))
