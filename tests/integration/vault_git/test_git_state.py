"""During a person's merge or rebase, writing waits or is refused with a hint how to continue."""

import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from commonplace.errors import VaultUnavailable
from tests.integration.vault_git.repositories import adopted, git, opened, put, script, status, write

CONFLICTING = {
    "merge": (("merge", "other"), "a merge is in progress", "git merge --abort"),
    "rebase": (("rebase", "other"), "a rebase is in progress", "git rebase --abort"),
    "rebase by patches": (("rebase", "--apply", "other"), "a rebase is in progress", "git rebase --abort"),
    "cherry-pick": (("cherry-pick", "other"), "a cherry-pick is in progress", "git cherry-pick --abort"),
    "revert": (("revert", "--no-edit", "HEAD~1"), "a revert is in progress", "git revert --abort"),
    "bisect": (("bisect", "start"), "a bisect is in progress", "git bisect reset"),
}


def forked(folder: Path) -> Path:
    """Two branches that changed the same line."""
    adopted(folder)
    git(folder, "switch", "--quiet", "--create", "other")
    for branch, words in (("other", [b"theirs\n"]), ("main", [b"ours\n", b"ours again\n"])):
        git(folder, "switch", "--quiet", branch)
        for content in words:
            write(folder, "a.md", content)
            git(folder, "commit", "--quiet", "--all", f"--message={content.decode().strip()}")
    return folder


@pytest.mark.parametrize("case", CONFLICTING)
def test_an_operation_under_way_is_named_and_refused(tmp_path: Path, case: str) -> None:
    """A merge, rebase, cherry-pick, revert or bisect is not committed into; reading works meanwhile."""
    command, words, way_out = CONFLICTING[case]
    folder = forked(tmp_path)
    repository = opened(folder)
    repository.refuse_if_busy()
    git(folder, *command, check=False)

    with pytest.raises(VaultUnavailable, match=words) as caught:
        repository.refuse_if_busy()

    assert caught.value.reason == "repository_busy"
    assert way_out in (caught.value.hint or "")
    assert repository.tracked_blobs(["a.md"])["a.md"].head
    git(folder, *way_out.split()[1:])
    opened(folder).refuse_if_busy()


def test_mailed_patches_under_way_are_named_and_refused(tmp_path: Path) -> None:
    """`git am` that stopped at a conflict is not committed into."""
    folder = forked(tmp_path)
    patch = git(folder, "format-patch", "--stdout", "main~2..other")
    git(folder, "am", "--quiet", stdin=patch, check=False)

    with pytest.raises(VaultUnavailable, match=r"mailed patches \(am\) is in progress"):
        opened(folder).refuse_if_busy()


def test_a_detached_head_is_refused(tmp_path: Path) -> None:
    """A commit that no branch holds would be lost at the next checkout; history can still be read."""
    folder = adopted(tmp_path)
    git(folder, "checkout", "--quiet", "--detach")
    repository = opened(folder)

    with pytest.raises(VaultUnavailable, match="detached HEAD") as caught:
        repository.refuse_if_busy()

    assert caught.value.reason == "repository_busy"
    assert "git switch" in (caught.value.hint or "")
    assert len(repository.revisions(None, ours=False, limit=None)) == 1


def test_a_lock_on_the_index_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another program's lock is held for a while: our entry gets in when it is gone."""
    folder = adopted(tmp_path)
    lock = write(folder, ".git/index.lock", b"")
    held = [True, True, False]

    def wait(seconds: float) -> None:
        if not held.pop(0):
            lock.unlink()

    monkeypatch.setattr("commonplace.vault.git.commit.time", SimpleNamespace(**{**vars(time), "sleep": wait}))

    put(opened(folder), folder, "a.md", b"two\n")

    assert held == []
    assert status(folder) == ""


def test_a_lock_on_the_index_that_stays_is_named_and_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After the deadline the repository is busy; the lock is still there, and so is the index as it was."""
    folder = adopted(tmp_path)
    lock = write(folder, ".git/index.lock", b"theirs")
    before = (folder / ".git/index").read_bytes()
    monkeypatch.setattr("commonplace.vault.git.commit.INDEX_WAIT_S", 0.1)

    with pytest.raises(VaultUnavailable, match="has held the index") as caught:
        put(opened(folder), folder, "a.md", b"two\n")

    assert (caught.value.reason, caught.value.path) == ("repository_busy", str(lock))
    assert lock.read_bytes() == b"theirs"
    assert (folder / ".git/index").read_bytes() == before


def test_git_that_does_not_come_back_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A call that hangs is stopped after its limit, and says so."""
    folder = adopted(tmp_path)
    repository = opened(folder)
    assert repository._git.try_run("version").ok  # the configuration is read before the script is git
    script(tmp_path / "bin/git", 'test "$1" = version && { echo git version 2.40.0; exit; }\nexec sleep 60')
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")

    with pytest.raises(VaultUnavailable, match=r"git version did not finish within 0\.2 seconds"):
        repository._git.try_run("version", timeout=0.2)
