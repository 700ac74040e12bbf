"""The job `heat`, on a real vault."""

from pathlib import Path

import pytest

from commonplace.errors import Conflict, Refused
from commonplace.upkeep.heat import JOB
from tests.memories import Calendar, make_memory
from tests.upkeep_jobs import plan_job, run_job, use_daily

ANIMALS = (
    *("cat", "dog", "horse", "goat", "duck", "hen", "parrot", "snail", "turtle", "rabbit", "sheep", "donkey", "pony"),
    *("goose", "falcon", "pigeon", "hamster", "ferret", "llama", "newt", "gecko", "toad", "carp", "eel", "owl"),
)


@pytest.mark.requirement("A-17", "A-32")
def test_an_entry_heats_up_by_use_on_many_days_and_cools_down_to_its_kind_after_half_a_year(tmp_path: Path) -> None:
    """Twelve days of use load it always; half a year without use moves it back; in between it stays."""
    calendar = Calendar()
    with make_memory(tmp_path, clock=calendar) as memory:
        fact = memory.entries.save("Answers should be short.", kind="preference").fact
        calendar.pass_(days=30)
        use_daily(fact.id, memory, calendar, days=11)
        before = plan_job(JOB, memory).steps
        use_daily(fact.id, memory, calendar, days=12)
        planned = plan_job(JOB, memory).steps
        done = run_job(JOB, memory)
        again = run_job(JOB, memory)
        loaded = memory.entries.show(fact.id).fact
        calendar.pass_(days=170)
        between = run_job(JOB, memory)
        calendar.pass_(days=20)
        cooled = run_job(JOB, memory)
        back = memory.entries.show(fact.id).fact

    assert (before, again, between) == ((), [], [])
    assert [each.step for each in done] == [*planned]
    assert [(each.step.action, each.outcome) for each in (*done, *cooled)] == [("promote", "done"), ("demote", "done")]
    assert loaded.path.startswith("Agent/Memory/_always-load/")
    assert (loaded.always_load, back.always_load, back.path) == (True, False, fact.path)


def test_the_word_of_a_program_is_only_proposed_and_the_person_decides_once(tmp_path: Path) -> None:
    """Approving loads it, in the person's name; a rejected one is not proposed again."""
    calendar = Calendar()
    with make_memory(tmp_path, clock=calendar) as memory, make_memory(tmp_path, clock=calendar, actor="agent") as agent:
        ids = [
            agent.entries.save(text, kind="workflow").fact.id
            for text in ("Releases go out on Tuesdays.", "The staging server is called Fern.")
        ]
        for id in ids:
            use_daily(id, memory, calendar, days=15)
        proposed = run_job(JOB, memory)
        waiting = memory.reviews.list().proposals
        again = run_job(JOB, memory)
        memory.reviews.approve_proposals(waiting[0].id)
        memory.reviews.reject_proposals(waiting[1].id)
        then = run_job(JOB, memory)
        loaded = [memory.entries.show(id).fact for id in ids]

    assert [each.outcome for each in proposed] == ["proposed", "proposed"]
    assert (again, then) == ([], [])
    assert sorted(fact.always_load for fact in loaded) == [False, True]
    assert {fact.origins.trust for fact in loaded} == {"said"}


def test_a_person_approves_the_words_that_they_were_shown(tmp_path: Path) -> None:
    """The proposal shows the entry's text; an entry that changed since is not loaded, and is proposed anew."""
    calendar = Calendar()
    with make_memory(tmp_path, clock=calendar) as memory, make_memory(tmp_path, clock=calendar, actor="agent") as agent:
        fact = agent.entries.save("Releases go out on Tuesdays.", kind="workflow").fact
        use_daily(fact.id, memory, calendar, days=15)
        run_job(JOB, memory)
        (shown,) = memory.reviews.list().proposals
        (tmp_path / "vault" / fact.path).write_text(
            (tmp_path / "vault" / fact.path).read_text().replace("Tuesdays", "Fridays")
        )
        with pytest.raises(Conflict, match="has changed since"):
            memory.reviews.approve_proposals(shown.id, dry_run=True)
        with pytest.raises(Conflict, match="has changed since"):
            memory.reviews.approve_proposals(shown.id)
        (anew,) = run_job(JOB, memory)
        (second,) = memory.reviews.list().proposals
        memory.reviews.approve_proposals(second.id)
        loaded = memory.entries.show(fact.id).fact

    assert shown.text == "Releases go out on Tuesdays."
    assert (anew.outcome, anew.review, second.text) == ("proposed", second.id, "Releases go out on Fridays.")
    assert shown.id != second.id
    assert loaded.always_load


def test_pinned_entries_are_out_of_reach_and_only_a_person_pins(tmp_path: Path) -> None:
    """A pinned entry neither heats nor cools; a program may not pin, and may not end a pinned entry."""
    calendar = Calendar()
    with make_memory(tmp_path, clock=calendar) as memory, make_memory(tmp_path, clock=calendar, actor="agent") as agent:
        kept = memory.entries.save("Answers should be short.", kind="preference").fact
        rare = memory.entries.save("The boat is called Wanda.", kind="preference").fact
        memory.entries.load(kept.id, always=True, pinned=True)
        memory.entries.load(rare.id, always=False, pinned=True)
        calendar.pass_(days=400)
        use_daily(rare.id, memory, calendar, days=20)
        steps = plan_job(JOB, memory).steps
        with pytest.raises(Refused):
            agent.entries.load(rare.id, always=False, pinned=False)
        changed = agent.entries.evolve(rare.id, "The boat is called Berta.", reason="it was renamed")
        unpinned = memory.entries.load(rare.id, always=False, pinned=False)
        then = plan_job(JOB, memory).steps

    assert steps == ()
    assert (changed.ended, [each.id for each in changed.waiting]) == ((), [rare.id])
    assert not unpinned.fact.pinned
    assert [(step.action, step.subject) for step in then] == [("promote", rare.id)]


def test_constraints_stay_loaded_and_the_cap_holds(tmp_path: Path) -> None:
    """What may harm someone if it is missed never cools; no more entries are loaded than the settings say."""
    calendar = Calendar()
    with make_memory(tmp_path, clock=calendar) as memory:
        nuts = memory.entries.save("I am allergic to nuts.", kind="constraint").fact
        memory.entries.load(nuts.id, always=True)
        calendar.pass_(days=700)
        for animal in ANIMALS:
            fact = memory.entries.save(f"The {animal} belongs to a neighbour.", kind="domain-reference").fact
            use_daily(fact.id, memory, calendar, days=13)
        steps = plan_job(JOB, memory).steps

    assert len(steps) == 19
    assert {step.action for step in steps} == {"promote"}


@pytest.mark.requirement("A-38")
def test_what_the_person_undid_is_not_done_again(tmp_path: Path) -> None:
    """Undo takes the promotion back, and the next run leaves the entry alone."""
    calendar = Calendar()
    with make_memory(tmp_path, clock=calendar) as memory:
        fact = memory.entries.show(memory.entries.save("Answers should be short.", kind="preference").fact.id).fact
        use_daily(fact.id, memory, calendar, days=15)
        (done,) = run_job(JOB, memory)
        memory.notes.undo(commit=done.commit)
        back = memory.entries.show(fact.id).fact
        then = run_job(JOB, memory)

    assert back == fact
    assert then == []


def test_what_is_loaded_always_counts_as_used_only_when_a_prompt_needs_it(tmp_path: Path) -> None:
    """Being loaded at the start of a session is no use, or nothing would ever cool down."""
    calendar = Calendar()
    with make_memory(tmp_path, clock=calendar) as memory:
        fact = memory.entries.save("The ferry to Fehmarn leaves at nine.", kind="preference").fact
        memory.entries.load(fact.id, always=True)
        memory.context("What is the capital of France?", conversation="one", within=None)
        unused = memory.facts.about()[0].uses
        memory.context("When does the ferry to Fehmarn leave?", conversation="one", within=None)
        used = memory.facts.about()[0].uses

    assert (unused, used) == (0, 1)
