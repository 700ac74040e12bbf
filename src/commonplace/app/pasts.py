"""The indexes of the past on the disk, a folder for each: those that were used last are kept.

Other processes use the same folders, and may take one away at any moment: what is gone already is no trouble.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from commonplace.app.places import folder_trouble, remove_folder
from commonplace.index.base import Index
from commonplace.index.sqlite.folder import only_one

_MOST: Final = 8  # each holds a whole vault
_WHAT: Final = "an index of the past"
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
        with folder_trouble(place, what=_WHAT):
            place.mkdir(mode=0o700, parents=True, exist_ok=True)
            place.touch()
        self._drop_oldest(wanted=place)
        return self.make(place / _FILE)

    def forget(self) -> None:
        """Take all of them away. Raises VaultUnavailable."""
        remove_folder(self.folder, what=_WHAT)

    def _drop_oldest(self, *, wanted: Path) -> None:
        """Take away those that are too many beside the one that is wanted, but none that is being built."""
        others: list[Path] = []
        with folder_trouble(self.folder, what=_WHAT):
            others = sorted((place for place in self.folder.iterdir() if place != wanted), key=_age)
        for place in others[_MOST - 1 :]:
            with folder_trouble(place, what=_WHAT), only_one(place / _BUILDING, wait=0) as is_idle:
                if is_idle:
                    remove_folder(place, what=_WHAT)


def _age(place: Path) -> float:
    """Less for one that was used later; one that is gone is the oldest."""
    try:
        return -place.stat().st_mtime
    except FileNotFoundError:
        return 0.0
