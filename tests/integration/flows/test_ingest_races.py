"""What other processes and people do in between: no search, sync or watch ends for it, and nothing stale is shown."""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from commonplace.encoders.hashing import HashingEncoder
from commonplace.errors import VaultUnavailable
from commonplace.flows.ingest.documents import VAULT
from commonplace.flows.ingest.index_notes import SyncReport, index_notes
from commonplace.flows.ingest.sync import sync
from commonplace.flows.ingest.watch import watch_vault
from commonplace.flows.stores import Encoders, Stores
from commonplace.history.base import ModelCall
from commonplace.history.inmemory.history import InMemoryHistory
from commonplace.model import Answer
from tests.stores import ask, close, make_stores, save


def paths(answer: Answer) -> list[str]:
    """The notes that were found, once each."""
    return sorted({hit.path for hit in answer.hits})


def to_link(file: Path) -> None:
    file.unlink()
    file.symlink_to(file.parent / "other.md")


def to_folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


def to_linked_parent(file: Path) -> None:
    file.parent.rename(file.parent.with_name("elsewhere"))
    file.parent.symlink_to(file.parent.with_name("elsewhere"))


SWAPS: dict[str, Callable[[Path], None]] = {
    "link": to_link,
    "folder": to_folder,
    "linked parent": to_linked_parent,
    "gone": Path.unlink,
}


@pytest.mark.parametrize("swap", SWAPS.values(), ids=SWAPS)
def test_a_note_that_is_no_note_any_more_is_not_found_and_stops_nothing(
    swap: Callable[[Path], None], root: Path, stores: Stores
) -> None:
    """A link, a folder, a linked parent or nothing stands in its place: search, ingest and sync go on without it."""
    file = save(root, "Deep/apple.md", "apple tree\n")
    save(root, "other.md", "apple juice\n")
    sync(stores)
    swap(file)
    searched = paths(ask(stores, "apple"))
    index_notes(["Deep/apple.md"], stores)
    sync(stores)

    assert set(searched) - {"elsewhere/apple.md"} == {"other.md"}
    assert "Deep/apple.md" not in paths(ask(stores, "apple"))


class Meddling(HashingEncoder):
    """An encoder during whose work something else happens, once."""

    def __init__(self, meddle: Callable[[], None]) -> None:
        super().__init__(384)
        self._meddle: list[Callable[[], None]] = [meddle]

    def encode(self, texts: Sequence[str], **more: Any) -> "np.ndarray[Any, Any]":
        """As the other, after the meddling."""
        while self._meddle:
            self._meddle.pop()()
        return super().encode(texts, **more)


def test_what_another_process_indexed_while_the_question_was_encoded_is_what_is_shown(
    root: Path, stores: Stores
) -> None:
    """A slow encoder does not make an old text a hit."""
    file = save(root, "a.md", "apple old\n")
    sync(stores)

    def meddle() -> None:
        file.write_text("apple anew, and longer\n")
        sync(stores)

    slow = Meddling(meddle)
    answer = ask(stores.using(encoders=Encoders(slow, "", lambda version: slow)), "apple")

    assert [hit.text for hit in answer.hits] == ["apple anew, and longer"]


def test_a_note_that_is_made_again_while_it_is_removed_stays_found(root: Path, stores: Stores) -> None:
    """Another process takes it in between our look at the disk and our removal: we look again."""
    file = save(root, "a.md", "apple\n")
    sync(stores)
    file.unlink()
    inner = stores.index

    class Racing:
        """The index, in which another process is quicker."""

        def __getattr__(self, name: str) -> Any:
            return getattr(inner, name)

        def remove(self, source_type: str, source_id: str, *, now: float) -> bool:
            """Remove it, after the other has brought it back."""
            save(root, "a.md", "apple\n")
            index_notes(["a.md"], stores)
            return inner.remove(source_type, source_id, now=now)

    for way in (sync, lambda racing: index_notes(["a.md"], racing)):
        file.unlink(missing_ok=True)
        way(stores.using(index=Racing()))

        assert paths(ask(stores, "apple")) == ["a.md"]
        assert not getattr(inner.stamp(VAULT, "a.md"), "deleted", True)


class Locked(InMemoryHistory):
    """A history that cannot be written now."""

    def log_calls(self, calls: Sequence[ModelCall]) -> None:
        """Refuse."""
        raise VaultUnavailable("the history history.db is locked by another process", reason="locked")


def test_a_log_that_cannot_be_written_stops_neither_ingest_nor_search(root: Path, stores: Stores) -> None:
    """It is told as an event; the answer is whole."""
    save(root, "a.md", "apple\n")
    locked = replace(stores, history=Locked())
    synced = sync(locked)
    answer = ask(locked, "apple")

    assert (synced.added, synced.encoded) == (1, 2)
    assert (paths(answer), answer.mode) == (["a.md"], "hybrid")


def test_a_changed_hit_that_cannot_be_indexed_anew_is_left_out_and_said(root: Path, stores: Stores) -> None:
    """The index is locked: the old words are not shown, and the answer says what is missing."""
    save(root, "a.md", "apple\n")
    save(root, "b.md", "apple, too\n")
    sync(stores)
    save(root, "a.md", "pear and more\n")
    inner = stores.index

    class ReadOnly:
        """The index, locked for writers."""

        def __getattr__(self, name: str) -> Any:
            if name in ("upsert", "touch", "remove", "rename"):
                raise VaultUnavailable("the index is locked by another process", reason="locked")
            return getattr(inner, name)

    answer = ask(stores.using(index=ReadOnly()), "apple")

    assert paths(answer) == ["b.md"]
    assert any("left out" in said for said in answer.degraded)


def test_the_watch_outlives_whatever_goes_wrong(root: Path, stores: Stores, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first look fails, as when the disk is away: it is tried again, and what came meanwhile is taken in."""
    monkeypatch.setattr("commonplace.flows.ingest.watch._DELAY", 0.05)
    save(root, "a.md", "apple\n")
    inner, failures = stores.vault, [1, 2]

    class Flaky:
        """The vault, away for two looks."""

        def __getattr__(self, name: str) -> Any:
            if name == "list" and failures:
                failures.pop()
                raise VaultUnavailable("the disk is away")
            return getattr(inner, name)

    stop, heard = threading.Event(), list[SyncReport]()

    def hear(synced: SyncReport) -> None:
        heard.append(synced)
        stop.set()

    watching = threading.Thread(
        target=watch_vault, args=(replace(stores, vault=Flaky()), stop), kwargs={"on_change": hear}
    )
    watching.start()
    watching.join(timeout=60)
    stop.set()

    assert not failures
    assert [synced.added for synced in heard] == [1]


class Waiting(HashingEncoder):
    """An encoder that takes long over some texts."""

    def __init__(self) -> None:
        super().__init__(384)
        self.go_on = threading.Event()

    def encode(self, texts: Sequence[str], **more: Any) -> "np.ndarray[Any, Any]":
        """As the other, once it may go on."""
        if any("slow" in text for text in texts):
            assert self.go_on.wait(timeout=30)
        return super().encode(texts, **more)


def test_a_save_is_found_while_the_first_look_still_encodes(root: Path, tmp_path: Path) -> None:
    """The look at everything may take minutes: what is saved meanwhile does not wait for it."""
    save(root, "old.md", "a slow text\n")
    encoder, stop = Waiting(), threading.Event()
    stores = make_stores(root, tmp_path / "slow", encoder=encoder)
    watching = threading.Thread(target=watch_vault, args=(stores, stop), kwargs={"on_change": lambda synced: None})
    watching.start()
    deadline = time.monotonic() + 60
    saved = False
    while "fresh.md" not in paths(ask(stores, "apple", mode="words")) and time.monotonic() < deadline:
        if not saved:
            save(root, "fresh.md", "apple\n")
            saved = True
        time.sleep(0.05)
    early = paths(ask(stores, "apple slow", mode="words"))
    encoder.go_on.set()
    stop.set()
    watching.join(timeout=60)

    assert early == ["fresh.md"]
    assert not watching.is_alive()
    close(stores)
