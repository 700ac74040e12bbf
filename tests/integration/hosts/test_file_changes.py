"""Files of other programs: whole or not at all, and never another file than the one that was meant."""

import os
import stat
from pathlib import Path

import pytest

from commonplace.errors import Conflict, Refused
from commonplace.hosts.file_changes import (
    FileChange,
    apply_change,
    back_up,
    missing_folders,
    remove_empty_folders,
    resolve_file,
    unified_diff,
)


def test_a_change_that_someone_else_made_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    """The newer text stays, and nothing half made lies about."""
    file = tmp_path / "settings.json"
    file.write_text("new")
    with pytest.raises(Conflict):
        apply_change(FileChange(file, b"old", b"ours", 0o644, 0o644))

    assert file.read_text() == "new"
    assert os.listdir(tmp_path) == ["settings.json"]


def test_a_file_keeps_its_mode_and_its_link(tmp_path: Path) -> None:
    """A file that is kept elsewhere by a link is changed there."""
    there = tmp_path / "dotfiles" / "settings.json"
    there.parent.mkdir()
    there.write_text("old")
    there.chmod(0o640)
    link = tmp_path / "settings.json"
    link.symlink_to(there)
    apply_change(FileChange(resolve_file(link), b"old", b"new", 0o640, 0o640))

    assert link.is_symlink()
    assert there.read_text() == "new"
    assert stat.S_IMODE(there.stat().st_mode) == 0o640


def test_a_link_out_of_the_project_is_refused(tmp_path: Path) -> None:
    """A project may come from anyone: it does not choose which of a person's files are changed."""
    project = tmp_path / "project"
    project.mkdir()
    (tmp_path / "mine.json").write_text("{}")
    (project / ".mcp.json").symlink_to(tmp_path / "mine.json")
    (project / ".vscode").symlink_to(tmp_path)
    for path in (project / ".mcp.json", project / ".vscode" / "mcp.json"):
        with pytest.raises(Refused, match="a link out of the project"):
            resolve_file(path, within=project)

    assert resolve_file(project / ".cursor" / "mcp.json", within=project)


def test_a_file_behind_a_folder_that_links_nowhere_is_refused(tmp_path: Path) -> None:
    """To create that folder would be to write where nobody expects it."""
    (tmp_path / "config").symlink_to(tmp_path / "unmounted")
    with pytest.raises(Refused, match=r"its folder .*config links to .*unmounted, which does not exist"):
        resolve_file(tmp_path / "config" / "deep" / "settings.json")


@pytest.mark.parametrize("kind", ["folder", "pipe", "dangling"])
def test_what_is_no_plain_file_is_refused(tmp_path: Path, kind: str) -> None:
    """Nothing is read from it, and nothing is put in its place."""
    path = tmp_path / "settings.json"
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("gone")

    with pytest.raises(Refused):
        resolve_file(path)


def test_a_copy_is_made_once_and_for_its_owner_alone(tmp_path: Path) -> None:
    """The first one is how it was before us; it is never overwritten."""
    file = tmp_path / "settings.json"
    first = back_up(FileChange(file, b"first", b"x", 0o644, 0o644, is_first=True))
    second = back_up(FileChange(file, b"second", b"x", 0o644, 0o644, is_first=True))
    assert first is not None

    assert first.read_bytes() == b"first"
    assert stat.S_IMODE(first.stat().st_mode) == 0o600
    assert second is None


def test_a_diff_shows_no_token(tmp_path: Path) -> None:
    """What is printed may be pasted somewhere."""
    shown = unified_diff(FileChange(tmp_path / "a", b"x = 1", b"x = 1\ntoken = cpl_abc-def_ghi\n", 0o644))

    assert "+token = cpl_***" in shown
    assert "No newline at end of file" in shown


def test_only_empty_folders_are_removed(tmp_path: Path) -> None:
    """A folder that someone else uses by now stays."""
    deep = tmp_path / "a" / "b" / "file"
    missing = missing_folders(deep)
    deep.parent.mkdir(parents=True)
    (tmp_path / "a" / "theirs").touch()
    remove_empty_folders(missing)

    assert missing == (tmp_path / "a" / "b", tmp_path / "a")
    assert [path.name for path in tmp_path.rglob("*")] == ["a", "theirs"]
