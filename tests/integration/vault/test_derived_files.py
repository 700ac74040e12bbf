"""Derived files in a person's repository: never committed, and a person's own file is never overwritten."""

import os
from pathlib import Path

import pytest

from commonplace.errors import Conflict, Refused
from commonplace.vault.git.path_state import TEMPORARY_FILES
from commonplace.vault.local import DeviceLocal
from commonplace.vault.obsidian import ObsidianVault
from tests.gitvault import AUTHOR, git, leftovers, status, write

INDEX = "Agent/Memory/_index.md"


def derive(vault: ObsidianVault | DeviceLocal, text: str = "generated\n", path: str = INDEX) -> None:
    vault.derive(vault.resolve(path), text.encode())


def excluded(root: Path) -> list[str]:
    """The lines that are ours in git's own list of what this clone leaves out."""
    file = root / git(root, "rev-parse", "--git-path", "info/exclude").strip()
    return [line for line in file.read_text().splitlines() if line.endswith("_index.md")]


def test_git_never_sees_a_derived_file(vault: ObsidianVault, root: Path) -> None:
    """`git status` is clean, `git add -A` does not take it, and no commit is made; one line, however often."""
    head = git(root, "rev-parse", "HEAD")
    for text in ("one\n", "two\n", "two\n"):
        derive(vault, text)
    git(root, "add", "-A")

    assert (root / INDEX).read_text() == "two\n"
    assert (status(root), git(root, "ls-files", INDEX), git(root, "rev-parse", "HEAD")) == ([], "", head)
    assert excluded(root) == [f"/{INDEX}"]
    assert leftovers(root) == []


def test_a_derived_file_that_is_deleted_is_made_anew(vault: ObsidianVault, root: Path) -> None:
    """Nothing is lost with it, and the line is there already."""
    derive(vault)
    (root / INDEX).unlink()
    derive(vault)

    assert (root / INDEX).read_text() == "generated\n"
    assert excluded(root) == [f"/{INDEX}"]


def test_a_derived_path_takes_no_note(vault: ObsidianVault, root: Path) -> None:
    """It is ignored like any other path that git leaves out: a write would have no history."""
    derive(vault)

    with pytest.raises(Refused) as refused:
        write(vault, INDEX, "a note\n")
    assert refused.value.reason == "ignored"


def test_a_vault_in_a_part_of_a_repository_names_the_path_from_its_root(tmp_path: Path) -> None:
    """Also where the folders have signs in their names that a pattern would take for something else."""
    folder = tmp_path / "all" / "No[t]es *?" / "#!é"
    folder.mkdir(parents=True)
    git(tmp_path / "all", "init", "--quiet")
    (folder / "a.md").write_text("a\n")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "first")
    vault = ObsidianVault(folder, author=AUTHOR)
    derive(vault, path="[x]\u2003! /_index.md")
    (folder / "_index.md").write_text("mine\n")

    assert excluded(folder) == ["/No\\[t]es \\*\\?/#!é/\\[x]\u2003! /_index.md"]
    assert status(folder) == ["?? _index.md"]


def test_a_vault_in_a_linked_worktree_keeps_it_out_too(vault: ObsidianVault, root: Path, tmp_path: Path) -> None:
    """There `.git` is a file, and the list belongs to the main folder."""
    linked = tmp_path / "linked"
    git(root, "worktree", "add", "--quiet", "-b", "mine", str(linked))
    derive(ObsidianVault(linked, author=AUTHOR))
    git(linked, "add", "-A")

    assert (linked / ".git").is_file()
    assert (excluded(linked), status(linked)) == ([f"/{INDEX}"], [])


@pytest.mark.parametrize(
    ("before", "gap"), [("", ""), ("# mine\n*.tmp", "\n"), ("*.tmp\n", "")], ids=["empty", "no line end", "line end"]
)
def test_a_persons_own_list_is_added_to(vault: ObsidianVault, root: Path, before: str, gap: str) -> None:
    """What it says stays, byte for byte."""
    file = root / ".git/info/exclude"
    file.write_text(before)
    derive(vault)

    assert file.read_text() == f"{before}{gap}{TEMPORARY_FILES}/{INDEX}\n"


def test_a_list_that_is_not_there_is_made(vault: ObsidianVault, root: Path) -> None:
    """A repository may be made from a template without one."""
    for file in (root / ".git/info").iterdir():
        file.unlink()
    (root / ".git/info").rmdir()
    derive(vault)

    assert excluded(root) == [f"/{INDEX}"]


@pytest.mark.parametrize("how", ["committed", "staged", "meant to be added"])
def test_what_git_holds_is_left_alone(vault: ObsidianVault, root: Path, how: str) -> None:
    """The error says how to give the path free; neither the file nor git's list is touched."""
    (root / "Agent/Memory").mkdir(parents=True)
    (root / INDEX).write_text("a person's words\n")
    git(root, "add", *(["--intent-to-add"] if how.startswith("meant") else []), INDEX)
    if how == "committed":
        git(root, "commit", "--quiet", "-m", "mine")

    with pytest.raises(Refused, match="git tracks this file") as refused:
        derive(vault)

    assert "git rm" in (refused.value.hint or "")
    assert (root / INDEX).read_text() == "a person's words\n"
    assert excluded(root) == []
    git(root, "rm", "--quiet", "--force", INDEX)
    derive(vault)
    assert (root / INDEX).read_text() == "generated\n"


def test_a_derived_file_that_a_person_forces_into_git_is_left_alone_from_then_on(
    vault: ObsidianVault, root: Path
) -> None:
    """The list says nothing of a file that git holds, so that git would commit it."""
    derive(vault)
    git(root, "add", "--force", INDEX)

    with pytest.raises(Refused, match="git tracks this file"):
        derive(vault, "other\n")
    assert (root / INDEX).read_text() == "generated\n"


def test_a_file_that_a_person_put_there_is_left_alone(vault: ObsidianVault, root: Path) -> None:
    """Nothing a person wrote is changed before git has it; the same words are no harm."""
    (root / "_index.md").write_text("a person's words\n")
    with pytest.raises(Refused, match="did not generate") as refused:
        derive(vault, path="_index.md")
    assert refused.value.hint
    assert (root / "_index.md").read_text() == "a person's words\n"

    derive(vault, "a person's words\n", path="_index.md")
    assert status(root) == []


def test_a_gitignore_that_takes_the_path_back_in_is_told(vault: ObsidianVault, root: Path) -> None:
    """It counts for more than this clone's list: the file would be committed, so it is not made."""
    (root / ".gitignore").write_text("*\n!*/\n!*.md\n")
    with pytest.raises(Refused, match=r"a \.gitignore makes git include this path"):
        derive(vault)
    assert not (root / INDEX).exists()

    (root / ".gitignore").write_text(f"*\n!*/\n!*.md\n{INDEX}\n")
    derive(vault)
    assert (root / INDEX).exists()
    assert status(root) == []


def test_a_derived_file_is_made_while_a_merge_is_under_way(vault: ObsidianVault, root: Path) -> None:
    """It is no part of it."""
    (root / ".git/MERGE_HEAD").write_text(git(root, "rev-parse", "HEAD"))
    derive(vault)

    assert (root / INDEX).read_text() == "generated\n"


def test_a_repository_inside_the_vault_gets_no_derived_file(vault: ObsidianVault, root: Path) -> None:
    """Its list is not ours to write."""
    (root / "inner").mkdir()
    git(root / "inner", "init", "--quiet")

    with pytest.raises(Refused, match="repository of its own"):
        derive(vault, path="inner/_index.md")
    assert not (root / "inner/_index.md").exists()


@pytest.mark.parametrize("under_git", [True, False])
def test_links_and_files_in_the_way_are_refused(
    vault: ObsidianVault, root: Path, tmp_path: Path, under_git: bool
) -> None:
    """As writes refuse them: what they lead to is not touched."""
    store = vault if under_git else DeviceLocal(root)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "_index.md").write_text("mine\n")
    at = store.resolve("linked/_index.md")
    os.symlink(outside, root / "linked")
    here = store.resolve("_index.md")
    os.symlink(outside / "_index.md", root / "_index.md")

    for each in (at, here):
        with pytest.raises(Refused) as refused:
            store.derive(each, b"generated\n")
        assert refused.value.reason == "path_escape"
    with pytest.raises(Refused, match=r"\.\."):
        store.resolve("../_index.md")
    with pytest.raises(Conflict):
        derive(store, path="note.md/_index.md")
    assert (outside / "_index.md").read_text() == "mine\n"


def test_a_failed_write_leaves_no_half_made_file(
    vault: ObsidianVault, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What stood there stands there still."""
    derive(vault)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("commonplace.vault.temporary_files.flush", full)
    with pytest.raises(Exception, match="No space left"):
        derive(vault, "other\n")

    assert (root / INDEX).read_text() == "generated\n"
    assert leftovers(root) == []
