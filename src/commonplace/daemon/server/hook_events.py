"""What is known of each host's hooks: the last event, how often recall was late, and what its hooks skipped.

Kept in two files in the daemon's folder, so that a person can see whether hooks work, with or without a daemon.
"""

import json
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from commonplace.daemon.service.state_files import write_private_file
from commonplace.events import emit
from commonplace.hooks.main import SKIPS_FILE
from commonplace.model.moment import moment_text

EVENTS_FILE: Final = "hook_events.json"
_MOST_HOSTS: Final = 50
_MOST_RECALLS: Final = 50
_MOST_BYTES: Final = 100_000
_NO_EVENT: Final[Mapping[str, Any]] = {
    "event": "",
    "at": "",
    "took_ms": 0.0,
    "events": 0,
    "recalls": "",  # a letter for each of the last recalls, oldest first: l for a late one, o for any other
    "last_late": "",
}
_LATE, _ON_TIME = "l", "o"
_SKIP_FIELDS: Final = ("at", "host", "event", "reason")  # of a line in the file of skips


class HookEvents:
    """The last event of each host, and which of its last recalls were late; kept in the daemon's folder.

    Its methods may be called from several threads.
    """

    def __init__(self, folder: Path) -> None:
        self._file = folder / EVENTS_FILE
        self._lock = threading.Lock()
        self._last = _read_events(self._file)

    def note(self, host: str, event: str, *, took_ms: float, late: bool | None = None) -> None:
        """Record an event as its host's last one, and whether its recall was late; None for an event without recall.

        If the disk refuses, that is logged.
        """
        at = moment_text(datetime.now(UTC))
        with self._lock:
            last = self._last.pop(host, {**_NO_EVENT})
            last |= {"event": event, "at": at, "took_ms": took_ms, "events": last["events"] + 1}
            if late is not None:
                last["recalls"] = (last["recalls"] + (_LATE if late else _ON_TIME))[-_MOST_RECALLS:]
            if late:
                last["last_late"] = at
            self._last[host] = last
            while len(self._last) > _MOST_HOSTS:
                del self._last[next(iter(self._last))]
            try:
                write_private_file(self._file, self._last, durable=False)
            except OSError as error:
                emit("hook_events_not_kept", level="warning", said=error.strerror)


def read_hook_events(folder: Path) -> list[dict[str, Any]]:
    """For each host, by name: its last event, the number of events, late recalls, the number of skips, the last skip.

    `late` of the last `recalls` recalls were late, the last one at `last_late`.
    Read from the files in the daemon's folder, whether the daemon runs or not.
    """
    last_events = _read_events(folder / EVENTS_FILE)
    skips = list(_read_skips(folder / SKIPS_FILE))
    counts = Counter(skip["host"] for skip in skips)
    last_skips = {skip["host"]: skip for skip in skips}
    return [
        {
            "host": host,
            **_counted(last_events.get(host, _NO_EVENT)),
            "skipped": counts[host],
            "last_skip": _without_host(last_skips[host]) if host in last_skips else None,
        }
        for host in sorted({*last_events, *last_skips})
    ]


def _counted(event: Mapping[str, Any]) -> dict[str, Any]:
    recalls = event["recalls"]
    return {**event, "recalls": len(recalls), "late": recalls.count(_LATE)}


def _without_host(skip: dict[str, str]) -> dict[str, str]:
    return {key: skip[key] for key in ("at", "event", "reason")}


def _read_events(file: Path) -> dict[str, dict[str, Any]]:
    """What is known of each host; empty if the file is missing, not ours or of an earlier version."""
    try:
        values = json.loads(_read_text(file))
    except (ValueError, RecursionError):
        return {}
    hosts = values if isinstance(values, dict) else {}
    return {host: each for host, each in hosts.items() if isinstance(each, dict) and _is_ours(each)}


def _is_ours(event: Mapping[str, object]) -> bool:
    """True if the values have the names and types of ours."""
    return {name: type(value) for name, value in event.items()} == {
        name: type(value) for name, value in _NO_EVENT.items()
    }


def _read_skips(file: Path) -> Iterator[dict[str, str]]:
    for line in _read_text(file).splitlines():
        fields = line.split("\t")
        if len(fields) == len(_SKIP_FIELDS):
            yield dict(zip(_SKIP_FIELDS, fields, strict=True))


def _read_text(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            return opened.read(_MOST_BYTES).decode(errors="replace")
    except OSError:  # missing, or not ours to read
        return ""
