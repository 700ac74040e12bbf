"""The self-probe: it finds what it wrote, leaves nothing behind, and says what is wrong."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from commonplace.memory import Memory
from commonplace.model.layout import PROBE_NOTE, is_recallable
from commonplace.policy.options import SafetyOptions
from commonplace.policy.write_policy import decide
from tests.gitvault import git
from tests.memories import Calendar, make_memory


@pytest.fixture
def clock() -> Calendar:
    return Calendar()


@pytest.fixture
def memory(tmp_path: Path, clock: Calendar) -> Iterator[Memory]:
    with make_memory(tmp_path, clock=clock) as made:
        yield made


def commits(tmp_path: Path) -> list[str]:
    """The messages of all commits, newest first."""
    return git(tmp_path / "vault", "log", "--format=%s").splitlines()


def test_a_probe_writes_finds_and_deletes_a_note(memory: Memory, tmp_path: Path) -> None:
    """Its steps say how long each took; nothing is left in the vault or the index."""
    run = memory.jobs.run("probe")

    assert (run.outcome, [each.step.action for each in run.steps]) == ("done", ["rehearse", "search", "probe"])
    assert run.steps[-1].step.said.startswith("A note was written, found by words and by sense, and deleted. (")
    assert not (tmp_path / "vault" / PROBE_NOTE).exists()
    assert memory.index.stats().documents.get("vault", 0) == 0
    assert git(tmp_path / "vault", "status", "--porcelain") == ""


def test_a_real_note_is_written_once_a_week(memory: Memory, clock: Calendar, tmp_path: Path) -> None:
    """Two commits each time; on the days between a write is rehearsed, and no commit is left."""
    counts = []
    for _ in range(9):
        memory.jobs.run("probe")
        counts.append(len(commits(tmp_path)) - 1)
        clock.at += timedelta(days=1)

    assert counts == [2, 2, 2, 2, 2, 2, 2, 4, 4]


def test_what_a_killed_probe_left_is_deleted_by_the_next(memory: Memory, tmp_path: Path) -> None:
    """Even if it is not time for a real note."""
    memory.jobs.run("probe")
    memory.notes.write(PROBE_NOTE, "# Self-probe\n")
    run = memory.jobs.run("probe")

    assert [each.step.action for each in run.steps] == ["delete", "rehearse", "search"]
    assert not (tmp_path / "vault" / PROBE_NOTE).exists()


def test_a_write_that_is_impossible_is_found(memory: Memory, tmp_path: Path) -> None:
    """The run names the reason, and the job is tried again."""
    (tmp_path / "vault" / ".git" / "MERGE_HEAD").write_text(git(tmp_path / "vault", "rev-parse", "HEAD"))
    run = memory.jobs.run("probe")

    assert run.outcome == "skipped"
    assert "merge" in run.said


def test_a_probe_reaches_no_prompt_and_no_digest() -> None:
    """Its note is never recalled; only a job's own changes to it go untold."""
    actors = {
        actor: decide(actor=actor, verb="write", path=PROBE_NOTE, options=SafetyOptions()).in_digest
        for actor in ("job", "agent")
    }

    assert not is_recallable(PROBE_NOTE, channel="")
    assert actors == {"job": False, "agent": True}
