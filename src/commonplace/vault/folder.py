"""A store in a folder of this machine: reading, listing, watching and its lock, shared by two backends.

Only one program changes a vault at a time. Its lock is a kernel lock on a file in the user's state directory, so the
system releases it when its holder dies, however that happens, and nobody ever takes it over from a holder that is
merely slow. The file is named after the device and inode of the vault's root: a vault reached by two paths has one
lock. It is never removed, because removing a locked file would let two programs lock two files with the same name.
The folder of the vault is locked too, where its file system can do that: programs with two state directories, such as
one in a container, exclude each other by it.
"""

import os
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from commonplace.errors import NotFound, Refused, UsageError, VaultUnavailable
from commonplace.events import emit
from commonplace.model import Problem, Stat
from commonplace.model.moment import timestamp_text
from commonplace.model.text import fold_name
from commonplace.vault.base import Blob, Listing, Locator, Skip, WatchEvent
from commonplace.vault.contract_errors import path_of
from commonplace.vault.files import kind_of, read_file, stat_file
from commonplace.vault.paths import is_git, is_temporary, normal, normal_folder, printable
from commonplace.vault.syscalls import translate_os_errors, unavailable_from
from commonplace.vault.temporary_files import UnfinishedFiles
from commonplace.vault.tree import FolderTree
from commonplace.vault.watch import watch_folder

if TYPE_CHECKING:
    from filelock import BaseFileLock

_UNEXAMINED: Final = (NotFound, Refused, VaultUnavailable)  # what `stats` leaves out
_FIRST_PAUSE: Final = 0.002
_LONGEST_PAUSE: Final = 0.005  # a program that writes without pause releases the lock for a millisecond at a time
_LOG_WAIT_OVER_S: Final = 2.0  # a queue of writers that moves stays below


class VaultLock:
    """The lock of the vault with that root. Each backend object has its own instance, which excludes all others."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._holder: int | None = None
        self._folder: int | None = None  # the vault's folder, open and locked while the lock is held

    @contextmanager
    def hold(self, *, wait: float) -> Iterator[None]:
        """Hold the lock while the block runs. Raises VaultUnavailable(locked) after `wait` seconds."""
        if self._holder == threading.get_ident():
            raise UsageError(
                "a transaction is already open in this thread, and a second one would wait for it forever",
                path=str(self._root),
                hint="Make all changes in one transaction, or end the first before the second begins.",
            )
        lock = self._acquire(wait)
        self._holder = threading.get_ident()
        try:
            yield
        finally:
            self._holder, folder, self._folder = None, self._folder, None
            _unlock_folder(folder)
            lock.release()

    def file(self) -> Path:
        """The file that is locked; creates its folder if needed."""
        return self.beside("locks", ".lock")

    def state_folder(self) -> Path:
        """The user's state directory, where the lock and the journal are."""
        from platformdirs import user_state_path

        return user_state_path("commonplace")

    def beside(self, folder: str, suffix: str) -> Path:
        """The path of this vault's file in a folder of the user's state directory; creates the folder if needed."""
        state = self.state_folder() / folder
        with translate_os_errors(str(state), doing="create the folder for locks, from HOME or XDG_STATE_HOME,"):
            state.mkdir(mode=0o700, parents=True, exist_ok=True)
        with translate_os_errors(str(self._root), doing="examine"):
            root = self._root.stat()
        return state / f"{root.st_dev}-{root.st_ino}{suffix}"

    def _acquire(self, wait: float) -> "BaseFileLock":
        from filelock import FileLock  # takes forty milliseconds, which a reader need not spend

        file = self.file()
        # A soft lock, the library's fallback on a system without flock, outlives its holder: better no lock than that.
        lock = FileLock(file, mode=0o600, fallback_to_soft=False, preserve_lock_file=True)
        start, pause = time.monotonic(), _FIRST_PAUSE
        while not (_try_acquire(lock, file) and self._lock_folder(lock)):
            left = start + wait - time.monotonic()
            if left <= 0:
                raise self._locked(_owner_file(file), wait)
            time.sleep(min(pause, left))
            pause = min(2 * pause, _LONGEST_PAUSE)
        if (waited := time.monotonic() - start) > _LOG_WAIT_OVER_S:
            emit("vault_lock_waited", level="warning", root=str(self._root), waited_ms=round(waited * 1000))
        _write_owner(_owner_file(file))
        return lock

    def _lock_folder(self, lock: "BaseFileLock") -> bool:
        """Lock the vault's own folder; False when a program with another state directory has it, and gives back ours.

        A file system that cannot lock a folder is no reason to refuse: programs with one state directory need no more.
        """
        import fcntl

        with translate_os_errors(str(self._root), doing="open"):
            opened = os.open(self._root, os.O_RDONLY)
        try:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(opened)
            lock.release()
            return False
        except OSError:
            os.close(opened)
            return True
        self._folder = opened
        return True

    def _locked(self, owner: Path, wait: float) -> VaultUnavailable:
        return VaultUnavailable(
            f"the vault is locked, and stayed locked for {wait:g} s: {_last_owner(owner)}",
            path=str(self._root),
            reason="locked",
            hint="Wait until that process has finished and try again; if it hangs, end it: that releases the lock.",
        )


def _unlock_folder(opened: int | None) -> None:
    if opened is not None:
        import fcntl

        with suppress(OSError):
            fcntl.flock(opened, fcntl.LOCK_UN)
        os.close(opened)


def _try_acquire(lock: "BaseFileLock", file: Path) -> bool:
    from filelock import Timeout

    try:
        lock.acquire(blocking=False)
    except Timeout:
        return False
    except OSError as error:
        raise unavailable_from(error, path=str(file), doing="lock") from error
    return True


def _owner_file(lock: Path) -> Path:
    return lock.with_suffix(".owner")


def _write_owner(owner: Path) -> None:
    """Write down who has the lock, for the message of a wait that times out; the lock works without it."""
    with suppress(OSError):
        owner.write_text(f"{os.getpid()}\n", encoding="ascii")


def _last_owner(owner: Path) -> str:
    try:
        pid = owner.read_text(encoding="ascii").strip()
        since = timestamp_text(owner.stat().st_mtime)
    except (OSError, UnicodeDecodeError):
        return "its owner is unknown"
    return f"process {pid or 'unknown'} took it last, at {since} (another process may hold it by now)"


_WRITER_MAY_RUN_S = 60.0  # the longest that a writer may have a temporary file


class Folder:
    """A folder. Reads need no lock: a file is always whole, because it is only ever replaced atomically."""

    def __init__(self, root: Path, *, max_read_bytes: int | None = None) -> None:
        """Open the store in that folder. Raises VaultUnavailable when it does not exist or is not a folder.

        `max_read_bytes` is the size of the largest file that is read; None means no limit.
        """
        self._tree = FolderTree(root)
        self._max_read_bytes = max_read_bytes
        self._lock = VaultLock(self._tree.root)

    @contextmanager
    def _hold(self, *, wait: float) -> Iterator[None]:
        """Hold the vault's lock while the block runs; what a killed process left is removed first."""
        with self._lock.hold(wait=wait):
            self._unfinished().clean_up(self._tree)
            yield

    def _unfinished(self) -> UnfinishedFiles:
        return UnfinishedFiles(self._lock.beside("journals", ".files"))

    def resolve(self, path: str) -> Locator:
        """Where that file is or would be, with its name as it is on disk. Raises Refused."""
        clean = normal(path)
        with translate_os_errors(clean, doing="find"):
            return Locator(self._tree.path_on_disk(clean), self)

    def read(self, at: Locator) -> Blob:
        """The file's bytes. Raises NotFound, and Refused for anything but a regular file, or for one too large."""
        path = path_of(at, self)
        with translate_os_errors(path, doing="read"), self._tree.locate(path) as location:
            return read_file(location, most=self._max_read_bytes).blob

    def exists(self, at: Locator) -> bool:
        """True if the file exists. Raises Refused for anything but a regular file."""
        try:
            self.stat(at)
        except NotFound:
            return False
        return True

    def stat(self, at: Locator) -> Stat:
        """Size and modification time of the file. Raises NotFound, and Refused for anything but a regular file."""
        path = path_of(at, self)
        with translate_os_errors(path, doing="examine"), self._tree.locate(path) as location:
            return stat_file(location)

    def stats(self, paths: Iterable[str]) -> Mapping[str, Stat]:
        """The same of several files at once, by the paths given; those that cannot be examined are left out.

        Each folder is opened once: walking down to it takes longer than looking at a file in it.
        """
        found: dict[str, Stat] = {}
        given = _normal_paths(paths)
        with suppress(*_UNEXAMINED):
            for clean, location in self._tree.locate_all(given):
                with suppress(*_UNEXAMINED), translate_os_errors(clean, doing="examine"):
                    found |= dict.fromkeys(given[clean], stat_file(location))
        return found

    def list(self, folder: str = "", *, recursive: bool = True, skip: Skip | None = None) -> Listing:
        """The files below a folder. Raises NotFound when there is no such folder."""
        return list_tree(self._tree, normal_folder(folder), recursive=recursive, skip=skip or _skip_nothing)

    def watch(
        self, *, stop: threading.Event, skip: Skip | None = None, step: float = 0.5
    ) -> Iterator[tuple[WatchEvent, ...]]:
        """The events from this call on, until `stop` is set; () every `step` seconds while there are none.

        Raises VaultUnavailable, at once or later, when the system cannot watch the folder.
        """
        return watch_folder(self._tree, stop=stop, skip=skip, step=step)


def _normal_paths(paths: Iterable[str]) -> dict[str, list[str]]:
    """These paths by their normal form; without those that are no paths of a file."""
    normal_paths: dict[str, list[str]] = {}
    for path in paths:
        with suppress(Refused):
            normal_paths.setdefault(normal(path), []).append(path)
    return normal_paths


def list_tree(tree: FolderTree, folder: str, *, recursive: bool, skip: Skip) -> Listing:
    """The files below a folder, sorted by path, each once, and a Problem for everything that could not be listed.

    Raises NotFound when there is no such folder.
    """
    walk = _ListingWalk(skip)
    with translate_os_errors(folder or str(tree.root), doing="list"), tree.open_folder(folder) as (opened, path):
        walk.add_folder(opened, path)
    while recursive and walk.folders:
        walk.add_subfolder(tree, walk.folders.pop())
    files = sorted(walk.files, key=lambda file: file.path)
    return Listing(tuple(files), tuple(sorted(walk.problems)))


class _ListingWalk:
    """What a walk through the folders has collected so far; `folders` are still to be visited."""

    def __init__(self, skip: Skip) -> None:
        self._skip = skip
        self.files: list[Stat] = []
        self.folders: list[str] = []
        self.problems: list[Problem] = []

    def add_subfolder(self, tree: FolderTree, path: str) -> None:
        """Add a folder seen before; one that has vanished since is ignored, one that cannot be opened is a Problem."""
        try:
            with tree.open_folder(path) as (opened, _):
                self.add_folder(opened, path)
        except NotFound:
            return
        except Refused as refusal:
            self._report(path, refusal.message, "symlink")
        except OSError as error:
            self._report(path, f"the folder cannot be read: {error.strerror}", "unreadable-folder")

    def add_folder(self, opened: int, path: str) -> None:
        """Add the contents of an open folder."""
        prefix = f"{path}/" if path else ""
        with os.scandir(opened) as entries:
            names = [entry.name for entry in entries if self._add(entry, prefix)]
        self._report_collisions(prefix, names)

    def _add(self, entry: os.DirEntry[str], prefix: str) -> bool:
        """Add the entry; returns whether it belongs to the store and is not skipped."""
        name = entry.name
        path = prefix + name
        if is_git(name) or is_temporary(name):
            self._report_leftover(entry, path)
            return False
        if self._is_skipped(entry, printable(path)):
            return False
        try:
            normal(path)
            self._add_by_kind(entry, path)
        except Refused as refusal:
            self._report(printable(path), refusal.message, "unusable-name")
        except FileNotFoundError:
            return False  # it vanished while we looked
        except OSError as error:
            self._report(path, f"the file cannot be examined: {error.strerror}", "unreadable-file")
        return True

    def _report_leftover(self, entry: os.DirEntry[str], path: str) -> None:
        """A temporary file that no writer works on any more may be the only copy of someone's save."""
        try:
            changed = entry.stat(follow_symlinks=False).st_ctime
        except FileNotFoundError:
            return  # the writer has finished
        if is_temporary(entry.name) and time.time() - changed > _WRITER_MAY_RUN_S:
            message = "left by a writer that was killed: compare it with the notes next to it, then delete it"
            self._report(path, message, "left-over")

    def _is_skipped(self, entry: os.DirEntry[str], path: str) -> bool:
        if entry.is_symlink():
            return self._skip(path) or self._skip(f"{path}/")
        return self._skip(f"{path}/" if entry.is_dir(follow_symlinks=False) else path)

    def _add_by_kind(self, entry: os.DirEntry[str], path: str) -> None:
        if entry.is_symlink():
            self._report(path, "a symbolic link: links are not followed", "symlink")
        elif entry.is_dir(follow_symlinks=False):
            self.folders.append(path)
        elif entry.is_file(follow_symlinks=False):
            status = entry.stat(follow_symlinks=False)
            self.files.append(Stat(path, status.st_mtime, status.st_size))
        else:
            kind = kind_of(entry.stat(follow_symlinks=False).st_mode)
            self._report(path, f"{kind}, not a regular file", "special-file")

    def _report_collisions(self, prefix: str, names: Iterable[str]) -> None:
        first: dict[str, str] = {}
        for name in sorted(names):
            other = first.setdefault(fold_name(name), name)
            if other != name:
                message = (
                    f"differs from '{printable(other)}' only in case or Unicode form: some systems treat them as one"
                )
                self._report(printable(prefix + name), message, "name-collision")

    def _report(self, path: str, message: str, code: str) -> None:
        self.problems.append(Problem(path, 0, message, code))


def _skip_nothing(path: str) -> bool:
    return False
