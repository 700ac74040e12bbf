"""One daemon for each user: whoever holds the lock is it, and says in a file where it is to be found."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Final

from commonplace.client.places import Places, Unreachable
from commonplace.client.places import places as places_of_user
from commonplace.client.state import State, read_state
from commonplace.daemon.private_files import is_locked, write_privately
from commonplace.errors import VaultUnavailable

_PATIENCE: Final = 0.3  # seconds; someone who only looks whether the lock is taken holds it for less


class Claim:
    """The right to be the daemon, held until it is released or the process ends, in whatever way it ends."""

    def __init__(self, places: Places, lock: int) -> None:
        self._places, self._lock = places, lock

    def announce(self, state: State) -> None:
        """Let other programs know where the daemon listens. Raises VaultUnavailable for the disk."""
        try:
            write_privately(self._places.state, asdict(state), is_lasting=False)
        except OSError as error:
            message = f"where the daemon listens cannot be written down: {error.strerror}"
            hint = "Make room on that disk, or set COMMONPLACE_STATE to a folder on another."
            raise VaultUnavailable(message, path=str(self._places.state), hint=hint) from error

    def release(self) -> None:
        """Take the announcement and the socket away, and let the next one be the daemon."""
        for path in (self._places.state, self._places.socket):
            path.unlink(missing_ok=True)
        os.close(self._lock)


@contextmanager
def claimed(places: Places) -> Iterator[Claim | None]:
    """The right to be the daemon for this block; None while another process has it.

    Raises VaultUnavailable for a state folder that is not this user's alone, or that cannot be made.
    """
    make_folders(places)
    lock = _open_lock(places.lock)
    if not is_locked(lock, fcntl.LOCK_EX, within=_PATIENCE):
        os.close(lock)
        yield None
        return
    claim = Claim(places, lock)
    places.state.unlink(missing_ok=True)  # what a killed daemon said of itself
    try:
        yield claim
    finally:
        claim.release()


def our_places() -> Places:
    """Where this user's daemon keeps its files. Raises VaultUnavailable for a user without a home."""
    try:
        return places_of_user()
    except Unreachable as error:
        raise VaultUnavailable(str(error), hint="The daemon keeps its tokens there.") from error


def is_claimed(places: Places) -> bool:
    """Whether some process is the daemon, be it ready or not."""
    try:
        lock = os.open(places.lock, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        return not is_locked(lock, fcntl.LOCK_SH, within=0.0)
    finally:
        os.close(lock)


def announced(places: Places) -> State | None:
    """The daemon that runs, as it says itself; None where none runs, or where it is not ready yet."""
    if not is_claimed(places):
        return None
    with suppress(OSError):
        return read_state(places.state)
    return None


def make_folders(places: Places) -> None:
    """Make the state folders. Raises VaultUnavailable when they are not this user's alone, or cannot be made."""
    try:
        places.make()
    except Unreachable as error:
        raise VaultUnavailable(
            str(error), path=str(places.folder), hint="The daemon keeps its tokens there."
        ) from error
    except OSError as error:
        message = f"the daemon's folder cannot be made: {error.strerror}"
        raise VaultUnavailable(message, path=str(places.folder), hint="Set COMMONPLACE_STATE to another.") from error


def _open_lock(path: Path) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        message = f"the daemon's lock cannot be opened: {error.strerror}"
        raise VaultUnavailable(message, path=str(path), hint="Look at the folder's permissions.") from error
