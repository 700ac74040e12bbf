"""The skill meeting_note: bad events, moved and cancelled ones; tests/faults/test_month_kill.py has a whole month."""

from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from commonplace.errors import NotFound, UsageError
from commonplace.memory import Memory
from tests.calendar_month import PEOPLE, calendar_file, single
from tests.memories import Calendar, make_memory


@pytest.fixture
def clock() -> Calendar:
    return Calendar(datetime(2026, 3, 15, 20, 0, tzinfo=UTC))


def opened(folder: Path, clock: Calendar) -> Memory:
    settings: dict[str, object] = {
        "calendar.calendars": [f"work path={folder / 'work.ics'}"],
        "upkeep.zone": "Europe/Berlin",
    }
    return make_memory(folder, clock=clock, settings=settings)


def notes_in(folder: Path) -> list[str]:
    return sorted(each.stem for each in (folder / "vault" / "Meetings").glob("*.md"))


@pytest.mark.requirement("D-111")
def test_a_bad_event_does_not_block_the_others(
    tmp_path: Path, clock: Calendar, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its step fails again and again and is reported; the job is never parked, and the bad one is written at last."""
    day = date(2026, 3, 16)
    (tmp_path / "work.ics").write_text(calendar_file(single("bad", day, 10) + single("good", day, 22)))
    with opened(tmp_path, clock) as memory:
        memory.jobs.run("calendar")
        memory.jobs.run("meeting_note")
        (tmp_path / "vault" / "Meetings" / "2026-03-16-bad.md").mkdir(parents=True)
        clock.at = datetime(2026, 3, 16, 12, 0, tzinfo=UTC)
        runs = []
        for _ in range(5):
            memory.jobs.run("calendar")
            runs.append(memory.jobs.run("meeting_note"))
            clock.pass_(hours=1)
        (status,) = [each for each in memory.jobs.list() if each.name == "meeting_note"]
        said = [each.said for each in memory.jobs.notices()]
        clock.at = datetime(2026, 3, 16, 23, 0, tzinfo=UTC)
        memory.jobs.run("meeting_note")
        before = notes_in(tmp_path)
        (tmp_path / "vault" / "Meetings" / "2026-03-16-bad.md").rmdir()
        clock.pass_(hours=6)
        memory.jobs.run("meeting_note")

    assert [each.outcome for each in runs] == ["partial"] * 5
    assert not status.is_parked
    assert any("2026-03-16-bad.md cannot be written" in each for each in said)
    assert "2026-03-16-good" in before
    assert notes_in(tmp_path) == ["2026-03-16-bad", "2026-03-16-good"]
    assert "meeting_end_dispatch_failed" in capsys.readouterr().err


def test_a_moved_event_renders_its_note_again_and_a_cancelled_one_leaves_it(tmp_path: Path, clock: Calendar) -> None:
    """The note stays one note, also if the event is of another day now."""
    day = date(2026, 3, 16)
    file = tmp_path / "work.ics"
    file.write_text(calendar_file(single("plan", day, 10)))
    with opened(tmp_path, clock) as memory:
        memory.jobs.run("calendar")
        memory.jobs.run("meeting_note")
        clock.pass_(hours=24)
        memory.jobs.run("calendar")
        memory.jobs.run("meeting_note")
        file.write_text(calendar_file(single("plan", day, 9, more=f"{PEOPLE}\nLOCATION:Room 5")))
        clock.pass_(hours=1)
        memory.jobs.run("calendar")
        memory.jobs.run("meeting_note")
        moved = memory.notes.read("Meetings/2026-03-16-plan.md").text
        file.write_text(calendar_file(single("plan", day, 9, more=f"{PEOPLE}\nSTATUS:CANCELLED")))
        clock.pass_(hours=1)
        memory.jobs.run("calendar")
        last = memory.jobs.run("meeting_note")

    assert "09:00 to 10:00, Room 5" in moved
    assert last.steps == ()
    assert notes_in(tmp_path) == ["2026-03-16-plan"]


def test_a_note_of_the_persons_own_with_the_same_title_is_an_earlier_meeting(tmp_path: Path, clock: Calendar) -> None:
    """One of the attendees was there; a note of another title needs most of them."""
    (tmp_path / "work.ics").write_text(calendar_file(single("a1", date(2026, 3, 16), 10, title="Apollo weekly")))
    body = "# {title}\n\n## Open questions\n\n- {question}\n"
    keys = '---\ntype: meeting\ndate: {day}\nattendees: ["[[Ada Lovelace]]"]\n---\n'
    with opened(tmp_path, clock) as memory:
        for day, title, question in (
            ("2026-03-09", "Apollo weekly", "Who pays for the hosting?"),
            ("2026-03-10", "Lunch", "Which cake?"),
        ):
            text = (keys + body).format(day=day, title=title, question=question)
            memory.notes.write(f"Meetings/{day} {title}.md", text)
        memory.jobs.run("calendar")
        clock.at = datetime(2026, 3, 16, 12, 0, tzinfo=UTC)
        memory.calendars.sync()
        memory.jobs.run("meeting_note")
        text = memory.templates.run("meeting_note", dry_run=True).text

    assert "- Left open last time: Who pays for the hosting?" in text
    assert "[[Meetings/2026-03-09 Apollo weekly|2026-03-09 Apollo weekly]]" in text
    assert "cake" not in text
    assert "2026-03-10 Lunch" not in text


def test_any_meeting_of_a_day_gets_its_note_if_the_person_names_it(tmp_path: Path, clock: Calendar) -> None:
    """By words of its title, also one that was long over when its calendar was added; else the last of the day."""
    day = date(2026, 3, 12)
    (tmp_path / "work.ics").write_text(calendar_file(single("offer-sync", day, 10) + single("budget", day, 14)))
    with opened(tmp_path, clock) as memory:
        memory.jobs.run("calendar")
        named = memory.templates.run("meeting_note", day=day, about="Offer")
        last = memory.templates.run("meeting_note", day=day, dry_run=True)
        with pytest.raises(NotFound, match="is called 'lunch'") as error:
            memory.templates.run("meeting_note", day=day, about="lunch")
        with pytest.raises(UsageError):
            memory.templates.run("weekly_review", about="Ada")

    assert "offer" in named.path
    assert "budget" in last.path
    assert "budget" in str(error.value.hint)
