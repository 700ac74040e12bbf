"""The changes made through Commonplace, a page at a time, and one of them with its diff."""

from pathlib import Path

import pytest

from commonplace.errors import NotFound, UsageError
from commonplace.memory import Memory
from commonplace.model import Actor
from tests.memories import Calendar, make_memory


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    """A memory in which a person and an agent wrote five notes, two of them within a second."""
    clock = Calendar()
    memory = make_memory(tmp_path, clock=clock)
    for number in range(4):
        memory.notes.write(f"Inbox/{number}.md", f"text {number}\n")
        clock.pass_(seconds=60 if number else 0)
    memory.acting(Actor("agent", "mcp")).notes.write("Inbox/agent.md", "by an agent\n")
    return memory


def test_pages_of_changes_have_every_change_once(memory: Memory) -> None:
    """Also where two were made in one second; the mark of the last one leads to the next page."""
    paths, before = [], ""
    while page := memory.notes.changes(before=before, limit=2):
        paths += [note.path for change in page for note in change.notes]
        before = page[-1].mark

    assert paths == ["Inbox/agent.md", "Inbox/3.md", "Inbox/2.md", "Inbox/1.md", "Inbox/0.md"]
    assert [change.origin for change in memory.notes.changes(actor="agent")] == ["mcp"]
    assert [change.notes[0].path for change in memory.notes.changes(path="Inbox/2.md")] == ["Inbox/2.md"]
    assert memory.notes.changes(verb="move") == ()
    with pytest.raises(UsageError, match="not a mark"):
        memory.notes.changes(before="yesterday")


def test_a_change_is_shown_with_its_diff_and_whether_it_can_be_undone(memory: Memory) -> None:
    """A trial decides: after a later edit of the same line, an undo would meet a conflict."""
    first = memory.notes.write("Inbox/a.md", "one\n").commit or ""
    second = memory.notes.write("Inbox/a.md", "two\n").commit or ""
    shown = memory.notes.change(second[:10])

    assert "-one\n+two\n" in shown.differences[0].difference
    assert (shown.change.verb, shown.change.why_not) == ("write", "")
    assert "changed in the same place" in memory.notes.change(first).change.why_not
    memory.notes.undo()
    assert memory.notes.change(second).change.is_undone
    assert [change.is_undone for change in memory.notes.changes(path="Inbox/a.md", limit=2)] == [False, True]
    with pytest.raises(NotFound):
        memory.notes.change("ffffffff")


def test_a_program_sees_no_diff_of_a_sensitive_note_and_nobody_that_of_an_erased_one(memory: Memory) -> None:
    """What is hidden today is hidden in the past."""
    commit = memory.notes.write("People/Ada.md", "---\nsensitive: true\n---\nSECRET\n").commit or ""
    seen = memory.acting(Actor("agent", "mcp")).notes.change(commit).differences

    assert "SECRET" in memory.notes.change(commit).differences[0].difference
    assert [(each.difference, bool(each.hidden)) for each in seen] == [("", True)]
    memory.notes.erase("People/Ada.md")
    assert memory.notes.change(commit).differences == ()
