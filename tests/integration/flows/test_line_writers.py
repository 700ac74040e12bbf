"""Trust is of the writer, wherever the words stand: a line that a program wrote ends nothing that the person says."""

import os
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from commonplace.memory import Memory
from commonplace.model import Terms
from tests.gitvault import git
from tests.memories import make_memory

ADA = "# Ada\n\n- works_at [[Acme]]\n"
EVIL = "# Ada\n\n- works_at [[EvilCorp]]\n"
FOLDERS = ("Commitments", "Daily", "Inbox", "Meetings", "Projects", "Reviews", "WeeklyReview")


def works_at(memory: Memory) -> list[str]:
    return [each.fact.object for each in memory.facts.about("Ada", predicate="works_at")]


def trusts(memory: Memory) -> dict[str, str]:
    """The trust of each line fact, by its path and text."""
    facts = (each.fact for each in memory.facts.about(every=True, limit=100))
    return {f"{each.path}: {each.text}": each.origins.trust for each in facts if each.origin == "line"}


def person_writes(folder: Path, path: str, text: str) -> None:
    file = folder / "vault" / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


@pytest.mark.parametrize("is_committed", [True, False])
def test_an_agents_line_in_a_note_of_the_same_name_ends_nothing(tmp_path: Path, is_committed: bool) -> None:
    """In whatever folder it may write, and whether or not git has the person's note; a rebuild says the same."""
    with make_memory(tmp_path) as memory:
        person_writes(tmp_path, "People/Ada.md", ADA)
        if is_committed:
            git(tmp_path / "vault", "add", "-A")
            git(tmp_path / "vault", "commit", "-qm", "mine")
        memory.index.sync()
    with make_memory(tmp_path, actor="agent") as agent:
        for folder in FOLDERS:
            agent.notes.write(f"{folder}/Ada.md", EVIL)
        first = works_at(agent)
        agent.index.rebuild()
        again = works_at(agent)

    assert first == again == ["Acme"]


def test_an_agents_line_beside_the_persons_in_one_note_ends_nothing(tmp_path: Path) -> None:
    """The person's line stays the person's although the agent wrote the note last."""
    with make_memory(tmp_path) as memory:
        memory.notes.write("People/Ada.md", ADA)
    with make_memory(tmp_path, actor="agent") as agent:
        agent.notes.write("People/Ada.md", f"{ADA}- works_at [[EvilCorp]]\n")
        held, written = works_at(agent), trusts(agent)
        agent.index.rebuild()

        assert trusts(agent) == written
    assert held == ["Acme"]
    assert written == {
        "People/Ada.md: works_at [[Acme]]": "read",
        "People/Ada.md: works_at [[EvilCorp]]": "said",
    }


def test_an_agents_line_ends_no_told_fact_and_holds_where_nobody_says_otherwise(tmp_path: Path) -> None:
    with make_memory(tmp_path) as memory:
        memory.facts.add("Ada", "works_at", "Acme", valid_from="2024-01-01")
    with make_memory(tmp_path, actor="agent") as agent:
        agent.notes.write("People/Ada.md", f"{EVIL}- lives_in [[Berlin]]\n")

        assert works_at(agent) == ["Acme"]
        assert [each.fact.object for each in agent.facts.about("Ada", predicate="lives_in")] == ["Berlin"]


def test_a_line_that_the_person_changes_is_the_persons(tmp_path: Path) -> None:
    """By hand or with us, and again when a program wrote over it; the agent's other lines stay the agent's."""
    with make_memory(tmp_path, actor="agent") as agent:
        agent.notes.write("Projects/Ada.md", "- works_at [[Beta]]\n- lives_in [[Graz]]\n")
    with make_memory(tmp_path) as memory:
        person_writes(tmp_path, "Projects/Ada.md", "- works_at [[Gamma]]\n- lives_in [[Graz]]\n")
        memory.index.sync()
        by_hand = trusts(memory)
        memory.notes.write("Projects/Ada.md", "- works_at [[Delta]]\n- lives_in [[Graz]]\n")
        with_us = trusts(memory)
        memory.index.rebuild()

        assert trusts(memory) == with_us
    assert by_hand == {"Projects/Ada.md: works_at [[Gamma]]": "read", "Projects/Ada.md: lives_in [[Graz]]": "said"}
    assert with_us == {"Projects/Ada.md: works_at [[Delta]]": "read", "Projects/Ada.md: lives_in [[Graz]]": "said"}


@pytest.mark.parametrize("is_committed", [True, False])
def test_a_rename_in_the_editor_makes_no_agents_line_the_persons(tmp_path: Path, is_committed: bool) -> None:
    """Another folder or another name, in git or not yet; found again by a sync and by a rebuild."""
    vault = tmp_path / "vault"
    with make_memory(tmp_path, actor="agent") as agent:
        agent.notes.write("Inbox/Ada.md", EVIL)
    (vault / "People").mkdir()
    (vault / "Inbox/Ada.md").rename(vault / "People/Ada Lovelace.md")
    if is_committed:
        git(vault, "add", "-A")
        git(vault, "commit", "-qm", "tidied")
    with make_memory(tmp_path) as memory:
        memory.index.sync()
        synced = trusts(memory)
        memory.index.rebuild()

        assert trusts(memory) == synced == {"People/Ada Lovelace.md: works_at [[EvilCorp]]": "said"}


def test_an_agent_that_moves_a_note_changes_no_writer_unless_it_changes_the_subject(tmp_path: Path) -> None:
    """A move to another folder leaves the lines to their writers; a new title makes statements that nobody made."""
    with make_memory(tmp_path) as memory:
        memory.notes.write("Inbox/Bob.md", "- works_at [[EvilCorp]]\n- lives_in [[Graz]]\n")
    with make_memory(tmp_path, actor="agent") as agent:
        agent.notes.move("Inbox/Bob.md", "People/Bob.md")
        moved = trusts(agent)
        agent.notes.move("People/Bob.md", "People/Ada.md")
        renamed = trusts(agent)
        agent.notes.write("Projects/Eve.md", "- works_at [[EvilCorp]]\n")

    assert set(moved.values()) == {"read"}
    assert set(renamed.values()) == {"said"}


def test_a_new_title_by_an_agent_gives_the_persons_lines_no_other_subject(tmp_path: Path) -> None:
    with make_memory(tmp_path) as memory:
        memory.facts.add("Ada", "works_at", "Acme", trust="said")
        memory.notes.write("People/Bob.md", "- works_at [[EvilCorp]]\n")
    with make_memory(tmp_path, actor="agent") as agent:
        agent.notes.write("People/Bob.md", "---\ntitle: Ada\n---\n- works_at [[EvilCorp]]\n")

        assert set(trusts(agent).values()) == {"said"}


def test_the_same_words_in_an_agents_note_take_nothing_from_the_person(tmp_path: Path) -> None:
    """A line of the person is theirs, however often an agent repeats it, deletes its copy, or has said it before."""
    with make_memory(tmp_path, actor="agent") as agent:
        agent.notes.write("Inbox/copy.md", "- works_at [[Acme]]\n")
        agent.notes.delete("Inbox/copy.md")
    with make_memory(tmp_path) as memory:
        person_writes(tmp_path, "People/Ada.md", ADA)
        memory.index.sync()
    with make_memory(tmp_path, actor="agent") as agent:
        agent.notes.write("Projects/Ada.md", ADA)
        agent.notes.delete("Projects/Ada.md")
        agent.notes.write("Projects/Ada.md", EVIL)

        assert works_at(agent) == ["Acme"]


@pytest.mark.parametrize("remedy", ["undo", "revert"])
@pytest.mark.parametrize("deletes", ["note", "line"])
def test_an_agents_line_that_the_person_brings_back_is_the_agents(tmp_path: Path, deletes: str, remedy: str) -> None:
    """To take back a deletion is not to write what was deleted; the person's own line comes back as theirs."""
    with make_memory(tmp_path) as memory:
        memory.notes.write("Projects/Ada.md", "# Ada\n\n- lives_in [[Graz]]\n")
        memory.facts.add("Ada", "works_at", "Acme")
    with make_memory(tmp_path, actor="agent") as agent:
        agent.notes.write("Projects/Ada.md", "# Ada\n\n- lives_in [[Graz]]\n- works_at [[EvilCorp]]\n")
        if deletes == "note":
            agent.notes.delete("Projects/Ada.md")
        else:
            agent.notes.write("Projects/Ada.md", "# Ada\n")
    with make_memory(tmp_path) as memory:
        if remedy == "undo":
            memory.notes.undo()
        else:
            git(tmp_path / "vault", "revert", "--no-edit", "HEAD")
        memory.index.sync()
        synced, held = trusts(memory), works_at(memory)
        memory.index.rebuild()

        assert trusts(memory) == synced
    assert held == ["Acme"]
    assert synced == {
        "Projects/Ada.md: lives_in [[Graz]]": "read",
        "Projects/Ada.md: works_at [[EvilCorp]]": "said",
    }


LONG = "- works_at [[EvilCorp]]\n\nShe has been there since the spring of last year.\n"


@pytest.mark.parametrize("is_titled", [True, False])
@pytest.mark.parametrize("again", ["old name", "new name"])
def test_a_rename_that_git_does_not_know_of_makes_no_agents_line_the_persons(
    tmp_path: Path, again: str, is_titled: bool
) -> None:
    """Renamed in an editor, then an agent writes to the old name, or to the new one: both hide the rename from git."""
    vault, title = tmp_path / "vault", "---\ntitle: Ada\n---\n" if is_titled else ""
    with make_memory(tmp_path) as memory:
        memory.facts.add("Ada", "works_at", "Acme")
    with make_memory(tmp_path, actor="agent") as agent:
        agent.notes.write("Projects/x.md", title + LONG)
        (vault / "Projects/x.md").rename(vault / "Projects/Ada.md")
        if again == "old name":
            agent.notes.write("Projects/x.md", "Something else.\n")
        else:
            agent.notes.write("Projects/Ada.md", f"{title}{LONG}\nMore of it.\n")
            git(vault, "add", "-A")
            git(vault, "commit", "-qm", "tidied")
    with make_memory(tmp_path) as memory:
        memory.index.sync()
        held, synced = works_at(memory), trusts(memory)
        known = [each.fact.object for each in memory.facts.about("Ada", predicate="works_at", known="today")]
        memory.index.rebuild()

        assert trusts(memory) == synced == {"Projects/Ada.md: works_at [[EvilCorp]]": "said"}
    assert held == known == ["Acme"]


def test_an_agent_that_repeats_the_persons_line_does_not_take_it(tmp_path: Path) -> None:
    """What the person wrote first stays theirs when the note is changed or renamed later, in git or not."""
    vault, long = tmp_path / "vault", f"{ADA}\nShe has been there since the spring of last year.\n"
    with make_memory(tmp_path) as memory:
        memory.notes.write("People/Ada.md", long)
        person_writes(tmp_path, "People/Bob.md", long.replace("Ada", "Bob"))
        memory.index.sync()
    with make_memory(tmp_path, actor="agent") as agent:
        for name in ("Ada", "Bob"):
            agent.notes.write(f"Projects/{name}.md", long.replace("Ada", name))
    with make_memory(tmp_path) as memory:
        person_writes(tmp_path, "People/Bob.md", f"{long.replace('Ada', 'Bob')}\nAnd more.\n")
        memory.notes.write("People/Ada.md", f"{long}\nAnd more.\n")
        memory.index.sync()
        changed = trusts(memory)
        (vault / "Friends").mkdir()
        (vault / "People/Bob.md").rename(vault / "Friends/Bob.md")
        memory.index.sync()
        renamed = trusts(memory)
        (vault / "Friends/Bob.md").rename(vault / "People/Bob.md")
        os.utime(vault / "People/Bob.md", (0, 0))
        memory.index.rebuild()

        assert trusts(memory) == changed
    assert changed == {
        "People/Ada.md: works_at [[Acme]]": "read",
        "People/Bob.md: works_at [[Acme]]": "read",
        "Projects/Ada.md: works_at [[Acme]]": "said",
        "Projects/Bob.md: works_at [[Acme]]": "said",
    }
    assert renamed["Friends/Bob.md: works_at [[Acme]]"] == "read"


def test_a_clone_knows_who_wrote_the_lines(tmp_path: Path) -> None:
    """Equal vaults give equal answers: also after an agent's commit came by a merge."""
    here, there = tmp_path / "here", tmp_path / "there"
    with make_memory(here) as memory:
        memory.notes.write("People/Ada.md", ADA)
    there.mkdir()
    git(tmp_path, "clone", "-q", str(here / "vault"), str(there / "vault"))
    with make_memory(there) as clone:
        clone.index.sync()
    with make_memory(here, actor="agent") as agent:
        agent.notes.write("Projects/Ada.md", EVIL)
    with make_memory(there) as clone:
        clone.notes.write("Inbox/x.md", "x\n")
        git(there / "vault", "pull", "-q", "--no-rebase", "--no-edit")
        clone.index.sync()

        assert works_at(clone) == ["Acme"]
        assert trusts(clone)["Projects/Ada.md: works_at [[EvilCorp]]"] == "said"
        shutil.rmtree(there / "data")
    with make_memory(there) as clone:
        clone.index.sync()

        assert trusts(clone)["Projects/Ada.md: works_at [[EvilCorp]]"] == "said"


@pytest.mark.parametrize("asked", ["as_of", "known"])
def test_an_agents_line_that_came_by_a_merge_is_the_agents_in_the_past_too(tmp_path: Path, asked: str) -> None:
    """Also when the line is gone since, and the note has another name."""
    vault, day = tmp_path / "vault", f"{datetime.now(UTC) + timedelta(days=1):%Y-%m-%d}"
    with make_memory(tmp_path) as memory:
        memory.notes.write("People/Ada.md", ADA)
        git(vault, "checkout", "-q", "-b", "device")
    with make_memory(tmp_path, actor="agent") as agent:
        agent.notes.write("Projects/Ada.md", f"{EVIL}- knows [[Eve]]\n")
    with make_memory(tmp_path) as memory:
        git(vault, "checkout", "-q", "-")
        memory.notes.write("Inbox/x.md", "x\n")
        git(vault, "merge", "-q", "--no-ff", "-m", "both", "device")
        memory.notes.move("Projects/Ada.md", "Inbox/Ada.md")
        memory.notes.write("Inbox/Ada.md", EVIL)

        past = memory.facts.about("Ada", every=True, **{asked: day})  # type: ignore[arg-type]
    assert {each.fact.object: each.fact.origins.trust for each in past} == {
        "Acme": "read",
        "EvilCorp": "said",
        "Eve": "said",
    }


def test_what_is_known_of_writers_goes_with_an_erased_note(tmp_path: Path) -> None:
    with make_memory(tmp_path, actor="agent") as agent:
        agent.notes.write("Inbox/zqcanary.md", "- works_at [[Acme]]\n")
    with make_memory(tmp_path) as memory:
        memory.notes.erase("Inbox/zqcanary.md", Terms(personal=True))
        memory.index.sync()

    left = [file for file in (tmp_path / "data").rglob("*") if file.is_file() and b"zqcanary" in file.read_bytes()]
    assert left == []


def test_an_agent_that_repeats_the_persons_words_adds_no_relations_to_their_entry(tmp_path: Path) -> None:
    """The told entry stays as it is and undoubted, whatever relations come with the same words."""
    with make_memory(tmp_path) as memory:
        mine = memory.entries.save("I drink green tea every morning.", kind="preference").fact
        other = memory.entries.save("The office is on the third floor.", kind="fact").fact
    with make_memory(tmp_path, actor="agent") as agent:
        done = agent.entries.save(mine.text, kind="preference", contradicts=[other.id], extends=[other.id])
        aside = agent.entries.save("Adds a thing.", kind="fact", extends=[other.id], contradicts=[mine.id])
        doubts = agent.facts.doubts([*agent.facts.about()])

    text = (tmp_path / "vault" / mine.path).read_text()
    assert (done.action, aside.action, aside.staged) == ("confirm", "extend", False)
    assert "relations were not added" in done.reason
    assert "relations" not in text
    assert "derived_from" not in text
    assert doubts[other.id] == ""
