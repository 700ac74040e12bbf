"""Calendars from their source into the mirror, by the job, and the events that ended."""

import logging
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from commonplace.errors import NotFound, Refused
from commonplace.flows.calendars import ended_events
from commonplace.memory import Memory
from commonplace.model import Actor
from commonplace.model.calendar import Attendee, EventChanges
from commonplace.upkeep.calendar import JOB
from tests.calendar_servers import PASSWORD, USER, Page, calendar_text, event_text, example, radicale, serving
from tests.memories import Calendar, make_memory
from tests.upkeep_jobs import run_job

MARCH = (datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 4, 1, tzinfo=UTC))


@pytest.fixture
def clock() -> Calendar:
    """A clock that stands still."""
    return Calendar()


def memory_with(folder: Path, *lines: str, clock: Calendar, **settings: object) -> Memory:
    """A memory with these calendars, for a person in Berlin."""
    extra = {f"calendar.{name}": value for name, value in settings.items()}
    flags = {"calendar.calendars": list(lines), "upkeep.zone": "Europe/Berlin", **extra}
    return make_memory(folder, clock=clock, settings=flags)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Google's calendar in a file."""
    path = tmp_path / "work.ics"
    path.write_text(example("google"))
    return path


@pytest.fixture
def memory(tmp_path: Path, file: Path, clock: Calendar) -> Iterator[Memory]:
    """A memory with the calendar `work` in that file."""
    with memory_with(tmp_path, f"work path={file}", clock=clock) as made:
        yield made


def test_a_calendar_is_mirrored_with_attendees(memory: Memory) -> None:
    """And read again it is unchanged."""
    first = memory.calendars.sync()[0]
    second = memory.calendars.sync()[0]
    events = memory.calendars.events(start="2026-03-02", end="2026-03-02")

    assert (first.outcome, len(first.changes.added), first.problems) == ("read", first.events, ())
    assert (second.outcome, second.events, second.changes) == ("unchanged", first.events, EventChanges())
    assert [each.title for each in events] == ["Standup"]
    assert events[0].attendees[0] == Attendee("Ana Bélanger", "ana@example.org", is_owner=True)


def test_changes_at_the_source_are_told(memory: Memory, file: Path) -> None:
    """Moved, cancelled and deleted events; what is gone is marked, not lost."""
    memory.calendars.sync()
    text = example("google").replace("DTSTART:20260304T153000Z", "DTSTART:20260304T143000Z")
    text = text.replace("UID:fair@google.com", "UID:other@google.com")
    file.write_text(text)
    changes = memory.calendars.sync("work")[0].changes
    history = memory._session.stores.history
    fair = history.event("fair@google.com")

    assert changes == EventChanges(
        added=("other@google.com",), changed=("call@google.com",), removed=("fair@google.com",)
    )
    assert fair
    assert fair.removed


def test_a_new_day_brings_new_instances_of_an_unchanged_calendar(memory: Memory, clock: Calendar) -> None:
    """From the text that is kept: the source is not asked for it again."""
    memory.calendars.sync()
    clock.pass_(days=7)
    result = memory.calendars.sync()[0]

    assert result.outcome == "read"
    assert [each.partition("/")[2] for each in result.changes.added] == ["20260706T070000Z"]
    assert (result.changes.changed, result.changes.removed) == ((), ())


def test_a_reading_that_fails_leaves_the_mirror(memory: Memory, file: Path, clock: Calendar) -> None:
    """The reason is kept, and doctor says so when it lasts; the job does not fail."""
    events = memory.calendars.sync()[0].events
    file.write_text("<html>")
    clock.pass_(hours=2)
    steps = run_job(JOB, memory)
    early = memory.calendars.list()[0]
    clock.pass_(hours=30)
    late = memory.calendars.list()[0]
    findings = [each for each in memory.index.examine() if each.what == "calendars"]

    assert [each.outcome for each in steps] == ["unchanged"]
    assert "not a whole calendar" in steps[0].reason
    assert len(memory.calendars.events(start=MARCH[0] - timedelta(days=99), end="2027-01-01")) == events
    assert (early.failures, early.is_late, late.is_late) == (1, False, True)
    assert [each.ok for each in findings] == [False]
    assert "1 try failed" in findings[0].said


def test_the_job_is_off_without_a_calendar(tmp_path: Path, memory: Memory, clock: Calendar) -> None:
    """With one it runs each 15 minutes."""
    with make_memory(tmp_path / "other", clock=clock) as without:
        off = {each.name: each for each in without.jobs.list()}["calendar"]
    on = {each.name: each for each in memory.jobs.list()}["calendar"]
    memory.jobs.due()
    clock.pass_(minutes=15)
    record = next(each for each in memory.jobs.run_due() if each.job == "calendar")

    assert (off.is_enabled, on.is_enabled, on.schedule) == (False, True, "every 15m")
    assert record.outcome == "done"
    assert "added" in record.steps[0].step.said


def test_a_prompt_that_asks_for_meetings_gets_the_next_ones(memory: Memory, file: Path, clock: Calendar) -> None:
    """In one line with who comes, as plain words; no other prompt hears of them."""
    memory.calendars.sync()
    clock.at = datetime(2026, 3, 2, 7, 0, tzinfo=UTC)
    told = memory.context("Prepare my next meeting, please.", conversation="c1").text
    other = memory.context("How do I boil an egg?", conversation="c2").text

    assert "Next meetings: Monday 2026-03-02, " in told
    assert "Standup, with bo.lund" in told
    assert "Ana" not in told
    assert "Next meetings" not in other


def test_one_bad_calendar_does_not_stop_the_others(tmp_path: Path, file: Path, clock: Calendar) -> None:
    """Each has its own result."""
    with memory_with(tmp_path, f"gone path={tmp_path}/none.ics", f"work path={file}", clock=clock) as memory:
        assert [each.outcome for each in memory.calendars.sync()] == ["failed", "read"]
        assert [each.outcome for each in run_job(JOB, memory)] == ["unchanged", "unchanged"]


def test_a_dry_run_changes_nothing(memory: Memory) -> None:
    """It says how many events there are."""
    result = memory.calendars.sync(dry_run=True)[0]

    assert result.events > 10
    assert memory.calendars.events(start="2026-03-02", end="2026-03-09") == ()
    assert memory.calendars.list()[0].said == "never read"


def test_agents_may_look_and_not_read_or_forget(memory: Memory) -> None:
    """An unknown calendar is told."""
    agent = memory.acting(Actor("agent", "mcp"))

    assert agent.calendars.events() == ()
    for verb in (agent.calendars.sync, lambda: agent.calendars.forget("work")):
        with pytest.raises(Refused):
            verb()
    with pytest.raises(NotFound, match="home"):
        memory.calendars.sync("home")


def test_a_private_address_is_in_no_log_error_or_history(
    tmp_path: Path, clock: Calendar, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    """Only the file that the person made has it; a file that others may read is refused."""
    secret = tmp_path / "address"
    caplog.set_level(logging.DEBUG)
    with serving(Page(example("google"))) as page:
        secret.write_text(page.address)
        secret.chmod(0o600)
        with memory_with(tmp_path, f"google address-file={secret}", clock=clock) as memory:
            read = memory.calendars.sync()[0]
            page.status = 404
            failed = memory.calendars.sync()[0]
            secret.chmod(0o644)
            refused = memory.calendars.sync()[0]
            shown = f"{read}{failed}{refused}{memory.calendars.list()}{memory.index.examine()}"
    data = b"".join(each.read_bytes() for each in (tmp_path / "data").rglob("*") if each.is_file())

    assert (read.outcome, failed.outcome) == ("read", "failed")
    assert "other users may read" in refused.reason
    assert "private-0123" not in f"{shown}{caplog.text}{capfd.readouterr()}"
    assert b"private-0123" not in data


@pytest.mark.requirement("X-05")
def test_caldav_from_a_real_server_into_the_mirror(
    tmp_path: Path, clock: Calendar, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Created, moved, an exception of a series, cancelled and deleted, each told once."""
    monkeypatch.setenv("DAV_PASSWORD", PASSWORD)
    weekly = "DTSTART:20260303T100000Z\nDTEND:20260303T110000Z\nRRULE:FREQ=WEEKLY;COUNT=3"
    series = f"BEGIN:VEVENT\nUID:a\nSUMMARY:Team\n{weekly}\nEND:VEVENT"
    moved = "BEGIN:VEVENT\nUID:a\nSUMMARY:Team\nRECURRENCE-ID:20260310T100000Z\nDTSTART:20260311T100000Z\nEND:VEVENT"
    with radicale(tmp_path) as dav:
        line = f"work caldav={dav.address} user={USER} password-env=DAV_PASSWORD"
        with memory_with(tmp_path, line, clock=clock) as memory:
            dav.put("a", calendar_text(series))
            dav.put("b", event_text("b", "DTSTART:20260305T100000Z"))
            results = [memory.calendars.sync()[0].changes]
            dav.put("a", calendar_text(series, moved))
            dav.put("b", event_text("b", "DTSTART:20260305T100000Z", "STATUS:CANCELLED"))
            results.append(memory.calendars.sync()[0].changes)
            results.append(memory.calendars.sync()[0].changes)
            dav.delete("a")
            results.append(memory.calendars.sync()[0].changes)
            kept = memory._session.stores.history.calendar_resources("work")

    ids = ("a/20260303T100000Z", "a/20260310T100000Z", "a/20260317T100000Z")
    assert results == [
        EventChanges(added=(ids[0], "b", ids[1], ids[2])),
        EventChanges(changed=("b", ids[1])),
        EventChanges(),
        EventChanges(removed=ids),
    ]
    assert [href.rpartition("/")[2] for href in kept] == ["b.ics"]


def test_a_calendar_with_another_source_is_read_anew(tmp_path: Path, clock: Calendar) -> None:
    """The same name for another file: events of the old one are removed, its text is not kept."""
    for name, uid in (("a.ics", "a"), ("b.ics", "b")):
        (tmp_path / name).write_text(event_text(uid, "DTSTART:20260303T100000Z"))
    with memory_with(tmp_path, f"work path={tmp_path}/a.ics", clock=clock) as memory:
        memory.calendars.sync()
    with memory_with(tmp_path, f"work path={tmp_path}/b.ics", clock=clock) as memory:
        assert memory.calendars.sync()[0].changes == EventChanges(added=("b",), removed=("a",))


@pytest.mark.requirement("D-110")
def test_meetings_that_ended_are_given_once_across_restarts_and_sleep(
    tmp_path: Path, file: Path, clock: Calendar
) -> None:
    """From the first reading on; a week of sleep later those of that week, without all-day and cancelled ones."""
    cursor: dict[str, Any] = {}
    given = []
    for days, hours in ((0, 0), (1, 0), (0, 1), (8, 0), (0, 1), (20, 0)):
        clock.pass_(days=days, hours=hours)
        with memory_with(tmp_path, f"work path={file}", clock=clock) as memory:
            memory.calendars.sync()
            history = memory._session.stores.history
            ended = ended_events(history, now=clock(), lookback=timedelta(minutes=5), cursor=cursor)
            cursor = dict(ended.cursor)
            given.append([each.title for each in ended.events])

    assert given == [[], ["Standup"], [], ["Call with Dana"], [], ["Standup (moved)", "Standup"]]


def test_all_day_and_cancelled_events_are_given_if_asked_for(memory: Memory, clock: Calendar) -> None:
    """By two arguments, each on its own."""
    memory.calendars.sync()
    history = memory._session.stores.history
    cursor = ended_events(history, now=clock(), lookback=timedelta(0)).cursor
    clock.pass_(days=28)

    def titles(**changes: bool) -> list[str]:
        ended = ended_events(history, now=clock(), lookback=timedelta(0), cursor=cursor, **changes)
        return [f"{each.title} {each.status}" for each in ended.events]

    assert "Trade fair tentative" in titles(with_all_day=True)
    assert "Standup cancelled" in titles(with_cancelled=True)
    assert not {"Trade fair tentative", "Standup cancelled"} & {*titles()}


@pytest.mark.parametrize(
    ("address", "settings", "likely"),
    [
        ("ana@example.org", {}, "ana@example.org"),
        ("ana@example.org", {"own_addresses": ["Ana@example.org"]}, ""),
        ("ana;ls@example.org", {}, ""),
    ],
)
def test_the_address_that_is_in_every_meeting_is_told_as_likely_the_persons(
    tmp_path: Path, clock: Calendar, address: str, settings: dict[str, object], likely: str
) -> None:
    """As attendee or organizer; not if the person's address is known, or would be no word of a command."""
    lines = [
        (f"ATTENDEE;CN=Ana:mailto:{address}", "ATTENDEE;CN=Ada:mailto:ada@example.org"),
        (f"ORGANIZER:mailto:{address}", "ATTENDEE;CN=Bob:mailto:bob@example.org"),
        (f"ATTENDEE;CN=Ana:mailto:{address}", "ATTENDEE;CN=Bob:mailto:bob@example.org"),
    ]
    events = [
        "\n".join(["BEGIN:VEVENT", f"UID:{number}", "DTSTART:20260303T100000Z", *each, "END:VEVENT"])
        for number, each in enumerate(lines)
    ]
    (tmp_path / "own.ics").write_text(calendar_text(*events))
    with memory_with(tmp_path, f"own path={tmp_path / 'own.ics'}", clock=clock, **settings) as memory:
        assert memory.calendars.sync()[0].likely_own == likely
