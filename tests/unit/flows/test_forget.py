"""Forgetting: of an erased note no file of the index, no cache and no log holds anything."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from commonplace.flows.document import VAULT
from commonplace.flows.encode import text_hash
from commonplace.flows.forget import forget_notes
from commonplace.flows.ingest import sync
from commonplace.flows.shelf import Shelf
from tests.unit.flows.shelf import CountingEncoder, close, found, make_shelf, save

SECRET = "The swordfish opens the third door."


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "vault").mkdir()
    return tmp_path / "vault"


@pytest.fixture
def shelf(root: Path, tmp_path: Path) -> Iterator[Shelf]:
    made = make_shelf(root, tmp_path / "data", encoder=CountingEncoder(), least=1)
    yield made
    close(made)


def traces(folder: Path, text: str) -> list[str]:
    """The files below the folder in which the text stands."""
    return [file.name for file in folder.rglob("*") if file.is_file() and text.encode() in file.read_bytes()]


def test_an_erased_note_leaves_no_trace(shelf: Shelf, root: Path, tmp_path: Path) -> None:
    """Neither its text in a file of the index, nor its vectors, now or of an earlier version, nor its calls."""
    earlier = f"# Plan\n{SECRET} Earlier.\n"
    for text in (earlier, f"# Plan\n{SECRET}\n"):
        save(root, "Plan.md", text)
        sync(shelf)
    save(root, "other.md", "# other\nNothing of it.\n")
    sync(shelf)
    before = traces(tmp_path / "data", "swordfish")
    (root / "Plan.md").unlink()
    forget_notes(["Plan.md"], [earlier.encode(), f"# Plan\n{SECRET}\n".encode()], shelf)
    hashes = [text_hash(f"Plan\n{SECRET}{more}") for more in ("", " Earlier.")]

    assert before
    assert traces(tmp_path / "data", "swordfish") == []
    assert shelf.index.stamp(VAULT, "Plan.md") is None
    assert dict(shelf.cache.get("counting-1", hashes)) == {}
    assert [call.input_hash for call in shelf.history.calls(task_type="embed_vault_chunk")] == [
        text_hash("other\nNothing of it.")
    ]
    assert (found(shelf, "swordfish"), found(shelf, "nothing")) == ([], ["other.md"])


def test_indexes_of_the_past_go_with_it(shelf: Shelf, root: Path, tmp_path: Path) -> None:
    """They hold notes as they were: they are built anew when they are asked for."""
    past = replace(shelf, index=shelf.past("0123abcd"))
    save(root, "Plan.md", f"{SECRET}\n")
    sync(past)
    past.index.close()
    there = traces(tmp_path / "data/past", "swordfish")
    forget_notes(["Plan.md"], [f"{SECRET}\n".encode()], shelf)

    assert there
    assert traces(tmp_path / "data", "swordfish") == []


def test_what_is_sensitive_is_forgotten_whatever_encoder_there_is_now(shelf: Shelf, root: Path) -> None:
    """It was encoded on this machine; the encoder of today is remote and would not be shown it."""
    text = f"---\nsensitive: true\n---\n# Plan\n{SECRET}\n"
    save(root, "Plan.md", text)
    sync(shelf)
    remote = CountingEncoder(is_remote=True)
    forget_notes(["Plan.md"], [text.encode()], replace(shelf, encoders=replace(shelf.encoders, current=remote)))

    assert dict(shelf.cache.get("counting-1", [text_hash(f"Plan\n{SECRET}")])) == {}
