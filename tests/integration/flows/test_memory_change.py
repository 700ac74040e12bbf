"""Changed values: an agent may end what an agent said; against the person's word it waits, and both are doubted."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from commonplace.flows.memory.facts import doubts_of, fact_snapshots
from commonplace.flows.stores import Session
from commonplace.index.base import FactQuery
from commonplace.memory import Memory
from commonplace.model import Actor
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


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("I work at Acme.", "I now work at Globex."),
        ("The compiler is built with CMake.", "The compiler is built with Meson."),
        ("Prefers concise pull requests.", "Prefers detailed pull requests."),
    ],
)
def test_an_agents_new_value_ends_what_an_agent_said_and_nothing_else(desk: Desk, old: str, new: str) -> None:
    """One of the two is left, among other statements that share words with it."""
    for text in (*BESIDE, old):
        desk.agent.entries.save(text)
    desk.clock.pass_(days=1)
    result = desk.agent.entries.save(new)

    assert (result.action, result.staged) == ("supersede", False)
    assert result.reason.startswith("It says")
    assert texts(desk.agent) == {*BESIDE, new}


def test_a_change_by_an_agent_is_listed_and_can_be_undone(desk: Desk) -> None:
    """The versions name each other, the log has the commit, and undo brings the old value back."""
    old = desk.agent.entries.save("I work at Acme.").fact
    desk.clock.pass_(days=1)
    new = desk.agent.entries.save("I now work at Globex.")
    versions = [(each.fact.id, each.state) for each in desk.person.entries.show(new.fact.id).versions]
    logged = {(entry.path, entry.actor) for entry in desk.person.notes.log(limit=2)}
    desk.person.notes.undo()

    assert versions == [(old.id, "superseded"), (new.fact.id, "current")]
    assert logged == {(old.path, "agent"), (new.fact.path, "agent")}
    assert texts(desk.person) == {"I work at Acme."}


def doubts(memory: Memory, desk: Desk) -> dict[str, str]:
    """Why each current fact is doubted, by its text."""
    session: Session = memory._session
    with session.stores.index.reader() as reader:
        snapshots = fact_snapshots(reader.facts(FactQuery()), session.at(desk.clock()))
    found = doubts_of(snapshots, session.at(desk.clock()), below=0.0)
    return {each.fact.text: found[each.fact.id] for each in snapshots if each.state == "current"}


def test_against_the_persons_word_a_new_value_waits_and_the_old_one_is_doubted(desk: Desk) -> None:
    """It is no addition: the person is asked, and the doubt ends with the answer."""
    desk.person.entries.save("For packages: pnpm, never npm.", kind="preference")
    desk.person.entries.save("Drinks tea.", kind="preference")
    desk.clock.pass_(days=1)
    staged = desk.agent.entries.save("For packages: npm, never pnpm.", kind="preference")
    waiting = doubts(desk.agent, desk)
    desk.person.reviews.reject(staged.fact.id)
    settled = doubts(desk.agent, desk)

    assert staged.staged
    assert texts(desk.agent) == {"For packages: pnpm, never npm.", "Drinks tea."}
    assert waiting["For packages: pnpm, never npm."].startswith("changed?")
    assert not waiting["Drinks tea."]
    assert not settled["For packages: pnpm, never npm."]


def test_the_persons_new_word_replaces_at_once_whoever_said_the_old(desk: Desk) -> None:
    """Nothing waits: neither over an agent's statement nor over their own."""
    desk.agent.entries.save("The stove burns oak.")
    desk.clock.pass_(days=1)
    first = desk.person.entries.save("The stove burns birch.")
    desk.clock.pass_(days=1)
    second = desk.person.entries.save("The stove burns beech now.")

    assert [each.action for each in (first, second)] == ["supersede", "supersede"]
    assert texts(desk.person) == {"The stove burns beech now."}


def test_an_agents_paraphrase_confirms(desk: Desk) -> None:
    """It is counted as a confirmation, and no second entry is written."""
    old = desk.agent.entries.save("The kiln is fired by Dunja.").fact
    desk.clock.pass_(days=1)
    result = desk.agent.entries.save("Dunja fires the kiln.")

    assert (result.action, result.old) == ("confirm", old.id)
    assert texts(desk.agent) == {"The kiln is fired by Dunja."}
