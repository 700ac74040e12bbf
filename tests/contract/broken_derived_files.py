"""Broken deriving: a derived file has the wrong content, is missing, or gets into the history."""

import time

from commonplace.vault.base import Label, Locator
from commonplace.vault.contract_errors import path_of
from commonplace.vault.inmemory import File
from tests.contract.broken_histories import BrokenHistory
from tests.contract.broken_store import Broken, breaks


@breaks("a_derived_file_says_what_it_is_given")
class DerivesOnce(Broken):
    def derive(self, at: Locator, content: bytes) -> None:
        there = self._files.get(at.path)
        super().derive(at, there.content if there else content)


@breaks("an_identical_derived_file_is_not_touched")
class AlwaysDerives(Broken):
    derivings = 0

    def derive(self, at: Locator, content: bytes) -> None:
        super().derive(at, content)
        self.derivings += 1
        self._files = {**self._files, at.path: File(content, time.time() + self.derivings)}


@breaks("no_other_file_is_derived")
class DerivesAnything(Broken):
    def derive(self, at: Locator, content: bytes) -> None:
        if at.path.endswith("_index.md"):
            super().derive(at, content)
        else:
            self._files = {**self._files, path_of(at, self): File(content, 1.0)}


@breaks("a_derived_file_takes_its_turn")
class DerivesOutOfTurn(Broken):
    def derive(self, at: Locator, content: bytes) -> None:
        holder, self._holder = self._holder, None
        if holder is None:
            super().derive(at, content)
        else:
            self._files = {**self._files, at.path: File(content, 1.0)}
        self._holder = holder


@breaks("a_derived_file_is_in_no_commit")
class CommitsWhatItDerives(BrokenHistory):
    def refuse_tracked(self, path: str) -> None:
        if self.commits and self.commits[-1].revision.message != "derived":
            super().refuse_tracked(path)

    def derive(self, at: Locator, content: bytes) -> None:
        before = self._files
        super().derive(at, content)
        self.derived.clear()
        self._commit(before, Label("derived"))


@breaks("what_history_holds_is_not_derived_over")
class DerivesOverHistory(BrokenHistory):
    def refuse_tracked(self, path: str) -> None:
        pass
