"""Verdicts: what becomes of two entries when somebody who has read both says how they relate."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from commonplace.errors import Conflict, Refused, UsageError
from commonplace.memory import Memory
from commonplace.model import Actor
from tests.gitvault import git
from tests.memories import Calendar, make_memory

PIPE, VAPES = "Nora smokes a pipe on Sundays.", "Nora quit her pipe and vapes on weekdays."


class Study(NamedTuple):
    """One memory as its person and as an agent, the clock of both, and the vault."""

    person: Memory
    agent: Memory
    clock: Calendar
    vault: Path

    @property
    def commits(self) -> int:
        """How many changes were made."""
        return int(git(self.vault, "rev-list", "--count", "HEAD"))

    def by(self, speaker: str) -> Memory:
        """The memory for the person or for the agent."""
        return self.person if speaker == "person" else self.agent


@pytest.fixture
def study(tmp_path: Path) -> Iterator[Study]:
    """An empty vault under git."""
    clock = Calendar()
    with make_memory(tmp_path, clock=clock) as memory:
        yield Study(memory, memory.acting(Actor("agent", "claude-code")), clock, tmp_path / "vault")


def texts(memory: Memory) -> set[str]:
    return {each.fact.text for each in memory.facts.about()}


# ---------------------------------------------------------------- the same


@pytest.mark.parametrize("speaker", ["person", "agent"])
def test_same_in_the_first_call_keeps_the_new_words_in_the_archive(study: Study, speaker: str) -> None:
    """One commit puts them there and confirms the known wording; `undo` takes both back."""
    known = study.by(speaker).entries.save(PIPE).fact
    study.clock.pass_(days=1)
    before = study.commits
    result = study.by(speaker).entries.save(VAPES, tags=["health"], same=[known.id])
    away = study.person.entries.show(result.ended[0].id).fact
    made, tags = study.commits - before, study.person.notes.read(away.path).frontmatter["tags"]
    study.person.notes.undo()

    assert (result.action, result.fact.id, result.fact.confirmed) == ("settle", known.id, ("2026-03-02",))
    assert (away.text, away.status, away.place, away.superseded_by) == (VAPES, "superseded", "archive", known.id)
    assert (made, tags) == (1, ["health"])
    assert study.person.entries.show(known.id).fact.confirmed == ()
    assert not (study.vault / away.path).exists()
    assert texts(study.person) == {PIPE}


def test_what_an_agent_says_is_the_same_as_the_persons_word_confirms_nothing(study: Study) -> None:
    """Its words stay in the archive, and theirs stay as they are."""
    known = study.person.entries.save(PIPE).fact
    result = study.agent.entries.save(VAPES, same=[known.id])

    assert [(each.text, each.superseded_by) for each in result.ended] == [(VAPES, known.id)]
    assert study.person.entries.show(known.id).fact.confirmed == ()


def test_words_that_are_the_same_as_others_are_screened_like_any(study: Study) -> None:
    """A secret is refused; what waits for the person waits and ends nothing."""
    known = study.agent.entries.save(PIPE).fact
    with pytest.raises(Refused):
        study.agent.entries.save("Her key is ghp_16C7e42F292c6912E7710c838347Ae178B4a.", same=[known.id])
    waits = study.agent.entries.save(VAPES, same=[known.id], trust="imported")

    assert (waits.staged, study.person.entries.show(known.id).fact.confirmed) == (True, ())


def test_same_of_words_that_another_entry_has_puts_that_entry_away(study: Study) -> None:
    """They need no second note; the words of the known entry itself confirm it."""
    known, other = study.person.entries.save(PIPE).fact, study.person.entries.save(VAPES).fact
    result = study.person.entries.save(VAPES, same=[known.id])
    study.clock.pass_(days=1)
    again = study.person.entries.save(PIPE, same=[known.id])

    assert [each.id for each in result.ended] == [other.id]
    assert (again.action, again.fact.id, again.fact.confirmed[-1]) == ("confirm", known.id, "2026-03-02")
    assert texts(study.person) == {PIPE}


@pytest.mark.parametrize("how", ["settled", "at once"])
def test_words_that_were_settled_as_the_same_are_known_as_that_entry(study: Study, how: str) -> None:
    """Next week nobody is asked again; once that entry holds no longer, they are a new statement."""
    known = study.agent.entries.save(PIPE).fact
    if how == "settled":
        study.agent.entries.settle(study.agent.entries.save(VAPES).fact.id, same=[known.id], reason="read both")
    else:
        study.agent.entries.save(VAPES, same=[known.id])
    study.clock.pass_(days=7)
    again = study.agent.entries.save(VAPES)
    study.person.entries.evolve(known.id, "Nora smokes nothing.", reason="quit")
    later = study.agent.entries.save(VAPES)

    assert (again.action, again.fact.id, again.fact.confirmed[-1]) == ("confirm", known.id, "2026-03-08")
    assert (later.action, later.fact.text) == ("insert", VAPES)


def test_a_program_that_repeats_such_words_confirms_nothing_that_the_person_said(study: Study) -> None:
    """And the caller may still say that they replace that entry after all."""
    known = study.person.entries.save(PIPE).fact
    study.person.entries.save(VAPES, same=[known.id])
    study.clock.pass_(days=7)
    again = study.agent.entries.save(VAPES)
    replaced = study.person.entries.save(VAPES, replaces=[known.id])

    assert (again.action, again.fact.id, again.changed) == ("confirm", known.id, False)
    assert ([each.id for each in replaced.ended], texts(study.person)) == ([known.id], {VAPES})


def test_a_dry_run_of_same_shows_the_new_note_and_writes_nothing(study: Study) -> None:
    """The difference has both notes."""
    known, before = study.person.entries.save(PIPE).fact, study.commits
    shown = study.person.entries.save(VAPES, same=[known.id], dry_run=True)

    assert f"+{VAPES}" in (shown.difference or "")
    assert study.commits == before


# ---------------------------------------------------------------- replaced, covered, for a while


@pytest.mark.parametrize("how", ["settle", "save"])
def test_what_covers_an_entry_takes_over_how_it_is_loaded_and_what_it_is_about(study: Study, how: str) -> None:
    """Kind, topics and importance, too, unless it has its own; `undo` takes the move of the note back."""
    entries = study.person.entries
    old = entries.save(
        "Is allergic to nuts.", kind="constraint", always_load=True, importance=0.9, topics=["health"]
    ).fact
    study.clock.pass_(days=1)
    text = "Is allergic to nuts, but not to peanuts."
    if how == "save":
        heir = entries.save(text, covers=[old.id]).fact
    else:
        heir = entries.settle(entries.save(text).fact.id, covers=[old.id]).fact
    shown = entries.show(heir.id).fact

    assert (shown.always_load, shown.importance, shown.topics, shown.kind) == (True, 0.9, ("health",), "constraint")
    assert shown.path.startswith("Agent/Memory/_always-load/")
    assert study.person.lint().problems == ()


def test_the_wording_that_stays_takes_over_how_the_other_was_loaded(study: Study) -> None:
    """A newer entry that is loaded before every prompt does not go out of sight."""
    entries = study.person.entries
    old, new = entries.save("Is allergic to nuts.").fact, entries.save("Has a nut allergy.", always_load=True).fact
    stays = entries.settle(new.id, same=[old.id]).fact

    assert (stays.id, stays.always_load, study.person.notes.stat(stays.path).path) == (old.id, True, stays.path)


def test_an_end_that_somebody_settles_is_a_stated_end(study: Study) -> None:
    """Nobody is asked about the two again."""
    entries = study.person.entries
    entries.save("Parks the car in the yard behind the house.")
    study.clock.pass_(days=1)
    new = entries.save("Parks the car in Mill Lane behind the house.").fact
    asked = study.person.reviews.count()
    settled = entries.settle(new.id, until="2026-06-01").fact

    assert (asked, study.person.reviews.count()) == (1, 0)
    assert (settled.valid_until[:10], settled.invalidated_at) == ("2026-06-01", "")


def test_a_verdict_on_words_that_stand_in_a_line_of_a_note_is_carried_out(study: Study) -> None:
    """A line says nothing of other entries, so its words become an entry; without a verdict they are known."""
    old = study.person.entries.save("The dentist is Dr. Brand.").fact
    (study.vault / "Health.md").write_text("# Health\n\n- [fact] The dentist is Dr. Okafor. #health\n")
    study.person.index.sync()
    plain = study.person.entries.save("The dentist is Dr. Okafor.")
    saved = study.person.entries.save("The dentist is Dr. Okafor.", replaces=[old.id])

    assert (plain.action, plain.fact.path) == ("confirm", "Health.md")
    assert (saved.fact.origin, [each.id for each in saved.ended]) == ("entry", [old.id])
    assert texts(study.person) == {"The dentist is Dr. Okafor."}


def test_until_in_the_first_call_ends_nothing_and_the_older_one_holds_again(study: Study) -> None:
    """At every door; an end that is stated twice is a mistake."""
    entries = study.person.entries
    old = entries.save("Parks in the yard.").fact
    saved = entries.save("Parks in Mill Lane.", replaces=[old.id], until="2026-06-01")
    with pytest.raises(UsageError):
        entries.save("Parks at the quay.", until="2026-06-01", valid_until="2026-07-01")
    both = texts(study.person)
    study.clock.pass_(days=100)

    assert (saved.ended, saved.fact.bonds, saved.fact.valid_until[:10]) == ((), (("both", old.id),), "2026-06-01")
    assert both == {"Parks in the yard.", "Parks in Mill Lane."}
    assert texts(study.person) == {"Parks in the yard."}


# ---------------------------------------------------------------- whose verdict it is

TWO, FIVE = "The backup runs at two.", "The backup runs at five."


@pytest.mark.parametrize("how", ["settle", "group", "reject"])
def test_no_program_changes_the_persons_verdict_that_both_hold(study: Study, how: str) -> None:
    """In neither direction, by whichever verb, and nothing waits again; an own verdict of programs they may change."""
    entries, speaker = study.agent.entries, "person" if how == "reject" else "agent"
    old = study.by(speaker).entries.save(TWO).fact
    study.clock.pass_(days=1)
    new = entries.save(FIVE, replaces=[old.id] if how == "reject" else []).fact
    if how == "settle":
        study.person.entries.settle(new.id, both=[old.id])
    elif how == "group":
        study.person.reviews.settle(study.person.reviews.list().groups[0].id, "both")
    else:
        study.person.reviews.reject(new.id)
    for one, other, verb in ((new, old, "replaces"), (new, old, "covers"), (new, old, "same"), (old, new, "same")):
        named: dict[str, Any] = {verb: [other.id]}
        with pytest.raises(Conflict):
            entries.settle(one.id, **named)
    with pytest.raises(Conflict, match="both hold"):
        entries.save(FIVE, replaces=[old.id])

    assert (texts(study.person), study.person.reviews.count()) == ({TWO, FIVE}, 0)
    assert study.person.entries.settle(new.id, replaces=[old.id]).ended[0].id == old.id


def test_a_program_may_change_what_a_program_settled(study: Study) -> None:
    """Nobody but programs has said anything of the two."""
    old, new = (study.agent.entries.save(text).fact for text in (TWO, FIVE))
    study.agent.entries.settle(new.id, both=[old.id])
    settled = study.agent.entries.settle(new.id, replaces=[old.id])

    assert [each.id for each in settled.ended] == [old.id]


@pytest.mark.parametrize("verdict", [{"both": True}, {"replaces": True, "until": "2999-01-01"}])
def test_no_program_takes_back_an_ending_that_waits_for_the_person(study: Study, verdict: dict[str, object]) -> None:
    """Another agent that finds that both hold leaves the question with the person, who may say so."""
    old = study.person.entries.save(TWO).fact
    new = study.agent.entries.save(FIVE, replaces=[old.id]).fact
    named: dict[str, Any] = {key: [old.id] if value is True else value for key, value in verdict.items()}
    other = study.agent.acting(Actor("agent", "codex")).entries.settle(new.id, **named)
    waiting = study.person.reviews.list().endings
    study.person.entries.settle(new.id, both=[old.id])

    assert [each.id for each in other.waiting] == [old.id]
    assert [[each.id for each in ending.against] for ending in waiting] == [[old.id]]
    assert study.person.reviews.count() == 0


# ---------------------------------------------------------------- what the answer says


def test_the_answer_says_that_something_changed_if_only_an_older_entry_did(study: Study) -> None:
    """The newer one is as it was: it replaces something already."""
    first, second = (study.person.entries.save(text).fact for text in (TWO, "The backup runs at three."))
    new = study.person.entries.save(FIVE, replaces=[first.id]).fact
    settled = study.person.entries.settle(new.id, replaces=[second.id])

    assert ([each.id for each in settled.ended], settled.changed) == ([second.id], True)


def test_what_the_older_entry_says_of_a_newer_one_is_settled_for_both(study: Study) -> None:
    """Neither is shown beside the other again."""
    old, new = (study.person.entries.save(text).fact for text in (TWO, FIVE))
    before = study.person.entries.neighbours(new.id).neighbours
    study.person.entries.settle(old.id, both=[new.id])

    assert [each.fact.id for each in before] == [old.id]
    assert study.person.entries.neighbours(new.id).neighbours == ()


def test_an_agent_that_repeats_a_change_of_the_persons_word_hears_that_they_decide(study: Study) -> None:
    """It is not told to forget what the person said."""
    old = study.person.entries.save(TWO).fact
    study.agent.entries.evolve(old.id, FIVE, reason="it was moved")
    with pytest.raises(Conflict) as refused:
        study.agent.entries.evolve(old.id, FIVE, reason="it was moved")

    assert refused.value.hint == "The person decides whether it replaces the old one."
