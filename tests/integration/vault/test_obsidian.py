"""What a vault under git does beyond the contract: a person's words are committed first, and git is left tidy."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from commonplace.errors import Conflict, NotFound, Refused, VaultUnavailable
from commonplace.vault import atomic, files, obsidian
from commonplace.vault.base import ABSENT, Label, TransactionResult, version_of
from commonplace.vault.git import commit
from commonplace.vault.git.repository import Repository
from commonplace.vault.obsidian import ObsidianVault
from commonplace.vault.syscalls import exchange
from tests.gitvault import (
    AUTHOR,
    Change,
    delete_note,
    git,
    kinds,
    leftovers,
    make,
    move_note,
    status,
    versions,
    write,
    write_note,
)


@pytest.mark.requirement("D-30")
def test_a_stale_write_is_refused_and_neither_disk_nor_git_change(vault: ObsidianVault, root: Path) -> None:
    """The version is compared under the lock, before anything is committed: no snapshot either."""
    (root / "note.md").write_text("a person's words\n")
    before = git(root, "rev-parse", "HEAD")

    with pytest.raises(Conflict) as error:
        write(vault, "note.md", "ours\n", expected=version_of(b"first\n"))

    assert error.value.found == version_of(b"a person's words\n")
    assert (git(root, "rev-parse", "HEAD"), status(root)) == (before, [" M note.md"])
    assert leftovers(root) == []


@pytest.mark.requirement("D-37", "D-39")
def test_a_taken_destination_is_a_conflict_and_a_missing_source_is_missing(vault: ObsidianVault, root: Path) -> None:
    """Each is told by its reason, and nothing is committed."""
    before = git(root, "rev-parse", "HEAD")
    with pytest.raises(Conflict) as taken, vault.transaction() as changes:
        changes.move(vault.resolve("note.md"), vault.resolve("other.md"))
    with pytest.raises(NotFound) as missing, vault.transaction() as changes:
        changes.delete(vault.resolve("nowhere.md"))

    assert (taken.value.reason, missing.value.reason) == ("conflict", "missing")
    assert (git(root, "rev-parse", "HEAD"), status(root)) == (before, [])


def test_an_identical_write_is_told_with_the_newest_commit(vault: ObsidianVault, root: Path) -> None:
    """Nothing is committed, and a person's staging of that very note stays."""
    head = git(root, "rev-parse", "HEAD").strip()
    result = write(vault, "note.md", "first\n")

    assert (result.commit, result.changed) == (head, False)
    assert git(root, "rev-parse", "HEAD").strip() == head


def test_an_ignored_path_is_refused(vault: ObsidianVault, root: Path) -> None:
    """What git ignores would have no history; a note that is tracked all the same may be written."""
    (root / ".gitignore").write_text("private/\nnote.md\n")
    with pytest.raises(Refused) as error:
        write(vault, "private/new.md", "text\n")
    write(vault, "note.md", "ours\n")

    assert error.value.reason == "ignored"
    assert not (root / "private").exists()
    assert kinds(root, "note.md") == ["write", "baseline"]


def test_a_path_behind_an_external_filter_is_refused(vault: ObsidianVault, root: Path) -> None:
    """Committing what git-crypt hides would leak it; the hint names the setting."""
    (root / ".gitattributes").write_text("*.md filter=git-crypt\n")
    with pytest.raises(Refused) as error:
        write(vault, "note.md", "secret\n")

    assert "vault.git_filters" in (error.value.hint or "")
    assert (root / "note.md").read_text() == "first\n"


@pytest.mark.requirement("A-30")
def test_what_a_person_saves_between_compare_and_publish_is_kept(
    vault: ObsidianVault, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours is a Conflict; the edit before it is in git, the save in the middle is in place, and git is tidy."""
    (root / "note.md").write_text("an edit\n")

    def save_first(folder: int, one: str, other: str) -> bool:
        (root / "note.md").write_text("saved in the middle\n")
        monkeypatch.setattr(atomic, "exchange", exchange)
        return exchange(folder, one, other)

    monkeypatch.setattr(atomic, "exchange", save_first)
    with pytest.raises(Conflict):
        write(vault, "note.md", "ours\n")

    assert (root / "note.md").read_text() == "saved in the middle\n"
    assert versions(root, "note.md") == ["an edit\n", "first\n"]
    assert status(root) == [" M note.md"]
    assert leftovers(root) == []


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells who has a file open")
@pytest.mark.parametrize("change", [write_note, delete_note])
def test_a_save_that_has_only_begun_is_not_lost(vault: ObsidianVault, root: Path, change: Change) -> None:
    """An editor that has emptied the file to write it anew still has it open: its words reach the note."""
    with (root / "note.md").open("w") as editor:
        with pytest.raises(Conflict):
            make(vault, change)
        editor.write("a person's words\n")

    assert (root / "note.md").read_text() == "a person's words\n"


def test_where_nobody_can_tell_who_writes_a_write_is_made(
    vault: ObsidianVault, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Network file systems lease no file at all: that is not taken for someone who writes."""
    monkeypatch.setattr(files, "can_lease", lambda opened: False)
    write(vault, "note.md", "ours\n")

    assert (root / "note.md").read_text() == "ours\n"
    assert leftovers(root) == []


@pytest.mark.parametrize("change", [write_note, move_note])
def test_an_executable_note_stays_one(vault: ObsidianVault, root: Path, change: Change) -> None:
    """On disk and in git, also at a new path."""
    (root / "note.md").chmod(0o755)
    git(root, "commit", "-qam", "executable")
    make(vault, change)
    (moved,) = (path for path in (root / "note.md", root / "folder/moved.md") if path.exists())

    assert moved.stat().st_mode & 0o777 == 0o755
    assert status(root) == []


def test_the_label_is_the_commit(vault: ObsidianVault, root: Path) -> None:
    """Message and trailers are the caller's; without a label the commit says what was done."""
    label = Label("why it was done", (("Commonplace-Kind", "undo"), ("Commonplace-Actor", "agent")))
    result = write(vault, "note.md", "ours\n", label=label)
    make(vault, move_note)
    second, first = vault.revisions(limit=2)

    assert (first.commit, first.message.splitlines()[0]) == (result.commit, "why it was done")
    assert {"Commonplace-Kind": "undo", "Commonplace-Actor": "agent"}.items() <= first.trailers.items()
    assert (second.message.splitlines()[0], second.trailers["Commonplace-Kind"]) == (
        "commonplace: move note.md",
        "move",
    )
    assert second.author == "Commonplace"


@pytest.mark.requirement("D-24", "D-25")
def test_a_delete_and_a_move_tell_their_commit(vault: ObsidianVault, root: Path) -> None:
    """The commit that is told is the newest, and does just that."""
    results: list[TransactionResult] = []
    with vault.transaction(then=results.append) as changes:
        changes.move(vault.resolve("note.md"), vault.resolve("folder/moved.md"))
    with vault.transaction(then=results.append) as changes:
        changes.delete(vault.resolve("other.md"))
    deleted, moved = vault.revisions(limit=2)

    assert [moved.commit, deleted.commit] == [result.commit for result in results]
    assert dict(moved.paths) == {"note.md": "removed", "folder/moved.md": "added"}
    assert dict(deleted.paths) == {"other.md": "removed"}


def test_a_branch_without_a_commit_gets_its_first(tmp_path: Path) -> None:
    """An adopted repository may be quite new."""
    git(tmp_path, "init", "-q")
    (tmp_path / "note.md").write_text("a person's words\n")
    vault = ObsidianVault(tmp_path, author=AUTHOR)
    same = write(vault, "note.md", "a person's words\n")
    write(vault, "note.md", "ours\n")

    assert (same.commit, same.changed) == (None, False)
    assert versions(tmp_path, "note.md") == ["ours\n", "a person's words\n"]
    assert status(tmp_path) == []


def test_many_notes_are_one_commit(vault: ObsidianVault, root: Path) -> None:
    """A bulk write is one mutation."""
    with vault.transaction() as changes:
        for number in range(210):
            changes.write(vault.resolve(f"bulk/{number}.md"), b"%d\n" % number, expected=ABSENT)

    assert kinds(root, "bulk") == ["write"]
    assert status(root) == []


@pytest.mark.parametrize("state", ["MERGE_HEAD", "rebase-merge", "BISECT_LOG"])
def test_a_busy_repository_can_be_read_and_not_written(vault: ObsidianVault, root: Path, state: str) -> None:
    """During a merge and the like the block does not even begin."""
    (root / ".git" / state).write_text(git(root, "rev-parse", "HEAD"))

    with pytest.raises(VaultUnavailable) as error, vault.transaction():
        pytest.fail("the block ran")

    assert error.value.reason == "repository_busy"
    assert vault.read(vault.resolve("note.md")).content == b"first\n"


def test_a_vault_without_a_working_git_can_be_read(vault: ObsidianVault, root: Path) -> None:
    """Reading, listing and opening need no git at all."""
    (root / ".git/HEAD").unlink()
    opened = ObsidianVault(root, author=AUTHOR)

    assert opened.read(opened.resolve("note.md")).content == b"first\n"
    assert len(opened.list().files) == 3
    with pytest.raises(VaultUnavailable):
        write(opened, "note.md", "ours\n")


def test_when_the_commit_fails_the_files_are_put_back(
    vault: ObsidianVault, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bytes, modes and folders are as before, the journal is gone, and the next write works."""

    def fail(self: Repository, commits: object, **rules: object) -> None:
        raise VaultUnavailable("could not write to the vault's repository: no space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Repository, "commit", fail)
        with pytest.raises(VaultUnavailable, match="no space left"), vault.transaction() as changes:  # noqa: PT012
            changes.write(vault.resolve("note.md"), b"ours\n")
            changes.write(vault.resolve("new/new.md"), b"new\n")
            changes.delete(vault.resolve("other.md"))
    found = sorted(path.name for path in root.iterdir())

    assert found == [".git", "note.md", "other.md", "staged.md"]
    assert status(root) == []
    assert leftovers(root) == []
    assert write(vault, "note.md", "ours\n").changed


def test_a_foreign_lock_of_the_index_is_waited_for_and_never_removed(
    vault: ObsidianVault, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A git command is at work: the write says so and changes nothing, and the next one works."""
    monkeypatch.setattr(commit, "INDEX_WAIT_S", 0.1)
    lock = root / ".git/index.lock"
    lock.touch()
    head = git(root, "rev-parse", "HEAD")
    with pytest.raises(VaultUnavailable) as error:
        write(vault, "note.md", "ours\n")
    found = ((root / "note.md").read_text(), git(root, "rev-parse", "HEAD"), lock.exists())
    lock.unlink()
    result = write(vault, "note.md", "ours\n")

    assert (error.value.reason, error.value.path) == ("repository_busy", str(lock))
    assert found == ("first\n", head, True)
    assert result.changed
    assert status(root) == []
    assert leftovers(root) == []


def test_another_program_that_commits_all_the_time_is_no_error(vault: ObsidianVault, root: Path) -> None:
    """Obsidian Git adds everything and commits, again and again, while we write."""
    ends = threading.Event()

    def commit_everything() -> None:
        while not ends.is_set():
            git(root, "add", "-A", check=False)
            git(root, "commit", "-qm", "vault backup", check=False)

    program = threading.Thread(target=commit_everything)
    program.start()
    try:
        results = [write(vault, f"{name}.md", f"{number}\n") for number in range(8) for name in ("note", "new")]
    finally:
        ends.set()
        program.join()
    vault.recover()
    git(root, "add", "-A")
    git(root, "commit", "-qm", "the last backup", check=False)

    assert all(each.changed for each in results)
    assert {"7\n", "4\n", "0\n"} <= set(versions(root, "note.md"))
    assert (root / "new.md").read_text() == "7\n"
    assert (status(root), leftovers(root)) == ([], [])
    assert git(root, "fsck", "--no-dangling") == ""


def test_git_tidies_up_now_and_then_and_never_fails_a_write(
    vault: ObsidianVault, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """After so many commits of any process, when the lock is free again."""
    monkeypatch.setattr(obsidian, "MAINTAIN_EVERY", 2)
    calls: list[int] = []

    def maintain(self: Repository) -> None:
        with vault._lock.hold(wait=0):
            calls.append(1)
        raise VaultUnavailable("git maintenance failed")

    monkeypatch.setattr(Repository, "maintain", maintain)
    for number in range(5):
        write(vault, "note.md", f"{number}\n")
    write(vault, "note.md", "4\n")

    assert len(calls) == 2
    assert "maintenance_failed" in capsys.readouterr().err


def test_what_git_still_holds_of_a_note_is_told(vault: ObsidianVault, root: Path) -> None:
    """How many commits, and which remotes."""
    git(root, "remote", "add", "origin", "https://example.invalid/vault.git")
    write(vault, "note.md", "ours\n")

    assert vault.held_by(vault.resolve("note.md")) == (2, ("origin",))


def test_a_vault_in_a_subfolder_of_a_repository_commits_there(tmp_path: Path) -> None:
    """Paths are the vault's own; what lies beside the vault is not touched."""
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes/note.md").write_text("first\n")
    (tmp_path / "code.py").write_text("x = 1\n")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "notes")
    git(tmp_path, "commit", "-qm", "first")
    vault = ObsidianVault(tmp_path / "notes", author=AUTHOR)
    result = write(vault, "folder/note.md", "ours\n")

    assert git(tmp_path, "show", "--name-only", "--format=", result.commit or "").split() == ["notes/folder/note.md"]
    assert vault.read_at(vault.resolve("folder/note.md"), result.commit or "") == b"ours\n"
    assert status(tmp_path) == ["?? code.py"]


def test_reading_does_not_load_git() -> None:
    """A hook that reads a note has no time for it."""
    program = "import sys, commonplace.vault.obsidian; print('commonplace.vault.git' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=os.environ)

    assert run.stdout == "False\n"


def test_a_path_longer_than_the_system_takes_at_once_is_written(vault: ObsidianVault) -> None:
    """Folders are opened one by one, so that only each name must be short enough."""
    path = "/".join(["f" * 250] * 18) + "/n.md"

    with vault.transaction() as changes:
        changes.write(vault.resolve(path), b"far down\n")

    assert vault.read(vault.resolve(path)).content == b"far down\n"
