"""Watching: what people save, rename and remove is in the index within moments."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from commonplace import events
from commonplace.errors import VaultUnavailable
from commonplace.flows.ingest.documents import VAULT
from commonplace.flows.ingest.index_notes import SyncReport
from commonplace.flows.ingest.watch import watch_vault
from commonplace.flows.stores import Stores
from commonplace.vault.base import Blob, Locator, Skip, WatchEvent
from commonplace.vault.local import DeviceLocal
from tests.stores import CountingEncoder, close, make_stores, save

PATIENCE = 60.0


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "vault"
    save(root, "Notes/a.md", "apple\n")
    save(root, "Notes/deep/b.md", "banana\n")
    return root


@pytest.fixture
def encoder() -> CountingEncoder:
    return CountingEncoder()


@pytest.fixture
def stores(root: Path, tmp_path: Path, encoder: CountingEncoder) -> Iterator[Stores]:
    made = replace(make_stores(root, tmp_path / "data", encoder=encoder), rename_window=0.6)
    yield made
    close(made)


@pytest.fixture(autouse=True)
def _quiet_again() -> Iterator[None]:
    yield
    events.listen("warning")


@contextmanager
def watching(stores: Stores, *, every: float = 300.0) -> Iterator[list[SyncReport]]:
    """The rounds that a watcher told of; it has looked at everything once when the block begins."""
    stop, rounds, failures = threading.Event(), list[SyncReport](), list[BaseException]()

    def watch() -> None:
        try:
            watch_vault(stores, stop, on_change=rounds.append, every=every)
        except BaseException as error:  # noqa: BLE001 - a thread's error must reach the test
            failures.append(error)

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        wait_until(lambda: bool(rounds or failures), "the first look")
        yield rounds
    finally:
        stop.set()
        thread.join(PATIENCE)
    assert not thread.is_alive()
    assert failures == []


def wait_until(is_so: Callable[[], bool], what: str) -> None:
    """Wait until it is so; fail after a minute."""
    start = time.monotonic()
    while not is_so():
        assert time.monotonic() < start + PATIENCE, f"not within {PATIENCE} s: {what}"
        time.sleep(0.01)


def indexed(stores: Stores) -> set[str]:
    """The paths that are in the index now, without a look at the disk."""
    return {path for path, stamp in stores.index.stamps(VAULT).items() if not stamp.deleted}


def version(stores: Stores, path: str) -> str | None:
    stamp = stores.index.stamp(VAULT, path)
    return stamp.content_hash if stamp and not stamp.deleted else None


@pytest.mark.requirement("D-85")
def test_a_save_is_indexed_within_moments(stores: Stores, root: Path) -> None:
    """New or changed, in a new folder too; `bench/waits.py` measures how soon."""
    with watching(stores):
        save(root, "new.md", "cherry\n")
        wait_until(lambda: "new.md" in indexed(stores), "a new note")
        before = version(stores, "Notes/a.md")
        save(root, "Notes/a.md", "apricot\n")
        wait_until(lambda: version(stores, "Notes/a.md") != before, "a changed note")
        save(root, "Other/deep/er/c.md", "currant\n")
        wait_until(lambda: "Other/deep/er/c.md" in indexed(stores), "a new folder")


def test_a_removal_is_carried_out_when_its_window_has_closed(stores: Stores, root: Path) -> None:
    """Until then it may be half of a rename; a folder takes with it what is below."""
    with watching(stores):
        began = time.monotonic()
        (root / "Notes/deep/b.md").unlink()
        (root / "Notes/deep").rmdir()
        wait_until(lambda: indexed(stores) == {"Notes/a.md"}, "a removal")
        took = time.monotonic() - began

    assert took > stores.rename_window


@pytest.mark.parametrize("in_between", [0.0, 0.25])
def test_a_renamed_note_is_one_note_all_along(
    stores: Stores, root: Path, encoder: CountingEncoder, in_between: float
) -> None:
    """Removal and save are one rename, at once or a moment apart; nothing is encoded."""
    with watching(replace(stores, rename_window=PATIENCE)) as rounds:
        encoder.texts.clear()
        text = (root / "Notes/a.md").read_text()
        (root / "Notes/a.md").unlink()
        time.sleep(in_between)  # within the rename window
        save(root, "Moved/a.md", text)
        wait_until(lambda: indexed(stores) == {"Moved/a.md", "Notes/deep/b.md"}, "a rename")

    assert sum(each.renamed for each in rounds) == 1
    assert encoder.texts == []


def test_a_note_that_is_replaced_is_never_gone(stores: Stores, root: Path) -> None:
    """Many editors remove the note and put a new file in its place: the removal that waited is void."""
    with watching(stores) as rounds:
        before, new = version(stores, "Notes/a.md"), save(root, "Notes/a.md~", "apricot\n")
        (root / "Notes/a.md").unlink()
        new.rename(root / "Notes/a.md")  # at once: what is away for longer than the window is removed
        wait_until(lambda: version(stores, "Notes/a.md") != before, "a replacement")
        save(root, "z.md", "later\n")
        wait_until(lambda: "z.md" in indexed(stores), "a later note")
        time.sleep(stores.rename_window + 0.3)  # the window in which the removal could still be carried out

    assert indexed(stores) == {"Notes/a.md", "Notes/deep/b.md", "z.md"}
    assert sum(each.removed for each in rounds) == 0


def test_a_renamed_folder_takes_its_notes_along(stores: Stores, root: Path, encoder: CountingEncoder) -> None:
    """All of them are at their new paths, and none at the old; nothing is encoded."""
    with watching(stores):
        encoder.texts.clear()
        (root / "Notes").rename(root / "Archive")
        wait_until(lambda: indexed(stores) == {"Archive/a.md", "Archive/deep/b.md"}, "a folder's rename")

    assert encoder.texts == []


@pytest.mark.requirement("D-78")
def test_what_is_seen_is_told(stores: Stores, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`vault_watch_event` with the path and what happened; ignored paths are not told."""
    events.listen("info")
    with watching(stores):
        save(root, "Templates/t.md", "ignored\n")
        save(root, "new.md", "cherry\n")
        wait_until(lambda: "new.md" in indexed(stores), "a new note")
    told = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    seen = {(each["path"], each["what"]) for each in told if each["event"] == "vault_watch_event"}

    assert ("new.md", "saved") in seen
    assert not any(path.startswith("Templates") for path, _ in seen)


class Deaf(DeviceLocal):
    """A vault of which the system tells nothing."""

    def watch(
        self, *, stop: threading.Event, skip: Skip | None = None, step: float = 0.5
    ) -> Iterator[tuple[WatchEvent, ...]]:
        while not stop.wait(0.05):
            yield ()


class Unwatchable(DeviceLocal):
    """A vault that the system does not watch."""

    def watch(
        self, *, stop: threading.Event, skip: Skip | None = None, step: float = 0.5
    ) -> Iterator[tuple[WatchEvent, ...]]:
        raise VaultUnavailable("the system does not watch it")


def test_what_was_missed_is_found_by_the_next_look_at_everything(stores: Stores, root: Path) -> None:
    """A file system that is shared may tell nothing."""
    with watching(replace(stores, vault=Deaf(root)), every=0.2):
        save(root, "new.md", "cherry\n")
        wait_until(lambda: "new.md" in indexed(stores), "a note of which nothing was told")

    assert "new.md" in indexed(stores)


def test_a_vault_that_cannot_be_watched_is_looked_at_now_and_then(
    stores: Stores, root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """That it is so is told once."""
    with watching(replace(stores, vault=Unwatchable(root))):
        save(root, "new.md", "cherry\n")
        wait_until(lambda: "new.md" in indexed(stores), "a note in a vault that is not watched")

    assert capsys.readouterr().err.count("watching_failed") == 1


def test_a_note_that_cannot_be_read_does_not_end_the_watch(stores: Stores, root: Path) -> None:
    """The next save is taken in."""

    class Stubborn(DeviceLocal):
        def read(self, at: Locator) -> Blob:
            if at.path == "bad.md":
                raise VaultUnavailable("the disk said no", path=at.path)
            return super().read(at)

    with watching(replace(stores, vault=Stubborn(root))):
        save(root, "bad.md", "unreadable\n")
        save(root, "new.md", "cherry\n")
        wait_until(lambda: "new.md" in indexed(stores), "a note beside one that cannot be read")

    assert "bad.md" not in indexed(stores)


def test_an_index_that_is_locked_for_long_does_not_end_the_watch(
    stores: Stores, root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The watch goes on, and looks at everything later."""
    monkeypatch.setattr("commonplace.flows.ingest.watch._DELAY", 0.1)
    refusals = ["once", "twice"]

    class Busy:
        def __getattr__(self, name: str) -> object:
            return getattr(stores.index, name)

        def upsert(self, *given: object, **named: object) -> None:
            if refusals and (root / "new.md").exists():
                refusals.pop()
                raise VaultUnavailable("the index is locked by another process", reason="locked")
            stores.index.upsert(*given, **named)  # type: ignore[arg-type]

    with watching(stores.using(index=Busy())):
        save(root, "new.md", "cherry\n")
        wait_until(lambda: "new.md" in indexed(stores), "a note that met a locked index")

    assert refusals == []
    assert "watching_delayed" in capsys.readouterr().err
