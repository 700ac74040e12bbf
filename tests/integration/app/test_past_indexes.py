"""Indexes of the past on the disk: the newest are kept, whatever other processes do to their folders meanwhile."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from commonplace.app.index_folders import PastIndexes
from commonplace.errors import VaultUnavailable
from commonplace.facts.claims import FactRules
from commonplace.index.base import Index
from commonplace.index.sqlite.store import SqliteIndex
from commonplace.notes.link_resolver import NoteLinker

KEPT = 8


@pytest.fixture
def opened() -> Iterator[list[Index]]:
    """The indexes that a test opens."""
    made: list[Index] = []
    yield made
    for each in made:
        each.close()


@pytest.fixture
def make(opened: list[Index]) -> Callable[[Path], Index]:
    def made(file: Path) -> Index:
        opened.append(SqliteIndex(file, user="me", linker=NoteLinker(), rules=FactRules()))
        return opened[-1]

    return made


def names(pasts: PastIndexes) -> set[str]:
    return {place.name.removesuffix("-form") for place in pasts.folder.iterdir()}


def use(pasts: PastIndexes, commit: str, *, age: int) -> Index:
    """Open that index, so long ago."""
    index = pasts.at(commit)
    place = pasts.folder / f"{commit}-form"
    os.utime(place, (1_700_000_000 - age, 1_700_000_000 - age))
    return index


def test_the_indexes_used_last_are_kept(tmp_path: Path, make: Callable[[Path], Index]) -> None:
    """As many as there is room for; the one that is asked for is among them."""
    pasts = PastIndexes(tmp_path / "past", make, "form")
    for number in range(KEPT + 2):
        use(pasts, f"{number:016}", age=1000 - number)

    assert names(pasts) == {f"{number:016}" for number in range(2, KEPT + 2)}


def test_an_index_that_is_being_built_is_not_dropped(tmp_path: Path, make: Callable[[Path], Index]) -> None:
    """However old it is; when it is built it may go."""
    pasts = PastIndexes(tmp_path / "past", make, "form")
    oldest = use(pasts, "built", age=5000)
    with oldest.replacement() as fresh:
        fresh.record_sync("2026-11-15T12:00:00Z")
        os.utime(pasts.folder / "built-form", (0, 0))
        for number in range(KEPT):
            use(pasts, f"{number:016}", age=1000 - number)
        while_built = names(pasts)
    os.utime(pasts.folder / "built-form", (0, 0))
    pasts.at(f"{KEPT - 1:016}")

    assert "built" in while_built
    assert "built" not in names(pasts)


def test_forgetting_what_is_not_there_is_no_trouble(tmp_path: Path, make: Callable[[Path], Index]) -> None:
    """Another process may have forgotten it; what is there goes."""
    pasts = PastIndexes(tmp_path / "past", make, "form")
    pasts.forget()
    pasts.at("a commit")
    pasts.forget()

    assert not pasts.folder.exists()


@pytest.mark.parametrize("broken", ["past", "past/a commit-form"])
def test_a_folder_that_cannot_be_made_is_told_with_what_to_do(
    tmp_path: Path, make: Callable[[Path], Index], broken: str
) -> None:
    """A file is in its place."""
    (tmp_path / broken).parent.mkdir(exist_ok=True)
    (tmp_path / broken).write_text("in the way", encoding="utf-8")

    with pytest.raises(VaultUnavailable, match="an index of the past") as trouble:
        PastIndexes(tmp_path / "past", make, "form").at("a commit")

    assert "delete it" in (trouble.value.hint or "")


def test_what_cannot_be_removed_is_told(tmp_path: Path, make: Callable[[Path], Index]) -> None:
    """What was erased may be in it, so that silence would be a lie."""
    (tmp_path / "past").write_text("in the way", encoding="utf-8")

    with pytest.raises(VaultUnavailable, match="an index of the past"):
        PastIndexes(tmp_path / "past", make, "form").forget()
