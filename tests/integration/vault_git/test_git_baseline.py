"""The first commit of a vault: what it takes, what it leaves out for good, and that there is all of it or nothing."""

import os
from pathlib import Path

import pytest

from commonplace.errors import VaultUnavailable
from commonplace.screening.secrets import is_secret_file
from commonplace.vault.git import baseline
from commonplace.vault.git.baseline import Baseline, LeftOut, plan_baseline, prepared_repository, put_under_git
from commonplace.vault.git.location import identity
from commonplace.vault.git.run import Git
from tests.integration.vault_git.repositories import US, adopted, created, git, put, status, write


def plan(folder: Path) -> Baseline:
    return plan_baseline(folder, is_secret=is_secret_file)


@pytest.fixture
def garden(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Notes, and what should not be committed with them."""
    monkeypatch.setattr(baseline, "LARGE_FILE_BYTES", 1000)
    root = tmp_path / "garden"
    for path in ("a.md", "Pictures/tree.png", ".gitignore", ".obsidian/app.json", ".obsidian/x/y.json", ".DS_Store"):
        write(root, path)
    write(root, "keys/id_rsa")
    write(root, "deploy.sh", b"curl -H 'Authorization: Bearer ghp_9aTb3kLm0PqRs7UvWx2YzA4BcD6EfG8HiJ1k'\n")
    write(root, "talk.mp4", b"0" * 2000)
    write(root, "long.md", b"0" * 3000)
    adopted(root / "project")
    return root


def test_the_plan_says_what_is_taken_and_what_is_left_out_and_why(garden: Path) -> None:
    """Without a change in the folder. Notes are taken whatever their size."""
    before = sorted(garden.rglob("*"))
    planned = plan(garden)

    assert planned.files == (".gitignore", "Pictures/tree.png", "a.md", "long.md")
    assert (planned.notes, planned.size) == (2, 3015)
    assert {(each.path, each.reason, each.files) for each in planned.left_out} == {
        (".DS_Store", "hidden", 1),
        (".obsidian/", "hidden", 2),
        ("deploy.sh", "secret", 1),
        ("keys/id_rsa", "secret", 1),
        ("talk.mp4", "large", 1),
        ("project/", "repository", 1),
    }
    assert LeftOut("talk.mp4", "large", 1, 2000) in planned.left_out
    assert sorted(garden.rglob("*")) == before


def test_what_is_left_out_stays_out_of_later_commits(garden: Path) -> None:
    """Of ours, and of a program that adds everything; no file in the vault says so."""
    repository = created(garden)
    put(repository, garden, "b.md", b"new\n")
    git(garden, "add", "--all", "--", ":!project")
    git(garden, "commit", "--quiet", "--allow-empty", "--message=all")

    tracked = git(garden, "ls-files").split()
    assert tracked == [".gitignore", "Pictures/tree.png", "a.md", "b.md", "long.md"]
    assert (garden / ".gitignore").read_bytes() == b"text\n"


KEY = b"-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAA\n"


def test_a_key_deep_in_a_text_is_left_out_and_one_in_a_note_is_named(tmp_path: Path) -> None:
    """A note is taken whatever is in it; the plan says so."""
    write(tmp_path, "export.txt", b"a line of text\n" * 30_000 + KEY)
    write(tmp_path, "secrets/api.txt", b"x\n")
    write(tmp_path, "Server.md", b"The key:\n" + KEY)
    write(tmp_path, "Keys.md", b"The piano has 88 keys.\n")
    planned = plan(tmp_path)

    assert [(each.path, each.reason) for each in planned.left_out] == [
        ("export.txt", "secret"),
        ("secrets/api.txt", "secret"),
    ]
    assert (planned.files, planned.notes_with_keys) == (("Keys.md", "Server.md"), ("Server.md",))


def test_folders_that_a_program_fills_are_left_out(tmp_path: Path) -> None:
    """With the notes in them, and out of later commits too."""
    for path in ("a.md", "site/node_modules/x/README.md", "site/node_modules/x/y.js", "tool/__pycache__/x.pyc"):
        write(tmp_path, path)
    created(tmp_path)
    git(tmp_path, "add", "--all")

    assert git(tmp_path, "ls-files") == "a.md\n"
    assert "/site/node_modules/\n" in (tmp_path / ".git/info/exclude").read_text()


def test_an_unreadable_file_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Instead of a first commit that fails."""
    write(tmp_path, "a.md")
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # whoever runs the tests may read everything

    assert plan(tmp_path).left_out == (LeftOut("a.md", "unreadable", 1, 5),)


def test_a_repository_that_fails_halfway_leaves_nothing(garden: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither a `.git` nor a temporary folder."""
    planned, before = plan(garden), sorted(garden.rglob("*"))
    monkeypatch.setattr(baseline, "_commit", lambda git, author: git.run("no-such-command"))

    with pytest.raises(VaultUnavailable, match="no-such-command"), prepared_repository(garden, planned, author=US):
        pytest.fail("it was not prepared")
    assert sorted(garden.rglob("*")) == before


def test_what_a_killed_process_left_is_removed(garden: Path) -> None:
    """The next attempt succeeds, and the vault is clean."""
    write(garden, ".commonplace-0123456789abcdef.tmp/.git/HEAD")
    created(garden)

    assert sorted(path.name for path in garden.iterdir() if path.name.startswith(".commonplace")) == []
    assert status(garden) == "?? project/\n"


def test_a_file_that_disappears_before_the_commit_is_left_out(garden: Path) -> None:
    """The others are committed."""
    planned = plan(garden)
    (garden / "a.md").unlink()
    with prepared_repository(garden, planned, author=US) as publish:
        publish()

    assert git(garden, "ls-tree", "-r", "--name-only", "HEAD").split() == [".gitignore", "Pictures/tree.png", "long.md"]


def test_a_repository_that_exists_is_not_touched(tmp_path: Path) -> None:
    """Nothing is created."""
    adopted(tmp_path)
    head = git(tmp_path, "rev-parse", "HEAD")

    assert not put_under_git(tmp_path, author=US, is_secret=is_secret_file)
    assert git(tmp_path, "rev-parse", "HEAD") == head


def test_a_repository_has_the_same_identity_wherever_its_folder_is(tmp_path: Path) -> None:
    """Two vaults in one repository have different ones; a folder without a repository has none."""
    adopted(tmp_path / "one")
    write(tmp_path / "one", "inner/b.md")
    git(tmp_path / "one", "add", "inner")
    of_inner, of_all = identity(Git(tmp_path / "one/inner")), identity(Git(tmp_path / "one"))
    (tmp_path / "one").rename(tmp_path / "two")
    put(created(tmp_path / "two"), tmp_path / "two", "c.md", b"more\n")
    (tmp_path / "plain").mkdir()

    assert identity(Git(tmp_path / "two")) == of_all
    assert identity(Git(tmp_path / "two/inner")) == of_inner != of_all
    assert identity(Git(tmp_path / "plain")) == ""
