"""Forgetting: of an erased note no file of the index, no cache and no log holds anything."""

from dataclasses import replace
from pathlib import Path

import pytest

from commonplace.encoders.base import Spans
from commonplace.flows.encode import text_hash
from commonplace.flows.ingest.documents import VAULT
from commonplace.flows.ingest.index_notes import unindex_notes
from commonplace.flows.ingest.sync import sync
from commonplace.flows.stores import Stores
from tests.stores import CountingEncoder, found, save, traces

SECRET = "The swordfish opens the third door."


@pytest.fixture
def encoder() -> CountingEncoder:
    return CountingEncoder()


@pytest.fixture
def least() -> int:
    return 1


class Letters(CountingEncoder):
    """An encoder that takes every letter for a token."""

    def tokens(self, text: str) -> Spans:
        return [(at, at + 1) for at in range(len(text))]


def test_an_erased_note_leaves_no_trace(stores: Stores, root: Path, tmp_path: Path) -> None:
    """Neither its text in a file of the index, nor its vectors, now or of an earlier version, nor its calls."""
    earlier = f"# Plan\n{SECRET} Earlier.\n"
    for text in (earlier, f"# Plan\n{SECRET}\n"):
        save(root, "Plan.md", text)
        sync(stores)
    save(root, "other.md", "# other\nNothing of it.\n")
    sync(stores)
    before = traces(tmp_path / "data", "swordfish")
    (root / "Plan.md").unlink()
    unindex_notes(["Plan.md"], [earlier.encode(), f"# Plan\n{SECRET}\n".encode()], stores)
    hashes = [text_hash(f"Plan\n{SECRET}{more}") for more in ("", " Earlier.")]

    assert before
    assert traces(tmp_path / "data", "swordfish") == []
    assert stores.index.stamp(VAULT, "Plan.md") is None
    assert dict(stores.cache.get("counting-1", hashes)) == {}
    assert [call.input_hash for call in stores.history.calls(task_type="embed_vault_chunk")] == [
        text_hash("other\nNothing of it.")
    ]
    assert (found(stores, "swordfish"), found(stores, "nothing")) == ([], ["other.md"])


def test_indexes_of_the_past_go_with_it(stores: Stores, root: Path, tmp_path: Path) -> None:
    """They hold notes as they were: they are built anew when they are asked for."""
    past = stores.using(index=stores.parts().past_index("0123abcd"))
    save(root, "Plan.md", f"{SECRET}\n")
    sync(past)
    past.index.close()
    there = traces(tmp_path / "data/past", "swordfish")
    unindex_notes(["Plan.md"], [f"{SECRET}\n".encode()], stores)

    assert there
    assert traces(tmp_path / "data", "swordfish") == []


def test_what_is_sensitive_is_forgotten_whatever_encoder_there_is_now(stores: Stores, root: Path) -> None:
    """It was encoded on this machine; the encoder of today is remote and would not be shown it."""
    text = f"---\nsensitive: true\n---\n# Plan\n{SECRET}\n"
    save(root, "Plan.md", text)
    sync(stores)
    remote = CountingEncoder(is_remote=True)
    unindex_notes(["Plan.md"], [text.encode()], stores.using(encoders=replace(stores.encoders, current=remote)))

    assert dict(stores.cache.get("counting-1", [text_hash(f"Plan\n{SECRET}")])) == {}


def test_what_other_settings_encoded_is_forgotten_with_the_index_that_has_it(stores: Stores, root: Path) -> None:
    """Texts were cut in another way then, and the encoder is gone: the index remembers what was encoded."""
    text = " ".join(f"The swordfish opens door {number}." for number in range(40))
    save(root, "Plan.md", f"{text}\n")
    sync(stores)
    hashes = stores.index.part_hashes(VAULT, "Plan.md")
    known = stores.cache.get("counting-1", hashes)
    today = replace(stores, max_tokens=20).using(encoders=replace(stores.encoders, current=None))
    unindex_notes(["Plan.md"], [f"{text}\n".encode()], today)

    assert len(known) == len(set(hashes)) > 2
    assert dict(stores.cache.get("counting-1", hashes)) == {}
    assert list(stores.history.calls(task_type="embed_vault_chunk")) == []


def test_what_was_encoded_without_the_encoders_own_tokens_is_forgotten(stores: Stores, root: Path) -> None:
    """An earlier text, cut for an encoder that counts as we do; the one of today has tokens of its own."""
    earlier = " ".join(f"The swordfish opens door {number}." for number in range(40))
    save(root, "Plan.md", f"{earlier}\n")
    sync(stores)
    hashes = stores.index.part_hashes(VAULT, "Plan.md")
    save(root, "Plan.md", "Short.\n")
    sync(stores)
    today = stores.using(encoders=replace(stores.encoders, current=Letters()))
    unindex_notes(["Plan.md"], [f"{earlier}\n".encode(), b"Short.\n"], today)

    assert dict(stores.cache.get("counting-1", hashes)) == {}
