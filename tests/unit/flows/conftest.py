"""An empty vault with its shelf, for the tests that need no other."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from commonplace.flows.shelf import Shelf
from tests.unit.flows.shelf import close, make_shelf


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """An empty vault."""
    (tmp_path / "vault").mkdir()
    return tmp_path / "vault"


@pytest.fixture
def shelf(root: Path, tmp_path: Path) -> Iterator[Shelf]:
    """Its shelf."""
    made = make_shelf(root, tmp_path / "data")
    yield made
    close(made)
