"""A process is killed at every step of a transaction: the next one finds all of it done, or nothing."""

import json
import os
import signal
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from commonplace.errors import VaultUnavailable
from commonplace.vault import recovery
from commonplace.vault.base import ABSENT, Label, version_of
from commonplace.vault.journal import Journal, JournalEntry, JournalFile, UnfinishedJournal, as_text, parse
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
    "5 index set": (f"{REPOSITORY}.stage", "after", 1, False),
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
    "9 before the index": (f"{REPOSITORY}.stage", "before", 2, True),
    "9 index set": (f"{REPOSITORY}.stage", "after", 2, True),
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
        if calls == nth and moment == "before":
            _die()
        result = real(*arguments, **named)
        if calls == nth and moment == "after":
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
    assert (event["event"], event["level"], event["leftovers"]) == ("vault_recovered", "warning", [copy])
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


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Recovery waits for a silent git 2 s, and git's index lock 5 s: the rules are the same with less."""
    monkeypatch.setattr(recovery, "_QUIET_S", 0.2)
    monkeypatch.setattr("commonplace.vault.git.commit.INDEX_WAIT_S", 0.2)


@pytest.mark.usefixtures("impatient")
def test_our_own_lock_of_git_is_removed_and_no_other(root: Path) -> None:
    """Ours was made when git was last set to work, by a process that is dead; an older one is waited for."""
    _kill(root, f"{REPOSITORY}.stage", "before", 2)
    lock = root / ".git/index.lock"
    lock.touch()
    os.utime(lock, (0, 0))
    vault = ObsidianVault(root, author=AUTHOR)
    with pytest.raises(VaultUnavailable) as error:
        vault.recover()
    kept = lock.exists()
    lock.unlink()
    lock.touch()
    recovered = vault.recover()

    assert (error.value.reason, kept) == ("repository_busy", True)
    assert recovered
    assert (recovered.outcome, recovered.removed) == ("completed", ("index.lock",))
    assert leftovers(root) == []
    assert status(root) == [" M dirty.md", "M  staged.md"]


def _leave_lock(root: Path, pid: int) -> Path:
    """A lock that git made just now, and a journal that says that this process set it to work."""
    _kill(root, f"{REPOSITORY}.stage", "before", 2)
    file = _journal_file()
    first, _, times = file.read_text().partition("\n")
    file.write_text(json.dumps(json.loads(first) | {"pid": pid}) + "\n" + times)
    (root / ".git/HEAD.lock").touch()
    return root / ".git/HEAD.lock"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells of a process that has ended unnoticed")
@pytest.mark.usefixtures("impatient")
def test_a_process_whose_parent_has_not_noticed_is_dead(root: Path) -> None:
    """Its lock is removed: a daemon may be slow to ask after its children."""
    with subprocess.Popen(["sleep", "60"]) as child:
        child.kill()
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        lock = _leave_lock(root, child.pid)
        recovered = ObsidianVault(root, author=AUTHOR).recover()

    assert recovered
    assert (recovered.removed, lock.exists()) == (("HEAD.lock",), False)


@pytest.mark.usefixtures("impatient")
def test_while_a_lock_may_still_be_a_living_processs_the_journal_stays(root: Path) -> None:
    """Without it nobody would ever know whose lock it was; when the process has ended, the lock goes."""
    with subprocess.Popen(["sleep", "60"]) as child:
        lock = _leave_lock(root, child.pid)
        vault = ObsidianVault(root, author=AUTHOR)
        with pytest.raises(VaultUnavailable) as error:
            vault.recover()
        kept = lock.exists()
        child.kill()
    recovered = vault.recover()

    assert (error.value.reason, kept) == ("repository_busy", True)
    assert recovered
    assert recovered.removed == ("HEAD.lock",)
    assert leftovers(root) == []


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
    """Every field, and the time when git was last set to work."""
    entry = JournalEntry("Caf\u00e9/\u201cx\u201d.md", ABSENT, version_of(b"x"), 0o644, None, "a" * 40, None)
    label = Label("a message\nof two lines", (("Commonplace-Kind", "write"),))
    journal = Journal("0" * 32, label, (entry,), ("Caf\u00e9",), 7, "2026-03-01T09:12:44.000+00:00")
    file = JournalFile(tmp_path / "journal.json")
    file.write(journal)
    before = file.read()
    file.git_begins()
    after = file.read()

    assert parse(as_text(journal)) == journal
    assert before == UnfinishedJournal(journal, None)
    assert after
    assert (after.journal, after.git_since is not None) == (journal, True)
