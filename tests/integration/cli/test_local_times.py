"""Times on the command line are those of the person's zone; JSON has UTC."""

import re
from contextvars import Context
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from commonplace import open_memory
from commonplace.cli.invocation import local_time, with_local_times
from tests.command_line import calling, new_vault

EAST, WEST = "Pacific/Kiritimati", "Pacific/Pago_Pago"  # 14 hours before UTC, and 11 behind it, all year
UTC_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d|UTC")


@pytest.fixture
def new_york(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine in New York."""
    monkeypatch.setenv("TZ", "America/New_York")


COMMANDS = (
    "log",
    "log --actor agent",
    "note history Agent/USER.md",
    "note stat Agent/USER.md",
    "conversation list",
    "conversation show {conversation}",
    "task list",
    "facts",
    "show {entry}",
    "timeline me",
    "review list",
    "user log",
    "project show --project Atlas",
    "jobs list",
    "jobs log",
    "digest --dry-run",
    "token list",
    "learn log",
)


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    """A vault in which a person and an agent have done something of each kind."""
    folder = new_vault(tmp_path / "vault")
    run = calling(folder)
    with open_memory(folder, actor="agent") as agent:
        agent.entries.save("Ada prefers tea to coffee.", kind="preference", interface="claude-code")
        agent.entries.save("Ada always wants bullet points.", kind="preference", trust="told")
    run("user", "append", "Likes leeks.")
    run("project", "progress", "Drew the tiles", "--project", "Atlas")
    run("conversation", "add", "--id", "boat", given="User: My boat is called Argo.\n")
    run("task", "add", "Paint the boat", "--result", "It is blue.")
    run("learn", "--all")
    run("jobs", "run", "probe")
    run("token", "create", "cursor")
    return folder


@pytest.mark.parametrize(
    ("moment", "text"),
    [
        ("2026-01-05T12:30:00Z", "2026-01-05 07:30"),
        ("2026-07-05T12:30:00Z", "2026-07-05 08:30"),
        (datetime(2026, 7, 5, 2, 30, tzinfo=UTC), "2026-07-04 22:30"),
        ("2026-07-05", "2026-07-05"),
        ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"),
        ("some day", "some day"),
        ("", ""),
        (None, ""),
    ],
    ids=["winter", "summer", "the day before", "a day", "no such local time", "no moment", "empty", "none"],
)
@pytest.mark.usefixtures("new_york")
def test_a_moment_is_shown_by_the_clock_on_the_wall(moment: datetime | str | None, text: str) -> None:
    """As the clock was set on that day, whatever it is set to today; what is no moment stays as it is."""
    assert Context().run(local_time, moment) == text  # whatever command ran before in this process


@pytest.mark.usefixtures("new_york")
def test_the_moments_in_a_line_are_shown_by_the_clock_on_the_wall() -> None:
    """And nothing else in the line changes."""
    line = Context().run(with_local_times, "nothing happened since 2026-01-05T12:30:00Z (v2026-01-05)")

    assert line == "nothing happened since 2026-01-05 07:30 (v2026-01-05)"


@pytest.mark.usefixtures("one_day")
def test_people_read_the_time_of_their_zone(vault: Path) -> None:
    """It is another day there: every command shows that one, and no line a time in UTC."""
    run = calling(vault)
    with open_memory(vault) as memory:
        (conversation,) = memory.conversations.list()
        (entry,) = [each.fact.id for each in memory.facts.about() if "tea" in each.fact.text]
    now = datetime.now(UTC)
    zone, hours = (EAST, 14) if now.hour >= 10 else (WEST, -11)
    before = now + timedelta(hours=hours, minutes=-2)
    days = {f"{before + each:%Y-%m-%d}" for each in (timedelta(), timedelta(days=-7), timedelta(minutes=4))}
    for command in COMMANDS:
        words = command.format(conversation=conversation.id, entry=entry).split()

        shown = run(*words, TZ=zone)

        assert shown.returncode == 0, (command, shown.stderr)
        assert not UTC_TIME.search(shown.stdout), (command, shown.stdout)
        assert any(day in shown.stdout for day in days), (command, shown.stdout)


def test_the_zone_of_the_settings_goes_before_that_of_the_machine(vault: Path) -> None:
    """A server has another zone than its person."""
    run = calling(vault)
    words = ("log", "--set", f"upkeep.zone={EAST}")

    assert run(*words, TZ="UTC").stdout == run("log", TZ=EAST).stdout
    assert run("log", TZ="UTC").stdout != run("log", TZ=EAST).stdout


def test_json_keeps_utc(vault: Path) -> None:
    """Programs need not know where the person is."""
    run = calling(vault)

    assert run("log", "--json", TZ=EAST).stdout == run("log", "--json", TZ="UTC").stdout
