"""A vault under git, for the tests that need no other."""

from pathlib import Path

import pytest

from commonplace.vault.obsidian import ObsidianVault
from tests.gitvault import new_vault


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Where the vault is."""
    return tmp_path / "vault"


@pytest.fixture
def vault(root: Path) -> ObsidianVault:
    """A vault with three committed notes."""
    return new_vault(root, note="first\n", other="other\n", staged="x\n")
