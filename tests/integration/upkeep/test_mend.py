"""The job `mend`: what lint finds in the agent's entries is fixed where that is safe, and said."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from commonplace.memory import Memory
from commonplace.model import Actor
from tests.command_line import calling
from tests.memories import Calendar, make_memory


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with make_memory(tmp_path, clock=Calendar()) as made:
        yield made


def harm(vault: Path, path: str, *changes: tuple[str, str]) -> str:
    """Edit a note as another program does; returns its text then."""
    text = (vault / path).read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    (vault / path).write_text(text)
    return text


@pytest.mark.requirement("X-10")
def test_the_agents_entries_are_mended_by_kind_and_the_persons_are_not_touched(memory: Memory, tmp_path: Path) -> None:
    """The dry run says the same; the second run does nothing; each commit can be undone."""
    vault, agent = tmp_path / "vault", memory.acting(Actor("agent", "codex"))
    one = agent.entries.save("Reads on trains in the morning.", kind="preference").fact.path
    two = agent.entries.save("Bakes bread on Sundays with rye.", kind="preference").fact.path
    told = memory.entries.save("Sings in a choir by the lake.", kind="preference").fact.path
    for path in (one, told):
        harm(vault, path, ("slug: ", "slag: "))
    harm(vault, two, ("slug: bakes-bread-on-sundays-with-rye", "slug: bread"))
    (vault / "Projects").mkdir()
    (vault / "Projects/Mine.md").write_text("---\ntags: [a, a\n---\n[[nowhere]]\n")
    mine = (vault / "Projects/Mine.md").read_bytes(), (vault / told).read_bytes()
    dry = memory.jobs.run("mend", dry_run=True)
    record = memory.jobs.run("mend")
    again = memory.jobs.run("mend")

    assert [(each.step.subject, each.outcome) for each in record.steps] == [
        ("entry-key", "done"),
        ("entry-name", "done"),
    ]
    assert [each.step for each in dry.steps] == [each.step for each in record.steps]
    assert again.steps == ()
    assert "slug: reads-on-trains-in-the-morning\n" in (vault / one).read_text()
    assert "slug: bakes-bread-on-sundays-with-rye\n" in (vault / two).read_text()
    assert ((vault / "Projects/Mine.md").read_bytes(), (vault / told).read_bytes()) == mine
    memory.notes.undo(commit=record.steps[1].commit)
    assert "slug: bread\n" in (vault / two).read_text()


def test_lint_mends_at_once_what_the_job_would_and_the_persons_entries_too(memory: Memory, tmp_path: Path) -> None:
    """`commonplace lint --mend`, with a dry run that changes nothing."""
    vault = tmp_path / "vault"
    told = memory.entries.save("Sings in a choir by the lake.", kind="preference").fact.path
    broken = harm(vault, told, ("slug: ", "slag: "))
    run = calling(vault)
    dry = run("lint", "--mend", "--dry-run")
    kept = (vault / told).read_text()
    done = run("lint", "--mend")

    assert f"would fix {told}" in dry.stdout
    assert kept == broken
    assert f"fixed {told}" in done.stdout
    assert "slug: sings-in-a-choir-by-the-lake\n" in (vault / told).read_text()


def test_an_entry_in_the_folder_of_another_month_moves_home(memory: Memory, tmp_path: Path) -> None:
    """And is found there by its id; a taken place is left alone."""
    vault, agent = tmp_path / "vault", memory.acting(Actor("agent", "codex"))
    fact = agent.entries.save("Reads on trains in the morning.", kind="preference").fact
    wrong = fact.path.replace("2026-03", "2026-01")
    (vault / wrong).parent.mkdir(parents=True)
    (vault / fact.path).rename(vault / wrong)
    memory.jobs.run("mend")

    assert memory.entries.show(fact.id).fact.path == fact.path
    assert not (vault / wrong).exists()
