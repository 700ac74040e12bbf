"""The job `links`: repairs after a rename elsewhere, proposals for a person's notes, and related notes."""

import subprocess
from collections.abc import Iterator
from datetime import UTC
from pathlib import Path

import pytest

from commonplace.memory import Memory
from commonplace.model import Actor, Terms
from commonplace.model.upkeep import JobRecord
from commonplace.upkeep.job import JobRun
from commonplace.upkeep.links import JOB
from tests.memories import make_memory

PLAN = "Projects/Plan.md"
LOG = "Agent/Log.md"
BODY = "Ada paints the shed in Leipzig and waters the beds on Sundays.\n"


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    return tmp_path / "vault"


@pytest.fixture
def memory(tmp_path: Path, vault: Path) -> Iterator[Memory]:
    put(vault, "People/Ade.md", f"# Ade\n\n{BODY}")
    put(vault, PLAN, "# Plan\n\nAsk [[Ade]] and [her](../People/Ade.md).\n")
    put(vault, LOG, "# Log\n\nSaw [[Ade|her]] and [[people/ade]].\n")
    with make_memory(tmp_path, settings={"upkeep.links.suggest": 0}) as made:
        made.index.sync()
        yield made


def put(vault: Path, path: str, text: str) -> None:
    """Write a note as another program does."""
    (vault / path).parent.mkdir(parents=True, exist_ok=True)
    (vault / path).write_text(text)


def rename(vault: Path, old: str, new: str) -> None:
    """Rename a note as another program does."""
    (vault / new).parent.mkdir(parents=True, exist_ok=True)
    (vault / old).rename(vault / new)


def commit(vault: Path) -> None:
    """Commit everything as the person does."""
    git = ["git", "-C", str(vault), "-c", "user.name=P", "-c", "user.email=p@example.org"]
    subprocess.run([*git, "add", "-A"], check=True)
    subprocess.run([*git, "commit", "-qm", "mine"], check=True)


def done(record: JobRecord) -> list[tuple[str, str, str]]:
    return [(each.step.action, each.step.subject, each.outcome) for each in record.steps]


@pytest.mark.requirement("A-19")
@pytest.mark.parametrize("is_committed", [True, False], ids=["committed", "not committed"])
def test_links_follow_a_rename_made_elsewhere(memory: Memory, vault: Path, *, is_committed: bool) -> None:
    """Written in the agent's notes, proposed for a person's; the dry run says the same; a second run does nothing."""
    rename(vault, "People/Ade.md", "Family/Ada.md")
    if is_committed:
        commit(vault)
    before = (vault / PLAN).read_text()
    dry = memory.jobs.run("links", dry_run=True)
    record = memory.jobs.run("links")
    again = memory.jobs.run("links")
    (proposal,) = memory.reviews.list().proposals

    assert done(record) == [("repair", LOG, "done"), ("propose", PLAN, "proposed")]
    assert [each.step for each in dry.steps] == [each.step for each in record.steps]
    assert (vault / LOG).read_text() == "# Log\n\nSaw [[Ada|her]] and [[Ada]].\n"
    assert (vault / PLAN).read_text() == before
    assert record.steps[1].review == proposal.id
    assert again.steps == ()
    memory.reviews.approve_proposals(proposal.id)
    assert (vault / PLAN).read_text() == "# Plan\n\nAsk [[Ada]] and [her](../Family/Ada.md).\n"
    memory.notes.undo(commit=record.steps[0].commit)
    assert "[[Ade|her]]" in (vault / LOG).read_text()


def test_an_ambiguous_or_unknown_target_is_never_guessed(memory: Memory, vault: Path) -> None:
    """Two notes of that name are gone to two places; and one that never was."""
    put(vault, "Agent/Two.md", "# Two\n\n[[Ade]] and [[Nobody]].\n")
    put(vault, "Old/Ade.md", "# Ade\n\nAnother one, who sails on the lake in winter.\n")
    commit(vault)
    rename(vault, "People/Ade.md", "People/Ada.md")
    rename(vault, "Old/Ade.md", "Old/Adele.md")
    commit(vault)
    record = memory.jobs.run("links")

    assert "Agent/Two.md" not in [each.step.subject for each in record.steps]
    assert "[[Ade]] and [[Nobody]]" in (vault / "Agent/Two.md").read_text()
    assert "lead nowhere" in record.said


def test_a_rejected_repair_is_not_proposed_again_and_a_needless_one_is_withdrawn(memory: Memory, vault: Path) -> None:
    """The person decides once; a proposal whose links were repaired by hand goes by itself."""
    put(vault, "Projects/Other.md", "# Other\n\nMet [[Ade]] at the lake.\n")
    rename(vault, "People/Ade.md", "People/Ada.md")
    memory.jobs.run("links")
    by_target = {each.target: each for each in memory.reviews.list().proposals}
    memory.reviews.reject_proposals(by_target[PLAN].id)
    put(vault, "Projects/Other.md", "# Other\n\nMet [[Ada]] at the lake.\n")
    record = memory.jobs.run("links")

    assert by_target.keys() == {PLAN, "Projects/Other.md"}
    assert done(record) == [("withdraw", "Projects/Other.md", "done")]
    assert memory.reviews.count() == 0
    assert memory.jobs.run("links").steps == ()


def test_sensitive_and_pinned_notes_are_out_of_reach(memory: Memory, vault: Path) -> None:
    """Nothing is written or proposed there."""
    put(vault, "Projects/Secret.md", "---\nsensitive: true\n---\n[[Ade]] said so.\n")
    fact = memory.entries.save("[[Ade]] owns the ladder in the shed.", kind="fact").fact  # the person's own word
    rename(vault, "People/Ade.md", "People/Ada.md")
    record = memory.jobs.run("links")

    assert "Projects/Secret.md" not in [each.step.subject for each in record.steps]
    assert ("propose", fact.path, "proposed") in done(record)
    assert "[[Ade]]" in memory.notes.read(fact.path).text


def test_related_notes_are_suggested_for_a_note_without_links(tmp_path: Path, vault: Path) -> None:
    """A person's note by proposal, within the cap; nothing for what has nothing in common."""
    put(vault, "People/Ada.md", f"# Ada\n\n{BODY}")
    put(
        vault,
        "Projects/Shed.md",
        "# Shed\n\nThe shed in Leipzig is painted by Ada; the beds are watered on Sundays too.\n",
    )
    put(
        vault,
        "Projects/Tax.md",
        "# Tax\n\nForm 12 of the revenue office is due in April, with all receipts attached to it.\n",
    )
    with make_memory(tmp_path) as memory:
        memory.notes.write("Projects/Plan.md", "# Plan\n\nSee [[Tax]].\n", Terms(personal=True))
        record = memory.jobs.run("links")
        proposed = {each.target: each for each in memory.reviews.list().proposals}
        again = memory.jobs.run("links")

    assert "+Related: [[People/Ada]]" in proposed["Projects/Shed.md"].difference
    assert not [each for each in proposed if "Tax" in each]
    assert {each.outcome for each in record.steps} == {"proposed"}
    assert again.steps == ()


def test_a_suggestion_that_was_rejected_does_not_come_back_with_another_link(tmp_path: Path, vault: Path) -> None:
    """The person decided about links for this note, not about these very two; other notes are not meant."""
    shed = "The shed in Leipzig is painted by Ada; the beds are watered on Sundays too."
    put(vault, "People/Ada.md", f"# Ada\n\n{BODY}")
    put(vault, "Projects/Shed.md", f"# Shed\n\n{shed}\n")
    with make_memory(tmp_path) as memory:
        memory.index.sync()
        memory.jobs.run("links")
        proposed = {each.target: each.id for each in memory.reviews.list().proposals}
        memory.reviews.reject_proposals(proposed["Projects/Shed.md"])
        put(vault, "Projects/Leipzig.md", f"# Leipzig\n\n{shed} Ada and the shed. See [[Ada]].\n")
        put(vault, "Projects/Beds.md", f"# Beds\n\n{shed} Ada paints in Leipzig.\n")
        memory.index.sync()
        record = memory.jobs.run("links")

    subjects = [each.step.subject for each in record.steps]
    assert "Projects/Shed.md" not in subjects
    assert "Projects/Beds.md" in subjects


def test_nothing_is_suggested_for_or_from_the_notes_of_other_jobs(tmp_path: Path, vault: Path) -> None:
    """Dated notes and digests come every night: their proposals would fill the review, and make them the person's."""
    for day in ("2026-02-01", "2026-02-02"):
        put(vault, f"Agent/memories/{day}.md", f"# {day}\n\n- {BODY}- The shed in Leipzig has a new roof. #garden\n")
    put(vault, "Projects/Shed.md", f"# Shed\n\nThe roof. {BODY} #garden\n")
    with make_memory(tmp_path) as memory:
        memory.index.sync()
        record = memory.jobs.run("links")

    assert record.steps == ()


def test_an_entry_of_the_agent_gets_related_notes_as_a_property(tmp_path: Path, vault: Path) -> None:
    """Its text, which is the fact, stays as it is."""
    put(vault, "People/Ada.md", f"# Ada\n\n{BODY}")
    text = "Ada paints the shed in Leipzig each spring, and she waters all of the beds on Sundays as well."
    with make_memory(tmp_path) as memory:
        saved = memory.acting(Actor("agent", "codex")).entries.save(text, kind="fact").fact
        memory.jobs.run("links")
        after = memory.entries.show(saved.id).fact
        keys = memory.notes.read(saved.path).frontmatter

    assert keys["related"] == ["[[People/Ada]]"]
    assert (after.text, after.id) == (text, saved.id)


def test_a_run_that_was_cut_off_is_finished_by_the_next(memory: Memory, vault: Path) -> None:
    """Nothing is written or proposed twice; a step that was done answers that nothing has to change."""
    rename(vault, "People/Ade.md", "People/Ada.md")
    session = memory._session.as_actor(Actor("job", "links"))
    run = JobRun(session, {}, UTC, is_dry=False, stops=lambda: False)
    first, second = JOB.plan(run).steps
    done_first = JOB.apply(first, run)  # the run ends here
    again = JOB.apply(first, run)
    rest = memory.jobs.run("links")

    assert (done_first.outcome, again.outcome) == ("done", "unchanged")
    assert [each.step.subject for each in rest.steps] == [second.subject] == [PLAN]
    assert JOB.apply(second, run).outcome == "unchanged"
    assert memory.reviews.count() == 1
