"""Broken watching: something goes untold, is told in the wrong order, or for ever."""

import threading
from collections.abc import Iterator

from commonplace.vault.base import Capability, Seen, Skip
from commonplace.vault.inmemory import InMemory
from tests.contract.breaking import Broken, breaks

Told = tuple[Seen, ...]


class BrokenWatch(Broken):
    """A broken backend whose way of telling what it saw can be tampered with."""

    capabilities = frozenset({Capability.WATCHED})

    def tamper(self, told: Iterator[Told]) -> Iterator[Told]:
        return (self.amend_told(each) for each in told)

    def amend_told(self, told: Told) -> Told:
        return told

    def watch(self, *, stop: threading.Event, skip: Skip | None = None, step: float = 0.5) -> Iterator[Told]:
        return self.tamper(_until_quiet(super().watch(stop=stop, skip=skip, step=0.001)))


def _until_quiet(told: Iterator[Told]) -> Iterator[Told]:
    """Ends when nothing has happened for a while, so that a check which waits in vain does not wait for long."""
    quiet = 0
    for each in told:
        yield each
        quiet = 0 if each else quiet + 1
        if quiet > 100:
            return


def _count(told: Told, what: str) -> int:
    return sum(seen.what == what for seen in told)


@breaks("a_save_is_seen")
class TellsOfEachSaveOnce(BrokenWatch):
    def tamper(self, told: Iterator[Told]) -> Iterator[Told]:
        known: set[Seen] = set()
        for each in told:
            yield tuple(seen for seen in each if seen not in known)
            known |= set(each)


@breaks("a_removal_is_seen")
class HidesRemovals(BrokenWatch):
    def amend_told(self, told: Told) -> Told:
        return told if _count(told, "saved") else ()


@breaks("a_move_is_seen")
class TakesMovesForCopies(BrokenWatch):
    def amend_told(self, told: Told) -> Told:
        is_move = _count(told, "gone") == _count(told, "saved") == 1
        return tuple(seen for seen in told if seen.what == "saved") if is_move else told


@breaks("a_replaced_file_ends_as_saved")
class TellsRemovalsLate(BrokenWatch):
    def tamper(self, told: Iterator[Told]) -> Iterator[Told]:
        late: Told = ()
        for each in told:
            yield (*each, *late) if late and each else late or each
            late = each if each and not _count(each, "saved") else ()


@breaks("a_renamed_folder_is_seen")
class OverlooksFolders(BrokenWatch):
    def amend_told(self, told: Told) -> Told:
        return () if _count(told, "gone") > 1 else told


@breaks("skipped_paths_are_not_seen")
class SkipsNothing(BrokenWatch):
    def watch(self, *, stop: threading.Event, skip: Skip | None = None, step: float = 0.5) -> Iterator[Told]:
        return super().watch(stop=stop, step=step)


@breaks("stop_ends_the_watching")
class WatchesForEver(BrokenWatch):
    def watch(self, *, stop: threading.Event, skip: Skip | None = None, step: float = 0.5) -> Iterator[Told]:
        return InMemory.watch(self, stop=threading.Event(), skip=skip, step=step)
