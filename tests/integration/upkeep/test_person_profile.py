"""The skill person_profile: what memory knows about a person, in sections of ours, whoever wrote the rest."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from commonplace.errors import UsageError
from commonplace.flows.templates.people import create_person_stubs
from commonplace.memory import Memory
from commonplace.model import Actor
from tests.memories import Calendar, make_memory

ADA = "People/Ada Lovelace.md"
MEETING = """---
type: meeting
date: 2026-04-20
attendees: ["[[Ada Lovelace]]", Marco]
---
# Offer

## Action items
- [ ] [[Ada Lovelace]]: send the offer by 30 April
- [ ] me: call Ada Lovelace back

## Open questions

- Who signs?
"""


@pytest.fixture
def clock() -> Calendar:
    return Calendar(datetime(2026, 4, 24, 9, 0, tzinfo=UTC))


@pytest.fixture
def memory(tmp_path: Path, clock: Calendar) -> Memory:
    """Ada moved from Acme to Globex, was in a meeting, and is named in a project."""
    memory = make_memory(tmp_path, clock=clock)
    memory.facts.add("Ada Lovelace", "works_at", "Acme", valid_from="2025-01-01")
    memory.facts.add("Ada Lovelace", "works_at", "Globex", valid_from="2026-03-01")
    memory.entries.save("Ada Lovelace prefers letters to mail")
    memory.notes.write("Meetings/2026-04-20-offer.md", MEETING)
    memory.notes.write("Projects/Engine.md", "# Engine\n\nAda Lovelace wrote the first program.\n")
    memory.index.sync()
    return memory


def stub(memory: Memory) -> None:
    """A note about Ada as a meeting makes it."""
    create_person_stubs(["Ada Lovelace"], memory._session.as_actor(Actor("job", "meeting_note")))


def lines(text: str, heading: str) -> list[str]:
    """The lines of a section, without ids."""
    body = text.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    return [line.partition(" ^")[0] for line in body.splitlines() if line.strip()]


@pytest.mark.requirement("D-118", "X-08", "D-119")
def test_a_stub_becomes_a_profile_from_memory_alone(memory: Memory) -> None:
    """Facts with the time for which they hold, meetings, what is open both ways, questions, mentions; written once."""
    stub(memory)
    first, second = memory.jobs.run("person_profile"), memory.jobs.run("person_profile")
    text = memory.notes.read(ADA).text
    before = memory.commitments.list()
    memory.index.sync()

    assert [each.outcome for each in first.steps] == ["done"]
    assert second.steps == ()
    assert lines(text, "Known") == [
        "- Ada Lovelace prefers letters to mail",
        "- Ada Lovelace works at Globex. (since 2026-03-01)",
        "- Ada Lovelace works at Acme. (2025-01-01 to 2026-03-01)",
    ]
    assert lines(text, "Together") == ["- 2026-04-20 [[Meetings/2026-04-20-offer|2026-04-20-offer]]"]
    assert lines(text, "Open between you") == [
        "- They: send the offer (due 2026-04-30) [[Meetings/2026-04-20-offer]]",
        "- You: call Ada Lovelace back [[Meetings/2026-04-20-offer]]",
        "- Left open: Who signs?",
    ]
    assert lines(text, "Recently mentioned") == ["- [[Projects/Engine|Engine]]"]
    assert memory.commitments.list() == before


def test_what_the_person_writes_into_a_stub_stays(tmp_path: Path, memory: Memory) -> None:
    """Their words, their properties and their sections; the profile follows what memory knows."""
    stub(memory)
    path = tmp_path / "vault" / ADA
    path.write_text(path.read_text().replace("# Ada Lovelace\n", "# Ada Lovelace\n\nA friend.\n\n## Gifts\n\n- tea\n"))
    memory.jobs.run("person_profile")
    memory.facts.add("Ada Lovelace", "lives_in", "London")
    memory.jobs.run("person_profile")
    text = path.read_text()

    assert "A friend." in text
    assert lines(text, "Gifts") == ["- tea"]
    assert any("lives in London" in line for line in lines(text, "Known"))


def test_a_note_of_the_person_gets_its_sections_only_with_their_consent(tmp_path: Path, memory: Memory) -> None:
    """Proposed once; approved, they are kept up to date, and nothing else of the note changes."""
    own = "---\ntags: [friends]\n---\n# Ada Lovelace\n\nMy own words.\n\n## Known\n\nSince school.\n"
    memory.notes.write(ADA, own)
    run, again = memory.jobs.run("person_profile"), memory.jobs.run("person_profile")
    (step,) = run.steps
    unchanged = memory.notes.read(ADA).text
    memory.reviews.approve_proposals(step.review)
    memory.notes.write("Meetings/2026-04-22-x.md", MEETING.replace("date: 2026-04-20", "date: 2026-04-22"))
    memory.index.sync()
    memory.jobs.run("person_profile")
    text = memory.notes.read(ADA).text

    assert step.outcome == "proposed"
    assert again.steps == ()
    assert unchanged == own
    assert lines(text, "Known") == ["Since school."]
    assert [line[:12] for line in lines(text, "Together")] == ["- 2026-04-22", "- 2026-04-20"]
    assert "My own words." in text
    assert "autowritten_by" not in text


def test_a_profile_is_written_for_whom_the_person_names(memory: Memory) -> None:
    """By name or alias; a dry run writes nothing, and who is unknown gets no note."""
    dry = memory.templates.run("person_profile", about="Ada Lovelace", dry_run=True)
    assert dry.path == ADA
    assert "works at Globex" in dry.text
    assert memory.templates.run("person_profile", about="Nobody Else").reason == "nothing"
    with pytest.raises(UsageError, match="needs the name"):
        memory.templates.run("person_profile")
    memory.notes.write(ADA, "My own words.\n")
    result = memory.templates.run("person_profile", about="Ada Lovelace")

    assert (result.reason, bool(result.review)) == ("proposed", True)
    assert memory.notes.read(ADA).text == "My own words.\n"


def test_what_is_sensitive_or_erased_is_in_no_profile(memory: Memory) -> None:
    """A sensitive entry never gets in; one that is erased leaves at once."""
    memory.notes.write("Daily/2026-04-23.md", "---\nsensitive: true\n---\nAda Lovelace is ill.\n")
    saved = memory.entries.save("Ada Lovelace has a cat called Tom")
    stub(memory)
    memory.jobs.run("person_profile")
    assert "Tom" in memory.notes.read(ADA).text
    memory.entries.erase(saved.fact.id)
    memory.jobs.run("sleep")
    text = memory.notes.read(ADA).text

    assert "Tom" not in text
    assert "2026-04-23" not in text
    assert "works at Globex" in text
    memory.facts.add("Ada Lovelace", "lives_in", "London")
    memory.jobs.run("person_profile")
    assert "lives in London" in memory.notes.read(ADA).text
    assert memory.reviews.count() == 0


def test_a_part_of_a_name_is_enough_if_one_person_has_it(memory: Memory) -> None:
    """No second note is made for them; of two people it must be said which one."""
    stub(memory)
    one = memory.templates.run("person_profile", about="ada")
    memory.notes.write("People/Ada Byron.md", "A namesake.\n")
    memory.index.sync()

    assert one.path == ADA
    with pytest.raises(UsageError, match="several people are called Ada: Ada Byron, Ada Lovelace"):
        memory.templates.run("person_profile", about="Ada")
