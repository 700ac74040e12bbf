"""Undo: our own changes, by three-way merge, through the same flow."""

from dataclasses import replace
from pathlib import Path

import pytest

from commonplace.errors import Conflict, NotFound, Refused, UsageError, VaultUnavailable
from commonplace.flows.notes.erase import erase_note
from commonplace.flows.notes.history import log_entries, undo_commit, undo_last
from commonplace.flows.notes.move import move_note
from commonplace.flows.notes.write import delete_note, write_note, write_notes
from commonplace.history.inmemory.history import InMemoryHistory
from commonplace.model import Actor, Terms
from tests.stores import git, make_session, state

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
    session = make_session(root)
    for number in (1, 2, 3):
        write_note("Inbox/a.md", f"{number}\n".encode(), session, PLAIN)
    head = git(root, "rev-parse", "HEAD").strip()
    undone = undo_last(session, PLAIN, count=2)

    assert text(root) == "1\n"
    assert len({each.commit for each in undone}) == 2
    assert git(root, "merge-base", "--is-ancestor", head, "HEAD") == ""
    assert git(root, "status", "--porcelain") == ""


def test_undo_goes_on_to_older_changes_and_then_says_there_are_none(root: Path) -> None:
    """What is undone is not undone again; an undo is no change to undo."""
    session = make_session(root)
    write_note("Inbox/a.md", b"1\n", session, PLAIN)
    write_note("Inbox/a.md", b"2\n", session, PLAIN)
    undo_last(session, PLAIN)
    undo_last(session, PLAIN)

    assert text(root) == LINES
    with pytest.raises(NotFound, match="only 0"):
        undo_last(session, PLAIN)


def test_an_undo_can_be_undone_by_its_commit(root: Path) -> None:
    """And then the change counts again."""
    session = make_session(root)
    write_note("Inbox/a.md", b"1\n", session, PLAIN)
    (undone,) = undo_last(session, PLAIN)
    undo_commit((undone.commit or "")[:12], session, PLAIN)

    assert text(root) == "1\n"
    undo_last(session, PLAIN)
    assert text(root) == LINES


def test_what_a_person_wrote_elsewhere_in_the_note_stays(root: Path) -> None:
    """Base is what we wrote, ours is now, theirs is before."""
    session = make_session(root)
    write_note("Inbox/a.md", LINES.replace("line 3\n", "ours\n").encode(), session, PLAIN)
    (root / "Inbox/a.md").write_text(text(root).replace("line 18\n", "line 18, by a person\n"))
    undo_last(session, PLAIN)

    assert text(root) == LINES.replace("line 18\n", "line 18, by a person\n")


def test_a_person_s_edit_in_the_same_place_is_a_conflict_that_changes_nothing(root: Path) -> None:
    """The hunk is in the error."""
    session = make_session(root)
    write_note("Inbox/a.md", LINES.replace("line 3\n", "ours\n").encode(), session, PLAIN)
    (root / "Inbox/a.md").write_text(text(root).replace("ours\n", "theirs\n"))
    before = state(root)
    with pytest.raises(Conflict) as conflict:
        undo_last(session, PLAIN)

    assert "theirs" in (conflict.value.found or "")
    assert "line 3" in (conflict.value.found or "")
    assert state(root) == before


def test_a_person_s_own_commits_are_passed_over(root: Path) -> None:
    """Only ours are undone, wherever theirs stand."""
    session = make_session(root)
    write_note("Inbox/a.md", b"ours\n", session, PLAIN)
    (root / "Inbox/b.md").write_text("theirs\n")
    git(root, "add", "-A")
    git(root, "-c", "user.name=P", "-c", "user.email=p@x", "commit", "-qm", "mine")
    undo_last(session, PLAIN)

    assert (text(root), text(root, "Inbox/b.md")) == (LINES, "theirs\n")


def test_creation_deletion_and_move_are_undone(root: Path) -> None:
    """With the links that had followed."""
    (root / "Inbox/links.md").write_text("[[a]]\n")
    session = make_session(root)
    write_note("Inbox/new.md", b"new\n", session, PLAIN)
    delete_note("Inbox/new.md", session, PLAIN)
    move_note("Inbox/a.md", "Inbox/b.md", session, PLAIN)
    before = text(root, "Inbox/links.md")
    undo_last(session, PLAIN)

    assert (before, text(root, "Inbox/links.md"), text(root)) == ("[[b]]\n", "[[a]]\n", LINES)
    undo_last(session, PLAIN)
    assert text(root, "Inbox/new.md") == "new\n"
    undo_last(session, PLAIN)
    assert not (root / "Inbox/new.md").exists()


def test_a_moved_note_comes_back_with_what_was_written_into_it(root: Path) -> None:
    """A person's edit after the move survives its undo."""
    session = make_session(root)
    move_note("Inbox/a.md", "Inbox/b.md", session, PLAIN)
    (root / "Inbox/b.md").write_text(LINES + "one more\n")
    undo_last(session, PLAIN)

    assert text(root) == LINES + "one more\n"
    assert not (root / "Inbox/b.md").exists()


def test_undoing_the_creation_of_a_note_that_a_person_wrote_in_is_a_conflict(root: Path) -> None:
    """Their words are not deleted with ours."""
    session = make_session(root)
    write_note("Inbox/new.md", b"new\n", session, PLAIN)
    (root / "Inbox/new.md").write_text("new\nand a person's words\n")
    with pytest.raises(Conflict):
        undo_last(session, PLAIN)

    assert text(root, "Inbox/new.md") == "new\nand a person's words\n"


def test_undo_wants_a_sound_count_and_a_commit_of_ours(root: Path) -> None:
    """A commit of a person's is none of ours."""
    session = make_session(root)
    with pytest.raises(UsageError):
        undo_last(session, PLAIN, count=0)
    with pytest.raises(NotFound):
        undo_commit(git(root, "rev-parse", "HEAD").strip(), session, PLAIN)


def test_the_log_is_made_up_from_commit_trailers_when_it_is_lost(root: Path) -> None:
    """Who, what and why, both versions and the commit; nothing twice."""
    session = make_session(root, actor="agent")
    write_note("Inbox/a.md", b"1\n", session, Terms(message="because"))
    move_note("Inbox/a.md", "Inbox/b.md", session, PLAIN)
    known = session.stores.history.entries()
    lost = replace(session, stores=replace(session.stores, history=InMemoryHistory()))
    again = log_entries(lost.stores, limit=2)

    assert [(e.verb, e.path, e.destination, e.actor, e.before, e.after, e.commit) for e in again] == [
        (e.verb, e.path, e.destination, e.actor, e.before, e.after, e.commit) for e in known
    ]
    assert log_entries(lost.stores) == log_entries(lost.stores)


def test_erasing_removes_the_note_and_its_rows_and_tells_what_git_holds(root: Path) -> None:
    """It cannot be undone, and what was never committed is not committed by it."""
    session = make_session(root)
    write_note("Inbox/a.md", b"1\n", session, PLAIN)
    (root / "Inbox/new secret.md").write_text("never in git\n")
    erased = erase_note("Inbox/a.md", session, PLAIN)
    fresh = erase_note("Inbox/new secret.md", session, PLAIN)

    assert not (root / "Inbox/a.md").exists()
    assert erased.commits_holding_it >= 2
    assert session.stores.history.entries(path="Inbox/a.md") == ()
    assert git(root, "log", "--all", "-S", "never in git", "--format=%H") == ""
    assert fresh.commits_holding_it == 0
    with pytest.raises(NotFound):
        undo_last(session, PLAIN, count=2)
    with pytest.raises(Refused):
        erase_note("Inbox/x.md", make_session(root, actor="agent"), PLAIN)


def amend(root: Path, *words: str) -> None:
    """As a person does it."""
    git(root, "add", "-A")
    git(root, "-c", "user.name=P", "-c", "user.email=p@x", "commit", "-q", "--amend", "--no-edit", *words)


def test_what_a_person_put_into_our_commit_stays(root: Path) -> None:
    """The commit names its own files."""
    session = make_session(root)
    write_note("Inbox/a.md", b"ours\n", session, PLAIN)
    (root / "Inbox/theirs.md").write_text("theirs\n")
    amend(root)
    undo_last(session, PLAIN)

    assert (text(root), text(root, "Inbox/theirs.md")) == (LINES, "theirs\n")


def test_an_undo_is_known_after_the_commits_were_made_again(root: Path) -> None:
    """It names the id of the mutation, which a rebase keeps."""
    session = make_session(root)
    write_note("Inbox/a.md", b"1\n", session, PLAIN)
    write_note("Inbox/b.md", b"2\n", session, PLAIN)
    undo_last(session, PLAIN)
    git(root, "-c", "user.name=P", "-c", "user.email=p@x", "rebase", "-q", "--force-rebase", "--root")
    undo_last(session, PLAIN)

    assert text(root) == LINES
    with pytest.raises(NotFound, match="only 0"):
        undo_last(session, PLAIN)


@pytest.mark.parametrize("other", [Actor("person", "cli"), Actor("agent", "another"), Actor("job", "test")])
def test_an_agent_undoes_only_what_it_did_itself(root: Path, other: Actor) -> None:
    """By count what a person, a job or another agent did is passed over, by commit it is refused."""
    agent = make_session(root, actor="agent")
    write_note("Inbox/a.md", b"agent\n", agent, PLAIN)
    theirs = write_note("Inbox/b.md", b"person\n", replace(agent, actor=other), PLAIN)
    with pytest.raises(Refused):
        undo_commit(theirs.commit or "", agent, PLAIN)
    undo_last(agent, PLAIN)

    assert (text(root), text(root, "Inbox/b.md")) == (LINES, "person\n")
    with pytest.raises(NotFound):
        undo_last(agent, PLAIN)


SECRET = "---\nsensitive: true\n---\nsecret\n"
BY_AGENT = "words\n\nCommonplace-Kind: write\nCommonplace-Actor: agent\nCommonplace-Origin: test"


def commit(root: Path, message: str) -> None:
    """As a person does it."""
    git(root, "add", "-A")
    git(root, "-c", "user.name=P", "-c", "user.email=p@x", "commit", "-qm", message)


@pytest.mark.parametrize("dry_run", [True, False])
@pytest.mark.parametrize("versions", [(SECRET, "1\n", "1\n"), ("1\n", SECRET, "2\n"), (SECRET, "1\n", "2\n")])
def test_an_agent_does_not_see_what_is_or_was_sensitive_by_undoing(
    root: Path, dry_run: bool, versions: tuple[str, str, str]
) -> None:
    """Whichever version is marked: that before, that written or that of now; nor does a conflict show it."""
    agent = make_session(root, actor="agent")
    before, wrote, now = versions
    (root / "Inbox/s.md").write_text(before)
    commit(root, "a person's")
    (root / "Inbox/s.md").write_text(wrote)
    commit(root, BY_AGENT)
    (root / "Inbox/s.md").write_text(now)
    was = state(root)
    with pytest.raises(Refused) as refused:
        undo_last(agent, Terms(dry_run=dry_run))

    assert refused.value.reason == "sensitive"
    assert "secret" not in str(refused.value.as_dict())
    assert state(root) == was


def test_an_agent_gains_no_trust_by_undoing(root: Path) -> None:
    """What it could not write there it cannot bring back there either."""
    always = root / "Agent/Memory/_always-load"
    always.mkdir(parents=True)
    (always / "n.md").write_text("stands before every prompt\n")
    agent = make_session(root, actor="agent")
    (always / "n.md").unlink()
    commit(root, BY_AGENT)
    before = state(root)
    with pytest.raises(Refused, match="trust"):
        undo_last(agent, PLAIN)

    assert state(root) == before
    undo_last(make_session(root), PLAIN)
    assert (always / "n.md").exists()


def test_a_change_that_is_gone_already_is_passed_over(root: Path) -> None:
    """A person took it back by hand: the next older one is meant."""
    session = make_session(root)
    write_note("Inbox/a.md", b"1\n", session, PLAIN)
    write_note("Inbox/a.md", b"2\n", session, PLAIN)
    move_note("Inbox/a.md", "Inbox/c.md", session, PLAIN)
    (root / "Inbox/c.md").unlink()
    (root / "Inbox/a.md").write_text("2\n")
    undo_last(session, PLAIN)

    assert text(root) == "1\n"
    (root / "Inbox/a.md").write_text(LINES)
    with pytest.raises(NotFound, match="only 0"):
        undo_last(session, PLAIN)


def test_a_conflict_names_the_next_older_change(root: Path) -> None:
    """So that nobody is stuck behind it."""
    session = make_session(root)
    older = write_note("Inbox/b.md", b"1\n", session, PLAIN)
    write_note("Inbox/a.md", b"2\n", session, PLAIN)
    (root / "Inbox/a.md").write_text("3\n")
    with pytest.raises(Conflict) as conflict:
        undo_last(session, PLAIN)

    assert f"commonplace undo --commit {(older.commit or '')[:10]}" in (conflict.value.hint or "")


def test_what_was_erased_is_not_brought_back(root: Path) -> None:
    """Neither by undo nor by the log, at none of the paths that the note had."""
    session = make_session(root)
    wrote = write_note("Inbox/b.md", b"secret\n", session, PLAIN)
    other = write_note("Inbox/a.md", b"other\n", session, PLAIN)
    move_note("Inbox/b.md", "Inbox/it's c.md", session, PLAIN)
    erased = erase_note("Inbox/it's c.md", session, PLAIN)
    entries = log_entries(replace(session.stores, history=InMemoryHistory()))

    assert (erased.former, erased.commits_holding_it) == (("Inbox/b.md",), 3)
    assert erased.purge == ("Inbox/it's c.md", "Inbox/b.md")
    assert session.stores.history.entries(path="Inbox/b.md") == ()
    assert [(entry.verb, entry.path) for entry in entries] == [("erase", "[erased]"), ("write", "Inbox/a.md")]
    with pytest.raises(Refused, match="erased"):
        undo_commit(wrote.commit or "", session, PLAIN)
    (undone,) = undo_last(session, PLAIN)
    assert (undone.path, text(root), other.path) == ("Inbox/a.md", LINES, "Inbox/a.md")
    with pytest.raises(NotFound):
        undo_last(session, PLAIN)


def test_the_paths_to_purge_are_the_repository_s(root: Path) -> None:
    """A vault may be a folder of it; a former path that another note has now is left out."""
    git(root, "init", "-q")
    (root / "Vault/Inbox").mkdir(parents=True)
    (root / "Vault/Inbox/n.md").write_text("n\n")
    git(root, "add", "-A")
    git(root, "-c", "user.name=P", "-c", "user.email=p@x", "commit", "-qm", "first")
    session = make_session(root / "Vault")
    move_note("Inbox/n.md", "Inbox/m.md", session, PLAIN)
    write_note("Inbox/n.md", b"another\n", session, PLAIN)

    assert erase_note("Inbox/m.md", session, PLAIN).purge == ("Vault/Inbox/m.md",)


def test_the_log_counts_changes_not_notes(root: Path) -> None:
    """A change of many notes is one; recovered rows tell what belongs in the digest."""
    session = make_session(root, actor="agent")
    write_note("Inbox/a.md", b"1\n", session, PLAIN)
    write_notes({f"Inbox/{number}.md": b"x\n" for number in range(60)}, session, PLAIN)
    write_note("Agent/Memory/_staging/m.md", b"m\n", session, PLAIN)
    found = log_entries(session.stores, limit=2)
    again = log_entries(replace(session.stores, history=InMemoryHistory()), limit=2)

    assert [len(found), len(again), len({entry.commit for entry in found})] == [61, 61, 2]
    assert found[0].path == again[0].path == "Agent/Memory/_staging/m.md"
    assert [again[0].in_digest, again[1].in_digest] == [False, True]
    assert len(log_entries(session.stores, path="./Inbox/a.md")) == 1
    assert "Commonplace-Path" not in git(root, "log", "-1", "--format=%B", "HEAD~1")


def test_a_note_that_was_deleted_before_can_be_erased_for_good(root: Path) -> None:
    """Undoing its deletion does not bring it back."""
    session = make_session(root)
    write_note("Inbox/s.md", b"secret\n", session, PLAIN)
    delete_note("Inbox/s.md", session, PLAIN)
    erase_note("Inbox/s.md", session, PLAIN)

    with pytest.raises(NotFound):
        undo_last(session, PLAIN)
    assert not (root / "Inbox/s.md").exists()
    assert git(root, "status", "--porcelain") == ""


def test_undo_keeps_line_endings_that_git_keeps_otherwise(root: Path) -> None:
    """In a repository with `text=auto` git has the lines without their CR; the note on disk has them still."""
    session = make_session(root)
    (root / ".git/info/attributes").write_text("* text=auto\n")
    (root / "Inbox/c.md").write_bytes(b"one\r\ntwo\r\n")
    write_note("Inbox/c.md", b"one\r\n2\r\n", session, PLAIN)
    undo_last(session, PLAIN)

    assert (root / "Inbox/c.md").read_bytes() == b"one\r\ntwo\r\n"


def test_a_dry_run_is_refused_where_the_real_one_would_be(root: Path) -> None:
    """Ignored paths, a detached HEAD, and several undos at once."""
    session, dry = make_session(root), Terms(dry_run=True)
    (root / ".git/info/exclude").write_text("Inbox/ignored.md\n")
    write_note("Inbox/a.md", b"1\n", session, PLAIN)
    with pytest.raises(Refused):
        write_note("Inbox/ignored.md", b"x\n", session, dry)
    with pytest.raises(UsageError):
        undo_last(session, dry, count=2)
    git(root, "checkout", "-q", "--detach")
    with pytest.raises(VaultUnavailable):
        undo_last(session, dry)
