"""What a daemon asks of a memory: how it would search now, and to put its history in order."""

from pathlib import Path

import pytest

from commonplace import open_memory
from tests.vaults import make_vault


def test_with_an_encoder_search_is_hybrid(sample: Path) -> None:
    """The mode hybrid, and nothing is missing."""
    with open_memory(sample) as memory:
        assert memory.index.readiness() == ("hybrid", "")


def test_without_an_encoder_search_goes_by_words_and_says_why(sample: Path) -> None:
    """The reason is the one that a search answer gives."""
    with open_memory(sample, settings={"embedding.provider": "none"}) as memory:
        mode, why = memory.index.readiness()

    assert mode == "words"
    assert "embedding.provider = none" in why


@pytest.mark.parametrize("backend", ["obsidian-vault", "device-local"])
def test_a_vault_is_tidied_whether_it_keeps_history_or_not(sample: Path, backend: str) -> None:
    """No note changes; without a history there is nothing to do."""
    make_vault(sample)
    before = {path: path.read_bytes() for path in sample.rglob("*.md")}
    with open_memory(sample, settings={"vault.backend": backend}) as memory:
        memory.notes.tidy()

    assert {path: path.read_bytes() for path in sample.rglob("*.md")} == before
