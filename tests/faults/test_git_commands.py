"""A person's git command runs in the middle of a write: what was acknowledged is on the disk and in the branch."""

import random
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from commonplace.errors import Conflict, VaultUnavailable
from commonplace.vault.obsidian import ObsidianVault
from tests.gitvault import AUTHOR, git, leftovers, new_vault, status, write
from tests.run_length import rounds

VAULT = "commonplace.vault"
REPOSITORY = f"{VAULT}.git.repository:Repository"
DRAFT = f"{VAULT}.git.commit:Draft"
# where the command runs: before or after the nth call of a function of the transaction
STEPS = (
    (f"{VAULT}.obsidian:plan_all", "before", 1),
    (f"{VAULT}.obsidian:plan_all", "after", 1),
    (f"{REPOSITORY}.refuse_unwritable", "after", 1),
    (f"{VAULT}.obsidian:read_git_state", "after", 1),
    (f"{REPOSITORY}.draft", "after", 1),
    (f"{VAULT}.journal:JournalFile.write", "after", 1),
    (f"{VAULT}.atomic:exchange", "before", 1),
    (f"{VAULT}.atomic:replace", "after", 1),
    (f"{VAULT}.atomic:create", "after", 1),
    (f"{VAULT}.atomic:remove", "after", 1),
    (f"{VAULT}.obsidian:make_all", "after", 1),
    (f"{REPOSITORY}.commit", "before", 1),
    (f"{DRAFT}.publish", "before", 1),
    (f"{VAULT}.git.objects:ParallelWriter.wait", "after", 1),
    (f"{DRAFT}.publish", "after", 1),
    (f"{REPOSITORY}.commit", "after", 1),
    (f"{VAULT}.obsidian:_Mutation._holds", "before", 1),
    (f"{REPOSITORY}.contains", "after", 1),
)
BEFORE = {"edited.md": "first\n", "gone.md": "gone\n", "moved.md": "moved\n"}
AFTER = {
    "edited.md": "ours\n",
    "folder/new.md": "new\n",
    "other/moved.md": "moved\n",
    "gone.md": None,
    "moved.md": None,
}


def _edit(root: Path) -> None:
    (root / "dirty.md").write_text("edited by a person\n")


def _run(*arguments: str) -> Callable[[Path], None]:
    def command(root: Path) -> None:
        _edit(root)
        git(root, *arguments, check=False)

    return command


def _run_clean(*arguments: str) -> Callable[[Path], None]:
    def command(root: Path) -> None:
        git(root, *arguments, check=False)

    return command


def _add_and_commit(root: Path) -> None:
    _edit(root)
    git(root, "add", "-A", check=False)
    git(root, "commit", "-qm", "by a person", check=False)


COMMANDS = {
    "stash": _run("stash"),
    "stash -u": _run("stash", "--include-untracked"),
    "checkout .": _run("checkout", "."),
    "restore --staged --worktree .": _run("restore", "--staged", "--worktree", "."),
    "commit -am": _run("commit", "-qam", "by a person"),
    "add and commit": _add_and_commit,
    "commit --amend": _run("commit", "-qa", "--amend", "--no-edit"),
    "reset --hard": _run("reset", "-q", "--hard"),
    "reset --hard HEAD~1": _run_clean("reset", "-q", "--hard", "HEAD~1"),
    "clean": _run_clean("clean", "-qfd"),
    "merge": _run_clean("merge", "-q", "other", "-m", "merged"),
    "merge --autostash": _run_clean("merge", "-q", "--autostash", "other", "-m", "merged"),
    "rebase": _run_clean("rebase", "-q", "other"),
    "rebase --autostash": _run_clean("rebase", "-q", "--autostash", "other"),
    "switch": _run_clean("switch", "-q", "other"),
    "pull": _run_clean("pull", "-q", "--no-rebase", "origin", "other"),
    "pull --rebase": _run_clean("pull", "-q", "--rebase", "--autostash", "origin", "other"),
}


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A vault with two commits, another branch with a note of its own, and a remote that has that branch."""
    root = tmp_path_factory.mktemp("commands") / "vault"
    new_vault(root, edited="zero\n", gone="gone\n", moved="moved\n", dirty="x\n")
    (root / "edited.md").write_text("first\n")
    git(root, "commit", "-qam", "the second")
    git(root, "switch", "-qc", "other")
    (root / "theirs.md").write_text("theirs\n")
    git(root, "add", "theirs.md")
    git(root, "commit", "-qm", "on the other branch")
    git(root, "switch", "-q", "main")
    git(root, "remote", "add", "origin", ".")
    return root


@contextmanager
def _meanwhile(
    monkeypatch: pytest.MonkeyPatch, step: tuple[str, str, int], command: Callable[[], None]
) -> Iterator[None]:
    """Run the command right before or after that call of a function."""
    target, moment, nth = step
    module, _, names = target.partition(":")
    *owners, name = names.split(".")
    owner: Any = import_module(module)
    for each in owners:
        owner = getattr(owner, each)
    real, calls = getattr(owner, name), 0

    def interrupted(*arguments: Any, **named: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == nth and moment == "before":
            command()
        result = real(*arguments, **named)
        if calls == nth and moment == "after":
            command()
        return result

    with monkeypatch.context() as patch:
        patch.setattr(owner, name, interrupted)
        yield


def _change(vault: ObsidianVault) -> str | None:
    """A transaction with one change of each kind; the commit if it was acknowledged."""
    commits: list[str | None] = []
    try:
        with vault.transaction(then=lambda made: commits.append(made.commit)) as changes:
            changes.write(vault.resolve("edited.md"), b"ours\n")
            changes.write(vault.resolve("folder/new.md"), b"new\n")
            changes.delete(vault.resolve("gone.md"))
            changes.move(vault.resolve("moved.md"), vault.resolve("other/moved.md"))
    except (Conflict, VaultUnavailable):
        return None
    return commits[0]


def _on_disk(root: Path) -> dict[str, str | None]:
    return {path: (root / path).read_text() if (root / path).exists() else None for path in AFTER}


def _in_branch(root: Path, branch: str) -> dict[str, str | None]:
    listed = git(root, "ls-tree", "-r", "--name-only", branch).splitlines()
    return {path: git(root, "show", f"{branch}:{path}") if path in listed else None for path in AFTER}


def _what_is_wrong(root: Path, commit: str | None) -> list[str]:
    """Nothing, if the acknowledged write is where it belongs, or a refused one is nowhere.

    A person who switches after the commit finds it on the branch that they left.
    """
    wrong = []
    if commit:
        branches = git(root, "branch", "--format=%(refname:short)", "--contains", commit).split()
        current = git(root, "symbolic-ref", "--short", "HEAD").strip()
        holder = branches[0] if branches else current  # a person may amend or rebase it
        if _in_branch(root, holder) != AFTER:
            wrong.append(f"acknowledged and not in {holder}: {_in_branch(root, holder)}")
        if current == holder and _on_disk(root) != AFTER:
            wrong.append(f"acknowledged and not on disk: {_on_disk(root)}")
        if any(line[3:] in AFTER for line in status(root)):
            wrong.append(f"not clean: {status(root)}")
    else:
        left = {path for path, text in _on_disk(root).items() if text not in (BEFORE.get(path), "zero\n", None)}
        wrong += [f"refused and on disk: {path}" for path in left]
    if leftovers(root):
        wrong.append(f"left behind: {leftovers(root)}")
    return wrong


@pytest.mark.parametrize("name", COMMANDS)
def test_a_git_command_at_any_step_loses_nothing_that_was_acknowledged(
    template: Path, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Eighteen steps each; the write is mended and acknowledged, or refused and nowhere, and the next one works."""
    monkeypatch.setattr(f"{VAULT}.git.commit.INDEX_WAIT_S", 1.0)
    bad, acknowledged = [], 0
    for number, step in enumerate(STEPS):
        root = tmp_path / str(number)
        shutil.copytree(template, root, symlinks=True)
        vault = ObsidianVault(root, author=AUTHOR)
        with _meanwhile(monkeypatch, step, partial(COMMANDS[name], root)):
            commit = _change(vault)
        acknowledged += commit is not None
        bad += [f"{step[1]} {step[0].partition(':')[2]}: {each}" for each in _what_is_wrong(root, commit)]
        if git(root, "symbolic-ref", "HEAD", check=False):
            write(vault, "next.md", "next\n")
    with capsys.disabled():
        print(f"{name}: {acknowledged} of {len(STEPS)} acknowledged, {len(bad)} bad")  # noqa: T201

    assert bad == []


class Person(threading.Thread):
    """Someone who edits notes of their own and runs git commands all the time; `edits` are the texts they saved.

    A note's last text may be uncommitted when a command meets one of ours: it must be found on the disk or in git.
    """

    def __init__(self, root: Path, commands: list[tuple[str, ...]]) -> None:
        super().__init__(daemon=True)
        self._root = root
        self._commands = commands
        self._chance = random.Random("git")
        self.ends = threading.Event()
        self.edits: dict[str, str] = {}
        self.runs = self.refused = 0

    def run(self) -> None:
        while not self.ends.is_set():
            path = f"mine-{self._chance.randrange(3)}.md"
            self.edits[path] = f"edit {self.runs}\n"
            (self._root / path).write_text(self.edits[path])
            for arguments in self._chance.choice(self._commands):
                command = ["git", "-c", "user.name=A Person", "-c", "user.email=person@localhost", *arguments.split()]
                done = subprocess.run(command, cwd=self._root, capture_output=True, text=True, check=False)
                self.refused += "index.lock" in done.stderr
            self.runs += 1


def _race(root: Path, commands: list[tuple[str, ...]], writes: int) -> tuple[Person, list[tuple[str, str, str]]]:
    """Write that many notes while a person runs these commands; path, text and commit of each acknowledged write."""
    vault = ObsidianVault(root, author=AUTHOR)
    person = Person(root, commands)
    person.start()
    acknowledged = []
    try:
        for number in range(writes):
            path, text = f"ours/{number % 5 if number % 2 else number}.md", f"ours {number}\n"
            try:
                made = write(vault, path, text)
            except (Conflict, VaultUnavailable):
                continue
            acknowledged.append((path, text, made.commit or ""))
    finally:
        person.ends.set()
        person.join()
    return person, acknowledged


def _lost(root: Path, acknowledged: list[tuple[str, str, str]]) -> list[str]:
    """The acknowledged writes that are not in the branch, or whose last version is not on the disk."""
    brought = set(git(root, "log", "--raw", "--no-abbrev", "-m", "--format=").split())
    blob = {text: git(root, "hash-object", "-t", "blob", "--stdin", given=text).strip() for _, text, _ in acknowledged}
    last = {path: text for path, text, _ in acknowledged}
    lost = [f"{path} in no branch" for path, text, _ in acknowledged if blob[text] not in brought]
    on_disk = {path: (root / path).read_text() if (root / path).exists() else "" for path in last}
    return lost + [f"{path} not on disk" for path, text in last.items() if on_disk[path] != text]


ROUNDS = rounds(40, long=500)
GENTLE = [
    ("stash", "stash pop"),
    ("commit -qam edits",),
    ("add -A", "commit -qm all"),
    ("merge -q other",),
    ("checkout mine-0.md",),
    ("status",),
]


def test_git_commands_all_the_time_lose_no_acknowledged_write(
    template: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A person stashes, merges, commits and restores beside us; what that takes by accident comes back."""
    root = tmp_path / "vault"
    shutil.copytree(template, root, symlinks=True)
    for number in range(3):
        (root / f"mine-{number}.md").write_text("mine\n")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "mine")
    person, acknowledged = _race(root, GENTLE, ROUNDS)
    before = len(_lost(root, acknowledged))
    ObsidianVault(root, author=AUTHOR).recover()
    lost = _lost(root, acknowledged)
    with capsys.disabled():
        print(  # noqa: T201
            f"\n{len(acknowledged)} of {ROUNDS} writes acknowledged beside {person.runs} rounds of git commands, "
            f"{person.refused} refused for a lock: {before} lost before the last recovery, {len(lost)} after it"
        )

    assert lost == []
    assert len(acknowledged) > ROUNDS / 2
    assert _leftovers_of_ours(root) == []
    assert git(root, "fsck", "--no-dangling", "--connectivity-only") == ""


MERGES = rounds(12, long=100)
CONCLUSION = "concludes a merge that met our commit"


def test_merges_beside_our_writes_take_no_uncommitted_edit_off_the_disk(
    template: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A merge that meets our commit sets files and edits back; the next recovery has all of them on the disk again."""
    root, side = tmp_path / "vault", tmp_path / "side"
    shutil.copytree(template, root, symlinks=True)
    git(root, "worktree", "add", "-q", str(side), "other")
    vault, writer = ObsidianVault(root, author=AUTHOR), Writer(root)
    writer.start()
    gone, lost, met = [], [], 0
    try:
        for number in range(MERGES):
            (side / f"theirs-{number}.md").write_text("theirs\n")
            git(side, "add", "-A")
            git(side, "commit", "-qm", "theirs")
            (root / "dirty.md").write_text(f"edit {number}\n")
            merge = ["git", "-c", "user.name=A Person", "-c", "user.email=p@localhost", "merge", "-qm", "x", "other"]
            done = subprocess.run(merge, cwd=root, capture_output=True, text=True, check=False)
            met += "index.lock" in done.stderr
            gone += [number] if (root / "dirty.md").read_text() != f"edit {number}\n" else []
            with suppress(VaultUnavailable):  # the merge stays in progress
                vault.recover()
            if (root / "dirty.md").read_text() != f"edit {number}\n" and not _is_between_renames(root, done.stderr):
                lost.append(number)
            git(root, "commit", "-qam", CONCLUSION, check=False)
    finally:
        writer.ends.set()
        writer.join()
    vault.recover()
    with capsys.disabled():
        print(  # noqa: T201
            f"\n{MERGES} merges beside {len(writer.made)} writes, {met} met a lock: {len(gone)} edits gone, "
            f"{len(lost)} not brought back"
        )

    assert lost == []
    blobs = [git(root, "hash-object", "--stdin", given=f"edit {number}\n").strip() for number in gone]
    assert [blob for blob in blobs if git(root, "cat-file", "-t", blob, check=False) != "blob\n"] == []
    missing = {path: text for path, text in writer.made.items() if not _is_there(root, path, text)}
    assert [path for path, text in missing.items() if not _is_removed_by_the_person(root, path, text)] == []
    assert _leftovers_of_ours(root) == []


def _is_removed_by_the_person(root: Path, path: str, text: str) -> bool:
    """True if the person committed the removal before a recovery looked, and the history has the note (decision 0027).

    Whether they meant it cannot be told.
    """
    last = git(root, "log", "-1", "--format=%s", "--diff-filter=D", "--", path).strip()
    added = git(root, "log", "-1", "--format=%H", "--diff-filter=A", "--", path).strip()
    return last == CONCLUSION and git(root, "show", f"{added}:{path}", check=False) == text


def _is_between_renames(root: Path, said: str) -> bool:
    """True if the merge knew our commit, but not its index: the one case that leaves no trace (decision 0027)."""
    met = git(root, "log", "-1", "--format=", "--name-only", "ORIG_HEAD").split()
    return any(line.strip() in met for line in said.splitlines())


def _leftovers_of_ours(root: Path) -> list[str]:
    """What is left behind; not the lock of a `git gc` that a command of the person has started."""
    return [each for each in leftovers(root) if not each.endswith("gc.log.lock")]


class Writer(threading.Thread):
    """A program that writes one new note after the other; `made` has the text of each acknowledged one."""

    def __init__(self, root: Path) -> None:
        super().__init__(daemon=True)
        self._root = root
        self.ends = threading.Event()
        self.made: dict[str, str] = {}

    def run(self) -> None:
        vault = ObsidianVault(self._root, author=AUTHOR)
        while not self.ends.is_set():
            path, text = f"ours/{len(self.made)}.md", f"{len(self.made)}\n"
            try:
                write(vault, path, text)
            except (Conflict, VaultUnavailable):  # a merge is in progress
                self.ends.wait(0.01)
            else:
                self.made[path] = text
                self.ends.wait(0.005)  # others get the lock, too: they look for it every 5 ms


def _is_there(root: Path, path: str, text: str) -> bool:
    """True if both the disk and the newest commit have the note."""
    on_disk = (root / path).read_text() if (root / path).exists() else None
    return on_disk == text == git(root, "show", f"HEAD:{path}", check=False)
