"""Commits and index entries that we write are those that git would write, in every kind of repository."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from commonplace.errors import Conflict, VaultUnavailable
from commonplace.vault.git.commit import NewCommit
from commonplace.vault.git.index_file import invalidated, parse_index
from commonplace.vault.git.objects import TreeEntry
from tests.integration.vault_git.repositories import adopted, git, opened, put, status, write

FORMATS = ("sha1", "sha256")


def _entries(folder: Path) -> str:
    return git(folder, "ls-files", "--stage")


def _use(folder: Path) -> None:
    """Write, add, move into folders and remove: git finds nothing wrong and nothing changed."""
    repository = opened(folder)
    put(repository, folder, "a.md", b"two\n")
    for path in ("A.md", "b/c/d.md", "b/c.md", "b-c.md", "b/c/" + "x" * 200 + ".md", "Caf\u00e9/\U0001f600.md"):
        put(repository, folder, path, path.encode())
    put(repository, folder, "b/c/d.md", None)
    put(repository, folder, "a.md", b"three\n")

    assert git(folder, "fsck", "--strict", "--no-dangling") == ""
    assert status(folder) == ""
    assert _entries(folder) == _read_anew(folder)


def _read_anew(folder: Path) -> str:
    """The entries of an index that git makes from HEAD."""
    other = folder / ".git/other-index"
    environment = os.environ | {"GIT_INDEX_FILE": str(other)}
    subprocess.run(["git", "read-tree", "HEAD"], cwd=folder, env=environment, check=True)
    listed = subprocess.run(["git", "ls-files", "--stage"], cwd=folder, env=environment, capture_output=True, text=True)
    other.unlink()
    return listed.stdout


@pytest.mark.parametrize("object_format", FORMATS)
def test_what_we_write_is_what_git_would_write(tmp_path: Path, object_format: str) -> None:
    """Trees in git's order, entries in git's order, and the cached tree of the index without what is stale."""
    folder = adopted(tmp_path, f"--object-format={object_format}")
    _use(folder)
    git(folder, "commit", "--quiet", "--allow-empty", "--message=fills the cached tree")
    put(opened(folder), folder, "b/c/e.md", b"e\n")
    git(folder, "commit", "--quiet", "--allow-empty", "--message=from the index")

    assert git(folder, "ls-tree", "-r", "--name-only", "HEAD", "b/c/e.md") == "b/c/e.md\n"
    assert status(folder) == ""


@pytest.mark.parametrize(
    "settings",
    [
        {"index.version": "4"},
        {"core.splitIndex": "true"},
        {"core.untrackedCache": "true"},
        {"index.threads": "2", "index.recordEndOfIndexEntries": "true"},
    ],
    ids=["version 4", "split", "untracked cache", "end of entries"],
)
def test_an_index_of_another_kind_is_changed_by_git(tmp_path: Path, settings: dict[str, str]) -> None:
    """It stays of its kind, and has our entries."""
    folder = adopted(tmp_path)
    for name, value in settings.items():
        git(folder, "config", name, value)
    git(folder, "update-index", "--force-write-index", "--refresh", check=False)
    git(folder, "status")
    _use(folder)

    assert list((folder / ".git/commonplace").glob("*.index")) == []


@pytest.mark.parametrize("object_format", FORMATS)
def test_packed_branches_and_objects_are_read(tmp_path: Path, object_format: str) -> None:
    """A branch of several parts that is only in packed-refs, and trees that are only in a pack."""
    folder = adopted(tmp_path, f"--object-format={object_format}")
    git(folder, "switch", "--quiet", "--create", "deep/er/branch")
    git(folder, "gc", "--quiet", "--prune=now")
    git(folder, "pack-refs", "--all")
    shutil.rmtree(folder / ".git/refs/heads/deep")

    _use(folder)

    assert git(folder, "log", "--format=%s", "deep/er/branch").splitlines()[-1] == "first"


def test_a_branch_without_a_commit_and_a_symbolic_one_are_moved_by_git(tmp_path: Path) -> None:
    """The first commit of a repository, and a branch that is another name of one."""
    new = tmp_path / "new"
    new.mkdir()
    git(new, "init", "--quiet", "--initial-branch=main")
    put(opened(new), new, "a.md", b"one\n")
    _use(new)
    folder = adopted(tmp_path / "other")
    git(folder, "symbolic-ref", "refs/heads/alias", "refs/heads/main")
    git(folder, "symbolic-ref", "HEAD", "refs/heads/alias")
    _use(folder)

    assert git(folder, "rev-parse", "main") == git(folder, "rev-parse", "alias")
    assert git(folder, "symbolic-ref", "refs/heads/alias") == "refs/heads/main\n"


def test_a_linked_working_tree_has_its_own_index_and_branch(tmp_path: Path) -> None:
    """The main one is as it was."""
    folder = adopted(tmp_path / "main")
    linked = tmp_path / "linked"
    git(folder, "worktree", "add", "--quiet", "-b", "mine", str(linked))
    before = _entries(folder), git(folder, "rev-parse", "main")
    put(opened(linked), linked, "a.md", b"two\n")

    assert (_entries(folder), git(folder, "rev-parse", "main")) == before
    assert (status(linked), git(linked, "log", "-1", "--format=%an")) == ("", "Commonplace\n")


def test_many_files_become_one_pack(tmp_path: Path) -> None:
    """A bulk write does not leave a thousand object files, and git reads the pack."""
    folder = adopted(tmp_path)
    files = {f"many/{number % 7}/{number}.md": b"%d\n" % number * (number % 50) for number in range(300)}
    for path, content in files.items():
        write(folder, path, content)
    opened(folder).commit([NewCommit("many", (), files)])

    assert len(list(folder.glob(".git/objects/pack/*.pack"))) == 1
    assert git(folder, "fsck", "--strict", "--no-dangling") == ""
    assert status(folder) == ""
    assert git(folder, "show", "HEAD:many/4/123.md") == "123\n" * 23


def test_logs_of_the_branch_tell_of_our_commits(tmp_path: Path) -> None:
    """`git reset` to an earlier state works; where a person keeps no logs, none is begun."""
    folder = adopted(tmp_path / "one")
    put(opened(folder), folder, "a.md", b"two\n")
    without = adopted(tmp_path / "two")
    git(without, "config", "core.logAllRefUpdates", "false")
    for log in ("HEAD", "refs/heads/main"):
        (without / ".git/logs" / log).unlink()
    put(opened(without), without, "a.md", b"two\n")

    assert git(folder, "rev-parse", "main@{1}") == git(folder, "rev-parse", "HEAD~1")
    assert git(folder, "log", "-1", "--walk-reflogs", "--format=%gs").strip() == "commit (commonplace)"
    assert not (without / ".git/logs/HEAD").exists()


def test_an_edit_that_git_has_not_seen_yet_is_still_seen(tmp_path: Path) -> None:
    """Git compares the content of a file whose time is that of the index: our index has the time of the one before."""
    folder = adopted(tmp_path)
    for number in range(20):
        write(folder, "b.md", b"one %02d\n" % number)
        git(folder, "add", "b.md")
        write(folder, "b.md", b"two %02d\n" % number)  # of the same length, in the same moment
        put(opened(folder), folder, "a.md", os.urandom(8).hex().encode())

        assert status(folder) in ("AM b.md\n", "MM b.md\n")
        git(folder, "commit", "--quiet", "--message=b", "--all")


def test_a_version_that_someone_else_committed_is_not_undone(tmp_path: Path) -> None:
    """The branch has another version than the one that our change is based on."""
    folder = adopted(tmp_path)
    repository = opened(folder)
    blob = repository.tracked_blobs(["a.md"])["a.md"].head
    write(folder, "a.md", b"theirs\n")
    git(folder, "commit", "--quiet", "--all", "--message=theirs")

    with pytest.raises(Conflict, match=r"another version of a\.md"):
        repository.commit([NewCommit("ours", (), {"a.md": b"ours\n"})], allowed={"a.md": frozenset({blob})})


def test_a_damaged_index_is_said_and_not_written_anew(tmp_path: Path) -> None:
    """With a new checksum nobody would ever notice."""
    folder = adopted(tmp_path)
    file = folder / ".git/index"
    data = bytearray(file.read_bytes())
    data[60] ^= 1
    file.write_bytes(data)

    with pytest.raises(VaultUnavailable, match="index of the vault is damaged") as error:
        put(opened(folder), folder, "a.md", b"two\n")

    assert "git reset" in (error.value.hint or "")
    assert file.read_bytes() == bytes(data)


def test_the_cached_tree_loses_only_what_is_stale() -> None:
    """The root and the folders above the path; their neighbours stay."""
    one, two, three = (bytes([number]) * 20 for number in range(3))
    body = b"\x003 2\n" + one + b"a\x002 1\n" + two + b"b\x001 0\n" + three + b"c\x001 0\n" + one

    assert invalidated(body, {b"a/x.md": None}, id_bytes=20) == (
        b"\x00-1 2\na\x00-1 1\nb\x001 0\n" + three + b"c\x001 0\n" + one
    )
    assert invalidated(body, {b"a/b/x.md": None}, id_bytes=20) == b"\x00-1 2\na\x00-1 1\nb\x00-1 0\nc\x001 0\n" + one


def test_an_index_with_a_file_and_a_folder_of_one_name_is_left_to_git() -> None:
    """As is one that cannot be read."""
    empty = parse_index(b"", "sha1")
    assert empty
    one = empty.with_entries({b"a": TreeEntry("100644", "1" * 40)})
    assert one
    again = parse_index(one.data, "sha1")

    assert again == one
    assert one.with_entries({b"a/b": TreeEntry("100644", "1" * 40)}) is None
    assert one.with_entries({b"a/b": TreeEntry("100644", "1" * 40), b"a": None})
    assert parse_index(b"DIRC\0\0\0\2\0\0\0\5torn", "sha1") is None
