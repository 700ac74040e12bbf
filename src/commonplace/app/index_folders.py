"""Folders of indexes that are created and removed: of past commits, and for one evaluation."""

import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from commonplace.database.connection import exclusive_lock
from commonplace.errors import VaultUnavailable
from commonplace.index.base import Index

_FILE: Final = "index.db"
_PAST_INDEX: Final = "an index of the past"
_MOST: Final = 8  # past indexes; each holds a whole vault
_BUILDING: Final = f"{_FILE}.lock"  # held by the process that builds the index
_TEMPORARY_INDEX: Final = "an index for an evaluation"
_PREFIX: Final = "scratch-"
_HELD: Final = "held.lock"  # in each folder, held by the process that uses it
_CHANGING: Final = "scratch.lock"  # held while folders are created or removed: none is visible before it is locked
_PATIENCE: Final = 30.0  # seconds
_ATTEMPTS: Final = 5  # to remove a folder into which another process writes


def remove_folder(folder: Path, *, what: str) -> None:
    """Remove the folder and everything in it, if it still exists. Raises VaultUnavailable."""
    for _ in range(_ATTEMPTS):
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            return
    with disk_errors(folder, what=what):
        shutil.rmtree(folder)


@contextmanager
def disk_errors(folder: Path, *, what: str) -> Iterator[None]:
    """Turn an OSError in this block into VaultUnavailable about `what`; a folder that is gone is not an error."""
    try:
        yield
    except FileNotFoundError:
        return
    except OSError as error:
        raise VaultUnavailable(
            f"{what} cannot be created or removed ({error.strerror or error})",
            path=str(folder),
            hint=f"Give your user permission for {folder}, or delete it: it will be created again.",
        ) from error


@dataclass(frozen=True, slots=True)
class TemporaryIndexes:
    """Indexes for one evaluation, in folders `scratch-...` of the vault's data folder.

    A killed process leaves its folder, with text of the notes in it. The kernel frees its lock: by that the next
    evaluation, or an erasure, knows that the folder is not in use.
    """

    folder: Path
    make: Callable[[Path], Index]

    @contextmanager
    def one(self) -> Iterator[Index]:
        """An empty index that is deleted with its folder when the block ends. Raises VaultUnavailable."""
        with ExitStack() as held:
            place = self.folder / f"{_PREFIX}{secrets.token_hex(6)}"
            held.callback(remove_folder, place, what=_TEMPORARY_INDEX)
            with self._changing(), disk_errors(place, what=_TEMPORARY_INDEX):
                self._remove_leftovers()
                held.enter_context(exclusive_lock(place / _HELD, wait=0))
            index = self.make(place / "index.db")
            held.callback(index.close)
            yield index

    def forget(self) -> None:
        """Remove the folders that killed processes left. Raises VaultUnavailable."""
        if any(self.folder.glob(f"{_PREFIX}*")):
            with self._changing():
                self._remove_leftovers()

    @contextmanager
    def _changing(self) -> Iterator[None]:
        with ExitStack() as held:
            is_alone = False
            with disk_errors(self.folder, what=_TEMPORARY_INDEX):
                is_alone = held.enter_context(exclusive_lock(self.folder / _CHANGING, wait=_PATIENCE))
            if not is_alone:
                raise VaultUnavailable(
                    "another process is creating or removing an index for an evaluation",
                    path=str(self.folder),
                    hint="Try again when it is done.",
                )
            yield

    def _remove_leftovers(self) -> None:
        for place in self.folder.glob(f"{_PREFIX}*"):
            with disk_errors(place, what=_TEMPORARY_INDEX), exclusive_lock(place / _HELD, wait=0) as is_unused:
                if is_unused:
                    remove_folder(place, what=_TEMPORARY_INDEX)


@dataclass(frozen=True, slots=True)
class PastIndexes:
    """Indexes of past commits, one folder each; the last used are kept. Other processes share and may remove them.

    `fingerprint` stands for everything besides the commit that such an index depends on.
    """

    folder: Path
    make: Callable[[Path], Index]
    fingerprint: str

    def at(self, commit: str) -> Index:
        """The index of a commit, perhaps still empty; drops the oldest of too many. Raises VaultUnavailable."""
        place = self.folder / f"{commit[:16]}-{self.fingerprint}"
        with disk_errors(place, what=_PAST_INDEX):
            place.mkdir(mode=0o700, parents=True, exist_ok=True)
            place.touch()
        self._drop_oldest(wanted=place)
        return self.make(place / _FILE)

    def forget(self) -> None:
        """Remove all of them. Raises VaultUnavailable."""
        remove_folder(self.folder, what=_PAST_INDEX)

    def _drop_oldest(self, *, wanted: Path) -> None:
        """Remove the least recently used beyond the limit, except `wanted` and those being built."""
        others: list[Path] = []
        with disk_errors(self.folder, what=_PAST_INDEX):
            others = sorted((place for place in self.folder.iterdir() if place != wanted), key=_age)
        for place in others[_MOST - 1 :]:
            with disk_errors(place, what=_PAST_INDEX), exclusive_lock(place / _BUILDING, wait=0) as is_idle:
                if is_idle:
                    remove_folder(place, what=_PAST_INDEX)


def _age(place: Path) -> float:
    """A sort key: the last used first, one that is gone last."""
    try:
        return -place.stat().st_mtime
    except FileNotFoundError:
        return 0.0
