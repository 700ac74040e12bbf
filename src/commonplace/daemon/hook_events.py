"""The last event of each host, so that a person can see whether the hooks of a host work at all.

Kept in a file of the daemon's folder, beside the one in which hooks write what they could not do.
"""

import json
import threading
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from commonplace.daemon.private_files import write_privately
from commonplace.events import emit
from commonplace.hooks.skips import SKIPS
from commonplace.model.moment import moment_text

EVENTS: Final = "hook_events.json"
_MOST: Final = 50  # hosts
_MOST_BYTES: Final = 100_000
_PARTS: Final = ("at", "host", "event", "reason")  # of a line in the file of skips

Noted = dict[str, dict[str, Any]]


class HookEvents:
    """What came from which host. Its methods may be called from several threads."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / EVENTS
        self._turn = threading.Lock()
        self._noted = _read(self._file)

    def note(self, host: str, event: str, *, took_ms: float) -> None:
        """Remember an event as the last one of its host. A disk that refuses the file is told in the log."""
        at = moment_text(datetime.now(UTC))
        with self._turn:
            before = self._noted.pop(host, {})
            self._noted[host] = {"event": event, "at": at, "took_ms": took_ms, "events": before.get("events", 0) + 1}
            while len(self._noted) > _MOST:
                del self._noted[next(iter(self._noted))]
            try:
                write_privately(self._file, self._noted, is_lasting=False)
            except OSError as error:
                emit("hook_events_not_kept", level="warning", said=error.strerror)


def hook_events(folder: Path) -> list[dict[str, Any]]:
    """Of each host its last event, how many there were, how many were skipped and why the last one; by its name.

    Read from the files of the daemon's folder, whether it runs or not.
    """
    noted = _read(folder / EVENTS)
    skips = list(_skips(folder / SKIPS))
    counts = Counter(skip["host"] for skip in skips)
    last = {skip["host"]: skip for skip in skips}
    return [
        {
            "host": host,
            **noted.get(host, {"event": "", "at": "", "took_ms": 0.0, "events": 0}),
            "skipped": counts[host],
            "last_skip": {key: last[host][key] for key in ("at", "event", "reason")} if host in last else None,
        }
        for host in sorted({*noted, *last})
    ]


def _read(file: Path) -> Noted:
    """What was noted; nothing where the file is not there, or is not ours."""
    try:
        said = json.loads(_text(file))
    except (ValueError, RecursionError):
        return {}
    wanted, listed = {"event", "at", "took_ms", "events"}, said if isinstance(said, dict) else {}
    return {host: each for host, each in listed.items() if isinstance(each, dict) and {*each} == wanted}


def _skips(file: Path) -> Iterator[dict[str, str]]:
    for line in _text(file).splitlines():
        parts = line.split("\t")
        if len(parts) == len(_PARTS):
            yield dict(zip(_PARTS, parts, strict=True))


def _text(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            return opened.read(_MOST_BYTES).decode(errors="replace")
    except OSError:  # not there yet, or not for us to read: there is nothing to tell
        return ""
