"""What a person wrote and git does not have yet is committed, in a commit of its own, before we change it."""

from pathlib import Path

import pytest

from commonplace.vault.base import ABSENT
from commonplace.vault.obsidian import ObsidianVault
from tests.gitvault import (
    Change,
    delete_note,
    git,
    kinds,
    make,
    move_note,
    status,
    versions,
    write,
    write_note,
)


@pytest.mark.parametrize("change", [write_note, delete_note, move_note])
def test_an_edited_note_is_committed_before_it_is_changed(vault: ObsidianVault, root: Path, change: Change) -> None:
    """What a person wrote and had not committed is in a commit of its own below ours."""
    (root / "note.md").write_text("a person's words\n")
    make(vault, change)

    assert kinds(root, "note.md")[1:] == ["snapshot", "baseline"]
    assert versions(root, "note.md")[1] == "a person's words\n"
    assert status(root) == []


@pytest.mark.parametrize("change", [write_note, delete_note, move_note])
def test_an_untracked_note_is_committed_before_it_is_changed(vault: ObsidianVault, root: Path, change: Change) -> None:
    """Deleting a note that git never had would else be for ever."""
    git(root, "rm", "-q", "note.md")
    git(root, "commit", "-qm", "gone")
    (root / "note.md").write_text("never committed\n")
    make(vault, change)

    assert kinds(root, "note.md")[1] == "snapshot"
    assert versions(root, "note.md")[1] == "never committed\n"
    assert status(root) == []


def test_a_third_version_that_is_only_staged_is_committed_too(vault: ObsidianVault, root: Path) -> None:
    """HEAD, the index and the disk may hold three versions of a note: all are in history, in this order."""
    (root / "note.md").write_text("staged\n")
    git(root, "add", "note.md")
    (root / "note.md").write_text("on disk\n")
    write(vault, "note.md", "ours\n")

    assert versions(root, "note.md") == ["ours\n", "on disk\n", "staged\n", "first\n"]
    assert kinds(root, "note.md") == ["write", "snapshot", "snapshot", "baseline"]
    assert status(root) == []


def test_a_staged_version_is_kept_when_the_disk_went_back(vault: ObsidianVault, root: Path) -> None:
    """The disk says what HEAD says, but the index holds words that are nowhere else."""
    (root / "note.md").write_text("staged\n")
    git(root, "add", "note.md")
    (root / "note.md").write_text("first\n")
    write(vault, "note.md", "ours\n")

    assert versions(root, "note.md") == ["ours\n", "first\n", "staged\n", "first\n"]


def test_a_staged_version_is_kept_when_the_file_is_gone(vault: ObsidianVault, root: Path) -> None:
    """A note that was staged and then deleted is in history before another takes its place."""
    (root / "new.md").write_text("staged\n")
    git(root, "add", "new.md")
    (root / "new.md").unlink()
    write(vault, "new.md", "ours\n", expected=ABSENT)

    assert versions(root, "new.md") == ["ours\n", "staged\n"]
    assert status(root) == []


def test_what_a_person_staged_elsewhere_stays_staged(vault: ObsidianVault, root: Path) -> None:
    """Our commit holds our path alone, and index and disk of all others are as they were."""
    (root / "staged.md").write_text("staged\n")
    git(root, "add", "staged.md")
    (root / "staged.md").write_text("and edited\n")
    before = git(root, "diff", "--cached"), git(root, "diff")
    write(vault, "note.md", "ours\n")

    assert (git(root, "diff", "--cached"), git(root, "diff")) == before
    assert git(root, "show", "--name-only", "--format=", "HEAD").split() == ["note.md"]
