"""One lock per vault: programs that change it take turns.

It is a kernel lock on a file in the user's state directory, so the system frees it when its holder dies, however that
happens, and nobody ever takes it over from a holder that is merely slow. The file is named after the device and inode
of the vault's root: a vault reached by two paths has one lock. It is never removed, because removing a locked file
would let two programs lock two files of one name.
"""

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from commonplace.errors import UsageError, VaultUnavailable
from commonplace.events import emit
from commonplace.vault.trouble import disk_trouble, unavailable

if TYPE_CHECKING:
    from filelock import BaseFileLock

_FIRST_PAUSE: Final = 0.002
_LONGEST_PAUSE: Final = 0.005  # whoever writes without a pause frees the lock for a millisecond at a time
_WORTH_SAYING: Final = 2.0  # seconds; a queue of writers that moves stays below


class VaultLock:
    """The lock of the vault with that root. Each backend object has its own and excludes all others."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._holder: int | None = None

    @contextmanager
    def hold(self, *, wait: float) -> Iterator[None]:
        """Hold the lock while the block runs. Raises VaultUnavailable(locked) after `wait` seconds."""
        if self._holder == threading.get_ident():
            raise UsageError(
                "a transaction is already open in this thread, and a second one would wait for it for ever",
                path=str(self._root),
                hint="Make all changes in one transaction, or end the first before the second begins.",
            )
        lock = self._acquire(wait)
        self._holder = threading.get_ident()
        try:
            yield
        finally:
            self._holder = None
            lock.release()

    def file(self) -> Path:
        """The file that is locked; its folder is made when it is not there."""
        return self.beside("locks", ".lock")

    def beside(self, folder: str, suffix: str) -> Path:
        """A file of this vault in a folder of the user's state directory; the folder is made when it is not there."""
        from platformdirs import user_state_path

        state = user_state_path("commonplace") / folder
        with disk_trouble(str(state), doing="make the folder for locks, from HOME or XDG_STATE_HOME,"):
            state.mkdir(mode=0o700, parents=True, exist_ok=True)
        with disk_trouble(str(self._root), doing="look at"):
            root = self._root.stat()
        return state / f"{root.st_dev}-{root.st_ino}{suffix}"

    def _acquire(self, wait: float) -> "BaseFileLock":
        from filelock import FileLock  # forty milliseconds that a reader need not spend

        file = self.file()
        # A soft lock, the library's answer to a system without flock, outlives its holder: better no lock than that.
        lock = FileLock(file, mode=0o600, fallback_to_soft=False, preserve_lock_file=True)
        start, pause = time.monotonic(), _FIRST_PAUSE
        while not _take(lock, file):
            left = start + wait - time.monotonic()
            if left <= 0:
                raise self._locked(_owner_file(file), wait)
            time.sleep(min(pause, left))
            pause = min(2 * pause, _LONGEST_PAUSE)
        if (waited := time.monotonic() - start) > _WORTH_SAYING:
            emit("vault_lock_waited", level="warning", root=str(self._root), waited_ms=round(waited * 1000))
        _sign(_owner_file(file))
        return lock

    def _locked(self, owner: Path, wait: float) -> VaultUnavailable:
        return VaultUnavailable(
            f"the vault is locked, and stayed so for {wait:g} s: {_last_owner(owner)}",
            path=str(self._root),
            reason="locked",
            hint="Wait until that process has finished and try again; if it hangs, end it and the lock is free.",
        )


def _take(lock: "BaseFileLock", file: Path) -> bool:
    from filelock import Timeout

    try:
        lock.acquire(blocking=False)
    except Timeout:
        return False
    except OSError as error:
        raise unavailable(error, path=str(file), doing="lock") from error
    return True


def _owner_file(lock: Path) -> Path:
    return lock.with_suffix(".owner")


def _sign(owner: Path) -> None:
    """Note who has the lock, for the message to whoever waits in vain; the lock works without it."""
    with suppress(OSError):
        owner.write_text(f"{os.getpid()}\n", encoding="ascii")


def _last_owner(owner: Path) -> str:
    try:
        pid = owner.read_text(encoding="ascii").strip()
        since = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(owner.stat().st_mtime))
    except (OSError, UnicodeDecodeError):
        return "who took it is not known"
    return f"process {pid or 'unknown'} took it last, at {since} (another may hold it by now)"
