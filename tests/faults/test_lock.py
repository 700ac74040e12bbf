"""The lock between real processes: killed, suspended, and many at once."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from commonplace.errors import VaultUnavailable
from commonplace.vault.local import DeviceLocal

COUNT = """
import sys
from pathlib import Path
from commonplace.vault.local import DeviceLocal
store = DeviceLocal(Path(sys.argv[1]))
at = store.resolve("count.md")
for _ in range(int(sys.argv[2])):
    with store.transaction(wait=120) as changes:
        changes.write(at, b"%d" % (int(changes.read(at).content) + 1))
"""
HOLD = """
import sys
from pathlib import Path
from commonplace.vault.local import DeviceLocal
store = DeviceLocal(Path(sys.argv[1]))
with store.transaction() as changes:
    print("held", flush=True)
    sys.stdin.readline()
    changes.write(store.resolve("note.md"), b"by the holder")
"""


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    """A vault with two notes."""
    root = tmp_path / "vault"
    root.mkdir()
    (root / "note.md").write_bytes(b"before")
    (root / "count.md").write_bytes(b"0")
    return root


@contextmanager
def _holder(root: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that holds the vault's lock until a line is sent to it; then it writes."""
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", HOLD, root], text=True, stdin=pipe, stdout=pipe) as process:
        assert process.stdout
        assert process.stdout.readline() == "held\n"
        try:
            yield process
        finally:
            process.kill()


def _write(store: DeviceLocal, content: bytes, *, wait: float) -> None:
    with store.transaction(wait=wait) as changes:
        changes.write(store.resolve("note.md"), content)


@pytest.mark.requirement("A-29")
def test_many_processes_lose_no_update(vault: Path) -> None:
    """Four processes that each count fifty times reach two hundred."""
    counting = [subprocess.Popen([sys.executable, "-c", COUNT, vault, "50"]) for _ in range(4)]

    assert [process.wait(timeout=120) for process in counting] == [0] * 4
    assert (vault / "count.md").read_bytes() == b"200"
    assert sorted(os.listdir(vault)) == ["count.md", "note.md"]


@pytest.mark.requirement("A-29")
def test_a_killed_holder_frees_the_lock_at_once(vault: Path) -> None:
    """The kernel frees it; no time has to pass, and nothing has to be cleaned up."""
    with _holder(vault) as holder:
        holder.send_signal(signal.SIGKILL)
        holder.wait()
        _write(DeviceLocal(vault), b"after the kill", wait=0)

    assert (vault / "note.md").read_bytes() == b"after the kill"


def test_a_suspended_holder_keeps_the_lock(vault: Path) -> None:
    """Nobody takes it over, however long it sleeps; when it wakes it finishes, and then it is the next one's turn."""
    store = DeviceLocal(vault)
    with _holder(vault) as holder:
        holder.send_signal(signal.SIGSTOP)
        with pytest.raises(VaultUnavailable, match=f"process {holder.pid} took it last") as error:
            _write(store, b"taken over", wait=0.5)
        found_meanwhile = (vault / "note.md").read_bytes()
        holder.send_signal(signal.SIGCONT)
        holder.communicate("go on\n", timeout=240)
        found_after = (vault / "note.md").read_bytes()
    _write(store, b"in its turn", wait=0)

    assert error.value.as_dict()["reason"] == "locked"
    assert (found_meanwhile, found_after) == (b"before", b"by the holder")
    assert (vault / "note.md").read_bytes() == b"in its turn"


def test_a_vault_reached_by_another_path_has_the_same_lock(vault: Path, tmp_path: Path) -> None:
    """The lock is keyed by device and inode of the root."""
    (tmp_path / "alias").symlink_to(vault)

    with _holder(tmp_path / "alias"), pytest.raises(VaultUnavailable, match="locked"):
        _write(DeviceLocal(vault), b"new", wait=0.05)


def test_the_lock_survives_its_holders_and_lies_outside_the_vault(vault: Path) -> None:
    """One file in the state folder serves every process that ever comes."""
    locks = Path(os.environ["XDG_STATE_HOME"]) / "commonplace/locks"
    with _holder(vault):
        (before,) = locks.glob("*.lock")
        inode = before.stat().st_ino
    _write(DeviceLocal(vault), b"new", wait=10)

    (after,) = locks.glob("*.lock")
    assert after.stat().st_ino == inode
    assert sorted(os.listdir(vault)) == ["count.md", "note.md"]


def test_readers_are_not_held_up(vault: Path) -> None:
    """A hook that reads a note answers while a long write goes on."""
    with _holder(vault):
        store = DeviceLocal(vault)

        assert store.read(store.resolve("note.md")).content == b"before"
        assert len(store.list().files) == 2
