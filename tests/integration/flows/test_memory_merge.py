"""Entries that two devices changed and git merged: they say one thing, lint says what is wrong, and it mends it."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from commonplace.memory import Memory
from commonplace.model import Actor
from tests.gitvault import git
from tests.memories import Calendar, make_memory
from tests.transcript_lines import claude
from tests.vaults import make_vault


@pytest.fixture
def devices(tmp_path: Path) -> tuple[Path, Path, str]:
    """Two clones of a vault whose notes git merges line by line, and the id of their entry."""
    here, there = tmp_path / "here", tmp_path / "there"
    with make_memory(here) as memory:
        fact = memory.facts.add("Ada", "works_at", "Acme", valid_from="2024-01-01").fact
        (here / "vault/.gitattributes").write_text("*.md merge=union\n")
        git(here / "vault", "add", ".gitattributes")
        git(here / "vault", "commit", "-qm", "as many people set it for their notes")
    there.mkdir()
    git(tmp_path, "clone", "-q", str(here / "vault"), str(there / "vault"))
    return here, there, fact.id


def state(memory: Memory) -> list[tuple[str, str, str]]:
    return [(each.fact.object, each.state, each.until) for each in memory.facts.about("Ada", every=True)]


def test_an_entry_that_two_devices_ended_ends_at_the_earlier_day(devices: tuple[Path, Path, str]) -> None:
    """Both keys stand twice in its frontmatter; both clones read the same, and the mended entry says it once."""
    here, there, id_ = devices
    with make_memory(here) as memory:
        memory.facts.end(id_, at="2025-06-01")
    with make_memory(there, clock=lambda: datetime.now(UTC) + timedelta(minutes=1)) as clone:
        clone.index.sync()
        clone.facts.end(id_, at="2025-03-01")
        git(there / "vault", "pull", "-q", "--no-rebase", "--no-edit")
        clone.index.sync()
        git(here / "vault", "pull", "-q", str(there / "vault"), "HEAD")
        (file,) = (there / "vault/Agent/Memory/fact").rglob("*.md")
        merged = file.read_text()
        read = state(clone)
        problems = clone.lint().problems
        report = clone.lint(fix=True)
        mended, after = file.read_text(), state(clone)
    with make_memory(here) as memory:
        memory.index.sync()

        assert state(memory) == read
    assert merged.count("\nvalid_until:") == merged.count("\ninvalidated:") == 2
    assert {each.code for each in problems} == {"duplicate-key"}
    assert read == after == [("Acme", "ended", "2025-03-01T00:00:00Z")]
    assert mended.count("\nvalid_until: 2025-03-01") == mended.count("\nvalid_until:") == 1
    assert mended.count("\ninvalidated:") == mended.count("\nupdated:") == 1
    assert report.mended
    assert report.problems == ()


def test_an_entry_that_one_device_ended_and_the_other_forgot_stays_forgotten(devices: tuple[Path, Path, str]) -> None:
    here, there, id_ = devices
    with make_memory(here) as memory:
        memory.facts.end(id_, at="2025-06-01")
    with make_memory(there) as clone:
        clone.index.sync()
        clone.entries.forget(id_)
        git(there / "vault", "pull", "-q", "--no-rebase", "--no-edit")
        clone.index.sync()

        assert [each[1] for each in state(clone)] == ["deleted"]
        assert clone.lint(fix=True).problems == ()
        assert [each[1] for each in state(clone)] == ["deleted"]


def test_an_entry_that_lint_has_mended_can_be_changed_again(devices: tuple[Path, Path, str]) -> None:
    here, there, id_ = devices
    with make_memory(here) as memory:
        memory.entries.confirm(id_)
    with make_memory(there) as clone:
        clone.index.sync()
        clone.facts.end(id_, at="2030-01-01")
        git(there / "vault", "pull", "-q", "--no-rebase", "--no-edit")
        clone.index.sync()
        clone.lint(fix=True)

        assert clone.entries.confirm(id_).action == "confirm"


def test_what_was_corrected_does_not_come_back_from_a_device_that_learned_it_too(tmp_path: Path) -> None:
    """Both have read the same transcript; after the merge and a night the correction holds on both."""
    here, there, calendar = tmp_path / "here", tmp_path / "there", Calendar()
    words = ["I live in Utrecht.", "My cat is called Momo.", "My manager is Tom."]
    lines = [claude("user", text, id_=f"m{number}", at="2026-02-28T09:00:00Z") for number, text in enumerate(words)]
    make_vault(here / "vault")
    there.mkdir()
    git(tmp_path, "clone", "-q", str(here / "vault"), str(there / "vault"))
    for folder in (there, here):
        with make_memory(folder, clock=calendar) as memory:
            job = memory.acting(Actor("job", "daemon")).conversations
            job.capture("".join(lines).encode(), host="claude-code", session_id="s")
            calendar.pass_(days=1)
            memory.learning.run()
            olds = {each.fact.text: each.fact.id for each in memory.facts.about()}
            if folder is here:
                memory.entries.evolve(olds["Lives in Utrecht."], "Lives in Oslo.", reason="moved")
                memory.entries.forget(olds["The manager is Tom."])
    git(here / "vault", "pull", "-q", "--no-rebase", "--no-edit", str(there / "vault"), "HEAD")
    with make_memory(here, clock=calendar) as memory:
        memory.index.sync()
        memory.jobs.run("mend")
        held = sorted(each.fact.text for each in memory.facts.about())
    git(there / "vault", "pull", "-q", "--no-rebase", "--no-edit", str(here / "vault"), "HEAD")
    with make_memory(there, clock=calendar) as memory:
        memory.index.sync()

        assert sorted(each.fact.text for each in memory.facts.about()) == held
    assert held == ["Lives in Oslo.", "The cat is called Momo."]
