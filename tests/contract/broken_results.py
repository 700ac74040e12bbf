"""Broken results: a caller gets its result twice, too late, or with wrong values."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from commonplace.vault.base import Label, OnCommit, TransactionResult
from commonplace.vault.changes import Changes
from tests.contract.broken_store import Broken, breaks


class BrokenResult(Broken):
    """A broken backend whose results can be tampered with."""

    def report(self, result: TransactionResult, then: OnCommit) -> None:
        then(result)

    @contextmanager
    def transaction(
        self, *, wait: float = 10.0, label: Label | None = None, then: OnCommit | None = None
    ) -> Iterator[Changes]:
        def tampered(result: TransactionResult) -> None:
            if then:
                self.report(result, then)

        with super().transaction(wait=wait, label=label, then=tampered) as changes:
            yield changes


@breaks("what_was_made_is_told_once")
class ReportsTwice(BrokenResult):
    def report(self, result: TransactionResult, then: OnCommit) -> None:
        then(result)
        then(result)


@breaks("an_identical_write_is_told_as_no_change")
class AlwaysReportsAChange(BrokenResult):
    def report(self, result: TransactionResult, then: OnCommit) -> None:
        then(replace(result, changed=True))


@breaks("it_is_told_under_the_lock")
class ReportsTooLate(Broken):
    @contextmanager
    def transaction(
        self, *, wait: float = 10.0, label: Label | None = None, then: OnCommit | None = None
    ) -> Iterator[Changes]:
        results: list[TransactionResult] = []
        with super().transaction(wait=wait, label=label, then=results.append) as changes:
            yield changes
        for result in results:
            if then:
                then(result)


@breaks("what_was_not_made_is_not_told")
class ReportsFailures(Broken):
    @contextmanager
    def transaction(
        self, *, wait: float = 10.0, label: Label | None = None, then: OnCommit | None = None
    ) -> Iterator[Changes]:
        try:
            with super().transaction(wait=wait, label=label, then=then) as changes:
                yield changes
        except Exception:
            if then:
                then(TransactionResult(None, changed=False))
            raise
