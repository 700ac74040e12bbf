"""Indexes for one evaluation: each goes when it ends, and what a dead process left goes with the next."""

from pathlib import Path

import pytest

from commonplace.app.index_folders import TemporaryIndexes
from commonplace.errors import VaultUnavailable
from commonplace.facts.claims import FactRules
from commonplace.index.base import Index
from commonplace.index.sqlite.store import SqliteIndex
from commonplace.notes.link_resolver import NoteLinker


def make(file: Path) -> Index:
    return SqliteIndex(file, user="me", linker=NoteLinker(), rules=FactRules())


@pytest.fixture
def scratches(tmp_path: Path) -> TemporaryIndexes:
    return TemporaryIndexes(tmp_path / "data", make)


def folders(scratches: TemporaryIndexes) -> list[Path]:
    return [*scratches.folder.glob("scratch-*")]


def leave_one(scratches: TemporaryIndexes) -> Path:
    """A folder as a process leaves it that is killed."""
    left = scratches.folder / "scratch-left"
    left.mkdir(parents=True)
    (left / "index.db").write_text("what the notes say", encoding="utf-8")
    (left / "held.lock").touch()
    return left


def test_an_index_goes_with_its_folder_however_the_block_ends(scratches: TemporaryIndexes) -> None:
    """It is in the folder of the vault's data, for this user alone, and works."""
    with pytest.raises(KeyboardInterrupt), scratches.one() as index:  # noqa: PT012
        index.record_sync("2026-11-15T12:00:00Z")
        (place,) = folders(scratches)
        mode = place.stat().st_mode & 0o777
        raise KeyboardInterrupt

    assert mode == 0o700
    assert folders(scratches) == []


def test_what_a_dead_process_left_goes_with_the_next(scratches: TemporaryIndexes) -> None:
    """At its beginning, before its own folder is filled."""
    left = leave_one(scratches)
    with scratches.one():
        was_there = left.exists()

    assert not was_there


def test_what_a_dead_process_left_is_forgotten(scratches: TemporaryIndexes) -> None:
    """What was erased may be in it; where nothing was left, nothing is made."""
    scratches.forget()
    was_made = scratches.folder.exists()
    left = leave_one(scratches)
    scratches.forget()

    assert not was_made
    assert not left.exists()


def test_an_index_in_use_stays(scratches: TemporaryIndexes) -> None:
    """While another evaluation begins, and while something is forgotten."""
    with scratches.one() as first:
        first.record_sync("2026-11-15T12:00:00Z")
        (place,) = folders(scratches)
        with scratches.one():
            both = len(folders(scratches))
        scratches.forget()

        assert both == 2
        assert folders(scratches) == [place]
        with first.reader() as reading:
            assert reading.counts().synced == "2026-11-15T12:00:00Z"


def test_a_folder_that_cannot_be_made_is_told_with_what_to_do(scratches: TemporaryIndexes) -> None:
    """A file is in its place."""
    scratches.folder.write_text("in the way", encoding="utf-8")

    with pytest.raises(VaultUnavailable, match="an index for an evaluation") as trouble, scratches.one():
        pass

    assert trouble.value.hint
