"""A month of a calendar gives exactly the right notes, once each, across kills, restarts, sleep and a moved event."""

import random
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest

from commonplace.memory import Memory
from commonplace.model.upkeep import JobState
from tests import patience
from tests.calendar_month import MOVES, PEOPLE, UNTIL, calendar_file, month, single
from tests.daemons import launch_program, register, small_vault, start, surroundings
from tests.faults.figures import Figures
from tests.faults.killing import killed_after
from tests.gitvault import git
from tests.memories import Calendar, make_memory
from tests.polling import wait_for
from tests.run_length import LONG, rounds

ROOMS = ("flows/", "history/sqlite", "index/sqlite", "index/tables", "database", "vault", "upkeep")
GAP = (3, 40) if LONG else (40, 240)  # hours between two runs: the daemon was off, or the machine slept
MOVED = datetime(2026, 3, 26, tzinfo=UTC)


def run_jobs(memory: Memory) -> bool:
    memory.index.sync()
    memory.jobs.run("calendar")
    return memory.jobs.run("meeting_note").outcome == "done"


def meeting_commits(root: Path) -> list[str]:
    """The message of each commit that wrote a note about a meeting."""
    log = git(root, "log", "--format=%s", "--", "Meetings").splitlines()
    return sorted(each for each in log if each.startswith("autowrite: meeting_note "))


@pytest.mark.requirement("D-110")
@pytest.mark.parametrize("seed", range(rounds(1, long=6)))
def test_a_month_of_a_calendar_gives_exactly_the_right_notes_once_each(tmp_path: Path, home: Path, seed: int) -> None:
    """Whatever kills a run in its middle; clocks change on 29 March, and one event is moved after its note was written.

    The clock jumps ahead by hours and days, and now and then back. The moved event's note is rendered again, in place.
    """
    clock, chance = Calendar(datetime(2026, 3, 15, 20, 0, tzinfo=UTC)), random.Random(seed)
    file, (events, names) = tmp_path / "work.ics", month()
    file.write_text(calendar_file(events))
    settings: dict[str, object] = {"calendar.calendars": [f"work path={file}"], "upkeep.zone": "Europe/Berlin"}

    def opens() -> Memory:
        return make_memory(tmp_path, clock=clock, settings=settings)

    def run() -> None:
        with opens() as memory:
            assert run_jobs(memory)

    run()
    with Figures("month of a calendar") as figures:
        while clock.at < UNTIL:
            clock.pass_(hours=chance.uniform(*GAP))
            if clock.at > MOVED and "Room 5" not in file.read_text():
                old = single("moving", MOVES, 10, title="Moving")
                file.write_text(calendar_file(events.replace(old, moved_event())))
            if chance.random() < 0.5:
                steps = chance.randrange(1, 20_000)
                figures.kills += not killed_after(steps, run_jobs, tmp_path, rooms=ROOMS, settings={}, opens=opens)
            if chance.random() < 0.2:
                clock.pass_(minutes=-30)
            if chance.random() < 0.7:
                run()
        run()
        figures.restored = len(names)

    vault = tmp_path / "vault"
    written = sorted(each.stem for each in (vault / "Meetings").glob("*.md"))
    commits = [each for each in meeting_commits(vault) if not each.endswith(" moving")]
    assert written == sorted(names)
    assert len(commits) == len(set(commits)) == len(names) - 1
    assert "11:00 to 12:00, Room 5" in (vault / "Meetings" / f"{MOVES}-moving.md").read_text()
    assert git(vault, "status", "--porcelain") == ""


def moved_event() -> str:
    return single("moving", MOVES, 11, title="Moving", more=f"{PEOPLE}\nLOCATION:Room 5")


def test_a_killed_daemon_writes_each_meeting_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A real daemon, killed when the first notes are there, as often as it takes: each is written by one commit."""
    count, kills = rounds(6, long=40), rounds(1, long=8)
    now = datetime.now(UTC).replace(microsecond=0)
    ends = {f"talk-{number}": now - timedelta(minutes=20 + number) for number in range(count)}
    events = "".join(
        f"BEGIN:VEVENT\nUID:{uid}\nSUMMARY:{uid}\nDTSTART:{end - timedelta(minutes=15):%Y%m%dT%H%M%SZ}\n"
        f"DTEND:{end:%Y%m%dT%H%M%SZ}\n{PEOPLE}\nEND:VEVENT\n"
        for uid, end in ends.items()
    )
    (tmp_path / "work.ics").write_text(calendar_file(events))
    environ = surroundings(tmp_path, COMMONPLACE_SKILLS__MEETING_NOTE__LOOKBACK_MINUTES="1440")
    root = small_vault(tmp_path / "Notes")
    register(environ, root)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    make_due(root, tmp_path / "work.ics")

    def notes() -> list[str]:
        return [each.name for folder in ("Meetings", "Inbox") for each in (root / folder).glob("*talk*.md")]

    launch = partial(launch_program, call=patience.WITH_JOBS)
    for kill in range(1, kills + 1):
        daemon = start(tmp_path, environ, launch)
        wait_for(lambda least=kill * count // (kills + 1): len(notes()) >= least, within=60)  # type: ignore[misc]
        daemon.kill()
    daemon = start(tmp_path, environ, launch)
    wait_for(lambda: len(notes()) >= count, within=60)
    assert daemon.stop() == 0

    commits = [each for each in git(root, "log", "--format=%s").splitlines() if "meeting_note" in each]
    assert len(notes()) == count
    assert sorted(commits) == sorted(f"autowrite: meeting_note {uid}" for uid in ends)


def make_due(root: Path, file: Path) -> None:
    """Add the calendar, and let the job be due when the daemon starts."""
    from commonplace import open_memory
    from commonplace.hosts.own_settings import save_setting

    lines = [f"work path={file}"]
    save_setting("calendar.calendars", lines, vault=None)
    with open_memory(root) as memory:
        memory.calendars.sync()
        memory._session.stores.history.save_job_state(JobState(job="meeting_note", since="2026-01-01T00:00:00Z"))
