"""The skill commitment_log: one note with who has to do what; written when it changes, and a tick in it closes."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from commonplace.errors import Refused
from commonplace.memory import Memory
from commonplace.model import Actor, Terms
from tests.memories import Calendar, make_memory

LOG = "Commitments/Commitment log.md"
NOTE = "Meetings/2026-04-20-offer.md"
LINES = """---
type: meeting
---
## Action items
- [ ] [[Ada]]: send the offer by 23 April
- [ ] Bob: book the room 📅 2026-04-26
- [ ] Bob: print it [due:: 2026-06-01]
- [ ] call the bank
- [x] Ada: draft it ✅ 2026-04-21
"""


@pytest.fixture
def clock() -> Calendar:
    """A Friday."""
    return Calendar(datetime(2026, 4, 24, 9, 0, tzinfo=UTC))


@pytest.fixture
def memory(tmp_path: Path, clock: Calendar) -> Memory:
    memory = make_memory(tmp_path, clock=clock)
    memory.notes.write("People/Ada.md", "# Ada\n")
    memory.notes.write(NOTE, LINES)
    memory.index.sync()
    return memory


def sections(text: str) -> dict[str, list[str]]:
    """The lines of each section, without ids."""
    parts = text.split("\n## ")[1:]
    lines = ((part.partition("\n")[0], part.splitlines()[1:]) for part in parts)
    return {name: [line.partition(" ^")[0] for line in body if line.strip()] for name, body in lines}


def tick(folder: Path, what: str, box: str = "[x]") -> None:
    """Tick the box of that line in the log, as an editor does."""
    path = folder / "vault" / LOG
    path.write_text(
        "\n".join(each.replace("[ ]", box) if what in each else each for each in path.read_text().split("\n"))
    )


@pytest.mark.requirement("D-118", "X-08")
def test_the_log_has_every_commitment_by_when_it_is_due(memory: Memory) -> None:
    """Who, what, by when and where, beside the syntax of Tasks and Dataview; nothing of it is a commitment again."""
    text = memory.templates.run("commitment_log").text
    before = memory.commitments.list()
    memory.index.sync()

    source = "[[Meetings/2026-04-20-offer]]"
    assert sections(text) == {
        "Overdue": [f"- [ ] [[People/Ada|Ada]]: send the offer (due 2026-04-23) {source}"],
        "Due this week": [f"- [ ] [[Bob]]: book the room (due 2026-04-26) {source}"],
        "Later": [f"- [ ] [[Bob]]: print it (due 2026-06-01) {source}"],
        "Without a day": [f"- [ ] call the bank {source}"],
        "Recently closed": [f"- 2026-04-21 [[People/Ada|Ada]]: draft it {source}"],
    }
    assert memory.commitments.list() == before


def test_the_log_is_written_when_commitments_change_and_not_otherwise(memory: Memory, clock: Calendar) -> None:
    """A second run makes no commit; a new day moves what is overdue."""
    first, second = memory.jobs.run("commitment_log"), memory.jobs.run("commitment_log")
    clock.pass_(days=3)
    memory.index.sync()
    third = memory.jobs.run("commitment_log")

    assert [each.outcome for each in first.steps] == ["done"]
    assert second.steps == ()
    assert [each.outcome for each in third.steps] == ["done"]
    assert len(sections(memory.notes.read(LOG).text)["Overdue"]) == 2


def test_a_tick_in_the_log_closes_the_commitment_where_it_was_made(tmp_path: Path, memory: Memory) -> None:
    """The line gets its tick, the log is rendered again, and no change waits for review."""
    memory.jobs.run("commitment_log")
    tick(tmp_path, "book the room")
    run = memory.jobs.run("commitment_log")
    again = memory.jobs.run("commitment_log")
    log = sections(memory.notes.read(LOG).text)

    assert [(each.step.action, each.outcome) for each in run.steps] == [("close", "done"), ("write", "done")]
    assert "- [x] Bob: book the room 📅 2026-04-26 ✅ 2026-04-24" in memory.notes.read(NOTE).text
    assert log["Due this week"] == ["Nothing."]
    assert log["Recently closed"][0].startswith("- 2026-04-24 [[Bob]]: book the room")
    assert again.steps == ()
    assert memory.reviews.count() == 0


def test_what_is_cancelled_in_the_log_is_not_said_to_be_done(tmp_path: Path, memory: Memory) -> None:
    """`[-]` is cancelled, there and in the note, and for what only an entry can close."""
    own = tmp_path / "vault" / "Diary" / "2026-04-22.md"
    own.parent.mkdir()
    own.write_text("- [ ] me: pay the rent\n")
    memory.index.sync()
    memory.jobs.run("commitment_log")
    tick(tmp_path, "book the room", box="[-]")
    tick(tmp_path, "pay the rent", box="[-]")
    memory.jobs.run("commitment_log")
    entries = [each.fact.text for each in memory.facts.about(every=True) if each.fact.origin == "entry"]

    assert "- [-] Bob: book the room 📅 2026-04-26 ❌ 2026-04-24" in memory.notes.read(NOTE).text
    assert entries == ["Cancelled: pay the rent."]
    assert {each.state for each in memory.commitments.list() if "rent" in each.what} == {"closed"}


def test_what_was_just_closed_is_in_the_log_also_if_its_line_has_no_day(
    tmp_path: Path, memory: Memory, clock: Calendar
) -> None:
    """By a tick in the log or in the note; the day is that of the run which saw it, and it stays."""
    plain = tmp_path / "vault" / "Projects" / "House.md"
    plain.parent.mkdir(exist_ok=True)
    plain.write_text("- [ ] @Bob paint the door\n- [ ] @Bob oil the gate\n- [x] @Bob long done\n")
    memory.index.sync()
    memory.jobs.run("commitment_log")
    tick(tmp_path, "paint the door")
    plain.write_text(plain.read_text().replace("- [ ] @Bob oil", "- [x] @Bob oil"))
    memory.index.sync()
    memory.jobs.run("commitment_log")
    clock.pass_(days=1)
    memory.jobs.run("commitment_log")
    again = memory.jobs.run("commitment_log")
    closed = sections(memory.notes.read(LOG).text)["Recently closed"]

    source = "[[Projects/House]]"
    assert sorted(line for line in closed if source in line) == [
        f"- 2026-04-24 [[Bob]]: oil the gate {source}",
        f"- 2026-04-24 [[Bob]]: paint the door {source}",
    ]
    assert again.steps == ()


def test_a_tick_closes_what_only_the_person_may_edit_by_an_entry(tmp_path: Path, memory: Memory) -> None:
    """A note outside of the folders of programs stays as it is."""
    own = tmp_path / "vault" / "Diary" / "2026-04-22.md"
    own.parent.mkdir()
    own.write_text("- [ ] me: pay the rent\n")
    memory.index.sync()
    memory.jobs.run("commitment_log")
    tick(tmp_path, "pay the rent")
    memory.jobs.run("commitment_log")
    (closed,) = (each for each in memory.commitments.list(states=["closed"]) if each.what == "pay the rent")

    assert own.read_text() == "- [ ] me: pay the rent\n"
    assert closed.closed_by.startswith("Agent/Memory/")
    assert "pay the rent" in memory.notes.read(LOG).text.partition("## Recently closed")[2]


def test_a_tick_that_an_agent_wrote_closes_nothing(tmp_path: Path, memory: Memory) -> None:
    """Only the person says that something is done by ticking it."""
    memory.jobs.run("commitment_log")
    note = memory.notes.read(LOG)
    agent = memory.acting(Actor("agent", "claude-code"))
    agent.notes.write(LOG, note.text.replace("- [ ]", "- [x]"), Terms(expected=note.version))
    memory.jobs.run("commitment_log")

    assert len(memory.commitments.list(states=["open", "overdue"])) == 4


def test_what_the_person_adds_to_the_log_is_a_commitment_and_stays(tmp_path: Path, memory: Memory) -> None:
    """Their line has no id of ours."""
    memory.jobs.run("commitment_log")
    path = tmp_path / "vault" / LOG
    path.write_text(f"{path.read_text()}\n## Mine\n\n- [ ] [[Ada]]: bring cake by 2026-05-01\n")
    memory.index.sync()
    memory.jobs.run("commitment_log")

    assert "bring cake" in {each.what for each in memory.commitments.list(states=["open"])}
    assert memory.notes.read(LOG).text.count("bring cake") == 1


def test_a_vault_without_commitments_has_no_log(tmp_path: Path, clock: Calendar) -> None:
    """Nothing to write about."""
    memory = make_memory(tmp_path, clock=clock)
    memory.jobs.run("commitment_log")

    assert not (tmp_path / "vault" / LOG).exists()


def test_a_task_that_repeats_is_left_to_the_plugin_that_adds_the_next_one(tmp_path: Path, clock: Calendar) -> None:
    """It has no box in the log, a tick there does nothing, and closing it is refused with what to do."""
    memory = make_memory(tmp_path, clock=clock)
    line = "- [ ] @Bob water the plants 🔁 every week 📅 2026-04-26"
    memory.notes.write("Projects/Plants.md", f"{line}\n- [ ] @Eva rent [repeat:: every month] [due:: 2026-05-01]\n")
    text = memory.templates.run("commitment_log").text
    (tmp_path / "vault" / LOG).write_text(text.replace("- [[Bob]]", "- [x] [[Bob]]"))
    memory.jobs.run("commitment_log")

    said = "(repeats: tick it in its note) [[Projects/Plants]]"
    assert sections(text)["Due this week"] == [f"- [[Bob]]: water the plants (due 2026-04-26) {said}"]
    assert sections(text)["Later"] == [f"- [[Eva]]: rent (due 2026-05-01) {said}"]
    assert line in memory.notes.read("Projects/Plants.md").text
    assert all(each.is_open and each.repeats for each in memory.commitments.list())
    for each in memory.commitments.list():
        with pytest.raises(Refused, match="repeats"):
            memory.commitments.close(each.fact)


def test_the_log_knows_notes_that_were_saved_while_no_daemon_ran(tmp_path: Path, clock: Calendar) -> None:
    """Jobs and skills bring the index up to date first, and so does the first question in a new vault."""
    memory = make_memory(tmp_path, clock=clock)
    note = tmp_path / "vault/Plants.md"
    note.write_text("- [ ] @Bob water the plants by 2026-04-26\n")
    listed = [each.what for each in memory.commitments.list()]
    note.write_text("- [ ] @Bob sow the beans by 2026-04-26\n")
    by_job = memory.jobs.run("commitment_log", dry_run=True)
    note.write_text("- [ ] @Bob mow the lawn by 2026-04-26\n")
    text = memory.templates.run("commitment_log", dry_run=True).text

    assert listed == ["water the plants"]
    assert len(by_job.steps) == 1
    assert "mow the lawn" in text
