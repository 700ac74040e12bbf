"""Forgetting: of an erased note no file of the index, no cache and no log holds anything."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from commonplace.encoders.base import Spans
from commonplace.flows.document import VAULT
from commonplace.flows.encode import text_hash
from commonplace.flows.forget import forget_notes
from commonplace.flows.ingest import sync
from commonplace.flows.shelf import Shelf
from tests.unit.flows.shelf import CountingEncoder, close, found, make_shelf, save

SECRET = "The swordfish opens the third door."


@pytest.fixture
def shelf(root: Path, tmp_path: Path) -> Iterator[Shelf]:
    made = make_shelf(root, tmp_path / "data", encoder=CountingEncoder(), least=1)
    yield made
    close(made)


class Letters(CountingEncoder):
    """An encoder that takes every letter for a token."""

    def tokens(self, text: str) -> Spans:
        return [(at, at + 1) for at in range(len(text))]


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


def test_what_other_settings_encoded_is_forgotten_with_the_index_that_has_it(shelf: Shelf, root: Path) -> None:
    """Texts were cut in another way then, and the encoder is gone: the index remembers what was encoded."""
    text = " ".join(f"The swordfish opens door {number}." for number in range(40))
    save(root, "Plan.md", f"{text}\n")
    sync(shelf)
    hashes = shelf.index.part_hashes(VAULT, "Plan.md")
    known = shelf.cache.get("counting-1", hashes)
    today = replace(shelf, max_tokens=20, encoders=replace(shelf.encoders, current=None))
    forget_notes(["Plan.md"], [f"{text}\n".encode()], today)

    assert len(known) == len(set(hashes)) > 2
    assert dict(shelf.cache.get("counting-1", hashes)) == {}
    assert list(shelf.history.calls(task_type="embed_vault_chunk")) == []


def test_what_was_encoded_without_the_encoders_own_tokens_is_forgotten(shelf: Shelf, root: Path) -> None:
    """An earlier text, cut for an encoder that counts as we do; the one of today has tokens of its own."""
    earlier = " ".join(f"The swordfish opens door {number}." for number in range(40))
    save(root, "Plan.md", f"{earlier}\n")
    sync(shelf)
    hashes = shelf.index.part_hashes(VAULT, "Plan.md")
    save(root, "Plan.md", "Short.\n")
    sync(shelf)
    today = replace(shelf, encoders=replace(shelf.encoders, current=Letters()))
    forget_notes(["Plan.md"], [f"{earlier}\n".encode(), b"Short.\n"], today)

    assert dict(shelf.cache.get("counting-1", hashes)) == {}
