"""Commitments of a vault: listed, closed, told before a prompt where they matter, learned from conversations."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from commonplace.errors import Conflict, UsageError
from commonplace.extraction.answers import read_answer
from commonplace.memory import Memory
from commonplace.model import Message
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


def test_a_word_before_a_colon_is_a_name_if_the_vault_knows_that_person(memory: Memory) -> None:
    """`Groceries: milk` is nobody's commitment; with a day, or in a list of to-dos, it is the person's own."""
    memory.notes.write("People/Marco Bianchi.md", "# Marco Bianchi\n")
    memory.notes.write("Projects/zoe.md", "---\ntype: person\naliases: [Zoe]\n---\n")
    memory.notes.write("Projects/Garden.md", "# Garden\n")
    memory.facts.add("Kim", "works_at", "Acme")
    lines = "- [ ] Groceries: milk\n- [ ] Garden: weeds\n- [ ] Marco: call\n- [ ] Zoe: sign\n- [ ] Kim: pay\n"
    memory.notes.write("Daily/2026-05-01.md", f"{lines}- [ ] Rent: pay by 5 May\n\n## To-do\n- [ ] Groceries: eggs\n")
    memory.index.sync()

    listed = [(each.who, each.what) for each in memory.commitments.list() if each.path.startswith("Daily")]

    assert sorted(listed) == [
        ("Kim", "pay"),
        ("Marco", "call"),
        ("Zoe", "sign"),
        ("me", "Groceries: eggs"),
        ("me", "Rent: pay"),
    ]
    assert {each.fact.subject for each in memory.facts.about("Groceries")} <= {"me"}
    (own,) = (each for each in memory.commitments.list() if each.what == "Rent: pay")
    assert memory.commitments.close(own.fact).changed


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


def test_what_the_person_promised_someone_is_told_where_a_prompt_names_them(memory: Memory) -> None:
    """Their own commitment that names Ada; not one that names nobody, or somebody else."""
    memory.notes.write("Projects/Plan.md", "- [ ] I: send [[Ada]] the keys\n- [ ] I: call Bob\n- [ ] Me: sweep\n")
    memory.index.sync()
    text = memory.context("What did I promise Ada?", conversation="c1").text

    assert "the person: send Ada the keys" in text
    assert "call Bob" not in text
    assert "sweep" not in text


def test_what_the_person_promised_comes_before_what_others_did(memory: Memory) -> None:
    """Of many commitments of the other the line names a few, and these are not the ones that were asked for."""
    theirs = "\n".join(f"- [ ] [[Ada]]: send letter {number} by 2026-05-0{number + 3}" for number in range(6))
    memory.notes.write("Meetings/2026-04-21-letters.md", f"# Letters\n\n## Action items\n{theirs}\n")
    memory.notes.write("Projects/Drawings.md", "# Drawings\n\n## To-dos\n- [ ] send Ada the drawings 📅 2026-05-30\n")
    own = memory.context("What did I promise Ada?", conversation="c1").text
    others = memory.context("What does Ada owe me?", conversation="c2").text

    assert "Open commitments: the person: send Ada the drawings" in own
    assert "Open commitments: Ada: " in others


def test_a_prompt_that_asks_for_commitments_gets_those_of_all_before_the_profile(memory: Memory) -> None:
    """Where it only names someone, the line gets what space the profile leaves."""
    memory.entries.save("Prefers plans as a short list.", kind="preference")
    asked = memory.context("what is still open, and who owes me something?", conversation="c1", profile=False)
    named = memory.context("Write to Bob.", conversation="c2")
    (line,) = [each.piece for each in asked.included if each.piece.key.startswith("commitments#")]
    (other,) = [each.piece for each in named.included if each.piece.key.startswith("commitments#")]

    assert "Ada: send the offer" in line.text
    assert "Bob: book the room" in line.text
    assert (line.yields, other.yields) == (False, True)


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


def test_what_the_person_says_was_done_closes_the_commitment(memory: Memory, calendar: Calendar) -> None:
    """In their own plain words; the note stays as it is, and the entry with the words is what closed it."""
    memory.notes.write("Daily/2026-05-01.md", "- [ ] me: send the report to [[Ada]]\n- [ ] me: call the bank\n")
    memory.index.sync()
    said = [
        Message("user", "I sent Ada the report. I haven't called the bank yet. Did Bob book the room?", at=calendar.at)
    ]
    thread = memory.conversations.record(said, interface="cli", source_id="s-1")
    memory.learning.learn(thread.id)

    states = {each.what: each.state for each in memory.commitments.list(states=["open", "closed"])}
    closed = next(each for each in memory.commitments.list(who="me", states=["closed"]))

    assert states["send the report to [[Ada]]"] == "closed"
    assert (states["call the bank"], states["book the room"]) == ("open", "open")
    assert closed.closed_by.startswith("Agent/Memory/")
    assert memory.notes.read("Daily/2026-05-01.md").text.count("- [ ]") == 2


def test_what_the_person_promises_by_a_day_is_a_commitment_without_a_model(memory: Memory, calendar: Calendar) -> None:
    """With the words as evidence, and their own later word closes it; guesses and what others say are not taken."""
    words = (
        "Thanks. I'll send Ada the drawings by Friday. Maybe I'll paint the fence by Monday. "
        'Bob promised to lay the slates by 20 May. Ada wrote: "I\'ll pay the bill by Friday"'
    )
    first = memory.conversations.record([Message("user", words, at=calendar.at)], interface="cli", source_id="s-1")
    memory.learning.learn(first.id)
    told = {each.what: (each.who, each.due, each.state) for each in memory.commitments.list() if each.path != NOTE}
    calendar.pass_(days=3)
    said = [Message("user", "I sent Ada the drawings.", at=calendar.at)]
    memory.learning.learn(memory.conversations.record(said, interface="cli", source_id="s-2").id)

    assert told == {
        "send Ada the drawings": ("me", "2026-05-08", "open"),
        "lay the slates": ("Bob", "2026-05-20", "open"),
    }
    closed = [each.what for each in memory.commitments.list(who="me", states=["closed"])]
    assert closed == ["send Ada the drawings"]
    (entry,) = (each.fact for each in memory.facts.about(every=True) if each.fact.object == "lay the slates")
    assert entry.origins.quote == "Bob promised to lay the slates by 20 May."


def test_a_deadline_is_a_day_of_the_person_and_not_of_utc(tmp_path: Path) -> None:
    """In the evening in California it is tomorrow in UTC: what is due today is open, and a tick is of today."""
    evening = Calendar(datetime(2026, 5, 8, 3, 0, tzinfo=UTC))  # Thursday, 7 May, 20:00
    memory = make_memory(tmp_path, clock=evening, settings={"upkeep.zone": "America/Los_Angeles"})
    memory.notes.write("Daily/2026-05-07.md", "- [ ] me: pay the rent 📅 2026-05-07\n")
    memory.index.sync()
    said = [Message("user", "I'll send Ada the drawings by tomorrow.", at=evening.at)]
    memory.learning.learn(memory.conversations.record(said, interface="cli", source_id="s-1").id)
    states = {each.what: (each.due, each.state) for each in memory.commitments.list()}
    (rent,) = (each for each in memory.commitments.list() if each.what == "pay the rent")
    memory.commitments.close(rent.fact)

    assert states == {"pay the rent": ("2026-05-07", "open"), "send Ada the drawings": ("2026-05-08", "open")}
    assert "✅ 2026-05-07" in memory.notes.read("Daily/2026-05-07.md").text
