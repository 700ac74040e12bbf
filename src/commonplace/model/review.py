"""Review: the entries that wait for the person's approval, and what became of one."""

from dataclasses import dataclass
from typing import Literal

from commonplace.model.fact import Fact

ReviewAction = Literal["approve", "edit", "confirm", "reject"]


@dataclass(frozen=True, slots=True)
class WaitingEntry:
    """An entry that waits for the person; its `reason` says why.

    `against` are the known facts that it would replace or contradict. `known` is the fact that says the same by now, if
    there is one. `remarks` say what has changed since it was saved.
    """

    fact: Fact
    against: tuple[Fact, ...] = ()
    known: Fact | None = None
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ReviewQueue:
    """Everything that waits: entries, oldest first, and the paths of staged notes that are not entries."""

    entries: tuple[WaitingEntry, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ReviewResult:
    """The result of a review of one entry; `fact` is the entry as it is now, or would be.

    The action is `confirm` if the entry was approved and something says the same already: then `fact` is what is known.
    `ended` are the entries that it replaced. `remarks` say what the person should know besides.
    """

    action: ReviewAction
    fact: Fact
    ended: tuple[Fact, ...] = ()
    remarks: tuple[str, ...] = ()
    commit: str | None = None
    changed: bool = True
    difference: str | None = None
