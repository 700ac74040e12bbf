"""The doctor tries a write: whatever would stop one is told with its path, and its advice mends it."""

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from commonplace.errors import VaultUnavailable
from commonplace.flows.doctor import examine
from commonplace.model import Finding
from commonplace.vault.base import Label, version_of
from commonplace.vault.git import commit as commits
from commonplace.vault.journal import Journal, JournalEntry
from commonplace.vault.obsidian import ObsidianVault
from tests.gitvault import AUTHOR, git, leftovers, new_vault, status, write
from tests.permissions import read_only
from tests.stores import close, make_stores

Damage = Callable[[Path], None]


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(commits, "BRANCH_WAIT_S", 0.1)
    monkeypatch.setattr(commits, "INDEX_WAIT_S", 0.1)
    vault = new_vault(tmp_path / "vault", note="words\n")
    write(vault, "Agent/Memory/fact/one.md", "An entry.\n")
    return tmp_path / "vault"


def look(root: Path, tmp_path: Path) -> Finding:
    """What the doctor says of git."""
    stores = make_stores(root, tmp_path / "data", vault=ObsidianVault(root, author=AUTHOR))
    try:
        (found,) = (each for each in examine(stores) if each.what == "git")
    finally:
        close(stores)
    return found


def all_files(root: Path) -> dict[str, bytes | None]:
    """Every file of the vault and its repository, and every folder."""
    found = {path: path.read_bytes() if path.is_file() else None for path in sorted(root.rglob("*"))}
    return {str(path.relative_to(root)): content for path, content in found.items()}


def test_a_healthy_vault_is_ready_and_stays_as_it_is(root: Path, tmp_path: Path) -> None:
    """Byte for byte, the repository included: no object, no lock, no folder."""
    before = all_files(root)
    found = look(root, tmp_path)

    assert (found.ok, found.said.split(":")[0]) == (True, "ready to commit")
    assert all_files(root) == before
    assert (status(root), leftovers(root)) == ([], [])


def test_a_vault_without_the_folder_of_entries_does_not_get_one(tmp_path: Path) -> None:
    """Neither on the disk nor in git."""
    new_vault(tmp_path / "vault", note="words\n")
    found = look(tmp_path / "vault", tmp_path)

    assert found.ok
    assert not (tmp_path / "vault/Agent").exists()
    assert status(tmp_path / "vault") == []


@pytest.mark.parametrize("way", ["packed", "reftable", "worktree", "unborn", "below"])
def test_other_kinds_of_repositories_are_ready_too(tmp_path: Path, way: str) -> None:
    """Packed objects and branches, references in a table, a linked working tree, no commit yet, a folder inside."""
    folder = tmp_path / "vault"
    if way in ("reftable", "unborn"):
        folder.mkdir()
        kind = ["--ref-format=reftable"] if way == "reftable" else []
        if "usage" in git(folder, "init", *kind, check=False) or not (folder / ".git").exists():
            pytest.skip("this git has no reftable")
    else:
        new_vault(folder, note="words\n")
    if way == "packed":
        git(folder, "gc", "-q")
    if way == "worktree":
        git(folder, "worktree", "add", "-q", "-b", "other", str(tmp_path / "tree"))
        folder = tmp_path / "tree"
    if way == "below":
        folder = folder / "inside"
        folder.mkdir()
    if way == "reftable":
        git(folder, "commit", "--allow-empty", "-qm", "first")
    objects = git(folder, "count-objects")
    found = look(folder, tmp_path)

    assert (found.ok, found.remedy) == (True, "")
    assert git(folder, "count-objects") == objects
    assert git(folder, "fsck", "--unreachable") == ""


def _overwrite(path: str) -> Damage:
    def damage(root: Path) -> None:
        file = root / path
        content = bytearray(file.read_bytes())
        middle = len(content) // 2
        content[middle : middle + 8] = b"\xff" * 8
        file.chmod(0o644)
        file.write_bytes(content)

    return damage


def _tree(folder: str) -> Damage:
    def damage(root: Path) -> None:
        name = git(root, "rev-parse", f"HEAD:{folder}").strip()
        _overwrite(f".git/objects/{name[:2]}/{name[2:]}")(root)

    return damage


def _replace(path: str, text: str) -> Damage:
    def damage(root: Path) -> None:
        (root / path).write_text(text)

    return damage


_BRANCH = ".git/refs/heads/main"


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(_overwrite(".git/index"), id="index"),
        pytest.param(_replace(".git/index", ""), id="empty index"),
        pytest.param(_replace(".git/index", "DIRC and then nothing that is an index"), id="no index"),
        pytest.param(_replace(_BRANCH, ""), id="empty branch"),
        pytest.param(_replace(_BRANCH, "\0" * 41), id="branch of zeros"),
        pytest.param(_replace(_BRANCH, "d" * 40 + "\n"), id="branch without its commit"),
        pytest.param(_replace(".git/HEAD", ""), id="empty HEAD"),
        pytest.param(_replace(".git/HEAD", "ref: refs/heads/ma in\n"), id="HEAD without a branch"),
        pytest.param(_replace(f"{_BRANCH}.lock", ""), id="lock of the branch"),
        pytest.param(_replace(".git/HEAD.lock", ""), id="lock of HEAD"),
        pytest.param(_replace(".git/index.lock", ""), id="lock of the index"),
        pytest.param(_tree(""), id="tree"),
        pytest.param(_tree("Agent/Memory"), id="tree on the way"),
        pytest.param(_tree("Agent/Memory/fact"), id="tree elsewhere"),
    ],
)
def test_what_is_damaged_in_git_is_told_and_the_advice_mends_it(root: Path, tmp_path: Path, damage: Damage) -> None:
    """The index, the branch, a tree, a lock that was left behind."""
    shutil.copytree(root, tmp_path / "backup", symlinks=True)
    damage(root)
    left = leftovers(root)
    found = look(root, tmp_path)

    assert not found.ok
    assert found.remedy
    assert leftovers(root) == left
    _follow(found, root, backup=tmp_path / "backup")
    assert look(root, tmp_path).ok
    assert write(ObsidianVault(root, author=AUTHOR), "new.md", "words\n").changed
    assert status(root) == []


def _follow(found: Finding, root: Path, *, backup: Path) -> None:
    """Do what the advice says: a command as it is written, else what its words ask for."""
    said, command = found.remedy, found.remedy.partition("Run: ")[2].partition(". ")[0].removesuffix(".")
    if command:
        subprocess.run(["sh", "-c", command], check=True)
    elif "emove this file" in said:
        Path(found.path or "").unlink()
        if "'git reset'" in said:
            git(root, "reset", "-q")
    else:
        assert "restore it from a clone or backup" in said
        shutil.rmtree(root / ".git")
        shutil.copytree(backup / ".git", root / ".git")


def test_a_lock_on_a_table_of_references_is_told(tmp_path: Path) -> None:
    """Only git can move such a branch, so git is asked to lock it."""
    folder = tmp_path / "vault"
    folder.mkdir()
    git(folder, "init", "--ref-format=reftable", check=False)
    if not (folder / ".git/reftable").exists():
        pytest.skip("this git has no reftable")
    git(folder, "commit", "--allow-empty", "-qm", "first")
    lock = folder / ".git/reftable/tables.list.lock"
    lock.touch()
    stopped = look(folder, tmp_path)
    lock.unlink()

    assert (stopped.ok, "lock" in stopped.said) == (False, True)
    assert look(folder, tmp_path).ok


def test_a_write_into_a_folder_whose_tree_is_damaged_is_refused(root: Path) -> None:
    """Git prints the beginning of such a tree: taken for an empty one, all other notes of the folder would go."""
    head = git(root, "rev-parse", "HEAD")
    _tree("Agent/Memory")(root)
    with pytest.raises(VaultUnavailable, match="git cannot read the tree"):
        write(ObsidianVault(root, author=AUTHOR), "Agent/Memory/two.md", "words\n")

    assert git(root, "rev-parse", "HEAD") == head
    assert not (root / "Agent/Memory/two.md").exists()


@pytest.mark.parametrize(
    "folder",
    [".git", ".git/objects", ".git/refs/heads", ".git/commonplace", ".", "Agent/Memory", "$XDG_STATE_HOME/commonplace"],
)
def test_a_folder_that_cannot_be_written_is_told(root: Path, tmp_path: Path, folder: str) -> None:
    """Those of git, of the notes and of the state; once it can be written again, all is well."""
    place = Path(os.path.normpath(root / os.path.expandvars(folder)))
    with read_only(place, *(place.rglob("*") if folder.startswith("$") else ())):
        found = look(root, tmp_path)

    assert not found.ok
    assert found.remedy == "Give your user read and write permission for it."
    assert str(place) in found.said
    assert leftovers(root) == []
    assert look(root, tmp_path).ok


def test_a_journal_that_cannot_be_settled_is_told(root: Path, tmp_path: Path) -> None:
    """It stops every write: the doctor names it, and removing it as it says leaves the notes as they are."""
    vault = ObsidianVault(root, author=AUTHOR)
    lost = "e" * 40
    half = JournalEntry("note.md", version_of(b"lost\n"), version_of(b"words\n"), 0o644, lost, None, None)
    rest = JournalEntry("other.md", version_of(b"before\n"), version_of(b"after\n"), 0o644, lost, None, None)
    file = vault._journal()
    file.write(Journal("1" * 32, Label("cut short"), (half, rest), (), 1, "2026-01-01", vault._git.id))
    found = look(root, tmp_path)

    assert not found.ok
    assert found.said.startswith("a change that was cut short can be neither completed nor taken back: git cat-file")
    assert found.path == file.path
    assert "remove this file" in found.remedy
    Path(file.path).unlink()
    assert look(root, tmp_path).ok
    assert (root / "note.md").read_text() == "words\n"
