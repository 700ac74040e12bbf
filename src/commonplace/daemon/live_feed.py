"""Fills the live events: looks, while somebody listens, at what changed in the vaults, by whichever process.

What this process does is noticed at once by its events. What others do (the command line, a cron job) is in the
history that all share, which is read once a second.
"""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any, Final

from commonplace.daemon.vaults import OpenVault
from commonplace.errors import CommonplaceError
from commonplace.events import emit
from commonplace.memory import Memory
from commonplace.memory.notes import AuditEntry
from commonplace.model.layout import wordless_path
from commonplace.model.upkeep import JobRecord
from commonplace.web.live_events import LiveEvents

_EVERY_SECONDS: Final = 1.0
_PAUSE_SECONDS: Final = 0.1  # after each look, so that many writes in a row are one look
_ROWS: Final = 200  # of the audit, at each look
_RUNS: Final = 10
_FILES: Final = 50  # more files than this at once are told as a number


@dataclass(slots=True)
class _Seen:
    """What was told of a vault so far."""

    rows: frozenset[tuple[str, str, str]]
    runs: dict[int, tuple[str, int]]
    waiting: int
    progress: tuple[str, int, int]


@dataclass(slots=True)
class _ChangedFiles:
    """Files that the watcher saw change since the last look, by vault."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    by_vault: dict[str, dict[str, str]] = field(default_factory=dict)

    def add(self, vault: str, path: str, change: str) -> None:
        with self.lock:
            self.by_vault.setdefault(vault, {})[path] = change

    def take(self, vault: str) -> dict[str, str]:
        with self.lock:
            return self.by_vault.pop(vault, {})


class LiveFeed:
    """Its thread waits without a look as long as nobody listens."""

    def __init__(self, live: LiveEvents, vaults: Callable[[], Mapping[str, OpenVault]]) -> None:
        self._live, self._vaults = live, vaults
        self._seen: dict[str, _Seen] = {}
        self._errors: dict[str, str] = {}
        self._files = _ChangedFiles()
        self._woken, self._ending = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, name="live events", daemon=True)
        self._looking = threading.Lock()
        live.before_listening(self._prepare)

    def begin(self) -> None:
        """Start looking."""
        self._thread.start()

    def end(self, *, within: float) -> bool:
        """Stop looking; True if the thread has ended in time."""
        self._ending.set()
        self._woken.set()
        if self._thread.ident:
            self._thread.join(within)
        return not self._thread.is_alive()

    def notice(self, event: str, fields: Mapping[str, Any]) -> None:
        """An event of this process: look soon if it may concern a listener."""
        if not event.startswith(("vault_", "job_")):
            return
        listened = self._live.vaults()
        if not listened:
            return
        if event == "vault_watch_event" and fields.get("vault") in listened:
            self._files.add(str(fields["vault"]), str(fields["path"]), str(fields["what"]))
        self._woken.set()

    def _prepare(self, folder: str) -> None:
        """Look at a vault before somebody listens, so that all that happens from then on is told, and nothing else."""
        if vault := self._vaults().get(folder):
            self._look(folder, vault)
        self._woken.set()

    def _run(self) -> None:
        while not self._ending.is_set():
            listened = self._live.vaults()
            self._woken.wait(_EVERY_SECONDS if listened else None)
            self._woken.clear()
            for folder, vault in self._vaults().items():
                if folder in self._live.vaults() and not self._ending.is_set():
                    self._look(folder, vault)
            self._ending.wait(_PAUSE_SECONDS)

    def _look(self, folder: str, vault: OpenVault) -> None:
        """Tell what is new in a vault. One that cannot be read now is looked at again; the log has why, once."""
        with self._looking:
            try:
                if seen := self._seen.get(folder):
                    self._tell(folder, vault, seen)
                else:
                    self._seen[folder] = self._first_look(vault)
                self._errors.pop(folder, None)
            except CommonplaceError as error:
                if self._errors.get(folder) != error.message:
                    emit("live_events_delayed", level="warning", vault=folder, said=error.message)
                self._errors[folder] = error.message

    def _tell(self, folder: str, vault: OpenVault, seen: _Seen) -> None:
        files = self._files.take(folder)
        self._tell_files(folder, files)
        has_written = self._tell_writes(folder, vault.memory, seen)
        has_run = self._tell_jobs(folder, vault.memory, seen)
        if files or has_written or has_run:
            self._tell_review(folder, vault.memory, seen)
        self._tell_progress(folder, vault, seen)

    def _first_look(self, vault: OpenVault) -> _Seen:
        memory = vault.memory
        rows, runs = memory.notes.latest(_ROWS), memory.jobs.log(limit=_RUNS)
        return _Seen(frozenset(map(_row_key, rows)), _run_states(runs), memory.reviews.count(), vault.watcher.progress)

    def _tell_files(self, folder: str, files: Mapping[str, str]) -> None:
        if len(files) > _FILES:
            self._live.publish(folder, "file", change="many", path="", count=len(files))
            return
        for path, change in files.items():
            self._live.publish(folder, "file", change=change, path=wordless_path(path), count=1)

    def _tell_writes(self, folder: str, memory: Memory, seen: _Seen) -> bool:
        rows = memory.notes.latest(_ROWS)
        new = [*takewhile(lambda row: _row_key(row) not in seen.rows, rows)]  # older ones come when others are erased
        for row in reversed(new):
            self._live.publish(
                folder,
                "write",
                verb=row.verb,
                path=row.path,
                destination=row.destination,
                actor=row.actor,
                commit=row.commit,
            )
        seen.rows = frozenset(map(_row_key, rows))
        return bool(new)

    def _tell_jobs(self, folder: str, memory: Memory, seen: _Seen) -> bool:
        runs = memory.jobs.log(limit=_RUNS)
        states = _run_states(runs)
        known = [run for run in runs if run.number in seen.runs or run.number > max(seen.runs, default=0)]
        changed = [run for run in reversed(known) if seen.runs.get(run.number) != states[run.number]]
        for run in changed:
            if run.number not in seen.runs:
                self._live.publish(folder, "job", job=run.job, number=run.number, state="started", steps=0)
            if run.outcome != "running" or run.steps:
                self._live.publish(folder, "job", **_run_fields(run))
        seen.runs = states
        return bool(changed)

    def _tell_review(self, folder: str, memory: Memory, seen: _Seen) -> None:
        waiting = memory.reviews.count()
        if waiting != seen.waiting:
            seen.waiting = waiting
            self._live.publish(folder, "review", waiting=waiting)

    def _tell_progress(self, folder: str, vault: OpenVault, seen: _Seen) -> None:
        progress = vault.watcher.progress
        if progress != seen.progress:
            seen.progress = progress
            what, done, total = progress
            self._live.publish(folder, "progress", work="watch", what=what, done=done, total=total)


def _row_key(row: AuditEntry) -> tuple[str, str, str]:
    return row.mutation, row.path, row.verb


def _run_states(runs: tuple[JobRecord, ...]) -> dict[int, tuple[str, int]]:
    return {run.number: (run.outcome, len(run.steps)) for run in runs}


def _run_fields(run: JobRecord) -> dict[str, Any]:
    is_over = run.outcome != "running"
    fields = {"job": run.job, "number": run.number, "state": "running", "steps": len(run.steps)}
    end = {"state": "finished", "outcome": run.outcome, "left": run.left, "seconds": run.seconds}
    return fields | end if is_over else fields
