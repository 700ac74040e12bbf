"""Broken transactions and locking."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import get_ident

from commonplace.errors import Conflict, UsageError, VaultUnavailable
from commonplace.vault import inmemory
from commonplace.vault.base import Blob, Label, Locator, OnCommit, version_of
from commonplace.vault.changes import Change, Changes, Delete, Move, Write
from commonplace.vault.file_table import check_change
from commonplace.vault.inmemory import Files
from tests.contract.broken_store import Broken, BrokenPersistent, BrokenShared, breaks


@breaks("changes_are_made_together")
class ForgetsMovesAmongOthers(Broken):
    def amend(self, planned: list[Change]) -> list[Change]:
        return [change for change in planned if len(planned) == 1 or not isinstance(change, Move)]


@breaks("nothing_is_made_before_the_block_ends")
class ShowsChangesEarly(Broken):
    class Early(Changes):
        def read(self, at: Locator) -> Blob:
            blob = super().read(at)
            for change in self.planned:
                if isinstance(change, Write) and change.path == at.path:
                    return Blob(change.content, version_of(change.content), blob.stat)
            return blob

    def collect(self) -> Changes:
        return self.Early(self)


@breaks("an_error_in_the_block_changes_nothing")
class KeepsHalfABlock(Broken):
    class Hasty(Changes):
        def close(self) -> None:
            super().close()
            store = self._store
            if isinstance(store, KeepsHalfABlock) and [type(change) for change in self.planned] == [Write, Delete]:
                store._files = inmemory._apply(store._files, self.planned)
                self.planned.clear()

    def collect(self) -> Changes:
        return self.Hasty(self)


@breaks("one_bad_change_undoes_all")
class KeepsWhatCameBefore(Broken):
    def amend(self, planned: list[Change]) -> list[Change]:
        for done, change in enumerate(planned):
            try:
                check_change(self._files, change)
            except Conflict:
                self._files = inmemory._apply(self._files, planned[:done])
                raise
        return planned


@breaks("a_change_that_the_batch_itself_spoils_undoes_all")
class TakesNothingBack(Broken):
    def amend(self, planned: list[Change]) -> list[Change]:
        if len(planned) == 1:
            return planned
        for change in planned:
            check_change(self._files, change)
        for change in planned:
            self._files = inmemory._apply(self._files, [change])
        return []


@breaks("a_file_is_named_once")
class TakesTheLastWord(Broken):
    class Forgetful(Changes):
        def _name(self, path: str) -> None:
            self._named.clear()

    def collect(self) -> Changes:
        return self.Forgetful(self)


@breaks("an_ended_transaction_is_unusable")
class NeverEnds(Broken):
    class Open(Changes):
        def close(self) -> None:
            self._open = True

    def collect(self) -> Changes:
        return self.Open(self)


@breaks("an_empty_transaction_is_nothing")
class WantsSomethingToDo(Broken):
    def amend(self, planned: list[Change]) -> list[Change]:
        if not planned:
            raise UsageError("nothing to do")
        return planned


@breaks("a_transaction_inside_another_is_refused")
class WaitsForItself(Broken):
    @contextmanager
    def transaction(
        self, *, wait: float = 10.0, label: Label | None = None, then: OnCommit | None = None
    ) -> Iterator[Changes]:
        if self._holder == get_ident():
            raise VaultUnavailable("locked by myself", reason="locked")
        with super().transaction(wait=wait, label=label, then=then) as changes:
            yield changes


@breaks("reading_does_not_wait_for_a_transaction")
class LocksReaders(Broken):
    def read(self, at: Locator) -> Blob:
        if self._holder not in (None, get_ident()):
            raise VaultUnavailable("locked", reason="locked")
        return super().read(at)


@breaks("what_was_written_is_there_when_opened_again", remembers=False)
class Forgets(BrokenPersistent):
    pass


@breaks("two_openers_take_turns")
class CallsTheLockAConflict(BrokenShared):
    @contextmanager
    def _hold(self, wait: float) -> Iterator[None]:
        if self._mutex.locked() and wait < 1:
            raise Conflict("someone else is here")
        with super()._hold(wait):
            yield


@breaks("no_update_is_lost")
class ReadsBeforeItsTurn(BrokenShared):
    class Early(Changes):
        seen: Files

        def read(self, at: Locator) -> Blob:
            blob = super().read(at)
            content = self.seen[at.path].content
            return Blob(content, version_of(content), blob.stat)

    @contextmanager
    def transaction(
        self, *, wait: float = 10.0, label: Label | None = None, then: OnCommit | None = None
    ) -> Iterator[Changes]:
        early = self.Early(self)
        early.seen = self._files
        time.sleep(0.001)  # lets another thread in, so that the fault shows every time
        with super().transaction(wait=wait, label=label, then=then) as changes:
            early.planned = changes.planned
            try:
                yield early
            finally:
                early.close()
