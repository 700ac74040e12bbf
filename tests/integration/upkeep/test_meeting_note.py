"""The skill meeting_note: a month of a calendar gives exactly the right notes, once each, whatever happens between."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from commonplace.memory import Memory
from commonplace.upkeep.meeting_note import JOB
from tests.memories import Calendar, make_memory
from tests.upkeep_jobs import run_job

BERLIN = ZoneInfo("Europe/Berlin")
PEOPLE = "ATTENDEE;CN=Ada Lovelace:mailto:ada@example.org\nATTENDEE;CN=Marco Bianchi:mailto:marco@example.org"
STANDUP = f"""BEGIN:VEVENT
UID:standup
SUMMARY:Standup
DTSTART;TZID=Europe/Berlin:20260316T090000
DTEND;TZID=Europe/Berlin:20260316T091500
RRULE:FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR;UNTIL=20260410T220000Z
EXDATE;TZID=Europe/Berlin:20260317T090000
{PEOPLE}
END:VEVENT
BEGIN:VEVENT
UID:standup
RECURRENCE-ID;TZID=Europe/Berlin:20260318T090000
SUMMARY:Standup
DTSTART;TZID=Europe/Berlin:20260318T150000
DTEND;TZID=Europe/Berlin:20260318T151500
{PEOPLE}
END:VEVENT
BEGIN:VEVENT
UID:standup
RECURRENCE-ID;TZID=Europe/Berlin:20260319T090000
SUMMARY:Standup
STATUS:CANCELLED
DTSTART;TZID=Europe/Berlin:20260319T090000
DTEND;TZID=Europe/Berlin:20260319T091500
{PEOPLE}
END:VEVENT
"""


def single(uid: str, day: date, hour: int, *, title: str = "", more: str = PEOPLE, minutes: int = 60) -> str:
    start = datetime(day.year, day.month, day.day, hour, tzinfo=BERLIN).astimezone(UTC)
    end = start + timedelta(minutes=minutes)
    return (
        f"BEGIN:VEVENT\nUID:{uid}\nSUMMARY:{title or uid}\nDTSTART:{start:%Y%m%dT%H%M%SZ}\n"
        f"DTEND:{end:%Y%m%dT%H%M%SZ}\n{more}\nEND:VEVENT\n"
    )


def month() -> tuple[str, set[str]]:
    """Fifty events of four weeks around the change of the clocks on 29 March, and the names of the notes they make."""
    first = date(2026, 3, 16)
    events, names = [STANDUP], set[str]()
    for number in range(26):  # weekdays and, on the last days of March, the nights before and after the clocks change
        day = first + timedelta(days=number)
        if day.weekday() < 5 and day not in (date(2026, 3, 17), date(2026, 3, 19)):
            names.add(f"{day}-standup")
    for number in range(22):
        day = first + timedelta(days=number)
        events.append(single(f"talk-{number}", day, 11 if number % 2 else 23, title=f"Talk {number}"))
        names.add(f"{day}-talk-{number}")
    events += [single(f"twin-{each}", first, 11, title="Twin") for each in "ab"]  # overlap, and share a path
    events.append(single("off", first, 12, more=f"{PEOPLE}\nSTATUS:CANCELLED"))
    events.append(single("alone", first, 13, more="DESCRIPTION:no attendees"))
    whole = "BEGIN:VEVENT\nUID:fair\nSUMMARY:Fair\nDTSTART;VALUE=DATE:20260320\nDTEND;VALUE=DATE:20260321\n"
    events.append(f"{whole}{PEOPLE}\nEND:VEVENT\n")
    return "".join(events), names


def calendar_file(events: str) -> str:
    text = f"BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:test\n{events}END:VCALENDAR\n"
    return text.replace("\n", "\r\n")


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


def runs(folder: Path, clock: Calendar, *, until: datetime, hours: int) -> Iterator[Memory]:
    """A memory that was opened anew at each of these moments: the daemon was restarted, the machine slept."""
    while clock.at < until:
        clock.pass_(hours=hours)
        with opened(folder, clock) as memory:
            yield memory


@pytest.mark.requirement("D-110", "D-111")
def test_a_month_of_a_calendar_gives_exactly_the_right_notes_once_each(tmp_path: Path, clock: Calendar) -> None:
    """Recurring, moved, cancelled and overlapping events, across the change of the clocks, kills and restarts."""
    events, names = month()
    (tmp_path / "work.ics").write_text(calendar_file(events))
    with opened(tmp_path, clock) as memory:
        memory.jobs.run("calendar")
        memory.jobs.run("meeting_note")
    for number, memory in enumerate(runs(tmp_path, clock, until=datetime(2026, 4, 12, tzinfo=UTC), hours=37)):
        memory.jobs.run("calendar")
        if number % 3 == 0:  # killed after the notes were written, before that was recorded
            run_job(JOB, memory)
        memory.jobs.run("meeting_note")

    twins = [name for name in notes_in(tmp_path) if "twin" in name]
    assert sorted({*notes_in(tmp_path)} - {*twins}) == sorted(names)
    assert len(twins) == 2
    assert len(notes_in(tmp_path)) == len(names) + 2


def test_a_bad_event_does_not_block_the_others(
    tmp_path: Path, clock: Calendar, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its step fails and is reported; the rest is written, and later the bad one too."""
    day = date(2026, 3, 16)
    (tmp_path / "work.ics").write_text(calendar_file(single("bad", day, 10) + single("good", day, 11)))
    with opened(tmp_path, clock) as memory:
        memory.jobs.run("calendar")
        memory.jobs.run("meeting_note")
        (tmp_path / "vault" / "Meetings").mkdir()
        (tmp_path / "vault" / "Meetings" / "2026-03-16-bad.md").mkdir()
        clock.pass_(hours=24)
        memory.jobs.run("calendar")
        memory.jobs.run("meeting_note")

    assert "2026-03-16-good" in notes_in(tmp_path)
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
