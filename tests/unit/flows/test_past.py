"""The vault as it stood: what was written, changed and removed since is as it was."""

import os
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from commonplace.errors import NotFound, UsageError
from commonplace.flows.ingest import sync
from commonplace.flows.recall import Ask, recall
from commonplace.flows.shelf import Shelf
from commonplace.model import Answer
from commonplace.vault.obsidian import ObsidianVault
from tests.gitvault import AUTHOR, git
from tests.unit.flows.shelf import CountingEncoder, close, make_shelf, save

BEGINS = "2026-03-01T12:00:00Z"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A vault with a commit in March and one in May: a note changed, one moved, one removed, one added."""
    root = tmp_path / "vault"
    root.mkdir()
    git(root, "init", "--quiet")
    save(root, "Lead.md", "Ada leads the greenhouse.\n")
    save(root, "Old/moved.md", "The greenhouse has four beds.\n")
    save(root, "gone.md", "The greenhouse leaks.\n")
    save(root, "Templates/t.md", "The greenhouse template.\n")
    commit(root, BEGINS)
    save(root, "Lead.md", "Jonas leads the greenhouse.\n")
    (root / "New").mkdir()
    (root / "Old/moved.md").rename(root / "New/moved.md")
    (root / "gone.md").unlink()
    save(root, "new.md", "The greenhouse has sensors.\n")
    commit(root, "2026-05-01T12:00:00Z")
    return root


@pytest.fixture
def encoder() -> CountingEncoder:
    return CountingEncoder()


@pytest.fixture
def shelf(root: Path, tmp_path: Path, encoder: CountingEncoder) -> Iterator[Shelf]:
    made = make_shelf(root, tmp_path / "data", encoder=encoder, vault=ObsidianVault(root, author=AUTHOR))
    yield made
    close(made)


def commit(root: Path, when: str) -> None:
    git(root, "add", "--all")
    person = ["-c", "user.name=A Person", "-c", "user.email=person@localhost"]
    dated = {**os.environ, "GIT_COMMITTER_DATE": when, "GIT_AUTHOR_DATE": when}
    subprocess.run(["git", *person, "commit", "--quiet", "--message", "by hand"], cwd=root, env=dated, check=True)


def as_of(shelf: Shelf, when: str, text: str = "greenhouse") -> Answer:
    return recall(Ask(text, "words", as_of=when), shelf, sink="person")


def test_a_day_in_the_past_has_the_notes_of_that_day(shelf: Shelf) -> None:
    """Changed, moved and removed notes as they were; what came later is not there, nor what is ignored."""
    sync(shelf)
    answer = as_of(shelf, "2026-04-01T00:00:00Z")

    assert sorted(hit.path for hit in answer) == ["Lead.md", "Old/moved.md", "gone.md"]
    assert [hit.text for hit in answer if hit.path == "Lead.md"] == ["Ada leads the greenhouse."]
    assert (answer.as_of, answer.history_begins) == ("2026-04-01T00:00:00Z", BEGINS)


def test_the_moment_of_a_commit_belongs_to_what_it_brought(shelf: Shelf) -> None:
    """`as_of` is the end of a window: the second before it counts, the second itself does not."""
    at, after = as_of(shelf, "2026-05-01T12:00:00Z"), as_of(shelf, "2026-05-01T12:00:01Z")

    assert "gone.md" in [hit.path for hit in at]
    assert sorted(hit.path for hit in after) == ["Lead.md", "New/moved.md", "new.md"]


def test_before_history_there_is_nothing_to_ask(shelf: Shelf) -> None:
    """The error says where history begins."""
    with pytest.raises(NotFound, match=f"it begins {BEGINS}"):
        as_of(shelf, "2026-02-01T00:00:00Z")


def test_a_vault_without_history_says_so(root: Path, tmp_path: Path) -> None:
    """Its notes are only as they are now."""
    plain = make_shelf(root, tmp_path / "plain")

    with pytest.raises(UsageError, match="keeps no history"):
        as_of(plain, "2026-04-01T00:00:00Z")
    close(plain)


def test_the_past_is_built_once_with_the_vectors_that_are_known(shelf: Shelf, encoder: CountingEncoder) -> None:
    """A text that is still in the vault is not encoded for it; the second search builds nothing."""
    sync(shelf)
    encoder.texts.clear()
    as_of(shelf, "2026-04-01T00:00:00Z")
    encoded = set(encoder.texts)
    encoder.texts.clear()
    as_of(shelf, "2026-04-15T00:00:00Z")

    assert encoded == {"Ada leads the greenhouse.", "The greenhouse leaks.", "gone"}
    assert encoder.texts == []


def test_a_search_of_the_past_changes_nothing_of_today(shelf: Shelf) -> None:
    """The index of now has what it had."""
    sync(shelf)
    before = recall(Ask("greenhouse"), shelf, sink="person").hits
    as_of(shelf, "2026-04-01T00:00:00Z")

    assert recall(Ask("greenhouse"), shelf, sink="person").hits == before


def test_an_encoder_that_fails_leaves_the_words_of_the_past(shelf: Shelf, encoder: CountingEncoder) -> None:
    """And what was left out is made up for when it works again."""
    encoder.fails = True
    failing = recall(Ask("greenhouse leaks", as_of="2026-04-01T00:00:00Z"), shelf, sink="person")
    encoder.fails = False
    working = recall(Ask("greenhouse leaks", as_of="2026-04-01T00:00:00Z"), shelf, sink="person")

    assert (failing.hits[0].path, failing.mode) == ("gone.md", "words")
    assert failing.degraded
    assert (working.hits[0].path, working.mode, working.degraded) == ("gone.md", "hybrid", ())


def test_a_past_that_was_left_half_built_is_completed(shelf: Shelf) -> None:
    """A process was killed while it built it: the next search goes on."""

    class Killed(Exception):
        pass

    def past_that_dies(commit: str) -> object:
        index = shelf.past(commit)

        class Dying:
            def __getattr__(self, name: str) -> object:
                return getattr(index, name)

            def settle(self) -> None:
                raise Killed

        return Dying()

    with pytest.raises(Killed):
        as_of(replace(shelf, past=past_that_dies), "2026-04-01T00:00:00Z")  # type: ignore[arg-type]

    assert len(as_of(shelf, "2026-04-01T00:00:00Z")) == 3
