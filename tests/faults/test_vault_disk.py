"""A vault under git on a full and on a read-only disk: a clear error, nothing changed, and later writes succeed."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from commonplace.errors import VaultUnavailable
from commonplace.vault.obsidian import ObsidianVault
from tests.gitvault import git, leftovers, new_vault, status, versions, write
from tests.run_length import rounds


@pytest.fixture
def tmp_path(on_disk: Path) -> Path:
    """What a disk does is tested on a disk."""
    return on_disk


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 2 MB with a vault on it, its repository included."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", disk], capture_output=True, text=True, check=False
    )
    if mounted.returncode:
        pytest.skip(f"mounting a file system needs root: {mounted.stderr.strip()}")
    yield disk
    subprocess.run(["umount", disk], check=True)


@pytest.fixture
def vault(small_disk: Path) -> ObsidianVault:
    return new_vault(small_disk, note="first\n", other="other\n")


def _fill(disk: Path, *, leave: int) -> Path:
    """Leave that many bytes free."""
    free = os.statvfs(disk).f_bavail * os.statvfs(disk).f_frsize
    (disk / ".git/filler").write_bytes(b"x" * (free - leave))
    return disk / ".git/filler"


def _picture(root: Path) -> dict[str, bytes]:
    """Every file of the vault, and what git says."""
    files = {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*.md")}
    return {**files, "head": git(root, "rev-parse", "HEAD").encode(), "status": "\n".join(status(root)).encode()}


@pytest.mark.parametrize("leave", range(0, 120_000, rounds(3, long=1) * 4096))
def test_a_full_disk_leaves_vault_and_git_as_they_were(vault: ObsidianVault, small_disk: Path, leave: int) -> None:
    """However much is left when it runs out: all of the change is made and told, or none of it."""
    filler = _fill(small_disk, leave=leave)
    before = _picture(small_disk)
    text = "".join(f"{number}\n" for number in range(3000))
    try:
        made = write(vault, "new/note.md", text).changed
    except VaultUnavailable:
        made = False
    after, folder_is_there = _picture(small_disk), (small_disk / "new").exists()
    filler.unlink()
    again = write(vault, "new/note.md", text).changed

    assert made or (after, folder_is_there) == (before, False)
    assert again != made
    assert versions(small_disk, "new/note.md") == [text]
    assert (status(small_disk), leftovers(small_disk)) == ([], [])
    assert git(small_disk, "fsck", "--no-dangling") == ""


def test_a_read_only_vault_is_told_and_can_be_read(vault: ObsidianVault, small_disk: Path) -> None:
    """Nothing changes, and when it can be written again it works."""
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    before = _picture(small_disk)
    with pytest.raises(VaultUnavailable):
        write(vault, "note.md", "ours\n")
    after, found = _picture(small_disk), vault.read(vault.resolve("note.md")).content
    subprocess.run(["mount", "-o", "remount,rw", small_disk], check=True)
    made = write(vault, "note.md", "ours\n")

    assert (after, found) == (before, b"first\n")
    assert made.changed
    assert (status(small_disk), leftovers(small_disk)) == ([], [])


def test_a_read_only_folder_is_told(vault: ObsidianVault, small_disk: Path) -> None:
    """A folder that cannot be written, in a vault that can: what came before it is taken back."""
    write(vault, "closed/note.md", "first\n")
    closed = small_disk / "closed"
    subprocess.run(["mount", "--bind", closed, closed], check=True)
    subprocess.run(["mount", "-o", "remount,ro,bind", closed], check=True)
    before = _picture(small_disk)
    with pytest.raises(VaultUnavailable, match="Read-only file system"):
        _write_all(vault)
    after = _picture(small_disk)
    subprocess.run(["umount", closed], check=True)
    _write_all(vault)

    assert after == before
    assert versions(small_disk, "closed/note.md") == ["ours\n", "first\n"]
    assert (status(small_disk), leftovers(small_disk)) == ([], [])


def _write_all(vault: ObsidianVault) -> None:
    with vault.transaction() as changes:
        for path in ("note.md", "new/note.md", "closed/note.md"):
            changes.write(vault.resolve(path), b"ours\n")


@pytest.mark.parametrize("leave", [0, 4096, 16384])
def test_a_rehearsal_on_a_full_disk_says_so_and_leaves_nothing(
    vault: ObsidianVault, small_disk: Path, leave: int
) -> None:
    """What would stop a write stops the rehearsal, and the disk is as full as before."""
    write(vault, "ready.md", "words\n")
    filler = _fill(small_disk, leave=leave)
    before = {path: path.read_bytes() for path in small_disk.rglob("*") if path.is_file()}
    with pytest.raises(VaultUnavailable, match="No space left") as caught:
        vault.rehearse(vault.resolve("Agent/Memory/new.md"))

    assert "free some space" in (caught.value.hint or "")
    assert {path: path.read_bytes() for path in small_disk.rglob("*") if path.is_file()} == before
    assert leftovers(small_disk) == []
    filler.unlink()
    vault.rehearse(vault.resolve("Agent/Memory/new.md"))
