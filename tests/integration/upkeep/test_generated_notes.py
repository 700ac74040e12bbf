"""What was erased leaves the notes that jobs made of it at once, and nothing brings it back."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from commonplace.errors import NotFound, Refused
from commonplace.memory import Memory
from commonplace.model import Actor, Message
from tests.memories import Calendar, make_memory

WORD = "quokkazander"
SPOKEN = datetime(2026, 3, 1, 8, tzinfo=UTC)


@pytest.fixture
def calendar() -> Calendar:
    return Calendar(SPOKEN + timedelta(hours=1))


@pytest.fixture
def memory(tmp_path: Path, calendar: Calendar) -> Iterator[Memory]:
    """A memory whose last day spoke of the word, in a conversation and an entry, and its note of that day."""
    settings: dict[str, object] = {"upkeep.zone": "UTC", "upkeep.retention.days": 30}
    with make_memory(tmp_path, clock=calendar, settings=settings) as made:
        said = [Message("user", f"Please feed the {WORD} of the garden", at=SPOKEN)]
        made.conversations.record(said, interface="cli", source_id="1")
        made.jobs.run("sleep")
        yield made


def day(folder: Path) -> str:
    return (folder / "vault/Agent/memories/2026-03-01.md").read_text()


def words_left(folder: Path) -> list[str]:
    """The files that hold the word, git's own aside: the databases and their logs among them."""
    files = [file for file in folder.rglob("*") if file.is_file() and ".git" not in file.parts]
    return [file.name for file in files if WORD.encode() in file.read_bytes()]


@pytest.mark.parametrize("how", ["erase", "prune", "retention"])
def test_no_byte_of_an_erased_conversation_is_left_in_notes_or_databases(
    memory: Memory, tmp_path: Path, calendar: Calendar, how: str
) -> None:
    """Its bullet goes at once, and from the index the words of the note as it was."""
    (thread,) = memory.conversations.list()
    memory.index.sync()
    assert WORD in day(tmp_path)
    assert words_left(tmp_path) != []
    if how == "erase":
        memory.conversations.erase(thread.id)
    elif how == "prune":
        calendar.pass_(days=40)
        memory.conversations.prune("30d")
    else:
        calendar.pass_(days=40)
        assert [each.outcome for each in memory.jobs.run("retention").steps] == ["done", "done"]

    assert words_left(tmp_path) == []
    assert memory.jobs.run("retention").steps == ()


def test_removing_what_was_erased_cannot_be_undone(memory: Memory, tmp_path: Path) -> None:
    """Neither by its commit nor by count."""
    (thread,) = memory.conversations.list()
    memory.conversations.erase(thread.id)
    cleaned = memory.notes.log(limit=1)[0].commit or ""

    with pytest.raises(Refused, match="removed words of what was erased") as refused:
        memory.notes.undo(commit=cleaned)
    assert refused.value.hint == "What was erased cannot be restored."
    with pytest.raises(NotFound):
        memory.notes.undo(count=2)
    assert WORD not in day(tmp_path)


def test_an_older_undo_does_not_bring_back_what_was_erased_since(memory: Memory, tmp_path: Path) -> None:
    """The note was taken back before the conversation was erased; undoing that would restore its bullet."""
    undone = memory.notes.undo(commit=memory.notes.log(limit=1)[0].commit or "")[0]
    (thread,) = memory.conversations.list()
    memory.conversations.erase(thread.id)

    with pytest.raises(Refused, match="erased since"):
        memory.notes.undo(commit=undone.commit or "")
    assert words_left(tmp_path) == []


def test_the_quote_of_a_forgotten_conversation_cannot_be_brought_back(memory: Memory, calendar: Calendar) -> None:
    """Forgetting the conversation removes the quote from the entry in a commit that stays."""
    (thread,) = memory.conversations.list()
    entry = memory.entries.save("Keeps a pet.", conversation=thread.id, quote=f"feed the {WORD}").fact
    calendar.pass_(days=40)
    memory.conversations.prune("30d")
    (dropped, *_) = [each for each in memory.notes.log() if each.path == entry.path]

    assert memory.entries.show(entry.id).fact.origins.quote == ""
    with pytest.raises(Refused, match="removed words"):
        memory.notes.undo(commit=dropped.commit or "")


def test_no_generated_note_names_an_erased_note(memory: Memory, tmp_path: Path, calendar: Calendar) -> None:
    """Digests and reflections lose the lines that name it; what the person wrote there stays."""
    path, digest = f"Inbox/The {WORD} plan.md", tmp_path / "vault/Agent/digests/2026-03-02.md"
    memory.acting(Actor("agent", "codex")).notes.write(path, f"- [ ] buy a {WORD}\n")
    memory.acting(Actor("agent", "codex")).notes.write("Inbox/Other.md", "Another.\n")
    calendar.pass_(days=1)
    memory.jobs.run("digest")
    memory.jobs.run("daily_reflection")
    mine = f"- My own line about the {WORD} [[{path.removesuffix('.md')}]].\n"
    digest.write_text(digest.read_text() + mine)
    assert digest.read_text().count(path) == 1
    (thread,) = memory.conversations.list()
    memory.conversations.erase(thread.id)
    memory.notes.erase(path)

    assert digest.read_text().count(WORD) == mine.count(WORD)
    assert "Inbox/Other.md" in digest.read_text()
    assert words_left(tmp_path / "vault") == [digest.name]
