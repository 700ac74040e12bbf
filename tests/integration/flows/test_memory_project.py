"""Entries and conversations know the project in which they were saved; work on documents has a phase of its own."""

from pathlib import Path

import pytest

from commonplace.errors import Refused
from commonplace.memory import Memory
from commonplace.model import Actor, Fact
from tests.memories import Calendar, make_memory

TESTS = "The tests run with `make check`."


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    return make_memory(tmp_path, clock=Calendar())


def repository(folder: Path) -> str:
    (folder / ".git").mkdir(parents=True)
    return str(folder)


def project_of(fact: Fact) -> tuple[str, str]:
    return fact.project, fact.project_root


@pytest.mark.requirement("X-12")
def test_what_is_saved_in_a_repository_is_known_with_its_project(tmp_path: Path, memory: Memory) -> None:
    """The entry's note and the index both have the name and the root; outside of a repository there is neither."""
    atlas = repository(tmp_path / "code/atlas")
    with memory:
        saved = memory.entries.save(TESTS, kind="workflow", folder=f"{atlas}/src")
        triple = memory.facts.add("Atlas", "uses", "Postgres", folder=atlas)
        named = memory.entries.save("The boat is painted in spring.", project="boat", folder=atlas)
        none = memory.entries.save("Bread is baked on Sundays.", project="", folder=atlas)
        outside = memory.entries.save("Bees swarm in May.", folder=str(tmp_path))
        own = memory.entries.save("Notes are sorted on Fridays.", folder=str(tmp_path / "vault"))
        keys = memory.notes.read(saved.fact.path).frontmatter
        listed = [each.fact.text for each in memory.facts.about(project="Atlas")]

    assert project_of(saved.fact) == (keys["project"], keys["project_root"]) == ("atlas", atlas)
    assert project_of(triple.fact) == ("atlas", atlas)
    assert project_of(named.fact) == ("boat", "")
    assert [project_of(each.fact) for each in (none, outside, own)] == [("", "")] * 3
    assert sorted(listed) == sorted([TESTS, triple.fact.text])


def test_what_is_known_in_one_project_is_not_known_in_all(tmp_path: Path, memory: Memory) -> None:
    """The same words for every project are an entry beside it; what is known in all is known in each."""
    atlas, boat = repository(tmp_path / "atlas"), repository(tmp_path / "boat")
    with memory:
        one = memory.entries.save(TESTS, kind="workflow", folder=atlas)
        every = memory.entries.save(TESTS, kind="workflow", project="")
        again = memory.entries.save(TESTS, kind="workflow", folder=boat)
        shown = memory.context("How do I run the tests?", within=None, profile=False, peek=True, folder=boat).text

    assert [each.action for each in (one, every, again)] == ["insert", "insert", "confirm"]
    assert again.fact.id == every.fact.id
    assert [each.fact.id for each in every.neighbours] == [one.fact.id]
    assert TESTS in shown


def test_a_new_version_keeps_the_project_wherever_it_is_made(tmp_path: Path, memory: Memory) -> None:
    """Evolving, and saving what replaces it; a project that is given wins."""
    atlas, boat = repository(tmp_path / "atlas"), repository(tmp_path / "boat")
    with memory:
        first = memory.facts.add("Ada", "works_at", "Acme", folder=atlas)
        second = memory.entries.evolve(first.fact.id, "Beta", reason="a new job")
        third = memory.facts.add("Ada", "works_at", "Gamma")
        fourth = memory.facts.add("Ada", "works_at", "Delta", folder=boat)

    assert [each.action for each in (second, third, fourth)] == ["supersede"] * 3
    assert [project_of(each.fact) for each in (second, third)] == [("atlas", atlas)] * 2
    assert project_of(fourth.fact) == ("boat", boat)


def test_two_projects_may_each_have_their_own_fact_but_the_person_has_one(tmp_path: Path, memory: Memory) -> None:
    """The same words in another project are not a repetition, unless they are about the person."""
    atlas, boat = repository(tmp_path / "atlas"), repository(tmp_path / "boat")
    with memory:
        here, there, again = (memory.entries.save(TESTS, folder=each) for each in (atlas, boat, atlas))
        liked, repeated = (
            memory.entries.save("Prefers small commits.", kind="preference", folder=each) for each in (atlas, boat)
        )

    assert [each.action for each in (here, there, again)] == ["insert", "insert", "confirm"]
    assert here.fact.id == again.fact.id != there.fact.id
    assert (repeated.action, repeated.fact.id) == ("confirm", liked.fact.id)


def test_a_secret_in_the_name_of_a_project_is_refused(memory: Memory) -> None:
    """It would stand in the note as in any other field."""
    with memory, pytest.raises(Refused, match="secret"):
        memory.entries.save(TESTS, project="ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8")


def test_a_conversation_knows_its_project(tmp_path: Path, memory: Memory) -> None:
    """By the folder in which it was held, or by name; the last one of a project is found."""
    atlas = repository(tmp_path / "atlas")
    turn = [{"role": "user", "content": "Where do the sensors report?"}]
    with memory:
        agent = memory.acting(Actor("agent", "mcp"))
        agent.conversations.record(turn, interface="codex", source_id="s-1", folder=atlas)
        agent.conversations.record(turn, interface="codex", source_id="s-2", project="boat")
        agent.conversations.record(turn, interface="codex", source_id="s-3")
        projects = {each.source_id: each.project for each in memory.conversations.list()}
        (found,) = memory.conversations.list(project="atlas")

    assert projects == {"s-1": "atlas", "s-2": "boat", "s-3": ""}
    assert found.source_id == "s-1"


@pytest.mark.requirement("X-11")
def test_a_documenter_recalls_what_belongs_into_documents(memory: Memory) -> None:
    """A phase beside plan, work, review and debug: decisions and how things are done, not fixes and ideas."""
    with memory:
        memory.entries.save("The harbour log is kept in SQLite, because it must work offline.", kind="decision")
        memory.entries.save("The harbour log crashed on a missing folder: create it first.", kind="fix")
        context = memory.context("describe the harbour log", phase="documenter", within=None)
        found = [each.piece.text for each in context.included if each.piece.section == "facts"]

    assert len(found) == 1
    assert "kept in SQLite" in found[0]
