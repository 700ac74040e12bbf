"""A vault without a repository gets one, with a baseline of what is there."""

import os
from pathlib import Path

import pytest

from commonplace.screening.secrets import is_secret_file
from commonplace.vault.git.baseline import put_under_git
from commonplace.vault.git.commit import Author
from tests.integration.vault_git.repositories import adopted, created, git, put, script, status, write


@pytest.mark.requirement("D-40")
def test_a_repository_is_created_on_first_use_and_then_kept(tmp_path: Path) -> None:
    """One repository at the root of the vault, made when it is missing; the second time it is only opened."""
    write(tmp_path, "Inbox/a.md", b"a\r\n")
    write(tmp_path, ".gitignore", b"cache/\n")
    write(tmp_path, "cache/x.md")
    write(tmp_path, ".commonplace-0123456789abcdef.tmp")

    first = created(tmp_path).head()
    second = created(tmp_path).head()

    assert first == second == git(tmp_path, "rev-parse", "main").strip()
    assert git(tmp_path, "ls-tree", "-r", "--name-only", "HEAD").split() == [".gitignore", "Inbox/a.md"]
    assert git(tmp_path, "log", "--format=%an|%cn|%(trailers:key=Commonplace-Kind)").strip() == (
        "Commonplace|Commonplace|Commonplace-Kind: baseline"
    )
    assert status(tmp_path) == ""


@pytest.mark.requirement("D-41")
def test_the_identity_is_set_in_the_repository_only(tmp_path: Path) -> None:
    """`user.name` and `user.email` are set in the repository's configuration on init, never `--global`."""
    put_under_git(tmp_path, author=Author("Ann Other", "ann@example.org"), is_secret=is_secret_file)

    assert git(tmp_path, "config", "--local", "user.name") == "Ann Other\n"
    assert git(tmp_path, "config", "--local", "user.email") == "ann@example.org\n"
    assert git(tmp_path, "config", "--global", "--list", check=False) == ""


@pytest.mark.requirement("D-42")
def test_the_baseline_is_ours_whatever_is_configured_for_the_user(tmp_path: Path) -> None:
    """Pinned commit author: a person's global configuration does not sign the baseline, nor run in it."""
    vault = write(tmp_path, "vault/a.md").parent
    trace = script(tmp_path / "trace", f"touch {tmp_path}/ran; exit 1")
    script(tmp_path / "template/hooks/pre-commit", str(trace))
    for name, value in {
        "author.name": "Global",
        "committer.email": "global@example.org",
        "commit.gpgsign": "true",
        "gpg.program": str(trace),
        "core.fsmonitor": str(trace),
        "core.autocrlf": "true",
        "init.templateDir": str(tmp_path / "template"),
        "init.defaultBranch": "trunk",
        "commit.template": str(tmp_path / "none"),
    }.items():
        git(tmp_path, "config", "--global", name, value)

    created(vault)

    assert git(vault, "log", "--format=%an <%ae> %cn <%ce> %D", "trunk").strip() == (
        "Commonplace <commonplace@localhost> Commonplace <commonplace@localhost> HEAD -> trunk"
    )
    assert not (tmp_path / "ran").exists()


def test_notes_of_our_repository_are_kept_byte_for_byte(tmp_path: Path) -> None:
    """Line endings are nobody's business but the person's, even when git is told otherwise later."""
    repository = created(tmp_path)
    git(tmp_path, "config", "core.autocrlf", "true")

    commit = put(repository, tmp_path, "a.md", b"one\r\ntwo\n")

    assert repository.content_at("a.md", commit) == b"one\r\ntwo\n"
    assert (
        repository.blob_id("a.md", b"\r\n")
        == git(tmp_path, "hash-object", "--no-filters", "--stdin", stdin="\r\n").strip()
    )
    assert status(tmp_path) == ""


def test_an_empty_vault_gets_a_baseline_too(tmp_path: Path) -> None:
    """There is always a commit to go back to."""
    repository = created(tmp_path)

    assert repository.head()
    assert git(tmp_path, "ls-tree", "HEAD") == ""


def test_links_modes_and_nested_repositories_are_taken_as_git_takes_them(tmp_path: Path) -> None:
    """A link is committed as a link, a program as executable, another repository not at all."""
    write(tmp_path, "run.sh").chmod(0o755)
    (tmp_path / "link.md").symlink_to("run.sh")
    write(tmp_path, "crlf.txt", b"x\r\n")
    adopted(tmp_path / "inner")

    created(tmp_path)

    modes = {line.split()[-1]: line.split()[0] for line in git(tmp_path, "ls-tree", "HEAD").splitlines()}
    assert modes == {"run.sh": "100755", "link.md": "120000", "crlf.txt": "100644"}
    assert status(tmp_path) == "?? inner/\n"


def test_filtered_files_are_left_out_of_the_baseline(tmp_path: Path) -> None:
    """A vault that came with filter attributes is committed without what the filter wants to see first."""
    write(tmp_path, ".gitattributes", b"*.png filter=x\n")
    write(tmp_path, "p.png")
    git(tmp_path, "config", "--global", "filter.x.clean", f"touch {tmp_path}/ran; cat")

    created(tmp_path)

    assert git(tmp_path, "ls-tree", "--name-only", "HEAD").split() == [".gitattributes"]
    assert not (tmp_path / "ran").exists()


def test_a_repository_above_that_tracks_nothing_here_is_not_adopted(tmp_path: Path) -> None:
    """A vault in a home folder that is under git for other reasons gets its own repository."""
    adopted(tmp_path)
    vault = write(tmp_path, "vault/a.md").parent
    tracked = write(tmp_path, "tracked/a.md").parent
    git(tmp_path, "add", "tracked")

    created(vault)
    created(tracked)

    assert (vault / ".git").is_dir()
    assert os.listdir(tracked) == ["a.md"]
