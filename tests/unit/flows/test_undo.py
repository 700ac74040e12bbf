"""Undo: our own changes, by three-way merge, through the same flow."""

from pathlib import Path

import pytest

from commonplace.errors import Conflict, NotFound, Refused, UsageError
from commonplace.flows.erase import erase_note
from commonplace.flows.log import log_entries
from commonplace.flows.move import move_note
from commonplace.flows.undo import undo_commit, undo_last
from commonplace.flows.write import delete_note, write_note
from commonplace.history.inmemory import InMemoryHistory
from commonplace.model import Terms
from tests.unit.flows.desk import git, make_desk, state

PLAIN = Terms()
LINES = "".join(f"line {number}\n" for number in range(1, 21))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "Inbox").mkdir()
    (tmp_path / "Inbox/a.md").write_text(LINES)
    return tmp_path


def text(root: Path, path: str = "Inbox/a.md") -> str:
    return (root / path).read_text()


@pytest.mark.requirement("D-26", "D-44")
def test_undo_takes_back_our_newest_changes_newest_first(root: Path) -> None:
    """Each in a commit of its own on top; history is never rewritten."""
    desk = make_desk(root)
    for number in (1, 2, 3):
        write_note("Inbox/a.md", f"{number}\n".encode(), desk, PLAIN)
    head = git(root, "rev-parse", "HEAD").strip()
    undone = undo_last(desk, PLAIN, count=2)

    assert text(root) == "1\n"
    assert len({each.commit for each in undone}) == 2
    assert git(root, "merge-base", "--is-ancestor", head, "HEAD") == ""
    assert git(root, "status", "--porcelain") == ""


def test_undo_goes_on_to_older_changes_and_then_says_there_are_none(root: Path) -> None:
    """What is undone is not undone again; an undo is no change to undo."""
    desk = make_desk(root)
    write_note("Inbox/a.md", b"1\n", desk, PLAIN)
    write_note("Inbox/a.md", b"2\n", desk, PLAIN)
    undo_last(desk, PLAIN)
    undo_last(desk, PLAIN)

    assert text(root) == LINES
    with pytest.raises(NotFound, match="only 0"):
        undo_last(desk, PLAIN)


def test_an_undo_can_be_undone_by_its_commit(root: Path) -> None:
    """And then the change counts again."""
    desk = make_desk(root)
    write_note("Inbox/a.md", b"1\n", desk, PLAIN)
    (undone,) = undo_last(desk, PLAIN)
    undo_commit((undone.commit or "")[:12], desk, PLAIN)

    assert text(root) == "1\n"
    undo_last(desk, PLAIN)
    assert text(root) == LINES


def test_what_a_person_wrote_elsewhere_in_the_note_stays(root: Path) -> None:
    """Base is what we wrote, ours is now, theirs is before."""
    desk = make_desk(root)
    write_note("Inbox/a.md", LINES.replace("line 3\n", "ours\n").encode(), desk, PLAIN)
    (root / "Inbox/a.md").write_text(text(root).replace("line 18\n", "line 18, by a person\n"))
    undo_last(desk, PLAIN)

    assert text(root) == LINES.replace("line 18\n", "line 18, by a person\n")


def test_a_person_s_edit_in_the_same_place_is_a_conflict_that_changes_nothing(root: Path) -> None:
    """The hunk is in the error."""
    desk = make_desk(root)
    write_note("Inbox/a.md", LINES.replace("line 3\n", "ours\n").encode(), desk, PLAIN)
    (root / "Inbox/a.md").write_text(text(root).replace("ours\n", "theirs\n"))
    before = state(root)
    with pytest.raises(Conflict) as conflict:
        undo_last(desk, PLAIN)

    assert "theirs" in (conflict.value.found or "")
    assert "line 3" in (conflict.value.found or "")
    assert state(root) == before


def test_a_person_s_own_commits_are_passed_over(root: Path) -> None:
    """Only ours are undone, wherever theirs stand."""
    desk = make_desk(root)
    write_note("Inbox/a.md", b"ours\n", desk, PLAIN)
    (root / "Inbox/b.md").write_text("theirs\n")
    git(root, "add", "-A")
    git(root, "-c", "user.name=P", "-c", "user.email=p@x", "commit", "-qm", "mine")
    undo_last(desk, PLAIN)

    assert (text(root), text(root, "Inbox/b.md")) == (LINES, "theirs\n")


def test_creation_deletion_and_move_are_undone(root: Path) -> None:
    """With the links that had followed."""
    (root / "Inbox/links.md").write_text("[[a]]\n")
    desk = make_desk(root)
    write_note("Inbox/new.md", b"new\n", desk, PLAIN)
    delete_note("Inbox/new.md", desk, PLAIN)
    move_note("Inbox/a.md", "Inbox/b.md", desk, PLAIN)
    before = text(root, "Inbox/links.md")
    undo_last(desk, PLAIN)

    assert (before, text(root, "Inbox/links.md"), text(root)) == ("[[b]]\n", "[[a]]\n", LINES)
    undo_last(desk, PLAIN)
    assert text(root, "Inbox/new.md") == "new\n"
    undo_last(desk, PLAIN)
    assert not (root / "Inbox/new.md").exists()


def test_a_moved_note_comes_back_with_what_was_written_into_it(root: Path) -> None:
    """A person's edit after the move survives its undo."""
    desk = make_desk(root)
    move_note("Inbox/a.md", "Inbox/b.md", desk, PLAIN)
    (root / "Inbox/b.md").write_text(LINES + "one more\n")
    undo_last(desk, PLAIN)

    assert text(root) == LINES + "one more\n"
    assert not (root / "Inbox/b.md").exists()


def test_undoing_the_creation_of_a_note_that_a_person_wrote_in_is_a_conflict(root: Path) -> None:
    """Their words are not deleted with ours."""
    desk = make_desk(root)
    write_note("Inbox/new.md", b"new\n", desk, PLAIN)
    (root / "Inbox/new.md").write_text("new\nand a person's words\n")
    with pytest.raises(Conflict):
        undo_last(desk, PLAIN)

    assert text(root, "Inbox/new.md") == "new\nand a person's words\n"


def test_undo_wants_a_sound_count_and_a_commit_of_ours(root: Path) -> None:
    """A commit of a person's is none of ours."""
    desk = make_desk(root)
    with pytest.raises(UsageError):
        undo_last(desk, PLAIN, count=0)
    with pytest.raises(NotFound):
        undo_commit(git(root, "rev-parse", "HEAD").strip(), desk, PLAIN)


def test_the_log_is_made_up_from_commit_trailers_when_it_is_lost(root: Path) -> None:
    """Who, what and why, both versions and the commit; nothing twice."""
    desk = make_desk(root, actor="agent")
    write_note("Inbox/a.md", b"1\n", desk, Terms(message="because"))
    move_note("Inbox/a.md", "Inbox/b.md", desk, PLAIN)
    known = desk.history.entries()
    from dataclasses import replace

    lost = replace(desk, history=InMemoryHistory())
    again = log_entries(lost, limit=2)

    assert [(e.verb, e.path, e.destination, e.actor, e.before, e.after, e.commit) for e in again] == [
        (e.verb, e.path, e.destination, e.actor, e.before, e.after, e.commit) for e in known
    ]
    assert log_entries(lost) == log_entries(lost)


def test_erasing_removes_the_note_and_its_rows_and_tells_what_git_holds(root: Path) -> None:
    """It cannot be undone, and what was never committed is not committed by it."""
    desk = make_desk(root)
    write_note("Inbox/a.md", b"1\n", desk, PLAIN)
    (root / "Inbox/new secret.md").write_text("never in git\n")
    erased = erase_note("Inbox/a.md", desk, PLAIN)
    fresh = erase_note("Inbox/new secret.md", desk, PLAIN)

    assert not (root / "Inbox/a.md").exists()
    assert erased.commits_holding_it >= 2
    assert desk.history.entries(path="Inbox/a.md") == ()
    assert git(root, "log", "--all", "-S", "never in git", "--format=%H") == ""
    assert fresh.commits_holding_it == 0
    with pytest.raises(NotFound):
        undo_last(desk, PLAIN, count=2)
    with pytest.raises(Refused):
        erase_note("Inbox/x.md", make_desk(root, actor="agent"), PLAIN)
