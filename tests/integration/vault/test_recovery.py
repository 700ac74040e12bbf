"""A process is killed at every step of a transaction: the next one finds all of it done, or nothing."""

import json
import os
import shutil
import signal
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from commonplace.errors import VaultUnavailable
from commonplace.vault.base import ABSENT, Label, version_of
from commonplace.vault.folder import VaultLock
from commonplace.vault.journal import Journal, JournalEntry, JournalFile, UnfinishedJournal, as_text, parse
from commonplace.vault.local import DeviceLocal
from commonplace.vault.obsidian import ObsidianVault
from tests.gitvault import AUTHOR, git, kinds, leftovers, new_vault, status, versions, write

VAULT = "commonplace.vault"
REPOSITORY = f"{VAULT}.git.repository:Repository"
# step of the transaction -> where to die, which call, and whether the mutation must be there afterwards
STEPS = {
    "0 before recovery": (f"{VAULT}.recovery:recover", "before", 1, False),
    "0 after recovery": (f"{VAULT}.recovery:recover", "after", 1, False),
    "1 repository looked at": (f"{REPOSITORY}.refuse_if_busy", "after", 1, False),
    "2 in the block": ("block", "", 0, False),
    "3 compared": (f"{VAULT}.obsidian:plan_all", "after", 1, False),
    "4 not ignored": (f"{REPOSITORY}.refuse_unwritable", "after", 1, False),
    "5 looked up": (f"{VAULT}.obsidian:read_git_state", "after", 1, False),
    "6 journal not flushed": (f"{VAULT}.journal:flush", "before", 1, False),
    "6 journal written": (f"{VAULT}.journal:JournalFile.write", "after", 1, False),
    "5 before the snapshot": (f"{REPOSITORY}.commit", "before", 1, False),
    "5 after the snapshot": (f"{REPOSITORY}.commit", "after", 1, False),
    "5 snapshot half published": (f"{VAULT}.git.commit:Draft._move_branch", "after", 1, False),
    "7 before the publish": (f"{VAULT}.obsidian:make_all", "before", 1, False),
    "7 first file half made": (f"{VAULT}.temporary_files:flush", "before", 1, False),
    "7 first file made": (f"{VAULT}.atomic:write_temporary", "after", 1, False),
    "7 first file before exchange": (f"{VAULT}.atomic:exchange", "before", 1, False),
    "7 first file exchanged": (f"{VAULT}.atomic:exchange", "after", 1, False),
    "7 first file published": (f"{VAULT}.atomic:replace", "after", 1, False),
    "7 second file half made": (f"{VAULT}.temporary_files:flush", "before", 2, False),
    "7 second file made": (f"{VAULT}.atomic:create", "after", 1, False),
    "7 third file taken out": (f"{VAULT}.atomic:rename_new", "after", 2, False),
    "7 third file removed": (f"{VAULT}.atomic:remove", "after", 1, False),
    "7 before the move": (f"{VAULT}.atomic:move", "before", 1, False),
    "7 last file moved": (f"{VAULT}.atomic:move", "after", 1, True),
    "7 published": (f"{VAULT}.obsidian:make_all", "after", 1, True),
    "8 before the commit": (f"{REPOSITORY}.commit", "before", 2, True),
    "8 committed": (f"{REPOSITORY}.commit", "after", 2, True),
    "8 objects written": (f"{VAULT}.git.objects:ParallelWriter.wait", "after", 2, True),
    "8 locks taken": (f"{VAULT}.git.commit:Draft._move_branch", "before", 2, True),
    "8 first lock taken": (f"{VAULT}.git.commit:_link", "after", 4, True),
    "9 branch moved, index not": (f"{VAULT}.git.commit:Draft._move_branch", "after", 2, True),
    "9 index moved": (f"{VAULT}.git.commit:_WorkFiles.close", "before", 2, True),
    "9 before the last look": (f"{VAULT}.obsidian:_Mutation._holds", "before", 1, True),
    "10 before the journal goes": (f"{VAULT}.journal:JournalFile.remove", "before", 1, True),
    "10 journal gone": (f"{VAULT}.journal:JournalFile.remove", "after", 1, True),
    "11 told": ("then", "", 0, True),
    "12 ended": ("end", "", 0, True),
}
BEFORE = {"edited.md": "a person's words\n", "gone.md": "gone\n", "moved.md": "moved\n"}
AFTER = {"edited.md": "ours\n", "new/folder/new.md": "new\n", "other/moved.md": "moved\n"}
OTHERS = {"staged.md": "staged by a person\n", "dirty.md": "left dirty by a person\n"}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A vault with an edited note among those to be changed, and a person's own work beside them."""
    root = tmp_path / "vault"
    new_vault(root, edited="first\n", gone="gone\n", moved="moved\n", staged="x\n", dirty="x\n")
    for path, text in {"edited.md": BEFORE["edited.md"], **OTHERS}.items():
        (root / path).write_text(text)
    git(root, "add", "staged.md")
    return root


def _files(root: Path) -> dict[str, str]:
    inside = (path for path in root.rglob("*") if path.is_file() and ".git" not in path.parts)
    return {path.relative_to(root).as_posix(): path.read_text() for path in inside}


def _kill(root: Path, target: str, moment: str = "", nth: int = 0) -> None:
    """Run the transaction in a child that is killed right before or after the nth call of `module:attribute`."""
    child = os.fork()
    if child == 0:
        try:
            _arm(target, moment, nth)
            _change_until_killed(root, target)
        finally:
            os._exit(1)  # whatever happens, no second pytest comes out of this
    _, ended = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(ended) == -signal.SIGKILL


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _arm(target: str, moment: str, nth: int) -> None:
    """Replace the function by one that kills this process. The child is never a test again, so nothing is undone."""
    module, _, names = target.partition(":")
    if not names:
        return
    *owners, name = names.split(".")
    owner: Any = import_module(module)
    for each in owners:
        owner = getattr(owner, each)
    real, calls = getattr(owner, name), 0

    def deadly(*arguments: Any, **named: Any) -> Any:
        nonlocal calls
        calls += 1
        is_nth = calls == nth  # other threads may call it meanwhile
        if is_nth and moment == "before":
            _die()
        result = real(*arguments, **named)
        if is_nth and moment == "after":
            _die()
        return result

    setattr(owner, name, deadly)


def _change_until_killed(root: Path, target: str) -> None:
    vault = ObsidianVault(root, author=AUTHOR)
    with vault.transaction(then=lambda made: _die() if target == "then" else None) as changes:
        changes.write(vault.resolve("edited.md"), b"ours\n")
        changes.write(vault.resolve("new/folder/new.md"), b"new\n")
        changes.delete(vault.resolve("gone.md"))
        changes.move(vault.resolve("moved.md"), vault.resolve("other/moved.md"))
        if target == "block":
            _die()
    if target == "end":
        _die()


def _journal_file() -> Path:
    (file,) = (Path(os.environ["XDG_STATE_HOME"]) / "commonplace/journals").iterdir()
    return file


@pytest.mark.requirement("A-28")
@pytest.mark.parametrize("step", STEPS)
def test_a_kill_at_any_step_leaves_all_or_nothing(root: Path, step: str) -> None:
    """The next transaction completes it or rolls it back; a person's words, staging and git are as they were."""
    target, moment, nth, is_made = STEPS[step]
    _kill(root, target, moment, nth)
    vault = ObsidianVault(root, author=AUTHOR)
    made = write(vault, "next.md", "next\n")
    untidy = [line for line in status(root) if line != " M edited.md" or is_made]

    assert _files(root) == {**(AFTER if is_made else BEFORE), **OTHERS, "next.md": "next\n"}
    assert untidy == [" M dirty.md", "M  staged.md"]
    assert leftovers(root) == []
    assert sorted(path.name for path in root.iterdir() if path.is_dir()) == (
        [".git", "new", "other"] if is_made else [".git"]
    )
    assert made.commit == git(root, "rev-parse", "HEAD").strip()
    assert kinds(root, "gone.md") == (["change", "baseline"] if is_made else ["baseline"])
    assert BEFORE["edited.md"] in versions(root, "edited.md") or not is_made
    assert git(root, "fsck", "--no-dangling", "--strict") == ""


def _kill_between(root: Path) -> None:
    """Leave the first of four files published, and the others not."""
    _kill(root, f"{VAULT}.atomic:create", "before", 1)


def test_what_a_person_saved_since_is_left_alone(root: Path) -> None:
    """The rest is rolled back around it."""
    _kill_between(root)
    (root / "edited.md").write_text("saved after the crash\n")
    recovered = ObsidianVault(root, author=AUTHOR).recover()

    assert recovered
    assert recovered.outcome == "rolled back"
    assert _files(root) == {**BEFORE, **OTHERS, "edited.md": "saved after the crash\n"}
    assert BEFORE["edited.md"] in versions(root, "edited.md")


def test_a_displaced_save_becomes_a_conflict_copy(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A half-made file with bytes that the journal does not know is someone's: it is kept, and told."""
    _kill(root, f"{VAULT}.atomic:exchange", "after", 1)
    (displaced,) = root.glob(".commonplace-*.tmp")
    displaced.write_text("saved at the last moment\n")
    recovered = ObsidianVault(root, author=AUTHOR).recover()
    event = json.loads(capsys.readouterr().err)

    assert recovered
    (copy,) = recovered.conflict_copies
    assert copy.startswith("edited (conflict ")
    assert (root / copy).read_text() == "saved at the last moment\n"
    assert (event["event"], event["level"]) == ("vault_recovered", "warning")
    assert event["leftovers"] == [*recovered.removed, copy]  # another file may have been half made, too
    assert leftovers(root) == []


def test_a_note_swapped_for_a_link_does_not_stop_recovery(root: Path, tmp_path: Path) -> None:
    """It is no version of ours: it is left alone, and what it leads to is not touched."""
    _kill_between(root)
    (tmp_path / "secret.md").write_text("ours\n")
    (root / "edited.md").unlink()
    (root / "edited.md").symlink_to(tmp_path / "secret.md")
    recovered = ObsidianVault(root, author=AUTHOR).recover()

    assert recovered
    assert recovered.outcome == "rolled back"
    assert (root / "edited.md").is_symlink()


@pytest.mark.parametrize("eol", ["lf", "crlf"])
def test_line_endings_come_back_as_they_were(root: Path, eol: str) -> None:
    """Git may keep a note with other line endings than the disk: it goes back in the form that it had."""
    (root / ".gitattributes").write_text(f"*.md text eol={eol}\n")
    (root / ".git/info/attributes").unlink()
    for ending in (b"\n", b"\r\n"):
        words = b"a person's words" + ending + b"on two lines" + ending
        (root / "edited.md").write_bytes(words)
        _kill_between(root)
        ObsidianVault(root, author=AUTHOR).recover()

        assert (root / "edited.md").read_bytes() == words


def test_a_torn_journal_means_that_nothing_had_begun(root: Path) -> None:
    """It is removed, and the next transaction goes on."""
    _kill(root, f"{VAULT}.journal:JournalFile.write", "after", 1)
    file = _journal_file()
    whole = file.read_text()
    for length in (1, len(whole) // 2, len(whole) - 3):
        file.write_text(whole[:length])
        recovered = ObsidianVault(root, author=AUTHOR).recover()

        assert recovered
        assert (recovered.outcome, recovered.mutation) == ("rolled back", None)
        assert leftovers(root) == []


def test_our_own_locks_of_git_are_removed_whatever_the_clock_says(root: Path) -> None:
    """They are known by what they are, not by their age; the clock may have been set back since."""
    _kill(root, f"{VAULT}.git.commit:Draft._move_branch", "before", 2)
    locks = [root / ".git" / name for name in ("index.lock", "HEAD.lock", "refs/heads/main.lock")]
    left = [lock.exists() for lock in locks]
    for lock in locks:
        os.utime(lock, (2**31, 2**31))
    recovered = ObsidianVault(root, author=AUTHOR).recover()

    assert left == [True, True, True]
    assert recovered
    assert (recovered.outcome, sorted(recovered.removed)) == ("completed", ["HEAD.lock", "index.lock", "main.lock"])
    assert leftovers(root) == []
    assert status(root) == [" M dirty.md", "M  staged.md"]


def test_our_locks_are_known_where_the_file_system_has_no_links(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """There a lock is a copy of our file."""

    def no_links(*_: object, **__: object) -> None:
        raise OSError(1, "Operation not permitted")

    monkeypatch.setattr("commonplace.vault.git.commit.os.link", no_links)
    _kill(root, f"{VAULT}.git.commit:Draft._move_branch", "before", 2)
    left = (root / ".git/index.lock").exists()
    write(ObsidianVault(root, author=AUTHOR), "next.md", "next\n")

    assert left
    assert leftovers(root) == []
    assert status(root) == [" M dirty.md", "M  staged.md"]


@pytest.mark.parametrize("name", ["index.lock", "HEAD.lock", "refs/heads/main.lock"])
def test_a_lock_that_is_not_ours_is_never_removed(root: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names it and says what to do; nothing waits for ever, and the vault's lock is free again."""
    monkeypatch.setattr("commonplace.vault.git.commit.INDEX_WAIT_S", 0.1)
    monkeypatch.setattr("commonplace.vault.git.commit.BRANCH_WAIT_S", 0.1)
    _kill(root, f"{REPOSITORY}.commit", "before", 2)
    lock = root / ".git" / name
    lock.touch()
    vault = ObsidianVault(root, author=AUTHOR)
    for clock in (0, 2**31):
        os.utime(lock, (clock, clock))
        with pytest.raises(VaultUnavailable) as error:
            write(vault, "next.md", "next\n")
        assert (error.value.reason, error.value.path) == ("repository_busy", str(lock))
        assert "remove this file" in (error.value.hint or "")
    still_there = lock.exists()
    lock.unlink()
    write(vault, "next.md", "next\n")

    assert still_there
    assert leftovers(root) == []


def test_a_journal_of_another_vault_is_set_aside(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A new vault may be in a folder with the inode of one that was deleted in the middle of a write."""
    _kill_between(root)
    file = _journal_file()
    left = json.loads(file.read_text())
    file.write_text(json.dumps({**left, "vault": "0123456789abcdef"}) + "\n")
    (root / "edited.md").write_text("ours\n")
    vault = ObsidianVault(root, author=AUTHOR)
    write(vault, "next.md", "next\n")
    event = json.loads(capsys.readouterr().err.splitlines()[0])
    (aside,) = file.parent.glob("*.aside")

    assert left["vault"] != "0123456789abcdef"
    assert (event["event"], event["kept"]) == ("journal_of_another_vault", str(aside))
    assert json.loads(aside.read_text())["mutation"] == left["mutation"]
    assert (root / "edited.md").read_text() == "ours\n"


def test_what_another_program_committed_meanwhile_is_not_committed_again(root: Path) -> None:
    """Obsidian Git may be quicker than recovery: the mutation is complete, and HEAD stays."""
    _kill(root, f"{REPOSITORY}.commit", "before", 2)
    git(root, "add", "-A")
    git(root, "commit", "-qm", "vault backup")
    head = git(root, "rev-parse", "HEAD")
    recovered = ObsidianVault(root, author=AUTHOR).recover()

    assert recovered
    assert recovered.outcome == "completed"
    assert (git(root, "rev-parse", "HEAD"), status(root)) == (head, [])


def test_a_recovery_that_is_killed_is_begun_again(root: Path) -> None:
    """The journal stays until all is done."""
    _kill_between(root)
    _kill(root, f"{VAULT}.recovery:remove_temporary_files", "before", 1)
    _kill(root, f"{VAULT}.recovery:repair_index", "before", 1)
    ObsidianVault(root, author=AUTHOR).recover()

    assert _files(root) == {**BEFORE, **OTHERS}
    assert leftovers(root) == []


def test_where_nothing_was_left_nothing_is_done(root: Path) -> None:
    """No journal, no recovery."""
    assert ObsidianVault(root, author=AUTHOR).recover() is None


def test_a_journal_comes_back_as_it_was_written(tmp_path: Path) -> None:
    """Every field."""
    entry = JournalEntry("Caf\u00e9/\u201cx\u201d.md", ABSENT, version_of(b"x"), 0o644, None, "a" * 40, None)
    label = Label("a message\nof two lines", (("Commonplace-Kind", "write"),))
    journal = Journal("0" * 32, label, (entry,), ("Caf\u00e9",), 7, "2026-03-01T09:12:44.000+00:00", "0123456789abcdef")
    file = JournalFile(tmp_path / "journal.json")
    file.write(journal)
    before = file.read()
    file.remove()

    assert parse(as_text(journal)) == journal
    assert (before, file.read()) == (UnfinishedJournal(journal), None)


@pytest.mark.parametrize("under_git", [True, False])
@pytest.mark.parametrize(
    ("target", "moment"),
    [
        (f"{VAULT}.temporary_files:flush", "before"),
        (f"{VAULT}.atomic:write_temporary", "after"),
        (f"{VAULT}.atomic:exchange", "after"),
    ],
    ids=["half written", "whole", "exchanged"],
)
def test_what_a_killed_writer_of_a_derived_file_left_is_removed(
    root: Path, under_git: bool, target: str, moment: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """By the next write or derived file; `git add -A` does not take it before that, in a person's repository too."""
    (root / ".git/info/exclude").write_text("# mine\n")
    store = ObsidianVault(root, author=AUTHOR) if under_git else DeviceLocal(root)
    at = store.resolve("Agent/_index.md")
    store.derive(at, b"one\n")
    child = os.fork()
    if child == 0:
        try:
            _arm(target, moment, 1)
            store.derive(at, b"two\n")
        finally:
            os._exit(1)
    _, ended = os.waitpid(child, 0)
    left = [path.name for path in (root / "Agent").iterdir() if path.name != "_index.md"]
    git(root, "add", "-A")
    added = git(root, "ls-files", "Agent")
    with store.transaction() as changes:
        changes.write(store.resolve("next.md"), b"next\n")

    assert os.waitstatus_to_exitcode(ended) == -signal.SIGKILL
    assert len(left) == 1
    assert not under_git or added == ""
    assert sorted(path.name for path in (root / "Agent").iterdir()) == ["_index.md"]
    assert "leftovers_removed" in capsys.readouterr().err
    assert [path for path in leftovers(root) if "journals" not in path] == []


def test_a_killed_write_without_git_leaves_nothing_for_good(tmp_path: Path) -> None:
    """The next transaction removes its temporary files; one with a person's words becomes a conflict copy."""
    (tmp_path / "note.md").write_text("first\n")
    store = DeviceLocal(tmp_path)
    for words in ("first\n", "a person's\n"):
        child = os.fork()
        if child == 0:
            try:
                _arm(f"{VAULT}.atomic:exchange", "after", 1)
                with store.transaction() as changes:
                    changes.write(store.resolve("note.md"), os.urandom(4).hex().encode())
            finally:
                os._exit(1)
        os.waitpid(child, 0)
        (displaced,) = tmp_path.glob(".commonplace-*")
        displaced.write_text(words)
        (tmp_path / "note.md").write_text("first\n")
        with store.transaction() as changes:
            changes.write(store.resolve("next.md"), words.encode())
    (copy,) = tmp_path.glob("note (conflict *.md")

    assert copy.read_text() == "a person's\n"
    assert list(tmp_path.glob(".commonplace-*")) == []


def test_the_workshop_of_a_killed_init_is_removed_by_the_first_write(root: Path) -> None:
    """The repository got its name, and the folder it was made in stayed."""
    workshop = root / ".commonplace-0123456789abcdef.tmp"
    (workshop / "views").mkdir(parents=True)
    write(ObsidianVault(root, author=AUTHOR), "next.md", "next\n")

    assert not workshop.exists()


def test_a_second_state_folder_is_refused_until_the_first_is_gone(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Locks and journals are in it. The error names both, and the file to remove if nothing uses the first any more."""
    write(ObsidianVault(root, author=AUTHOR), "one.md", "one\n")
    first = os.environ["XDG_STATE_HOME"]
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "second"))
    vault = ObsidianVault(root, author=AUTHOR)
    with pytest.raises(VaultUnavailable) as error:
        write(vault, "two.md", "two\n")
    read = vault.read(vault.resolve("one.md")).content
    Path(error.value.path or "").unlink()
    write(vault, "two.md", "two\n")
    monkeypatch.setenv("XDG_STATE_HOME", first)
    shutil.rmtree(tmp_path / "second")
    write(ObsidianVault(root, author=AUTHOR), "three.md", "three\n")
    event = json.loads(capsys.readouterr().err.splitlines()[-1])

    assert first in error.value.message
    assert str(tmp_path / "second") in error.value.message
    assert (read, "XDG_STATE_HOME" in (error.value.hint or "")) == (b"one\n", True)
    assert (event["event"], event["before"]) == ("vault_state_folder_changed", str(tmp_path / "second/commonplace"))


def test_a_vault_that_another_machine_used_is_taken_over_and_said(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The disk was moved; whether that folder still exists there cannot be known."""
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr("commonplace.vault.git.own_files.socket.gethostname", lambda: "elsewhere")
        write(ObsidianVault(root, author=AUTHOR), "one.md", "one\n")
    write(ObsidianVault(root, author=AUTHOR), "two.md", "two\n")
    write(ObsidianVault(root, author=AUTHOR), "three.md", "three\n")

    assert capsys.readouterr().err.count("vault_state_folder_changed") == 1


def test_two_state_folders_share_the_lock_of_the_vaults_own_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program in a container has a state folder of its own: they take turns all the same."""
    (tmp_path / "vault").mkdir()
    with VaultLock(tmp_path / "vault").hold(wait=0):
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "second"))
        with pytest.raises(VaultUnavailable) as error, VaultLock(tmp_path / "vault").hold(wait=0.01):
            pass
    with VaultLock(tmp_path / "vault").hold(wait=0):
        pass

    assert error.value.reason == "locked"
