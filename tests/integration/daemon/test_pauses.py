"""What a person pauses is not recorded: for them all, for a project, for a conversation; and never by mistake."""

import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from commonplace.daemon.capture.pauses import FILE, OPT_OUT, PauseKind, Pauses
from commonplace.errors import VaultUnavailable

NOON = datetime(2026, 11, 15, 12, 0, 0, 400_000, tzinfo=UTC)
LATER = NOON + timedelta(hours=1)


@pytest.fixture
def choices(tmp_path: Path) -> Pauses:
    (tmp_path / "state").mkdir()
    return Pauses(tmp_path / "state")


def why(choices: Pauses, session: str = "s1", *folders: Path) -> str:
    """Why nothing of the session is recorded."""
    return choices.why_not(session_id=session, folders=[str(folder) for folder in folders])


def test_at_first_everything_is_recorded(choices: Pauses) -> None:
    """There is no list, and nothing is paused."""
    assert choices.current() == ()
    assert why(choices) == ""


def test_a_pause_of_everything_holds_until_it_is_taken_back(choices: Pauses) -> None:
    """It is told once whether something changed."""
    assert choices.pause("all", now=NOON)
    assert not choices.pause("all", now=LATER)
    assert why(choices) == "paused: everything, since 2026-11-15T12:00:00Z"

    assert choices.resume("all", now=LATER)
    assert not choices.resume("all", now=LATER)
    assert why(choices) == ""


def test_a_project_is_its_folder_and_all_below_it(choices: Pauses, tmp_path: Path) -> None:
    """By its real path, and not by the beginning of a name."""
    project, other = tmp_path / "garden", tmp_path / "garden-shed"
    (project / "beds").mkdir(parents=True)
    other.mkdir()
    (tmp_path / "link").symlink_to(project)
    choices.pause("project", str(project), now=NOON)

    assert all(why(choices, "s1", each) for each in (project, project / "beds", tmp_path / "link" / "beds"))
    assert not any(why(choices, "s1", each) for each in (other, tmp_path))
    assert why(choices, "s1", other, project / "beds")  # it was at work in both


def test_a_conversation_is_paused_alone(choices: Pauses) -> None:
    """The others go on."""
    choices.pause("conversation", "s1", now=NOON)

    assert why(choices, "s1")
    assert not why(choices, "s2")


@pytest.mark.parametrize(("kind", "what"), [("all", ""), ("conversation", "s1"), ("project", "/")])
def test_what_was_said_within_a_pause_stays_known_as_such(choices: Pauses, kind: PauseKind, what: str) -> None:
    """The second in which it ended is still part of it; what goes on has no end."""
    choices.pause(kind, what, now=NOON)
    choices.resume(kind, what, now=LATER)
    choices.pause(kind, what, now=LATER + timedelta(days=1))
    first, second = choices.windows(session_id="s1", folders=["/tmp"])

    assert first == (NOON.replace(microsecond=0), LATER.replace(microsecond=0) + timedelta(seconds=1))
    assert second[1].year == 9999


def test_a_pause_that_ended_long_ago_is_forgotten(choices: Pauses) -> None:
    """At the next change of the list."""
    choices.pause("all", now=NOON)
    choices.resume("all", now=LATER)
    choices.pause("conversation", "s2", now=LATER + timedelta(days=91))

    assert choices.windows(session_id="s1", folders=[]) == ()


def test_every_program_sees_the_same_list(choices: Pauses, tmp_path: Path) -> None:
    """The daemon reads what the command line wrote, and the file is its owner's alone."""
    other = Pauses(tmp_path / "state")

    assert not why(other)
    choices.pause("all", now=NOON)
    assert why(other)
    assert stat.S_IMODE((tmp_path / "state" / FILE).stat().st_mode) == 0o600


@pytest.mark.parametrize(
    "text", ["", "[]", "{", '{"version": 2}', '{"version": 1, "pauses": [{"kind": "some"}]}', '{"version": 1}']
)
def test_a_list_that_cannot_be_read_pauses_everything(choices: Pauses, tmp_path: Path, text: str) -> None:
    """Better nothing is recorded than what somebody did not want."""
    (tmp_path / "state" / FILE).write_text(text)

    assert "cannot be used" in why(choices)
    with pytest.raises(VaultUnavailable):
        choices.pause("all", now=NOON)
    with pytest.raises(VaultUnavailable):
        choices.windows(session_id="s1", folders=[])


def test_a_project_opts_out_by_a_file_in_its_folder_or_above(
    choices: Pauses, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Up to home, and no further."""
    home = tmp_path / "home"
    project = home / "work" / "garden"
    project.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    (tmp_path / OPT_OUT).touch()

    assert not why(choices, "s1", project)
    for folder in (home, home / "work", project):
        (folder / OPT_OUT).touch()

        assert why(choices, "s1", project) == f"opted out by {folder / OPT_OUT}"
        (folder / OPT_OUT).unlink()


def test_folders_that_are_not_there_or_no_paths_harm_nothing(choices: Pauses) -> None:
    """A hook may say anything."""
    assert not why(choices, "s1", Path("relative"), Path("/nowhere/at/all"), Path(""))
