"""What the daemon keeps of each host's events, and what `status` and `doctor` read of it."""

from pathlib import Path

import pytest

from commonplace.daemon.server.hook_events import HookEvents, read_hook_events
from commonplace.hooks.main import SKIPS_FILE


def test_events_and_skips_are_told_for_each_host(tmp_path: Path) -> None:
    """Across restarts, and whatever else stands in the files."""
    (tmp_path / SKIPS_FILE).write_text("2026-03-01T09:12:44Z\tcodex\tprompt\tlate\nhalf a li")
    HookEvents(tmp_path).note("codex", "prompt", took_ms=1.5)
    HookEvents(tmp_path).note("codex", "stop", took_ms=2.5)
    (told,) = read_hook_events(tmp_path)

    assert (told["host"], told["event"], told["took_ms"], told["events"]) == ("codex", "stop", 2.5, 2)
    assert told["skipped"] == 1
    assert told["last_skip"] == {"at": "2026-03-01T09:12:44Z", "event": "prompt", "reason": "late"}


def test_late_recalls_are_counted_for_each_host(tmp_path: Path) -> None:
    """Across restarts; an event without recall counts for nothing."""
    for host, late in (("codex", True), ("codex", False), ("claude-code", False), ("codex", None), ("codex", True)):
        HookEvents(tmp_path).note(host, "prompt", took_ms=1.5, late=late)
    claude, codex = read_hook_events(tmp_path)

    assert (codex["late"], codex["recalls"], codex["events"]) == (2, 3, 4)
    assert codex["last_late"] == codex["at"]
    assert (claude["late"], claude["recalls"], claude["last_late"]) == (0, 1, "")


def test_only_the_last_recalls_count(tmp_path: Path) -> None:
    """A slow morning is no news a week later."""
    events = HookEvents(tmp_path)
    for number in range(60):
        events.note("codex", "prompt", took_ms=1.5, late=number < 20)
    (told,) = read_hook_events(tmp_path)

    assert (told["late"], told["recalls"]) == (10, 50)


def test_a_host_of_which_only_skips_are_known_is_told(tmp_path: Path) -> None:
    """Its daemon may never have run."""
    (tmp_path / SKIPS_FILE).write_text("2026-03-01T09:12:44Z\tcodex\tprompt\tnobody there\n")
    (told,) = read_hook_events(tmp_path)

    assert (told["event"], told["events"], told["late"], told["recalls"], told["skipped"]) == ("", 0, 0, 0, 1)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        '{"codex": 3}',
        '{"codex": {"event": "stop"}}',
        '{"codex": {"event": "stop", "at": "", "took_ms": 1.0, "events": 4}}',
        '{"codex": {"event": "stop", "at": "", "took_ms": 1.0, "events": "4", "recalls": "", "last_late": ""}}',
    ],
)
def test_a_file_of_events_that_is_not_ours_is_begun_anew(text: str, tmp_path: Path) -> None:
    """Nothing depends on it but what is shown."""
    (tmp_path / "hook_events.json").write_text(text)
    events = HookEvents(tmp_path)
    for number in range(60):
        events.note(f"host {number}", "prompt", took_ms=1.0)

    assert len(read_hook_events(tmp_path)) == 50
    assert "host 59" in {each["host"] for each in read_hook_events(tmp_path)}


def test_a_disk_that_refuses_the_file_stops_no_event(tmp_path: Path) -> None:
    """It is told in the log."""
    HookEvents(tmp_path / "not there").note("codex", "prompt", took_ms=1.0)

    assert not (tmp_path / "not there").exists()
