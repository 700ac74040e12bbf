"""The vault at a point in time: the commit at that time, and the files of a commit."""

import os
import subprocess
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from commonplace.errors import UsageError, VaultUnavailable
from commonplace.vault.git.repository import Repository
from commonplace.vault.obsidian import ObsidianVault
from tests.integration.vault_git.repositories import PERSON, US, adopted, git, opened, write

START = datetime(2024, 3, 1, 12, 0, 0, tzinfo=UTC)


def commit(folder: Path, message: str, *, minutes: float, paths: str = ".") -> str:
    """Commit all that is there, that many minutes after the start."""
    when = f"@{int((START + timedelta(minutes=minutes)).timestamp())} +0000"
    git(folder, "add", "--all", paths)
    dated = os.environ | PERSON | {"GIT_COMMITTER_DATE": when, "GIT_AUTHOR_DATE": "@1000000000 +0000"}
    subprocess.run(["git", "commit", "--quiet", "--allow-empty", "-m", message], cwd=folder, env=dated, check=True)
    return head(folder)


def head(folder: Path) -> str:
    return git(folder, "rev-parse", "HEAD").strip()


def new(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "--quiet", "--initial-branch=main")
    return folder


def after(minutes: float) -> datetime:
    return START + timedelta(minutes=minutes)


def test_a_moment_has_the_newest_commit_until_then(tmp_path: Path) -> None:
    """The very second of a commit counts as after it, in any zone; the author's time counts for nothing."""
    folder = new(tmp_path)
    first, second = commit(folder, "first", minutes=0), commit(folder, "second", minutes=10)
    repository = opened(folder)
    tokyo = timezone(timedelta(hours=9))

    assert repository.commit_at(START - timedelta(seconds=1)) is None
    assert repository.commit_at(START) == first
    assert repository.commit_at(after(10) - timedelta(microseconds=1)) == first
    assert repository.commit_at(after(10).astimezone(tokyo)) == second
    assert repository.commit_at(after(999)) == second
    assert repository.commit_at(datetime(1912, 6, 23, tzinfo=UTC)) is None


def test_of_commits_in_one_second_the_last_counts(tmp_path: Path) -> None:
    """Commits of ours are often that close."""
    folder = new(tmp_path)
    *_, last = [commit(folder, f"number {each}", minutes=0) for each in range(3)]

    assert opened(folder).commit_at(START) == last


def test_what_was_merged_in_counts_from_its_merge_on(tmp_path: Path) -> None:
    """A branch that was written earlier elsewhere was not in the vault before it was merged."""
    folder = new(tmp_path)
    first = commit(folder, "first", minutes=0)
    git(folder, "switch", "--quiet", "--create", "side")
    commit(folder, "side", minutes=5)
    git(folder, "switch", "--quiet", "main")
    second = commit(folder, "second", minutes=10)
    when = f"@{int(after(20).timestamp())} +0000"
    dated = os.environ | PERSON | {"GIT_COMMITTER_DATE": when}
    subprocess.run(["git", "merge", "--quiet", "--no-ff", "-m", "m", "side"], cwd=folder, env=dated, check=True)
    repository = opened(folder)

    assert repository.commit_at(after(7)) == first
    assert repository.commit_at(after(19)) == second
    assert repository.commit_at(after(20)) == head(folder)


def test_history_begins_with_the_first_commit_of_the_line(tmp_path: Path) -> None:
    """An older history that was merged in does not make the vault's own older."""
    folder = new(tmp_path)
    commit(folder, "first", minutes=0)
    git(folder, "switch", "--quiet", "--orphan", "older")
    commit(folder, "older", minutes=-100)
    git(folder, "switch", "--quiet", "main")
    git(folder, "merge", "--quiet", "--allow-unrelated-histories", "-m", "merge", "older")

    assert opened(folder).history_begins() == START


def test_a_repository_without_a_commit_has_no_history(tmp_path: Path) -> None:
    """It has not begun, and no moment has a commit."""
    repository = opened(new(tmp_path))

    assert (repository.history_begins(), repository.commit_at(START)) == (None, None)


def test_a_moment_without_a_zone_is_refused(tmp_path: Path) -> None:
    """Nobody can say which it is."""
    with pytest.raises(UsageError, match="has no time zone"):
        opened(new(tmp_path)).commit_at(datetime(2024, 3, 1))


def test_a_commit_is_listed_with_its_time_and_sizes(tmp_path: Path) -> None:
    """Any name, in the order of a listing; what came later is not there."""
    names = ["a b.md", 'quo"te.md', "tab\u00a0ü 日本.md", "Folder/deep/x.md", "Folder.md"]
    folder = new(tmp_path)
    for number, name in enumerate(names):
        write(folder, name, b"x" * number)
    newest = commit(folder, "first", minutes=3)
    write(folder, "later.md")
    (folder / "a b.md").unlink()
    commit(folder, "second", minutes=4)

    listing = opened(folder).list_at(newest, skip=None)

    assert [file.path for file in listing.files] == sorted(names)
    assert {file.path: file.size for file in listing.files} == {name: number for number, name in enumerate(names)}
    assert {file.mtime for file in listing.files} == {after(3).timestamp()}


def test_a_listing_of_a_commit_leaves_out_what_is_skipped(tmp_path: Path) -> None:
    """Files by their paths, and whole folders by theirs with a slash at the end."""
    folder = new(tmp_path)
    for path in ("note.md", "draft.md", "Templates/deep/one.md", "Notes/Templates.md"):
        write(folder, path)
    newest = commit(folder, "first", minutes=0)
    listing = opened(folder).list_at(newest, skip=lambda path: path in ("draft.md", "Templates/"))

    assert [file.path for file in listing.files] == ["Notes/Templates.md", "note.md"]


def test_links_submodules_and_unusable_names_are_passed_over(tmp_path: Path) -> None:
    """Each with the reason, as in a listing of the folder."""
    folder, other = new(tmp_path / "vault"), adopted(tmp_path / "other")
    write(folder, "note.md")
    write(folder, "back\\slash.md")
    (folder / "link.md").symlink_to("note.md")
    git(folder, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(other), "sub")
    listing = opened(folder).list_at(commit(folder, "first", minutes=0), skip=None)

    assert [file.path for file in listing.files] == [".gitmodules", "note.md"]
    assert {each.path: each.code for each in listing.problems} == {
        "back\\slash.md": "unusable-name",
        "link.md": "symlink",
        "sub": "submodule",
    }


def test_a_vault_in_a_subfolder_sees_its_own_part_alone(tmp_path: Path) -> None:
    """Paths are the vault's; before the folder came into being it has no files."""
    top = new(tmp_path)
    write(top, "outside.md")
    before = commit(top, "first", minutes=0)
    write(top, "My Notes/in/a.md")
    newest = commit(top, "second", minutes=1)
    repository = opened(top / "My Notes")

    assert [file.path for file in repository.list_at(newest, skip=None).files] == ["in/a.md"]
    assert repository.list_at(before, skip=None).files == ()
    assert repository.contents_at([("in/a.md", newest), ("in/a.md", before)]) == [b"text\n", None]


@pytest.mark.parametrize("name", ["0" * 40, "--all", "no such thing"])
def test_a_commit_that_is_not_there_is_an_error(tmp_path: Path, name: str) -> None:
    """Not an empty vault."""
    with pytest.raises(VaultUnavailable):
        opened(adopted(tmp_path)).list_at(name, skip=None)


def test_a_listed_file_is_read_whatever_stands_there_today(tmp_path: Path) -> None:
    """Its folder may be a link by now, its name spelled in another form, its place taken by a folder."""
    folder = new(tmp_path / "vault")
    for path in ("old/a.md", "Caf\u00e9.md", "plain.md"):
        write(folder, path, path.encode())
    newest = commit(folder, "first", minutes=0)
    (folder / "old").rename(tmp_path / "away")
    (folder / "old").symlink_to(tmp_path / "away")
    (folder / "Caf\u00e9.md").rename(folder / "Cafe\u0301.md")
    (folder / "plain.md").unlink()
    write(folder, "plain.md/x.md")
    vault = ObsidianVault(folder, author=US)
    paths = [file.path for file in vault.list_at(newest).files]

    assert vault.read_listed_at(newest, [*paths, "none.md"]) == [*(path.encode() for path in paths), None]
    assert vault.commit_at(START) == newest
    assert vault.history_begins() == START


def test_looking_back_changes_nothing(tmp_path: Path) -> None:
    """Neither the index nor any other file of git is touched."""
    folder = adopted(tmp_path)
    write(folder, "a.md", b"edited, not committed\n")
    repository = Repository(folder, author=US)
    before = _times(folder)
    newest = repository.commit_at(datetime.now(UTC)) or ""
    repository.history_begins()
    repository.list_at(newest, skip=None)
    repository.contents_at([("a.md", newest)])

    assert _times(folder) == before


def _times(folder: Path) -> dict[str, int]:
    return {str(file): file.stat().st_mtime_ns for file in folder.rglob("*")}
