"""Indexes for one evaluation, each in a folder of its own beside the vault's other data.

A process that is killed leaves its folder behind, with what the notes say. The kernel frees its lock, and by that the
next evaluation, or whoever erases a note, knows that nobody needs the folder.
"""

import secrets
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from commonplace.app.places import folder_trouble, remove_folder
from commonplace.errors import VaultUnavailable
from commonplace.index.base import Index
from commonplace.index.sqlite.folder import only_one

_WHAT: Final = "an index for an evaluation"
_PREFIX: Final = "scratch-"
_HELD: Final = "held.lock"  # in each folder, by the process that uses it
_TURN: Final = "scratch.lock"  # by the process that makes or removes folders: none is seen before it is held
_PATIENCE: Final = 30.0


@dataclass(frozen=True, slots=True)
class Scratches:
    """The folders `scratch-...` in the folder of a vault's data."""

    folder: Path
    make: Callable[[Path], Index]

    @contextmanager
    def one(self) -> Iterator[Index]:
        """An empty index, which goes with its folder when the block ends, however it ends. Raises VaultUnavailable."""
        with ExitStack() as held:
            place = self.folder / f"{_PREFIX}{secrets.token_hex(6)}"
            held.callback(remove_folder, place, what=_WHAT)
            with self._turn(), folder_trouble(place, what=_WHAT):
                self._remove_left()
                held.enter_context(only_one(place / _HELD, wait=0))
            index = self.make(place / "index.db")
            held.callback(index.close)
            yield index

    def forget(self) -> None:
        """Take away what dead processes have left. Raises VaultUnavailable."""
        if any(self.folder.glob(f"{_PREFIX}*")):
            with self._turn():
                self._remove_left()

    @contextmanager
    def _turn(self) -> Iterator[None]:
        with ExitStack() as held:
            is_alone = False
            with folder_trouble(self.folder, what=_WHAT):
                is_alone = held.enter_context(only_one(self.folder / _TURN, wait=_PATIENCE))
            if not is_alone:
                raise VaultUnavailable(
                    "another process makes or removes an index for an evaluation",
                    path=str(self.folder),
                    hint="Wait until it is done, and try again.",
                )
            yield

    def _remove_left(self) -> None:
        for place in self.folder.glob(f"{_PREFIX}*"):
            with folder_trouble(place, what=_WHAT), only_one(place / _HELD, wait=0) as is_left:
                if is_left:
                    remove_folder(place, what=_WHAT)
