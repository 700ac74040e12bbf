"""A sensitive entry is told by nothing that a program sees, its file name included."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from commonplace.errors import CommonplaceError, Refused
from commonplace.memory import Memory
from commonplace.model import Actor, Fact, Trust
from commonplace.model.layout import entry_digits
from tests.gitvault import git
from tests.integration.mcp_server.host import Host, text_of
from tests.memories import Calendar, make_memory

WORDS = "[[Lena]] zqcanary weighs 70 kilos."


def mark(folder: Path, path: str) -> None:
    """Mark an entry as sensitive, as the person does it in an editor."""
    file = folder / "vault" / path
    file.write_text(file.read_text().replace("---\n", "---\nsensitive: true\n", 1))


def seen_by_agent(memory: Memory, *, id: str) -> str:
    """Everything that the doors tell an agent around one entry, as one text."""
    agent, host = memory.acting(Actor("agent", "tester")), Host(memory)
    seen: list[object] = [
        agent.notes.list("Agent"),
        agent.notes.log(limit=50),
        agent.notes.check(),
        agent.index.problems(),
        agent.search("zqcanary").hits,
        agent.search("Lena weighs").hits,
        agent.entries.recall("Lena weighs").hits,
        agent.facts.about(every=True),
        agent.facts.links("Lena"),
        agent.context("What does Lena weigh?"),
        agent.context("What does Lena weigh?", phase="review"),
        [text_of(host.call("note_list", folder="Agent")), text_of(host.call("memory_search", query="zqcanary Lena"))],
    ]
    for verb in (agent.entries.show, agent.entries.confirm, agent.entries.forget):
        for name in (id, id[-6:]):
            with pytest.raises(CommonplaceError) as refused:
                verb(name)
            seen.append(f"{refused.value.message} {refused.value.hint} {refused.value.path}")
    return json.dumps(seen, default=str)


@pytest.mark.requirement("D-88")
def test_the_name_of_an_entry_that_the_person_marks_is_told_to_no_program(tmp_path: Path) -> None:
    """Marked in an editor: lists, titles, the log, what is left out and errors show its kind and id at most."""
    with make_memory(tmp_path) as memory:
        memory.notes.write("People/Lena.md", "# Lena\n")
        fact = memory.entries.save(WORDS, kind="fact", subject="Lena").fact
        mark(tmp_path, fact.path)
        memory.index.sync()
        seen = seen_by_agent(memory, id=fact.id)
        own = json.dumps([memory.notes.list("Agent"), memory.notes.log()], default=str)

    assert "zqcanary" not in seen
    assert f"*-{fact.id[-6:]}.md" in seen
    assert "zqcanary" in own


def test_an_entry_that_becomes_sensitive_by_us_gets_a_name_without_its_words(tmp_path: Path) -> None:
    """In the commit that marks it; its versions keep such names, and undo brings the old one back."""
    with make_memory(tmp_path) as memory:
        memory.notes.write("People/Lena.md", "# Lena\n")
        fact = memory.entries.save(WORDS, kind="fact").fact
        text = memory.notes.read(fact.path).text
        changed = memory.notes.write(fact.path, text.replace("---\n", "---\nsensitive: true\n", 1))
        newer = memory.entries.evolve(fact.id, "[[Lena]] zqcanary weighs 71 kilos.", reason="new scales").fact
        problems = memory.lint().problems
        seen = seen_by_agent(memory, id=newer.id)
        subjects = git(tmp_path / "vault", "log", "--format=%B")
        files = [path.name for path in (tmp_path / "vault/Agent/Memory").rglob("*.md") if "_index" not in path.name]

    assert changed.path == f"{fact.path.rpartition('/')[0]}/fact-{entry_digits(fact.path)}.md"
    assert sorted(files) == sorted([f"fact-{fact.id[-6:]}.md", f"fact-{newer.id[-6:]}.md"])
    assert "zqcanary" not in seen + subjects
    assert [each for each in problems if each.code == "entry-name"] == []


def test_lint_says_that_a_name_tells_what_is_sensitive_and_renames_it(tmp_path: Path) -> None:
    """For what was marked in an editor; the person asks for it, and the rename is one commit."""
    with make_memory(tmp_path) as memory:
        memory.notes.write("People/Lena.md", "# Lena\n")
        fact = memory.entries.save(WORDS, kind="fact").fact
        mark(tmp_path, fact.path)
        before = memory.lint().problems
        after = memory.lint(fix=True)
        names = [stat.path for stat in memory.notes.list("Agent/Memory/fact")]
        held = [each.fact.text for each in memory.facts.about(every=True)]
        (undone,) = memory.notes.undo()

    assert [(each.path, each.code) for each in before] == [(fact.path, "sensitive-name")]
    assert [each.code for each in after.mended] == ["sensitive-name"]
    assert after.problems == ()
    assert names == [f"{fact.path.rpartition('/')[0]}/fact-{fact.id[-6:]}.md"]
    assert held == [WORDS]
    assert undone.path == fact.path


OLD, NOW = "[[Nora]] zqoldword drinks too much wine.", "[[Nora]] drinks less wine now."


def told_of_past(memory: Memory, *, entries: list[Fact]) -> str:
    """Everything that the doors tell an agent around the versions of one entry, now and in the past, as one text."""
    agent, host = memory.acting(Actor("agent", "tester")), Host(memory)
    seen: list[object] = [
        agent.notes.list(),
        agent.notes.log(limit=50),
        agent.notes.check(),
        agent.lint().problems,
        agent.index.problems(),
        agent.search("zqoldword wine Nora", include_archive=True).hits,
        agent.search("zqoldword wine Nora", as_of=f"{datetime.now(UTC):%Y-%m-%d}").hits,
        agent.entries.recall("zqoldword wine Nora").hits,
        agent.facts.about(every=True),
        agent.facts.about("Nora", known="2026-03-01"),
        agent.facts.about("Nora", as_of="2026-03-01"),
        agent.facts.timeline("Nora"),
        agent.facts.links("Nora"),
        agent.context("How much wine does Nora drink?"),
        [text_of(host.call("note_list", folder="Agent")), text_of(host.call("memory_search", query="zqoldword Nora"))],
    ]
    for fact in entries:
        for verb in (agent.entries.show, agent.entries.confirm, agent.entries.forget, agent.notes.read):
            with pytest.raises(CommonplaceError) as refused:
                verb(fact.path if verb == agent.notes.read else fact.id)
            seen.append("" if verb == agent.notes.read else f"{refused.value.message} {refused.value.hint}")
        with pytest.raises(CommonplaceError) as refused:
            agent.notes.read(f"{fact.path[:-4]}.md")
        seen.append(f"{refused.value.hint}")
    return json.dumps(seen, default=str)


@pytest.mark.parametrize("marked", [0, 1, 2])
def test_a_mark_covers_every_version_of_its_entry(tmp_path: Path, marked: int) -> None:
    """Whichever version is marked, and in whatever order the notes are read; without the mark, all are told again."""
    calendar = Calendar()
    with make_memory(tmp_path, clock=calendar) as memory:
        memory.notes.write("People/Nora.md", "# Nora\n")
        memory.facts.add("Nora", "born_in", "Kiel")
        old = memory.entries.save(OLD, kind="fact", subject="Nora").fact
        calendar.pass_(days=1)
        middle = memory.entries.evolve(old.id, "[[Nora]] zqoldword drinks some wine.", reason="zqoldword").fact
        newest = memory.entries.evolve(middle.id, NOW, reason="better").fact
        entries = [memory.entries.show(each.id).fact for each in (old, middle, newest)]
        assert "zqoldword" in str(memory.acting(Actor("agent", "a")).facts.timeline("Nora"))
        unmarked = (tmp_path / "vault" / entries[marked].path).read_text()
        mark(tmp_path, entries[marked].path)
        memory.index.sync()
        synced = told_of_past(memory, entries=entries)
        memory.index.rebuild()
        rebuilt = told_of_past(memory, entries=entries)
        own = memory.notes.read(entries[0].path).text
        (tmp_path / "vault" / entries[marked].path).write_text(unmarked)
        memory.index.sync()
        again = str(memory.acting(Actor("agent", "a")).facts.timeline("Nora"))

    assert "zqoldword" not in synced + rebuilt
    assert "zqoldword" in own
    assert "zqoldword" in again


def test_a_mark_that_the_index_does_not_know_covers_the_versions_that_are_read(tmp_path: Path) -> None:
    """Marks are read from the files: between a save in the editor and the next sync, too."""
    with make_memory(tmp_path) as memory:
        old = memory.entries.save(OLD, kind="fact").fact
        newest = memory.entries.evolve(old.id, NOW, reason="better").fact
        mark(tmp_path, newest.path)
        path = memory.entries.show(old.id).fact.path

        with pytest.raises(Refused, match="sensitive"):
            memory.acting(Actor("agent", "a")).notes.read(path)


@pytest.mark.parametrize("trust", ["said", "imported"])
def test_a_new_value_that_an_agent_marks_hides_nothing_else(tmp_path: Path, trust: Trust) -> None:
    """It stands beside what the person said, or waits: its mark does not hide their word from other programs."""
    with make_memory(tmp_path) as memory:
        mine = memory.entries.save("Nora lives in Kiel.", kind="fact").fact
        agent = memory.acting(Actor("agent", "a"))
        proposal = agent.entries.evolve(mine.id, "Nora lives in Graz.", reason="x", trust=trust)
        assert proposal.staged == (trust == "imported")
        mark(tmp_path, proposal.fact.path)
        memory.index.sync()

        assert agent.entries.show(mine.id).fact.text == mine.text


def test_versions_are_told_again_when_the_marked_one_is_gone(tmp_path: Path) -> None:
    """As after a rebuild: the index follows the files."""
    with make_memory(tmp_path) as memory:
        old = memory.entries.save(OLD, kind="fact").fact
        newest = memory.entries.evolve(old.id, NOW, reason="better").fact
        mark(tmp_path, newest.path)
        memory.index.sync()
        (tmp_path / "vault" / newest.path).unlink()
        memory.index.sync()
        synced = memory.acting(Actor("agent", "a")).entries.show(old.id).fact
        memory.index.rebuild()

        assert memory.acting(Actor("agent", "a")).entries.show(old.id).fact == synced
