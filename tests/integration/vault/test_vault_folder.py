"""Listing a device-local store."""

import os
import time
from pathlib import Path

import pytest

from commonplace.model import Problem
from commonplace.vault import folder, tree
from commonplace.vault.local import DeviceLocal
from commonplace.vault.paths import temporary_name


def _touch(root: Path, *paths: str) -> None:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(b"text")


def _codes(problems: tuple[Problem, ...]) -> dict[str, str]:
    return {problem.path: problem.code for problem in problems}


def test_git_and_half_made_files_are_not_listed(tmp_path: Path) -> None:
    """They are no part of the store, so nobody hears of them."""
    _touch(tmp_path, "note.md", ".git/config", "sub/.git/HEAD", ".GIT/config", temporary_name("0" * 16))

    listing = DeviceLocal(tmp_path).list()

    assert ([stat.path for stat in listing.files], listing.problems) == (["note.md"], ())


def test_what_is_passed_over_is_told(tmp_path: Path) -> None:
    """Links, pipes and names that no path can say are Problems; the rest is listed."""
    _touch(tmp_path, "note.md", "bad\nname.md", "back\\slash.md")
    (tmp_path / "link.md").symlink_to("note.md")
    (tmp_path / "linked").symlink_to("/")
    os.mkfifo(tmp_path / "pipe.md")
    (Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.md"))).write_bytes(b"text")

    listing = DeviceLocal(tmp_path).list()

    assert [stat.path for stat in listing.files] == ["note.md"]
    assert _codes(listing.problems) == {
        "bad\ufffdname.md": "unusable-name",
        "back\\slash.md": "unusable-name",
        "link.md": "symlink",
        "linked": "symlink",
        "pipe.md": "special-file",
        "\ufffd.md": "unusable-name",
    }
    assert all(problem.line == 0 and problem.message for problem in listing.problems)


def test_what_is_skipped_is_no_problem(tmp_path: Path) -> None:
    """Nobody asked for it."""
    _touch(tmp_path, "kept.md", "out/sub/x.md", "A.md", "a.md")
    (tmp_path / "link.md").symlink_to("kept.md")
    (tmp_path / "linked").symlink_to("out")

    listing = DeviceLocal(tmp_path).list(skip={"out/", "link.md", "linked/", "a.md"}.__contains__)

    assert ([stat.path for stat in listing.files], listing.problems) == (["A.md", "kept.md"], ())


def test_names_that_some_system_takes_for_one_are_told(tmp_path: Path) -> None:
    """Both are listed; one Problem names the pair, for files and for folders."""
    _touch(tmp_path, "Note.md", "note.md", "caf\u00e9.md", "cafe\u0301.md", "Folder/x.md", "folder/y.md")

    listing = DeviceLocal(tmp_path).list()

    assert len(listing.files) == 6
    assert _codes(listing.problems) == dict.fromkeys(("note.md", "caf\u00e9.md", "folder"), "name-collision")


def test_a_folder_that_cannot_be_read_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rest of the store is listed all the same. (Tests may run as root, so the refusal is staged.)"""
    _touch(tmp_path, "note.md", "closed/x.md")
    real = tree._Descent.enter

    def refuse(descent: tree._Descent, name: str) -> None:
        if name == "closed":
            raise PermissionError(13, "Permission denied")
        real(descent, name)

    monkeypatch.setattr(tree._Descent, "enter", refuse)
    listing = DeviceLocal(tmp_path).list()

    assert [stat.path for stat in listing.files] == ["note.md"]
    assert _codes(listing.problems) == {"closed": "unreadable-folder"}


def test_a_folder_swapped_for_a_link_while_listing_is_not_entered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was a folder a moment ago is looked at again when it is opened."""
    _touch(tmp_path, "vault/note.md", "vault/folder/x.md", "outside/secret.md")
    real = folder._ListingWalk.add_subfolder

    def swap(walk: folder._ListingWalk, walked: tree.FolderTree, path: str) -> None:
        (tmp_path / "vault/folder").rename(tmp_path / "gone")
        (tmp_path / "vault/folder").symlink_to("../outside")
        real(walk, walked, path)

    monkeypatch.setattr(folder._ListingWalk, "add_subfolder", swap)
    listing = DeviceLocal(tmp_path / "vault").list()

    assert [stat.path for stat in listing.files] == ["note.md"]
    assert _codes(listing.problems) == {"folder": "symlink"}


def test_a_very_deep_folder_is_listed(tmp_path: Path) -> None:
    """Depth costs neither the stack nor the length of a system path."""
    depth = 400
    opened = os.open(tmp_path, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir("deep-folder", dir_fd=opened)
        below = os.open("deep-folder", os.O_RDONLY, dir_fd=opened)
        os.close(opened)
        opened = below
    os.close(os.open("note.md", os.O_CREAT | os.O_WRONLY, dir_fd=opened))
    os.close(opened)

    (stat,) = DeviceLocal(tmp_path).list().files

    assert stat.path.count("/") == depth


def test_two_thousand_files_are_listed_quickly(tmp_path: Path) -> None:
    """A quarter of a second is the limit; it takes about a tenth of that."""
    for outer in range(20):
        (tmp_path / f"folder {outer}").mkdir()
        for number in range(100):
            (tmp_path / f"folder {outer}/note {number}.md").touch()
    store = DeviceLocal(tmp_path)
    began = time.thread_time()

    listing = store.list()

    assert len(listing.files) == 2_000
    assert time.thread_time() - began < 0.25
