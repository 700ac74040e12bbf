"""The lock of a vault, within one process; `faults/test_lock.py` tests it between processes."""

import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from commonplace.errors import UsageError, VaultUnavailable
from commonplace.vault.folder import VaultLock
from commonplace.vault.inmemory import InMemory
from commonplace.vault.local import DeviceLocal


def _try(lock: VaultLock, wait: float = 0.0) -> None:
    with lock.hold(wait=wait):
        pass


@pytest.mark.requirement("A-29")
def test_the_lock_is_a_file_in_the_state_folder_and_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is named after the root's device and inode, lies outside the vault, is private, and is never removed."""
    (tmp_path / "vault").mkdir()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    root = (tmp_path / "vault").stat()

    _try(VaultLock(tmp_path / "vault"))

    file = tmp_path / f"state/commonplace/locks/{root.st_dev}-{root.st_ino}.lock"
    assert file.exists()
    assert file.parent.stat().st_mode & 0o777 == 0o700
    assert list((tmp_path / "vault").iterdir()) == []


def test_two_locks_of_one_vault_exclude_each_other(tmp_path: Path) -> None:
    """Also in one process, and also when the vault is reached by another path."""
    (tmp_path / "vault").mkdir()
    (tmp_path / "alias").symlink_to("vault")

    with VaultLock(tmp_path / "vault").hold(wait=0), pytest.raises(VaultUnavailable) as error:
        _try(VaultLock(tmp_path / "alias"), 0.01)

    assert error.value.as_dict()["reason"] == "locked"


def test_who_waits_in_vain_hears_who_took_the_lock_last(tmp_path: Path) -> None:
    """The message names the process and the time, says that they may be old, and hints what to do."""
    with VaultLock(tmp_path).hold(wait=0), pytest.raises(VaultUnavailable) as error:
        _try(VaultLock(tmp_path))

    assert f"process {os.getpid()} took it last, at 2" in error.value.message
    assert "another process may hold it by now" in error.value.message
    assert error.value.hint


def test_an_owner_that_cannot_be_read_does_not_matter(tmp_path: Path) -> None:
    """The sidecar is for the message alone."""
    lock = VaultLock(tmp_path)
    with lock.hold(wait=0):
        lock.file().with_suffix(".owner").unlink()

        with pytest.raises(VaultUnavailable, match="its owner is unknown"):
            _try(VaultLock(tmp_path))


def test_locks_of_two_vaults_are_two(tmp_path: Path) -> None:
    """Work on one vault does not hold up another."""
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()

    with VaultLock(tmp_path / "one").hold(wait=0):
        _try(VaultLock(tmp_path / "two"))


@pytest.mark.parametrize("kind", ["device-local", "in-memory"])
def test_a_transaction_in_a_transaction_is_refused_at_once(tmp_path: Path, kind: str) -> None:
    """It would wait for itself; another thread on the same object only waits its turn."""
    store = DeviceLocal(tmp_path) if kind == "device-local" else InMemory()
    entered = threading.Event()

    def wait_for_turn() -> None:
        entered.set()
        with store.transaction(wait=30):
            pass

    with ThreadPoolExecutor(max_workers=1) as pool:
        with store.transaction():
            waiting = pool.submit(wait_for_turn)
            entered.wait(timeout=120)
            with pytest.raises(UsageError, match="already open in this thread"), store.transaction(wait=30):
                pass
        waiting.result(timeout=120)


def test_threads_on_one_in_memory_store_lose_no_update() -> None:
    """It is not shared between processes, but threads take turns."""
    store = InMemory()
    at = store.resolve("count.md")
    with store.transaction() as changes:
        changes.write(at, b"0")

    def count() -> None:
        for _ in range(200):
            with store.transaction() as changes:
                changes.write(at, b"%d" % (int(changes.read(at).content) + 1))

    with ThreadPoolExecutor(max_workers=4) as pool:
        for counting in [pool.submit(count) for _ in range(4)]:
            counting.result(timeout=60)

    assert store.read(at).content == b"800"


def test_a_locked_in_memory_store_says_so() -> None:
    """The same reason as on a disk."""
    store = InMemory()

    def try_it() -> None:
        with store.transaction(wait=0.01):
            pass

    with ThreadPoolExecutor(max_workers=1) as pool, store.transaction(), pytest.raises(VaultUnavailable) as error:
        pool.submit(try_it).result(timeout=120)

    assert error.value.as_dict()["reason"] == "locked"


def test_a_state_folder_that_cannot_be_made_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a place for the lock nothing is written."""
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))

    with pytest.raises(VaultUnavailable, match="could not create the folder for locks"):
        _try(VaultLock(tmp_path))


def test_a_system_without_kernel_locks_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """There is no soft lock to fall back to: one would outlive its holder."""

    def missing(fd: int, operation: int) -> None:
        raise OSError(38, "Function not implemented")

    monkeypatch.setattr("fcntl.flock", missing)

    with pytest.raises(VaultUnavailable, match="Function not implemented"):
        _try(VaultLock(tmp_path))


def test_reading_does_not_load_the_lock_library(tmp_path: Path) -> None:
    """A hook that only reads has a budget of 300 ms; the library alone takes forty."""
    program = """
import sys
from pathlib import Path
from commonplace.vault.local import DeviceLocal
DeviceLocal(Path(sys.argv[1])).list()
print("filelock" in sys.modules, "ctypes" in sys.modules)
"""
    run = subprocess.run([sys.executable, "-c", program, tmp_path], capture_output=True, text=True, check=True)

    assert run.stdout == "False False\n"
