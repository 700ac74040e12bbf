"""The jobs `dream` and `consolidate`, on a real vault."""

from pathlib import Path

import pytest

from commonplace.errors import Conflict
from commonplace.memory import Memory
from commonplace.model import Actor, Fact
from commonplace.upkeep.archive import JOB as ARCHIVE
from commonplace.upkeep.consolidate import CONSOLIDATE, DREAM
from commonplace.upkeep.mend import JOB as MEND
from tests.llm_server import MODEL, Answer, Failure, ModelScript, serving_models
from tests.memories import Calendar, make_memory
from tests.stores import save
from tests.upkeep_jobs import held, job_run, plan_job, run_job

TWIN = """---
id: 01a0b000-0000-7000-8000-000000{digits}
kind: {kind}
recorded: 2026-03-0{day}T08:00:00Z
source: {{interface: other-device, trust: {trust}}}
---
The harbour office closes at noon.
"""


def twin(vault: Path, digits: str, *, day: int, trust: str = "said", kind: str = "fact") -> str:
    """An entry that came from another device."""
    path = f"Agent/Memory/fact/2026-03/the-harbour-office-closes-at-noon-{digits[-6:]}.md"
    save(vault, path, TWIN.format(digits=digits, day=day, trust=trust, kind=kind))
    return f"01a0b000-0000-7000-8000-000000{digits}"


def _routed(server: ModelScript) -> dict[str, object]:
    """Settings that name this server for the task."""
    given = {"provider": "openai", "base_url": server.openai, "model": MODEL}
    return {f"llm.consolidate.{name}": value for name, value in given.items()}


def active(memory: Memory) -> set[str]:
    return {each.fact.id for each in memory.facts.about()}


@pytest.mark.requirement("A-37", "A-38")
def test_entries_that_say_the_same_become_one_and_undo_brings_them_back(tmp_path: Path) -> None:
    """The new entry names its sources and has their days; they are in the archive; the dry run is what is done."""
    with make_memory(tmp_path) as memory:
        ids = [twin(tmp_path / "vault", f"0000a{number}", day=number) for number in (1, 2, 3)]
        memory.index.sync()
        before = active(memory)
        planned = plan_job(DREAM, memory).steps
        (done,) = run_job(DREAM, memory)
        again = run_job(DREAM, memory)
        (merged,) = [each.fact for each in memory.facts.about()]
        sources = [memory.entries.show(id).fact for id in ids]
        in_march = {each.fact.text for each in memory.facts.about(as_of="2026-03-01")}
        memory.notes.undo(commit=done.commit)
        restored, then = active(memory), run_job(DREAM, memory)

    assert ([done.step], done.outcome, again) == ([*planned], "done", [])
    assert {target for bond, target in merged.bonds if bond == "derive"} == {*ids}
    assert merged.confirmed == ("2026-03-02", "2026-03-03")
    assert merged.origins.trust == "said"
    assert {(fact.status, fact.place, fact.superseded_by) for fact in sources} == {("superseded", "archive", merged.id)}
    assert in_march == {"The harbour office closes at noon."}
    assert (restored, then) == (before, [])


def test_more_of_what_was_merged_before_goes_to_the_archive_for_the_merged_entry(tmp_path: Path) -> None:
    """It is planned once, not every night; where the person has forgotten the merged entry, nothing is planned."""
    with make_memory(tmp_path) as memory:
        for number in (1, 2):
            twin(tmp_path / "vault", f"0000c{number}", day=number)
        memory.index.sync()
        run_job(DREAM, memory)
        (merged,) = active(memory)
        late = [twin(tmp_path / "vault", f"0000c{number}", day=number) for number in (3, 4)]
        memory.index.sync()
        done, again = run_job(DREAM, memory), run_job(DREAM, memory)
        archived = [memory.entries.show(id).fact.superseded_by for id in late]
        memory.entries.forget(merged)
        for number in (5, 6):
            twin(tmp_path / "vault", f"0000c{number}", day=number)
        memory.index.sync()
        after = run_job(DREAM, memory)

    assert [(each.step.action, each.outcome) for each in done] == [("archive", "done")] * 2
    assert archived == [merged, merged]
    assert (again, after) == ([], [])


@pytest.mark.requirement("A-37")
def test_the_persons_word_stays_and_takes_the_place_of_what_programs_say(tmp_path: Path) -> None:
    """What the person told is neither merged nor moved; the program's entry is archived for it."""
    with make_memory(tmp_path) as memory:
        told = twin(tmp_path / "vault", "0000b1", day=1, trust="told")
        said = twin(tmp_path / "vault", "0000b2", day=2)
        memory.index.sync()
        before = memory.entries.show(told).fact
        done = run_job(DREAM, memory)
        after = memory.entries.show(told).fact
        gone = memory.entries.show(said).fact

    assert [(each.step.action, each.outcome) for each in done] == [("archive", "done")]
    assert before == after
    assert (gone.status, gone.superseded_by) == ("superseded", told)


def test_other_values_and_other_projects_are_no_duplicates(tmp_path: Path) -> None:
    """An equal frame with another value is not the same, and each project may have its own fact."""
    with make_memory(tmp_path, actor="agent") as agent, make_memory(tmp_path) as memory:
        agent.entries.save("The favourite colour of Ada is purple.", kind="fact")
        agent.entries.save("The favourite colour of Bea is cyan.", kind="fact")
        agent.entries.save("Run the linter before each commit.", kind="workflow", project="atlas")
        agent.entries.save("Run the linter before each commit.", kind="workflow", project="boat")
        steps = plan_job(DREAM, memory).steps

    assert steps == ()


@pytest.mark.requirement("A-35")
def test_an_event_of_three_days_becomes_an_insight_and_the_events_stay(tmp_path: Path) -> None:
    """Two are chance; three agree. A second run, and one more event, make no second insight."""
    calendar = Calendar()
    with make_memory(tmp_path, clock=calendar) as memory, make_memory(tmp_path, clock=calendar, actor="agent") as agent:
        events = []
        for day in range(3):
            calendar.pass_(days=7)
            begins = f"{calendar.at:%Y-%m-%d}"
            events.append(agent.entries.save("Had a migraine after red wine.", kind="event", valid_from=begins).fact)
            early = plan_job(CONSOLIDATE, memory).steps if day < 2 else ()
            assert early == ()
        raw = {path: path.read_bytes() for path in (tmp_path / "vault/Agent").rglob("*.md") if path.name != "_index.md"}
        (done,) = run_job(CONSOLIDATE, memory)
        again = run_job(CONSOLIDATE, memory)
        calendar.pass_(days=7)
        agent.entries.save("Had a migraine after red wine.", kind="event", valid_from=f"{calendar.at:%Y-%m-%d}")
        more = run_job(CONSOLIDATE, memory)
        (insight,) = [each.fact for each in memory.facts.about() if each.fact.kind == "insight"]
        same = {path: path.read_bytes() for path in raw}

    assert (done.outcome, again, more) == ("done", [], [])
    assert insight.text == "Had a migraine after red wine (3 times between 2026-03-08 and 2026-03-22)."
    assert {target for _, target in insight.bonds} == {fact.id for fact in events}
    assert insight.origins.trust == "mined"
    assert same == raw


def test_a_way_of_working_in_three_projects_becomes_a_procedure_for_all(tmp_path: Path) -> None:
    """What was imported makes the result wait for the person."""
    calendar = Calendar()
    with make_memory(tmp_path, clock=calendar) as memory, make_memory(tmp_path, clock=calendar, actor="agent") as agent:
        for project in ("atlas", "boat", "cedar"):
            agent.entries.save("Run the linter before each commit.", kind="workflow", project=project)
            calendar.pass_(days=1)
        (done,) = run_job(CONSOLIDATE, memory)
        again = run_job(CONSOLIDATE, memory)
        (made,) = [each.fact for each in memory.facts.about() if each.fact.kind == "procedural"]

    assert (done.outcome, again) == ("done", [])
    assert (made.text, made.project) == ("Run the linter before each commit.", "")


@pytest.mark.requirement("A-35")
def test_a_model_words_what_recurs_and_the_person_approves_its_words(tmp_path: Path) -> None:
    """The dry run shows what is saved; words with a new name, and a server that fails, leave our own wording."""
    calendar = Calendar()
    with serving_models() as server, make_memory(tmp_path, clock=calendar, settings=_routed(server)) as memory:
        agent = memory.acting(Actor("agent", "codex"))
        for _ in range(3):
            calendar.pass_(days=7)
            agent.entries.save("Had a migraine after red wine.", kind="event", valid_from=f"{calendar.at:%Y-%m-%d}")
        plain = []
        for turn in (Answer({"text": "Ada has a migraine after red wine."}), Failure(500)):
            server.default = turn
            plain.append(memory.jobs.run("consolidate", dry_run=True).steps)
        server.default = Answer({"text": "Red wine is followed by a migraine."})
        (planned,) = memory.jobs.run("consolidate", dry_run=True).steps
        (done,) = memory.jobs.run("consolidate").steps
        (waiting,) = memory.reviews.list().entries
        again = memory.jobs.run("consolidate").steps

    assert all("in a model's words" not in each.step.said for steps in plain for each in steps)
    assert [len(steps) for steps in plain] == [1, 1]
    assert done.step.said == planned.step.said
    assert (done.outcome, again) == ("proposed", ())
    assert waiting.fact.text == "Red wine is followed by a migraine (3 times between 2026-03-08 and 2026-03-22)."
    assert waiting.fact.origins.extractor == f"{MODEL}@127.0.0.1 consolidate.v1"
    assert "red wine" in server.requests[0].words


@pytest.mark.requirement("A-35")
def test_a_way_of_working_that_three_days_agree_on_becomes_a_procedure(tmp_path: Path) -> None:
    """It replaces the program's entry, undo brings that back, and the job does not do it again."""
    calendar = Calendar()
    with make_memory(tmp_path, clock=calendar) as memory, make_memory(tmp_path, clock=calendar, actor="agent") as agent:
        for _ in range(3):
            early = run_job(CONSOLIDATE, memory)
            fact = agent.entries.save("Run the linter before each commit.", kind="workflow", project="atlas").fact
            memory.entries.save("Water the plants before each trip.", kind="workflow")
            calendar.pass_(days=1)
        planned = plan_job(CONSOLIDATE, memory).steps
        (done,) = run_job(CONSOLIDATE, memory)
        again = run_job(CONSOLIDATE, memory)
        made = held(memory)["Run the linter before each commit."].fact
        own = held(memory)["Water the plants before each trip."].fact
        mended = run_job(MEND, memory)
        memory.notes.undo(commit=done.commit)
        then, back = run_job(CONSOLIDATE, memory), held(memory)["Run the linter before each commit."].fact

    assert (early, [done.step], done.outcome, again) == ([], [*planned], "done", [])
    assert (made.kind, made.project, own.kind) == ("procedural", "atlas", "workflow")
    assert made.bonds == (("derive", fact.id),)
    assert mended == []  # a change of the new entry would stand in the way of undo
    assert (then, back.id, back.kind) == ([], fact.id, "workflow")


def test_entries_of_three_days_that_were_merged_become_a_procedure(tmp_path: Path) -> None:
    """The merged entry has the days of those that it was made of; neither they nor it stand in the way."""
    with make_memory(tmp_path) as memory:
        for number in (1, 2, 3):
            twin(tmp_path / "vault", f"0000c{number}", day=number, kind="workflow")
        memory.index.sync()
        merged = run_job(DREAM, memory)
        done = run_job(CONSOLIDATE, memory)
        again = [*run_job(DREAM, memory), *run_job(CONSOLIDATE, memory)]
        (made,) = held(memory).values()

    assert [each.outcome for each in (*merged, *done)] == ["done", "done"]
    assert (again, made.fact.kind) == ([], "procedural")


@pytest.mark.requirement("A-36")
def test_what_was_saved_in_a_phase_becomes_a_digest_when_the_phase_ends(tmp_path: Path) -> None:
    """Of the entries since the phase before, also those that become a procedure; a session's end is no phase's."""
    calendar = Calendar()
    with make_memory(tmp_path, clock=calendar) as memory, make_memory(tmp_path, clock=calendar, actor="agent") as agent:
        for phase in ("design", "build"):
            for number, text in enumerate(
                (f"{phase}: maps go to SQLite.", f"Ask Ada about {phase}.", f"A {phase} fee.")
            ):
                memory.entries.save(text, kind="decision", project="Atlas")
                agent.entries.save("Run the linter before each commit.", kind="workflow", project="Atlas")
                memory.projects.add_progress(f"{phase} {number}", project="Atlas", phase="session", ends_phase=True)
                calendar.pass_(days=1)
            memory.projects.add_progress(f"The {phase} is over.", project="Atlas", phase=phase, ends_phase=True)
            calendar.pass_(days=1)
            planned = plan_job(CONSOLIDATE, memory).steps
            done = run_job(CONSOLIDATE, memory)
            again = run_job(CONSOLIDATE, memory)
            assert [(each.step, each.outcome) for each in done] == [(step, "done") for step in planned]
            assert again == []
        digests = [each.fact for each in memory.facts.about() if each.fact.kind == "crystallized"]

    assert [len(digest.bonds) for digest in digests] == [4, 4]
    assert any("the phase build of the project Atlas" in digest.text for digest in digests)
    assert not any("design" in digest.text and "build" in digest.text for digest in digests)


@pytest.mark.requirement("A-36")
def test_what_is_known_from_a_closed_project_becomes_a_digest(tmp_path: Path) -> None:
    """The status of the project's note closes it; an open project has none, and there is one digest only."""
    with make_memory(tmp_path) as memory:
        for text, kind in (
            ("Atlas stores its maps in SQLite.", "decision"),
            ("Rebuild the tiles after each import.", "workflow"),
            ("A missing font broke the legend; install it first.", "fix"),
        ):
            memory.entries.save(text, kind=kind, project="Atlas")
        note = save(tmp_path / "vault", "Projects/Atlas.md", "---\nstatus: active\n---\nMaps.\n")
        memory.index.sync()
        early = run_job(CONSOLIDATE, memory)
        note.write_text("---\nstatus: closed\n---\nMaps.\n")
        memory.index.sync()
        (done,) = run_job(CONSOLIDATE, memory)
        again = run_job(CONSOLIDATE, memory)
        (digest,) = [each.fact for each in memory.facts.about() if each.fact.kind == "crystallized"]

    assert (early, done.outcome, again) == ([], "done", [])
    assert digest.path.startswith("Agent/Memory/crystallized/")
    assert "Decisions:\n- Atlas stores its maps in SQLite." in digest.text
    assert digest.project == "Atlas"
    assert len(digest.bonds) == 3


@pytest.mark.requirement("A-38")
def test_undoing_a_consolidation_undoes_what_programs_derived_from_it(tmp_path: Path) -> None:
    """In one step, newest first; what the person made of it stays; the job does not do it again."""
    calendar = Calendar()
    with make_memory(tmp_path, clock=calendar) as memory, make_memory(tmp_path, clock=calendar, actor="agent") as agent:
        for _ in range(3):
            calendar.pass_(days=7)
            begins = f"{calendar.at:%Y-%m-%d}"
            agent.entries.save("Had a migraine after red wine.", kind="event", valid_from=begins)
        (done,) = run_job(CONSOLIDATE, memory)
        (insight,) = [each.fact for each in memory.facts.about() if each.fact.kind == "insight"]
        calendar.pass_(days=1)
        heir = agent.entries.save("Offer white wine at dinners.", kind="workflow", derived_from=[insight.id]).fact
        own = memory.entries.save(
            "Drinks cider instead of wine now.", kind="preference", derived_from=[insight.id]
        ).fact
        undone = memory.notes.undo(commit=done.commit)
        left = active(memory)
        then = run_job(CONSOLIDATE, memory)

    assert [change.path.rpartition("-")[2][:6] for change in undone] == [heir.id[-6:], insight.id[-6:]]
    assert own.id in left
    assert not {heir.id, insight.id} & left
    assert then == []


def _procedure(memory: Memory, agent: Memory, calendar: Calendar) -> tuple[str, Fact, Fact]:
    """A procedure that was made of an agent's entry: the commit, the procedure, and what the agent derived before."""
    for _ in range(3):
        source = agent.entries.save("Run the linter before each commit.", kind="workflow").fact
        calendar.pass_(days=1)
    other = agent.entries.save("The linter is called ruff.", kind="fact", derived_from=[source.id]).fact
    (done,) = run_job(CONSOLIDATE, memory)
    return done.commit, held(memory)["Run the linter before each commit."].fact, other


def test_undoing_a_procedure_leaves_what_was_derived_from_its_source(tmp_path: Path) -> None:
    """The source only moved to the archive and back: what came from it did not come from the procedure."""
    calendar = Calendar()
    with make_memory(tmp_path, clock=calendar) as memory, make_memory(tmp_path, clock=calendar, actor="agent") as agent:
        commit, made, other = _procedure(memory, agent, calendar)
        undone = memory.notes.undo(commit=commit)
        left = active(memory)

    assert len(undone) == 1
    assert made.id not in left
    assert other.id in left


def test_an_undo_that_conflicts_with_an_edit_takes_nothing_away(tmp_path: Path) -> None:
    """The procedure holds on, since nothing could take its place."""
    calendar = Calendar()
    with make_memory(tmp_path, clock=calendar) as memory, make_memory(tmp_path, clock=calendar, actor="agent") as agent:
        commit, made, other = _procedure(memory, agent, calendar)
        note = tmp_path / "vault" / made.path
        note.write_text(note.read_text().replace("kind: procedural", "kind: procedural\npinned: true"))
        memory.index.sync()
        with pytest.raises(Conflict, match="nothing was undone"):
            memory.notes.undo(commit=commit)
        left = active(memory)

    assert {made.id, other.id} <= left


def test_an_undo_that_conflicts_says_what_was_undone_before(tmp_path: Path) -> None:
    """What an agent derived from the procedure is gone by then."""
    calendar = Calendar()
    with make_memory(tmp_path, clock=calendar) as memory, make_memory(tmp_path, clock=calendar, actor="agent") as agent:
        commit, made, _ = _procedure(memory, agent, calendar)
        heir = agent.entries.save("Install ruff on a new machine.", kind="workflow", derived_from=[made.id]).fact
        note = tmp_path / "vault" / made.path
        note.write_text(note.read_text().replace("kind: procedural", "kind: procedural\npinned: true"))
        memory.index.sync()
        with pytest.raises(Conflict, match="only what was derived from it was undone"):
            memory.notes.undo(commit=commit)
        left = active(memory)

    assert made.id in left
    assert heir.id not in left


@pytest.mark.requirement("A-34")
def test_sources_of_a_consolidated_entry_are_archived_sooner_while_it_holds(tmp_path: Path) -> None:
    """After a year without use the events go, because the insight that contains them is in the index."""
    calendar = Calendar()
    with make_memory(tmp_path, clock=calendar) as memory, make_memory(tmp_path, clock=calendar, actor="agent") as agent:
        for project in ("atlas", "boat", "cedar"):
            agent.entries.save("Run the linter before each commit.", kind="workflow", project=project)
            calendar.pass_(days=1)
        run_job(CONSOLIDATE, memory)
        calendar.pass_(days=400)
        done = run_job(ARCHIVE, memory)
        found = [hit.path for hit in memory.search("run the linter before each commit")]

    assert [each.outcome for each in done] == ["done", "done", "done"]
    assert any("/procedural/" in path for path in found)


def test_a_run_that_was_killed_plans_the_rest_and_a_step_done_twice_changes_nothing(tmp_path: Path) -> None:
    """After the first of two steps the next run plans the second alone."""
    calendar = Calendar()
    with make_memory(tmp_path, clock=calendar) as memory, make_memory(tmp_path, clock=calendar, actor="agent") as agent:
        for text in ("The sale of umbrellas runs.", "The ferry is under repair."):
            agent.entries.save(text, kind="fact", valid_until="2026-04-01")
        calendar.pass_(days=300)
        run = job_run(ARCHIVE, memory)
        first, second = ARCHIVE.plan(run).steps
        done = ARCHIVE.apply(first, run)
        twice = ARCHIVE.apply(first, run)
        rest = plan_job(ARCHIVE, memory).steps

    assert (done.outcome, twice.outcome) == ("done", "unchanged")
    assert rest == (second,)
