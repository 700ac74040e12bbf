"""Broken watching: events are missing, in the wrong order, or never end."""

import threading
from collections.abc import Iterator

from commonplace.vault.base import Capability, Skip, WatchEvent
from commonplace.vault.inmemory import InMemory
from tests.contract.broken_store import Broken, breaks

Events = tuple[WatchEvent, ...]


class BrokenWatch(Broken):
    """A broken backend whose events can be tampered with."""

    capabilities = frozenset({Capability.WATCHED})

    def tamper(self, batches: Iterator[Events]) -> Iterator[Events]:
        return (self.amend_events(each) for each in batches)

    def amend_events(self, events: Events) -> Events:
        return events

    def watch(self, *, stop: threading.Event, skip: Skip | None = None, step: float = 0.5) -> Iterator[Events]:
        return self.tamper(_until_quiet(super().watch(stop=stop, skip=skip, step=0.001)))


def _until_quiet(batches: Iterator[Events]) -> Iterator[Events]:
    """End after a quiet period, so that a check that waits for a missing event does not wait for long."""
    quiet = 0
    for each in batches:
        yield each
        quiet = 0 if each else quiet + 1
        if quiet > 100:
            return


def _count(events: Events, kind: str) -> int:
    return sum(event.kind == kind for event in events)


@breaks("a_save_is_seen")
class ReportsEachSaveOnce(BrokenWatch):
    def tamper(self, batches: Iterator[Events]) -> Iterator[Events]:
        reported: set[WatchEvent] = set()
        for each in batches:
            yield tuple(event for event in each if event not in reported)
            reported |= set(each)


@breaks("a_removal_is_seen")
class HidesRemovals(BrokenWatch):
    def amend_events(self, events: Events) -> Events:
        return events if _count(events, "saved") else ()


@breaks("a_move_is_seen")
class TakesMovesForCopies(BrokenWatch):
    def amend_events(self, events: Events) -> Events:
        is_move = _count(events, "gone") == _count(events, "saved") == 1
        return tuple(event for event in events if event.kind == "saved") if is_move else events


@breaks("a_replaced_file_ends_as_saved")
class ReportsRemovalsLate(BrokenWatch):
    def tamper(self, batches: Iterator[Events]) -> Iterator[Events]:
        late: Events = ()
        for each in batches:
            yield (*each, *late) if late and each else late or each
            late = each if each and not _count(each, "saved") else ()


@breaks("a_renamed_folder_is_seen")
class OverlooksFolders(BrokenWatch):
    def amend_events(self, events: Events) -> Events:
        return () if _count(events, "gone") > 1 else events


@breaks("skipped_paths_are_not_seen")
class SkipsNothing(BrokenWatch):
    def watch(self, *, stop: threading.Event, skip: Skip | None = None, step: float = 0.5) -> Iterator[Events]:
        return super().watch(stop=stop, step=step)


@breaks("stop_ends_the_watching")
class WatchesForever(BrokenWatch):
    def watch(self, *, stop: threading.Event, skip: Skip | None = None, step: float = 0.5) -> Iterator[Events]:
        return InMemory.watch(self, stop=threading.Event(), skip=skip, step=step)
