"""The job `archive`, on a real vault."""

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from commonplace.memory import Memory
from commonplace.upkeep.archive import JOB
from tests.memories import Calendar, make_memory
from tests.stores import save
from tests.upkeep_jobs import plan_job, run_job, use_daily


def paths(memory: Memory, question: str, *, include_archive: bool = False) -> set[str]:
    return {hit.path for hit in memory.search(question, include_archive=include_archive)}


@pytest.mark.requirement("A-13", "A-14", "A-39")
def test_entries_of_programs_that_ended_or_went_cold_are_archived_on_their_own(tmp_path: Path) -> None:
    """The archive is out of plain search and found on request; each day keeps its answer; undo brings it back."""
    calendar = Calendar()
    with make_memory(tmp_path, clock=calendar) as memory, make_memory(tmp_path, clock=calendar, actor="agent") as agent:
        ended = agent.entries.save("The sale of umbrellas runs.", kind="fact", valid_until="2026-04-01").fact
        cold = agent.entries.save("The printer of the library jams.", kind="fact").fact
        warm = agent.entries.save("The coffee machine needs descaling.", kind="fact").fact
        told = memory.entries.save("The lighthouse is white.", kind="fact").fact
        calendar.pass_(days=1200)
        use_daily(warm.id, memory, calendar, days=1)
        planned = plan_job(JOB, memory).steps
        done = run_job(JOB, memory)
        again = run_job(JOB, memory)
        plain = paths(memory, "printer of the library")
        opened = paths(memory, "printer of the library", include_archive=True)
        then = {each.fact.id for each in memory.facts.about(as_of="2026-03-15")}
        known = {each.fact.id for each in memory.facts.about(known="2026-03-15")}
        now = {each.fact.id for each in memory.facts.about()}
        statuses = [memory.entries.show(fact.id).fact.status for fact in (ended, cold, warm, told)]
        for each in reversed(done):
            memory.notes.undo(commit=each.commit)
        restored = paths(memory, "printer of the library")
        after_undo = run_job(JOB, memory)

    archived = cold.path.replace("Agent/Memory/", "Agent/Memory/_archive/")
    assert [each.step for each in done] == [*planned]
    assert ([each.outcome for each in done], again) == (["done", "done"], [])
    assert not {cold.path, archived} & plain
    assert archived in opened
    assert statuses == ["expired", "archived", "active", "active"]
    assert then == known == {fact.id for fact in (ended, cold, warm, told)}
    assert now == {warm.id, told.id}
    assert cold.path in restored
    assert after_undo == []


NEWER = """---
id: 01a0b000-0000-7000-8000-0000000a11ce
kind: fact
subject: Ada
predicate: works_at
object: Norrfors
valid_from: 2026-05-01
recorded: 2026-05-01T08:00:00Z
source: {interface: other-device, trust: said}
---
Ada works at Norrfors.
"""


@pytest.mark.requirement("A-33")
def test_an_entry_that_another_replaced_is_archived_with_its_successor(tmp_path: Path) -> None:
    """A value that ended because a newer one came from another device goes to the archive, and names the newer one."""
    calendar = Calendar()
    with make_memory(tmp_path, clock=calendar) as memory, make_memory(tmp_path, clock=calendar, actor="agent") as agent:
        old = agent.entries.save("", subject="Ada", predicate="works_at", object="Acme", valid_from="2026-01-01").fact
        calendar.pass_(days=80)
        save(tmp_path / "vault", "Agent/Memory/fact/2026-05/ada-works-at-norrfors-0a11ce.md", NEWER)
        memory.index.sync()
        early = run_job(JOB, memory)
        calendar.pass_(days=365)
        done = run_job(JOB, memory)
        again = run_job(JOB, memory)
        held = memory.entries.show(old.id).fact
        in_march = [each.fact.object for each in memory.facts.about("Ada", as_of="2026-03-10")]
        now = [each.fact.object for each in memory.facts.about("Ada")]

    assert (early, again) == ([], [])
    assert [each.outcome for each in done] == ["done"]
    assert (held.place, held.status) == ("archive", "superseded")
    assert held.superseded_by == "01a0b000-0000-7000-8000-0000000a11ce"
    assert (in_march, now) == (["Acme"], ["Norrfors"])


def test_what_the_person_said_pinned_loaded_and_lasting_entries_stay(tmp_path: Path) -> None:
    """No age archives what the person told, what is pinned or always loaded, or what may harm if it is missed."""
    calendar = Calendar()
    with make_memory(tmp_path, clock=calendar) as memory, make_memory(tmp_path, clock=calendar, actor="agent") as agent:
        memory.entries.save("The lighthouse is white.", kind="fact")
        pinned = agent.entries.save("The cellar floods in March.", kind="fact").fact
        loaded = agent.entries.save("The gate code changes weekly.", kind="fact").fact
        agent.entries.save("Is allergic to penicillin.", kind="constraint")
        memory.entries.load(pinned.id, always=False, pinned=True)
        memory.entries.load(loaded.id, always=True)
        calendar.pass_(days=4000)
        steps = plan_job(JOB, memory).steps

    assert steps == ()


@pytest.mark.requirement("A-14")
def test_a_note_of_the_person_is_archived_only_by_their_approval(tmp_path: Path) -> None:
    """The note stays as it is until the person approves; then it moves, and links to it follow."""
    vault = tmp_path / "vault"
    calendar = Calendar(datetime(2027, 3, 1, tzinfo=UTC))
    with make_memory(tmp_path, clock=calendar) as memory:
        for path, text in (
            ("Projects/Boat.md", "---\nstatus: done\n---\nSand the hull.\n"),
            ("Projects/Car.md", "---\nstatus: active\n---\nChange the oil.\n"),
            ("Diary.md", "See [[Projects/Boat]].\n"),
            ("Projects/Raft.md", "---\nstatus: closed\npinned: true\n---\nTie the logs.\n"),
        ):
            file = save(vault, path, text)
            os.utime(file, (0, 1_700_000_000))
        before = (vault / "Projects/Boat.md").read_text()
        memory.index.sync()
        done = run_job(JOB, memory)
        again = run_job(JOB, memory)
        untouched = (vault / "Projects/Boat.md").read_text()
        (waiting,) = memory.reviews.list().proposals
        (approved,) = memory.reviews.approve_proposals(waiting.id)
        moved = (vault / "Projects/_archive/Boat.md").read_text()
        plain, opened = paths(memory, "sand the hull"), paths(memory, "sand the hull", include_archive=True)
        linked = (vault / "Diary.md").read_text()
        memory.notes.undo(commit=approved.commit)
        back = (vault / "Projects/Boat.md").read_text()
        then = run_job(JOB, memory)

    assert [(each.step.subject, each.outcome) for each in done] == [("Projects/Boat.md", "proposed")]
    assert (again, then) == ([], [])
    assert before == untouched == moved == back
    assert not {"Projects/_archive/Boat.md", "Projects/Boat.md"} & plain
    assert "Projects/_archive/Boat.md" in opened
    assert linked == "See [[Boat]].\n"
    assert waiting.move_to == "Projects/_archive/Boat.md"


@pytest.mark.requirement("A-14")
def test_a_curated_note_is_archived_when_another_supersedes_it(tmp_path: Path) -> None:
    """Among the agent's notes supersession archives; a note with a live link in a note of the person is proposed."""
    vault = tmp_path / "vault"
    with make_memory(tmp_path) as memory:
        save(vault, "Agent/playbooks/Release 1.md", "Tag by hand.\n")
        save(vault, "Agent/playbooks/Release 2.md", '---\nsupersedes: "[[Release 1]]"\n---\nTag by script.\n')
        save(vault, "Agent/playbooks/Deploy 1.md", '---\nsuperseded_by: "[[Deploy 2]]"\n---\nCopy files.\n')
        save(vault, "Agent/playbooks/Deploy 2.md", "Push a tag.\n")
        save(vault, "Diary.md", "See [[Agent/playbooks/Deploy 1]].\n")
        save(vault, "Agent/playbooks/Backup.md", "Nightly.\n")
        save(vault, "Inbox/clipped.md", '---\nsupersedes: "[[Backup]]"\n---\nNo backups.\n')
        memory.index.sync()
        done = run_job(JOB, memory)
        again = run_job(JOB, memory)
        row = memory.notes.log(path="Agent/playbooks/Release 1.md")[0]

    assert {(each.step.subject, each.outcome) for each in done} == {
        ("Agent/playbooks/Release 1.md", "done"),
        ("Agent/playbooks/Deploy 1.md", "proposed"),
        ("Agent/playbooks/Backup.md", "proposed"),
    }
    assert again == []
    assert (vault / "Agent/playbooks/_archive/Release 1.md").read_text() == "Tag by hand.\n"
    assert row.in_digest


def test_a_programs_note_does_not_put_away_what_the_person_wrote(tmp_path: Path) -> None:
    """Superseded by an agent's note, the person's is proposed; the agent's own is archived."""
    newer = '---\nsupersedes: "[[{}]]"\n---\nSkip the backup.\n'
    with make_memory(tmp_path) as memory, make_memory(tmp_path, actor="agent") as agent:
        memory.notes.write("Agent/rules/Backup.md", "Back up each night.\n")
        agent.notes.write("Agent/rules/Theirs.md", "Back up each week.\n")
        agent.notes.write("Agent/rules/Backup 2.md", newer.format("Backup"))
        agent.notes.write("Agent/rules/Theirs 2.md", newer.format("Theirs"))
        done = run_job(JOB, memory)

    assert [(each.step.subject, each.step.action, each.outcome) for each in done] == [
        ("Agent/rules/Backup.md", "propose", "proposed"),
        ("Agent/rules/Theirs.md", "archive", "done"),
    ]
