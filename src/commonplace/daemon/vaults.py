"""The vaults that the daemon serves: those that `init` registered, each opened at first use and watched from then on.

If more are registered than may be open at once, the one that was not used for longest is let go for the next.
The list of registered vaults is read again whenever it or the settings change.
"""

import gc
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, Final

from commonplace.app import open_with
from commonplace.app.encoders import make_encoders
from commonplace.app.vaults import complete_entry, gone_error
from commonplace.errors import CommonplaceError, NotFound, UsageError, VaultUnavailable
from commonplace.events import emit
from commonplace.memory import Memory
from commonplace.memory.index import SyncReport
from commonplace.model import Actor, Caller
from commonplace.model.moment import moment_text
from commonplace.model.progress import ProgressMeter
from commonplace.model.text import counted
from commonplace.settings.database_vaults import folder_for, shown_vault
from commonplace.settings.load import load_settings, user_settings_file, user_settings_files
from commonplace.settings.registered_vaults import RegisteredVaults, registered_vaults, registry_file
from commonplace.settings.schema import Settings

_IGNORED_VARIABLES: Final = ("COMMONPLACE_VAULT", "COMMONPLACE_VAULT__ROOT", "MEMORY_VAULT_PATH")
"""They belong to the shell that happened to start the daemon, not to the programs that call it."""
_FileStamp = tuple[int, int, int] | None
_HINT: Final = "Run `commonplace init FOLDER` once."
MOST_OPEN: Final = 60
"""Vaults that are open at once: measured with 30 under git, one takes 12 open files, 2.2 MB, a thread and an inotify
instance, of which Linux allows a user 1,024 and 128."""
_TURNS: Final = 30  # a vault that was opened for its jobs is let go after this many runs of `open_all`
_TOO_OLD: Final = "the database has a newer schema: upgrade Commonplace on this machine"


class VaultRegistry:
    """The registered vaults, as they are now."""

    def __init__(self, flags: Mapping[str, object]) -> None:
        self._flags = {key: value for key, value in flags.items() if key != "vault.root"}
        self._stamp: tuple[_FileStamp, _FileStamp] | None = None
        self._registered = RegisteredVaults()

    @property
    def vaults(self) -> tuple[Path, ...]:
        """Their folders, the default one first. Raises UsageError if the list cannot be read."""
        current = self._current()
        return tuple(dict.fromkeys([*([current.default] if current.default else []), *current.vaults]))

    @property
    def default(self) -> Path | None:
        """The default vault: from the person's settings, else the first that was registered."""
        return self._current().default

    def find(self, name: str) -> Path:
        """The registered vault of that path or folder name; the default one for "". Raises NotFound, UsageError."""
        if not name:
            if default := self.default:
                return default
            raise NotFound("no vault is registered", hint=_HINT)
        matches = self._with_path(name) or [vault for vault in self.vaults if vault.name == name]
        if not matches:
            raise NotFound(f"no vault is registered as {name!r}", path=name, hint=_HINT)
        if len(matches) > 1:
            paths = ", ".join(map(str, matches))
            raise UsageError(f"several vaults are called {name!r}", hint=f"Name one by its path: {paths}.")
        return matches[0]

    def _with_path(self, name: str) -> list[Path]:
        path = folder_for(name) or Path(os.path.expanduser(name))
        if not path.is_absolute() or "\0" in name:
            return []
        real = path.resolve()
        return [vault for vault in self.vaults if vault in (path, real)]

    def _current(self) -> RegisteredVaults:
        stamp = _file_stamp(registry_file()), _file_stamp(user_settings_file())
        if stamp != self._stamp:
            self._registered, self._stamp = self._read(), stamp
        return self._registered

    def _read(self) -> RegisteredVaults:
        """The list, with the default from the person's settings if they name a registered vault."""
        registered = registered_vaults()
        environ = {name: value for name, value in os.environ.items() if name not in _IGNORED_VARIABLES}
        try:
            root = load_settings(flags=self._flags, environ=environ).settings.vault.root
        except CommonplaceError:
            return registered  # the error is reported when a vault is opened with these settings
        default = root.resolve() if root else None
        return replace(registered, default=default if default in registered.vaults else registered.default)


def _file_stamp(path: Path) -> _FileStamp:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_ino, status.st_size


def settings_stamp() -> tuple[tuple[Path, _FileStamp], ...]:
    """Changes with every settings file of the person: their own, and those for one vault."""
    return tuple((path, _file_stamp(path)) for path in user_settings_files())


_DAEMON: Final = Actor("job", "daemon")
_CLOSE_SECONDS: Final = 8.0  # for watchers to end
_WATCH_DELAY: Final = 0.5  # seconds, so that whoever opened the vault is answered first
_WATCH_RETRY: Final = 30.0  # seconds until a watcher that failed is tried again


class Watcher:
    """Keeps a vault's index up to date in a thread of its own until `end`. Failures are logged and retried."""

    def __init__(self, root: Path, memory: Memory) -> None:
        self._root, self._memory = root, memory
        self._ending = threading.Event()
        self._last_sync = ""
        self._error = ""
        self._progress = ProgressMeter(time.monotonic)
        self._thread = threading.Thread(target=self._watch, name=f"watch {root.name}", daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Let the thread end; `has_ended` waits for it."""
        self._ending.set()

    def has_ended(self, *, within: float) -> bool:
        """True if the thread has ended after at most that many seconds."""
        self._thread.join(within)
        return not self._thread.is_alive()

    @property
    def progress(self) -> tuple[str, int, int]:
        """What the sync counts, how many are done, and how many there are; zeros if none is under way."""
        return self._progress.what, self._progress.done, self._progress.total

    def status(self) -> dict[str, Any]:
        """The watcher's part of a vault in `status`."""
        is_watching = self._thread.is_alive() and not self._error
        catching_up = self._progress.text if self._progress.is_running else ""
        if catching_up and self._progress.what == "texts":
            catching_up += "; found by words until then"
        return {
            "watching": is_watching,
            "heard": self._last_sync,
            "said": self._error,
            "catching_up": catching_up,
            "seconds_left": self._progress.seconds_left if catching_up else None,
        }

    def _watch(self) -> None:
        self._ending.wait(_WATCH_DELAY)
        while not self._ending.is_set():
            try:
                self._memory.index.readiness()  # starts to load the encoder
                self._memory.index.watch(self._ending, heard=self._note_sync, progress=self._progress)
            except Exception as error:  # noqa: BLE001 (a job: whatever it is, the other vaults go on)
                self._error = str(error) if isinstance(error, CommonplaceError) else type(error).__name__
                emit("watcher_failed", level="error", vault=str(self._root), exc_info=error)
                self._ending.wait(_WATCH_RETRY)

    def _note_sync(self, report: SyncReport) -> None:
        self._last_sync, self._error = moment_text(datetime.now(UTC)), ""
        emit("vault_synced", vault=str(self._root), **report.counts(), seconds=round(report.seconds, 3))
        self._memory.context.measure_noise()


def end_watchers(watchers: list[Watcher], *, within: Callable[[], float]) -> bool:
    """End all watchers at once; True if all of them have ended in time."""
    for watcher in watchers:
        watcher.end()
    ended = [watcher.has_ended(within=max(0.0, within())) for watcher in watchers]
    return all(ended)


@dataclass(frozen=True, slots=True)
class OpenVault:
    """An open vault: its memory, its watcher, its settings, and the identity of its folder, should it be replaced."""

    memory: Memory
    watcher: Watcher
    folder: tuple[int, int]
    settings: Settings


class Vaults:
    """Every registered vault. Its methods may be called from several threads."""

    def __init__(self, *, flags: Mapping[str, object], most: int = MOST_OPEN) -> None:
        self._flags = {key: value for key, value in flags.items() if key != "vault.root"}
        self._registry = VaultRegistry(flags)
        self._most, self._turn, self._released = most, 0, 0
        self._used: dict[Path, float] = {}
        self._open: dict[Path, OpenVault] = {}
        self._vault_locks: dict[Path, threading.Lock] = {}
        self._lock = threading.Lock()
        self._errors: dict[Path, str] = {}
        self._settings_stamp = settings_stamp()
        self._encoders = cache(make_encoders)  # one model for all vaults with the same settings
        self._is_closed = False
        self._ends_learning = threading.Event()

    def memory_for(self, caller: Caller) -> Memory:
        """The memory of the caller's vault, in which the caller acts as an agent.

        Raises NotFound if the vault is not registered, VaultUnavailable if it cannot be opened.
        """
        root = self._registry.find(caller.vault)
        self._used[root] = time.monotonic()
        return self._get(root).memory.acting(Actor("agent", caller.name, caller.person))

    def registered(self) -> tuple[Path, ...]:
        """The folders of all registered vaults, the default one first. Raises UsageError for an unreadable list."""
        return self._registry.vaults

    def find(self, name: str) -> Path:
        """The registered vault of that path or folder name; the default one for "". Raises NotFound, UsageError."""
        return self._registry.find(name)

    def opened(self) -> dict[str, OpenVault]:
        """The vaults that are open, by their folders."""
        return {str(root): vault for root, vault in [*self._open.items()]}

    def open_all(self) -> str:
        """Open and watch every registered vault; returns how many are open. `status` has the errors.

        If they are too many, the next few are opened in turn, so that each is synced and its jobs run.
        A vault whose settings the person has changed is opened anew; with another encoder its watcher encodes it again.
        """
        if (stamp := settings_stamp()) != self._settings_stamp:
            self._settings_stamp = stamp
            self._release_changed()
        self._release_unregistered()
        for root in self._next_vaults():
            try:
                self._get(root)
            except CommonplaceError as error:
                if self._errors.get(root) != str(error):
                    emit("vault_not_opened", level="warning", vault=str(root), said=str(error))
                self._errors[root] = str(error)
        return f"{len(self._open)} of {len(self._registry.vaults)} vaults are open"

    def _next_vaults(self) -> tuple[Path, ...]:
        """The vaults to open now: all of them, or the next few of those on the list."""
        roots = self._registry.vaults
        if len(roots) <= self._most:
            return roots
        count = max(1, self._most // _TURNS)
        start, self._turn = self._turn % len(roots), self._turn + count
        chosen = (*roots[start:], *roots[:start])[:count]
        self._used |= dict.fromkeys(chosen, time.monotonic())
        return chosen

    def _let_go(self) -> None:
        """Let go of the vaults that were not used for longest, while too many are open. Requests in them go on."""
        while len(self._open) > self._most:
            root = min([*self._open], key=lambda each: self._used.get(each, 0.0))
            if vault := self._open.pop(root, None):
                vault.watcher.end()
                self._released += 1
                emit("vault_released", level="debug", vault=str(root))
                if self._released % max(1, self._most // 4) == 0:
                    gc.collect()  # its files are closed with its last reference, and there are cycles

    def _is_idle(self, root: Path) -> bool:
        """True for a vault that is opened when it is used, and is not now."""
        return root not in self._open and len(self._registry.vaults) > self._most

    def _release_unregistered(self) -> None:
        """Let go of each vault that was taken off the list, or moved to another folder."""
        for root in {*self._open} - {*self._registry.vaults}:
            with self._vault_locks[root]:
                if vault := self._open.pop(root, None):
                    vault.watcher.end()
                    emit("vault_released", vault=str(root))

    def _release_changed(self) -> None:
        """Let go of each vault whose settings are others now. Requests that are still using it go on."""
        for root, vault in [*self._open.items()]:
            try:
                settings = self._settings_of(root)
            except CommonplaceError as error:
                emit("settings_not_read", level="warning", vault=str(root), said=str(error))
                continue
            if settings != vault.settings:
                with self._vault_locks[root]:
                    if self._open.get(root) is not vault:  # it was opened anew meanwhile
                        continue
                    self._open.pop(root).watcher.end()
                emit("settings_changed", vault=str(root))

    def tidy(self) -> str:
        """Let each open vault maintain its git repository, if that is due; returns how many were checked."""
        memories = [each.memory for each in [*self._open.values()]]
        for memory in memories:
            memory.notes.tidy()
        return f"checked {len(memories)} vaults"

    def learn(self) -> str:
        """Let each open vault learn from its conversations and marked notes; returns what was learned."""
        said: list[str] = []
        for root, vault in [*self._open.items()]:
            run = vault.memory.learning.run_daily(stops=self._ends_learning.is_set)
            stored = sum(item.outcome in ("stored", "replaced") for result in run.results for item in result.items)
            if run.results or run.said:
                read = f"{counted(len(run.results), 'source')} read, {counted(stored, 'fact')} stored, {run.left} left"
                said.append(f"{root.name}: {read}{f'; {run.said}' if run.said else ''}")
        return "; ".join(said) or "nothing to learn"

    def run_jobs(self) -> str:
        """Run the scheduled jobs of each open vault that are due; returns which ran, and how they ended.

        A vault in which that is impossible does not stop the others.
        """
        said: list[str] = []
        for root, vault in [*self._open.items()]:
            try:
                runs = vault.memory.jobs.run_due(stops=self._ends_learning.is_set)
                said += [f"{root.name}: {run.job} {run.outcome}" for run in runs]
            except CommonplaceError as error:
                said.append(f"{root.name}: {error}")
        return "; ".join(said) or "no job was due"

    def end_learning(self) -> None:
        """Let a run of `learn` end before the next conversation, and one of `run_jobs` before the next step."""
        self._ends_learning.set()

    def status(self) -> list[dict[str, Any]]:
        """Each vault, for `status`. Raises UsageError if the list of vaults cannot be read."""
        return [self._status_of(root) for root in self._registry.vaults]

    def gauges(self, name: str = "") -> Iterator[tuple[str, tuple[str, ...], float]]:
        """What is true of each vault now, or of the named one, for the metrics. Raises NotFound and UsageError."""
        for root in (self._registry.find(name),) if name else self._registry.vaults:
            status, labels = self._status_of(root), (root.name,)
            yield "vault_open", labels, float(status["open"])
            if not status["open"]:
                continue
            memory, (_, done, total) = self._get(root).memory, self._get(root).watcher.progress
            yield "notes", labels, status["notes"]
            yield "chunks", labels, status["chunks"]
            yield "index_bytes", labels, memory.index.stats().size
            yield "search_by_meaning", labels, float(status["mode"] != "words")
            yield "sync_left", labels, max(0, total - done)
            yield "review_waiting", labels, status["review"]
            yield "problems", labels, len(memory.index.problems())
            yield "jobs_parked", labels, sum(job["is_parked"] for job in status["jobs"])

    def unready(self) -> tuple[str, ...]:
        """Why requests cannot be answered in full now, without names of vaults; empty if they can."""
        try:
            roots = self._registry.vaults
        except CommonplaceError:
            return ("the list of vaults cannot be read",)
        if not roots:
            return ("no vault is registered",)
        asked = [root for root in roots if not self._is_idle(root)]
        return tuple(dict.fromkeys(reason for root in asked if (reason := self._unready(root))))

    def _unready(self, root: Path) -> str:
        try:
            memory = self._get(root).memory
        except CommonplaceError as error:
            return unready_reason(error, "a vault cannot be opened")
        try:
            memory.index.stats()
        except CommonplaceError as error:
            return unready_reason(error, "an index cannot be read")
        return "an encoder is being loaded" if memory.index.is_loading() else ""

    def close(self) -> bool:
        """End the watchers and close the vaults; True if all watchers ended in time."""
        with self._lock:
            self._is_closed = True
        opened = [*self._open.values()]  # a vault that is being opened right now ends with the process
        deadline = time.monotonic() + _CLOSE_SECONDS
        ended = end_watchers([each.watcher for each in opened], within=lambda: deadline - time.monotonic())
        for each in opened:
            if each.watcher.has_ended(within=0.0):  # otherwise it is still reading, and ends with the process
                each.memory.close()
        return ended

    def _get(self, root: Path) -> OpenVault:
        with self._lock:
            lock = self._vault_locks.setdefault(root, threading.Lock())
        with lock:  # callers wait while their vault is being opened; the other vaults go on
            folder = folder_identity(root)
            vault = self._open.get(root)
            if vault and vault.folder == folder:
                return vault
            if vault:
                _close(self._open.pop(root))
            return self._open_vault(root, folder)

    def _open_vault(self, root: Path, folder: tuple[int, int]) -> OpenVault:
        if self._is_closed:
            raise VaultUnavailable("the daemon is stopping", hint="Start it again: `commonplace serve`.")
        settings = self._settings_of(root)
        memory = open_with(settings, actor=_DAEMON, is_patient=False, encoders=self._encoders)
        vault = self._open[root] = OpenVault(memory, Watcher(root, memory), folder, settings)
        self._errors.pop(root, None)
        self._used.setdefault(root, time.monotonic())
        self._let_go()
        complete_entry(root)
        emit("vault_served", vault=str(root))
        return vault

    def _settings_of(self, root: Path) -> Settings:
        """The settings for a vault as they are now. Raises UsageError and Refused."""
        return load_settings(flags={**self._flags, "vault.root": str(root)}).settings

    def _status_of(self, root: Path) -> dict[str, Any]:
        status: dict[str, Any] = {
            "vault": shown_vault(root),
            "name": root.name,
            "default": root == self._registry.default,
        }
        if self._is_idle(root):
            return {**status, "open": False, "said": "too many vaults; it is opened when it is used"}
        try:
            vault = self._get(root)
            counts, (mode, without) = vault.memory.index.stats(), vault.memory.index.readiness()
            waiting, proposed = vault.memory.reviews.count(), vault.memory.reviews.proposal_count()
            jobs, notices = vault.memory.jobs.list(), vault.memory.jobs.notices()
        except CommonplaceError as error:
            return {**status, "open": False, "said": str(error)}
        status |= {
            "open": True,
            "notes": counts.documents.get("vault", 0),
            "chunks": counts.chunks,
            "mode": mode,
            "without": without,
            "review": waiting,
            "proposals": proposed,
            "jobs": [asdict(job) for job in jobs],
            "notices": [notice.said for notice in notices],
        }
        return {**status, **vault.watcher.status()}


def unready_reason(error: CommonplaceError, otherwise: str) -> str:
    """What `/ready` says to anybody about an error: that this program is too old, or no more than `otherwise`."""
    return _TOO_OLD if error.reason == "newer_schema" else otherwise


def folder_identity(root: Path) -> tuple[int, int]:
    """The device and inode of the folder. Raises VaultUnavailable if there is none."""
    try:
        status = os.stat(root)
    except OSError as error:
        raise gone_error(root) from error
    return status.st_dev, status.st_ino


def _close(vault: OpenVault) -> None:
    """Close a vault whose folder was replaced by another one."""
    vault.watcher.end()
    vault.watcher.has_ended(within=_CLOSE_SECONDS)
    vault.memory.close()
