"""Watching a folder by what the system tells of it.

The system says that something happened to a path, at times out of order and more than once; what counts is what stands
there when we look. What is told twice is looked at twice, which does no harm.
A file system that is remote or shared may tell nothing of what others do there: a reconcile from time to time finds it.
"""

import os
import stat
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Final

from commonplace.errors import NotFound, Refused, VaultUnavailable
from commonplace.vault.base import Seen, Skip
from commonplace.vault.paths import normal
from commonplace.vault.skipping import skipping
from commonplace.vault.spell import spell
from commonplace.vault.tree import Tree

Told = Iterator[set[str]]
"""The absolute paths to which something happened; an empty set from time to time."""

Start = Callable[[str, threading.Event], Told]

MANY: Final = 2_000
"""Paths told at once from which on everything is looked at: that is quicker, and the kernel's queue (16,384 events on
Linux) may have overflowed, which is not told."""

_TURN_MS: Final = 50  # how often the system is asked; a single save is told at the second turn after it
_DEBOUNCE_MS: Final = 500  # how long changes that do not end are gathered
_SOON_S: Final = 10.0  # a watcher that fails twice within this time will fail again
_EVERYTHING: Final = (Seen("", "folder"),)


def watch_folder(
    tree: Tree, *, stop: threading.Event, skip: Skip | None, step: float, start: Start | None = None
) -> Iterator[tuple[Seen, ...]]:
    """What happens in the folder from this call on, until `stop` is set; () each `step` seconds while nothing does.

    When the watcher breaks down it is started again, and everything is to be looked at.
    Raises VaultUnavailable when it cannot be started, or breaks down at once.
    """
    begin = start or start_watching
    told = _started(begin, tree, stop)
    return _watched(told, _Looker(tree, skip), begin=lambda: _started(begin, tree, stop), step=step)


def start_watching(root: str, stop: threading.Event) -> Told:
    """What the system tells of the folder from now on. Raises OSError or RuntimeError when it does not."""
    import watchfiles  # 50 ms that a process which does not watch need not pay

    told = watchfiles.watch(
        root,
        watch_filter=None,
        debounce=_DEBOUNCE_MS,
        step=_TURN_MS,
        stop_event=stop,
        rust_timeout=_TURN_MS,
        yield_on_timeout=True,
        ignore_permission_denied=True,  # a listing tells of folders that cannot be read
    )
    first = next(told, None)  # it starts when it is first asked
    return ({path for _, path in each} for each in (() if first is None else chain([first], told)))


def _started(begin: Start, tree: Tree, stop: threading.Event) -> Told:
    try:
        return begin(str(tree.root), stop)
    except (OSError, RuntimeError) as error:
        raise _unwatchable(tree, error) from error


def _watched(told: Told, looker: "_Looker", *, begin: Callable[[], Told], step: float) -> Iterator[tuple[Seen, ...]]:
    since = time.monotonic()
    spoke = since - step  # the first word comes at once: watching has begun
    while True:
        try:
            paths = next(told, None)
        except (OSError, RuntimeError) as error:
            if time.monotonic() - since < _SOON_S:
                raise _unwatchable(looker.tree, error) from error
            told, since = begin(), time.monotonic()
            yield _EVERYTHING
            continue
        if paths is None:
            return
        seen = looker.look(paths) if paths else ()
        if seen or time.monotonic() - spoke >= step:
            spoke = time.monotonic()
            yield seen


class _Looker:
    """Looks at the paths of which something was told."""

    def __init__(self, tree: Tree, skip: Skip | None) -> None:
        self.tree = tree
        self._skip = skip

    def look(self, absolute: Iterable[str]) -> tuple[Seen, ...]:
        """What stands there now; what a folder above it covers is left out."""
        paths = {os.path.relpath(path, self.tree.root) for path in absolute}
        if "." in paths or len(paths) >= MANY:
            return _EVERYTHING
        is_skipped = skipping(self._skip)
        found: dict[str, Seen] = {}
        for path in sorted(paths):
            seen = None if _is_covered(path, found) else self._verdict(path)
            if seen and not self._is_left_out(seen, is_skipped):
                found[path] = seen
        return tuple(sorted(found.values(), key=lambda seen: (seen.what != "gone", seen.path)))

    def _verdict(self, path: str) -> Seen | None:
        """None for what is no part of the store: git's own, half-made files, what is behind a link."""
        try:
            if normal(path) != path:
                return None
            mode = self._mode(path)
        except NotFound:
            mode = None
        except Refused:
            return None
        except OSError:
            return Seen(path.rpartition("/")[0], "folder")  # whoever looks into it is told what is wrong
        if mode is not None and stat.S_ISDIR(mode):
            return Seen(path, "folder")
        return Seen(path, "saved" if mode is not None and stat.S_ISREG(mode) else "gone")

    def _mode(self, path: str) -> int | None:
        """The mode of what stands at exactly this path; None for nothing."""
        above, _, name = path.rpartition("/")
        with self.tree.folder(above) as (opened, spelled):
            found = spell(opened, name)
        return found.mode if (spelled, found.name) == (above, name) else None

    def _is_left_out(self, seen: Seen, is_skipped: Callable[[str], bool]) -> bool:
        """What is gone may have been a file or a folder."""
        asked = {"saved": (seen.path,), "folder": (f"{seen.path}/",), "gone": (seen.path, f"{seen.path}/")}
        return any(is_skipped(path) for path in asked[seen.what])


def _is_covered(path: str, found: dict[str, Seen]) -> bool:
    above = path.rpartition("/")[0]
    while above:
        if above in found:
            return found[above].what != "saved"
        above = above.rpartition("/")[0]
    return False


def _unwatchable(tree: Tree, error: Exception) -> VaultUnavailable:
    return VaultUnavailable(
        f"the system does not watch {tree.root} for us: {error}",
        path=str(tree.root),
        hint="On Linux raise fs.inotify.max_user_watches and fs.inotify.max_user_instances with sysctl; "
        "until then changes are found by looking every few seconds.",
    )
