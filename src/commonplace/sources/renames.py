"""Which removals were renames: a small memory of what was removed and saved a moment ago.

A rename reaches a watcher as two things, a removal and a save, in either order and at times apart. While the window is
open a removal waits: it becomes a rename when the same content turns up elsewhere, and nothing at all when the path is
saved again, which is how many editors save. Else it is carried out when its window closes. A save never waits.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Saved:
    """Take in what is at the path now."""

    path: str


@dataclass(frozen=True, slots=True)
class Gone:
    """Nothing is at the path any more."""

    path: str


@dataclass(frozen=True, slots=True)
class Renamed:
    """What was at the old path is at the new one now; take in what is there, in case it changed since."""

    old: str
    new: str


Decision = Saved | Gone | Renamed


@dataclass(frozen=True, slots=True)
class _Event:
    content_hash: str | None
    at: float


class Pending:
    """Removals that wait, and saves that a removal may still belong to. Times are seconds of any one clock."""

    def __init__(self, *, window: float) -> None:
        self._window = window
        self._gone: dict[str, _Event] = {}
        self._saved: dict[str, _Event] = {}

    def gone(self, path: str, content_hash: str | None, *, at: float) -> tuple[Decision, ...]:
        """What to do now that the path is gone; `content_hash` is that of what was known there, None for nothing."""
        self._saved.pop(path, None)
        twins = self._waiting(self._saved, content_hash, at)
        if len(twins) == 1 and not self._waiting(self._gone, content_hash, at):
            (new,) = twins
            del self._saved[new]
            self._gone.pop(path, None)
            return (Renamed(path, new),)
        self._gone.setdefault(path, _Event(content_hash, at))
        return ()

    def saved(self, path: str, content_hash: str, *, at: float) -> tuple[Decision, ...]:
        """What to do now that the path was saved with that content."""
        self._gone.pop(path, None)
        self._saved.pop(path, None)
        twins = self._waiting(self._gone, content_hash, at)
        if len(twins) == 1 and not self._waiting(self._saved, content_hash, at):
            (old,) = twins
            del self._gone[old]
            return (Renamed(old, path),)
        self._saved[path] = _Event(content_hash, at)
        return (Saved(path),)

    def due(self, *, now: float) -> tuple[Decision, ...]:
        """The removals whose window has closed, in the order they came; they are forgotten with this."""
        closed = [path for path, event in self._gone.items() if not self._is_open(event, now)]
        for path in closed:
            del self._gone[path]
        self._saved = {path: event for path, event in self._saved.items() if self._is_open(event, now)}
        return tuple(Gone(path) for path in closed)

    def _waiting(self, events: dict[str, _Event], content_hash: str | None, at: float) -> list[str]:
        """The paths with that content whose window is open; an unknown content is like no other."""
        if content_hash is None:
            return []
        return [
            path for path, event in events.items() if event.content_hash == content_hash and self._is_open(event, at)
        ]

    def _is_open(self, event: _Event, now: float) -> bool:
        return now - event.at < self._window
