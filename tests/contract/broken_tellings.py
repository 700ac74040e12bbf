"""Broken tellings: a caller is told twice, too late, or something untrue."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from commonplace.vault.base import Label, Made, Then
from commonplace.vault.changes import Changes
from tests.contract.breaking import Broken, breaks


class BrokenTelling(Broken):
    """A broken backend whose way of telling can be tampered with."""

    def tell(self, made: Made, then: Then) -> None:
        then(made)

    @contextmanager
    def transaction(
        self, *, wait: float = 10.0, label: Label | None = None, then: Then | None = None
    ) -> Iterator[Changes]:
        def tampered(made: Made) -> None:
            if then:
                self.tell(made, then)

        with super().transaction(wait=wait, label=label, then=tampered) as changes:
            yield changes


@breaks("what_was_made_is_told_once")
class TellsTwice(BrokenTelling):
    def tell(self, made: Made, then: Then) -> None:
        then(made)
        then(made)


@breaks("an_identical_write_is_told_as_no_change")
class AlwaysSaysChanged(BrokenTelling):
    def tell(self, made: Made, then: Then) -> None:
        then(replace(made, changed=True))


@breaks("it_is_told_under_the_lock")
class TellsTooLate(Broken):
    @contextmanager
    def transaction(
        self, *, wait: float = 10.0, label: Label | None = None, then: Then | None = None
    ) -> Iterator[Changes]:
        told: list[Made] = []
        with super().transaction(wait=wait, label=label, then=told.append) as changes:
            yield changes
        for made in told:
            if then:
                then(made)


@breaks("what_was_not_made_is_not_told")
class TellsOfFailures(Broken):
    @contextmanager
    def transaction(
        self, *, wait: float = 10.0, label: Label | None = None, then: Then | None = None
    ) -> Iterator[Changes]:
        try:
            with super().transaction(wait=wait, label=label, then=then) as changes:
                yield changes
        except Exception:
            if then:
                then(Made(None, changed=False))
            raise
