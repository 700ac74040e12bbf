"""Watching a store, in three ways: by system events, by polling, and by queues within this process.

The system reports that something happened to a path, sometimes out of order and more than once; the state of the path
when we look decides what the event is. A path reported twice is checked twice, which does no harm. A remote or shared
file system may report nothing of what other machines do: a periodic reconcile finds that.
"""

import os
import stat
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from queue import Empty, SimpleQueue
from typing import Final

from commonplace.errors import NotFound, Refused, VaultUnavailable, missing_extra
from commonplace.model import Stat
from commonplace.vault.base import Skip, StorageBackend, WatchEvent
from commonplace.vault.paths import normal, skip_filter
from commonplace.vault.tree import FolderTree, find_name

PathBatches = Iterator[set[str]]
"""The absolute paths to which something happened; an empty set from time to time."""

Start = Callable[[str, threading.Event], PathBatches]

MANY: Final = 2_000
"""From this many paths at once, everything is checked: that is quicker, and the kernel's queue (16,384 events on Linux)
may have overflowed, which is not reported."""

POLL_INTERVAL_S: Final = 3.0
"""Seconds between two listings: listing 10,000 files takes about a tenth of a second."""

_STEP_MS: Final = 50  # how often the system is asked; a single save is reported at the second step after it
_DEBOUNCE_MS: Final = 500  # how long a stream of changes is collected
_RESTART_AFTER_S: Final = 10.0  # a watcher that fails twice within this time will fail again
_EVERYTHING: Final = (WatchEvent("", "folder"),)

_Queue = SimpleQueue[tuple[WatchEvent, ...]]


# System events


def watch_folder(
    tree: FolderTree, *, stop: threading.Event, skip: Skip | None, step: float, start: Start | None = None
) -> Iterator[tuple[WatchEvent, ...]]:
    """The events in the folder from this call on, until `stop` is set; () every `step` seconds while there are none.

    When the watcher breaks down it is restarted, and one event says that everything must be listed again.
    Raises VaultUnavailable when it cannot be started, or breaks down at once.
    """
    begin = start or start_watching
    batches = _start(begin, tree, stop)
    return _events(batches, _PathChecker(tree, skip), restart=lambda: _start(begin, tree, stop), step=step)


def start_watching(root: str, stop: threading.Event) -> PathBatches:
    """The paths that the system reports from now on. Raises OSError or RuntimeError when it cannot watch the folder."""
    try:
        import watchfiles  # takes 50 ms, which a process that does not watch need not spend
    except ModuleNotFoundError as error:
        raise missing_extra("serve", "watching a vault") from error

    batches = watchfiles.watch(
        root,
        watch_filter=None,
        debounce=_DEBOUNCE_MS,
        step=_STEP_MS,
        stop_event=stop,
        rust_timeout=_STEP_MS,
        yield_on_timeout=True,
        ignore_permission_denied=True,  # a listing reports folders that cannot be read
    )
    first = next(batches, None)  # the watcher starts at the first request
    return ({path for _, path in each} for each in (() if first is None else chain([first], batches)))


def _start(begin: Start, tree: FolderTree, stop: threading.Event) -> PathBatches:
    try:
        return begin(str(tree.root), stop)
    except (OSError, RuntimeError) as error:
        raise _cannot_watch(tree, error) from error


def _events(
    batches: PathBatches, checker: "_PathChecker", *, restart: Callable[[], PathBatches], step: float
) -> Iterator[tuple[WatchEvent, ...]]:
    since = time.monotonic()
    last_yield = since - step  # the first tuple comes at once: it says that watching has begun
    while True:
        try:
            paths = next(batches, None)
        except (OSError, RuntimeError) as error:
            if time.monotonic() - since < _RESTART_AFTER_S:
                raise _cannot_watch(checker.tree, error) from error
            batches, since = restart(), time.monotonic()
            yield _EVERYTHING
            continue
        if paths is None:
            return
        events = checker.check(paths) if paths else ()
        if events or time.monotonic() - last_yield >= step:
            last_yield = time.monotonic()
            yield events


class _PathChecker:
    """Turns reported paths into events, by looking at what is there now."""

    def __init__(self, tree: FolderTree, skip: Skip | None) -> None:
        self.tree = tree
        self._skip = skip

    def check(self, absolute: Iterable[str]) -> tuple[WatchEvent, ...]:
        """The events for these paths; those that an event for a folder above covers are left out."""
        paths = {os.path.relpath(path, self.tree.root) for path in absolute}
        if "." in paths or len(paths) >= MANY:
            return _EVERYTHING
        is_skipped = skip_filter(self._skip)
        events: dict[str, WatchEvent] = {}
        for path in sorted(paths):
            event = None if _is_covered(path, events) else self._event(path)
            if event and not self._is_left_out(event, is_skipped):
                events[path] = event
        return tuple(sorted(events.values(), key=lambda event: (event.kind != "gone", event.path)))

    def _event(self, path: str) -> WatchEvent | None:
        """None for a path that is not part of the store: git's own, temporary files, behind a link."""
        try:
            if normal(path) != path:
                return None
            mode = self._mode(path)
        except NotFound:
            mode = None
        except Refused:
            return None
        except OSError:
            return WatchEvent(path.rpartition("/")[0], "folder")  # listing the folder will report what is wrong
        if mode is not None and stat.S_ISDIR(mode):
            return WatchEvent(path, "folder")
        return WatchEvent(path, "saved" if mode is not None and stat.S_ISREG(mode) else "gone")

    def _mode(self, path: str) -> int | None:
        """The mode of what is at exactly this path; None for nothing."""
        above, _, name = path.rpartition("/")
        with self.tree.open_folder(above) as (opened, folder):
            entry = find_name(opened, name)
        return entry.mode if (folder, entry.name) == (above, name) else None

    def _is_left_out(self, event: WatchEvent, is_skipped: Callable[[str], bool]) -> bool:
        """True if `skip` leaves the path out. A path that is gone may have been a file or a folder."""
        forms = {"saved": (event.path,), "folder": (f"{event.path}/",), "gone": (event.path, f"{event.path}/")}
        return any(is_skipped(path) for path in forms[event.kind])


def _is_covered(path: str, events: dict[str, WatchEvent]) -> bool:
    above = path.rpartition("/")[0]
    while above:
        if above in events:
            return events[above].kind != "saved"
        above = above.rpartition("/")[0]
    return False


def _cannot_watch(tree: FolderTree, error: Exception) -> VaultUnavailable:
    return VaultUnavailable(
        f"the system cannot watch {tree.root}: {error}",
        path=str(tree.root),
        hint="On Linux raise fs.inotify.max_user_watches and fs.inotify.max_user_instances with sysctl; "
        "until then changes are found by polling every few seconds.",
    )


# Polling


def poll(
    backend: StorageBackend,
    *,
    stop: threading.Event,
    skip: Skip | None = None,
    step: float = 0.5,
    every: float = POLL_INTERVAL_S,
) -> Iterator[tuple[WatchEvent, ...]]:
    """The events of any store, found by comparing listings: later than `watch`, and without short-lived files.

    Raises VaultUnavailable when the store cannot be listed.
    """
    return _poll_changes(backend, _list_files(backend, skip), stop=stop, skip=skip, pace=(step, every))


def _poll_changes(
    backend: StorageBackend,
    before: Mapping[str, Stat],
    *,
    stop: threading.Event,
    skip: Skip | None,
    pace: tuple[float, float],
) -> Iterator[tuple[WatchEvent, ...]]:
    step, every = pace
    listed_at = time.monotonic()
    while not stop.wait(min(step, every)):
        if time.monotonic() - listed_at < every:
            yield ()
            continue
        after = _list_files(backend, skip)
        listed_at = time.monotonic()
        yield differences(before, after)
        before = after


def differences(before: Mapping[str, Stat], after: Mapping[str, Stat]) -> tuple[WatchEvent, ...]:
    """The events between two listings."""
    gone = tuple(WatchEvent(path, "gone") for path in before if path not in after)
    return gone + tuple(WatchEvent(path, "saved") for path, stat in after.items() if before.get(path) != stat)


def _list_files(backend: StorageBackend, skip: Skip | None) -> Mapping[str, Stat]:
    return {stat.path: stat for stat in backend.list(skip=skip).files}


# Queues


class WatchQueues:
    """The watchers of a store whose changes all go through this process: each watcher has a queue of events."""

    def __init__(self) -> None:
        self._queues: tuple[_Queue, ...] = ()
        self._lock = threading.Lock()

    def send(self, events: tuple[WatchEvent, ...]) -> None:
        """Put the events into every queue."""
        for queue in self._queues if events else ():
            queue.put(events)

    def watch(self, *, stop: threading.Event, skip: Skip | None, step: float) -> Iterator[tuple[WatchEvent, ...]]:
        """The events sent from this call on, until `stop` is set; () every `step` seconds while there are none."""
        queue: _Queue = SimpleQueue()
        with self._lock:
            self._queues = (*self._queues, queue)
        return self._receive(queue, stop=stop, skip=skip, step=step)

    def _receive(
        self, queue: _Queue, *, stop: threading.Event, skip: Skip | None, step: float
    ) -> Iterator[tuple[WatchEvent, ...]]:
        is_skipped = skip_filter(skip)
        try:
            while not stop.is_set():
                try:
                    events = queue.get(timeout=step)
                except Empty:
                    events = ()
                yield tuple(each for each in events if not is_skipped(each.path))
        finally:
            with self._lock:
                self._queues = tuple(each for each in self._queues if each is not queue)
