"""Watching a folder as people and their programs change it."""

import os
import resource
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest
import watchfiles  # noqa: F401  # loaded before a test runs out of files

from commonplace.errors import VaultUnavailable
from commonplace.vault import watch as watching
from commonplace.vault.base import Skip, WatchEvent
from commonplace.vault.inmemory import InMemory
from commonplace.vault.local import DeviceLocal
from commonplace.vault.paths import temporary_name
from commonplace.vault.tree import FolderTree
from commonplace.vault.watch import PathBatches, poll, watch_folder

EVERYTHING = WatchEvent("", "folder")
SAVED, GONE = WatchEvent("note.md", "saved"), WatchEvent("note.md", "gone")


class Watcher:
    """What a watcher has told so far."""

    def __init__(self, batches: Iterator[tuple[WatchEvent, ...]], stop: threading.Event) -> None:
        self.batches = batches
        self.stop = stop
        self.events: list[WatchEvent] = []

    def until(self, *wanted: WatchEvent) -> list[WatchEvent]:
        """All that was told, once these were among it; fails after a minute."""
        deadline = time.monotonic() + 60
        while not set(wanted) <= set(self.events):
            assert time.monotonic() < deadline, f"got {self.events}, not {wanted}"
            self.events.extend(next(self.batches))
        return self.events


@pytest.fixture
def watch() -> Iterator[Callable[..., Watcher]]:
    """Starts a watcher of a folder; all end with the test."""
    stop = threading.Event()

    def begin(root: Path, *, skip: Skip | None = None, step: float = 0.05) -> Watcher:
        return Watcher(DeviceLocal(root).watch(stop=stop, skip=skip, step=step), stop)

    yield begin
    stop.set()


def _write(root: Path, *paths: str) -> None:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(b"text")


@pytest.mark.requirement("D-82", "D-83")
def test_a_save_is_told(tmp_path: Path, watch: Callable[..., Watcher]) -> None:
    """Added and modified are saved, deleted is gone; `bench/waits.py` measures how soon."""
    watcher = watch(tmp_path, step=0.5)
    for act, what in ((_write, SAVED), (_write, SAVED), (lambda root, path: (root / path).unlink(), GONE)):
        watcher.events.clear()
        act(tmp_path, "note.md")
        watcher.until(what)


@pytest.mark.requirement("D-82")
def test_a_quiet_folder_is_told_as_nothing_at_every_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The caller gets its turn at once and then twice a second, for as long as the process lives."""
    looks = 0

    def quiet(root: str, stop: threading.Event) -> PathBatches:
        nonlocal looks
        while True:
            looks += 1
            yield set()

    monkeypatch.setattr(watching, "time", SimpleNamespace(monotonic=lambda: looks / 16))
    turns = watch_folder(FolderTree(tmp_path), stop=threading.Event(), skip=None, step=0.5, start=quiet)

    assert [(next(turns), looks) for _ in range(4)] == [((), 1), ((), 9), ((), 17), ((), 25)]


def test_what_happens_between_the_call_and_the_first_look_is_told(
    tmp_path: Path, watch: Callable[..., Watcher]
) -> None:
    """Whoever starts watching before a backfill misses nothing of what is saved meanwhile."""
    watcher = watch(tmp_path)
    _write(tmp_path, 'Zürich/note "one".md')

    watcher.until(WatchEvent("Zürich", "folder"))


def test_replace_by_rename_ends_as_saved(tmp_path: Path, watch: Callable[..., Watcher]) -> None:
    """Many editors save so: a new file is written beside the note and renamed over it."""
    _write(tmp_path, "note.md")
    watcher = watch(tmp_path)
    _write(tmp_path, ".note.md.swp")
    os.rename(tmp_path / "note.md", tmp_path / "note.md~")
    os.rename(tmp_path / ".note.md.swp", tmp_path / "note.md")
    os.unlink(tmp_path / "note.md~")
    _write(tmp_path, "last.md")
    events = watcher.until(WatchEvent("last.md", "saved"), WatchEvent("note.md", "saved"))

    assert [each.kind for each in events if each.path == "note.md"][-1] == "saved"


def test_a_renamed_folder_is_told_by_itself(tmp_path: Path, watch: Callable[..., Watcher]) -> None:
    """The old one is gone with all below it, the new one is to be looked at; a save in it is told after."""
    _write(tmp_path, "old/deep/note.md")
    watcher = watch(tmp_path)
    os.rename(tmp_path / "old", tmp_path / "new")
    watcher.until(WatchEvent("old", "gone"), WatchEvent("new", "folder"))
    (tmp_path / "new/deep/note.md").write_bytes(b"more")

    watcher.until(WatchEvent("new/deep/note.md", "saved"))


def test_a_removed_folder_covers_what_was_in_it(tmp_path: Path, watch: Callable[..., Watcher]) -> None:
    """One word says it: what was below is gone with it."""
    _write(tmp_path, *(f"old/{number}.md" for number in range(20)))
    watcher = watch(tmp_path)
    shutil.rmtree(tmp_path / "old")

    assert watcher.until(WatchEvent("old", "gone"))[-1] == WatchEvent("old", "gone")


def test_what_is_no_part_of_the_store_is_not_told(tmp_path: Path, watch: Callable[..., Watcher]) -> None:
    """Git's own files, half-made ones, skipped ones, names that no path can say, and what is behind a link."""
    vault, other = tmp_path / "vault", tmp_path / "other"
    _write(vault, ".git/config", "Templates/one.md")
    _write(other, "far.md")
    (vault / "link").symlink_to(other)
    watcher = watch(vault, skip=lambda path: path in ("Templates/", "draft.md"))
    _write(vault, ".git/index", "sub.git/a.md", temporary_name("0" * 16), "back\\slash.md", "Templates/one.md")
    _write(vault, "draft.md", "link/far.md", "note.md")
    shutil.rmtree(vault / "Templates")
    _write(vault, "last.md")
    events = watcher.until(WatchEvent("last.md", "saved"), WatchEvent("note.md", "saved"))

    assert {each.path for each in events} == {"sub.git", "note.md", "last.md"}


def test_a_note_that_becomes_a_link_is_gone(tmp_path: Path, watch: Callable[..., Watcher]) -> None:
    """Links are not followed, so there is nothing to be read there any more."""
    _write(tmp_path, "note.md", "other.md")
    watcher = watch(tmp_path)
    (tmp_path / "note.md").unlink()
    (tmp_path / "note.md").symlink_to("other.md")

    watcher.until(WatchEvent("note.md", "gone"))


def test_a_name_in_another_form_is_another_path(tmp_path: Path, watch: Callable[..., Watcher]) -> None:
    """When a sync program respells an accent, the old spelling is gone and the new one saved."""
    _write(tmp_path, "Caf\u00e9.md")
    watcher = watch(tmp_path)
    os.rename(tmp_path / "Caf\u00e9.md", tmp_path / "Cafe\u0301.md")

    watcher.until(WatchEvent("Caf\u00e9.md", "gone"), WatchEvent("Cafe\u0301.md", "saved"))


def test_a_vault_that_is_moved_away_is_to_be_looked_at_whole(tmp_path: Path, watch: Callable[..., Watcher]) -> None:
    """Whoever looks finds out what happened."""
    _write(tmp_path, "vault/note.md")
    watcher = watch(tmp_path / "vault")
    os.rename(tmp_path / "vault", tmp_path / "elsewhere")

    watcher.until(EVERYTHING)


def test_a_flood_is_told_as_everything(tmp_path: Path) -> None:
    """When very many paths change at once, the kernel may have dropped some: all is to be looked at."""
    many = {str(tmp_path / f"{number}.md") for number in range(watching.MANY)}

    assert list(_scripted(tmp_path, many)) == [(EVERYTHING,)]


def test_a_folder_that_cannot_be_watched_says_what_to_raise(tmp_path: Path) -> None:
    """The kernel's limits are the usual reason; the hint names them, and that looking goes on."""
    vault = DeviceLocal(tmp_path)
    with _no_more_files(), pytest.raises(VaultUnavailable) as refused:
        vault.watch(stop=threading.Event())

    assert "fs.inotify.max_user_watches" in (refused.value.hint or "")


def test_a_watcher_that_breaks_down_is_started_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it missed is not known, so everything is to be looked at; then it goes on."""
    monkeypatch.setattr(watching, "_RESTART_AFTER_S", 0.0)
    _write(tmp_path, "note.md")
    saved = {str(tmp_path / "note.md")}

    assert list(_scripted(tmp_path, RuntimeError("overflow"), saved)) == [
        (EVERYTHING,),
        (WatchEvent("note.md", "saved"),),
    ]


def test_a_watcher_that_breaks_down_at_once_gives_up(tmp_path: Path) -> None:
    """Starting it again and again would only look at everything again and again."""
    with pytest.raises(VaultUnavailable, match="overflow"):
        list(_scripted(tmp_path, RuntimeError("overflow")))


def test_polling_tells_the_same(tmp_path: Path) -> None:
    """Where the system does not watch, listings are compared: new, changed and gone, skipped ones left out."""
    _write(tmp_path, "kept.md", "changed.md", "gone.md", "old/one.md", "draft.md")
    stop = threading.Event()
    backend = DeviceLocal(tmp_path)
    batches = poll(backend, stop=stop, skip=lambda path: path == "draft.md", step=0.01, every=0.01)
    (tmp_path / "changed.md").write_bytes(b"longer text")
    (tmp_path / "gone.md").unlink()
    (tmp_path / "draft.md").unlink()
    os.rename(tmp_path / "old", tmp_path / "new")
    events = Watcher(batches, stop).until(WatchEvent("new/one.md", "saved"))

    stop.set()
    assert sorted((each.path, each.kind) for each in events) == [
        ("changed.md", "saved"),
        ("gone.md", "gone"),
        ("new/one.md", "saved"),
        ("old/one.md", "gone"),
    ]
    assert list(batches) == []


def test_polling_gives_the_caller_its_turns_between_looks() -> None:
    """Looking may be rare; the caller's timed work is not."""
    stop = threading.Event()
    batches = poll(InMemory(), stop=stop, step=0.001, every=60)

    assert [next(batches) for _ in range(3)] == [(), (), ()]


def test_a_watcher_that_has_ended_is_told_no_more() -> None:
    """A store that outlives its watchers does not gather what nobody will take."""
    store, stop = InMemory(), threading.Event()
    batches = store.watch(stop=stop, step=0.001)
    next(batches)
    stop.set()

    assert list(batches) == []
    assert store._watchers._queues == ()


def _scripted(root: Path, *acts: set[str] | Exception) -> Iterator[tuple[WatchEvent, ...]]:
    """What is made of a watcher that tells these things, breaks down where there is an error, and then ends."""
    left = iter(acts)

    def start(folder: str, stop: threading.Event) -> PathBatches:
        for act in left:
            if isinstance(act, Exception):
                raise act
            yield act

    return watch_folder(FolderTree(root), stop=threading.Event(), skip=None, step=60, start=start)


@contextmanager
def _no_more_files() -> Iterator[None]:
    """A process that has used up its open files."""
    assert "watchfiles" in sys.modules  # an import needs files too
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    fd = os.dup(0)
    os.close(fd)
    resource.setrlimit(resource.RLIMIT_NOFILE, (fd, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
