"""The indexes of the past on the disk, a folder for each: those that were used last are kept.

Other processes use the same folders, and may take one away at any moment: what is gone already is no trouble.
"""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from commonplace.errors import VaultUnavailable
from commonplace.index.base import Index
from commonplace.index.sqlite.folder import only_one

_MOST: Final = 8  # each holds a whole vault
_ATTEMPTS: Final = 5  # to remove a folder into which another process writes
_FILE: Final = "index.db"
_BUILDING: Final = f"{_FILE}.lock"  # held by the process that builds the index


@dataclass(frozen=True, slots=True)
class Pasts:
    """The indexes below a folder; `fingerprint` stands for all that one depends on beside its commit."""

    folder: Path
    make: Callable[[Path], Index]
    fingerprint: str

    def at(self, commit: str) -> Index:
        """The index of a commit, perhaps empty; the oldest of too many go. Raises VaultUnavailable."""
        place = self.folder / f"{commit[:16]}-{self.fingerprint}"
        with _trouble(place):
            place.mkdir(mode=0o700, parents=True, exist_ok=True)
            place.touch()
        self._drop_oldest(wanted=place)
        return self.make(place / _FILE)

    def forget(self) -> None:
        """Take all of them away. Raises VaultUnavailable."""
        _remove(self.folder)

    def _drop_oldest(self, *, wanted: Path) -> None:
        """Take away those that are too many beside the one that is wanted, but none that is being built."""
        others: list[Path] = []
        with _trouble(self.folder):
            others = sorted((place for place in self.folder.iterdir() if place != wanted), key=_age)
        for place in others[_MOST - 1 :]:
            with _trouble(place), only_one(place / _BUILDING, wait=0) as is_idle:
                if is_idle:
                    _remove(place)


def _age(place: Path) -> float:
    """Less for one that was used later; one that is gone is the oldest."""
    try:
        return -place.stat().st_mtime
    except FileNotFoundError:
        return 0.0


def _remove(folder: Path) -> None:
    for _ in range(_ATTEMPTS):
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            return
    with _trouble(folder):
        shutil.rmtree(folder)


@contextmanager
def _trouble(folder: Path) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError:
        return
    except OSError as error:
        raise VaultUnavailable(
            f"an index of the past cannot be made or removed ({error.strerror or error})",
            path=str(folder),
            hint=f"Give your user permission for {folder}, or delete it: it is made anew.",
        ) from error
