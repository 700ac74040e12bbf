"""What happened to a note's file: renamed, removed, saved again, or copied by a sync program after a conflict.

A rename reaches a watcher as a removal and a save, in either order and at different times. `RenameDetector` holds a
removal back while its window is open: it becomes a rename if the same content appears elsewhere, and nothing if the
path is saved again, which is how many editors save. Otherwise it takes effect when its window closes. Saves never wait.
"""

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class NoteSaved:
    """Index the note at the path."""

    path: str


@dataclass(frozen=True, slots=True)
class NoteRemoved:
    """The note at the path is gone."""

    path: str


@dataclass(frozen=True, slots=True)
class NoteRenamed:
    """The note at the old path is at the new one now; index it there, in case it changed since."""

    old: str
    new: str


Decision = NoteSaved | NoteRemoved | NoteRenamed


@dataclass(frozen=True, slots=True)
class _Event:
    content_hash: str | None
    at: float


class RenameDetector:
    """Pending removals, and saves that a removal may still match. Times are seconds of any one clock."""

    def __init__(self, *, window: float) -> None:
        self._window = window
        self._removed: dict[str, _Event] = {}
        self._saved: dict[str, _Event] = {}

    def remove(self, path: str, content_hash: str | None, *, at: float) -> tuple[Decision, ...]:
        """What to do now that the path is gone; `content_hash` is that of its last known content, if any."""
        self._saved.pop(path, None)
        twins = self._open_with(self._saved, content_hash, at)
        if len(twins) == 1 and not self._open_with(self._removed, content_hash, at):
            (new,) = twins
            del self._saved[new]
            self._removed.pop(path, None)
            return (NoteRenamed(path, new),)
        self._removed.setdefault(path, _Event(content_hash, at))
        return ()

    def save(self, path: str, content_hash: str, *, at: float) -> tuple[Decision, ...]:
        """What to do now that the path was saved with that content."""
        self._removed.pop(path, None)
        self._saved.pop(path, None)
        twins = self._open_with(self._removed, content_hash, at)
        if len(twins) == 1 and not self._open_with(self._saved, content_hash, at):
            (old,) = twins
            del self._removed[old]
            return (NoteRenamed(old, path),)
        self._saved[path] = _Event(content_hash, at)
        return (NoteSaved(path),)

    def due(self, *, now: float) -> tuple[Decision, ...]:
        """The removals whose window has closed, in the order they came; each is given once."""
        closed = [path for path, event in self._removed.items() if not self._is_open(event, now)]
        for path in closed:
            del self._removed[path]
        self._saved = {path: event for path, event in self._saved.items() if self._is_open(event, now)}
        return tuple(NoteRemoved(path) for path in closed)

    def _open_with(self, events: dict[str, _Event], content_hash: str | None, at: float) -> list[str]:
        """The paths with that content whose window is open; unknown content matches nothing."""
        if content_hash is None:
            return []
        return [
            path for path, event in events.items() if event.content_hash == content_hash and self._is_open(event, at)
        ]

    def _is_open(self, event: _Event, now: float) -> bool:
        return now - event.at < self._window


def original_of_conflict(path: str) -> str | None:
    """The note of which this path is a conflict copy, made by a sync program; None for any other path.

    A bare number such as `note (1).md` is not a conflict: many notes have such names.
    """
    folder, slash, name = path.rpartition("/")
    suffix = re.search(
        r"""
        \.sync-conflict-\d{8}-\d{6}(?:-[A-Z0-9]{7})?  # Syncthing: note.sync-conflict-20240101-120000-ABCDEFG.md
        | \ ?\([^()]*\bconflicted\ copy\b[^()]*(?:\(\d+\))?\)  # Dropbox, Nextcloud, Obsidian: (conflicted copy ...)
        | _conflict-\d{8}-\d{6}  # ownCloud before 2.5: note_conflict-20240101-120000.md
        """,
        name,
        re.VERBOSE | re.IGNORECASE,
    )
    if suffix is None or not name[: suffix.start()]:
        return None
    return f"{folder}{slash}{name[: suffix.start()]}{name[suffix.end() :]}"
