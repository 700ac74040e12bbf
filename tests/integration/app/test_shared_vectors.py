"""One file of vectors for several vaults."""

from pathlib import Path

import pytest

from commonplace.app import open_memory
from commonplace.errors import Refused
from commonplace.memory.index import SyncReport


def sync(vault: Path, **settings: object) -> SyncReport:
    """Index a vault of one note."""
    vault.mkdir()
    (vault / "Note.md").write_text("# Note\n\nA heron stands in the shallow water.\n", encoding="utf-8")
    named = {f"embedding.{key}": value for key, value in settings.items()}
    with open_memory(vault, settings={"vault.backend": "device-local", **named}) as memory:
        return memory.index.sync()


def test_vaults_that_share_a_file_of_vectors_encode_a_text_once(tmp_path: Path) -> None:
    """The second vault finds the vectors of the first; a third, with a file of its own, does not."""
    shared = tmp_path / "shared" / "vectors.db"
    first = sync(tmp_path / "first", cache_file=str(shared))
    second = sync(tmp_path / "second", cache_file=str(shared))
    third = sync(tmp_path / "third")

    assert first.encoded > 0
    assert second.encoded == 0
    assert third.encoded == first.encoded


def test_vectors_are_not_kept_inside_the_vault(tmp_path: Path) -> None:
    """Git would take them in, and they tell what sensitive notes say."""
    with pytest.raises(Refused, match="must not be inside the vault"):
        sync(tmp_path / "vault", cache_file=str(tmp_path / "vault" / "vectors.db"))

    assert not (tmp_path / "vault" / "vectors.db").exists()
