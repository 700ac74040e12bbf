"""Commitments of a vault: listed, closed, told before a prompt where they matter, learned from conversations."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from commonplace.errors import Conflict, UsageError
from commonplace.extraction.answers import read_answer
from commonplace.memory import Memory
from commonplace.model.learning import Turn
from tests.memories import Calendar, make_memory

NOTE = "Meetings/2026-04-20-offer.md"
TEXT = """---
type: meeting
---
# Offer

## Action items
- [ ] [[Ada]]: send the offer by 3 May
- [ ] Bob: book the room 📅 2026-06-30
- [x] Ada: draft it
"""


@pytest.fixture
def calendar() -> Calendar:
    return Calendar(datetime(2026, 5, 2, 9, 0, tzinfo=UTC))


@pytest.fixture
def memory(tmp_path: Path, calendar: Calendar) -> Memory:
    memory = make_memory(tmp_path, clock=calendar)
    memory.notes.write(NOTE, TEXT)
    memory.notes.write("People/Ada.md", "# Ada\n")
    memory.index.sync()
    return memory


def test_commitments_of_notes_are_facts_with_their_line(memory: Memory) -> None:
    """Who, what, by when, open or closed, and where it is written; they are facts about that person too."""
    listed = memory.commitments.list()

    assert [(each.who, each.what, each.due, each.state, each.line) for each in listed] == [
        ("Ada", "send the offer", "2026-05-03", "open", 7),
        ("Bob", "book the room", "2026-06-30", "open", 8),
        ("Ada", "draft it", "", "closed", 9),
    ]
    assert [each.what for each in memory.commitments.list(who="ada", states=["open"])] == ["send the offer"]
    assert "committed_to" in {each.fact.predicate for each in memory.facts.about("Ada")}


def test_a_commitment_exists_exactly_while_its_line_does(memory: Memory, calendar: Calendar) -> None:
    """Edited away in an editor, it is gone; a ticked box closes it; a day that has passed makes it overdue."""
    calendar.pass_(days=3)
    overdue = memory.commitments.list(states=["overdue"])
    path = Path(str(memory._session.stores.vault_folder)) / NOTE
    path.write_text(
        TEXT.replace("- [ ] [[Ada]]", "- [x] [[Ada]]").replace("- [ ] Bob: book the room 📅 2026-06-30\n", "")
    )
    memory.index.sync()

    assert [each.what for each in overdue] == ["send the offer"]
    assert {(each.what, each.state) for each in memory.commitments.list()} == {
        ("send the offer", "closed"),
        ("draft it", "closed"),
    }


def test_closing_ticks_the_line_and_nothing_else(memory: Memory) -> None:
    """A dry run shows the change; closing twice changes nothing; every other byte stays."""
    (one,) = memory.commitments.list(who="Ada", states=["open"])
    dry = memory.commitments.close(one.fact[-6:], dry_run=True)
    before = memory.notes.read(NOTE).text
    result = memory.commitments.close(one.fact[-6:])
    again = memory.commitments.close(one.fact)

    assert dry.difference
    assert before == TEXT
    assert memory.notes.read(NOTE).text == TEXT.replace("- [ ] [[Ada]]", "- [x] [[Ada]]")
    assert result.changed
    assert not again.changed
    assert memory.commitments.list(who="Ada", states=["open", "overdue"]) == ()


def test_only_commitments_are_closed_and_only_while_their_line_is_there(memory: Memory) -> None:
    """Another fact is refused; a line that was edited meanwhile is a conflict."""
    other = memory.entries.save("Ada likes tea", kind="fact").fact
    (one,) = memory.commitments.list(who="Bob")
    path = Path(str(memory._session.stores.vault_folder)) / NOTE
    path.write_text(TEXT.replace("book the room", "book a hall"))

    with pytest.raises(UsageError, match="not a commitment"):
        memory.commitments.close(other.id)
    with pytest.raises(Conflict):
        memory.commitments.close(one.fact)


def test_a_session_hears_of_a_near_deadline_and_a_prompt_of_who_it_names(memory: Memory, calendar: Calendar) -> None:
    """One line each; nothing about what is far away or of nobody named."""
    start = memory.context("", conversation="c1").text
    named = memory.context("What does Bob do next?", conversation="c2").text
    other = memory.context("How do I boil an egg?", conversation="c3", profile=False).text
    calendar.pass_(days=-10)
    early = memory.context("", conversation="c4").text

    assert start.count("Open commitments: Ada: send the offer (due 2026-05-03)") == 1
    assert "book the room" not in start
    assert "Open commitments: Bob: book the room (due 2026-06-30)" in named
    assert "Open commitments" not in other
    assert "Open commitments" not in early


def test_what_the_person_undertakes_in_a_conversation_is_offered_to_memory() -> None:
    """With the person's own words as evidence; a program's promise, and one without words, is not."""
    turns = (
        Turn(1, "user", "Right. I will send the signed offer to Marco. Ada calls the bank.", "2026-04-30"),
        Turn(2, "assistant", "I will refactor the parser.", "2026-04-30"),
    )
    said = [
        {"who": "me", "what": "send the signed offer to Marco", "by": "2026-05-03", "message": 1},
        {"who": "assistant", "what": "refactor the parser", "by": "", "message": 2},
        {"who": "me", "what": "buy a boat for Zoe", "by": "", "message": 1},
    ]

    facts = read_answer({"facts": [], "commitments": said}, turns).facts

    assert [(each.subject, each.predicate, each.object, each.due) for each in facts] == [
        ("me", "committed_to", "send the signed offer to Marco", "2026-05-03")
    ]
    assert facts[0].quote in turns[0].text
