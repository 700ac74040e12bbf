"""The verb lint."""

from commonplace.flows.keeper import Keeper
from commonplace.flows.lint import Linted, lint
from commonplace.flows.read import Progress


class Lint:
    """A look at every entry of one vault, for one actor."""

    def __init__(self, keeper: Keeper) -> None:
        self._keeper = keeper

    def __call__(self, *, fix: bool = False, progress: Progress = lambda done, total: None) -> Linted:
        """What is wrong with entries and with the chains of facts, read-only; with `fix`, what is safe is mended.

        Raises as `notes.write` does where a note may not be changed.
        """
        return lint(self._keeper, fix=fix, progress=progress)
