"""Changed values: nothing ends because of words; who has read both says what ends, and the person's word is theirs."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from commonplace.errors import Conflict, Refused
from commonplace.memory import Memory
from commonplace.model import Actor, Fact
from commonplace.model.request import NewEntry
from tests.memories import Calendar, make_memory

BESIDE = (
    "Anouk works at the town library.",
    "The lathe is oiled every Friday.",
    "Reads two newspapers at breakfast.",
    "The rowing club meets on Tuesdays.",
    "Speaks Breton with the neighbours.",
    "The mail relay restarts at 03:00.",
    "Milan works as a glazier.",
    "Keeps seven hens behind the barn.",
)


class Desk(NamedTuple):
    """One memory as its person and as an agent, and the clock of both."""

    person: Memory
    agent: Memory
    clock: Calendar


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    """An empty vault under git."""
    clock = Calendar()
    with make_memory(tmp_path, clock=clock) as memory:
        yield Desk(memory, memory.acting(Actor("agent", "claude-code")), clock)


def texts(memory: Memory) -> set[str]:
    return {each.fact.text for each in memory.facts.about()}


CHANGES = (
    ("I work at Acme.", "I now work at Globex."),
    ("The compiler is built with CMake.", "The compiler is built with Meson, no longer with CMake."),
    ("For packages: pnpm, never npm.", "For packages: npm, never pnpm."),
    ("The kiln is fired by Dunja.", "Dunja fires the kiln."),
)
"""Values that change, an opposite, and the same in other words."""


@pytest.mark.parametrize("speaker", ["person", "agent"])
@pytest.mark.parametrize(("old", "new"), CHANGES)
def test_what_is_said_ends_nothing_by_its_words_and_sees_what_it_is_near_to(
    desk: Desk, speaker: str, old: str, new: str
) -> None:
    """Among others that share words, too; the answer shows the near one, with a name that `settle` takes."""
    for text in (*BESIDE, old):
        desk.agent.entries.save(text)
    desk.clock.pass_(days=1)
    result = getattr(desk, speaker).entries.save(new)

    assert (result.action, result.staged, result.ended, result.waiting) == ("insert", False, (), ())
    assert old in [each.fact.text for each in result.neighbours]
    assert texts(desk.person) == {*BESIDE, old, new}


@pytest.mark.parametrize(("old", "new"), CHANGES)
def test_what_an_agent_settles_ends_what_an_agent_said_and_nothing_else(desk: Desk, old: str, new: str) -> None:
    """One of the two is left."""
    for text in (*BESIDE, old):
        desk.agent.entries.save(text)
    desk.clock.pass_(days=1)
    saved = desk.agent.entries.save(new)
    (near,) = [each.fact for each in saved.neighbours if each.fact.text == old]
    result = desk.agent.entries.settle(saved.fact.id, replaces=[near.id])

    assert [each.text for each in result.ended] == [old]
    assert texts(desk.agent) == {*BESIDE, new}


def test_a_change_by_an_agent_is_listed_and_can_be_undone(desk: Desk) -> None:
    """The versions name each other, the log has the commit, and undo brings the old value back."""
    old = desk.agent.entries.save("I work at Acme.").fact
    desk.clock.pass_(days=1)
    new = desk.agent.entries.save("I now work at Globex.", replaces=[old.id])
    versions = [(each.fact.id, each.state) for each in desk.person.entries.show(new.fact.id).versions]
    logged = {(entry.path, entry.actor) for entry in desk.person.notes.log(limit=2)}
    desk.person.notes.undo()

    assert versions == [(old.id, "superseded"), (new.fact.id, "current")]
    assert logged == {(old.path, "agent"), (new.fact.path, "agent")}
    assert texts(desk.person) == {"I work at Acme."}


@pytest.mark.parametrize("verb", ["save", "settle", "evolve"])
def test_against_the_persons_word_an_agents_new_value_stands_and_the_ending_waits(desk: Desk, verb: str) -> None:
    """It is not hidden, whichever way the agent says it; a relation in its note says what it would end."""
    mine = desk.person.entries.save("For packages: pnpm, never npm.", kind="preference").fact
    new, agent = "For packages: npm, never pnpm.", desk.agent.entries
    desk.clock.pass_(days=1)
    if verb == "save":
        result = agent.save(new, kind="preference", replaces=[mine.id])
    elif verb == "settle":
        result = agent.settle(agent.save(new, kind="preference").fact.id, replaces=[mine.id])
    else:
        result = agent.evolve(mine.id, new, reason="so it is in the lock file")

    assert (result.staged, result.ended, [each.id for each in result.waiting]) == (False, (), [mine.id])
    assert result.fact.bonds == (("end", mine.id),)
    assert texts(desk.agent) == {mine.text, new}


@pytest.mark.parametrize("verdict", ["replaces", "covers", "both", "same"])
def test_an_agent_that_settles_two_of_the_persons_own_entries_is_told_the_command_for_the_person(
    desk: Desk, verdict: str
) -> None:
    """It may write into neither of them: nothing changes, and nothing else helps but the person."""
    old = desk.person.entries.save("For packages: pnpm, never npm.", kind="preference").fact
    desk.clock.pass_(days=1)
    new = desk.person.entries.save("For packages: npm, never pnpm.", kind="preference").fact
    with pytest.raises(Refused, match=f"only the person settles {new.id[-6:]}") as refused:
        desk.agent.entries.settle(new.id, **{verdict: [old.id]})  # type: ignore[arg-type]

    assert f"`commonplace settle {new.id[-6:]} --{verdict} {old.id[-6:]}`" in (refused.value.hint or "")
    assert texts(desk.person) == {old.text, new.text}


def test_of_the_persons_word_and_an_agents_that_say_the_same_the_agent_is_told_which_gives_way(desk: Desk) -> None:
    """The person's wording stays."""
    said = desk.agent.entries.save("The kiln is fired by Dunja.").fact
    desk.clock.pass_(days=1)
    own = desk.person.entries.save("Dunja fires the kiln.").fact
    with pytest.raises(Conflict, match="only the person may put") as conflict:
        desk.agent.entries.settle(own.id, same=[said.id])
    desk.agent.entries.settle(said.id, same=[own.id])

    assert f"{said.id[-6:]} says the same as {own.id[-6:]}" in (conflict.value.hint or "")
    assert texts(desk.person) == {own.text}


def test_the_persons_word_ends_at_once_what_they_say_it_ends(desk: Desk) -> None:
    """Nothing waits: neither over an agent's statement nor over their own."""
    said = desk.agent.entries.save("The stove burns oak.").fact
    desk.clock.pass_(days=1)
    first = desk.person.entries.save("The stove burns birch.", replaces=[said.id])
    desk.clock.pass_(days=1)
    second = desk.person.entries.save("The stove burns beech now.", replaces=[first.fact.id])

    assert [each.action for each in (first, second)] == ["supersede", "supersede"]
    assert texts(desk.person) == {"The stove burns beech now."}


def test_the_persons_next_value_ends_the_one_that_an_agent_wanted_instead(desk: Desk) -> None:
    """Of a triple with one value: the agent's value stands beside theirs, a second one takes its place, and then none
    of them is left."""

    def held() -> set[str]:
        return {each.fact.object for each in desk.person.facts.about("Ada", predicate="works_at")}

    mine = desk.person.facts.add("Ada", "works_at", "Acme").fact
    desk.clock.pass_(days=1)
    first = desk.agent.facts.add("Ada", "works_at", "Beta")
    beside = held()
    desk.clock.pass_(days=1)
    second = desk.agent.facts.add("Ada", "works_at", "Gamma")
    then = held()
    desk.clock.pass_(days=1)
    last = desk.person.facts.add("Ada", "works_at", "Delta")

    assert [[each.id for each in result.waiting] for result in (first, second)] == [[mine.id], [mine.id]]
    assert [each.id for each in second.ended] == [first.fact.id]
    assert (beside, then, held()) == ({"Acme", "Beta"}, {"Acme", "Gamma"}, {"Delta"})
    assert {each.id for each in last.ended} == {mine.id, second.fact.id}
    assert desk.person.lint().problems == ()


def value_related_to(other: Fact, relation: str) -> NewEntry:
    """That Robin lives in Kiel, and a relation to another entry."""
    related: dict[str, Any] = {relation: [other.id]}
    return NewEntry("", subject="Robin", predicate="lives_in", object="Kiel", **related)


@pytest.mark.parametrize("relation", ["derived_from", "extends", "contradicts", "replaces"])
def test_a_value_with_a_relation_to_something_else_names_the_value_that_it_ends(desk: Desk, relation: str) -> None:
    """Of a triple with one value: no ending goes without its name in the answer, and the two notes agree."""
    trip = desk.person.entries.save("Robin likes the sea.").fact
    oslo = desk.person.facts.add("Robin", "lives_in", "Oslo").fact
    desk.clock.pass_(days=1)
    result = desk.person.entries.add(value_related_to(trip, relation))

    ended = [oslo.id, *([trip.id] if relation == "replaces" else [])]
    assert {each.id for each in result.ended} == {*ended}
    assert not {each.fact.id for each in desk.person.entries.neighbours(result.fact.id).neighbours} & {*ended}
    assert desk.person.lint().problems == ()


@pytest.mark.parametrize("relation", ["derived_from", "extends", "replaces"])
def test_an_agents_value_with_a_relation_waits_to_end_the_persons_and_stands_until_then(
    desk: Desk, relation: str
) -> None:
    """It is not dead on arrival, and the answer and the review say what only the person may end."""
    trip = desk.agent.entries.save("Robin likes the sea.").fact
    oslo = desk.person.facts.add("Robin", "lives_in", "Oslo").fact
    desk.clock.pass_(days=1)
    result = desk.agent.entries.add(value_related_to(trip, relation))
    held = {each.fact.object for each in desk.person.facts.about("Robin", predicate="lives_in")}

    assert [each.id for each in result.waiting] == [oslo.id]
    assert held == {"Oslo", "Kiel"}
    assert [[each.id for each in waiting.against] for waiting in desk.person.reviews.list().endings] == [[oslo.id]]


def test_both_with_one_value_spares_no_value_from_another_one(desk: Desk) -> None:
    """The next value ends both that were said to hold together and names both, also after one got a new version."""
    song = desk.person.entries.save("Robin likes the zoo.").fact
    first = desk.person.facts.add("Robin", "lives_in", "Leipzig").fact
    desk.person.entries.settle(first.id, both=[song.id])
    desk.clock.pass_(days=1)
    second = desk.person.facts.add("Robin", "lives_in", "Kiel", both=[first.id]).fact
    desk.clock.pass_(days=1)
    moved = desk.person.entries.evolve(first.id, "Leipzig-Plagwitz", reason="the quarter")
    held = {each.fact.object for each in desk.person.facts.about("Robin", predicate="lives_in")}
    desk.clock.pass_(days=1)
    third = desk.person.facts.add("Robin", "lives_in", "Bonn")

    assert [each.id for each in moved.ended] == [first.id]
    assert held == {"Leipzig-Plagwitz", "Kiel"}
    assert {each.id for each in third.ended} == {second.id, moved.fact.id}
    assert [each.fact.object for each in desk.person.facts.about("Robin", predicate="lives_in")] == ["Bonn"]
    assert desk.person.lint().problems == ()


SAID_OF_A_DAY = (
    "The dentist is tomorrow.",
    "The concert is the day after tomorrow.",
    "The parcel comes in two days.",
    "The party is next Saturday.",
    "The lease ends next spring.",
    "Der Zahnarzt ist morgen.",
    "Nora fell ill last week.",
    "The rent was paid yesterday.",
    "Is ill today.",
)


@pytest.mark.parametrize("text", SAID_OF_A_DAY)
def test_words_that_depend_on_the_day_of_speaking_are_the_same_only_on_that_day(desk: Desk, text: str) -> None:
    """A year later they say another thing: a new entry beside the first, which nothing ends, and nobody asks."""
    first = desk.person.entries.save(text)
    again = desk.person.entries.save(text)
    later = []
    for _ in range(2):
        desk.clock.pass_(days=380)
        later.append(desk.person.entries.save(text))
    states = {each.state for each in desk.person.facts.about() if each.fact.text == text}

    assert [again.action, *(each.action for each in later)] == ["confirm", "insert", "insert"]
    assert {first.fact.id, *(each.fact.id for each in later)} == {
        each.fact.id for each in desk.person.facts.about() if each.fact.text == text
    }
    assert states == {"current"}
    assert [*desk.person.lint().problems, *desk.person.reviews.list().groups] == []


@pytest.mark.parametrize("text", ["Trains for two hours.", "The cat sat in the sun.", "Guten Morgen heißt moin."])
def test_words_without_a_day_of_speaking_are_known_at_any_time(desk: Desk, text: str) -> None:
    """A year later they are confirmed."""
    desk.person.entries.save(text)
    desk.clock.pass_(days=380)

    assert desk.person.entries.save(text).action == "confirm"
