"""What the index has missed is seen before a save is compared with it, and a clock that was ahead hides nothing."""

import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from commonplace.memory import Memory
from tests.gitvault import git
from tests.memories import Calendar, make_memory

KILLED = 9
SAVE_AND_DIE = f"""
import os, sys
from pathlib import Path
from commonplace.flows.notes import write
from tests.memories import make_memory

write._index = lambda *args, **more: os._exit({KILLED})
with make_memory(Path(sys.argv[1])) as memory:
    memory.entries.save("Ada prefers tea to coffee.", kind="preference")
"""


def killed_save(folder: Path) -> None:
    """Save an entry in a process that dies after its commit, before anything is indexed."""
    dead = subprocess.run([sys.executable, "-c", SAVE_AND_DIE, str(folder)], env={**os.environ}, check=False)
    assert dead.returncode == KILLED


@pytest.mark.parametrize("is_synced", [True, False])
def test_a_save_that_was_killed_before_it_was_indexed_is_not_stored_twice(tmp_path: Path, is_synced: bool) -> None:
    """The retry confirms it, and `facts` finds it before anything else is done."""
    with make_memory(tmp_path) as memory:
        memory.entries.save("The office is in Graz.", kind="fact")
        if is_synced:
            memory.index.sync()
    killed_save(tmp_path)
    with make_memory(tmp_path) as memory:
        found = [each.fact.text for each in memory.facts.about()]
        again = memory.entries.save("Ada prefers tea to coffee.", kind="preference")
        entries = [stat.path for stat in memory.notes.list("Agent/Memory/preference")]

    assert "Ada prefers tea to coffee." in found
    assert again.action == "confirm"
    assert len(entries) == 1


def test_entries_that_a_pull_brought_are_compared_with_a_save(tmp_path: Path) -> None:
    """Without a sync in between: the same words on another device are confirmed."""
    here, there = tmp_path / "here", tmp_path / "there"
    with make_memory(here) as memory:
        memory.entries.save("The office is in Graz.", kind="fact")
    there.mkdir()
    git(tmp_path, "clone", "-q", str(here / "vault"), str(there / "vault"))
    with make_memory(there) as clone:
        clone.index.sync()
    with make_memory(here) as memory:
        memory.entries.save("Ada prefers tea to coffee.", kind="preference")
    git(there / "vault", "pull", "-q")
    with make_memory(there) as clone:
        assert clone.entries.save("Ada prefers tea to coffee.", kind="preference").action == "confirm"


def works_at(memory: Memory) -> list[str]:
    return [each.fact.object for each in memory.facts.about("Ada", predicate="works_at")]


def test_what_was_saved_while_the_clock_was_ahead_holds_and_wins_nothing(tmp_path: Path) -> None:
    """It is not hidden until then, a newer value replaces it, and no later day and no rebuild turns that around."""
    clock = Calendar(datetime.now(UTC) + timedelta(days=365))
    with make_memory(tmp_path, clock=clock) as memory:
        memory.facts.add("Ada", "works_at", "Acme")
        memory.entries.save("The office is in Graz.", kind="fact")
        clock.pass_(days=-365)
        held = works_at(memory)
        problems, findings = memory.lint().problems, memory.index.examine()
        memory.facts.add("Ada", "works_at", "Beta")
        after = works_at(memory)
        clock.pass_(days=400)
        memory.index.rebuild()

        assert works_at(memory) == after == ["Beta"]
    assert held == ["Acme"]
    assert {each.code for each in problems} == {"entry-future"}
    assert any("in the future" in each.said for each in findings if not each.ok)


def test_lint_gives_an_entry_from_the_future_a_time_that_can_be_true(tmp_path: Path) -> None:
    """Before the next commit, so that what was recorded since stays newer, also when that day has come."""
    clock = Calendar(datetime.now(UTC) + timedelta(days=365))
    with make_memory(tmp_path, clock=clock) as memory:
        ahead = memory.facts.add("Ada", "works_at", "Acme").fact
        clock.pass_(days=-365)
        memory.notes.write("Inbox/x.md", "x\n")
        report = memory.lint(fix=True)
        (fact,) = (each.fact for each in memory.facts.about("Ada", every=True))
        text = (tmp_path / "vault" / fact.path).read_text()

    assert sorted(each.code for each in report.mended) == ["entry-future", "entry-month"]
    assert report.problems == ()
    assert fact.recorded <= clock().strftime("%Y-%m-%dT%H:%M:%SZ")
    assert f"recorded: {ahead.recorded}" not in text
