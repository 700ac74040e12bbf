"""The atomic publish when its process is killed, and when the disk is full or read-only."""

import itertools
import os
import random
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from commonplace.errors import VaultUnavailable
from commonplace.vault.local import DeviceLocal
from commonplace.vault.paths import is_temporary
from tests.faults.figures import Figures
from tests.run_length import rounds

KILLS = rounds(20, long=4000)


@pytest.fixture
def tmp_path(on_disk: Path) -> Path:
    """What a disk does is tested on a disk."""
    return on_disk


def _write_until_killed(root: Path, first: int, pipe: int) -> None:
    """One transaction after the other; the number of each goes into the pipe when it has ended."""
    store = DeviceLocal(root)
    for step in itertools.count(first):
        with store.transaction(wait=60) as changes:
            new, moved = (store.resolve(f"{folder}/{step // 4}.md") for folder in ("new", "moved"))
            match step % 4:
                case 0:
                    changes.write(store.resolve("note.md"), b"%08d\n" % step * 3000)
                case 1:
                    changes.write(new, b"%08d\n" % step)
                case 2:
                    changes.move(new, moved)
                case 3:
                    changes.delete(moved)
        os.write(pipe, b"%d\n" % step)


def _state_after(steps: int) -> dict[str, bytes]:
    """What the store holds when that many steps have been made."""
    if not steps:
        return {}
    round_, step = divmod(steps - 1, 4)
    state = {"note.md": b"%08d\n" % (4 * round_) * 3000}
    if step in (1, 2):
        state[f"{'new' if step == 1 else 'moved'}/{round_}.md"] = b"%08d\n" % (4 * round_ + 1)
    return state


def _kill_while_it_writes(root: Path, made: int, chance: random.Random) -> int:
    """Let a child go on after the steps made, kill it at some moment, and say how many are acknowledged by then."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reading)
            _write_until_killed(root, made, writing)
        finally:
            os._exit(1)  # whatever happens, no second pytest comes out of this
    os.close(writing)
    with os.fdopen(reading, "rb") as steps:
        seen = [steps.readline() for _ in range(chance.randrange(3))]
        time.sleep(chance.uniform(0, 0.003 if seen else 0.02))  # so that the kill falls anywhere in a step
        os.kill(child, signal.SIGKILL)
        seen += steps.read().splitlines()
    os.waitpid(child, 0)
    return int(seen[-1]) + 1 if seen else made


@pytest.mark.requirement("A-28")
def test_a_change_is_whole_whenever_its_process_is_killed(tmp_path: Path) -> None:
    """Every acknowledged change is there, the next one wholly or not at all, and what is left over is known as ours.

    A thousand kills among twenty thousand changes left 235 half-made files; the write flow's journal removes them.
    """
    store, made, chance = DeviceLocal(tmp_path), 0, random.Random(28)
    with Figures("publish") as figures:
        for figures.kills in range(1, KILLS + 1):
            acknowledged = _kill_while_it_writes(tmp_path, made, chance)
            figures.acknowledged += acknowledged - made
            found = {stat.path: store.read(store.resolve(stat.path)).content for stat in store.list().files}
            may_be = [steps for steps in (acknowledged, acknowledged + 1) if _state_after(steps) == found]
            figures.lost += not may_be
            assert may_be, f"after {acknowledged} acknowledged steps: {sorted(found)}"
            made = may_be[0]
    strange = [path for path in tmp_path.rglob("*") if path.is_file() and not _known(path, tmp_path, made)]
    left_over = [path for path in tmp_path.rglob("*") if is_temporary(path.name)]

    assert strange == []
    assert len(left_over) <= KILLS


def _known(path: Path, root: Path, made: int) -> bool:
    return is_temporary(path.name) or path.relative_to(root).as_posix() in _state_after(made)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 256 kB with a note on it."""
    disk = tmp_path / "disk"
    disk.mkdir()
    _mount("-t", "tmpfs", "-o", "size=256k", "tmpfs", str(disk))
    (disk / "note.md").write_bytes(b"before")
    yield disk
    subprocess.run(["umount", disk], check=True)


def _mount(*arguments: str) -> None:
    run = subprocess.run(["mount", *arguments], capture_output=True, text=True, check=False)
    if run.returncode:
        pytest.skip(f"mounting a file system needs root: {run.stderr.strip()}")


def _write(root: Path, path: str, content: bytes) -> None:
    store = DeviceLocal(root)
    with store.transaction() as changes:
        changes.write(store.resolve(path), content)


@pytest.mark.parametrize("path", ["note.md", "new/folder/note.md"])
def test_a_full_disk_changes_nothing(small_disk: Path, path: str) -> None:
    """The error says that the disk is full, the old bytes are there, and no half-made file or folder stays."""
    with pytest.raises(VaultUnavailable, match="No space left") as error:
        _write(small_disk, path, b"x" * 1_000_000)

    assert (error.value.path, "free some space" in (error.value.hint or "")) == (path, True)
    assert (small_disk / "note.md").read_bytes() == b"before"
    assert os.listdir(small_disk) == ["note.md"]


def test_a_full_disk_undoes_what_came_before(small_disk: Path) -> None:
    """The changes before the one that found no room are taken back."""
    store = DeviceLocal(small_disk)

    with pytest.raises(VaultUnavailable), store.transaction() as changes:  # noqa: PT012
        changes.write(store.resolve("note.md"), b"after")
        changes.write(store.resolve("other.md"), b"x" * 1_000_000)

    assert (small_disk / "note.md").read_bytes() == b"before"
    assert os.listdir(small_disk) == ["note.md"]


@pytest.mark.parametrize("path", ["note.md", "new/folder/note.md"])
def test_a_read_only_disk_is_told_and_can_be_read(small_disk: Path, path: str) -> None:
    """Writing says that the disk is read-only; reading goes on."""
    _mount("-o", "remount,ro", str(small_disk))
    store = DeviceLocal(small_disk)

    with pytest.raises(VaultUnavailable, match="Read-only file system") as error:
        _write(small_disk, path, b"after")

    assert "mounted read-only" in (error.value.hint or "")
    assert store.read(store.resolve("note.md")).content == b"before"
