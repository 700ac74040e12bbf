"""A git command that one of our commits met halfway takes it by accident: the next recovery brings it back."""

import os
import shlex
import signal
import subprocess
from collections.abc import Callable
from importlib import import_module
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from commonplace.vault.base import Label, LostVersion
from commonplace.vault.obsidian import ObsidianVault
from tests.gitvault import AUTHOR, git, kinds, leftovers, new_vault, status, versions, write

_HEAD = "reset: moving to HEAD"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A vault with notes, and a branch `other` with one of its own."""
    root = tmp_path / "vault"
    new_vault(root, note="first\n", gone="gone\n", moved="moved\n", dirty="x\n")
    git(root, "switch", "-qc", "other")
    (root / "theirs.md").write_text("theirs\n")
    git(root, "add", "theirs.md")
    git(root, "commit", "-qm", "on the other branch")
    git(root, "switch", "-q", "main")
    return root


def _head(root: Path) -> str:
    return git(root, "rev-parse", "HEAD").strip()


def _late_reset(root: Path, looked_up: str) -> None:
    """What `git reset --hard`, and so `git stash`, does after it has looked up HEAD."""
    git(root, "read-tree", "--reset", "-u", looked_up)
    git(root, "update-ref", "-m", _HEAD, "HEAD", looked_up)


def _late_reference(root: Path, looked_up: str) -> None:
    """The last step of `git reset --hard` alone: index and files were reset before our commit."""
    git(root, "update-ref", "-m", _HEAD, "HEAD", looked_up)


def _failed_merge(root: Path, looked_up: str, *, applies: bool) -> str:
    """What `git merge` does when our commit came after it looked up HEAD and before it read the index.

    Returns the stash commit with the person's edits, if there are any.
    """
    git(root, "update-ref", "ORIG_HEAD", looked_up)
    stash = git(root, "stash", "create", check=False).strip()  # fails if there are none
    git(root, "read-tree", "--reset", "-u", looked_up)
    if stash and applies:
        git(root, "stash", "apply", "--index", "--quiet", stash)
    return stash


def _text(root: Path, path: str) -> str | None:
    return (root / path).read_text() if (root / path).exists() else None


def _change_everything(vault: ObsidianVault) -> None:
    with vault.transaction(label=Label("four changes", (("Commonplace-Actor", "agent"),))) as changes:
        changes.write(vault.resolve("note.md"), b"ours\n")
        changes.write(vault.resolve("folder/new.md"), b"new\n")
        changes.delete(vault.resolve("gone.md"))
        changes.move(vault.resolve("moved.md"), vault.resolve("other/moved.md"))


AFTER = {"note.md": "ours\n", "folder/new.md": "new\n", "gone.md": None, "moved.md": None, "other/moved.md": "moved\n"}


def _is_all_there(root: Path) -> bool:
    listed = git(root, "ls-tree", "-r", "--name-only", "HEAD").splitlines()
    committed = {path: git(root, "show", f"HEAD:{path}") if path in listed else None for path in AFTER}
    return committed == AFTER == {path: _text(root, path) for path in AFTER}


@pytest.mark.parametrize("reset", [_late_reset, _late_reference])
def test_a_commit_that_a_late_reset_drops_is_made_again(root: Path, reset: Callable[[Path, str], None]) -> None:
    """With all its changes, its message and trailers, by whatever comes next: another process and another write."""
    vault, before = ObsidianVault(root, author=AUTHOR), _head(root)
    _change_everything(vault)
    message = git(root, "log", "-1", "--format=%B")
    reset(root, before)

    write(ObsidianVault(root, author=AUTHOR), "next.md", "next\n")

    assert _is_all_there(root)
    assert git(root, "log", "-1", "--format=%B", "HEAD~1") == message
    assert status(root) == leftovers(root) == []


def test_a_second_recovery_makes_nothing(root: Path) -> None:
    """Neither in this process, nor in another, nor with another state folder."""
    vault, before = ObsidianVault(root, author=AUTHOR), _head(root)
    _change_everything(vault)
    _late_reset(root, before)
    vault.recover()
    made = _head(root)

    vault.recover()
    ObsidianVault(root, author=AUTHOR).recover()
    for noted in (Path(os.environ["XDG_STATE_HOME"]) / "commonplace/locks").glob("*.collisions"):
        noted.unlink()
    ObsidianVault(root, author=AUTHOR).recover()

    assert _head(root) == made
    assert vault.lost_versions() == ()


@pytest.mark.parametrize(
    ("target", "moment", "nth"),
    [
        ("journal:JournalFile.write", "after", 1),
        ("repair:put_version", "after", 1),
        ("repair:put_version", "after", 5),
        ("git.repository:Repository.commit", "before", 1),
        ("git.commit:Draft._move_branch", "after", 1),
        ("git.repository:Repository.commit", "after", 1),
        ("repair:SettledCollisions.add", "before", 1),
    ],
)
def test_a_kill_while_it_is_made_again_leaves_it_to_the_next_recovery(
    root: Path, target: str, moment: str, nth: int
) -> None:
    """It is made once."""
    vault, before = ObsidianVault(root, author=AUTHOR), _head(root)
    _change_everything(vault)
    _late_reset(root, before)
    _recover_until_killed(root, target, moment, nth)

    ObsidianVault(root, author=AUTHOR).recover()

    assert _is_all_there(root)
    assert git(root, "log", "--format=%s", f"{before}..HEAD") == "four changes\n"
    assert status(root) == leftovers(root) == []


def _recover_until_killed(root: Path, target: str, moment: str, nth: int) -> None:
    """Recover in a child that is killed right before or after the nth call of a function of the vault."""
    child = os.fork()
    if child == 0:
        try:
            module, _, names = target.partition(":")
            *owners, name = names.split(".")
            owner: Any = import_module(f"commonplace.vault.{module}")
            for each in owners:
                owner = getattr(owner, each)
            real, calls = getattr(owner, name), count(1)

            def deadly(*arguments: Any, **named: Any) -> Any:
                is_nth = next(calls) == nth
                result = real(*arguments, **named) if not (is_nth and moment == "before") else None
                if is_nth:
                    os.kill(os.getpid(), signal.SIGKILL)
                return result

            setattr(owner, name, deadly)
            ObsidianVault(root, author=AUTHOR).recover()
        finally:
            os._exit(1)  # whatever happens, no second pytest comes out of this
    _, ended = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(ended) == -signal.SIGKILL


def test_several_dropped_commits_and_a_persons_edits_come_back_in_order(root: Path) -> None:
    """A person's edits that we committed before our own change are in the history again, too."""
    vault, before = ObsidianVault(root, author=AUTHOR), _head(root)
    write(vault, "two.md", "1\n")
    (root / "note.md").write_text("a person's edit\n")
    write(vault, "note.md", "ours\n")
    write(vault, "two.md", "2\n")
    _late_reset(root, before)

    vault.recover()

    assert versions(root, "note.md") == ["ours\n", "a person's edit\n", "first\n"]
    assert versions(root, "two.md") == ["2\n", "1\n"]
    assert kinds(root, "note.md")[:2] == ["write", "snapshot"]
    assert (_text(root, "note.md"), _text(root, "two.md"), status(root)) == ("ours\n", "2\n", [])


def test_what_someone_changed_since_stays_and_the_lost_version_is_named(root: Path) -> None:
    """The other note of the same commit comes back."""
    vault, before = ObsidianVault(root, author=AUTHOR), _head(root)
    with vault.transaction() as changes:
        changes.write(vault.resolve("note.md"), b"ours\n")
        changes.write(vault.resolve("dirty.md"), b"ours, too\n")
    _late_reset(root, before)
    (root / "note.md").write_text("saved since\n")

    vault.recover()

    assert (_text(root, "note.md"), _text(root, "dirty.md")) == ("saved since\n", "ours, too\n")
    git(root, "commit", "-qam", "by a person")
    vault.recover()
    assert _text(root, "note.md") == "saved since\n"


def test_a_lost_version_is_named(root: Path) -> None:
    """With the commit that has it."""
    vault, before = ObsidianVault(root, author=AUTHOR), _head(root)
    write(vault, "note.md", "ours\n")
    dropped = _head(root)
    _late_reset(root, before)
    (root / "note.md").write_text("saved since\n")
    vault.recover()

    assert vault.lost_versions() == (LostVersion("note.md", dropped),)
    command = vault.lost_versions()[0].command
    assert subprocess.run(shlex.split(command), cwd=root, capture_output=True, check=True).stdout == b"ours\n"


@pytest.mark.parametrize(
    "command",
    [
        "reset -q --hard HEAD~1",
        "reset -q --hard {before}",
        "reset -q --hard @~1",
        "reset -q --keep HEAD~1",
        "revert --no-edit HEAD",
        "checkout -q -B main {before}",
        "rebase -q --onto {before} HEAD main",
        "commit -q --amend --no-edit --allow-empty -m amended -- folder/new.md",
        "switch -q other",
    ],
)
def test_what_a_person_takes_back_stays_away(root: Path, command: str) -> None:
    """A reset to another commit, a revert, a rebase: nothing that they removed returns."""
    vault, before = ObsidianVault(root, author=AUTHOR), _head(root)
    _change_everything(vault)
    git(root, "update-index", "-q", "--refresh")
    subprocess.run(["git", *shlex.split(command.format(before=before))], cwd=root, check=True, capture_output=True)
    files = {path: _text(root, path) for path in AFTER}
    head = _head(root)

    ObsidianVault(root, author=AUTHOR).recover()

    assert ({path: _text(root, path) for path in AFTER}, _head(root)) == (files, head)


def test_a_commit_made_again_can_be_taken_back_by_a_person(root: Path) -> None:
    """Also when nobody remembers that it was made again."""
    vault, before = ObsidianVault(root, author=AUTHOR), _head(root)
    write(vault, "new.md", "new\n")
    _late_reset(root, before)
    vault.recover()
    assert _text(root, "new.md") == "new\n"
    git(root, "reset", "-q", "--hard", "HEAD~1")
    for noted in (Path(os.environ["XDG_STATE_HOME"]) / "commonplace/locks").glob("*.collisions"):
        noted.unlink()

    ObsidianVault(root, author=AUTHOR).recover()

    assert (_text(root, "new.md"), _head(root)) == (None, before)


def test_an_erased_note_never_comes_back(root: Path) -> None:
    """Not when the dropped commit wrote it, and not when the dropped commit erased it."""
    vault, before = ObsidianVault(root, author=AUTHOR), _head(root)
    erase = Label("erase", (("Commonplace-Kind", "erase"),), keeps=False)
    write(vault, "secret.md", "words\n")
    with vault.transaction(label=erase) as changes:
        changes.delete(vault.resolve("secret.md"))
        changes.delete(vault.resolve("note.md"))
    _late_reset(root, before)

    vault.recover()

    assert (_text(root, "secret.md"), _text(root, "note.md")) == (None, None)
    assert git(root, "ls-tree", "-r", "--name-only", "HEAD", "note.md", "secret.md") == ""


def test_a_note_erased_after_the_reset_stays_away_and_is_not_named(root: Path) -> None:
    """The commit that erased it is newer than the reset."""
    vault, before = ObsidianVault(root, author=AUTHOR), _head(root)
    write(vault, "note.md", "words\n")
    _late_reset(root, before)
    git(root, "rm", "-q", "note.md")
    trailers = "Commonplace-Kind: erase\nCommonplace-Path: note.md\nCommonplace-Mutation: 1234"
    git(root, "commit", "-qm", f"erased on another device\n\n{trailers}")

    vault.recover()

    assert _text(root, "note.md") is None
    assert vault.lost_versions() == ()


def test_dropped_commits_of_another_branch_wait_for_it(root: Path) -> None:
    """They come back when the person is on that branch again."""
    vault, before = ObsidianVault(root, author=AUTHOR), _head(root)
    write(vault, "new.md", "new\n")
    _late_reset(root, before)
    git(root, "switch", "-q", "other")
    vault.recover()
    assert _text(root, "new.md") is None

    git(root, "switch", "-q", "main")
    vault.recover()

    assert _text(root, "new.md") == "new\n"


@pytest.mark.parametrize("is_erased", [False, True])
def test_files_that_a_failed_merge_took_off_the_disk_come_back(root: Path, *, is_erased: bool) -> None:
    """The branch has our commit, so that the disk gets it again; also where it is a removal."""
    vault, before = ObsidianVault(root, author=AUTHOR), _head(root)
    with vault.transaction() as changes:
        changes.delete(vault.resolve("note.md")) if is_erased else changes.write(vault.resolve("note.md"), b"ours\n")
        changes.write(vault.resolve("folder/new.md"), b"new\n")
    _failed_merge(root, before, applies=True)
    assert _text(root, "note.md") == "first\n"

    write(ObsidianVault(root, author=AUTHOR), "next.md", "next\n")

    assert _text(root, "note.md") == (None if is_erased else "ours\n")
    assert (_text(root, "folder/new.md"), status(root)) == ("new\n", [])


def test_edits_that_a_failed_merge_did_not_apply_come_back(root: Path) -> None:
    """They are in a stash commit that nothing names; they are not committed, as before."""
    vault, before = ObsidianVault(root, author=AUTHOR), _head(root)
    write(vault, "new.md", "new\n")
    (root / "dirty.md").write_text("edited\n")
    _failed_merge(root, before, applies=False)
    assert (_text(root, "dirty.md"), _text(root, "new.md")) == ("x\n", None)

    vault.recover()

    assert (_text(root, "dirty.md"), _text(root, "new.md")) == ("edited\n", "new\n")
    assert status(root) == [" M dirty.md"]


def test_edits_that_the_merge_applied_and_a_person_discarded_stay_away(root: Path) -> None:
    """The tree of the applied stash is among git's objects."""
    vault, before = ObsidianVault(root, author=AUTHOR), _head(root)
    write(vault, "new.md", "new\n")
    (root / "dirty.md").write_text("edited\n")
    _failed_merge(root, before, applies=True)
    assert _text(root, "dirty.md") == "edited\n"
    git(root, "checkout", "dirty.md")

    vault.recover()

    assert (_text(root, "dirty.md"), _text(root, "new.md")) == ("x\n", "new\n")


def test_edits_brought_back_and_then_discarded_stay_away(root: Path) -> None:
    """A collision is settled once, also for another process."""
    vault, before = ObsidianVault(root, author=AUTHOR), _head(root)
    write(vault, "new.md", "new\n")
    (root / "dirty.md").write_text("edited\n")
    _failed_merge(root, before, applies=False)
    vault.recover()
    git(root, "checkout", "dirty.md")
    git(root, "rm", "-q", "new.md")

    ObsidianVault(root, author=AUTHOR).recover()

    assert (_text(root, "dirty.md"), _text(root, "new.md")) == ("x\n", None)


def test_a_stash_that_a_person_dropped_stays_away(root: Path) -> None:
    """Its base is what ORIG_HEAD names, because `git stash` resets to it."""
    vault = ObsidianVault(root, author=AUTHOR)
    write(vault, "new.md", "new\n")
    (root / "dirty.md").write_text("thrown away\n")
    git(root, "stash")
    git(root, "stash", "drop")
    write(vault, "newer.md", "newer\n")
    git(root, "rm", "-q", "newer.md")

    ObsidianVault(root, author=AUTHOR).recover()

    assert (_text(root, "dirty.md"), _text(root, "newer.md")) == ("x\n", None)


@pytest.mark.parametrize("times", [1, 2])
def test_our_file_stays_in_the_branch_when_a_merge_that_did_not_know_it_is_concluded(root: Path, times: int) -> None:
    """The merge had read the index before our commit, and wrote it without our file; a second merge does it again."""
    vault = ObsidianVault(root, author=AUTHOR)
    index = (root / ".git/index").read_bytes()
    write(vault, "new.md", "new\n")
    for number in range(times):
        _conclude_merge(root, index)
        assert git(root, "ls-tree", "HEAD", "new.md") == ""
        write(vault, "next.md", f"{number}\n")

    assert git(root, "show", "HEAD:new.md") == _text(root, "new.md") == "new\n"
    assert status(root) == []


def _conclude_merge(root: Path, index: bytes) -> None:
    """What is left of a merge that could not move the branch, and the commit of a person who concludes it."""
    (root / ".git/index").write_bytes(index)
    (root / ".git/MERGE_HEAD").write_text(git(root, "rev-parse", "other"))
    git(root, "commit", "-qm", "concluded")


def test_looking_for_traces_runs_no_git(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing has happened: a transaction starts not one process more."""
    vault = ObsidianVault(root, author=AUTHOR)
    write(vault, "new.md", "new\n")
    started = []
    monkeypatch.setattr("commonplace.vault.git.run.Git.run", lambda *command, **_: started.append(command))
    monkeypatch.setattr("commonplace.vault.git.run.Git.try_run", lambda *command, **_: started.append(command))

    vault.recover()

    assert started == []


def test_an_object_that_git_has_pruned_stops_no_write(root: Path) -> None:
    """What was dropped is gone then; the next write is made."""
    vault, before = ObsidianVault(root, author=AUTHOR), _head(root)
    write(vault, "new.md", "new\n")
    blob = git(root, "rev-parse", "HEAD:new.md").strip()
    _late_reset(root, before)
    (root / ".git/objects" / blob[:2] / blob[2:]).unlink()

    write(vault, "next.md", "next\n")

    assert (_text(root, "next.md"), _text(root, "new.md")) == ("next\n", None)
    assert leftovers(root) == []
