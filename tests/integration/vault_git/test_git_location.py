"""Commits work wherever the vault is in a repository, and in every kind of repository."""

import os
from pathlib import Path

import pytest

from commonplace.errors import VaultUnavailable
from commonplace.vault.git.commit import NewCommit
from tests.integration.vault_git.repositories import adopted, created, git, opened, put, status, write


def test_a_vault_in_a_larger_repository_keeps_to_its_folder(tmp_path: Path) -> None:
    """Paths are the vault's own, commits that touch only other folders are not its history."""
    top = adopted(tmp_path)
    folder = write(top, "docs/my vault/note.md", b"old\n").parent
    git(top, "add", "--all")
    git(top, "commit", "--quiet", "--message=docs")
    write(top, "a.md", b"staged\n")
    git(top, "add", "a.md")
    repository = created(folder)

    commit = put(repository, folder, "note.md", b"new\n")
    put(repository, folder, "Inbox/x.md", b"x\n")
    put(repository, folder, "Inbox/x.md", None)

    assert git(top, "show", "--name-only", "--format=", commit) == "docs/my vault/note.md\n"
    assert [dict(each.paths) for each in repository.revisions(None, ours=False, limit=None)] == [
        {"Inbox/x.md": "removed"},
        {"Inbox/x.md": "added"},
        {"note.md": "changed"},
        {"note.md": "added"},
    ]
    assert repository.content_at("note.md", commit) == b"new\n"
    assert repository.held_by("note.md") == (2, ())
    assert status(top) == "M  a.md\n"


def test_a_linked_worktree_has_its_own_branch_and_index(tmp_path: Path) -> None:
    """A vault in a linked worktree is committed to that worktree's branch; the main one does not notice."""
    main = adopted(tmp_path / "main")
    git(main, "worktree", "add", "--quiet", "-b", "notes/mine", "../linked")
    before = git(main, "rev-parse", "main"), (main / ".git/index").read_bytes()
    folder = tmp_path / "linked"

    commit = put(created(folder), folder, "a.md", b"two\n")

    assert git(folder, "rev-parse", "notes/mine").strip() == commit
    assert (git(main, "rev-parse", "main"), (main / ".git/index").read_bytes()) == before
    assert status(folder) == status(main) == ""


def test_a_submodule_can_be_a_vault(tmp_path: Path) -> None:
    """The submodule gets the commit; the repository around it only sees that it moved."""
    outer, inner = adopted(tmp_path / "outer"), adopted(tmp_path / "inner")
    git(outer, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner), "vault")
    git(outer, "commit", "--quiet", "--message=submodule")
    folder = outer / "vault"

    commit = put(created(folder), folder, "a.md", b"two\n")

    assert git(folder, "rev-parse", "main").strip() == commit
    assert status(folder) == ""
    assert status(outer) == " M vault\n"


@pytest.mark.parametrize("object_format", ["sha1", "sha256"])
def test_both_object_formats_work(tmp_path: Path, object_format: str) -> None:
    """Ids are computed as the repository computes them."""
    folder = adopted(tmp_path, f"--object-format={object_format}")
    repository = opened(folder)

    put(repository, folder, "b.md", b"b\n")
    put(repository, folder, "a.md", None)

    assert repository.blob_id("b.md", b"b\n") == git(folder, "rev-parse", "HEAD:b.md").strip()
    assert status(folder) == ""


def test_an_unborn_branch_gets_its_first_commit(tmp_path: Path) -> None:
    """A repository without a commit is fine: ours is the first, and what was staged stays staged."""
    git(tmp_path, "init", "--quiet", "--initial-branch=main")
    write(tmp_path, "staged.md")
    git(tmp_path, "add", "staged.md")
    repository = created(tmp_path)

    assert repository.head() is None
    assert repository.revisions(None, ours=False, limit=None) == ()
    assert repository.find_mutation("0" * 32) is None
    assert repository.tracked_blobs(["a.md"])["a.md"].head is None

    commit = put(repository, tmp_path, "a.md", b"one\n")

    assert git(tmp_path, "rev-list", "main").split() == [commit]
    assert status(tmp_path) == "A  staged.md\n"


def test_a_packed_branch_with_slashes_is_found(tmp_path: Path) -> None:
    """A branch need not be a file of its own."""
    folder = adopted(tmp_path)
    git(folder, "switch", "--quiet", "--create", "ada/notes/2026")
    git(folder, "pack-refs", "--all", "--prune")

    commit = put(opened(folder), folder, "a.md", b"two\n")

    assert git(folder, "log", "--format=%H", "ada/notes/2026").split()[0] == commit
    assert git(folder, "log", "--format=%s", "ada/notes/2026").splitlines()[1:] == ["first"]


def test_a_head_that_is_a_link_is_understood(tmp_path: Path) -> None:
    """Very old repositories have HEAD as a symbolic link."""
    folder = adopted(tmp_path)
    (folder / ".git/HEAD").unlink()
    (folder / ".git/HEAD").symlink_to("refs/heads/main")

    commit = put(opened(folder), folder, "a.md", b"two\n")

    assert git(folder, "rev-parse", "main").strip() == commit


def test_a_vault_reached_by_a_link_is_the_same_vault(tmp_path: Path) -> None:
    """A symbolic link to the vault, or to a folder above it, changes nothing."""
    top = adopted(tmp_path / "real")
    write(top, "sub/n.md")
    (tmp_path / "link").symlink_to(top / "sub")

    put(opened(tmp_path / "link"), top / "sub", "n.md", b"new\n")

    assert git(top, "show", "HEAD:sub/n.md") == "new\n"


def test_a_folder_without_a_repository_is_refused_with_the_way_out(tmp_path: Path) -> None:
    """The hint names the command that makes one."""
    with pytest.raises(VaultUnavailable, match="no git repository covers") as caught:
        opened(tmp_path)

    assert "commonplace init" in (caught.value.hint or "")


@pytest.mark.parametrize("at", ["bare.git", "vault/.git", "vault/.git/objects"])
def test_a_repository_without_a_working_tree_here_is_refused(tmp_path: Path, at: str) -> None:
    """A bare repository and git's own folder are no vaults, and none is made in them."""
    adopted(tmp_path / "vault")
    git(tmp_path, "init", "--quiet", "--bare", "bare.git")
    before = sorted(os.listdir(tmp_path / at))

    for way in (opened, created):
        with pytest.raises(VaultUnavailable, match="no working tree"):
            way(tmp_path / at)

    assert sorted(os.listdir(tmp_path / at)) == before


def test_a_working_tree_that_is_configured_elsewhere_is_refused(tmp_path: Path) -> None:
    """A repository whose core.worktree points away does not cover the vault, and nothing is written there."""
    folder = adopted(tmp_path / "vault")
    (tmp_path / "other").mkdir()
    git(folder, "config", "core.worktree", str(tmp_path / "other"))

    with pytest.raises(VaultUnavailable, match="no working tree"):
        opened(folder)


def test_git_that_is_not_installed_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without git on the PATH the hint says to install it; a vault that went away is another matter."""
    folder = adopted(tmp_path / "vault")
    with pytest.raises(VaultUnavailable, match="no such folder"):
        opened(tmp_path / "none")
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(VaultUnavailable, match="git is not installed") as caught:
        opened(folder)

    assert "Install git" in (caught.value.hint or "")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder to another user")
def test_a_repository_of_another_user_is_refused_with_gits_own_hint(tmp_path: Path) -> None:
    """Git does not trust a repository that someone else could have prepared; neither do we."""
    folder = adopted(tmp_path / "vault")
    for each in (folder, folder / ".git"):
        os.chown(each, 65534, 65534)

    for way in (opened, created):
        with pytest.raises(VaultUnavailable, match="belongs to another user") as caught:
            way(folder)

        assert f"git config --global --add safe.directory {folder}" in (caught.value.hint or "")


def test_a_read_only_repository_is_an_error_in_gits_words(tmp_path: Path) -> None:
    """What git cannot write is said, and nothing waits for it."""
    folder = adopted(tmp_path)
    objects = folder / ".git/objects"
    objects.rename(folder / ".git/away")
    objects.write_text("no folder")

    with pytest.raises(VaultUnavailable, match="damaged: it has no objects"):
        opened(folder)

    objects.unlink()
    (folder / ".git/away").rename(objects)
    repository = opened(folder)
    blob = repository.blob_id("a.md", b"two\n")
    (objects / blob[:2]).write_text("no folder")
    with pytest.raises(VaultUnavailable, match=f"could not write {objects / blob[:2]}"):
        repository.commit([NewCommit("x", (), {"a.md": b"two\n"})])

    assert git(folder, "log", "--format=%s") == "first\n"
