"""A commit of ours holds exactly our paths, by our author, on top of the branch."""

import os
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from commonplace.errors import VaultUnavailable
from commonplace.vault.git import commit as git_commit
from commonplace.vault.git.commit import NewCommit
from tests.integration.vault_git.repositories import US, adopted, git, opened, put, status, write

ODD_PATHS = [
    "with space.md",
    'quote"d.md',
    "apostrophe's.md",
    "Ünïcode/日本語 ノート.md",
    "-leading-dash.md",
    "--all",
    ":colon.md",
    ":(glob)*.md",
    "#hash.md",
    "[a-z]*.md",
    "trailing \u2003.md",
    "/".join(f"level {number}" for number in range(40)) + "/deep.md",
]


def test_a_commit_is_on_top_of_the_branch_and_the_tree_is_clean(tmp_path: Path) -> None:
    """The commit has the branch's tip as its only parent, holds the new bytes, and leaves nothing to commit."""
    folder = adopted(tmp_path)
    before = git(folder, "rev-parse", "HEAD")
    repository = opened(folder)

    commit = put(repository, folder, "Inbox/new.md", b"hello\n")

    assert repository.head() == commit
    assert git(folder, "rev-parse", "main", "main^") == f"{commit}\n{before}"
    assert git(folder, "show", f"{commit}:Inbox/new.md") == "hello\n"
    assert status(folder) == ""
    assert git(folder, "fsck", "--strict") == ""


@pytest.mark.parametrize("path", ODD_PATHS)
def test_any_path_can_be_written_and_removed(tmp_path: Path, path: str) -> None:
    """Spaces, quotes, other scripts, dashes, pathspec magic and depth mean nothing to git here."""
    folder = adopted(tmp_path)
    repository = opened(folder)

    commit = put(repository, folder, path, b"odd\n")

    assert repository.content_at(path, commit) == b"odd\n"
    assert (
        repository.tracked_blobs([path])[path].head
        == repository.tracked_blobs([path])[path].staged
        == repository.blob_id(path, b"odd\n")
    )
    assert [list(each.paths) for each in repository.revisions(path, ours=True, limit=None)] == [[path]]
    assert status(folder) == ""

    put(repository, folder, path, None)

    assert git(folder, "ls-tree", "-r", "-z", "--name-only", "HEAD") == "a.md\0"
    assert status(folder) == ""


def test_several_commits_are_made_in_order_or_not_at_all(tmp_path: Path) -> None:
    """A snapshot and the write on top of it come into the branch in one step."""
    folder = adopted(tmp_path)
    commits = [NewCommit(word, (), {"a.md": word.encode()}) for word in ("theirs", "ours")]

    ids = opened(folder).commit(commits)

    assert git(folder, "log", "--format=%H %s").splitlines()[:2] == [f"{ids[1]} ours", f"{ids[0]} theirs"]


def test_a_file_can_become_a_folder_and_back(tmp_path: Path) -> None:
    """Removals come first, and the removal of a file is not that of a folder with its name."""
    folder = adopted(tmp_path)
    repository = opened(folder)

    repository.commit([NewCommit("folder", (), {"a.md/b.md": b"b\n", "a.md": None})])
    repository.commit([NewCommit("nothing", (), {"a.md": None})])
    kept = git(folder, "ls-tree", "-r", "--name-only", "HEAD")
    repository.commit([NewCommit("file", (), {"a.md": b"a\n", "a.md/b.md": None})])

    assert kept == "a.md/b.md\n"
    assert git(folder, "ls-tree", "-r", "--name-only", "HEAD") == "a.md\n"


@pytest.mark.requirement("D-42")
def test_the_author_is_ours_whatever_is_configured_or_in_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pinned commit author: config drift cannot change the author or the committer."""
    folder = adopted(tmp_path)
    for role in ("user", "author", "committer"):
        git(folder, "config", f"{role}.name", "Drift")
        git(folder, "config", f"{role}.email", "drift@example.org")
    monkeypatch.setenv("GIT_AUTHOR_NAME", "Env")
    monkeypatch.setenv("GIT_COMMITTER_EMAIL", "env@example.org")

    put(opened(folder), folder, "a.md", b"two\n")

    who = f"{US.name} <{US.email}>"
    assert git(folder, "log", "-1", "--format=%an <%ae>|%cn <%ce>") == f"{who}|{who}\n"


def test_a_trailer_stays_on_its_line_and_the_message_keeps_its_words(tmp_path: Path) -> None:
    """A value with a line break cannot add a trailer of its own, and a message cannot end the commit."""
    folder = adopted(tmp_path)
    message = 'done\nfrom nothing\n\n# Täg "quoted"'
    trailers = (("Commonplace-Kind", "write"), ("Commonplace-Why", "one\nCommonplace-Actor: person"))
    repository = opened(folder)

    repository.commit([NewCommit(message, trailers, {"a.md": b"two\n"})])

    (revision, _) = repository.revisions("a.md", ours=False, limit=None)
    assert revision.message == message
    assert revision.trailers == {"Commonplace-Kind": "write", "Commonplace-Why": "one Commonplace-Actor: person"}


def test_an_executable_note_stays_executable(tmp_path: Path) -> None:
    """The mode in git is kept; a new file is executable when it is so on disk and git looks at modes."""
    folder = adopted(tmp_path)
    git(folder, "update-index", "--chmod=+x", "a.md")
    (folder / "a.md").chmod(0o755)
    git(folder, "commit", "--quiet", "--message=mode")
    write(folder, "new.md").chmod(0o755)
    repository = opened(folder)

    put(repository, folder, "a.md", b"two\n")
    put(repository, folder, "new.md", b"new\n")
    git(folder, "config", "core.fileMode", "false")
    write(folder, "other.md").chmod(0o755)
    put(opened(folder), folder, "other.md", b"other\n")

    modes = {line.split()[-1]: line.split()[0] for line in git(folder, "ls-tree", "HEAD").splitlines()}
    assert modes == {"a.md": "100755", "new.md": "100755", "other.md": "100644"}
    assert os.stat(folder / "a.md").st_mode & stat.S_IXUSR
    assert status(folder) == ""


def test_a_branch_that_moves_meanwhile_is_built_upon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another program's commit that comes while ours is made is kept: ours is made again on top of it."""
    folder = adopted(tmp_path)
    publish = git_commit.Draft.publish
    met: list[str] = []

    def meddling(draft: git_commit.Draft, published: git_commit.StillPublished | None) -> object:
        if not met:
            met.append(git(folder, "commit", "--quiet", "--allow-empty", "--message=between"))
        return publish(draft, published)

    monkeypatch.setattr(git_commit.Draft, "publish", meddling)

    opened(folder).commit([NewCommit("ours", (), {"a.md": b"two\n"})])

    assert git(folder, "log", "--format=%s").split() == ["ours", "between", "first"]
    assert met


def test_a_locked_branch_is_waited_for_and_then_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A lock on the branch that stays is not removed: the repository is busy, and nothing was committed."""
    folder = adopted(tmp_path)
    lock = write(folder, ".git/refs/heads/main.lock", b"")
    monkeypatch.setattr("commonplace.vault.git.commit.BRANCH_WAIT_S", 0.1)

    with pytest.raises(VaultUnavailable, match="refs/heads/main") as caught:
        opened(folder).commit([NewCommit("ours", (), {"a.md": b"two\n"})])

    assert caught.value.reason == "repository_busy"
    assert lock.exists()
    assert git(folder, "log", "--format=%s") == "first\n"


def test_a_branch_whose_commit_is_missing_is_an_error(tmp_path: Path) -> None:
    """The error names the object, and nothing of ours is left."""
    folder = adopted(tmp_path)
    (tip,) = git(folder, "rev-parse", "HEAD").split()
    (folder / f".git/objects/{tip[:2]}/{tip[2:]}").unlink()

    with pytest.raises(VaultUnavailable, match=f"cannot read the commit {tip}"):
        opened(folder).commit([NewCommit("ours", (), {"a.md": b"two\n"})])

    assert list((folder / ".git/commonplace").iterdir()) == []


def test_threads_that_commit_at_once_lose_nothing(tmp_path: Path) -> None:
    """Four committers on one repository object: every commit is in the branch."""
    folder = adopted(tmp_path)
    repository = opened(folder)

    def many(number: int) -> list[str]:
        return [put(repository, folder, f"t{number}/{each}.md", b"x\n") for each in range(8)]

    with ThreadPoolExecutor(4) as pool:
        made = [commit for commits in pool.map(many, range(4)) for commit in commits]

    assert set(made) <= set(git(folder, "rev-list", "HEAD").split())
    assert len(git(folder, "ls-tree", "-r", "--name-only", "HEAD").split()) == 4 * 8 + 1
    assert status(folder) == ""


def test_processes_that_commit_beside_a_program_that_adds_all_lose_nothing(tmp_path: Path) -> None:
    """Obsidian Git runs `git add -A` and `git commit` in a loop: no error on our side, every note is in the branch."""
    folder = adopted(tmp_path / "vault")
    code = (
        "import sys; from pathlib import Path; from tests.integration.vault_git.repositories import opened, put\n"
        "folder, name = Path(sys.argv[1]), sys.argv[2]; repository = opened(folder)\n"
        "for each in range(10): put(repository, folder, f'{name}/{each}.md', name.encode())\n"
    )
    command = [sys.executable, "-c", code, str(folder)]
    root = Path(__file__).parents[3]
    running = [subprocess.Popen([*command, name], cwd=root, stderr=subprocess.PIPE) for name in ("p", "q", "r")]
    while any(each.poll() is None for each in running):
        git(folder, "add", "--all", check=False)
        git(folder, "commit", "--quiet", "--message=auto", check=False)
    complaints = [each.communicate()[1] for each in running]
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message=last", check=False)

    assert [(each.returncode, words) for each, words in zip(running, complaints, strict=True)] == [(0, b"")] * 3
    assert len(git(folder, "ls-tree", "-r", "--name-only", "HEAD").split()) == 3 * 10 + 1
    assert len(git(folder, "log", "--format=%s", f"--author={US.name}").splitlines()) == 3 * 10
    assert status(folder) == ""
